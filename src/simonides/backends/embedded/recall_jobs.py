"""Recalls that are answered later, in a file of their own beside the bank: requests, and texts from helpers.

It holds no memory: the answer is computed from the rows when it is asked for, as the bank was at the request,
less what was forgotten since. So a job outlives its process, and exports and backups leave it out. Forgetting
leaves it, and a purge empties it, since a query may repeat a memory. A bank keeps the last ``MOST_JOBS`` of
each principal.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.connection import translated
from simonides.backends.embedded.encryption import open_file
from simonides.files import make_empty, remove
from simonides.records.recall import KeptJob

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.backends.embedded.encryption import Key

FILE = "recall-jobs.db"
MOST_JOBS = 1_000
_BUSY_MILLISECONDS = 5_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS recall_jobs(
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  principal TEXT NOT NULL,
  request TEXT NOT NULL,
  texts TEXT
) STRICT
"""


class RecallJobs:
    """The jobs of one bank. Every method opens the file for itself, so any thread may call it."""

    def __init__(self, folder: Path, key: Key | None = None) -> None:
        self._path = folder / FILE
        self._key = key

    def add(self, job: str, principal: str, request: str) -> None:
        with translated(self._path):
            if not self._path.exists():
                make_empty(self._path)
            with self._open() as connection:
                # At once: a reader that becomes a writer is refused while another waits to write. Not by
                # `with connection`, which waits for its lock without letting other threads run.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_SCHEMA)
                connection.execute(
                    "INSERT OR IGNORE INTO recall_jobs(id, principal, request) VALUES (?, ?, ?)",
                    (job, principal, request),
                )
                connection.execute(
                    "DELETE FROM recall_jobs WHERE principal = ?1 AND number <= (SELECT number"
                    " FROM recall_jobs WHERE principal = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
                    (principal, MOST_JOBS),
                )
                connection.execute("COMMIT")

    def find(self, job: str, principal: str) -> KeptJob | None:
        """A job of this principal; ``None`` where there is none."""
        if not self._path.is_file():
            return None
        with translated(self._path), self._open() as connection:
            connection.execute(_SCHEMA)
            row = connection.execute(
                "SELECT request, texts FROM recall_jobs WHERE id=? AND principal=?", (job, principal)
            ).fetchone()
        return None if row is None else KeptJob(str(row[0]), None if row[1] is None else str(row[1]))

    def keep_texts(self, job: str, texts: str) -> str:
        """Keep what the helpers gave, unless another process has kept its own; returns what is kept."""
        with translated(self._path), self._open() as connection:
            row = connection.execute(
                "UPDATE recall_jobs SET texts=coalesce(texts, ?) WHERE id=? RETURNING texts", (texts, job)
            ).fetchone()
        # The job may have been dropped meanwhile.
        return texts if row is None else str(row[0])

    def clear(self, patience: int = _BUSY_MILLISECONDS) -> bool:
        """Keep none, and leave no byte of them.

        False when a writer of a job held it up for *patience* milliseconds.

        The file stays, since another process may have it open and would go on writing where nobody reads.
        ``UnavailableError``: it cannot be written.
        """
        journal = self._path.with_name(f"{FILE}-journal")
        if not self._path.exists() and not journal.exists():
            return True
        with translated(self._path):
            if self._path.exists() and not self._is_ours():
                gone = [remove(path) for path in (self._path, journal)]
                return all(gone)
            try:
                self._empty(patience)
            except apsw.BusyError:
                return False
        return True

    def _is_ours(self) -> bool:
        """Whether the file can be read; nothing can be lost in one that cannot."""
        try:
            with self._open() as connection:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except (apsw.NotADBError, apsw.CorruptError):
            return False
        except apsw.BusyError:
            return True
        return True

    def _empty(self, patience: int) -> None:
        with self._open() as connection:
            connection.set_busy_timeout(patience)
            # What a killed process left in the journal is rolled back here, and the journal goes.
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute(_SCHEMA)
            connection.execute("DELETE FROM recall_jobs")
            # A journal that was never begun goes with the next change, so there must be one.
            connection.execute(f"PRAGMA user_version={connection.execute('PRAGMA user_version').get + 1}")
            connection.execute("COMMIT")
            connection.execute("VACUUM")

    @contextlib.contextmanager
    def _open(self) -> Iterator[apsw.Connection]:
        connection = open_file(self._path, self._key)
        try:
            connection.set_busy_timeout(_BUSY_MILLISECONDS)
            connection.execute("PRAGMA secure_delete=ON")
            yield connection
        finally:
            connection.close()
