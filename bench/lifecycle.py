"""What maintenance does to recall: conversations lived through by a clock, maintained, and asked.

Every turn is retained at the time of its session as an episode in the working layer, as an agent would. From
the day after the last session the bank is maintained, by all rules of ``default`` or by one alone, and asked:

    the day after    after one run
    a year later     after a run every month in which nobody used anything

The same questions are asked of the same bank without maintenance. Beside the conversations as they are there
are conversations *told again*: every third turn is retained twice more from other sources; only the best
placed telling counts, the others take places from other memories.
An observation counts as the turns that it stands for; tellings of one turn take one place.

Weakness: nobody's use is simulated, so promotion goes no further than the episodic layer.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from bench.command import bench_parser, finish, recall_embedder, run, say

from simonides.errors import InputError
from simonides.evaluation.asking import DEPTH, as_mapping, contexts_of
from simonides.evaluation.comparing import compare_systems
from simonides.evaluation.datasets import load_dataset
from simonides.evaluation.results import Measured, QuestionResult, mean_measures
from simonides.files import SHARED, write_file
from simonides.lifecycle.thresholds import read_thresholds
from simonides.profiles.loader import load_lifecycle
from simonides.records.kind import TRUST
from simonides.retain.conversations import WINDOW
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simonides.bank import Bank
    from simonides.evaluation.asking import Progress
    from simonides.evaluation.comparing import Compared
    from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
    from simonides.lifecycle.thresholds import Thresholds
    from simonides.protocols import Embedder
    from simonides.records.recall import Recall


TOLD_AGAIN_EVERY = 3
TELLINGS = 2
"""More of such a turn."""

DAYS_LATER = 365
MONTH_DAYS = 30

UNMAINTAINED = "unmaintained"
_NEVER = 1_000_000_000
_NO_PROMOTION = f"""
[lifecycle.promote.episodic]
after_minutes = {_NEVER}
accesses = {_NEVER}
[lifecycle.promote.semantic]
salience = 1
accesses = {_NEVER}
"""
_NO_DECAY = f"""
[lifecycle.archive]
grace_days = {_NEVER}
"""
_NO_OBSERVATIONS = f"""
[lifecycle.observations]
sources = {_NEVER}
"""
PARTS: Mapping[str, str] = {
    "promotion": _NO_DECAY + _NO_OBSERVATIONS,
    "decay": _NO_PROMOTION + _NO_OBSERVATIONS,
    "observations": _NO_PROMOTION + _NO_DECAY,
    "all": "",
}
"""What of ``default`` is changed so that only this part of maintenance is left."""

Moment = Literal["the day after", "a year later"]


class _Hands:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = datetime(1, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, slots=True)
class Group:
    """One bank without maintenance, and the same bank with it.

    Attributes:
        told_again: whether turns were told again.
        moment: of asking.
        measured: ``unmaintained`` first.
        steps: what maintenance did, by system and action.
        compared: each with the first.
    """

    told_again: bool
    moment: Moment
    measured: tuple[Measured, ...]
    steps: Mapping[str, Mapping[str, int]]
    compared: Compared

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready table, measures rounded to 6 places."""
        return {
            "told_again": self.told_again,
            "moment": self.moment,
            "rows": {
                each.system: {
                    name: round(value, 6) for name, value in mean_measures(each.scores().values()).items()
                }
                for each in self.measured
            },
            "steps": {system: dict(sorted(steps.items())) for system, steps in self.steps.items()},
            "differing_answers": {
                each.system: sum(
                    one.ranked != other.ranked
                    for one, other in zip(self.measured[0].results, each.results, strict=True)
                )
                for each in self.measured[1:]
            },
            **self.compared.to_dict(),
        }


