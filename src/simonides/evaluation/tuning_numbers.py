"""Which numbers of a profile may be tuned, and where to look for better ones.

Tunable is what all of these hold for: the profile or a parent states it; it belongs to a channel, the fuser
or a refiner; its field is a number, or a table of numbers; and ``RANGES`` names the option. Depths, budgets
and tolerances are not named there: they trade time for exactness, and more of them always measures better.
What a stage's own constructor refuses is never tried, nor is what a guard rail (``at_most``) forbids.
A stage of a plug-in takes part when its option has a name of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.profiles.loader import Described
    from simonides.recall.pipeline import Step


@dataclass(frozen=True, slots=True)
class Range:
    """Where an option's values are looked for.

    Attributes:
        low, high: ends, both included; a value of the profile outside of them widens the range to itself.
        by_factor: whether steps multiply; otherwise they add a share of the range.
    """

    low: float
    high: float
    by_factor: bool = False


_WEIGHT = Range(0.01, 10.0, by_factor=True)
_SHARE = Range(0.0, 1.0)
_DAYS = Range(1.0, 3650.0, by_factor=True)

RANGES: Mapping[str, Range] = {
    # By option, or by technique and option where a technique means something else by the name.
    "weight": _WEIGHT,
    "weights": _WEIGHT,
    "intents": _WEIGHT,
    "fields": _WEIGHT,
    "links": _WEIGHT,
    "kept": _WEIGHT,
    "named": _WEIGHT,
    "entity_weight": _WEIGHT,
    "factor": _WEIGHT,
    "rate": _WEIGHT,
    "k": Range(0.5, 200.0, by_factor=True),
    "k1": Range(0.1, 5.0, by_factor=True),
    "beta": Range(0.5, 100.0, by_factor=True),
    "entity_scale": Range(0.05, 20.0, by_factor=True),
    "seeds": Range(1, 20, by_factor=True),
    "similar_seeds": Range(1, 100, by_factor=True),
    "lexical_seeds": Range(1, 100, by_factor=True),
    "half_life_days": _DAYS,
    "recency_days": _DAYS,
    "b": _SHARE,
    "hop": _SHARE,
    "hop_factor": _SHARE,
    "link_factor": _SHARE,
    "seed_similarity": _SHARE,
    "memory_share": _SHARE,
    "least_trust": _SHARE,
    "hub_damping": _SHARE,
    "relevance_weight": _SHARE,
    "recency_alpha": _SHARE,
    "temporal_alpha": _SHARE,
    "proof_alpha": _SHARE,
    "recency_floor": _SHARE,
    "floor": _SHARE,
    "damping": Range(0.1, 0.95),
    "decay_per_hour": Range(0.9, 1.0),
    "band": Range(1.0, 2.0),
}
"""What may be tuned."""

# The steps of one number, widest first, by how often the search has come round to it.
_FACTORS = ((10.0, 3.0), (2.0, 1.5), (1.25, 1.1))
_PARTS = ((0.5, 0.25), (0.25, 0.1), (0.1, 0.05))
LAST_ROUND = len(_FACTORS) - 1

_DIGITS = 3
_WEIGHT_TABLES = ("weights", "intents")


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a profile.

    Attributes:
        stage: its name in the profile.
        path: the option, and the keys inside its table.
        value: what the profile has now.
        whole: whether only whole numbers are valid.
        range: where to look.
    """

    stage: str
    path: tuple[str, ...]
    value: float
    whole: bool
    range: Range

    def __str__(self) -> str:
        return ".".join((self.stage, *self.path))


def tunable(described: Described) -> tuple[Number, ...]:
    """The numbers of a profile that may be tuned, in the order in which its stages run."""
    plan = described.plan
    running = {step.name for step in plan.channels}
    steps: tuple[Step[Any], ...] = (*plan.channels, plan.fuser, *plan.refiners)
    found: list[Number] = []
    for step in steps:
        stated = dict(_walk(described.tables[step.name]))
        for path, value in _walk(asdict(step.stage)):
            span = RANGES.get(f"{step.technique}.{path[0]}", RANGES.get(path[0]))
            if path not in stated or span is None or isinstance(value, bool):
                continue
            if not isinstance(value, int | float):
                continue
            if step is plan.fuser and path[0] in _WEIGHT_TABLES and path[-1] not in running:
                continue
            found.append(Number(step.name, path, value, isinstance(value, int), span))
    return tuple(found)


def proposals(number: Number, now: float, turn: int) -> tuple[float, ...]:
    """Other values of *number* to try, the widest step first, below *now* before above.

    Args:
        number: of the profile.
        now: its value at this point of the search.
        turn: how often the search has come round, from 0; later steps are smaller.
    """
    span, step = number.range, min(turn, LAST_ROUND)
    low, high = min(span.low, number.value), max(span.high, number.value)
    if span.by_factor:
        # A weight of 0 has no multiples: it starts again from the ends of the usual range.
        start = now or math.sqrt(max(span.low, 1e-3) * span.high)
        tried = [value for factor in _FACTORS[step] for value in (start / factor, start * factor)]
    else:
        tried = [now + sign * part * (high - low) for part in _PARTS[step] for sign in (-1, 1)]
    values = (_rounded(min(max(value, low), high), whole=number.whole) for value in tried)
    return tuple(value for value in dict.fromkeys(values) if value != now)


def _rounded(value: float, *, whole: bool) -> float:
    return round(value) if whole else float(f"{value:.{_DIGITS}g}")


def _walk(table: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _walk(value, (*above, key))
        else:
            yield (*above, key), value
