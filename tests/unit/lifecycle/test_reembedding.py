"""A bank goes over to another embedder: what is seen meanwhile, afterwards, and after any interruption."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.embedded_rows import connection_of, embedded

import simonides
from simonides.backends.embedded.models import read_run
from simonides.errors import ConflictError, EmbedderMismatchError, InputError, ModelError
from simonides.evaluation.feedback import train_mlp
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder, StubTokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from tests.conftest import CopyOf

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.records.recall import Recall
    from simonides.store import Store

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
OLD = StubTokenEmbedder(dimension=32, name="old")
NEW = StubTokenEmbedder(dimension=56, name="new")
WORDS = ("kestrel", "lantern", "harbour", "copper", "willow", "ledger", "saffron", "granite")
TEXTS = [
    f"The {WORDS[n % 8]} stands near the {WORDS[(n * 3 + 1) % 8]}, said Odalys on day {n // 2}."
    for n in range(90)
]
QUERIES = ("kestrel near the lantern", "what did Odalys say on day 7", "granite ledger", "harbour")


def opened(folder: Path, embedder: Embedder | None, **options: Any) -> Store:
    clock = options.pop("clock", None) or FrozenClock(START)
    return simonides.open(folder, clock=clock, embedder=embedder, environ={}, **options)


def fill(bank: Bank, texts: Sequence[str] = TEXTS) -> list[str]:
    """Memories whose salience is given, since salience is judged once, by the vectors of its time.

    Every bank gets the same identity, so that equal scores are told apart in the same way.
    """
    ids: list[str] = []
    with bank._rows.writing(0) as transaction:
        connection_of(transaction).execute("UPDATE meta SET bank='b1' WHERE next_ordinal=0")
    for first in range(0, len(texts), 30):
        ids += bank.retain(texts[first : first + 30], salience=0.5, deduplicate=False, session="s")
    return ids


def seen(bank: Bank, profile: str = "default") -> list[tuple[Any, ...]]:
    """All that recall answers, but times and the ids of recalls."""
    return [shown(bank.recall(query, profile=profile)) for query in QUERIES]


def shown(found: Recall) -> tuple[Any, ...]:
    return found.context, [(hit.text, hit.score, dict(hit.signals)) for hit in found], found.no_match


def semantic_links(bank: Bank) -> list[tuple[Any, ...]]:
    with bank._rows.reading() as reading:
        return (
            connection_of(reading)
            .execute(
                "SELECT source, target, weight FROM links WHERE kind='semantic'"
                " AND embedder = (SELECT embedder FROM meta) ORDER BY 1, 2"
            )
            .fetchall()
        )


@dataclass(frozen=True)
class Failing(StubTokenEmbedder):
    """Does not know *bad* texts, and is interrupted at call number *dies_at*."""

    bad: str = ""
    dies_at: int = 0
    calls: list[int] = field(default_factory=list)

    def encode_both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        self.calls.append(len(texts))
        if len(self.calls) == self.dies_at:
            raise KeyboardInterrupt
        if self.bad and any(self.bad in text for text in texts):
            raise RuntimeError("a word that I do not know")
        return super().encode_both(texts)


@pytest.mark.spec("DF-11")
@pytest.mark.parametrize("profile", ["default", "helix", "memoria", "engram", "hindsight", "jeffs_brain"])
def test_the_bank_is_then_what_the_new_model_would_have_made(tmp_path: Path, profile: str) -> None:
    with opened(tmp_path / "a", OLD) as store, opened(tmp_path / "b", NEW) as other:
        bank, fresh = store.bank(), other.bank()
        fill(bank)
        before = seen(bank, profile)
        report = bank.reembed(NEW)
        fill(fresh)
        assert (report.switched, report.encoded, report.without) == (True, 90, 0)
        assert seen(bank, profile) == seen(fresh, profile) != before
        assert semantic_links(bank) == semantic_links(fresh)
        assert report.links == len(semantic_links(bank)) > 0
        assert bank.verify().ok
        assert bank.stats()["dimension"] == 56
    with opened(tmp_path / "a", NEW) as store, opened(tmp_path / "b", NEW) as other:
        assert seen(store.bank(), profile) == seen(other.bank(), profile)
        assert not store.bank().stats()["problems"]


@pytest.mark.spec("DF-11")
def test_the_index_is_ready_at_the_switch(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        fill(store.bank())
        store.bank().reembed(NEW)
        with store.bank()._rows.reading() as reading:
            assert [block.rows for block in reading.snapshot.blocks] == [90]
            assert reading.meta.generation > 0
        position = embedded(store.bank()._rows).cache.position
        assert position is not None
        assert position.generation is not None
        assert not position.problem


@pytest.mark.spec("DF-11")
def test_nothing_is_left_of_the_old_model(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        fill(store.bank())
        report = store.bank().reembed(NEW)
        with store.bank()._rows.reading() as reading:
            for table in ("vectors", "token_codes", "embedders"):
                column = "number" if table == "embedders" else "embedder"
                found = connection_of(reading).execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
                assert found == [(reading.meta.embedder,)]
            assert (
                not connection_of(reading)
                .execute("SELECT 1 FROM links WHERE embedder NOT IN (0, ?)", (reading.meta.embedder,))
                .fetchall()
            )
        assert report.dropped >= 180


@pytest.mark.spec("DF-11")
def test_recall_and_retain_go_on_meanwhile(tmp_path: Path) -> None:
    """At every step of the run, in this process and in a store of its own that knows the old model alone."""
    with opened(tmp_path, OLD) as store, opened(tmp_path, OLD) as elsewhere:
        bank, other = store.bank(), elsewhere.bank()
        fill(bank)
        before = seen(bank)
        stages: list[str] = []
        added: list[str] = []

        def look(stage: str, done: int, total: int | None) -> None:
            stages.append(stage)
            if stage != "old vectors dropped":
                assert seen(bank) == seen(other) == before
                assert bank.verify().ok
                assert bank.stats()["following_embedder"] == "new"

        bank.reembed(NEW, progress=look)
        assert {"memories encoded", "memories linked", "old vectors dropped"} == set(stages)
        assert seen(bank) != before
        assert not added
        # A store that was opened with the old model says so, and goes by words.
        found = other.recall("kestrel")
        assert found.hits
        assert any("reembed" in reason for reason in found.trace.degraded)
        with pytest.raises(EmbedderMismatchError, match="reembed"):
            other.retain("The quay is closed.")


@pytest.mark.spec("DF-11")
@pytest.mark.parametrize("here", [True, False], ids=["same store", "store without the model"])
def test_what_is_retained_meanwhile_has_both(tmp_path: Path, *, here: bool) -> None:
    with opened(tmp_path / "a", OLD) as store, opened(tmp_path / "a", OLD) as elsewhere:
        bank = store.bank()
        fill(bank)
        writer = bank if here else elsewhere.bank()
        written: list[int] = []

        def write(stage: str, done: int, total: int | None) -> None:
            if stage == "old vectors dropped" or len(written) == 4:
                return
            (memory,) = writer.retain(
                f"Kofi repaired the {stage} {done} times on {len(written)}.",
                salience=0.5,
                deduplicate=False,
            )
            with bank._rows.reading() as reading:
                written.append(
                    connection_of(reading)
                    .execute(
                        "SELECT count(*) FROM vectors v JOIN memories m USING (ordinal) WHERE m.id=?",
                        (memory,),
                    )
                    .get
                )
            # A new version takes both along.
            writer.update_memory(memory, tags=["seen"])

        report = bank.reembed(NEW, progress=write)
        assert len(written) >= 3
        assert set(written) == ({2} if here else {1})
        assert report.switched
        stats = bank.stats()
        assert stats["with_vector"] == stats["versions"] == 90 + 2 * len(written)
        assert bank.verify().ok
        assert any("Kofi" in hit.text for hit in bank.recall("Kofi repaired", profile="helix"))


@pytest.mark.spec("DF-11")
def test_a_retain_that_the_switch_overtakes_is_stored(tmp_path: Path) -> None:
    """Encoded by the old model, written after the switch: encoded again where the new one is at hand."""
    started, go_on = threading.Event(), threading.Event()

    @dataclass(frozen=True)
    class Slow(StubTokenEmbedder):
        def encode_both(self, texts: Sequence[str]) -> Any:
            if texts == ["The ferry leaves at nine."]:
                started.set()
                assert go_on.wait(20)
            return super().encode_both(texts)

    with opened(tmp_path, Slow(dimension=32, name="old")) as store:
        bank = store.bank()
        fill(bank)
        late: list[str] = []
        writer = threading.Thread(target=lambda: late.extend(bank.retain("The ferry leaves at nine.")))
        writer.start()
        assert started.wait(20)
        bank.reembed(NEW)
        go_on.set()
        writer.join()
        assert bank.get_memory(late[0]).text == "The ferry leaves at nine."
        assert bank.stats()["with_vector"] == 91
        assert bank.verify().ok


@pytest.mark.spec("DF-11")
@pytest.mark.parametrize("call", [1, 2, 3])
def test_an_interrupted_run_goes_on(tmp_path: Path, call: int) -> None:
    with opened(tmp_path / "a", OLD) as store:
        bank = store.bank()
        fill(bank)
        before = seen(bank)
        dying = Failing(dimension=56, name="new", dies_at=call)
        more = [f"The barrel {n} is full." for n in range(70)]
        fill(bank, more)
        with pytest.raises(KeyboardInterrupt):
            bank.reembed(dying)
        assert bank.verify().notes
        assert "going over to new" in " ".join(bank.verify().notes)
        assert bank.verify().ok
        assert bank.recall("barrel").hits
        del before
    with opened(tmp_path / "a", OLD) as store, opened(tmp_path / "b", NEW) as other:
        bank, fresh = store.bank(), other.bank()
        report = bank.reembed(NEW)
        assert report.encoded == 160 - 64 * (call - 1)
        fill(fresh)
        fill(fresh, more)
        assert seen(bank) == seen(fresh)
        assert bank.verify().ok


_KILLED = """
import os, signal, sys
from datetime import datetime, UTC
from pathlib import Path
import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubTokenEmbedder

