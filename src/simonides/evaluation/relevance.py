"""How well a profile's probabilities hold, on questions that a corpus answers and others (DF-04).

    answerable    <dataset>             the data set's own questions
                  <dataset>-key-words   the same without their stop-words, as one types into a search box
    unanswerable  adversarial           about what people who are there never said (LoCoMo category 5)
                  near-miss, off-topic, unanswerable   what small banks do not hold (``everyday``)
                  elsewhere             asked of another corpus: one that names none of the question's names
                  people, work, records, short   invented (``off_topic.toml``)

Every invented question is asked once of each data set, its corpora taking turns. A question is for fitting or
for reporting by a hash of its words, whatever it is asked of, so the halves share no question.

    calibration   ten bins of equal mass by the stated probability; the error is the mean distance of a bin's
                  mean probability and its share of right ones, weighed by the bin's size
    AUC           how often an answerable question is held likelier to be answered than another one
    given         what a recall hands out: by ``precision``, and at thresholds of ``min_relevance``

Each question is asked once at each precision, for ten hits, and once wide for the 100 that are judged,
from which the thresholds follow. Hits that may be found or not (``Question.acceptable``) count nowhere. What
people who are there never said (LoCoMo category 5) takes a reader to notice and stands apart everywhere.
Weakness: evidence that a data set forgot to name counts as wrong, so right ones look rarer than they are.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC
from importlib.metadata import version
from importlib.resources import files
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simonides.errors import InputError
from simonides.evaluation.asking import NOW, SteadyClock, retain_as_lived
from simonides.evaluation.datasets import UNANSWERABLE
from simonides.options import PRECISIONS
from simonides.profiles.loader import load_profile
from simonides.recall.pipeline import judges_relevance
from simonides.recall.refining import chance
from simonides.recall.refining.relevance import HEAD, REST
from simonides.store import open_store
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.evaluation.asking import Progress
    from simonides.evaluation.datasets import Corpus, Dataset, Question
    from simonides.protocols import Analyser, Embedder
    from simonides.records.recall import Recall
    from simonides.store import Store


ADVERSARIAL = "adversarial"
ELSEWHERE = "elsewhere"
KEY_WORDS = "key-words"
KINDS = ("near-miss", "off-topic", UNANSWERABLE)
"""Categories of questions without an answer, in data sets that have them."""


_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['\u2019]s\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question asked of one corpus.

    Attributes:
        answerable: whether the corpus holds the answer.
        gold, acceptable: keys of the items that answer it, and that may be found too.
    """

    corpus: str
    text: str
    kind: str
    answerable: bool
    gold: tuple[str, ...] = ()
    acceptable: tuple[str, ...] = ()


def off_topic_questions() -> Mapping[str, Sequence[str]]:
    """The invented questions by kind."""
    return tomllib.loads(files(__package__).joinpath("off_topic.toml").read_text(encoding="utf-8"))


def all_questions(datasets: Sequence[Dataset], analyser: Analyser) -> tuple[Asked, ...]:
    """Every question with what it is asked of, in the order of the data sets."""
    corpora = [(dataset, corpus, asked) for dataset in datasets for corpus, asked in dataset.corpora]
    words = {corpus.name: _words(corpus) for _, corpus, _ in corpora}
    found: list[Asked] = []
    for dataset, corpus, questions in corpora:
        for question in questions:
            if not question.answerable:
                kind = question.category if question.category in KINDS else ADVERSARIAL
                found.append(Asked(corpus.name, question.text, kind, False))
                continue
            whole = Asked(corpus.name, question.text, dataset.name, True, question.gold, question.acceptable)
            found.append(whole)
            short = key_words(question.text, analyser)
            if short != question.text:
                found.append(replace(whole, text=short, kind=f"{dataset.name}-{KEY_WORDS}"))
    found.extend(_asked_elsewhere([(corpus, asked) for _, corpus, asked in corpora], words))
    for dataset in datasets:
        turns = cycle(corpus.name for corpus, _ in dataset.corpora)
        for kind, texts in off_topic_questions().items():
            found.extend(Asked(next(turns), text, kind, False) for text in texts)
    return tuple(found)


