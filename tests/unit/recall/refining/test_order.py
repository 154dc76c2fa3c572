from __future__ import annotations

from simonides.recall.refining.pool import UNRERANKED, by_score, split
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory

POOL = tuple(Candidate(n, 1.0 - n / 10, "fused", signals={"s": 1.0}) for n in range(4))


def test_the_order_is_score_then_path_then_id() -> None:
    view = FakeView.of([fake_memory("b"), fake_memory("a"), fake_memory("0", path="z"), fake_memory("d")])
    pool = [Candidate(n, score, "x") for n, score in enumerate([0.5, 0.5, 0.5, 0.9])]
    assert [candidate.ordinal for candidate in by_score(view, pool)] == [3, 1, 0, 2]
    assert by_score(view, []) == ()


def test_the_tail_is_marked_and_keeps_its_scores() -> None:
    head, tail = split(POOL, 1)
    assert head == POOL[:1]
    assert [(each.ordinal, each.score) for each in tail] == [(each.ordinal, each.score) for each in POOL[1:]]
    assert all(each.signals == {"s": 1.0, UNRERANKED: 1.0} for each in tail)


def test_what_was_marked_stays_in_the_tail() -> None:
    head, tail = split(POOL, 2)
    assert split(head + tail) == (head, tail)
    assert split(head + tail, 3) == (head, tail)
    assert split(POOL) == (POOL, ())
