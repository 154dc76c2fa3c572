"""What bounds a recall: its deadline, and how deep each stage looks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simonides.recall.registry import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simonides.recall.plan import Plan, Step
    from simonides.records.explanation import StageTrace
    from simonides.records.query import Query


class Deadline:
    """Which stages of one recall are left out, so that the rest ends in time (DF-03).

    Before a stage runs, the profile's expected milliseconds of all that is still to run are added up. While
    they do not fit into what is left of the deadline, the next stage of the profile's ``optional`` list that
    is still to run is left out. A stage without an expected time counts as free. A stage that runs is never
    broken off, so a recall ends late when a stage takes longer than the profile expects and nothing optional
    follows it.

    Args:
        plan: with its optional stages and expected times.
        milliseconds: from *began* to the end; ``None`` = no deadline, and the timer is never read.
        timer: seconds on a clock that never goes back.
        began: what the timer showed when the recall began.
        side_by_side: whether channels run at the same time.
    """

    def __init__(
        self,
        plan: Plan,
        milliseconds: float | None,
        timer: Callable[[], float],
        began: float,
        *,
        side_by_side: bool,
    ) -> None:
        self._milliseconds = milliseconds
        self._timer = timer
        self._began = began
        self._expected = plan.expected_ms
        self._optional = plan.optional
        channels = [step.name for step in plan.channels]
        self._to_run = [
            *([step.name] for step in plan.understanders),
            *([channels] if side_by_side else ([name] for name in channels)),
            [plan.fuser.name],
            *([step.name] for step in plan.refiners),
            [plan.packer.name],
        ]
        self._left_out: set[str] = set()

    def leaves_out(self, *names: str) -> frozenset[str]:
        """Which of *names*, the stages that run next, are left out."""
        if self._milliseconds is None:
            return frozenset()
        left = self._milliseconds - (self._timer() - self._began) * 1000
        for name in self._optional:
            if self._needed() <= left:
                break
            if any(name in group for group in self._to_run):
                self._left_out.add(name)
        self._to_run = _without(self._to_run, names)
        return frozenset(self._left_out.intersection(names))

    @property
    def reason(self) -> str:
        """What the trace says of a stage that was left out."""
        return f"skipped: the deadline of {self._milliseconds:g} ms" if self._milliseconds is not None else ""

    def _needed(self) -> float:
        """Expected milliseconds of all that is still to run."""
        return sum(
            max((self._expected.get(name, 0.0) for name in group if name not in self._left_out), default=0.0)
            for group in self._to_run
        )


def _without(groups: Sequence[Sequence[str]], names: Sequence[str]) -> list[list[str]]:
    rest = [[name for name in group if name not in names] for group in groups]
    return [group for group in rest if group]


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
