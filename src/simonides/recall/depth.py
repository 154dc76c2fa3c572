"""How deep the channels of a recall look for its limit, and what the trace says where they look less deep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simonides.recall.registry import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.recall.pipeline import Plan, Step
    from simonides.records.query import Query
    from simonides.records.trace import StageTrace

_CUTTING = ("marginal_relevance", "outside_in")
"""Techniques whose option ``most`` bounds how many hits there can be, whatever the limit is."""


def deepened(plan: Plan, limit: int | None) -> Plan:
    """*plan* with built-in channels that look as deep as *limit*, up to the profile's ``max_depth``.

    Without ``max_depth``, and for a limit that is not above the profile's own, depths stay. No technique
    looks deeper than the profile's guard rail (``at_most``) allows.
    """
    if plan.max_depth is None or limit is None or (plan.limit is not None and limit <= plan.limit):
        return plan
    channels = []
    for step in plan.channels:
        bound = plan.at_most.get(step.technique, {}).get("depth", plan.max_depth)
        wanted = int(min(limit, plan.max_depth, bound))
        deeper = step.technique in BUILT_IN
        channels.append(replace(step, stage=_deeper(step.stage, wanted)) if deeper else step)
    return replace(plan, channels=tuple(channels))


def _deeper(stage: Any, depth: int) -> Any:
    if hasattr(stage, "channel"):  # it searches by another one
        return replace(stage, channel=_deeper(stage.channel, depth))
    return replace(stage, depth=depth) if getattr(stage, "depth", depth) < depth else stage


def too_shallow(plan: Plan, query: Query, lines: Sequence[StageTrace], found: int) -> tuple[str, ...]:
    """What the trace says when fewer than the limit were *found* and a stage gave all that it may.

    Args:
        plan: as it ran.
        query: as it was understood.
        lines: of the trace.
        found: candidates that reached the end, whether the token budget had room for them or not.
    """
    if query.limit is None or found >= query.limit:
        return ()
    counts = {line.name: line.count for line in lines}
    full: dict[tuple[str, int], list[str]] = {}
    for name, option, most in _bounds(plan, query):
        if most < query.limit and counts.get(name, 0) >= most:
            full.setdefault((option, most), []).append(name)
    if not full:
        return ()
    said = ", ".join(f"the {option} {most} of {', '.join(names)}" for (option, most), names in full.items())
    return (f"limit: {query.limit} is above {said}, in profile {plan.name!r}",)


def _bounds(plan: Plan, query: Query) -> Iterator[tuple[str, str, int]]:
    """By stage: its name, the option that bounds what it gives, and the bound."""
    for step in plan.channels:
        stage: Any = getattr(step.stage, "channel", step.stage)
        budgeted = getattr(stage, "budgeted", False) and query.depth is not None
        depth = query.depth if budgeted else getattr(stage, "depth", None)
        if isinstance(depth, int):
            yield step.name, "depth", depth
    others: tuple[Step[Any], ...] = (*plan.refiners, plan.packer)
    for other in others:
        if other.technique in _CUTTING:
            yield other.name, "most", other.stage.most
