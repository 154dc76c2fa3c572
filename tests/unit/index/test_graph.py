from __future__ import annotations

import numpy as np

from simonides.index.graph import (
    LINK_CODES,
    LINK_KINDS,
    Edges,
    Graph,
    edges_of,
    graph_arrays,
    graph_of_arrays,
)

SEMANTIC, CAUSAL = LINK_CODES["semantic"], LINK_CODES["causal"]
LINKS = edges_of([(3, 1, SEMANTIC, 0.75), (3, 2, CAUSAL, 0.5), (4, 3, SEMANTIC, 0.875)])
MENTIONS = edges_of([(1, 7, 0, 1.0), (3, 7, 0, 1.0), (3, 5, 0, 1.0)])
NOTHING = edges_of(())


def listed(edges: Edges) -> list[tuple[int, int, int, float]]:
    columns = (edges.first, edges.second, edges.kinds, edges.weights)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def linked(graph: Graph, *roots: int) -> list[tuple[int, int, int, float]]:
    return listed(graph.linked(np.array(roots, np.int64)))


def ends(edges: Edges) -> list[tuple[int, int]]:
    return [(first, second) for first, second, _, _ in listed(edges)]


def test_link_kinds_keep_their_codes() -> None:
    """Codes lie in index files, so the order is for good."""
    assert LINK_KINDS == ("semantic", "causal", "temporal", "session")


def test_an_empty_graph_answers_with_nothing() -> None:
    graph = Graph.empty()
    for asked in ([], [0], [5, 5]):
        nodes = np.array(asked, np.int64)
        assert [len(graph.linked(nodes)), len(graph.entities(nodes)), len(graph.mentioning(nodes))] == [0] * 3
    assert listed(graph.sealed(np.empty(0, np.int64)).linked(np.array([0]))) == []


def test_links_are_found_from_both_ends_and_in_order() -> None:
    graph = Graph.empty().extended(LINKS, NOTHING, 3, 0)
    expected = [(3, 1, SEMANTIC, 0.75), (3, 2, CAUSAL, 0.5), (3, 4, SEMANTIC, 0.875)]
    assert linked(graph, 3) == expected
    assert linked(graph.sealed(np.empty(0, np.int64)), 3) == expected
    assert linked(graph, 1) == [(1, 3, SEMANTIC, 0.75)]


def test_two_memories_may_be_linked_in_several_ways() -> None:
    graph = Graph.empty().extended(edges_of([(2, 1, CAUSAL, 0.5), (2, 1, SEMANTIC, 0.75)]), NOTHING, 2, 0)
    assert linked(graph, 1) == [(1, 2, SEMANTIC, 0.75), (1, 2, CAUSAL, 0.5)]


def test_a_newer_link_of_an_earlier_kind_comes_first() -> None:
    sealed = Graph.empty().extended(edges_of([(1, 2, CAUSAL, 0.5), (1, 3, SEMANTIC, 0.25)]), NOTHING, 2, 0)
    sealed = sealed.sealed(np.empty(0, np.int64))
    graph = sealed.extended(edges_of([(1, 2, SEMANTIC, 0.75), (0, 1, SEMANTIC, 1.0)]), NOTHING, 4, 0)
    of_one = [(1, 0, SEMANTIC, 1.0), (1, 2, SEMANTIC, 0.75), (1, 2, CAUSAL, 0.5), (1, 3, SEMANTIC, 0.25)]
    assert linked(graph, 1) == of_one
    assert linked(graph, 0, 1, 2) == [
        (0, 1, SEMANTIC, 1.0),
        *of_one,
        (2, 1, SEMANTIC, 0.75),
        (2, 1, CAUSAL, 0.5),
    ]


def test_asking_twice_for_a_node_is_asking_once_sealed_or_not() -> None:
    graph = Graph.empty().extended(LINKS, MENTIONS, 3, 3)
    for state in (graph, graph.sealed(np.empty(0, np.int64))):
        twice, once = np.array([3, 3, 1]), np.array([1, 3])
        assert listed(state.linked(twice)) == listed(state.linked(once))
        assert listed(state.entities(twice)) == listed(state.entities(once))
        assert listed(state.mentioning(np.array([7, 7]))) == listed(state.mentioning(np.array([7])))


def test_mentions_are_found_by_row_and_by_entity() -> None:
    graph = Graph.empty().extended(NOTHING, MENTIONS, 0, 3)
    for state in (graph, graph.sealed(np.empty(0, np.int64))):
        assert ends(state.entities(np.array([3, 1]))) == [(1, 7), (3, 5), (3, 7)]
        assert ends(state.mentioning(np.array([7]))) == [(7, 1), (7, 3)]
        assert ends(state.mentioning(np.array([6, 99]))) == []


def test_sealing_drops_the_edges_of_erased_rows_from_both_ends() -> None:
    graph = Graph.empty().extended(LINKS, MENTIONS, 3, 3)
    for state in (graph, graph.sealed(np.empty(0, np.int64))):
        sealed = state.sealed(np.array([3], np.int64))
        assert linked(sealed, 1, 2, 3, 4) == []
        assert ends(sealed.entities(np.array([1, 3]))) == [(1, 7)]
        assert ends(sealed.mentioning(np.array([5, 7]))) == [(7, 1)]


def test_sealing_forgets_the_tail_and_keeps_its_place() -> None:
    sealed = Graph.empty().extended(LINKS, MENTIONS, 30, 40).sealed(np.empty(0, np.int64))
    assert (len(sealed.newer_links), len(sealed.newer_mentions)) == (0, 0)
    assert (sealed.last_link, sealed.last_mention) == (30, 40)


def test_newer_edges_join_the_sealed_ones() -> None:
    graph = Graph.empty().extended(LINKS, MENTIONS, 3, 3).sealed(np.empty(0, np.int64))
    graph = graph.extended(edges_of([(5, 3, SEMANTIC, 0.75)]), edges_of([(5, 7, 0, 1.0)]), 4, 4)
    assert [end for _, end, _, _ in linked(graph, 3)] == [1, 2, 4, 5]
    assert ends(graph.mentioning(np.array([7]))) == [(7, 1), (7, 3), (7, 5)]
    assert linked(graph, 5) == [(5, 3, SEMANTIC, 0.75)]


def test_a_graph_survives_its_arrays() -> None:
    graph = Graph.empty().extended(LINKS, MENTIONS, 3, 9).sealed(np.empty(0, np.int64))
    arrays = graph_arrays(graph)
    assert {name: array.dtype.kind for name, array in arrays.items() if name.endswith("weights")} == {
        "links.weights": "f",
        "by_row.weights": "f",
        "by_entity.weights": "f",
    }
    again = graph_of_arrays(arrays)
    assert linked(again, 1, 2, 3, 4) == linked(graph, 1, 2, 3, 4)
    assert ends(again.entities(np.array([1, 3]))) == ends(graph.entities(np.array([1, 3])))
    assert (again.last_link, again.last_mention) == (3, 9)
