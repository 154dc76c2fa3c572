"""Fit the models of the refiner ``relevance`` and write them, with what they were fitted on.

    PYTHONPATH=. python bench/fit_relevance.py --data ../shared/data [--check]

Data: the facts and chats of ``everyday``, ``shortbanks`` and MuSiQue, each in banks of its own; questions of
one bank asked of two others, and greetings, as questions without an answer. LoCoMo is never read: its licence
does not allow it. With ``--check``, nothing is written, and each bank (each fifth of MuSiQue's questions) is
judged by models that did not see it: calibration error and the area under the curve are printed.
Same data, same file: nothing is drawn at random but by a seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import simonides
from simonides.evaluation.asking import retain_corpus
from simonides.evaluation.musique import load_musique
from simonides.evaluation.unanswerable import off_topic_questions
from simonides.recall.refining import chance
from simonides.recall.refining.chance import LIMIT, ChanceModel
from simonides.recall.refining.relevance import HEAD, WORDS, Relevance, Signals, collect_signals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.protocols import Refined
    from simonides.store import Store

TARGET = Path(chance.__file__).parent / chance.FILE
NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)
ELSEWHERE_WEIGHT = 0.15
"""Of a question that was asked of another bank, and of small talk: there are thousands, and they are easy."""

RIDGE = {"anything": 10.0, "hit": 20.0}
GREETINGS = (
    "hello", "hi", "hey there", "good morning", "thanks", "thank you so much!", "ok", "okay, got it", "yes please",
    "no", "bye", "see you tomorrow", "how are you?", "what's up?", "tell me a joke", "can you help me?",
    "who are you?", "what can you do?", "lol", "great", "please continue", "go on", "sorry, what?", "one moment",
    "test", "asdf", "???", "sing me a song", "I'm bored", "write a poem about rain",
    "translate this into French", "what is 17 times 23?", "are you there?", "stop", "never mind", "help",
    "cool, thanks", "good night", "let's start", "summarise this text",
)  # fmt: skip


@dataclass
class Clock:
    """Stands where it is put, and goes on by a millisecond with each look."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@dataclass(frozen=True)
class Judged:
    """One question asked of one bank.

    Attributes:
        fold: the bank, or the part of its questions, that is left out together.
        signals: of the first hits.
        right, either: bool per hit: whether it answers; whether it may be given or not.
        answerable: whether the bank holds an answer.
        weight: of the question in fitting.
    """

    fold: str
    signals: Signals
    right: NDArray[np.bool_]
    either: NDArray[np.bool_]
    answerable: bool
    weight: float = 1.0


@dataclass
class Asker:
    """Asks questions, and keeps the signals that the stage went by."""

    judged: list[Judged] = field(default_factory=list)
    seen: list[tuple[Signals, list[str]]] = field(default_factory=list)

    def ask(
        self,
        bank: Bank,
        query: str,
        keys: Mapping[str, AbstractSet[str]],
        gold: AbstractSet[str] = frozenset(),
        either: AbstractSet[str] = frozenset(),
        *,
        fold: str,
        weight: float = 1.0,
    ) -> None:
        self.seen.clear()
        bank.recall(query, limit=HEAD, max_tokens=None)
        for signals, ids in self.seen:
            held = [keys.get(each, frozenset()) for each in ids[:HEAD]]
            right = np.array([bool(gold & each) for each in held])
            fine = np.array([bool(either & each) for each in held])
            self.judged.append(Judged(fold, _head(signals), right, fine, bool(gold), weight))


def _head(signals: Signals) -> Signals:
    hits = {name: values[:HEAD] for name, values in signals.hits.items()}
    return Signals(signals.ordinals[:HEAD], signals.anything, hits, signals.has_vectors)


def collect(data: Path, embedder: str | None) -> list[Judged]:
    """Every question with what the stage saw."""
    asker = Asker()
    clock = Clock()
    refine = Relevance.refine

    def watched(self: Relevance, view: Any, query: Any, pool: Any, tools: Any) -> Refined:
        if pool:
            ordinals = [candidate.ordinal for candidate in pool[:HEAD]]
            ids = [memory.id for memory in view.memories(ordinals)]
            asker.seen.append((collect_signals(view, query, pool), ids))
        return refine(self, view, query, pool, tools)

    Relevance.refine = watched  # type: ignore[method-assign]
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            simonides.open(folder, embedder=embedder, clock=clock) as store,
        ):
            _short_banks(asker, store, data)
            _chats(asker, store, data, clock)
            _musique(asker, store, data)
    finally:
        Relevance.refine = refine  # type: ignore[method-assign]
    return asker.judged


