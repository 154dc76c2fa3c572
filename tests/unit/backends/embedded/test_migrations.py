from __future__ import annotations

import contextlib
import hashlib
import threading
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from simonides.backends.embedded import migrations
from simonides.backends.embedded.checksums import find_damage
from simonides.backends.embedded.connection import Connections
from simonides.backends.embedded.migrations import APPLICATION_ID, MIGRATIONS, Migration, migrate, schema_of
from simonides.errors import DamagedError, NewerSchemaError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.backends.embedded.conftest import Desk

NEWEST = MIGRATIONS[-1].number


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def schema(path: Path) -> tuple[Any, ...]:
    """Version, owner and every object of a database."""
    connection = apsw.Connection(str(path))
    try:
        objects = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
        return connection.pragma("user_version"), connection.pragma("application_id"), objects
    finally:
        connection.close()


def test_migrations_are_numbered_from_1_without_gaps() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert len({migration.name for migration in MIGRATIONS}) == len(MIGRATIONS)


def test_no_step_is_edited() -> None:
    """A bank keeps the text of the step that made it, and ``verify`` compares it with the one of today."""
    made = [hashlib.blake2b(step.sql.encode(), digest_size=8).hexdigest() for step in MIGRATIONS]
    assert made == ["4627b2d64b9ea89e", "2d265c004840fc0a", "8a310695b974fa56", "7351ba9ae05d49b1"]


def test_a_new_database_gets_the_newest_schema_in_wal_mode(path: Path) -> None:
    connections = Connections(path)
    migrate(connections)
    version, owner, objects = schema(path)
    assert (version, owner) == (NEWEST, APPLICATION_ID)
    assert {name for kind, name, _ in objects if kind == "table"} == {
        "accesses",
        "impressions",
        "shown",
        "meta", "embedders", "episodes", "chunks", "labels", "label_sets", "memories", "vectors", "entities",
        "aliases", "merges", "mentions", "relations", "statements", "links", "idempotency", "jobs", "enrichments", "changes", "audit",
        "moves", "evidence", "reembedding",
        "token_codes", "sqlite_sequence", "sparse_encoder", "sparse_terms",
    }  # fmt: skip
    assert {name for kind, name, _ in objects if kind == "view"} == {"current_memories", "history"}
    assert connections.get().pragma("journal_mode") == "wal"
    assert connections.get().pragma("foreign_key_check") is None
    connections.close()


@pytest.mark.parametrize("version", range(1, NEWEST))
def test_an_older_bank_that_may_only_be_read_keeps_its_schema(
    path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:version])
        old = Connections(path)
        migrate(old)
        old.close()
    connections = Connections(path)
    connections.get()
    monkeypatch.setattr(connections, "obstacle", "the folder is read-only")
    monkeypatch.setattr(connections, "look_again", lambda: None)
    before = connections.get().total_changes()
    migrate(connections)
    assert connections.get().pragma("user_version") == version
    assert connections.get().total_changes() == before
    assert [*find_damage(connections.get())].count("") > 0
    select = "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2"
    assert connections.get().execute(select).fetchall() == schema_of(version, select)
    connections.close()


def test_migrating_again_writes_nothing(path: Path) -> None:
    first = Connections(path)
    migrate(first)
    first.close()
    before = sha256(path)
    second = Connections(path)
    migrate(second)
    assert second.get().total_changes() == 0
    second.close()
    assert sha256(path) == before


