"""Forward push against power iteration over whole small graphs, and against strangers' rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simonides.index.graph_walk import Spread, Walk, damped_weights, spread
from simonides.testing.fakes import FakeView, fake_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn
    from numpy.typing import NDArray

NAMES = ("kestrel", "osprey", "budget", "ines", "user")
KINDS = {"semantic": 1.0, "causal": 0.5, "temporal": 0.0}


@dataclass(frozen=True)
class World:
    """Memories by id, what they mention, and their links by position."""

    mentions: tuple[frozenset[str], ...]
    visible: tuple[bool, ...]
    links: tuple[tuple[int, int, str, float], ...]

    def view(self, kind: type[FakeView] = FakeView) -> FakeView:
        return kind.of(
            [fake_memory(f"m{n}") for n in range(len(self.mentions))],
            visible=self.visible,
            entities=self.mentions,
            links=self.links,
        )


@st.composite
def worlds(draw: DrawFn, *, hidden: bool = False) -> World:
    mentions = draw(st.lists(st.frozensets(st.sampled_from(NAMES), max_size=4), min_size=1, max_size=9))
    places = st.integers(0, len(mentions) - 1)
    pairs = draw(st.sets(st.tuples(places, places).filter(lambda pair: pair[0] < pair[1]), max_size=8))
    links = [
        (one, other, draw(st.sampled_from(sorted(KINDS))), draw(st.sampled_from([0.25, 0.7, 1.0])))
        for one, other in sorted(pairs)
    ]
    seen = [not hidden or draw(st.booleans()) for _ in mentions]
    return World(tuple(mentions), tuple(seen), tuple(links))


Node = tuple[str, object]


def weights(world: World, hub_damping: float) -> dict[Node, dict[Node, float]]:
    """The visible graph, edge by edge, from the definition."""
    rows = [row for row, seen in enumerate(world.visible) if seen]
    counts = {name: sum(name in world.mentions[row] for row in rows) for name in NAMES}
    edges: dict[Node, dict[Node, float]] = {("row", row): {} for row in rows}
    edges |= {("entity", name): {} for name, count in counts.items() if count}
    for row in rows:
        for name in world.mentions[row]:
            edges["row", row]["entity", name] = counts[name] ** -hub_damping
            edges["entity", name]["row", row] = 1.0
    for one, other, kind, weight in world.links:
        if one in rows and other in rows and KINDS[kind]:
            for first, second in ((one, other), (other, one)):
                share = edges["row", first].get(("row", second), 0.0) + weight * KINDS[kind]
                edges["row", first]["row", second] = share
    return edges


def power_iteration(
    edges: dict[Node, dict[Node, float]], seeds: dict[Node, float], damping: float
) -> dict[Node, float]:
    """p = (1 − d) · seeds + d · p · W until it no longer moves; a node without edges keeps its mass."""
    total = math.fsum(seeds.values())
    start = {node: seeds.get(node, 0.0) / total for node in edges}
    mass = dict(start)
    for _ in range(400):
        moved = {node: (1 - damping) * start[node] for node in edges}
        for node, ends in edges.items():
            out = math.fsum(ends.values())
            for end, weight in ends.items() or [(node, 1.0)]:
                moved[end] += damping * mass[node] * (weight / out if ends else 1.0)
        mass = moved
    return mass


def by_node(view: FakeView, found: Spread) -> dict[Node, float]:
    names = {number: name for name, number in view.names.items()}
    masses: dict[Node, float] = {
        ("row", row): mass for row, mass in zip(found.rows.tolist(), found.row_mass.tolist(), strict=True)
    }
    for number, mass in zip(found.entities.tolist(), found.entity_mass.tolist(), strict=True):
        masses["entity", names[number]] = mass
    return masses


def seeds_of(world: World, names: Sequence[str], rows: Sequence[int]) -> dict[Node, float]:
    named = {name for row, seen in zip(world.mentions, world.visible, strict=True) if seen for name in row}
    seeds: dict[Node, float] = {("entity", name): 1.0 for name in names if name in named}
    return seeds | {("row", row): 0.5 for row in rows if row < len(world.visible) and world.visible[row]}


def push(view: FakeView, seeds: dict[Node, float], walk: Walk) -> Spread:
    rows = {int(str(key)): weight for (kind, key), weight in seeds.items() if kind == "row"}
    entities = {view.names[str(key)]: weight for (kind, key), weight in seeds.items() if kind == "entity"}
    return spread(view, rows, entities, walk)


def whole_steps(weight: float) -> float:
    return round(weight * 2**20) / 2**20


def edge_lists(world: World, hub_damping: float) -> dict[Node, list[tuple[Node, float]]]:
    """As ``weights``, but each edge by itself and in the steps in which a walk counts."""
    rows = [row for row, seen in enumerate(world.visible) if seen]
    counts = {name: sum(name in world.mentions[row] for row in rows) for name in NAMES}
    edges: dict[Node, list[tuple[Node, float]]] = {("row", row): [] for row in rows}
    edges |= {("entity", name): [] for name in NAMES}
    for row in rows:
        for name in world.mentions[row]:
            pays = max(whole_steps(counts[name] ** -hub_damping), 2**-20)
            edges["row", row].append((("entity", name), pays))
            edges["entity", name].append((("row", row), 1.0))
    for one, other, kind, weight in world.links:
        if one in rows and other in rows and KINDS[kind]:
            tied = whole_steps(float(np.float32(weight)) * KINDS[kind])
            edges["row", one].append((("row", other), tied))
            edges["row", other].append((("row", one), tied))
    return edges


def plain_push(world: World, seeds: dict[Node, float], walk: Walk) -> tuple[dict[Node, float], float, bool]:
    """Forward push node by node and edge by edge: masses of what was reached, what is left, whether cut short."""
    edges = edge_lists(world, walk.hub_damping)
    degrees = {node: max(1, len(ends)) for node, ends in edges.items()}
    threshold = max(walk.residual / max(1, sum(world.visible)), 1 / walk.edges) * 2**50
    total = math.fsum(seeds.values())
    waiting = {node: float(math.floor(weight / total * 2**50)) for node, weight in seeds.items()}
    settled: dict[Node, float] = dict.fromkeys(edges, 0.0)
    budget, cut, reached = walk.edges, False, set(seeds)
    for _ in range(walk.rounds):
        frontier = {node: mass for node, mass in waiting.items() if mass > threshold * degrees[node]}
        if (passed := sum(degrees[node] for node in frontier)) > budget:
            cut, used = True, 0
            for node in sorted(frontier, key=lambda node: -frontier[node] / degrees[node]):
                used += degrees[node]
                if used > budget:
                    last = frontier[node] / degrees[node]
                    break
            frontier = {node: mass for node, mass in frontier.items() if mass / degrees[node] > last}
        budget -= passed
        for node, mass in frontier.items():
            waiting[node] -= mass
            settled[node] += mass
            out = math.fsum(weight for _, weight in edges[node])
            for end, weight in edges[node]:
                moved = math.floor(walk.damping * mass * (weight / out))
                settled[node] -= moved
                waiting[end] = waiting.get(end, 0.0) + moved
                reached.add(end)
        if cut or not frontier:
            break
    masses = {node: (settled[node] + (1 - walk.damping) * waiting.get(node, 0.0)) / 2**50 for node in reached}
    return masses, walk.damping * math.fsum(waiting.values()) / 2**50, cut


SEED_NAMES = st.lists(st.sampled_from(NAMES), max_size=3, unique=True)
SEED_ROWS = st.lists(st.integers(0, 8), max_size=2, unique=True)
DAMPING = st.sampled_from([0.5, 0.85])
HUB_DAMPING = st.sampled_from([0.0, 0.5, 1.0])


@given(worlds(hidden=True), SEED_NAMES, SEED_ROWS, DAMPING, HUB_DAMPING)
def test_a_fine_push_is_power_iteration(
    world: World, names: list[str], rows: list[int], damping: float, hub_damping: float
) -> None:
    seeds = seeds_of(world, names, rows)
    assume(seeds)
    exact = power_iteration(weights(world, hub_damping), seeds, damping)
    assert math.fsum(exact.values()) == pytest.approx(1, abs=1e-6)

    view = world.view()
    found = push(view, seeds, Walk(damping, 1e-9, 400, 10**12, hub_damping, KINDS))
    masses = by_node(view, found)
    assert math.fsum(masses.values()) + found.left == pytest.approx(1, abs=1e-9)
    assert found.left < 1e-6
    assert masses == pytest.approx({node: mass for node, mass in exact.items() if node in masses}, abs=5e-6)
    assert math.fsum(mass for node, mass in exact.items() if node not in masses) < 1e-6
    assert found.reason == ""


@given(
    worlds(hidden=True),
    SEED_NAMES,
    SEED_ROWS,
    DAMPING,
    HUB_DAMPING,
    st.sampled_from([2, 5, 12, 30, 100_000]),
    st.sampled_from([1e-9, 0.01, 0.3]),
    st.sampled_from([1, 2, 4, 20]),
)
def test_a_walk_is_forward_push_to_the_last_bit(
    world: World,
    names: list[str],
    rows: list[int],
    damping: float,
    hub_damping: float,
    edges: int,
    residual: float,
    rounds: int,
) -> None:
    seeds = seeds_of(world, names, rows)
    assume(seeds)
    walk = Walk(damping, residual, rounds, edges, hub_damping, KINDS)
    masses, left, cut = plain_push(world, seeds, walk)
    view = world.view()
    for many in (0, 1_024):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("simonides.index.graph_walk._MANY", many)
            found = push(view, seeds, walk)
        assert by_node(view, found) == masses
        assert (found.left, bool(found.reason)) == (left, cut)


@given(
    worlds(),
    SEED_NAMES,
    SEED_ROWS,
    DAMPING,
    st.sampled_from([1, 3, 10, 100_000]),
    st.sampled_from([0.001, 0.5]),
    st.sampled_from([1, 2, 20]),
)
def test_a_coarse_push_is_a_lower_bound_and_says_what_is_left(
    world: World, names: list[str], rows: list[int], damping: float, edges: int, residual: float, rounds: int
) -> None:
    seeds = seeds_of(world, names, rows)
    assume(seeds)
    exact = power_iteration(weights(world, 0.5), seeds, damping)
    view = world.view()
    walk = Walk(damping, residual, rounds, edges, 0.5, KINDS)
    found = push(view, seeds, walk)
    masses = by_node(view, found)
    # Weights are rounded to multiples of 2⁻²⁰, so the bound holds to about that.
    assert all(mass <= exact[node] + 5e-6 for node, mass in masses.items())
    assert math.fsum(masses.values()) + found.left == pytest.approx(1, abs=1e-9)


@given(worlds(), SEED_NAMES, DAMPING)
def test_the_usual_bounds_leave_the_best_memories_in_their_order(
    world: World, names: list[str], damping: float
) -> None:
    seeds = seeds_of(world, names, [])
    assume(seeds)
    exact = power_iteration(weights(world, 0.5), seeds, damping)
    view = world.view()
    found = push(view, seeds, Walk(damping, 0.001, 20 if damping == 0.5 else 80, 100_000, 0.5, KINDS))
    masses = by_node(view, found)
    rows = [node for node in exact if node[0] == "row"]
    best = sorted(rows, key=lambda node: -exact[node])[:3]
    # What was found best is as good as what is best, but for what was left to spread.
    least = min(exact[node] for node in best)
    taken = sorted(rows, key=lambda node: -masses.get(node, 0.0))[:3]
    assert all(exact[node] >= least - found.left - 5e-6 for node in taken)


@given(worlds(hidden=True), SEED_NAMES, SEED_ROWS)
def test_what_is_not_visible_changes_no_bit(world: World, names: list[str], rows: list[int]) -> None:
    seeds = seeds_of(world, names, rows)
    assume(seeds)
    kept = [row for row, seen in enumerate(world.visible) if seen]
    place = {row: n for n, row in enumerate(kept)}
    alone = World(
        tuple(world.mentions[row] for row in kept),
        (True,) * len(kept),
        tuple((place[a], place[b], kind, w) for a, b, kind, w in world.links if a in place and b in place),
    )
    walk = Walk(0.5, 0.01, 5, 20, 0.5, KINDS)
    with_others = push(world.view(), seeds, walk)
    without = push(
        alone.view(),
        {(kind, place[int(str(key))] if kind == "row" else key): w for (kind, key), w in seeds.items()},
        walk,
    )
    assert [place[row] for row in with_others.rows.tolist()] == without.rows.tolist()
    assert with_others.row_mass.tolist() == without.row_mass.tolist()
    assert (with_others.left, with_others.reason) == (without.left, without.reason)


@given(
    worlds(hidden=True), SEED_NAMES, SEED_ROWS, st.sampled_from([4, 8, 16, 40]), st.sampled_from([0.0, 1.0])
)
def test_which_memories_are_read_changes_no_bit(
    world: World, names: list[str], rows: list[int], edges: int, hub_damping: float
) -> None:
    class ReadsAll(FakeView):
        """Tells of no memory how many edges it has, so that each is read to be counted."""

        def edges_at_least(
            self,
            ordinals: NDArray[np.int64],
            least: NDArray[np.float64],
            enough: NDArray[np.float64],
        ) -> NDArray[np.int64]:
            return np.zeros(len(ordinals), np.int64)

    seeds = seeds_of(world, names, rows)
    assume(seeds)
    walk = Walk(0.5, 1e-9, 4, edges, hub_damping, KINDS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simonides.index.graph_walk._MANY", 0)
        counted = push(world.view(), seeds, walk)
    read = push(world.view(ReadsAll), seeds, walk)
    assert counted.rows.tolist() == read.rows.tolist()
    assert counted.row_mass.tolist() == read.row_mass.tolist()
    assert counted.entities.tolist() == read.entities.tolist()
    assert counted.entity_mass.tolist() == read.entity_mass.tolist()
    assert (counted.left, counted.reason) == (read.left, read.reason)


@given(worlds(), SEED_NAMES, st.permutations(NAMES))
def test_the_numbers_of_entities_change_no_bit(world: World, names: list[str], order: list[str]) -> None:
    seeds = seeds_of(world, names, [])
    assume(seeds)
    # Names are numbered in their own order; other names in their place number them otherwise.
    other = dict(zip(NAMES, order, strict=True))
    renamed = World(
        tuple(frozenset(other[name] for name in named) for named in world.mentions),
        world.visible,
        world.links,
    )
    walk = Walk(0.5, 0.01, 5, 12, 0.5, KINDS)
    one = push(world.view(), seeds, walk)
    two = push(renamed.view(), {("entity", other[str(name)]): w for (_, name), w in seeds.items()}, walk)
    assert one.rows.tolist() == two.rows.tolist()
    assert one.row_mass.tolist() == two.row_mass.tolist()
    assert (one.left, one.reason) == (two.left, two.reason)


@given(worlds(hidden=True), HUB_DAMPING)
def test_damped_weights_count_visible_memories(world: World, hub_damping: float) -> None:
    view = world.view()
    numbers = np.array(sorted(view.names.values()), np.int64)
    found = dict(zip(numbers.tolist(), damped_weights(view, numbers, hub_damping).tolist(), strict=True))
    for name, number in view.names.items():
        count = sum(name in named for named, seen in zip(world.mentions, world.visible, strict=True) if seen)
        assert found[number] == pytest.approx(max(1, count) ** -hub_damping, abs=1e-6)
        # Whole steps, whose sums are exact in any order.
        assert (found[number] * 2**20).is_integer()
