"""Write the table of one MCP server into Codex's ``config.toml``, or take it out; all other lines stay.

    [mcp_servers.NAME]
    command = "…"
    args = ["…"]

The changed text is read again and must say exactly what is meant; where it does not (the table stands inline,
or in another form), the change is refused with the lines to write by hand.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.surfaces.agents.json_edit import ByHandError

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLE = "mcp_servers"
# The server's name, and whether the header ends after it.
_HEADER = re.compile(
    r"[ \t]*+\[[ \t]*+[\"']?mcp_servers[\"']?[ \t]*+\.[ \t]*+[\"']?([\w-]++)[\"']?[ \t]*+([.\]])"
)


def parse(text: str, place: str) -> dict[str, Any]:
    """The values of a TOML text; ``InputError`` saying where it is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(place, f"is not TOML ({error}); correct it there, or move the file away") from None
    except RecursionError:
        raise InputError(place, "is nested too deeply") from None


def server_lines(name: str, server: Mapping[str, Any]) -> str:
    """The table as text."""
    lines = [f"[{TABLE}.{name}]", *(f"{key} = {_written(value)}" for key, value in server.items())]
    return "\n".join(lines) + "\n"


def put_server(text: str, place: str, name: str, server: Mapping[str, Any]) -> str:
    """*text* with these keys in the server's table; others stay. ``ByHandError`` when more would change."""
    wanted = parse(text, place)
    there = wanted.setdefault(TABLE, {}) if isinstance(wanted.get(TABLE, {}), dict) else None
    if there is None or not isinstance(there.get(name, {}), dict):
        raise InputError(f"{place}: {TABLE}", "expected a table; correct it")
    newline = "\r\n" if "\r\n" in text else "\n"
    if name in there:
        changed = _changed(text, name, server, newline)
    else:
        ended = text if not text or text.endswith("\n") else text + newline
        block = server_lines(name, server).replace("\n", newline)
        changed = ended + (newline if ended.strip() else "") + block
    there[name] = {**there.get(name, {}), **server}
    return _checked(changed, wanted, place, server_lines(name, server))


def cut_server(text: str, place: str, name: str) -> str:
    """*text* without the server's table, which is there; ``ByHandError`` when more would change."""
    wanted = parse(text, place)
    del wanted[TABLE][name]
    if not wanted[TABLE]:
        del wanted[TABLE]
    lines = text.splitlines(keepends=True)
    for first, last in reversed(_blocks(lines, name)):
        blank_before = first > 0 and not lines[first - 1].strip()
        del lines[first - 1 if blank_before else first : last]
    left = "".join(lines)
    return _checked(left, wanted, place)


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _blocks(lines: list[str], name: str) -> list[tuple[int, int]]:
    """First line and end of the server's table and of those below it, less the comments that follow."""
    blocks: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        found = _HEADER.match(line)
        if not found or found[1] != name:
            continue
        end = next(
            (n for n in range(number + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines)
        )
        while end > number + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        blocks.append((number, end))
    return blocks


def _changed(text: str, name: str, server: Mapping[str, Any], newline: str) -> str:
    lines = text.splitlines(keepends=True)
    for number, end in _blocks(lines, name):
        found = _HEADER.match(lines[number])
        if not found or found[2] != "]":
            continue
        for key, value in server.items():
            written = f"{key} = {_written(value)}{newline}"
            places = [n for n in range(number + 1, end) if lines[n].partition("=")[0].strip() == key]
            if places:
                lines[places[0]] = written
            else:
                lines[number] += written
    return "".join(lines)


def _checked(text: str, wanted: Mapping[str, Any], place: str, by_hand: str = "") -> str:
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        read = None
    if read is None or {TABLE: {}, **read} != {TABLE: {}, **wanted}:
        raise ByHandError(
            f"{place}: {TABLE}", "has a form that a change here could damage; change it by hand", by_hand
        )
    return text
