"""Someone or something that memories speak of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something that is spoken of.

    Attributes:
        whole: number of the entity that this one counts as; its own when it was not merged.
        readers: who may know of it; empty = everyone in the bank.
    """

    number: int
    whole: int
    name: str
    folded: str
    kind: str
    qualifier: str
    readers: frozenset[str]


@dataclass(frozen=True, slots=True)
class EntityCount:
    """An entity and how many of the asker's memories mention it."""

    number: int
    name: str
    kind: str
    qualifier: str
    aliases: tuple[str, ...]
    mentions: int

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "number": self.number,
            "name": self.name,
            "kind": self.kind,
            "qualifier": self.qualifier,
            "aliases": list(self.aliases),
            "mentions": self.mentions,
        }
