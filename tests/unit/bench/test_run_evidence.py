"""bench/run_evidence.py: whether evidence is whole in a context, with systems that need no packages."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import run_evidence
from bench.peers.opening import SharedEncoder
from bench.run_evidence import Counter, Found, Setting, at_session_level, cut, rendered, shares

from simonides.evaluation.datasets import Corpus, Dataset, Item, Question, load_locomo
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import WordCounter

if TYPE_CHECKING:
    import pytest

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
COUNTER = Counter(WordCounter())
TEXTS = ("Ann: The kiln\nis mended.", "Ann: I glazed two pots.", "Ann: Lovely colour!", "Ann: Goodbye then.")
ITEMS = tuple(Item(f"D{n}:1", text, START, f"session_{n}") for n, text in enumerate(TEXTS, 1))


def setting(*questions: Question) -> Setting:
    dataset = Dataset("locomo", ((Corpus("talk", ITEMS), questions),))
    return Setting(dataset, StubEmbedder(), SharedEncoder(StubEmbedder()), COUNTER, Path("unused"))


def found(*told: int, context: str | None = None) -> Found:
    keys = [ITEMS[place].key for place in told]
    text = context if context is not None else rendered([ITEMS[place] for place in told], 99, COUNTER)[0]
    contexts = dict.fromkeys(run_evidence.BUDGETS, (text, frozenset(keys)))
    return Found(tuple(keys), contexts, unfilled=True)


def complete(question: Question, answer: Found) -> float:
    share: float = shares(setting(question), {question.qid: answer})["complete"]["250"]
    return share


def test_evidence_is_whole_when_each_gold_memory_is_told_with_all_its_words() -> None:
    question = Question("q1", "What of the kiln and the pots?", ("D1:1", "D2:1"), "1")
    assert complete(question, found(2, 1, 0)) == 1.0
    assert complete(question, found(2, 1)) == 0.0, "one of two is not all"
    assert complete(question, found(0, 1, context="[1] Ann: The kiln is mended.")) == 0.0, "told, but cut off"
    repeated = "Ann: The kiln is mended. Ann: I glazed two pots."
    assert complete(question, found(2, context=repeated)) == 0.0, "words that only another memory repeats"


def test_what_a_profile_renders_beyond_the_budget_does_not_count() -> None:
    question = Question("q1", "Which pots?", ("D2:1",), "1")
    beyond = " ".join(["word"] * 250) + " Ann: I glazed two pots."
    row = shares(setting(question), {"q1": found(1, context=beyond)})
    assert row["complete"] == {"250": 0.0, "500": 1.0, "1000": 1.0, "2000": 1.0}
    assert row["tokens"]["250"] == 250
    assert cut("one two three", 2, COUNTER).split() == ["one", "two"]
    assert cut("one two", 2, COUNTER) == "one two"


def test_a_peers_hits_are_rendered_within_the_budget_and_the_next_is_tried() -> None:
    context, keys = rendered(ITEMS, 13, COUNTER)
    assert COUNTER.count(context) <= 13
    assert keys == {"D1:1", "D3:1"}, "the second is too long beside the first"
    assert context == "[1] (2026-03-01) Ann: The kiln\n  is mended.\n[2] (2026-03-01) Ann: Lovely colour!"


def test_a_session_has_the_rank_of_its_first_turn() -> None:
    questions = (
        Question("q1", "What?", ("D1:1", "D2:1"), "1"),
        Question("q2", "What, wrongly?", ("D4:1",), "5"),
    )
    answers = {"q1": found(2, 0, 2), "q2": found(0)}
    rows = at_session_level(setting(*questions).dataset, answers)
    assert rows["1-4"] == {
        "questions": 1,
        "mrr": 0.5,
        **{f"recall@{n}": 0.5 for n in (5, 10)},
        **{f"any@{n}": 1.0 for n in (5, 10)},
        **{f"all@{n}": 0.0 for n in (5, 10)},
    }
    assert (rows["1-5"]["questions"], rows["1-5"]["recall@5"]) == (2, 0.25)


def test_own_and_other_systems_are_measured_on_the_same_questions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    turns = [{"speaker": "Ann", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(TEXTS, 1)]
    questions = [
        {"question": "Who glazed pots?", "answer": "Ann", "evidence": ["D1:2"], "category": 4},
        {"question": "Who mended pots?", "adversarial_answer": "Ann", "evidence": ["D1:1"], "category": 5},
    ]
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    (tmp_path / "locomo").mkdir()
    file = tmp_path / "locomo" / "locomo10.json"
    file.write_text(json.dumps([{"sample_id": "conv-1", "conversation": talk, "qa": questions}]))
    monkeypatch.setattr(run_evidence, "load_embedder", StubEmbedder)
    monkeypatch.setattr(run_evidence, "load_token_counter", lambda _name: WordCounter())

    def run(*systems: str) -> dict[str, Any]:
        options = ["--data", str(tmp_path), "--date", "2026-03-01", "--results", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", ["run", *options, "--dataset", "locomo", "--system", *systems])
        assert run_evidence.main() == 0
        page = json.loads((tmp_path / "evidence-locomo.json").read_text("utf-8"))
        result: dict[str, Any] = page["result"]
        return result

    first = run("dense", "default")
    assert list(first["systems"]) == ["default", "dense"]
    for row in first["systems"].values():
        assert row["questions"] == 1
        assert row["complete"]["2000"] == 1.0
        assert row["sessions"]["1-4"]["questions"] == 1
        assert row["sessions"]["1-5"]["questions"] == 2
        assert row["unfilled"] == 1.0
    second = run("default-as-it-comes")
    assert set(second["systems"]) == {"default", "default-as-it-comes", "dense"}
    assert second["systems"]["dense"] == first["systems"]["dense"]
    assert "sessions" not in second["systems"]["default-as-it-comes"]


def test_misleading_evidence_is_gold_only_where_it_is_asked_for(tmp_path: Path) -> None:
    turns = [{"speaker": "Ann", "dia_id": "D1:1", "text": "The kiln is mended."}]
    asked = {"question": "Who mended pots?", "adversarial_answer": "Ann", "evidence": ["D1:1"], "category": 5}
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps([{"sample_id": "conv-1", "conversation": talk, "qa": [asked]}]))
    [plain] = load_locomo(file).questions
    [counted] = load_locomo(file, misleading_as_gold=True).questions
    assert (plain.answerable, plain.gold) == (False, ())
    assert (counted.answerable, counted.gold) == (True, ("D1:1",))
