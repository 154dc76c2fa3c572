"""DF-04 through the default profile: a verdict with reasons, hits kept, no context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.surfaces.demo.demo import read_journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.records.recall import Recall
    from simonides.records.trace import StageTrace
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

OFF_TOPIC = (
    "What is the dosage of cefadroxil for a cat of four kilograms?",
    "Which violin maker did Balthazar commission?",
    "Latin subjunctive endings",
    "mortgage interest rate",
)
ANSWERABLE = (
    "What does error E_TIDE_413 mean?",
    "What broke during the storm?",
    "From which office is Project Heron led?",
    "retryBackoffMs",
    "drift at Quillmouth",
)


@pytest.fixture(scope="module")
def asked(default_embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    with simonides.open(tmp_path_factory.mktemp("store"), embedder=default_embedder) as store:
        bank = store.bank("journal")
        bank.retain(read_journal())
        yield bank


@pytest.fixture
def wordy(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with simonides.open(tmp_path / "words", clock=clock, embedder=None) as store:
        yield store


def line_of(answer: Recall) -> StageTrace:
    return next(line for line in answer.trace.stages if line.name == "abstention")


@pytest.mark.model
@pytest.mark.spec("DF-04")
@pytest.mark.parametrize("query", OFF_TOPIC)
def test_what_the_bank_does_not_know_is_no_match(asked: Bank, query: str) -> None:
    answer = asked.recall(query, explain=True, include_chunks=True)
    assert answer.no_match
    assert answer.no_match_reasons[0].startswith("the evidence weighs 0.")
    assert "cover" in answer.no_match_reasons[1]
    assert len(answer) == 10
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)
    assert answer.context == ""
    assert answer.chunks == ()
    assert line_of(answer).no_match == answer.no_match_reasons
    assert not any("abstention" in entry for entry in answer.trace.degraded)
    verdict = next(v for v in answer.explanations[0].verdicts if v.stage == "abstention")
    assert verdict.note.startswith("no match: ")


@pytest.mark.model
@pytest.mark.spec("DF-04")
@pytest.mark.parametrize("query", ANSWERABLE)
def test_what_it_knows_is_answered(asked: Bank, query: str) -> None:
    answer = asked.recall(query)
    assert not answer.no_match
    assert answer.no_match_reasons == ()
    assert answer.context
    assert set(line_of(answer).evidence) == {"coverage", "cosine", "gap", "score"}


@pytest.mark.model
@pytest.mark.spec("DF-04")
@pytest.mark.parametrize("query", ["the", "who is it", "?!", "🟢", "xyzzy", "a " * 5_000])
def test_hardly_a_question_is_judged_too(asked: Bank, query: str) -> None:
    answer = asked.recall(query)
    assert answer.no_match is bool(answer.no_match_reasons)
    assert bool(answer.context) is not answer.no_match


@pytest.mark.spec("DF-04")
@pytest.mark.spec("DF-12")
def test_without_an_embedder_words_decide(wordy: Store) -> None:
    bank = wordy.bank("journal")
    assert bank.recall("anything").no_match_reasons == ("nothing was found",)
    bank.retain(read_journal())
    known = bank.recall("What does error E_TIDE_413 mean?")
    assert not known.no_match
    unknown = bank.recall(
        "Which perfume does Ottoline wear to the opera with Balthazar and Perpetua on the day?"
    )
    assert unknown.no_match
    assert unknown.hits
    assert unknown.context == ""
    assert unknown.no_match_reasons[0].endswith("that words alone need")


@pytest.mark.spec("DF-04")
def test_rows_of_others_change_no_verdict(store: Store) -> None:
    mine = store.bank("shared", principal="ines")
    mine.retain(["the kiln is mended", "the glaze is blue", "the boat is sold"], acl=["ines"])
    queries = ("Who mended the kiln?", "Which opera did Balthazar hear?", "glaze", "the")
    before = [mine.recall(query) for query in queries]
    store.bank("shared", principal="tomas").retain(
        ["Balthazar heard an opera", "opera opera opera", "kiln kiln", "a glaze for Balthazar"], acl=["tomas"]
    )
    after = [mine.recall(query) for query in queries]
    for one, other in zip(before, after, strict=True):
        assert one.no_match_reasons == other.no_match_reasons
        assert line_of(one).evidence == line_of(other).evidence


@pytest.mark.spec("DF-04")
def test_other_profiles_do_not_abstain(bank: Bank) -> None:
    bank.retain("the kiln is mended")
    for profile in ("engram", "memoria", "jeffs_brain", "hindsight"):
        answer = bank.recall("opera", profile=profile)
        assert answer.no_match is (not answer.hits)
