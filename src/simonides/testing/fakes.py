"""A bank in memory, for tests of stages: what a stage sees through its view, exact and without files.

    view = FakeView.of([fake_memory("the fuse is blown"), fake_memory("the lamp is lit")])
    ranking = MyChannel(depth=10).search(view, fake_query("fuse", terms=(("fuse", 1),)), fake_tools())

Everything is computed row by row from the definition in ``protocols``, in plain Python: slow, and a twin to
compare a fast implementation with.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.protocols import Tools
from simonides.records.interval import BEGINNING, FOREVER
from simonides.records.kind import Kind, Layer
from simonides.records.memory import Memory
from simonides.records.query import Query
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Analyser, Embedder, TokenCounter


@dataclass(frozen=True, slots=True)
class WordAnalyser:
    """Terms are the case-folded runs of word characters. Satisfies ``protocols.Analyser``.

    Attributes:
        stop_words: dropped from queries unless nothing else remains.
    """

    stop_words: frozenset[str] = frozenset()

    @property
    def fingerprint(self) -> str:
        return f"words-{','.join(sorted(self.stop_words))}"

    def terms(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.casefold())

    def query_terms(self, text: str) -> list[str]:
        terms = self.terms(text)
        return [term for term in terms if term not in self.stop_words] or terms


@dataclass(frozen=True, slots=True)
class WordCounter:
    """A token is a run of characters that are not blank. Satisfies ``protocols.TokenCounter``."""

    name: str = "words"

    def count(self, text: str) -> int:
        return len(text.split())


@dataclass(frozen=True, slots=True)
class FakeVectors:
    """Cosines in float64, every row scored. Satisfies ``protocols.Vectors``.

    Attributes:
        rows: per ordinal a vector of any length but zero, or ``None``.
        dimension: of the vectors; 0 = there are none.
    """

    rows: Sequence[Sequence[float] | None]
    dimension: int

    def nearest(
        self,
        query: NDArray[np.float32],
        eligible: NDArray[np.bool_],
        *,
        depth: int,  # noqa: ARG002 - every row is wanted
        rescore: int,  # noqa: ARG002 - every row is scored
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Every eligible row that has a vector."""
        found = [
            (ordinal, _cosine(query.tolist(), row))
            for ordinal, row in enumerate(self.rows)
            if row is not None and eligible[ordinal]
        ]
        return _arrays(found)


