"""Cleans what other programs wrote, so that one bad character or time costs no text.

Cleaned, and reported:

    NUL characters and lone halves of characters    removed, or replaced by U+FFFD
    a text longer than ``LONGEST_TEXT``             cut into parts that are stored one after the other
    a time that cannot be read                      left out

Names that decide who reads or replaces what (acl, document_id, session) stay as they are: two of them must
not become one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.records.interval import Precision, from_micros, parse_time
from simonides.retain.importing.json_source import moment
from simonides.retain.items import MAX_TEXT_BYTES, ORIGIN
from simonides.text.times.expressions import parse_time_expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simonides.retain.importing.item import ImportedItem, ImportReport, NamedFile

LONGEST_TEXT = MAX_TEXT_BYTES - 1024
"""Bytes of a text that stay together; the rest of what an item may hold is for a speaker's name."""

_LONGEST_TIME = 100
"""Characters of a time in words."""

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_ISO = {
    Precision.YEAR: "%Y",
    Precision.MONTH: "%Y-%m",
    Precision.DAY: "%Y-%m-%d",
    Precision.HOUR: "%Y-%m-%dT%H:%M",
    Precision.INSTANT: "%Y-%m-%dT%H:%M:%S",
}

_TEXTS = ("text", "context", "expansion", "metadata", "speaker", "source", "path")


def clean_characters(text: str) -> str:
    """*text* without NUL, and with U+FFFD for halves of characters; two halves that belong together meet."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def cut(text: str, max_bytes: int = LONGEST_TEXT) -> list[str]:
    """A text in parts of at most *max_bytes*, at line breaks or blanks where there are any; none is blank."""
    raw = text.encode()
    parts = []
    while len(raw) > max_bytes:
        head = raw[:max_bytes].decode(errors="ignore")
        end = max(head.rfind("\n"), 0) or max(head.rfind(" "), 0) or len(head)
        parts.append(head[:end])
        raw = raw[len(head[:end].encode()) :]
    return [part for part in (*parts, raw.decode()) if part.strip()]


def readable_time(value: object) -> tuple[datetime | str | None, str]:
    """A time as ``retain`` takes it, or ``None``; and why it cannot be read, empty where it can.

    A time in words or figures is read where it means one thing: ``26/05/2026`` and ``May 26, 2026 2:33 PM``,
    not ``05/04/2026`` or ``2:33 PM``.
    """
    try:
        time = value if isinstance(value, datetime) else moment(value)
        if time is not None:
            parse_time(time, "time")
    except InputError as error:
        told = _in_words(str(value))
        return (told, "") if told else (None, error.problem)
    except (ValueError, TypeError) as error:
        return None, str(error)
    return time, ""


def _in_words(text: str) -> str:
    """ISO 8601 of a time that is written otherwise; empty for none, or one that depends on today."""
    if len(text) > _LONGEST_TIME:
        return ""
    found = parse_time_expression(text, anchor=_ANY_DAY, zone=UTC)
    form = _ISO.get(found.interval.precision) if found is not None and found.days is None else None
    begins = from_micros(found.interval.start) if found is not None and form else None
    # Without a zone, as it was written: the bank's zone is given to it later.
    return begins.strftime(form) if begins is not None and form else ""


def clean_items(
    items: Iterable[ImportedItem], file: NamedFile, report: ImportReport
) -> Iterator[ImportedItem]:
    """The items of a reader with texts that can be stored; what holds no text then is skipped."""
    for item in items:
        values, changed = _cleaned(item.item)
        problems = ["characters that cannot be stored were taken out"] if changed else []
        text = values.get("text")
        parts = [text]
        if isinstance(text, str) and len(text) > LONGEST_TEXT // 4 and ORIGIN not in values:
            parts = list(cut(text))
            if len(parts) > 1:
                problems.append(
                    f"is longer than {MAX_TEXT_BYTES:,} bytes and was stored in {len(parts)} parts"
                )
        if changed and isinstance(text, str) and not text.strip():
            report.skipped(file.wrong(item.line, "text: holds no characters that can be stored", item.part))
            continue
        for problem in problems:
            report.cleaned(file.wrong(item.line, problem, item.part))
        yield from (replace(item, item={**values, "text": part}) for part in parts) if problems else (item,)


def _cleaned(item: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """An item with characters that can be stored, and whether that changed it."""
    found = {key: _value(item[key]) for key in _TEXTS if key in item}
    changed = any(found[key] != item[key] for key in found)
    return ({**item, **found} if changed else item), changed


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_characters(value)
    if isinstance(value, list):
        return [_value(entry) for entry in value]
    if isinstance(value, dict):
        return {_value(key): _value(entry) for key, entry in value.items()}
    return value
