from __future__ import annotations

import pytest

from simonides.errors import InputError
from simonides.retain.conversations import context_of

TURNS = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("index", "before", "after", "expected"),
    [
        (0, 1, 1, "b"),
        (1, 1, 1, "a\nc"),
        (3, 1, 1, "c"),
        (2, 2, 0, "a\nb"),
        (1, 0, 2, "c\nd"),
        (1, 9, 9, "a\nc\nd"),
        (1, 0, 0, ""),
    ],
)
def test_the_window_holds_the_neighbours_in_order(index: int, before: int, after: int, expected: str) -> None:
    assert context_of(TURNS, index, before=before, after=after) == expected


def test_one_turn_on_each_side_is_the_default() -> None:
    assert context_of(TURNS, 2) == "b\nd"


def test_blank_turns_and_outer_space_are_left_out() -> None:
    assert context_of([" a ", "b", " \n", "c"], 1, after=2) == "a\nc"


@pytest.mark.parametrize("index", [-1, 4])
def test_a_position_outside_is_refused(index: int) -> None:
    with pytest.raises(InputError, match=r"index: .*outside the 4 turns"):
        context_of(TURNS, index)


@pytest.mark.parametrize("options", [{"before": -1}, {"after": -1}])
def test_a_negative_number_of_turns_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(InputError, match="is negative"):
        context_of(TURNS, 1, **options)
