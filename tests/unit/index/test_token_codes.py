from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.token_codes import MOST_TOKENS, max_similarities, pack_tokens


def codes_of(*memories: bytes, width: int) -> tuple[np.ndarray, np.ndarray]:
    counts = np.array([len(each) // width for each in memories], np.int64)
    return np.frombuffer(b"".join(memories), np.uint8).reshape(-1, width), counts


def test_a_token_is_its_signs() -> None:
    tokens = np.array([[0.1, -0.2, 0.3, 0.0, 1, 1, 1, 1, -1]], np.float32)
    assert pack_tokens(tokens) == bytes([0b10101111, 0b00000000])


def test_the_first_tokens_are_kept_and_what_is_no_number_is_not() -> None:
    tokens = np.ones((MOST_TOKENS + 5, 8), np.float32)
    tokens[1, 3] = np.nan
    tokens[0] = -1
    assert pack_tokens(tokens) == b"\x00" + b"\xff" * (MOST_TOKENS - 1)
    assert pack_tokens(np.empty((0, 8), np.float32)) == b""


def test_by_hand() -> None:
    query = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, -0.5, 0.0, 0.0]], np.float32)
    one = pack_tokens(np.array([[1, -1, 1, 1], [-1, 1, 1, 1]], np.float32))
    other = pack_tokens(np.array([[-1, 1, -1, -1]], np.float32))
    codes, counts = codes_of(one, other, b"", width=1)
    # one: the first token answers both, (1 + 0.5) / 2 / √4; other: (−1 − 0.5) / 2 / 2
    assert max_similarities(query, codes, counts).tolist() == [0.375, -0.375, 0.0]


@given(seed=st.integers(0, 10_000), sizes=st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_against_a_twin_that_takes_each_pair_alone(seed: int, sizes: list[int]) -> None:
    source = np.random.default_rng(seed)
    dimension = 24
    query = source.normal(size=(3, dimension)).astype(np.float32)
    tokens = [source.normal(size=(size, dimension)).astype(np.float32) for size in sizes]
    codes, counts = codes_of(*(pack_tokens(each) for each in tokens), width=3)

    scores = max_similarities(query, codes, counts)

    for place, each in enumerate(tokens):
        best = [
            max((float(q @ np.where(t > 0, 1, -1)) / dimension**0.5 for t in each), default=0.0)
            for q in query
        ]
        # The query's tokens are rounded to 127 levels.
        assert scores[place] == pytest.approx(sum(best) / 3, abs=0.05)
        alone = max_similarities(query, *codes_of(pack_tokens(each), width=3))
        assert alone[0] == scores[place]


def test_a_query_of_zeros_tells_nothing_apart() -> None:
    codes, counts = codes_of(b"\xff", b"\x0f", width=1)
    assert max_similarities(np.zeros((2, 8), np.float32), codes, counts).tolist() == [0.0, 0.0]
