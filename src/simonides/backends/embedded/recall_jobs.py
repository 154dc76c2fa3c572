"""Recalls that are answered later, in a file of their own beside the bank: what was asked, what helpers gave.

No memory is in it: the answer is made from the rows whenever it is wanted, as the bank was when it was asked,
less what was forgotten since. So a job outlives the process that began it, an export and a backup do without
it, and forgetting need not look here; a purge empties it all the same, since a query may repeat a memory.
A bank keeps its last ``MOST_JOBS``.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.backends.embedded.connection import translated
from simonides.backends.embedded.encryption import make_private, open_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

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


@dataclass(frozen=True, slots=True)
class KeptJob:
    """One job: what was asked, and what the helpers gave (JSON); ``None`` = they were not asked yet."""

    request: str
    texts: str | None


class RecallJobs:
    """The jobs of one bank. Every method opens the file for itself, so any thread may call it.

    Args:
        folder: of the bank.
        key: that encrypts the bank; ``None`` = it is plain.
    """

    def __init__(self, folder: Path, key: Key | None = None) -> None:
        self._path = folder / FILE
        self._key = key

    def add(self, job: str, principal: str, request: str) -> None:
        """Keep a job; one that is there stays as it is.

        Raises:
            UnavailableError: the file cannot be written.
        """
        with translated(self._path):
            if not self._path.exists():
                with contextlib.suppress(FileExistsError, OSError):
                    make_private(self._path)
            with self._open() as connection, connection:
                connection.execute(_SCHEMA)
                connection.execute(
                    "INSERT OR IGNORE INTO recall_jobs(id, principal, request) VALUES (?, ?, ?)",
                    (job, principal, request),
                )
                connection.execute(
                    "DELETE FROM recall_jobs WHERE number <= (SELECT max(number) FROM recall_jobs) - ?",
                    (MOST_JOBS,),
                )

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

    def keep_texts(self, job: str, texts: str) -> None:
        """What the helpers gave; what was kept first stays."""
        with translated(self._path), self._open() as connection:
            connection.execute("UPDATE recall_jobs SET texts=? WHERE id=? AND texts IS NULL", (texts, job))

    def clear(self) -> None:
        """Keep none."""
        self._path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _open(self) -> Iterator[apsw.Connection]:
        connection = open_file(self._path, self._key)
        try:
            connection.set_busy_timeout(_BUSY_MILLISECONDS)
            connection.execute("PRAGMA secure_delete=ON")
            yield connection
        finally:
            connection.close()
