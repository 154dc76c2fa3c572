"""Anthropic's memory tool over a bank: its files are memories, so they are found by recall, too.

    client.beta.messages.run_tools(model=…, messages=…, tools=[BankMemoryTool(bank)])

A file under ``/memories`` is one memory with the file's text; folders are what the paths say. A change stores
the new text and erases the old one, in one transaction; an edit whose file another has changed meanwhile is
made again on the new text. Needs the extra ``anthropic``.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import BetaAbstractMemoryTool

from simonides.errors import ConflictError, InputError, NotFoundError
from simonides.integrations.keyed import LONGEST_TEXT, newest_of_each

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.integrations.keyed import AnyBank
    from simonides.records.keyed_record import KeyedRecord

ROOT = "/memories"
_SPACE = "anthropic"


class BankMemoryTool(BetaAbstractMemoryTool):
    """A ``BetaAbstractMemoryTool``.

    Args:
        bank: of this process, or of a server.
    """

    def __init__(self, bank: AnyBank) -> None:
        super().__init__()
        self._bank = bank

    def view(self, command: Any) -> str:
        """A file with line numbers, or what a folder holds."""
        path = _path(command.path)
        below = newest_of_each(self._bank.list_records(_SPACE, path))
        file = next((each for each in below if each.path == path), None)
        if file is None:
            return self._folder(path, below)
        lines = file.value.split("\n")
        first, last = command.view_range or (1, len(lines))
        last = len(lines) if last == -1 else last
        shown = [f"{at:6}\t{line}" for at, line in enumerate(lines, 1) if first <= at <= last]
        return f"Here's the content of {_name(path)} with line numbers:\n" + "\n".join(shown)

    def create(self, command: Any) -> str:
        """Write a new file; of two that create one at once, one is refused."""
        path = _file(command.path)
        try:
            self._write(path, command.file_text, replaces=[])
        except ConflictError:
            raise InputError(
                "path", f"{_name(path)} already exists; edit it, or choose another name"
            ) from None
        return f"File created successfully at: {_name(path)}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that stands in a file once."""

        def replaced(name: str, text: str) -> str:
            found = text.count(command.old_str)
            if found != 1 or not command.old_str:
                raise InputError("old_str", f"stands {found} times in {name}; give a part that stands once")
            return text.replace(command.old_str, command.new_str)

        return self._edit(command.path, replaced)

    def insert(self, command: Any) -> str:
        """Insert a text after a line; 0 = at the beginning."""

        def inserted(_: str, text: str) -> str:
            lines = text.split("\n")
            if not 0 <= command.insert_line <= len(lines):
                raise InputError("insert_line", f"{command.insert_line} is not from 0 to {len(lines)}")
            lines.insert(command.insert_line, command.insert_text.removesuffix("\n"))
            return "\n".join(lines)

        return self._edit(command.path, inserted)

    def delete(self, command: Any) -> str:
        """Erase a file, or a folder with all that is in it."""
        path = _file(command.path)
        if not self._bank.forget_records(_SPACE, path):
            raise NotFoundError(f"{_name(path)} does not exist")
        return f"Successfully deleted {_name(path)}"

    def rename(self, command: Any) -> str:
        """Move a file or a folder to a name that is free."""
        old, new = _file(command.old_path), _file(command.new_path)
        try:
            moved = self._bank.move_records(_SPACE, old, new)
        except ConflictError:
            raise InputError("new_path", f"{_name(new)} is there already; choose another name") from None
        if not moved:
            raise NotFoundError(f"{_name(old)} does not exist")
        return f"Successfully renamed {_name(old)} to {_name(new)}"

    def _folder(self, path: tuple[str, ...], below: list[KeyedRecord]) -> str:
        if path and not below:
            raise NotFoundError(f"{_name(path)} does not exist")
        lines = sorted({f"{len(each.value.encode()):>8}\t{_name(each.path)}" for each in below}, key=_second)
        return f"Here're the files and directories in {_name(path)}:\n" + "\n".join(lines)

    def _edit(self, name: str, changed: Callable[[str, str], str]) -> str:
        """Write what *changed* makes of a file's name and text, unless another writes it meanwhile."""
        path = _file(name)
        while True:
            below = self._bank.list_records(_SPACE, path)
            file = next((each for each in newest_of_each(below) if each.path == path), None)
            if file is None:
                raise NotFoundError(f"{_name(path)} does not exist")
            text = changed(_name(path), str(file.value))
            try:
                self._write(path, text, replaces=[each.id for each in below])
            except ConflictError:
                # Each time one of the writers came through, so this ends.
                continue
            return f"{_name(path)} has been edited."

    def _write(self, path: tuple[str, ...], text: str, *, replaces: list[str]) -> None:
        if len(text) > LONGEST_TEXT:
            raise InputError(
                "file_text", f"is {len(text):,} characters long, at most {LONGEST_TEXT:,} are allowed"
            )
        record: dict[str, Any] = {"path": path, "value": text, "text": text, "source": _name(path)}
        self._bank.put_records(_SPACE, [{**record, "role": "assistant", "replaces": replaces}])


def _second(line: str) -> str:
    return line.partition("\t")[2]


def _name(path: tuple[str, ...]) -> str:
    return "/".join((ROOT, *path))


def _file(name: str) -> tuple[str, ...]:
    path = _path(name)
    if not path:
        raise InputError("path", f"{ROOT} itself cannot be changed; name a file in it")
    return path


def _path(name: str) -> tuple[str, ...]:
    """The parts of a path below the root; what leads out of it is refused."""
    parts = PurePosixPath(name).parts
    if parts[:2] != ("/", ROOT[1:]) or ".." in parts or "\0" in name:
        raise InputError("path", f"{name[:200]!r} is not below {ROOT}")
    return parts[2:]
