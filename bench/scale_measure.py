"""Ask a bank of ``bench.scale`` its queries and measure; runs in a process of its own.

    python -m bench.scale_measure FOLDER PROFILE [PEER]

A fresh process knows what opening and the first recall cost, and its memory is that of recall alone. A
stage's CPU is its thread's; what no stage accounts for (the view's masks, the digests of what is returned) is
the line ``outside``. The exact twin is a float32 search over the vectors before they were stored.
"""

from __future__ import annotations

import json
import os
import sys
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.scale_bank import ABOUT, BANK, STORE, TAGGED, VECTORS, load_average, resident_mb
from bench.scale_data import BLOCK, TAGS, TextMaker, exact_nearest, plain_scan_recall
from bench.scale_peer import NAME as PEER
from bench.scale_peer import SETTINGS, ask_peer
from bench.scale_queries import load_queries

from simonides.backends.embedded.bank import EmbeddedBank
from simonides.errors import ModelError
from simonides.files import SHARED, write_file
from simonides.index.block import block_arrays
from simonides.index.files import FileLayer
from simonides.index.generation import read_generation
from simonides.index.graph import graph_arrays
from simonides.models.resolve import load_embedder
from simonides.profiles.loader import load_profile
from simonides.records.interval import to_micros
from simonides.retain.extraction.extractor import RuleExtractor
from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.settling import LINK, READ, REPEAT, settle
from simonides.storage.folder import folder_name
from simonides.store import open_store
from simonides.text.analyser import TextAnalyser
from simonides.text.times.expressions import find_stated_times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.scale_queries import ScaleQueries, ScaleQuery
    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.recall.plan import Plan
    from simonides.records.extraction import Extraction
    from simonides.records.recall import Recall


HELIX = frozenset({"column", "vector", "text", "expansion", "graph"})
"""Families of arrays that a recall by ``helix`` reads."""


def disk_sizes(store: Path, name: str, rows: int) -> dict[str, Any]:
    """Bytes per row on disk: all, the database, and the derived arrays by family.

    Args:
        store: folder of the store.
        name: of the bank.
        rows: that the bank holds, from 1.
    """
    folder = store / folder_name(name)
    families = _families(folder)
    everything = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    mapped = sum(families.values())
    return {
        "mapped_mb": round(mapped / (1 << 20), 1),
        "disk_bytes_per_memory": round(everything / rows, 1),
        "derived_bytes_per_memory": {
            "helix": round(sum(size for name, size in families.items() if name in HELIX) / rows, 1),
            "all": round(mapped / rows, 1),
            **{name: round(size / rows, 1) for name, size in sorted(families.items())},
        },
    }


def _families(folder: Path) -> Mapping[str, int]:
    bank = EmbeddedBank(folder, TextAnalyser(), create=False)
    try:
        with bank.reading() as reading:
            number = reading.meta.generation
    finally:
        bank.close()
    sizes: Counter[str] = Counter()
    if not number:
        return sizes
    generation = read_generation(FileLayer(), folder / "index", number)
    for block in generation.blocks:
        for name, array in block_arrays(block).items():
            sizes[name.split(".")[0]] += array.nbytes
    for array in graph_arrays(generation.graph).values():
        sizes["graph"] += array.nbytes
    return sizes


if __name__ == "__main__":
    # Before numpy is imported: threads of its algebra would count as no stage's.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")


DEPTH = 100
_SANITY_QUERIES = 100
_SANITY_RESCORED = 1_000
_SETTLED = 100
_PEER_QUERIES = 50
OUTSIDE = "outside"
PEER_FILE = "peer.db"
_ALONE = """
name = "dense-alone"
limit = {depth}
order = ["terms", "embedding", "dense", "reciprocal_rank", "token_budget"]
[stages.dense]
depth = {depth}
rescore = {rescore}
[stages.reciprocal_rank]
k = 60
[stages.token_budget]
count = "rendered"
label = []
"""


