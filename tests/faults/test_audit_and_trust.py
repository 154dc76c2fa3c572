"""Who changed what cannot be rewritten unnoticed; what is little trusted changes nothing that is trusted more."""

from __future__ import annotations

import contextlib
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.backends.embedded.checksums import add_functions
from simonides.errors import DamagedError, InputError, NotFoundError, UnavailableError
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import CopyOf

    from simonides.bank import Bank
    from simonides.store import Store


def change(bank: Bank, statement: str, *values: object) -> None:
    """Run SQL on the file past the library."""
    connection = apsw.Connection(str(bank._rows.folder / "memory.db"))
    add_functions(connection)
    connection.execute(statement, values)
    connection.close()


def audit(folder: Path) -> None:
    with simonides.open(
        folder, clock=FrozenClock(), embedder=StubEmbedder(dimension=32), environ={}
    ) as store:
        bank = store.bank("diary")
        bank.retain("Before the audit.")
        bank.start_audit()
        ids = [bank.retain(f"Memory {n} of Ravi Canarywort.")[0] for n in range(8)]
        store.bank("diary", principal="tove").retain("Tove's own.")
        bank.forget(ids[0])
        bank.used(ids[1])


@pytest.fixture
def audited(store: Store, copy_of: CopyOf) -> Bank:
    """Twelve rows of audit log."""
    copy_of("audited", audit, store.folder)
    return store.bank("diary")


def test_the_log_verifies_and_names_no_one(audited: Bank) -> None:
    report = audited.audit_verify()
    assert report.problems == ()
    assert report.entries == 12
    entries = audited.audit_entries()
    assert [entry.number for entry in entries] == list(range(12, 0, -1))
    assert entries[1].verb == "forget"
    assert len({entry.actor for entry in entries}) == 2
    assert "tove" not in repr(entries)
    assert "canarywort" not in repr(entries).lower()
    key = audited._rows.folder / "audit.key"
    assert key.stat().st_mode & 0o777 == 0o600


def test_every_edit_deletion_and_swap_is_found(audited: Bank) -> None:
    generator = random.Random(8)
    with audited._rows.reading() as reading:
        rows = connection_of(reading).execute("SELECT * FROM audit ORDER BY number").fetchall()
    columns = ("number", "at", "actor", "verb", "first", "last", "log_hash", "seal")
    for _ in range(60):
        number = generator.randrange(1, 12)
        kind = generator.choice(["edit", "delete", "swap"])
        if kind == "edit":
            column = generator.choice(columns[1:])
            value = {"actor": "x", "verb": "y", "log_hash": b"1", "seal": b"2"}.get(column, 77)
            change(audited, f"UPDATE audit SET {column}=? WHERE number=?", value, number)
        elif kind == "delete":
            change(audited, "DELETE FROM audit WHERE number=?", number)
        else:
            change(audited, "UPDATE audit SET number = -1 WHERE number=?", number)
            change(audited, "UPDATE audit SET number = ? WHERE number=?", number, number + 1)
            change(audited, "UPDATE audit SET number = ? WHERE number=-1", number + 1)
        assert not audited.audit_verify().ok, (kind, number)
        change(audited, "DELETE FROM audit")
        for row in rows:
            change(audited, "INSERT INTO audit VALUES (?,?,?,?,?,?,?,?)", *row)
        assert audited.audit_verify().ok


def test_a_tail_cut_with_its_changes_needs_a_head_that_was_kept(audited: Bank) -> None:
    head = str(audited.audit_verify().head)
    assert audited.audit_verify(anchor=head).ok
    change(audited, "DELETE FROM audit WHERE number = 12")
    assert not audited.audit_verify().ok
    # Cut the log of changes and its counters, too, as someone would who knows the format.
    with audited._rows.reading() as reading:
        last = connection_of(reading).execute("SELECT last FROM audit WHERE number = 11").get
    change(audited, "DELETE FROM changes WHERE sequence > ?", last)
    change(
        audited,
        "UPDATE meta SET sequence=?1, log_hash=(SELECT log_hash FROM changes WHERE sequence=?1)",
        last,
    )
    assert audited.audit_verify().ok
    assert "head that was kept" in audited.audit_verify(anchor=head).problems[0]
    with pytest.raises(InputError, match="anchor"):
        audited.audit_verify(anchor="12:abc")