@dataclass(slots=True)
class MaintainedRun:
    """Measures one data set.

    Attributes:
        dataset: conversations; every item has a time and a session.
        folder: for the banks; empty.
        window: how many turns before and after a turn are its context.
        embedder: as for opening a store.
        control: a profile whose ``[lifecycle]`` numbers are asked for beside those of ``default``, a year
            later; empty = none.
        seed: of the comparison.
        progress: told ("retain" or "recall", done, of how many).

    Raises:
        InputError: an item has no time.
    """

    dataset: Dataset
    folder: Path
    window: int
    embedder: Embedder | Literal["auto"] | None = "auto"
    control: str = "engram"
    seed: int = 0
    progress: Progress | None = None
    _clock: _Hands = field(default_factory=_Hands)
    _keys: dict[str, str] = field(default_factory=dict)
    _asked: int = 0

    def __post_init__(self) -> None:
        for corpus, _ in self.dataset.corpora:
            for item in corpus.items:
                if item.event_time is None:
                    raise InputError("dataset", f"{corpus.name}: {item.key} has no time; give conversations")

    def ages(self) -> dict[str, float]:
        """How old, in days, is what a question asks for, a year after the last session: median to oldest."""
        days = [
            (_moment(corpus, "a year later") - _when(item)) / timedelta(days=1)
            for corpus, questions in self.dataset.corpora
            for item in corpus.items
            for question in questions
            if item.key in question.gold
        ]
        return {
            "median": round(float(np.median(days)), 1),
            "p95": round(float(np.quantile(days, 0.95)), 1),
            "oldest": round(max(days), 1),
        }

    def run(self) -> list[Group]:
        """All groups."""
        groups = []
        for told_again in (False, True):
            base = self.folder / ("told again" if told_again else "as it is")
            self._retain(base, told_again=told_again)
            names = ("all",) if told_again else tuple(PARTS)
            groups += [
                self._group(base, names, "the day after", told_again=told_again),
                self._group(base, ("all",), "a year later", told_again=told_again),
            ]
        return groups

    def _retain(self, base: Path, *, told_again: bool) -> None:
        done, total = 0, sum(len(corpus.items) for corpus, _ in self.dataset.corpora)
        for corpus, _ in self.dataset.corpora:
            with open_store(base / corpus.name, clock=self._clock, embedder=self.embedder, zone=UTC) as store:
                bank = store.bank(corpus.name)
                self._clock.now = _when(corpus.items[0])
                for batch in _sessions(corpus, self.window):
                    self._clock.now = max(self._clock.now, _when(batch[0][0]))
                    self._tell(bank, batch, "")
                    done += len(batch)
                    if self.progress:
                        self.progress("retain", done, total)
                again = [each for each in _numbered(corpus, self.window) if told_again]
                for number in range(TELLINGS):
                    self._tell(bank, again, f"telling {number + 2}")
                bank.settle()

    def _tell(self, bank: Bank, batch: Sequence[tuple[Item, str]], source: str) -> None:
        told = [
            {**as_mapping(item, context), "kind": "episodic", "layer": "working", "source": source}
            for item, context in batch
        ]
        ids = bank.retain(told, deduplicate=False) if told else []
        self._keys |= zip(ids, (item.key for item, _ in batch), strict=True)

    def _group(self, base: Path, parts: Sequence[str], moment: Moment, *, told_again: bool) -> Group:
        steps: dict[str, dict[str, int]] = {}
        measured = [self._measure(base, UNMAINTAINED, moment)]
        chosen = {part: self._profile(part) for part in parts}
        if moment == "a year later" and self.control and not told_again:
            chosen[f"all, by the numbers of {self.control}"] = self.control
        for part, profile in chosen.items():
            place = self.folder / f"{base.name} {moment} {part}"
            shutil.copytree(base, place)
            steps[part] = self._maintain(place, profile, moment)
            measured.append(self._measure(place, part, moment))
            if part in {"observations", "all"}:
                preferred = f"{part}, observations preferred"
                measured.append(self._measure(place, preferred, moment, prefer=True))
        return Group(told_again, moment, tuple(measured), steps, compare_systems(measured, seed=self.seed))

    def _profile(self, part: str) -> str:
        path = self.folder / f"{part}.toml"
        write_file(path, f'name = "{part}"\nextends = "default"\n{PARTS[part]}', mode=SHARED)
        return str(path)

    def _maintain(self, place: Path, profile: str, moment: Moment) -> dict[str, int]:
        """One run the day after, then one a month until the moment; the steps by action."""
        counted: dict[str, int] = {}
        for corpus, _ in self.dataset.corpora:
            with open_store(
                place / corpus.name, clock=self._clock, embedder=self.embedder, zone=UTC
            ) as store:
                bank, end = store.bank(corpus.name), _moment(corpus, moment)
                self._clock.now = _moment(corpus, "the day after")
                while True:
                    for step in bank.maintain(profile=profile).steps:
                        counted[step.action] = counted.get(step.action, 0) + 1
                    if self._clock.now >= end:
                        break
                    self._clock.now = min(end, self._clock.now + timedelta(days=MONTH_DAYS))
        return counted

    def _measure(self, place: Path, system: str, moment: Moment, *, prefer: bool = False) -> Measured:
        results: list[QuestionResult] = []
        total = len(self.dataset.questions)
        for corpus, questions in self.dataset.corpora:
            self._clock.now = _moment(corpus, moment)
            with open_store(
                place / corpus.name, clock=self._clock, embedder=self.embedder, zone=UTC
            ) as store:
                bank = store.bank(corpus.name)
                for question in questions:
                    answer = bank.recall(
                        question.text, limit=DEPTH, max_tokens=None, precision="wide",
                        prefer_observations=prefer, include_sources=prefer,
                    )  # fmt: skip
                    results.append(self._result(question, answer))
                    if self.progress:
                        self.progress("recall", len(results), total)
        return Measured(system, tuple(results))

    def _result(self, question: Question, answer: Recall) -> QuestionResult:
        ranked: list[str] = []
        for place, hit in enumerate(answer.hits):
            behind = [each.memory.id for each in answer.evidence.get(hit.id, ()) if each.stance == "for"]
            keys = dict.fromkeys(self._keys[memory] for memory in behind or [hit.id])
            # A telling after the first keeps its place and counts as nothing.
            ranked += [key if key not in ranked else f"{key}#{place}" for key in keys]
        return QuestionResult(
            question.qid, question.category, question.answerable, question.gold, tuple(ranked),
            answer.hits[0].score if answer.hits else None, answer.no_match,
        )  # fmt: skip


