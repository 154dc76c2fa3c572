"""Where a bank asks for it, who was told what cannot be rewritten unnoticed, and nothing is told unwritten."""

from __future__ import annotations

import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import apsw
import pytest

import simonides
from simonides.errors import InputError, NotFoundError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.embedder import StubEmbedder

COLUMNS = ("number", "at", "actor", "verb", "recall", "query", "ids", "sequence", "seal")


def log(bank: Bank) -> Path:
    return bank._rows.folder / "recall-audit.db"


def change(bank: Bank, statement: str, *values: object) -> None:
    connection = apsw.Connection(str(log(bank)))
    connection.execute(statement, values)
    connection.close()


@pytest.fixture
def watched(store: Store, bank: Bank) -> Bank:
    bank.start_audit()
    bank.retain([f"The kettle of Ravi Canarywort boils at {n}." for n in range(3)])
    assert bank.audit_recalls()
    return bank


def test_it_is_off_until_it_is_asked_for(bank: Bank) -> None:
    with pytest.raises(NotFoundError, match="audit start"):
        bank.audit_recalls()
    bank.start_audit()
    bank.retain("The kettle boils.")
    assert bank.recall("kettle").hits
    assert not log(bank).exists()
    assert bank.audit_entries(recalls=True) == []
    report = bank.audit_verify()
    assert (report.ok, report.recalls) == (True, 0)


def test_a_recall_leaves_ids_and_hashes_and_no_word(watched: Bank, store: Store) -> None:
    found = watched.recall("Canarywort kettle", limit=2)
    again = store.bank(watched.name, principal="tove").recall("Canarywort kettle", limit=2)
    theirs, mine, start = watched.audit_entries(recalls=True)
    assert (start.verb, mine.verb, theirs.verb) == ("start", "recall", "recall")
    assert mine.ids == tuple(hit.id for hit in found)
    assert theirs.ids == tuple(hit.id for hit in again)
    assert mine.actor == ""
    assert theirs.actor
    assert mine.query == theirs.query
    assert mine.recall != theirs.recall
    assert mine.last == watched.stats()["sequence"]
    assert mine.first > mine.last
    raw = b"".join(path.read_bytes() for path in log(watched).parent.glob("recall-audit.db*")).lower()
    for word in (b"canarywort", b"kettle", b"tove", found.id.encode()):
        assert word not in raw
    assert log(watched).stat().st_mode & 0o777 == 0o600
    report = watched.audit_verify()
    assert (report.problems, report.recalls) == ((), 3)
    assert str(report.recalls_head) == f"{theirs.number}:{theirs.seal}"
    assert watched.verify().ok


def test_the_same_query_is_another_hash_in_another_bank(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=bytes(range(32))) as store:
        hashes = set()
        for name in ("one", "two"):
            bank = store.bank(name)
            bank.retain("The kettle boils.")
            bank.audit_recalls()
            bank.recall("kettle")
            hashes.add(bank.audit_entries(1, recalls=True)[0].query)
        assert len(hashes) == 2


def test_every_way_to_words_is_audited(watched: Bank, tmp_path: Path) -> None:
    [memory] = watched.recall("kettle", limit=1).hits
    watched.reflect("kettle", profile="lexical")
    watched.brief("kettle", profile="lexical")
    watched.why_not(memory.id, "kettle")
    watched.get_memory(memory.id)
    watched.source(memory.id)
    watched.list_memories()
    watched.get_entity(watched.entities()[0].number)
    watched.diff("2020")
    watched.export(tmp_path / "bank.jsonl")
    watched.backup(tmp_path / "copy.db")
    verbs = [entry.verb for entry in reversed(watched.audit_entries(recalls=True))]
    assert verbs == [
        "start", "recall", "recall", "recall", "brief", "read", "why_not", "read", "read", "list", "list",
        "diff", "export", "backup",
    ]  # fmt: skip
    watched.retain("The recipe is in notes/gone.md.")
    [dead] = watched.check_references(tmp_path)
    [entry] = watched.audit_entries(1, recalls=True)
    assert (entry.verb, entry.ids) == ("check", (dead.memory,))
    job = watched.recall("kettle", tier="async").job
    assert watched.get_job(job, wait_seconds=30).recall is not None
    assert [entry.verb for entry in watched.audit_entries(2, recalls=True)] == ["recall", "recall"]
    assert watched.audit_verify().ok


