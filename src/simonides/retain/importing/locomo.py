"""LoCoMo in its original form: long dated conversations between two people.

A session of a conversation becomes a session, a turn a memory ``Speaker: text [image: caption]`` that
happened at the date of its session (the dataset states no time zone; UTC is assumed). ``dia_id`` and
``sample_id`` are kept as metadata. Questions, summaries and observations of the dataset are no memories and
are passed over.

Source: Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.retain.importing.chats import Turn, turn_items
from simonides.retain.importing.item import ImportReport
from simonides.retain.importing.json_source import json_rows, kind_of
from simonides.text.dates import MONTHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simonides.retain.importing.item import ImportedItem, NamedFile

SOURCE = "locomo"

_SESSION = re.compile(r"session_([0-9]{1,9})")
_DATE = re.compile(r"(\d{1,2}):(\d{2})\s*([ap]m)\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE)


def read_locomo(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The turns of every session, conversation by conversation; sessions in the order of their numbers."""
    report = report or ImportReport()
    for line, sample in json_rows(stream, file, report.skipped):
        if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
            report.skipped(file.wrong(line, f"expected a sample with a conversation, got {kind_of(sample)}"))
            continue
        name, conversation = str(sample.get("sample_id") or "conversation"), sample["conversation"]
        found = sorted((int(match[1]), match[0]) for match in map(_SESSION.fullmatch, conversation) if match)
        for _, key in found:
            session = f"{name}/{key}"
            try:
                turns = list(_turns(conversation, key, name, line, file, report))
            except (ValueError, TypeError) as error:
                report.skipped(file.wrong(line, str(error), session))
                continue
            yield from turn_items(turns, file, report, session=session, source=SOURCE)


def parse_session_date(text: str, place: str = "the date of a session") -> datetime:
    """``"1:56 pm on 8 May, 2023"`` as an aware datetime in UTC.

    Args:
        text: what the dataset says.
        place: where it says so, for the error.

    Raises:
        InputError: the text is of another form or names no real moment.
    """
    parts = _DATE.fullmatch(text.strip())
    if parts and parts[5].capitalize() in MONTHS:
        hour, minute, half, day, month, year = parts.groups()
        try:
            return datetime(
                int(year),
                MONTHS.index(month.capitalize()) + 1,
                int(day),
                _hour_of_day(int(hour), half.lower()),
                int(minute),
                tzinfo=UTC,
            )
        except ValueError:
            pass
    raise InputError("data", f"{place}: {text!r} must have the form '1:56 pm on 8 May, 2023'")


def _hour_of_day(hour: int, half: str) -> int:
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if half == "pm" else 0)


def turn_text(turn: Mapping[str, Any]) -> str:
    """What was said, with the caption of the picture that was shown."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [image: {caption}]" if caption else str(turn["text"])


def _turns(
    conversation: Mapping[str, Any], key: str, sample: str, line: int, file: NamedFile, report: ImportReport
) -> Iterator[Turn]:
    # A date without turns also occurs in the original; only sessions with turns are read.
    field = f"{key}_date_time"
    date, when = conversation.get(field), None
    try:
        when = parse_session_date(str(date), field) if date else None
    except InputError as error:
        report.cleaned(file.wrong(line, f"{error.problem}; its turns have no time", f"{sample}/{key}"))
    turns = conversation[key]
    if not isinstance(turns, list):
        raise TypeError(f"expected a list of turns, got {kind_of(turns)}")
    for place, turn in enumerate(turns):
        if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
            problem = f"expected a turn with a text, got {kind_of(turn)}"
            report.skipped(file.wrong(line, problem, f"{sample}/{key}[{place}]"))
            continue
        text, speaker = turn_text(turn), turn.get("speaker")
        if text.strip():
            yield Turn(
                text,
                line,
                part=f"turn {turn.get('dia_id')} of {sample}",
                speaker=speaker if isinstance(speaker, str) else "",
                when=when,
                metadata={"dia_id": str(turn.get("dia_id") or ""), "sample_id": sample},
            )
