"""A bank: what each method does, for the owner and for a principal."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

import simonides
from simonides.bank import Bank
from simonides.errors import InputError, NotFoundError, ProfileError, UnknownNameError
from simonides.records.interval import FOREVER, Precision
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import fake_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simonides.records.memory import Memory
    from simonides.storage.bank import BankStorage
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder) -> Iterator[Store]:
    with simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as opened:
        yield opened


@pytest.fixture
def bank(store: Store) -> Bank:
    """The owner's view of an empty bank."""
    return store.bank("diary")


def texts(bank: Bank, query: str, **arguments: Any) -> list[str]:
    return [hit.text for hit in bank.recall(query, **arguments)]


def test_retain_gives_one_id_per_item_in_order(bank: Bank) -> None:
    ids = bank.retain(["The kettle is new.", {"text": "The stove is old.", "kind": "episodic"}])

    assert len(set(ids)) == 2
    assert [bank.get_memory(memory).text for memory in ids] == ["The kettle is new.", "The stove is old."]
    assert [bank.get_memory(memory).kind for memory in ids] == ["semantic", "episodic"]


def test_retain_takes_a_text_a_mapping_a_list_and_any_iterable(bank: Bank) -> None:
    assert len(bank.retain("one")) == 1
    assert len(bank.retain({"text": "two"})) == 1
    assert len(bank.retain(("three", "four"))) == 2
    assert len(bank.retain(f"number {n}" for n in range(5, 8))) == 3
    assert bank.retain([]) == []
    assert bank.stats()["memories"] == 7


def test_what_an_item_says_of_itself_comes_before_what_the_call_says(bank: Bank) -> None:
    ids = bank.retain(
        ["plain", {"text": "own", "kind": "code", "tags": ["mine"], "project": None}],
        kind="decision",
        tags=["shared"],
        project="atlas",
    )

    plain, own = map(bank.get_memory, ids)
    assert (plain.kind, plain.tags, plain.project) == ("decision", ("shared",), "atlas")
    assert (own.kind, own.tags, own.project) == ("code", ("mine",), "atlas")


def test_every_argument_of_retain_comes_back_in_the_memory(bank: Bank) -> None:
    [kept] = bank.retain(
        "Tove prefers trains.",
        kind="preference",
        layer="semantic",
        tags={"travel", "habit"},
        project="atlas",
        event_time="2026-02",
        valid_from="2026-01-05",
        valid_to=datetime(2027, 1, 1, tzinfo=UTC),
        recorded_at="2026-02-20T12:00Z",
        metadata={"page": 3, "seen": ["a", None]},
        acl=["tove", "ines"],
        source="letters/7",
        context="Said at supper.",
        relation="prefers",
        path="letters/7.md",
        salience=0.25,
        confidence=1,
    )

    memory = bank.get_memory(kept)
    assert memory.id == kept
    assert (memory.text, memory.kind, memory.layer) == ("Tove prefers trains.", "preference", "semantic")
    assert (memory.tags, memory.acl) == (("habit", "travel"), ("ines", "tove"))
    assert (memory.project, memory.source, memory.path) == ("atlas", "letters/7", "letters/7.md")
    assert (memory.context, memory.relation) == ("Said at supper.", "prefers")
    assert memory.metadata == {"page": 3, "seen": ["a", None]}
    assert (memory.salience, memory.confidence) == (0.25, 1.0)
    assert memory.event_time == datetime(2026, 2, 1, tzinfo=UTC)
    assert memory.occurred is not None
    assert memory.occurred.precision is Precision.MONTH
    assert memory.valid_from == datetime(2026, 1, 5, tzinfo=UTC)
    assert memory.valid_to == datetime(2027, 1, 1, tzinfo=UTC)
    assert memory.ingested_at == datetime(2026, 2, 20, 12, tzinfo=UTC)
    assert memory.expired_at is None
    assert memory.version == 1


def test_a_bad_item_anywhere_stores_nothing(bank: Bank) -> None:
    with pytest.raises(InputError) as caught:
        bank.retain(["good", {"text": "bad", "kind": "rumour"}, "good too"])

    assert caught.value.field == "items[1].kind"
    assert bank.stats()["versions"] == 0


def test_an_iterable_that_fails_midway_stores_nothing(bank: Bank) -> None:
    def items() -> Iterator[str]:
        yield "good"
        raise OSError("the pipe broke")

    with pytest.raises(OSError, match="the pipe broke"):
        bank.retain(items())

    assert bank.stats()["versions"] == 0


