"""The part of a load that needs no look at the store: check, analyse, sign and quantise pre-embedded items.

    items + vectors ─► check ─► count terms ─► sign ─► int8 ─► index part    (several processes, part by part)

Nothing is read out of the texts here: names, relations and links are left to ``settle``, so a row costs what
its words cost. A vector that cannot be kept refuses its part by the number of its row; ``retain`` would store
such a text without one, but whoever embeds a corpus beforehand wants to know.
Cost: about 0.16 ms of CPU for 20 words, with the way to the process that stores and back.
"""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Sized
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from itertools import islice
from multiprocessing import get_context
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError
from simonides.gc_pause import gc_paused
from simonides.index.block import IndexPart, part_of
from simonides.index.vectors import pack_tokens, quantise_rows
from simonides.records.draft import Draft, Prepared, content_key, encode_terms
from simonides.records.extraction import Extraction
from simonides.records.hygiene import clean_count
from simonides.retain.duplicates import sign
from simonides.retain.items import read_items
from simonides.retain.pipeline import searched_fields
from simonides.retain.placing import trust_of
from simonides.retain.redacted_errors import redact_errors
from simonides.retain.screening import Redactor
from simonides.text.dates import field_terms
from simonides.text.speech import asks, count_words, label_of, session_key, speaker_key, utterance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from datetime import tzinfo

    from numpy.typing import NDArray

    from simonides.protocols import Analyser
    from simonides.records.model_identity import ModelIdentity
    from simonides.retain.secrets import Policy

_PART = 1_024
"""Items that one process prepares at a time."""

_MOST_WORKERS = 256


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring items of a load, from number *first* on.

    Attributes:
        items: as for ``retain``.
        vectors: float, shape (len(items), dimension).
        tokens: per item its token vectors less the embedder's mean, shape (tokens, dimension), or ``None``.
    """

    first: int
    items: Sequence[str | Mapping[str, Any]]
    vectors: NDArray[Any]
    tokens: Sequence[NDArray[Any]] | None = None


@dataclass(frozen=True, slots=True)
class Preparing:
    """Turns parts into rows; goes to other processes."""

    analyser: Analyser
    zone: tzinfo
    redact: Policy
    model: ModelIdentity

    def __call__(self, part: Part) -> PreparedPart:
        """The rows of a part; an ``InputError`` names the number of the item or vector that is wrong."""
        with gc_paused(), redact_errors(self.redact, part.items):
            return self._prepared(part)

    def _prepared(self, part: Part) -> PreparedPart:
        redactor = Redactor(self.redact)
        drafts = redactor.drafts(read_items(part.items, {}, zone=self.zone, first=part.first))
        codes, scales = _quantised(part)
        terms = [field_terms(searched_fields(draft, ""), draft.occurred, self.analyser) for draft in drafts]
        tokens = [b"" if part.tokens is None else _packed(part, place) for place in range(len(drafts))]
        columns: dict[str, list[int]] = {
            "words": [count_words(draft.text) for draft in drafts],
            "asks": [asks(draft.text) for draft in drafts],
            "utterance": [
                utterance(
                    draft.text, draft.speaker, trust_of(draft.role), filed=bool(draft.document or draft.path)
                )
                for draft in drafts
            ],
            "speaker": [speaker_key(draft.speaker or label_of(draft.text)) for draft in drafts],
            "session": [session_key(draft.session) for draft in drafts],
        }
        return PreparedPart(
            drafts=[_values_of(draft) for draft in drafts],
            content_keys=[content_key(draft) for draft in drafts],
            terms=[encode_terms(each) for each in terms],
            signatures=np.array([sign(each.get("text", {})) for each in terms], np.uint32),
            scales=scales.tolist(),
            tokens=tokens,
            model=self.model,
            index=part_of(columns, codes, scales, terms, tokens),
            masked=redactor.found,
        )


@dataclass(frozen=True, slots=True)
class PreparedPart:
    """The rows of a part, in lists and arrays: they go between processes at a quarter of the records' cost.

    Attributes:
        drafts: per row, the values of its ``Draft`` by field.
        content_keys, terms, scales, tokens: per row, as stored.
        signatures: uint32, shape (rows, SIGNATURE_LENGTH).
        index: what the index keeps of the rows; holds the codes of the vectors.
        masked: how many secrets of each kind were masked.
    """

    drafts: list[tuple[Any, ...]]
    content_keys: list[bytes]
    terms: list[bytes]
    signatures: NDArray[np.uint32]
    scales: list[float]
    tokens: list[bytes]
    model: ModelIdentity
    index: IndexPart
    masked: Counter[str]

    def rows(self) -> list[Prepared]:
        """The rows as records."""
        return [
            Prepared(
                Draft(*draft),
                {},
                codes,
                scale,
                _UNREAD,
                signature,
                tokens=tokens,
                model=self.model,
                encoded_terms=terms,
                content_key=key,
            )
            for draft, codes, scale, signature, tokens, terms, key in zip(
                self.drafts,
                self.index.codes,
                self.scales,
                self.signatures,
                self.tokens,
                self.terms,
                self.content_keys,
                strict=True,
            )
        ]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction of a load stores.

    Attributes:
        parts: what the index keeps of exactly these rows; empty = they end inside a part.
        masked: secrets masked since the batch before, by kind.
    """

    rows: list[Prepared]
    parts: list[IndexPart]
    masked: Counter[str]


