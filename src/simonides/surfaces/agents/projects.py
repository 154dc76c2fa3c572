"""The project that a folder belongs to, and the bank that holds its memories.

A project is a repository: its root with all folders below, and every worktree of it. Outside of a repository
a folder is a project of its own. The bank's name is the root's name and a digest of its path, so two projects
share no bank, whatever they are called. A repository that is moved has a new bank.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MARKERS = (".git", ".hg", ".jj")
_LARGEST_LINK = 4_096
_LONGEST_NAME = 40
_DIGITS = 12


def project_root(folder: Path) -> Path:
    """The root of the repository that *folder* is in, of a worktree the main one; else the folder itself."""
    checkout = checkout_root(folder)
    return folder.resolve() if checkout is None else _main_root(checkout)


def checkout_root(folder: Path) -> Path | None:
    """The root of the files that are checked out around *folder*; ``None`` outside of a repository."""
    here = folder.resolve()
    return next(
        (each for each in (here, *here.parents) if any((each / name).exists() for name in _MARKERS)), None
    )


def bank_of(root: Path) -> str:
    """The name of a project's bank, from the path of its root."""
    name = re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-")[:_LONGEST_NAME].rstrip("-")
    digest = hashlib.sha256(os.fsencode(os.path.normcase(root))).hexdigest()[:_DIGITS]
    return f"{name or 'project'}-{digest}"


def _main_root(checkout: Path) -> Path:
    """The main worktree of a git worktree; *checkout* itself where it is none.

    A ``.git`` file alone proves nothing, since it may come with somebody's files: the repository that it
    names must name this worktree, too, as ``git worktree add`` writes it.
    """
    link = checkout / ".git"
    own = _named_in(link, "gitdir: ") if link.is_file() else None
    common = own and _named_in(own / "commondir")
    back = own and _named_in(own / "gitdir")
    if not own or not common or not back or back != link or own.parent.parent != common:
        return checkout
    return common.parent if common.name == ".git" else common


def _named_in(file: Path, label: str = "") -> Path | None:
    """The path that a file of git names, absolute; ``None`` where it names none."""
    try:
        with file.open(encoding="utf-8", errors="surrogateescape") as stream:
            line = stream.read(_LARGEST_LINK).strip()
        named = line.removeprefix(label)
        if not named or "\n" in named or "\0" in named or not line.startswith(label):
            return None
        found = file.parent / named
        # The link itself is compared, so the last part of a path to it is left as it is.
        return found.parent.resolve() / found.name if found.name == ".git" else found.resolve()
    except (OSError, RuntimeError):
        return None
