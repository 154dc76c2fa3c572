from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import pytest

from simonides.index import bm25
from simonides.index.bm25 import Saturation, TermList, score_lists

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS, BLOCKS = 400, 8
STARTS = [block * ROWS for block in range(BLOCKS)]
SATURATION = Saturation(1.2, 0.75)


def lists(shares: list[float]) -> list[TermList]:
    """One term per share of the rows, the rarer the more it gives."""
    draw = np.random.default_rng(7)
    lengths = [draw.integers(5, 40, ROWS).astype(np.int32) for _ in STARTS]
    shortest = [int(each.min()) for each in lengths]
    found = []
    for share in shares:
        held = [np.flatnonzero(draw.random(ROWS) < share).astype(np.int32) for _ in STARTS]
        postings = [(rows, draw.integers(1, 5, len(rows)).astype(np.uint8)) for rows in held]
        found.append(TermList(1.0 - share, 22.0, lengths, shortest, postings))
    return found


def best(
    found: list[TermList], eligible: NDArray[np.bool_], depth: int | None, at_once: int
) -> tuple[list[int], bytes]:
    with patch.object(bm25, "AT_ONCE", at_once):
        ordinals, scores = score_lists(found, STARTS, eligible, SATURATION, depth)
    return ordinals.tolist(), scores.tobytes()


def test_what_a_term_gives_by_hand() -> None:
    found = TermList(2.0, 10.0, [], [], [])
    gives = SATURATION.of(found, np.array([1, 3], np.uint8), np.array([10, 20], np.int32))
    assert gives.tolist() == pytest.approx([2.0 * 2.2 / 2.2, 2.0 * 3 * 2.2 / (3 + 1.2 * 1.75)])


@pytest.mark.parametrize("share", [1.0, 0.5, 0.02])
@pytest.mark.parametrize("depth", [1, 20, 10_000])
def test_windows_change_no_bit_and_lose_none_of_the_best(share: float, depth: int) -> None:
    found = lists([0.9, 0.02, 0.6, 0.6, 0.3])
    eligible = np.random.default_rng(3).random(ROWS * BLOCKS) < share
    ordinals, scores = score_lists(found, STARTS, eligible, SATURATION, None)
    assert {*ordinals.tolist()} <= {*np.flatnonzero(eligible).tolist()}
    assert best(found, eligible, None, 1) == (ordinals.tolist(), scores.tobytes())
    least = np.sort(scores)[-depth] if depth <= len(scores) else 0.0
    wanted = ordinals[scores >= least].tolist(), scores[scores >= least].tobytes()
    assert best(found, eligible, depth, 1) == wanted
    assert best(found, eligible, depth, 10**9) == wanted


def test_frequent_words_are_looked_up_only_for_rows_that_may_be_among_the_best() -> None:
    found = lists([0.02, 0.9, 0.9, 0.9])
    scored = 0
    of = Saturation.of

    def counting(
        self: Saturation, each: TermList, tf: NDArray[np.uint8], lengths: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        nonlocal scored
        scored += len(tf)
        return of(self, each, tf, lengths)

    everything = np.ones(ROWS * BLOCKS, np.bool_)
    with patch.object(Saturation, "of", counting):
        best(found, everything, None, 1)
        all_of_them, scored = scored, 0
        best(found, everything, 10, 1)
    assert all_of_them == sum(len(rows) for each in found for rows, _ in each.postings)
    # The first window is scored whole.
    assert scored < all_of_them / 3


def test_without_terms_or_rows_nothing_is_found() -> None:
    for found, starts, rows in (
        (lists([]), STARTS, ROWS * BLOCKS),
        ([], [], 0),
        (lists([0.0]), STARTS, 3_200),
    ):
        ordinals, scores = score_lists(found, starts, np.ones(rows, np.bool_), SATURATION, 5)
        assert [ordinals.dtype, scores.dtype] == ["i8", "f8"]
        assert len(ordinals) == len(scores) == 0