@dataclass(frozen=True, slots=True)
class FakePostings:
    """BM25 row by row; statistics from visible rows that have the field. Satisfies ``protocols.Postings``.

    Attributes:
        fields: per ordinal and field name, the terms there.
    """

    fields: Sequence[Mapping[str, Sequence[str]]]

    def bm25(
        self,
        terms: Sequence[tuple[str, int]],
        visible: NDArray[np.bool_],
        eligible: NDArray[np.bool_],
        *,
        field_weights: Mapping[str, float],
        k1: float,
        b: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Every eligible row that holds a term in a field of weight above 0."""
        scores: dict[int, list[float]] = {}
        for name, weight in field_weights.items():
            if weight <= 0.0:
                continue
            counted = [row.get(name, ()) for ordinal, row in enumerate(self.fields) if visible[ordinal]]
            counted = [held for held in counted if held]
            average = sum(map(len, counted)) / max(1, len(counted))
            for term, repeats in terms:
                df = sum(term in held for held in counted)
                idf = math.log(1 + (len(counted) - df + 0.5) / (df + 0.5))
                for ordinal, row in enumerate(self.fields):
                    held = row.get(name, ())
                    tf = held.count(term)
                    if tf and eligible[ordinal]:
                        norm = k1 * (1 - b + b * len(held) / average)
                        part = weight * repeats * idf * tf * (k1 + 1) / (tf + norm)
                        scores.setdefault(ordinal, []).append(part)
        return _arrays([(ordinal, math.fsum(parts)) for ordinal, parts in sorted(scores.items())])


@dataclass(frozen=True, slots=True)
class FakeSnapshot:
    """Satisfies ``protocols.Snapshot``."""

    vectors: FakeVectors
    postings: FakePostings
    rows: int
    sequence: int = 1


@dataclass(frozen=True, slots=True)
class FakeView:
    """Satisfies ``protocols.View``.

    Attributes:
        stored: the memories, by ordinal.
        fetched: ordinals that were asked for, in order, for tests of how much a stage reads.
    """

    snapshot: FakeSnapshot
    visible: NDArray[np.bool_]
    eligible: NDArray[np.bool_]
    stored: Sequence[Memory]
    fetched: list[int] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        memories: Sequence[Memory],
        *,
        vectors: Sequence[Sequence[float] | None] = (),
        visible: Sequence[bool] | None = None,
        eligible: Sequence[bool] | None = None,
        analyser: Analyser | None = None,
    ) -> FakeView:
        """A view of *memories*, whose ordinals become their positions.

        Args:
            memories: what the bank holds.
            vectors: per memory a vector or ``None``; empty = a bank without vectors.
            visible: per memory; all when left out.
            eligible: per memory; the visible ones when left out, and never more than those.
            analyser: makes terms of text, context and relation; words when left out.
        """
        words = analyser or WordAnalyser()
        stored = [replace(memory, ordinal=ordinal) for ordinal, memory in enumerate(memories)]
        seen = np.array(visible if visible is not None else [True] * len(stored), np.bool_)
        wanted = np.array(eligible if eligible is not None else seen, np.bool_)
        dimension = next((len(vector) for vector in vectors if vector is not None), 0)
        fields = [
            {name: words.terms(getattr(memory, name)) for name in ("text", "context", "relation")}
            for memory in stored
        ]
        rows = list(vectors) or [None] * len(stored)
        snapshot = FakeSnapshot(FakeVectors(rows, dimension), FakePostings(fields), len(stored))
        return cls(snapshot, seen, seen & wanted, stored)

    def ranking(
        self, ordinals: NDArray[np.int64], scores: NDArray[np.float64], depth: int | None, reason: str = ""
    ) -> Ranking:
        """Score falling, then path, then id."""

        def place(pair: tuple[int, float]) -> tuple[float, str, str]:
            memory = self.stored[pair[0]]
            return -pair[1], memory.path, memory.id

        ordered = sorted(zip(ordinals.tolist(), scores.tolist(), strict=True), key=place)[:depth]
        return Ranking(
            np.array([ordinal for ordinal, _ in ordered], np.int64),
            np.array([score for _, score in ordered], np.float64),
            reason,
        )

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        """The records, in the order asked for; ``PermissionError`` for one that is not visible."""
        self.fetched.extend(ordinals)
        for ordinal in ordinals:
            if not self.visible[ordinal]:
                raise PermissionError(f"row {ordinal} is not visible in this view; a stage invented it")
        return [self.stored[ordinal] for ordinal in ordinals]


def fake_memory(text: str, **changes: Any) -> Memory:
    """A memory of *text*; its id is the text unless *changes* gives one, any other field likewise."""
    plain = Memory(
        id=text,
        text=text,
        kind=Kind.SEMANTIC,
        layer=Layer.WORKING,
        version=1,
        ordinal=0,
        valid_from_micros=BEGINNING,
        valid_to_micros=FOREVER,
        ingested_at_micros=0,
        expired_at_micros=FOREVER,
    )
    return replace(plain, **changes)


def fake_query(text: str, **changes: Any) -> Query:
    """A query without bounds, seen from 1970; *changes* sets any field."""
    return replace(Query(text=text, as_of=0, limit=None, max_tokens=None, seed=0), **changes)


def fake_tools(
    *,
    analyser: Analyser | None = None,
    embedder: Embedder | None = None,
    tokens: TokenCounter | None = None,
    seed: int = 0,
) -> Tools:
    """Tools that need no model: words as terms and as tokens, no embedder unless one is given."""
    return Tools(analyser or WordAnalyser(), embedder, tokens or WordCounter(), random.Random(seed))  # noqa: S311


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    dot = math.fsum(x * y for x, y in zip(one, other, strict=True))
    return dot / math.hypot(*one) / math.hypot(*other)


def _arrays(found: Sequence[tuple[int, float]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    ordinals = np.array([ordinal for ordinal, _ in found], np.int64)
    return ordinals, np.array([round(score, 9) for _, score in found], np.float64)
