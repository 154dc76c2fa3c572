"""Which stages of one recall are left out, so that the rest ends in time (DF-03).

Before a stage runs, the profile's expected milliseconds of all that is still to run are added up. While they
do not fit into what is left of the deadline, the next stage of the profile's ``optional`` list that is still
to run is left out. A stage without an expected time counts as free. A stage that runs is never broken off, so
a recall ends late when a stage takes longer than the profile expects and nothing optional follows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simonides.recall.pipeline import Plan


class Deadline:
    """The deadline of one recall.

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
