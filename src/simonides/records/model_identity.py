"""Which embedder made the vectors of a bank."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """An embedder by what its vectors depend on.

    Attributes:
        name: for people; a catalogued model is found again by it.
        dimension: of its vectors.
        fingerprint: changes whenever the vectors would; empty = the bank has no vectors yet.
    """

    name: str = ""
    dimension: int = 0
    fingerprint: str = ""
