"""The schema, as numbered steps; each runs in its own transaction together with its record.

``schema/*.sql`` holds the SQL of the longer ones.

A released migration is never edited: a change is a new one at the end.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import apsw

from simonides.backends.embedded.checksums import CHECKSUMS, add_functions, triggers
from simonides.backends.embedded.connection import translated, use_wal, write_transaction
from simonides.backends.embedded.stale_files import check_not_emptied
from simonides.errors import DamagedError, NewerSchemaError
from simonides.records.interval import BEGINNING, DAY_MICROS, FIRST_INSTANT, FOREVER, LAST_INSTANT
from simonides.records.kind import ARCHIVED, CONSOLIDATED, PINNED, STANDING, Kind

if TYPE_CHECKING:
    from simonides.backends.embedded.connection import Connections

APPLICATION_ID = 0x53494D4F
"""Marks a file as a bank ("SIMO")."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: its number (the schema version it leads to), its name and its SQL."""

    number: int
    name: str
    sql: str


_EMPTY_NAMES = """
INSERT INTO labels(number, text) VALUES (0, '');
INSERT INTO label_sets(number, names) VALUES (0, '[]');
"""

# Which times to live end by a moment is asked at every recall.
_EXPIRY = """
CREATE INDEX jobs_by_moment ON jobs(task, not_before) WHERE task IN ('expire', 'erase', 'expired');
"""


def time_text(micros: str) -> str:
    """SQL for a time as text; NULL = open."""
    # What lies outside the calendar becomes the nearest moment, as everywhere; ``%`` keeps the sign.
    moment = f"min(max({micros}, {FIRST_INSTANT}), {LAST_INSTANT})"
    fraction = f"(({moment} % 1000000 + 1000000) % 1000000)"
    return (
        f"CASE WHEN {micros} NOT IN ({BEGINNING}, {FOREVER}) THEN"
        f" strftime('%Y-%m-%dT%H:%M:%S', ({moment} - {fraction}) / 1000000, 'unixepoch')"
        f" || CASE {fraction} WHEN 0 THEN '' ELSE printf('.%06d', {fraction}) END || '+00:00' END"
    )


_ROWS = f"""
  m.id AS id,
  m.version AS version,
  m.text AS text,
  m.kind AS kind,
  m.layer AS layer,
  t.names AS tags,
  e.speaker AS speaker,
  m.source AS source,
  {time_text("m.occurred_from")} AS event_time,
  {time_text("m.occurred_to")} AS event_end,
  m.occurred_precision AS event_precision,
  {time_text("m.valid_from")} AS valid_from,
  {time_text("m.valid_to")} AS valid_to,
  {time_text("m.ingested_at")} AS ingested_at,
  {time_text("m.expired_at")} AS expired_at,
  m.superseded_by AS superseded_by,
  {time_text("d.not_before")} AS expires_at,
  CASE d.task WHEN 'expire' THEN 'archive' WHEN 'erase' THEN 'erase' ELSE '' END AS on_expiry,
  (m.state & {PINNED}) <> 0 AS pinned,
  (m.state & {STANDING}) <> 0 AS standing,
  (m.state & {ARCHIVED}) <> 0 AS archived,
  (m.state & {CONSOLIDATED}) <> 0 AS consolidated,
  e.document AS document,
  e.session AS session,
  e.author AS author,
  e.trust AS trust,
  j.text AS project,
  p.text AS path,
  a.names AS acl,
  m.context AS context,
  m.relation AS relation,
  m.expansion AS expansion,
  m.metadata AS metadata,
  m.salience AS salience,
  m.confidence AS confidence,
  m.proof_count AS proof_count
FROM memories m
  JOIN chunks c ON c.number = m.chunk
  JOIN episodes e ON e.number = c.episode
  JOIN labels p ON p.number = m.path
  JOIN labels j ON j.number = m.project
  JOIN label_sets t ON t.number = m.tags
  JOIN label_sets a ON a.number = m.acl
  LEFT JOIN jobs d ON d.ordinal = m.root AND d.task IN ('expire', 'erase')
"""

_NOW = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"


