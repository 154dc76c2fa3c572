"""Trains a bank's learned reranker on what its recalls showed and what of it was used (EN-08).

The last fifth of the recalls is held out: a network trained on the others is compared there with the order
by cosine, by the share of pairs (used, not used) of one recall that stand in the right order, ties half. Only
one that does better is adopted, trained on everything; its file says how it did.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.evaluation.mlp_training import LEAST_SAMPLES, train_mlp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.records.impression import Samples

HELD_OUT = 0.2
"""Of the recalls, the last ones."""

LEAST_HELD_OUT = 5
"""Recalls that must be held out for a comparison; with fewer, no network is adopted."""

_COSINE = 0  # place among the features


@dataclass(frozen=True, slots=True)
class Trained:
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

    def to_dict(self) -> dict[str, object]:
        """A JSON-ready description."""
        return asdict(self)


def train_reranker(bank: Bank, *, seed: int = 0, dry_run: bool = False) -> Trained:
    """Train on the bank's impressions; keep the network in the bank's folder if it does better.

    Args:
        bank: opened for its owner.
        seed: of the first weights, from 0.
        dry_run: train and compare, and write nothing.

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
