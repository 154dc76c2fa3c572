from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.text.similarity import EditPattern

WORDS = st.text("abc", max_size=9)


def table(one: str, other: str) -> list[list[int]]:
    """The textbook's table of optimal string alignment, [beginning of one][beginning of other]."""
    found = [[i + j for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            found[i][j] = min(
                found[i - 1][j] + 1, found[i][j - 1] + 1, found[i - 1][j - 1] + (one[i - 1] != other[j - 1])
            )
            if i > 1 and j > 1 and one[i - 2 : i] == other[j - 2 : j][::-1]:
                found[i][j] = min(found[i][j], found[i - 2][j - 2] + 1)
    return found


@given(WORDS, WORDS)
def test_the_distance_is_that_of_the_textbook(one: str, other: str) -> None:
    assert EditPattern(one).distance(other) == table(one, other)[-1][-1]


@given(WORDS, WORDS)
def test_the_distance_from_a_beginning_is_the_least_of_its_column(one: str, other: str) -> None:
    column = [row[-1] for row in table(one, other)]
    distance, left = EditPattern(one).to_beginning(other)
    assert distance == min(column)
    assert column[len(one) - left] == distance
    assert distance < min(column[len(one) - left + 1 :], default=len(one) + len(other) + 1)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("kye", "key", 1), ("phsyio", "physio", 1), ("bycicle", "bicycle", 2), ("", "abc", 3), ("abc", "", 3)],
)
def test_a_swap_of_neighbours_is_one_error(one: str, other: str, distance: int) -> None:
    assert EditPattern(one).distance(other) == distance
