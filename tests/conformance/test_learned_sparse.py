"""The learned sparse channel (HX-18) over a real bank: terms stored, found, shared with no one else, erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.errors import EmbedderMismatchError, InputError
from simonides.testing.sparse import StubSparseEncoder

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.protocols import SparseEncoder
    from simonides.testing.clock import FrozenClock

STUB = StubSparseEncoder(synonyms={"automobile": "car", "feline": "cat"})
TEXTS = ("the car is red", "an automobile broke down", "the cat sleeps", "rain all day")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile of the sparse channel alone."""
    file = tmp_path / "sparse.toml"
    file.write_text(
        'extends = "lexical"\n'
        'order = ["sparse_terms", "sparse", "reciprocal_rank", "token_budget"]\n'
        "[stages.sparse]\ndepth = 100\n",
        encoding="utf-8",
    )
    return file


def opened(
    place: Path, clock: FrozenClock, sparse: SparseEncoder | None = STUB, **options: Any
) -> simonides.Store:
    return simonides.open(place, clock=clock, embedder=None, sparse=sparse, **options)


def found(bank: Bank, query: str, profile: Path, **options: Any) -> list[tuple[str, float]]:
    answer = bank.recall(query, limit=10, max_tokens=None, profile=str(profile), **options)
    return [(hit.memory.text, hit.channel_scores["sparse"]) for hit in answer]


def product(query: str, text: str) -> float:
    one, two = STUB.encode_query(query), STUB.encode_query(text)
    weights = dict(zip(two.ids.tolist(), two.weights.tolist(), strict=True))
    pairs = zip(one.ids.tolist(), one.weights.tolist(), strict=True)
    return float(sum(weight * weights.get(term, 0.0) for term, weight in pairs))


