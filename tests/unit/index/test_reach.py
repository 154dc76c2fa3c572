from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simonides.index.graph_walk import Bounds, reach
from simonides.testing.fakes import FakeView, fake_memory

WIDE = Bounds(hops=2, per_start=100, hub_cap=100, hub_damping=0.5, links={"semantic": 1.0})
NAMES = ("kestrel", "osprey", "budget", "ines")


def bank(*named: set[str], **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(f"m{n}") for n in range(len(named))], entities=named, **changes)


def test_hops_by_entities_and_by_links() -> None:
    view = bank(
        {"kestrel"},
        {"kestrel", "osprey"},
        {"osprey", "budget"},
        {"budget"},
        set(),
        set(),
        links=[(1, 4, "semantic", 0.8), (4, 5, "semantic", 0.8), (0, 5, "temporal", 1.0)],
    )
    assert reach(view, [0], WIDE) == {0: 0, 1: 1, 2: 2, 4: 2}
    assert reach(view, [0], replace(WIDE, hops=1)) == {0: 0, 1: 1}
    assert reach(view, [0, 3], WIDE) == {0: 0, 3: 0, 1: 1, 2: 1, 4: 2}


def test_each_start_reaches_so_many_the_strongest_first_and_ties_by_id() -> None:
    links = [(0, 1, "semantic", 0.5), (0, 2, "semantic", 0.9), (0, 3, "semantic", 0.5)]
    view = bank(*[set()] * 5, links=[*links, (2, 4, "semantic", 1.0)])
    assert reach(view, [0], replace(WIDE, per_start=1)) == {0: 0, 2: 1}
    assert reach(view, [0], replace(WIDE, per_start=2)) == {0: 0, 2: 1, 1: 1}
    assert reach(view, [0], replace(WIDE, per_start=4)) == {0: 0, 2: 1, 1: 1, 3: 1, 4: 2}


def test_what_is_shared_with_few_is_stronger() -> None:
    view = bank({"kestrel", "user"}, {"user"}, {"kestrel"}, {"user"}, {"user"})
    assert reach(view, [0], replace(WIDE, per_start=1)) == {0: 0, 2: 1}


def test_hubs_are_not_followed() -> None:
    view = bank(*[{"user"}] * 4, {"user", "kestrel"}, {"kestrel"})
    assert reach(view, [4], replace(WIDE, hub_cap=4)) == {4: 0, 5: 1}
    assert len(reach(view, [4], replace(WIDE, hub_cap=5))) == 6


def test_what_is_not_visible_is_no_way() -> None:
    view = bank({"kestrel"}, {"kestrel", "osprey"}, {"osprey"}, visible=[True, False, True])
    assert reach(view, [0], WIDE) == {0: 0}


@given(
    st.lists(st.sets(st.sampled_from(NAMES), max_size=3), min_size=1, max_size=8),
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=6),
    st.sets(st.integers(0, 7), min_size=1, max_size=3),
    st.integers(1, 3),
)
def test_without_bounds_it_is_breadth_first_search(
    named: list[set[str]], pairs: set[tuple[int, int]], starts: set[int], hops: int
) -> None:
    size = len(named)
    links = [(a, b, "semantic", 0.9) for a, b in sorted(pairs) if a < b < size]
    begun = sorted(start for start in starts if start < size)
    near = {
        row: {other for other in range(size) if named[row] & named[other]}
        | {b for a, b, _, _ in links if a == row}
        | {a for a, b, _, _ in links if b == row}
        for row in range(size)
    }
    expected = dict.fromkeys(begun, 0)
    for hop in range(1, hops + 1):
        for row in [row for row, found in expected.items() if found == hop - 1]:
            for other in near[row]:
                expected.setdefault(other, hop)
    assert reach(bank(*named, links=links), begun, replace(WIDE, hops=hops)) == expected
