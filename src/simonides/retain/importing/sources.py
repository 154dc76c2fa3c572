"""What every reader of another program's file takes and gives: items, JSON, clean texts.

JSON is read piece by piece, with the line on which each piece begins. Open a stream with
``errors="surrogateescape"``, so that a line that is not UTF-8 is that line's fault alone.
JSON lines of items: each line an object with ``text`` and any other argument of ``retain``.

Cleaned, and reported:
    NUL characters and lone halves of characters    removed, or replaced by U+FFFD
    a text longer than ``LONGEST_TEXT``             cut into parts that are stored one after the other
    a time that cannot be read                      left out

Names that decide who reads or replaces what (acl, document_id, session) stay as they are: two of them must
not become one.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from io import StringIO
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NoReturn

from simonides.errors import InputError
from simonides.options import MAX_DOCUMENT_BYTES, MAX_TEXT_BYTES
from simonides.records.hygiene import shown
from simonides.records.interval import Precision, from_micros, parse_time
from simonides.retain.items import ORIGIN
from simonides.storage.export_format import refuse_constant
from simonides.text.times.expressions import parse_time_expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


Skipped = Callable[[InputError], None]
"""Told of a row that cannot be read, which is then passed over; raises to stop there instead."""


def refuse(error: InputError) -> NoReturn:
    """The ``Skipped`` that stops at the first row that cannot be read."""
    raise error


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What a reader could not bring as it stands.

    Attributes:
        skipped: called with the file, line and reason of each row or turn that is lost; by default raises.
        cleaned: called with those of each one that is stored without a part of it, such as a wrong time.
        left_out: how many parts without words were left out, by kind: ``image``, ``tool call`` …
    """

    skipped: Skipped = refuse
    cleaned: Callable[[InputError], None] = lambda _: None
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file as messages and memories name it.

    Attributes:
        name: for messages, such as ``notes/garden.md``.
        place: below the folder that was named; becomes the path of its memories.
        document: the id of the document that a note becomes; must not be another file's.
    """

    name: str
    place: str = ""
    document: str = ""

    def wrong(self, line: int, problem: str, part: str = "") -> InputError:
        """The error for a row."""
        return InputError(f"{self.name}:{line}", f"{part}: {problem}" if part else problem)


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """One item for ``Bank.import_items``.

    Attributes:
        line: where it stands in the file, from 1.
        part: such as ``message 3f2a``, where a line holds many.
    """

    item: dict[str, Any]
    line: int
    part: str = ""


Reader = Callable[[IO[str], NamedFile, ImportReport], Iterator[ImportedItem]]
"""Reads a text stream. Raises InputError when the file as a whole is of another form."""


def given(**values: object) -> dict[str, Any]:
    """Those values that say something."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


LONGEST_LINE = MAX_DOCUMENT_BYTES
"""Characters of a line of JSON: a document of the largest size."""

LARGEST_FILE = 1 << 30
"""Characters of a file that is read as a whole."""

_MILLISECONDS = 10**11
"""From here on, a time counts milliseconds: as seconds it would lie after the year 5000."""

_LOOKED_AT = 20
"""Lines that are looked at for an object."""

_BLANK = re.compile(r"[ \t\r\n]*")
_BAD_BYTES = re.compile("[\udc80-\udcff]")


