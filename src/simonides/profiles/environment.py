"""What the environment may change about a profile: read once at the rim, laid over the plan.

    SIMONIDES_RERANKER_MAX_CANDIDATES       candidates that are reranked                  HI-04
    SIMONIDES_RECALL_BUDGET_FUNCTION        fixed or adaptive                             HI-13
    SIMONIDES_RECALL_BUDGET_FIXED_LOW       memories per level; also _MID and _HIGH       HI-12
    SIMONIDES_RECALL_BUDGET_ADAPTIVE_LOW    share of max_tokens; also _MID and _HIGH      HI-13
    SIMONIDES_RECALL_BUDGET_MIN             bounds of an adaptive budget; also _MAX       HI-13

A call's own argument wins over these, and these over the profile. They change the stages
``rerank_prefilter``, ``cross_encoder`` (its depth) and ``budget`` of whatever profile has them, nothing else.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.recall.refining.rerankers import CrossEncoder, RerankPrefilter
from simonides.recall.understanding.question import FUNCTIONS, LEVELS, SearchBudget
from simonides.records.hygiene import clean_choice, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.recall.plan import Plan, Step

PREFIX = "SIMONIDES_"
_BUDGET = f"{PREFIX}RECALL_BUDGET_"
_MAX_CANDIDATES = f"{PREFIX}RERANKER_MAX_CANDIDATES"

Setting = int | float | str


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a setting goes: field of a stage, and the key in it where the field is a table."""

    stage: type[Any]
    option: str
    key: str = ""


_TARGETS: Mapping[str, tuple[_Target, ...]] = {
    _MAX_CANDIDATES: (_Target(RerankPrefilter, "most"), _Target(CrossEncoder, "depth")),
    f"{_BUDGET}FUNCTION": (_Target(SearchBudget, "function"),),
    **{f"{_BUDGET}FIXED_{level.upper()}": (_Target(SearchBudget, "fixed", level),) for level in LEVELS},
    **{f"{_BUDGET}ADAPTIVE_{level.upper()}": (_Target(SearchBudget, "ratios", level),) for level in LEVELS},
    f"{_BUDGET}MIN": (_Target(SearchBudget, "least"),),
    f"{_BUDGET}MAX": (_Target(SearchBudget, "most"),),
}

NAMES = tuple(sorted(_TARGETS))
"""Every variable that is read."""


def environment_overrides(environ: Mapping[str, str]) -> Mapping[str, Setting]:
    """The settings that *environ* makes, by variable, in the order of their names; blank ones are not set.

    ``InputError``: a value is no number of its kind, or no function; names the variable.
    """
    return {name: _read(name, environ[name].strip()) for name in NAMES if environ.get(name, "").strip()}


def overridden(plan: Plan, settings: Mapping[str, Setting]) -> tuple[Plan, tuple[str, ...]]:
    """A plan with settings laid over it, and ``NAME=value`` of each that it obeys (its ``settings``).

    ``InputError``: settings that a stage refuses, such as a minimum above the maximum; names the variables.
    """
    changes: dict[type[Any], dict[str, Any]] = {}
    used: list[str] = []
    steps: tuple[Step[Any], ...] = (*plan.understanders, *plan.refiners)
    present = {type(step.stage) for step in steps}
    for name, value in settings.items():
        for target in _TARGETS[name]:
            if target.stage in present:
                options = changes.setdefault(target.stage, {})
                options[target.option] = (
                    {**options.get(target.option, {}), target.key: value} if target.key else value
                )
                used.append(f"{name}={value}")
    if not changes:
        return plan, ()
    try:
        noted = tuple(dict.fromkeys(used))
        return (
            replace(
                plan,
                settings=noted,
                understanders=tuple(_changed(step, changes) for step in plan.understanders),
                refiners=tuple(_changed(step, changes) for step in plan.refiners),
            ),
            noted,
        )
    except InputError as error:
        raise InputError(error.field, f"{error.problem} (with {', '.join(dict.fromkeys(used))})") from error


def _changed(step: Step[Any], changes: Mapping[type[Any], Mapping[str, Any]]) -> Step[Any]:
    options = changes.get(type(step.stage))
    if options is None:
        return step
    merged = {
        name: {**getattr(step.stage, name), **value} if isinstance(value, dict) else value
        for name, value in options.items()
    }
    return replace(step, stage=dataclasses.replace(step.stage, **merged))


def _read(name: str, text: str) -> Setting:
    if name.endswith("FUNCTION"):
        return clean_choice(text, name, FUNCTIONS)
    share = "ADAPTIVE" in name
    try:
        number: int | float = float(text) if share else int(text)
    except ValueError:
        wanted = "a share such as 0.075" if share else "a whole number"
        raise InputError(name, f"expected {wanted}, got {shown(text)}; change or unset it") from None
    if not 0 < number < math.inf:
        raise InputError(name, f"{text} is not above 0; change or unset it")
    return number
