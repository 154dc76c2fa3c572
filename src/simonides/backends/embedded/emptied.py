"""A database file that was emptied or deleted is no new bank.

SQLite takes a missing or empty file for a new database, so a bank that lost its rows would come back empty
and sound. What only a bank that was in use leaves beside the file tells the two apart: a new one has nothing
yet, wherever its making was broken off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded import recall_audit, recall_jobs
from simonides.backends.embedded.auditing import KEY_FILE
from simonides.backends.embedded.left_over import RERANKER
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path

_BESIDE = (KEY_FILE, recall_audit.FILE, recall_jobs.FILE, RERANKER)


def check_not_emptied(database: Path) -> None:
    """Refuse to make a bank where one was.

    Args:
        database: the file, which is missing or holds no tables.

    Raises:
        DamagedError: an index, a key or a log of a bank lies beside it.
    """
    folder = database.parent
    left = [name for name in _BESIDE if (folder / name).exists()]
    if any(each.name.isdecimal() for each in folder.glob("index/*")):
        left.append("index")
    if left:
        raise DamagedError(
            f"{database}: is missing or empty, while {', '.join(left)} of its bank is there; move the folder "
            "away and restore the bank from a backup"
        )
