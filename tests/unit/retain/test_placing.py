from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.records.extraction import Extraction, TimeMention
from simonides.records.interval import FOREVER, Interval, Precision, parse_time
from simonides.records.kind import TRUST, Kind, Layer
from simonides.retain.placing import dated, place_item, said_at, without_relative_times

if TYPE_CHECKING:
    from tests.unit.retain.conftest import Prepare

    from simonides.records.versions import ResolvedFields

NOW = parse_time("2026-03-01T09:00Z", "now").start
STATED = TimeMention("in 2023", 0, 7, parse_time("2023", "t"))


def place(
    prepare: Prepare, novelty: float = 0.0, found: Extraction | None = None, **stated: Any
) -> ResolvedFields:
    return place_item(prepare("the fuse is blown", found=found, **stated), NOW, "", novelty)


def test_nothing_stated_holds_from_now_on(prepare: Prepare) -> None:
    placed = place(prepare)
    assert placed.valid_from == Interval(NOW, NOW, Precision.INSTANT)
    assert placed.valid_to == Interval(FOREVER, FOREVER, Precision.INSTANT)
    assert (placed.ingested_at, placed.occurred, placed.superseded_by) == (NOW, None, "")


def test_what_has_happened_holds_since_then_with_its_precision(prepare: Prepare) -> None:
    placed = place(prepare, event_time="2026-02")
    assert placed.valid_from == placed.occurred == parse_time("2026-02", "t")


def test_a_range_that_has_begun_holds_from_its_start(prepare: Prepare) -> None:
    assert place(prepare, event_time="2026").valid_from == parse_time("2026", "t")


def test_what_lies_ahead_is_known_from_now_on(prepare: Prepare) -> None:
    placed = place(prepare, event_time="2026-03-02")
    assert placed.valid_from.start == NOW
    assert placed.occurred == parse_time("2026-03-02", "t")


def test_a_stated_beginning_wins_over_the_event(prepare: Prepare) -> None:
    placed = place(prepare, event_time="2026-02", valid_from="2027", valid_to="2028")
    assert (placed.valid_from, placed.valid_to) == (parse_time("2027", "t"), parse_time("2028", "t"))


@pytest.mark.spec("DF-07")
def test_a_date_in_the_text_dates_the_event_and_not_the_truth(prepare: Prepare) -> None:
    placed = place(prepare, found=Extraction(times=(STATED,)))
    assert placed.occurred == parse_time("2023", "t")
    assert placed.valid_from.start == NOW


def test_a_given_event_time_wins_over_a_date_in_the_text(prepare: Prepare) -> None:
    placed = place(prepare, found=Extraction(times=(STATED,)), event_time="2025-05-05")
    assert placed.occurred == parse_time("2025-05-05", "t")


EVE = TimeMention("yesterday", 0, 9, parse_time("2025-05-04", "t"), days=(date(2025, 5, 4), date(2025, 5, 5)))
WEEK = TimeMention(
    "this week", 0, 9, Interval(parse_time("2025-05-05", "t").start, parse_time("2025-05-12", "t").start, Precision.WEEK),
    days=(date(2025, 5, 5), date(2025, 5, 12)),
)  # fmt: skip


@pytest.mark.fault("N22")
def test_words_that_count_from_the_given_time_say_when_it_happened(prepare: Prepare) -> None:
    placed = place(prepare, found=Extraction(times=(STATED, EVE)), event_time="2025-05-05")
    assert placed.occurred == EVE.interval
    assert placed.valid_from == EVE.interval


@pytest.mark.fault("N22")
def test_words_that_hold_the_given_time_are_no_finer(prepare: Prepare) -> None:
    placed = place(prepare, found=Extraction(times=(WEEK,)), event_time="2025-05-06T10:00Z")
    assert placed.occurred == placed.valid_from == parse_time("2025-05-06T10:00Z", "t")


@pytest.mark.fault("N22")
def test_when_an_item_was_said(prepare: Prepare) -> None:
    given = prepare("fuse", event_time="2025-05-05", recorded_at="2025-06-01").draft
    assert said_at(given, NOW) == parse_time("2025-05-05", "t").start
    assert (
        said_at(prepare("fuse", recorded_at="2025-06-01").draft, NOW) == parse_time("2025-06-01", "t").start
    )
    assert said_at(prepare("fuse", valid_from="2025").draft, NOW) == NOW
    found = Extraction(times=(STATED, EVE))
    assert dated(given, found) == found
    assert dated(prepare("fuse", event_time="2025").draft, found).times == (STATED,)
    assert without_relative_times(found).times == (STATED,)


