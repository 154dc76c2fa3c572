"""DF-04 through the default profile: a verdict with reasons and a probability, hits kept, doubt marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.errors import InputError
from simonides.recall.refining.answers_first import SIGNAL as ANSWERS_FIRST
from simonides.recall.refining.newer_first import SIGNAL as NEWER_FIRST
from simonides.surfaces.demo.demo import read_journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.records.explanation import StageTrace
    from simonides.records.recall import Recall
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

OFF_TOPIC = (
    "Which violin maker did Balthazar commission?",
    "Latin subjunctive endings",
    "mortgage interest rate",
    "xyzzy",
)
ANSWERABLE = (
    "What does error E_TIDE_413 mean?",
    "From which office is Project Heron led?",
    "retryBackoffMs",
    "drift at Quillmouth",
)
DOUBTFUL = ("What broke during the storm?", "What is the dosage of cefadroxil for a cat of four kilograms?")
WEAK, MATCH = 0.12, 0.74


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
    return next(line for line in answer.trace.stages if line.name == "relevance")


def confidence(answer: Recall) -> float:
    assert answer.confidence is not None
    return answer.confidence


def relevances(answer: Recall) -> list[float]:
    found = [hit.relevance for hit in answer if hit.relevance is not None]
    assert len(found) == len(answer)
    return found


def all_marked(answer: Recall) -> bool:
    """Whether each memory in the context says that it is doubtful."""
    return all("possibly: " in line for line in answer.context.splitlines() if line.startswith("["))


@pytest.mark.model
@pytest.mark.spec("DF-04")
@pytest.mark.parametrize("query", OFF_TOPIC)
def test_what_the_bank_does_not_know_is_no_match(asked: Bank, query: str) -> None:
    answer = asked.recall(query, explain=True, include_chunks=True)
    assert answer.no_match
    assert answer.band == "none"
    assert 0.0 <= confidence(answer) < WEAK
    assert answer.no_match_reasons[0].startswith("the chance that anything answers is 0.")
    assert "cover" in answer.no_match_reasons[1]
    assert len(answer) == 10
    # What a rule of order moved keeps its score.
    scores = [hit.score for hit in answer if not {ANSWERS_FIRST, NEWER_FIRST} & set(hit.signals)]
    assert scores == sorted(scores, reverse=True)
    assert all(each <= confidence(answer) for each in relevances(answer))
    assert all_marked(answer)
    assert answer.chunks == ()
    assert line_of(answer).no_match == answer.no_match_reasons
    assert not any("relevance" in entry for entry in answer.trace.degraded)
    verdict = next(v for v in answer.explanations[0].verdicts if v.stage == "relevance")
    assert verdict.note.startswith("no match: ")


@pytest.mark.model
@pytest.mark.spec("DF-04")
@pytest.mark.parametrize("query", ANSWERABLE)
def test_what_it_knows_is_answered(asked: Bank, query: str) -> None:
    answer = asked.recall(query)
    assert not answer.no_match
    assert answer.no_match_reasons == ()
    assert answer.band == "match"
    assert MATCH <= confidence(answer) <= 1.0
    assert answer.context
    assert "possibly: " not in answer.context
    assert max(relevances(answer)) > 0.2
    assert {"coverage", "cosine", "max_sim", "unseen"} <= set(line_of(answer).evidence)


@pytest.mark.model
@pytest.mark.spec("DF-04")
@pytest.mark.parametrize("query", DOUBTFUL)
def test_what_it_perhaps_knows_is_marked_in_the_context(asked: Bank, query: str) -> None:
    answer = asked.recall(query)
    assert not answer.no_match
    assert answer.band == "weak"
    assert WEAK <= confidence(answer) < MATCH
    assert 1 <= answer.context.count("possibly: ") <= 2
    assert all_marked(answer)
    assert answer.hits
    assert "possibly: " not in asked.recall(query, precision="wide").context


@pytest.mark.model
@pytest.mark.spec("DF-04")
@pytest.mark.parametrize("query", ["the", "who is it", "?!", "🟢", "xyzzy", "a " * 5_000])
def test_hardly_a_question_is_judged_too(asked: Bank, query: str) -> None:
    answer = asked.recall(query)
    assert answer.no_match is bool(answer.no_match_reasons) is (answer.band == "none")
    assert 0.0 <= confidence(answer) <= 1.0
    assert all(0.0 <= each <= 1.0 for each in relevances(answer))


@pytest.mark.model
@pytest.mark.spec("DF-04")
def test_more_precision_gives_fewer_of_the_same_hits_in_the_same_order(asked: Bank) -> None:
    for query in (*ANSWERABLE, *DOUBTFUL):
        found = {
            level: [hit.id for hit in asked.recall(query, precision=level)]
            for level in ("wide", "balanced", "high")
        }
        assert len(found["high"]) <= len(found["balanced"]) <= len(found["wide"])
        assert found["high"][0] == found["wide"][0]
        for level in ("balanced", "high"):
            assert found[level] == [id_ for id_ in found["wide"] if id_ in found[level]]
        default = asked.recall(query)
        assert [hit.id for hit in default] == found["balanced"]


@pytest.mark.model
@pytest.mark.spec("DF-04")
def test_min_relevance_is_a_floor(asked: Bank) -> None:
    query = ANSWERABLE[0]
    wide = asked.recall(query, precision="wide")
    floor = sorted(relevances(wide))[-2]
    answer = asked.recall(query, precision="wide", min_relevance=floor)
    assert [hit.id for hit in answer] == [
        hit.id for hit in wide if hit.relevance is not None and hit.relevance >= floor
    ]
    nothing = asked.recall(query, min_relevance=1.0)
    assert nothing.no_match
    assert nothing.hits == ()
    assert nothing.no_match_reasons
    assert nothing.context == ""
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="min_relevance"):
            asked.recall(query, min_relevance=wrong)


@pytest.mark.spec("DF-04")
@pytest.mark.spec("DF-12")
def test_without_an_embedder_words_decide(wordy: Store) -> None:
    bank = wordy.bank("journal")
    empty = bank.recall("anything")
    assert (empty.no_match_reasons, empty.confidence) == (("nothing was found",), 0.0)
    bank.retain(read_journal())
    known = bank.recall("What does error E_TIDE_413 mean?")
    assert not known.no_match
    assert confidence(known) >= MATCH
    unknown = bank.recall("When did Balthazar go to the opera?")
    assert unknown.band != "match"
    assert unknown.hits
    assert all_marked(unknown)
    assert unknown.trace.degraded == known.trace.degraded


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
        assert (one.confidence, one.band) == (other.confidence, other.band)
        assert relevances(one) == relevances(other)
        assert one.no_match_reasons == other.no_match_reasons
        assert line_of(one).evidence == line_of(other).evidence


@pytest.mark.spec("DF-04")
def test_other_profiles_judge_nothing(bank: Bank) -> None:
    bank.retain("the kiln is mended")
    for profile in ("engram", "memoria", "jeffs_brain", "hindsight"):
        answer = bank.recall("opera", profile=profile)
        assert answer.no_match is (not answer.hits)
        assert answer.confidence is None
        assert all(hit.relevance is None for hit in answer)
