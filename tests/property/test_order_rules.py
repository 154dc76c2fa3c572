"""The two rules of order move what they may, and nothing else (N3, N4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.refining.answers_first import SIGNAL, AnswersFirst
from simonides.recall.refining.newer_first import NewerFirst
from simonides.records.candidate import Candidate
from simonides.records.recall import EARLIER
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.records.memory import Memory

KINDS = {"says": ("figs are ripe", 1.0), "asks": ("are figs ripe?", 1.0), "tool": ("figs: ripe", 0.6)}
TOWNS = ("Norrhav", "Quillmouth", "Tarn")


def order(
    stage: AnswersFirst | NewerFirst, memories: list[Memory], scores: list[float]
) -> tuple[Candidate, ...]:
    pool = tuple(Candidate(n, score, "x") for n, score in enumerate(scores))
    return stage.refine(FakeView.of(memories), fake_query("figs"), pool, fake_tools()).pool


@pytest.mark.fault("N3")
@given(
    st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.floats(0.0, 4.0)), max_size=12),
    st.floats(0.0, 1.0),
    st.integers(1, 5),
)
def test_statements_pass_what_answers_nothing_and_nothing_else_moves(
    rows: list[tuple[str, float]], share: float, most: int
) -> None:
    rows = sorted(rows, key=lambda row: -row[1])
    memories = [
        fake_memory(KINDS[kind][0], id=str(n), trust=KINDS[kind][1]) for n, (kind, _) in enumerate(rows)
    ]
    scores = [score for _, score in rows]
    after = order(AnswersFirst(share, share, share, most), memories, scores)
    places = [candidate.ordinal for candidate in after]
    assert sorted(places) == list(range(len(rows)))
    for says in (True, False):
        same = [place for place in places if (rows[place][0] == "says") == says]
        assert same == sorted(same)
    assert [candidate.score for candidate in after] == [scores[place] for place in places]
    moved = [candidate.ordinal for candidate in after if SIGNAL in candidate.signals]
    assert len(moved) <= most
    assert all(rows[place][0] == "says" for place in moved)


@pytest.mark.fault("N4")
@given(
    st.lists(st.tuples(st.sampled_from(TOWNS), st.integers(0, 5)), max_size=8),
    st.lists(st.integers(0, 8), max_size=4),
)
def test_all_that_changes_a_row_stands_before_it_and_others_keep_their_order(
    told: list[tuple[str, int]], between: list[int]
) -> None:
    memories = [
        fake_memory(f"Odalys Brenn lives in {town}.", id=str(n), valid_from_micros=day)
        for n, (town, day) in enumerate(told)
    ]
    for n, place in enumerate(between):
        memories.insert(place, fake_memory(f"w{n} x{n} y{n}", id=f"other {n}"))
    after = order(
        NewerFirst(20, 0.34, 0.3, {}, 0.1, 0.2, 0.2, 0.05), memories, [20.0 - n for n in range(len(memories))]
    )
    places = [candidate.ordinal for candidate in after]
    assert sorted(places) == list(range(len(memories)))
    others = [place for place in places if memories[place].id.startswith("other")]
    assert others == sorted(others)
    earlier = {candidate.ordinal for candidate in after if EARLIER in candidate.signals}
    for n, one in enumerate(memories):
        for m, other in enumerate(memories):
            if one.id.startswith("other") or other.id.startswith("other") or one.text == other.text:
                continue
            if (one.valid_from_micros, n) < (other.valid_from_micros, m):
                assert places.index(m) < places.index(n)
                assert n in earlier
