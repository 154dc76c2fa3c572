"""Fits a profile's numbers to judged queries, and says whether the gain holds on others.

The queries are split once, by a seed: one part is held out; on the rest ``tuning_search`` looks for better
numbers, choosing by cross-validation. Only then is the held-out part asked, with the profile as it was and as
it became. The change is adopted if the held-out mean rose and a paired test (``comparing``) gives p <
alpha. One profile is tested, once, so p needs no correction. Of n queries whose scores differ, the smallest
two-sided p by flipping signs is 2 / 2^n, so below n = floor(log2(2 / alpha)) + 1 no difference can be
significant, however large: 6 for alpha = 0.05.

All queries are asked from one viewpoint, the bank's last write unless said otherwise: same bank, queries and
seed, same result. Cost: trials x tuning part + 2 x held-out part recalls. Weakness: paraphrases of one
question may fall on both sides of the split and make the held-out part too kind.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError, NotFoundError, UnknownNameError
from simonides.evaluation.asking import DEPTH
from simonides.evaluation.comparing import compare_runs
from simonides.evaluation.results import MEASURES, load_ir_measures, measure_each
from simonides.evaluation.tuning_file import Base, Change, base_of, changes_of
from simonides.evaluation.tuning_search import RANGES, descend, tunable
from simonides.files import SHARED, write_file
from simonides.profiles.loader import load_profile
from simonides.records.interval import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.evaluation.tuning_file import JudgedQuery
    from simonides.evaluation.tuning_search import Number, Search

    Progress = Callable[[str, int, int | None], None]

    from simonides.evaluation.comparing import Comparison
    from simonides.evaluation.tuning_file import Base

FOLDS = 5
LEAST_TUNING = 2 * FOLDS
"""Judged queries that the tuning part needs: two in each fold."""

MEASURE, TRIALS, HELD_OUT, ALPHA = "ndcg@10", 100, 0.4, 0.05


@dataclass(frozen=True, slots=True)
class Settings:
    """How to tune.

    Attributes:
        measure: one of ``MEASURES``.
        trials: profiles to measure at most, from 1.
        held_out: share of the queries that is held out, above 0 and below 1.
        alpha: a change is adopted below this p, above 0 and at most 0.5.
        seed: of the split, the search and the test, from 0.
        as_of: viewpoint of queries that state none; ``None`` = the bank's last write.
        place: what the queries are called in messages.
    """

    measure: str = MEASURE
    trials: int = TRIALS
    held_out: float = HELD_OUT
    alpha: float = ALPHA
    seed: int = 0
    as_of: datetime | str | None = None
    place: str = "judged"

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise UnknownNameError("measure", self.measure, MEASURES)
        if self.trials < 1:
            raise InputError("trials", f"{self.trials} try nothing; give 1 or more, such as {TRIALS}")
        if not 0 < self.held_out < 1:
            raise InputError(
                "held_out", f"{self.held_out} is not a share between 0 and 1, such as {HELD_OUT}"
            )
        if not 0 < self.alpha <= 0.5:
            raise InputError("alpha", f"{self.alpha} is not above 0 and at most 0.5; {ALPHA} is usual")
        if self.seed < 0:
            raise InputError("seed", f"{self.seed} is below 0")


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """What a tuning found.

    Attributes:
        adopted: whether the change holds on the held-out part.
        reason: why it was refused; empty when adopted.
        changes: in the order in which stages run; of a refused change too.
        evidence: all that was measured, JSON-ready.
    """

    adopted: bool
    reason: str
    base: Base
    changes: tuple[Change, ...]
    evidence: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"adopted": self.adopted, "reason": self.reason, **self.evidence}


def tune(
    bank: Bank,
    profile: str | Path,
    queries: Sequence[JudgedQuery],
    settings: Settings | None = None,
    *,
    progress: Progress | None = None,
) -> Tuned:
    """Look for better numbers for a profile, and test them on queries that had no say in them.

    The bank is asked as a caller would ask it; nothing is written.

    Args:
        profile: name of a built-in profile, or the path of a file.
        queries: as ``tuning_queries.read_judged_queries`` gives them.
        settings: how; the defaults when left out.
        progress: told of each trial.

    Raises:
        InputError: too few queries, a wrong argument in one, an id that is not in the bank, nothing to tune,
            or the bank is empty or opened for a principal.
        UnknownNameError, NotFoundError, ProfileError: the profile cannot be loaded.
        MissingExtraError: ``ir_measures`` is not installed.
    """
    load_ir_measures()
    how = settings or Settings()
    base = base_of(profile)
    numbers = _numbers(base)
    as_of = _viewpoint(bank, how)
    splitting, searching, testing = np.random.default_rng(how.seed).spawn(3)
    tuning, held_out = _split(queries, how, splitting)
    _check_ids(bank, queries, how.place)
    with TemporaryDirectory() as folder:
        asker = Asker(bank, base, numbers, as_of, Path(folder), how.place)
        first, search = _search(asker, tuning, how, searching, progress)
        changes = changes_of(numbers, search.values)
        before = _scores(asker, held_out, [number.value for number in numbers])
        after = _scores(asker, held_out, search.values) if changes else before
    verdict = judge_held_out(before, after, how.measure, how.alpha, testing)
    reason = _nothing_found(search, numbers, tuning) if not changes else verdict.reason
    evidence = {
        "profile": {"base": base.name, "sha256": base.fingerprint},
        "bank": described_bank(bank),
        "queries": described_queries(queries, tuning, held_out),
        "settings": {**asdict(how), "as_of": str(as_of), "folds": FOLDS},
        "search": described_search(search, numbers),
        "changes": [change.to_dict() for change in changes],
        "tuning": {"before": float(first.mean()), "after": float(search.scores.mean())},
        "held_out": described_verdict(verdict, before, after, how.measure, testing),
        "degraded": sorted(asker.degraded),
        "environment": sorted(asker.environment),
    }
    return Tuned(not reason, reason, base, changes, evidence)


def least_queries(settings: Settings) -> int:
    """How many judged queries a tuning needs at least, so that both parts can say anything."""
    total = LEAST_TUNING + least_differing(settings.alpha)
    while not _large_enough(total, settings):
        total += 1
    return total


def _large_enough(total: int, how: Settings) -> bool:
    held_out = round(total * how.held_out)
    return held_out >= least_differing(how.alpha) and total - held_out >= LEAST_TUNING


def _numbers(base: Base) -> tuple[Number, ...]:
    numbers = tunable(base.described)
    if not numbers:
        names = ", ".join(sorted(RANGES))
        raise InputError(
            "profile", f"{base.name!r} states no number that can be tuned; such numbers are called {names}"
        )
    return numbers


def _viewpoint(bank: Bank, how: Settings) -> datetime | str:
    if bank.principal is not None:
        raise InputError(
            "bank",
            f"is opened for {bank.principal!r}; a profile serves all, so tune as the owner: open the bank "
            "without a principal",
        )
    written = bank.last_write()
    if written is None:
        raise InputError("bank", f"{bank.name!r} holds no memory; retain some before tuning")
    if how.as_of is None:
        return written
    parse_time(how.as_of, "as_of")
    return how.as_of


def _split(
    queries: Sequence[JudgedQuery], how: Settings, generator: np.random.Generator
) -> tuple[list[JudgedQuery], list[JudgedQuery]]:
    """The tuning part and the held-out part, each in the order of the file."""
    if not _large_enough(len(queries), how):
        raise InputError(
            how.place,
            f"{len(queries)} judged queries are too few; at least {least_queries(how)} are needed to hold "
            f"{how.held_out:.0%} of them out, and a gain of a few points shows with some hundreds",
        )
    order = generator.permutation(len(queries)).tolist()
    out = set(order[: round(len(queries) * how.held_out)])
    return (
        [query for place, query in enumerate(queries) if place not in out],
        [query for place, query in enumerate(queries) if place in out],
    )


def _check_ids(bank: Bank, queries: Sequence[JudgedQuery], place: str) -> None:
    unknown: dict[str, int] = {}
    known: set[str] = set()
    for query in queries:
        for memory in query.relevant:
            if memory in known or memory in unknown:
                continue
            try:
                bank.history(memory)
                known.add(memory)
            except NotFoundError:
                unknown[memory] = query.line
    if unknown:
        memory, line = next(iter(unknown.items()))
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise InputError(
            f"{place}, line {line}",
            f"relevant: there is no memory {memory!r} in bank {bank.name!r}{more}; give ids as recall "
            "returns them, and check that it is the right bank",
        )


def _search(
    asker: Asker,
    tuning: Sequence[JudgedQuery],
    how: Settings,
    generator: np.random.Generator,
    progress: Progress | None,
) -> tuple[NDArray[np.float64], Search]:
    done = 0

    def score(values: tuple[float, ...]) -> NDArray[np.float64] | None:
        nonlocal done
        asked = asker.ask(tuning, values)
        if asked is None:
            return None
        done += 1
        if progress is not None:
            progress("profiles tried", done, how.trials)
        return _column(asked, how.measure)

    first = _column(_scores(asker, tuning, [number.value for number in asker.numbers]), how.measure)
    folds = generator.permutation(np.arange(len(tuning), dtype=np.int64) % FOLDS)
    return first, descend(asker.numbers, score, first, folds, generator, how.trials)


def _scores(asker: Asker, queries: Sequence[JudgedQuery], values: Sequence[float]) -> Scores:
    asked = asker.ask(queries, tuple(values))
    # The profile was loaded with its own values, and a search ends only in values that it has asked with.
    if asked is None:
        raise InputError(
            "profile", f"{asker.base.name!r} cannot be extended; `simonides profiles check` says why"
        )
    return asked


def _column(scores: Scores, measure: str) -> NDArray[np.float64]:
    return np.array([values[measure] for values in scores.values()], np.float64)


def _nothing_found(search: Search, numbers: Sequence[Number], tuning: Sequence[JudgedQuery]) -> str:
    tried = f"{search.trials} profiles with other values of {len(numbers)} numbers were tried"
    if not search.moved:
        return f"{tried}, and none changed the score of any of the {len(tuning)} tuning queries"
    return (
        f"{tried}, and none was better in cross-validation over the {len(tuning)} tuning queries; the "
        "numbers may be right as they are"
    )


# Per query, every measure.
Scores = dict[str, dict[str, float]]


@dataclass(slots=True)
class Asker:
    """Recalls through the public contract; every profile it asks with is a file, as a user would have it.

    Attributes:
        folder: for the files, emptied by whoever made it.
        place: what the queries' file is called in messages.
        degraded: what did less than asked, and why, in any recall so far.
        environment: what the environment changed about the profile.
    """

    bank: Bank
    base: Base
    numbers: Sequence[Number]
    as_of: datetime | str
    folder: Path
    place: str
    degraded: set[str] = field(default_factory=set)
    environment: set[str] = field(default_factory=set)

    def ask(self, queries: Sequence[JudgedQuery], values: tuple[float, ...]) -> Scores | None:
        """Every measure of every query, by line; ``None`` for *values* that the profile may not have."""
        path = self.folder / "candidate.toml"
        write_file(path, self.base.with_values(self.numbers, values), mode=SHARED)
        try:
            load_profile(path)
        except InputError:
            return None
        gold = {str(query.line): query.relevant for query in queries}
        return measure_each(gold, {str(query.line): self._found(query, path) for query in queries})

    def _found(self, query: JudgedQuery, profile: Path) -> tuple[str, ...]:
        arguments = {"as_of": self.as_of, "precision": "wide", **query.arguments}
        try:
            answer = self.bank.recall(query.query, profile=profile, limit=DEPTH, max_tokens=None, **arguments)
        except InputError as error:
            raise InputError(f"{self.place}, line {query.line}", str(error)) from error
        self.degraded.update(answer.trace.degraded)
        self.environment.update(answer.trace.settings)
        return tuple(dict.fromkeys(hit.id for hit in answer))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the held-out part says.

    Attributes:
        differing: queries whose scores differ.
        reason: why the change is refused; empty when it is not.
    """

    comparison: Comparison
    differing: int
    reason: str

    def to_dict(self) -> dict[str, float]:
        """A JSON-ready description."""
        found = self.comparison
        return {
            "mean": found.mean_difference,
            "low": found.low,
            "high": found.high,
            "p": found.p_value,
            "differing": self.differing,
        }


