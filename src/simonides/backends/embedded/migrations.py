"""The schema, as numbered steps; each runs in its own transaction together with its record.

A released migration is never edited: a change is a new one at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.connection import translated, write_transaction
from simonides.errors import DamagedError, NewerSchemaError, UnavailableError

if TYPE_CHECKING:
    from simonides.backends.embedded.connection import Connections

APPLICATION_ID = 0x53494D4F
"""Marks a file as a bank ("SIMO")."""

_TRIES = 20


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: its number (the schema version it leads to), its name and its SQL."""

    number: int
    name: str
    sql: str


_ROWS = """
-- One row: what identifies the bank and where its counters stand.
CREATE TABLE meta(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  bank TEXT NOT NULL,
  epoch TEXT NOT NULL,              -- renewed by whatever replaces rows wholesale
  sequence INTEGER NOT NULL,        -- of the last change
  log_hash BLOB NOT NULL,           -- running hash of the change log
  generation INTEGER NOT NULL,      -- of the index files; 0 = none
  next_ordinal INTEGER NOT NULL,    -- ordinals are never reused
  last_ingested INTEGER NOT NULL,
  embedder INTEGER REFERENCES embedders(number),
  analyser TEXT NOT NULL            -- fingerprint of what made memories.terms
) STRICT;

CREATE TABLE embedders(
  number INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  dimension INTEGER NOT NULL
) STRICT;

-- Raw sources, verbatim.
CREATE TABLE episodes(
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL
) STRICT;

-- Spans of an episode (characters, half-open).
CREATE TABLE chunks(
  number INTEGER PRIMARY KEY,
  episode INTEGER NOT NULL REFERENCES episodes(number) ON DELETE CASCADE,
  start INTEGER NOT NULL,
  stop INTEGER NOT NULL
) STRICT;
CREATE INDEX chunks_by_episode ON chunks(episode);

-- Names behind the codes in columns; 0 is the empty name and the empty set.
CREATE TABLE labels(number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE label_sets(number INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE) STRICT;

-- Append-only versions. Times are microseconds since 1970 UTC; open ends are the int64 limits.
CREATE TABLE memories(
  ordinal INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  chunk INTEGER NOT NULL REFERENCES chunks(number),
  kind TEXT NOT NULL,
  layer TEXT NOT NULL,
  text TEXT NOT NULL,
  context TEXT NOT NULL,
  relation TEXT NOT NULL,
  path INTEGER NOT NULL REFERENCES labels(number),
  project INTEGER NOT NULL REFERENCES labels(number),
  tags INTEGER NOT NULL REFERENCES label_sets(number),
  acl INTEGER NOT NULL REFERENCES label_sets(number),
  valid_from INTEGER NOT NULL,
  valid_from_precision TEXT NOT NULL,
  valid_to INTEGER NOT NULL,
  valid_to_precision TEXT NOT NULL,
  ingested_at INTEGER NOT NULL,
  expired_at INTEGER NOT NULL,
  occurred_from INTEGER,
  occurred_to INTEGER,
  occurred_precision TEXT,
  salience REAL NOT NULL,
  confidence REAL NOT NULL,
  proof_count INTEGER NOT NULL,
  access_count INTEGER NOT NULL,
  last_access INTEGER,
  source TEXT NOT NULL,
  metadata TEXT NOT NULL,
  terms BLOB NOT NULL,              -- analysed terms: a rebuild decodes, it never tokenises again
  content_key BLOB NOT NULL,        -- equal for items that say the same in every respect
  digest BLOB NOT NULL,             -- of everything in the row but expired_at and use
  UNIQUE(id, version)
) STRICT;
CREATE INDEX memories_by_content ON memories(content_key);
CREATE INDEX memories_by_chunk ON memories(chunk);

CREATE TABLE vectors(
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders(number),
  scale REAL NOT NULL,
  codes BLOB NOT NULL,
  PRIMARY KEY(ordinal, embedder)
) STRICT, WITHOUT ROWID;

CREATE TABLE entities(
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  scope TEXT NOT NULL,
  UNIQUE(folded, scope)
) STRICT;
CREATE TABLE aliases(
  folded TEXT NOT NULL,
  scope TEXT NOT NULL,
  entity INTEGER NOT NULL REFERENCES entities(number) ON DELETE CASCADE,
  PRIMARY KEY(folded, scope, entity)
) STRICT, WITHOUT ROWID;
CREATE TABLE mentions(
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  entity INTEGER NOT NULL REFERENCES entities(number) ON DELETE CASCADE,
  PRIMARY KEY(ordinal, entity)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_entity ON mentions(entity);
CREATE TABLE links(
  from_ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  to_ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY(from_ordinal, to_ordinal, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target ON links(to_ordinal);

-- What happened, in order; ids only, so that forgetting a text leaves nothing of it here.
CREATE TABLE changes(
  sequence INTEGER PRIMARY KEY,
  operation TEXT NOT NULL CHECK (operation IN ('add', 'expire', 'erase')),
  ordinal INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  log_hash BLOB NOT NULL
) STRICT;

INSERT INTO labels VALUES (0, '');
INSERT INTO label_sets VALUES (0, '[]');
"""

MIGRATIONS = (Migration(1, "rows", _ROWS),)


def migrate(connections: Connections) -> None:
    """Bring the schema to the newest version.

    Raises:
        NewerSchemaError: the bank is newer than this library; nothing was written.
        DamagedError: the file belongs to another program.
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
    if version > newest:
        raise NewerSchemaError(
            f"{connections.path}: has schema {version}, this version of simonides knows {newest}; "
            "upgrade simonides (the bank was left untouched)"
        )
    if version == newest:
        return
    _use_wal(connections)
    for migration in MIGRATIONS:
        with write_transaction(connections) as transaction:
            # Read again inside: another process may have taken this step meanwhile.
            if transaction.pragma("user_version") < migration.number:
                transaction.execute(migration.sql)
                transaction.pragma("application_id", APPLICATION_ID)
                transaction.pragma("user_version", migration.number)


def _use_wal(connections: Connections) -> None:
    with translated(connections.path):
        for _ in range(_TRIES):
            try:
                connections.get().pragma("journal_mode", "WAL")
            except apsw.BusyError:
                # SQLite does not wait for a lock here, as it does for a transaction. So wait in one.
                with write_transaction(connections):
                    pass
            else:
                return
        raise UnavailableError(f"{connections.path}: other processes keep it locked; try again")