def key_words(text: str, analyser: Analyser) -> str:
    """The words of *text* that are no stop-words, in order, with spaces between."""
    terms = set(analyser.query_terms(text))
    return " ".join(word for word in text.split() if terms.intersection(analyser.terms(word))).rstrip("?")


def names(text: str) -> frozenset[str]:
    """Capitalised words but the first, folded: what a question is about, if it names anything."""
    words = _WORD.findall(_POSSESSIVE.sub("", text))[1:]
    return frozenset(word.casefold() for word in words if word[0].isupper() and len(word) > 1)


def _asked_elsewhere(
    corpora: Sequence[tuple[Corpus, Sequence[Question]]], words: Mapping[str, frozenset[str]]
) -> Iterator[Asked]:
    """Each answerable question, where it has names, asked of the next corpus that holds none of them."""
    order = [corpus.name for corpus, _ in corpora]
    turn = 0
    for corpus, questions in corpora:
        for question in questions:
            about = names(question.text)
            if not question.answerable or not about:
                continue
            others = [n for n in order if n != corpus.name and not about & words[n]]
            if others:
                other = others[turn % len(others)]
                turn += 1
                yield Asked(other, question.text, ELSEWHERE, False)


def _words(corpus: Corpus) -> frozenset[str]:
    return frozenset(word.casefold() for item in corpus.items for word in _WORD.findall(item.text))


BINS = 10
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
"""Of ``min_relevance``."""


@dataclass(frozen=True, slots=True)
class Given:
    """What stands in the context of one recall; nothing where it said that nothing answers.

    Attributes:
        keys: of the hits there, best first.
    """

    keys: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class JudgedHit:
    """One hit of a wide recall: its key, its relevance, and its tokens in a context."""

    key: str
    relevance: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Judged:
    """One question with its answers.

    Attributes:
        confidence: of the wide recall.
        no_match: whether that said that nothing answers.
        hits: of the wide recall, the 100 best.
        given: by precision.
    """

    asked: Asked
    dataset: str
    confidence: float
    no_match: bool
    hits: tuple[JudgedHit, ...]
    given: Mapping[str, Given]

    def at_least(self, relevance: float) -> Given:
        """What a wide recall for ten hits gives with this ``min_relevance``.

        Tokens are one too many where it leaves out the best hit, the only one without a line break.
        """
        hits = [] if self.no_match else [hit for hit in self.hits if hit.relevance >= relevance][:HEAD]
        return Given(tuple(hit.key for hit in hits), sum(hit.tokens for hit in hits))


