"""What the index keeps of neighbouring rows that follows from their items alone, made beside the writer.

    terms of each row ─► ``IndexPart`` (any process) ─► ``block_of_parts`` (the writer, who numbers the rows)

The block is the one that ``Tail`` and ``join_blocks`` make of the same rows, value by value, without a look
at the stored rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.index.block import Block
from simonides.index.columns import COLUMNS
from simonides.index.postings import FIELDS, SealedPostings, merge_postings, seal_terms
from simonides.index.sparse_postings import SealedSparse
from simonides.index.token_codes import TailTokens, TokenBlock, join_tokens
from simonides.index.vectors import VectorBlock, sign_bits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class IndexPart:
    """Rows without learned sparse terms, in order; their ordinals and times are settled later.

    Attributes:
        columns: those of ``COLUMNS`` that follow from the items: words, asks, utterance and speaker.
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
    """A part from one value per row.

    Args:
        columns: see ``IndexPart``.
        codes: see ``IndexPart``.
        scales: see ``IndexPart``.
        terms: per row and lexical field, each term with its frequency.
        tokens: per row, as stored.
    """
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
    """A sealed block of parts that follow each other.

    Args:
        start: ordinal of the first row.
        columns: the other columns of all rows.
        parts: at least one, of one dimension.
    """
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
