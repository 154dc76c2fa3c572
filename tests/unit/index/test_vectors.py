from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.index.vectors import ALL_SCORED, BlockVectors, VectorBlock, quantise, sign_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def block_of(vectors: NDArray[np.float32]) -> VectorBlock:
    rows, dimension = vectors.shape
    codes, scales = np.zeros((rows, dimension), np.int8), np.zeros(rows, np.float32)
    for row, vector in enumerate(vectors):
        stored = quantise(vector)
        if stored is not None:
            codes[row], scales[row] = stored
    return VectorBlock(codes, scales, sign_bits(codes))


def bank_of(vectors: NDArray[np.float32], cuts: Sequence[int] = ()) -> BlockVectors:
    """Rows in blocks that end at *cuts*."""
    edges = [0, *cuts, len(vectors)]
    blocks = [(start, block_of(vectors[start:stop])) for start, stop in itertools.pairwise(edges)]
    return BlockVectors(tuple(blocks), vectors.shape[1])


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    whole: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(
        np.float32
    )
    return whole


def best(found: tuple[NDArray[np.int64], NDArray[np.float64]], depth: int) -> list[int]:
    ordinals, scores = found
    return [o for _, o in sorted(zip((-scores).tolist(), ordinals.tolist(), strict=True))][:depth]


def exact_best(
    vectors: NDArray[np.float32], query: NDArray[np.float32], rows: Sequence[int], depth: int
) -> list[int]:
    cosines = [math.fsum((vectors[row].astype(float) * query.astype(float)).tolist()) for row in rows]
    return [row for _, row in sorted((-cosine, row) for cosine, row in zip(cosines, rows, strict=True))][
        :depth
    ]


def int8_scores(
    vectors: NDArray[np.float32], query: NDArray[np.float32], rows: Sequence[int]
) -> dict[int, float]:
    """The scores that int8 codes and a 16-bit query give, in plain integers."""
    step = float(np.abs(query).max()) / 32_767
    whole = [round(x / step) for x in query.tolist()]
    scores = {}
    for row in rows:
        stored = quantise(vectors[row])
        assert stored is not None
        dot = sum(code * w for code, w in zip(stored[0].tolist(), whole, strict=True))
        scores[row] = round(dot * (stored[1] * step) * 1e9) / 1e9
    return scores


def clustered(rows: int, dimension: int, clusters: int, seed: int) -> NDArray[np.float32]:
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(clusters, dimension))
    noise = draw.normal(scale=0.7, size=(rows, dimension))
    return unit(centres[draw.integers(0, clusters, rows)] + noise)


