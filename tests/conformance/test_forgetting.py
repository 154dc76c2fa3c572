"""DF-10: forgetting cascades to every derived structure, and ``verify`` proves it.

Every table of the schema and every file of a bank's folder stands in a list here or in ``forgetting``; one that
is new and in none of them fails the first tests, and one that nothing fills fails the next.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.backends.embedded.forgetting import OTHER_TABLES, TABLES
from simonides.evaluation.feedback import train_mlp
from simonides.records.receipt import COMPLETE
from simonides.testing.embedder import StubTokenEmbedder
from simonides.testing.sparse import StubSparseEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

pytestmark = [pytest.mark.spec("DF-10"), pytest.mark.fault("W4")]

CANARY = "Zyxolume"
WORDS = (CANARY, "plumzifrax", "vaultkeyword", "Quandrelby", "Bortwick")
FILES = re.compile(
    r"memory\.db|memory\.db-(wal|shm)|index/\d+/(manifest\.json|graph\.arr|expired\.arr|block-\d+\.arr)"
    r"|reranker\.npz|audit\.key|(maintenance|copies)\.lock"
)
"""Every file that a bank may have."""


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with simonides.open(
        tmp_path / "store",
        clock=clock,
        embedder=StubTokenEmbedder(64),
        sparse=StubSparseEncoder(),
        environ={},
    ) as opened:
        yield opened


@pytest.fixture
def filled(store: Store, clock: FrozenClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bank:
    """A bank that uses everything there is, each time with a canary; all of it may go."""
    monkeypatch.setattr("simonides.backends.embedded.merge.SMALLEST_MERGE", 10)
    bank = store.bank("diary")
    bank.start_audit()
    first = bank.retain(
        f"{CANARY} Quandrelby keeps the vaultkeyword plumzifrax in docs/{CANARY}.md.",
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
        event_time="2026-02-01",
        idempotency_key=f"{CANARY}-key",
    )
    bank.retain(f"{CANARY} Bortwick asked for the plumzifrax because the {CANARY} Archive was closed.")
    for place in ("note", "call", "letter"):
        bank.retain(f"The plumzifrax of {CANARY} stands on the stove.", source=place, kind="semantic")
    turns = [
        {"text": f"Where is {CANARY}?", "speaker": "Ravi"},
        {"text": f"{CANARY} left.", "speaker": CANARY},
    ]
    bank.retain_conversation(turns, session=f"{CANARY}-session")
    bank.retain_document(
        f"# {CANARY}\n\nAbout plumzifrax.\n\nAnother paragraph.", document_id=f"{CANARY}-doc"
    )
    bank.retain([f"{CANARY} memory number {n}" for n in range(20)])
    bank.update_memory(first[0], kind="decision")
    one, two, *_ = bank.entities(None)
    bank.add_alias(one.number, f"{CANARY} the elder")
    bank.merge_entities(two.number, one.number)
    for n in range(25):
        clock.advance(seconds=1)
        recall = bank.recall(f"{CANARY} number {n}")
        bank.used(recall[0].id, recall_id=recall.id)
    samples = bank.samples()
    bank.adopt_reranker(train_mlp(samples.features, samples.labels, 0), samples.memories)
    bank.maintain()
    bank.check_references(tmp_path)
    bank.queue_enrichment()
    with bank._rows.writing(bank._context.now()) as transaction:
        connection_of(transaction).execute(
            "INSERT INTO enrichments(ordinal, base, model) SELECT root, root, 'stub' FROM memories LIMIT 1"
        )
    bank._rows.merge_if_due(force=True)
    return bank


def sql(bank: Bank, statement: str, *, foreign_keys: bool = True) -> list[tuple[Any, ...]]:
    """Run SQL past the library."""
    connection = apsw.Connection(str(bank._rows.folder / "memory.db"))
    connection.pragma("foreign_keys", foreign_keys)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def tables(bank: Bank) -> set[str]:
    found = sql(bank, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return {name for (name,) in found}


def files(bank: Bank) -> set[str]:
    folder = bank._rows.folder
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def traces(folder: Path) -> list[str]:
    """Files in which one of the words stands, in any case."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [p.name for p in paths if any(word.lower().encode() in p.read_bytes().lower() for word in WORDS)]