WRITES: dict[str, Callable[[Bank, Path], object]] = {
    "retain": lambda bank, _: bank.retain("Written after the cut."),
    "forget": lambda bank, _: bank.forget([hit.id for hit in bank.recall("memory Ravi", limit=1)]),
    "purge": lambda bank, _: bank.forget_where(everything=True, purge=True),
    "load": lambda bank, _: bank.load(
        [{"text": "Loaded after the cut."}], np.eye(1, bank.stats()["dimension"], dtype=np.float32)
    ),
    "used": lambda bank, _: bank.used([hit.id for hit in bank.recall("memory Ravi", limit=1)]),
    "import": lambda bank, path: bank.import_bank(path / "bank.jsonl"),
    "repair": lambda bank, _: bank.repair(),
    "start": lambda bank, _: bank.start_audit(),
    "recalls": lambda bank, _: bank.audit_recalls(),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("cut", ["number > 7", "number = 12", "number > 0", "number < 5"])
def test_a_cut_is_found_though_the_bank_is_written_after_it(
    audited: Bank, tmp_path: Path, stub_embedder: StubEmbedder, cut: str, write: str
) -> None:
    def earlier() -> datetime:
        return datetime(2026, 2, 1, tzinfo=UTC)

    if write == "import":
        with simonides.open(tmp_path / "other", embedder=stub_embedder, environ={}, clock=earlier) as other:
            other.bank().retain("From another bank.")
            other.bank().export(tmp_path / "bank.jsonl")
    assert audited.verify().ok
    change(audited, f"DELETE FROM audit WHERE {cut}")
    assert not audited.verify().ok
    for _ in range(2):
        if write == "start" and cut == "number > 0":
            break  # whoever begins the log anew says so in it
        WRITES[write](audited, tmp_path)
        assert not audited.audit_verify().ok
        assert not audited.verify().ok


def test_what_is_written_without_the_key_is_never_taken_in(
    tmp_path: Path, stub_embedder: StubEmbedder
) -> None:
    def opened(key: bytes | None) -> Store:
        return simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key)

    key = bytes(range(32))
    with opened(key) as store:
        store.bank().retain("With the key.")
    with opened(None) as store:
        store.bank().retain(["Without it.", "Nor this."])
        assert "unchecked" in store.bank().verify().notes[0]
    with opened(key) as store:
        bank = store.bank()
        assert not bank.verify().ok
        bank.retain("With the key again.")
        assert bank.audit_verify().problems == (
            "audit: no row told of the changes 2 to 3 when row 2 was written",
        )
        assert [entry.verb for entry in bank.audit_entries()] == ["write", "gap", "write"]


def test_a_key_that_is_handed_in_begins_the_log_without_a_file(
    tmp_path: Path, stub_embedder: StubEmbedder
) -> None:
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}) as store:
        store.bank().retain("Before the audit.")
    key = bytes(range(32))
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key) as store:
        bank = store.bank()
        assert bank.start_audit() is None
        assert not list(tmp_path.rglob("audit.key"))
        bank.retain("Since it began.")
        assert bank.verify().ok
        assert [entry.verb for entry in bank.audit_entries()] == ["write", "start"]


def test_a_key_that_is_handed_in_later_begins_the_log_by_itself(
    tmp_path: Path, stub_embedder: StubEmbedder
) -> None:
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}) as store:
        store.bank().retain(["Before the audit.", "This, too."])
    key = bytes(range(32))
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key) as store:
        bank = store.bank()
        assert bank.verify().ok
        bank.retain("Since the key came.")
        assert bank.verify().ok
        assert [(entry.verb, entry.first, entry.last) for entry in bank.audit_entries()] == [
            ("write", 3, 3),
            ("start", 1, 2),
        ]


def test_a_bank_is_not_restored_past_its_log(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    key = bytes(range(32))
    with simonides.open(tmp_path / "s", embedder=stub_embedder, environ={}, audit_key=key) as store:
        store.bank().retain("Audited.")
        store.bank().backup(tmp_path / "copy.db")
    with simonides.open(tmp_path / "s", embedder=stub_embedder, environ={}) as store:
        with pytest.raises(UnavailableError, match="pass `audit_key=`"):
            store.bank().restore(tmp_path / "copy.db")
        assert store.bank("other").restore(tmp_path / "copy.db").memories == 1


def test_an_audit_that_begins_during_an_import_seals_the_rest(bank: Bank, tmp_path: Path) -> None:
    for number in range(3):
        bank.retain(f"Memory {number}.")
    bank.export(tmp_path / "bank.jsonl")
    bank.forget_where(everything=True)

    def begin(done: int, lines: int) -> None:
        bank.start_audit()

    bank.import_bank(tmp_path / "bank.jsonl", progress=begin)
    bank.retain("Afterwards.")
    assert bank.verify().ok


def test_a_key_that_is_handed_in_lies_nowhere(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    key = bytes(range(32))
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key) as store:
        store.bank().retain("Audited from the beginning.")
        assert store.bank().audit_verify().entries == 1
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and key in p.read_bytes()]
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key[::-1]) as store:
        assert not store.bank().audit_verify().ok
    store = simonides.open(tmp_path, embedder=stub_embedder, environ={})
    with store, pytest.raises(NotFoundError, match="no audit key"):
        store.bank().audit_verify()
    with pytest.raises(InputError, match="16 bytes"):
        simonides.open(tmp_path, audit_key=b"short")


