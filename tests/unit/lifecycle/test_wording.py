"""Observations in a language model's words: what is kept of them, what is refused, and what goes with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import ModelUnavailableError
from simonides.records.enrichment import Completion
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.memory import Memory
    from simonides.testing.clock import FrozenClock

SHORT = "The kettle stands on the old stove."
LONG = "The kettle stands there on the old stove."
SENTENCE = "An old stove is where the kettle stands."


@dataclass
class Scripted:
    """Says what it is told, and keeps what it was asked."""

    answer: object = field(default_factory=lambda: {"text": SENTENCE, "sources": [1, 2]})
    asked: list[str] = field(default_factory=list)
    model: str = "scripted"
    priced: bool = False

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return 0.0

    def most_cost(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> float:
        return 0.0

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> Completion:
        self.asked.append(messages[1]["content"])
        if isinstance(self.answer, Exception):
            raise self.answer
        parsed = self.answer if isinstance(self.answer, dict) else None
        return Completion(parsed, 1, 1, "" if parsed is not None else "the answer is no JSON object")


@pytest.fixture
def bank(tmp_path: Path, clock: FrozenClock) -> Iterator[Bank]:
    with simonides.open(tmp_path / "store", clock=clock, embedder=StubEmbedder()) as store:
        opened = store.bank()
        for place, text in (("note", LONG), ("call", SHORT)):
            opened.retain(text, source=place, kind="semantic")
        yield opened


def observations(bank: Bank) -> list[Memory]:
    found = bank.recall("kettle stove", profile="lexical", kinds=["observation"], max_tokens=None)
    return [hit.memory for hit in found]


def test_a_sentence_that_cites_its_sources_is_kept_with_a_vector_of_its_own(bank: Bank) -> None:
    model = Scripted()

    (step,) = bank.maintain(model=model).steps

    (found,) = observations(bank)
    assert (found.text, found.metadata, found.proof_count) == (SENTENCE, {"written_by": "scripted"}, 2)
    assert step.reason.endswith("written by scripted")
    assert SHORT in model.asked[0]
    assert LONG in model.asked[0]
    assert bank.verify().ok
    (hit,) = bank.recall(
        SENTENCE, profile="memoria", kinds=["observation"], prefer_observations=True, limit=1
    ).hits
    assert hit.channel_scores["dense"] == pytest.approx(1.0, abs=0.02)
    # The words stay as they are: neither a second run nor new evidence asks again.
    assert bank.maintain(model=model).steps == ()
    bank.retain(LONG, source="letter", kind="semantic")
    assert [step.action for step in bank.maintain(model=model).steps] == ["update"]
    assert len(model.asked) == 1
    assert observations(bank)[0].text == SENTENCE


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"text": SENTENCE}, "cites no source"),
        ({"text": SENTENCE, "sources": []}, "cites no source"),
        ({"text": SENTENCE, "sources": "1"}, "cites no source"),
        ({"text": SENTENCE, "sources": [3]}, "a source that there is not"),
        ({"text": SENTENCE, "sources": [1, 0]}, "a source that there is not"),
        ({"text": SENTENCE, "sources": [True]}, "a source that there is not"),
        ({"text": "The kettle of Odalys stands on the stove.", "sources": [1]}, "do not"),
        ({"text": "The kettle stands on 2 old stoves.", "sources": [1]}, "do not"),
        ({"text": "A wholly different tale about boats.", "sources": [1]}, "do not"),
        ({"text": "The kettle does not stand on the old stove.", "sources": [1]}, "turns or weakens"),
        ({"text": "The kettle perhaps stands on the old stove.", "sources": [1]}, "turns or weakens"),
        ({"text": "The kettle stands on the old stove?", "sources": [1]}, "turns or weakens"),
        ({"text": "", "sources": [1]}, "do not"),
        ({"text": 5, "sources": [1]}, "do not"),
        ("not JSON", "no JSON object"),
    ],
)
def test_anything_else_is_refused_for_the_words_of_a_source(bank: Bank, answer: object, problem: str) -> None:
    (step,) = bank.maintain(model=Scripted(answer)).steps

    (found,) = observations(bank)
    assert (found.text, found.metadata) == (SHORT, {})
    assert "refused" in step.reason
    assert problem in step.reason
    assert bank.maintain(model=Scripted()).steps == ()


def test_a_model_that_cannot_be_asked_is_asked_once_a_run(bank: Bank) -> None:
    for place in ("note", "call"):
        bank.retain("The stove is cold.", source=place, kind="semantic")
    model = Scripted(ModelUnavailableError("it sleeps"))

    steps = bank.maintain(model=model).steps

    assert [step.action for step in steps] == ["observe", "observe"]
    assert len(model.asked) == 1
    assert "it sleeps" in steps[0].reason
    assert {memory.text for memory in observations(bank)} == {SHORT, "The stove is cold."}


def test_a_dry_run_asks_nothing(bank: Bank) -> None:
    model = Scripted()
    assert len(bank.maintain(dry_run=True, model=model).steps) == 1
    assert not model.asked


def test_its_words_go_with_any_of_the_sources(bank: Bank, tmp_path: Path) -> None:
    bank.maintain(model=Scripted({"text": "Quagmirous old kettle stands on the stove.", "sources": [1]}))
    bank.forget([memory.id for memory in bank.list_memories() if memory.text == LONG])

    assert observations(bank) == []
    bank.export(tmp_path / "export")
    assert b"Quagmirous" not in (tmp_path / "export").read_bytes()
