from __future__ import annotations

import pytest

from simonides.errors import InputError
from simonides.profiles.loader import load_profile
from simonides.recall.understanding.question import INTENTS, Intent
from simonides.testing.fakes import FakeView, fake_query, fake_tools

INTENT = next(step.stage for step in load_profile("engram").understanders if step.name == "intent")
VIEW = FakeView.of([])


def intent_of(question: str) -> str:
    return INTENT.understand(VIEW, fake_query(question), fake_tools()).intent


@pytest.mark.spec("EN-01")
@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Why did the pump stop?", "why"),
        ("the reason it stopped", "why"),
        ("what led  to the flood", "why"),
        ("When was the flood?", "when"),
        ("history of the pump", "when"),
        ("what happened before lunch", "when"),
        ("Who was there?", "who"),
        ("the team of the north", "who"),
        ("how to fix the pump", "how"),
        ("steps for the pump", "how"),
        ("what is the pump", "what"),
        ("whys and whens, howto", "what"),
        ("how is the pump", "what"),
        ("", "what"),
    ],
)
def test_words_speak_for_an_intent(question: str, intent: str) -> None:
    assert intent_of(question) == intent


@pytest.mark.spec("EN-01")
@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("why did the team stop when people left", "who"),  # two words for who
        ("why and when", "why"),
        ("when and who", "when"),
        ("who, how to", "who"),
        ("the process, the workflow, who and why", "how"),
    ],
)
def test_the_most_matches_win_and_ties_go_in_order(question: str, intent: str) -> None:
    assert intent_of(question) == intent


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"why": ("why",)}, "needs a list for each of why, when, who, how"),
        ({**dict.fromkeys(INTENTS, ("x",)), "where": ("where",)}, "and no other"),
        ({**dict.fromkeys(INTENTS, ("x",)), "who": ()}, r"words\.who"),
        ({**dict.fromkeys(INTENTS, ("x",)), "how": (" ",)}, r"words\.how"),
    ],
)
def test_lists_that_are_missing_or_empty_are_refused(words: dict[str, tuple[str, ...]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Intent(words)