def _by_its_clock(time: str, recorded: str) -> str:
    """SQL: taken from the clock that recorded it, which may have stood ahead (ADR 0009)."""
    return f"{time} BETWEEN {recorded} - {DAY_MICROS} AND {recorded}"


VIEWS = f"""
CREATE VIEW history AS SELECT{_ROWS}WHERE d.task IS NOT 'erase' OR d.not_before > {_NOW};
CREATE VIEW current_memories AS SELECT{_ROWS}  JOIN memories r ON r.ordinal = m.root
WHERE m.expired_at = {FOREVER} AND m.kind <> '{Kind.QUARANTINE.value}'
  AND (m.state & {ARCHIVED | CONSOLIDATED}) = 0
  AND (m.valid_from <= {_NOW} OR {_by_its_clock("m.valid_from", "m.ingested_at")}
    OR {_by_its_clock("m.valid_from", "r.ingested_at")})
  AND NOT (m.valid_to <= {_NOW} OR {_by_its_clock("m.valid_to", "m.ingested_at")})
  AND (d.not_before IS NULL OR d.not_before > {_NOW});
"""
"""The SQL views that other programs may read.

``history`` has every version of every memory that the bank holds, but for those whose erasure is due;
``current_memories`` what the owner's list shows now (``Bank.list_memories``). Values are those of
``Memory.to_dict``; times are texts in ISO 8601 UTC, which sort as the times do. No digest is compared, and no
reader is kept out: whoever can read the file reads all of it.
"""
"""SQL that makes them; never edited.

A change is a migration that drops both and makes them anew. One that rebuilds a table which they read drops
them first: SQLite renames no table while a view reads one that is missing.
"""


def _schema(name: str) -> str:
    return files(__package__).joinpath("schema", f"{name}.sql").read_text(encoding="utf-8")


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "rows", _schema("rows") + triggers(CHECKSUMS.keys() - {"statements"}) + _EMPTY_NAMES),
    Migration(2, "statements", _schema("statements") + triggers({"statements", "moves"})),
    Migration(3, "views", VIEWS),
    Migration(4, "expiry", _EXPIRY),
)


def migrate(connections: Connections) -> None:
    """Bring the schema to the newest version; a bank that may only be read keeps its own, and can be read.

    Raises:
        NewerSchemaError: the bank is newer than this library; nothing was written.
        DamagedError: the file belongs to another program, or lost all that a bank had in it.
    """
    with translated(connections.path):
        connection = connections.get()
        # In one statement, so that a bank which another process makes meanwhile is seen whole or not at all.
        version, owner, tables = connection.execute(
            "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)"
            " FROM pragma_user_version, pragma_application_id"
        ).get
    newest = MIGRATIONS[-1].number
    if (owner != APPLICATION_ID and tables) or (owner == APPLICATION_ID and version < 1):
        raise DamagedError(f"{connections.path}: is a database of another program; choose another folder")
    if not tables:
        check_not_emptied(connections.path)
    if version > newest:
        raise NewerSchemaError(
            f"{connections.path}: has schema {version}, this version of simonides knows {newest}; "
            "upgrade simonides (the bank was left untouched)"
        )
    if version == newest or (version and connections.read_only):
        return
    with translated(connections.path):
        use_wal(connections.get())
    for migration in MIGRATIONS:
        with write_transaction(connections) as transaction:
            # Read again inside: another process may have taken this step meanwhile.
            if transaction.pragma("user_version") < migration.number:
                transaction.execute(migration.sql)
                transaction.pragma("application_id", APPLICATION_ID)
                transaction.pragma("user_version", migration.number)


def schema_of(version: int, select: str) -> list[tuple[Any, ...]]:
    """What *select* finds in an empty database of a version."""
    return list(_select_after(MIGRATIONS[:version], select))


# Remembered, because a build takes longer than the rest of the verification of a small bank.
@functools.lru_cache(maxsize=8)
def _select_after(steps: tuple[Migration, ...], select: str) -> tuple[tuple[Any, ...], ...]:
    connection = apsw.Connection(":memory:")
    try:
        add_functions(connection)
        for step in steps:
            connection.execute(step.sql)
        return tuple(connection.execute(select).fetchall())
    finally:
        connection.close()
