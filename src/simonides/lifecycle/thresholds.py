"""The numbers by which maintenance decides, read from a profile's ``[lifecycle]`` tables.

No number has a default in code. A table that a profile leaves out switches its part of maintenance off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simonides.errors import ProfileError, UnknownNameError
from simonides.records.hygiene import shown
from simonides.records.kind import Kind

_TABLES: Mapping[str, tuple[str, ...]] = {
    "promote": ("episodic", "semantic"),
    "half_life_days": tuple(kind.value for kind in Kind),
    "archive": ("floor", "grace_days", "slowed_by_use", "distrust"),
    "observations": ("similar", "sources"),
}
_PROMOTE: Mapping[str, tuple[str, ...]] = {
    "episodic": ("after_minutes", "accesses"),
    "semantic": ("salience", "accesses"),
}


@dataclass(frozen=True, slots=True)
class ToEpisodic:
    """From working to episodic: after some minutes, or after some uses (EN-13)."""

    after_minutes: float
    accesses: float


@dataclass(frozen=True, slots=True)
class ToSemantic:
    """From episodic to semantic: at some salience, and after some uses (EN-13)."""

    salience: float
    accesses: float


@dataclass(frozen=True, slots=True)
class ArchiveRule:
    """When a memory is archived; see ``lifecycle.moving``.

    Attributes:
        floor: of retention, above 0 and below 1.
        grace_days: below the floor, from 0.
        slowed_by_use, distrust: from 0.
    """

    floor: float
    grace_days: float
    slowed_by_use: float
    distrust: float


@dataclass(frozen=True, slots=True)
class ObservationRule:
    """When memories are summed up: share of terms in common, above 0 to 1, and sources, from 2."""

    similar: float
    sources: float


@dataclass(frozen=True, slots=True)
class Thresholds:
    """All of them; ``None`` = that part is off. *half_life_days*: above 0; a kind not named never fades."""

    episodic: ToEpisodic | None = None
    semantic: ToSemantic | None = None
    archive: ArchiveRule | None = None
    observations: ObservationRule | None = None
    half_life_days: Mapping[str, float] = field(default_factory=dict)


def read_thresholds(tables: Mapping[str, object], place: str) -> Thresholds:
    """Check what the ``[lifecycle]`` tables of a profile say.

    Raises:
        UnknownNameError: a table or key that does not exist.
        ProfileError: a number that is missing or cannot be, or no table at all.
    """
    if not tables:
        raise ProfileError(
            "lifecycle", f"is not in {place}; give its numbers there, or maintain by the profile 'default'"
        )
    for name in tables:
        if name not in _TABLES:
            raise UnknownNameError(f"lifecycle.{name}", name, _TABLES, place=place)
    promote = _table(tables, "promote", place)
    half_lives = _table(tables, "half_life_days", place)
    archive = _numbers(tables, "archive", _TABLES["archive"], place, "lifecycle")
    observations = _numbers(tables, "observations", _TABLES["observations"], place, "lifecycle")
    episodic = _numbers(promote, "episodic", _PROMOTE["episodic"], place, "lifecycle.promote")
    semantic = _numbers(promote, "semantic", _PROMOTE["semantic"], place, "lifecycle.promote")
    found = Thresholds(
        episodic=ToEpisodic(**episodic) if episodic else None,
        semantic=ToSemantic(**semantic) if semantic else None,
        archive=ArchiveRule(**archive) if archive else None,
        observations=ObservationRule(**observations) if observations else None,
        half_life_days={
            kind: _number(days, f"lifecycle.half_life_days.{kind}", place)
            for kind, days in half_lives.items()
        },
    )
    _check_ranges(found, place)
    return found


def _check_ranges(found: Thresholds, place: str) -> None:
    checks = [
        (f"half_life_days.{kind}", days, "above 0", days > 0) for kind, days in found.half_life_days.items()
    ]
    if found.archive is not None:
        floor = found.archive.floor
        checks.append(("archive.floor", floor, "above 0 and below 1", 0 < floor < 1))
    if found.observations is not None:
        rule = found.observations
        checks.append(("observations.similar", rule.similar, "above 0 to 1", 0 < rule.similar <= 1))
        checks.append(("observations.sources", rule.sources, "from 2", rule.sources >= 2))
    for key, value, wanted, sound in checks:
        if not sound:
            raise ProfileError(f"lifecycle.{key}", f"expected a number {wanted}, got {value:g}, in {place}")


def _table(tables: Mapping[str, object], name: str, place: str) -> Mapping[str, Any]:
    value = tables.get(name, {})
    if not isinstance(value, Mapping):
        raise ProfileError(
            f"lifecycle.{name}", f"expected a table [lifecycle.{name}], got {shown(value)}, in {place}"
        )
    for key in value:
        if key not in _TABLES[name]:
            raise UnknownNameError(f"lifecycle.{name}.{key}", key, _TABLES[name], place=place)
    return value


def _numbers(
    tables: Mapping[str, object], name: str, keys: tuple[str, ...], place: str, above: str
) -> dict[str, float]:
    """Every one of *keys*, or nothing when there is no such table."""
    if name not in tables:
        return {}
    value = tables[name]
    if not isinstance(value, Mapping):
        raise ProfileError(f"{above}.{name}", f"expected a table, got {shown(value)}, in {place}")
    for key in value:
        if key not in keys:
            raise UnknownNameError(f"{above}.{name}.{key}", key, keys, place=place)
    for key in keys:
        if key not in value:
            raise ProfileError(f"{above}.{name}.{key}", f"is missing in {place}; give a number")
    return {key: _number(value[key], f"{above}.{name}.{key}", place) for key in keys}


def _number(value: object, key: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ProfileError(key, f"expected a number from 0, got {shown(value)}, in {place}")
    return float(value)
