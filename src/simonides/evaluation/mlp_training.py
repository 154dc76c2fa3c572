"""Trains the network of ``learned_mlp`` on impressions: what was returned, and whether it was used (EN-08).

Loss: mean binary cross-entropy, each class weighing one half however many samples it has, so that "never
used" is no answer. Optimiser: Adam over the whole set, *EPOCHS* steps, weights from a seeded generator: same
samples, same network. Cost: about 0.2 s for 1,000 samples.
Source: Kingma and Ba, Adam (2015); Glorot and Bengio for the first weights (2010).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.recall.refining.mlp import FEATURES, Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_SAMPLES = 20  # EN-08
HIDDEN_UNITS = 16
EPOCHS = 400

_RATE, _MOMENTUM, _SPREAD, _TINY = 0.01, 0.9, 0.999, 1e-8


def train_mlp(features: NDArray[np.float64], labels: NDArray[np.float64], seed: int) -> Network:
    """Fit a network.

    Args:
        features: float64, shape (samples, 10), as ``mlp.features_of`` gives them.
        labels: shape (samples,): 1 = used afterwards, 0 = returned and not used.
        seed: of the first weights, from 0.

    Raises:
        InputError: fewer than 20 samples, of one class only, or of other shapes or values.
    """
    features, labels = np.asarray(features, np.float64), np.asarray(labels, np.float64)
    _check(features, labels)
    random = np.random.default_rng(seed)
    spread = math.sqrt(6.0 / (len(FEATURES) + HIDDEN_UNITS))
    weights = [
        random.uniform(-spread, spread, (len(FEATURES), HIDDEN_UNITS)),
        np.zeros(HIDDEN_UNITS),
        random.uniform(-spread, spread, HIDDEN_UNITS),
        np.zeros(1),
    ]
    used = labels > 0
    share = np.where(used, 0.5 / used.sum(), 0.5 / (~used).sum())
    first = [np.zeros_like(each) for each in weights]
    second = [np.zeros_like(each) for each in weights]
    for step in range(1, EPOCHS + 1):
        for place, slope in enumerate(_slopes(features, labels, share, weights)):
            first[place] = _MOMENTUM * first[place] + (1 - _MOMENTUM) * slope
            second[place] = _SPREAD * second[place] + (1 - _SPREAD) * slope**2
            mean = first[place] / (1 - _MOMENTUM**step)
            variance = second[place] / (1 - _SPREAD**step)
            weights[place] -= _RATE * mean / (np.sqrt(variance) + _TINY)
    hidden, hidden_bias, output, output_bias = weights
    return Network(hidden, hidden_bias, output, float(output_bias[0]), len(labels))


def _slopes(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    share: NDArray[np.float64],
    weights: list[NDArray[np.float64]],
) -> list[NDArray[np.float64]]:
    """Gradients of the weighted loss by hidden, hidden bias, output and output bias."""
    hidden, hidden_bias, output, output_bias = weights
    raw = features @ hidden + hidden_bias
    active = np.maximum(0.0, raw)
    answers = 1.0 / (1.0 + np.exp(-np.clip(active @ output + output_bias, -500, 500)))
    at_output = share * (answers - labels)
    at_hidden = np.outer(at_output, output) * (raw > 0)
    return [
        features.T @ at_hidden,
        at_hidden.sum(axis=0),
        active.T @ at_output,
        np.array([at_output.sum()]),
    ]


def _check(features: NDArray[np.float64], labels: NDArray[np.float64]) -> None:
    if features.ndim != 2 or features.shape[1] != len(FEATURES):
        raise InputError("features", f"have shape {features.shape}, not (samples, {len(FEATURES)})")
    if labels.shape != (len(features),):
        raise InputError("labels", f"have shape {labels.shape} for {len(features)} samples")
    if not np.isfinite(features).all():
        raise InputError("features", "hold a number that is not finite")
    if not np.isin(labels, (0.0, 1.0)).all():
        raise InputError("labels", "hold something other than 0 and 1")
    if len(labels) < LEAST_SAMPLES:
        raise InputError(
            "labels",
            f"are {len(labels)}; at least {LEAST_SAMPLES} are needed, so recall more and say what was used",
        )
    if labels.min() == labels.max():
        raise InputError("labels", "are all the same; some memories must be used and some not")
