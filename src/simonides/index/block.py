"""Blocks of neighbouring rows: sealed on disk, or the tail in memory, and the parts they are made of.

    terms of each row ─► ``IndexPart`` (any process) ─► ``block_of_parts`` (the writer, who numbers the rows)

Such a block equals, value by value, the one that ``Tail`` and ``join_blocks`` make of the stored rows.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import DamagedError
from simonides.index.columns import COLUMNS, ERASED, Growable, Row
from simonides.index.postings import FIELDS, SealedPostings, TailPostings, merge_postings, seal_terms
from simonides.index.sparse_postings import SealedSparse, TailSparse, merge_sparse
from simonides.index.vectors import TailTokens, TokenBlock, VectorBlock, join_tokens, sign_bits
from simonides.index.vocabulary import Vocabulary
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.index.postings import FrozenTail
    from simonides.index.sparse_postings import FrozenSparse


LARGEST_BLOCK = 65_536
"""Rows in a sealed block at most; a full block is never rewritten by a merge."""

_SPARSE_ARRAYS = ("ids", "starts", "rows", "codes", "scales")


@dataclass(frozen=True, slots=True)
class Block:
    """Rows ``start`` to ``start + rows``, immutable.

    Attributes:
        start: first ordinal.
        columns: one array per name in ``COLUMNS``.
        postings: per lexical field.
        bounds_found, later_found: caches.
    """

    start: int
    columns: Mapping[str, NDArray[Any]]
    vectors: VectorBlock
    postings: Mapping[str, SealedPostings | FrozenTail]
    tokens: TokenBlock
    sparse: SealedSparse | FrozenSparse
    bounds_found: dict[str, tuple[int, int]] = dataclasses.field(
        default_factory=dict, repr=False, compare=False
    )
    later_found: list[NDArray[np.int64]] = dataclasses.field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse arrays of unequal length: values would stand beside rows that are not theirs.

        Raises:
            DamagedError: the block is then made anew from the rows.
        """
        lengths = {f"column {name}": len(column) for name, column in self.columns.items()}
        lengths |= {f"lengths of {name}": len(postings.lengths) for name, postings in self.postings.items()}
        lengths |= {
            "vectors": len(self.vectors.codes),
            "scales of vectors": len(self.vectors.scales),
            "bits of vectors": self.vectors.bits.shape[1],
            "tokens": len(self.tokens.offsets) - 1,
            "scales of sparse terms": len(self.sparse.scales),
        }
        unequal = next((name for name, length in lengths.items() if length != self.rows), None)
        if unequal is not None:
            raise DamagedError(
                f"the index holds {self.rows} rows from row {self.start} on, but {unequal}: "
                f"{lengths[unequal]}; it is made anew from the rows"
            )

    @property
    def later_versions(self) -> NDArray[np.int64]:
        """Rows, counted from the block's start, that are not the first version of their memory."""
        if not self.later_found:
            own = np.arange(self.start, self.stop)
            later = (self.columns["root"] != own) & (self.columns["expired_at"] != BEGINNING)
            self.later_found.append(np.flatnonzero(later))
        return self.later_found[0]

    def bounds(self, name: str) -> tuple[int, int]:
        """The least and the largest value of a column of whole numbers; both 0 without rows."""
        if name not in self.bounds_found:
            column = self.columns[name]
            self.bounds_found[name] = (int(column.min()), int(column.max())) if len(column) else (0, 0)
        return self.bounds_found[name]

    @property
    def rows(self) -> int:
        return len(self.columns["kind"])

    @property
    def stop(self) -> int:
        return self.start + self.rows

    @property
    def is_sealed(self) -> bool:
        """Whether it can go to a file as it is; else ``join_blocks`` seals it."""
        postings = (*self.postings.values(),)
        return isinstance(self.sparse, SealedSparse) and all(isinstance(p, SealedPostings) for p in postings)


