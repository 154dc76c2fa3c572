from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from tests.unit.backends.embedded.conftest import log_change

from simonides.backends.embedded.change_log import (
    ADD,
    ERASE,
    EXPIRE,
    create_meta,
    hash_at,
    read_meta,
    write_counters,
)
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    import apsw
    from tests.unit.backends.embedded.conftest import Desk


@pytest.fixture
def connection(desk: Desk) -> apsw.Connection:
    return desk.open()._connections.get()


def test_a_new_bank_has_an_identity_and_empty_counters(connection: apsw.Connection) -> None:
    meta = read_meta(connection)
    assert (meta.bank, meta.epoch, meta.analyser) == ("b1", "b1", "words")
    assert (meta.sequence, meta.generation, meta.next_ordinal, meta.embedder) == (0, 0, 0, None)
    assert meta.last_ingested == BEGINNING
    assert meta.log_hash == bytes(16)


def test_an_identity_is_given_once(connection: apsw.Connection) -> None:
    before = read_meta(connection)
    create_meta(connection, "other", "other", "other")
    assert read_meta(connection) == before


def test_a_bank_without_its_row_of_counters_is_an_error(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM meta")
    with pytest.raises(LookupError):
        read_meta(connection)


def test_changes_are_numbered_and_chained(connection: apsw.Connection) -> None:
    meta = read_meta(connection)
    hashes = [meta.log_hash]
    for operation, ordinal, stamp in ((ADD, 0, 5), (EXPIRE, 0, 9), (ERASE, 0, 0)):
        meta = log_change(connection, meta, operation, ordinal, stamp)
        hashes.append(meta.log_hash)
    assert meta.sequence == 3
    rows = connection.execute("SELECT sequence, operation, ordinal, stamp FROM changes ORDER BY 1").fetchall()
    assert rows == [(1, "add", 0, 5), (2, "expire", 0, 9), (3, "erase", 0, 0)]
    expected = bytes(16)
    for number, row in enumerate(rows):
        expected = hashlib.blake2b(expected + " ".join(map(str, row)).encode(), digest_size=16).digest()
        assert hash_at(connection, number + 1) == expected == hashes[number + 1]


def test_the_hash_before_the_first_change_is_zero_and_of_no_change_empty(connection: apsw.Connection) -> None:
    assert hash_at(connection, 0) == bytes(16)
    assert hash_at(connection, 1) == b""


def test_a_log_that_forked_has_another_hash(desk: Desk) -> None:
    hashes = set()
    for name, stamp in (("one", 5), ("two", 6)):
        connection = desk.open(name)._connections.get()
        meta = log_change(connection, read_meta(connection), ADD, 0, stamp)
        hashes.add(log_change(connection, meta, ERASE, 0, 0).log_hash)
    assert len(hashes) == 2


def test_counters_are_stored_and_the_generation_is_left_to_the_merge(connection: apsw.Connection) -> None:
    before = read_meta(connection)
    moved = log_change(connection, before, ADD, 0, 5)
    assert read_meta(connection) == before, "not before they are written"
    connection.execute("UPDATE meta SET generation = 7")
    write_counters(connection, moved)
    after = read_meta(connection)
    assert (after.sequence, after.log_hash, after.generation) == (1, moved.log_hash, 7)


def test_the_log_holds_no_text(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, {"text": "canary", "tags": ["canary"], "path": "canary"})
    desk.forget(bank, [desk.all(bank)[0].id])
    assert [row[1] for row in desk.sql("SELECT * FROM changes ORDER BY 1")] == ["add", "erase"]
    assert "canary" not in repr(desk.sql("SELECT * FROM changes"))


def test_an_unknown_operation_cannot_be_logged(connection: apsw.Connection) -> None:
    with pytest.raises(Exception, match="CHECK constraint"):
        log_change(connection, read_meta(connection), "edit", 0, 0)
