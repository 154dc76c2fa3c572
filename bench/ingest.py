"""How fast memories are taken in, beside the encoder alone in the same run.

Batches are encoded alone and retained in turn, so that a change of the machine's speed meets both. The ratio
is encoder seconds / retain seconds: 1 means that retaining costs nothing beside the encoder.
"""

from __future__ import annotations

import resource
import time
from dataclasses import asdict, dataclass
from datetime import UTC
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.changed_datasets import synthetic_items
from bench.command import bench_parser, encoder, finish, run, say

from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.bank import Bank
    from simonides.protocols import Embedder


_SINGLES = 200


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What a run measured. Seconds are wall time; CPU is of the whole process.

    Attributes:
        n: memories retained in batches.
        batch: items in a batch.
        texts_per_second: whole retain path.
        encoder_texts_per_second: the encoder alone, on the same texts.
        ratio_to_encoder: the former by the latter.
        cpu_ms_beside_encoder: CPU per memory of a retain, less the encoder's.
        cpu_ms_beside_encoder_last: the same over the last tenth of the batches.
        rss_growth_mb: peak memory after the last batch less peak memory after the first tenth.
        single_cpu_ms_p50, single_cpu_ms_p95: CPU of one retain of one memory into the full bank, with the
            encoder, acknowledged after its commit.
        settled: comparisons that were queued and worked off at the end, in ``settle_seconds``.
    """

    n: int
    batch: int
    embedder: str
    texts_per_second: float
    encoder_texts_per_second: float
    ratio_to_encoder: float
    cpu_ms_beside_encoder: float
    cpu_ms_beside_encoder_last: float
    rss_growth_mb: float
    single_cpu_ms_p50: float
    single_cpu_ms_p95: float
    settled: int
    settle_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description, rounded."""
        return {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class _Batch:
    encode_wall: float
    encode_cpu: float
    retain_wall: float
    retain_cpu: float
    peak_mb: float


def run_ingest(
    count: int,
    *,
    store_path: Path,
    embedder: Embedder,
    wall: Callable[[], float],
    cpu: Callable[[], float],
    batch: int = 256,
    seed: int = 1,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> IngestReport:
    """Retain *count* invented memories and report.

    Args:
        count: memories, at least one.
        store_path: an empty folder.
        embedder: of the store.
        wall: seconds on a clock that never goes back.
        cpu: seconds of CPU of this process.
        batch: items per retain.
        seed: of the memories.
        progress: told ("retain", done, count).
    """
    items = synthetic_items(count + _SINGLES, seed)
    measured: list[_Batch] = []
    with open_store(store_path, embedder=embedder, zone=UTC) as store:
        bank = store.bank("ingest")
        done = 0
        while done < count:
            part = list(islice(items, min(batch, count - done)))
            measured.append(_one_batch(bank, embedder, part, wall, cpu))
            done += len(part)
            if progress:
                progress("retain", done, count)
        start = wall()
        settled = bank.settle()
        settle_seconds = wall() - start
        singles = sorted(_one_single(bank, item, cpu) for item in items)
    return _report(count, batch, embedder.name, measured, singles, settled, settle_seconds)


def _one_batch(
    bank: Bank,
    embedder: Embedder,
    part: list[dict[str, Any]],
    wall: Callable[[], float],
    cpu: Callable[[], float],
) -> _Batch:
    marks = [(wall(), cpu())]
    embedder.encode([item["text"] for item in part])
    marks.append((wall(), cpu()))
    bank.retain(part)
    marks.append((wall(), cpu()))
    (w0, c0), (w1, c1), (w2, c2) = marks
    return _Batch(w1 - w0, c1 - c0, w2 - w1, c2 - c1, _peak_mb())


def _one_single(bank: Bank, item: dict[str, Any], cpu: Callable[[], float]) -> float:
    start = cpu()
    bank.retain(item)
    return (cpu() - start) * 1000


def _report(
    count: int,
    batch: int,
    name: str,
    measured: list[_Batch],
    singles: list[float],
    settled: int,
    settle_seconds: float,
) -> IngestReport:
    encode = sum(one.encode_wall for one in measured)
    retain = sum(one.retain_wall for one in measured)
    tenth = max(1, len(measured) // 10)
    last = measured[-tenth:]
    last_count = count - batch * (len(measured) - tenth)
    beside = sum(one.retain_cpu - one.encode_cpu for one in measured)
    beside_last = sum(one.retain_cpu - one.encode_cpu for one in last)
    return IngestReport(
        n=count,
        batch=batch,
        embedder=name,
        texts_per_second=count / retain,
        encoder_texts_per_second=count / encode,
        ratio_to_encoder=encode / retain,
        cpu_ms_beside_encoder=beside / count * 1000,
        cpu_ms_beside_encoder_last=beside_last / last_count * 1000,
        rss_growth_mb=measured[-1].peak_mb - measured[tenth - 1].peak_mb,
        single_cpu_ms_p50=singles[len(singles) // 2],
        single_cpu_ms_p95=singles[len(singles) * 95 // 100],
        settled=settled,
        settle_seconds=settle_seconds,
    )


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = bench_parser(__doc__)
    parser.add_argument("--n", type=int, default=20_000, help="memories to retain")
    parser.add_argument("--batch", type=int, default=256, help="memories per retain")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="simonides-bench-") as folder:
        report = run_ingest(
            given.n,
            store_path=Path(folder),
            embedder=encoder(given.embedder),
            wall=time.perf_counter,
            cpu=time.process_time,
            batch=given.batch,
            progress=say,
        )
    return finish(given, f"ingest-{given.n}", report.to_dict())


if __name__ == "__main__":
    run(main)
