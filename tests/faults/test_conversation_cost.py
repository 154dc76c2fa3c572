"""A conversation or a document that is given anew costs what is new in it; counted, not timed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.retain import pipeline
from simonides.retain.extraction.extractor import RuleExtractor
from simonides.retain.storing import LARGEST_COMPARED
from simonides.testing.embedder import StubEmbedder
from simonides.text.dates import field_terms
from simonides.text.times.expressions import find_stated_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.testing.clock import FrozenClock

pytestmark = pytest.mark.fault("N48")


@dataclass
class Counting:
    """Stands for the embedder or the extractor of a store, and counts the texts that it is given."""

    real: Any
    counts: Counter[str] = field(default_factory=Counter)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def encode(self, texts: Sequence[str]) -> Any:
        self.counts["encoded"] += len(texts)
        return self.real.encode(texts)

    def extract(self, text: str, **options: Any) -> Any:
        self.counts["read"] += 1
        return self.real.extract(text, **options)


@pytest.fixture
def counts() -> Counter[str]:
    return Counter()


@pytest.fixture
def bank(
    tmp_path: Path, clock: FrozenClock, counts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bank]:
    def analysed(*arguments: Any) -> Any:
        counts["analysed"] += 1
        return field_terms(*arguments)

    monkeypatch.setattr(pipeline, "field_terms", analysed)
    options: dict[str, Any] = {
        "embedder": Counting(StubEmbedder(dimension=16), counts),
        "extractor": Counting(RuleExtractor(find_stated_times), counts),
    }
    with simonides.open(tmp_path / "store", clock=clock, environ={}, **options) as store:
        yield store.bank("diary")


def talk(size: int, **more: Any) -> list[dict[str, Any]]:
    """Turns of two people; no two alike."""
    return [
        {"speaker": ("Ilse", "Bram")[number % 2], "text": f"Bed {number} holds fig number {number}.", **more}
        for number in range(size)
    ]


def as_conversation(bank: Bank, turns: list[dict[str, Any]]) -> list[str]:
    return bank.retain_conversation(turns, session="s")


def as_messages(bank: Bank, turns: list[dict[str, Any]]) -> list[str]:
    messages = [{"role": "user", "name": turn["speaker"], "content": turn["text"]} for turn in turns]
    return bank.retain(messages, session="s")


@pytest.mark.parametrize("give", [as_conversation, as_messages])
@pytest.mark.parametrize("size", [20, 120])
def test_one_turn_more_costs_one_turn(
    bank: Bank,
    clock: FrozenClock,
    counts: Counter[str],
    give: Callable[[Bank, list[dict[str, Any]]], list[str]],
    size: int,
) -> None:
    ids = give(bank, talk(size))
    for more in range(1, 4):
        clock.advance(seconds=1_800)
        counts.clear()
        again = give(bank, talk(size + more))
        assert again[:-1] == ids
        assert counts == {"encoded": 1, "read": 1, "analysed": 1}
        ids = again
    counts.clear()
    assert give(bank, talk(size + 3)) == ids
    assert not counts
    assert bank.stats()["memories"] == size + 3


def test_of_a_long_conversation_the_new_turn_is_linked_at_once(bank: Bank, clock: FrozenClock) -> None:
    """All of it at once is too much to compare; one turn is not."""
    bank.retain_conversation(talk(LARGEST_COMPARED + 8), session="s")
    bank.settle()
    clock.advance(seconds=1_800)
    bank.retain_conversation(talk(LARGEST_COMPARED + 9), session="s")
    assert bank.stats()["waiting"] == 0


def test_words_that_mean_a_day_are_read_and_no_more(
    bank: Bank, clock: FrozenClock, counts: Counter[str]
) -> None:
    turns = talk(20)
    turns[4]["text"] = "I watered the figs today."
    ids = bank.retain_conversation(turns, session="s")
    clock.advance(seconds=1_800)
    counts.clear()
    assert bank.retain_conversation([*turns, *talk(21)[20:]], session="s")[:-1] == ids
    assert counts == {"encoded": 1, "read": 2, "analysed": 1}


def test_a_turn_that_was_forgotten_is_prepared_anew(bank: Bank, clock: FrozenClock) -> None:
    ids = bank.retain_conversation(talk(6), session="s")
    bank.forget(ids[2])
    clock.advance(seconds=1_800)
    again = bank.retain_conversation(talk(7), session="s")
    assert [one == other for one, other in zip(ids, again, strict=False)] == [
        True,
        True,
        False,
        True,
        True,
        True,
    ]
    assert bank.get_memory(again[2]).text == "Ilse: Bed 2 holds fig number 2."
    assert bank.stats()["with_vector"] == 7


@pytest.mark.parametrize("verb", ["forget", "invalidate"])
def test_what_leaves_while_the_turn_is_prepared_is_prepared_after_all(
    bank: Bank, clock: FrozenClock, counts: Counter[str], monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Another process takes it out between the look at the bank and the write."""
    (first,) = bank.retain_document("The figs came.", document_id="d")
    clock.advance(seconds=1_800)
    real = StubEmbedder.encode

    def encode(embedder: StubEmbedder, texts: Sequence[str]) -> Any:
        monkeypatch.setattr(StubEmbedder, "encode", real)
        getattr(bank, verb)(first)
        return real(embedder, texts)

    monkeypatch.setattr(StubEmbedder, "encode", encode)
    again, other = bank.retain_document("The figs came.\n\nThe pears came.", document_id="d")
    assert again != first
    assert {bank.get_memory(memory).text for memory in (again, other)} == {
        "The figs came.",
        "The pears came.",
    }
    assert all(hit.memory.text for hit in bank.recall("The figs came.").hits)
    assert bank.verify().ok


def test_an_edited_document_costs_its_new_paragraphs(
    bank: Bank, clock: FrozenClock, counts: Counter[str]
) -> None:
    paragraphs = [f"Bed {number} holds figs since spring." for number in range(40)]
    ids = bank.retain_document("\n\n".join(paragraphs), document_id="d")
    clock.advance(seconds=1_800)
    paragraphs[7] += " And pears."
    counts.clear()
    again = bank.retain_document("\n\n".join(paragraphs), document_id="d")
    assert counts == {"encoded": 1, "read": 1, "analysed": 1}
    assert [one == other for one, other in zip(ids, again, strict=True)].count(False) == 1


def test_an_imported_session_that_went_on_costs_what_is_new(
    bank: Bank, clock: FrozenClock, counts: Counter[str]
) -> None:
    items = [{"text": f"Fact {number}.", "document_id": "d"} for number in range(20)]
    bank.import_items(items)
    clock.advance(seconds=1_800)
    counts.clear()
    bank.import_items([*items, {"text": "Fact 20.", "document_id": "d"}])
    assert counts == {"encoded": 1, "read": 1, "analysed": 1}


def test_without_deduplication_each_is_stored_as_it_comes(bank: Bank, counts: Counter[str]) -> None:
    for _ in range(2):
        bank.retain_conversation(talk(4), session="s", deduplicate=False)
    assert counts["encoded"] == 8
    assert bank.stats()["memories"] == 8