class Tail:
    """The newest rows, in memory. Appending leaves earlier frozen blocks as they were."""

    def __init__(self, start: int, dimension: int) -> None:
        self.start = start
        self.dimension = dimension
        self.rows = 0
        self._columns = {name: Growable(dtype) for name, dtype in COLUMNS.items()}
        self._codes = Growable(np.dtype("i1"), (dimension,))
        self._scales = Growable(np.dtype("f4"))
        self._bits = Growable(np.dtype("u8"), (-(-dimension // 64),))
        self._tokens = TailTokens(dimension)
        self._lengths = {field: Growable(np.dtype("i4")) for field in FIELDS}
        self._postings = {field: TailPostings() for field in FIELDS}
        self._sparse = TailSparse()
        self._sparse_scales = Growable(np.dtype("f4"))

    def append(self, row: Row) -> None:
        self.extend((row,))

    def extend(self, rows: Iterable[Row]) -> None:
        """Add rows, ascending; gaps left by erased rows are filled with erased ones."""
        added: list[Row] = []
        expected = self.start + self.rows
        for row in rows:
            added += [Row(gap, None, {}, None, 0.0) for gap in range(expected, row.ordinal)]
            added.append(row)
            expected = row.ordinal + 1
        if added:
            self._extend(added)

    def _extend(self, rows: list[Row]) -> None:
        values = [ERASED if row.values is None else row.values for row in rows]
        for name, column in self._columns.items():
            column.extend(np.array([value[name] for value in values], COLUMNS[name]))
        codes = np.zeros((len(rows), self.dimension), np.int8)
        scales = np.zeros(len(rows), np.float32)
        for place, row in enumerate(rows):
            if row.codes is not None and len(row.codes) == self.dimension:
                codes[place], scales[place] = row.codes, row.scale
            self._append_terms(self.rows + place, row)
        self._codes.extend(codes)
        self._scales.extend(scales)
        self._bits.extend(sign_bits(codes).T)
        self.rows += len(rows)

    def _append_terms(self, number: int, row: Row) -> None:
        fits = row.codes is not None and len(row.codes) == self.dimension
        self._tokens.append(row.tokens if fits else b"")
        for field in FIELDS:
            terms = row.terms.get(field)
            self._lengths[field].append(sum(terms.values()) if terms else 0)
            if terms:
                self._postings[field].append(number, terms)
        self._sparse_scales.append(self._sparse.append(number, row.sparse) if row.sparse else 0.0)

    def frozen(self) -> Block:
        """The rows so far, as an immutable block that shares memory with the tail."""
        return Block(
            start=self.start,
            columns={name: column.view() for name, column in self._columns.items()},
            vectors=VectorBlock(self._codes.view(), self._scales.view(), self._bits.view().T),
            postings={field: self._postings[field].frozen(self._lengths[field].view()) for field in FIELDS},
            tokens=self._tokens.frozen(),
            sparse=self._sparse.frozen(self._sparse_scales.view()),
        )


def join_blocks(blocks: Sequence[Block], expired: Mapping[int, int], dimension: int) -> Block:
    """Join neighbouring blocks into one sealed block.

    Args:
        blocks: ascending, without gaps, at least one.
        expired: newer ``expired_at`` stamps by ordinal; ``BEGINNING`` = erased: its content goes.
        dimension: of the vectors; those of a block of another dimension are dropped.
    """
    start = blocks[0].start
    columns = {name: np.concatenate([block.columns[name] for block in blocks]) for name in COLUMNS}
    rows = len(columns["kind"])
    for ordinal, stamp in expired.items():
        if start <= ordinal < start + rows:
            columns["expired_at"][ordinal - start] = stamp
    kept = columns["expired_at"] != BEGINNING
    for name in COLUMNS:
        columns[name][~kept] = ERASED[name]
    codes = np.zeros((rows, dimension), np.int8)
    scales = np.zeros(rows, np.float32)
    for block in blocks:
        if block.vectors.codes.shape[1] == dimension:
            codes[block.start - start : block.stop - start] = block.vectors.codes
            scales[block.start - start : block.stop - start] = block.vectors.scales
    codes[~kept], scales[~kept] = 0, 0.0
    postings = {
        field: merge_postings([(block.start - start, block.postings[field]) for block in blocks], kept)
        for field in FIELDS
    }
    tokens = join_tokens([block.tokens for block in blocks], kept, dimension)
    sparse = merge_sparse([(block.start - start, block.sparse) for block in blocks], kept)
    vectors = VectorBlock(codes, scales, sign_bits(codes))
    return Block(start, columns, vectors, postings, tokens, sparse)


def block_arrays(block: Block) -> dict[str, NDArray[Any]]:
    """A sealed block as named arrays, for a file."""
    arrays: dict[str, NDArray[Any]] = {f"column.{name}": block.columns[name] for name in COLUMNS}
    arrays |= {
        "vector.codes": block.vectors.codes,
        "vector.scales": block.vectors.scales,
        "vector.bits": block.vectors.bits,
        "token.offsets": block.tokens.offsets,
        "token.codes": block.tokens.codes,
    }
    for field in FIELDS:
        postings = block.postings[field]
        if not isinstance(postings, SealedPostings):
            raise TypeError("only a sealed block goes to a file; join_blocks seals")
        arrays |= {
            f"{field}.vocabulary": postings.vocabulary.joined,
            f"{field}.offsets": postings.vocabulary.offsets,
            f"{field}.starts": postings.starts,
            f"{field}.rows": postings.rows,
            f"{field}.frequencies": postings.frequencies,
            f"{field}.lengths": postings.lengths,
        }
    if not isinstance(block.sparse, SealedSparse):
        raise TypeError("only a sealed block goes to a file; join_blocks seals")
    return arrays | {f"sparse.{name}": getattr(block.sparse, name) for name in _SPARSE_ARRAYS}


def block_of_arrays(start: int, arrays: Mapping[str, NDArray[Any]]) -> Block:
    """The inverse of ``block_arrays``."""
    return Block(
        start=start,
        columns={name: arrays[f"column.{name}"] for name in COLUMNS},
        vectors=VectorBlock(arrays["vector.codes"], arrays["vector.scales"], arrays["vector.bits"]),
        postings={
            field: SealedPostings(
                Vocabulary(arrays[f"{field}.vocabulary"], arrays[f"{field}.offsets"]),
                arrays[f"{field}.starts"],
                arrays[f"{field}.rows"],
                arrays[f"{field}.frequencies"],
                arrays[f"{field}.lengths"],
            )
            for field in FIELDS
        },
        tokens=TokenBlock(arrays["token.offsets"], arrays["token.codes"]),
        sparse=SealedSparse(*(arrays[f"sparse.{name}"] for name in _SPARSE_ARRAYS)),
    )


@dataclass(frozen=True, slots=True)
class IndexPart:
    """Rows without learned sparse terms, in order; their ordinals and times are settled later.

    Attributes:
        columns: those of ``COLUMNS`` that follow from the items: words, asks, utterance, speaker
            and session.
        codes: int8, shape (rows, dimension); scales: float32 above 0, shape (rows,).
        postings: per lexical field, rows counted from the part's first.
        tokens: codes of the tokens.
    """

    columns: Mapping[str, NDArray[Any]]
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    postings: Mapping[str, SealedPostings]
    tokens: TokenBlock

    @property
    def rows(self) -> int:
        return len(self.scales)


def part_of(
    columns: Mapping[str, Sequence[int]],
    codes: NDArray[np.int8],
    scales: NDArray[np.float64],
    terms: Sequence[Mapping[str, Mapping[str, int]]],
    tokens: Sequence[bytes],
) -> IndexPart:
    """A part from one value per row; *terms*: per row and lexical field, each term with its frequency."""
    packed = TailTokens(codes.shape[1])
    for each in tokens:
        packed.append(each)
    return IndexPart(
        columns={name: np.array(values, COLUMNS[name]) for name, values in columns.items()},
        codes=codes,
        scales=scales.astype(np.float32),
        postings={field: seal_terms([row.get(field, {}) for row in terms]) for field in FIELDS},
        tokens=packed.frozen(),
    )


def block_of_parts(start: int, columns: Mapping[str, NDArray[Any]], parts: Sequence[IndexPart]) -> Block:
    """A sealed block of parts that follow each other; *columns* are the other columns of all rows."""
    starts = np.cumsum([0, *(part.rows for part in parts)])
    rows = int(starts[-1])
    kept = np.ones(rows, np.bool_)
    own = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    codes = np.concatenate([part.codes for part in parts])
    postings = {
        field: merge_postings(
            [(int(offset), part.postings[field]) for offset, part in zip(starts, parts, strict=False)], kept
        )
        for field in FIELDS
    }
    return Block(
        start=start,
        columns={
            name: np.asarray((own if name in own else columns)[name], dtype)
            for name, dtype in COLUMNS.items()
        },
        vectors=VectorBlock(codes, np.concatenate([part.scales for part in parts]), sign_bits(codes)),
        postings=postings,
        tokens=join_tokens([part.tokens for part in parts], kept, codes.shape[1]),
        sparse=_no_sparse(rows),
    )


def _no_sparse(rows: int) -> SealedSparse:
    return SealedSparse(
        np.empty(0, np.int32),
        np.zeros(1, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.uint8),
        np.zeros(rows, np.float32),
    )
