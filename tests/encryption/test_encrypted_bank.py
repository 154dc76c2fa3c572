"""Banks with a key: no plain byte on the disk, the same answers, and clear words when the key does not fit.

They need the package that encrypts in place of the plain one: ``make encryption``.
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import shutil
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.embedded_rows import connection_of, embedded
from tests.reliability.test_purge import CANARY, OTHERS, fill, traces

import simonides
from simonides.backends.embedded import encryption
from simonides.backends.embedded.encryption import Key, encrypts
from simonides.errors import DamagedError, EncryptionError, NotFoundError, StoreError, UnavailableError
from simonides.records.receipt import COMPLETE
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.serving.tokens import TokenStore
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank
    from simonides.store import Store

pytestmark = pytest.mark.skipif(
    not encrypts(), reason="the SQLite that is loaded does not encrypt; make encryption runs these"
)

SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))


@contextmanager
def opened(folder: Path, secret: bytes | None = SECRET) -> Iterator[Store]:
    with simonides.open(
        folder, clock=FrozenClock(), embedder=StubEmbedder(32), environ={}, key=secret
    ) as store:
        yield store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path / "store") as store:
        yield store


@pytest.fixture
def bank(store: Store) -> Bank:
    return store.bank("diary")


@pytest.fixture
def short_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tails are sealed early, and imports come in small batches."""
    monkeypatch.setattr("simonides.backends.embedded.importing.LARGEST_BATCH", 40)
    monkeypatch.setattr("simonides.backends.embedded.merge.SMALLEST_MERGE", 10)


@pytest.mark.usefixtures("short_tails")
def test_no_plain_byte_lies_in_any_file(store: Store, bank: Bank, tmp_path: Path) -> None:
    fill(bank)
    bank.start_audit()
    bank.update_memory(bank.retain(f"{CANARY} again")[0], tags=[f"{CANARY}-again"])
    bank._rows.merge_if_due(force=True)
    bank.backup(tmp_path / "copy.db")
    # What is sorted and written anew would go through temporary files.
    with bank._rows.reading() as reading:
        connection_of(reading).execute(
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
            " SELECT count(*) FROM (SELECT text || n.i FROM memories, n ORDER BY 1 DESC)"
        ).fetchall()
        assert (bank._rows.folder / "memory.db-wal").stat().st_size
        assert traces(tmp_path) == []
    assert bank.purge() == COMPLETE
    bank.maintain()
    bank.verify()
    assert traces(tmp_path) == []
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert names <= {
        "memory.db",
        "memory.db-wal",
        "memory.db-shm",
        "audit.key",
        "maintenance.lock",
        "copy.db",
    }
    assert (bank._rows.folder / "maintenance.lock").stat().st_size == 0


def test_the_same_bank_without_a_key_is_seen_by_the_search_for_plain_bytes(tmp_path: Path) -> None:
    with opened(tmp_path / "plain", None) as store:
        fill(store.bank())
        assert traces(tmp_path)


def test_what_was_stored_is_there_when_it_is_opened_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store.bank())
        before = [(hit.id, hit.score) for hit in store.bank().recall(f"what does {CANARY} keep")]
    with opened(tmp_path) as store:
        assert [(hit.id, hit.score) for hit in store.bank().recall(f"what does {CANARY} keep")] == before
        assert store.bank().verify().ok
        assert store.bank().stats()["encrypted"] is True


@pytest.mark.usefixtures("short_tails")
def test_answers_are_those_of_a_plain_bank(tmp_path: Path) -> None:
    """The same scores and order, also after rows were erased and tails were sealed."""
    with opened(tmp_path / "plain", None) as store:
        bank, ids = store.bank(), []
        for part in range(12):
            ids += bank.retain([f"kettle {n % 7} by boat {n % 5}, {part}" for n in range(part, part + 9)])
        bank.forget(ids[3:40:5])
        bank.retain("the last kettle")
        bank.export(tmp_path / "bank.jsonl")
        expected = [_answers(bank, n) for n in range(5)]
    with opened(tmp_path / "locked") as store:
        bank = store.bank()
        bank.import_bank(tmp_path / "bank.jsonl")
        assert [_answers(bank, n) for n in range(5)] == expected
        bank.retain([f"boat {n}" for n in range(12)])
        assert bank.stats()["blocks"] > 1
        gone = ids[1:60:7]
        bank.forget([memory for memory in gone if memory not in ids[3:40:5]])
        assert bank.verify().ok


def _answers(bank: Bank, number: int) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in bank.recall(f"kettle {number} boat {number}", limit=30)]


