"""From the arguments of `retain` to items: texts, standard input, `.jsonl` lines, chats, notes and folders.

An argument that names an existing file or folder is read; one that looks like such a path but names nothing
is an error; every other argument is itself the text. A note is a document: its paragraphs are items whose
source is the file's name and whose path is the file's place below the folder that was named. A `.json` file,
a line of `.jsonl` or standard input may hold a chat: a list of messages, or an object with them as
``messages``; its session is the file's name.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from simonides.errors import InputError
from simonides.records.hygiene import read_at_most
from simonides.retain.importing.sources import LONGEST_LINE
from simonides.retain.messages import is_message
from simonides.surfaces.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

NOTES = frozenset({".md", ".txt"})
LINES = frozenset({".jsonl"})
LISTS = frozenset({".json"})
READABLE = NOTES | LINES | LISTS


@dataclass(frozen=True, slots=True)
class Piece:
    """One item to retain, and where it came from, such as ``notes.jsonl:14``.

    Pieces of one document or chat follow one another and belong into one transaction.
    """

    item: dict[str, Any]
    origin: str
    document: str = ""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    place: str


_Source = str | _File | None  # a text, a file, or standard input


def read_pieces(
    arguments: Sequence[str], *, by_line: bool = False, skipped: Callable[[InputError], None] | None = None
) -> Iterator[Piece]:
    """Every item that *arguments* (texts, paths, ``-``; none = standard input) name, in order.

    Which files there are is settled before the first item comes; their contents are read as items are taken.

    Args:
        by_line: each line of standard input is an item, instead of the whole.
        skipped: called with each line or file that cannot be read, which is passed over; ``None`` = raise.

    Raises:
        InputError: a path names nothing readable, a link leads out of its folder, or a line is malformed.
    """
    sources = [source for argument in arguments or ["-"] for source in _sources(argument)]
    if None in sources and sys.stdin.isatty():
        raise InputError("SOURCES", "nothing to retain; give a text, a path, or pipe a text in")
    return _pieces(sources, by_line=by_line, skipped=skipped or _refuse)


def _sources(argument: str) -> Iterable[_Source]:
    if argument == "-":
        return [None]
    if os.path.isdir(argument):  # noqa: PTH112 -- unlike Path.is_dir, never raises on a text of any length
        return _notes_below(Path(argument))
    if os.path.lexists(argument):
        path = Path(argument)
        if path.suffix.lower() not in READABLE:
            raise InputError(
                argument, f"files named *{path.suffix or path.name} are not read; give {_readable()}"
            )
        return [_File(path, path.name)]
    if _looks_like_path(argument):
        raise InputError(
            argument, "there is no such file or folder; check the path, or pipe the text in if it is one"
        )
    return [argument]


def _looks_like_path(argument: str) -> bool:
    """A readable suffix and no blank (a sentence may end with a file's name), or how folders are written."""
    one_word = not any(c.isspace() for c in argument)
    if argument.lower().endswith(tuple(READABLE)):
        return one_word or argument.startswith(("/", "./", "../", "~"))
    return one_word and (argument.endswith("/") or argument.startswith(("./", "../", "~/")))


def _notes_below(folder: Path) -> list[_Source]:
    found: list[_Source] = [_File(path, place) for path, place in files_below(folder, NOTES)]
    if not found:
        raise InputError(str(folder), "holds no .md or .txt file")
    return found


def files_below(folder: Path, suffixes: Collection[str]) -> list[tuple[Path, str]]:
    """Files of some sorts below a folder, sorted, each with its place there; what is hidden is passed over.

    Raises:
        InputError: a link leads out of the folder.
    """
    root = folder.resolve()
    found: list[tuple[Path, str]] = []
    for parent, folders, files in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted([*folders, *files]):
            path = Path(parent, name)
            if name.startswith(".") or (name in files and path.suffix.lower() not in suffixes):
                continue
            if path.is_symlink():
                # A link within the folder is passed over: what it leads to is read in its own place.
                if not path.resolve().is_relative_to(root):
                    raise InputError(
                        str(path), f"is a link that leads out of {folder}; remove it, or name its target"
                    )
            elif name in files:
                found.append((path, path.relative_to(folder).as_posix()))
    return found


def _pieces(
    sources: Sequence[_Source], *, by_line: bool, skipped: Callable[[InputError], None]
) -> Iterator[Piece]:
    for number, source in enumerate(sources, start=1):
        if source is None:
            yield from _standard_input_lines() if by_line else _standard_input(skipped)
        elif isinstance(source, str):
            yield Piece({"text": source}, f"argument {number}")
        elif source.path.suffix.lower() in LINES:
            yield from _from_lines(source, skipped)
        elif source.path.suffix.lower() in LISTS:
            yield from _from_list(source, skipped)
        else:
            yield from _from_note(source, skipped)


def _standard_input(skipped: Callable[[InputError], None]) -> Iterator[Piece]:
    origin = "standard input"
    text = _decoded(read_at_most(sys.stdin.buffer, LONGEST_LINE, origin), origin)
    value: object = None
    if text.lstrip().startswith(("[", "{")):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(text, parse_constant=_no_constant)
    entries, name = _entries(value)
    # Any other JSON is a text like any other.
    if name == "messages" and (not isinstance(value, list) or is_message(entries[0])):
        yield from _listed(entries, name, origin, skipped=skipped)
    else:
        yield Piece({"text": text}, origin)


def _standard_input_lines() -> Iterator[Piece]:
    for number, line in enumerate(_lines(sys.stdin.buffer), start=1):
        origin = f"standard input:{number}"
        text = _decoded(line, origin)
        if text.strip():
            yield Piece({"text": text.rstrip("\r\n")}, origin)


def _from_lines(source: _File, skipped: Callable[[InputError], None]) -> Iterator[Piece]:
    _check_regular(source.path)
    with source.path.open("rb") as lines:
        for number, line in enumerate(_lines(lines), start=1):
            origin = f"{source.path}:{number}"
            if not line.strip():
                continue
            try:
                item = _item(_decoded(line, origin), origin)
            except InputError as error:
                skipped(error)
                continue
            if isinstance(item.get("messages"), list):
                session = f"{source.place}:{number}"
                yield from _listed(item["messages"], "messages", origin, session, skipped=skipped)
            elif is_message(item):
                yield Piece({"session": source.place, **item}, origin)
            else:
                yield Piece(item, origin)


def _from_list(source: _File, skipped: Callable[[InputError], None]) -> Iterator[Piece]:
    _check_regular(source.path)
    origin = str(source.path)
    try:
        with source.path.open("rb") as file:
            text = _decoded(read_at_most(file, LONGEST_LINE, origin), origin)
        entries, name = _entries(_parsed(text, origin))
    except InputError as error:
        skipped(error)
        return
    if name:
        yield from _listed(entries, name, origin, source.place, skipped=skipped)
    else:
        skipped(InputError(origin, "expected a list of chat messages or items, or an object with messages"))


def _entries(value: object) -> tuple[list[Any], str]:
    """The messages or items of a JSON value, and which they are; of anything else none and no name."""
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            return value["messages"], "messages"
        return ([value], "messages" if is_message(value) else "items")
    if isinstance(value, list):
        return value, "messages" if any(map(is_message, value)) else "items"
    return [], ""


def _listed(
    entries: list[Any],
    name: str,
    origin: str,
    session: str = "",
    *,
    skipped: Callable[[InputError], None],
) -> Iterator[Piece]:
    for number, entry in enumerate(entries):
        place = f"{origin}: {name}[{number}]"
        if isinstance(entry, str):
            yield Piece({"text": entry}, place)
        elif not isinstance(entry, dict):
            skipped(InputError(place, f"expected an object, got {type(entry).__name__}"))
        elif is_message(entry):
            yield Piece({**({"session": session} if session else {}), **entry}, place, origin)
        else:
            yield Piece(entry, place, origin if name == "messages" else "")


def _from_note(source: _File, skipped: Callable[[InputError], None]) -> Iterator[Piece]:
    from simonides.retain.importing.formats import MARKDOWN, named_file, read_file
    from simonides.retain.importing.sources import ImportReport

    named = named_file(source.path, source.place)
    report = ImportReport(cleaned=lambda error: say(f"cleaned {error}"))
    try:
        found = list(read_file(source.path, MARKDOWN, named, report))
    except InputError as error:
        skipped(error)
        return
    for piece in found:
        yield Piece(piece.item, f"{source.path}:{piece.line}", named.document)


def _item(line: str, origin: str) -> dict[str, Any]:
    item = _parsed(line, origin)
    if not isinstance(item, dict):
        raise InputError(origin, f'expected an object such as {{"text": "…"}}, got {type(item).__name__}')
    return item


def _parsed(text: str, origin: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(origin, f"not valid JSON ({error})") from None


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a stream, cut one byte behind ``LONGEST_LINE``, for ``_decoded`` to refuse."""
    while line := stream.readline(LONGEST_LINE + 1):
        rest = line if len(line) > LONGEST_LINE else b""
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        yield line


def _decoded(raw: bytes, origin: str) -> str:
    if len(raw) > LONGEST_LINE:
        raise InputError(origin, f"is longer than {LONGEST_LINE:,} bytes; split it")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(origin, f"not UTF-8 text (byte {error.start}); convert it first") from None


def _check_regular(path: Path) -> None:
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError(str(path), "is not a regular file")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _raise(error: OSError) -> NoReturn:
    raise error


def _refuse(error: InputError) -> NoReturn:
    raise error


def _readable() -> str:
    return ", ".join(sorted(READABLE)) + " or a folder"