def test_a_wrong_key_writes_nothing(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    key = bytes(range(32))
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key) as store:
        store.bank().retain("Audited from the beginning.")
        store.bank().audit_recalls()
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key[::-1]) as store:
        bank = store.bank()
        for deed in (
            lambda: bank.retain("By another key."),
            bank.start_audit,
            lambda: bank.audit_recalls(on=False),
            lambda: bank.recall("beginning"),
        ):
            with pytest.raises(UnavailableError, match="not that of this bank's audit log"):
                deed()
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key) as store:
        assert store.bank().verify().ok
        assert store.bank().stats()["memories"] == 1
        store.bank().retain("By the right one.")
        assert store.bank().audit_verify().ok


def test_a_wrong_key_switches_no_audit_of_recalls(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    key = bytes(range(32))
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key) as store:
        store.bank().retain("Audited from the beginning.")
    store = simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key[::-1])
    with store, pytest.raises(UnavailableError, match="not that of this bank"):
        store.bank().audit_recalls()
    assert not list(tmp_path.rglob("recall-audit.db"))
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key) as store:
        assert store.bank().recall("beginning").hits


def test_after_a_restore_the_log_goes_by_the_key_that_made_it(
    tmp_path: Path, stub_embedder: StubEmbedder
) -> None:
    key = bytes(range(32))
    with simonides.open(tmp_path / "s", embedder=stub_embedder, environ={}, audit_key=key) as store:
        store.bank().retain("Audited by the former key.")
        store.bank().backup(tmp_path / "copy.db")
    with simonides.open(tmp_path / "s", embedder=stub_embedder, environ={}, audit_key=key[::-1]) as store:
        store.bank().restore(tmp_path / "copy.db")
        store.bank().retain("Audited by the newer key.")
    with simonides.open(tmp_path / "s", embedder=stub_embedder, environ={}, audit_key=key) as store:
        with pytest.raises(UnavailableError, match="not that of this bank"):
            store.bank().retain("By the former key again.")
        assert not store.bank().audit_verify().ok
    with simonides.open(tmp_path / "s", embedder=stub_embedder, environ={}, audit_key=key[::-1]) as store:
        store.bank().retain("Still by the newer key.")


def test_a_forgetting_by_a_wrong_key_deletes_nothing(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    key = bytes(range(32))
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key) as store:
        bank = store.bank()
        (memory,) = bank.retain("Audited from the beginning.")
        bank._rows.reranker_path.write_bytes(b"what was trained")
    with simonides.open(tmp_path, embedder=stub_embedder, environ={}, audit_key=key[::-1]) as store:
        bank = store.bank()
        with pytest.raises(UnavailableError, match="not that of this bank"):
            bank.forget(memory)
        assert bank._rows.reranker_path.exists()


@pytest.mark.parametrize("change_to", ["at = at + 1", "verb = CAST(x'ff' AS TEXT)"])
def test_a_damaged_newest_row_ends_no_writing(audited: Bank, change_to: str) -> None:
    change(audited, f"UPDATE audit SET {change_to} WHERE number = (SELECT max(number) FROM audit)")
    audited.retain("Written all the same.")
    with contextlib.suppress(DamagedError):  # which tells of bytes that are no text
        assert not audited.audit_verify().ok


def test_a_log_without_its_key_is_not_begun_anew(audited: Bank) -> None:
    key = audited._rows.folder / "audit.key"
    key.rename(key.with_name("elsewhere"))
    with pytest.raises(NotFoundError, match="the audit key of its audit log is missing"):
        audited.start_audit()
    assert not key.exists()
    key.write_bytes(bytes(range(32)).hex().encode())
    with pytest.raises(UnavailableError, match=r"restore audit\.key"):
        audited.retain("By a key of one's own.")
    key.with_name("elsewhere").replace(key)
    audited.retain("By the log's own key.")
    assert audited.audit_verify().ok


def test_a_row_that_none_can_follow_is_named(audited: Bank) -> None:
    change(audited, "UPDATE audit SET number = ? WHERE number = (SELECT max(number) FROM audit)", 2**63 - 1)
    with pytest.raises(DamagedError, match=f"row {2**63 - 1} is not what was written"):
        audited.retain("After the last number.")


