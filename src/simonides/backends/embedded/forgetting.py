"""Choose what is forgotten, count what goes with it, and leave no byte of it in any file.

Erasing rows (``Versions.erase``) takes a memory out of every answer. A purge also overwrites unused names,
deletes idempotency replies that only name erased memories, rewrites the database (``VACUUM``), merges the
index and deletes its older generations, removes files of crashed processes (``stale_files``) and waiting
recalls, and truncates the write-ahead log. It waits ``PATIENCE_MILLISECONDS`` for writers of copies
(``purge_lock``) and for readers. Cost: linear in the bank, since the database and the changed blocks are
rewritten.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import apsw

from simonides.backends.embedded.change_log import next_epoch, read_meta
from simonides.backends.embedded.connection import patient_for, translated
from simonides.backends.embedded.purge_lock import alone
from simonides.backends.embedded.rows import keys, unverified, verified
from simonides.backends.embedded.stale_files import stale_files
from simonides.files import remove_if_dead
from simonides.records.receipt import COMPLETE, PENDING_COPIES, PENDING_INDEX, PENDING_JOBS, PENDING_READERS
from simonides.storage.folder import sweep_store

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.backends.embedded.connection import Connections
    from simonides.backends.embedded.index_cache import IndexCache
    from simonides.backends.embedded.recall_jobs import RecallJobs
    from simonides.records.receipt import Selection

TABLES = (
    "memories", "vectors", "token_codes", "sparse_terms", "episodes", "chunks", "entities", "aliases",
    "merges", "mentions", "relations", "statements", "links", "idempotency", "jobs", "enrichments",
    "accesses", "impressions", "shown", "moves", "evidence",
)  # fmt: skip
"""Tables that hold a memory or something derived from one."""

OTHER_TABLES = (
    "meta", "embedders", "reembedding", "sparse_encoder", "labels", "label_sets", "changes", "audit",
)  # fmt: skip
"""All others: counters, models, names (a purge overwrites them), and what happened by numbers and hashes."""

PATIENCE_MILLISECONDS = 2_000
"""How long a purge waits for readers of an older state and for writers of copies before it is pending."""


def select(connection: apsw.Connection, wanted: Selection) -> list[str]:
    """Ids of the memories that are meant, sorted."""
    rows = connection.execute(
        f"SELECT DISTINCT m.id FROM {unverified('memories m')} JOIN {unverified('memories r')} ON r.id = m.id"
        f" AND r.version = (SELECT min(version) FROM {keys('memories')} WHERE id = m.id)"
        f" JOIN {keys('chunks c')} ON c.number = m.chunk JOIN {keys('episodes e')} ON e.number = c.episode"
        " WHERE (?1 IS NULL OR m.id IN (SELECT value FROM json_each(?1))) AND (?2 IS NULL OR m.source = ?2)"
        f" AND (?3 IS NULL OR ?3 = (SELECT author FROM {verified('episodes')} WHERE number = e.number))"
        " AND (?4 IS NULL OR r.ingested_at >= ?4) AND (?5 IS NULL OR r.ingested_at < ?5) ORDER BY m.id",
        (
            None if wanted.ids is None else json.dumps(list(wanted.ids)),
            wanted.source,
            wanted.writer,
            wanted.after,
            wanted.before,
        ),
    )
    return [str(memory) for (memory,) in rows]


def count_tables(connection: apsw.Connection) -> dict[str, int]:
    """Rows of each table of ``TABLES``."""
    return {table: int(connection.execute(f"SELECT count(*) FROM {keys(table)}").get) for table in TABLES}


def lost(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """How many rows went, by table; only tables that lost some."""
    return {table: before[table] - after[table] for table in TABLES if before[table] > after[table]}


def drop_replies(connection: apsw.Connection) -> int:
    """Delete idempotency replies whose memories are all gone; returns how many."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "DELETE FROM idempotency WHERE NOT EXISTS (SELECT 1 FROM json_each(idempotency.ids) i"
        f" JOIN {keys('memories m')} ON m.id = i.value) RETURNING 1"
    ).fetchall()
    return len(rows)


