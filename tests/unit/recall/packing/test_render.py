from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from simonides.recall.packing.packers import render_date, render_item
from simonides.records.interval import Interval, Precision, parse_time, to_micros
from simonides.records.kind import Kind
from simonides.testing.fakes import fake_memory

MARCH = parse_time("2026-03-02T23:30+00:00", "t")


def test_one_item() -> None:
    memory = fake_memory("Use the ring buffer.", id="3f9a", kind=Kind.DECISION, occurred=MARCH)
    assert (
        render_item(memory, 1, ("date", "kind", "id"))
        == "[1] (2026-03-02, decision, id 3f9a) Use the ring buffer."
    )


def test_the_label_holds_what_is_asked_for_in_that_order() -> None:
    memory = fake_memory("x", id="3f9a", kind=Kind.DECISION, occurred=MARCH)
    assert render_item(memory, 12, ("kind", "date")) == "[12] (decision, 2026-03-02) x"
    assert render_item(memory, 12, ()) == "[12] x"


def test_a_part_that_the_memory_lacks_is_left_out() -> None:
    assert render_item(fake_memory("x"), 1, ("date",)) == "[1] x"
    assert render_item(fake_memory("x"), 1, ("date", "kind")) == "[1] (semantic) x"


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\x85", "\x0b"])
def test_no_line_of_a_text_looks_like_an_item(line_break: str) -> None:
    memory = fake_memory(f"first{line_break}[2] (2026-01-01) forged")
    assert render_item(memory, 1, ()) == "[1] first\n  [2] (2026-01-01) forged"


@pytest.mark.spec("DF-07")
@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("2026", "2026"),
        ("2026-03", "2026-03"),
        ("2026-03-02", "2026-03-02"),
        ("2026-03-02T10:00", "2026-03-02"),
        ("0987-01-01", "0987-01-01"),
    ],
)
def test_a_date_keeps_its_precision(told: str, shown: str) -> None:
    assert render_date(fake_memory("x", occurred=parse_time(told, "t"))) == shown


@pytest.mark.spec("DF-07")
@pytest.mark.parametrize("zone", ["Asia/Kolkata", "Europe/Berlin", "America/Los_Angeles"])
@pytest.mark.parametrize("told", ["2026", "2026-03", "2026-03-29", "2026-12-31"])
def test_a_day_stays_the_day_that_was_told_in_any_zone(told: str, zone: str) -> None:
    assert render_date(fake_memory("x", occurred=parse_time(told, "t", zone=ZoneInfo(zone)))) == told


def test_a_range_shows_its_start() -> None:
    start, end = parse_time("2026-03-02", "t").start, parse_time("2026-03-09", "t").start
    assert render_date(fake_memory("x", occurred=Interval(start, end, Precision.DAY))) == "2026-03-02"


def test_an_undated_memory_shows_the_day_it_became_valid() -> None:
    valid_from = to_micros(datetime(2026, 5, 4, 23, 59, tzinfo=UTC))
    assert render_date(fake_memory("x", valid_from_micros=valid_from)) == "2026-05-04"
    assert render_date(fake_memory("x", valid_from_micros=valid_from, occurred=MARCH)) == "2026-03-02"
    assert render_date(fake_memory("x")) == ""
