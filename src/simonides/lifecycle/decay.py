"""How much of a memory is left, and when it is put away (EN-05, EN-13, HX-09).

    retention = 2^(−age / half-life)
    half-life = the kind's · (1 + slowed_by_use · ln(1 + accesses)) / (1 + distrust · (1 − trust))

Age counts from the last use, else from the first recording, and is never negative, so a clock set back makes
nothing older. A memory is put away when its retention has been below the floor for the whole grace period.
Retention only decides that; what recall makes of age and use is for the profile's priors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simonides.lifecycle.thresholds import Thresholds
    from simonides.records.versions import CurrentVersion

DAY = 86_400_000_000
"""Microseconds."""


def half_life_days(memory: CurrentVersion, thresholds: Thresholds) -> float | None:
    """Days in which half of a memory fades; ``None`` = it never does."""
    days, rule = thresholds.half_life_days.get(memory.kind), thresholds.archive
    if days is None or rule is None:
        return None
    slowed = 1.0 + rule.slowed_by_use * math.log1p(max(0, memory.accesses))
    return days * slowed / (1.0 + rule.distrust * (1.0 - memory.trust))


def age_days(memory: CurrentVersion, now: int, returned_at: int | None = None) -> float:
    """Days since a memory was last of use, came back from the archive, or was first recorded."""
    latest = max(memory.first_recorded, memory.last_access or 0, returned_at or 0)
    return max(0, now - latest) / DAY


def retention(age: float, half_life: float) -> float:
    """What is left after *age* days, 0 to 1."""
    return float(2.0 ** (-age / half_life))


def is_due(age: float, half_life: float, floor: float, grace_days: float) -> bool:
    """Whether retention has been below *floor* for *grace_days*."""
    return age >= half_life * math.log2(1.0 / floor) + grace_days
