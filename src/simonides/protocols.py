"""The shapes that parts of the engine have for each other; implement one to plug a part in.

Five shapes make a pipeline: understander, channel, fuser, refiner, packer. A stage is a frozen dataclass
whose fields are its options; everything it works on is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime, tzinfo

    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.candidate import Candidate
    from simonides.records.enrichment import Completion
    from simonides.records.extraction import Extraction
    from simonides.records.memory import Memory
    from simonides.records.query import Query
    from simonides.records.ranking import Ranking
    from simonides.records.recall import Hit, Omitted


class Clock(Protocol):
    """Tells the time; returns an aware datetime."""

    def __call__(self) -> datetime: ...


class TokenCounter(Protocol):
    """Counts tokens the way a named tokenizer would."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...


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
        terms: Sequence[tuple[str, int]],
        visible: NDArray[np.bool_],
        eligible: NDArray[np.bool_],
        *,
        field_weights: Mapping[str, float],
        k1: float,
        b: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Every eligible row that holds a term, with its BM25 score; statistics come from *visible* rows.

        Returns:
            ordinals int64 ascending and scores float64 rounded to 1e-9.
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


class View(Protocol):
    """What one recall may see: the only door to the bank that a stage gets.

    ``visible`` (liveness, acl, viewpoint in time) feeds statistics; ``eligible`` (visible and the caller's
    filters) feeds results. Both are bool, shape (snapshot.rows,) (SPEC, general settlement 2).
    """

    @property
    def snapshot(self) -> Snapshot: ...

    @property
    def visible(self) -> NDArray[np.bool_]: ...

    @property
    def eligible(self) -> NDArray[np.bool_]: ...

    def ranking(
        self, ordinals: NDArray[np.int64], scores: NDArray[np.float64], depth: int | None, reason: str = ""
    ) -> Ranking:
        """Put rows in the total order (score falling, then path, then id) and cut to *depth*."""
        ...

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        """The records behind visible *ordinals*, in that order."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What is handed to a stage beside the view: models, counters and the random source."""

    analyser: Analyser
    embedder: Embedder | None
    tokens: TokenCounter
    random: random.Random


class Understander(Protocol):
    """Adds fields to the query."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query: ...


class Channel(Protocol):
    """A first-stage retriever."""

    def search(self, view: View, query: Query, tools: Tools) -> Ranking: ...


class Fuser(Protocol):
    """Joins rankings (by channel name) into one pool, best first."""

    def fuse(self, view: View, rankings: Mapping[str, Ranking]) -> tuple[Candidate, ...]: ...


class Refiner(Protocol):
    """Rescores, reorders, adds or removes candidates."""

    def refine(
        self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools
    ) -> tuple[Candidate, ...]: ...


@dataclass(frozen=True, slots=True)
class Packed:
    """What a packer returns: hits in rank order, the rendered context, what did not fit."""

    hits: tuple[Hit, ...]
    context: str
    omitted: tuple[Omitted, ...]


class Packer(Protocol):
    """Chooses and renders what fits the budget."""

    def pack(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Packed: ...