def measure(folder: Path, profile: str, peer: str = "") -> dict[str, Any]:
    """Everything that is measured of one bank with one profile, JSON-ready.

    Args:
        folder: of the bank, as ``scale_bank`` made it.
        profile: name or path.
        peer: another stack that answers the same queries in this run; empty = none.
    """
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    made = load_queries(folder)
    before = resident_mb()
    start_cpu, start_wall = time.process_time(), time.perf_counter()
    with open_store(
        folder / STORE, embedder=made.embedder, timer=time.thread_time, create=False, zone=UTC
    ) as store:
        bank = store.bank(BANK)
        # Opens the index; to count what is in the bank would read all of its rows, which no recall does.
        _ = bank.embedder
        opened = time.perf_counter()
        first_cpu = time.process_time()
        _ask(bank, made.queries[0], profile)
        ready, ready_cpu = time.perf_counter(), time.process_time()
        rows = int(bank.stats()["versions"])
        answer: dict[str, Any] = {
            "n": rows,
            "profile": profile,
            "cold_open_ms": _ms(opened - start_wall),
            "cold_open_cpu_ms": _ms(first_cpu - start_cpu),
            "first_recall_ms": _ms(ready - opened),
            "first_recall_cpu_ms": _ms(ready_cpu - first_cpu),
        }
        costs = [_cost(bank, query, profile) for query in (*_first_of_each(made.queries), *made.queries)]
        costs = costs[-len(made.queries) :]
        answer |= _summed(made.queries, costs)
        after = resident_mb()
        answer |= {
            "rss_mb": round(after[0], 1),
            "private_growth_mb": round(after[1] - before[1], 1),
            **disk_sizes(store.folder, BANK, rows),
            "load_average": round(load_average(), 2),
        }
        answer |= _agreement(bank, made, profile, folder, about["count"])
        if peer:
            answer |= _beside(folder, made, costs, load_profile(profile))
        answer["encoder_cpu_ms"] = _encoder_ms(made)
        answer["settle"] = _settle_rates(store.folder)
    answer["intake"] = about["intake"]
    answer["about"] = {
        name: about[name] for name in ("encoder", "real_vectors", "invented_texts", "graph", "tokens")
    }
    return answer


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _ask(bank: Bank, query: ScaleQuery, profile: str) -> Recall:
    return bank.recall(query.text, profile=profile, **query.options)


@dataclass(frozen=True, slots=True)
class _Cost:
    """One recall; milliseconds. ``stages`` holds CPU by stage, the last one being all that no stage did."""

    cpu: float
    wall: float
    stages: Mapping[str, float]
    skipped: bool


