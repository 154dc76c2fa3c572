"""What a recall showed, and what of it was used afterwards: the material of the learned reranker (EN-08)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_SHOWN = 200
"""Returned memories that an impression keeps, best first."""


@dataclass(frozen=True, slots=True, eq=False)
class Impression:
    """One recall, without its words.

    Attributes:
        recall: id of the recall.
        principal: who asked; empty = the owner.
        made_at: the clock, microseconds UTC.
        embedder: fingerprint of what made the query's vector; empty = there is none.
        codes, scale: the query's vector as int8 and its factor; empty = none.
        roots: of the returned memories, in order: ordinals of their first versions.
        features: float32, shape (len(roots), 10), as ``recall.refining.mlp`` computes them.
        counted: whether every returned memory counts as accessed.
    """

    recall: str
    principal: str
    made_at: int
    embedder: str
    codes: bytes
    scale: float
    roots: tuple[int, ...]
    features: NDArray[np.float32]
    counted: bool


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """What a network is trained on.

    Attributes:
        features: float64, shape (samples, 10).
        labels: float64, shape (samples,): 1 = used, 0 = returned and not used.
        memories: ids behind the samples, one each.
        recalls: number of the recall behind each sample, the later ones higher.
    """

    features: NDArray[np.float64]
    labels: NDArray[np.float64]
    memories: tuple[str, ...]
    recalls: tuple[int, ...] = ()
