from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

import pytest

from simonides.records.extraction import EntityKind, Mention, TimeMention
from simonides.records.interval import FOREVER, Interval, Precision, to_micros
from simonides.records.kind import Kind
from simonides.retain.extraction.extractor import RuleExtractor
from simonides.retain.extraction.known_names import KnownNames

if TYPE_CHECKING:
    from simonides.protocols import Extractor

ANCHOR = to_micros(datetime(2027, 3, 10, tzinfo=UTC))
TEXT = "Caroline: I moved to Lisbon in May because my sister lives there."


def find_may(text: str, *, anchor: datetime, zone: tzinfo) -> list[TimeMention]:
    start = text.index("in May")
    moment = to_micros(anchor)
    return [TimeMention("in May", start, start + 6, Interval(moment, moment + 1, Precision.MONTH))]


def test_all_rule_sets_meet_in_one_extraction() -> None:
    extractor: Extractor = RuleExtractor(find_may)

    found = extractor.extract(TEXT, anchor=ANCHOR, zone=UTC, known=("sister",))

    assert [(m.name, m.kind) for m in found.mentions] == [
        ("Caroline", EntityKind.PERSON),
        ("Lisbon", EntityKind.PLACE),
        ("sister", EntityKind.PERSON),
    ]
    assert [(r.name, r.subject, r.object) for r in found.relations] == [("lives in", "Caroline", "Lisbon")]
    assert [TEXT[slice(*c.cause)] for c in found.causes] == ["my sister lives there"]
    assert [t.interval.start for t in found.times] == [ANCHOR]
    assert found.kind is Kind.EPISODIC
    assert found.salience > 0.5
    assert found.confidence == pytest.approx(1)


def test_the_anchor_reaches_the_reader_of_times_as_a_moment() -> None:
    seen: list[tuple[datetime, tzinfo]] = []

    def note(text: str, *, anchor: datetime, zone: tzinfo) -> list[TimeMention]:
        seen.append((anchor, zone))
        return []

    RuleExtractor(note).extract("x", anchor=ANCHOR, zone=UTC)
    RuleExtractor(note).extract("x", anchor=FOREVER, zone=UTC)

    assert seen == [(datetime(2027, 3, 10, tzinfo=UTC), UTC)]


def test_times_are_handed_out_in_order() -> None:
    def backwards(text: str, *, anchor: datetime, zone: tzinfo) -> list[TimeMention]:
        interval = Interval(0, 1, Precision.DAY)
        return [TimeMention("b", 2, 3, interval), TimeMention("a", 0, 1, interval)]

    found = RuleExtractor(backwards).extract("a b", anchor=ANCHOR, zone=UTC)

    assert [time.text for time in found.times] == ["a", "b"]


def test_another_finder_of_names_adds_to_the_rules() -> None:
    def quays(text: str) -> list[Mention]:
        start = text.index("quay")
        return [Mention("quay", EntityKind.PLACE, start, start + 4)]

    found = RuleExtractor(more_names=quays).extract("Ann lives in quay", anchor=ANCHOR, zone=UTC)

    assert [m.name for m in found.mentions] == ["Ann", "quay"]
    assert [(r.name, r.object) for r in found.relations] == [("lives in", "quay")]


def test_an_index_of_known_names_and_a_plain_list_give_the_same() -> None:
    extractor = RuleExtractor()
    names = ["Lisbon", "sister"]

    assert extractor.extract(TEXT, anchor=ANCHOR, zone=UTC, known=names) == extractor.extract(
        TEXT, anchor=ANCHOR, zone=UTC, known=KnownNames(names)
    )


def test_an_empty_text_gives_the_neutral_extraction() -> None:
    found = RuleExtractor().extract("", anchor=ANCHOR, zone=UTC)

    assert (found.mentions, found.relations, found.causes, found.times, found.kind) == ((), (), (), (), None)
    assert (found.salience, found.confidence) == (0.5, 1.0)


def test_a_greeting_alone_matters_little_even_behind_a_label() -> None:
    found = RuleExtractor().extract("Caroline: Thanks, see you later!", anchor=ANCHOR, zone=UTC)

    assert found.salience == pytest.approx(0.2)
