"""Compare rows that are about to be handed out with their digests, and all that is handed out with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded.seals import sound, sound_memory
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

_BATCH = 500

_CHECK = f"""
SELECT m.id, {sound_memory("m", "v")},
  e.number IS NULL OR p.number IS NULL OR j.number IS NULL OR t.number IS NULL OR a.number IS NULL
FROM memories m
  LEFT JOIN vectors v ON v.ordinal = m.ordinal AND v.embedder IS ?
  LEFT JOIN chunks c ON c.number = m.chunk AND {sound("chunks", "c")}
  LEFT JOIN episodes e ON e.number = c.episode AND {sound("episodes", "e")}
  LEFT JOIN labels p ON p.number = m.path AND {sound("labels", "p")}
  LEFT JOIN labels j ON j.number = m.project AND {sound("labels", "j")}
  LEFT JOIN label_sets t ON t.number = m.tags AND {sound("label_sets", "t")}
  LEFT JOIN label_sets a ON a.number = m.acl AND {sound("label_sets", "a")}
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
        for memory, _, alone in connection.execute(_CHECK % marks, [embedder, *part]):
            if not alone:
                continue
            raise DamagedError(
                f"memory {memory}: its source or its labels are missing; forget it, or restore the bank from "
                "a backup"
            )
