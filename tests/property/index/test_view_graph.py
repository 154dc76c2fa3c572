"""The edges that a view shows, against the sets that they stand for: sealed or newer, hidden or not, merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.block import Tail
from simonides.index.columns import ERASED, Row
from simonides.index.graph import Graph, edges_of
from simonides.index.snapshot import IndexSnapshot
from simonides.index.view import BankView

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS = 7
ENTITIES = range(1, 6)


@dataclass(frozen=True)
class Reader:
    """Knows which entities count as which."""

    told: dict[int, int]

    def merges(self, known_at: int) -> dict[int, int]:
        return self.told

    def entity_groups(self, entities: Sequence[int], known_at: int) -> dict[int, int]:
        wholes = {self.told.get(entity, entity) for entity in entities}
        members = {entity: self.told.get(entity, entity) for entity in ENTITIES}
        groups = {entity: whole for entity, whole in members.items() if whole in wholes}
        return groups | {entity: self.told.get(entity, entity) for entity in entities}


def snapshot(graph: Graph) -> IndexSnapshot:
    tail = Tail(0, 0)
    for ordinal in range(ROWS):
        tail.append(Row(ordinal, {**ERASED, "id_key": ordinal, "root": ordinal}, {}, None, 0.0))
    return IndexSnapshot(1, 0, 0, (tail.frozen(),), {}, ("",), (frozenset(),), 0, graph)


def graph_of(mentions: set[tuple[int, int]], links: set[tuple[int, int]], sealed: tuple[int, int]) -> Graph:
    """A graph whose first few mentions and links are sealed."""
    told = [(row, entity, 0, 1.0) for row, entity in sorted(mentions)]
    tied = [(one, other, 0, 0.5) for one, other in sorted(links)]
    first = Graph.empty().extended(edges_of(tied[: sealed[1]]), edges_of(told[: sealed[0]]), 0, 0)
    kept = first.sealed(np.empty(0, np.int64))
    return kept.extended(edges_of(tied[sealed[1] :]), edges_of(told[sealed[0] :]), 0, 0)


PLACES = st.integers(0, ROWS - 1)


@given(
    mentions=st.sets(st.tuples(PLACES, st.sampled_from(ENTITIES)), max_size=20),
    links=st.sets(st.tuples(PLACES, PLACES).filter(lambda pair: pair[0] < pair[1]), max_size=8),
    sealed=st.tuples(st.integers(0, 20), st.integers(0, 8)),
    hidden=st.sets(PLACES),
    merged=st.dictionaries(st.sampled_from((4, 5)), st.sampled_from((1, 2))),
    asked=st.lists(st.sampled_from(ENTITIES), unique=True),
)
def test_edges_are_the_sets_that_visible_rows_make(
    mentions: set[tuple[int, int]],
    links: set[tuple[int, int]],
    sealed: tuple[int, int],
    hidden: set[int],
    merged: dict[int, int],
    asked: list[int],
) -> None:
    visible = np.array([row not in hidden for row in range(ROWS)], np.bool_)
    reader: Any = Reader(merged)
    view = BankView(snapshot(graph_of(mentions, links, sealed)), visible, visible, 0, 0, reader)
    whole = {(row, merged.get(entity, entity)) for row, entity in mentions if row not in hidden}
    rows = np.arange(ROWS)
    canonical = np.array([entity for entity in asked if entity not in merged], np.int64)

    told = view.mentions(rows)
    assert list(zip(told.first.tolist(), told.second.tolist(), strict=True)) == sorted(whole)
    back = view.mentioning(canonical)
    expected = sorted((entity, row) for row, entity in whole if entity in set(canonical.tolist()))
    assert list(zip(back.first.tolist(), back.second.tolist(), strict=True)) == expected
    counts = view.mention_counts(canonical)
    assert counts.tolist() == [sum(e == entity for _, e in whole) for entity in canonical.tolist()]
    tied = view.links(rows)
    both = {(a, b) for a, b in links if a not in hidden and b not in hidden}
    assert list(zip(tied.first.tolist(), tied.second.tolist(), strict=True)) == sorted(
        both | {(b, a) for a, b in both}
    )


@given(
    mentions=st.sets(st.tuples(PLACES, st.sampled_from(ENTITIES)), max_size=20),
    links=st.dictionaries(
        st.tuples(PLACES, PLACES).filter(lambda pair: pair[0] < pair[1]),
        st.tuples(st.sampled_from([0, 1]), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        max_size=8,
    ),
    all_sealed=st.booleans(),
    hidden=st.sets(PLACES),
    merged=st.dictionaries(st.sampled_from((4, 5)), st.sampled_from((1, 2)), max_size=1),
    least=st.sampled_from([0.25, 0.5, np.inf]),
    enough=st.sampled_from([0.0, 2.0]),
)
def test_a_floor_under_the_edges_is_never_above_them(
    mentions: set[tuple[int, int]],
    links: dict[tuple[int, int], tuple[int, float]],
    all_sealed: bool,
    hidden: set[int],
    merged: dict[int, int],
    least: float,
    enough: float,
) -> None:
    visible = np.array([row not in hidden for row in range(ROWS)], np.bool_)
    told = edges_of([(row, entity, 0, 1.0) for row, entity in sorted(mentions)])
    tied = edges_of([(*pair, *what) for pair, what in sorted(links.items())])
    graph = Graph.empty().extended(tied, told, 0, 0)
    if all_sealed:
        graph = graph.sealed(np.empty(0, np.int64))
    reader: Any = Reader(merged)
    view = BankView(snapshot(graph), visible, visible, 0, 0, reader)
    rows, floors = np.arange(ROWS), np.array([least, 0.5])
    seen = view.links(rows)
    first = [*view.mentions(rows).first, *seen.first[seen.weights >= floors[seen.kinds]]]
    counts = np.array([first.count(row) for row in range(ROWS)])
    found = view.edges_at_least(rows, floors, np.full(ROWS, enough))
    assert (found <= counts).all()
    if all_sealed and not merged and not enough:
        assert found.tolist() == counts.tolist()