def test_every_table_is_either_forgotten_or_holds_nothing_of_a_memory(filled: Bank) -> None:
    assert tables(filled) == set(TABLES) | set(OTHER_TABLES)
    assert not set(TABLES) & set(OTHER_TABLES)


def test_every_table_and_every_sort_of_file_is_filled_here(filled: Bank) -> None:
    empty = [table for table in TABLES if not sql(filled, f"SELECT 1 FROM {table} LIMIT 1")]
    assert empty == []
    assert not [name for name in files(filled) if not FILES.fullmatch(name)]
    missing = [part for part in ("memory.db", "reranker.npz", "index/", "audit.key", "maintenance.lock")
               if not any(name.startswith(part) for name in files(filled))]  # fmt: skip
    assert missing == []
    # The control of the search for bytes.
    assert {"memory.db", "memory.db-wal"} & set(traces(filled._rows.folder))
    assert [name for name in traces(filled._rows.folder) if name.endswith(".arr")]


def test_what_is_forgotten_is_gone_from_every_table(filled: Bank) -> None:
    receipt = filled.forget_where(everything=True)
    # A key answers again after a forget, so that a retry brings nothing back; a purge takes it, too.
    left = [table for table in TABLES if sql(filled, f"SELECT 1 FROM {table} LIMIT 1")]
    assert left == ["idempotency"]
    assert set(receipt.rows) == set(TABLES) - {"idempotency"}
    report = filled.verify()
    assert report.ok, report.problems
    assert any("idempotency keys" in note for note in report.notes)
    assert "reranker.npz" not in files(filled)


def test_a_purge_leaves_no_byte_in_any_table_or_file(store: Store, filled: Bank) -> None:
    receipt = filled.forget_where(everything=True, purge=True)
    assert receipt.status == COMPLETE
    assert set(receipt.rows) == set(TABLES)
    for table in tables(filled):
        rows = repr(sql(filled, f"SELECT * FROM {table}")).lower()
        assert not [word for word in WORDS if word.lower() in rows], table
    assert traces(store.folder) == []
    report = filled.verify()
    assert (report.problems, [note for note in report.notes if "idempotency" in note]) == ((), [])
    assert filled.audit_verify().ok


def test_a_purge_of_some_leaves_what_a_bank_without_them_would_hold(store: Store, filled: Bank) -> None:
    kept = filled.retain(["Bread is baked on Monday.", "Boats leave at noon."], session="harbour")
    gone = [
        memory
        for memory in (id_ for (id_,) in sql(filled, "SELECT DISTINCT id FROM memories"))
        if memory not in kept
    ]
    assert filled.forget_where(gone, purge=True).status == COMPLETE
    assert traces(store.folder) == []
    other = store.bank("other")
    other.retain(["Bread is baked on Monday.", "Boats leave at noon."], session="harbour")
    for table in TABLES:
        count = f"SELECT count(*) FROM {table}"
        assert sql(filled, count) == sql(other, count), table
    assert filled.verify().ok
    assert {hit.id for hit in filled.recall("bread and boats")} == set(kept)


def put_back(bank: Bank, table: str, rows: list[tuple[Any, ...]]) -> None:
    """Rows as they were, with their digests."""
    connection = apsw.Connection(str(bank._rows.folder / "memory.db"))
    connection.pragma("foreign_keys", 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    marks = ", ".join("?" * len(rows[0]))
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    connection.close()


def test_verify_finds_what_a_cascade_would_leave(filled: Bank) -> None:
    """One table after the other, its rows come back as if the cascade had passed them over."""
    saved = {table: sql(filled, f"SELECT * FROM {table}") for table in TABLES}
    filled.forget_where(everything=True, purge=True)
    before = filled.verify()
    assert before.ok
    for table in TABLES:
        put_back(filled, table, saved[table])
        found = filled.verify()
        if table in {"idempotency", "entities"}:
            # Keys only name what is gone, and an interrupted import leaves names: until a purge that is right.
            assert set(found.notes) - set(before.notes)
            filled.purge()
        else:
            assert not found.ok, table
            sql(filled, f"DELETE FROM {table}", foreign_keys=False)
        assert filled.verify() == before, table
