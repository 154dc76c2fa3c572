"""When memories are due to be put away or forgotten, and doing it.

    task     not_before    means
    expire   due moment    is to be archived then; from then on no view finds it, whether it was or not
    erase    due moment    is to be erased then; from then on nothing shows it, whatever the viewpoint
    expired  due moment    ended then: later views do not find what was written before it, either

A due moment is a job of the memory's first version, so it goes out, comes in and vanishes with the memory. A
memory has one at most. An archiving is a move, as that of maintenance is; an erased memory leaves none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded.seals import sound
from simonides.records.time_to_live import ERASE, EXPIRE, EXPIRED, Due

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from simonides.backends.embedded.session import WriteSession

PENDING = f"'{EXPIRE}', '{ERASE}'"
"""Of SQL: the tasks of memories whose time has not ended."""

# As the index states it word by word; else it is not used.
_EXPIRIES = "task IN ('expire', 'erase', 'expired')"


ALL = f"{PENDING}, '{EXPIRED}'"
"""The same, of all that a memory may have."""

IS_KEPT = (
    f"NOT EXISTS (SELECT 1 FROM jobs j WHERE j.ordinal = m.root AND j.task='{ERASE}'"
    f" AND j.not_before<=? AND {sound('jobs', 'j')})"
)
"""Of SQL: a row m of ``memories`` is not to be erased by a moment; what is, no call finds any more."""


def read_due(connection: apsw.Connection, now: int, most: int | None = None) -> list[Due]:
    """What is to be archived or erased by *now*, the first to end first."""
    rows = connection.execute(
        "SELECT j.ordinal, m.id, j.task, j.not_before FROM jobs j JOIN memories m ON m.ordinal = j.ordinal"
        f" WHERE j.{_EXPIRIES} AND j.task IN ({PENDING}) AND j.not_before<=? AND {sound('jobs', 'j')}"
        " ORDER BY j.not_before, j.ordinal LIMIT ?",
        (now, -1 if most is None else most),
    )
    return [Due(int(root), str(memory), str(task), int(moment)) for root, memory, task, moment in rows]


def roots_due(connection: apsw.Connection, moment: int, *tasks: str) -> list[int]:
    """First versions of memories with one of *tasks* that ends, or ended, by *moment*."""
    marks = ",".join("?" * len(tasks))
    rows = connection.execute(
        f"SELECT ordinal FROM jobs WHERE {_EXPIRIES} AND task IN ({marks}) AND not_before<=?"
        f" AND {sound('jobs')}",
        (*tasks, moment),
    )
    return [int(root) for (root,) in rows]


def moments_ended(connection: apsw.Connection, moment: int) -> list[tuple[int, int]]:
    """First versions of memories that were archived, or brought back, after they ended, and when that was."""
    rows = connection.execute(
        f"SELECT ordinal, not_before FROM jobs WHERE {_EXPIRIES} AND task=? AND not_before<=?"
        f" AND {sound('jobs')}",
        (EXPIRED, moment),
    )
    return [(int(root), int(ended)) for root, ended in rows]


def count_expiring(connection: apsw.Connection) -> int:
    """How many memories have a time to live that has not been acted on."""
    return int(connection.execute(f"SELECT count(*) FROM jobs WHERE {_EXPIRIES} AND task IN ({PENDING})").get)


def read_expiry(connection: apsw.Connection, root: int) -> tuple[str, int] | None:
    """Task and moment of a memory with a time to live; ``None`` = it has no end."""
    row = connection.execute(
        f"SELECT task, not_before FROM jobs WHERE ordinal=? AND task IN ({PENDING}) AND {sound('jobs')}",
        (root,),
    ).fetchone()
    return None if row is None else (str(row[0]), int(row[1]))


def add_expiries(connection: apsw.Connection, expiries: Iterable[tuple[int, str, int]]) -> None:
    """Give memories that have none an end: (root, task, moment) each."""
    connection.executemany(
        "INSERT INTO jobs(ordinal, task, not_before, tries, problem) VALUES (?, ?, ?, 0, '')", list(expiries)
    )


def set_expiry(connection: apsw.Connection, root: int, expiry: tuple[str, int] | None) -> None:
    """Give a memory another end; ``None`` = none."""
    connection.execute(f"DELETE FROM jobs WHERE ordinal=? AND task IN ({ALL})", (root,))
    if expiry is not None:
        add_expiries(connection, [(root, *expiry)])


def copy_expiry(connection: apsw.Connection, root: int, fresh: int) -> None:
    """Give a memory in the words of another one the same end."""
    expiry = read_expiry(connection, root)
    if expiry is not None:
        add_expiries(connection, [(fresh, *expiry)])


def revive(connection: apsw.Connection, root: int, now: int) -> bool:
    """Take the end of a memory that is brought back; whether that hid it until now.

    What a clock that stood ahead archived before its time gets its end again.
    """
    row = connection.execute(
        f"SELECT task, not_before FROM jobs WHERE ordinal=? AND task IN (?, ?) AND {sound('jobs')}",
        (root, EXPIRE, EXPIRED),
    ).fetchone()
    if row is None:
        return False
    task, moment = str(row[0]), int(row[1])
    if moment > now:
        if task == EXPIRED:
            set_expiry(connection, root, (EXPIRE, moment))
        return False
    # Views of the past do not find what was hidden until now.
    set_expiry(connection, root, (EXPIRED, moment))
    return task == EXPIRE


class Expiries:
    """The ends of times to live inside a write transaction; memories by the ordinals of first versions."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def read(self, root: int) -> tuple[str, int] | None:
        return read_expiry(self._session.connection, root)

    def add_all(self, expiries: Iterable[tuple[int, str, int]]) -> None:
        add_expiries(self._session.connection, expiries)

    def set(self, root: int, expiry: tuple[str, int] | None) -> None:
        set_expiry(self._session.connection, root, expiry)

    def revive(self, root: int) -> bool:
        return revive(self._session.connection, root, self._session.now)
