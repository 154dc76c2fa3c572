"""A backup taken during use is the bank at one moment; restoring it is noticed by everyone who has it open."""

from __future__ import annotations

import contextlib
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

import simonides
from simonides.errors import DamagedError, InputError, NewerSchemaError
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reliability.conftest import Record, Stored

    from simonides.bank import Bank
    from simonides.errors import StoreError
    from simonides.store import Store


def test_what_was_backed_up_comes_back_and_verifies(store: Store, bank: Bank, tmp_path: Path) -> None:
    ids = bank.retain(["The lamp is green.", "The fuse is red."])
    saved = bank.backup(tmp_path / "copy.db")
    assert saved.memories == 2
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["copy.db"]
    before = bank.recall("which lamp is green")
    bank.forget(ids)
    bank.retain("Something else.")
    assert bank.restore(tmp_path / "copy.db").sequence == saved.sequence
    assert bank.verify().problems == ()
    after = bank.recall("which lamp is green")
    assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
    other = store.bank("new")
    assert other.restore(tmp_path / "copy.db").memories == 2
    assert {hit.id for hit in other.recall("lamp fuse")} == set(ids)
    assert bank.retain("After the restore.")
    assert bank.verify().ok


def test_another_process_notices_a_restore(store: Store, bank: Bank, tmp_path: Path) -> None:
    bank.retain("The lamp is green.")
    bank.backup(tmp_path / "copy.db")
    [late] = bank.retain("The lamp is blue.")
    with contextlib.closing(simonides.open(store.folder, embedder=StubEmbedder(32), environ={})) as second:
        reader = second.bank(bank.name)
        assert late in {hit.id for hit in reader.recall("lamp")}
        bank.restore(tmp_path / "copy.db")
        # As many changes again, so that counters alone would not tell.
        bank.retain("The lamp is grey.")
        assert reader.recall("lamp grey").hits[0].text == "The lamp is grey."
        assert late not in {hit.id for hit in reader.recall("lamp")}
        assert reader.verify().ok


def test_the_backup_of_a_bank_with_an_index_comes_back(store: Store, bank: Bank, tmp_path: Path) -> None:
    """The index is not part of a backup, so the rows name a generation that is not there."""
    bank.retain(["The lamp is green.", "The fuse is blue."])
    assert bank._rows.merge_if_due(force=True)
    before = [(hit.id, hit.score) for hit in bank.recall("lamp")]
    bank.backup(tmp_path / "copy.db")
    for each in (bank, store.bank("new")):
        assert each.restore(tmp_path / "copy.db").memories == 2
        assert each.verify().problems == ()
        assert [(hit.id, hit.score) for hit in each.recall("lamp")] == before


def test_a_backup_during_writes_is_a_prefix_of_what_was_acknowledged(
    store: Store, bank: Bank, stored: Stored, tmp_path: Path, record: Record
) -> None:
    _back_up_during_writes(store, bank, stored, tmp_path, 5, record)


@pytest.mark.soak
def test_50_backups_during_writes_and_merges_are_prefixes(
    store: Store, bank: Bank, stored: Stored, tmp_path: Path, record: Record
) -> None:
    _back_up_during_writes(store, bank, stored, tmp_path, 50, record)


def _back_up_during_writes(
    store: Store, bank: Bank, stored: Stored, tmp_path: Path, backups: int, record: Record
) -> None:
    acknowledged: list[str] = []
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            acknowledged.extend(bank.retain(f"Memory number {len(acknowledged)}."))
            if len(acknowledged) % 7 == 0:
                bank._rows.merge_if_due(force=True)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(backups):
            while len(acknowledged) < 3 * number + 1:
                stop.wait(0.001)
            bank.backup(tmp_path / f"{number}.db")
    finally:
        stop.set()
        writer.join()
    for number in range(backups):
        copy = store.bank(f"copy{number}")
        count = copy.restore(tmp_path / f"{number}.db").memories
        assert copy.verify().ok
        held = set(stored(copy))
        assert held == set(acknowledged[:count])
        found = {hit.id for hit in copy.recall("memory number", limit=100, profile="lexical")}
        assert found <= held
        assert len(found) == min(100, count)
        assert count > 3 * number
    record("P15", {"backups": backups, "memories": len(acknowledged), "no_prefix": 0, "unsound": 0})