@pytest.mark.fault("W5")
def test_a_newer_schema_is_refused_and_left_untouched(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    bank.close()
    desk.sql(f"PRAGMA user_version = {NEWEST + 1}")
    folder = desk.place / "bank"
    before = {path.name: sha256(path) for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(
        NewerSchemaError, match=rf"has schema {NEWEST + 1}, .* knows {NEWEST}; upgrade simonides"
    ):
        desk.open()
    after = {path.name: sha256(path) for path in folder.rglob("*") if path.is_file()}
    assert after["memory.db"] == before["memory.db"]
    assert set(before) <= set(after)


@pytest.mark.parametrize("owner", [0, 7])
@pytest.mark.parametrize("version", [0, 1, 5])
def test_a_database_of_another_program_is_refused_and_left_untouched(
    path: Path, owner: int, version: int
) -> None:
    other = apsw.Connection(str(path))
    other.execute(f"CREATE TABLE recipes(text); PRAGMA application_id={owner}; PRAGMA user_version={version}")
    other.close()
    before = sha256(path)
    connections = Connections(path)
    with pytest.raises(DamagedError, match="a database of another program; choose another folder"):
        migrate(connections)
    connections.close()
    assert sha256(path) == before


def test_a_mark_without_a_schema_is_refused(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute(f"PRAGMA application_id={APPLICATION_ID}; CREATE TABLE meta(one)")
    other.close()
    with pytest.raises(DamagedError):
        migrate(Connections(path))


def test_an_empty_file_becomes_a_bank(path: Path) -> None:
    path.touch()
    connections = Connections(path)
    migrate(connections)
    connections.close()
    assert schema(path)[0] == NEWEST


@pytest.fixture
def two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second migration that succeeds."""
    step = Migration(NEWEST + 1, "notes", "CREATE TABLE notes(text); INSERT INTO notes VALUES ('a')")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, step))


def test_an_older_bank_is_brought_up_to_date_with_its_rows(
    desk: Desk, request: pytest.FixtureRequest
) -> None:
    bank = desk.open()
    (memory,) = desk.retain(bank, "fuse")
    bank.close()
    request.getfixturevalue("two_steps")
    again = desk.open()
    assert desk.search(again, "fuse").ids == {memory}
    assert desk.sql("SELECT text FROM notes") == [("a",)]
    assert schema(desk.place / "bank" / "memory.db")[0] == NEWEST + 1


def bad_steps() -> list[Migration]:
    return [
        Migration(NEWEST + 1, "error", "CREATE TABLE notes(text); INSERT INTO nowhere VALUES ('a')"),
        Migration(
            NEWEST + 1, "constraint", "CREATE TABLE notes(text UNIQUE); INSERT INTO notes VALUES (1), (1)"
        ),
    ]


@pytest.mark.fault("W5")
@pytest.mark.parametrize("step", bad_steps(), ids=lambda step: step.name)
def test_a_step_that_fails_leaves_the_schema_before_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: Migration
) -> None:
    old = Connections(path)
    migrate(old)
    old.close()
    before = schema(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, step))
    broken = Connections(path)
    with pytest.raises((apsw.Error, DamagedError)):
        migrate(broken)
    broken.close()
    assert schema(path) == before


def broken_off(path: Path, stop_at: int) -> tuple[tuple[Any, ...], int]:
    """The schema after a migration of which no statement from the *stop_at*-th on runs, and how many came."""

    class BrokenOff(BaseException):
        pass

    connections = Connections(path)
    calls = 0

    def trace(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
        nonlocal calls
        calls += 1
        # No later statement runs, not even the one that rolls back. Real kills: tests/reliability.
        if calls >= stop_at:
            raise BrokenOff
        return True

    connections.get().exec_trace = trace
    with contextlib.suppress(BrokenOff):
        migrate(connections)
    connections.get().exec_trace = None
    found = schema(path)
    connections.close()
    return found, calls


@pytest.mark.fault("W5")
@pytest.mark.parametrize("stop_at", range(1, 40, 3))
def test_a_migration_broken_off_anywhere_leaves_the_old_or_the_new_schema(
    path: Path, two_steps: None, stop_at: int
) -> None:
    (version, owner, objects), _ = broken_off(path, stop_at)
    assert (version, owner) in {(0, 0), (NEWEST, APPLICATION_ID), (NEWEST + 1, APPLICATION_ID)}
    tables = {name for kind, name, _ in objects if kind == "table"}
    assert ("meta" in tables, "changes" in tables, "notes" in tables) == {
        0: (False, False, False),
        NEWEST: (True, True, False),
        NEWEST + 1: (True, True, True),
    }[version]
    again = Connections(path)
    migrate(again)
    again.close()
    assert schema(path)[0] == NEWEST + 1


@pytest.mark.fault("W5")
@pytest.mark.parametrize("version", range(1, NEWEST))
def test_a_bank_of_an_older_schema_is_at_one_step_or_the_next_wherever_it_is_broken_off(
    path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:version])
        old = Connections(path)
        migrate(old)
        old.close()
    before, found, left = path.read_bytes(), set(), 1
    while left:
        path.write_bytes(before)
        (now, _, objects), statements = broken_off(path, left)
        assert objects == schema_of(now, "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")
        found.add(now)
        left = left + 1 if statements >= left else 0
    assert found == set(range(version, NEWEST + 1))


def run_together(*tasks: Callable[[], object]) -> list[BaseException]:
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(tasks))

    def run(task: Callable[[], object]) -> None:
        barrier.wait(10)
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is shown
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return errors


@pytest.mark.fault("W2")
def test_many_may_create_one_bank_at_once(desk: Desk) -> None:
    for number in range(6):
        name = f"bank{number}"
        errors = run_together(*(lambda name=name, n=n: desk.open(name, identity=f"b{n}") for n in range(4)))
        assert errors == []
        assert len(desk.sql("SELECT bank FROM meta", name=name)) == 1
        desk.opened.pop().close()


@pytest.mark.fault("W2")
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_bank_that_another_process_makes_meanwhile_is_no_other_programs(
    path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    connections = Connections(path)
    looks = 0

    def trace(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
        # The other process creates the bank between this one's looks at the file.
        nonlocal looks
        looks += 1
        if looks == after:
            other = Connections(path)
            migrate(other)
            other.close()
        return True

    connections.get().exec_trace = trace
    migrate(connections)
    connections.get().exec_trace = None
    assert connections.get().pragma("user_version") == NEWEST
    connections.close()


class Rival:
    """Another process that holds the new file whenever it is to be switched to WAL, and lets go afterwards."""

    def __init__(self, path: Path, times: int) -> None:
        self.connection = apsw.Connection(str(path))
        self.connection.execute("BEGIN IMMEDIATE; CREATE TABLE t(a); DROP TABLE t; COMMIT")
        self.times = times

    def trace(self, cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
        if "journal_mode" in statement and self.times:
            self.times -= 1
            self.connection.execute("BEGIN IMMEDIATE")
        elif statement.startswith("BEGIN") and self.connection.in_transaction:
            self.connection.execute("COMMIT")
        return True


@pytest.mark.fault("W2")
@pytest.mark.parametrize("times", [1, 3])
def test_a_switch_to_wal_waits_for_who_holds_the_file(path: Path, times: int) -> None:
    rival = Rival(path, times)
    connections = Connections(path)
    connections.get().exec_trace = rival.trace
    migrate(connections)
    connections.get().exec_trace = None
    assert rival.times == 0
    assert connections.get().pragma("journal_mode") == "wal"
    rival.connection.close()
    connections.close()


def test_a_switch_to_wal_is_not_tried_for_ever(path: Path) -> None:
    rival = Rival(path, 10_000)
    connections = Connections(path)
    connections.get().exec_trace = rival.trace
    with pytest.raises(UnavailableError, match="other processes keep it locked; try again"):
        migrate(connections)
    connections.get().exec_trace = None
    rival.connection.close()
    connections.close()
