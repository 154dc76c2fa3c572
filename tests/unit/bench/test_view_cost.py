"""The bench of views asks as three askers in turn and reports ratios."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from bench.view_cost import ViewCost, run_view_cost, view_cost_rows

from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path


def test_every_profile_is_asked_by_all_three(tmp_path: Path) -> None:
    ticks = count()
    told: list[tuple[str, int, int | None]] = []

    costs = run_view_cost(
        600,
        store_path=tmp_path,
        embedder=StubEmbedder(dimension=16),
        profiles=("lexical", "memoria"),
        cpu=lambda: next(ticks) / 1024,
        queries=2,
        progress=lambda *step: told.append(step),
    )

    # Each recall takes one tick of the clock that was handed in, so all three cost the same.
    assert costs == {name: ViewCost(1000 / 1024, 1.0, 1.0) for name in ("lexical", "memoria")}
    assert next(ticks) == 2 * 2 * 3 * 3 * 2
    assert told == [("retain", 500, 600), ("retain", 600, 600)]


def test_rows_are_rounded() -> None:
    assert view_cost_rows({"a": ViewCost(1.23456, 0.98765, 2.0)}) == {
        "a": {"owner_cpu_ms": 1.235, "past_ratio": 0.988, "principal_ratio": 2.0}
    }
