"""How often a profile abstains from what it could answer, and answers what it cannot (DF-04).

    lost answers  = answerable questions that are told "no match" / answerable questions
    false answers = unanswerable questions that are not told so   / unanswerable questions

Weights and thresholds are fitted to one half of the questions and everything is reported on the other. The
curve shows both rates at other thresholds, from the evidence that each recall left in its trace.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simonides.errors import InputError
from simonides.evaluation.abstention_fit import fit_threshold, fit_weights
from simonides.evaluation.asking import BATCH_ITEMS, as_mapping, contexts_of
from simonides.evaluation.unanswerable import ADVERSARIAL, all_questions
from simonides.profiles.loader import load_profile
from simonides.recall.refining.abstention import COVERAGE, SCORE, SIGNALS, Abstention
from simonides.retain.conversations import WINDOW
from simonides.store import open_store
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.evaluation.asking import Progress
    from simonides.evaluation.dataset import Dataset
    from simonides.evaluation.unanswerable import Asked
    from simonides.protocols import Embedder
    from simonides.store import Store

MOST_LOST = 0.01
"""Share of each answerable kind that fitting may lose; half of the 2 % that reporting must stay within."""

_FLOORS = tuple(round(0.02 * step, 2) for step in range(10, 33))
_COVERAGES = tuple(round(0.05 * step, 2) for step in range(1, 13))


@dataclass(frozen=True, slots=True)
class Judged:
    """One question's verdict.

    Attributes:
        asked: the question.
        no_match: whether the recall said that nothing answers it.
        evidence: what the stage left in the trace; empty where nothing was found.
    """

    asked: Asked
    no_match: bool
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class AbstentionReport:
    """A whole run.

    Attributes:
        profile, version: what was measured.
        embedder: its name; ``None`` = there was none, and *meaning* is empty.
        stage: the profile's own numbers.
        meaning: verdicts with vectors.
        words: verdicts on the same questions without.
    """

    profile: str
    embedder: str | None
    version: str
    stage: Abstention
    meaning: tuple[Judged, ...]
    words: tuple[Judged, ...]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready summary, rates rounded to 4 places; rates are of the half that fitting did not see."""
        held_out = [each for each in self.meaning or self.words if not each.asked.for_fitting]
        kinds = _by_kind(held_out)
        answer: dict[str, Any] = {
            "profile": self.profile,
            "embedder": self.embedder,
            "version": self.version,
            "questions": {kind: len(mine) for kind, mine in kinds.items()},
            "answerable": sorted({each.asked.kind for each in held_out if each.asked.answerable}),
            "in_use": asdict(self.stage),
            "fitted": self.fitted(),
            "measured": {},
            "curve": [],
            "curve_words": [
                {"least_coverage": floor, **_rates(self.words, partial(_uncovered, floor))}
                for floor in _COVERAGES
            ],
        }
        if self.meaning:
            answer["measured"]["meaning"] = _rates(self.meaning)
            answer["curve"] = [
                {"least": floor, **_rates(self.meaning, partial(self._below, floor))} for floor in _FLOORS
            ]
        answer["measured"]["words"] = _rates(self.words)
        return answer

    def fitted(self) -> dict[str, Any]:
        """Weights and thresholds that the other half of the questions suggests; category 5 fits nothing."""
        found: dict[str, Any] = {}
        usable = [each for each in self.meaning if each.asked.for_fitting and each.asked.kind != ADVERSARIAL]
        usable = [each for each in usable if SCORE in each.evidence]
        if usable:
            kinds = [each.asked.kind for each in usable]
            answerable = np.array([each.asked.answerable for each in usable], np.bool_)
            signals = {name: np.array([e.evidence[name] for e in usable], np.float64) for name in SIGNALS}
            found["weights"] = fit_weights(signals, answerable, kinds)
            scores = np.sum([found["weights"][name] * signals[name] for name in SIGNALS], axis=0)
            enough = signals[COVERAGE] >= self.stage.enough_coverage
            found["least"] = _threshold(scores, answerable, kinds, enough)
        usable = [each for each in self.words if each.asked.for_fitting and COVERAGE in each.evidence]
        answerable = np.array([each.asked.answerable for each in usable], np.bool_)
        coverage = np.array([each.evidence[COVERAGE] for each in usable], np.float64)
        nothing = np.zeros(len(usable), np.bool_)
        found["least_coverage"] = _threshold(coverage, answerable, [e.asked.kind for e in usable], nothing)
        return found

    def _below(self, floor: float, evidence: Mapping[str, float]) -> bool:
        if SCORE not in evidence:
            return True
        return evidence[SCORE] < floor and evidence[COVERAGE] < self.stage.enough_coverage


