"""What a view shows of mentions, links and merged entities; by hand, versions included."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from simonides.index.block import Tail
from simonides.index.columns import ERASED, Row
from simonides.index.graph import Graph, edges_of
from simonides.index.snapshot import IndexSnapshot
from simonides.index.view import BankView
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simonides.index.view import RowReader
    from simonides.records.edges import Edges

AS_OF, KNOWN_AT = 50, 40
CAUSAL = 1


@dataclass
class Reader:
    """Entity 5 was merged into 1, by ``KNOWN_AT``; *told* says whether that is known of at all."""

    told: bool = True
    asked: list[str] = field(default_factory=list)

    def merges(self, known_at: int) -> dict[int, int]:
        assert known_at == KNOWN_AT
        return {5: 1} if self.told else {}

    def entity_groups(self, entities: Sequence[int], known_at: int) -> dict[int, int]:
        assert known_at == KNOWN_AT
        found = {entity: 1 if entity == 5 else entity for entity in entities}
        return found | ({1: 1, 5: 1} if 1 in found.values() else {})

    def find_entities(self, text: str, known_at: int, counts: Callable[[int], bool]) -> tuple[int, ...]:
        assert known_at == KNOWN_AT
        self.asked.append(text)
        return tuple(entity for entity in (1, 2, 3, 9) if counts(entity))


def view_of(
    graph: Graph,
    visible: list[bool],
    *,
    nodes: Sequence[int] | None = None,
    reader: Reader | None = None,
) -> BankView:
    tail = Tail(0, 0)
    for ordinal in range(len(visible)):
        node = nodes[ordinal] if nodes else ordinal
        live = {**ERASED, "id_key": ordinal, "node": node, "expired_at": FOREVER}
        tail.append(Row(ordinal, live, {}, None, 0.0))
    snapshot = IndexSnapshot(1, 0, 0, (tail.frozen(),), {}, ("",), (frozenset(),), 0, graph)
    mask = np.array(visible, np.bool_)
    return BankView(snapshot, mask, mask, AS_OF, KNOWN_AT, cast("RowReader", reader or Reader()))


def graph_of(
    mentions: Sequence[tuple[int, int]] = (), links: Sequence[tuple[int, int, int, float]] = ()
) -> Graph:
    told = [(row, entity, 0, 1.0) for row, entity in mentions]
    return Graph.empty().extended(edges_of(list(links)), edges_of(told), 0, 0)


def pairs(edges: Edges) -> list[tuple[int, int]]:
    return list(zip(edges.first.tolist(), edges.second.tolist(), strict=True))


def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


MENTIONS = graph_of([(0, 1), (0, 5), (1, 5), (2, 2), (3, 3)])
SEEN = [True, True, False, True]


def test_entities_that_were_merged_count_as_one() -> None:
    view = view_of(MENTIONS, SEEN)
    told = view.mentions(ints(0, 1, 2, 3))
    assert pairs(told) == [(0, 1), (1, 1), (3, 3)]
    assert (told.kinds.tolist(), told.weights.tolist()) == ([0, 0, 0], [1.0, 1.0, 1.0])
    assert pairs(view.mentioning(ints(1, 2))) == [(1, 0), (1, 1)]
    assert pairs(view.mentioning(ints(5, 3))) == [(1, 0), (1, 1), (3, 3)]
    assert view.mention_counts(ints(3, 5, 1, 2, 9)).tolist() == [1, 2, 2, 0, 0]


def test_before_a_merge_is_known_each_entity_stands_alone() -> None:
    view = view_of(MENTIONS, SEEN, reader=Reader(told=False))
    assert pairs(view.mentions(ints(0, 1, 2, 3))) == [(0, 1), (0, 5), (1, 5), (3, 3)]
    assert pairs(view.mentioning(ints(5, 1, 2))) == [(1, 0), (5, 0), (5, 1)]
    assert view.mention_counts(ints(5, 1, 2)).tolist() == [2, 1, 0]


@pytest.mark.fault("F4")
def test_names_are_looked_for_among_what_visible_rows_mention() -> None:
    reader = Reader(told=False)
    assert view_of(MENTIONS, SEEN, reader=reader).find_entities("Where is Osprey?") == (1, 3)
    assert reader.asked == ["Where is Osprey?"]


def test_a_link_joins_the_versions_that_are_visible() -> None:
    # Memory 0 has the versions 0 and 3, memory 2 the versions 2 and 4.
    links = graph_of(links=[(0, 1, CAUSAL, 0.5), (1, 2, 0, 0.25)])
    view = view_of(links, [False, True, True, True, False], nodes=[0, 1, 2, 0, 2])
    tied = view.links(ints(1, 2, 3))
    assert pairs(tied) == [(1, 2), (1, 3), (2, 1), (3, 1)]
    assert tied.kinds.tolist() == [0, CAUSAL, 0, CAUSAL]
    assert tied.weights.tolist() == [0.25, 0.5, 0.25, 0.5]
    assert pairs(view.links(ints(3))) == [(3, 1)]
    assert pairs(view.links(ints(0, 4))) == []


def test_the_links_of_a_memory_count_for_the_version_that_is_visible() -> None:
    # As above; version 2 is the one that is visible of its memory.
    links = graph_of(links=[(0, 1, CAUSAL, 0.5), (1, 2, 0, 0.25)]).sealed(ints())
    view = view_of(links, [False, True, True, True, False], nodes=[0, 1, 2, 0, 2], reader=Reader(told=False))
    rows, all_kinds = np.arange(5), np.full(4, 0.1)
    assert view.edges_at_least(rows, all_kinds, np.zeros(5)).tolist() == [0, 2, 1, 1, 0]
    assert view.edges_at_least(rows, np.array([np.inf, 0.5, 0, 0]), np.zeros(5)).tolist() == [0, 1, 0, 1, 0]
    # Who has fewer than that anyway is not counted.
    assert view.edges_at_least(rows, all_kinds, np.full(5, 2.0)).tolist() == [0, 2, 0, 0, 0]


def test_a_link_to_a_memory_of_which_no_version_is_visible_is_hidden() -> None:
    links = graph_of(links=[(0, 1, 0, 1.0), (1, 2, 0, 1.0)])
    view = view_of(links, [True, True, False, False], nodes=[0, 1, 2, 2])
    assert pairs(view.links(ints(0, 1))) == [(0, 1), (1, 0)]


def test_of_two_visible_versions_the_last_is_linked() -> None:
    links = graph_of(links=[(0, 1, 0, 1.0)])
    view = view_of(links, [True, True, True, True, False], nodes=[0, 1, 0, 0, 0])
    assert pairs(view.links(ints(1))) == [(1, 3)]
    # Asked from any version, the edge starts at that one.
    assert pairs(view.links(ints(0))) == pairs(view.links(ints(2))) == [(3, 1)]
