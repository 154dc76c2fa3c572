"""What dead processes left in a bank's folder: every name that is ours by its form, and not of the bank.

    .backup-…  .restoring-…                 folders with copies of the rows
    .….partial                              half-written files, and what SQLite lays beside them
    .reranker.npz.….left                    a trained reranker that has another name elsewhere
    memory.db-journal, recall-jobs.db-wal   what SQLite lays beside a file of ours and does not use there; not
                                            beside recall-audit.db, which holds no text and needs its own
    etilqs_…                                SQLite's temporary files

Whatever has another name was put there by someone else and stays: a backup or an export, for example. The
folder ``index`` is ours whole; ``generation`` says what of it is used. Links are removed, never followed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simonides.backends.embedded import copies, recall_audit, recall_jobs
from simonides.backends.embedded.auditing import KEY_FILE, NEW_KEY_FILE

if TYPE_CHECKING:
    from pathlib import Path


MAINTENANCE = "maintenance.lock"
RERANKER = "reranker.npz"
ZONE = "zone.txt"
TTL = "ttl.json"

OWNED = (
    "memory.db", "memory.db-wal", "memory.db-shm", recall_jobs.FILE, recall_audit.FILE,
    f"{recall_audit.FILE}-wal", f"{recall_audit.FILE}-shm", KEY_FILE, NEW_KEY_FILE, MAINTENANCE, copies.FILE,
    RERANKER, ZONE, TTL, "index",
)  # fmt: skip
"""All names that a bank's folder has while nothing is written there."""

_JOBS_JOURNAL = f"{recall_jobs.FILE}-journal"
_BESIDE = r"-(journal|wal|shm|mj[0-9A-F]+)"
_FILES = "|".join(map(re.escape, ("memory.db", recall_jobs.FILE, MAINTENANCE, copies.FILE, RERANKER)))
_OURS = re.compile(
    rf"\.(backup|restoring)-.*|\..*\.partial({_BESIDE})?|({_FILES}){_BESIDE}|etilqs_.*"
    rf"|\.{re.escape(RERANKER)}\.[0-9a-f]{{32}}\.left",
    re.DOTALL,
)


def left_overs(folder: Path) -> list[Path]:
    """What is ours in *folder* and not of the bank, sorted; to be asked while nobody writes copies."""
    return sorted(
        path
        for path in folder.iterdir()
        # A recall that is kept lays a journal beside its file at any time; ``RecallJobs.clear`` sees to that.
        if path.name not in OWNED
        and path.name != f"{recall_jobs.FILE}-journal"
        and _OURS.fullmatch(path.name)
    )
