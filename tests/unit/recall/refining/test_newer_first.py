from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.refining.newer_first import SIGNAL, NewerFirst
from simonides.records.candidate import Candidate
from simonides.records.interval import Interval, Precision
from simonides.records.recall import EARLIER
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.protocols import Refined
    from simonides.records.memory import Memory

pytestmark = pytest.mark.fault("N4")

STAGE = NewerFirst(
    most=20,
    alike=0.34,
    score_share=0.3,
    cosines={"near": 0.55},
    cosine_said=0.1,
    query_cosine=0.2,
    cosine_subject=0.2,
    query_subject=0.05,
)
DAY = 86_400_000_000


def lives(town: str, day: int, **changes: Any) -> Memory:
    return fake_memory(f"Odalys Brenn lives in {town}.", **({"valid_from_micros": day * DAY} | changes))


A, B, C = lives("Norrhav", 1), lives("Quillmouth", 2), lives("Tarn", 3)
OTHER = fake_memory("Figs need water every second day.", valid_from_micros=9 * DAY)


def refine(*memories: Memory, stage: NewerFirst = STAGE) -> Refined:
    view = FakeView.of(list(memories))
    pool = tuple(Candidate(n, 10.0 - n, "x") for n in range(len(memories)))
    return stage.refine(view, fake_query("Where does Odalys Brenn live?"), pool, fake_tools())


def order(*memories: Memory, **options: Any) -> list[str]:
    return [memories[candidate.ordinal].text for candidate in refine(*memories, **options).pool]


@pytest.mark.parametrize("pool", list(itertools.permutations((A, B, C))))
def test_the_newest_of_three_values_leads_whatever_the_order(pool: tuple[Memory, ...]) -> None:
    assert order(*pool) == [C.text, B.text, A.text]


def test_the_newer_comes_directly_before_the_older_and_nothing_else_moves() -> None:
    texts = ("The ferry was late.", "Tove keeps bees.", "Figs taste sweet.")
    more = [fake_memory(text, valid_from_micros=9 * DAY) for text in texts]
    assert order(more[0], A, more[1], B, more[2]) == [
        more[0].text,
        B.text,
        A.text,
        more[1].text,
        more[2].text,
    ]


def test_what_leads_already_stays_and_the_older_is_marked() -> None:
    refined = refine(B, OTHER, A)
    assert [candidate.ordinal for candidate in refined.pool] == [0, 1, 2]
    assert [dict(candidate.signals) for candidate in refined.pool] == [{}, {}, {EARLIER: 1.0}]
    assert [candidate.score for candidate in refined.pool] == [10.0, 9.0, 8.0]


def test_the_notes_name_the_rule() -> None:
    refined = refine(A, B)
    assert refined.pool[0].signals == {SIGNAL: 1.0}
    assert refined.notes[1].startswith("moved before an earlier one (")
    assert refined.notes[0].startswith("a newer one changes it (")


def test_of_one_time_the_one_recorded_later_is_newer_and_then_the_one_stored_later() -> None:
    early, late = lives("Norrhav", 1, ingested_at_micros=2), lives("Tarn", 1, ingested_at_micros=1)
    assert order(late, early) == [early.text, late.text]
    early, late = lives("Norrhav", 1), lives("Tarn", 1)
    assert order(early, late) == [late.text, early.text]


def test_a_value_that_came_back_leads_the_one_between() -> None:
    back = lives("Norrhav", 3, id="back")
    for pool in itertools.permutations((A, B, back)):
        refined = refine(*pool)
        first = pool[refined.pool[0].ordinal]
        assert first.text == back.text
        ordered = [pool[candidate.ordinal].id for candidate in refined.pool]
        assert ordered.index(back.id) < ordered.index(B.id) < ordered.index(A.id)


def test_what_is_less_trusted_changes_nothing() -> None:
    assert order(A, replace(B, trust=0.5)) == [A.text, B.text]
    assert order(replace(A, trust=0.5), B) == [B.text, A.text]


def test_questions_and_the_output_of_tools_change_nothing() -> None:
    asked = replace(B, text="Does Odalys Brenn live in Quillmouth now?")
    tool = replace(B, trust=0.6)
    for other in (asked, tool):
        assert order(replace(A, trust=0.5), other) == [A.text, other.text]


def test_only_the_first_rows_are_compared() -> None:
    assert order(A, OTHER, B, stage=replace(STAGE, most=2)) == [A.text, OTHER.text, B.text]


def test_of_two_that_tell_alike_the_newer_leads_and_nothing_is_marked() -> None:
    old = fake_memory("The kiln shed smells of tar.", valid_from_micros=DAY)
    new = fake_memory("The kiln shed reeks of paint.", valid_from_micros=2 * DAY)
    refined = refine(old, new)
    assert [candidate.ordinal for candidate in refined.pool] == [1, 0]
    assert [dict(candidate.signals) for candidate in refined.pool] == [{SIGNAL: 1.0}, {}]
    # Unless it tells of another thing, a wish, somebody's relation, at the same time, or is the assistant's.
    for other in (
        fake_memory("Tove keeps bees.", valid_from_micros=2 * DAY),
        fake_memory("We thought about a kiln shed of paint.", valid_from_micros=2 * DAY),
        fake_memory("My brother's kiln shed reeks of paint.", valid_from_micros=2 * DAY),
        replace(new, valid_from_micros=DAY),
        replace(new, trust=0.7),
    ):
        assert order(replace(old, trust=min(1.0, other.trust)), other)[0] == old.text
    # What is far less likely to answer is left where it is.
    assert order(old, *[OTHER] * 8, new, stage=replace(STAGE, score_share=0.9))[0] == old.text
    assert refine().pool == ()


