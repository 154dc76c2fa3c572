"""The audit log of reads: one row for each recall and each look, for banks that ask for it.

    seal(n) = HMAC-SHA256(key, "recalls" · seal(n−1) · JSON of row n without its seal)

A row holds the time, the actor, the ids of the memories, and keyed hashes of the query and of the recall's
id, with a salt from the first row; it holds no text. The log is a file of its own, so that a recall waits for
no writer of memories; an answer is returned after its row is on the disk. Switching the log on and off adds a
row here and in the audit log of changes: where this file was deleted or replaced by one that lacks them,
nothing is returned, and ``audit verify`` reports it.
Cost: one synced write a recall; where the log is off, one look for a file and one at the newest row of the
audit log.
Weakness: whoever may write the files can restore an older state of this one; keep the head elsewhere.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.backends.embedded.auditing import Chain, check_chain, next_number
from simonides.backends.embedded.connection import Connections, translated, use_wal, write_transaction
from simonides.errors import DamagedError, UnavailableError
from simonides.files import make_empty
from simonides.records.audit import FIRST_SEAL, Entry, ReadAudit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import apsw

    from simonides.backends.embedded.auditing import Auditor
    from simonides.backends.embedded.encryption import Key

FILE = "recall-audit.db"
START, STOP = "start", "stop"
_DOMAIN = b"recalls\0"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS recalls(
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,              -- keyed hash of the principal; empty = the owner
  verb TEXT NOT NULL,
  recall TEXT NOT NULL,             -- keyed hash of Recall.id; empty = none
  query TEXT NOT NULL,              -- keyed hash of the query; in the first row the salt
  ids TEXT NOT NULL,                -- JSON list
  sequence INTEGER NOT NULL,        -- the last change that was seen
  seal BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS recalls_switched ON recalls(number) WHERE verb IN ('start', 'stop');
"""
_SWITCH = "SELECT verb FROM recalls WHERE verb IN ('start', 'stop') ORDER BY number DESC LIMIT 1"
_ON_SINCE = "SELECT at FROM recalls WHERE verb = 'start' ORDER BY number DESC LIMIT 1"
_SWITCHES = "SELECT count(*) FROM recalls WHERE verb IN ('start', 'stop')"


@dataclass(frozen=True, slots=True)
class Switches:
    """What the log of changes says of this one.

    How often it was switched, and since when it is on, if it is.
    """

    count: int
    on_since: int | None


