"""What was forgotten, backed up, exported or imported, counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simonides.records.json_ready import JsonReady

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
class Receipt(JsonReady):
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


@dataclass(frozen=True, slots=True)
class Saved(JsonReady):
    """A backup that was written, or put back.

    Attributes:
        path: the backup's file; empty where it was written into an open one.
        memories: how many it holds.
        sequence: the last change that is in it.
    """

    path: str
    memories: int
    sequence: int


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


@dataclass(frozen=True, slots=True)
class Counts(JsonReady):
    """How many of each kind.

    Attributes:
        memories: by id; a memory has one or more versions.
        versions, vectors, tokens: rows of memories, those that have a vector, and codes of their tokens.
        episodes, chunks: raw sources, and the parts of them that memories tell.
        entities, aliases, merges: names, other names, and which counts as which.
        mentions, relations: of entities by versions.
        links: between memories.
        keys: idempotency keys, of imports too.
        jobs: work that waits.
        sparse: rows of memories that have learned sparse terms.
        enrichments: memories that a language model has been asked about.
        accesses: times that a memory was said to be of use.
        moves: what maintenance and newer memories did to memories.
        evidence: what observations rest on.
    """

    memories: int = 0
    versions: int = 0
    vectors: int = 0
    tokens: int = 0
    episodes: int = 0
    chunks: int = 0
    entities: int = 0
    aliases: int = 0
    merges: int = 0
    mentions: int = 0
    relations: int = 0
    links: int = 0
    keys: int = 0
    jobs: int = 0
    enrichments: int = 0
    accesses: int = 0
    sparse: int = 0
    moves: int = 0
    evidence: int = 0


@dataclass(frozen=True, slots=True)
class Restored(JsonReady):
    """What the import of an export did.

    Attributes:
        added: what the bank did not hold before.
        present: memories whose id was there already; they were left as they are.
    """

    added: Counts
    present: int


@dataclass(frozen=True, slots=True)
class Synced(JsonReady):
    """What became of documents that moved or left.

    Attributes:
        moved: memories that stand in another document now.
        ended: memories of documents that left.
    """

    moved: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True)
class Imported:
    """What one batch of an import did.

    Attributes:
        ids: of the memories behind the items that were stored, in order; an item that says what a memory says
            already gets that memory's id.
        unchanged: items that an earlier import brought; nothing was done for them.
    """

    ids: tuple[str, ...]
    unchanged: int
