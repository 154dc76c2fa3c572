"""The models of relevance: fitted alike from alike data, and on nothing that forbids it."""

from __future__ import annotations

import json
import uuid
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bench.fit_relevance import (
    ELSEWHERE_WEIGHT,
    GREETINGS,
    LONG,
    STRANGE,
    Samples,
    checks,
    collect,
    fit,
    fit_all,
    manifest,
)

from simonides.evaluation.datasets import load_musique
from simonides.evaluation.relevance import fitted_on, off_topic_questions
from simonides.recall.refining import chance
from simonides.recall.refining.chance import ChanceModel
from simonides.recall.refining.relevance import WORDS, Relevance

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 50_000


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Data sets of the right form, of few facts."""
    facts = [
        {"id": f"a{n}", "text": text}
        for n, text in enumerate(("The kiln is red.", "The boat is sold.", "Ines bakes rye bread."))
    ]
    asked = [
        {"id": "q1", "bank": "a", "style": "full", "query": "What colour is the kiln?", "gold": ["a0"]},
        {
            "id": "q2",
            "bank": "a",
            "style": "full",
            "query": "who bakes",
            "gold": ["a2"],
            "acceptable": ["a1"],
        },
    ]
    missed = [{"id": "u1", "bank": "a", "kind": "near_miss", "query": "Who bought the boat?", "gold": []}]
    banks = [{"bank": "a", "facts": facts}]
    turns = [
        {"id": f"t{n}", "speaker": who, "role": who, "text": text, "event_time": f"2026-05-02T09:0{n}:00Z"}
        for n, (who, text) in enumerate((("user", "The key is under the mat."), ("assistant", "Noted.")))
    ]
    chat = {
        "id": "c1",
        "sessions": [{"session": "c1-s1", "turns": turns}],
        "queries": [{"id": "c1-q1", "query": "where is the key", "gold": ["t0"], "acceptable": ["t1"]}],
        "asked_at": "2026-05-03T09:00:00Z",
    }
    short = {
        "banks": {"b": [{"id": "f1", "text": "Deploys run at noon.", "context": "release"}]},
        "cases": [
            {"id": "b1", "bank": "b", "query": "release time", "gold": ["f1"]},
            {"id": "b2", "bank": "b", "query": "deploys of mongodb", "gold": []},
        ],
    }
    paragraph = {"idx": 0, "title": "Kilns", "paragraph_text": "A kiln is an oven.", "is_supporting": True}
    question = {
        "id": "2hop__1",
        "question": "What is a kiln?",
        "question_decomposition": [{"id": 0}, {"id": 1}],
        "paragraphs": [paragraph],
    }
    corpus = [
        {"title": "Kilns", "text": "A kiln is an oven."},
        {"title": "Tea", "text": "Tea grows in Assam."},
    ]
    for name, stored in {
        "everyday/facts": {"banks": banks, "questions": asked, "unanswerable": missed},
        "everyday/chats": {"conversations": [chat]},
        "shortbanks/cases": short,
        "musique/musique": [question],
        "musique/musique_corpus": corpus,
    }.items():
        file = tmp_path / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(stored), encoding="utf-8")
    return tmp_path


def shipped() -> tuple[str, dict[str, Any]]:
    text = files(chance.__package__).joinpath(chance.FILE).read_text(encoding="utf-8")
    return text, json.loads(text)


def test_the_same_data_give_the_same_bytes(data: Path) -> None:
    refine, identity = Relevance.refine, uuid.uuid4
    first = fit_all(data, {WORDS: None})
    assert fit_all(data, {WORDS: None}) == first
    assert (Relevance.refine, uuid.uuid4) == (refine, identity)
    stored = json.loads(first)
    assert set(stored["models"][WORDS]) == {"anything", "hit"}
    for model in stored["models"][WORDS].values():
        assert ChanceModel.read(model).to_dict() == model
    assert stored["fitted_on"][WORDS].keys() == {"facts", "short", "chat", "musique"}


def test_what_is_collected(data: Path) -> None:
    judged = collect(data, None)
    by_bank: dict[str, list[Any]] = {}
    for each in judged:
        by_bank.setdefault(each.bank, []).append(each)
    assert by_bank.keys() == {"facts-a", "short-b", "facts-a-tiny-0", "short-b-tiny-0", "chat-c1", "musique"}
    assert [each.answerable for each in by_bank["chat-c1"] if each.weight == 1.0] == [True]
    # Of the bank's own questions the last has no answer; what is asked of it besides weighs little.
    own = [each.answerable for each in by_bank["facts-a"] if each.weight == 1.0]
    assert own == [True, True, False]
    assert all(not each.answerable for each in by_bank["facts-a"] if each.weight < 1.0)
    assert {each.weight for each in judged} <= {1.0, ELSEWHERE_WEIGHT}
    for each in judged:
        assert len(each.right) == len(each.either) == len(each.signals.ordinals) <= 10
        assert each.answerable or not each.right.any()
    counts = manifest(judged)
    assert counts["facts"]["banks"] == ["facts-a", "facts-a-tiny-0"]
    assert counts["facts"]["own"] == 4
    assert sum(part["questions"] for part in counts.values()) == len(judged)
    assert 4 <= counts["facts"]["questions"] <= 4 + len(GREETINGS) + 2 * (STRANGE + 2 * LONG)
    texts = sum(map(len, off_topic_questions().values()))
    asked = len(load_musique(data / "musique").questions)
    assert asked <= counts["musique"]["questions"] <= asked + texts + 3 * STRANGE


def test_the_report_names_every_data_set(data: Path) -> None:
    lines = list(checks(collect(data, None)))
    assert [line.split()[:2] for line in lines] == [
        [model, part]
        for model in ("anything", "hit")
        for part in ("facts", "short", "chat", "musique", "all")
    ]
    assert all("calibration error 0." in line or "calibration error 1." in line for line in lines)


def test_a_fit_finds_the_odds_that_the_labels_were_drawn_from() -> None:
    draw = np.random.default_rng(5)
    signals = {"a": draw.normal(0.0, 1.0, 20_000), "b": draw.normal(2.0, 3.0, 20_000)}
    odds = 0.5 + 1.0 * signals["a"] - 0.2 * signals["b"] + 0.1 * signals["a"] * signals["b"]
    true = 1.0 / (1.0 + np.exp(-odds))
    labels = (draw.random(20_000) < true).astype(np.float64)
    samples = Samples(signals, labels, np.ones(20_000), np.full(20_000, "x"))
    found = fit(samples, 1.0).chances(signals)
    assert float(np.abs(found - true).mean()) < 0.02


def test_what_weighs_nothing_changes_no_fit() -> None:
    draw = np.random.default_rng(6)
    signals = {"a": draw.normal(0.0, 1.0, 400)}
    labels = (signals["a"] + draw.normal(0.0, 1.0, 400) > 0).astype(np.float64)
    samples = Samples(signals, labels, np.ones(400), np.full(400, "x"))
    wrong = Samples(
        {"a": np.append(signals["a"], 99.0)}, np.append(labels, 0.0), np.append(samples.weights, 0.0),
        np.append(samples.folds, "x"),
    )  # fmt: skip
    assert fit(wrong, 1.0).to_dict() == fit(samples, 1.0).to_dict()


def test_the_shipped_file_is_small_and_says_what_it_was_fitted_on() -> None:
    text, stored = shipped()
    assert len(text.encode()) <= LARGEST
    assert stored["models"].keys() == stored["fitted_on"].keys()
    for sets in stored["fitted_on"].values():
        assert sets.keys() == {"facts", "short", "chat", "musique"}
        for part in sets.values():
            assert part["banks"] == sorted(set(part["banks"]))
            assert 0 < part["own"] <= part["questions"]
    assert fitted_on() == ("chat", "facts", "musique", "short")


def test_the_shipped_file_was_not_fitted_on_locomo() -> None:
    text, stored = shipped()
    assert "locomo" not in text.lower()
    banks = [
        bank for sets in stored["fitted_on"].values() for part in sets.values() for bank in part["banks"]
    ]
    prefixes = ("facts-", "short-", "chat-", "musique")
    assert [bank for bank in banks if not bank.startswith(prefixes) or "conv-" in bank] == []


def test_odds_of_any_size_are_a_chance() -> None:
    model = ChanceModel(("x",), np.zeros(1), np.ones(1), np.full(1, 1e6), np.zeros((1, 1)), 0.0)

    assert model.chances({"x": np.array([-3.0, 0.0, 3.0])}).tolist() == [0.0, 0.5, 1.0]
