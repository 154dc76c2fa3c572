"""How long a memory lasts that nobody uses, by a profile's numbers: what they mean in days."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simonides.records.utterance import TRUST

if TYPE_CHECKING:
    from simonides.lifecycle.thresholds import Thresholds


def lasting_days(thresholds: Thresholds) -> dict[str, dict[str, float]]:
    """Days until an unused memory is put away, by kind and role of who said it; kinds that never fade not."""
    rule = thresholds.archive
    if rule is None:
        return {}
    return {
        kind: {
            role or "caller": round(
                days / (1.0 + rule.distrust * (1.0 - trust)) * math.log2(1.0 / rule.floor) + rule.grace_days,
                1,
            )
            for role, trust in sorted(TRUST.items())
        }
        for kind, days in sorted(thresholds.half_life_days.items())
    }
