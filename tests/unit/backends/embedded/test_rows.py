from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.embedded_rows import connection_of

from simonides.backends.embedded.checksums import CHECKSUMS, IMMUTABLE
from simonides.backends.embedded.rows import check_rows, keys, verified
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from simonides.bank import Bank

COVERED = [
    *(("memories", column) for column in IMMUTABLE if column != "ordinal"),
    ("memories", "expired_at"),
    ("memories", "digest"),
    ("memories", "end_digest"),
    *(
        (table, column)
        for table in ("vectors", "chunks", "episodes", "labels", "label_sets")
        for seal in CHECKSUMS[table]
        for column in (*seal.columns, seal.digest)
        # The raw text of a source is compared by whoever hands it out.
        if column != "text_digest" and (table, column) != ("episodes", "text")
    ),
]


@pytest.fixture
def connection(bank: Bank) -> Iterator[apsw.Connection]:
    """In a transaction that nobody will commit, on a bank of two memories without triggers."""
    bank.retain(
        ["The kettle is on the stove.", "Tove bought a lamp in Malvern."],
        tags=["home"],
        project="house",
        path="rooms",
        acl=["ines"],
        metadata={"a": 1},
        event_time="2026-02-01",
    )
    with bank._rows.reading() as reading:
        held = connection_of(reading)
        for (name,) in held.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            held.execute(f"DROP TRIGGER {name}")
        held.execute("PRAGMA defer_foreign_keys = ON")
        yield held
        held.execute("ROLLBACK")


def damage(connection: apsw.Connection, table: str, column: str) -> None:
    kinds = connection.execute(f"SELECT typeof({column}) FROM {table} LIMIT 1").fetchall()
    other = {
        "text": f"'z' || {column}",
        "integer": f"{column} - 1",
        "real": f"{column} + 0.25",
        "blob": f"CAST({column} || 'z' AS BLOB)",
        "null": "1",
    }[str(kinds[0][0])]
    connection.execute(f"UPDATE {table} SET {column} = {other}")


def test_sound_rows_pass(connection: apsw.Connection) -> None:
    check_rows(connection, [0, 1])
    check_rows(connection, [])


@pytest.mark.parametrize(("table", "column"), COVERED)
def test_damage_in_any_column_is_found(connection: apsw.Connection, table: str, column: str) -> None:
    damage(connection, table, column)
    with pytest.raises(DamagedError):
        check_rows(connection, [0, 1])


@pytest.mark.parametrize("column", ["text", "metadata", "id"])
def test_bytes_that_are_no_text_are_damage(connection: apsw.Connection, column: str) -> None:
    connection.execute(f"UPDATE memories SET {column} = CAST(x'ff41' AS TEXT) WHERE ordinal = 1")
    with pytest.raises((DamagedError, UnicodeDecodeError)):
        check_rows(connection, [0, 1])
    check_rows(connection, [0])


@pytest.mark.parametrize("table", ["chunks", "episodes", "labels", "label_sets", "vectors"])
def test_what_a_row_points_at_must_be_there(connection: apsw.Connection, table: str) -> None:
    connection.execute(f"DELETE FROM {table}")
    with pytest.raises(DamagedError):
        check_rows(connection, [0, 1])


def test_sqlite_joins_the_readers_into_the_statement(connection: apsw.Connection) -> None:
    """A reader that it ran by itself would compare every row of the table."""
    joins = (
        f"LEFT JOIN {verified('chunks c')} ON c.number = m.chunk JOIN {verified('label_sets s')} ON s.number"
    )
    statements = [
        f"SELECT m.text FROM {verified('memories m')} {joins} = m.acl WHERE m.ordinal = 1",
        (
            f"SELECT count(*) FROM {keys('memories m')} WHERE EXISTS"
            f" (SELECT 1 FROM {keys('vectors v')} WHERE v.ordinal = m.ordinal)"
        ),
        f"SELECT name FROM {verified('entities')} UNION SELECT name FROM {verified('aliases')}",
        (
            f"SELECT (SELECT max(a.accessed_at) FROM {verified('accesses a')} WHERE a.ordinal = m.root)"
            f" FROM {verified('memories m')} ORDER BY m.root"
        ),
    ]
    for statement in statements:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        assert not [line for *_, line in plan if "CO-ROUTINE" in str(line) or "MATERIALIZE" in str(line)]
