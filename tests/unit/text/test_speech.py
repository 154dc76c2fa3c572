from __future__ import annotations

import pytest

from simonides.records.kind import Utterance
from simonides.text.speech import MOST_WORDS, asks, count_words, label_of, name_keys, speaker_key, utterance


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is the lamp?", True),
        ("Where is the lamp?  \n", True),
        ('She asked: "where is it?"', True),
        ("(Really?)", True),
        ("\u00bfD\u00f3nde est\u00e1?", True),
        ("\u30e9\u30f3\u30d7\u306f\uff1f", True),
        ("Where? In the hall.", False),
        ("The lamp is in the hall", False),
        ("?!", False),
        ("", False),
    ],
)
def test_a_text_asks_when_it_ends_with_a_question(text: str, expected: bool) -> None:
    assert asks(text) is expected


def test_words_are_counted_up_to_what_the_column_holds() -> None:
    assert count_words("") == 0
    assert count_words(" the  red\nlamp ") == 3
    assert count_words("a " * (MOST_WORDS + 5)) == MOST_WORDS


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Ines: hello", "Ines"),
        ("**Ines**: hello", ""),
        ("**Ines:** hello", "Ines"),
        ("Ines Moreau: hello", "Ines Moreau"),
        ("ines: hello", ""),
        ("Ines said: hello", ""),
        ("Ines:hello", ""),
        ("12:30 is lunch", ""),
        ("Ines:", ""),
    ],
)
def test_a_label_may_be_a_name(text: str, label: str) -> None:
    assert label_of(text) == label


def test_names_are_compared_folded() -> None:
    assert speaker_key("In\u00e9s Moreau") == speaker_key("ines  MOREAU") == speaker_key("ines-moreau")
    assert speaker_key("Ines") != speaker_key("Ina")
    assert speaker_key("") == speaker_key("...") == 0
    assert 0 < speaker_key("Ines") < 2**64


def test_a_query_names_all_runs_of_up_to_three_words() -> None:
    keys = name_keys("What did Ines Maria Moreau plant?")
    for name in ("Ines", "Ines Maria", "Maria Moreau", "Ines Maria Moreau"):
        assert speaker_key(name) in keys
    assert speaker_key("Ines Moreau") not in keys
    assert speaker_key("did Ines Maria Moreau") not in keys
    assert name_keys("") == frozenset()
    assert 0 not in name_keys("?!")


@pytest.mark.fault("N3")
@pytest.mark.parametrize(
    ("text", "speaker", "trust", "filed", "expected"),
    [
        ("Where is the lamp?", "", 1.0, False, Utterance.QUESTION),
        ("user: where is the lamp", "user", 1.0, False, Utterance.QUESTION),
        ("Ines Moreau: Where is the lamp?", "", 0.5, True, Utterance.QUESTION),
        ("assistant: Which lamp?", "assistant", 0.7, False, Utterance.QUESTION),
        ("assistant: In the attic.", "assistant", 0.7, False, Utterance.ASSISTANT),
        ("The lamp is in the attic.", "", 1.0, False, Utterance.STATEMENT),
        ("lamp: attic", "", 0.6, False, Utterance.TOOL_OUTPUT),
        ("lamp: attic", "", 0.6, True, Utterance.STATEMENT),
        ("lamp: attic?", "", 0.6, False, Utterance.TOOL_OUTPUT),
        ('{"name": "find", "arguments": "{\\"what\\": \\"lamp\\"}"}', "", 0.6, False, Utterance.QUESTION),
        ('{"arguments": "lamp", "output": "attic"}', "", 0.6, False, Utterance.TOOL_OUTPUT),
        ("<<memories 5be0f1c2a9d3e874>>\n[1] The lamp is here.", "", 0.6, False, Utterance.ECHO),
        ('{"output": "Not in memory: nothing was found."}', "", 0.6, False, Utterance.ECHO),
    ],
)
def test_what_a_row_does_is_known_by_its_text_and_its_trust(
    text: str, speaker: str, trust: float, filed: bool, expected: Utterance
) -> None:
    assert utterance(text, speaker, trust, filed=filed) is expected
