"""Every known fault of this kind of software has a test that bears its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

CASES = [
    "L1",
    "L2",
    "L3",
    "L4",
    "L5",
    "L6",
    "V1",
    "V2",
    "V3",
    "V4",
    "V5",
    "F1",
    "F2",
    "F3",
    "F4",
    "F5",
    "T1",
    "T2",
    "T3",
    "B1",
    "B2",
    "B3",
    "W1",
    "W2",
    "W3",
    "W4",
    "W5",
    "G1",
    "G2",
    "R1",
    "R2",
    "R3",
    "R4",
    "O1",
    "O2",
    "O3",
    "X1",
    "X2",
    "X3",
    "X4",
    "X5",
    "X6",
]

_MARK = re.compile(r"""mark\.fault\(\s*["'](\w+)["']\s*\)""")


def cases_with_a_test() -> set[str]:
    """Numbers that tests bear."""
    return {
        case for path in TESTS.rglob("test_*.py") for case in _MARK.findall(path.read_text(encoding="utf-8"))
    }


def test_no_test_bears_an_unknown_number() -> None:
    unknown = cases_with_a_test() - set(CASES)
    # M numbers are measured facts, N numbers faults that were found in simonides itself.
    assert [case for case in sorted(unknown) if not re.fullmatch(r"[MN]\d+", case)] == []


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_a_test(case: str) -> None:
    assert case in cases_with_a_test()
