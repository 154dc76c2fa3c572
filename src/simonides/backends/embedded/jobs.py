"""The queue of enrichments as a reader sees it. A job hangs on the ordinal of a memory's first version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.seals import sound
from simonides.records.enrichment import ENRICH, LONGEST_PAUSE, MOST_TRIES, Job
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    import apsw


_SHOWN_PROBLEMS = 5


def due_jobs(connection: apsw.Connection, due: int, most: int) -> list[Job]:
    """Enrichments that may be tried, oldest first.

    Args:
        connection: in a read transaction.
        due: a moment, microseconds UTC; jobs that are put off beyond it are left out. One that is put off for
            longer than ``LONGEST_PAUSE`` was so under a clock that stood ahead, and is due.
        most: jobs at most.
    """
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT j.ordinal, j.tries, (SELECT now.ordinal FROM memories now WHERE now.id = first.id"
        " AND now.expired_at = ?) FROM jobs j JOIN memories first ON first.ordinal = j.ordinal"
        f" WHERE j.task=? AND (j.not_before<=? OR j.not_before>?) AND j.tries<? AND {sound('jobs', 'j')}"
        " ORDER BY j.number LIMIT ?",
        (FOREVER, ENRICH, due, due + LONGEST_PAUSE, MOST_TRIES, most),
    ).fetchall()
    return [Job(int(root), int(tries), None if now is None else int(now)) for root, tries, now in rows]


def count_jobs(connection: apsw.Connection) -> tuple[int, int]:
    """How many enrichments wait, and how many were given up."""
    waiting, given_up = connection.execute(
        "SELECT count(*) FILTER (WHERE tries < ?1), count(*) FILTER (WHERE tries >= ?1)"
        " FROM jobs WHERE task=?2",
        (MOST_TRIES, ENRICH),
    ).fetchone() or (0, 0)
    return int(waiting), int(given_up)


def described_jobs(connection: apsw.Connection) -> dict[str, Any]:
    """Enrichments that wait or were given up, with the oldest problems, for ``stats``."""
    waiting, given_up = count_jobs(connection)
    problems: list[tuple[Any, ...]] = connection.execute(
        "SELECT m.id, j.tries, j.problem FROM jobs j JOIN memories m ON m.ordinal = j.ordinal"
        f" WHERE j.task=? AND {sound('jobs', 'j')} AND j.problem<>'' ORDER BY j.tries DESC, j.number LIMIT ?",
        (ENRICH, _SHOWN_PROBLEMS),
    ).fetchall()
    return {
        "waiting": waiting,
        "given_up": given_up,
        "problems": [
            f"{memory}: {problem} (try {tries} of {MOST_TRIES})" for memory, tries, problem in problems
        ],
    }
