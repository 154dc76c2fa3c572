"""Change a value in the text of a JSON file and leave every other byte of it as it is.

The text is plain JSON, as the standard has it. A changed text is read again, and must say exactly what the
change would make of the values; what cannot be changed so (a key that stands twice) is refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from json.decoder import JSONDecoder
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLANK = " \t\r\n"
_DECODER = JSONDecoder()

Path = tuple[str | int, ...]


class ByHandError(InputError):
    """A file cannot be changed without losing something of it.

    *lines*: what to write by hand, if anything.
    """

    def __init__(self, field: str, problem: str, lines: str = "") -> None:
        super().__init__(field, problem)
        self.lines = lines


@dataclass(frozen=True, slots=True)
class _Entry:
    """A member of an object or an item of a list: where it starts, where its value starts, where it ends."""

    key: str | int
    start: int
    value: int
    end: int


def parse(text: str, place: str) -> Any:
    """The value of a JSON text; ``InputError`` where it is none, ``ByHandError`` if it has comments."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(place, "is nested too deeply") from None
    except ValueError as error:
        plain = without_comments(text)
        if plain != text and _reads(plain):
            raise ByHandError(
                place, "has comments or trailing commas, which a change could lose; change it by hand"
            ) from None
        where = f"{place}:{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else place
        what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(where, f"is not JSON ({what}); correct it there, or move the file away") from None


def put(text: str, path: Path, value: Any) -> str:
    """*text* with *value* at *path*; objects on the way are made. A number past the end of a list appends.

    ``InputError`` when it cannot be done without changing anything else.
    """
    return _checked(text, _put(text, path, value), lambda whole: _put_value(whole, path, value))


def cut(text: str, path: Path) -> str:
    """*text* without what stands at *path*; ``InputError`` when that would change anything else."""
    return _checked(text, _cut(text, path), lambda whole: _cut_value(whole, path))


def _checked(before: str, after: str, change: Any) -> str:
    wanted = json.loads(before)
    change(wanted)
    if json.loads(after) != wanted:
        raise InputError("the file", "has a key twice; leave one of them, then try again")
    return after


def _put_value(whole: Any, path: Path, value: Any) -> None:
    for key, following in pairwise(path):
        if isinstance(whole, dict):
            whole = whole.setdefault(key, [] if isinstance(following, int) else {})
        else:
            whole = whole[key]
    if isinstance(whole, list) and path[-1] == len(whole):
        whole.append(value)
    else:
        whole[path[-1]] = value


def _cut_value(whole: Any, path: Path) -> None:
    for key in path[:-1]:
        whole = whole[key]
    del whole[path[-1]]


def _put(text: str, path: Path, value: Any) -> str:
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        entries = _entries(text, at)
        found = next((each for each in reversed(entries) if each.key == key), None)
        if found is None:
            for missing in reversed(path[depth + 1 :]):
                value = [value] if isinstance(missing, int) else {missing: value}
            return _insert(text, at, entries, key, value)
        at = found.value
        end = found.end
    written = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return text[:at] + _shifted(written, _indent_at(text, at), text) + text[end:]


def _insert(text: str, at: int, entries: Sequence[_Entry], key: str | int, value: Any) -> str:
    """A new last entry in the object or list that begins at *at*."""
    label = "" if isinstance(key, int) else f"{json.dumps(key, ensure_ascii=False)}: "
    if not entries:
        base = _indent_at(text, at)
        inner = base + _unit(text)
        written = label + _shifted(json.dumps(value, indent=_unit(text), ensure_ascii=False), inner, text)
        end = _end_of(text, at) - 1
        return f"{text[: at + 1]}{_newline(text)}{inner}{written}{_newline(text)}{base}{text[end:]}"
    last = entries[-1]
    begins = entries[-2].end if len(entries) > 1 else at
    # What stands before an entry stands before the new one, too; before it there is a comma or a bracket.
    gap = text[_comma(text, begins) : last.start]
    if "\n" in gap:
        indent = gap.rpartition("\n")[2]
        written = _shifted(json.dumps(value, indent=_unit(text), ensure_ascii=False), indent, text)
    else:
        written, gap = json.dumps(value, ensure_ascii=False), gap or " "
    return f"{text[: last.end]},{gap}{label}{written}{text[last.end :]}"


def _comma(text: str, after: int) -> int:
    """Where the blank before an entry begins: behind the comma that follows *after*, or the bracket there."""
    if text[after] in "{[":
        return after + 1
    return _skip(text, after) + 1


def _cut(text: str, path: Path) -> str:
    at = _skip(text, 0)
    for key in path[:-1]:
        at = next(each.value for each in reversed(_entries(text, at)) if each.key == key)
    entries = _entries(text, at)
    place = max(number for number, each in enumerate(entries) if each.key == path[-1])
    entry = entries[place]
    if len(entries) == 1:
        return text[: at + 1] + text[_end_of(text, at) - 1 :]
    if place == len(entries) - 1:
        return text[: entries[place - 1].end] + text[entry.end :]
    return text[: entry.start] + text[entries[place + 1].start :]


def _entries(text: str, at: int) -> list[_Entry]:
    """What an object or a list holds that begins at *at*; the text is JSON."""
    found: list[_Entry] = []
    is_object = text[at] == "{"
    place = _skip(text, at + 1)
    while text[place] not in "}]":
        start = place
        key: str | int = len(found)
        if is_object:
            key, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        value = place
        _, end = _DECODER.raw_decode(text, value)
        found.append(_Entry(key, start, value, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found


def _end_of(text: str, at: int) -> int:
    return int(_DECODER.raw_decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _unit(text: str) -> str:
    """One step of indentation, as the file has it."""
    found = re.search(r"\n([ \t]++)\S", text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str:
    """The indentation of the line that *at* is in."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _shifted(written: str, indent: str, text: str) -> str:
    return written.replace("\n", _newline(text) + indent)


def _reads(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def without_comments(text: str) -> str:
    """*text* without comments and trailing commas outside of strings."""
    pieces = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)', re.DOTALL)
    plain = pieces.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    commas = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|,(?=[ \t\r\n]*+[}\]])', re.DOTALL)
    return commas.sub(lambda found: found[0] if found[0].startswith('"') else "", plain)
