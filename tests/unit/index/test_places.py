from __future__ import annotations

import numpy as np

from simonides.index.graph_walk import Places, longer


def test_nodes_get_places_in_the_order_in_which_they_are_met() -> None:
    places = Places(10)
    assert sorted(places.meet(np.array([7, 3, 7, 3, 3])).tolist()) == [3, 7]
    assert places.meet(np.array([3, 5, 7])).tolist() == [5]
    assert places.at(np.array([5, 9])).tolist() == [3, 0]
    where = places.at(np.array([7, 3, 5]))
    assert sorted(where.tolist()) == [1, 2, 3]
    assert places.nodes(where).tolist() == [7, 3, 5]
    assert places.ordered(where).tolist() == [3, 5, 7]


def test_there_is_room_for_all_that_are_met_and_for_nodes_beyond_those_expected() -> None:
    places = Places(2)
    before = places.room
    nodes = np.arange(3 * before)[::-1].copy()
    assert places.meet(nodes).tolist() == nodes.tolist()
    assert places.room > 3 * before
    assert places.nodes(places.at(nodes)).tolist() == nodes.tolist()
    assert places.meet(nodes).tolist() == []
    assert places.meet(np.empty(0, np.int64)).tolist() == []


def test_an_array_is_lengthened_by_zeros() -> None:
    assert longer(np.array([True]), 3).tolist() == [True, False, False]
