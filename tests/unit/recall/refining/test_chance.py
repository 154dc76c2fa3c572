from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.recall.refining.chance import LIMIT, ChanceModel, chance_models
from simonides.recall.refining.relevance import WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

NAMES = (WORDS, "all-MiniLM-L6-v2")


def drawn(model: ChanceModel, rows: int = 50) -> dict[str, NDArray[np.float64]]:
    """Signals around and far beyond what the model was fitted on."""
    draw = np.random.default_rng(11)
    return {
        name: mean + scale * draw.normal(0.0, 3.0, rows)
        for name, mean, scale in zip(model.signals, model.mean, model.scale, strict=True)
    }


def twin(model: ChanceModel, signals: Mapping[str, float]) -> float:
    """The formula of the module, one number after the other."""
    z = [
        min(max((signals[name] - float(model.mean[i])) / float(model.scale[i]), -LIMIT), LIMIT)
        for i, name in enumerate(model.signals)
    ]
    odds = model.intercept + math.fsum(float(model.weights[i]) * each for i, each in enumerate(z))
    odds += math.fsum(
        float(model.products[i, j]) * z[i] * z[j] for i in range(len(z)) for j in range(i, len(z))
    )
    return 1.0 / (1.0 + math.exp(-odds))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", [0, 1])
def test_chances_are_those_of_the_formula(name: str, which: int) -> None:
    models = chance_models(name)
    assert models is not None
    signals = drawn(models[which])
    chances = models[which].chances(signals)
    for place, chance in enumerate(chances.tolist()):
        one = {each: float(values[place]) for each, values in signals.items()}
        assert chance == pytest.approx(twin(models[which], one), abs=1e-6)
        assert 0.0 <= chance <= 1.0
    assert len(set(chances.tolist())) > 10


@pytest.mark.parametrize("name", NAMES)
def test_the_chance_of_one_hit_is_the_same_whatever_other_hits_there_are(name: str) -> None:
    models = chance_models(name)
    assert models is not None
    signals = drawn(models[1])
    together = models[1].chances(signals)
    for place in range(len(together)):
        alone = models[1].chances({each: values[place : place + 1] for each, values in signals.items()})
        assert alone.tolist() == [together[place]]


def test_what_is_far_out_counts_as_what_is_at_the_limit() -> None:
    model = ChanceModel(("a",), np.zeros(1), np.ones(1), np.ones(1), np.zeros((1, 1)), -1.0)
    near, far = model.chances({"a": np.array([LIMIT, 1e9])}).tolist()
    assert near == far == round(1 / (1 + math.exp(-2)), 6)


def test_signals_that_a_model_does_not_know_are_ignored_and_those_it_needs_are_not() -> None:
    model = ChanceModel(("a",), np.zeros(1), np.ones(1), np.ones(1), np.zeros((1, 1)), 0.0)
    assert model.chances({"a": np.zeros(2), "b": np.ones(2)}).tolist() == [0.5, 0.5]
    with pytest.raises(KeyError):
        model.chances({"b": np.ones(2)})


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_again(name: str) -> None:
    models = chance_models(name)
    assert models is not None
    for model in models:
        stored = json.loads(json.dumps(model.to_dict()))
        assert ChanceModel.read(stored).to_dict() == stored
        signals = drawn(model)
        assert ChanceModel.read(stored).chances(signals).tolist() == model.chances(signals).tolist()


def test_nothing_is_known_of_another_embedder() -> None:
    assert chance_models("someone's") is None