@pytest.mark.parametrize("dimension", [0, 1, 8, 12, 63, 64, 65, 384])
def test_sign_bits_are_the_signs_by_column(dimension: int) -> None:
    codes = np.random.default_rng(dimension).integers(-2, 3, (5, dimension), np.int8)
    bits = sign_bits(codes)
    assert bits.dtype == np.uint64
    assert bits.shape == (-(-dimension // 64), 5)
    for row in range(5):
        for place in range(bits.shape[0] * 64):
            # A byte's first bit is its highest; a word's first byte is its lowest.
            bit = int(bits[place // 64, row]) >> (place % 64 // 8 * 8 + 7 - place % 8) & 1
            assert bit == (place < dimension and codes[row, place] > 0)


def test_the_distance_between_sign_bits_is_the_number_of_differing_signs() -> None:
    codes = np.random.default_rng(5).integers(-3, 4, (20, 70), np.int8)
    bits = sign_bits(codes)
    for one in range(20):
        for other in range(20):
            distance = sum(
                (int(a) ^ int(b)).bit_count() for a, b in zip(bits[:, one], bits[:, other], strict=True)
            )
            assert distance == sum(
                (a > 0) != (b > 0) for a, b in zip(codes[one].tolist(), codes[other].tolist(), strict=True)
            )


def test_cosines_by_hand() -> None:
    vectors = np.array([[1, 0], [0, 1], [-1, 0], [1, 1]], np.float32)
    ordinals, scores = bank_of(vectors).nearest(
        np.array([1, 0], np.float32), np.ones(4, np.bool_), depth=1, rescore=1
    )
    assert ordinals.dtype == np.int64
    assert scores.dtype == np.float64
    assert ordinals.tolist() == [0, 1, 2, 3]
    assert scores.tolist() == pytest.approx([1.0, 0.0, -1.0, math.sqrt(0.5)], abs=1e-6)


@pytest.mark.fault("V1")
def test_a_row_without_a_vector_is_never_returned() -> None:
    vectors = np.array([[0, 0], [1, 0], [math.nan, 1], [1e38, 1e38], [0.9, 0.1]], np.float32)
    ordinals, scores = bank_of(vectors).nearest(
        np.array([-1, 0], np.float32), np.ones(5, np.bool_), depth=5, rescore=5
    )
    assert ordinals.tolist() == [1, 4]
    assert np.isfinite(scores).all()


def test_a_bank_without_vectors_and_an_empty_mask_find_nothing() -> None:
    query = np.ones(3, np.float32)
    for bank, rows in (
        (BlockVectors((), 0), 0),
        (BlockVectors((), 3), 0),
        (bank_of(np.zeros((4, 0), np.float32)), 4),
        (bank_of(np.zeros((4, 3), np.float32)), 4),
    ):
        ordinals, scores = bank.nearest(query, np.ones(rows, np.bool_), depth=3, rescore=3)
        assert (ordinals.tolist(), scores.tolist()) == ([], [])
    ordinals, scores = bank_of(np.ones((4, 3), np.float32)).nearest(
        query, np.zeros(4, np.bool_), depth=3, rescore=3
    )
    assert (ordinals.tolist(), scores.tolist()) == ([], [])
    assert [ordinals.dtype, scores.dtype] == ["i8", "f8"]


@pytest.mark.fault("V2")
def test_a_block_of_another_dimension_is_passed_over() -> None:
    vectors = clustered(40, 8, 3, 1)
    alone = bank_of(vectors)
    other = block_of(clustered(10, 16, 2, 2))
    mixed = BlockVectors(((0, other), (10, alone.blocks[0][1]), (50, other)), 8)
    query = vectors[3]
    expected, scores = alone.nearest(query, np.ones(40, np.bool_), depth=5, rescore=5)
    ordinals, mixed_scores = mixed.nearest(query, np.ones(60, np.bool_), depth=5, rescore=5)
    assert (ordinals - 10).tolist() == expected.tolist()
    assert mixed_scores.tobytes() == scores.tobytes()


@pytest.mark.spec("EN-11")
def test_up_to_4096_eligible_rows_all_are_scored_and_one_more_starts_the_scan() -> None:
    assert ALL_SCORED == 4_096
    vectors = clustered(ALL_SCORED + 1, 16, 4, 3)
    bank = bank_of(vectors)
    everything = np.ones(len(vectors), np.bool_)
    ordinals, _ = bank.nearest(vectors[0], everything, depth=10, rescore=10)
    assert 10 <= len(ordinals) < ALL_SCORED
    everything[7] = False
    ordinals, _ = bank.nearest(vectors[0], everything, depth=10, rescore=10)
    assert ordinals.tolist() == [row for row in range(len(vectors)) if row != 7]


def test_a_depth_beyond_the_rescore_still_finds_that_many() -> None:
    vectors = clustered(6_000, 16, 4, 4)
    ordinals, _ = bank_of(vectors).nearest(vectors[0], np.ones(6_000, np.bool_), depth=5_500, rescore=10)
    assert len(ordinals) >= 5_500


def test_asking_for_more_than_there_is_finds_all() -> None:
    vectors = clustered(5_000, 16, 4, 5)
    ordinals, _ = bank_of(vectors).nearest(vectors[0], np.ones(5_000, np.bool_), depth=9_000, rescore=9_000)
    assert ordinals.tolist() == list(range(5_000))


@pytest.mark.spec("EN-11")
def test_recall_at_100_against_float32_is_at_least_97_percent() -> None:
    vectors = clustered(20_000, 64, 50, 6)
    bank = bank_of(vectors, cuts=(8_000, 16_000, 19_000))
    queries = unit(
        vectors[:20].astype(np.float64) + np.random.default_rng(7).normal(scale=0.05, size=(20, 64))
    )
    everything = np.ones(len(vectors), np.bool_)
    shares = []
    for query in queries:
        exact = np.argsort(-(vectors.astype(np.float64) @ query.astype(np.float64)), kind="stable")[:100]
        found = best(bank.nearest(query, everything, depth=100, rescore=4_000), 100)
        shares.append(len(set(found) & set(exact.tolist())) / 100)
    assert sum(shares) / len(shares) >= 0.97


@pytest.mark.fault("V4")
def test_nearer_rows_that_are_masked_out_cost_no_place() -> None:
    draw = np.random.default_rng(8)
    query = unit(draw.normal(size=32))
    noise = unit(query + draw.normal(scale=0.05, size=(2_000, 32)))
    keep = unit(draw.normal(size=(12, 32)))
    vectors = np.concatenate([noise[:1_000], keep, noise[1_000:]])
    eligible = np.zeros(len(vectors), np.bool_)
    eligible[1_000:1_012] = True
    ordinals, _ = bank_of(vectors, cuts=(700, 1_005)).nearest(query, eligible, depth=10, rescore=10)
    assert ordinals.tolist() == list(range(1_000, 1_012))
    assert best(bank_of(vectors).nearest(query, eligible, depth=10, rescore=10), 10) == exact_best(
        vectors, query, range(1_000, 1_012), 10
    )


@pytest.mark.fault("V4")
@pytest.mark.parametrize("share", [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0])
def test_any_share_of_eligible_rows_is_exact(share: float) -> None:
    vectors = clustered(6_000, 32, 20, 9)
    bank = bank_of(vectors, cuts=(100, 4_000))
    draw = np.random.default_rng(int(share * 1_000))
    query = unit(draw.normal(size=32))
    eligible = np.zeros(6_000, np.bool_)
    eligible[draw.choice(6_000, max(1, int(6_000 * share)), replace=False)] = True
    rows = np.flatnonzero(eligible).tolist()
    twin = int8_scores(vectors, query, rows)
    ordinals, scores = bank.nearest(query, eligible, depth=10, rescore=len(rows))
    assert dict(zip(ordinals.tolist(), scores.tolist(), strict=True)) == twin
    # With the usual rescore, up to 4,096 eligible rows are exact just the same.
    ordinals, scores = bank.nearest(query, eligible, depth=10, rescore=100)
    found = dict(zip(ordinals.tolist(), scores.tolist(), strict=True))
    assert len(rows) > ALL_SCORED or found == twin
    assert found.items() <= twin.items()


@pytest.mark.fault("V1")
@pytest.mark.parametrize("query", [[math.nan] * 4, [0.0] * 4, [math.inf, 0.0, 0.0, 0.0]])
def test_a_query_without_a_direction_gives_no_score_that_is_not_a_number(query: list[float]) -> None:
    vectors = clustered(ALL_SCORED + 10, 4, 3, 10)
    _, scores = bank_of(vectors).nearest(
        np.array(query, np.float32), np.ones(len(vectors), np.bool_), depth=5, rescore=5
    )
    assert not scores.any()
    assert np.isfinite(scores).all()
