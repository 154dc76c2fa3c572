"""Retains a dataset's corpora and asks its questions, on fresh banks or on banks that are kept.

Anything with the same few methods can be asked, so other engines are compared on equal terms. A hit that
stands for no item (something the engine wrote by itself) keeps its place in the ranking and counts as not
found.

Kept banks: ``FOLDER/<data set>-<digest>/`` holds a store and ``keys.json``, which maps memories to the
dataset's keys. The digest is of what was retained: texts, dates, sessions, order, window, embedder and
version. ``keys.json`` is written last: banks without it are of a run that was cut off, and refused. After a
change to how memories are retained, delete the folder.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, Protocol

from simonides.errors import InputError
from simonides.evaluation.results import QuestionResult
from simonides.files import SHARED, disk_errors, write_file
from simonides.records.source import LONGEST_NEIGHBOUR
from simonides.retain.conversations import WINDOW, context_of
from simonides.retain.importing.sources import given
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
    from simonides.protocols import Embedder, SparseEncoder

    Progress = Callable[[str, int, int], None]


DEPTH = 20
BATCH_ITEMS = 256
NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)
"""When corpora are retained and asked that say nothing of it."""


class AskedHit(Protocol):
    """One hit of an answer."""

    @property
    def id(self) -> str: ...

    @property
    def score(self) -> float: ...


class Answer(Protocol):
    """Hits, best first."""

    @property
    def no_match(self) -> bool: ...

    def __iter__(self) -> Iterator[AskedHit]: ...


class AskedBank(Protocol):
    """The part of a bank that a measurement needs."""

    def retain(self, items: list[dict[str, Any]], /, *, deduplicate: bool) -> list[str]: ...

    def recall(
        self, query: str, /, *, limit: int, max_tokens: None, profile: str, precision: str
    ) -> Answer: ...


class AskedStore(Protocol):
    """The part of a store that a measurement needs."""

    def bank(self, name: str, /) -> AskedBank: ...


def ask_all(
    dataset: Dataset,
    store: AskedStore,
    *,
    profile: str,
    window: int = 0,
    cpu: Callable[[], float] | None = None,
    progress: Progress | None = None,
) -> tuple[QuestionResult, ...]:
    """Retain each corpus in a bank of its own, then ask its questions; one result each, ranked to depth 20.

    Items are not deduplicated and answers are not cut to a token budget: only the ranking is measured.

    Args:
        store: a store without banks of the corpora's names.
        profile: name or path of the profile to recall with.
        window: how many turns before and after a turn of a conversation are its context, from 0.
        cpu: seconds of CPU of this process, to measure each recall with; ``None`` = not measured.
        progress: called after each batch and each question.
    """
    report = progress or _silent
    items = sum(len(corpus.items) for corpus, _ in dataset.corpora)
    questions = len(dataset.questions)
    retained = 0
    results: list[QuestionResult] = []
    for corpus, asked in dataset.corpora:
        bank = store.bank(corpus.name)
        keys: dict[str, str] = {}
        for part in retain_corpus(bank, corpus, window):
            keys |= part
            retained += len(part)
            report("retain", retained, items)
        for result in ask_corpus(bank, asked, keys, profile=profile, cpu=cpu):
            results.append(result)
            report("recall", len(results), questions)
    return tuple(results)


def retain_corpus(bank: AskedBank, corpus: Corpus, window: int) -> Iterator[dict[str, str]]:
    """Retain a corpus batch by batch; each batch's ids with the keys of their items."""
    contexts = contexts_of(corpus, window)
    for start in range(0, len(corpus.items), BATCH_ITEMS):
        batch = corpus.items[start : start + BATCH_ITEMS]
        around = contexts[start : start + BATCH_ITEMS]
        ids = bank.retain([*map(as_mapping, batch, around)], deduplicate=False)
        yield dict(zip(ids, (item.key for item in batch), strict=True))


@dataclass
class SteadyClock:
    """A clock that stands where *now* is put, and goes on by a millisecond with each look."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        """The next moment."""
        self.now += timedelta(milliseconds=1)
        return self.now


def retain_as_lived(bank: Bank, corpus: Corpus, clock: SteadyClock) -> Iterator[dict[str, str]]:
    """Retain a corpus as its user would, and put *clock*, the bank's own, where its questions are asked.

    A corpus that says when it is asked is a chat: retained session by session, each when it ends, turns with
    their speakers. Any other is retained at ``NOW``. Yields, part by part, the key of each memory by its id.
    """
    clock.now = NOW
    if corpus.asked_at is None:
        yield from retain_corpus(bank, corpus, WINDOW)
        return
    for session, group in groupby(corpus.items, key=lambda item: item.session):
        items = list(group)
        clock.now = items[-1].event_time or NOW
        turns = [
            {"speaker": i.speaker, "role": i.speaker, "text": i.text, "event_time": i.event_time}
            for i in items
        ]
        ids = bank.retain_conversation(turns, session=session, deduplicate=False)
        yield dict(zip(ids, (item.key for item in items), strict=True))
    clock.now = corpus.asked_at


def ask_corpus(
    bank: AskedBank,
    questions: Iterable[Question],
    keys: Mapping[str, str],
    *,
    profile: str,
    depth: int = DEPTH,
    cpu: Callable[[], float] | None = None,
) -> Iterator[QuestionResult]:
    """Ask *questions* in turn; *keys* says the item's key of each memory's id."""
    for question in questions:
        start = cpu() if cpu else 0.0
        # The whole ranking is judged, not what of it is likely.
        answer = bank.recall(question.text, limit=depth, max_tokens=None, profile=profile, precision="wide")
        spent = (cpu() - start) * 1000 if cpu else None
        yield replace(_result(question, answer, keys), cpu_ms=spent)


def contexts_of(corpus: Corpus, window: int) -> list[str]:
    """Per item its own context, or the turns around it, as ``retain_conversation`` makes a turn's context."""
    contexts: list[str] = []
    for session, group in groupby(corpus.items, key=lambda item: item.session):
        items = tuple(group)
        lines = [item.text[:LONGEST_NEIGHBOUR] for item in items]
        around = window if session else 0
        contexts += [
            item.context or context_of(lines, place, before=around, after=around)
            for place, item in enumerate(items)
        ]
    return contexts


