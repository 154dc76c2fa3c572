from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.vectors import (
    MOST_TOKENS,
    TailTokens,
    TokenBlock,
    gather_tokens,
    join_tokens,
    max_similarities,
    pack_tokens,
)


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


def block(rows: list[bytes], dimension: int = 16) -> TokenBlock:
    tail = TailTokens(dimension)
    for row in rows:
        tail.append(row)
    return tail.frozen()


def held(found: TokenBlock) -> list[bytes]:
    pairs = zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)
    return [found.codes[start:stop].tobytes() for start, stop in pairs]


def test_appending_leaves_earlier_blocks_as_they_were() -> None:
    tail = TailTokens(16)
    assert held(tail.frozen()) == []
    tail.append(b"ab")
    early = tail.frozen()
    for n in range(100):
        tail.append(bytes([n]) * 2 * (n % 3))
    assert held(early) == [b"ab"]
    assert held(tail.frozen()) == [b"ab", *(bytes([n]) * 2 * (n % 3) for n in range(100))]
    assert tail.frozen().counts.tolist() == [1, *(n % 3 for n in range(100))]


def test_codes_of_another_width_are_left_out_and_keep_their_row() -> None:
    assert held(block([b"abc", b"ab", b"a", b""])) == [b"", b"ab", b"", b""]
    assert held(block([b"ab"], dimension=0)) == [b""]


ROWS = st.lists(
    st.lists(st.integers(0, 3).map(lambda n: bytes(range(2 * n))), max_size=5), min_size=1, max_size=4
)


@given(parts=ROWS, seed=st.integers(0, 1000))
def test_joining_keeps_rows_and_drops_the_codes_of_the_others(parts: list[list[bytes]], seed: int) -> None:
    rows = [row for part in parts for row in part]
    kept = np.random.default_rng(seed).random(len(rows)) < 0.6
    joined = join_tokens([block(part) for part in parts], kept, 16)
    assert held(joined) == [row if keep else b"" for row, keep in zip(rows, kept, strict=True)]


def test_a_block_of_another_width_is_joined_without_codes() -> None:
    joined = join_tokens([block([b"ab", b"cd"]), block([b"abcd"], dimension=32)], np.ones(3, np.bool_), 16)
    assert held(joined) == [b"ab", b"cd", b""]


@given(parts=ROWS, picks=st.lists(st.integers(0, 100), max_size=8))
def test_gathering_is_in_the_order_asked_for(parts: list[list[bytes]], picks: list[int]) -> None:
    rows = [row for part in parts for row in part]
    ordinals = [pick % len(rows) for pick in picks] if rows else []
    starts = [sum(map(len, parts[:place])) for place in range(len(parts))]
    blocks = [(start, block(part)) for start, part in zip(starts, parts, strict=True)]
    counts, codes = gather_tokens(blocks, np.array(ordinals, np.int64), 16)
    assert codes.tobytes() == b"".join(rows[ordinal] for ordinal in ordinals)
    assert counts.tolist() == [len(rows[ordinal]) // 2 for ordinal in ordinals]
    assert codes.shape == (int(counts.sum()), 2)


def test_a_block_of_another_width_holds_nothing_to_gather() -> None:
    blocks = [(0, block([b"abcd"], dimension=32)), (1, block([b"ab"]))]
    counts, codes = gather_tokens(blocks, np.array([1, 0], np.int64), 16)
    assert (counts.tolist(), codes.tobytes()) == ([1, 0], b"ab")