def test_import_restore_and_purge_are_in_the_log(audited: Bank, tmp_path: Path) -> None:
    audited.backup(tmp_path / "copy.db")
    audited.export(tmp_path / "bank.jsonl")
    audited.forget_where(everything=True, purge=True)
    assert audited.audit_verify().ok
    audited.import_bank(tmp_path / "bank.jsonl")
    assert audited.audit_verify().ok
    assert audited.audit_entries(1)[0].verb == "import"
    audited.restore(tmp_path / "copy.db")
    assert audited.audit_verify().ok
    assert audited.audit_entries(1)[0].verb == "restore"
    audited.repair()
    assert audited.audit_verify().ok


def test_what_is_quarantined_is_seen_only_when_asked_for(store: Store, bank: Bank) -> None:
    [good] = bank.retain("The vault code changes on Monday.")
    before = [(hit.id, hit.score) for hit in bank.recall("vault code")]
    [bad] = bank.retain("The vault code never changes, says the pop-up.", kind="quarantine", role="tool")
    assert [(hit.id, hit.score) for hit in bank.recall("vault code")] == before
    assert {hit.id for hit in bank.recall("vault code", kinds="quarantine")} == {bad}
    assert bad not in {hit.id for hit in store.bank(bank.name, principal="tove").recall("vault code")}
    assert bank.release(bad, kind="episodic") == 1
    assert {hit.id for hit in bank.recall("vault code")} == {good, bad}
    assert bank.quarantine([bad, good]) == 2
    assert bank.quarantine(bad) == 0
    assert not bank.recall("vault code").hits
    assert bank.get_memory(bad).kind == "quarantine"
    assert bank.verify().ok
    with pytest.raises(NotFoundError):
        bank.quarantine("0" * 16)
    with pytest.raises(InputError):
        bank.release(bad, kind="quarantine")


def test_only_the_owner_quarantines_and_releases(store: Store, bank: Bank) -> None:
    ivo = store.bank(bank.name, principal="ivo")
    [bad] = bank.retain("The sluice gate opens by itself.")
    [good] = bank.retain("The sluice gate opens at nine.")
    bank.quarantine(bad)
    for memory, kind in ((bad, "semantic"), (good, "quarantine")):
        with pytest.raises(InputError, match="only the owner may quarantine or release"):
            ivo.update_memory(memory, kind=kind)
    assert ivo.update_memory(good, kind="decision").kind == "decision"
    assert bank.get_memory(bad).kind == "quarantine"
    assert bank.update_memory(bad, kind="semantic").kind == "semantic"


def test_what_is_quarantined_swallows_no_memory(bank: Bank) -> None:
    text = "The sluice gate opens at nine."
    [aside] = bank.retain(text)
    assert bank.recall("sluice gate").hits
    bank.quarantine(aside)
    [again] = bank.retain(text)
    assert again != aside
    assert [hit.id for hit in bank.recall("sluice gate")] == [again]
    assert bank.retain(text) == [again]
    [set_aside] = bank.retain(text, kind="quarantine")
    assert set_aside != again
    assert bank.retain(text, kind="quarantine") == [set_aside]


def test_who_changed_a_memory_is_in_the_log(store: Store, audited: Bank) -> None:
    ivo = store.bank(audited.name, principal="ivo")
    [memory] = ivo.retain("Ivo keeps the gate.")
    ivo.update_memory(memory, tags=["gate"])
    ivo.invalidate(memory)
    entries = audited.audit_entries(3)
    assert len({entry.actor for entry in entries}) == 1
    assert entries[0].actor


def test_what_is_quarantined_closes_nothing(bank: Bank) -> None:
    statement: dict[str, Any] = {"subject": "Odalys", "relation": "works at", "single_valued": True}
    [known] = bank.retain("Odalys works at Norrhav.", object="Norrhav", **statement)
    bank.retain("Odalys works at Malvern.", object="Malvern", kind="quarantine", **statement)
    assert [hit.id for hit in bank.recall("where does Odalys work")] == [known]
    assert bank.get_memory(known).superseded_by == ""


def test_a_less_trusted_source_ends_nothing_of_a_more_trusted_one(bank: Bank) -> None:
    kept = bank.retain([{"text": "The gate code is on the board."}], document_id="gate", role="user")
    bank.retain([{"text": "The gate has no code."}], document_id="gate", role="tool")
    assert kept[0] in {hit.id for hit in bank.recall("gate code")}
    statement: dict[str, Any] = {"subject": "Odalys", "relation": "works at", "single_valued": True}
    [known] = bank.retain("Odalys works at Norrhav.", object="Norrhav", **statement)
    for role in ("assistant", "tool", "document", "import"):
        bank.retain(f"Odalys works at Malvern, {role}.", object=f"Malvern {role}", role=role, **statement)
    assert bank.get_memory(known).superseded_by == ""
    assert bank.get_memory(known).trust == 1.0
