from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.errors import UnknownNameError
from simonides.evaluation.variant import removable, write_variant
from simonides.profiles import list_profiles
from simonides.profiles.loader import load_profile

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_changed_is_the_profile_itself(tmp_path: Path) -> None:
    assert write_variant(tmp_path, "default") == "default"


@pytest.mark.parametrize("profile", list_profiles())
def test_every_stage_that_can_be_left_out_leaves_the_others_as_they_were(
    profile: str, tmp_path: Path
) -> None:
    plan = load_profile(profile)
    for stage in removable(plan):
        less = load_profile(write_variant(tmp_path, profile, without=(stage,)))
        for shape in ("understanders", "channels", "refiners"):
            assert getattr(less, shape) == tuple(s for s in getattr(plan, shape) if s.name != stage)
        assert less.packer == plan.packer
        assert stage not in less.optional


def test_an_option_is_changed_and_no_other(tmp_path: Path) -> None:
    plan = load_profile("default")
    other = load_profile(write_variant(tmp_path, "default", settings=("score_sum.weights.lexical = 0.25",)))
    assert (other.understanders, other.channels, other.refiners) == (
        plan.understanders,
        plan.channels,
        plan.refiners,
    )
    weights = dict(getattr(plan.fuser.stage, "weights"))  # noqa: B009 - stages are typed by protocol
    assert dict(getattr(other.fuser.stage, "weights")) == {**weights, "lexical": 0.25}  # noqa: B009


def test_a_stage_that_always_runs_stays(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="lexical"):
        write_variant(tmp_path, "lexical", without=("lexical",))
