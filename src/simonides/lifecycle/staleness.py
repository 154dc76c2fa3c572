"""What memories name that a folder does not have: file paths, make targets, scripts and packages.

    path      holds a slash and looks like a file or folder, or is a file name with a known ending, inside
              backquotes or alone; dead when nothing of that name lies under the folder
    command   `make NAME`, `npm run NAME`, in backquotes; dead when Makefile or package.json has none such
    package   `pip install NAME`, `npm install NAME`; dead when no manifest of the folder names it

A manifest that the folder does not have decides nothing. Nothing outside the folder is looked at, nothing is
run, and no name leads out of it. Weakness: what is said in other words than these is not seen.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.records.json_ready import JsonReady

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simonides.records.memory import Memory

MOST_FILES = 200_000
"""Files of a folder that are listed; in a larger one only whole paths are checked."""

_ENDINGS = (
    "py|pyi|toml|cfg|ini|md|rst|txt|json|ya?ml|js|jsx|ts|tsx|css|html|sh|sql|rs|go|java|c|h|cpp|rb|lock|csv"
)
_PATH = re.compile(
    rf"(?<![\w/.:@~-])(?:\./)?((?:[\w.-]+/)+[\w.-]*\w/?|[\w-][\w.-]*\.(?:{_ENDINGS}))(?![\w/@])"
)
_FILE = re.compile(rf"\.(?:{_ENDINGS})$")
_TARGET = re.compile(r"`make ([\w.-]+)`")
_SCRIPT = re.compile(r"`(?:npm|pnpm|yarn) run ([\w:.-]+)`")
_PYTHON = re.compile(r"\b(?:uv )?pip install (?:-U |--upgrade )?[\"'`]?([A-Za-z][\w.-]*)")
_NODE = re.compile(r"\b(?:npm|pnpm) (?:install|add) ((?:@[\w.-]+/)?[\w.-]+)")
_RULE = re.compile(r"^([\w.-](?:[\w. -]*[\w.-])?)\s*+:(?!=)", re.MULTILINE)
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})


@dataclass(frozen=True, slots=True)
class DeadReference(JsonReady):
    """A name in a memory that leads nowhere in the folder; *sort* is path, command or package."""

    memory: str
    sort: str
    name: str


class ProjectFolder:
    """What a folder has, read once; ``InputError`` when it is no folder or cannot be read."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError("root", f"{root} is no folder; name the one that the memories speak of")
        self.root = root.resolve()
        self._names = self._list()
        self._targets = self._make_targets()
        self._scripts, self._node = self._package_json()
        self._python = self._python_packages()

    def dead(self, text: str) -> Iterator[tuple[str, str]]:
        """Sort and name of what *text* names and the folder does not have; each once, in order."""
        seen: set[tuple[str, str]] = set()
        for sort, name, there in self._named(text):
            if not there and (sort, name) not in seen:
                seen.add((sort, name))
                yield sort, name

    def _named(self, text: str) -> Iterator[tuple[str, str, bool]]:
        for name in _PATH.findall(text):
            yield "path", name, self._has_path(name)
        for pattern, sort, known in (
            (_TARGET, "command", self._targets),
            (_SCRIPT, "command", self._scripts),
            (_PYTHON, "package", self._python),
            (_NODE, "package", self._node),
        ):
            if known is not None:
                for name in pattern.findall(text):
                    plain = _normal(name) if pattern is _PYTHON else name
                    yield sort, name, plain in known

    def _has_path(self, name: str) -> bool:
        pure = PurePosixPath(name)
        if ".." in pure.parts:
            return True
        if "/" not in name:
            return self._names is None or name in self._names
        whole = self.root / pure
        # A path may begin at the folder's own name.
        inside = self.root / PurePosixPath(*pure.parts[1:]) if pure.parts[0] == self.root.name else whole
        if os.path.lexists(whole) or os.path.lexists(inside):
            return True
        # "and/or" and domains are no paths: only what begins with a folder there is, or ends like a file.
        is_path = bool(_FILE.search(name)) or (self.root / pure.parts[0]).is_dir()
        return not is_path

    def _list(self) -> frozenset[str] | None:
        names: set[str] = set()
        count = 0
        for _, folders, files in os.walk(self.root):
            folders[:] = sorted(set(folders) - _SKIPPED)
            count += len(files)
            if count > MOST_FILES:
                return None
            names.update(files)
        return frozenset(names)

    def _read(self, name: str) -> str | None:
        try:
            return (self.root / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def _make_targets(self) -> frozenset[str] | None:
        text = self._read("Makefile")
        if text is None:
            return None
        return frozenset(name for line in _RULE.findall(text) for name in line.split())

    def _package_json(self) -> tuple[frozenset[str] | None, frozenset[str] | None]:
        text = self._read("package.json")
        try:
            found = json.loads(text) if text is not None else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            return None, None
        kinds = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        packages = frozenset(name for kind in kinds for name in _keys(found.get(kind)))
        return frozenset(_keys(found.get("scripts"))), packages

    def _python_packages(self) -> frozenset[str] | None:
        texts = [line for name in ("requirements.txt", "requirements-dev.txt") for line in self._lines(name)]
        project = self._read("pyproject.toml")
        if project is None and not texts:
            return None
        try:
            found = tomllib.loads(project or "")
        except ValueError:
            return None
        about = found.get("project", {})
        about = about if isinstance(about, dict) else {}
        groups = [about.get("dependencies"), *_values(about.get("optional-dependencies"))]
        groups += _values(found.get("dependency-groups"))
        texts += [
            line for group in groups if isinstance(group, list) for line in group if isinstance(line, str)
        ]
        names = (re.match(r"[A-Za-z][\w.-]*", line.strip()) for line in texts)
        return frozenset(_normal(name.group()) for name in names if name)

    def _lines(self, name: str) -> list[str]:
        return (self._read(name) or "").splitlines()


def find_dead_references(memories: Iterable[Memory], folder: ProjectFolder) -> list[DeadReference]:
    """What memories name and the folder does not have, in the order of the memories."""
    return [
        DeadReference(memory.id, sort, name) for memory in memories for sort, name in folder.dead(memory.text)
    ]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _keys(value: object) -> Iterable[str]:
    return value.keys() if isinstance(value, dict) else ()


def _values(value: object) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else []
