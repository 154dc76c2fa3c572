"""Anthropic's memory tool over a bank: its files are memories, so they are found by recall, too.

    client.beta.messages.run_tools(model=…, messages=…, tools=[BankMemoryTool(bank)])

A file under ``/memories`` is one memory with the file's text; folders are what the paths say. A change stores
the new text and erases the old one. Needs the extra ``anthropic``.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import BetaAbstractMemoryTool

from simonides.errors import InputError, NotFoundError
from simonides.integrations.keyed import Entry, KeyedMemories

if TYPE_CHECKING:
    from simonides.integrations.keyed import AnyBank

ROOT = "/memories"
_LONGEST = 200_000


class BankMemoryTool(BetaAbstractMemoryTool):
    """A ``BetaAbstractMemoryTool``.

    Args:
        bank: of this process, or of a server.
    """

    def __init__(self, bank: AnyBank) -> None:
        super().__init__()
        self._kept = KeyedMemories(bank, "anthropic")

    def view(self, command: Any) -> str:
        """A file with line numbers, or what a folder holds."""
        path = _path(command.path)
        file = self._kept.get(path) if path else None
        if file is None:
            return self._folder(path)
        lines = file.value.split("\n")
        first, last = command.view_range or (1, len(lines))
        last = len(lines) if last == -1 else last
        shown = [f"{at:6}\t{line}" for at, line in enumerate(lines, 1) if first <= at <= last]
        return f"Here's the content of {_name(path)} with line numbers:\n" + "\n".join(shown)

    def create(self, command: Any) -> str:
        """Write a file, in place of what it held."""
        path = _file(command.path)
        self._write(path, command.file_text)
        return f"File created successfully at: {_name(path)}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that stands in a file once."""
        path, text = self._read(command.path)
        found = text.count(command.old_str)
        if found != 1 or not command.old_str:
            raise InputError(
                "old_str", f"stands {found} times in {_name(path)}; give a part that stands once"
            )
        self._write(path, text.replace(command.old_str, command.new_str))
        return f"{_name(path)} has been edited."

    def insert(self, command: Any) -> str:
        """Insert a text after a line; 0 = at the beginning."""
        path, text = self._read(command.path)
        lines = text.split("\n")
        if not 0 <= command.insert_line <= len(lines):
            raise InputError("insert_line", f"{command.insert_line} is not from 0 to {len(lines)}")
        lines.insert(command.insert_line, command.insert_text.removesuffix("\n"))
        self._write(path, "\n".join(lines))
        return f"{_name(path)} has been edited."

    def delete(self, command: Any) -> str:
        """Erase a file, or a folder with all that is in it."""
        path = _file(command.path)
        entries = list(self._kept.below(path))
        if not entries:
            raise NotFoundError(f"{_name(path)} does not exist")
        self._kept.forget(entries)
        return f"Successfully deleted {_name(path)}"

    def rename(self, command: Any) -> str:
        """Move a file or a folder to a name that is free."""
        old, new = _file(command.old_path), _file(command.new_path)
        entries = list(self._kept.below(old))
        if not entries:
            raise NotFoundError(f"{_name(old)} does not exist")
        if next(self._kept.below(new), None) is not None:
            raise InputError("new_path", f"{_name(new)} is there already; choose another name")
        for each in entries:
            self._write((*new, *each.path[len(old) :]), each.value)
        self._kept.forget(entries)
        return f"Successfully renamed {_name(old)} to {_name(new)}"

    def _folder(self, path: tuple[str, ...]) -> str:
        entries: list[Entry] = list(self._kept.below(path))
        if path and not entries:
            raise NotFoundError(f"{_name(path)} does not exist")
        lines = sorted(
            {f"{len(each.value.encode()):>8}\t{_name(each.path)}" for each in entries}, key=_second
        )
        return f"Here're the files and directories in {_name(path)}:\n" + "\n".join(lines)

    def _read(self, name: str) -> tuple[tuple[str, ...], str]:
        path = _file(name)
        file = self._kept.get(path)
        if file is None:
            raise NotFoundError(f"{_name(path)} does not exist")
        return path, str(file.value)

    def _write(self, path: tuple[str, ...], text: str) -> None:
        if len(text) > _LONGEST:
            raise InputError(
                "file_text", f"is {len(text):,} characters long, at most {_LONGEST:,} are allowed"
            )
        self._kept.put(path, text, text, source=_name(path), role="assistant")


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
