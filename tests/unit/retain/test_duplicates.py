from __future__ import annotations

import numpy as np
import pytest

from simonides.retain.duplicates import SIMILAR_MEANING, SIMILAR_WORDS, says_again, sign

LONG = (
    "on the morning of the storm the night crew under Kofi replaced the old pump at the Marrowtide station "
    "because its seal had failed twice and nobody could find a spare in the store"
)


def again(one: str, other: str, cosine: float = 1.0) -> bool:
    return says_again(cosine, sign(one.lower().split()), sign(other.lower().split()), one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the fuse is blown", "The fuse is blown."),
        ("the fuse is blown", "  the FUSE,  is «blown»!  "),
        ("Ann: the fuse is blown", "ann – the fuse is blown"),
        ("“Quite so”, she said", '"quite so" she said'),
        ("José left", "Jose left"),
        ("the ﬁle is lost", "the file is lost"),
    ],
)
def test_case_and_punctuation_make_no_difference_at_any_cosine(one: str, other: str) -> None:
    assert again(one, other, cosine=0.0)


@pytest.mark.fault("R4")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("serial 4711 passed", "serial 4712 passed"),
        ("Ann pays Ben", "Ben pays Ann"),
        ("the relay is open", "the relay was open"),
        ("Odalys works at Norrhav", "Odalys worked at Norrhav"),
        ("the fuse is blown", "the fuse is not blown"),
        ("is the fuse blown?", "is the fuse blown"),
        ("it was -5 outside", "it was 5 outside"),
        ("the dose is .5 mg", "the dose is 5 mg"),
        ("the dose is 3.5 mg", "the dose is 35 mg"),
        ("it costs $5", "it costs €5"),
        ("it fell by 5%", "it fell by 5"),
        ("she reads C++", "she reads C"),
        ("good work 👍", "good work 👎"),
        ("Ann likes tea", "Anna likes tea"),
    ],
)
def test_what_tells_facts_apart_keeps_them_apart(one: str, other: str) -> None:
    assert not again(one, other)
    assert not again(f"{LONG}; {one}", f"{LONG}; {other}")


def test_articles_and_fillers_make_no_difference_in_long_texts_that_mean_the_same() -> None:
    other = LONG.replace("the old pump", "an old pump").replace("the storm", "storm")
    assert again(LONG, other)
    assert again(LONG, other, cosine=SIMILAR_MEANING)
    assert not again(LONG, other, cosine=SIMILAR_MEANING - 0.001)


def test_a_filler_in_a_short_text_changes_too_many_words() -> None:
    one, other = "Ann likes tea", "Ann likes the tea"
    assert float(np.mean(sign(one.lower().split()) == sign(other.lower().split()))) < SIMILAR_WORDS
    assert not again(one, other)


@pytest.mark.fault("R4")
@pytest.mark.parametrize(
    ("word", "another"),
    [("Kofi", "Wrenna"), ("replaced", "repaired"), ("twice", "once"), ("old", "new"), ("night", "day")],
)
def test_one_other_word_in_a_long_text_is_another_fact(word: str, another: str) -> None:
    assert not again(LONG, LONG.replace(word, another))


def test_a_word_more_is_another_fact() -> None:
    assert not again(LONG, f"{LONG} yesterday")


def test_texts_without_words_are_the_same_only_as_such() -> None:
    assert again("...", "!!!")
    assert not again("...", "fuse")
