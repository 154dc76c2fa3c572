from __future__ import annotations

import math
import random

import numpy as np
import pytest

from simonides.index.vectors import exact_dot, quantise, split_query


def int8_rows(rows: int, dimension: int, seed: int = 1) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    return np.random.default_rng(seed).integers(-127, 128, (rows, dimension), np.int8)


def test_a_vector_by_hand() -> None:
    stored = quantise(np.array([3.0, 0.0, -4.0], np.float32))
    assert stored is not None
    codes, scale = stored
    assert codes.dtype == np.int8
    # Length 5, so 0.6 and -0.8; the scale makes 0.8 the code 127.
    assert codes.tolist() == [95, 0, -127]
    assert scale == pytest.approx(0.8 / 127, rel=1e-7)
    assert scale == float(np.float32(scale)), "a scale is kept as float32"


@pytest.mark.fault("V1")
@pytest.mark.parametrize(
    "vector",
    [
        [0.0, 0.0, 0.0],
        [-0.0, 0.0, 0.0],
        [math.nan, 1.0, 0.0],
        [math.nan] * 3,
        [math.inf, 0.0, 0.0],
        [-math.inf, math.inf, 0.0],
        [1e38, 1e38, -1e38],
        [3e38, 0.0, 0.0],
    ],
)
def test_what_has_no_direction_is_no_vector(vector: list[float]) -> None:
    assert quantise(np.array(vector, np.float32)) is None


@pytest.mark.parametrize("length", [1e-40, 1e-30, 1e-22, 1e-6, 1.0, 1e6, 1e18])
def test_the_length_does_not_matter(length: float) -> None:
    direction = np.array([0.6, -0.64, 0.48])
    plain = quantise(direction.astype(np.float32))
    stored = quantise((direction * length).astype(np.float32))
    assert plain is not None
    assert stored is not None
    assert np.abs(stored[0].astype(int) - plain[0]).max() <= 1, "float32 itself is coarse near its smallest"
    assert math.hypot(*(stored[0] * stored[1])) == pytest.approx(1.0, abs=0.01)


def test_the_two_halves_of_a_query_make_its_16_bit_integers() -> None:
    vector = np.array([1.0, -1.0, 0.5, -0.25, 0.0, 1e-9], np.float32)
    halves, scale = split_query(vector)
    assert scale == 1.0 / 32_767
    whole = (halves[:, 0] * 256 + halves[:, 1]).tolist()
    assert whole == [round(x * 32_767) for x in vector.tolist()]
    assert halves[:, 0].min() >= -128
    assert halves[:, 0].max() <= 127
    assert halves[:, 1].min() >= 0
    assert halves[:, 1].max() <= 255


@pytest.mark.fault("V1")
@pytest.mark.parametrize("vector", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_a_query_without_a_direction_scores_nothing(vector: list[float]) -> None:
    halves, scale = split_query(np.array(vector, np.float32))
    assert scale == 0.0
    assert exact_dot(int8_rows(3, 2), halves).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dimension", [1, 2, 7, 64, 127, 384, 511, 512, 513, 768, 1024])
def test_dot_products_are_the_exact_integers(dimension: int) -> None:
    codes = int8_rows(5, dimension)
    # The worst cases: every product at its largest, all of one sign and of alternating signs.
    codes[0], codes[1], codes[2, ::2], codes[2, 1::2] = 127, -127, 127, -127
    draw = random.Random(dimension)
    for whole in (
        [32_767] * dimension,
        [-32_767] * dimension,
        [255] * dimension,
        # An odd sum, which float32 cannot hold above 2²⁴.
        [255] * (dimension - 1) + [254],
        [32_767 - 65_534 * (n % 2) for n in range(dimension)],
        [draw.randint(-32_767, 32_767) for _ in range(dimension)],
    ):
        halves = np.array([[w >> 8, w & 255] for w in whole], np.float64)
        twin = [sum(c * w for c, w in zip(row, whole, strict=True)) for row in codes.tolist()]
        assert exact_dot(codes, halves).tolist() == twin


@pytest.mark.spec("DF-06")
@pytest.mark.parametrize("dimension", [3, 384, 700])
def test_a_dot_product_does_not_depend_on_the_rows_beside_it(dimension: int) -> None:
    codes = int8_rows(300, dimension)
    halves, _ = split_query(np.random.default_rng(2).normal(size=dimension).astype(np.float32))
    whole = exact_dot(codes, halves)
    draw = random.Random(3)
    for size in (1, 2, 3, 17, 64, 299):
        rows = sorted(draw.sample(range(300), size))
        assert exact_dot(codes[rows], halves).tobytes() == whole[rows].tobytes()
    assert exact_dot(codes[::-1], halves)[::-1].tobytes() == whole.tobytes()
    assert exact_dot(np.asfortranarray(codes), halves).tobytes() == whole.tobytes()


def test_no_rows_give_no_dot_products() -> None:
    halves, _ = split_query(np.ones(4, np.float32))
    assert exact_dot(np.empty((0, 4), np.int8), halves).shape == (0,)
