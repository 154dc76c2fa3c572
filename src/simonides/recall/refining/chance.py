"""Logistic models over clipped scores and their products, read from a data file: no code, no pickle.

    z_i     = clip((x_i − mean_i) / scale_i, −3, 3)
    chance  = 1 / (1 + exp(−(intercept + Σ weight_i · z_i + Σ product_ij · z_i · z_j)))     over i ≤ j

Clipping keeps a bank that is larger or stranger than those fitted on within what was seen. Products tell
what a sum cannot: a cosine of .4 means more where no word matches than where all do.
Made by ``bench/fit_relevance.py``, which writes what it was fitted on beside the numbers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

LIMIT = 3.0
"""Standard deviations from the mean beyond which a signal counts no further."""

FILE = "relevance.json"


@dataclass(frozen=True, slots=True)
class ChanceModel:
    """One fitted model.

    Attributes:
        signals: names, in the order of the arrays.
        mean, scale, weights: float64, shape (signals,).
        products: float64, shape (signals, signals), upper triangular.
        intercept: log odds where every signal is at its mean.
    """

    signals: tuple[str, ...]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    products: NDArray[np.float64]
    intercept: float

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> ChanceModel:
        """A model from the form that ``to_dict`` gives."""
        count = len(stored["signals"])
        products = np.zeros((count, count))
        products[np.triu_indices(count)] = stored["products"]
        mean, scale, weights = (np.array(stored[name], np.float64) for name in ("mean", "scale", "weights"))
        return cls(tuple(stored["signals"]), mean, scale, weights, products, float(stored["intercept"]))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, numbers rounded to six significant digits."""

        def short(values: NDArray[np.float64]) -> list[float]:
            return [float(f"{value:.6g}") for value in values.tolist()]

        return {
            "signals": list(self.signals),
            "mean": short(self.mean),
            "scale": short(self.scale),
            "weights": short(self.weights),
            "products": short(self.products[np.triu_indices(len(self.signals))]),
            "intercept": float(f"{self.intercept:.6g}"),
        }

    def chances(self, signals: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Probabilities in (0, 1), rounded to 1e-6.

        Args:
            signals: float64, shape (n,), by name; those that the model does not know are ignored.
        """
        rows = np.stack([signals[name] for name in self.signals], axis=1)
        z = np.clip((rows - self.mean) / self.scale, -LIMIT, LIMIT)
        # One row at a time, so that a hit's chance does not depend on how many hits there are.
        odds = np.array([self.intercept + row @ self.weights + row @ self.products @ row for row in z])
        # Beyond these odds every chance is 0 or 1 after rounding; without a bound the power overflows.
        chances: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
        return chances.round(6)


@cache
def chance_models(name: str) -> tuple[ChanceModel, ChanceModel] | None:
    """The models of *name*, an embedder or ``words``: that anything answers, and that one hit does if so.

    Returns:
        ``None`` where nothing was fitted for *name*.
    """
    stored = json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))["models"].get(name)
    return None if stored is None else (ChanceModel.read(stored["anything"]), ChanceModel.read(stored["hit"]))
