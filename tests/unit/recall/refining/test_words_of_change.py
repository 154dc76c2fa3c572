from __future__ import annotations

import pytest

from simonides.recall.refining.newer_first import ChangeWords, says_changed
from simonides.text.analyser import TextAnalyser

pytestmark = pytest.mark.fault("N4")


def changes(old: str, new: str, *, asked: str = "", speakers: tuple[str, str] = ("", "")) -> bool:
    analyser = TextAnalyser()
    one, other = (
        ChangeWords(text, speaker.casefold(), speaker == "assistant", analyser)
        for text, speaker in zip((old, new), speakers, strict=True)
    )
    return says_changed(one, other, frozenset(analyser.query_terms(asked)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My figs exam is on 30 November.", "They moved the figs exam to 7 December."),
        ("The ferry leaves pier 4 at 9:20.", "The ferry was rescheduled to 8:00."),
        (
            "The kiln uses slot 12 in the shed.",
            "Slot 12 in the shed is full, so from now on the kiln uses 14.",
        ),
        (
            "The first nights are at Hotel Vesper, paid.",
            "Hotel Vesper cancelled; we sleep at Inn Lark instead.",
        ),
        ("Biscuit the goat weighed 21 kilos.", "Biscuit the goat weighs 23 kilos now."),
    ],
)
def test_a_text_may_say_that_something_changed(old: str, new: str) -> None:
    assert changes(old, new)
    assert not changes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The ferry leaves pier 4 at 9:20.", "The kiln was moved to the shed at 8:00."),
        ("The kiln uses slot 12 in the shed.", "The kiln in the shed uses slot 14."),
        ("We saw Ms. Brenn order 12 figs.", "We moved; Ms. Hale will order 14 figs."),
        ("The kiln in the shed is old.", "The kiln in the shed is now warm."),
        ("We love figs and tea and boats.", "Now we love figs and tea more than ever."),
    ],
)
def test_what_is_about_something_else_or_has_no_value_changes_nothing(old: str, new: str) -> None:
    assert not changes(old, new)


def test_it_shares_what_is_asked_for() -> None:
    old, new = "My salary is 2,100 euros a month.", "The rent went up to 840 euros a month."
    assert changes(old, new)
    assert not changes(old, new, asked="salary")


def test_another_person_changes_nothing_but_an_assistant_is_told() -> None:
    old, new = "My figs exam is on 30 November.", "They moved the figs exam to 7 December."
    assert not changes(old, new, speakers=("Tove", "Ines"))
    assert changes(old, new, speakers=("assistant", "user"))
    assert changes(old, new, speakers=("Tove", "tove"))
