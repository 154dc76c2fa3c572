"""The mean token vector of a model: a constant that is shipped with it, never learned from a bank.

Token vectors of one model all lean the same way; less their mean, the signs of a token tell more. A mean
learned from a bank would let every row change the scores of all others, so it was computed once: over the
uncentred tokens of the router's example queries, which are package data and no evaluation data.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FOLDER = "token_means"


def token_mean(model: str, dimension: int) -> NDArray[np.float32]:
    """Mean of a model's unit token vectors, float32, shape (dimension,); zeros for a model without one."""
    path = files("simonides.models").joinpath(_FOLDER, f"{model}.f32")
    if not path.is_file():
        return np.zeros(dimension, np.float32)
    mean = np.frombuffer(path.read_bytes(), "<f4").astype(np.float32)
    return mean if len(mean) == dimension else np.zeros(dimension, np.float32)
