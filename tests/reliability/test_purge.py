"""Forgetting leaves nothing: every byte of every file of the bank is looked at."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import connection_of, embedded

import simonides
from simonides.errors import InputError, NotFoundError
from simonides.records.receipt import COMPLETE, DRY_RUN, ERASED, PENDING_READERS

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store

CANARY = "Zyxolume"
"""A name that stands in no other text, so that its terms, names and labels are looked for by it, too."""

SECRET = (
    f"{CANARY} Quandrelby keeps the vaultkeyword plumzifrax under the stairs of the {CANARY} archive.",
    f"The assistant answered {CANARY}: it is called plumzifrax and was moved in May.",
)
OTHERS = [f"Ordinary memory number {n} about bread and boats." for n in range(40)]


def fill(bank: Bank) -> list[str]:
    """Two memories with the canary in every field that holds words, among others; their ids."""
    bank.retain(OTHERS)
    first = bank.retain(
        SECRET[0],
        tags=[f"{CANARY}-tag"],
        project=f"{CANARY}-project",
        path=f"{CANARY}/path.md",
        source=f"mail from {CANARY}",
        metadata={CANARY: CANARY},
        context=f"about {CANARY}",
        acl=[f"{CANARY}-reader"],
        subject=f"{CANARY} Quandrelby",
        relation="works at",
        object=f"{CANARY} archive",
        idempotency_key=f"{CANARY}-key",
    )
    turns = [{"text": OTHERS[0], "speaker": "Ravi"}, {"text": SECRET[1], "speaker": CANARY}]
    second = bank.retain_conversation(turns, session=f"{CANARY}-session")[1:]
    recall = bank.recall(f"what does {CANARY} keep", count_returned=True, precision="wide")
    bank.used(first, recall_id=recall.id)
    return first + second


def traces(folder: Path) -> list[str]:
    """Files of a bank in which the canary or one of its terms stands."""
    needles = {word.encode() for word in (CANARY, CANARY.lower(), "plumzifrax", "vaultkeyword", "quandrelby")}
    found = []
    for path in sorted(folder.rglob("*")):
        body = path.read_bytes().lower() if path.is_file() else b""
        if any(needle.lower() in body for needle in needles):
            found.append(path.name)
    return found


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merges come early, so that the index is on disk."""
    monkeypatch.setattr("simonides.backends.embedded.merge.SMALLEST_MERGE", 10)


@pytest.mark.fault("W4")
@pytest.mark.usefixtures("merged")
def test_a_purge_leaves_no_byte_in_a_folder_that_another_block_still_needs(bank: Bank) -> None:
    others = bank.retain(OTHERS)
    (secret,) = bank.retain(SECRET[0])
    bank.forget(others[:1])
    index = embedded(bank._rows).cache.folder
    assert {path.name for path in index.rglob("block-*")} == {"block-0.arr", "block-40.arr"}
    assert traces(index) == ["block-40.arr"]
    assert bank.forget_where(secret, purge=True).status == COMPLETE
    assert traces(bank._rows.folder) == []
    assert len({path.parent for path in index.rglob("block-*")}) == 2
    assert bank.verify().ok


@pytest.mark.fault("W4")
@pytest.mark.usefixtures("merged")
def test_a_purge_leaves_no_byte_in_any_file(store: Store, bank: Bank) -> None:
    ids = fill(bank)
    bank._rows.merge_if_due(force=True)
    (bank._rows.folder / ".reranker.npz.1.2.partial").write_bytes(CANARY.encode())
    assert {"memory.db", "memory.db-wal"} & set(traces(bank._rows.folder))
    assert [name for name in traces(bank._rows.folder) if name.endswith(".arr")]
    # The turn beside it bears the session's name, too.
    beside = [hit.id for hit in bank.recall(OTHERS[0], precision="wide") if hit.memory.session]
    receipt = bank.forget_where([*ids, *beside], purge=True)
    assert receipt.status == COMPLETE
    assert set(receipt.ids) == {*ids, *beside}
    assert {"memories", "vectors", "mentions", "entities", "idempotency", "accesses"} <= set(receipt.rows)
    assert receipt.names >= 4
    assert traces(store.folder) == []
    assert bank.verify().problems == ()
    assert CANARY not in repr(bank.recall(f"{CANARY} plumzifrax", precision="wide").hits)
    assert len(bank.recall("bread and boats", limit=50, precision="wide").hits) == len(OTHERS)


@pytest.mark.fault("W4")
def test_forgetting_without_a_purge_leaves_nothing_in_the_rows(bank: Bank) -> None:
    ids = fill(bank)
    assert bank.forget_where(ids).status == ERASED
    with bank._rows.reading() as reading:
        tables = [name for (name,) in connection_of(reading).execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'label%'"
            " AND name NOT IN ('idempotency', 'sqlite_sequence', 'episodes')"
        )]  # fmt: skip
        for table in tables:
            rows = connection_of(reading).execute(f"SELECT * FROM {table}").fetchall()
            assert CANARY.lower() not in repr(rows).lower(), table


