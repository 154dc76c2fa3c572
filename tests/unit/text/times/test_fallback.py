"""Dates in other languages: with dateparser where it is installed, and with a stand-in for what it may answer."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from simonides.errors import InputError, MissingExtraError
from simonides.records.interval import from_micros
from simonides.text.times.expressions import find_times, parse_time_expression
from simonides.text.times.meaning import find_dates

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2027, 3, 10, 10, tzinfo=UTC)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime | None], list[str]]:
    """Makes dateparser answer the same to everything, and tells what it was asked."""

    def install(answer: datetime | None) -> list[str]:
        asked: list[str] = []

        def parse(text: str, **_: Any) -> datetime | None:
            asked.append(text)
            return answer

        monkeypatch.setitem(sys.modules, "dateparser", SimpleNamespace(parse=parse))
        return asked

    return install


def test_the_extra_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dateparser", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'simonides\[dates\]'"):
        find_times("8. Mai 2023", anchor=NOW, zone=UTC, languages=["de"])
    assert find_times("8 May 2023", anchor=NOW, zone=UTC)


def test_a_whole_date_becomes_a_day_in_the_zone(stand_in: Callable[[datetime | None], list[str]]) -> None:
    stand_in(datetime(2023, 5, 8))  # noqa: DTZ001 - as dateparser answers
    (found,) = find_dates("Am 8. Mai 2023 war es", languages=["de"], zone=ZoneInfo("Asia/Kolkata"))
    assert (found.text, found.start, found.stop) == ("8. Mai 2023", 3, 14)
    assert from_micros(found.interval.start) == datetime(2023, 5, 7, 18, 30, tzinfo=UTC)
    assert found.interval.precision == "day"


@pytest.mark.fault("M10")
@pytest.mark.parametrize(
    "text",
    [
        "we", "may I", "port 9077", "build 2031", "the 8th", "3 de 4 casas", "5 Leute im Jahr 2021 und 3",
        "12 Uhr", "1.5 Mai 2023", "8-5-2023", "x8 Mai 2023", "8 Mai 20233", "8 Mai 2023-x", "am 8. Mai",
    ],
)  # fmt: skip
def test_what_has_no_form_of_a_date_is_never_asked(
    stand_in: Callable[[datetime | None], list[str]], text: str
) -> None:
    asked = stand_in(datetime(2023, 5, 8))  # noqa: DTZ001 - as dateparser answers
    assert find_dates(text, languages=["de"], zone=UTC) == ()
    assert asked == []


@pytest.mark.fault("M10")
@pytest.mark.parametrize("answer", ["2023-05-09", "2022-05-08", None])
def test_an_answer_with_another_day_or_year_does_not_count(
    stand_in: Callable[[datetime | None], list[str]], answer: str | None
) -> None:
    asked = stand_in(datetime.fromisoformat(answer) if answer else None)
    assert find_dates("8 Leute 2023 da", languages=["de"], zone=UTC) == ()
    assert asked == ["8 Leute 2023"]


def test_the_longer_of_two_readings_wins(stand_in: Callable[[datetime | None], list[str]]) -> None:
    stand_in(datetime(2023, 8, 8))  # noqa: DTZ001 - as dateparser answers
    text = "yesterday, 8. August 2023 and 8 May 2023 again"
    found = find_times(text, anchor=NOW, zone=UTC, languages=["de"])
    assert [mention.text for mention in found] == ["yesterday", "8. August 2023", "8 May 2023"]


def test_a_text_that_is_one_date_is_one_expression(stand_in: Callable[[datetime | None], list[str]]) -> None:
    stand_in(datetime(2023, 5, 8))  # noqa: DTZ001 - as dateparser answers
    found = parse_time_expression("8. Mai 2023", anchor=NOW, zone=UTC, languages=["de"])
    assert found is not None
    assert found.text == "8. Mai 2023"
    assert parse_time_expression("am 8. Mai 2023", anchor=NOW, zone=UTC, languages=["de"]) is None


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("es", "Nos vimos el 8 de mayo de 2023 en casa", "8 de mayo de 2023"),
        ("de", "Am 8. Mai 2023 war es", "8. Mai 2023"),
        ("fr", "C'était le 8 mai 2023.", "8 mai 2023"),
        ("ru", "Встреча 8 мая 2023 г.", "8 мая 2023"),
        ("nl", "op 8 mei 2023", "8 mei 2023"),
        ("zh", "我们在2023年5月8日开会", "2023年5月8日"),
        ("ja", "会議は2023年5月8日です", "2023年5月8日"),
        ("ko", "회의는 2023년 5월 8일에", "2023년 5월 8일"),
    ],
)
def test_languages_that_dateparser_reads(language: str, text: str, found: str) -> None:
    pytest.importorskip("dateparser")
    (mention,) = find_times(text, anchor=NOW, zone=UTC, languages=[language])
    assert mention.text == found
    assert from_micros(mention.interval.start) == datetime(2023, 5, 8, tzinfo=UTC)


def test_a_language_that_dateparser_does_not_know_is_named() -> None:
    pytest.importorskip("dateparser")
    with pytest.raises(InputError, match=r"^languages: xx"):
        find_times("8. Mai 2023", anchor=NOW, zone=UTC, languages=["xx"])
