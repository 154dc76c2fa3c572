"""Fit the models of the refiner ``relevance`` and write them, with what they were fitted on.

    python bench/fit_relevance.py --data ../shared/data [--check]

Data: the facts and chats of ``everyday``, ``shortbanks`` and MuSiQue, each in banks of its own, retained as
``bench relevance`` does. Questions without an answer: those of other banks, alone and two in one, long ones
that share a word with the bank, and greetings. LoCoMo is never read: its licence
does not allow it. With ``--check``, nothing is written, and each bank (each fifth of MuSiQue's questions) is
judged by models that did not see it: calibration error and the area under the curve are printed.
Same data, same file: clock, identities and draws are fixed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import simonides
from simonides.evaluation.asking import NOW, SteadyClock, as_mapping, retain_as_lived
from simonides.evaluation.datasets import load_chats, load_facts, load_musique, load_short_banks
from simonides.evaluation.relevance import area_under_curve, bins_of, calibration_error, off_topic_questions
from simonides.models.catalogue import DEFAULT_EMBEDDER
from simonides.recall.refining import chance
from simonides.recall.refining.chance import LIMIT, ChanceModel
from simonides.recall.refining.relevance import HEAD, WORDS, Relevance, Signals, answering, collect_signals
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.evaluation.datasets import Corpus, Question
    from simonides.protocols import Refined
    from simonides.store import Store

TARGET = Path(chance.__file__).parent / chance.FILE
ELSEWHERE_WEIGHT = 0.15
"""Of a question that was asked of another bank, of small talk, and of two questions in one: there are
thousands, and they are easy."""

STRANGE, LONG = 60, 12
"""How many questions of other banks are asked of each; how many long ones of either kind."""

DOUBLED_EVERY = 4
"""Of every so many questions of a bank, one is asked in one breath with another."""

TINY_EVERY = 5
"""Of every so many questions of a short bank one is also asked of a bank of one to three memories."""

RIDGE = {"anything": 10.0, "hit": 20.0}
GREETINGS = (
    "hello", "hi", "hey there", "good morning", "thanks", "thank you so much!", "ok", "okay, got it",
    "yes please", "no", "bye", "see you tomorrow", "how are you?", "what's up?", "tell me a joke",
    "can you help me?", "who are you?", "what can you do?", "lol", "great", "please continue", "go on",
    "sorry, what?", "one moment", "test", "asdf", "???", "sing me a song", "I'm bored",
    "write a poem about rain", "translate this into French", "what is 17 times 23?", "are you there?", "stop",
    "never mind", "help", "cool, thanks", "good night", "let's start", "summarise this text",
)  # fmt: skip


@dataclass
class Identities:
    """Stands in for ``uuid.uuid4``: equal scores are ordered by ids, which follow from the bank's own."""

    name: str = ""
    given: int = 0

    def bank(self, store: Store, name: str) -> Bank:
        """A new bank, whose identity follows from its name."""
        self.name, self.given = name, 0
        return store.bank(name)

    def __call__(self) -> uuid.UUID:
        """The next identity of the bank."""
        self.given += 1
        return uuid.UUID(bytes=hashlib.blake2b(f"{self.name} {self.given}".encode(), digest_size=16).digest())


@dataclass(frozen=True)
class Judged:
    """One question asked of one bank.

    Attributes:
        bank: its name.
        fold: the bank, or the part of its questions, that is left out together.
        signals: of the first hits.
        right, either: bool per hit: whether it answers; whether it may be given or not.
        answerable: whether the bank holds an answer.
        weight: of the question in fitting.
    """

    bank: str
    fold: str
    signals: Signals
    right: NDArray[np.bool_]
    either: NDArray[np.bool_]
    answerable: bool
    weight: float = 1.0


Keys = Mapping[str, str]
"""By a memory's id, the key of its item."""

Pair = tuple["Corpus", Sequence["Question"]]