def test_every_edit_deletion_and_swap_is_found(watched: Bank) -> None:
    for n in range(10):
        watched.recall(f"kettle {n}")
    rows = apsw.Connection(str(log(watched))).execute("SELECT * FROM recalls ORDER BY number").fetchall()
    generator = random.Random(15)
    for _ in range(60):
        number = generator.randrange(1, 11)
        kind = generator.choice(["edit", "delete", "swap"])
        if kind == "edit":
            column = generator.choice(COLUMNS[1:])
            value = {"at": 7, "sequence": 7, "seal": b"2"}.get(column, "[]x")
            change(watched, f"UPDATE recalls SET {column}=? WHERE number=?", value, number)
        elif kind == "delete":
            change(watched, "DELETE FROM recalls WHERE number=?", number)
        else:
            change(watched, "UPDATE recalls SET number = -1 WHERE number=?", number)
            change(watched, "UPDATE recalls SET number = ? WHERE number=?", number, number + 1)
            change(watched, "UPDATE recalls SET number = ? WHERE number=-1", number + 1)
        assert not watched.audit_verify().ok, (kind, number)
        assert not watched.verify().ok
        change(watched, "DELETE FROM recalls")
        for row in rows:
            change(watched, f"INSERT INTO recalls VALUES ({', '.join('?' * 9)})", *row)
        assert watched.audit_verify().ok


def test_a_tail_cut_needs_a_head_that_was_kept(watched: Bank) -> None:
    watched.recall("kettle")
    head = str(watched.audit_verify().recalls_head)
    change(watched, "DELETE FROM recalls WHERE number = 2")
    assert watched.audit_verify().ok
    report = watched.audit_verify(recalls_anchor=head)
    assert report.problems == ("recalls: ends at row 1, the head that was kept is row 2",)
    with pytest.raises(InputError, match="anchor"):
        watched.audit_verify(recalls_anchor="2:abc")


def test_a_deleted_log_is_missed(store: Store, watched: Bank, stub_embedder: StubEmbedder) -> None:
    folder, name = store.folder, watched.name
    store.close()
    for path in (folder / watched._rows.folder.name).glob("recall-audit.db*"):
        path.unlink()
    with simonides.open(folder, embedder=stub_embedder, environ={}) as opened:
        assert "was switched 1 times" in opened.bank(name).audit_verify().problems[0]


