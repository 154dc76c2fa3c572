from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from simonides.backends.embedded.transaction import Placement, StatedRelation
from simonides.records.extraction import Relation
from simonides.records.interval import FOREVER, Interval, parse_time
from simonides.records.kind import Kind, Layer
from simonides.retain.items import read_items
from simonides.retain.supersession import LONGEST_STATEMENT, Succession, declared, succeed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from simonides.records.draft import Draft

ON_CALL = Relation("on call on", "Priya", "Thursday", single_valued=True)
LIKES = Relation("likes", "Priya", "tea", single_valued=False)


def at(text: str) -> int:
    return FOREVER if text == "ever" else parse_time(text, "time").start


def draft(text: str = "Priya is on call on Thursday", **stated: Any) -> Draft:
    return read_items(text, stated)[0]


def stated(
    obj: str,
    start: str,
    end: str = "ever",
    *,
    readers: Iterable[str] = (),
    trust: float = 1.0,
    ordinal: int = 0,
) -> StatedRelation:
    return StatedRelation(ordinal, f"m{ordinal}", obj, at(start), at(end), frozenset(readers), trust)


def place(start: str = "2026-03", end: str = "ever", trust: float = 1.0) -> Placement:
    return Placement(
        ingested_at=at("2026-03"),
        valid_from=Interval(at(start), at(start)),
        valid_to=Interval(at(end), at(end)),
        occurred=None,
        kind=Kind.SEMANTIC,
        layer=Layer.SEMANTIC,
        salience=0.5,
        confidence=1.0,
        author="",
        trust=trust,
    )


def closes(
    *known: StatedRelation,
    new: Draft | None = None,
    placed: Placement | None = None,
    beside: Collection[str] = (),
) -> Succession:
    """What a new statement about Thursday does to *known* ones."""

    class Transaction:
        def stated(self, subject: int, name: str) -> list[StatedRelation]:
            assert (subject, name) == (7, "on call on")
            return list(known)

    return succeed(
        cast("Any", Transaction()),
        new or draft(),
        placed or place(),
        7,
        "on call on",
        "thursday",
        beside=beside,
    )


# -- what a memory declares


def test_the_only_relation_of_a_short_text_is_what_it_is_about() -> None:
    assert declared(draft(), [ON_CALL]) == (ON_CALL,)
    assert declared(draft(), [LIKES]) == ()
    assert declared(draft(), []) == ()


def test_one_relation_among_several_is_only_mentioned() -> None:
    assert declared(draft(), [ON_CALL, LIKES]) == ()
    assert declared(draft(), [ON_CALL, Relation("lives in", "Priya", "Lisbon", single_valued=True)]) == ()


def test_a_long_text_says_more_than_its_one_relation() -> None:
    assert declared(draft("x" * LONGEST_STATEMENT), [ON_CALL]) == (ON_CALL,)
    assert declared(draft("x" * (LONGEST_STATEMENT + 1)), [ON_CALL]) == ()


def test_what_the_caller_declares_counts_however_long_the_text_is() -> None:
    shared = {"relation": "leads", "subject": "Ann", "object": "Heron"}
    long = draft("x" * 999, **shared, single_valued=True)
    assert declared(long, [ON_CALL, LIKES]) == (Relation("leads", "Ann", "Heron", single_valued=True),)
    assert declared(draft(**shared), [ON_CALL]) == ()


# -- what closes what


@pytest.mark.spec("ME-10")
def test_a_newer_statement_closes_the_older_one() -> None:
    found = closes(stated("tuesday", "2026-01", ordinal=4))
    assert (found.closing, found.corrected) == ((4,), ())
    assert found.placement == place()


@pytest.mark.fault("B3")
@pytest.mark.parametrize(
    ("known", "why"),
    [
        (stated("thursday", "2026-01"), "the same object"),
        (stated("tuesday", "2026-01", "2026-03"), "it had ended when the new one begins"),
        (stated("tuesday", "2026-01", trust=1.1), "its source is trusted more"),
        (stated("tuesday", "2026-01", readers=["ann"]), "not everyone may read it"),
    ],
)
def test_statements_that_do_not_conflict_coexist(known: StatedRelation, why: str) -> None:
    assert closes(known) == Succession(place()), why


def test_a_source_closes_what_is_trusted_as_much_or_less() -> None:
    for trust, closing in ((0.5, (0,)), (0.6, (0,)), (0.7, ())):
        assert closes(stated("tuesday", "2026-01", trust=trust), placed=place(trust=0.6)).closing == closing


@pytest.mark.parametrize("readers", [["ann"], ["ann", "ben"], ["ben"]])
def test_a_private_statement_ends_nothing_that_others_read(readers: list[str]) -> None:
    private = draft(acl=["ann"])
    everyones = stated("tuesday", "2026-01", ordinal=1)
    theirs = stated("friday", "2026-01", readers=readers, ordinal=2)
    assert closes(everyones, theirs, new=private).closing == ((2,) if readers == ["ann"] else ())


def test_a_statement_about_the_past_ends_where_the_known_one_begins() -> None:
    known = stated("tuesday", "2026-04", ordinal=4)
    found = closes(known, placed=place("2026-01"))
    assert (found.closing, found.corrected) == ((), ())
    assert found.placement.valid_to == Interval(at("2026-04"), at("2026-04"))
    assert found.placement.superseded_by == "m4"


def test_of_several_later_ones_the_first_ends_it() -> None:
    later = [stated("tuesday", "2026-06", ordinal=1), stated("friday", "2026-04", ordinal=2)]
    for order in (later, later[::-1]):
        found = closes(*order, placed=place("2026-01"))
        assert (found.placement.valid_to.start, found.placement.superseded_by) == (at("2026-04"), "m2")


def test_a_statement_between_two_closes_one_and_is_closed_by_the_other() -> None:
    before = stated("tuesday", "2026-01", "2026-06", ordinal=1)
    after = stated("friday", "2026-06", ordinal=2)
    found = closes(before, after, placed=place("2026-03"))
    assert found.closing == (1,)
    assert (found.placement.valid_to.start, found.placement.superseded_by) == (at("2026-06"), "m2")


def test_a_statement_that_ends_before_the_known_one_begins_stays_as_it_is() -> None:
    placed = place("2026-01", "2026-02")
    assert closes(stated("tuesday", "2026-03"), placed=placed) == Succession(placed)


def test_of_two_that_begin_together_the_newer_corrects_the_older() -> None:
    found = closes(stated("tuesday", "2026-03", ordinal=4))
    assert (found.closing, found.corrected) == ((), (4,))


def test_a_private_statement_ends_where_what_everyone_reads_begins() -> None:
    found = closes(stated("tuesday", "2026-04"), new=draft(acl=["ann"]), placed=place("2026-01"))
    assert found.placement.valid_to.start == at("2026-04")


def test_what_is_hidden_from_some_ends_nothing_that_they_read() -> None:
    private = stated("tuesday", "2026-04", readers=["ann"])
    assert closes(private, placed=place("2026-01")) == Succession(place("2026-01"))


def test_what_stands_beside_it_neither_closes_nor_is_closed() -> None:
    earlier, later = stated("tuesday", "2026-01", ordinal=1), stated("friday", "2026-06", ordinal=2)
    assert closes(earlier, later, beside={"m1", "m2"}) == Succession(place())
    assert closes(earlier, later, beside={"m2"}).closing == (1,)
