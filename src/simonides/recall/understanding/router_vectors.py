"""The router's examples as the default embedder sees them, shipped beside them.

To embed 354 texts takes half a second of CPU, which every process that asks once would pay. The file counts
only for the embedder and the examples that it was made of; for any others they are embedded. Made by
``python scripts/embed_router_examples.py``.
"""

from __future__ import annotations

import hashlib
import io
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NAME = "router_vectors.npz"


def read_vectors(fingerprint: str, texts: Sequence[str]) -> NDArray[np.float32] | None:
    """What is shipped for these: float32, shape (texts, dimension); ``None`` = nothing."""
    with (files(__package__) / NAME).open("rb") as file, np.load(file, allow_pickle=False) as held:
        if bytes(held["origin"]) != _origin(fingerprint, texts):
            return None
        vectors: NDArray[np.float32] = held["vectors"]
        return vectors


def vector_file(fingerprint: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    """The bytes of the file for ``read_vectors``."""
    body = io.BytesIO()
    origin = np.frombuffer(_origin(fingerprint, texts), np.uint8)
    np.savez(body, origin=origin, vectors=vectors.astype("<f4"))
    return body.getvalue()


def _origin(fingerprint: str, texts: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join([fingerprint, *texts]).encode()).digest()
