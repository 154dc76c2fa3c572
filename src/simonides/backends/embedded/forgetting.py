"""Choose what is forgotten, count what goes with it, and leave no byte of it in any file.

Erasing rows (``WriteTransaction.erase``) takes a memory out of every answer. Purging goes on from there:
names that nothing bears any more are blotted out, idempotency replies that only name what is gone are
deleted, the database is written anew (``VACUUM``), the index is merged and its older generations are
deleted, what dead processes left is removed (``left_over``), recalls that wait are dropped, and the
write-ahead log is cut to nothing. It waits only so long for who writes copies of rows (``copies``) and for
readers. Cost of a purge: the database and the changed blocks are rewritten, so it is linear in the bank.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import apsw

from simonides.backends.embedded.change_log import next_epoch, read_meta
from simonides.backends.embedded.connection import patient_for
from simonides.backends.embedded.seals import sound

if TYPE_CHECKING:
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
"""All others: counters, models, names (a purge blots them out), and what happened by numbers and hashes."""

PATIENCE_MILLISECONDS = 2_000
"""How long a purge waits for readers of an older state, and for who writes copies, before it is pending."""


def select(connection: apsw.Connection, wanted: Selection) -> list[str]:
    """Ids of the memories that are meant, sorted."""
    rows = connection.execute(
        "SELECT DISTINCT m.id FROM memories m JOIN memories r ON r.id = m.id AND r.version ="
        " (SELECT min(version) FROM memories WHERE id = m.id)"
        " JOIN chunks c ON c.number = m.chunk JOIN episodes e ON e.number = c.episode"
        " WHERE (?1 IS NULL OR m.id IN (SELECT value FROM json_each(?1)))"
        f" AND (?2 IS NULL OR m.source = ?2) AND (?3 IS NULL OR ({sound('episodes', 'e')} AND e.author = ?3))"
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
    return {table: int(connection.execute(f"SELECT count(*) FROM {table}").get) for table in TABLES}


def lost(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """How many rows went, by table; only tables that lost some."""
    return {table: before[table] - after[table] for table in TABLES if before[table] > after[table]}


def drop_replies(connection: apsw.Connection) -> int:
    """Delete idempotency replies whose memories are all gone; returns how many."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "DELETE FROM idempotency WHERE NOT EXISTS (SELECT 1 FROM json_each(idempotency.ids) i"
        " JOIN memories m ON m.id = i.value) RETURNING 1"
    ).fetchall()
    return len(rows)


def drop_unmentioned(connection: apsw.Connection) -> int:
    """Delete names that no memory mentions, as an interrupted import leaves them; returns how many."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "DELETE FROM entities WHERE number NOT IN (SELECT entity FROM mentions) RETURNING 1"
    ).fetchall()
    return len(rows)


def blot_out_names(connection: apsw.Connection) -> int:
    """Overwrite labels and label sets that nothing bears any more; returns how many.

    Codes in the index stay what they are, so a row of the table stays; every index is made anew.
    """
    used_labels = (
        "SELECT path FROM memories UNION SELECT project FROM memories"
        " UNION SELECT principal FROM accesses UNION SELECT principal FROM impressions"
    )
    used_sets = "SELECT tags FROM memories UNION SELECT acl FROM memories UNION SELECT scope FROM entities"
    blotted = connection.execute(
        "UPDATE labels SET text = char(9608) || number WHERE number > 0"
        f" AND text <> char(9608) || number AND number NOT IN ({used_labels}) RETURNING 1"
    ).fetchall()
    blotted += connection.execute(
        "UPDATE label_sets SET names = json_array(char(9608) || number) WHERE number > 0"
        f" AND names <> json_array(char(9608) || number) AND number NOT IN ({used_sets}) RETURNING 1"
    ).fetchall()
    if blotted:
        connection.execute("UPDATE meta SET epoch=?", (next_epoch(read_meta(connection)),))
    return len(blotted)


def cut_log(connection: apsw.Connection) -> bool:
    """Write the database anew and cut its log to nothing; false when readers of an older state held it up."""
    try:
        with patient_for(connection, PATIENCE_MILLISECONDS):
            connection.execute("VACUUM")
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
    except apsw.BusyError:
        return False
    return not busy
