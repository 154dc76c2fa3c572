"""What went through an export or an import, by kind."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Counts:
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

    def to_dict(self) -> dict[str, int]:
        """A JSON-ready description."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Restored:
    """What the import of an export did.

    Attributes:
        added: what the bank did not hold before.
        present: memories whose id was there already; they were left as they are.
    """

    added: Counts
    present: int

    def to_dict(self) -> dict[str, object]:
        """A JSON-ready description."""
        return {"added": self.added.to_dict(), "present": self.present}


@dataclass(frozen=True, slots=True)
class Synced:
    """What became of documents that moved or left.

    Attributes:
        moved: memories that stand in another document now.
        ended: memories of documents that left.
    """

    moved: int = 0
    ended: int = 0

    def to_dict(self) -> dict[str, int]:
        """A JSON-ready description."""
        return asdict(self)


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
