from __future__ import annotations

import gc
import os
import threading
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.reliability.interrupting import Interrupter

from simonides.backends.embedded.connection import (
    Connections,
    check_sqlite_version,
    read_transaction,
    translated,
    write_transaction,
)
from simonides.errors import (
    DamagedError,
    ForkedError,
    SqliteVersionError,
    StoreError,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.backends.embedded.conftest import Desk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def connections(path: Path) -> Iterator[Connections]:
    """A database in WAL mode with one table."""
    made = Connections(path)
    made.get().pragma("journal_mode", "WAL")
    made.get().execute("CREATE TABLE notes(text TEXT)")
    yield made
    made.close()


def notes(path: Path) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY rowid")]
    finally:
        connection.close()


@pytest.mark.fault("W3")
@pytest.mark.parametrize("version", ["3.7.0", "3.40.1", "3.51.1", "3.51.2", "3.51.2.9", "2.9.9"])
def test_a_sqlite_with_the_wal_fault_is_refused(version: str) -> None:
    with pytest.raises(
        SqliteVersionError, match=rf"SQLite {version} .*3\.51\.3 or newer.*pip install --upgrade apsw"
    ):
        check_sqlite_version(version)


@pytest.mark.parametrize(
    "version", ["3.51.3", "3.51.10", "3.52.0", "3.53.4", "4.0.0", apsw.sqlite_lib_version()]
)
def test_a_sqlite_without_it_is_taken(version: str) -> None:
    check_sqlite_version(version)


@pytest.mark.fault("W3")
def test_the_version_is_checked_before_a_file_is_touched(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(SqliteVersionError):
        Connections(path)
    assert not path.exists()


@pytest.mark.durable
def test_every_connection_has_the_same_settings(connections: Connections) -> None:
    found = []

    def look() -> None:
        connection = connections.get()
        found.append(
            [
                connection.pragma(name)
                for name in ("synchronous", "foreign_keys", "secure_delete", "trusted_schema", "journal_mode")
            ]
        )
        found[-1].append(connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, -1))

    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [[2, 1, 1, 0, "wal", 1]] * 2


@pytest.mark.parametrize(
    ("megabytes", "kept"), [(0, 8), (100, 8), (1_024, 16), (3_000, 32)], ids=["new", "small", "large", "huge"]
)
def test_pages_are_kept_by_the_size_of_the_file(path: Path, megabytes: int, kept: int) -> None:
    Connections(path).get().execute("CREATE TABLE notes(text TEXT)")
    # A file with a hole: what follows the pages that the header counts is left alone.
    with path.open("r+b") as file:
        file.truncate(max(file.seek(0, os.SEEK_END), megabytes << 20))
    connections = Connections(path)
    assert connections.get().pragma("cache_size") == -kept * 1_024
    connections.close()


def test_a_thread_has_one_connection_and_no_other_threads(connections: Connections) -> None:
    found: list[apsw.Connection] = []
    thread = threading.Thread(target=lambda: found.extend([connections.get(), connections.get()]))
    thread.start()
    thread.join()
    assert found[0] is found[1]
    assert connections.get() is connections.get()
    assert connections.get() is not found[0]


def test_the_connection_of_a_thread_that_ended_is_let_go(connections: Connections) -> None:
    thread = threading.Thread(target=connections.get)
    thread.start()
    thread.join()
    gc.collect()
    assert len(connections._all) == 1


@pytest.mark.fault("N82")
def test_a_connection_that_cannot_be_set_up_is_closed_though_its_error_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise apsw.IOError("the disk is gone")

    monkeypatch.setattr("simonides.backends.embedded.connection._keep_pages", fail)
    with pytest.raises((UnavailableError, DamagedError, StoreError)) as kept:
        Connections(path).get()
    assert kept.value.__traceback__ is not None
    assert not [each for each in apsw.connections() if each.filename == str(path)]


def test_a_closed_bank_says_so(connections: Connections, path: Path) -> None:
    held = connections.get()
    connections.close()
    connections.close()
    with pytest.raises(StoreError, match=r"memory\.db: the bank is closed; open the store again"):
        connections.get()
    with pytest.raises(apsw.ConnectionClosedError):
        held.execute("SELECT 1")
    assert not path.with_name("memory.db-wal").exists(), "the last one to close leaves one file"


def test_closing_closes_the_connections_of_other_threads_too(connections: Connections) -> None:
    held: list[apsw.Connection] = []
    done = threading.Event()

    def keep() -> None:
        held.append(connections.get())
        done.wait(10)

    thread = threading.Thread(target=keep)
    thread.start()
    while not held:
        pass
    connections.close()
    done.set()
    thread.join()
    with pytest.raises(apsw.ConnectionClosedError):
        held[0].execute("SELECT 1")


def test_a_child_process_is_refused(connections: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: mine + 1)
    with pytest.raises(ForkedError, match="open the store again in the child"):
        connections.get()
    connections.close()
    monkeypatch.undo()
    assert connections.get().execute("SELECT count(*) FROM notes").get == 0, "the parent's stays open"


def test_a_write_is_whole(connections: Connections, path: Path) -> None:
    with write_transaction(connections) as connection:
        connection.execute("INSERT INTO notes VALUES ('a')")
        connection.execute("INSERT INTO notes VALUES ('b')")
        assert notes(path) == [], "nobody sees it before the commit"
    assert notes(path) == ["a", "b"]


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, apsw.FullError])
def test_any_error_takes_the_whole_write_back(
    connections: Connections, path: Path, kind: type[BaseException]
) -> None:
    def write() -> None:
        with write_transaction(connections) as connection:
            connection.execute("INSERT INTO notes VALUES ('a')")
            raise kind

    with pytest.raises((kind, UnavailableError)):
        write()
    assert notes(path) == []
    with write_transaction(connections) as connection:
        connection.execute("INSERT INTO notes VALUES ('next')")
    assert notes(path) == ["next"]


