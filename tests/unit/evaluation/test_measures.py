from __future__ import annotations

import sys
from math import log2

import pytest

from simonides.errors import InputError, MissingExtraError
from simonides.evaluation.results import (
    MEASURES,
    all_found,
    mean_measures,
    measure_each,
    position_scores,
)

LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")


def test_values_worked_out_by_hand() -> None:
    # c has rank 3, g rank 7, l rank 12; x was not found.
    values = measure_each({"q": ("c", "g", "l", "x")}, {"q": LETTERS[:20]})["q"]
    ideal = 1 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5)
    assert values == pytest.approx(
        {
            "recall@5": 1 / 4,
            "recall@10": 2 / 4,
            "recall@20": 3 / 4,
            "ndcg@10": (1 / log2(4) + 1 / log2(8)) / ideal,
            "mrr": 1 / 3,
            "all@10": 0,
        }
    )


def test_a_perfect_answer_measures_one_everywhere() -> None:
    assert measure_each({"q": ("a", "b")}, {"q": ("b", "a", "c")}) == {"q": dict.fromkeys(MEASURES, 1.0)}


def test_a_question_without_an_answer_measures_zero() -> None:
    nothing = dict.fromkeys(MEASURES, 0.0)
    assert measure_each({"missing": ("a",), "empty": ("a",)}, {"empty": ()}) == {
        "missing": nothing,
        "empty": nothing,
    }


def test_questions_keep_their_order_and_others_in_the_run_are_left_out() -> None:
    run = dict.fromkeys(("other", "q1", "q2", "q3"), ("a",))
    assert list(measure_each({"q3": ("a",), "q1": ("a",), "q2": ("a",)}, run)) == ["q3", "q1", "q2"]


@pytest.mark.parametrize("ranked", [("a", "z"), ("z", "a")])
def test_the_order_of_hits_decides_not_the_names_of_keys(ranked: tuple[str, str]) -> None:
    values = measure_each({"q": ("z",)}, {"q": ranked})["q"]
    assert values["mrr"] == 1 / (ranked.index("z") + 1)


def test_all_found_needs_every_gold_key_inside_the_cutoff() -> None:
    assert all_found(("a", "j"), LETTERS, 10) == 1.0
    assert all_found(("a", "k"), LETTERS, 10) == 0.0
    assert all_found(LETTERS[:11], LETTERS, 10) == 0.0


def test_position_scores_fall_strictly_to_one() -> None:
    assert position_scores(("x", "a", "m")) == [("x", 3), ("a", 2), ("m", 1)]
    assert position_scores(()) == []


def test_means_are_over_questions() -> None:
    each = [dict.fromkeys(MEASURES, 1.0), dict.fromkeys(MEASURES, 0.0), dict.fromkeys(MEASURES, 0.5)]
    assert mean_measures(each) == dict.fromkeys(MEASURES, 0.5)


def test_no_questions_have_no_mean() -> None:
    with pytest.raises(InputError, match="no mean over no questions"):
        mean_measures([])


def test_a_question_without_gold_is_refused() -> None:
    with pytest.raises(InputError, match="question q2 has no gold"):
        measure_each({"q1": ("a",), "q2": ()}, {})


def test_a_ranking_that_repeats_a_key_is_refused() -> None:
    with pytest.raises(InputError, match="question q repeats a key"):
        measure_each({"q": ("a",)}, {"q": ("a", "b", "a")})


def test_a_missing_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'simonides\[eval\]'"):
        measure_each({"q": ("a",)}, {"q": ("a",)})
