"""The counters of a bank and its change log: what happened, in order, chained by a running hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from simonides.errors import StoreError
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

ADD, EXPIRE, ERASE, LINK, NAME, USE = "add", "expire", "erase", "link", "name", "use"

DELETED = ""
"""Identity of a bank that was deleted while someone had it open."""


@dataclass(frozen=True, slots=True)
class Meta:
    """The bank's one row of identity and counters; see the schema for each field."""

    bank: str
    epoch: str
    sequence: int
    log_hash: bytes
    generation: int
    next_ordinal: int
    last_ingested: int
    embedder: int | None
    analyser: str


def create_meta(connection: apsw.Connection, bank: str, epoch: str, analyser: str) -> None:
    """Give a new bank its identity; a bank that has one keeps it."""
    connection.execute(
        "INSERT OR IGNORE INTO meta VALUES (1, ?, ?, 0, ?, 0, 0, ?, NULL, ?)",
        (bank, epoch, bytes(16), BEGINNING, analyser),
    )


def read_meta(connection: apsw.Connection) -> Meta:
    """The counters as this transaction sees them.

    Raises:
        StoreError: the bank was deleted.
    """
    row = connection.execute(
        "SELECT bank, epoch, sequence, log_hash, generation, next_ordinal, last_ingested, embedder, analyser"
        " FROM meta"
    ).fetchone()
    if row is None:
        raise LookupError("meta has no row")
    if row[0] == DELETED:
        raise StoreError("the bank was deleted meanwhile; open the store again to make a new one")
    return Meta(*row)


def write_counters(connection: apsw.Connection, meta: Meta) -> None:
    """Store the counters that a write moves on (never the generation: that is the merge's)."""
    connection.execute(
        "UPDATE meta SET sequence=?, log_hash=?, next_ordinal=?, last_ingested=?, embedder=?",
        (meta.sequence, meta.log_hash, meta.next_ordinal, meta.last_ingested, meta.embedder),
    )


def next_epoch(meta: Meta) -> str:
    """The epoch after a change of rows that the log does not tell: every index is then made anew."""
    return hashlib.blake2b(f"{meta.epoch} {meta.sequence}".encode(), digest_size=16).hexdigest()


Change: TypeAlias = tuple[int, str, int, int, bytes]
"""A row of the change log: sequence, operation, ordinal, stamp, running hash."""


def next_change(meta: Meta, operation: str, ordinal: int, stamp: int) -> Change:
    """The change after those that *meta* counts."""
    sequence = meta.sequence + 1
    link = meta.log_hash + f"{sequence} {operation} {ordinal} {stamp}".encode()
    return sequence, operation, ordinal, stamp, hashlib.blake2b(link, digest_size=16).digest()


def write_changes(connection: apsw.Connection, changes: Iterable[Change]) -> None:
    """Append changes, in order."""
    connection.executemany("INSERT INTO changes VALUES (?, ?, ?, ?, ?)", changes)


def log_change(connection: apsw.Connection, meta: Meta, operation: str, ordinal: int, stamp: int) -> Meta:
    """Append one change; returns the counters after it (store them before the commit)."""
    change = next_change(meta, operation, ordinal, stamp)
    write_changes(connection, [change])
    return replace(meta, sequence=change[0], log_hash=change[-1])


def hash_at(connection: apsw.Connection, sequence: int) -> bytes:
    """The running hash after change *sequence*; empty when the log has no such change."""
    if sequence == 0:
        return bytes(16)
    row = connection.execute("SELECT log_hash FROM changes WHERE sequence=?", (sequence,)).fetchone()
    return bytes(row[0]) if row else b""