def _cost(bank: Bank, query: ScaleQuery, profile: str) -> _Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    trace = _ask(bank, query, profile).trace
    spent, passed = (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000
    stages = {stage.name: stage.milliseconds for stage in trace.stages}
    return _Cost(
        spent, passed, stages | {OUTSIDE: max(0.0, spent - sum(stages.values()))}, bool(trace.skipped)
    )


def _first_of_each(queries: Sequence[ScaleQuery]) -> list[ScaleQuery]:
    """One query of each sort, to warm up with."""
    return list({query.sort: query for query in reversed(queries)}.values())


def _summed(queries: Sequence[ScaleQuery], costs: Sequence[_Cost]) -> dict[str, Any]:
    """Percentiles over all queries, by stage and by sort."""
    sorts: dict[str, list[float]] = {}
    stages: dict[str, list[float]] = {}
    for query, cost in zip(queries, costs, strict=True):
        sorts.setdefault(query.sort, []).append(cost.cpu)
        for name, spent in cost.stages.items():
            stages.setdefault(name, []).append(spent)
    return {
        "queries": len(queries),
        "skipped_by_router": sum(cost.skipped for cost in costs),
        "cpu_ms": percentiles([cost.cpu for cost in costs]),
        "wall_ms": percentiles([cost.wall for cost in costs]),
        "stages": {
            name: {"cpu_p50": _at(spent, 50), "cpu_p95": _at(spent, 95)} for name, spent in stages.items()
        },
        "by_sort": {sort: percentiles(spent) for sort, spent in sorted(sorts.items())},
    }


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99, rounded."""
    return {f"p{share}": _at(values, share) for share in (50, 95, 99)}


def _at(values: Sequence[float], share: int) -> float:
    return round(float(np.percentile(values, share)), 3)


def _agreement(bank: Bank, made: ScaleQueries, profile: str, folder: Path, count: int) -> dict[str, Any]:
    """How much of the exact twin's answer the dense channel gives; filtered queries never fall short."""
    asked = [query for query in made.queries if query.sort in {"plain", "filtered", "as_of"}]
    unit = np.stack([made.embedder.vectors[query.text] for query in asked])
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    exact = exact_nearest(unit, _eligible(folder, asked, count), _mapped(vectors), DEPTH)
    shares: dict[str, list[float]] = {}
    short = 0
    with TemporaryDirectory(prefix="simonides-bench-") as scratch:
        alone = Path(scratch, "dense-alone.toml")
        write_file(alone, _ALONE.format(depth=DEPTH, rescore=_rescored(profile)), mode=SHARED)
        for query, wanted in zip(asked, exact, strict=True):
            found = bank.recall(
                query.text, profile=alone, limit=DEPTH, max_tokens=None, precision="wide", **query.options
            )
            rows = [hit.memory.ordinal for hit in found]
            shares.setdefault(query.sort, []).append(
                len(set(rows) & set(wanted.tolist())) / max(1, len(wanted))
            )
            short += len(rows) < len(wanted)
    everything = [share for sort in shares.values() for share in sort]
    return {
        "dense_recall_at_100": round(float(np.mean(everything)), 4),
        "dense_recall_by_sort": {sort: round(float(np.mean(found)), 4) for sort, found in shares.items()},
        "fewer_than_asked": short,
        "plain_scan_recall_at_100": _sanity(made, vectors),
    }


def _rescored(profile: str) -> int:
    dense = [step.stage for step in load_profile(profile).channels if step.technique == "dense"]
    return int(getattr(dense[0], "rescore", 8_192)) if dense else 8_192


def _eligible(folder: Path, queries: Sequence[ScaleQuery], count: int) -> Iterator[NDArray[np.bool_]]:
    """Which rows each query may find, as the texts' maker knows it; the bank is not asked."""
    tagged = np.load(folder / TAGGED)
    names = list(TAGS)
    maker = TextMaker(count, 0)
    for query in queries:
        mask = tagged[:, names.index(query.tag)].copy() if query.tag else np.ones(count, np.bool_)
        if query.as_of:
            moment = datetime.fromisoformat(query.as_of)
            # Rows come in the order of time.
            mask[bisect_right(range(count), moment, key=maker.happened) :] = False
        yield mask


def _mapped(vectors: NDArray[np.float32]) -> Iterator[tuple[int, NDArray[np.float32]]]:
    for first in range(0, len(vectors), BLOCK):
        yield first, np.asarray(vectors[first : first + BLOCK])


def _sanity(made: ScaleQueries, vectors: NDArray[np.float32]) -> float:
    """How well a plain 1-bit scan with 1,000 rescored does on these vectors: whether they are hard enough."""
    queries = np.stack([made.embedder.vectors[query.text] for query in made.queries[:_SANITY_QUERIES]])
    signs = np.empty((len(vectors), vectors.shape[1] // 8), np.uint8)

    def signed() -> Iterator[tuple[int, NDArray[np.float32]]]:
        for first, block in _mapped(vectors):
            signs[first : first + len(block)] = np.packbits(block > 0, axis=1)
            yield first, block

    everything = [np.ones(len(vectors), np.bool_)] * len(queries)
    exact = exact_nearest(queries, everything, signed(), DEPTH)
    return round(plain_scan_recall(queries, exact, signs, _SANITY_RESCORED), 4)


def _beside(folder: Path, made: ScaleQueries, costs: Sequence[_Cost], plan: Plan) -> dict[str, Any]:
    """The peer's CPU for dense, lexical and fusion, and ours for the same work with all that no stage did."""
    same = {step.name for step in plan.channels if step.technique in {"dense", "lexical"}}
    same |= {plan.fuser.name, OUTSIDE, *(s.name for s in plan.understanders if s.technique == "terms")}
    plain = [(query, cost) for query, cost in zip(made.queries, costs, strict=True) if query.sort == "plain"][
        :_PEER_QUERIES
    ]
    texts = [query.text for query, _ in plain]
    unit = np.stack([made.embedder.vectors[text] for text in texts])
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    exact = exact_nearest(unit, [np.ones(len(vectors), np.bool_)] * len(unit), _mapped(vectors), DEPTH)
    ours = percentiles([sum(cost.stages.get(name, 0.0) for name in same) for _, cost in plain])
    answer: dict[str, Any] = {"name": PEER, "queries": len(plain), "ours_cpu_ms": ours}
    for setting in SETTINGS:
        theirs = ask_peer(folder / PEER_FILE, texts, unit, exact, setting)
        cost = percentiles(theirs.cpu_ms)
        answer[setting] = {
            "cpu_ms": cost,
            "recall_at_100": round(float(np.mean(theirs.recall)), 4),
            "cpu_ratio": round(cost["p50"] / ours["p50"], 2),
        }
    return {"against": answer, "cpu_ratio": answer["cheapest"]["cpu_ratio"]}


def _settle_rates(store: Path) -> dict[str, float]:
    """How long the queue of the load is, how fast ``settle`` works it off, and what time it would take."""
    rows = EmbeddedBank(store / folder_name(BANK), TextAnalyser(), create=False)
    extractor = RuleExtractor(find_stated_times)
    known = KnownNames()

    def extract(text: str, anchor: int) -> Extraction:
        return extractor.extract(text, anchor=anchor, zone=UTC, known=known)

    answer: dict[str, float] = {}
    try:
        with rows.reading() as reading:
            rows_by_task: list[tuple[Any, ...]] = reading.connection.execute(
                "SELECT task, count(*) FROM jobs GROUP BY task"
            ).fetchall()
        waiting = {str(task): int(count) for task, count in rows_by_task}
        answer["waiting"] = sum(waiting.values())
        seconds = 0.0
        for name, tasks in {"read": (READ,), "link": (REPEAT, LINK)}.items():
            start = time.process_time()
            with rows.writing(to_micros(datetime.now(UTC))) as transaction:
                done = settle(transaction, _SETTLED, extract, tasks)
            spent = time.process_time() - start
            left = sum(waiting.get(task, 0) for task in tasks)
            answer[f"{name}_per_cpu_second"] = round(done / spent, 1)
            seconds += left * spent / max(1, done)
        answer["cpu_seconds_to_go"] = round(seconds, 1)
    finally:
        rows.close()
    return answer


def _encoder_ms(made: ScaleQueries) -> dict[str, float] | None:
    """CPU of the real encoder on the same queries; ``None`` where its files are not there."""
    try:
        embedder = load_embedder(made.embedder.name)
    except ModelError:
        return None
    spent = []
    for query in made.queries:
        start = time.process_time()
        embedder.encode_query_both(query.text)
        spent.append((time.process_time() - start) * 1000)
    return percentiles(spent)


def main() -> None:
    """Print what is measured as JSON."""
    folder, *rest = sys.argv[1:]
    sys.stdout.write(json.dumps(measure(Path(folder), *rest)))


if __name__ == "__main__":
    main()