def run_abstention(
    datasets: Sequence[Dataset],
    *,
    store_path: Path,
    profile: str = "default",
    embedder: Embedder | Literal["auto"] | None = "auto",
    progress: Progress | None = None,
) -> AbstentionReport:
    """Retain the data sets, ask every question of ``unanswerable`` twice, with vectors and without.

    Args:
        datasets: what to retain and ask; their corpora have different names.
        store_path: an empty folder; what is retained stays there.
        profile: name or path of a profile with one ``abstention`` stage.
        embedder: as for opening a store.
        progress: called with the phase ("retain" or "recall"), how many are done, how many there are.

    Raises:
        InputError: the profile has no such stage.
    """
    refiners = load_profile(profile).refiners
    steps = [(step.name, step.stage) for step in refiners if isinstance(step.stage, Abstention)]
    if len(steps) != 1:
        raise InputError("profile", f"{profile!r} has {len(steps)} abstention stages; name one that has one")
    name, stage = steps[0]
    questions = all_questions(datasets, TextAnalyser())
    with open_store(store_path, embedder=embedder) as store:
        _retain(store, datasets, progress)
        model = store.embedder.name if store.embedder else None
        meaning = _ask(store, questions, profile, name, progress) if model else ()
    with open_store(store_path, embedder=None) as store:
        words = _ask(store, questions, profile, name, progress)
    return AbstentionReport(profile, model, version("simonides"), stage, meaning, words)


def _retain(store: Store, datasets: Sequence[Dataset], progress: Progress | None) -> None:
    corpora = [corpus for dataset in datasets for corpus, _ in dataset.corpora]
    total, done = sum(len(corpus.items) for corpus in corpora), 0
    for corpus in corpora:
        bank, contexts = store.bank(corpus.name), contexts_of(corpus, WINDOW)
        for start in range(0, len(corpus.items), BATCH_ITEMS):
            part = slice(start, start + BATCH_ITEMS)
            bank.retain([*map(as_mapping, corpus.items[part], contexts[part])], deduplicate=False)
            done += len(corpus.items[part])
            if progress:
                progress("retain", done, total)


def _ask(
    store: Store, questions: Sequence[Asked], profile: str, stage: str, progress: Progress | None
) -> tuple[Judged, ...]:
    judged = []
    for asked in questions:
        answer = store.bank(asked.corpus).recall(asked.text, profile=profile)
        lines = [line for line in answer.trace.stages if line.name == stage]
        judged.append(Judged(asked, answer.no_match, lines[0].evidence if lines else {}))
        if progress:
            progress("recall", len(judged), len(questions))
    return tuple(judged)


def _uncovered(floor: float, evidence: Mapping[str, float]) -> bool:
    return evidence.get(COVERAGE, 0.0) < floor


def _by_kind(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    kinds: dict[str, list[Judged]] = {}
    for each in judged:
        kinds.setdefault(each.asked.kind, []).append(each)
    return dict(sorted(kinds.items()))


def _rates(
    judged: Sequence[Judged], abstains: Callable[[Mapping[str, float]], bool] | None = None
) -> dict[str, dict[str, float]]:
    """Lost and false answers by kind and in all (category 5 apart), on the half that is reported."""
    held_out = [each for each in judged if not each.asked.for_fitting]

    def rate(mine: Sequence[Judged]) -> float:
        said = [each.no_match if abstains is None else abstains(each.evidence) for each in mine]
        wrong = sum(no_match is each.asked.answerable for no_match, each in zip(said, mine, strict=True))
        return round(wrong / len(said), 4) if said else 0.0

    answer: dict[str, dict[str, float]] = {}
    for name, answerable in (("lost", True), ("false", False)):
        mine = [each for each in held_out if each.asked.answerable is answerable]
        plain = [each for each in mine if each.asked.kind != ADVERSARIAL]
        by_kind = {kind: rate(part) for kind, part in _by_kind(mine).items()}
        answer[name] = {"all": rate(plain), **by_kind}
    return answer


def _threshold(
    scores: NDArray[np.float64], answerable: NDArray[np.bool_], kinds: Sequence[str], kept: NDArray[np.bool_]
) -> float:
    mine = [kind for kind, there in zip(kinds, answerable.tolist(), strict=True) if there]
    return fit_threshold(scores[answerable], mine, MOST_LOST, kept[answerable])
