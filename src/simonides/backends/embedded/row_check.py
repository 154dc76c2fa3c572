"""Compare rows that are about to be handed out with their digests, and all that is handed out with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.seals import sound, sound_memory
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

_BATCH = 500

_CHECK = f"""
SELECT m.id, {sound_memory("m", "v")}, e.number, m.path, m.project, m.tags, m.acl
FROM memories m
  LEFT JOIN vectors v ON v.ordinal = m.ordinal AND v.embedder IS ?
  LEFT JOIN chunks c ON c.number = m.chunk AND {sound("chunks", "c")}
  LEFT JOIN episodes e ON e.number = c.episode AND {sound("episodes", "e")}
WHERE m.ordinal IN (%s)
"""


def check_rows(connection: apsw.Connection, ordinals: Sequence[int], embedder: int | None) -> None:
    """Compare rows, their vectors, sources and labels with their digests; about 0.05 ms each.

    Args:
        connection: in a transaction.
        ordinals: of rows of ``memories``.
        embedder: the bank's, which a transaction that chose it has not stored yet.

    Raises:
        DamagedError: one of them is not what was written, or points at something that is missing.
    """
    for first in range(0, len(ordinals), _BATCH):
        part = [int(ordinal) for ordinal in ordinals[first : first + _BATCH]]
        marks = ",".join("?" * len(part))
        rows: list[tuple[Any, ...]] = connection.execute(_CHECK % marks, [embedder, *part]).fetchall()
        # Most rows share their labels, so each of these is compared once.
        labels = _there(
            connection, "labels", {label for *_, path, project, _, _ in rows for label in (path, project)}
        )
        sets = _there(connection, "label_sets", {each for *_, tags, acl in rows for each in (tags, acl)})
        for memory, _, source, path, project, tags, acl in rows:
            if source is None or not {path, project} <= labels or not {tags, acl} <= sets:
                raise DamagedError(
                    f"memory {memory}: its source or its labels are missing; forget it, or restore the bank "
                    "from a backup"
                )


def _there(connection: apsw.Connection, table: str, numbers: set[int]) -> set[int]:
    """Which of *numbers* a table holds; those that are not what was written raise."""
    marks = ",".join("?" * len(numbers))
    statement = f"SELECT number FROM {table} WHERE number IN ({marks}) AND {sound(table)}"
    return {int(number) for (number,) in connection.execute(statement, sorted(numbers))}
