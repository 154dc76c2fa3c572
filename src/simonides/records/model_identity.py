"""Which embedder made the vectors of a bank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


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


class Identified(Protocol):
    """An encoder, or what is known of one."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...


def mismatch(name: str, dimension: int, embedder: Identified) -> str:
    """The message for a bank opened with another embedder than its vectors were made with."""
    return (
        f"the bank holds vectors of {name!r} ({dimension} dimensions), the store was opened with "
        f"{embedder.name!r} ({embedder.dimension} dimensions); open it with {name!r}, or migrate it "
        "(simonides reembed). Recall goes on by keyword search only"
    )


def sparse_mismatch(name: str, encoder_name: str) -> str:
    """The message for a bank opened with another sparse encoder than its terms were made with."""
    other = "another form of it" if encoder_name == name else repr(encoder_name)
    return (
        f"the bank holds sparse terms of {name!r}, the store was opened with {other}; open it with the one "
        "that filled it, or retain into a new bank. Recall goes on without sparse terms"
    )


@dataclass(frozen=True, slots=True)
class EmbedderMigration:
    """A migration of a bank to another embedder.

    Attributes:
        number: of that embedder among the bank's.
        model: that embedder.
        begun_at: microseconds UTC.
        linked: rows with smaller ordinals have their links.
    """

    number: int
    model: ModelIdentity
    begun_at: int
    linked: int


@dataclass(frozen=True, slots=True)
class MissingVector:
    """A row without a vector of the following embedder; ``node`` = first version in the same words."""

    ordinal: int
    node: int
    text: str
