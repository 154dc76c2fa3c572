"""Rows of very many new memories: one prepared statement for each table, checksums computed here.

The same rows, byte for byte, as ``Versions.insert`` writes with a statement and a trigger for each.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.checksums import (
    IMMUTABLE,
    checksum_of,
    memory_checksum,
    numbers_checksum,
    source_checksum,
    text_checksum,
    vector_checksum,
)
from simonides.backends.embedded.rows import insert_into, keys, marks_for
from simonides.records.draft import encode_terms
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from simonides.records.draft import Draft, Prepared
    from simonides.records.versions import ResolvedFields

_ORDER = {
    "episodes": (
        "number", "text", "source", "document", "session", "speaker", "author", "trust", "recorded_at",
        "text_digest", "digest",
    ),
    "chunks": ("number", "episode", "start", "stop", "digest"),
    "memories": (*IMMUTABLE, "expired_at", "digest", "end_digest"),
    "vectors": ("ordinal", "embedder", "scale", "codes", "digest"),
    "token_codes": ("ordinal", "embedder", "codes", "digest"),
}  # fmt: skip
"""By table, the columns in the order in which their values are collected; parents before children."""

_READ_AT_ONCE = 4_096


@dataclass(slots=True)
class BulkRows:
    """Collects rows of one transaction until ``write``; *episode* and *chunk* are the last numbers in use."""

    episode: int
    chunk: int
    _rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: {table: [] for table in _ORDER})

    @classmethod
    def after(cls, connection: apsw.Connection) -> BulkRows:
        """For rows after those that there are."""
        last = f"SELECT (SELECT max(number) FROM {keys('episodes')}), "
        last += f"(SELECT max(number) FROM {keys('chunks')})"
        ((episode, chunk),) = connection.execute(last).fetchall()
        return cls(int(episode or 0), int(chunk or 0))

    def add_episode(self, text: str, draft: Draft, place: ResolvedFields) -> int:
        """A raw source; its number."""
        self.episode += 1
        texts = draft.source, draft.document, draft.session, draft.speaker, place.author
        said = float(place.trust), place.ingested_at
        digests = text_checksum(self.episode, text), source_checksum(self.episode, texts, *said)
        self._rows["episodes"].append((self.episode, text, *texts, *said, *digests))
        return self.episode

    def add_chunk(self, episode: int, start: int, stop: int) -> int:
        """A span of a raw source; its number."""
        self.chunk += 1
        row = (self.chunk, episode, start, stop)
        self._rows["chunks"].append((*row, numbers_checksum(*row)))
        return self.chunk

    def add_memory(self, values: Sequence[Any], embedder: int | None, item: Prepared, codes: bytes) -> None:
        """A memory with what models made of it.

        Args:
            values: of its row, in the order of ``IMMUTABLE``.
            embedder: number of the bank's.
            item: with the scale of its vector and its token codes.
            codes: of its vector; empty = it has none.
        """
        ordinal = values[0]
        digest = memory_checksum(values, embedded=bool(codes))
        self._rows["memories"].append((*values, FOREVER, digest, numbers_checksum(ordinal, FOREVER)))
        if not codes:
            return
        assert embedder is not None
        vector = (ordinal, embedder, float(item.scale), codes)
        self._rows["vectors"].append((*vector, vector_checksum(*vector)))
        if item.tokens:
            tokens = (ordinal, embedder, item.tokens)
            self._rows["token_codes"].append((*tokens, checksum_of(*tokens)))

    def write(self, connection: apsw.Connection) -> None:
        """Insert everything that was collected."""
        for table, rows in self._rows.items():
            if rows:
                connection.executemany(insert_into(table, ", ".join(_ORDER[table])), rows)
                rows.clear()


def free_ids(connection: apsw.Connection, bank: str, wanted: Sequence[tuple[int, str]]) -> list[str]:
    """Ids of new memories, which no memory bears; *wanted*: per memory its recorded time and its text."""
    first = [memory_id(bank, ingested, text, 0) for ingested, text in wanted]
    taken = known(connection, "id", first)
    ids = []
    for memory, (ingested, text) in zip(first, wanted, strict=True):
        attempt, free = 0, memory
        while free in taken:
            attempt += 1
            free = memory_id(bank, ingested, text, attempt)
            if free not in taken:
                taken |= known(connection, "id", [free])
        taken.add(free)
        ids.append(free)
    return ids


def known(connection: apsw.Connection, column: str, values: Sequence[Any]) -> set[Any]:
    """Those of *values* that some row of ``memories`` holds in *column*, which an index begins with."""
    found: set[Any] = set()
    for first in range(0, len(values), _READ_AT_ONCE):
        # Ascending, so that neighbours in the index are looked up together.
        part = sorted(values[first : first + _READ_AT_ONCE])
        select = f"SELECT {column} FROM {keys('memories')} WHERE {column} IN ({marks_for(part)})"
        rows = connection.execute(select, part)
        found |= {value for (value,) in rows}
    return found


def stored_terms(item: Prepared) -> bytes:
    """The analysed terms of an item as its row keeps them."""
    return item.encoded_terms or encode_terms(item.terms)


def memory_id(bank: str, ingested_at: int, text: str, attempt: int) -> str:
    """16 hex digits of what was written where and when; *attempt* counts up past a taken id.

    It depends on no other memory, so the writes of others change nobody's ids.
    """
    body = f"{bank} {ingested_at} {attempt} ".encode() + text.encode()
    return hashlib.blake2b(body, digest_size=8).hexdigest()
