"""Entities, and which entity counts as which after merges.

No bank writes a cycle, but a damaged or forged file may hold one. All members of a cycle count as the one
with the smallest number, so that every walk ends and two entities that are one stay one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.records.json_ready import JsonReady

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from simonides.records.memory import Memory


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
class EntityName(JsonReady):
    """An entity as it is called."""

    number: int
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class EntityCount(EntityName):
    """An entity and how many of the asker's memories mention it."""

    qualifier: str
    aliases: tuple[str, ...]
    mentions: int


@dataclass(frozen=True, slots=True)
class Neighbour(JsonReady):
    """An entity that memories mention beside another.

    Attributes:
        together: how many memories mention both.
        relations: names of those that they state between the two, either way, sorted.
    """

    entity: EntityName
    together: int
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityMerge(JsonReady):
    """A merge that can be undone.

    Attributes:
        merge: its number, by which it is undone.
        entity: number of the entity that counts as another.
        name: of that entity.
        at: when it was merged.
    """

    merge: int
    entity: int
    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EntityDetails(JsonReady):
    """What the asker's memories tell of an entity at a viewpoint.

    Attributes:
        memories: those that mention it, the newest first.
        total: how many there are, also beyond these; without archived ones, which ``mentions`` counts.
        neighbours: what they mention beside it, the most often first, then by number.
        merges: what was merged into it, by number.
    """

    entity: EntityCount
    memories: tuple[Memory, ...]
    total: int
    neighbours: tuple[Neighbour, ...]
    merges: tuple[EntityMerge, ...]


def counts_as(entity: int, into: Callable[[int], int | None]) -> tuple[int, list[int]]:
    """What an entity counts as, and the entities on the way there, which count as the same.

    Args:
        into: the entity that one was merged into; ``None`` where it was not merged.
    """
    places: dict[int, int] = {}
    following = into(entity)
    while following is not None and entity not in places:
        places[entity] = len(places)
        entity, following = following, into(following)
    passed = list(places)
    return (entity if following is None else min(passed[places[entity] :])), passed


def all_count_as(merges: Mapping[int, int]) -> dict[int, int]:
    """What each merged entity counts as; linear in their number."""
    found: dict[int, int] = {}
    for entity in merges:
        if entity not in found:
            whole, passed = counts_as(entity, lambda each: found.get(each, merges.get(each)))
            found.update(dict.fromkeys(passed, whole))
    return found


def find_cycles(merges: Mapping[int, int]) -> Iterator[list[int]]:
    """The members of each cycle in the order in which they are merged, the smallest number first."""
    for first in sorted(set(all_count_as(merges).values()) & merges.keys()):
        members = [first]
        while merges[members[-1]] != first:
            members.append(merges[members[-1]])
        yield members


def described(cycle: list[int], name_of: Callable[[int], str]) -> str:
    """A cycle for a message: names joined by arrows, the first one at the end, too; a long one is cut."""
    shown = [name_of(entity) for entity in cycle[:_MOST_SHOWN]]
    return " → ".join([*shown, *["…"] * (len(cycle) > _MOST_SHOWN), shown[0]])


_MOST_SHOWN = 8
