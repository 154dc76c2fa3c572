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
from simonides.backends.embedded.connection import translated, write_transaction
from simonides.backends.embedded.stale_files import check_not_emptied
from simonides.backends.embedded.views import VIEWS
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


_EMPTY_NAMES = """
INSERT INTO labels(number, text) VALUES (0, '');
INSERT INTO label_sets(number, names) VALUES (0, '[]');
"""

# Which times to live end by a moment is asked at every recall.
_EXPIRY = """
CREATE INDEX jobs_by_moment ON jobs(task, not_before) WHERE task IN ('expire', 'erase', 'expired');
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
    _use_wal(connections)
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