@pytest.mark.spec("HX-18")
def test_a_memory_is_found_by_terms_that_its_words_are_not(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    with opened(tmp_path / "store", clock) as store:
        bank = store.bank()
        bank.retain(list(TEXTS))
        hits = found(bank, "car", profile)
    assert [text for text, _ in hits] == ["the car is red", "an automobile broke down"]
    assert [score for _, score in hits] == pytest.approx([product("car", text) for text, _ in hits], abs=0.01)


@pytest.mark.spec("HX-18")
def test_without_an_encoder_the_channel_is_passed_over_with_a_reason(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    with opened(tmp_path / "store", clock, None) as store:
        bank = store.bank()
        bank.retain(list(TEXTS))
        answer = bank.recall("car", profile=str(profile))
        assert "no sparse encoder" in str(answer.trace.to_dict())
    with opened(tmp_path / "store", clock) as store:
        answer = store.bank().recall("car", profile=str(profile))
        assert "no memory to look at has sparse terms" in str(answer.trace.to_dict())


@pytest.mark.spec("HX-18")
def test_terms_outlive_a_merge_a_reopening_and_the_index(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    with opened(tmp_path / "store", clock) as store:
        bank = store.bank()
        bank.retain(list(TEXTS))
        before = found(bank, "car cat", profile)
        assert bank._rows.merge_if_due(force=True)
        assert found(bank, "car cat", profile) == before
        bank.retain("another car")
        both = found(bank, "car cat", profile)
        assert len(both) == len(before) + 1
        assert bank.verify().ok
        index = bank._rows.folder / "index"
    for path in sorted(index.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with opened(tmp_path / "store", clock) as store:
        assert found(store.bank(), "car cat", profile) == both


@pytest.mark.spec("HX-18")
def test_what_others_hold_and_what_came_later_changes_nothing(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    with opened(tmp_path / "store", clock) as store:
        mine = store.bank(principal="ines")
        mine.retain(list(TEXTS), acl=["ines"])
        before = found(mine, "car", profile)
        then = clock.advance(seconds=60)
        clock.advance(seconds=60)
        store.bank(principal="tove").retain(["a car of mine", "car car car"], acl=["tove"])
        assert found(mine, "car", profile) == before
        mine.retain("the car of a friend", acl=["ines"])
        assert len(found(mine, "car", profile)) == len(before) + 1
        assert found(mine, "car", profile, as_of=then) == before


@pytest.mark.spec("HX-18")
def test_forgetting_and_new_versions_take_the_terms_along(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    with opened(tmp_path / "store", clock) as store:
        bank = store.bank()
        ids = bank.retain(list(TEXTS))
        clock.advance(seconds=60)
        bank.invalidate(ids[2])
        rows = "SELECT count(*) FROM sparse_terms"
        with bank._rows.reading() as reading:
            assert connection_of(reading).execute(rows).fetchone() == (5,), (
                "the ended version has its terms, too"
            )
        bank._rows.merge_if_due(force=True)
        bank.forget([ids[0], ids[2]])
        assert [text for text, _ in found(bank, "car", profile)] == ["an automobile broke down"]
        with bank._rows.reading() as reading:
            assert connection_of(reading).execute(rows).fetchone() == (2,)
        assert bank.verify().ok


@pytest.mark.spec("HX-18")
def test_a_turn_is_found_by_what_its_neighbours_speak_of_until_they_are_forgotten(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    turns = [
        {"speaker": "Ines", "text": "How is the kayak?"},
        {"speaker": "Tove", "text": "Still leaking."},
        {"speaker": "Ines", "text": "Rain again."},
    ]
    with opened(tmp_path / "store", clock) as store:
        bank = store.bank()
        ids = bank.retain_conversation(turns, session="morning")
        assert {text for text, _ in found(bank, "kayak", profile)} >= {
            "Tove: Still leaking.",
            "Ines: How is the kayak?",
        }
        bank.forget(ids[0])
        assert found(bank, "kayak", profile) == []
        report = bank.verify()
        assert report.ok
        assert "2 versions have no sparse terms; other channels find them" in report.notes


@pytest.mark.spec("HX-18")
def test_an_export_carries_the_terms(tmp_path: Path, clock: FrozenClock, profile: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    with opened(tmp_path / "one", clock) as store:
        bank = store.bank()
        bank.retain(list(TEXTS))
        bank.export(first)
        expected = found(bank, "car", profile)
    with opened(tmp_path / "two", clock) as store:
        bank = store.bank()
        restored = bank.import_bank(first)
        assert restored.added.sparse == len(TEXTS)
        bank.export(second)
        assert found(bank, "car", profile) == expected
        assert bank.verify().ok
        other = store.bank("other")
        other.retain("a car")
    assert first.read_bytes() == second.read_bytes()
    with opened(tmp_path / "three", clock, StubSparseEncoder(name="another")) as store:
        bank = store.bank()
        bank.retain("a car")
        with pytest.raises(EmbedderMismatchError, match="stub-sparse"):
            bank.import_bank(first)


@pytest.mark.spec("HX-18")
def test_another_encoder_is_refused_for_writing_and_passed_over_for_reading(
    tmp_path: Path, clock: FrozenClock, profile: Path
) -> None:
    with opened(tmp_path / "store", clock) as store:
        store.bank().retain(list(TEXTS))
    with opened(tmp_path / "store", clock, StubSparseEncoder(name="another")) as store:
        bank = store.bank()
        with pytest.raises(EmbedderMismatchError, match="holds sparse terms of 'stub-sparse'"):
            bank.retain("a new car")
        answer = bank.recall("car", profile=str(profile))
        assert any("stub-sparse" in problem for problem in answer.trace.degraded)
        assert len(answer) == 0


@pytest.mark.spec("HX-18")
def test_damaged_terms_are_named(tmp_path: Path, clock: FrozenClock) -> None:
    with opened(tmp_path / "store", clock) as store:
        bank = store.bank()
        bank.retain(["the car is red"])
        with apsw.Connection(str(bank._rows.folder / "memory.db")) as connection:
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            connection.execute(
                "UPDATE sparse_terms SET terms = CAST(substr(terms, 1, length(terms) - 1) || x'07' AS BLOB)"
            )
        assert "sparse_terms: row 0 is not what was written" in bank.verify().problems


def test_what_is_no_encoder_is_refused(tmp_path: Path, clock: FrozenClock) -> None:
    wrong: Any
    for wrong in (7, " "):
        with pytest.raises(InputError, match="sparse"):
            opened(tmp_path / "store", clock, wrong)
