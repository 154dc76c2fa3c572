"""JSON files piece by piece, with the line on which each piece begins.

A stream is to be opened with ``errors="surrogateescape"``: so one line that is not UTF-8 is that line's fault
alone.
"""

from __future__ import annotations

import contextlib
import json
import re
from datetime import UTC, datetime
from io import StringIO
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NoReturn

from simonides.records.hygiene import shown
from simonides.retain.documents import MAX_DOCUMENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import NamedFile, Skipped

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
    """What a stream holds.

    Raises:
        InputError: it is more than ``LARGEST_FILE``.
    """
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
    """The value of a JSON text.

    Raises:
        ValueError: it is none, or is not UTF-8.
    """
    if _BAD_BYTES.search(text):
        raise ValueError("is not UTF-8 text; convert it first")
    try:
        # Not strict: a control character in a text is cleaned there, or stays.
        return json.loads(text, strict=False, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _NotJsonError(f"is not JSON ({error.msg} at column {error.colno})", error.pos) from None


def moment(value: object) -> datetime | str | None:
    """A time as other programs write it: seconds or milliseconds since 1970, or a text that ``retain`` reads.

    Raises:
        ValueError, TypeError: a number that is no time, or neither number nor text.
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

    A number that JSON cannot hold (NaN) reads as null: it costs neither its entry nor those after it.

    Raises:
        ValueError: at the first fault; the entries before it were given out.
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


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is no JSON number")
