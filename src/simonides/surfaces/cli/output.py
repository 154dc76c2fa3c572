"""What a command prints: the answer on standard output, everything else on standard error."""

from __future__ import annotations

import json
import re
import sys
from codecs import getincrementaldecoder
from io import RawIOBase
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NoReturn, cast

import typer

from simonides.errors import InputError, SimonidesError
from simonides.records.json_ready import finite

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from _typeshed import ReadableBuffer
    from rich.console import Console, RenderableType
    from rich.table import Table

    from simonides.records.interval import Precision

# Exit codes: 0 fine, NEGATIVE, BAD_INPUT, INTERRUPTED.
NEGATIVE = 1
BAD_INPUT = 2
INTERRUPTED = 130

# Control characters but tab and line feed, halves of characters, ends of lines, and marks that reorder a line
# or hide in it.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_given: list[str] = []


def say(message: str) -> None:
    """A message for people, on standard error, without secrets and what could steer a terminal."""
    typer.echo(printable(redacted(message)), err=True)


def remember(arguments: Sequence[str]) -> None:
    """What the command was given: its secrets are left out of messages, those cut short, too."""
    _given[:] = arguments


def redacted(message: str) -> str:
    """*message* without what looks like a secret, whatever the policy: such lines end up in logs."""
    from simonides.retain.redacted_errors import hidden

    return hidden(message, _given)


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """One line on standard error, then the exit code."""
    say(f"error: {' '.join(message.split())}")
    raise typer.Exit(code)


def explained(error: Exception) -> str:
    """What went wrong, for people."""
    if isinstance(error, SimonidesError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    if isinstance(error, MemoryError):
        return "out of memory; give less at once, or free some"
    return (
        f"{type(error).__name__}: {error} (this is a fault in simonides; SIMONIDES_TRACEBACK=1 shows where)"
    )


def print_text(text: str) -> None:
    """A line or more for people, on standard output."""
    typer.echo(printable(text))


def print_json(answer: Mapping[str, object]) -> None:
    """One JSON object on standard output; numbers that JSON cannot hold become ``null``.

    On a terminal, what could steer it is escaped, as JSON allows; a program reads the same value.
    """
    # A console of a small character set still gets valid JSON.
    narrow = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(finite(answer), ensure_ascii=narrow, allow_nan=False, indent=2)
    typer.echo(_escaped_json(text) if sys.stdout.isatty() else text)


def print_answer(answer: Mapping[str, object], *lines: str, as_json: bool) -> None:
    """An answer as JSON, else as *lines* for people."""
    if as_json:
        print_json(answer)
    else:
        print_text("\n".join(lines))


def ask_or_end(question: str, kept: str) -> None:
    """Ask on standard error; without a yes say what was *kept* and end with NEGATIVE."""
    if not _is_terminal():
        raise InputError("--yes", "is needed where there is no terminal to ask on")
    # Not typer.confirm: it lets part of the question out on standard output.
    typer.echo(f"{question} [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        say(kept)
        raise typer.Exit(NEGATIVE)


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def binary_output() -> IO[bytes]:
    """Standard output for bytes of UTF-8; what could steer a terminal is escaped as in JSON if it is one."""
    stream = sys.stdout.buffer
    return cast("IO[bytes]", _Terminal(stream)) if sys.stdout.isatty() else stream


class _Terminal(RawIOBase):
    """Writes lines of JSON to a terminal."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._decode = getincrementaldecoder("utf-8")("backslashreplace").decode

    def write(self, data: ReadableBuffer, /) -> int:
        self._stream.write(_escaped_json(self._decode(bytes(data))).encode("utf-8"))
        return memoryview(data).nbytes

    def flush(self) -> None:
        self._stream.flush()


def print_table(table: RenderableType, *, err: bool = False) -> None:
    """A rich table; on standard output unless *err*."""
    console(err=err).print(table)


def table(*columns: str, numbers: Collection[str] = (), whole: Collection[str] = ()) -> Table:
    """An empty table without frame; *numbers* are set flush right, neither they nor *whole* are broken.

    Texts that are added to it are made ``printable``.
    """
    from rich.table import Table

    class Inert(Table):
        def add_row(self, *cells: RenderableType | None, **more: Any) -> None:
            super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **more)

    empty = Inert(box=None, padding=(0, 2, 0, 0), pad_edge=False, title_justify="left")
    for name in columns:
        if name in numbers:
            empty.add_column(name, justify="right", no_wrap=True)
        else:
            empty.add_column(name, no_wrap=name in whole, overflow="fold")
    return empty


def console(*, err: bool = False) -> Console:
    """A rich console that prints what it is given and reads nothing into it."""
    from rich.console import Console

    return Console(stderr=err, highlight=False, markup=False, emoji=False)


def printable(text: str) -> str:
    """*text* with what could steer a terminal shown as escapes, since a memory may come from anywhere."""
    return _STEERING.sub(lambda found: repr(found[0])[1:-1], text)


def when(moment: datetime | None, precision: Precision | str | None = None) -> str:
    """A moment for people, no finer than it is known; ``-`` for none."""
    if moment is None:
        return "-"
    length = {"year": 4, "month": 7, "day": 10}.get(str(precision), 16)
    return moment.isoformat(sep=" ")[:length]


def _escaped_json(text: str) -> str:
    return _STEERING.sub(lambda found: json.dumps(found[0])[1:-1], text)
