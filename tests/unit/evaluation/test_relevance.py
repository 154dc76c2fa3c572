"""What a run reports, from answers made by hand, and a whole run by words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
from simonides.evaluation.relevance import (
    THRESHOLDS,
    Asked,
    Given,
    Judged,
    JudgedHit,
    RelevanceReport,
    area_under_curve,
    bins_of,
    calibration_error,
    run_relevance,
)
from simonides.store import open_store

if TYPE_CHECKING:
    from pathlib import Path


def judged(
    kind: str,
    confidence: float,
    *hits: tuple[str, float],
    gold: tuple[str, ...] = (),
    acceptable: tuple[str, ...] = (),
    no_match: bool = False,
    balanced: int = 1,
) -> Judged:
    asked = Asked("c", "?", kind, bool(gold), gold, acceptable)
    keys = () if no_match else tuple(key for key, _ in hits)
    given = {
        "wide": Given(keys, 10 * len(keys)),
        "balanced": Given(keys[:balanced], 10 * len(keys[:balanced])),
        "high": Given(keys[:1], 10 * len(keys[:1])),
    }
    found = tuple(JudgedHit(key, relevance, 10) for key, relevance in hits)
    return Judged(asked, kind.partition("-")[0], confidence, no_match, found, given)


def report(*all_of_them: Judged) -> RelevanceReport:
    return RelevanceReport("default", None, "0", all_of_them)


def test_bins_hold_as_many_each_and_the_error_is_the_mean_distance() -> None:
    chances = np.array([0.9, 0.1, 0.8, 0.2])
    right = np.array([1.0, 0.0, 0.0, 0.0])
    bins = bins_of(chances, right, 2)
    assert [(n, round(chance, 9), share) for n, chance, share in bins] == [(2, 0.15, 0.0), (2, 0.85, 0.5)]
    assert calibration_error(bins) == pytest.approx((2 * 0.15 + 2 * 0.35) / 4)
    assert [size for size, _, _ in bins_of(np.arange(25) / 25, np.zeros(25))] == [3] * 5 + [2] * 5
    assert [size for size, _, _ in bins_of(np.arange(3) / 3, np.zeros(3))] == [1, 1, 1]
    assert bins_of(np.empty(0), np.empty(0)) == []
    assert calibration_error([]) == 0.0


def test_equal_chances_are_right_alike_in_whichever_bin_they_fall() -> None:
    right = np.array([1.0, 1.0, 0.0, 0.0])
    for order in (right, right[::-1]):
        assert bins_of(np.full(4, 0.5), order, 2) == [(2, 0.5, 0.5), (2, 0.5, 0.5)]


def test_what_is_calibrated_has_no_error() -> None:
    draw = np.random.default_rng(4)
    chances = draw.random(50_000)
    right = (draw.random(50_000) < chances).astype(np.float64)
    assert calibration_error(bins_of(chances, right)) < 0.01
    assert calibration_error(bins_of(chances**3, right)) > 0.1


def test_the_area_counts_pairs_in_the_right_order_and_ties_half() -> None:
    draw = np.random.default_rng(8)
    chances, right = draw.integers(0, 8, 60) / 8, draw.integers(0, 2, 60).astype(np.float64)
    good, bad = chances[right == 1], chances[right == 0]
    pairs = [1.0 if g > b else 0.5 if g == b else 0.0 for g in good for b in bad]
    assert area_under_curve(chances, right) == pytest.approx(np.mean(pairs))
    assert area_under_curve(chances, np.ones(60)) is None
    assert area_under_curve(np.array([0.1, 0.9]), np.array([0.0, 1.0])) == 1.0


def test_the_summary_of_answers_made_by_hand() -> None:
    answer = report(
        judged("locomo", 0.9, ("a", 0.8), ("b", 0.4), ("x", 0.1), gold=("a", "b"), balanced=2),
        judged("locomo", 0.5, ("y", 0.3), ("z", 0.2), gold=("c",), acceptable=("z",)),
        judged("people", 0.1, ("a", 0.05), no_match=True),
        judged("people", 0.6, ("a", 0.25)),
        judged("adversarial", 0.95, ("a", 0.9)),
    ).to_dict()
    assert answer["questions"] == {"adversarial": 1, "locomo": 2, "people": 2}
    assert answer["answerable"] == ["locomo"]
    # Of four pairs of answerable and off-topic ones only .5 and .6 are in the wrong order.
    assert answer["auc"] == {"all": 0.75, "adversarial": 0.0, "people": 0.75}
    hits = answer["calibration"]["relevance"]["all"]
    # Not "z", which may be found or not, and nothing of category 5.
    assert hits["n"] == 6
    assert [each["right"] for each in hits["bins"]] == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert hits["error"] == round((0.05 + 0.1 + 0.25 + 0.3 + 0.6 + 0.2) / 6, 4)
    assert answer["calibration"]["confidence"]["all"]["n"] == 4
    balanced = answer["precision"]["all"]["balanced"]
    # Given are a, b and y, of which two answer; of the gold both of the first question, none of the second.
    assert balanced["answerable"] == {
        "questions": 2,
        "hits": 1.5,
        "tokens": 15.0,
        "nothing": 0.0,
        "precision": 0.6667,
        "recall": 0.5,
    }
    assert balanced["unanswerable"] == {"questions": 2, "hits": 0.5, "tokens": 5.0, "nothing": 0.5}
    assert balanced["adversarial"]["questions"] == 1
    rows = {row["min_relevance"]: row for row in answer["min_relevance"]}
    assert tuple(rows) == THRESHOLDS
    assert rows[0.3]["answerable"]["precision"] == 0.6667
    assert rows[0.5]["answerable"]["hits"] == 0.5
    assert rows[0.7]["unanswerable"]["nothing"] == 1.0
    assert set(answer["precision"]) == {"all", "locomo", "people", "adversarial"}


def test_a_profile_that_judges_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="profile: 'lexical' has no stage 'relevance'"):
        run_relevance([], store_path=tmp_path / "s", profile="lexical", embedder=None)


def dataset() -> Dataset:
    texts = (
        "The kiln is mended.",
        "I glazed two blue pots.",
        "My sister sells candles.",
        "The kiln was cold and the pots were blue.",
    )
    items = tuple(Item(f"D1:{n}", f"Odile: {text}") for n, text in enumerate(texts))
    questions = (
        Question("q0", "Is Odile's kiln mended?", ("D1:0",), "4", acceptable=("D1:3",)),
        Question("q1", "Which pots glazed Odile?", ("D1:1",), "4"),
        Question("q2", "Who sells candles?", ("D1:2",), "1"),
        Question("q3", "Who mended the candles?", (), "near-miss", answerable=False),
        Question("q4", "Who sang to Odile?", (), "5", answerable=False),
    )
    return Dataset("talks", ((Corpus("talk", items), questions),))


Seen = list[tuple[str, int, int]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[RelevanceReport, Seen, Path]:
    """A whole run by words, what it told of its progress, and its store."""
    seen: Seen = []
    path = tmp_path_factory.mktemp("run") / "store"
    report = run_relevance(
        [dataset()],
        store_path=path,
        embedder=None,
        progress=lambda phase, done, total: seen.append((phase, done, total)),
    )
    return report, seen, path


def test_a_run_by_words(run: tuple[RelevanceReport, Seen, Path]) -> None:
    found, seen, _ = run
    assert found.embedder is None
    answer = found.to_dict()
    assert {"near-miss", "adversarial", "talks", "people"} <= answer["questions"].keys()
    assert answer["auc"]["all"] > 0.7
    assert answer["precision"]["all"]["wide"]["answerable"]["recall"] == 1.0
    assert 0.0 <= answer["calibration"]["relevance"]["talks"]["error"] <= 1.0
    assert seen[0] == ("retain", 4, 4)
    assert seen[-1][1] == seen[-1][2] == len(found.judged)


def test_a_chat_is_retained_turn_by_turn_and_asked_at_its_time(tmp_path: Path) -> None:
    said = ("The kiln fires on Friday.", "Noted.", "The pots are blue.")
    items = tuple(
        Item(f"t{n}", text, datetime(2026, 5, 2, 9, n, tzinfo=UTC), "s1", speaker="user")
        for n, text in enumerate(said)
    )
    corpus = Corpus("chat", items, datetime(2026, 5, 4, 9, tzinfo=UTC))
    asked = (Question("q0", "When does the kiln fire?", ("t0",), "any"),)
    report = run_relevance(
        [Dataset("chat", ((corpus, asked),))], store_path=tmp_path / "store", embedder=None
    )

    own = next(each for each in report.judged if each.asked.answerable)
    assert "t0" in own.given["balanced"].keys
    with open_store(tmp_path / "store", embedder=None) as store:
        hit = store.bank("chat").recall("kiln", precision="wide").hits[0]
    assert hit.text == "user: The kiln fires on Friday."


def test_what_a_threshold_gives_is_what_a_recall_with_it_gives(
    run: tuple[RelevanceReport, Seen, Path],
) -> None:
    found, _, path = run
    keys = {item.text: item.key for corpus, _ in dataset().corpora for item in corpus.items}
    with open_store(path, embedder=None) as store:
        bank = store.bank("talk")
        for each in (*found.judged[:8], *found.judged[8::10]):
            for least in THRESHOLDS:
                answer = bank.recall(
                    each.asked.text, limit=10, max_tokens=None, precision="wide", min_relevance=least
                )
                hits = () if answer.no_match else answer.hits
                given = each.at_least(least)
                assert given.keys == tuple(keys[hit.text] for hit in hits)
                assert abs(given.tokens - bank.count_tokens(answer.context)) <= 1
