from __future__ import annotations

import stat
import threading
from itertools import combinations
from typing import TYPE_CHECKING

import apsw
import pytest

from simonides.backends.embedded.bank import EmbeddedBank
from simonides.backends.embedded.encryption import engine
from simonides.errors import DamagedError, SqliteVersionError, StoreError, UnavailableError
from simonides.index.files import FileLayer
from simonides.retain.neighbours import SEMANTIC_FROM
from simonides.testing.fakes import WordAnalyser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.unit.backends.embedded.conftest import Desk


def in_thread(task: Callable[[], object]) -> None:
    """Run *task* in another thread and wait; its error is raised here."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_a_bank_is_made_with_its_folders_for_its_owner_only(desk: Desk, small_merges: int) -> None:
    bank = desk.open("a/b/bank")
    folder = desk.place / "a" / "b" / "bank"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    desk.retain(bank, *"abcd")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()}
    names = ("memory.db", "memory.db-wal", "memory.db-shm", "copies.lock")
    assert modes == dict.fromkeys(names, 0o600)


def test_a_missing_bank_is_not_made_unless_asked_for(desk: Desk) -> None:
    with pytest.raises(UnavailableError, match="holds no bank; retain something first"):
        desk.open(create=False)
    assert not (desk.place / "bank").exists()
    desk.open().close()
    desk.open(create=False)


@pytest.mark.parametrize("way", ["a file in the way", "a file above", "a folder for the database"])
def test_a_place_that_cannot_hold_a_bank_is_named(desk: Desk, way: str) -> None:
    bank = desk.place / "bank"
    if way == "a file in the way":
        bank.touch()
    elif way == "a file above":
        bank.touch()
        bank /= "deeper"
    else:
        (bank / "memory.db").mkdir(parents=True)
    with pytest.raises(
        UnavailableError,
        match=r"cannot be made .*; (something is in its way|a part of its path)|is no file; remove it",
    ) as caught:
        desk.open(str(bank.relative_to(desk.place)))
    assert str(bank) in str(caught.value)


def test_an_old_sqlite_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(SqliteVersionError):
        desk.open()


def test_what_was_written_is_there_when_the_bank_is_opened_again(desk: Desk) -> None:
    bank = desk.open()
    ids = desk.retain(bank, "fuse", "lamp")
    before = desk.search(bank, "fuse")
    bank.close()
    again = desk.open(identity="another")
    assert {memory.id for memory in desk.all(again)} == set(ids)
    assert repr(desk.search(again, "fuse")) == repr(before)
    with again.reading() as reading:
        assert reading.meta.bank == "b1", "an identity is kept"


def test_two_new_banks_have_their_own_identity(tmp_path: Path) -> None:
    banks = [EmbeddedBank(tmp_path / name, WordAnalyser()) for name in ("one", "two")]
    identities = set()
    for bank in banks:
        with bank.reading() as reading:
            identities |= {reading.meta.bank, reading.meta.epoch}
        bank.close()
    assert len(identities) == 4


def test_a_reading_sees_one_moment_from_beginning_to_end(desk: Desk) -> None:
    bank = desk.open()
    (first,) = desk.retain(bank, "fuse")
    with bank.reading() as reading:
        in_thread(lambda: desk.retain(bank, "fuse again", {"text": "lamp", "path": "new"}))
        in_thread(lambda: desk.forget(bank, [first]))
        in_thread(lambda: bank.merge_if_due(force=True))
        assert (reading.snapshot.rows, reading.meta.sequence) == (1, 1)
        assert [memory.id for memory in reading.memories([0])] == [first], "the forgotten row is still there"
        assert reading.versions(first)
        rows = reading.connection.execute("SELECT count(*) FROM memories").get
        assert rows == 1
    with bank.reading() as reading:
        assert (reading.snapshot.rows, reading.meta.sequence) == (3, 4)
        assert reading.versions(first) == []


def test_a_reading_of_another_process_is_not_disturbed_by_a_merge(desk: Desk, small_merges: int) -> None:
    one, other = desk.open(), desk.open()
    desk.retain(one, *(f"fuse {n}" for n in range(5)))
    with other.reading() as reading:
        before = reading.snapshot.column("ingested_at").tolist()
        for turn in range(4):
            desk.retain(one, *(f"lamp {turn} {n}" for n in range(4)))
        assert reading.snapshot.column("ingested_at").tolist() == before
        assert len(reading.memories(range(5))) == 5
        found, _ = reading.snapshot.postings.bm25(
            [("fuse", 1)],
            reading.snapshot.column("kind") >= 0,
            reading.snapshot.column("kind") >= 0,
            field_weights={"text": 1.0},
            k1=1.2,
            b=0.75,
        )
        assert found.tolist() == [0, 1, 2, 3, 4], "also when its files have been deleted meanwhile"


def test_readings_in_several_threads_stand_side_by_side(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "a")
    with bank.reading() as one:

        def later() -> None:
            desk.retain(bank, "b")
            with bank.reading() as two:
                assert (one.snapshot.rows, two.snapshot.rows) == (1, 2)

        in_thread(later)
        assert one.snapshot.rows == 1


def test_readers_and_writers_at_once_see_whole_batches_only(desk: Desk, small_merges: int) -> None:
    bank = desk.open()
    stop = threading.Event()
    errors: list[BaseException] = []

    def read() -> None:
        last = 0
        try:
            while not stop.is_set():
                with bank.reading() as reading:
                    count = reading.connection.execute("SELECT count(*) FROM memories").get
                    assert reading.snapshot.rows == count
                    assert count % 3 == 0, "a batch is there in whole or not at all"
                    assert count >= last
                    assert len(reading.memories(range(count))) == count
                    last = count
        except BaseException as error:  # noqa: BLE001 - shown below
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for turn in range(15):
        desk.retain(bank, *(f"fuse {turn} {n}" for n in range(3)))
    stop.set()
    for thread in readers:
        thread.join(30)
    assert errors == []
    assert len(desk.all(bank)) == 45


def test_an_error_inside_a_reading_ends_it_and_passes(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    for kind in (ValueError, KeyboardInterrupt):
        with pytest.raises(kind), bank.reading():
            raise kind
    assert len(desk.all(bank)) == 1
    desk.retain(bank, "lamp")


def test_a_failed_beginning_leaves_no_transaction_open(desk: Desk) -> None:
    class Broken(FileLayer):
        broken = True

        def read(self, path: Path) -> bytes:
            if self.broken:
                raise RuntimeError("a fault in the file layer")
            return super().read(path)

    one = desk.open()
    desk.retain(one, "fuse")
    one.merge_if_due(force=True)
    files = Broken()
    bank = desk.open(files=files)
    with pytest.raises(RuntimeError, match="a fault"):
        desk.search(bank, "fuse")
    files.broken = False
    assert len(desk.search(bank, "fuse").lexical) == 1
    desk.retain(bank, "lamp")


def test_a_closed_bank_says_so(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    bank.close()
    bank.close()
    for use in (
        lambda: desk.search(bank, "fuse"),
        lambda: desk.retain(bank, "lamp"),
        lambda: desk.forget(bank, ["x"]),
        bank.stats,
        bank.verify,
    ):
        with pytest.raises(StoreError, match="the bank is closed; open the store again"):
            use()
    assert not bank.merge_if_due(force=True)


def test_a_full_disk_stores_nothing_and_recall_goes_on(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, "fuse")
    before = desk.dump()
    connection = bank._connections.get()
    connection.pragma("max_page_count", connection.pragma("page_count"))
    with pytest.raises(UnavailableError, match="disk is full"):
        desk.retain(bank, *(f"long lamp {n} " * 2_000 for n in range(3)))
    assert desk.dump() == before
    assert len(desk.search(bank, "fuse").lexical) == 1
    assert bank.verify().ok
    connection.pragma("max_page_count", 1_000_000)
    assert len(desk.retain(bank, *(f"long lamp {n} " * 2_000 for n in range(3)))) == 3
    assert bank.verify().ok


def test_damage_to_the_database_is_named_and_never_a_stack_of_sqlite(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, *(f"fuse {n} " * 300 for n in range(20)))
    bank.close()
    path = desk.place / "bank" / "memory.db"
    whole = path.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    said: list[str] = []
    for page in range(1, len(whole) // size):
        harmed = bytearray(whole)
        harmed[page * size : page * size + 200] = b"\xa5" * 200
        path.write_bytes(harmed)
        for side in ("memory.db-wal", "memory.db-shm"):
            path.with_name(side).unlink(missing_ok=True)
        try:
            again = desk.open()
            said += again.verify().problems[:1]
            desk.search(again, "fuse")
        except DamagedError as error:
            said.append(str(error))
        for opened in desk.opened:
            opened.close()
    assert len(said) >= (len(whole) // size - 1) * 0.9
    assert all("memory" in problem for problem in said)


def test_statistics_count_what_there_is(desk: Desk, small_merges: int) -> None:
    bank = desk.open()
    empty = bank.stats()
    assert (empty["memories"], empty["versions"], empty["with_vector"], empty["embedder"]) == (0, 0, 0, "")
    assert desk.embedder is not None
    texts = [f"fuse {n}" for n in range(5)]
    vectors = desk.embedder.encode(texts)
    ids = desk.retain(bank, *texts)
    desk.embedder = None
    desk.retain(bank, "no vector")
    desk.forget(bank, ids[:1])
    desk.sql("UPDATE memories SET id = ?, version = 2 WHERE ordinal = 2", ids[1])
    near = sum(float(one @ other) >= SEMANTIC_FROM for one, other in combinations(vectors[1:], 2))
    assert near > 0
    found = dict(bank.stats())
    folder = desk.place / "bank"
    assert found.pop("disk_bytes") == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert found == {
        "memories": 4,
        "versions": 5,
        "episodes": 5,
        "with_vector": 4,
        "entities": 0,
        "links": near,
        "waiting": 0,
        "with_ttl": 0,
        "ttl_defaults": {"bank": None, "kinds": {}},
        "enrichment": {"waiting": 0, "given_up": 0, "problems": []},
        "embedder": "stub",
        "following_embedder": "",
        "sparse_encoder": "",
        "dimension": 32,
        "sequence": 7,
        "generation": 2,
        "blocks": 2,
        "tail_rows": 0,
        "read_only": False,
        "encrypted": False,
        "sqlite": engine(),
        "problems": [],
    }


def test_a_merge_that_is_under_way_is_not_begun_twice(desk: Desk) -> None:
    inside: list[bool] = []

    class Nested(FileLayer):
        def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
            if not inside:
                in_thread(lambda: inside.append(bank.merge_if_due(force=True)))
            super().write(path, pieces)

    bank = desk.open(files=Nested())
    desk.retain(bank, "fuse")
    assert bank.merge_if_due(force=True)
    assert inside == [False]
    assert bank.problems() == []


def test_a_write_during_a_merge_is_not_in_it_and_not_lost(desk: Desk) -> None:
    added: list[str] = []

    class Meanwhile(FileLayer):
        def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
            if not added:
                in_thread(lambda: added.extend(desk.retain(bank, "lamp")))
            super().write(path, pieces)

    bank = desk.open(files=Meanwhile())
    first = desk.retain(bank, "fuse")
    assert bank.merge_if_due(force=True)
    assert {memory.id for memory in desk.all(bank)} == set(first + added)
    assert len(desk.search(bank, "lamp").lexical) == 1
    assert bank.stats()["tail_rows"] == 1
    assert bank.verify().ok


def test_verifying_tells_what_the_bank_already_knows(desk: Desk, small_merges: int) -> None:
    class Full(FileLayer):
        def make_folder(self, folder: Path) -> None:
            raise OSError(28, "No space left on device")

    bank = desk.open(files=Full())
    desk.retain(bank, *"abcd")
    report = bank.verify()
    assert not report.ok
    assert report.problems == tuple(bank.problems())