def _short_banks(asker: Asker, store: Store, data: Path) -> None:
    facts = json.loads((data / "everyday" / "facts.json").read_text())
    short = json.loads((data / "shortbanks" / "cases.json").read_text())
    banks: dict[str, Bank] = {}
    keys: dict[str, dict[str, set[str]]] = {}
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, items in [
        *((f"facts-{each['bank']}", each["facts"]) for each in facts["banks"]),
        *((f"short-{name}", items) for name, items in short["banks"].items()),
    ]:
        banks[name] = store.bank(name)
        ids = banks[name].retain([{k: f[k] for k in ("text", "context") if f.get(k)} for f in items])
        keys[name] = _named(ids, [each["id"] for each in items])
    for question in [*facts["questions"], *facts["unanswerable"]]:
        asked[f"facts-{question['bank']}"].append(question)
    for question in short["cases"]:
        asked[f"short-{question['bank']}"].append(question)
    draw = random.Random(7)
    for name, questions in asked.items():
        others = [each for each in banks if each != name]
        for question in questions:
            gold, either = set(question["gold"]), set(question.get("acceptable", ()))
            asker.ask(banks[name], question["query"], keys[name], gold, either, fold=name)
            if gold:
                for other in draw.sample(others, 2):
                    asker.ask(banks[other], question["query"], {}, fold=other, weight=ELSEWHERE_WEIGHT)
        for greeting in GREETINGS:
            asker.ask(banks[name], greeting, {}, fold=name, weight=ELSEWHERE_WEIGHT)


def _chats(asker: Asker, store: Store, data: Path, clock: Clock) -> None:
    for chat in json.loads((data / "everyday" / "chats.json").read_text())["conversations"]:
        bank, keys = store.bank(f"chat-{chat['id']}"), defaultdict[str, set[str]](set)
        for session in chat["sessions"]:
            clock.now = datetime.fromisoformat(session["turns"][-1]["event_time"])
            turns = [
                {k: turn[k] for k in ("speaker", "role", "text", "event_time")} for turn in session["turns"]
            ]
            ids = bank.retain_conversation(turns, session=session["session"])
            for id_, turn in zip(ids, session["turns"], strict=True):
                keys[id_].add(turn["id"])
        clock.now = datetime.fromisoformat(chat["asked_at"])
        for question in chat["queries"]:
            gold, either = set(question["gold"]), set(question["acceptable"])
            asker.ask(bank, question["query"], keys, gold, either, fold=f"chat-{chat['id']}")
    clock.now = NOW


def _musique(asker: Asker, store: Store, data: Path) -> None:
    [(corpus, questions)] = load_musique(data / "musique").corpora
    bank, keys = store.bank("musique"), dict[str, set[str]]()
    for part in retain_corpus(bank, corpus, 2):
        keys |= {id_: {key} for id_, key in part.items()}
    for question in questions:
        asker.ask(bank, question.text, keys, set(question.gold), fold=_fifth(question.text))
    for texts in off_topic_questions().values():
        for text in texts:
            asker.ask(bank, text, {}, fold=_fifth(text))


def _fifth(text: str) -> str:
    return f"musique-{hashlib.blake2b(text.encode(), digest_size=1).digest()[0] % 5}"


