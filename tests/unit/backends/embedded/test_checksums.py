from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from simonides.backends.embedded.checksums import (
    CHECKSUMS,
    IMMUTABLE,
    MISSING,
    add_functions,
    checksum_of,
    condition,
    find_damage,
    job_checksum,
    numbers_checksum,
    source_checksum,
    text_checksum,
    vector_checksum,
)
from simonides.backends.embedded.models import begin
from simonides.backends.embedded.rows import verified
from simonides.errors import DamagedError
from simonides.records.model_identity import ModelIdentity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.backends.embedded.conftest import Desk

OTHERWISE: dict[str, dict[str, str]] = {
    "memories": dict.fromkeys(IMMUTABLE, "checksums.memory_checksum"),
    "changes": dict.fromkeys(
        ("sequence", "operation", "ordinal", "stamp", "log_hash"), "a chain, and its head in meta"
    ),
    "audit": dict.fromkeys(
        ("number", "at", "actor", "verb", "first", "last", "log_hash", "seal"),
        "a chain of HMACs, and the change log",
    ),
    "sqlite_sequence": dict.fromkeys(("name", "seq"), "meta.numbers"),
}
"""Columns under no checksum of a table, and what finds a changed value in them instead."""

EMPTY = {"impressions", "shown", "token_codes", "sparse_encoder", "sparse_terms"}
"""Tables without a row in the bank below."""


@pytest.fixture
def connection(desk: Desk) -> Iterator[apsw.Connection]:
    """Of a bank with a row or more in most tables, with triggers that can be switched off."""
    bank = desk.open()
    desk.retain(
        bank,
        {"text": "Ada repaired the loom", "tags": ["a"], "acl": ["ada"], "project": "mill", "source": "call"},
        {"text": "Ada sold the loom because it was old", "session": "s", "speaker": "Ada"},
        "Ada lives in Bath",
    )
    with bank.writing(desk.now) as transaction:
        ada = transaction.entities.add("Ada", "ada", "person", ["ada"], "")
        loom = transaction.entities.add("loom", "loom", "thing", [], "")
        transaction.entities.add_mention(0, ada)
        transaction.entities.add_mention(0, loom)
        transaction.relations.add(0, "repaired", ada, "loom", single_valued=True)
        transaction.keys.add("key", b"body", ["x"])
        transaction.queue.add("enrich", 0)
        transaction.models.set_enriched(0, 1, "model")
        transaction.entities.add_alias(ada, "Lady Ada", "lady ada")
        transaction.entities.merge(ada, loom)
        transaction.links.add(2, 0, "semantic", 0.5)
        transaction.maintenance.add_move(0, "promote", "working", "core", "often used")
        transaction.maintenance.set_evidence(2, {0: "for"}, desk.now)
        transaction.used([transaction.versions.read(1).id], None, "ada")
        begin(transaction.connection, ModelIdentity("other", 3, "other-3"), desk.now)
    bank.close()
    opened = apsw.Connection(str(desk.place / "bank" / "memory.db"))
    add_functions(opened)
    yield opened
    opened.close()


def columns(connection: apsw.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]


def test_every_column_of_every_table_is_under_a_checksum_or_named_here(connection: apsw.Connection) -> None:
    """A new table or column is checked, or has its reason above."""
    tables = [
        str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
    ]
    uncovered = {}
    for table in tables:
        checksums = CHECKSUMS.get(table, ())
        digests = {each.digest for each in checksums} | ({"digest"} if table == "memories" else set())
        covered = {column for each in checksums for column in each.covered} | digests
        uncovered[table] = set(columns(connection, table)) - covered - set(OTHERWISE.get(table, ()))
    assert {table: left for table, left in uncovered.items() if left} == {}
    assert set(CHECKSUMS) | set(OTHERWISE) == set(tables)


def test_what_is_written_is_intact(connection: apsw.Connection) -> None:
    found = list(find_damage(connection))
    assert set(found) == {""}
    filled = [t for t in CHECKSUMS if connection.execute(f"SELECT count(*) FROM {t}").get]
    assert set(CHECKSUMS) - set(filled) == EMPTY


def changed(connection: apsw.Connection, table: str, column: str) -> bool:
    """Give every row of a table another value in a column, as a fault of the disk would; false = no row."""
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    other = (
        f"CASE typeof({column}) WHEN 'text' THEN {column} || 'x' WHEN 'blob' THEN {column} || x'00'"
        f" WHEN 'null' THEN NULL ELSE {column} + iif({column} > 9e18, -1, 1) END"
    )
    if column in {"codes", "body", "terms", "features", "digest", "text_digest", "log_hash", "end_digest"}:
        other = f"CAST({column} || x'00' AS BLOB)"
    row = f"rowid = (SELECT max(rowid) FROM {table} WHERE {column} IS NOT NULL)"
    if table in {"vectors", "aliases", "relations", "statements", "idempotency", "evidence"}:
        row = f"{column} = (SELECT max({column}) FROM {table})"
    connection.execute(f"UPDATE OR IGNORE {table} SET {column} = {other} WHERE {row}")
    return bool(connection.changes())


def reading_raises(connection: apsw.Connection, table: str) -> bool:
    conditions = " AND ".join(condition(table, each.digest) for each in CHECKSUMS[table])
    try:
        connection.execute(f"SELECT count(*) FROM {table} WHERE {conditions}").fetchall()
    except DamagedError as error:
        return table in str(error) or table == "memories"
    return False


