from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.recall.refining.graph import GraphRank
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from simonides.protocols import Refined

STAGE = GraphRank(
    seeds=1,
    entity_weight=1.0,
    weight=2.0,
    most=10,
    least_trust=1.0,
    least_mass=1 / 336,
    damping=0.5,
    residual=1e-9,
    rounds=100,
    edges=10**12,
    hub_damping=0.0,
    links={"semantic": 1.0},
)
# 0 — kestrel — 1 — osprey — 2. From 0 at damping 0.5 the exact masses are 97/168, 14/168 and 1/168.
CHAIN = [{"kestrel"}, {"kestrel", "osprey"}, {"osprey"}, set()]
# By how many times each mass exceeds half of the least one of them.
MIDDLE, LAST = math.log(28) / math.log(194), math.log(2) / math.log(194)


def bank(named: Sequence[Collection[str]] = CHAIN, **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(f"m{n}") for n in range(len(named))], entities=named, **changes)


def pool(scores: Mapping[int, float]) -> tuple[Candidate, ...]:
    return tuple(Candidate(ordinal, score, "score_sum") for ordinal, score in scores.items())


def refine(
    stage: GraphRank, view: FakeView, scores: Mapping[int, float], entities: tuple[int, ...] = ()
) -> Refined:
    return stage.refine(view, replace(fake_query("q"), entities=entities), pool(scores), fake_tools())


def scores_of(refined: Refined) -> dict[int, float]:
    return {candidate.ordinal: candidate.score for candidate in refined.pool}


def test_mass_counts_by_its_logarithm() -> None:
    refined = refine(STAGE, bank(), {0: 1.0, 3: 0.9, 2: 0.25})
    found = scores_of(refined)
    assert list(found) == [0, 1, 3, 2]
    assert found == pytest.approx({0: 3.0, 1: 2 * MIDDLE, 3: 0.9, 2: 0.25 + 2 * LAST}, abs=1e-5)
    assert found[1] / 2 == pytest.approx(0.632554, abs=1e-5)
    assert {candidate.scored_by for candidate in refined.pool} == {"graph_rank"}
    values = {candidate.ordinal: candidate.signals["graph_rank"] for candidate in refined.pool}
    assert values == pytest.approx({0: 1.0, 1: MIDDLE, 2: LAST, 3: 0.0}, abs=1e-5)


def test_only_the_first_candidates_are_seeds() -> None:
    # Were 3 a seed, too, it would hold the most mass, for it has no edge to give any away.
    assert scores_of(refine(STAGE, bank(), {0: 1.0, 3: 1.0}))[3] == 1.0
    assert scores_of(refine(replace(STAGE, seeds=2), bank(), {0: 1.0, 3: 1.0}))[3] == 3.0


def test_seeds_weigh_what_they_score() -> None:
    apart = bank([set(), set(), set()])
    found = scores_of(refine(replace(STAGE, seeds=3), apart, {0: 4.0, 1: 2.0, 2: 1.0}))
    # Without edges each keeps its share of the start: 4/7, 2/7, 1/7, each so many times 1/336.
    values = [math.log(336 * share / 7) / math.log(336 * 4 / 7) for share in (4, 2, 1)]
    assert found == pytest.approx({n: 4 / 2**n + 2 * value for n, value in enumerate(values)}, abs=1e-6)


def test_seeds_without_a_score_above_0_weigh_the_same() -> None:
    view = bank([{"kestrel"}, set(), {"kestrel"}])
    assert scores_of(refine(replace(STAGE, seeds=2), view, {0: 0.0, 1: -1.0}))[1] == 1.0


def test_entities_of_the_query_are_seeds_beside_the_head() -> None:
    view = bank([set(), {"kestrel"}, {"osprey"}])
    kestrel = view.names["kestrel"]
    assert set(scores_of(refine(STAGE, view, {0: 1.0}, (kestrel,)))) == {0, 1}
    assert set(scores_of(refine(replace(STAGE, entity_weight=0.0), view, {0: 1.0}, (kestrel,)))) == {0}


def test_an_entity_that_many_mention_is_a_weak_seed() -> None:
    def hub(mentioned_by: int) -> float:
        view = bank([set(), {"rare"}, *[{"hub"}] * mentioned_by])
        both = (view.names["hub"], view.names["rare"])
        return scores_of(refine(replace(STAGE, hub_damping=1.0), view, {0: 1.0}, both))[2]

    assert hub(5) < hub(1)


def test_the_graph_is_trusted_as_far_as_what_is_asked_about_is_rare() -> None:
    view = bank([{"half"}, {"half"}, {"rare"}, set()])
    stage = replace(STAGE, least_trust=0.25)

    def raised(*names: str) -> float:
        entities = tuple(view.names[name] for name in names)
        refined = refine(replace(stage, entity_weight=0.0), view, {3: 1.0}, entities)
        return scores_of(refined)[3] - 1.0

    # 1 − ln 2 / ln 4, 1 − ln 1 / ln 4, the rarest of both, and no name at all
    assert raised("half") == pytest.approx(2 * 0.5)
    assert raised("rare") == raised("half", "rare") == pytest.approx(2 * 1.0)
    assert raised() == pytest.approx(2 * 0.25)


def test_in_a_bank_of_one_memory_there_is_nothing_to_divide_by() -> None:
    view = bank([{"kestrel"}])
    assert scores_of(refine(STAGE, view, {0: 1.0}, (view.names["kestrel"],))) == {0: 3.0}


def test_the_graph_adds_no_more_than_asked_and_the_heaviest() -> None:
    assert set(scores_of(refine(replace(STAGE, most=1), bank(), {0: 1.0}))) == {0, 1}
    assert set(scores_of(refine(replace(STAGE, most=0), bank(), {0: 1.0}))) == {0}


def test_what_the_caller_excludes_is_passed_through_but_not_added() -> None:
    view = bank(eligible=[True, False, True, True])
    assert set(scores_of(refine(STAGE, view, {0: 1.0}))) == {0, 2}


def test_what_is_not_visible_leads_nowhere() -> None:
    view = bank(visible=[True, False, True, True])
    assert set(scores_of(refine(STAGE, view, {0: 1.0}))) == {0}


def test_a_walk_cut_short_says_so() -> None:
    stage = replace(STAGE, edges=10, damping=0.95)
    refined = refine(stage, bank([{"kestrel"}, {"kestrel"}]), {0: 1.0})
    assert "10 edges" in refined.reason


def test_an_empty_pool_stays_empty() -> None:
    assert refine(STAGE, bank(), {}).pool == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seeds", 0),
        ("entity_weight", -0.1),
        ("entity_weight", math.inf),
        ("weight", 0.0),
        ("weight", math.nan),
        ("most", -1),
        ("least_trust", 1.1),
        ("least_mass", 0.0),
        ("damping", 1.0),
    ],
)
def test_options_out_of_range_are_refused(field: str, value: float) -> None:
    with pytest.raises(InputError, match=field):
        replace(STAGE, **{field: value})  # type: ignore[arg-type]
