"""Versions of memories as the write path and maintenance read and write them; times in microseconds UTC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.interval import Interval
    from simonides.records.kind import Kind, Layer
    from simonides.records.memory import Memory
    from simonides.records.source import Source


@dataclass(frozen=True, slots=True)
class ResolvedFields:
    """What was settled about an item before its row is written. Times in microseconds UTC."""

    ingested_at: int
    valid_from: Interval
    valid_to: Interval
    occurred: Interval | None
    kind: Kind
    layer: Layer
    salience: float
    confidence: float
    author: str
    trust: float
    superseded_by: str = ""
    state: int = 0


@dataclass(frozen=True, slots=True)
class RowRef:
    """A row that was written."""

    id: str
    ordinal: int
    root: int


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One version of a memory as its row holds it.

    Attributes:
        ordinal, root: of this version and of the memory's first one.
        id: of the memory.
        kind, layer, occurred_precision: by their stored names.
        metadata: JSON.
        occurred_from, occurred_to, occurred_precision: ``None`` where the memory is undated.
        signature: MinHash of the text.
    """

    ordinal: int
    root: int
    id: str
    version: int
    kind: str
    layer: str
    text: str
    context: str
    relation: str
    expansion: str
    source: str
    metadata: str
    valid_from: int
    valid_from_precision: str
    valid_to: int
    valid_to_precision: str
    ingested_at: int
    expired_at: int
    occurred_from: int | None
    occurred_to: int | None
    occurred_precision: str | None
    salience: float
    confidence: float
    proof_count: int
    superseded_by: str
    state: int
    signature: NDArray[np.uint32]
    content_key: bytes


@dataclass(frozen=True, slots=True)
class ComparedFields:
    """All of a row but its words: two rows that say the same must agree on it."""

    project: str
    path: str
    document: str
    speaker: str
    metadata: str
    tags: frozenset[str]
    readers: frozenset[str]
    context: str
    relation: str
    source: str
    kind: str
    layer: str
    salience: float
    confidence: float
    occurred_from: int | None
    occurred_to: int | None
    valid_to: int
    starts_by_itself: bool
    """Whether its validity starts where it would without being stated: at the event, else at the record."""


@dataclass(frozen=True, slots=True)
class CurrentVersion:
    """The version of a memory that the bank holds now, as maintenance sees it.

    Attributes:
        ordinal, root: of this version and of the first one.
        acl, project, tags: codes of labels.
        first_recorded: of the first version, microseconds UTC.
        occurred: (start, end), or ``None`` when it is undated.
        signature: MinHash of the text, little-endian uint32.
        accesses: how often it was of use.
        last_access: ``None`` = never.
        keyed: whether it holds a value under a key.
    """

    ordinal: int
    root: int
    id: str
    kind: str
    layer: str
    text: str
    acl: int
    project: int
    tags: int
    speaker: str
    trust: float
    salience: float
    confidence: float
    proof_count: int
    state: int
    valid_from: int
    valid_to: int
    first_recorded: int
    occurred: tuple[int, int] | None
    signature: bytes
    accesses: int
    last_access: int | None
    keyed: bool


@dataclass(frozen=True, slots=True)
class Worded:
    """A memory, and what was settled when it got the words that it has.

    Attributes:
        now: the version that the bank holds now.
        then: the first version with these words.
        first_recorded: of the memory's very first version, microseconds UTC.
        valid_from, valid_to: of *then*, with their precisions.
        content_key: of the words, see ``records.draft.content_key``.
        source: of the words.
    """

    now: Memory
    then: Memory
    first_recorded: int
    valid_from: Interval
    valid_to: Interval
    content_key: bytes
    source: Source


@dataclass(frozen=True, slots=True)
class Held:
    """A memory that the bank holds now, as a newer statement meets it. Times in microseconds UTC.

    Attributes:
        since: when what it states began; a memory that holds again after another began before it.
        bounded: its end was stated with it.
        keyed: whether it holds a value under a key.
    """

    ordinal: int
    root: int
    id: str
    text: str
    speaker: str
    document: str
    valid_from: int
    valid_to: int
    superseded_by: str
    readers: frozenset[str]
    trust: float
    project: str
    tags: frozenset[str]
    since: int
    bounded: bool
    keyed: bool = False