def test_retaining_the_same_again_gives_the_id_there_is_and_changes_nothing(
    bank: Bank, clock: FrozenClock
) -> None:
    item = {
        "text": "The kettle is new.",
        "tags": ["kitchen"],
        "event_time": "2026-02-10",
        "metadata": {"a": 1},
    }
    first = bank.retain(item)
    before = bank.stats()
    clock.advance(days=3)

    assert bank.retain([item, item]) == first * 2
    assert {**bank.stats(), "disk_bytes": 0} == {**before, "disk_bytes": 0}


def test_equal_items_of_one_batch_are_one_memory(bank: Bank) -> None:
    one, two, other = bank.retain(["The kettle is new.", "The kettle is new.", "The stove is old."])

    assert one == two != other
    assert bank.stats()["versions"] == 2


@pytest.mark.parametrize(
    "change",
    [
        {"text": "The kettle is old."},
        {"kind": "episodic"},
        {"layer": "working"},
        {"tags": ["kitchen"]},
        {"project": "atlas"},
        {"event_time": "2026-02-10"},
        {"valid_from": "2026-02-10"},
        {"valid_to": "2030"},
        {"metadata": {"page": 3}},
        {"acl": ["ines"]},
        {"source": "letters/7"},
        {"context": "Said at supper."},
        {"relation": "states"},
        {"path": "letters/7.md"},
        {"salience": 0.9},
        {"confidence": 0.9},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_item_that_differs_in_any_respect_is_another_memory(bank: Bank, change: dict[str, Any]) -> None:
    changed: dict[str, Any] = {"text": "The kettle is new.", **change}
    [first] = bank.retain("The kettle is new.")

    [second] = bank.retain(changed)

    assert second != first
    assert bank.stats()["memories"] == 2


def test_the_same_words_are_one_memory_with_one_more_proof(bank: Bank) -> None:
    [first] = bank.retain("The kettle is new.")

    [second] = bank.retain("the KETTLE is new!")

    assert second == first
    assert bank.stats()["memories"] == 1
    found = bank.get_memory(first)
    assert (found.text, found.proof_count, found.version) == ("The kettle is new.", 2, 2)


def test_without_deduplication_every_item_is_stored(bank: Bank) -> None:
    ids = bank.retain(["The kettle is new."] * 3, deduplicate=False)

    assert len(set(ids)) == 3
    assert bank.stats()["memories"] == 3


def test_what_was_forgotten_is_retained_anew(bank: Bank) -> None:
    [forgotten] = bank.retain("The kettle is new.")
    bank.forget(forgotten)

    [again] = bank.retain("The kettle is new.")

    assert [hit.id for hit in bank.recall("kettle")] == [again]
    assert bank.stats()["versions"] == 1


def test_an_item_that_states_its_own_past_end_is_one_memory_however_often_it_is_imported(
    bank: Bank, clock: FrozenClock
) -> None:
    item = {"text": "The stove is on loan.", "valid_from": "2025-01", "valid_to": "2026-04-01"}
    first = bank.retain(item)
    clock.advance(days=60)

    assert bank.retain([item, item]) == first * 2
    assert bank.stats()["versions"] == 1


def test_texts_without_a_vector_are_kept_and_reported(
    tmp_path: Path, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    stub = StubEmbedder(dimension=2, overrides={"The kettle is new.": (0.0, 0.0)})
    with (
        caplog.at_level(logging.WARNING, "simonides"),
        simonides.open(tmp_path, clock=clock, embedder=stub) as own,
    ):
        bank = own.bank("diary")
        bank.retain(["The stove is old.", "The kettle is new."])

        assert texts(bank, "kettle", profile="lexical") == ["The kettle is new."]
        assert bank.stats()["with_vector"] == 1
    assert "1 of 2 memories have no vector" in caplog.text
    assert "item 1, its vector is all zero" in caplog.text


def test_recall_gives_hits_best_first_with_their_evidence(bank: Bank) -> None:
    bank.retain(["The stove is old.", "The kettle is new.", "The kettle leaks."])

    recall = bank.recall("kettle leaks", precision="wide")

    assert [hit.rank for hit in recall] == [1, 2, 3]
    assert recall[0].text == "The kettle leaks."
    assert recall[0].kind == "semantic"
    assert recall[0].memory == bank.get_memory(recall[0].id)
    assert dict(recall[0].ranks) == {"dense": 1, "lexical": 1}
    assert recall[0].scored_by == "bounded_priors"
    assert [hit.score for hit in recall] == sorted((hit.score for hit in recall), reverse=True)
    assert recall.context.startswith("[1] (2026-03-01) The kettle leaks.\n[2] ")
    assert not recall.no_match
    assert recall.omitted == ()


def test_recall_in_an_empty_bank_is_no_match(bank: Bank) -> None:
    recall = bank.recall("kettle")

    assert (recall.hits, recall.context, recall.omitted) == ((), "", ())
    assert recall.no_match
    assert recall.trace.rows == 0


def test_words_that_only_put_the_question_find_nothing_unless_there_are_no_others(bank: Bank) -> None:
    bank.retain(["the stove is old", "kettle"])

    assert texts(bank, "is the kettle", profile="lexical") == ["kettle"]
    assert texts(bank, "is the", profile="lexical") == ["the stove is old"]


def test_limit_cuts_and_the_profile_has_one(bank: Bank) -> None:
    bank.retain([f"kettle number {n}" for n in range(15)])

    assert len(bank.recall("kettle", precision="wide", limit=3)) == 3
    assert len(bank.recall("kettle", precision="wide")) == 10
    assert len(bank.recall("kettle", precision="wide", limit=100)) == 15


def test_max_tokens_bounds_the_context_and_zero_means_none(bank: Bank) -> None:
    bank.retain(["The kettle is new.", "The kettle leaks."])

    assert len(bank.recall("kettle", max_tokens=20)) == 1
    nothing = bank.recall("kettle", max_tokens=0)
    assert (nothing.hits, nothing.context) == ((), "")
    assert len(nothing.omitted) == 2
    assert len(bank.recall("kettle", max_tokens=None)) == 2


def test_filters_keep_what_they_name(bank: Bank) -> None:
    bank.retain(
        [
            {
                "text": "kettle one",
                "kind": "decision",
                "project": "atlas",
                "tags": ["a"],
                "event_time": "2026-01-10",
            },
            {
                "text": "kettle two",
                "kind": "code",
                "project": "borea",
                "tags": ["b"],
                "event_time": "2026-02-10",
            },
            {"text": "kettle three"},
        ]
    )

    assert texts(bank, "kettle", kinds="decision") == ["kettle one"]
    assert sorted(texts(bank, "kettle", kinds=["decision", "code"])) == ["kettle one", "kettle two"]
    assert texts(bank, "kettle", project="borea") == ["kettle two"]
    assert texts(bank, "kettle", project="") == ["kettle three"]
    assert sorted(texts(bank, "kettle", tags=["a"])) == ["kettle one", "kettle three"]
    assert texts(bank, "kettle", tags=["a"], tags_match="any_strict") == ["kettle one"]
    assert texts(bank, "kettle", tags=[], tags_match="exact") == ["kettle three"]
    assert texts(bank, "kettle", window="2026-01") == ["kettle one"]
    assert texts(bank, "kettle", window=("2026-01-11", None)) == ["kettle two"]
    assert texts(bank, "kettle", kinds="decision", project="borea") == []


def test_the_viewpoint_is_now_unless_it_is_given(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("kettle one")
    clock.advance(days=10)
    bank.retain("kettle two")

    assert len(bank.recall("kettle")) == 2
    assert texts(bank, "kettle", as_of="2026-03-05") == ["kettle one"]
    assert texts(bank, "kettle", as_of=datetime(2026, 3, 1, 8, tzinfo=UTC)) == []


def test_what_was_retained_is_recalled_at_once_also_when_the_clock_stands_or_steps_back(
    bank: Bank, clock: FrozenClock
) -> None:
    for step in range(3):
        bank.retain(f"kettle {step}")
        assert len(bank.recall("kettle")) == step + 1
        clock.advance(days=-1)


def test_the_profile_is_a_name_or_a_file(bank: Bank, tmp_path: Path) -> None:
    bank.retain("The kettle is new.")
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "lexical"\nlimit = 1\n', encoding="utf-8")

    assert bank.recall("kettle").trace.profile == "default"
    assert bank.recall("kettle", profile="lexical").trace.profile == "lexical"
    assert bank.recall("kettle", profile=mine).trace.profile == "mine"
    assert bank.recall("kettle", profile=str(mine)).trace.profile == "mine"


def test_a_profile_that_is_not_there_or_wrong_is_named(bank: Bank, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('extends = "default"\n[stages.dense]\ndepht = 3\n', encoding="utf-8")

    with pytest.raises(UnknownNameError, match="did you mean 'lexical'"):
        bank.recall("kettle", profile="lexicl")
    with pytest.raises(NotFoundError, match="no file"):
        bank.recall("kettle", profile=tmp_path / "none.toml")
    with pytest.raises(ProfileError, match=r"wrong\.toml.*did you mean 'depth'") as caught:
        bank.recall("kettle", profile=wrong)
    assert caught.value.field == "stages.dense.depht"


def test_the_seed_is_in_the_trace(bank: Bank) -> None:
    bank.retain("The kettle is new.")

    assert bank.recall("kettle", seed=7).trace.seed == 7
    assert bank.recall("kettle").trace.seed == bank.recall("kettle").trace.seed
    assert bank.recall("kettle").trace.seed != bank.recall("stove").trace.seed


def test_get_finds_by_id_or_says_which_is_not_there(bank: Bank, store: Store) -> None:
    [kept] = bank.retain("The kettle is new.")

    assert bank.get_memory(kept).text == "The kettle is new."
    with pytest.raises(NotFoundError, match=r"no memory '0000' in bank 'diary'"):
        bank.get_memory("0000")
    with pytest.raises(KeyError):
        store.bank("other").get_memory(kept)
    bank.forget(kept)
    with pytest.raises(NotFoundError):
        bank.get_memory(kept)


@pytest.mark.parametrize("memory", [None, 3, b"0000", ["0000"], "a\0b", "a\ud800", "0" * 100], ids=ascii)
def test_get_and_forget_refuse_what_is_no_id(bank: Bank, memory: Any) -> None:
    bank.retain("The kettle is new.")

    with pytest.raises(InputError) as caught:
        bank.get_memory(memory)
    assert caught.value.field == "memory"
    with pytest.raises(InputError) as caught:
        bank.forget([memory])
    assert caught.value.field == "ids[0]"
    assert bank.stats()["versions"] == 1


class Versions:
    """Stands in for a backend that holds these versions of one memory, oldest first."""

    audit = SimpleNamespace(covers_recalls=False)

    def __init__(self, found: Sequence[Memory]) -> None:
        self.found = list(found)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Versions]:
        yield self

    def versions(self, memory: str) -> list[Memory]:
        return [version for version in self.found if version.id == memory]

    def check(self, ordinals: Sequence[int]) -> None:
        """None of them is damaged."""


def test_get_gives_the_newest_version(bank: Bank) -> None:
    first = fake_memory("m", version=1, expired_at_micros=10)
    second = replace(first, version=2, ordinal=1, expired_at_micros=20)
    third = replace(first, version=3, ordinal=2, expired_at_micros=FOREVER)

    def seen(versions: Sequence[Memory]) -> int:
        rows = cast("BankStorage", Versions(versions))
        return Bank("diary", rows, None, bank._context.parts).get_memory("m").version

    assert seen([first, second, third]) == 3
    assert seen([first, second]) == 2


def test_forget_takes_an_id_or_a_list_and_counts_what_was_there(bank: Bank) -> None:
    one, two, three, four = bank.retain(["kettle one", "kettle two", "kettle three", "kettle four"])

    assert bank.forget(one) == 1
    assert bank.forget([two, "0000", two, one]) == 1
    assert bank.forget(iter([three])) == 1
    assert bank.forget("0000") == 0
    assert bank.forget([]) == 0
    assert [hit.id for hit in bank.recall("kettle")] == [four]
    assert bank.stats()["versions"] == bank.stats()["episodes"] == bank.stats()["with_vector"] == 1
    assert bank.verify().ok


@pytest.mark.parametrize("ids", [None, 3, 1.5, object()])
def test_forget_refuses_what_is_neither_an_id_nor_a_list(bank: Bank, ids: Any) -> None:
    with pytest.raises(InputError) as caught:
        bank.forget(ids)

    assert caught.value.field == "ids"


def test_forget_with_one_bad_id_forgets_nothing(bank: Bank) -> None:
    [kept] = bank.retain("The kettle is new.")

    with pytest.raises(InputError):
        bank.forget([kept, "a\0b"])

    assert bank.get_memory(kept).text == "The kettle is new."


def test_stats_count_what_is_current_and_what_is_stored(bank: Bank, clock: FrozenClock) -> None:
    bank.retain(["kettle one", "kettle two"])
    bank.retain("kettle three", valid_to="2026-03-02")
    clock.advance(days=2)

    stats = bank.stats()

    assert stats["bank"] == "diary"
    assert (stats["current"], stats["memories"], stats["versions"]) == (2, 3, 3)
    assert (stats["embedder"], stats["dimension"], stats["with_vector"]) == ("stub", 32, 3)
    assert stats["disk_bytes"] > 0
    assert stats["problems"] == []


def test_verify_of_a_sound_bank_is_ok_and_says_what_it_looked_at(bank: Bank) -> None:
    bank.retain(["kettle one", "kettle two"])

    report = bank.verify()

    assert report.ok
    assert report.checked["rows"] == 2
    assert report.problems == ()


def test_a_principal_recalls_and_gets_only_what_it_may_read(store: Store, bank: Bank) -> None:
    everyone, ines_only, both = bank.retain(
        [
            "kettle for everyone",
            {"text": "kettle for ines", "acl": ["ines"]},
            {"text": "kettle for both", "acl": ["ines", "tove"]},
        ]
    )
    readable = {
        None: {everyone, ines_only, both},
        "ines": {everyone, ines_only, both},
        "tove": {everyone, both},
        "Ines": {everyone},
        "stranger": {everyone},
    }

    for principal, ids in readable.items():
        view = store.bank("diary", principal=principal)
        assert {hit.id for hit in view.recall("kettle")} == ids
        assert view.stats()["current"] == len(ids)
        for memory in (everyone, ines_only, both):
            if memory in ids:
                assert view.get_memory(memory).id == memory
            else:
                with pytest.raises(NotFoundError):
                    view.get_memory(memory)


def test_what_a_principal_may_not_read_is_as_if_it_were_not_there(store: Store, bank: Bank) -> None:
    [hidden] = bank.retain("kettle for ines", acl=["ines"])
    tove = store.bank("diary", principal="tove")

    def complaint(memory: str) -> str:
        with pytest.raises(NotFoundError) as caught:
            tove.get_memory(memory)
        return str(caught.value).replace(memory, "…")

    assert complaint(hidden) == complaint("0" * 16)
    assert tove.forget(hidden) == tove.forget("0" * 16) == 0
    assert bank.get_memory(hidden).text == "kettle for ines"


def test_a_principal_forgets_only_what_it_may_read(store: Store, bank: Bank) -> None:
    hidden, own = bank.retain(
        [{"text": "kettle for ines", "acl": ["ines"]}, {"text": "cup", "acl": ["tove"]}]
    )

    assert store.bank("diary", principal="tove").forget([hidden, own]) == 1

    assert [hit.id for hit in bank.recall("kettle cup")] == [hidden]


def test_stats_verify_and_trace_tell_a_principal_nothing_of_others(store: Store, bank: Bank) -> None:
    bank.retain("kettle for everyone")
    tove = store.bank("diary", principal="tove")

    def told() -> tuple[object, ...]:
        trace = tove.recall("kettle").trace
        return (
            tove.stats(),
            tove.verify(),
            trace.rows,
            trace.visible,
            trace.eligible,
            trace.sequence,
            trace.as_of,
        )

    before = told()
    bank.retain([{"text": f"kettle for ines {n}", "acl": ["ines"]} for n in range(5)])

    assert told() == before
    assert tove.stats() == {"bank": "diary", "current": 1}
    assert bank.recall("kettle").trace.rows == 6


def test_a_principal_learns_that_a_bank_is_damaged_but_not_where(
    store: Store, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    [hidden] = bank.retain("kettle for ines", acl=["ines"])
    damaged = replace(bank.verify(), problems=(f"row of {hidden} differs",))
    monkeypatch.setattr(bank._rows, "verify", lambda _: damaged)

    report = store.bank("diary", principal="tove").verify()

    assert not report.ok
    assert hidden not in str(report)
    assert bank.verify() is damaged


def test_only_the_owner_may_state_when_something_was_recorded(store: Store, bank: Bank) -> None:
    ines = store.bank("diary", principal="ines")

    with pytest.raises(InputError, match="only the owner") as caught:
        ines.retain("kettle", recorded_at="2026-01-01")
    assert caught.value.field == "recorded_at"
    with pytest.raises(InputError, match="only the owner"):
        ines.retain(["kettle", {"text": "stove", "recorded_at": "2026"}])
    assert bank.stats()["versions"] == 0
    [kept] = bank.retain("kettle", recorded_at="2026-01-01")
    assert bank.get_memory(kept).ingested_at == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_principal_retains_for_whom_it_says(store: Store, bank: Bank) -> None:
    ines = store.bank("diary", principal="ines")
    [open_to_all] = ines.retain("kettle for everyone")
    [hers] = ines.retain("kettle for ines", acl=["ines"])

    assert {hit.id for hit in ines.recall("kettle")} == {open_to_all, hers}
    assert {hit.id for hit in store.bank("diary", principal="tove").recall("kettle")} == {open_to_all}
    assert bank.get_memory(hers).acl == ("ines",)


def test_stamps_of_a_bank_rise_though_the_clock_does_not(bank: Bank, clock: FrozenClock) -> None:
    ids = bank.retain(["one", "two"])
    clock.advance(seconds=-5)
    ids += bank.retain("three")

    stamps = [bank.get_memory(memory).ingested_at for memory in ids]

    start = datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert stamps == [start + timedelta(microseconds=n) for n in range(3)]
