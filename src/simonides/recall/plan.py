"""A plan: the stages of a profile with their options, in the order in which a recall runs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from simonides.errors import InputError
from simonides.protocols import Channel, Fuser, Packer, Refiner, Understander

if TYPE_CHECKING:
    from collections.abc import Mapping

Stage = TypeVar("Stage", Understander, Channel, Fuser, Refiner, Packer)


@dataclass(frozen=True, slots=True)
class Step(Generic[Stage]):
    """A stage at its place: its name in the profile, the technique that made it, and itself."""

    name: str
    technique: str
    stage: Stage


@dataclass(frozen=True, slots=True)
class Plan:
    """A profile, ready to run.

    Attributes:
        name, description: of the profile.
        limit: hits of a recall that asks for no number; ``None`` = the token budget decides.
        understanders, channels, fuser, refiners, packer: in the order in which they run.
        max_depth: to which depth channels follow a call's limit; ``None`` = they keep their own depth.
        optional: names of stages that a deadline may leave out, the first to go first.
        expected_ms: milliseconds by stage that a deadline reckons with; a stage not named counts as free.
        at_most: by technique and option, what no stage may be set above: the guard rail of a profile and of
            all that extend it (HX-15).
        settings: ``NAME=value`` of what the environment changed about the profile.
    """

    name: str
    description: str
    limit: int | None
    understanders: tuple[Step[Understander], ...]
    channels: tuple[Step[Channel], ...]
    fuser: Step[Fuser]
    refiners: tuple[Step[Refiner], ...]
    packer: Step[Packer]
    optional: tuple[str, ...] = ()
    expected_ms: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    max_depth: int | None = None

    def __post_init__(self) -> None:
        self._check_guard_rail()
        names = [step.name for step in self.channels]
        if len(set(names)) < len(names):
            raise InputError("channels", f"two of {names} share a name; rankings are told apart by it")

    def _check_guard_rail(self) -> None:
        steps: tuple[Step[Any], ...] = (
            *self.understanders,
            *self.channels,
            self.fuser,
            *self.refiners,
            self.packer,
        )
        for step in steps:
            for option, most in self.at_most.get(step.technique, {}).items():
                value = getattr(step.stage, option, None)
                if isinstance(value, int | float) and value > most:
                    raise InputError(
                        f"stages.{step.name}.{option}",
                        f"{value} is above {most:g}, the most that {self.name!r} and the profiles it extends "
                        f"allow {step.technique!r}; lower it",
                    )
