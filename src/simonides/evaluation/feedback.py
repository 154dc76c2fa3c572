"""Trains a bank's learned reranker on what its recalls showed and what of it was used (EN-08)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.evaluation.mlp_training import LEAST_SAMPLES, train_mlp

if TYPE_CHECKING:
    from simonides.bank import Bank


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training did.

    Attributes:
        samples: returned memories it was trained on.
        used: how many of them were used.
        path: of the written file; empty in a dry run.
    """

    samples: int
    used: int
    path: str

    def to_dict(self) -> dict[str, object]:
        """A JSON-ready description."""
        return asdict(self)


def train_reranker(bank: Bank, *, seed: int = 0, dry_run: bool = False) -> Trained:
    """Train on the bank's impressions and keep the network in the bank's folder.

    Args:
        bank: opened for its owner.
        seed: of the first weights, from 0.
        dry_run: train, and write nothing.

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
    path = "" if dry_run else str(bank.adopt_reranker(network, found.memories))
    return Trained(len(found.labels), int(found.labels.sum()), path)
