from __future__ import annotations

import numpy as np
import pytest

from simonides.index.sparse_postings import (
    BlockSparse,
    FrozenSparse,
    TailSparse,
    merge_sparse,
    pack_terms,
    unpack_terms,
)
from simonides.records.sparse import SparseTerms


def terms(**weights: float) -> SparseTerms:
    """Terms by id, written ``t7=0.5``."""
    ids = sorted(int(name[1:]) for name in weights)
    return SparseTerms(
        np.array(ids, np.int32), np.array([weights[f"t{number}"] for number in ids], np.float32)
    )


def tail(*rows: SparseTerms) -> tuple[TailSparse, list[float]]:
    made = TailSparse()
    return made, [made.append(row, pack_terms(held)) for row, held in enumerate(rows)]


def frozen(*rows: SparseTerms) -> FrozenSparse:
    made, scales = tail(*rows)
    return made.frozen(np.array(scales, np.float32))


def all_of(rows: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.ones(rows, np.bool_)


def test_the_largest_weight_is_255_steps_and_what_rounds_to_0_goes() -> None:
    ids, codes, scale = unpack_terms(pack_terms(terms(t3=2.55, t9=0.01, t70=0.004, t65535=1.0)))
    assert ids.tolist() == [3, 9, 65535]
    assert codes.tolist() == [255, 1, 100]
    assert scale == pytest.approx(0.01)
    assert len(pack_terms(terms(t3=2.55, t9=0.01))) == 4 + 2 * 3


def test_no_terms_are_no_bytes() -> None:
    assert pack_terms(terms()) == b""
    ids, codes, scale = unpack_terms(b"")
    assert (len(ids), len(codes), scale) == (0, 0, 0.0)


@pytest.mark.parametrize(
    ("ids", "weights", "said"),
    [
        ([3, 3], [1.0, 1.0], "ascend"),
        ([-1], [1.0], "ascend"),
        ([65_536], [1.0], "ascend"),
        ([1], [0.0], "above 0"),
        ([1], [float("nan")], "finite"),
        ([1, 2], [1.0], "do not go with"),
    ],
)
def test_other_terms_are_refused(ids: list[int], weights: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pack_terms(SparseTerms(np.array(ids, np.int32), np.array(weights, np.float32)))


@pytest.mark.parametrize(
    "packed",
    [
        b"abc",
        pack_terms(terms(t1=1.0, t2=1.0))[:-1],
        np.float32(0).tobytes() + b"\1\0\xff",
        np.float32(1).tobytes() + b"\1\0\1\0\xff\xff",
        np.float32(1).tobytes() + b"\1\0\0",
    ],
)
def test_bytes_that_were_not_packed_are_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="sparse terms"):
        unpack_terms(packed)


@pytest.mark.spec("HX-18")
def test_the_score_is_the_inner_product() -> None:
    bank = BlockSparse(((0, frozen(terms(t1=2.0, t2=1.0), terms(t2=3.0), terms(t9=1.0), terms())),))
    ordinals, scores = bank.scores(terms(t1=1.0, t2=0.5), all_of(4))
    assert ordinals.tolist() == [0, 1]
    # 2·1 + 1·½ and 3·½; a weight is kept to 1/255 of the row's largest, a query's to 1/32,767 of its.
    assert scores.tolist() == pytest.approx([2.5, 1.5], abs=0.005)


def test_only_eligible_rows_are_scored() -> None:
    bank = BlockSparse(((0, frozen(terms(t1=1.0), terms(t1=1.0))),))
    assert bank.scores(terms(t1=1.0), np.array([False, True]))[0].tolist() == [1]
    assert bank.has_any(np.array([True, False]))
    assert not bank.has_any(np.array([False, False]))


def test_a_query_without_terms_finds_nothing() -> None:
    bank = BlockSparse(((0, frozen(terms(t1=1.0))),))
    assert len(bank.scores(terms(), all_of(1))[0]) == 0


def test_a_frozen_tail_does_not_see_later_rows() -> None:
    made, scales = tail(terms(t1=1.0))
    before = made.frozen(np.array(scales, np.float32))
    made.append(1, pack_terms(terms(t1=1.0, t2=1.0)))
    assert before.postings(1)[0].tolist() == [0]
    assert before.postings(2)[0].tolist() == []
    assert before.triples()[1].tolist() == [0]


def test_merged_blocks_hold_the_same_without_erased_rows() -> None:
    first, second = frozen(terms(t1=1.0), terms(t1=2.0, t5=1.0)), frozen(terms(t1=3.0), terms(t5=4.0))
    kept = np.array([True, False, True, True])
    sealed = merge_sparse([(0, first), (2, second)], kept)
    assert sealed.ids.tolist() == [1, 5]
    assert sealed.starts.tolist() == [0, 2, 3]
    assert sealed.rows.tolist() == [0, 2, 3]
    assert sealed.scales[1] == 0
    parts = BlockSparse(((0, first), (2, second))).scores(terms(t1=0.3, t5=0.7), kept)
    whole = BlockSparse(((0, sealed),)).scores(terms(t1=0.3, t5=0.7), all_of(4))
    assert [part.tolist() for part in parts] == [part.tolist() for part in whole]