def as_mapping(item: Item, context: str) -> dict[str, Any]:
    """What ``retain`` takes for an item."""
    return given(
        text=item.text,
        event_time=item.event_time,
        session=item.session,
        speaker=item.speaker,
        context=context,
    )


def _result(question: Question, answer: Answer, keys: Mapping[str, str]) -> QuestionResult:
    hits = list(answer)
    # Items that share a key count once, at their best rank.
    ranked = tuple(dict.fromkeys(keys.get(hit.id, hit.id) for hit in hits))
    return QuestionResult(
        qid=question.qid,
        category=question.category,
        answerable=question.answerable,
        gold=question.gold,
        ranked=ranked,
        top_score=hits[0].score if hits else None,
        no_match=answer.no_match,
    )


def _silent(phase: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


_KEYS = "keys.json"
_STORE = "store"


@dataclass(frozen=True, slots=True)
class KeptBanks:
    """Retained corpora, ready to be asked.

    Attributes:
        keys: per corpus, the dataset's key of each memory's id.
        embedder_name: ``None`` = there was none.
        sparse_name: ``None`` = there was none.
    """

    folder: Path
    dataset: Dataset
    keys: Mapping[str, Mapping[str, str]]
    embedder: Embedder | Literal["auto"] | None
    embedder_name: str | None
    sparse: str | SparseEncoder | None = None
    sparse_name: str | None = None

    def ask(
        self,
        profile: str,
        *,
        dataset: Dataset | None = None,
        depth: int = DEPTH,
        cpu: Callable[[], float] | None = None,
        progress: Progress | None = None,
    ) -> tuple[QuestionResult, ...]:
        """Ask every question of *dataset*, which has the same corpora, by default those retained with them.

        *depth* is hits per question, from 1; *cpu* seconds of CPU of this process, to measure each recall.
        """
        asked = dataset or self.dataset
        total = len(asked.questions)
        results: list[QuestionResult] = []
        with open_store(self.folder, embedder=self.embedder, sparse=self.sparse, zone=UTC) as store:
            for corpus, questions in asked.corpora:
                for result in ask_corpus(
                    store.bank(corpus.name),
                    questions,
                    self.keys[corpus.name],
                    profile=profile,
                    depth=depth,
                    cpu=cpu,
                ):
                    results.append(result)
                    if progress:
                        progress("recall", len(results), total)
        return tuple(results)


def keep_banks(
    dataset: Dataset,
    folder: Path,
    *,
    window: int,
    embedder: Embedder | Literal["auto"] | None = "auto",
    sparse: str | SparseEncoder | None = None,
    progress: Progress | None = None,
) -> KeptBanks:
    """The banks of *dataset* in *folder*, retained without deduplication unless they are there.

    *window* is how many turns before and after a turn of a conversation are its context, from 0.
    ``InputError``: the banks are incomplete, or were made with another embedder than is there now.
    """
    label = embedder if isinstance(embedder, str) else embedder.name if embedder else "none"
    if sparse is not None:
        label += f"+{sparse if isinstance(sparse, str) else sparse.name}"
    place = folder / f"{dataset.name}-{digest(dataset, window, label)}"
    file = place / _KEYS
    if not file.exists() and place.exists() and any(place.iterdir()):
        raise InputError(
            "keep_banks", f"{place} holds banks of a run that was cut off; delete that folder and try again"
        )
    with disk_errors(place, "made"):
        place.mkdir(parents=True, exist_ok=True)
    with open_store(place / _STORE, embedder=embedder, sparse=sparse, zone=UTC) as store:
        name = store.embedder.name if store.embedder else None
        sparse_name = store.sparse.name if store.sparse else None
        if file.exists():
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept["embedder"] != name:
                raise InputError(
                    "keep_banks",
                    f"{place} was made with the embedder {kept['embedder']}, now it is {name}; "
                    "delete that folder, or measure with the same embedder",
                )
            return KeptBanks(place / _STORE, dataset, kept["keys"], embedder, name, sparse, sparse_name)
        total, done = sum(len(corpus.items) for corpus, _ in dataset.corpora), 0
        keys: dict[str, dict[str, str]] = {}
        for corpus, _ in dataset.corpora:
            mine: dict[str, str] = {}
            for part in retain_corpus(store.bank(corpus.name), corpus, window):
                mine |= part
                done += len(part)
                if progress:
                    progress("retain", done, total)
            keys[corpus.name] = mine
    write_file(file, json.dumps({"embedder": name, "keys": keys}), mode=SHARED)
    return KeptBanks(place / _STORE, dataset, keys, embedder, name, sparse, sparse_name)


def digest(dataset: Dataset, window: int, embedder: str) -> str:
    """12 hex digits of all that is retained and how."""
    said = hashlib.sha256(json.dumps([version("simonides"), window, embedder]).encode())
    for corpus, _ in dataset.corpora:
        said.update(json.dumps(["corpus", corpus.name]).encode())
        for item, context in zip(corpus.items, contexts_of(corpus, window), strict=True):
            moment = item.event_time.isoformat() if item.event_time else None
            said.update(json.dumps([item.key, item.text, moment, item.session, context]).encode())
    return said.hexdigest()[:12]
