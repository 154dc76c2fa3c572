"""CSR with a tail against a plain dictionary of edges, sealed at any moment and with rows erased."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.graph import LINK_KINDS, Edges, Graph, edges_of, graph_arrays, graph_of_arrays

if TYPE_CHECKING:
    from collections.abc import Iterable

NODES = st.integers(0, 9)
Edge = tuple[int, int, int, float]


@dataclass
class Twin:
    """The same edges in dictionaries."""

    links: set[Edge] = field(default_factory=set)
    mentions: set[tuple[int, int]] = field(default_factory=set)

    def linked(self, roots: Iterable[int]) -> list[Edge]:
        both = defaultdict(list)
        for one, other, kind, weight in self.links:
            both[one].append((one, other, kind, weight))
            both[other].append((other, one, kind, weight))
        return sorted(edge for root in set(roots) for edge in both[root])


def listed(edges: Edges) -> list[Edge]:
    columns = (edges.first, edges.second, edges.kinds, edges.weights)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def links() -> st.SearchStrategy[list[Edge]]:
    weights = st.sampled_from([0.25, 0.5, 1.0])
    edge = st.tuples(NODES, NODES, st.integers(0, len(LINK_KINDS) - 1), weights)
    return st.lists(edge.filter(lambda edge: edge[0] != edge[1]), max_size=8)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("link"), links()),
        st.tuples(st.just("mention"), st.lists(st.tuples(NODES, NODES), max_size=8)),
        st.tuples(st.just("seal"), st.sets(NODES, max_size=2)),
        st.tuples(st.just("save"), st.none()),
    ),
    max_size=10,
)


@given(STEPS, st.lists(NODES, max_size=6), st.sets(NODES), st.booleans())
def test_a_graph_answers_as_dictionaries_do(
    steps: list[tuple[str, object]], asked: list[int], seen: set[int], merged: bool
) -> None:
    graph, twin = Graph.empty(), Twin()
    written: set[tuple[int, int, int]] = set()
    for step, what in steps:
        match step, what:
            case "link", list(found):
                # The bank writes no link twice, whichever end is named first.
                fresh = []
                for one, other, kind, weight in found:
                    if not {(one, other, kind), (other, one, kind)} & written:
                        written.add((one, other, kind))
                        fresh.append((one, other, kind, weight))
                graph = graph.extended(edges_of(fresh), edges_of(()), 1, 1)
                twin.links |= set(fresh)
            case "mention", list(found):
                fresh_mentions = sorted(set(found) - twin.mentions)
                edges = edges_of([(row, entity, 0, 1.0) for row, entity in fresh_mentions])
                graph = graph.extended(edges_of(()), edges, 1, 1)
                twin.mentions |= set(fresh_mentions)
            case "seal", set(erased):
                graph = graph.sealed(np.array(sorted(erased), np.int64))
                twin.links = {edge for edge in twin.links if not {edge[0], edge[1]} & erased}
                twin.mentions = {pair for pair in twin.mentions if pair[0] not in erased}
                written = {edge[:3] for edge in twin.links}
            case _:
                graph = graph_of_arrays(graph_arrays(graph.sealed(np.empty(0, np.int64))))
    nodes = np.array(asked, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        # What is sealed and what is not are joined at each look, or are one from the first on.
        patch.setattr("simonides.index.graph._PER_LOOK", 10**9 if merged else 0)
        assert listed(graph.linked(nodes)) == twin.linked(asked)
        rows = sorted((row, entity, 0, 1.0) for row, entity in twin.mentions if row in asked)
        assert listed(graph.entities(nodes)) == rows
        entities = sorted((entity, row, 0, 1.0) for row, entity in twin.mentions if entity in asked)
        assert listed(graph.mentioning(nodes)) == entities
        counts = [sum((row, entity) in twin.mentions for row in seen) for entity in asked]
        mask = np.isin(np.arange(10), sorted(seen))
        assert graph.count_mentioning(nodes, mask).tolist() == counts