def test_an_error_that_ended_the_transaction_itself_is_no_second_error(connections: Connections) -> None:
    def write() -> None:
        with write_transaction(connections) as connection:
            connection.execute("ROLLBACK")
            raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        write()


@pytest.mark.fault("W2")
def test_a_writer_that_holds_the_lock_too_long_is_named(
    connections: Connections, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simonides.backends.embedded.connection._BUSY_MILLISECONDS", 20)
    other = Connections(path)
    with (
        write_transaction(connections),
        pytest.raises(UnavailableError, match=r"another process held the bank .*; retry") as caught,
        write_transaction(other),
    ):
        raise AssertionError("two writers at once")
    assert isinstance(caught.value.__cause__, apsw.BusyError)
    with write_transaction(other) as connection:
        connection.execute("INSERT INTO notes VALUES ('b')")
    other.close()
    assert notes(path) == ["b"]


@pytest.mark.fault("W2")
def test_a_reader_does_not_wait_for_a_writer(connections: Connections, path: Path) -> None:
    other = Connections(path)
    with write_transaction(connections) as connection:
        connection.execute("INSERT INTO notes VALUES ('a')")
        assert other.get().execute("SELECT count(*) FROM notes").get == 0
    assert other.get().execute("SELECT count(*) FROM notes").get == 1
    other.close()


def test_a_full_disk_is_named_and_nothing_is_stored(connections: Connections, path: Path) -> None:
    pages = connections.get().pragma("page_count")
    connections.get().pragma("max_page_count", pages)

    def write() -> None:
        with write_transaction(connections) as connection:
            connection.execute("INSERT INTO notes VALUES ('a')")
            connection.execute("INSERT INTO notes VALUES (?)", ("long " * 10_000,))

    with pytest.raises(
        UnavailableError, match="the disk is full; nothing was stored, free some space"
    ) as caught:
        write()
    assert str(path) in str(caught.value)
    assert notes(path) == []
    connections.get().pragma("max_page_count", 10_000)
    write()
    assert len(notes(path)) == 2


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (apsw.FullError, UnavailableError, "full"),
        (apsw.BusyError, UnavailableError, "retry"),
        (apsw.LockedError, UnavailableError, "retry"),
        (apsw.ReadOnlyError, UnavailableError, "permissions"),
        (apsw.CantOpenError, UnavailableError, "permissions"),
        (apsw.PermissionsError, UnavailableError, "permissions"),
        (apsw.CorruptError, DamagedError, "backup"),
        (apsw.NotADBError, DamagedError, "backup"),
        (apsw.IOError, UnavailableError, "disk failed"),
    ],
)
def test_errors_of_sqlite_become_errors_with_a_remedy(
    path: Path, error: type[apsw.Error], kind: type[StoreError], says: str
) -> None:
    with pytest.raises(kind, match=says) as caught, translated(path):
        raise error("why")
    assert str(path) in str(caught.value)
    assert isinstance(caught.value.__cause__, error)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), UnavailableError("x")])
def test_other_errors_pass(path: Path, error: Exception) -> None:
    with pytest.raises(type(error)) as caught, translated(path):
        raise error
    assert caught.value is error


