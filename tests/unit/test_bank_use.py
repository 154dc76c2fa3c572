"""What was used is recorded in batches, seen at its time, by those who may, and forgotten with its memory."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import ConflictError, InputError, NotFoundError
from simonides.evaluation.feedback import train_mlp, train_reranker
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank
    from simonides.store import Store


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with simonides.open(tmp_path / "store", clock=clock, embedder=StubEmbedder(dimension=16)) as opened:
        yield opened


@pytest.fixture
def bank(store: Store) -> Bank:
    found = store.bank("b")
    found.retain([f"Odalys repaired pump {n}" for n in range(6)])
    return found


def counts(bank: Bank, **options: Any) -> dict[str, int]:
    found = bank.recall("Odalys pump", limit=6, precision="wide", **options)
    return {hit.id: hit.memory.access_count for hit in found}


def test_a_recall_has_an_id_that_the_same_question_gets_again(bank: Bank, clock: FrozenClock) -> None:
    first = bank.recall("pump")
    assert first.id == bank.recall("pump").id == first.to_dict()["id"]
    assert first.id != bank.recall("pumps").id
    clock.advance(seconds=1)
    assert first.id != bank.recall("pump").id


def test_a_recall_writes_nothing(bank: Bank) -> None:
    before = bank.stats()["sequence"]
    bank.recall("pump")
    assert bank.stats()["sequence"] == before


@pytest.mark.spec("EN-06")
def test_nine_uses_raise_the_boost_of_frequency(bank: Bank, clock: FrozenClock) -> None:
    memory = bank.recall("pump 3")[0].id
    for _ in range(9):
        clock.advance(seconds=1)
        assert bank.used(memory) == 1
    hit = next(hit for hit in bank.recall("pump 3", profile="engram") if hit.id == memory)
    assert hit.signals["access_frequency"] == pytest.approx(1.2303, abs=1e-4)
    assert hit.memory.access_count == 9


@pytest.mark.spec("HX-09")
def test_an_earlier_viewpoint_sees_no_later_use(bank: Bank, clock: FrozenClock) -> None:
    then = clock() + timedelta(minutes=1)
    clock.advance(seconds=3600)
    before = [[h.to_dict() for h in bank.recall("pump", profile=p, as_of=then)] for p in ("helix", "engram")]
    bank.used([hit.id for hit in bank.recall("pump", precision="wide")][:2])
    after = [[h.to_dict() for h in bank.recall("pump", profile=p, as_of=then)] for p in ("helix", "engram")]
    assert after == before
    assert sum(counts(bank).values()) == 2
    assert sum(counts(bank, known_at=then).values()) == 0


@pytest.mark.spec("HX-09")
def test_what_was_used_is_recent_again(bank: Bank, clock: FrozenClock) -> None:
    clock.advance(days=30)
    first = bank.recall("pump", profile="helix")[-1]
    bank.used(first.id)
    found = {hit.id: hit.memory for hit in bank.recall("pump", profile="helix")}
    assert found[first.id].access_count == 1
    assert found[first.id].last_access_micros is not None
    untouched = [memory for memory in found.values() if memory.id != first.id]
    assert all(memory.last_access_micros is None for memory in untouched)


def test_a_principal_sees_own_uses_and_the_owners(store: Store, bank: Bank) -> None:
    first, second, *_ = counts(bank)
    store.bank("b", principal="ilse").used(first)
    bank.used(second)
    assert sum(counts(bank).values()) == 2
    assert sum(counts(store.bank("b", principal="ilse")).values()) == 2
    assert counts(store.bank("b", principal="maren"))[first] == 0


def test_a_recall_counts_a_memory_once(bank: Bank) -> None:
    answer = bank.recall("pump")
    assert bank.used(answer[0].id, recall_id=answer.id) == 1
    assert bank.used([answer[0].id, answer[1].id], recall_id=answer.id) == 1


def test_returned_memories_count_when_asked(store: Store, bank: Bank) -> None:
    answer = bank.recall("pump", limit=3, count_returned=True, precision="wide")
    assert sum(counts(bank).values()) == 0
    assert bank.used(answer[0].id, recall_id=answer.id) == 0
    assert sum(counts(bank).values()) == 3


def test_what_waits_is_written_on_closing(tmp_path: Path) -> None:
    for asked in (True, False):
        with simonides.open(tmp_path, clock=FrozenClock(), embedder=StubEmbedder(dimension=16)) as store:
            bank = store.bank("b")
            if asked:
                bank.retain("Odalys repaired a pump")
                bank.recall("pump", count_returned=True)
            else:
                assert list(counts(bank).values()) == [1]


def test_a_wrong_use_writes_nothing(store: Store, bank: Bank) -> None:
    answer = bank.recall("pump")
    private = bank.retain("a secret", acl=["ilse"])[0]
    with pytest.raises(NotFoundError):
        bank.used([answer[0].id, "nothing"])
    with pytest.raises(NotFoundError):
        store.bank("b", principal="maren").used(private)
    with pytest.raises(InputError, match="recall_id"):
        bank.used(answer[0].id, recall_id="nothing")
    with pytest.raises(InputError, match="recall_id"):
        store.bank("b", principal="maren").used(answer[0].id, recall_id=answer.id)
    with pytest.raises(InputError, match="not among"):
        bank.used(private, recall_id=answer.id)
    assert sum(counts(bank).values()) == 0
    assert bank.verify().problems == ()


def test_forgetting_and_reopening(store: Store, bank: Bank) -> None:
    answer = bank.recall("pump")
    bank.used([hit.id for hit in answer], recall_id=answer.id)
    bank.forget(answer[0].id)
    assert bank.verify().problems == ()
    bank.forget([hit.id for hit in answer])
    assert bank.verify().problems == ()
    assert len(bank.samples().labels) == 0


def test_what_was_used_by_recall(store: Store, bank: Bank, clock: FrozenClock) -> None:
    private = bank.retain("Odalys keeps a pump secret", acl=["ilse"])[0]
    first = bank.recall("Odalys pump", limit=7, precision="wide")
    clock.advance(seconds=1)
    second = bank.recall("pump")
    assert bank.used_by_recall() == {}
    bank.used([first[1].id, private], recall_id=first.id)
    bank.used(second[0].id, recall_id=second.id)
    assert bank.used_by_recall() == {first.id: (first[1].id,), second.id: (second[0].id,)}
    bank.forget(first[1].id)
    assert first.id not in bank.used_by_recall()
    with pytest.raises(InputError, match="owner"):
        store.bank("b", principal="ilse").used_by_recall()


def test_from_the_last_write_on_all_is_seen(store: Store, bank: Bank, clock: FrozenClock) -> None:
    assert store.bank("empty").last_write() is None
    written = bank.last_write()
    clock.advance(seconds=60)
    assert bank.last_write() == written
    assert bank.recall("pump", as_of=written).trace.visible == 6
    added = bank.retain("Odalys sold pump 9")[0]
    bank.invalidate(added)
    assert bank.recall("pump", as_of=bank.last_write()).trace.visible == 6
    with pytest.raises(InputError, match="owner"):
        store.bank("b", principal="ilse").last_write()


def train(bank: Bank, clock: FrozenClock) -> None:
    """One memory is used again and again, whatever was asked: the counts tell it, the cosine does not."""
    favourite = min(hit.id for hit in bank.recall("pump"))
    for n in range(40):
        clock.advance(seconds=1)
        answer = bank.recall(f"pump {n}", precision="wide")
        bank.used(favourite, recall_id=answer.id)


@pytest.mark.spec("EN-08")
def test_the_reranker_is_trained_used_and_dropped(bank: Bank, clock: FrozenClock) -> None:
    with pytest.raises(InputError, match="20"):
        train_reranker(bank)
    train(bank, clock)
    assert train_reranker(bank, dry_run=True).path == ""
    trained = train_reranker(bank)
    assert trained.used == 40
    assert trained.right > trained.right_before
    answer = bank.recall("pump 2", profile="engram")
    assert "learned_mlp" in answer[0].signals
    bank.forget(answer[0].id)
    assert "learned_mlp" not in bank.recall("pump 2", profile="engram")[0].signals


def test_a_damaged_reranker_is_left_out(bank: Bank, clock: FrozenClock) -> None:
    train(bank, clock)
    Path(train_reranker(bank).path).write_bytes(b"no network")
    assert any("learned reranker" in line for line in bank.recall("pump", profile="engram").trace.degraded)


def test_private_memories_are_not_trained_on(bank: Bank) -> None:
    bank.retain("Odalys keeps a pump secret", acl=["ilse"])
    answer = bank.recall("Odalys pump", limit=7, precision="wide")
    bank.used(answer[0].id, recall_id=answer.id)
    assert len(bank.samples().labels) == 6


def test_accesses_travel_with_an_export(store: Store, bank: Bank, tmp_path: Path) -> None:
    bank.used(list(counts(bank))[:2])
    bank.export(tmp_path / "out.jsonl")
    other = store.bank("other")
    other.import_bank(tmp_path / "out.jsonl")
    assert counts(other) == counts(bank)
    assert other.verify().problems == ()


def test_a_use_writes_no_other_recall(bank: Bank, clock: FrozenClock) -> None:
    first = bank.recall("pump")
    clock.advance(seconds=1)
    second = bank.recall("pump")
    bank.used(second[0].id)
    with pytest.raises(InputError, match="at least 20"):
        train_reranker(bank)
    assert len(bank.samples().labels) == 0
    bank.used(first[0].id, recall_id=first.id)
    assert len(bank.samples().labels) == len(first.hits)
    assert bank.used(second[0].id, recall_id=second.id) == 1


def test_a_reranker_of_a_forgotten_memory_is_not_kept(bank: Bank, clock: FrozenClock) -> None:
    train(bank, clock)
    found = bank.samples()
    network = train_mlp(found.features, found.labels, 0)
    bank.forget(found.memories[0])
    with pytest.raises(ConflictError, match="train the reranker again"):
        bank.adopt_reranker(network, found.memories)
    assert "learned_mlp" not in bank.recall("pump 2", profile="engram")[0].signals


@pytest.mark.parametrize(
    "ids", [7, None, [7], [None], ["a\0b"], "", [""], b"pump", ["x" * 100_000], ["\ud800"]]
)
def test_hostile_ids_are_refused_in_words(bank: Bank, ids: object) -> None:
    with pytest.raises((InputError, NotFoundError), match=r"ids|no memory ''"):
        bank.used(ids)  # type: ignore[arg-type]


@pytest.mark.parametrize("recall_id", [7, "", "a\0b", b"x", "x" * 100_000, "\ud800"])
def test_hostile_recall_ids_are_refused_in_words(bank: Bank, recall_id: object) -> None:
    with pytest.raises(InputError, match="recall_id"):
        bank.used(bank.recall("pump")[0].id, recall_id=recall_id)  # type: ignore[arg-type]


def test_a_principal_does_not_train(store: Store) -> None:
    with pytest.raises(InputError, match="owner"):
        train_reranker(store.bank("b", principal="ilse"))


@pytest.mark.fault("N74")
@pytest.mark.parametrize("ask", ["samples", "used_by_recall", "last_write", "moves", "audit_entries"])
def test_what_is_for_the_owner_names_the_principal(store: Store, ask: str) -> None:
    with pytest.raises(InputError, match=r"^principal: only the owner may"):
        getattr(store.bank("diary", principal="ines"), ask)()
