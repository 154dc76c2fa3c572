"""Every known fault of this kind of software has a test that bears its number."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

# Letter → numbers of the faults of this kind of software, and of those that were found in simonides itself (N).
_NUMBERS: dict[str, tuple[int, ...]] = {
    "L": (*range(1, 7),),
    "V": (*range(1, 6),),
    "F": (*range(1, 6),),
    "T": (*range(1, 4),),
    "B": (*range(1, 4),),
    "W": (*range(1, 6),),
    "G": (1, 2),
    "R": (*range(1, 5),),
    "O": (*range(1, 4),),
    "X": (*range(1, 7),),
    "N": (*range(1, 14), *range(20, 26), 30, *range(40, 52), *range(60, 75), *range(80, 96)),
}
CASES = [f"{letter}{number}" for letter, numbers in _NUMBERS.items() for number in numbers]

_MARK = re.compile(r"""mark\.fault\(\s*["'](\w+)["']\s*\)""")


@cache
def cases_with_a_test() -> set[str]:
    """Numbers that tests bear."""
    return {
        case for path in TESTS.rglob("test_*.py") for case in _MARK.findall(path.read_text(encoding="utf-8"))
    }


def test_no_test_bears_an_unknown_number() -> None:
    unknown = cases_with_a_test() - set(CASES)
    # M numbers are measured facts.
    assert [case for case in sorted(unknown) if not re.fullmatch(r"M\d+", case)] == []


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_a_test(case: str) -> None:
    assert case in cases_with_a_test()
