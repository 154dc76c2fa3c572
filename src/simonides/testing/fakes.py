"""A bank in memory, for tests of stages: what a stage sees through its view, exact and without files.

    view = FakeView.of([fake_memory("the fuse is blown"), fake_memory("the lamp is lit")])
    ranking = MyChannel(depth=10).search(view, fake_query("fuse", terms=(("fuse", 1),)), fake_tools())

Everything is computed row by row from the definition in ``protocols``, in plain Python: slow, and a twin to
compare a fast implementation with.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simonides.index.columns import meets
from simonides.protocols import Tools
from simonides.records.candidate import Ranking
from simonides.records.edges import LINK_CODES, Edges
from simonides.records.interval import BEGINNING, FOREVER, from_micros
from simonides.records.kind import KIND_CODES, LAYER_CODES, Kind, Layer
from simonides.records.memory import Memory
from simonides.records.query import Query
from simonides.records.source import Source
from simonides.text.speech import asks, count_words, label_of, session_key, speaker_key, utterance

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Analyser, Embedder, TokenCounter
    from simonides.records.interval import Interval
    from simonides.records.letters import Letters
    from simonides.records.sparse import SparseTerms

Value = TypeVar("Value")


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

    def is_filler(self, text: str) -> bool:
        terms = self.terms(text)
        return bool(terms) and self.stop_words.issuperset(terms)


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
        terms: Sequence[tuple[str, float]],
        visible: NDArray[np.bool_],
        eligible: NDArray[np.bool_],
        *,
        field_weights: Mapping[str, float],
        k1: float,
        b: float,
        depth: int | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Every eligible row that holds a term in a field of weight above 0, or those of the *depth* best."""
        scores: dict[int, list[float]] = {}
        for name, weight in field_weights.items():
            if weight <= 0.0:
                continue
            counted = [row.get(name, ()) for ordinal, row in enumerate(self.fields) if visible[ordinal]]
            counted = [held for held in counted if held]
            average = sum(map(len, counted)) / max(1, len(counted))
            for term, repeats in terms:
                df = sum(_frequency(term, held) > 0 for held in counted)
                idf = math.log(1 + (len(counted) - df + 0.5) / (df + 0.5))
                for ordinal, row in enumerate(self.fields):
                    held = row.get(name, ())
                    tf = _frequency(term, held)
                    if tf and eligible[ordinal]:
                        norm = k1 * (1 - b + b * len(held) / average)
                        part = weight * repeats * idf * tf * (k1 + 1) / (tf + norm)
                        scores.setdefault(ordinal, []).append(part)
        ordinals, found = _arrays([(ordinal, math.fsum(parts)) for ordinal, parts in sorted(scores.items())])
        best = found >= (np.sort(found)[-depth] if depth and depth < len(found) else -math.inf)
        return ordinals[best], found[best]

    def held(
        self,
        terms: Sequence[str],
        visible: NDArray[np.bool_],
        ordinals: NDArray[np.int64],
        *,
        fields: Collection[str],
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """How many visible rows hold each term in any of *fields*, and which of the rows at *ordinals* do."""
        holding = [
            {ordinal for ordinal, row in enumerate(self.fields) if _in_fields(term, row, fields)}
            for term in terms
        ]
        frequencies = [sum(bool(visible[ordinal]) for ordinal in rows) for rows in holding]
        held = [[ordinal in rows for ordinal in ordinals.tolist()] for rows in holding]
        return np.array(frequencies, np.int64), np.array(held, np.bool_).reshape(len(terms), len(ordinals))

    def seen(
        self, terms: Sequence[str], visible: NDArray[np.bool_], *, fields: Collection[str]
    ) -> NDArray[np.bool_]:
        """Which of *terms* any visible row holds in any of *fields*."""
        return self.held(terms, visible, np.empty(0, np.int64), fields=fields)[0] > 0

    def with_letters(
        self, wanted: Letters, visible: NDArray[np.bool_], *, fields: Collection[str]
    ) -> list[str]:
        """The terms that *wanted* admits and any visible row holds in any of *fields*."""
        terms = sorted({t for row in self.fields for name in fields for t in row.get(name, ())})
        seen = self.seen(terms, visible, fields=fields).tolist()
        return [t for t, there in zip(terms, seen, strict=True) if there and wanted.admits(t.encode())]

    def terms_like(self, words: Sequence[str], fields: Collection[str]) -> set[str]:  # noqa: ARG002 - all may be
        """Every term in *fields*."""
        return {term for row in self.fields for name in fields for term in row.get(name, ())}


@dataclass(frozen=True, slots=True)
class FakeSparse:
    """Inner products in float64, every row scored. Satisfies ``protocols.Sparse``.

    Attributes:
        terms: per ordinal, weights by vocabulary id; empty = the row has none.
    """

    terms: Sequence[Mapping[int, float]] = ()

    def has_any(self, rows: NDArray[np.bool_]) -> bool:
        """Whether any of *rows* has terms."""
        return any(bool(held) and bool(rows[ordinal]) for ordinal, held in enumerate(self.terms))

    def scores(
        self, query: SparseTerms, eligible: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Every eligible row that shares an id with the query."""
        asked = list(zip(query.ids.tolist(), query.weights.tolist(), strict=True))
        found = []
        for ordinal, held in enumerate(self.terms):
            parts = [weight * held[term] for term, weight in asked if term in held]
            if parts and eligible[ordinal]:
                found.append((ordinal, math.fsum(parts)))
        return _arrays(found)


@dataclass(frozen=True, slots=True)
class FakeKept:
    """Satisfies ``protocols.Kept``; keeps nothing."""

    def get(self, maker: str, key: Hashable, make: Callable[[], Value]) -> Value:  # noqa: ARG002 - the protocol's shape
        """What *make* gives."""
        return make()


@dataclass(frozen=True, slots=True)
class FakeSnapshot:
    """Satisfies ``protocols.Snapshot``."""

    vectors: FakeVectors
    postings: FakePostings
    rows: int
    sequence: int = 1
    sparse: FakeSparse = FakeSparse()
    kept: FakeKept = FakeKept()


@dataclass(frozen=True, slots=True)
class FakeView:
    """Satisfies ``protocols.View``.

    Attributes:
        stored: the memories, by ordinal.
        mentioned: per ordinal, the entities that the memory mentions.
        names: of entities, each with its entity's number.
        linked: (ordinal, other ordinal, kind, weight), each link once.
        raw: per ordinal, its source; what ``fake_source`` makes of the memory for all when empty.
        tokens: by ordinal, codes of the memory's tokens.
        fetched: ordinals that were asked for, in order, for tests of how much a stage reads.
    """

    snapshot: FakeSnapshot
    visible: NDArray[np.bool_]
    eligible: NDArray[np.bool_]
    stored: Sequence[Memory]
    as_of: int = 0
    mentioned: Sequence[Collection[int]] = ()
    names: Mapping[str, int] = field(default_factory=dict)
    linked: Sequence[tuple[int, int, str, float]] = ()
    raw: Sequence[Source] = ()
    tokens: Mapping[int, bytes] = field(default_factory=dict)
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
        as_of: int = 0,
        entities: Sequence[Collection[str]] = (),
        links: Sequence[tuple[int, int, str, float]] = (),
        sources: Sequence[Source] = (),
        sparse: Sequence[Mapping[int, float]] = (),
    ) -> FakeView:
        """A view of *memories*, whose ordinals become their positions.

        Args:
            memories: what the bank holds.
            vectors: per memory a vector or ``None``; empty = a bank without vectors.
            visible: per memory; all when left out.
            eligible: per memory; the visible ones when left out, and never more than those.
            analyser: makes terms of text, context and relation; words when left out.
            as_of: the viewpoint, microseconds UTC.
            entities: per memory, names of what it mentions; entities are numbered from 1, names sorted.
            links: (ordinal, other ordinal, kind, weight), each once; the view shows them both ways.
            sources: per memory; its own text when left out.
            sparse: per memory, weights by vocabulary id; empty = a bank without sparse terms.
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
        snapshot = FakeSnapshot(
            FakeVectors(rows, dimension), FakePostings(fields), len(stored), sparse=FakeSparse(sparse)
        )
        names = {name: n for n, name in enumerate(sorted({e for named in entities for e in named}), 1)}
        return cls(
            snapshot,
            seen,
            seen & wanted,
            stored,
            as_of=as_of,
            mentioned=[{names[name] for name in named} for named in entities],
            names=names,
            linked=links,
            raw=sources,
        )

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

    def column(self, name: str, ordinals: NDArray[np.int64]) -> NDArray[Any]:
        """Values of an index column, but for the codes of labels; every memory is its own first version."""
        values = [_column(self.stored[ordinal], name) for ordinal in ordinals.tolist()]
        # NumPy would take keys above and below 2⁶³ together for float64.
        return np.array(values, "u8" if name == "speaker" else None)

    def vectors(self, ordinals: NDArray[np.int64]) -> NDArray[np.float32]:
        """Unit vectors; all zero where a row has none."""
        found = np.zeros((len(ordinals), self.snapshot.vectors.dimension), np.float32)
        for place, ordinal in enumerate(ordinals.tolist()):
            row = self.snapshot.vectors.rows[ordinal]
            if row is not None:
                found[place] = np.array(row) / math.hypot(*row)
        return found

    def cosines(self, query: NDArray[np.float32], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines with a query; 0 where a row has no vector."""
        rows = [self.snapshot.vectors.rows[ordinal] for ordinal in ordinals.tolist()]
        scores = [0.0 if row is None else _cosine(query.tolist(), row) for row in rows]
        return np.array([round(score, 9) for score in scores], np.float64)

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        """MinHash of the words of the texts: the least of 128 hashes each."""
        none = np.zeros((1, 128), np.uint32)
        found = [
            np.array([_hashes(word) for word in {*WordAnalyser().terms(memory.text)}] or none).min(axis=0)
            for memory in self.memories(ordinals)
        ]
        return np.array(found, np.uint32).reshape(len(found), 128)

    def token_codes(self, ordinals: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Codes of the tokens that ``tokens`` gives by ordinal; none for the rest."""
        self.memories(ordinals)
        each = [self.tokens.get(ordinal, b"") for ordinal in ordinals]
        width = max(1, -(-self.snapshot.vectors.dimension // 8))
        counts = np.array([len(codes) // width for codes in each], np.int64)
        return counts, np.frombuffer(b"".join(each), np.uint8).reshape(-1, width)

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        """The raw sources; ``PermissionError`` for one that is not visible."""
        memories = self.memories(ordinals)
        return [self.raw[memory.ordinal] if self.raw else fake_source(memory) for memory in memories]

    def find_entities(self, text: str) -> tuple[int, ...]:
        """Entities whose names are whole words of *text*, case aside; those that a visible row mentions."""
        known = {entity for row in np.flatnonzero(self.visible) for entity in self._mentioned(int(row))}
        found = []
        for name, entity in self.names.items():
            there = re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", text.casefold())
            if there and entity in known:
                found.append((there.start(), entity))
        return tuple(dict.fromkeys(entity for _, entity in sorted(found)))

    def mentions(self, ordinals: NDArray[np.int64]) -> Edges:
        """Row → entity."""
        rows = [row for row in ordinals.tolist() if self.visible[row]]
        return _edges((row, entity, 0, 1.0) for row in rows for entity in self._mentioned(row))

    def mentioning(self, entities: NDArray[np.int64]) -> Edges:
        """Entity → row."""
        rows = np.flatnonzero(self.visible).tolist()
        return _edges(
            (e, row, 0, 1.0) for e in entities.tolist() for row in rows if e in self._mentioned(row)
        )

    def mention_counts(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many visible rows mention each."""
        return np.array([len(self.mentioning(np.array([e], np.int64))) for e in entities.tolist()], np.int64)

    def links(self, ordinals: NDArray[np.int64]) -> Edges:
        """Row → other row, both ways."""
        ways = [*self.linked, *((other, one, kind, weight) for one, other, kind, weight in self.linked)]
        return _edges(
            (row, other, LINK_CODES[kind], weight)
            for row in ordinals.tolist()
            for one, other, kind, weight in ways
            if one == row and self.visible[one] and self.visible[other]
        )

    def edges_at_least(
        self, ordinals: NDArray[np.int64], least: NDArray[np.float64], enough: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Just so many as each row has, or 0 if they are not *enough*."""
        links = self.links(ordinals)
        first = [*self.mentions(ordinals).first, *links.first[links.weights >= least[links.kinds]]]
        counts = np.array([first.count(row) for row in ordinals.tolist()], np.int64)
        return np.where(counts >= enough, counts, 0)

    def in_time(self, time: Interval) -> NDArray[np.bool_]:
        """Eligible rows that happened in *time*."""
        rows = np.arange(len(self.stored))
        first, last = self.column("occurred_from", rows), self.column("occurred_to", rows)
        return self.eligible & meets(first, last, time)

    def narrowed(self, kinds: Collection[Kind], project: str | None) -> FakeView:
        """Fewer eligible rows; memories of no project stay."""
        kept = [
            (not kinds or memory.kind in kinds) and (project is None or memory.project in {"", project})
            for memory in self.stored
        ]
        return replace(self, eligible=self.eligible & np.array(kept, np.bool_))

    def _mentioned(self, ordinal: int) -> Collection[int]:
        return self.mentioned[ordinal] if self.mentioned else ()


def fake_source(memory: Memory) -> Source:
    """A source that is the memory's own text, recorded when the memory was."""
    return Source(
        text=memory.text,
        start=0,
        stop=len(memory.text),
        document=memory.document,
        session=memory.session,
        speaker=memory.speaker,
        author=memory.author,
        trust=memory.trust,
        recorded_at=from_micros(memory.ingested_at_micros) or datetime(1970, 1, 1, tzinfo=UTC),
    )


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


def _hashes(word: str) -> NDArray[np.uint32]:
    """128 hashes of a word, each its own; those of a linear code, such as a CRC, favour the same words."""
    return np.frombuffer(hashlib.shake_128(word.encode()).digest(4 * 128), "<u4")


def _frequency(term: str, held: Sequence[str]) -> int:
    """How often a term stands there; one that ends in ``*`` counts all with that beginning."""
    if term.endswith("*"):
        return sum(each.startswith(term[:-1]) for each in held)
    return held.count(term)


def _in_fields(term: str, row: Mapping[str, Sequence[str]], fields: Collection[str]) -> bool:
    return any(_frequency(term, row.get(name, ())) > 0 for name in fields)


def _arrays(found: Sequence[tuple[int, float]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    ordinals = np.array([ordinal for ordinal, _ in found], np.int64)
    return ordinals, np.array([round(score, 9) for _, score in found], np.float64)


def _edges(rows: Iterable[tuple[int, int, int, float]]) -> Edges:
    found = list(rows)
    return Edges(
        np.array([row[0] for row in found], np.int64),
        np.array([row[1] for row in found], np.int64),
        np.array([row[2] for row in found], np.uint8),
        np.array([row[3] for row in found], np.float32),
    ).ordered()


def _column(memory: Memory, name: str) -> float:
    """As ``index.columns`` has it: codes for kind and layer, the empty range for an undated memory."""
    accessed, occurred = memory.last_access_micros, memory.occurred
    special: Mapping[str, float] = {
        "kind": KIND_CODES[memory.kind],
        "layer": LAYER_CODES[memory.layer],
        "occurred_from": occurred.start if occurred else FOREVER,
        "occurred_to": occurred.end if occurred else BEGINNING,
        "root": memory.ordinal,
        "node": memory.ordinal,
        "last_access": BEGINNING if accessed is None else accessed,
        "words": count_words(memory.text),
        "asks": asks(memory.text),
        "utterance": utterance(
            memory.text, memory.speaker, memory.trust, filed=bool(memory.document or memory.path)
        ),
        "state": memory.state,
        "speaker": speaker_key(memory.speaker or label_of(memory.text)),
        "session": session_key(memory.session),
    }
    if name in special:
        return special[name]
    suffix = "_micros" if name in {"valid_from", "valid_to", "ingested_at", "expired_at"} else ""
    value: float = getattr(memory, name + suffix)
    return value