class Near:
    """An embedder of which only the name is asked."""

    name = "near"


def unit(cosine: float, other: float = 0.0) -> tuple[float, float, float]:
    """A unit vector with these cosines to the first and the second axis."""
    return (cosine, other, (1 - cosine**2 - other**2) ** 0.5)


@pytest.mark.parametrize(
    ("later", "cosine", "to_query", "embedder", "asked", "leads"),
    [
        ("Kiln reeks badly from fresh paint.", 0.6, 0.7, "near", "smell room", True),
        ("Kiln reeks badly from fresh paint.", 0.6, 0.7, "another", "smell room", False),
        ("Kiln reeks badly from fresh paint.", 0.5, 0.7, "near", "kiln", False),
        ("Kiln reeks badly from fresh paint now.", 0.5, 0.7, "near", "kiln", True),
        ("Kiln reeks badly from fresh paint now.", 0.5, 0.7, "near", "smell room", False),
        ("Kiln reeks badly from fresh paint now.", 0.4, 0.7, "near", "kiln", False),
        ("Barns reek badly from fresh paint.", 0.6, 0.7, "near", "smell room", False),
        ("Kiln reeks badly from fresh paint.", 0.6, 0.5, "near", "smell room", False),
    ],
)
def test_of_two_with_a_high_cosine_the_newer_leads(
    later: str, cosine: float, to_query: float, embedder: str, asked: str, leads: bool
) -> None:
    memories = [
        fake_memory("Kiln room has smell like tar.", valid_from_micros=DAY),
        fake_memory(later, valid_from_micros=2 * DAY),
    ]
    vector = np.array((0.8, 0.6, 0.0), np.float32)
    # The cosine of the later one with the query is 0.8 times the first coordinate and 0.6 times the second.
    vectors = [(1.0, 0.0, 0.0), unit(cosine, (to_query - 0.8 * cosine) / 0.6)]
    maker: Any = Near()
    maker.name = embedder
    refined = STAGE.refine(
        FakeView.of(memories, vectors=vectors),
        fake_query(asked, terms=tuple((word, 1.0) for word in asked.split()), vector=vector),
        (Candidate(0, 2.0, "x"), Candidate(1, 1.0, "x")),
        fake_tools(embedder=maker),
    )
    assert [candidate.ordinal for candidate in refined.pool] == ([1, 0] if leads else [0, 1])


@pytest.mark.fault("N4")
@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Odalys Brenn sings in the mill.", "Odalys Brenn found a new mill."),
        ("A houseboat is what Odalys Brenn and we live in.", "Odalys returned to a houseboat of steel."),
    ],
)
def test_what_may_be_a_change_leads_but_marks_nothing(earlier: str, later: str) -> None:
    old, new = (fake_memory(text, valid_from_micros=n * DAY) for n, text in enumerate((earlier, later), 1))
    refined = refine(old, new)
    assert [candidate.ordinal for candidate in refined.pool] == [1, 0]
    assert not any(EARLIER in candidate.signals for candidate in refined.pool)


def test_wrong_options_are_refused() -> None:
    for field, wrong in (
        ("most", 1),
        ("alike", 0.0),
        ("score_share", 1.5),
        ("cosine_said", -1.0),
        ("query_cosine", 3.0),
        ("cosine_subject", 3.0),
        ("query_subject", -1.0),
    ):
        with pytest.raises(InputError) as caught:
            replace(STAGE, **{field: wrong})  # type: ignore[arg-type]
        assert caught.value.field == field
    with pytest.raises(InputError, match="from -1 to 1"):
        replace(STAGE, cosines={"near": 1.5})


def test_what_begins_later_and_what_tells_many_things_move_nothing() -> None:
    new = lives("Tarn from 1 March 1975", 2, occurred=Interval(DAY * 1_900, DAY * 1_901, Precision.DAY))
    assert order(A, new) == [A.text, new.text]
    assert order(A, fake_memory(f"{B.text} {'Figs. ' * 80}", valid_from_micros=2 * DAY))[0] == A.text


def test_a_word_of_change_about_another_thing_moves_nothing() -> None:
    old = fake_memory("Error e10 10 means disk full.", valid_from_micros=DAY)
    new = fake_memory("Limit behind e10 10 raised from 90 to 95.", valid_from_micros=2 * DAY)
    assert order(old, new) == [old.text, new.text]


def test_you_of_an_assistant_is_the_user() -> None:
    old = fake_memory("You live in Norrhav.", trust=0.7, session="s", valid_from_micros=DAY)
    new = fake_memory("I moved to Tarn.", session="s", valid_from_micros=2 * DAY)
    refined = refine(old, new)
    assert [candidate.ordinal for candidate in refined.pool] == [1, 0]
    assert EARLIER in refined.pool[1].signals
