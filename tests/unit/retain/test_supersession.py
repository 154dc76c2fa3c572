from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.records.extraction import Relation
from simonides.records.interval import FOREVER, Interval, parse_time
from simonides.records.kind import Kind, Layer
from simonides.records.versions import Held, ResolvedFields
from simonides.retain.items import read_items
from simonides.retain.supersession import LONGEST_STATEMENT, Division, Rival, Span, declared, divide, placed

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    since: str = "",
    bounded: bool = False,
) -> Rival:
    held = Held(
        ordinal, ordinal, f"m{ordinal}", obj, "", "", at(start), at(end), "", frozenset(readers), trust, "",
        frozenset(), at(since or start), bounded,
    )  # fmt: skip
    return Rival(held, "same attribute")


def place(start: str = "2026-03", end: str = "ever", trust: float = 1.0) -> ResolvedFields:
    return ResolvedFields(
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


def divided(*known: Rival, new: Draft | None = None, at_place: ResolvedFields | None = None) -> Division:
    """How a new statement about Thursday divides the time with *known* ones."""
    return divide(new or draft(), at_place or place(), list(known))


def closing(division: Division) -> tuple[int, ...]:
    """Ordinals of rivals that keep a span, which ends where the new one begins."""
    return tuple(rival.held.ordinal for rival, spans in division.theirs if spans)


def withdrawn(division: Division) -> tuple[int, ...]:
    return tuple(rival.held.ordinal for rival, spans in division.theirs if not spans)


def span(start: str, end: str = "ever", by: str = "") -> Span:
    return Span(at(start), at(end), by)


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
    known = stated("tuesday", "2026-01", ordinal=4)
    found = divided(known)
    assert [(rival, len(spans), spans[0].end) for rival, spans in found.theirs] == [(known, 1, at("2026-03"))]
    assert found.mine == (span("2026-03"),)
    assert placed(place(), found) == place()


@pytest.mark.fault("B3")
@pytest.mark.parametrize(
    ("known", "why"),
    [
        (stated("tuesday", "2026-01", "2026-03"), "it had ended when the new one begins"),
        (stated("tuesday", "2026-01", trust=1.1), "its source is trusted more"),
        (stated("tuesday", "2026-01", readers=["ann"]), "not everyone may read it"),
    ],
)
def test_statements_that_do_not_conflict_coexist(known: Rival, why: str) -> None:
    assert divided(known) == Division((span("2026-03"),)), why


def test_a_source_closes_what_is_trusted_as_much_or_less() -> None:
    for trust, closed in ((0.5, (0,)), (0.6, (0,)), (0.7, ())):
        known = stated("tuesday", "2026-01", trust=trust)
        assert closing(divided(known, at_place=place(trust=0.6))) == closed


@pytest.mark.parametrize("readers", [["ann"], ["ann", "ben"], ["ben"]])
def test_a_private_statement_ends_nothing_that_others_read(readers: list[str]) -> None:
    private = draft(acl=["ann"])
    everyones = stated("tuesday", "2026-01", ordinal=1)
    theirs = stated("friday", "2026-01", readers=readers, ordinal=2)
    assert closing(divided(everyones, theirs, new=private)) == ((2,) if readers == ["ann"] else ())


def test_a_statement_about_the_past_ends_where_the_known_one_begins() -> None:
    known = stated("tuesday", "2026-04", ordinal=4)
    found = divided(known, at_place=place("2026-01"))
    assert (found.theirs, found.closed_by) == ((), known)
    new = placed(place("2026-01"), found)
    assert new.valid_to == Interval(at("2026-04"), at("2026-04"))
    assert new.superseded_by == "m4"


def test_of_several_later_ones_the_first_ends_it() -> None:
    later = [stated("tuesday", "2026-06", ordinal=1), stated("friday", "2026-04", "2026-06", ordinal=2)]
    for order in (later, later[::-1]):
        assert divided(*order, at_place=place("2026-01")).mine == (span("2026-01", "2026-04", "m2"),)


def test_a_statement_between_two_closes_one_and_is_closed_by_the_other() -> None:
    before = stated("tuesday", "2026-01", "2026-06", ordinal=1)
    after = stated("friday", "2026-06", ordinal=2)
    found = divided(before, after)
    assert closing(found) == (1,)
    assert found.mine == (span("2026-03", "2026-06", "m2"),)


def test_a_statement_that_ends_before_the_known_one_begins_stays_as_it_is() -> None:
    early = place("2026-01", "2026-02")
    assert divided(stated("tuesday", "2026-03"), at_place=early) == Division((span("2026-01", "2026-02"),))


def test_of_two_that_begin_together_the_newer_corrects_the_older() -> None:
    found = divided(stated("tuesday", "2026-03", ordinal=4))
    assert (closing(found), withdrawn(found)) == ((), (4,))


@pytest.mark.fault("N24")
def test_a_bounded_statement_splits_the_open_one() -> None:
    march = draft(valid_from="2026-03", valid_to="2026-04")
    found = divided(stated("tuesday", "2026-01"), new=march, at_place=place("2026-03", "2026-04"))
    ((_, (before, after)),) = found.theirs
    assert (before.start, before.end, after) == (at("2026-01"), at("2026-03"), span("2026-04"))


@pytest.mark.fault("N24")
def test_an_open_statement_that_arrives_late_stands_around_the_bounded_one() -> None:
    march = stated("tuesday", "2026-03", "2026-04", ordinal=3, bounded=True)
    found = divided(march, at_place=place("2026-01"))
    assert found.mine == (span("2026-01", "2026-03", "m3"), span("2026-04"))


@pytest.mark.fault("N24")
def test_of_two_that_begin_together_the_bounded_one_goes_first() -> None:
    march = stated("tuesday", "2026-03", "2026-04", bounded=True)
    assert divided(march).mine == (span("2026-04"),)
    bounded = draft(valid_from="2026-03", valid_to="2026-04")
    found = divided(stated("tuesday", "2026-03"), new=bounded, at_place=place("2026-03", "2026-04"))
    assert [spans for _, spans in found.theirs] == [(span("2026-04"),)]


@pytest.mark.fault("N24")
def test_what_holds_again_began_when_it_was_first_said() -> None:
    again = stated("tuesday", "2026-04", ordinal=1, since="2026-01")
    assert withdrawn(divided(again, at_place=place("2026-02"))) == (1,)


def test_a_private_statement_ends_where_what_everyone_reads_begins() -> None:
    found = divided(stated("tuesday", "2026-04"), new=draft(acl=["ann"]), at_place=place("2026-01"))
    assert found.mine[0].end == at("2026-04")


def test_what_is_hidden_from_some_ends_nothing_that_they_read() -> None:
    private = stated("tuesday", "2026-04", readers=["ann"])
    assert divided(private, at_place=place("2026-01")) == Division((span("2026-01"),))