def test_a_purge_says_when_a_reader_holds_it_up_and_ends_later(
    store: Store, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simonides.backends.embedded.forgetting.PATIENCE_MILLISECONDS", 20)
    ids = fill(bank)
    other = simonides.open(store.folder, embedder=None, environ={})
    with contextlib.closing(other), other.bank(bank.name)._rows.reading() as reading:
        assert connection_of(reading).execute("SELECT count(*) FROM memories").get
        assert bank.forget_where(ids, purge=True).status == PENDING_READERS
    assert bank.purge() == COMPLETE


def test_a_dry_run_counts_what_then_goes_and_changes_nothing(bank: Bank) -> None:
    ids = fill(bank)
    before = bank.stats()["versions"], bank.stats()["sequence"]
    dry = bank.forget_where(ids, dry_run=True)
    assert dry.status == DRY_RUN
    assert (bank.stats()["versions"], bank.stats()["sequence"]) == before
    real = bank.forget_where(ids)
    assert (dry.ids, dry.rows) == (real.ids, real.rows)
    assert dry.ids == tuple(sorted(ids))


@pytest.mark.fault("F5")
def test_forgetting_without_a_condition_needs_everything(store: Store, bank: Bank) -> None:
    bank.retain(OTHERS)
    other = store.bank("other")
    other.retain(OTHERS)
    wrong: list[dict[str, Any]] = [{}, {"ids": ["0" * 16], "everything": True}]
    wrong.append({"source": "x", "everything": True})
    for arguments in wrong:
        with pytest.raises(InputError, match="everything"):
            bank.forget_where(**arguments)
    dry = bank.forget_where(everything=True, dry_run=True)
    assert bank.forget_where(everything=True).memories == dry.memories == len(OTHERS)
    assert bank.stats()["memories"] == 0
    assert other.stats()["memories"] == len(OTHERS)


def test_conditions_choose_by_source_writer_and_time(store: Store, bank: Bank) -> None:
    old = bank.retain("The lamp is old.", recorded_at="2025-05-01", source="mail")
    mine = bank.retain("The fuse is mine.", source="mail")
    tove = store.bank(bank.name, principal="tove").retain("Tove wrote this.", source="chat")
    assert bank.forget_where(source="mail", before="2026", dry_run=True).ids == tuple(old)
    assert bank.forget_where(writer="tove", dry_run=True).ids == tuple(tove)
    assert set(bank.forget_where(by_owner=True, dry_run=True).ids) == {*old, *mine}
    assert bank.forget_where(without_source=True, dry_run=True).memories == 0
    bare = bank.retain("The socket has no source.")
    assert bank.forget_where(without_source=True, by_owner=True, dry_run=True).ids == tuple(bare)
    bank.forget(bare)
    assert set(bank.forget_where(after="2026", dry_run=True).ids) == {*mine, *tove}
    assert bank.forget_where(old, source="chat").memories == 0
    assert bank.forget_where(writer="tove").memories == 1
    with pytest.raises(NotFoundError):
        bank.get_memory(tove[0])
    with pytest.raises(InputError, match="owner"):
        store.bank(bank.name, principal="tove").forget_where(everything=True)


@pytest.mark.fault("F5")
@pytest.mark.parametrize("name", ["ids", "source", "writer", "before", "after"])
@pytest.mark.parametrize("purge", [False, True])
def test_a_condition_that_is_an_empty_text_is_refused(bank: Bank, name: str, *, purge: bool) -> None:
    """As an unset variable of a shell gives it: it would have meant all that has no source, or no writer."""
    bank.retain(OTHERS)
    wrong: list[Any] = ["", ["", "0" * 16]] if name == "ids" else [""]
    for given in wrong:
        arguments: dict[str, Any] = {name: given, "purge": purge}
        with pytest.raises(InputError, match=name):
            bank.forget_where(**arguments)
    assert bank.stats()["memories"] == len(OTHERS)


def test_a_switch_for_what_has_none_says_what_it_cannot_be_joined_with(bank: Bank) -> None:
    with pytest.raises(InputError, match=r"without_source: cannot be joined with source"):
        bank.forget_where(source="mail", without_source=True)
    with pytest.raises(InputError, match=r"source: is an empty text.*without_source"):
        bank.forget_where(source="")
    with pytest.raises(InputError, match=r"writer: is an empty text.*by_owner"):
        bank.forget_where(writer="")
    with pytest.raises(InputError, match=r"by_owner: expected true or false"):
        bank.forget_where(by_owner=1)  # type: ignore[arg-type]