@pytest.mark.fault("M4")
@pytest.mark.parametrize("table", [table for table in CHECKSUMS if table not in EMPTY])
def test_a_changed_value_is_found_and_not_handed_out(connection: apsw.Connection, table: str) -> None:
    assert not reading_raises(connection, table)
    for column in columns(connection, table):
        if table == "memories" and column not in {"ordinal", "expired_at", "end_digest"}:
            continue
        connection.execute("BEGIN")
        assert changed(connection, table, column), column
        assert any(problem.startswith(f"{table}: ") for problem in find_damage(connection)), column
        assert reading_raises(connection, table), column
        connection.execute("ROLLBACK")


def test_bytes_that_are_no_text_are_found_too(connection: apsw.Connection) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.execute("UPDATE episodes SET speaker = CAST(x'ff' AS TEXT) WHERE number = 2")
    assert [problem for problem in find_damage(connection) if problem] == [
        "episodes: row 2 is not what was written"
    ]
    connection.execute("UPDATE entities SET folded = CAST(x'ff' AS TEXT) WHERE number = 1")
    # ``connection.translated`` makes a ``DamagedError`` of it.
    with pytest.raises(UnicodeDecodeError):
        connection.execute(f"SELECT name FROM {verified('entities')}").fetchall()


def test_a_text_that_became_bytes_is_found(connection: apsw.Connection) -> None:
    """Bytes as such have the same length and content."""
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.execute("CREATE TABLE loose AS SELECT * FROM labels")
    intact = condition("labels").replace("labels.", "loose.")
    select = f"SELECT text FROM loose WHERE text = 'mill' AND {intact}"
    assert connection.execute(select).get == "mill"
    connection.execute("UPDATE loose SET text = CAST(text AS BLOB)")
    with pytest.raises(DamagedError):
        connection.execute(f"SELECT text FROM loose WHERE {intact}").fetchall()


def test_a_change_of_a_damaged_row_does_not_hide_the_damage(connection: apsw.Connection) -> None:
    changed(connection, "jobs", "tries")
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)
    connection.execute("UPDATE jobs SET not_before = 7")
    assert any("jobs: " in problem for problem in find_damage(connection))


def test_a_change_of_an_intact_row_leaves_it_intact(connection: apsw.Connection) -> None:
    connection.execute("UPDATE jobs SET not_before = 7")
    connection.execute("UPDATE labels SET text = text || '!' WHERE number > 0")
    connection.execute("UPDATE meta SET generation = 9")
    assert set(find_damage(connection)) == {""}


def test_numbers_that_must_not_be_given_twice_are_under_a_checksum(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "Ada sold the loom")
    with bank.writing(desk.now) as transaction:
        transaction.queue.add("enrich", 0)
    assert bank.verify().ok
    desk.sql("UPDATE sqlite_sequence SET seq = seq + 8 WHERE name = 'jobs'")
    assert bank.verify().problems == (
        "memory.db: the last numbers given (sqlite_sequence) are not what was written",
    )


def test_a_schema_that_was_changed_is_named(desk: Desk) -> None:
    bank = desk.open()
    desk.sql("DROP INDEX links_by_target")
    assert bank.verify().problems == ("memory.db: the index links_by_target is not the one of this schema",)


def test_other_conditions_do_not_stand_in_for_what_is_in_the_row(connection: apsw.Connection) -> None:
    """SQLite replaces a column by the constant that another condition compares it with."""
    for value in (0, 1, 7):
        select = f"SELECT name FROM {verified('relations')} WHERE single_valued = {value}"
        found = connection.execute(select).fetchall()
        assert len(found) == (value == 1)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.execute("UPDATE jobs SET tries = 9")
    with pytest.raises(DamagedError):
        connection.execute(f"SELECT task FROM {verified('jobs')} WHERE tries = 9").fetchall()


def test_a_digest_made_by_the_writer_is_the_trigger_s(connection: apsw.Connection) -> None:
    """Of every type that a column holds, also texts beyond ASCII and numbers that look like another type."""
    for table in ("episodes", "memories", "vectors", "links", "label_sets", "meta"):
        for each in CHECKSUMS[table]:
            for stated, *values in connection.execute(
                f"SELECT {each.digest}, {', '.join(each.covered)} FROM {table}"
            ):
                assert checksum_of(*values) == stated
    connection.execute("INSERT INTO labels(number, text) VALUES (77, 'Grüße 東京')")
    assert connection.execute("SELECT digest FROM labels WHERE number=77").get == checksum_of(
        77, "Grüße 東京"
    )


def test_a_row_with_a_digest_is_left_as_it_is_and_a_wrong_one_is_found(connection: apsw.Connection) -> None:
    insert = "INSERT INTO labels(number, text, digest) VALUES (?, ?, ?)"
    connection.execute(insert, (80, "left out", MISSING))
    connection.execute(insert, (81, "right", checksum_of(81, "right")))
    assert set(find_damage(connection)) == {""}
    connection.execute(insert, (82, "wrong", checksum_of(81, "wrong")))
    assert set(find_damage(connection)) == {"", "labels: row 82 is not what was written"}


@pytest.mark.parametrize("text", ["", "fig", "日本\x00é", "x" * 5_000])
def test_checksums_of_one_shape_are_those_of_any(text: str) -> None:
    assert numbers_checksum(7, -3, 2**62) == checksum_of(7, -3, 2**62)
    assert text_checksum(9, text) == checksum_of(9, text)
    assert job_checksum(9, text, 12) == checksum_of(9, text, 12, 0, 0, "")
    assert vector_checksum(9, 1, 0.1, text.encode()) == checksum_of(9, 1, 0.1, text.encode())
    texts = "a", text, "", text, "b"
    assert source_checksum(9, texts, 0.25, -5) == checksum_of(9, *texts, 0.25, -5)
