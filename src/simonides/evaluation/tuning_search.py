"""Which numbers of a profile may be tuned, and the search for better ones.

Tunable is what all of these hold for: the profile or a parent states it; it belongs to a channel, the fuser
or a refiner; its field is a number, or a table of numbers; and ``RANGES`` names the option. Depths, budgets
and tolerances are not named there: they trade time for exactness, and more of them always measures better.
What a stage's own constructor refuses is never tried, nor is what a guard rail (``at_most``) forbids.
A stage of a plug-in takes part when its option has a name of the table.

Coordinate descent over a profile's numbers, each step chosen by cross-validation.

One number at a time, in an order drawn anew each round, a few other values are tried. With S the scores of
the value at hand (row 0) and of the values tried, queries in columns:

    gain = mean over queries q of  S[best without q's fold, q] - S[0, q]

"best without a fold" is the row of the highest mean over the other folds. A step is taken only if gain > 0,
and then to the row that is best over all queries; ties go to the value at hand. So a value that is best by
luck on a few queries does not count its own luck. Steps get smaller from round to round; the search ends when
a round of the smallest changes nothing, or with its trials.
Cost: one recall per trial and query. Source: Stone, Cross-Validatory Choice (1974).
Weakness: finds no gain that needs two numbers moved at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from simonides.profiles.loader import Described
    from simonides.recall.plan import Step

    Scorer = Callable[[tuple[float, ...]], NDArray[np.float64] | None]


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

_WEIGHTS = (
    "weight", "weights", "intents", "fields", "links", "kept", "named", "entity_weight", "factor", "rate",
)  # fmt: skip
_SHARES = (
    "b", "hop", "hop_factor", "link_factor", "seed_similarity", "memory_share", "least_trust", "hub_damping",
    "relevance_weight", "recency_alpha", "temporal_alpha", "proof_alpha", "recency_floor", "floor",
)  # fmt: skip

RANGES: Mapping[str, Range] = {
    # By option, or by technique and option where a technique means something else by the name.
    **dict.fromkeys(_WEIGHTS, _WEIGHT),
    "k": Range(0.5, 200.0, by_factor=True),
    "k1": Range(0.1, 5.0, by_factor=True),
    "beta": Range(0.5, 100.0, by_factor=True),
    "entity_scale": Range(0.05, 20.0, by_factor=True),
    "seeds": Range(1, 20, by_factor=True),
    "similar_seeds": Range(1, 100, by_factor=True),
    "lexical_seeds": Range(1, 100, by_factor=True),
    "half_life_days": _DAYS,
    "recency_days": _DAYS,
    **dict.fromkeys(_SHARES, _SHARE),
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
        path: the option, and the keys inside its table.
        whole: whether only whole numbers are valid.
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
    """Other values of *number* to try in round *turn* from 0: widest step first, below *now* before above."""
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


# Means of equal scores in another order differ in the last bits.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Improvement:
    """A change that was taken.

    Attributes:
        gain: cross-validated, in the measure.
    """

    number: Number
    before: float
    after: float
    gain: float


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What a search found.

    Attributes:
        values: one per number.
        scores: of the queries with these values, float64, shape (queries,).
        steps: changes, in the order in which they were taken.
        trials: profiles that were measured, beside the first.
        moved: how many of them changed the score of any query.
    """

    values: tuple[float, ...]
    scores: NDArray[np.float64]
    steps: tuple[Improvement, ...]
    trials: int
    moved: int


@dataclass(slots=True)
class _Trials:
    """Measures each vector of values once, as long as the budget lasts."""

    score: Scorer
    left: int
    first: NDArray[np.float64]
    known: dict[tuple[float, ...], NDArray[np.float64] | None]
    measured: int = 0
    moved: int = 0

    def __call__(self, values: tuple[float, ...]) -> NDArray[np.float64] | None:
        if values in self.known:
            return self.known[values]
        if not self.left:
            return None
        scores = self.known[values] = self.score(values)
        if scores is not None:
            self.left -= 1
            self.measured += 1
            self.moved += not np.array_equal(scores, self.first)
        return scores


def descend(
    numbers: Sequence[Number],
    score: Scorer,
    first: NDArray[np.float64],
    folds: NDArray[np.int64],
    generator: np.random.Generator,
    trials: int,
) -> Search:
    """Look for better values.

    Args:
        first: the scores of the values of now, shape (queries,).
        folds: of each query, from 0, shape (queries,).
        generator: draws the order of the numbers.
        trials: profiles to measure at most.
    """
    values = tuple(number.value for number in numbers)
    tried = _Trials(score, trials, first, {values: first})
    steps: list[Improvement] = []
    turn = 0
    while tried.left:
        taken = 0
        for place in generator.permutation(len(numbers)).tolist():
            step = _step(numbers[place], place, values, turn, tried, folds)
            if step is not None:
                values = _with(values, place, step.after)
                steps.append(step)
                taken += 1
        if not taken and turn >= LAST_ROUND:
            break
        turn += 1
    scores = tried(values)
    return Search(values, first if scores is None else scores, tuple(steps), tried.measured, tried.moved)


def cross_validated_gain(scores: NDArray[np.float64], folds: NDArray[np.int64]) -> float:
    """What choosing a row by the other folds gains over row 0, mean over queries.

    *scores* have shape (rows, queries); *folds* (int64 from 0, at least two of them) shape (queries,).
    """
    gain = 0.0
    for fold in np.unique(folds):
        outside = folds == fold
        best = _best(scores[:, ~outside])
        gain += float((scores[best, outside] - scores[0, outside]).sum())
    return gain / len(folds)


def _step(
    number: Number,
    place: int,
    values: tuple[float, ...],
    turn: int,
    tried: _Trials,
    folds: NDArray[np.int64],
) -> Improvement | None:
    others = [
        (other, scores)
        for other in proposals(number, values[place], turn)
        if (scores := tried(_with(values, place, other))) is not None
    ]
    now = tried(values)
    if not others or now is None:
        return None
    table = np.stack([now, *(scores for _, scores in others)])
    gain, best = cross_validated_gain(table, folds), _best(table)
    if gain <= _TOLERANCE or best == 0:
        return None
    return Improvement(number, values[place], others[best - 1][0], gain)


def _best(scores: NDArray[np.float64]) -> int:
    """The row of the highest mean, the first of equals."""
    return int(np.argmax(scores.mean(axis=1).round(9)))


def _with(values: tuple[float, ...], place: int, value: float) -> tuple[float, ...]:
    return (*values[:place], value, *values[place + 1 :])