def test_what_cannot_be_audited_is_not_handed_out(watched: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    other = apsw.Connection(str(log(watched)))
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr("simonides.backends.embedded.connection._BUSY_MILLISECONDS", 50)
    with ThreadPoolExecutor(1) as thread, pytest.raises(UnavailableError, match=r"recall-audit\.db"):
        thread.submit(watched.recall, "kettle").result(timeout=60)
    other.execute("ROLLBACK")
    other.close()
    key = watched._rows.folder / "audit.key"
    shutil.move(key, key.with_name("elsewhere"))
    with pytest.raises(UnavailableError, match="key is missing"):
        watched.recall("kettle")
    shutil.move(key.with_name("elsewhere"), key)
    assert watched.recall("kettle").hits


def test_it_can_be_ended_and_begun_again(watched: Bank, store: Store) -> None:
    assert not watched.audit_recalls()
    assert watched.audit_recalls(on=False)
    assert not watched.audit_recalls(on=False)
    watched.recall("kettle")
    assert watched.audit_recalls()
    assert [entry.verb for entry in watched.audit_entries(recalls=True)] == ["start", "stop", "start"]
    assert [entry.verb for entry in watched.audit_entries(3)][::2] == ["audit recalls", "audit recalls"]
    assert watched.audit_verify().ok
    with pytest.raises(InputError, match="owner"):
        store.bank(watched.name, principal="tove").audit_recalls()


def test_a_forgotten_and_purged_bank_still_verifies(watched: Bank) -> None:
    watched.recall("kettle")
    watched.forget_where(everything=True, purge=True)
    assert watched.audit_verify().ok
    assert watched.audit_entries(1, recalls=True)[0].ids


def test_a_busy_writer_keeps_no_audited_recall_waiting(watched: Bank) -> None:
    # Another thread, because a thread's connection is in one transaction at a time.
    with watched._rows.writing(watched._context.now()), ThreadPoolExecutor(1) as thread:
        assert thread.submit(watched.recall, "kettle").result(timeout=30).hits


def _deleted(path: Path, older: Path) -> None:
    for name in path.parent.glob("recall-audit.db*"):
        name.unlink()


def _emptied(path: Path, older: Path) -> None:
    _deleted(path, older)
    path.touch()


def _of_before(path: Path, older: Path) -> None:
    _deleted(path, older)
    shutil.copy(older, path)


@pytest.mark.parametrize("reopened", [False, True])
@pytest.mark.parametrize("spoil", [_deleted, _emptied, _of_before])
def test_a_log_that_is_gone_or_another_stops_every_answer(
    tmp_path: Path, stub_embedder: StubEmbedder, spoil: Callable[[Path, Path], None], *, reopened: bool
) -> None:
    def opened() -> Store:
        return simonides.open(tmp_path / "s", embedder=stub_embedder, environ={})

    with opened() as store:
        bank = store.bank()
        bank.start_audit()
        [memory] = bank.retain("The kettle boils.")
        # An older log, of a time when it was on and off again.
        bank.audit_recalls()
        bank.audit_recalls(on=False)
    older = tmp_path / "older.db"
    path = log(bank)
    shutil.copy(path, older)
    store = opened()
    bank = store.bank()
    bank.retain("Time goes by.")
    bank.audit_recalls()
    assert bank.recall("kettle").hits
    spoil(path, older)
    if reopened:
        store.close()
        store = opened()
        bank = store.bank()
    with store:
        for ask in (lambda: bank.recall("kettle"), lambda: bank.get_memory(memory), bank.list_memories):
            with pytest.raises(UnavailableError, match="was deleted or replaced, so nothing is returned"):
                ask()
        assert any("recalls: was switched" in problem for problem in bank.audit_verify().problems)
        assert not bank.verify().ok
        # Begun anew it answers again, and what was lost stays a problem.
        assert bank.audit_recalls(on=False)
        assert bank.recall("kettle").hits
        assert bank.audit_recalls()
        assert bank.recall("kettle").hits
        assert bank.audit_entries(1, recalls=True)[0].verb == "recall"
        assert not bank.audit_verify().ok


@pytest.fixture
def processes(tmp_path: Path, stub_embedder: StubEmbedder) -> Iterator[tuple[Bank, Bank]]:
    """One audited bank, opened as by two processes."""
    with (
        simonides.open(tmp_path, embedder=stub_embedder, environ={}) as one,
        simonides.open(tmp_path, embedder=stub_embedder, environ={}) as other,
    ):
        ours = one.bank()
        ours.start_audit()
        ours.retain("The kettle boils.")
        yield ours, other.bank()


def test_another_process_switches_it(processes: tuple[Bank, Bank]) -> None:
    ours, theirs = processes
    rows = 0
    for on in (True, False, True, False):
        assert theirs.audit_recalls(on=on)
        rows += 1
        for _ in range(2):
            assert ours.recall("kettle").hits
            rows += on
        assert len(ours.audit_entries(recalls=True)) == rows
    assert ours.audit_verify().ok


def test_a_restore_does_not_end_the_watch(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    with simonides.open(tmp_path / "s", embedder=stub_embedder, environ={}) as store:
        bank = store.bank()
        bank.start_audit()
        bank.retain("The kettle boils.")
        bank.backup(tmp_path / "copy.db")
        bank.audit_recalls()
        bank.restore(tmp_path / "copy.db")
        assert bank.recall("kettle").hits
        assert bank.audit_verify().problems == ()
        _deleted(log(bank), log(bank))
        with pytest.raises(UnavailableError, match="deleted or replaced"):
            bank.recall("kettle")
        assert not bank.audit_verify().ok


def test_a_log_that_another_process_began_and_someone_deleted(processes: tuple[Bank, Bank]) -> None:
    ours, theirs = processes
    assert ours.recall("kettle").hits
    theirs.audit_recalls()
    _deleted(log(ours), log(ours))
    with pytest.raises(UnavailableError, match="deleted or replaced"):
        ours.recall("kettle")
