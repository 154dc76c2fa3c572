from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.index.graph_walk import Walk, spread
from simonides.records.edges import Edges
from simonides.testing.fakes import FakeView, fake_memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WALK = Walk(damping=0.5, residual=1e-6, rounds=60, edges=10**9, hub_damping=0.0, links={})


def bank(*named: set[str], **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(f"m{n}") for n in range(len(named))], entities=named, **changes)


def masses(view: FakeView, entities: list[str], walk: Walk = WALK) -> dict[int, float]:
    found = spread(view, {}, {view.names[name]: 1.0 for name in entities}, walk)
    return dict(zip(found.rows.tolist(), found.row_mass.tolist(), strict=True))


def test_a_chain_by_hand() -> None:
    # K – m0 – O – m1, d = 1/2. With a, b, c, e the masses of K, m0, O, m1:
    # a = 1/2 + b/4, b = a/2 + c/4, c = b/4 + e/2, e = c/4, so that a = 7/12, b = 1/3, c = 2/21, e = 1/42.
    view = bank({"kestrel", "osprey"}, {"osprey"})
    a = 1 / 2 / (1 - (1 / 8) / (1 - (1 / 16) / (1 - 1 / 8)))
    b = 4 * (a - 1 / 2)
    c = b / 4 / (1 - 1 / 8)
    assert masses(view, ["kestrel"]) == pytest.approx({0: b, 1: c / 4}, abs=1e-6)
    assert a + b + c + c / 4 == pytest.approx(1)


def test_a_memory_without_neighbours_keeps_what_it_got() -> None:
    found = spread(bank(set(), {"kestrel"}), {0: 2.0}, {}, WALK)
    assert (found.rows.tolist(), found.row_mass.tolist(), found.left) == ([0], [1.0], 0.0)


def test_one_round_reaches_the_memories_of_a_seed_and_no_further() -> None:
    view = bank({"kestrel", "osprey"}, {"osprey"})
    assert masses(view, ["kestrel"], replace(WALK, rounds=1)) == {0: 0.25}


def test_links_are_followed_by_kind_and_weight() -> None:
    links = [(0, 1, "semantic", 0.75), (0, 2, "causal", 0.25), (0, 3, "temporal", 1.0)]
    view = bank(set(), set(), set(), set(), links=links)
    walk = replace(WALK, rounds=1, links={"semantic": 1.0, "causal": 3.0})
    found = spread(view, {0: 1.0}, {}, walk)
    assert dict(zip(found.rows.tolist(), found.row_mass.tolist(), strict=True)) == {
        0: 0.5,
        1: 0.125,
        2: 0.125,
    }


def test_edges_that_begin_at_a_memory_nobody_asked_for_are_not_followed() -> None:
    # A damaged bank may show two versions of one memory, and then answers with the later one's edges.
    class Damaged(FakeView):
        def links(self, ordinals: NDArray[np.int64]) -> Edges:
            found = FakeView.links(self, ordinals)
            return Edges.join([found, Edges(found.first + 2, found.second, found.kinds, found.weights)])

    links = [(0, 1, "semantic", 1.0)]
    memories = [fake_memory(f"m{n}") for n in range(4)]
    walk = replace(WALK, rounds=3, links={"semantic": 1.0})
    views = Damaged.of(memories, links=links), FakeView.of(memories, links=links)
    damaged, sound = (spread(view, {0: 1.0}, {}, walk) for view in views)
    assert damaged.rows.tolist() == sound.rows.tolist() == [0, 1]
    assert damaged.row_mass.tolist() == sound.row_mass.tolist()


def test_a_hub_passes_less_on_the_more_it_is_damped() -> None:
    view = bank({"kestrel", "user", "osprey"}, {"osprey"}, *[{"user"}] * 8)
    even, damped = (masses(view, ["kestrel"], replace(WALK, hub_damping=h, rounds=3))[1] for h in (0.0, 1.0))
    # From m0 a third to each entity; damped, weights 1 : 1/9 : 1/2.
    assert even == pytest.approx(0.5 * (1 / 2) * (1 / 2 / 3) * (1 / 2 / 2))
    assert damped == pytest.approx(
        0.5 * (1 / 2) * (1 / 2 * (1 / 2) / (1 + 1 / 9 + 1 / 2)) * (1 / 2 / 2), rel=1e-5
    )


def test_seeds_of_all_weights_start_with_one_in_all() -> None:
    view = bank({"kestrel"}, {"osprey"})
    found = spread(view, {}, {view.names["kestrel"]: 3.0, view.names["osprey"]: 1.0}, WALK)
    assert found.row_mass.tolist()[0] == pytest.approx(3 * found.row_mass.tolist()[1])
    assert sum(found.row_mass.tolist() + found.entity_mass.tolist()) + found.left == pytest.approx(1)


@pytest.mark.fault("G2")
def test_the_edge_budget_holds_and_is_disclosed() -> None:
    # K – m0: each round passes the one edge, and a tenth settles; after four, 0.9⁴ still waits.
    found = spread(bank({"kestrel"}), {}, {1: 1.0}, replace(WALK, damping=0.9, edges=4))
    assert found.left == pytest.approx(0.9**5)
    assert found.reason == "stopped before it passed its 4 edges"


@pytest.mark.fault("G2")
def test_an_entity_is_spread_on_only_when_enough_waits_for_its_edges() -> None:
    view = bank(*[{"kestrel"}] * 30, *[{"osprey"}] * 5)
    seeds = {view.names["kestrel"]: 1.0, view.names["osprey"]: 1.0}
    # Half waits at each: more than 1/12 for each edge of the one, less for each of the other.
    assert spread(view, {}, seeds, replace(WALK, edges=12)).rows.tolist() == [*range(30, 35)]
    assert len(spread(view, {}, seeds, replace(WALK, edges=66)).rows) == 35


@pytest.mark.fault("G2")
def test_what_is_alike_is_spread_together_or_not_at_all() -> None:
    # Four entities of two memories each, all alike: 8 edges in a budget of 7 are none.
    view = bank(*[{name} for name in "abcd" for _ in range(2)])
    found = spread(view, {}, dict.fromkeys(view.names.values(), 1.0), replace(WALK, edges=9))
    assert len(found.rows) == 8
    found = spread(view, {}, dict.fromkeys(view.names.values(), 1.0), replace(WALK, edges=7))
    assert (found.rows.tolist(), found.left) == ([], 0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"damping": 1.0}, "damping: 1.0 is not between 0 and 1"),
        ({"damping": 0.0}, "damping: 0.0"),
        ({"residual": 0.0}, "residual: 0.0 is not a number above 0"),
        ({"rounds": 0}, "rounds: 0 is below 1"),
        ({"edges": 0}, "edges: 0 is below 1"),
        ({"hub_damping": 1.5}, "hub_damping: 1.5 is not between 0 and 1"),
        ({"links": {"causal": -1.0}}, "links.causal: -1.0 is not a number from 0"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(WALK, **changes)


def test_an_unknown_kind_of_link_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="causal"):
        replace(WALK, links={"casual": 1.0})