def least_differing(alpha: float) -> int:
    """How many queries must differ before any difference can have p < *alpha*."""
    return math.floor(math.log2(2 / alpha)) + 1


def judge_held_out(
    before: Scores, after: Scores, measure: str, alpha: float, generator: np.random.Generator
) -> Verdict:
    """Test a change by the measures of every held-out query before and after it; p must be below *alpha*."""
    found = compare_runs(before, after, measure, generator)
    differing = sum(before[qid][measure] != after[qid][measure] for qid in before)
    told = f"on the {found.questions} held-out queries {measure} changed by {found.mean_difference:+.4f}"
    least = least_differing(alpha)
    if found.mean_difference > 0 and found.p_value < alpha:
        return Verdict(found, differing, "")
    if found.mean_difference <= 0:
        return Verdict(found, differing, f"{told}: what helped the tuning queries does not help others")
    reason = f"{told} (p = {found.p_value:.2g}), which luck explains as well; p < {alpha:g} is asked for"
    if differing < least:
        reason += f", and only {differing} queries changed: at least {least} must, so judge more queries"
    return Verdict(found, differing, reason)


def mean_of(scores: Scores, measure: str, generator: np.random.Generator) -> Mapping[str, float]:
    """The mean of a measure with its 95 % bootstrap interval."""
    nothing = {qid: dict.fromkeys(values, 0.0) for qid, values in scores.items()}
    found = compare_runs(nothing, scores, measure, generator)
    return {"mean": found.mean_difference, "low": found.low, "high": found.high}


