from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.evaluation.abstention_fit import fit_threshold, fit_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray


def samples(count: int = 40) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.bool_], list[str]]:
    drawn = np.random.default_rng(3)
    answerable = np.arange(count) % 2 == 0
    signals = {
        "tells": answerable + drawn.normal(0.0, 0.4, count),
        "noise": drawn.normal(0.0, 1.0, count),
        "misleads": ~answerable + drawn.normal(0.0, 0.4, count),
    }
    return signals, answerable, ["known" if there else "unknown" for there in answerable]


def test_weights_sum_to_one_and_none_speaks_against_an_answer() -> None:
    signals, answerable, kinds = samples()
    weights = fit_weights(signals, answerable, kinds)
    assert list(weights) == ["tells", "noise", "misleads"]
    assert sum(weights.values()) == pytest.approx(1.0, abs=1e-3)
    assert min(weights.values()) >= 0
    assert weights["misleads"] == 0
    assert weights["tells"] > 0.8
    assert fit_weights(signals, answerable, kinds) == weights


def test_a_kind_weighs_the_same_however_many_questions_it_has() -> None:
    signals, answerable, kinds = samples()
    twice = [*range(40), *[n for n in range(40) if answerable[n]]]
    more = {name: values[twice] for name, values in signals.items()}
    assert fit_weights(more, answerable[twice], [kinds[n] for n in twice]) == pytest.approx(
        fit_weights(signals, answerable, kinds), abs=1e-4
    )


def test_signals_on_the_same_scale_times_ten_get_a_tenth_of_the_weight() -> None:
    signals, answerable, kinds = samples()
    two = {"tells": signals["tells"], "also": -signals["misleads"]}
    before = fit_weights(two, answerable, kinds)
    after = fit_weights({**two, "also": 10 * two["also"]}, answerable, kinds)
    assert after["also"] / after["tells"] == pytest.approx(before["also"] / before["tells"] / 10, rel=0.01)


def test_one_class_or_no_signal_is_refused() -> None:
    signals, answerable, kinds = samples()
    with pytest.raises(InputError, match="one class only"):
        fit_weights(signals, np.ones(40, np.bool_), kinds)
    with pytest.raises(InputError, match="none grows"):
        fit_weights({"misleads": signals["misleads"]}, answerable, kinds)


def test_the_threshold_loses_the_share_of_each_kind_and_no_more() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.55, 0.6, 0.7, 0.8])
    kinds = ["a"] * 4 + ["b"] * 4
    none = np.zeros(8, np.bool_)
    assert fit_threshold(scores, kinds, 0.0, none) == 0.1
    assert fit_threshold(scores, kinds, 0.25, none) == 0.2
    assert fit_threshold(scores, kinds, 0.5, none) == 0.3
    # What is answered whatever its score cannot be lost.
    kept = np.array([True] * 4 + [False] * 4)
    assert fit_threshold(scores, kinds, 0.0, kept) == 0.55
