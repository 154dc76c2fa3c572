"""Anthropic's memory tool over a bank: its files are memories, so they are found by recall, too.

    client.beta.messages.run_tools(model=…, messages=…, tools=[BankMemoryTool(bank)])

A file under ``/memories`` is one memory with the file's text; folders are what the paths say. Commands
answer, and are refused, in the words of the SDK's own tool (``BetaLocalFilesystemMemoryTool``). Different on
purpose: a folder in which nothing is left is gone, the size of a folder is that of what is in it, a file has
at most 200,000 characters and no NUL, and a path must stand below the root, not only begin like it. A change
stores the new text and erases the old one, in one transaction; an edit whose file another has changed
meanwhile is made again on the new text. Needs the extra ``anthropic``.
"""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

from simonides.errors import ConflictError, InputError, NotFoundError
from simonides.integrations.keyed import LONGEST_TEXT, check_bank, newest_of_each

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simonides.integrations.keyed import AnyBank
    from simonides.records.keyed_record import KeyedRecord

ROOT = "/memories"
_SPACE = "anthropic"
_WIDTH = 6
"""Digits of a line number."""

_MOST_LINES = 999_999
_SHOWN_LEVELS = 2
_SHOWN_AROUND = 2
"""Lines before and after a change that are shown with it."""

Path = tuple[str, ...]


class RefusedError(ToolError, InputError):
    """A command cannot be done; the model reads why, and nothing was changed."""

    def __init__(self, field: str, problem: str) -> None:
        InputError.__init__(self, field, problem)
        self.content = problem

    def __str__(self) -> str:
        return self.problem


class MissingError(ToolError, NotFoundError):
    """There is no such file or folder."""

    def __init__(self, problem: str) -> None:
        ToolError.__init__(self, problem)


class BankMemoryTool(BetaAbstractMemoryTool):
    """A ``BetaAbstractMemoryTool``.

    Args:
        bank: of this process, or of a server.
    """

    def __init__(self, bank: AnyBank) -> None:
        super().__init__()
        check_bank(bank)
        self._bank = bank

    def view(self, command: Any) -> str:
        """A file with line numbers, or what a folder holds, two levels deep."""
        name, path = command.path, _path(command.path)
        below = newest_of_each(self._bank.list_records(_SPACE, path))
        file = next((each for each in below if each.path == path), None)
        if file is None:
            return _folder(name, path, below)
        lines = str(file.value).split("\n")
        if len(lines) > _MOST_LINES:
            raise RefusedError("path", f"File {name} exceeds maximum line limit of {_MOST_LINES:,} lines.")
        first, last = 1, len(lines)
        if command.view_range and len(command.view_range) == 2:
            first = max(1, command.view_range[0])
            last = len(lines) if command.view_range[1] == -1 else command.view_range[1]
        shown = _numbered(lines[first - 1 : last], first)
        return f"Here's the content of {name} with line numbers:\n{shown}"

    def create(self, command: Any) -> str:
        """Write a new file; of two that create one at once, one is refused."""
        name, path = command.path, _path(command.path)
        taken = RefusedError("path", f"File {name} already exists")
        if not path:
            raise taken
        self._check_above(name, path)
        try:
            [memory] = self._write(path, command.file_text, replaces=[])
        except ConflictError:
            raise taken from None
        try:
            # Another may have made a file of the folder's name a moment ago.
            self._check_above(name, path)
        except RefusedError:
            self._bank.forget([memory])
            raise
        return f"File created successfully at: {name}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that stands in a file once."""
        name, old, new = command.path, command.old_str, command.new_str
        at = 0

        def replaced(text: str) -> str:
            nonlocal at
            found = text.count(old)
            if found != 1:
                raise RefusedError("old_str", _not_once(name, text, old, found))
            at = text[: text.find(old)].count("\n")
            return text.replace(old, new)

        lines = self._edit(name, replaced).split("\n")
        first = max(0, at - _SHOWN_AROUND)
        shown = _numbered(lines[first : at + _SHOWN_AROUND + 1], first + 1)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            f"{shown}"
        )

    def insert(self, command: Any) -> str:
        """Insert a text after a line; 0 = at the beginning."""
        name, line = command.path, command.insert_line

        def inserted(text: str) -> str:
            lines = text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= line <= len(lines):
                within = f"It should be within the range [0, {len(lines)}]."
                problem = f"Invalid `insert_line` parameter: {line}. {within}"
                raise RefusedError("insert_line", problem)
            lines.insert(line, command.insert_text.rstrip("\n"))
            joined = "\n".join(lines)
            return joined if joined.endswith("\n") else joined + "\n"

        self._edit(name, inserted)
        return f"The file {name} has been edited."

    def delete(self, command: Any) -> str:
        """Erase a file, or a folder with all that is in it."""
        name, path = command.path, _path(command.path)
        if not path:
            raise RefusedError("path", f"Cannot delete the {ROOT} directory itself")
        if not self._bank.forget_records(_SPACE, path):
            raise MissingError(f"The path {name} does not exist")
        return f"Successfully deleted {name}"

    def rename(self, command: Any) -> str:
        """Move a file or a folder to a name that is free."""
        old, new = _path(command.old_path), _path(command.new_path)
        if not old:
            raise RefusedError("old_path", f"Cannot rename the {ROOT} directory itself")
        taken = RefusedError("new_path", f"The destination {command.new_path} already exists")
        if not new or self._bank.list_records(_SPACE, new, newest=1):
            raise taken
        missing = MissingError(f"The path {command.old_path} does not exist")
        if not self._bank.list_records(_SPACE, old, newest=1):
            raise missing
        if new[: len(old)] == old:
            problem = f"{command.new_path} is inside {command.old_path}; choose another name"
            raise RefusedError("new_path", problem)
        self._check_above(command.new_path, new)
        try:
            moved = self._bank.move_records(_SPACE, old, new)
        except ConflictError:
            raise taken from None
        if not moved:
            raise missing
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Erase all files."""
        self._bank.forget_records(_SPACE, ())
        return "All memory cleared"

    def _check_above(self, name: str, path: Path) -> None:
        """Refuse a file below another file."""
        for length in range(1, len(path)):
            if self._bank.list_records(_SPACE, path[:length], exact=True):
                raise RefusedError("path", f"{_name(path[:length])} is a file, so {name} cannot be in it")

    def _edit(self, name: str, changed: Callable[[str], str]) -> str:
        """Write what *changed* makes of a file's text, unless another writes it meanwhile; the new text."""
        path = _path(name)
        while True:
            below = self._bank.list_records(_SPACE, path)
            file = next((each for each in newest_of_each(below) if each.path == path), None)
            if file is None and (below or not path):
                raise RefusedError("path", f"The path {name} is not a file.")
            if file is None:
                raise MissingError(f"The path {name} does not exist. Please provide a valid path.")
            text = changed(str(file.value))
            try:
                self._write(path, text, replaces=[each.id for each in below])
            except ConflictError:
                # Each time one of the writers came through, so this ends.
                continue
            return text

    def _write(self, path: Path, text: str, *, replaces: list[str]) -> list[str]:
        if len(text) > LONGEST_TEXT:
            raise RefusedError(
                "file_text", f"is {len(text):,} characters long, at most {LONGEST_TEXT:,} are allowed"
            )
        record: dict[str, Any] = {"path": path, "value": text, "text": text, "source": _name(path)}
        try:
            return self._bank.put_records(_SPACE, [{**record, "role": "assistant", "replaces": replaces}])
        except InputError as error:
            raise RefusedError(error.field, f"The file cannot be stored: {error}") from None


