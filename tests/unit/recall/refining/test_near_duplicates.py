from __future__ import annotations

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.refining.diversity import (
    NearDuplicates,
    _one_number_each,
    banded_pairs,
    jaccard,
)
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

NINE = "one two three four five six seven eight nine"
TEN = f"{NINE} ten"  # shares 9 of 10 words with NINE


def stage(threshold: float = 0.8, *, spare_numbers: bool = False) -> NearDuplicates:
    return NearDuplicates(threshold, 32, 4, spare_numbers)


def kept(texts: list[str], refiner: NearDuplicates | None = None) -> list[int]:
    view = FakeView.of([fake_memory(text, id=f"m{n}") for n, text in enumerate(texts)])
    pool = tuple(Candidate(n, 1.0 / (n + 1), "blend") for n in range(len(texts)))
    refined = (refiner or stage()).refine(view, fake_query("q"), pool, fake_tools())
    left = [candidate.ordinal for candidate in refined.pool]
    assert sorted([*left, *refined.dropped]) == list(range(len(texts)))
    return left


@pytest.mark.spec("HX-11")
def test_the_better_placed_of_two_near_duplicates_stays() -> None:
    assert kept([TEN, "something else", NINE]) == [0, 1]
    assert kept([NINE, "something else", TEN]) == [0, 1]


@pytest.mark.spec("HX-11")
def test_it_says_of_what_and_how_alike() -> None:
    view = FakeView.of([fake_memory(TEN, id="first"), fake_memory(NINE, id="second")])
    pool = (Candidate(0, 2.0, "blend"), Candidate(1, 1.0, "blend"))
    dropped = stage().refine(view, fake_query("q"), pool, fake_tools()).dropped
    assert dropped == {
        1: "says again what memory first says, which is placed better: similarity 0.900, dropped from 0.8"
    }


@pytest.mark.spec("HX-11")
def test_below_the_threshold_both_stay() -> None:
    assert kept([TEN, NINE], stage(0.91)) == [0, 1]


@pytest.mark.spec("HX-11")
def test_a_dropped_memory_drops_no_other() -> None:
    # Each is 0.8 like its neighbour and 0.6 like the one after that.
    first, second, third = "a b c d", "a b c d e", "a b c d e f g"
    assert jaccard(frozenset(second.split()), frozenset(third.split())) == pytest.approx(5 / 7)
    assert kept([first, second, third], stage(0.7)) == [0, 2]


def test_records_that_differ_in_a_number_stay_if_asked_for() -> None:
    texts = [f"The pump in hall four has the serial number {n}" for n in (1041, 1042, 1043)]
    assert kept(texts) == [0]
    assert kept(texts, stage(spare_numbers=True)) == [0, 1, 2]
    assert kept([texts[0], texts[0] + "!"], stage(spare_numbers=True)) == [0]


def test_texts_without_words_are_no_duplicates() -> None:
    assert kept(["!!!", "???"]) == [0, 1]
    assert kept([]) == []


def test_only_memories_that_share_a_band_are_read() -> None:
    view = FakeView.of([fake_memory(TEN), fake_memory(NINE), fake_memory("quite another thing altogether")])
    pool = tuple(Candidate(n, 1.0, "blend") for n in range(3))
    signatures = view.signatures([0, 1, 2])
    view.fetched.clear()
    pairs = banded_pairs(signatures, 32, 4)
    assert pairs == {1: {0}}
    stage().refine(view, fake_query("q"), pool, fake_tools())
    # Once for the signatures, which the fake makes of the texts, and once for those that share a band.
    assert view.fetched == [0, 1, 2, 0, 1]


def test_a_band_is_shared_only_as_a_whole() -> None:
    signatures = np.array([[1, 2, 3, 4], [1, 2, 9, 4], [9, 2, 3, 4]], np.uint32)
    assert banded_pairs(signatures, 2, 2) == {1: {0}, 2: {0}}


def test_bands_that_differ_may_have_the_same_number() -> None:
    signatures = np.array([[2_971_215_073, 50_920_843], [0, 0], [0, 0]], np.uint32)
    first, second, _ = _one_number_each(signatures.reshape(3, 1, 2))[0].tolist()
    assert first == second
    assert banded_pairs(signatures, 1, 2) == {2: {1}}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ((0.0, 32, 4), "threshold"),
        ((1.1, 32, 4), "threshold"),
        ((0.8, 0, 4), "bands"),
        ((0.8, 32, 0), "rows"),
        ((0.8, 33, 4), "bands"),
    ],
)
def test_options_out_of_range_are_refused(options: tuple[float, int, int], field: str) -> None:
    with pytest.raises(InputError, match=f"{field}: "):
        NearDuplicates(*options, spare_numbers=False)
