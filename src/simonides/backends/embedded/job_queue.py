"""The queue of jobs; a job belongs to the ordinal of a memory's first version, or of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.checksums import job_checksum
from simonides.backends.embedded.rows import insert_into, keys, verified
from simonides.records.enrichment import ENRICH, MOST_TRIES
from simonides.records.interval import FOREVER
from simonides.records.kind import CONSOLIDATED

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from simonides.backends.embedded.session import WriteSession

_SHOWN_PROBLEMS = 5


class JobQueue:
    """The queue inside a write transaction; see ``storage.writer.Queue``."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def add(self, task: str, ordinal: int, *, not_before: int = 0) -> None:
        self._session.connection.execute(
            "INSERT OR IGNORE INTO jobs(task, ordinal, tries, not_before, problem) VALUES (?, ?, 0, ?, '')",
            (task, ordinal, not_before),
        )

    def add_all(self, task: str, ordinals: Iterable[int]) -> None:
        # As SQLite counts them, so that no number is given twice.
        last = self._session.number(
            "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name='jobs'), 0),"
            f" coalesce((SELECT max(number) FROM {keys('jobs')}), 0))"
        )
        rows = [
            (number, task, ordinal, 0, 0, "", job_checksum(number, task, ordinal))
            for number, ordinal in enumerate(ordinals, last + 1)
        ]
        columns = "number, task, ordinal, tries, not_before, problem, digest"
        self._session.connection.executemany(insert_into("jobs", columns, "INSERT OR IGNORE"), rows)

    def due(self, task: str, most: int) -> list[int]:
        # There is no index by age. As many of the sort, whichever they are, bound how young the oldest are,
        # and work is mostly done in the order of age, so few rows are older than them.
        last = self._session.one(
            f"SELECT max(number) FROM (SELECT number FROM {keys('jobs')} WHERE task=? AND not_before<=?"
            " ORDER BY ordinal LIMIT ?)",
            task,
            self._session.now,
            most,
        )
        rows = self._session.all(
            # The plus keeps SQLite from using the index of tasks.
            f"SELECT ordinal FROM {verified('jobs')} WHERE number<=? AND +task=? AND not_before<=?"
            " ORDER BY number LIMIT ?",
            -1 if last is None or last[0] is None else last[0],
            task,
            self._session.now,
            most,
        )
        return [int(ordinal) for (ordinal,) in rows]

    def remove(self, task: str, ordinal: int) -> None:
        self._session.run("DELETE FROM jobs WHERE task=? AND ordinal=?", task, ordinal)

    def tries(self, task: str, ordinal: int) -> int | None:
        row = self._session.one(
            f"SELECT tries FROM {verified('jobs')} WHERE task=? AND ordinal=?", task, ordinal
        )
        return None if row is None else int(row[0])

    def postpone(self, task: str, ordinal: int, not_before: int, problem: str) -> None:
        update = "UPDATE jobs SET tries=tries+1, not_before=?, problem=? WHERE task=? AND ordinal=?"
        self._session.run(update, not_before, problem, task, ordinal)

    def restart(self, task: str, ordinal: int) -> None:
        self.remove(task, ordinal)
        self.add(task, ordinal)

    def add_unenriched(self, task: str) -> int:
        rows = self._session.all(
            "INSERT OR IGNORE INTO jobs(task, ordinal, tries, not_before, problem)"
            f" SELECT ?, m.root, 0, 0, '' FROM {verified('memories m')} WHERE m.expired_at=? AND m.valid_to>?"
            f" AND m.state & ?=0 AND NOT EXISTS (SELECT 1 FROM {keys('enrichments e')}"
            " WHERE e.ordinal=m.root)"
            " ORDER BY m.root RETURNING number",
            task,
            FOREVER,
            self._session.next_instant(),
            CONSOLIDATED,
        )
        return len(rows)


def count_jobs(connection: apsw.Connection) -> tuple[int, int]:
    """How many enrichments wait, and how many were given up."""
    waiting, given_up = connection.execute(
        "SELECT count(*) FILTER (WHERE tries < ?1), count(*) FILTER (WHERE tries >= ?1)"
        f" FROM {verified('jobs')} WHERE task=?2",
        (MOST_TRIES, ENRICH),
    ).fetchone() or (0, 0)
    return int(waiting), int(given_up)


def described_jobs(connection: apsw.Connection) -> dict[str, Any]:
    """Enrichments that wait or were given up, with the oldest problems, for ``stats``."""
    waiting, given_up = count_jobs(connection)
    problems: list[tuple[Any, ...]] = connection.execute(
        f"SELECT m.id, j.tries, j.problem FROM {verified('jobs j')} JOIN {keys('memories m')}"
        " ON m.ordinal = j.ordinal WHERE j.task=? AND j.problem<>'' ORDER BY j.tries DESC, j.number LIMIT ?",
        (ENRICH, _SHOWN_PROBLEMS),
    ).fetchall()
    return {
        "waiting": waiting,
        "given_up": given_up,
        "problems": [
            f"{memory}: {problem} (try {tries} of {MOST_TRIES})" for memory, tries, problem in problems
        ],
    }