def json_lines(stream: IO[str], file: NamedFile, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and objects of a file with one object a line; blank lines are passed over."""
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        text = line.lstrip("\ufeff") if number == 1 else line
        if not text.strip():
            continue
        if len(line) > LONGEST_LINE:
            _pass_line(stream, line)
            skipped(file.wrong(number, f"is longer than {LONGEST_LINE:,} characters; split it"))
            continue
        try:
            row = parse(text)
        except ValueError as error:
            skipped(file.wrong(number, str(error)))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            skipped(file.wrong(number, f"expected an object, got {kind_of(row)}"))


def _pass_line(stream: IO[str], begun: str) -> None:
    """Read on to the end of a line of which *begun* has been read, without keeping it."""
    while begun and not begun.endswith("\n"):
        begun = stream.readline(LONGEST_LINE)


def read_whole(stream: IO[str], file: NamedFile) -> str:
    """What a stream holds, up to ``LARGEST_FILE``; more is an ``InputError``."""
    text = stream.read(LARGEST_FILE + 1)
    if len(text) > LARGEST_FILE:
        raise file.wrong(1, f"the file is longer than {LARGEST_FILE:,} characters; split it")
    return text


def json_rows(stream: IO[str], file: NamedFile, skipped: Skipped, *keys: str) -> Iterator[tuple[int, Any]]:
    """Line numbers and values of a JSON text: the entries of its list or of lists under *keys*, or its lines.

    An object without any of the *keys* is itself the only value. Entries of a list are read one at a time, so
    that a list that is cut off gives those before the fault; *skipped* is told of the rest. Bytes that are
    not UTF-8 stay lone surrogates in a list, for the texts that hold them to be cleaned.

    Raises:
        InputError: the text is not JSON from its beginning on.
    """
    text = read_whole(stream, file).lstrip("\ufeff")
    found_some = False
    try:
        if text[_skip(text, 0) :][:1] == "[":
            for row in list_entries(text):
                yield row
                found_some = True
            return
        whole = parse(text)
    except ValueError as error:
        if not found_some and _is_lines(text):
            yield from json_lines(StringIO(text), file, skipped)
            return
        wrong = file.wrong(_line(text, getattr(error, "position", 0)), str(error))
        if not found_some:
            raise wrong from None
        skipped(wrong)
        return
    found = [key for key in keys if isinstance(whole, dict) and isinstance(whole.get(key), list)]
    if not found:
        yield 1 + text.count("\n", 0, _skip(text, 0)), whole
    for key in found:
        yield from ((1, entry) for entry in whole[key])


def _is_lines(text: str) -> bool:
    """Whether one of the first lines is an object, where the text as a whole is none."""
    for line in islice(filter(str.strip, StringIO(text)), _LOOKED_AT):
        with contextlib.suppress(ValueError):
            if isinstance(parse(line), dict):
                return True
    return False


def parse(text: str) -> Any:
    """The value of a JSON text; ``ValueError`` when it is none or not UTF-8."""
    if _BAD_BYTES.search(text):
        raise ValueError("is not UTF-8 text; convert it first")
    try:
        # Not strict: a control character in a text is cleaned there, or stays.
        return json.loads(text, strict=False, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _NotJsonError(f"is not JSON ({error.msg} at column {error.colno})", error.pos) from None


def moment(value: object) -> datetime | str | None:
    """A time as other programs write it: seconds or milliseconds since 1970, or a text that ``retain`` reads.

    ``ValueError``, ``TypeError``: a number that is no time, or neither number nor text.
    """
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected a time, got {kind_of(value)}")
    try:
        return datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{shown(value)} is no time in seconds since 1970") from None


def kind_of(value: object) -> str:
    """What a JSON value is, for messages."""
    if isinstance(value, dict):
        keys = ", ".join(shown(key) for key in list(value)[:8])
        return f"an object with the keys {keys}" if keys else "an empty object"
    if isinstance(value, list):
        return f"a list of {kind_of(value[0])}" if value else "an empty list"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return "a text" if isinstance(value, str) else "a number"


class _NotJsonError(ValueError):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


def list_entries(text: str) -> Iterator[tuple[int, Any]]:
    """The entries of a JSON list with their lines, one at a time, so that only one is in memory as objects.

    A number that JSON cannot hold (NaN) reads as null: it costs neither its entry nor those after it. Raises
    ``ValueError`` at the first fault, after the entries before it.
    """
    decoder = json.JSONDecoder(strict=False, parse_constant=lambda _: None)
    place = _skip(text, _skip(text, 0) + 1)
    line, counted = 1, 0
    while text[place : place + 1] != "]":
        line, counted = line + text.count("\n", counted, place), place
        try:
            entry, place = decoder.raw_decode(text, place)
        except RecursionError:
            raise _NotJsonError("is nested too deeply", place) from None
        except json.JSONDecodeError as error:
            raise _NotJsonError(f"is not JSON ({error.msg} at column {error.colno})", error.pos) from None
        yield line, entry
        place = _skip(text, place)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != "]":
            raise _NotJsonError("is not JSON (a list is cut off, or lacks a comma)", place)
    if text[place + 1 :].strip():
        raise _NotJsonError("is not JSON (something follows the list)", place + 1)


def _skip(text: str, place: int) -> int:
    blank = _BLANK.match(text, place)
    return blank.end() if blank else place


def _line(text: str, place: int) -> int:
    return 1 + text.count("\n", 0, place)


def read_jsonl(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """Items as they stand; whether they can be stored is for the bank to say."""
    report = report or ImportReport()
    for line, row in json_lines(stream, file, report.skipped):
        if "text" in row:
            yield ImportedItem(row, line)
        else:
            report.skipped(file.wrong(line, "text: is missing; an item needs a text"))


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


# Parts whose ``text`` was said: by voice to ChatGPT it is an "audio_transcription", to Claude a "voice_note".
_SAID = frozenset({"text", "audio_transcription", "voice_note"})
_TOOL_OUTPUTS = (
    "tool_result", "web_search_tool_result", "execution_output", "tether_browsing_display", "tether_quote",
    "sonic_webpage", "computer_output", "system_error",
)  # fmt: skip
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("image", "image_asset_pointer", "image_url"), "image"),
    **dict.fromkeys(("audio", "audio_asset_pointer", "real_time_user_audio_video_asset_pointer"), "audio"),
    **dict.fromkeys(("video", "video_container_asset_pointer"), "video"),
    **dict.fromkeys(("document", "file", "container_upload"), "file"),
    **dict.fromkeys(("thinking", "redacted_thinking", "thoughts", "reasoning_recap"), "thought"),
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use", "code"), "tool call"),
    **dict.fromkeys(_TOOL_OUTPUTS, "tool output"),
    **dict.fromkeys(("user_editable_context", "model_editable_context"), "custom instructions"),
    "token_budget": "token budget",
}


def part_kind(kind: object) -> str:
    """What a part of a type is counted as; an unknown type keeps its name."""
    if not isinstance(kind, str):
        return "part without a type"
    return _KINDS.get(kind) or f"part {shown(kind)}"


def texts_of(parts: list[Any], report: ImportReport) -> Iterator[str]:
    """The texts of a message's parts, none of them blank; counts the others in ``report.left_out``."""
    for part in parts:
        if isinstance(part, str):
            text: object = part
        else:
            kind = part.get("type") or part.get("content_type") if isinstance(part, dict) else None
            text = part.get("text") if kind in _SAID else None
            if not isinstance(text, str):
                report.left_out[part_kind(kind)] += 1
                continue
        if isinstance(text, str) and text.strip():
            yield text
