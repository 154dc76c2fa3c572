from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.index.columns import meets, middles, proximity
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNDATED = (FOREVER, BEGINNING)


def columns(*ranges: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, last = zip(*ranges, strict=True)
    return np.array(first, np.int64), np.array(last, np.int64)


@pytest.mark.parametrize(
    ("occurred", "expected"),
    [
        ((0, 10), False),
        ((0, 11), True),
        ((10, 20), True),
        ((19, 30), True),
        ((20, 30), False),
        ((10, 10), True),
        ((20, 20), False),
        ((9, 9), False),
        ((BEGINNING, 11), True),
        ((15, FOREVER), True),
        (UNDATED, False),
    ],
)
def test_ranges_meet_a_half_open_time(occurred: tuple[int, int], expected: bool) -> None:
    time = Interval(10, 20, Precision.RANGE)
    assert meets(*columns(occurred), time).tolist() == [expected]
    if occurred != UNDATED:
        assert Interval(*occurred).overlaps(10, 20) is expected


def test_an_instant_meets_what_it_lies_in() -> None:
    ranges = columns((0, 10), (10, 20), (10, 10), (11, 11), (5, 15), UNDATED)
    assert meets(*ranges, Interval(10, 10)).tolist() == [False, True, True, False, True, False]


def test_open_times_meet_everything_dated_on_their_side() -> None:
    ranges = columns((0, 10), (10, 20), UNDATED)
    assert meets(*ranges, Interval(BEGINNING, 10)).tolist() == [True, False, False]
    assert meets(*ranges, Interval(10, FOREVER)).tolist() == [False, True, False]


def test_middles_take_the_end_that_is_known() -> None:
    ranges = columns((0, 10), (4, 4), (BEGINNING, 8), (6, FOREVER), UNDATED, (BEGINNING, FOREVER))
    assert middles(*ranges).tolist()[:4] == [5.0, 4.0, 8.0, 6.0]
    assert np.isnan(middles(*ranges)[4:]).all()


@pytest.mark.spec("HI-09")
def test_proximity_falls_from_the_centre_to_the_edge() -> None:
    ranges = columns((50, 50), (0, 0), (100, 100), (25, 25), (70, 80), (1000, 1000), (0, 100), UNDATED)
    assert proximity(*ranges, Interval(0, 100)).tolist() == [1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 1.0, 0.5]


@pytest.mark.spec("HI-09")
def test_a_time_without_length_or_centre() -> None:
    ranges = columns((50, 50), (10**15, 10**15), UNDATED)
    assert proximity(*ranges, Interval(50, 50)).tolist() == [1.0, 1.0, 0.5]
    for time in (None, Interval(BEGINNING, 100), Interval(0, FOREVER)):
        assert proximity(*ranges, time).tolist() == [0.5, 0.5, 0.5]