def _folder(name: str, path: Path, below: Sequence[KeyedRecord]) -> str:
    """What a folder holds, without what is hidden."""
    if path and not below:
        raise MissingError(f"The path {name} does not exist. Please provide a valid path.")
    sizes: dict[Path, int] = {}
    folders: set[Path] = set()
    for each in below:
        parts, size = each.path[len(path) :], len(str(each.value).encode())
        for length in range(1, len(parts)):
            folders.add(parts[:length])
            sizes[parts[:length]] = sizes.get(parts[:length], 0) + size
        sizes[parts] = size
    whole = sum(len(str(each.value).encode()) for each in below)
    lines = [
        f"{_size(sizes[parts])}\t{name}/{'/'.join(parts)}{'/' if parts in folders else ''}"
        for parts in sorted(sizes)
        if len(parts) <= _SHOWN_LEVELS and not any(part.startswith(".") for part in parts)
    ]
    lines.insert(0, f"{_size(whole)}\t{name}")
    return (
        f"Here're the files and directories up to {_SHOWN_LEVELS} levels deep in {name}, excluding hidden"
        " items:\n" + "\n".join(lines)
    )


def _size(size: int) -> str:
    """As the SDK's tool writes sizes: 0B, 12B, 1.5K."""
    power = min(max(size.bit_length() - 1, 0) // 10, 3)
    scaled = size / 1024**power
    return f"{int(scaled) if scaled == int(scaled) else f'{scaled:.1f}'}{'BKMG'[power]}"


def _not_once(name: str, text: str, old: str, found: int) -> str:
    if not found:
        return f"No replacement was performed, old_str `{old}` did not appear verbatim in {name}."
    places, start = [], 0
    while (at := text.find(old, start)) != -1:
        places.append(str(text[:at].count("\n") + 1))
        start = at + 1
    return (
        f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {', '.join(places)}"
        ". Please ensure it is unique"
    )


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _name(path: Path) -> str:
    return "/".join((ROOT, *path))


def _path(name: str) -> Path:
    """The parts of a path below the root; what leads out of it is refused."""
    if not name.startswith(ROOT):
        raise RefusedError("path", f"Path must start with {ROOT}, got: {name[:200]}")
    parts = PurePosixPath(posixpath.normpath(name)).parts
    if parts[:2] != ("/", ROOT[1:]) or "\0" in name:
        raise RefusedError("path", f"Path {name[:200]} would escape {ROOT} directory")
    return parts[2:]
