from __future__ import annotations

import pytest

from simonides.text.query_dsl import _Spaced, bare_words, sanitise, strongest_term


@pytest.mark.spec("JB-06")
@pytest.mark.parametrize(
    ("query", "cleaned"),
    [
        ('"Pump" AND the fuse*', "pump fuse"),
        ("get-together: $5 + tea", "together 5 tea"),
        ("what is it?", ""),
        ("\u201cpump\u201d", "pump"),
    ],
)
def test_sanitised(query: str, cleaned: str) -> None:
    assert sanitise(query) == cleaned


@pytest.mark.spec("JB-06")
@pytest.mark.parametrize(
    ("query", "strongest"),
    [
        ("the blown fuse", "blown"),
        ("a pump, an impeller", "impeller"),
        ("lamp fuse", "fuse"),
        ("lamp pump", "pump"),
        ("the fox", "fox"),
        ("fuse pump", "fuse"),
        ("recommendation pump", "pump"),
        ("ab cd", ""),
        ("", ""),
    ],
)
def test_the_longest_word_that_is_no_filler_then_the_rarest_then_the_first(
    query: str, strongest: str
) -> None:
    common = {"lamp": 9, "fuse": 2, "pump": 2}
    assert strongest_term(query, lambda word: common.get(word, 0)) == strongest


def test_words_are_cut_at_all_that_is_no_letter_mark_or_digit() -> None:
    assert bare_words("Tx_queue.rs:118 caf\u00e9 \u2192 x") == ["tx", "queue", "rs", "118", "caf\u00e9", "x"]


def test_each_character_is_settled_when_it_is_met() -> None:
    # A table of its own: that of the module has met these characters already.
    assert "a.b+c_1 \u00e9\u2192\u0301".translate(_Spaced()) == "a b c 1 \u00e9 \u0301"
