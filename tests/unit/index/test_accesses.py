from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.accesses import Accesses
from simonides.records.interval import BEGINNING

EVENTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 2)), max_size=20)


def made(events: list[tuple[int, int, int]], *, split: int = 0) -> Accesses:
    rows = np.array([(n, *event) for n, event in enumerate(events, 1)], np.int64).reshape(-1, 4)
    return Accesses.empty().extended(rows[:split]).extended(rows[split:])


def test_none_at_all() -> None:
    empty, roots = Accesses.empty(), np.array([0, 7], np.int64)
    assert len(empty) == 0
    assert empty.extended(np.empty((0, 4), np.int64)) is empty
    assert empty.counts(roots).tolist() == [0, 0]
    assert empty.latest(roots).tolist() == [BEGINNING, BEGINNING]


def test_by_hand() -> None:
    found = made([(3, 50, 0), (1, 20, 1), (3, 10, 2), (3, 30, 0)])
    roots = np.array([3, 2, 1], np.int64)
    assert found.last == 4
    assert found.counts(roots).tolist() == [3, 0, 1]
    assert found.latest(roots).tolist() == [50, BEGINNING, 20]
    then = found.known(30, None)
    assert then.latest(roots).tolist() == [30, BEGINNING, 20]
    assert then.last == 4
    assert found.known(99, [0, 1]).counts(roots).tolist() == [2, 0, 1]


@given(events=EVENTS, split=st.integers(0, 20), known_at=st.integers(0, 9), seen=st.sets(st.integers(0, 2)))
def test_against_a_twin_that_counts_one_by_one(
    events: list[tuple[int, int, int]], split: int, known_at: int, seen: set[int]
) -> None:
    roots = np.arange(5, dtype=np.int64)
    found = made(events, split=split)
    whole = made(events)
    assert found.roots.tolist() == whole.roots.tolist()
    assert found.stamps.tolist() == whole.stamps.tolist()
    assert found.principals.tolist() == whole.principals.tolist()
    known = found.known(known_at, sorted(seen))
    kept = [(root, stamp) for root, stamp, who in events if stamp <= known_at and who in seen]
    assert known.counts(roots).tolist() == [sum(r == root for r, _ in kept) for root in range(5)]
    assert known.latest(roots).tolist() == [
        max((stamp for r, stamp in kept if r == root), default=BEGINNING) for root in range(5)
    ]
