from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.profiles.environment import NAMES, environment_overrides, overridden
from simonides.profiles.loader import load_profile
from simonides.testing.fakes import FakeView, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.recall.plan import Plan, Step

HINDSIGHT = load_profile("hindsight")


def with_environment(plan: Plan = HINDSIGHT, /, **environ: str) -> tuple[Plan, tuple[str, ...]]:
    return overridden(plan, environment_overrides({f"SIMONIDES_{k}": v for k, v in environ.items()}))


def stage(plan: Plan, name: str) -> Any:
    steps: tuple[Step[Any], ...] = (*plan.understanders, *plan.refiners)
    return next(step.stage for step in steps if step.name == name)


def depth(plan: Plan, **query: Any) -> int | None:
    found: int | None = (
        stage(plan, "budget").understand(FakeView.of([]), fake_query("q", **query), fake_tools()).depth
    )
    return found


def test_nothing_set_changes_nothing() -> None:
    assert environment_overrides({"SIMONIDES_RECALL_BUDGET_MIN": " ", "PATH": "/bin"}) == {}
    assert overridden(HINDSIGHT, {}) == (HINDSIGHT, ())


@pytest.mark.spec("HI-04")
def test_the_rerank_depth_is_read() -> None:
    plan, used = with_environment(RERANKER_MAX_CANDIDATES="50")
    assert (stage(plan, "rerank_prefilter").most, stage(plan, "cross_encoder").depth) == (50, 50)
    assert used == ("SIMONIDES_RERANKER_MAX_CANDIDATES=50",)
    assert stage(HINDSIGHT, "rerank_prefilter").most == 300


@pytest.mark.spec("HI-12")
def test_a_level_is_read_and_the_others_stay() -> None:
    plan, used = with_environment(RECALL_BUDGET_FIXED_LOW="7", RECALL_BUDGET_FIXED_HIGH=" 2500 ")
    assert [depth(plan, budget=level) for level in ("low", "mid", "high")] == [7, 300, 2500]
    assert used == ("SIMONIDES_RECALL_BUDGET_FIXED_HIGH=2500", "SIMONIDES_RECALL_BUDGET_FIXED_LOW=7")


@pytest.mark.spec("HI-13")
def test_the_adaptive_budget_is_read() -> None:
    plan, _ = with_environment(
        RECALL_BUDGET_FUNCTION="adaptive",
        RECALL_BUDGET_ADAPTIVE_MID="0.5",
        RECALL_BUDGET_MIN="30",
        RECALL_BUDGET_MAX="900",
    )
    assert [depth(plan, max_tokens=tokens) for tokens in (10, 1000, 9000)] == [30, 500, 900]
    # The call wins over the environment.
    assert depth(plan, max_tokens=1000, budget_function="fixed") == 300


def test_a_profile_without_these_stages_is_left_alone() -> None:
    lexical = load_profile("lexical")
    assert with_environment(lexical, RERANKER_MAX_CANDIDATES="50") == (lexical, ())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RERANKER_MAX_CANDIDATES", "many"),
        ("RERANKER_MAX_CANDIDATES", "0"),
        ("RERANKER_MAX_CANDIDATES", "1.5"),
        ("RECALL_BUDGET_ADAPTIVE_LOW", "nan"),
        ("RECALL_BUDGET_ADAPTIVE_LOW", "-1"),
        ("RECALL_BUDGET_MAX", "1e3"),
        ("RECALL_BUDGET_FUNCTION", "adaptable"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        with_environment(**{name: value})
    assert caught.value.field == f"SIMONIDES_{name}"
    if name.endswith("FUNCTION"):
        assert isinstance(caught.value, UnknownNameError)


def test_values_that_contradict_each_other_are_refused_with_the_variables() -> None:
    with pytest.raises(InputError, match="SIMONIDES_RECALL_BUDGET_MIN=5000"):
        with_environment(RECALL_BUDGET_MIN="5000")


def test_every_variable_is_described() -> None:
    assert len(NAMES) == 10
    assert all(name.startswith("SIMONIDES_") for name in NAMES)
