"""Files in a bank's folder: its own, those left by crashed processes, and whether a bank lost its rows.

Names that only a crashed process leaves:

    .backup-…  .restoring-…                 folders with copies of the rows
    .….partial                              half-written files, and what SQLite lays beside them
    .reranker.npz.….left                    a trained reranker that has another name elsewhere
    memory.db-journal, recall-jobs.db-wal   what SQLite lays beside a file of ours and does not use there; not
                                            beside recall-audit.db, which holds no text and needs its own
    etilqs_…                                SQLite's temporary files

A file with any other name, such as a backup or an export, belongs to someone else and stays. The folder
``index`` is the bank's; ``generation`` says which part of it is used. Links are removed, never followed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simonides.backends.embedded import purge_lock, recall_audit, recall_jobs
from simonides.backends.embedded.auditing import KEY_FILE, NEW_KEY_FILE
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path


MAINTENANCE = "maintenance.lock"
RERANKER = "reranker.npz"
ZONE = "zone.txt"
TTL = "ttl.json"

OWNED = (
    "memory.db", "memory.db-wal", "memory.db-shm", recall_jobs.FILE, recall_audit.FILE,
    f"{recall_audit.FILE}-wal", f"{recall_audit.FILE}-shm", KEY_FILE, NEW_KEY_FILE, MAINTENANCE,
    purge_lock.FILE, RERANKER, ZONE, TTL, "index",
)  # fmt: skip
"""All names that a bank's folder has while nothing is written there."""

_JOBS_JOURNAL = f"{recall_jobs.FILE}-journal"
_BESIDE = r"-(journal|wal|shm|mj[0-9A-F]+)"
_FILES = "|".join(map(re.escape, ("memory.db", recall_jobs.FILE, MAINTENANCE, purge_lock.FILE, RERANKER)))
_OURS = re.compile(
    rf"\.(backup|restoring)-.*|\..*\.partial({_BESIDE})?|({_FILES}){_BESIDE}|etilqs_.*"
    rf"|\.{re.escape(RERANKER)}\.[0-9a-f]{{32}}\.left",
    re.DOTALL,
)


def stale_files(folder: Path) -> list[Path]:
    """Files in *folder* left by crashed processes, sorted; call it while nobody writes copies."""
    return sorted(
        path
        for path in folder.iterdir()
        # A recall that is kept lays a journal beside its file at any time; ``RecallJobs.clear`` sees to that.
        if path.name not in OWNED and path.name != _JOBS_JOURNAL and _OURS.fullmatch(path.name)
    )


def check_not_emptied(database: Path) -> None:
    """Raise ``DamagedError`` where a bank was: an index, a key or a log of one lies beside *database*.

    SQLite takes a missing or empty file for a new database, so a bank that lost its rows would open as an
    empty one.
    """
    folder = database.parent
    beside = (KEY_FILE, recall_audit.FILE, recall_jobs.FILE, RERANKER)
    left = [name for name in beside if (folder / name).exists()]
    if any(each.name.isdecimal() for each in folder.glob("index/*")):
        left.append("index")
    if left:
        raise DamagedError(
            f"{database}: is missing or empty, while {', '.join(left)} of its bank is there; move the folder "
            "away and restore the bank from a backup"
        )