def _when(item: Item) -> datetime:
    if item.event_time is None:  # checked before
        raise InputError("dataset", f"{item.key} has no time")
    return item.event_time


def _moment(corpus: Corpus, moment: Moment) -> datetime:
    last = max(_when(item) for item in corpus.items)
    return last + timedelta(days=1 if moment == "the day after" else DAYS_LATER)


def _sessions(corpus: Corpus, window: int) -> Iterator[list[tuple[Item, str]]]:
    told = zip(corpus.items, contexts_of(corpus, window), strict=True)
    for _, batch in groupby(told, key=lambda pair: pair[0].session):
        yield list(batch)


def _numbered(corpus: Corpus, window: int) -> list[tuple[Item, str]]:
    """The turns that are told again; each is in no session then."""
    told = list(zip(corpus.items, contexts_of(corpus, window), strict=True))
    return [(replace(item, session=""), context) for item, context in told[::TOLD_AGAIN_EVERY]]


def lasting_days(thresholds: Thresholds) -> dict[str, dict[str, float]]:
    """Days until an unused memory is archived, by kind and role; kinds that never fade are left out."""
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


def main() -> int:
    parser = bench_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo/")
    parser.add_argument("--limit", type=int, help="only the first LIMIT questions")
    given = parser.parse_args()
    dataset = load_dataset("locomo", given.data).first(given.limit)
    with TemporaryDirectory(prefix="simonides-bench-") as folder:
        measured = MaintainedRun(
            dataset, Path(folder), WINDOW, embedder=recall_embedder(given.embedder), progress=say
        )
        groups = [group.to_dict() for group in measured.run()]
    result = {
        "dataset": dataset.name,
        "conversations": len(dataset.corpora),
        "questions": sum(question.answerable for question in dataset.questions),
        "groups": groups,
        "age_of_what_is_asked_days": measured.ages(),
        "lasting_days": {
            profile: lasting_days(read_thresholds(*load_lifecycle(profile)))
            for profile in ("default", "engram")
        },
    }
    return finish(given, "lifecycle-locomo", result)


if __name__ == "__main__":
    run(main)
