"""How much a text matters and how sure it is, from cues alone.

    salience   = ½ + ½ · (1 − Π (1 − w))  over the cues found;  × 0.4 for a text that only greets or thanks,
                 × 0.8 for one that only asks
    confidence = Π f  over the hedges found, at least 0.2

Each cue counts once. A negation changes neither: "is not allergic" matters as much and is as sure. What the
bank knows already (novelty, the trust of the source) is added at the write.

Source: the weights are judgements; they order memories and mean no probability. Cost: about 10 µs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.retain.extraction.passage import Cue, by_trigger, section, triggered
from simonides.retain.extraction.rules import read_rules

if TYPE_CHECKING:
    from simonides.retain.extraction.passage import Passage

NEUTRAL_SALIENCE = 0.5
LOWEST_CONFIDENCE = 0.2
_SMALL_TALK_FACTOR = 0.4
_QUESTION_FACTOR = 0.8
_MOST_SMALL_TALK_WORDS = 12


@dataclass(frozen=True, slots=True)
class WeightedCue(Cue):
    """A cue with a number.

    Attributes:
        weight: for salience, in (0, 1): how much it matters; for hedges, the factor on confidence.
    """

    weight: float


SALIENT, HEDGES = (
    tuple(WeightedCue(*rule.cue, float(rule["weight"])) for rule in read_rules(file))
    for file in ("salient", "hedges")
)
_SALIENT_INDEX, _HEDGE_INDEX = by_trigger(SALIENT), by_trigger(HEDGES)


def salience(passage: Passage, body: int = 0, *, names: int = 0) -> float:
    """How much the cues say that the text matters, in [0, 1]; 0.5 without a cue.

    *body* is where speech starts behind a speaker's label; a text with *names* is no small talk.
    """
    text = passage.text
    remaining = 1.0
    if passage.english:
        for cue in triggered(passage, SALIENT, _SALIENT_INDEX):
            if any(True for _ in cue.matches(text)):
                remaining *= 1 - cue.weight
    value = NEUTRAL_SALIENCE + (1 - NEUTRAL_SALIENCE) * (1 - remaining)
    if remaining == 1.0:
        if names == 0 and _is_small_talk(passage, body):
            value *= _SMALL_TALK_FACTOR
        elif _only_asks(text[body:]):
            value *= _QUESTION_FACTOR
    return round(value, 6)


def confidence(passage: Passage) -> float:
    """How sure the text is of itself, in [0.2, 1]; 1 without a hedge."""
    value = 1.0
    if passage.english:
        for cue in triggered(passage, HEDGES, _HEDGE_INDEX):
            if any(True for _ in cue.matches(passage.text)):
                value *= cue.weight
    return round(max(value, LOWEST_CONFIDENCE), 6)


_SMALL_TALK = section("grammar", "small_talk")


def _is_small_talk(passage: Passage, body: int) -> bool:
    """Whether nothing is said but greetings, thanks and assent."""
    words = passage.words_between(body, len(passage.text))
    return 0 < len(words) <= _MOST_SMALL_TALK_WORDS and all(word in _SMALL_TALK for word in words)


def _only_asks(text: str) -> bool:
    """Whether every sentence of the text is a question."""
    stripped = text.rstrip(" \t\r\n\"')")
    return stripped.endswith("?") and not any(mark in stripped for mark in (".", "!", "\n"))