# 96 memories at most: the profile's channel finds a hundred.
@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(["retain", "forget", "reopen"]), st.integers(1, 8)), max_size=12))
def test_sealing_in_memory_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simonides.backends.embedded.merge.SMALLEST_MERGE", 10)
        live: dict[str, str] = {}
        made = 0
        with opened(folder) as store:
            bank = store.bank()
            for step, many in steps:
                if step == "retain":
                    texts = [f"note{made + n} of kettle" for n in range(many)]
                    live |= dict(zip(bank.retain(texts, deduplicate=False), texts, strict=True))
                    made += many
                elif step == "forget" and live:
                    gone = sorted(live)[:many]
                    bank.forget(gone)
                    for memory in gone:
                        del live[memory]
                elif step == "reopen":
                    store.close_bank("default")
                    bank = store.bank()
                found = bank.recall("kettle", limit=500, max_tokens=None, profile="lexical")
                assert {hit.id: hit.text for hit in found} == live
            assert bank.verify().ok
            assert bank.stats()["tail_rows"] <= 40
            assert not (folder / "bank-default" / "index").exists()


def test_a_wrong_key_no_key_and_a_needless_key_are_told_apart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with opened(tmp_path / "a") as store:
        store.bank().retain("locked")
    with opened(tmp_path / "b", None) as store:
        store.bank().retain("open")
    body = (tmp_path / "a" / "bank-default" / "memory.db").read_bytes()
    for folder, secret, kind, says in (
        ("a", OTHER, EncryptionError, "the key does not open it"),
        ("a", None, DamagedError, "it is encrypted: open it with its key"),
        ("b", SECRET, EncryptionError, "is not encrypted; open it without a key"),
    ):
        with opened(tmp_path / folder, secret) as store, pytest.raises(kind, match=says) as caught:
            store.bank()
        told = "".join(traceback.format_exception(caught.value)) + caplog.text
        for key in (SECRET, OTHER):
            assert key.hex() not in told
            assert repr(key) not in told
    assert (tmp_path / "a" / "bank-default" / "memory.db").read_bytes() == body
    with opened(tmp_path / "a") as store:
        assert store.bank().recall("locked")[0].text == "locked"


def test_the_key_is_in_no_text_of_the_store(store: Store, bank: Bank) -> None:
    for thing in (
        store,
        bank,
        bank._rows,
        embedded(bank._rows)._connections,
        embedded(bank._rows)._connections.key,
        bank.stats(),
    ):
        assert SECRET.hex() not in repr(thing)
        assert repr(SECRET) not in repr(thing)