def drop_unmentioned(connection: apsw.Connection) -> int:
    """Delete entities that no memory mentions, as an interrupted import leaves them; returns how many."""
    rows: list[tuple[Any, ...]] = connection.execute(
        f"DELETE FROM entities WHERE number NOT IN (SELECT entity FROM {keys('mentions')}) RETURNING 1"
    ).fetchall()
    return len(rows)


def overwrite_unused_names(connection: apsw.Connection) -> int:
    """Overwrite labels and label sets that no row uses; returns how many.

    Codes in the index stay valid, so the row of the table stays; every index is rebuilt.
    """
    memories, entities = unverified("memories"), unverified("entities")
    used_labels = (
        f"SELECT path FROM {memories} UNION SELECT project FROM {memories}"
        f" UNION SELECT principal FROM {unverified('accesses')}"
        f" UNION SELECT principal FROM {unverified('impressions')}"
    )
    used_sets = f"SELECT tags FROM {memories} UNION SELECT acl FROM {memories} "
    used_sets += f"UNION SELECT scope FROM {entities}"
    overwritten = connection.execute(
        "UPDATE labels SET text = char(9608) || number WHERE number > 0"
        f" AND text <> char(9608) || number AND number NOT IN ({used_labels}) RETURNING 1"
    ).fetchall()
    overwritten += connection.execute(
        "UPDATE label_sets SET names = json_array(char(9608) || number) WHERE number > 0"
        f" AND names <> json_array(char(9608) || number) AND number NOT IN ({used_sets}) RETURNING 1"
    ).fetchall()
    if overwritten:
        connection.execute("UPDATE meta SET epoch=?", (next_epoch(read_meta(connection)),))
    return len(overwritten)


def truncate_log(connection: apsw.Connection) -> bool:
    """Rewrite the database and truncate its log; false when readers of an older state block that."""
    try:
        with patient_for(connection, PATIENCE_MILLISECONDS):
            connection.execute("VACUUM")
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
    except apsw.BusyError:
        return False
    return not busy


def purge(
    connections: Connections, cache: IndexCache, recall_jobs: RecallJobs
) -> tuple[str, tuple[str, ...]]:
    """Leave nothing of erased rows in any file.

    Returns:
        ``complete``, or the first thing that it still waits for; and the files that stay and may hold some of
        it, by their paths below the store's folder.
    """
    folder = connections.path.parent
    # Nobody writes a copy of rows meanwhile; whoever comes later checks first what was erased.
    with alone(folder, PATIENCE_MILLISECONDS) as by_itself:
        copies: tuple[Path, ...] = ()
        swept = indexed = synced = False
        # The rows are gone by now. What the disk refuses here stays pending, and the receipt says so.
        with contextlib.suppress(OSError):
            copies = _sweep(folder)
            swept = by_itself and not copies
        with contextlib.suppress(OSError):
            indexed = cache.purge(alone=by_itself)
        cleared = recall_jobs.clear(PATIENCE_MILLISECONDS)
        with contextlib.suppress(OSError):
            cache.files.sync_folder(folder)
            synced = True
        with translated(connections.path):
            truncated = truncate_log(connections.get())
    done = {
        PENDING_INDEX: indexed,
        PENDING_READERS: truncated,
        PENDING_COPIES: swept and synced,
        PENDING_JOBS: cleared,
    }
    left = copies if indexed else (*copies, *cache.left())
    status = next((pending for pending, ready in done.items() if not ready), COMPLETE)
    return status, tuple(str(path.relative_to(folder.parent)) for path in left)


def _sweep(folder: Path) -> tuple[Path, ...]:
    """Remove files left by crashed processes beside the rows; those that stay."""
    for path in stale_files(folder):
        remove_if_dead(path)
    return (*stale_files(folder), *sweep_store(folder.parent))
