"""The part of a load that needs no look at the store: check, analyse, sign and quantise pre-embedded items.

    items + vectors ─► check ─► count terms ─► sign ─► int8        (several processes, part by part)

Nothing is read out of the texts here: names, relations and links are left to ``settle``, so a row costs what
its words cost. A vector that cannot be kept refuses its part by the number of its row; ``retain`` would store
such a text without one, but whoever embeds a corpus beforehand wants to know.
Cost: about 0.13 ms of CPU for 20 words.
"""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Sized
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError
from simonides.index.quantise import quantise_rows
from simonides.index.token_codes import pack_tokens
from simonides.records.draft import Prepared
from simonides.records.extraction import Extraction
from simonides.records.hygiene import shown
from simonides.retain.items import read_items
from simonides.retain.pipeline import searched_fields
from simonides.retain.secrets import screen
from simonides.retain.signature import sign
from simonides.text.field_terms import field_terms

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
    """Neighbouring items of a load.

    Attributes:
        first: number of the first item.
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
    """Turns parts into rows; goes to other processes.

    Attributes:
        analyser: cuts the fields into terms.
        zone: of times that state none.
        redact: what becomes of secrets.
        model: the embedder that made the vectors.
    """

    analyser: Analyser
    zone: tzinfo
    redact: Policy
    model: ModelIdentity

    def __call__(self, part: Part) -> tuple[list[Prepared], Counter[str]]:
        """The rows of a part, and how many secrets of each kind were masked.

        Raises:
            InputError: an item or a vector is wrong; its number is named.
        """
        drafts, found = screen(read_items(part.items, {}, zone=self.zone, first=part.first), self.redact)
        codes, scales = _quantised(part)
        rows = []
        for place, draft in enumerate(drafts):
            terms = field_terms(searched_fields(draft, ""), draft.occurred, self.analyser)
            tokens = b"" if part.tokens is None else _packed(part, place)
            signature = sign(terms.get("text", {}))
            rows.append(
                Prepared(
                    draft,
                    terms,
                    codes[place],
                    float(scales[place]),
                    _UNREAD,
                    signature,
                    tokens=tokens,
                    model=self.model,
                )
            )
        return rows, Counter(found)


_UNREAD = Extraction()


def parts_of(
    items: Iterable[str | Mapping[str, Any]],
    vectors: NDArray[Any],
    tokens: Sequence[NDArray[Any]] | None,
    dimension: int,
) -> Iterator[Part]:
    """Cut a load into parts.

    Raises:
        InputError: the vectors are not of the embedder's shape, or not as many as the items.
    """
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


def batches_of(
    parts: Iterable[Part], prepare: Preparing, *, batch: int, workers: int
) -> Iterator[tuple[list[Prepared], Counter[str]]]:
    """The rows of all parts in order, *batch* at a time, and the secrets masked since the last batch.

    Args:
        parts: in order.
        prepare: what makes rows of them.
        batch: rows in a batch, from 1.
        workers: processes that prepare parts beside this one; 1 = this one does.

    Raises:
        InputError: a number is out of range, or an item or a vector is wrong: rows of full batches before it
            were handed out.
    """
    _check_count(batch, "batch", 10_000_000)
    waiting: list[Prepared] = []
    masked: Counter[str] = Counter()
    with _beside(_check_count(workers, "workers", _MOST_WORKERS)) as executor:
        for rows, found in _prepared(parts, prepare, executor, 2 * workers):
            waiting += rows
            masked += found
            while len(waiting) >= batch:
                yield waiting[:batch], masked
                del waiting[:batch]
                masked = Counter()
    if waiting:
        yield waiting, masked


def _check_count(value: object, field: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InputError(field, f"expected a whole number from 1 to {most:,}, got {shown(value)}")
    return value


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
) -> Iterator[tuple[list[Prepared], Counter[str]]]:
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