class RecallLog:
    """The log of one bank; *read_switches* reads, at every recall, what the log of changes says."""

    def __init__(self, folder: Path, read_switches: Callable[[], Switches], key: Key | None = None) -> None:
        self._path = folder / FILE
        self._read_switches = read_switches
        self._key = key
        self._connections: Connections | None = None
        # Which file was opened; another in its place is another log.
        self._opened_file: tuple[int, int] | None = None

    @property
    def is_on(self) -> bool:
        """Whether what is handed out is audited: the file says so, or the log of changes does."""
        connections = self._opened()
        if connections is not None:
            with translated(self._path):
                if _has_table(connections.get()) and connections.get().execute(_SWITCH).get == START:
                    return True
        return self._read_switches().on_since is not None

    def switch(self, auditor: Auditor, read: ReadAudit) -> bool:
        """Begin or end the audit by a row (*read* has the verb ``start`` or ``stop``); false = it was so."""
        if self.is_on == (read.verb == START):
            return False
        self.begin(auditor, read)
        return True

    def begin(self, auditor: Auditor, read: ReadAudit) -> None:
        """Add a row that switches it, whatever it was; the file is made where it is missing.

        ``DamagedError``: the newest row has no number that another can follow.
        """
        with translated(self._path):
            make_empty(self._path)
            connections = self._opened()
            if connections is None:
                raise UnavailableError(f"{self._path}: vanished while it was opened; try again")
            if not _has_table(connections.get()):
                use_wal(connections.get())
        with write_transaction(connections) as connection:
            connection.execute(_SCHEMA)
            self._write(connection, auditor, read)

    def append(self, auditor: Auditor, read: ReadAudit) -> None:
        """Add a row; it is on the disk when this returns.

        Raises:
            UnavailableError: it cannot be written, so nothing may be returned.
            DamagedError: the newest row has no number that another can follow.
        """
        connections = self._opened()
        if connections is None or not self._is_the_one(connections):
            raise UnavailableError(
                f"{self._path}: was deleted or replaced, so nothing is returned; restore it, or start a "
                "new log with `simonides audit recalls --off`, then without --off; `audit verify` reports it"
            )
        with write_transaction(connections) as connection:
            self._write(connection, auditor, read)

    def _is_the_one(self, connections: Connections) -> bool:
        """Whether the file holds the row that the log of changes says switched it on."""
        with translated(self._path):
            known = _has_table(connections.get())
            since = connections.get().execute(_ON_SINCE).get if known else None
        return known and self._read_switches().on_since in {None, since}

    def _write(self, connection: apsw.Connection, auditor: Auditor, read: ReadAudit) -> None:
        row = connection.execute("SELECT number, seal FROM recalls ORDER BY number DESC LIMIT 1").fetchone()
        salt = connection.execute("SELECT query FROM recalls ORDER BY number LIMIT 1").get
        number, before = row or (0, FIRST_SEAL)
        fields = (
            next_number(number, "recalls"),
            read.at,
            auditor.hash_of(read.principal),
            read.verb,
            auditor.salted(str(salt), "recall", read.recall),
            secrets.token_hex(16) if salt is None else auditor.salted(str(salt), "query", read.query),
            json.dumps(list(read.ids)),
            read.sequence,
        )
        seal = auditor.seal(before, fields, _DOMAIN)
        connection.execute(f"INSERT INTO recalls VALUES ({', '.join('?' * 9)})", (*fields, seal))

    def entries(self, most: int | None = None) -> list[Entry]:
        """Rows of the log, newest first; *most* of them, ``None`` = all."""
        connections = self._opened()
        if connections is None:
            return []
        with translated(self._path):
            if not _has_table(connections.get()):
                return []
            rows = connections.get().execute(
                "SELECT number, at, actor, verb, sequence, seal, ids, query, recall FROM recalls"
                " ORDER BY number DESC LIMIT ?",
                (-1 if most is None else most,),
            )
            return [_entry(*row) for row in rows]

    def verify(self, auditor: Auditor, switches: int, anchor: str | None = None) -> Chain:
        """Check the chain, that it holds *anchor*, ``number:seal``, and that it has so many *switches*."""
        connections, shown = self._opened(), 0
        chain = check_chain((), auditor.seal, "recalls", anchor)
        if connections is not None:
            with translated(self._path):
                connection = connections.get()
                if _has_table(connection):
                    shown = connection.execute(_SWITCHES).get
                    rows = connection.execute("SELECT * FROM recalls ORDER BY number")
                    chain = check_chain(
                        rows, lambda before, row: auditor.seal(before, row, _DOMAIN), "recalls", anchor
                    )
        if shown < switches:
            missing = f"recalls: was switched {switches} times, as the log of changes says, and shows {shown}"
            return Chain(chain.entries, chain.head, (*chain.problems, missing))
        return chain

    def close(self) -> None:
        """Close every connection."""
        if self._connections is not None:
            self._connections.close()

    def _opened(self) -> Connections | None:
        """Connections to the file; ``None`` while there is none."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        file = (found.st_dev, found.st_ino)
        if self._connections is None or self._opened_file != file:
            self.close()
            self._connections, self._opened_file = Connections(self._path, self._key), file
        return self._connections


def _has_table(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'recalls'").get)


def _entry(
    number: int, at: int, actor: str, verb: str, sequence: int, seal: bytes, ids: str, query: str, recall: str
) -> Entry:
    try:
        named = tuple(str(one) for one in json.loads(ids))
    except (ValueError, TypeError) as error:
        raise DamagedError(f"{FILE}: row {number} is not what was written; audit verify says more") from error
    return Entry(number, at, actor, verb, sequence + 1, sequence, bytes(seal).hex(), named, query, recall)
