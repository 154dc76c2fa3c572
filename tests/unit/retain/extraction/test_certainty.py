from __future__ import annotations

import pytest

from simonides.retain.extraction.certainty import LOWEST_CONFIDENCE, confidence, salience
from simonides.retain.extraction.passage import Passage


def salience_of(text: str) -> float:
    return salience(Passage.read(text))


@pytest.mark.spec("HX-10")
def test_salience_grows_with_each_cue_and_stays_below_one() -> None:
    plain = salience_of("The quay is wet.")
    important = salience_of("It is important: the quay is wet.")
    more = salience_of("It is important: Isaura is allergic to hazelnuts.")

    assert plain == pytest.approx(0.5)
    assert important == pytest.approx(0.5 + 0.5 * 0.5)
    assert more == pytest.approx(0.5 + 0.5 * (1 - 0.5 * 0.3))
    assert more < 1


@pytest.mark.spec("HX-10")
def test_confidence_falls_with_each_hedge_to_a_floor() -> None:
    assert confidence(Passage.read("The sensor froze.")) == pytest.approx(1)
    assert confidence(Passage.read("Maybe the sensor froze.")) == pytest.approx(0.7)
    assert confidence(Passage.read("Maybe, I think, the sensor froze.")) == pytest.approx(0.7 * 0.8)
    assert confidence(
        Passage.read("Rumour: maybe it probably might, I think, but I am not sure.")
    ) == pytest.approx(LOWEST_CONFIDENCE)


def test_a_cue_counts_once() -> None:
    assert salience_of("Important, important, important.") == salience_of("Important.")


def test_a_negation_changes_neither() -> None:
    yes, no = Passage.read("Bo is allergic to nuts."), Passage.read("Bo is not allergic to nuts.")

    assert salience(yes) == salience(no)
    assert confidence(yes) == confidence(no)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks, see you later!", 0.2),
        ("Where is the quay?", 0.4),
        ("Wet. Where is the quay?", 0.5),
        ("", 0.5),
    ],
)
def test_small_talk_and_questions_matter_less(text: str, expected: float) -> None:
    assert salience_of(text) == pytest.approx(expected)


def test_small_talk_with_a_name_is_none() -> None:
    assert salience(Passage.read("Hello!"), names=1) == pytest.approx(0.5)


def test_in_other_languages_nothing_is_judged() -> None:
    passage = Passage.read("Es ist important, dass wir nicht mit dem Boot, maybe, und der Hund so.")

    assert salience(passage) == pytest.approx(0.5)
    assert confidence(passage) == pytest.approx(1)
