from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.index.block import Tail
from simonides.index.columns import ERASED, Row
from simonides.index.snapshot import IndexSnapshot
from simonides.records.interval import FOREVER
from simonides.retain import neighbours
from simonides.retain.neighbours import Neighbour, Neighbourhood, novelty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.unit.retain.conftest import Prepare

    from simonides.records.draft import Prepared

SETS = [frozenset[str](), frozenset(["ann"]), frozenset(["ann", "ben"])]
NOW = 100


def snapshot(
    rows: Sequence[Prepared], *, ended: Sequence[int] = (), expired: Sequence[int] = ()
) -> IndexSnapshot:
    """Rows that hold from ever on but for those that *ended* or were *expired*."""
    dimension = next((len(row.codes) for row in rows if row.codes is not None), 0)
    tail = Tail(0, dimension)
    for ordinal, row in enumerate(rows):
        values = {
            **ERASED,
            "id_key": ordinal,
            "root": ordinal,
            "valid_from": 0,
            "valid_to": NOW if ordinal in ended else FOREVER,
            "ingested_at": 0,
            "expired_at": 50 if ordinal in expired else FOREVER,
            "acl": SETS.index(frozenset(row.draft.acl)),
        }
        tail.append(Row(ordinal, values, row.terms, row.codes, row.scale))
    return IndexSnapshot(1, 0, dimension, (tail.frozen(),) if rows else (), {}, [""], SETS, 0)


def cosine(one: Prepared, other: Prepared) -> float:
    assert one.codes is not None
    assert other.codes is not None
    dot = math.fsum(int(x) * int(y) for x, y in zip(one.codes, other.codes, strict=True))
    return dot * one.scale * other.scale


def twin(stored: Sequence[Prepared], batch: Sequence[Prepared], position: int, most: int) -> list[Neighbour]:
    """The nearest by the definition, one pair at a time."""
    item = batch[position]

    def meets(other: Prepared) -> bool:
        mine, theirs = set(item.draft.acl), set(other.draft.acl)
        return other.codes is not None and (not theirs or (bool(mine) and mine <= theirs))

    found = [(-cosine(item, row), 0, n) for n, row in enumerate(stored) if meets(row)]
    found += [(-cosine(item, row), 1, n) for n, row in enumerate(batch[:position]) if meets(row)]
    return [
        Neighbour(None if late else n, n if late else None, -score) for score, late, n in sorted(found)[:most]
    ]


def parts(found: Sequence[Neighbour]) -> list[tuple[int | None, int | None]]:
    return [(neighbour.ordinal, neighbour.position) for neighbour in found]


@pytest.mark.parametrize("size", [3, neighbours.FEW + 4])
def test_the_nearest_are_those_of_the_definition(prepare: Prepare, size: int) -> None:
    chance = random.Random(size)

    def item(number: int) -> Prepared:
        vector = [chance.gauss(0, 1) for _ in range(24)]
        return prepare(
            f"item {number}",
            None if chance.random() < 0.1 else vector,
            acl=chance.choice([[], [], ["ann"], ["ann", "ben"]]),
        )

    stored, batch = [item(n) for n in range(30)], [item(n) for n in range(size)]
    near = Neighbourhood(snapshot(stored), batch, NOW)
    for position, mine in enumerate(batch):
        found = near.nearest(position, 5)
        expected = [] if mine.codes is None else twin(stored, batch, position, 5)
        assert parts(found) == parts(expected)
        # The scan takes the item's vector at 16 bits, so its cosines are good to 2e-5.
        assert [n.cosine for n in found] == pytest.approx([n.cosine for n in expected], abs=2e-5)
        near.wrote(position)


def test_what_did_not_become_a_row_is_nobodys_neighbour(prepare: Prepare) -> None:
    batch = [prepare("fuse", [1, 0, 0]), prepare("fuse", [1, 0, 0]), prepare("lamp", [1, 0.5, 0])]
    near = Neighbourhood(snapshot([]), batch, NOW)
    near.wrote(0)
    assert parts(near.nearest(1, 5)) == [(None, 0)]
    assert parts(near.nearest(2, 5)) == [(None, 0)]


@pytest.mark.parametrize("size", [1, neighbours.FEW])
def test_what_has_ended_or_was_replaced_is_not_compared(prepare: Prepare, size: int) -> None:
    stored = [prepare(f"row {n}", [1, 0, 0]) for n in range(4)]
    batch = [prepare(f"item {n}", [1, 0, 0]) for n in range(size)]
    near = Neighbourhood(snapshot(stored, ended=[1], expired=[2]), batch, NOW)
    assert parts(near.nearest(0, 5)) == [(0, None), (3, None)]


@pytest.mark.parametrize("size", [1, neighbours.FEW])
def test_ties_go_to_the_older_and_stored_ones_first(prepare: Prepare, size: int) -> None:
    stored = [prepare(f"row {n}", [1, 0, 0]) for n in range(3)]
    batch = [prepare(f"item {n}", [1, 0, 0]) for n in range(size + 1)]
    near = Neighbourhood(snapshot(stored), batch, NOW)
    near.wrote(0)
    assert parts(near.nearest(1, 2)) == [(0, None), (1, None)]
    assert parts(near.nearest(1, 5)) == [(0, None), (1, None), (2, None), (None, 0)]


def test_without_vectors_there_are_no_neighbours(prepare: Prepare) -> None:
    stored = [prepare("row", [1, 0, 0])]
    batch = [prepare("none"), prepare("longer", [1, 0, 0, 0]), prepare("some", [1, 0, 0])]
    near = Neighbourhood(snapshot(stored), batch[:1], NOW)
    assert near.nearest(0, 5) == []
    assert Neighbourhood(snapshot([]), batch[2:], NOW).nearest(0, 5) == []
    assert Neighbourhood(snapshot(stored), batch[1:2], NOW).nearest(0, 5) == []


def test_an_empty_batch_has_none(prepare: Prepare) -> None:
    assert Neighbourhood(snapshot([prepare("row", [1, 0, 0])]), [], NOW).mask(()).tolist() == [True]


@pytest.mark.spec("HX-10")
@pytest.mark.parametrize(
    ("cosines", "expected"),
    [([], 1.0), ([1.0], 0.0), ([0.8, 0.4], 0.4), ([1.0000001], 0.0), ([-1.0, 1.0], 0.5), ([-0.5], 1.0)],
)
def test_novelty_is_the_distance_from_what_is_near(cosines: list[float], expected: float) -> None:
    near = [Neighbour(n, None, cosine) for n, cosine in enumerate(cosines)]
    assert novelty(near) == pytest.approx(expected)


def test_masks_are_made_once_per_set_of_readers(prepare: Prepare) -> None:
    near = Neighbourhood(snapshot([prepare("row", [1, 0], acl=["ann"])]), [], NOW)
    assert near.mask(()) is near.mask(())
    assert [near.mask(readers).tolist() for readers in ((), ("ann",), ("ann", "ben"))] == [
        [False],
        [True],
        [False],
    ]
    assert np.count_nonzero(near.mask(("ben",))) == 0
