"""What of a profile may be tuned: stated numbers of stages that order, in declared ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.evaluation.tuning_search import LAST_ROUND, Number, Range, proposals, tunable
from simonides.profiles import list_profiles
from simonides.profiles.loader import describe_profile

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.recall.plan import Step


def names(profile: str | Path) -> set[str]:
    return {str(number) for number in tunable(describe_profile(profile))}


def test_the_default_profile() -> None:
    found = names("default")
    assert {
        "score_sum.weights.dense",
        "lexical.fields.context",
        "graph_rank.seeds",
        "neighbours.factor",
    } <= found
    # Costs, tolerances, and what never reorders.
    for name in found:
        assert not name.startswith(("relevance", "token_budget", "embedding"))
        assert name.rpartition(".")[2] not in {"depth", "rescore", "residual", "rounds", "edges", "hub_cap"}


@pytest.mark.parametrize("profile", list_profiles())
def test_every_number_has_the_value_of_the_stage_that_runs(profile: str) -> None:
    described = describe_profile(profile)
    plan = described.plan
    steps: tuple[Step[Any], ...] = (*plan.channels, plan.fuser, *plan.refiners)
    stages = {step.name: step.stage for step in steps}
    for number in tunable(described):
        value: object = getattr(stages[number.stage], number.path[0])
        for key in number.path[1:]:
            assert isinstance(value, dict)
            value = value[key]
        assert value == number.value
        assert isinstance(value, int) is number.whole


def test_only_what_is_stated_and_only_weights_of_channels_that_run(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'order = ["terms", "lexical", "score_sum", "token_budget"]\n'
        "[stages.lexical]\ndepth = 9\nk1 = 1\nb = 0.5\nfields = { text = 1 }\n"
        "[stages.score_sum]\nweights = { lexical = 2 }\n"
        '[stages.token_budget]\ncount = "rendered"\nlabel = []\n',
        encoding="utf-8",
    )
    expected = {"lexical.k1", "lexical.b", "lexical.fields.text", "score_sum.weights.lexical"}
    assert names(mine) == expected
    fewer = tmp_path / "fewer.toml"
    fewer.write_text(
        'extends = "default"\norder = ["terms", "lexical", "score_sum", "token_budget"]', encoding="utf-8"
    )
    assert "score_sum.weights.lexical" in names(fewer)
    assert "score_sum.weights.dense" not in names(fewer)


@pytest.mark.parametrize("turn", range(LAST_ROUND + 2))
def test_proposals_lie_in_the_range_and_come_nearer(turn: int) -> None:
    share = Number("s", ("b",), 0.5, whole=False, range=Range(0, 1))
    weight = Number("s", ("w",), 1.0, whole=False, range=Range(0.01, 10, by_factor=True))
    for number in (share, weight):
        found = proposals(number, number.value, turn)
        assert len(found) == 4
        assert all(number.range.low <= value <= number.range.high for value in found)
        assert number.value not in found
        if 0 < turn <= LAST_ROUND:
            before = proposals(number, number.value, turn - 1)
            assert max(abs(v - number.value) for v in found) < max(abs(v - number.value) for v in before)


def test_whole_numbers_stay_whole_and_a_weight_of_zero_may_rise() -> None:
    seeds = Number("s", ("seeds",), 1, whole=True, range=Range(1, 20, by_factor=True))
    assert proposals(seeds, 1, 0) == (10, 3)
    assert all(isinstance(value, int) for value in proposals(seeds, 3, 1))
    off = Number("s", ("w",), 0.0, whole=False, range=Range(0.01, 10, by_factor=True))
    assert all(0 < value <= 10 for value in proposals(off, 0.0, 0))


def test_a_value_outside_of_the_range_widens_it() -> None:
    far = Number("s", ("w",), 40.0, whole=False, range=Range(0.01, 10, by_factor=True))
    assert proposals(far, 40.0, 0) == (4.0, 13.3)
