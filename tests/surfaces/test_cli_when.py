"""`simonides when`: what it prints and how it fails."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.testing import Result

    Cli = Callable[..., Result]

AT = ("--at", "2027-03-10T10:00", "--tz", "Europe/Berlin")


@pytest.fixture
def when(cli: Cli) -> Callable[..., Any]:
    """Runs `simonides when … --json` and reads what it prints, which may be null."""

    def run(*arguments: str, code: int = 0) -> Any:
        result = cli("when", *arguments, "--json")
        assert result.exit_code == code, result.stderr
        return json.loads(result.stdout)

    return run


@pytest.mark.fault("T2")
def test_an_expression_is_an_interval_with_offsets(when: Callable[..., Any]) -> None:
    assert when("last Friday", *AT) == {
        "start": "2027-03-05T00:00:00+01:00",
        "end": "2027-03-06T00:00:00+01:00",
        "precision": "day",
        "text": "last Friday",
    }
    assert when("March", *AT)["precision"] == "month"


@pytest.mark.fault("T3")
def test_the_offset_is_that_of_each_end(when: Callable[..., Any]) -> None:
    answer = when("yesterday", "--at", "2026-10-26T09:00+01:00", "--tz", "Europe/Berlin")
    assert (answer["start"], answer["end"]) == ("2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00")


def test_an_open_end_is_null(when: Callable[..., Any]) -> None:
    assert when("since 2019", *AT)["end"] is None
    assert when("until yesterday", *AT)["start"] is None


@pytest.mark.fault("T1")
@pytest.mark.parametrize(
    "text", ["may I rotate the key on port 8443", "we moved to build 2031", "", "\ud800"]
)
def test_no_time_is_null_and_exit_1(when: Callable[..., Any], cli: Cli, text: str) -> None:
    assert when(text, *AT, code=1) is None
    result = cli("when", text, *AT)
    assert (result.exit_code, result.stdout) == (1, "no time\n")


def test_a_sentence_gives_the_first_time_and_all_of_them(when: Callable[..., Any]) -> None:
    one = when("What happened last Friday?", *AT)
    assert set(one) == {"start", "end", "precision", "text"}
    several = when("We met yesterday, and on 8 May 2023 at 10:00.", *AT)
    assert several["text"] == "yesterday"
    assert [row["text"] for row in several["all"]] == ["yesterday", "on 8 May 2023 at 10:00"]
    assert several["all"][0] == {key: value for key, value in several.items() if key != "all"}
    assert several["all"][1]["start"] == several["all"][1]["end"] == "2023-05-08T10:00:00+02:00"


def test_for_people_it_is_a_table(cli: Cli) -> None:
    result = cli("when", "yesterday or since [2019]\x1b 2024-05-08", *AT)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["text", "start", "end", "precision"]
    assert lines[1].split() == ["yesterday", "2027-03-09", "00:00+01:00", "2027-03-10", "00:00+01:00", "day"]
    assert "\x1b" not in result.stdout


def test_the_hemisphere_can_be_chosen(when: Callable[..., Any]) -> None:
    assert when("last summer", *AT)["start"].startswith("2026-06-01")
    assert when("last summer", *AT, "--southern")["start"].startswith("2026-12-01")


def test_without_a_moment_it_is_now_in_utc(when: Callable[..., Any]) -> None:
    start, end = (datetime.fromisoformat(when("today")[side]) for side in ("start", "end"))
    # A test at midnight sees two days.
    assert abs((datetime.now(start.tzinfo) - start).total_seconds()) < 2 * 86_400
    assert (end - start).total_seconds() == 86_400
    assert start.isoformat().endswith("T00:00:00+00:00")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tz", "Europe/Berlni"], "--zone: 'Europe/Berlni' is no time zone; did you mean Europe/Berlin?"),
        (["--tz", ""], "--zone"),
        (["--tz", "Europe"], "--zone"),
        (["--tz", "../../etc/passwd"], "--zone"),
        (["--tz", "/etc/localtime"], "--zone"),
        (["--tz", "x" * 5_000], "--zone"),
        (["--tz", "a\ud800"], "--zone"),
        (["--at", "yesterday"], "--at"),
        (["--at", ""], "--at"),
        (["--at", "2027-02-30"], "--at"),
        (["--at", "0001-01-01", "--tz", "Asia/Kolkata"], "--at"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(cli: Cli, arguments: list[str], message: str) -> None:
    result = cli("when", "in 2 weeks", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_language_needs_its_extra(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dateparser", None)
    result = cli("when", "8. Mai 2023", "--language", "de")
    assert result.exit_code == 2
    assert "pip install 'simonides[dates]'" in result.stderr
