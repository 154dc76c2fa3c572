"""What `simonides install` and `uninstall` change in a client's files, and how that is written.

Everything is planned first: whatever is refused leaves every file as it is. Ours is what runs this program:
the server ``simonides`` whose command is ``simonides mcp``, and hooks that call ``simonides hook``. All else
stays. A file is replaced as a whole, and what stood there before is kept beside it.
"""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.files import PRIVATE, SHARED, disk_errors, make_folder, new_file, sync_folder, write_file
from simonides.records.hygiene import read_at_most
from simonides.surfaces.agents import json_edit, toml_edit
from simonides.surfaces.agents.clients import SERVER, Client, Place, files_of, find_client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

BACKUP = ".before-simonides"
"""Ends the name of the file that keeps what stood there before the last change."""

_LARGEST_FILE = 64 * 1024 * 1024
_BOM = "\ufeff"
_EMPTY = "{}\n"
_HOOK = re.compile(r"(?:^|[\\/])simonides(?:\.exe)?[\"']?\s++hook\s++(\S++)")
"""A command that calls our hook, and for which client."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file.

    Attributes:
        before: its text; ``None`` = there is none.
        after: its text; ``None`` = it is removed.
        shared: whether it belongs to a project, and so to others.
    """

    path: Path
    before: str | None
    after: str | None
    shared: bool = False

    @property
    def kind(self) -> str:
        """``none``, ``create``, ``change`` or ``remove``."""
        if self.before == self.after:
            return "none"
        return "create" if self.before is None else "remove" if self.after is None else "change"

    @property
    def backup(self) -> Path | None:
        """Where the text before is kept; a file that is removed held nothing but what install wrote."""
        return self.path.with_name(self.path.name + BACKUP) if self.kind == "change" else None

    def diff(self) -> str:
        """The difference as a unified diff."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            str(self.path) if self.before is not None else os.devnull,
            str(self.path) if self.after is not None else os.devnull,
        )
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        )


def plan_install(name: str, place: Place, server: Sequence[str], hook: str) -> list[Change]:
    """What installing changes, by file; *hook*: command line of the hooks, empty for none.

    Raises:
        UnknownNameError: no such client.
        InputError: a file is broken, or holds something else under our name.
        ByHandError: a file has comments.
        UnavailableError: a file cannot be read.
    """
    client = find_client(name)

    def edit(text: str, path: Path, *, servers: bool, hooks: bool) -> str:
        entry = client.server(server[0], list(server[1:]))
        if servers:
            text = _add_server(text, path, client, entry)
        return _add_hooks(text, path, name, client, hook) if hooks and hook else text

    return list(_changes(name, place, edit))


def plan_uninstall(name: str, place: Place) -> list[Change]:
    """What uninstalling changes, by file; raises as ``plan_install`` does."""
    client = find_client(name)

    def edit(text: str, path: Path, *, servers: bool, hooks: bool) -> str:
        if servers:
            text = _remove_server(text, path, client)
        return _remove_hooks(text, path, name) if hooks else text

    return list(_changes(name, place, edit))


def write(changes: Sequence[Change]) -> None:
    """Make the changes, one file after the other, each whole or not at all.

    Raises:
        InputError: a file is not as it was when the change was planned; nothing is written.
        UnavailableError: a file cannot be written; it stays, and those after it.
    """
    due = [change for change in changes if change.kind != "none"]
    for change in due:
        if _read(change.path) != change.before:
            raise InputError(str(change.path), "was changed meanwhile; nothing is written, run it again")
    for change in due:
        # A link to a file elsewhere stays one.
        path = change.path.resolve()
        with disk_errors(path):
            mode = path.stat().st_mode & 0o777 if change.before is not None else None
        if change.backup is not None and change.before is not None:
            write_file(change.backup, change.before, mode=PRIVATE)
        if change.after is None:
            with disk_errors(path, "removed"):
                path.unlink()
                sync_folder(path.parent)
            continue
        if change.shared:
            with disk_errors(path.parent, "made"):
                path.parent.mkdir(parents=True, exist_ok=True)
        else:
            make_folder(path.parent)
        with new_file(path, mode=SHARED if change.shared else PRIVATE) as file:
            if mode is not None and os.name != "nt":
                os.fchmod(file.fileno(), mode)
            file.write(change.after.encode())


def _changes(name: str, place: Place, edit: Callable[..., str]) -> Iterator[Change]:
    server_file, hooks_file = files_of(name, place)
    for path in dict.fromkeys(each for each in (server_file, hooks_file) if each is not None):
        before = _read(path)
        bom = _BOM if before is not None and before.startswith(_BOM) else ""
        text = (before or "").removeprefix(bom)
        parts = {"servers": path == server_file, "hooks": path == hooks_file}
        is_toml = find_client(name).toml and parts["servers"]
        if not text.strip() and not is_toml:
            text = _EMPTY
        after: str | None = _edited(text, path, edit, parts)
        if after == text:
            after = before
        elif _is_empty(after or "", is_toml=is_toml) and not path.is_symlink():
            after = None
        else:
            after = bom + (after or "")
        yield Change(path, before, after, shared=place.project is not None)


def _edited(text: str, path: Path, edit: Callable[..., str], parts: Mapping[str, bool]) -> str:
    try:
        return edit(text, path, **parts)
    except json_edit.ByHandError as error:
        if error.lines or (parts["servers"] and path.suffix == ".toml"):
            raise
        plain = json_edit.without_comments(text)
        if edit(plain, path, **parts) == plain:
            # Nothing to do, comments or not.
            return text
        lines = edit(_EMPTY, path, **parts)
        raise json_edit.ByHandError(error.field, error.problem, "" if lines == _EMPTY else lines) from None


def _is_empty(text: str, *, is_toml: bool) -> bool:
    """Whether a file says no more than one that is not there."""
    return not text.strip() if is_toml else json_edit.parse(text, "") in ({}, {"version": 1})


def _read(path: Path) -> str | None:
    with disk_errors(path, "read"):
        try:
            with path.open("rb") as stream:
                raw = read_at_most(stream, _LARGEST_FILE, str(path))
        except FileNotFoundError:
            return None
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"is not UTF-8 (byte {error.start}); save it as UTF-8") from None


# -- the server


def _add_server(text: str, path: Path, client: Client, entry: Mapping[str, Any]) -> str:
    there = _servers(text, path, client).get(SERVER)
    if there is not None and not _is_our_server(there):
        raise InputError(
            f"{path}: {_key(client)}.{SERVER}",
            "is there already and starts another program; rename or remove it, then try again",
        )
    if there is not None and all(there.get(key) == value for key, value in entry.items()):
        return text
    if client.toml:
        return toml_edit.put_server(text, str(path), SERVER, entry)
    if there is None:
        return json_edit.put(text, (client.servers, SERVER), dict(entry))
    for key, value in entry.items():
        if there.get(key) != value:
            text = json_edit.put(text, (client.servers, SERVER, key), value)
    return text


def _remove_server(text: str, path: Path, client: Client) -> str:
    there = _servers(text, path, client)
    if not _is_our_server(there.get(SERVER)):
        return text
    if client.toml:
        return toml_edit.cut_server(text, str(path), SERVER)
    return json_edit.cut(text, (client.servers,) if len(there) == 1 else (client.servers, SERVER))


def _key(client: Client) -> str:
    return toml_edit.TABLE if client.toml else client.servers


def _servers(text: str, path: Path, client: Client) -> Mapping[str, Any]:
    whole = toml_edit.parse(text, str(path)) if client.toml else _object(text, path)
    return _mapping(whole.get(_key(client), {}), f"{path}: {_key(client)}")


def _is_our_server(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    command, arguments = entry.get("command"), entry.get("args")
    return (
        isinstance(command, str)
        and re.split(r"[\\/]", command)[-1] in {"simonides", "simonides.exe"}
        and isinstance(arguments, list)
        and arguments[:1] == ["mcp"]
    )


# -- the hooks


def _add_hooks(text: str, path: Path, name: str, client: Client, command: str) -> str:
    for event in client.events or ():
        known = _hooks(text, path).get(event, [])
        if not isinstance(known, list):
            raise InputError(f"{path}: hooks.{event}", f"expected a list, got {_sort(known)}; correct it")
        entry = client.hook(event, command)
        ours = list(_our_hooks(text, path, name, event))
        if not ours:
            group = entry if client.flat else {"hooks": [entry]}
            text = json_edit.put(text, ("hooks", event, len(known)), group)
        for place, there in ours:
            for key, value in entry.items():
                if there.get(key) != value:
                    text = json_edit.put(text, (*place, key), value)
    if client.flat and "version" not in _object(text, path):
        text = json_edit.put(text, ("version",), 1)
    return text


def _remove_hooks(text: str, path: Path, name: str) -> str:
    removed = False
    for event in list(_hooks(text, path)):
        for place, _ in reversed(list(_our_hooks(text, path, name, event))):
            text, removed = _cut_up(text, place), True
    return text if not removed or _hooks(text, path) else json_edit.cut(text, ("hooks",))


def _cut_up(text: str, place: json_edit.Path) -> str:
    """*text* without a hook, and without the group and the event that held nothing else."""
    whole = json_edit.parse(text, "")
    while len(place) > 2:
        holder: Any = whole
        for key in place[:-1]:
            holder = holder[key]
        # A group may say more than which hooks it has, such as a matcher for these.
        if len(holder) > 1 and not (isinstance(holder, dict) and set(holder) <= {"hooks", "matcher"}):
            break
        place = place[:-1]
    return json_edit.cut(text, place)


def _our_hooks(
    text: str, path: Path, name: str, event: str
) -> Iterator[tuple[json_edit.Path, dict[str, Any]]]:
    """Where our hooks of an event stand, alone or in a group, and what they are."""
    listed = _hooks(text, path).get(event)
    for number, entry in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(entry, dict):
            continue
        inside = entry.get("hooks")
        entries: list[tuple[json_edit.Path, Any]] = [(("hooks", event, number), entry)]
        entries += [
            (("hooks", event, number, "hooks", place), each)
            for place, each in enumerate(inside if isinstance(inside, list) else [])
        ]
        for place, each in entries:
            command = each.get("command") if isinstance(each, dict) else None
            found = _HOOK.search(command) if isinstance(command, str) else None
            if found and found[1] == name:
                yield place, each


def _hooks(text: str, path: Path) -> Mapping[str, Any]:
    """Event → what stands there."""
    return _mapping(_object(text, path).get("hooks", {}), f"{path}: hooks")


def _object(text: str, path: Path) -> Mapping[str, Any]:
    return _mapping(json_edit.parse(text, str(path)), str(path))


def _mapping(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(place, f"expected an object, got {_sort(value)}; correct it")
    return value


def _sort(value: object) -> str:
    return (
        "a list" if isinstance(value, list) else f"a {type(value).__name__}" if value is not None else "null"
    )