@dataclass(frozen=True, slots=True)
class RelevanceReport:
    """A whole run: every question, in order; *embedder* is ``None`` when there was none."""

    profile: str
    embedder: str | None
    version: str
    judged: tuple[Judged, ...]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready summary, rounded to 4 places."""
        kinds: dict[str, list[Judged]] = {}
        for each in self.judged:
            kinds.setdefault(each.asked.kind, []).append(each)
        parts = {"all": self.judged, **_by_dataset(self.judged)}
        return {
            "profile": self.profile,
            "embedder": self.embedder,
            "version": self.version,
            "fitted_on": list(fitted_on()),
            "questions": {kind: len(mine) for kind, mine in sorted(kinds.items())},
            "answerable": sorted({each.asked.kind for each in self.judged if each.asked.answerable}),
            "calibration": {
                "relevance": {name: _calibration(*_hit_pairs(mine)) for name, mine in parts.items()},
                "confidence": {name: _calibration(*_pairs(mine)) for name, mine in parts.items()},
            },
            "auc": {"all": _area(self.judged), **{k: _area(self.judged, k) for k in _unanswerable(kinds)}},
            "precision": {
                name: {level: _outcome(mine, [j.given[level] for j in mine]) for level in PRECISIONS}
                for name, mine in parts.items()
            },
            "min_relevance": [
                {"min_relevance": least, **_outcome(self.judged, [j.at_least(least) for j in self.judged])}
                for least in THRESHOLDS
            ],
        }


def run_relevance(
    datasets: Sequence[Dataset],
    *,
    store_path: Path,
    profile: str = "default",
    embedder: Embedder | Literal["auto"] | None = "auto",
    progress: Progress | None = None,
) -> RelevanceReport:
    """Retain the data sets (corpora of different names), and ask every question of ``unanswerable``.

    Args:
        store_path: an empty folder; what is retained stays there.
        profile: name or path of a profile that judges relevance, else ``InputError``.
        progress: called with the phase ("retain" or "recall"), how many are done, how many there are.
    """
    if not judges_relevance(load_profile(profile)):
        raise InputError(
            "profile", f"{profile!r} has no stage 'relevance'; name one that has, such as default"
        )
    questions = all_questions(datasets, TextAnalyser())
    clock = SteadyClock()
    with open_store(store_path, embedder=embedder, clock=clock, zone=UTC) as store:
        keys = _retain(store, datasets, clock, progress)
        homes = {corpus.name: (d.name, corpus.asked_at) for d in datasets for corpus, _ in d.corpora}
        judged = []
        for asked in questions:
            dataset, asked_at = homes[asked.corpus]
            clock.now = asked_at or NOW
            options = {"profile": profile, "max_tokens": None}
            judged.append(_judge(store, asked, dataset, keys[asked.corpus], options))
            if progress:
                progress("recall", len(judged), len(questions))
        model = store.embedder.name if store.embedder else None
    return RelevanceReport(profile, model, version("simonides"), tuple(judged))


def _retain(
    store: Store, datasets: Sequence[Dataset], clock: SteadyClock, progress: Progress | None
) -> dict[str, dict[str, str]]:
    """By corpus, the item's key of each memory's id."""
    corpora = [corpus for dataset in datasets for corpus, _ in dataset.corpora]
    total, done = sum(len(corpus.items) for corpus in corpora), 0
    keys: dict[str, dict[str, str]] = {corpus.name: {} for corpus in corpora}
    for corpus in corpora:
        for part in retain_as_lived(store.bank(corpus.name), corpus, clock):
            keys[corpus.name] |= part
            done += len(part)
            if progress:
                progress("retain", done, total)
    return keys


def _judge(
    store: Store, asked: Asked, dataset: str, keys: Mapping[str, str], options: Mapping[str, Any]
) -> Judged:
    bank: Bank = store.bank(asked.corpus)

    def given(answer: Recall) -> Given:
        return Given(tuple(keys[hit.id] for hit in answer.told), bank.count_tokens(answer.context))

    wide = bank.recall(asked.text, limit=REST, precision="wide", **options)
    answers = {level: bank.recall(asked.text, limit=HEAD, precision=level, **options) for level in PRECISIONS}
    hits = tuple(JudgedHit(keys[hit.id], hit.relevance or 0.0, hit.tokens) for hit in wide)
    return Judged(
        asked,
        dataset,
        wide.confidence or 0.0,
        wide.no_match,
        hits,
        {level: given(answer) for level, answer in answers.items()},
    )


def fitted_on() -> tuple[str, ...]:
    """Names of the data sets that the shipped models were fitted on, sorted; numbers on these flatter."""
    stored = json.loads(files(chance.__package__).joinpath(chance.FILE).read_text(encoding="utf-8"))
    return tuple(sorted({name for sets in stored["fitted_on"].values() for name in sets}))


def bins_of(
    chances: NDArray[np.float64], right: NDArray[np.float64], count: int = BINS
) -> list[tuple[int, float, float]]:
    """Bins of equal mass by growing chance: how many, their mean chance, and the share of right ones.

    *chances* (0 to 1) and *right* (0 or 1) have shape (n,); there are fewer bins than *count* for small n.
    """
    if not len(chances):
        return []
    # Those of one chance may fall into two bins: each of them has the share of right ones among them all.
    _, place, sizes = np.unique(chances, return_inverse=True, return_counts=True)
    right = (np.bincount(place, weights=right) / sizes)[place]
    parts = np.array_split(np.argsort(chances, kind="stable"), count)
    return [(len(p), float(chances[p].mean()), float(right[p].mean())) for p in parts if len(p)]


def calibration_error(bins: Iterable[tuple[int, float, float]]) -> float:
    """The mean distance of chance and share over *bins*, weighed by their sizes; 0 where there are none."""
    some = tuple(bins)
    total = sum(size for size, _, _ in some)
    return sum(size * abs(chance - share) for size, chance, share in some) / total if total else 0.0


def area_under_curve(chances: NDArray[np.float64], right: NDArray[np.float64]) -> float | None:
    """How often a right one has the higher chance than a wrong one, ties half; ``None`` without both."""
    values, place = np.unique(chances, return_inverse=True)
    good = np.bincount(place, weights=right, minlength=len(values))
    bad = np.bincount(place, weights=1.0 - right, minlength=len(values))
    if not good.sum() or not bad.sum():
        return None
    below = np.cumsum(bad) - bad
    return float((good * (below + bad / 2)).sum() / (good.sum() * bad.sum()))


def _by_dataset(judged: Iterable[Judged]) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for each in judged:
        found.setdefault(each.dataset, []).append(each)
    return found


def _unanswerable(kinds: Mapping[str, Sequence[Judged]]) -> list[str]:
    return sorted(kind for kind, mine in kinds.items() if not mine[0].asked.answerable)


def _plain(judged: Iterable[Judged]) -> list[Judged]:
    return [each for each in judged if each.asked.kind != ADVERSARIAL]


def _pairs(judged: Iterable[Judged]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Confidence, and whether the question has an answer."""
    some = _plain(judged)
    right = [each.asked.answerable for each in some]
    return np.array([each.confidence for each in some]), np.array(right, np.float64)