@pytest.mark.parametrize(
    ("items", "field"),
    [
        ({"text": "fuse", "valid_to": "2026-02"}, "valid_to"),
        ([{"text": "fuse", "valid_to": "2026-02"}], "items[0].valid_to"),
        (["lamp", {"text": "fuse", "valid_to": "2026-02"}], "items[1].valid_to"),
    ],
)
def test_an_end_before_the_settled_beginning_is_refused_by_the_name_the_caller_used(
    prepare: Prepare, items: Any, field: str
) -> None:
    with pytest.raises(InputError, match="is not after valid_from") as caught:
        place_item(prepare(items), NOW, "", 0.0)
    assert caught.value.field == field


def test_an_end_at_the_settled_beginning_is_no_time_at_all(prepare: Prepare) -> None:
    with pytest.raises(InputError):
        place(prepare, valid_to="2026-03-01T09:00Z")
    with pytest.raises(InputError):
        place(prepare, event_time="2026-02", valid_to="2026-02-01")
    assert place(prepare, valid_to="2026-03-01T09:00:00.000001Z").valid_to.start == NOW + 1


@pytest.mark.spec("HX-21")
def test_the_kind_is_as_given_else_by_cues_else_semantic(prepare: Prepare) -> None:
    cued = Extraction(kind=Kind.DECISION)
    assert place(prepare).kind is Kind.SEMANTIC
    assert place(prepare, found=cued).kind is Kind.DECISION
    assert place(prepare, found=cued, kind="code").kind is Kind.CODE


@pytest.mark.spec("EN-13")
@pytest.mark.parametrize(
    ("kind", "layer"),
    [
        ("episodic", Layer.EPISODIC),
        ("semantic", Layer.SEMANTIC),
        ("procedural", Layer.PROCEDURAL),
        ("decision", Layer.SEMANTIC),
        ("code", Layer.CODEBASE),
        ("preference", Layer.SEMANTIC),
        ("observation", Layer.SEMANTIC),
    ],
)
def test_the_layer_follows_the_kind_unless_given(prepare: Prepare, kind: str, layer: Layer) -> None:
    assert place(prepare, kind=kind).layer is layer
    assert place(prepare, found=Extraction(kind=Kind(kind))).layer is layer
    assert place(prepare, kind=kind, layer="working").layer is Layer.WORKING


@pytest.mark.spec("HX-10")
@pytest.mark.parametrize(
    ("cues", "novelty", "role", "salience"),
    [
        (0.5, 0.0, "", 0.5),
        (0.5, 1.0, "user", 0.75),
        (1.0, 1.0, "user", 1.0),
        (0.0, 0.0, "import", 0.125),
        (0.8, 0.4, "assistant", 0.4 + 0.1 + 0.175),
        (0.8, 0.4, "tool", 0.4 + 0.1 + 0.15),
        (0.2, 1 / 3, "document", 0.333333),
    ],
)
def test_salience_weighs_cues_novelty_and_trust(
    prepare: Prepare, cues: float, novelty: float, role: str, salience: float
) -> None:
    placed = place(prepare, novelty, Extraction(salience=cues), role=role or None)
    assert placed.salience == pytest.approx(salience, abs=1e-6)
    assert placed.trust == TRUST[role]
    assert place(prepare, novelty, Extraction(salience=cues), salience=0.125).salience == 0.125


@pytest.mark.spec("HX-10")
def test_confidence_is_as_given_else_as_sure_as_the_words(prepare: Prepare) -> None:
    hedged = Extraction(confidence=0.4)
    assert place(prepare, found=hedged).confidence == 0.4
    assert place(prepare, found=hedged, confidence=0.9).confidence == 0.9


def test_the_author_and_the_recorded_time_are_the_callers_business(prepare: Prepare) -> None:
    placed = place_item(prepare("fuse"), NOW - 5, "ann", 0.0)
    assert (placed.author, placed.ingested_at, placed.valid_from.start) == ("ann", NOW - 5, NOW - 5)