@dataclass
class Asker:
    """Asks questions, and keeps the signals that the stage went by."""

    identities: Identities
    judged: list[Judged] = field(default_factory=list)
    seen: list[tuple[Signals, list[str]]] = field(default_factory=list)

    def ask(
        self,
        bank: Bank,
        query: str,
        fold: str,
        keys: Keys | None = None,
        gold: Collection[str] = (),
        either: Collection[str] = (),
        weight: float = 1.0,
    ) -> None:
        """Ask *query*; without *keys* it was made for another bank: it has no answer, and weighs little."""
        self.seen.clear()
        bank.recall(query, limit=HEAD, max_tokens=None)
        for signals, ids in self.seen:
            held = [(keys or {}).get(each) for each in ids]
            right = np.array([each in gold for each in held])
            fine = np.array([each in either for each in held])
            mine = ELSEWHERE_WEIGHT if keys is None else weight
            self.judged.append(Judged(bank.name, fold, signals, right, fine, bool(gold), mine))

    def refine(self, stage: Relevance, view: Any, query: Any, pool: Any, tools: Any) -> Refined:
        """What ``Relevance.refine`` does, and keep the signals of the first hits."""
        if answers := answering(view, pool):
            signals = collect_signals(view, query, answers)
            hits = {name: values[:HEAD] for name, values in signals.hits.items()}
            head = Signals(signals.ordinals[:HEAD], signals.anything, hits, signals.has_vectors)
            self.seen.append((head, [memory.id for memory in view.memories(head.ordinals.tolist())]))
        return _REFINE(stage, view, query, pool, tools)


_REFINE = Relevance.refine


def collect(data: Path, embedder: str | None) -> list[Judged]:
    """Every question with what the stage saw."""
    asker, clock = Asker(Identities()), SteadyClock()

    def watched(stage: Relevance, view: Any, query: Any, pool: Any, tools: Any) -> Refined:
        return asker.refine(stage, view, query, pool, tools)

    with (
        patch.object(Relevance, "refine", watched),
        patch.object(uuid, "uuid4", asker.identities),
        tempfile.TemporaryDirectory() as folder,
        simonides.open(folder, embedder=embedder, clock=clock) as store,
    ):
        everyday = data / "everyday"
        small = [load_facts(everyday), load_short_banks(data / "shortbanks"), load_chats(everyday)]
        pairs = [pair for dataset in small for pair in dataset.corpora]
        [musique] = load_musique(data / "musique").corpora
        strange = _Strange(pairs, musique, random.Random(7))
        for corpus, questions in pairs:
            bank = asker.identities.bank(store, corpus.name)
            keys = _retained(bank, corpus, clock)
            _ask_small(asker, bank, questions, keys, strange.of(corpus))
            if corpus.asked_at is None:
                clock.now = NOW
                _ask_tiny_banks(asker, store, corpus, questions, strange)
        _ask_musique(asker, asker.identities.bank(store, "musique"), musique, strange, clock)
    return asker.judged


def _retained(bank: Bank, corpus: Corpus, clock: SteadyClock) -> Keys:
    return {id_: key for part in retain_as_lived(bank, corpus, clock) for id_, key in part.items()}


class _Strange:
    """Draws questions that a bank holds no answer to, because they were made for another one.

    Attributes:
        draw: of everything.
    """

    def __init__(self, pairs: Sequence[Pair], musique: Pair, draw: random.Random) -> None:
        analyser = TextAnalyser()
        self.draw = draw
        self._asked = [(corpus, _answerable(questions)) for corpus, questions in pairs]
        self._long = [(text, set(analyser.query_terms(text))) for text in _answerable(musique[1])]
        self._words = {
            corpus.name: {term for item in corpus.items for term in analyser.terms(item.text)}
            for corpus, _ in pairs
        }

    def some(self, corpus: Corpus, count: int) -> list[str]:
        """*count* questions of other banks; no chat is asked those of a chat, whose people are alike."""
        texts = [
            text
            for other, asked in self._asked
            if other.name != corpus.name and not (corpus.asked_at and other.asked_at)
            for text in asked
        ]
        return self.draw.sample(texts, min(count, len(texts)))

    def long(self, corpus: Corpus, count: int) -> list[str]:
        """*count* questions of MuSiQue that share a word with the bank, and as many doubled ones."""
        near = [text for text, terms in self._long if terms & self._words[corpus.name]]
        found = self.draw.sample(near, min(count, len(near)))
        doubled = self.some(corpus, 2 * count)
        return [*found, *map(" ".join, zip(doubled[::2], doubled[1::2], strict=False))]

    def of(self, corpus: Corpus) -> list[str]:
        """All that is asked of a small bank of everyday facts or a chat."""
        return [*self.some(corpus, STRANGE), *self.long(corpus, LONG), *GREETINGS]