def _named(ids: Sequence[str], names: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for id_, name in zip(ids, names, strict=True):
        found[id_].add(name)
    return found


@dataclass(frozen=True)
class Samples:
    """Rows to fit: signals by name, labels, weights and folds, all of one length."""

    signals: Mapping[str, NDArray[np.float64]]
    labels: NDArray[np.float64]
    weights: NDArray[np.float64]
    folds: NDArray[np.str_]

    def only(self, mask: NDArray[np.bool_]) -> Samples:
        signals = {name: values[mask] for name, values in self.signals.items()}
        return Samples(signals, self.labels[mask], self.weights[mask], self.folds[mask])


def anything_samples(judged: Sequence[Judged]) -> Samples:
    """One row a question."""
    signals = {
        name: np.concatenate([j.signals.anything[name] for j in judged])
        for name in judged[0].signals.anything
    }
    labels = np.array([each.answerable for each in judged], np.float64)
    weights = np.array([each.weight for each in judged])
    return Samples(signals, labels, weights, np.array([each.fold for each in judged]))


def hit_samples(judged: Sequence[Judged]) -> Samples:
    """One row a hit of an answerable question, without hits that may be given or not."""
    some = [each for each in judged if each.answerable]
    kept = np.concatenate([~(each.either & ~each.right) for each in some])
    signals = {
        name: np.concatenate([j.signals.hits[name] for j in some])[kept] for name in some[0].signals.hits
    }
    labels = np.concatenate([each.right for each in some])[kept].astype(np.float64)
    folds = np.concatenate([[each.fold] * len(each.right) for each in some])[kept]
    return Samples(signals, labels, np.ones(len(labels)), folds)


def fit(samples: Samples, ridge: float) -> ChanceModel:
    """A logistic regression by Newton's method; the ridge holds every slope but the intercept."""
    names = tuple(samples.signals)
    rows = np.stack([samples.signals[name] for name in names], axis=1)
    share = samples.weights / samples.weights.sum()
    mean = share @ rows
    scale = np.sqrt(share @ (rows - mean) ** 2) + 1e-9
    z = np.clip((rows - mean) / scale, -LIMIT, LIMIT)
    first, second = np.triu_indices(len(names))
    products = z[:, first] * z[:, second]
    centre = share @ products
    spread = np.sqrt(share @ (products - centre) ** 2) + 1e-9
    design = np.hstack([z, (products - centre) / spread, np.ones((len(z), 1))])
    slopes = np.zeros(design.shape[1])
    holds = np.diag([*[ridge] * (design.shape[1] - 1), 1e-6])
    for _ in range(60):
        odds = np.clip(design @ slopes, -30.0, 30.0)
        chances = 1.0 / (1.0 + np.exp(-odds))
        gradient = design.T @ (samples.weights * (samples.labels - chances)) - holds @ slopes
        curvature = (
            design.T * (samples.weights * np.maximum(chances * (1 - chances), 1e-6))
        ) @ design + holds
        step = np.linalg.solve(curvature, gradient)
        slopes += np.clip(step, -3.0, 3.0)
        if np.abs(step).max() < 1e-8:
            break
    count = len(names)
    matrix = np.zeros((count, count))
    matrix[first, second] = slopes[count:-1] / spread
    intercept = slopes[-1] - float(np.sum(slopes[count:-1] * centre / spread))
    return ChanceModel(names, mean, scale, slopes[:count], matrix, intercept)


def out_of_fold(samples: Samples, ridge: float) -> NDArray[np.float64]:
    """Chances of each row by a model that did not see its fold."""
    chances = np.zeros(len(samples.labels))
    for fold in np.unique(samples.folds):
        mine = samples.folds == fold
        chances[mine] = fit(samples.only(~mine), ridge).chances(samples.only(mine).signals)
    return chances


def calibration_error(chances: NDArray[np.float64], labels: NDArray[np.float64], bins: int = 10) -> float:
    """Mean distance of chance and share of right ones, over bins of equal mass."""
    order = np.argsort(chances, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return float(sum(len(p) * abs(chances[p].mean() - labels[p].mean()) for p in parts) / len(order))


def checks(judged: Sequence[Judged]) -> Iterator[str]:
    """Lines of a report, out of fold."""
    for name, samples in (("anything", anything_samples(judged)), ("hit", hit_samples(judged))):
        chances = out_of_fold(samples, RIDGE[name])
        for part in ("facts", "short", "chat", "musique", ""):
            mine = np.char.startswith(samples.folds, part) & (samples.weights == 1.0)
            error = calibration_error(chances[mine], samples.labels[mine])
            yield f"{name:9} {part or 'all':8} n {int(mine.sum()):6}  calibration error {error:.3f}  AUC {_auc(chances[mine], samples.labels[mine]):.3f}"


def _auc(chances: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    order = np.argsort(chances, kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    for value in np.unique(chances):
        same = chances == value
        ranks[same] = ranks[same].mean()
    right = labels == 1
    count = int(right.sum())
    return float((ranks[right].sum() - count * (count + 1) / 2) / max(1, count * (len(labels) - count)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--check", action="store_true", help="print calibration out of fold; write nothing")
    options = parser.parse_args()
    models: dict[str, Any] = {}
    fitted_on: dict[str, Any] = {}
    for name, embedder in (("all-MiniLM-L6-v2", "auto"), (WORDS, None)):
        judged = collect(options.data, embedder)
        folds = sorted({each.fold for each in judged})
        fitted_on[name] = {"questions": len(judged), "banks": folds}
        if options.check:
            print(name)
            print("\n".join(f"  {line}" for line in checks(judged)))
            continue
        models[name] = {
            "anything": fit(anything_samples(judged), RIDGE["anything"]).to_dict(),
            "hit": fit(hit_samples(judged), RIDGE["hit"]).to_dict(),
        }
    if models:
        TARGET.write_text(
            json.dumps({"fitted_on": fitted_on, "models": models}, separators=(",", ":")) + "\n"
        )
        print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
