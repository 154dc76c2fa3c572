"""Ends of times to live: when memories are due to be archived or erased.

    task     not_before    means
    expire   due moment    archive it then; from then on no view finds it, archived yet or not
    erase    due moment    erase it then; from then on nothing shows it, whatever the viewpoint
    expired  due moment    ended then: later views do not find what was written before it, either

A due moment is a job of the memory's first version, at most one for a memory; it is exported, imported and
erased with the memory. Archiving is logged as a move; erasing is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded.rows import keys, verified
from simonides.records.time_to_live import ERASE, EXPIRE, EXPIRED, Due

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from simonides.backends.embedded.session import WriteSession

PENDING = f"'{EXPIRE}', '{ERASE}'"
"""SQL: the tasks of memories whose time has not ended."""

ALL = f"{PENDING}, '{EXPIRED}'"
"""SQL: all tasks of times to live."""

# Word by word as in the index, else SQLite does not use it.
EXPIRIES = "task IN ('expire', 'erase', 'expired')"

IS_KEPT = (
    f"NOT EXISTS (SELECT 1 FROM {verified('jobs j')} WHERE j.ordinal = m.root AND j.task='{ERASE}'"
    " AND j.not_before<=?)"
)
"""SQL: the row m of ``memories`` is not due to be erased by a moment."""


def read_due(connection: apsw.Connection, now: int, most: int | None = None) -> list[Due]:
    """What is to be archived or erased by *now*, the first to end first."""
    rows = connection.execute(
        f"SELECT j.ordinal, m.id, j.task, j.not_before FROM {verified('jobs j')} JOIN {keys('memories m')}"
        f" ON m.ordinal = j.ordinal WHERE j.{EXPIRIES} AND j.task IN ({PENDING}) AND j.not_before<=?"
        " ORDER BY j.not_before, j.ordinal LIMIT ?",
        (now, -1 if most is None else most),
    )
    return [Due(int(root), str(memory), str(task), int(moment)) for root, memory, task, moment in rows]


def count_expiring(connection: apsw.Connection) -> int:
    """How many memories have a time to live that has not been acted on."""
    select = f"SELECT count(*) FROM {keys('jobs')} WHERE {EXPIRIES} AND task IN ({PENDING})"
    return int(connection.execute(select).get)


class Expiries:
    """The ends of times to live inside a write transaction; see ``storage.writer.Expiries``."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def read(self, root: int, tasks: str = PENDING) -> tuple[str, int] | None:
        row = self._session.one(
            f"SELECT task, not_before FROM {verified('jobs')} WHERE ordinal=? AND task IN ({tasks})", root
        )
        return None if row is None else (str(row[0]), int(row[1]))

    def add_all(self, expiries: Iterable[tuple[int, str, int]]) -> None:
        insert = "INSERT INTO jobs(ordinal, task, not_before, tries, problem) VALUES (?, ?, ?, 0, '')"
        self._session.connection.executemany(insert, list(expiries))

    def set(self, root: int, expiry: tuple[str, int] | None) -> None:
        self._session.run(f"DELETE FROM jobs WHERE ordinal=? AND task IN ({ALL})", root)
        if expiry is not None:
            self.add_all([(root, *expiry)])

    def copy(self, root: int, fresh: int) -> None:
        """Give a memory in the words of another one the same end."""
        expiry = self.read(root)
        if expiry is not None:
            self.add_all([(fresh, *expiry)])

    def revive(self, root: int) -> bool:
        found = self.read(root, f"'{EXPIRE}', '{EXPIRED}'")
        if found is None:
            return False
        task, moment = found
        if moment > self._session.now:
            # A clock that stood ahead archived it before its time: it gets its end again.
            if task == EXPIRED:
                self.set(root, (EXPIRE, moment))
            return False
        # Views of the past do not find what was hidden until now.
        self.set(root, (EXPIRED, moment))
        return task == EXPIRE
