"""Expressions within sentences: where they stand, what they lean on, and sentences that hold none."""

from __future__ import annotations

import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from simonides.records.interval import BEGINNING, from_micros, to_micros
from simonides.text.times.expressions import find_stated_times, find_times, parse_time_expression

if TYPE_CHECKING:
    from simonides.records.extraction import TimeMention

BERLIN = ZoneInfo("Europe/Berlin")
# A Wednesday.
NOW = datetime(2027, 3, 10, 10, tzinfo=BERLIN)
REFUSED = [
    line
    for line in (Path(__file__).parent / "refused.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("# ")
]


def find(text: str) -> tuple[TimeMention, ...]:
    return find_times(text, anchor=NOW, zone=BERLIN)


def starts(text: str) -> list[str]:
    """The local start of each mention, without a time of day that is midnight."""
    found = [from_micros(mention.interval.start) for mention in find(text)]
    return [m.astimezone(BERLIN).isoformat()[:16].removesuffix("T00:00") if m else "…" for m in found]


def test_there_are_enough_sentences_without_a_time() -> None:
    assert len(set(REFUSED)) == len(REFUSED) >= 60


@pytest.mark.fault("T1")
@pytest.mark.fault("M10")
@pytest.mark.parametrize("text", REFUSED)
def test_no_time_is_read_into(text: str) -> None:
    assert find(text) == ()
    assert parse_time_expression(text, anchor=NOW, zone=BERLIN) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We met last Friday, and again on 8 May 2023.", ["last Friday", "on 8 May 2023"]),
        ("What did we decide about the port in March?", ["in March"]),
        ("what did we decide in march about q3 2026", ["in march", "q3 2026"]),
        ("I moved here in 2019; since May 2021 I work at the mill.", ["in 2019", "since May 2021"]),
        ("Meeting notes (8 May 2023): we may rotate the key.", ["8 May 2023"]),
        ("**8 May 2023** was the day", ["8 May 2023"]),
        ("- 8 May 2023\n- 9 May 2023\n", ["8 May 2023", "9 May 2023"]),
        ("yesterday—and today", ["yesterday", "today"]),
        ("last week's plan, today's work", ["last week", "today"]),
        ("Was it the day before yesterday?", ["the day before yesterday"]),
        ("not before 2024", ["before 2024"]),
        ("the notes from yesterday", ["from yesterday"]),
        ("the photo from March 2024 and the one from 2019", ["from March 2024", "from 2019"]),
        ("in the first week of June 2024 or early in 2025", ["in the first week of June 2024", "early in 2025"]),
        ("between March and May 2022, not in June 2022", ["between March and May 2022", "in June 2022"]),
        ("会議は2024-05-08、次は2024-06-01です", ["2024-05-08", "2024-06-01"]),
        ("last\nweek", ["last\nweek"]),
        ("We spoke last.\n\nWeek two was fine.", []),
        ("in May. 12 people came", ["in May"]),
        ("In May 12 people came", ["In May"]),
        ("In March I went, in June Caroline followed", ["In March", "in June"]),
        ("in 2023 we moved", ["in 2023"]),
        ("since May I am here", ["since May"]),
        ("at 10:00 UTC on 8 May 2023", ["on 8 May 2023"]),
        ("the meeting on 8 May 2023 at 10:00 UTC", ["on 8 May 2023"]),
        ("May 8 was warm, May 8th too, 9 may not", ["May 8", "May 8th"]),
        ("on 8 may", ["on 8 may"]),
        ("we may this year move, and they march next year", ["this year", "next year"]),
        ("what did we do in march last year", ["in march last year"]),
        ("on 3 and 5 June 2024", ["5 June 2024"]),
        ("from Friday on, but from Monday on the list", ["from Friday on"]),
        ("2 weeks ago Friday", ["2 weeks ago"]),
        ("from last Friday's call", ["from last Friday"]),
        ("the ’90s and the '80s", ["the ’90s", "the '80s"]),
    ],
)  # fmt: skip
def test_spans(text: str, found: list[str]) -> None:
    mentions = find(text)
    assert [mention.text for mention in mentions] == found
    for mention in mentions:
        assert text[mention.start : mention.stop] == mention.text


