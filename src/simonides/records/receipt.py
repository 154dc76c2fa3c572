"""What a forgetting took away, and what a backup holds: the answers a caller may keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPLETE = "complete"
"""Nothing of it is left in any file of the bank."""

PENDING_READERS = "pending: readers"
"""Another process still reads an older state, so its pages stay in the log until it ends."""

PENDING_INDEX = "pending: index"
"""The index could not be written anew, so an older generation may still hold terms and vectors."""

PENDING_COPIES = "pending: copies"
"""A merge, backup, restore, export, import or training under way may write one, or a left one stays."""

PENDING_JOBS = "pending: recall jobs"
"""Another process is writing a recall that is to be answered later."""

PENDING = (PENDING_READERS, PENDING_INDEX, PENDING_COPIES, PENDING_JOBS)
"""What is still to do, so that a later purge must finish it."""

ERASED = "erased"
"""Gone from every answer; files were not purged."""

DRY_RUN = "dry run"
"""Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What went, by counts; it holds none of the words.

    Attributes:
        status: ``complete``, one of ``PENDING``, ``erased`` or ``dry run``.
        memories: how many were forgotten.
        ids: of them, sorted.
        rows: per table, how many rows went with them; tables that lost none are left out.
        names: labels and sets of labels that nothing bears any more and that were blotted out (purge only).
        left: files and folders that a purge could not remove and that may hold some of it, by their paths
            below the store's folder: a living process writes them, the disk failed, or they have another
            name elsewhere (a hard link). Empty once it is ``complete``.
    """

    status: str
    memories: int
    ids: tuple[str, ...]
    rows: Mapping[str, int] = field(default_factory=dict)
    names: int = 0
    left: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "status": self.status,
            "memories": self.memories,
            "ids": list(self.ids),
            "rows": dict(self.rows),
            "names": self.names,
            "left": list(self.left),
        }


@dataclass(frozen=True, slots=True)
class Saved:
    """A backup that was written, or put back.

    Attributes:
        path: the backup's file; empty where it was written into an open one.
        memories: how many it holds.
        sequence: the last change that is in it.
    """

    path: str
    memories: int
    sequence: int

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"path": self.path, "memories": self.memories, "sequence": self.sequence}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which memories to forget; every condition that is given must hold of one of its versions.

    Attributes:
        ids: exactly these; ``None`` = no condition.
        source: the item's ``source``.
        writer: the principal who retained it; empty = the owner.
        after, before: recorded in [after, before), microseconds UTC.
    """

    ids: tuple[str, ...] | None = None
    source: str | None = None
    writer: str | None = None
    after: int | None = None
    before: int | None = None

    @property
    def is_everything(self) -> bool:
        """Whether no condition is given."""
        return (self.ids, self.source, self.writer, self.after, self.before) == (None,) * 5
