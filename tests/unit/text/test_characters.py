from __future__ import annotations

import string

import pytest

from simonides.text.normalise import CLASSES, JOINERS


@pytest.mark.parametrize(
    ("characters", "expected"),
    [
        ("AÉΩЯǅ", "uuuuu"),
        ("aéωяßאक", "lllllll"),
        ("7٣Ⅷ½", "ddld"),
        ("漢々〇", "HHH"),
        ("かカーㄅก", "hhhhh"),
        ("한", "k"),
        ("\u0301\u093f\u3099", "mmm"),
        ("🟢✔", "ss"),
        ("🇩", "r"),
        ("\ud83d\x00\n €→…", " " * 7),
    ],
)
def test_class_of(characters: str, expected: str) -> None:
    assert characters.translate(CLASSES) == expected


def test_of_ascii_punctuation_only_joiners_are_kept() -> None:
    kept = {mark for mark in string.punctuation if mark.translate(CLASSES) == mark}
    assert kept == set(JOINERS)
    assert all(mark.translate(CLASSES) == " " for mark in set(string.punctuation) - kept)