def test_the_longest_expression_wins_and_none_overlap() -> None:
    text = "the week before last week, from 3 May to 5 June 2024 at the end of last month"
    mentions = find(text)
    assert [mention.text for mention in mentions] == [
        "the week before last week", "from 3 May to 5 June 2024", "at the end of last month",
    ]  # fmt: skip
    assert all(a.stop <= b.start for a, b in pairwise(mentions))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "On 8 May 2023 we met at 3pm and left at 17:30.",
            ["2023-05-08", "2023-05-08T15:00", "2023-05-08T17:30"],
        ),
        ("On 8 May 2023 we met. At 3pm I called.", ["2023-05-08", "2027-03-10T15:00"]),
        ("On 8 May 2023 we met.\n\nAt 3pm I called.", ["2023-05-08", "2027-03-10T15:00"]),
        ("In May 2023 we met at 3pm.", ["2023-05-01"]),
        ("Since 2019 we meet at 3pm.", ["2019-01-01"]),
        ("On 3 May 2023 she came, and two days later he left.", ["2023-05-03", "2023-05-05"]),
        ("On 3 May 2023 she came; two days earlier he left.", ["2023-05-03", "2023-05-01"]),
        ("Two days later he left.", ["2027-03-12"]),
        ("On 8 May 2023 from 9:30 to 11:00", ["2023-05-08T09:30"]),
    ],
)
def test_a_time_of_day_and_a_later_day_lean_on_the_day_spoken_of(text: str, expected: list[str]) -> None:
    assert starts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met on Friday.", ["2027-03-05"]),
        ("We will meet on Friday.", ["2027-03-12"]),
        ("We will meet on Wednesday.", ["2027-03-17"]),
        ("We won't meet on Friday.", ["2027-03-12"]),
        ("We will be away from 3 to 5 May.", ["2027-05-03"]),
        ("We will be away from 3 May to 5 June.", ["2027-05-03"]),
        ("We will leave the day before 4 June.", ["2027-06-03"]),
        ("We'll meet on Friday at 10:00.", ["2027-03-12T10:00"]),
        ("I was going to come on Friday.", ["2027-03-05"]),
        ("She is going to launch in May.", ["2027-05-01"]),
        ("She launched in May.", ["2026-05-01"]),
        ("We will meet on 8 April, as on 8 March.", ["2027-04-08", "2028-03-08"]),
        ("It will rain. We met on Friday.", ["2027-03-05"]),
        ("We will be there in 3 hours.", ["2027-03-10T13:00"]),
        ("In two weeks I leave.", ["2027-03-22"]),
        ("The exam is in two weeks.", ["2027-03-22"]),
        ("We wrote it in two weeks.", []),
        ("The job runs in 3 minutes.", []),
    ],
)
def test_a_sentence_about_the_future_looks_ahead(text: str, expected: list[str]) -> None:
    assert starts(text) == expected


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("The mill is closed until Friday", "2027-03-13"),
        ("we were closed until Friday", "2027-03-06"),
        ("send it by Friday", "2027-03-13"),
        ("open until March", "2027-04-01"),
        ("open until May", "2027-06-01"),
        ("I lived there until May", "2026-06-01"),
        ("by the end of March", "2027-04-01"),
    ],
)
def test_a_deadline_lies_ahead_unless_the_sentence_speaks_of_the_past(text: str, end: str) -> None:
    (mention,) = find(text)
    assert mention.interval.start == BEGINNING
    assert mention.interval.end == to_micros(datetime.fromisoformat(end).replace(tzinfo=BERLIN))


HARD = {
    "english": "We met last Friday at the old mill, and in March 2024 we may have moved on to port 8443. ",
    "dense": "in may ",
    "dates": "8 May 2023 ",
    "nearly": "the day before ",
    "ranges": "between May and ",
    "numbers": "8\n",
    "years": "2023 ",
    "dashes": "1-2-3 ",
    "dots": "May. ",
    "quotes": '" ',
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_time_is_linear(text: str) -> None:
    long = text * (20_000 // len(text))

    def seconds(text: str) -> float:
        start = time.process_time()
        find(text)
        find_stated_times(text, anchor=NOW, zone=BERLIN)
        return time.process_time() - start

    def once() -> tuple[float, float]:
        return seconds(long[: len(long) // 5]), seconds(long)

    # Five times the text: linear takes five times as long, quadratic 25 times. A busy machine can slow one of
    # the two down, but hardly three times over.
    assert any(whole < 10 * part + 0.08 and whole < 2.4 for part, whole in (once() for _ in range(3)))


def test_english_text_of_200_kb_takes_little_time() -> None:
    text = (" ".join(REFUSED) + "\n") * 50
    start = time.process_time()
    find(text[:200_000])
    assert time.process_time() - start < 1.5


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "-" * 200_000, "'" * 200_000, "1" * 200_000, "\ud83d" * 9_999, "a-" * 99_999]
)
def test_a_long_chunk_is_not_looked_into(text: str) -> None:
    start = time.process_time()
    assert find(text) == ()
    assert time.process_time() - start < 1
