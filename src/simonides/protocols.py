"""The shapes that parts of the engine have for each other; implement one to plug a part in.

Five shapes make a pipeline: understander, channel, fuser, refiner, packer. A stage is a frozen dataclass
whose fields are its options; everything it works on is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.candidate import Candidate, Ranking
    from simonides.records.edges import Edges
    from simonides.records.enrichment import Completion
    from simonides.records.extraction import Extraction
    from simonides.records.interval import Interval
    from simonides.records.kind import Kind
    from simonides.records.letters import Letters
    from simonides.records.memory import Memory
    from simonides.records.query import Query
    from simonides.records.recall import Chunk, Hit, Judgement, Omitted
    from simonides.records.source import Source
    from simonides.records.sparse import SparseTerms

Value = TypeVar("Value")


class Clock(Protocol):
    """Tells the time; returns an aware datetime."""

    def __call__(self) -> datetime: ...


class TokenCounter(Protocol):
    """Counts tokens the way a named tokenizer would."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...


@runtime_checkable
class LineCounter(Protocol):
    """What a token counter may promise beside ``TokenCounter``; then no whole is counted after its lines."""

    @property
    def counts_by_line(self) -> bool:
        r"""Whether ``count(a + "\n" + b)`` is ``count(a) + 1 + count(b)`` for all texts."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors. A text's vector must not depend on the texts beside it."""

    @property
    def name(self) -> str:
        """Name for people, such as ``all-MiniLM-L6-v2``."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors would: weights, recipe, tokenizer, token limit."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of memories, shape (len(texts), dimension).

        A row that is not finite or all zero means "no vector" for that text.
        """
        ...

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a query, shape (dimension,)."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """What an embedder may offer beside ``Embedder``: the vectors of a text's tokens, from the same pass."""

    def encode_both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Sequence[NDArray[np.float32]]]:
        """What ``encode`` gives, and per text its token vectors less a constant mean.

        Returns:
            vectors, and per text float32, shape (tokens, dimension); no rows where there is no vector.
        """
        ...

    def encode_query_both(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """What ``encode_query`` gives, and the unit vectors of the tokens, shape (tokens, dimension)."""
        ...


@runtime_checkable
class WordKnower(Protocol):
    """What an embedder may offer beside ``Embedder``: which words it knows."""

    def knows(self, word: str) -> bool:
        """Whether *word*, in lower case, is one entry of the model's vocabulary."""
        ...


class SparseEncoder(Protocol):
    """Turns texts into weighted vocabulary entries. A text's must not depend on the texts beside it."""

    @property
    def name(self) -> str:
        """Name for people, such as ``splade-tiny``."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the entries would: weights, recipe, tokenizer, token limit, entries kept."""
        ...

    def encode(self, texts: Sequence[str]) -> Sequence[SparseTerms]:
        """Entries of memories, one record per text; an empty one means "none" for that text."""
        ...

    def encode_query(self, text: str) -> SparseTerms:
        """Entries of a query."""
        ...


class Reranker(Protocol):
    """Reads query and text together and says how well the text answers; batches are its own business.

    One that reads no more than so many characters of a text may say so by an attribute ``longest_text``: of a
    longer text it is then given the passage that holds most of the query's words.
    """

    @property
    def name(self) -> str:
        """Name for people, such as ``ms-marco-MiniLM-L-6-v2``."""
        ...

    @property
    def gives(self) -> Literal["logits", "probabilities", "unknown"]:
        """The scale of its scores; unknown = the range of the answer decides."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order, higher is better. A pair's score must not depend on the others."""
        ...


class Judge(Protocol):
    """A language model that says how well texts answer a query; asked only by profiles that have a judge."""

    @property
    def name(self) -> str:
        """Name for people."""
        ...

    def judge(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One number per text, in order, from 0 (no help) to 1 (answers it); an error when there is none."""
        ...


class Learned(Protocol):
    """A small model that was trained on which memories were used after they were found (EN-08)."""

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely each row's memory is used, in [0, 1]; features float64, shape (rows, 10)."""
        ...


class Analyser(Protocol):
    """Turns a text into terms: one function for memories and queries."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the terms would."""
        ...

    def terms(self, text: str) -> list[str]:
        """Every term of a memory's text, repeats included."""
        ...

    def query_terms(self, text: str) -> list[str]:
        """The same terms, without stop-words unless nothing else remains."""
        ...

    def is_filler(self, text: str) -> bool:
        """Whether *text* has terms and all of them are stop-words."""
        ...


class Extractor(Protocol):
    """Finds names, relations, causes and dates in a text. Must be pure: same text and anchor, same result."""

    def extract(self, text: str, *, anchor: int, zone: tzinfo, known: Collection[str]) -> Extraction:
        """Read one text.

        Args:
            text: of a memory.
            anchor: when it was said, microseconds UTC; relative dates are meant from there.
            zone: of dates that state none.
            known: names (and aliases) of entities that the bank has already; they are found first.
        """
        ...


class Expander(Protocol):
    """Asks the questions that a text answers (doc2query). Must be pure: same text, same questions."""

    def expand(self, text: str, found: Extraction) -> str:
        """Questions, one a line; empty for none.

        Args:
            text: of a memory.
            found: what the extractor found in it.
        """
        ...


class Enricher(Protocol):
    """A language model that answers in JSON; asked about what is stored already, never by a recall."""

    @property
    def model(self) -> str: ...

    @property
    def priced(self) -> bool:
        """Whether calls are known to cost something, so that a cap on the cost can hold."""
        ...

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Price of so many tokens."""
        ...

    def most_cost(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> float:
        """The most that one call can cost."""
        ...

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> Completion:
        """Ask once; ``ModelUnavailableError`` when there is no answer now, ``ModelRefusedError`` for good."""
        ...


class Answerer(Protocol):
    """A language model that answers in words; asked by ``Bank.reflect`` alone."""

    @property
    def model(self) -> str: ...

    def stream(self, messages: Sequence[Mapping[str, str]], max_output_tokens: int) -> Iterator[str]:
        """The answer piece by piece; ``ModelError`` when there is none, or when it breaks off."""
        ...


class Vectors(Protocol):
    """Stored vectors by row ordinal."""

    @property
    def dimension(self) -> int: ...

    def nearest(
        self, query: NDArray[np.float32], eligible: NDArray[np.bool_], *, depth: int, rescore: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """At least the *depth* eligible rows of highest cosine, unordered, ties at the cut included.

        Args:
            query: unit vector, shape (dimension,).
            eligible: bool, shape (rows,).
            depth: how many rows are wanted.
            rescore: how many rows survive the 1-bit scan to be rescored from int8.

        Returns:
            ordinals int64 and cosines float64 rounded to 1e-9.
        """
        ...


class Postings(Protocol):
    """Stored terms by row ordinal."""

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
        """Eligible rows that hold a term, with their BM25 scores; statistics come from *visible* rows.

        A term that ends in ``*`` stands for all terms with that beginning, as one. With a *depth*, only rows
        that score as high as the one at that rank, ties included; without, every row.

        Returns:
            ordinals int64 ascending and scores float64 rounded to 1e-9.
        """
        ...

    def held(
        self,
        terms: Sequence[str],
        visible: NDArray[np.bool_],
        ordinals: NDArray[np.int64],
        *,
        fields: Collection[str],
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """How many visible rows hold each term in any of *fields*, and which of the rows at *ordinals* do.

        Returns:
            frequencies int64, shape (len(terms),), and held, bool, shape (len(terms), len(ordinals)).
        """
        ...

    def seen(
        self, terms: Sequence[str], visible: NDArray[np.bool_], *, fields: Collection[str]
    ) -> NDArray[np.bool_]:
        """Which of *terms* any visible row holds in any of *fields*; bool, shape (len(terms),)."""
        ...

    def with_letters(
        self, wanted: Letters, visible: NDArray[np.bool_], *, fields: Collection[str]
    ) -> list[str]:
        """The terms that *wanted* admits and any visible row holds in any of *fields*, ascending."""
        ...

    def terms_like(self, words: Sequence[str], fields: Collection[str]) -> set[str]:
        """Terms in *fields* that look like one of *words*, and perhaps others; of rows visible or not."""
        ...


class Sparse(Protocol):
    """Stored learned sparse terms by row ordinal."""

    def has_any(self, rows: NDArray[np.bool_]) -> bool:
        """Whether any of *rows* (bool, one per ordinal) has terms."""
        ...

    def scores(
        self, query: SparseTerms, eligible: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Every eligible row that shares an entry with *query*, with the inner product of their weights.

        Returns:
            ordinals int64 ascending and scores float64 above 0, rounded to 1e-9.
        """
        ...


class Kept(Protocol):
    """What was made of one snapshot and is of use to later recalls."""

    def get(self, maker: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """What *make* gives, or gave before for the same *key*, which names all that it depends on.

        Args:
            maker: names what the values are; those of one do not displace another's.
            key: beside the snapshot.
            make: the value.
        """
        ...


class Snapshot(Protocol):
    """The whole bank at one sequence number; immutable."""

    @property
    def sequence(self) -> int: ...

    @property
    def rows(self) -> int: ...

    @property
    def vectors(self) -> Vectors: ...

    @property
    def postings(self) -> Postings: ...

    @property
    def sparse(self) -> Sparse: ...

    @property
    def kept(self) -> Kept:
        """What stages made of this snapshot."""
        ...


class View(Protocol):
    """What one recall may see: the only access to the bank that a stage gets.

    ``visible`` (liveness, acl, viewpoint in time) feeds statistics; ``eligible`` (visible and the caller's
    filters) feeds results. Both are bool, shape (snapshot.rows,) (SPEC, general settlement 2). Everything
    below answers about visible rows only; edges and rows come in a total order.
    """

    @property
    def snapshot(self) -> Snapshot: ...

    @property
    def visible(self) -> NDArray[np.bool_]: ...

    @property
    def eligible(self) -> NDArray[np.bool_]: ...

    @property
    def as_of(self) -> int:
        """The viewpoint in the world's time, microseconds UTC."""
        ...

    def ranking(
        self, ordinals: NDArray[np.int64], scores: NDArray[np.float64], depth: int | None, reason: str = ""
    ) -> Ranking:
        """Put rows in the total order (score falling, then path, then id) and cut to *depth*."""
        ...

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        """The records behind visible *ordinals*, in that order."""
        ...

    def column(self, name: str, ordinals: NDArray[np.int64]) -> NDArray[Any]:
        """Values of an index column (see ``index.columns.COLUMNS``) at *ordinals*."""
        ...

    def vectors(self, ordinals: NDArray[np.int64]) -> NDArray[np.float32]:
        """Stored unit vectors, shape (len(ordinals), dimension); all zero where a row has none."""
        ...

    def cosines(self, query: NDArray[np.float32], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Exact cosines with a unit query, rounded to 1e-9; 0 where a row has no vector."""
        ...

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        """MinHash signatures of the texts, shape (len(ordinals), 128)."""
        ...

    def token_codes(self, ordinals: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """How many token codes each visible row has, and all of them, one after the other.

        Returns:
            counts int64, shape (len(ordinals),), and codes uint8, shape (sum of counts, bytes per token).
        """
        ...

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        """The raw sources behind visible rows, in that order."""
        ...

    def find_entities(self, text: str) -> tuple[int, ...]:
        """Entities whose names or aliases stand in *text*, in order; only those that visible rows mention."""
        ...

    def mentions(self, ordinals: NDArray[np.int64]) -> Edges:
        """Entities of visible rows: first = row, second = entity."""
        ...

    def mentioning(self, entities: NDArray[np.int64]) -> Edges:
        """Visible rows that mention entities: first = entity, second = row."""
        ...

    def mention_counts(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many visible rows mention each entity, shape (len(entities),); cheaper than ``mentioning``."""
        ...

    def links(self, ordinals: NDArray[np.int64]) -> Edges:
        """Links between visible rows, both ways: first = a row asked for, second = the other row."""
        ...

    def edges_at_least(
        self, ordinals: NDArray[np.int64], least: NDArray[np.float64], enough: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """A floor under how many edges each row has: its mentions, and its links as heavy as *least* says.

        Far cheaper than ``mentions`` and ``links``, and most often what they give.

        Args:
            ordinals: int64, shape (n,).
            least: float64, by code of ``LINK_KINDS``: the weight from which a link counts; infinite = none.
            enough: float64, shape (n,): a row that has fewer edges need not be counted at all.

        Returns:
            int64, shape (n,).
        """
        ...

    def in_time(self, time: Interval) -> NDArray[np.bool_]:
        """Eligible rows that happened in *time* (``index.occurred.meets``); bool, shape (snapshot.rows,)."""
        ...

    def narrowed(self, kinds: Collection[Kind], project: str | None) -> View:
        """The same view with fewer eligible rows: those of *kinds* (empty = all) and of *project*.

        Memories of no project stay; ``None`` = all projects. What is visible does not change.
        """
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What is handed to a stage beside the view: models, counters, the random source, the caller's zone."""

    analyser: Analyser
    embedder: Embedder | None
    tokens: TokenCounter
    random: random.Random
    reranker: Reranker | None = None
    learned: Learned | None = None
    sparse: SparseEncoder | None = None
    zone: tzinfo = UTC
    judge: Judge | None = None
    words: WordKnower | None = None


class Understander(Protocol):
    """Adds fields to the query."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query: ...


class Channel(Protocol):
    """A first-stage retriever."""

    def search(self, view: View, query: Query, tools: Tools) -> Ranking: ...


class Fuser(Protocol):
    """Joins rankings (by channel name) into one pool, best first."""

    def fuse(self, view: View, query: Query, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]: ...


@dataclass(frozen=True, slots=True)
class Refined:
    """What a refiner returns.

    Attributes:
        pool: best first.
        reason: why the refiner did less than asked; empty when it did all.
        dropped: by ordinal, why it took a memory out, as ``why_not`` will say it; may be left empty.
        no_match: why nothing in the pool answers the query; empty = it may. The pool stays (DF-04).
        evidence: the named numbers by which it judged, for the trace.
        judgement: how likely the memories answer the query; ``None`` = the refiner does not say.
        notes: by ordinal, why it moved a memory, as ``explain`` will say it; may be left empty.
    """

    pool: tuple[Candidate, ...]
    reason: str = ""
    dropped: Mapping[int, str] = field(default_factory=dict)
    no_match: tuple[str, ...] = ()
    evidence: Mapping[str, float] = field(default_factory=dict)
    judgement: Judgement | None = None
    notes: Mapping[int, str] = field(default_factory=dict)


class Refiner(Protocol):
    """Rescores, reorders, adds or removes candidates."""

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined: ...


@dataclass(frozen=True, slots=True)
class Packed:
    """What a packer returns: hits in rank order, rendered context, what did not fit, sources if asked for."""

    hits: tuple[Hit, ...]
    context: str
    omitted: tuple[Omitted, ...]
    chunks: tuple[Chunk, ...] = ()


class Packer(Protocol):
    """Chooses and renders what fits the budget."""

    def pack(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Packed: ...