def _answerable(questions: Sequence[Question]) -> list[str]:
    return [each.text for each in questions if each.answerable]


def _ask_small(
    asker: Asker, bank: Bank, questions: Sequence[Question], keys: Keys, strange: Sequence[str]
) -> None:
    for asked in questions:
        asker.ask(bank, asked.text, bank.name, keys, asked.gold, asked.acceptable)
    # Two questions in one, so that a long question is not one without an answer.
    own = [each for each in questions if each.answerable][::DOUBLED_EVERY]
    for one, other in zip(own[::2], own[1::2], strict=False):
        gold, fine = {*one.gold, *other.gold}, {*one.acceptable, *other.acceptable}
        asker.ask(bank, f"{one.text} {other.text}", bank.name, keys, gold, fine, ELSEWHERE_WEIGHT)
    for text in strange:
        asker.ask(bank, text, bank.name)


def _ask_tiny_banks(
    asker: Asker, store: Store, corpus: Corpus, questions: Sequence[Question], strange: _Strange
) -> None:
    """Banks of one to three memories, one of which answers; four questions of other banks asked of each."""
    draw = strange.draw
    for place, asked in enumerate([each for each in questions if len(each.gold) == 1][::TINY_EVERY]):
        right = [item for item in corpus.items if item.key in asked.gold]
        rest = [item for item in corpus.items if item.key not in (*asked.gold, *asked.acceptable)]
        items = [*draw.sample(rest, min(len(rest), draw.randrange(3))), *right]
        bank = asker.identities.bank(store, f"{corpus.name}-tiny-{place}")
        ids = bank.retain([as_mapping(item, item.context) for item in items], deduplicate=False)
        keys = dict(zip(ids, (item.key for item in items), strict=True))
        asker.ask(bank, asked.text, corpus.name, keys, asked.gold)
        for text in (*strange.some(corpus, 2), *strange.long(corpus, 1)):
            asker.ask(bank, text, corpus.name)


def _ask_musique(asker: Asker, bank: Bank, musique: Pair, strange: _Strange, clock: SteadyClock) -> None:
    corpus, questions = musique
    keys = _retained(bank, corpus, clock)
    for asked in questions:
        asker.ask(bank, asked.text, fifth(asked.text), keys, asked.gold)
    for text in strange.some(corpus, 3 * STRANGE):
        asker.ask(bank, text, fifth(text))
    for texts in off_topic_questions().values():
        for text in texts:
            asker.ask(bank, text, fifth(text), {})


def fifth(text: str) -> str:
    """The part of MuSiQue's questions that *text* is left out with."""
    return f"musique-{hashlib.blake2b(text.encode(), digest_size=1).digest()[0] % 5}"


@dataclass(frozen=True)
class Samples:
    """Rows to fit: signals by name, labels, weights and folds, all of one length."""

    signals: Mapping[str, NDArray[np.float64]]
    labels: NDArray[np.float64]
    weights: NDArray[np.float64]
    folds: NDArray[np.str_]

    def only(self, mask: NDArray[np.bool_]) -> Samples:
        """The rows of *mask*."""
        signals = {name: values[mask] for name, values in self.signals.items()}
        return Samples(signals, self.labels[mask], self.weights[mask], self.folds[mask])


def samples_of(judged: Sequence[Judged]) -> dict[str, Samples]:
    """By model: one row a question, and one a hit of an answerable question that is right or wrong."""
    some = [each for each in judged if each.answerable]
    kept = np.concatenate([each.right | ~each.either for each in some])
    whole = [each.signals.anything for each in judged]
    hits = [each.signals.hits for each in some]
    return {
        "anything": Samples(
            {name: np.concatenate([each[name] for each in whole]) for name in whole[0]},
            np.array([each.answerable for each in judged], np.float64),
            np.array([each.weight for each in judged]),
            np.array([each.fold for each in judged]),
        ),
        "hit": Samples(
            {name: np.concatenate([each[name] for each in hits])[kept] for name in hits[0]},
            np.concatenate([each.right for each in some])[kept].astype(np.float64),
            np.ones(int(kept.sum())),
            np.concatenate([[each.fold] * len(each.right) for each in some])[kept],
        ),
    }


