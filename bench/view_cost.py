"""What exact visibility costs: the same queries asked by the owner now, by the owner in the past, by another.

A view makes two masks, and every statistic (document frequency, degrees, usage) is gathered from the rows it
sees (SPEC, general settlement 2). All three ask in turn, query by query, so that a change of the machine's
speed meets them alike; the ratio to the owner's recall of now is what to look at.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.changed_datasets import synthetic_items
from bench.command import bench_parser, encoder, finish, run, say

from simonides.profiles import list_profiles
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simonides.bank import Bank
    from simonides.protocols import Embedder


_BATCH = 500
_ROUNDS = 3
_HIDDEN = 10
"""One memory in so many is for another reader only."""

_START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ViewCost:
    """Medians of one profile.

    Attributes:
        owner_cpu_ms: CPU of a recall by the owner, who sees all, now.
        past_ratio: the owner at the moment when half of the memories were there, by the former.
        principal_ratio: somebody who may not read one memory in ten, now, by the former.
    """

    owner_cpu_ms: float
    past_ratio: float
    principal_ratio: float


def run_view_cost(
    count: int,
    *,
    store_path: Path,
    embedder: Embedder,
    profiles: Sequence[str],
    cpu: Callable[[], float],
    queries: int = 20,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Mapping[str, ViewCost]:
    """Retain *count* invented memories, ask about them, and report by profile.

    Args:
        count: memories, at least two.
        store_path: an empty folder.
        embedder: of the store; the cost of a scan does not depend on its vectors.
        profiles: names to measure.
        cpu: seconds of CPU of this process.
        queries: how many, each asked three times.
        progress: told ("retain", done, count).
    """
    now = [_START]
    with open_store(store_path, embedder=embedder, clock=lambda: now[0], zone=UTC) as store:
        bank = store.bank("view")
        middle, done = _START, 0
        for batch in _batches(count):
            now[0] += timedelta(minutes=1)
            bank.retain(batch, deduplicate=False)
            done += len(batch)
            if done <= count // 2:
                middle = now[0]
            if progress:
                progress("retain", done, count)
        now[0] += timedelta(days=1)
        askers = {"owner": bank, "past": bank, "principal": store.bank("view", principal="tomas")}
        texts = [item["text"] for item in islice(synthetic_items(queries, seed=7), queries)]
        return {profile: _one_profile(askers, texts, profile, middle, cpu) for profile in profiles}


def view_cost_rows(costs: Mapping[str, ViewCost]) -> dict[str, dict[str, Any]]:
    """JSON-ready and rounded, by profile."""
    return {
        name: {
            "owner_cpu_ms": round(cost.owner_cpu_ms, 3),
            "past_ratio": round(cost.past_ratio, 3),
            "principal_ratio": round(cost.principal_ratio, 3),
        }
        for name, cost in costs.items()
    }


def _batches(count: int) -> Iterator[list[dict[str, Any]]]:
    items = enumerate(synthetic_items(count, seed=1))
    while batch := [
        {**item, "acl": ["ines"] if place % _HIDDEN == 0 else []} for place, item in islice(items, _BATCH)
    ]:
        yield batch


def _one_profile(
    askers: Mapping[str, Bank],
    texts: Sequence[str],
    profile: str,
    middle: datetime,
    cpu: Callable[[], float],
) -> ViewCost:
    spent: dict[str, list[float]] = {name: [] for name in askers}
    for _ in range(_ROUNDS):
        for text in texts:
            for name, bank in askers.items():
                start = cpu()
                bank.recall(text, profile=profile, as_of=middle if name == "past" else None)
                spent[name].append((cpu() - start) * 1000)
    p50 = {name: statistics.median(times) for name, times in spent.items()}
    return ViewCost(p50["owner"], p50["past"] / p50["owner"], p50["principal"] / p50["owner"])


def main() -> int:
    parser = bench_parser(__doc__)
    parser.add_argument("--n", type=int, default=10_000, help="memories to retain, from 2")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="simonides-bench-") as folder:
        costs = run_view_cost(
            given.n,
            store_path=Path(folder),
            embedder=encoder(given.embedder),
            profiles=list_profiles(),
            cpu=time.process_time,
            progress=say,
        )
    return finish(given, f"view-cost-{given.n}", {"n": given.n, "profiles": view_cost_rows(costs)})


if __name__ == "__main__":
    run(main)