def _hit_pairs(judged: Iterable[Judged]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Relevance of each of the first hits, and whether it answers."""
    pairs = [
        (hit.relevance, hit.key in each.asked.gold)
        for each in _plain(judged)
        for hit in each.hits[:HEAD]
        if hit.key in each.asked.gold or hit.key not in each.asked.acceptable
    ]
    return np.array([chance for chance, _ in pairs]), np.array([right for _, right in pairs], np.float64)


def _calibration(chances: NDArray[np.float64], right: NDArray[np.float64]) -> dict[str, Any]:
    bins = bins_of(chances, right)
    return {
        "n": len(chances),
        "error": round(calibration_error(bins), 4),
        "bins": [{"n": n, "chance": round(chance, 4), "right": round(share, 4)} for n, chance, share in bins],
    }


def _area(judged: Sequence[Judged], kind: str = "") -> float | None:
    """Of all answerable questions against those of one *kind*, or of all kinds but category 5."""
    some = [e for e in judged if e.asked.answerable or e.asked.kind == kind] if kind else _plain(judged)
    chances = np.array([each.confidence for each in some])
    area = area_under_curve(chances, np.array([each.asked.answerable for each in some], np.float64))
    return None if area is None else round(area, 4)


def _outcome(judged: Sequence[Judged], given: Sequence[Given]) -> dict[str, dict[str, float]]:
    """What answerable questions get, those without an answer, and those of category 5."""
    found: dict[str, dict[str, float]] = {}
    both = list(zip(judged, given, strict=True))
    for name, mine in (
        ("answerable", [each for each in both if each[0].asked.answerable]),
        ("unanswerable", [e for e in both if not e[0].asked.answerable and e[0].asked.kind != ADVERSARIAL]),
        (ADVERSARIAL, [each for each in both if each[0].asked.kind == ADVERSARIAL]),
    ):
        if not mine:
            continue
        means: dict[str, Any] = {
            "hits": np.mean([len(got.keys) for _, got in mine]),
            "tokens": np.mean([got.tokens for _, got in mine]),
            "nothing": np.mean([not got.keys for _, got in mine]),
        }
        if name == "answerable":
            counted = [k in j.asked.gold for j, got in mine for k in got.keys if _counts(j.asked, k)]
            means["precision"] = np.mean(counted) if counted else 0.0
            means["recall"] = np.mean(
                [len({*got.keys} & {*j.asked.gold}) / len(j.asked.gold) for j, got in mine]
            )
        found[name] = {"questions": len(mine), **{key: round(float(v), 4) for key, v in means.items()}}
    return found


def _counts(asked: Asked, key: str) -> bool:
    return key in asked.gold or key not in asked.acceptable