def fit(samples: Samples, ridge: float) -> ChanceModel:
    """A logistic regression by Newton's method; the ridge holds every slope but the intercept.

    Args:
        samples: what to fit.
        ridge: of the slopes, above 0.
    """
    names = tuple(samples.signals)
    rows = np.stack([samples.signals[name] for name in names], axis=1)
    share = samples.weights / samples.weights.sum()
    mean = share @ rows
    scale = np.sqrt(share @ (rows - mean) ** 2) + 1e-9
    z = np.clip((rows - mean) / scale, -LIMIT, LIMIT)
    first, second = np.triu_indices(len(names))
    pairs = z[:, first] * z[:, second]
    centre = share @ pairs
    spread = np.sqrt(share @ (pairs - centre) ** 2) + 1e-9
    design = np.hstack([z, (pairs - centre) / spread, np.ones((len(z), 1))])
    slopes = np.zeros(design.shape[1])
    holds = np.diag([*[ridge] * (len(names) + len(first)), 1e-6])
    for _ in range(60):
        chances = 1.0 / (1.0 + np.exp(-np.clip(design @ slopes, -30.0, 30.0)))
        gradient = design.T @ (samples.weights * (samples.labels - chances)) - holds @ slopes
        mass = samples.weights * np.maximum(chances * (1 - chances), 1e-6)
        step = np.linalg.solve((design.T * mass) @ design + holds, gradient)
        slopes += np.clip(step, -3.0, 3.0)
        if np.abs(step).max() < 1e-8:
            break
    matrix = np.zeros((len(names), len(names)))
    matrix[first, second] = slopes[len(names) : -1] / spread
    intercept = slopes[-1] - float(np.sum(matrix[first, second] * centre))
    return ChanceModel(names, mean, scale, slopes[: len(names)], matrix, float(intercept))


def checks(judged: Sequence[Judged]) -> Iterator[str]:
    """Lines of a report: chances of each row by a model that did not see its fold."""
    for name, samples in samples_of(judged).items():
        chances = np.zeros(len(samples.labels))
        for fold in np.unique(samples.folds):
            mine = samples.folds == fold
            model = fit(samples.only(~mine), RIDGE[name])
            chances[mine] = model.chances(samples.only(mine).signals)
        for part in ("facts", "short", "chat", "musique", ""):
            mine = np.char.startswith(samples.folds, part) & (samples.weights == 1.0)
            error = calibration_error(bins_of(chances[mine], samples.labels[mine]))
            area = area_under_curve(chances[mine], samples.labels[mine])
            yield (
                f"{name:9} {part or 'all':8} n {mine.sum():6}  calibration error {error:.3f}  "
                f"AUC {'-' if area is None else f'{area:.3f}'}"
            )


def manifest(judged: Sequence[Judged]) -> dict[str, dict[str, Any]]:
    """By data set: its banks, how many questions of theirs were asked, and how many in all."""
    parts: dict[str, list[Judged]] = {}
    for each in judged:
        parts.setdefault(each.fold.partition("-")[0], []).append(each)
    return {
        name: {
            "banks": sorted({each.bank for each in mine}),
            "own": sum(each.weight == 1.0 for each in mine),
            "questions": len(mine),
        }
        for name, mine in parts.items()
    }


def fit_all(data: Path, embedders: Mapping[str, str | None]) -> str:
    """The whole file: a pair of models for each name in *embedders*."""
    models: dict[str, Any] = {}
    fitted_on: dict[str, Any] = {}
    for name, embedder in embedders.items():
        judged = collect(data, embedder)
        fitted_on[name] = manifest(judged)
        models[name] = {k: fit(samples, RIDGE[k]).to_dict() for k, samples in samples_of(judged).items()}
    return json.dumps({"fitted_on": fitted_on, "models": models}, separators=(",", ":")) + "\n"


def main() -> None:
    """Fit and write, or with ``--check`` print how well it holds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--check", action="store_true", help="print calibration out of fold; write nothing")
    options = parser.parse_args()
    embedders = {DEFAULT_EMBEDDER: DEFAULT_EMBEDDER, WORDS: None}
    if options.check:
        for name, embedder in embedders.items():
            print(name, *checks(collect(options.data, embedder)), sep="\n  ")
        return
    TARGET.write_text(fit_all(options.data, embedders), encoding="utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
