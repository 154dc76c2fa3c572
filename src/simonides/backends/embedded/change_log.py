"""The counters of a bank and its change log, chained by a running hash."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeAlias

from simonides.backends.embedded.rows import unverified, verified
from simonides.errors import DamagedError, StoreError
from simonides.records.interval import BEGINNING
from simonides.storage.reader import Meta

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import apsw

ADD, EXPIRE, ERASE, LINK, NAME, USE = "add", "expire", "erase", "link", "name", "use"

NUMBERS = "(SELECT coalesce(group_concat(name || ' ' || seq, ', ' ORDER BY name), '') FROM sqlite_sequence)"
"""SQL: the last number of each table whose numbers are never reused."""

DELETED = ""
"""Identity of a bank that was deleted while someone had it open."""


def create_meta(connection: apsw.Connection, bank: str, epoch: str, analyser: str) -> None:
    """Store the identity of a new bank; a bank that has one keeps it."""
    connection.execute(
        "INSERT OR IGNORE INTO meta(one, bank, epoch, sequence, log_hash, generation, next_ordinal,"
        " last_ingested, embedder, analyser) VALUES (1, ?, ?, 0, ?, 0, 0, ?, NULL, ?)",
        (bank, epoch, bytes(16), BEGINNING, analyser),
    )


def read_meta(connection: apsw.Connection, *, checked: bool = True) -> Meta:
    """The counters as this transaction sees them; *checked* false: damaged ones, too, to report the damage.

    Raises:
        StoreError: the bank was deleted.
        DamagedError: the row is not what was written.
    """
    found = find_meta(connection, checked=checked)
    if found is None:
        raise LookupError("meta has no row")
    return found


def find_meta(connection: apsw.Connection, *, checked: bool = True) -> Meta | None:
    """``read_meta``; ``None`` = the bank is new."""
    row = connection.execute(
        "SELECT bank, epoch, sequence, log_hash, generation, next_ordinal, last_ingested, embedder, analyser"
        f" FROM {verified('meta') if checked else unverified('meta')}"
    ).fetchone()
    if row is not None and row[0] == DELETED:
        raise StoreError("the bank was deleted meanwhile; open the store again to make a new one")
    return None if row is None else Meta(*row)


def write_counters(connection: apsw.Connection, meta: Meta) -> None:
    """Store the counters that a write moves on (never the generation: that is the index's)."""
    connection.execute(
        "UPDATE meta SET sequence=?, log_hash=?, next_ordinal=?, last_ingested=?, embedder=?,"
        f" numbers={NUMBERS}",
        (meta.sequence, meta.log_hash, meta.next_ordinal, meta.last_ingested, meta.embedder),
    )


def write_numbers(connection: apsw.Connection) -> None:
    """Store the last numbers given, where no other counter has changed."""
    connection.execute(f"UPDATE meta SET numbers={NUMBERS}")


def next_epoch(meta: Meta) -> str:
    """The epoch after a change of rows that the log does not hold: every index is then rebuilt."""
    return hashlib.blake2b(f"{meta.epoch} {meta.sequence}".encode(), digest_size=16).hexdigest()


def read_changes(connection: apsw.Connection, meta: Meta, after: int) -> Iterator[tuple[Any, ...]]:
    """Operation, ordinal and stamp of the changes after *after*, each a link of the chain up to *meta*.

    ``DamagedError``: one is missing, or is not what was written; none is returned after it.
    """
    log_hash, expected = hash_at(connection, after), after
    for sequence, operation, ordinal, stamp, stated in connection.execute(
        "SELECT sequence, operation, ordinal, stamp, log_hash FROM changes WHERE sequence > ?"
        " ORDER BY sequence",
        (after,),
    ):
        expected += 1
        log_hash = link_hash(log_hash, sequence, operation, ordinal, stamp)
        if sequence != expected or log_hash != stated:
            raise DamagedError(
                f"memory.db: the change log is not what was written at change {expected}; "
                "restore the bank from a backup"
            )
        yield operation, ordinal, stamp
    if (expected, log_hash) != (meta.sequence, meta.log_hash):
        raise DamagedError(
            f"memory.db: the change log ends at change {expected}, the bank says {meta.sequence}; "
            "restore it from a backup"
        )


def link_hash(before: bytes, sequence: int, operation: str, ordinal: int, stamp: int) -> bytes:
    """The running hash after one more change."""
    link = before + f"{sequence} {operation} {ordinal} {stamp}".encode()
    return hashlib.blake2b(link, digest_size=16).digest()


Change: TypeAlias = tuple[int, str, int, int, bytes]
"""A row of the change log: sequence, operation, ordinal, stamp, running hash."""


def next_change(meta: Meta, operation: str, ordinal: int, stamp: int) -> Change:
    """The change after those that *meta* counts."""
    sequence = meta.sequence + 1
    log_hash = link_hash(meta.log_hash, sequence, operation, ordinal, stamp)
    return sequence, operation, ordinal, stamp, log_hash


def write_changes(connection: apsw.Connection, changes: Iterable[Change]) -> None:
    """Append changes, in order."""
    connection.executemany("INSERT INTO changes VALUES (?, ?, ?, ?, ?)", changes)


def hash_at(connection: apsw.Connection, sequence: int) -> bytes:
    """The running hash after change *sequence*; empty when the log has no such change."""
    if sequence == 0:
        return bytes(16)
    row = connection.execute("SELECT log_hash FROM changes WHERE sequence=?", (sequence,)).fetchone()
    return bytes(row[0]) if row else b""