def test_a_damaged_or_missing_backup_changes_nothing(bank: Bank, tmp_path: Path) -> None:
    [memory] = bank.retain("The lamp is green and was bought in Lund.")
    path = tmp_path / "copy.db"
    bank.backup(path)
    with pytest.raises(InputError, match="already"):
        bank.backup(path)
    body = bytearray(path.read_bytes())
    body[body.rindex(b"lamp is green")] ^= 1
    path.write_bytes(body)
    with pytest.raises(DamagedError, match="nothing was restored"):
        bank.restore(path)
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(DamagedError):
        bank.restore(path)
    with pytest.raises(InputError, match="no file"):
        bank.restore(tmp_path / "nothing.db")
    assert bank.get_memory(memory).text.startswith("The lamp")
    assert bank.verify().ok
    assert not list(bank._rows.folder.glob(".restoring-*"))


def _without_tables(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("VACUUM")
    connection.pragma("user_version", 1)
    connection.close()


def _without_meta(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM meta")
    connection.close()


def _of_another_program(path: Path) -> None:
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE meta(one)")
    connection.execute("INSERT INTO meta VALUES (1)")
    connection.close()


def _newer(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 99)
    connection.close()


def _text(path: Path) -> None:
    path.write_text("A list of what to buy: lamps.\n" * 50)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5_000])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _bare(path: Path) -> None:
    path.unlink()
    _without_tables(path)


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (_emptied, DamagedError),
        (_bare, DamagedError),
        (_without_meta, DamagedError),
        (_of_another_program, DamagedError),
        (_text, DamagedError),
        (_cut, DamagedError),
        (_newer, NewerSchemaError),
    ],
)
def test_what_is_no_backup_of_a_bank_is_refused_by_its_name(
    bank: Bank, tmp_path: Path, spoil: Callable[[Path], None], error: type[StoreError]
) -> None:
    [memory] = bank.retain("The lamp is green and was bought in Lund.")
    bank.start_audit()
    path = tmp_path / "copy.db"
    bank.backup(path)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(error, match=f"^{re.escape(str(path))}: .*nothing was restored") as refused:
        bank.restore(path)
    assert ".restoring-" not in str(refused.value)
    assert path.read_bytes() == before
    assert bank.get_memory(memory).text.startswith("The lamp")
    assert bank.verify().ok
    assert not bank.audit_verify().problems


@pytest.mark.parametrize("spoil", [_emptied, _bare, Path.unlink])
@pytest.mark.parametrize("left", ["index", "audit.key", "recall-audit.db"])
def test_a_bank_that_lost_its_rows_is_no_new_bank(
    tmp_path: Path, spoil: Callable[[Path], None], left: str
) -> None:
    folder = tmp_path / "s"
    with simonides.open(folder, embedder=StubEmbedder(8)) as store:
        bank = store.bank()
        bank.retain("The lamp is green and was bought in Lund.")
        bank.backup(tmp_path / "copy.db")
        if left == "index":
            bank.repair()
        else:
            bank.start_audit()
            bank.audit_recalls(on=left == "recall-audit.db")
    home = folder / "bank-default"
    database = home / "memory.db"
    spoil(database)
    names = sorted(home.rglob("*"))
    with simonides.open(folder, embedder=StubEmbedder(8)) as store:
        with pytest.raises(DamagedError, match=r"memory\.db: is missing or empty, while .* restore the bank"):
            store.bank()
        assert sorted(home.rglob("*")) == names
        home.rename(tmp_path / "away")
        assert store.bank().restore(tmp_path / "copy.db").memories == 1
        assert store.bank().verify().ok


def test_a_bank_whose_making_was_broken_off_is_made(tmp_path: Path) -> None:
    home = tmp_path / "s" / "bank-default"
    home.mkdir(parents=True)
    (home / "memory.db").touch()
    with simonides.open(tmp_path / "s", embedder=StubEmbedder(8)) as store:
        store.bank().retain("The lamp is green.")
        assert store.bank().verify().ok
