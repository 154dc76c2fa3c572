"""Rows of very many new memories, each table by one prepared statement and with its seals made here.

    items ─► numbers, ids ─► values + digests ─► INSERT … per table        (inside a write transaction)

The same rows, byte for byte, as ``WriteTransaction.insert`` writes with a statement and a trigger for each.
Nothing is read of the rows before all of them are written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.digest import IMMUTABLE, memory_id, values_digest
from simonides.backends.embedded.seals import (
    seal_of,
    sealed_job,
    sealed_numbers,
    sealed_source,
    sealed_text,
    sealed_vector,
)
from simonides.records.draft import encode_terms
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    "jobs": ("number", "task", "ordinal", "tries", "not_before", "problem", "digest"),
}  # fmt: skip
"""By table, the columns in the order in which their values are collected; parents before children."""

_READ_AT_ONCE = 4_096

# Made once: ``json.dumps`` makes a new encoder at every call that asks for anything special.
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(slots=True)
class BulkRows:
    """Collects rows of one transaction until ``write``.

    Attributes:
        episode: number of the last raw source that there is.
        chunk: number of the last span that there is.
    """

    episode: int
    chunk: int
    _rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: {table: [] for table in _ORDER})

    @classmethod
    def after(cls, connection: apsw.Connection) -> BulkRows:
        """For rows after those that there are."""
        last = "SELECT (SELECT max(number) FROM episodes), (SELECT max(number) FROM chunks)"
        ((episode, chunk),) = connection.execute(last).fetchall()
        return cls(int(episode or 0), int(chunk or 0))

    def add_episode(self, text: str, draft: Draft, place: ResolvedFields) -> int:
        """A raw source; its number."""
        self.episode += 1
        texts = draft.source, draft.document, draft.session, draft.speaker, place.author
        said = float(place.trust), place.ingested_at
        seals = sealed_text(self.episode, text), sealed_source(self.episode, texts, *said)
        self._rows["episodes"].append((self.episode, text, *texts, *said, *seals))
        return self.episode

    def add_chunk(self, episode: int, start: int, stop: int) -> int:
        """A span of a raw source; its number."""
        self.chunk += 1
        row = (self.chunk, episode, start, stop)
        self._rows["chunks"].append((*row, sealed_numbers(*row)))
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
        digest = values_digest(values, embedded=bool(codes))
        self._rows["memories"].append((*values, FOREVER, digest, sealed_numbers(ordinal, FOREVER)))
        if not codes:
            return
        assert embedder is not None
        vector = (ordinal, embedder, float(item.scale), codes)
        self._rows["vectors"].append((*vector, sealed_vector(*vector)))
        if item.tokens:
            tokens = (ordinal, embedder, item.tokens)
            self._rows["token_codes"].append((*tokens, seal_of(*tokens)))

    def write(self, connection: apsw.Connection) -> None:
        """Insert everything that was collected."""
        for table, rows in self._rows.items():
            if rows:
                connection.executemany(_insert(table), rows)
                rows.clear()


def queue_rows(connection: apsw.Connection, task: str, ordinals: Iterable[int]) -> None:
    """Leave one sort of work for later, for many rows; rows for which it waits already are left out."""
    # As SQLite counts them, so that no number is given twice.
    counted: list[tuple[Any, ...]] = connection.execute(
        "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name='jobs'), 0),"
        " coalesce((SELECT max(number) FROM jobs), 0))"
    ).fetchall()
    rows = []
    for number, ordinal in enumerate(ordinals, int(counted[0][0]) + 1):
        row = (number, task, ordinal, 0, 0, "")
        rows.append((*row, sealed_job(number, task, ordinal)))
    connection.executemany(_insert("jobs", "INSERT OR IGNORE"), rows)


def free_ids(connection: apsw.Connection, bank: str, wanted: Sequence[tuple[int, str]]) -> list[str]:
    """Ids of new memories, which no memory bears.

    Args:
        connection: in a write transaction.
        bank: the bank's identity.
        wanted: per memory its recorded time and its text.
    """
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
        marks = ", ".join("?" * len(part))
        rows = connection.execute(f"SELECT {column} FROM memories WHERE {column} IN ({marks})", part)
        found |= {value for (value,) in rows}
    return found


def stored_terms(item: Prepared) -> bytes:
    """The analysed terms of an item as its row keeps them."""
    return item.encoded_terms or encode_terms(item.terms)


def _insert(table: str, verb: str = "INSERT") -> str:
    columns = _ORDER[table]
    return f"{verb} INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
