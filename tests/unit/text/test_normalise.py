from __future__ import annotations

import time

import pytest

from simonides.text.normalise import fold_case, fold_characters


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("plain ASCII stays", "plain ASCII stays"),
        ("Crème BRÛLÉE", "Creme BRULEE"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "Full width"),
        ("ｶﾞ", "ガ"),
        ("e\u0301", "e"),
        ("ά Ё й Ї ў", "α Е й Ї ў"),
        ("１２ ٣", "12 3"),
        ("it’s", "it's"),
        ("a\u200d\u00ad\ufe0fb", "ab"),
        ("क़ि ता", "क\u093cि ता"),
        ("\ud83d", "\ud83d"),
    ],
)
def test_fold_characters(text: str, folded: str) -> None:
    assert fold_characters(text) == folded


@pytest.mark.parametrize(
    ("piece", "folded"),
    [("WORD", "word"), ("Straße", "strasse"), ("ÆØ", "aeo"), ("ΣΑΣ", "σασ"), ("\u0131", "i")],
)
def test_fold_case(piece: str, folded: str) -> None:
    assert fold_case(piece) == folded


def test_a_run_of_marks_is_cut_to_the_stream_safe_limit() -> None:
    assert fold_characters("न" + "\u094d" * 100 + "म") == "न" + "\u094d" * 30 + "म"


def test_marks_with_hidden_characters_between_them_are_one_run() -> None:
    # Sorting a run is quadratic in the standard library; this text would take minutes uncut.
    start = time.process_time()
    fold_characters("न" + ("\u093c\u094d" * 10 + "\u200d") * 10_000)
    assert time.process_time() - start < 5