@pytest.mark.parametrize("body", [b"no database at all, " * 300, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_database_is_named(path: Path, body: bytes) -> None:
    path.write_bytes(body)
    with pytest.raises(
        DamagedError, match=r"memory\.db: is damaged or no database.*restore it from a backup"
    ):
        Connections(path).get()
    assert path.read_bytes() == body


def test_a_database_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="deleted meanwhile"):
        Connections(tmp_path / "missing" / "memory.db").get()


@pytest.fixture
def no_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open as if the folder could not be written (a test that runs as root ignores permissions)."""

    def refuse(self: Connections) -> apsw.Connection:
        raise apsw.CantOpenError("unable to open database file")

    monkeypatch.setattr(Connections, "_open_writable", refuse)


def test_a_folder_that_cannot_be_written_is_read(
    connections: Connections, path: Path, no_writing: None
) -> None:
    with write_transaction(connections) as connection:
        connection.execute("INSERT INTO notes VALUES ('a')")
    connections.close()
    before = sorted(path.parent.iterdir())
    reader = Connections(path)
    assert reader.get().execute("SELECT text FROM notes").get == "a"
    assert reader.read_only
    with (
        pytest.raises(UnavailableError, match="the folder is read-only; nothing was stored"),
        write_transaction(reader),
    ):
        raise AssertionError("written")
    with pytest.raises(UnavailableError, match="permissions"), translated(path):
        reader.get().execute("INSERT INTO notes VALUES ('b')")
    reader.close()
    assert sorted(path.parent.iterdir()) == before, "no side files"


def test_a_bank_in_use_by_a_writer_is_not_read_past_its_log(
    connections: Connections, path: Path, no_writing: None
) -> None:
    # Its newest commits are in the WAL, which a read-only look at the file would not see.
    connections.get().execute("INSERT INTO notes VALUES ('a')")
    assert path.with_name("memory.db-wal").stat().st_size
    with pytest.raises(UnavailableError, match="permissions"):
        Connections(path).get()


def test_a_read_only_bank_is_recalled_from_and_not_written(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, small_merges: int
) -> None:
    bank = desk.open()
    desk.retain(bank, *(f"fuse number {n}" for n in range(5)))
    bank.close()
    (desk.place / "bank" / "index" / "1" / "manifest.json").unlink()

    def refuse(self: Connections) -> apsw.Connection:
        raise apsw.ReadOnlyError("attempt to write a readonly database")

    monkeypatch.setattr(Connections, "_open_writable", refuse)
    files = desk.index_files()
    reader = desk.open()
    assert len(desk.search(reader, "fuse").lexical) == 5
    assert reader.stats()["read_only"] is True
    assert reader.verify().checked["rows"] == 5
    for write in (lambda: desk.retain(reader, "lamp"), lambda: desk.forget(reader, ["x"])):
        with pytest.raises(UnavailableError, match="read-only; nothing was stored"):
            write()
    assert not reader.merge_if_due(force=True)
    assert desk.index_files() == files, "not even the index is written"


def _note(connections: Connections, text: str) -> None:
    with write_transaction(connections) as connection:
        connection.execute("INSERT INTO notes VALUES (?)", (text,))


@pytest.mark.fault("N82")
def test_an_interrupt_anywhere_in_a_transaction_leaves_none_open(
    connections: Connections, path: Path
) -> None:
    interrupter, at = Interrupter(), 1
    while interrupter.run(lambda: _note(connections, "torn"), KeyboardInterrupt, at) is not None:
        assert not connections.get().in_transaction, at
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE; ROLLBACK")
        other.close()
        at += 1
    assert at > 10
    _note(connections, "whole")
    assert notes(path)[-1] == "whole"


@pytest.mark.fault("N82")
def test_a_transaction_that_a_kept_traceback_holds_open_is_ended_by_the_next(
    connections: Connections, path: Path
) -> None:
    interrupter, at, held = Interrupter(), 1, 0
    while True:
        kept = [interrupter.run(lambda: _note(connections, "torn"), KeyboardInterrupt, at)]
        if kept == [None]:
            break
        held += connections.get().in_transaction
        _note(connections, f"whole {at}")
        # What ends with the traceback ends no transaction of another.
        with write_transaction(connections) as connection:
            connection.execute("INSERT INTO notes VALUES ('next')")
            kept.clear()
            assert connection.in_transaction, at
        at += 1
    assert held, "some interrupt left the transaction open as long as its traceback was kept"
    wanted = [text for place in range(1, at) for text in (f"whole {place}", "next")]
    assert [text for text in notes(path) if text != "torn"] == wanted


@pytest.mark.fault("N82")
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_write_that_a_kept_traceback_left_unfinished_stops_no_later_one(
    connections: Connections, error: type[BaseException]
) -> None:
    kept = []
    with write_transaction(connections) as connection:
        connection.execute("CREATE TABLE figs(number INTEGER); INSERT INTO figs VALUES (1), (2)")
    with pytest.raises(error), write_transaction(connections) as connection:  # noqa: PT012 it breaks off in between
        kept.append(connection.execute("DELETE FROM figs RETURNING number"))
        next(kept[0])
        raise error
    with write_transaction(connections) as connection:
        connection.execute("INSERT INTO figs VALUES (3)")
    with read_transaction(connections) as connection:
        assert connection.execute("SELECT number FROM figs ORDER BY 1").get == [1, 2, 3]
