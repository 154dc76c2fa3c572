from __future__ import annotations

import pytest

from simonides.retain.resolution import fold_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann", "ann"),
        ("VX-1103", "vx 1103"),
        ("VX_1103", "VX-1103"),
        ("Odalys  Fennimark", "Odalys Fennimark"),
        ("Odalys\u00a0Fennimark", "odalys fennimark"),
        ("Gullspire.", "Gullspire"),
        ("José", "Jose"),
        ("Ｇｕｌｌｓｐｉｒｅ", "Gullspire"),
        ("O'Dowd", "O’Dowd"),
        ("Straße", "STRASSE"),
        ("Ann-Marie", "Ann Marie"),
    ],
)
def test_case_width_accents_spaces_and_punctuation_fold_away(one: str, other: str) -> None:
    assert fold_name(one) == fold_name(other)


@pytest.mark.fault("G1")
@pytest.mark.parametrize(
    "names",
    [
        ("Ann", "Joann", "Anna", "Ann-Marie"),
        ("Alex", "Alexa", "Alexander"),
        ("VX-1103", "VX-1105", "VX-110", "VX-11035"),
        ("C", "C++", "C#"),
        ("main.py", "main/py"),
        ("@odalys", "odalys"),
        ("v1.2", "v1.20", "v12"),
    ],
)
def test_likeness_folds_nothing(names: tuple[str, ...]) -> None:
    assert len({fold_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["", " ", "...", "-", "\u200b"])
def test_what_holds_no_letter_folds_to_nothing(name: str) -> None:
    assert fold_name(name) == ""


def test_folding_twice_changes_nothing() -> None:
    for name in ("VX-1103", "O’Dowd", "C++", "ｖ1.2.", "José  Niño", "a_b-c/d"):
        assert fold_name(fold_name(name)) == fold_name(name)