def test_a_changed_page_is_damage(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.bank().retain(OTHERS)
    database = tmp_path / "bank-default" / "memory.db"
    whole = database.read_bytes()
    for place in range(100, len(whole), len(whole) // 40):
        database.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with opened(tmp_path) as store:
            try:
                report = store.bank().verify()
            except StoreError:
                continue
            assert not report.ok, place
    database.write_bytes(whole)
    with opened(tmp_path) as store:
        assert store.bank().verify().ok


def test_backup_and_restore_keep_it_encrypted(store: Store, bank: Bank, tmp_path: Path) -> None:
    [memory] = bank.retain(f"{CANARY} is kept")
    bank.backup(tmp_path / "copy.db")
    bank.forget(memory)
    bank.retain("later")
    bank.restore(tmp_path / "copy.db")
    assert [hit.id for hit in bank.recall(CANARY)] == [memory]
    assert bank.verify().ok
    assert traces(tmp_path) == []
    with opened(tmp_path / "other", OTHER) as other:
        other.bank().retain("stays")
        with pytest.raises(EncryptionError, match="does not open"):
            other.bank().restore(tmp_path / "copy.db")
        assert other.bank().recall("stays")
    with opened(tmp_path / "plain", None) as plain:
        plain.bank().retain("plain")
        plain.bank().backup(tmp_path / "plain.db")
        with pytest.raises(DamagedError, match="encrypted"):
            plain.bank().restore(tmp_path / "copy.db")
    with pytest.raises(EncryptionError, match="is not encrypted"):
        bank.restore(tmp_path / "plain.db")
    assert [hit.id for hit in bank.recall(CANARY)] == [memory]
    assert not list((tmp_path / "store").rglob(".restoring-*"))


def test_the_log_of_recalls_is_encrypted_like_its_bank(store: Store, bank: Bank, tmp_path: Path) -> None:
    """No id, hash or verb of it lies plain in any file, through purge, backup, restore and a new opening."""
    ids = fill(bank)
    with pytest.raises(NotFoundError, match="audit start"):
        bank.audit_recalls()
    bank.start_audit()
    assert bank.audit_recalls()
    assert bank.recall(f"what does {CANARY} keep").hits
    bank.get_memory(ids[0])
    bank.backup(tmp_path / "copy.db")
    entries = bank.audit_entries(recalls=True)
    assert [entry.verb for entry in entries] == ["backup", "read", "recall", "start"]
    assert ids[0] in entries[1].ids
    told = {
        *ids,
        *(one.seal for one in entries),
        *(one.query for one in entries),
        *(one.recall for one in entries),
    }
    needles = (
        {word.encode() for word in told if word} | {bytes.fromhex(one.seal) for one in entries} | {b"recalls"}
    )
    assert _holding(tmp_path, needles) == []
    log = bank._rows.folder / "recall-audit.db"
    assert log.stat().st_mode & 0o077 == 0
    assert not log.read_bytes().startswith(b"SQLite format")
    bank.forget(ids)
    assert bank.purge() == COMPLETE
    assert traces(tmp_path / "store") == _holding(tmp_path, needles) == []
    bank.restore(tmp_path / "copy.db")
    assert bank.verify().ok
    report = bank.audit_verify()
    assert (report.problems, report.recalls) == ((), len(entries))
    store.close_bank("diary")
    again = store.bank("diary")
    assert again.recall(CANARY).hits
    assert again.audit_verify().recalls == len(entries) + 1
    assert _holding(tmp_path, needles) == []


def test_the_search_finds_the_log_of_recalls_of_a_plain_bank(tmp_path: Path) -> None:
    with opened(tmp_path, None) as store:
        bank = store.bank()
        [memory] = bank.retain("a kettle")
        bank.start_audit()
        bank.audit_recalls()
        bank.recall("kettle")
        seal = bytes.fromhex(bank.audit_entries(recalls=True)[0].seal)
        for needle in (seal, b"recalls", memory.encode()):
            assert any(name.startswith("recall-audit.db") for name in _holding(tmp_path, {needle}))


@pytest.mark.parametrize("secret", [None, OTHER])
def test_where_the_log_of_recalls_has_another_key_nothing_is_handed_out(
    tmp_path: Path, secret: bytes | None
) -> None:
    folders = {}
    for name, key in (("here", SECRET), ("there", secret)):
        with opened(tmp_path / name, key) as store:
            bank = store.bank()
            bank.retain("a kettle")
            bank.start_audit()
            bank.audit_recalls()
            folders[name] = bank._rows.folder
    shutil.copy(folders["there"] / "recall-audit.db", folders["here"] / "recall-audit.db")
    for end in ("-wal", "-shm"):
        (folders["here"] / f"recall-audit.db{end}").unlink(missing_ok=True)
    with opened(tmp_path / "here") as store:
        says = "is not encrypted" if secret is None else "the key does not open it"
        for ask in (store.bank().audit_verify, lambda: store.bank().recall("kettle")):
            with pytest.raises(EncryptionError, match=rf"recall-audit\.db: .*{says}"):
                ask()


def _holding(folder: Path, needles: set[bytes]) -> list[str]:
    """Files in which one of *needles* stands."""
    bodies = ((path.name, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file())
    return [name for name, body in bodies if any(needle in body for needle in needles)]


def test_an_export_is_plain_and_moves_a_bank_in_and_out(tmp_path: Path) -> None:
    with opened(tmp_path / "plain", None) as store:
        fill(store.bank())
        store.bank().export(tmp_path / "one.jsonl")
        expected = [hit.id for hit in store.bank().recall(f"{CANARY} plumzifrax")]
    with opened(tmp_path / "locked") as store:
        store.bank().import_bank(tmp_path / "one.jsonl")
        assert [hit.id for hit in store.bank().recall(f"{CANARY} plumzifrax")] == expected
        store.bank().export(tmp_path / "two.jsonl")
        assert traces(tmp_path / "locked") == []
    body = [(tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("one.jsonl", "two.jsonl")]
    assert body[0][1:-1] == body[1][1:-1]


def test_past_its_size_a_bank_refuses_and_keeps_what_it_has(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encryption.check_room, "__defaults__", (50,))
    ids = bank.retain([f"note {n}" for n in range(50)], deduplicate=False)
    for change in (lambda: bank.retain("one more"), lambda: bank.update_memory(ids[0], kind="decision")):
        with pytest.raises(UnavailableError, match=r"may hold 50; nothing was stored.*on an encrypted disk"):
            change()
    assert bank.stats()["versions"] == 50
    bank.forget(ids[0])
    bank.retain("one more")
    bank.export(tmp_path / "bank.jsonl")
    with opened(tmp_path / "other") as other:
        other.bank().retain([f"own {n}" for n in range(10)])
        with pytest.raises(UnavailableError, match="may hold 50"):
            other.bank().import_bank(tmp_path / "bank.jsonl")
        assert other.bank().verify().ok


def test_a_trained_reranker_is_not_written(bank: Bank) -> None:
    from simonides.recall.refining.mlp import Network  # noqa: PLC0415 - only here

    network = object.__new__(Network)
    with pytest.raises(UnavailableError, match=r"encrypted.*plain file"):
        bank.adopt_reranker(network, [])
    assert not bank._rows.reranker_path.exists()


def test_threads_and_processes_share_a_bank(store: Store, bank: Bank) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: bank.retain(f"thread {n}"), range(20)))
        assert {len(bank.recall("thread", limit=50)) for _ in pool.map(lambda _: 0, range(4))} == {20}
    process = multiprocessing.get_context("spawn").Process(target=_write, args=(str(store.folder),))
    process.start()
    process.join(120)
    assert process.exitcode == 0
    assert bank.recall("elsewhere")[0].text == "written elsewhere"
    assert len(bank.recall("thread", limit=50)) == 21


def _write(folder: str) -> None:
    with opened(Path(folder)) as store:
        store.bank("diary").retain("written elsewhere")


def test_a_deleted_bank_tells_whoever_has_it_open(store: Store, bank: Bank) -> None:
    bank.retain("soon gone")
    with opened(store.folder) as other:
        other.delete_bank("diary")
    with pytest.raises(StoreError, match="deleted"):
        bank.recall("gone")
    assert not store.has_bank("diary")


def test_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as store:
        store.bank().retain("read me")
    copied = tmp_path / "copy"
    shutil.copytree(tmp_path / "store", copied)
    connection = encryption.open_file(copied / "bank-default" / "memory.db", Key(SECRET), immutable=True)
    assert connection.execute("SELECT text FROM memories").get == "read me"
    connection.close()


def test_a_server_neither_exports_nor_imports_it_through_its_disk(store: Store, bank: Bank) -> None:
    fill(bank)
    app = make_app(store)
    with TokenStore(store.folder) as tokens:
        token = tokens.create(banks=["diary"], now=0)

    async def work() -> None:
        transport = httpx.ASGITransport(app)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8765", headers=headers
        ) as client:
            found = await client.post("/v1/banks/diary/recall", json={"query": CANARY})
            assert CANARY in found.text
            lines = {"Content-Type": "application/x-ndjson"}
            for answer in (
                await client.get("/v1/banks/diary/export"),
                await client.post("/v1/banks/diary/import", content=b"{}\n", headers=lines),
            ):
                assert answer.status_code == 422
                assert "is encrypted" in json.loads(answer.content)["detail"]

    asyncio.run(work())
    app.state.dispatcher.close()
    assert traces(store.folder) == []


def test_an_environment_key_opens_every_door(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.bank().retain("by the environment")
    environ = {"SIMONIDES_KEY": SECRET.hex()}
    with simonides.open(tmp_path, embedder=None, environ=environ) as store:
        assert store.encrypted
        assert store.bank().recall("environment")
        with pytest.raises(NotFoundError):
            store.delete_bank("none")


def test_rebuilt_arrays_are_those_that_were_sealed(
    bank: Bank, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simonides.backends.embedded.merge.SMALLEST_MERGE", 5)
    for part in range(9):
        bank.retain([f"kettle {part} {n}" for n in range(6)], deduplicate=False)
    with bank._rows.reading() as reading:
        before = reading.snapshot.column("expired_at")
        assert reading.snapshot.blocks[0].rows > 6
    store.close_bank("diary")
    with store.bank("diary")._rows.reading() as reading:
        assert np.array_equal(reading.snapshot.column("expired_at"), before)


def test_a_load_writes_nothing_of_the_index(bank: Bank) -> None:
    texts = [f"{CANARY} {number}" for number in range(300)]
    bank.load(texts, StubEmbedder(32).encode(texts))
    assert len(bank.recall(CANARY, profile="lexical", limit=10).hits) == 10
    assert not (bank._rows.folder / "index").exists()
    assert traces(bank._rows.folder) == []
    assert bank.verify().ok
