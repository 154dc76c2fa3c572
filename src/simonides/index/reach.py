"""Which memories lie within a few hops of given ones: breadth first, bounded for each start.

One hop leads from a memory to one that it is linked to, or that mentions an entity which it mentions, too.
Neighbours are ranked by strength = the links' weights + the damped weights of the shared entities (see
``index.push``), ties by path and id. Each start reaches ``per_start`` memories in all, nearer hops first.
Cost: linear in the pairs of memories that share an entity; those of hubs are not followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.distinct import distinct
from simonides.index.push import damped_weights
from simonides.index.runs import positions
from simonides.records.edges import LINK_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import View


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far to go.

    Attributes:
        hops: from 1.
        per_start: memories that each start reaches at most, from 1.
        hub_cap: memories that may mention an entity for it to be followed.
        hub_damping: how much less an entity ties that many memories mention, 0 to 1.
        links: weight per kind of link; a kind at 0 or left out is not followed.
    """

    hops: int
    per_start: int
    hub_cap: int
    hub_damping: float
    links: Mapping[str, float]


def reach(view: View, starts: Sequence[int], bounds: Bounds) -> dict[int, int]:
    """By memory, the fewest hops from any start; starts have 0.

    Args:
        view: visible rows are the graph.
        starts: ordinals, no repeats.
        bounds: how far to go.
    """
    hops = dict.fromkeys(starts, 0)
    places = np.arange(len(starts))
    seen, owners, rows = _pairs(places, np.array(starts, np.int64)), places, np.array(starts, np.int64)
    left = np.full(len(starts), bounds.per_start)
    for hop in range(1, bounds.hops + 1):
        owners, rows, strengths = _neighbours(view, owners, rows, bounds)
        fresh = ~np.isin(_pairs(owners, rows), seen)
        owners, rows, strengths = owners[fresh], rows[fresh], strengths[fresh]
        order = np.lexsort((_places(view, rows), -strengths, owners))
        owners, rows = owners[order], rows[order]
        kept = _position_in_group(owners) < left[owners]
        owners, rows = owners[kept], rows[kept]
        left -= np.bincount(owners, minlength=len(starts))
        seen = np.concatenate([seen, _pairs(owners, rows)])
        for row in rows.tolist():
            hops.setdefault(row, hop)
    return hops


def _neighbours(
    view: View, owners: NDArray[np.int64], rows: NDArray[np.int64], bounds: Bounds
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For each owner, whatever is one hop from its rows: (owner, row, strength), each pair once."""
    named = view.mentions(distinct(rows))
    entities = distinct(named.second)
    entities = entities[view.mention_counts(entities) <= bounds.hub_cap]
    weights = damped_weights(view, entities, bounds.hub_damping)
    owner_of_mention, _, mention = _joined(rows, named.first, owners)
    entity = named.second[mention]
    back = view.mentioning(entities)
    owner_by_entity, entity, reached = _joined(entity, back.first, owner_of_mention)
    strength = weights[np.searchsorted(entities, entity)]
    found = [(owner_by_entity, back.second[reached], strength)]
    kinds = np.array([bounds.links.get(kind, 0.0) for kind in LINK_KINDS])
    if kinds.any():
        links = view.links(distinct(rows))
        owner, _, place = _joined(rows, links.first, owners)
        found.append((owner, links.second[place], (links.weights * kinds[links.kinds])[place]))
    return _summed(
        np.concatenate([part[0] for part in found]),
        np.concatenate([part[1] for part in found]),
        np.concatenate([part[2] for part in found]),
    )


def _joined(
    wanted: NDArray[np.int64], keys: NDArray[np.int64], owners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every pair of a wanted value and a place in the ascending *keys* that holds it.

    Returns:
        the owner of the wanted value, the value, the place.
    """
    begin = np.searchsorted(keys, wanted, "left")
    count = np.searchsorted(keys, wanted, "right") - begin
    which = np.repeat(np.arange(len(wanted)), count)
    return owners[which], wanted[which], positions(begin, count)


def _summed(
    owners: NDArray[np.int64], rows: NDArray[np.int64], strengths: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Each pair once, its strengths added up and rounded to 1e-9; pairs without strength left out."""
    pairs: NDArray[np.int64]
    pairs, place = np.unique(_pairs(owners, rows), return_inverse=True)
    total = np.bincount(place, strengths.astype(np.float64), len(pairs)).astype(np.float64).round(9)
    pairs, total = pairs[total > 0], total[total > 0]
    return pairs >> 32, pairs & 0xFFFFFFFF, total


def _pairs(owners: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """A pair as one number; ordinals fit 32 bits."""
    return (owners << 32) | rows


def _places(view: View, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row stands by path and id."""
    once = distinct(rows)
    ranking = view.ranking(once, np.zeros(len(once)), None)
    place = np.empty(len(once), np.int64)
    place[np.searchsorted(once, ranking.ordinals)] = np.arange(len(once))
    return place[np.searchsorted(once, rows)]


def _position_in_group(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2 … within each run of equal values."""
    return np.arange(len(ordered)) - np.searchsorted(ordered, ordered, "left")
