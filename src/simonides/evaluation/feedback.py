"""Trains a bank's network of ``learned_mlp`` on impressions.

What recalls returned, and what was used (EN-08).

Loss: mean binary cross-entropy, each class weighing one half however many samples it has, so that "never
used" is no answer. Optimiser: Adam over the whole set, *EPOCHS* steps, weights from a seeded generator: same
samples, same network. Cost: about 0.2 s for 1,000 samples.
Source: Kingma and Ba, Adam (2015); Glorot and Bengio for the first weights (2010).

The last fifth of the recalls is held out: a network trained on the others is compared there with the order
by cosine, by the share of pairs (used, not used) of one recall that stand in the right order, ties half. Only
one that does better is adopted, trained on everything; its file says how it did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.recall.refining.mlp import FEATURES, Network
from simonides.records.json_ready import JsonReady

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.records.impression import Samples


LEAST_SAMPLES = 20  # EN-08
HIDDEN_UNITS = 16
EPOCHS = 400

_RATE, _MOMENTUM, _SPREAD, _TINY = 0.01, 0.9, 0.999, 1e-8


def train_mlp(features: NDArray[np.float64], labels: NDArray[np.float64], seed: int) -> Network:
    """Fit a network.

    *features*: float64, shape (samples, 10), as ``mlp.features_of`` gives them. *labels*: 1 = used
    afterwards, 0 = returned and not used. *seed*: of the first weights.

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


HELD_OUT = 0.2
"""Of the recalls, the last ones."""

LEAST_HELD_OUT = 5
"""Recalls that must be held out for a comparison; with fewer, no network is adopted."""

_COSINE = 0  # place among the features


@dataclass(frozen=True, slots=True)
class Trained(JsonReady):
    """What a training did.

    Attributes:
        samples: returned memories it was trained on.
        used: how many of them were used.
        path: of the written file; empty when nothing was written.
        held_out: recalls that it was compared on.
        right: share of pairs in the right order there, by the network.
        right_before: the same by cosine alone.
        adopted: whether it did better, and is (or in a dry run would be) kept.
    """

    samples: int
    used: int
    path: str
    held_out: int = 0
    right: float = 0.0
    right_before: float = 0.0
    adopted: bool = False


def train_reranker(bank: Bank, *, seed: int = 0, dry_run: bool = False) -> Trained:
    """Train on the bank's impressions; keep the network in the bank's folder if it does better.

    Raises:
        InputError: fewer than 20 samples, or all used or none.
        ConflictError: a memory it was trained on was forgotten meanwhile; nothing was written.
    """
    found = bank.samples()
    if len(found.labels) < LEAST_SAMPLES:
        raise InputError(
            "impressions",
            f"hold {len(found.labels)} returned memories of recalls of which something was used; at least "
            f"{LEAST_SAMPLES} are needed, so recall more and say what was used (Bank.used with recall_id)",
        )
    network = train_mlp(found.features, found.labels, seed)
    held_out, right, before = _compared(found, seed)
    better = held_out >= LEAST_HELD_OUT and right > before
    path = ""
    if better and not dry_run:
        evidence = f"{right:.3f} of pairs right on {held_out} held-out recalls, {before:.3f} by cosine"
        path = str(bank.adopt_reranker(replace(network, evidence=evidence), found.memories))
    return Trained(len(found.labels), int(found.labels.sum()), path, held_out, right, before, better)


def _compared(found: Samples, seed: int) -> tuple[int, float, float]:
    """Recalls held out, and the shares of pairs in the right order: by a network, and by cosine."""
    recalls = np.array(found.recalls, np.int64)
    numbers = np.unique(recalls)
    later = numbers[len(numbers) - int(HELD_OUT * len(numbers)) :]
    told = [
        number
        for number in later.tolist()
        if len(set(found.labels[recalls == number].tolist())) > 1  # says which of its memories was better
    ]
    rest = ~np.isin(recalls, later)
    labels = found.labels[rest]
    if len(told) < LEAST_HELD_OUT or len(labels) < LEAST_SAMPLES or labels.min() == labels.max():
        return len(told), 0.0, 0.0
    network = train_mlp(found.features[rest], labels, seed)
    scores = network.predict(found.features), found.features[:, _COSINE]
    shares = [
        float(np.mean([_right(order[recalls == n], found.labels[recalls == n]) for n in told]))
        for order in scores
    ]
    return len(told), round(shares[0], 9), round(shares[1], 9)


def _right(scores: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    """Share of pairs (used, not used) in the right order, ties half."""
    gaps = scores[labels > 0][:, np.newaxis] - scores[labels == 0][np.newaxis, :]
    return float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))