def step(stage, done, total):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

left = int(sys.argv[2])
simonides.open(
    Path(sys.argv[1]), clock=FrozenClock(datetime(2026, 3, 1, 9, tzinfo=UTC)),
    embedder=StubTokenEmbedder(dimension=32, name="old"), environ={},
).bank().reembed(StubTokenEmbedder(dimension=56, name="new"), progress=step)
"""


@pytest.mark.spec("DF-11")
@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_killed_run_goes_on(tmp_path: Path, copy_of: CopyOf, step: int) -> None:
    """After each transaction that the run tells of: two that encode, one that links, one that drops."""

    def filled(embedder: StubTokenEmbedder, folder: Path) -> Any:
        with opened(folder, embedder) as store:
            fill(store.bank())
            return seen(store.bank())

    before = copy_of("filled with the old model", partial(filled, OLD), tmp_path / "a")
    after = copy_of("filled with the new model", partial(filled, NEW), tmp_path / "b")
    run = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path / "a"), str(step)], check=False, capture_output=True
    )
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()
    switched = step == 4
    with opened(tmp_path / "a", NEW if switched else OLD) as store:
        bank = store.bank()
        assert bank.verify().ok
        assert seen(bank) == (after if switched else before)
        report = bank.reembed(NEW)
        assert report.switched != switched
        assert seen(bank) == after
        assert bank.verify().ok
        with bank._rows.reading() as reading:
            assert connection_of(reading).execute("SELECT count(*) FROM embedders").get == 1


@pytest.mark.spec("DF-11")
def test_a_run_can_be_abandoned(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        bank = store.bank()
        fill(bank)
        before = seen(bank)
        assert not bank.abandon_reembedding()
        with pytest.raises(KeyboardInterrupt):
            bank.reembed(Failing(dimension=56, name="new", dies_at=2))
        with pytest.raises(ConflictError, match="new"):
            bank.reembed(StubEmbedder(dimension=8, name="third"))
        with pytest.raises(ConflictError, match="new"):
            bank.reembed(StubEmbedder(dimension=8, name="third"), dry_run=True)
        assert bank.abandon_reembedding()
        assert seen(bank) == before
        with bank._rows.reading() as reading:
            assert read_run(connection_of(reading)) is None
            assert connection_of(reading).execute("SELECT count(*) FROM vectors").get == 90
            assert connection_of(reading).execute("SELECT name FROM embedders").fetchall() == [("old",)]
        assert bank.verify().ok
        assert bank.reembed(StubEmbedder(dimension=8, name="third")).switched


@pytest.mark.spec("DF-11")
def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        bank = store.bank()
        fill(bank)
        database = bank._rows.folder / "memory.db"
        written = database.stat().st_mtime_ns, database.with_name("memory.db-wal").stat().st_size
        report = bank.reembed(NEW, dry_run=True)
        assert (report.encoded, report.rows, report.switched) == (90, 90, False)
        assert bank.reembed(OLD, dry_run=True).encoded == 0
        assert written == (database.stat().st_mtime_ns, database.with_name("memory.db-wal").stat().st_size)


def test_the_same_model_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        fill(store.bank())
        before = seen(store.bank())
        report = store.bank().reembed(OLD)
        assert (report.switched, report.encoded, report.dropped) == (False, 0, 0)
        assert seen(store.bank()) == before


def test_what_the_new_model_cannot_encode_is_found_by_words(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        bank = store.bank()
        fill(bank)
        (unknown,) = bank.retain("The zeppelin lands at noon.")
        report = bank.reembed(Failing(dimension=56, name="new", bad="zeppelin"))
        assert (report.switched, report.encoded, report.without) == (True, 90, 1)
        assert bank.recall("zeppelin").hits[0].id == unknown
        assert bank.verify().ok
        assert "1 versions have no vector" in " ".join(bank.verify().notes)


def test_a_model_that_fails_on_most_texts_is_not_taken(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        bank = store.bank()
        fill(bank)
        before = seen(bank)
        with pytest.raises(ModelError, match="stays with the model it has"):
            bank.reembed(Failing(dimension=56, name="new", bad="Odalys"))
        assert seen(bank) == before
        assert bank.abandon_reembedding()


def test_a_bank_without_vectors_gets_some(tmp_path: Path) -> None:
    with opened(tmp_path, None) as store:
        fill(store.bank())
        report = store.bank().reembed(NEW)
        assert (report.was, report.encoded, report.switched) == ("", 90, True)
        assert store.bank().verify().ok
    with opened(tmp_path, NEW) as store, opened(tmp_path / "b", NEW) as other:
        fill(other.bank())
        assert seen(store.bank()) == seen(other.bank())


def test_what_is_forgotten_meanwhile_stays_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        bank = store.bank()
        ids = fill(bank)

        def forget(stage: str, done: int, total: int | None) -> None:
            bank.forget(ids.pop())

        bank.reembed(NEW, progress=forget)
        assert bank.verify().ok
        stats = bank.stats()
        assert stats["with_vector"] == stats["versions"] == len(ids) < 90
        bank.forget_where(everything=True, purge=True)
        with bank._rows.reading() as reading:
            assert not connection_of(reading).execute("SELECT count(*) FROM vectors").get


def test_history_keeps_its_links(tmp_path: Path) -> None:
    """A memory that has ended was linked while it held, and is linked so by the new vectors."""
    clocks = FrozenClock(START), FrozenClock(START)
    with (
        opened(tmp_path / "a", OLD, clock=clocks[0]) as store,
        opened(tmp_path / "b", NEW, clock=clocks[1]) as other,
    ):
        for bank, clock in ((store.bank(), clocks[0]), (other.bank(), clocks[1])):
            ids = fill(bank, TEXTS[:60])
            clock.advance(seconds=3600)
            bank.invalidate(ids[3])
            clock.advance(seconds=3600)
            fill(bank, TEXTS[60:])
        store.bank().reembed(NEW)
        assert semantic_links(store.bank()) == semantic_links(other.bank())
        then = START + timedelta(minutes=30)
        asked = [bank.recall("kestrel", as_of=then) for bank in (store.bank(), other.bank())]
        assert shown(asked[0]) == shown(asked[1])


def test_what_was_learned_by_the_old_model_is_out_of_use(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        bank = store.bank()
        fill(bank)
        for query in QUERIES * 3:
            found = bank.recall(query, profile="engram")
            bank.used(found.hits[0].id, recall_id=found.id)
        samples = bank.samples()
        assert len(samples.labels)
        network = train_mlp(samples.features, samples.labels, seed=1)
        bank.adopt_reranker(network, samples.memories)
        assert not any("embedder" in why for why in bank.recall("kestrel", profile="engram").trace.degraded)
        bank.reembed(NEW)
        degraded = bank.recall("kestrel", profile="engram").trace.degraded
        assert any("vectors of another embedder" in why for why in degraded)
        assert not len(bank.samples().labels)


def test_an_export_carries_a_run_and_a_backup_too(tmp_path: Path) -> None:
    with opened(tmp_path / "a", OLD) as store:
        bank = store.bank()
        fill(bank)
        with pytest.raises(KeyboardInterrupt):
            bank.reembed(Failing(dimension=56, name="new", dies_at=2))
        bank.export(tmp_path / "bank.jsonl")
        bank.backup(tmp_path / "bank.db")
    for number, way in enumerate(("import", "restore")):
        with opened(tmp_path / way, OLD) as store:
            bank = store.bank()
            if way == "import":
                bank.import_bank(tmp_path / "bank.jsonl")
                bank.export(tmp_path / "again.jsonl")
                assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "bank.jsonl").read_bytes()
            else:
                bank.restore(tmp_path / "bank.db")
            assert bank.stats()["following_embedder"] == "new", number
            assert bank.verify().ok
            assert bank.reembed(NEW).encoded == 26
            assert bank.verify().ok


def test_a_damaged_vector_of_a_run_is_named(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        bank = store.bank()
        fill(bank)
        with pytest.raises(KeyboardInterrupt):
            bank.reembed(Failing(dimension=56, name="new", dies_at=2))
        with bank._rows.writing(0) as transaction:
            # As a fault of the disk would: no trigger seals what was changed.
            connection_of(transaction).config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            connection_of(transaction).execute(
                "UPDATE vectors SET scale = scale * 2 WHERE ordinal = 5 AND embedder = 2"
            )
        (problem,) = bank.verify().problems
        assert problem == "vectors: row 5, 2 is not what was written"


def test_only_the_owner_and_with_arguments_that_can_be(tmp_path: Path) -> None:
    with opened(tmp_path, OLD) as store:
        fill(store.bank(), TEXTS[:5])
        calls: list[Callable[[], object]] = [
            lambda: store.bank(principal="ada").reembed(NEW),
            lambda: store.bank(principal="ada").abandon_reembedding(),
            lambda: store.bank().reembed(7),  # type: ignore[arg-type]
            lambda: store.bank().reembed(NEW, dimension=8),
            lambda: store.bank().reembed("no such model"),
        ]
        for call in calls:
            with pytest.raises(InputError):
                call()