_UNREAD = Extraction()
_values_of = attrgetter(*(each.name for each in fields(Draft)))


def parts_of(
    items: Iterable[str | Mapping[str, Any]],
    vectors: NDArray[Any],
    tokens: Sequence[NDArray[Any]] | None,
    dimension: int,
) -> Iterator[Part]:
    """Cut a load into parts; ``InputError`` when shape or number of the vectors does not fit."""
    if vectors.ndim != 2 or vectors.shape[1] != dimension or vectors.dtype.kind != "f":
        raise InputError(
            "vectors",
            f"have the shape {vectors.shape} and the type {vectors.dtype}, where floats of the shape (items, "
            f"{dimension}) are needed, one row per item, made by the store's embedder",
        )
    counted = len(items) if isinstance(items, Sized) else len(vectors)
    for name, there in (("vectors", len(vectors)), ("tokens", len(vectors if tokens is None else tokens))):
        if there != counted:
            raise InputError(name, f"are {there:,} for {counted:,} items; give one per item")
    taken, first = iter(items), 0
    while piece := list(islice(taken, _PART)):
        stop = first + len(piece)
        if stop > len(vectors):
            raise InputError("vectors", f"are {len(vectors):,}, and there are more items; give one per item")
        yield Part(first, piece, vectors[first:stop], None if tokens is None else tokens[first:stop])
        first = stop
    if first < len(vectors):
        raise InputError("vectors", f"are {len(vectors):,} for {first:,} items; give one per item")


def batches_of(parts: Iterable[Part], prepare: Preparing, *, batch: int, workers: int) -> Iterator[Batch]:
    """The rows of all parts in order, *batch* (from 1) at a time.

    *workers* processes prepare parts beside this one; 1 = this one does.
    ``InputError``: a number is out of range, or an item or a vector is wrong; full batches before it were
    given.
    """
    batch = clean_count(batch, "batch", 1, 10_000_000)
    workers = clean_count(workers, "workers", 1, _MOST_WORKERS)
    waiting: list[Prepared] = []
    indexed: list[IndexPart] = []
    masked: Counter[str] = Counter()
    # Whether the first waiting row is the first of a part.
    begins = True
    # So many that the processes have work while this one stores a batch.
    ahead = 2 * workers + batch // _PART
    with _beside(workers) as executor:
        for part in _prepared(parts, prepare, executor, ahead):
            with gc_paused():
                waiting += part.rows()
            indexed.append(part.index)
            masked += part.masked
            while len(waiting) >= batch:
                yield _batch(waiting[:batch], indexed if begins else [], masked)
                del waiting[:batch]
                indexed, masked, begins = [], Counter(), not waiting
    if waiting:
        yield _batch(waiting, indexed if begins else [], masked)


def _batch(rows: list[Prepared], indexed: list[IndexPart], masked: Counter[str]) -> Batch:
    whole = sum(part.rows for part in indexed) == len(rows)
    return Batch(rows, indexed if whole else [], masked)


@contextlib.contextmanager
def _beside(workers: int) -> Iterator[Executor | None]:
    if workers == 1:
        yield None
        return
    # Spawned, because a fork of a process with threads and an open database is not sound.
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _prepared(
    parts: Iterable[Part], prepare: Preparing, executor: Executor | None, ahead: int
) -> Iterator[PreparedPart]:
    """Each part's rows, in order; *ahead* parts at most are prepared before they are asked for."""
    if executor is None:
        yield from map(prepare, parts)
        return
    waiting = iter(parts)
    running = deque(executor.submit(prepare, part) for part in islice(waiting, ahead))
    while running:
        done = running.popleft().result()
        running.extend(executor.submit(prepare, part) for part in islice(waiting, 1))
        yield done


def _quantised(part: Part) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    with np.errstate(over="ignore"):
        codes, scales = quantise_rows(np.asarray(part.vectors).astype(np.float32))
    bad = np.flatnonzero(scales == 0.0)
    if len(bad):
        row = np.asarray(part.vectors[bad[0]])
        problem = "is not finite" if not np.isfinite(row).all() else "is all zero"
        if np.isfinite(row).all() and row.any():
            problem = "is too large or too small to be normalised"
        raise InputError(
            f"vectors[{part.first + int(bad[0])}]", f"{problem}; embed its text anew, or leave the item out"
        )
    return codes, scales


def _packed(part: Part, place: int) -> bytes:
    assert part.tokens is not None
    tokens = np.asarray(part.tokens[place], np.float32)
    if tokens.ndim != 2 or tokens.shape[1] != part.vectors.shape[1]:
        raise InputError(
            f"tokens[{part.first + place}]",
            f"have the shape {tokens.shape}, where (tokens, {part.vectors.shape[1]}) is needed",
        )
    return pack_tokens(tokens)