def described_bank(bank: Bank) -> dict[str, Any]:
    """What was asked: the bank, at which change, with vectors of which embedder."""
    facts = bank.stats()
    return {name: facts[name] for name in ("bank", "memories", "sequence", "embedder")}


def described_queries(
    queries: Sequence[JudgedQuery], tuning: Sequence[JudgedQuery], held_out: Sequence[JudgedQuery]
) -> dict[str, Any]:
    """How many there are, where from, and which were held out; no words and no ids, only their SHA-256."""
    content = json.dumps(
        [[query.query, query.relevant, query.arguments] for query in queries], sort_keys=True
    )
    return {
        "total": len(queries),
        "sha256": hashlib.sha256(content.encode()).hexdigest(),
        "from_feedback": sum(query.from_feedback for query in queries),
        "tuning": len(tuning),
        "held_out": len(held_out),
        "held_out_lines": [query.line for query in held_out],
    }


def described_search(search: Search, numbers: Sequence[Number]) -> dict[str, Any]:
    """What was tried, and each step that was taken."""
    return {
        "numbers": [str(number) for number in numbers],
        "trials": search.trials,
        "trials_that_changed_a_score": search.moved,
        "steps": [
            {
                "number": str(step.number),
                "before": step.before,
                "after": step.after,
                "cross_validated_gain": step.gain,
            }
            for step in search.steps
        ],
    }


def described_verdict(
    verdict: Verdict, before: Scores, after: Scores, measure: str, generator: np.random.Generator
) -> dict[str, Any]:
    """The means before and after and their difference, each with its 95 % interval."""
    return {
        "before": mean_of(before, measure, generator),
        "after": mean_of(after, measure, generator),
        "difference": verdict.to_dict(),
    }
