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


SALIENT = (
    WeightedCue(
        "important",
        r"\b(?:important(?:ly)?|crucial|critical(?:ly)?|essential|vital|urgent(?:ly)?|top\s+priority"
        r"|key\s+(?:point|fact))\b",
        "important importantly crucial critical critically essential vital urgent urgently priority key",
        "It is important to wait one full day.",
        "She lost her key at the priory.",
        0.5,
    ),
    WeightedCue(
        "remember",
        r"\b(?:(?:please\s+|always\s+)?remember\s+(?:that|to)|don't\s+forget|do\s+not\s+forget"
        r"|note\s+that|keep\s+in\s+mind|take\s+note)\b",
        "remember forget note mind",
        "Remember that the datum is always named.",
        "I remember the sea.",
        0.6,
    ),
    WeightedCue(
        "must",
        r"\b(?:must(?!\s+(?:have|feel|seem|look|add|mean|be\s+\w+(?<!ed))\b|'ve)|mustn't|(?:is"
        r"|are)\s+(?:required|mandatory|forbidden|not\s+allowed)|under\s+no\s+circumstances)\b",
        "must mustn't required mandatory forbidden allowed circumstances",
        "The pair must be rotated.",
        "It must be nice; loud music is allowed.",
        0.4,
    ),
    WeightedCue(
        "always or never",
        r"\b(?:always|never)\b(?!\s+mind\b)",
        "always never",
        "Alerts never go out by text.",
        "Never mind.",
        0.25,
    ),
    WeightedCue(
        "settled",
        r"(?<!\bnot\s)(?<!n't\s)\b(?:decided|decision|agreed\s+(?:to|that|on)|from\s+now\s+on|approved"
        r"|ruled\s+out)\b",
        "decided decision agreed now approved ruled",
        "We decided to split the batches.",
        "We have not decided.",
        0.5,
    ),
    WeightedCue(
        "deadline",
        r"\b(?:deadline|due\s+(?:on|by|date)|no\s+later\s+than|expires?\s+(?:on|in|at)"
        r"|by\s+(?:the\s+)?(?:end\s+of|mon|tues|wednes|thurs|fri|satur|sun)\w*)\b",
        "deadline due later expire expires by",
        "The deadline is 2 March.",
        "Stand by me.",
        0.5,
    ),
    WeightedCue(
        "health",
        r"\b(?:allerg(?:ic|y|ies)|anaphyla\w+|medication|diagnosed|pregnant|surgery|hospital|emergency"
        r"|epilep\w+|diabet\w+|insulin|blood\s+type)\b",
        "allergic allergy allergies anaphylaxis anaphylactic medication diagnosed pregnant surgery "
        "hospital emergency epilepsy epileptic diabetes diabetic insulin blood",
        "Isaura is allergic to hazelnuts.",
        "Blood is thicker than water.",
        0.7,
    ),
    WeightedCue(
        "secret",
        r"\b(?:passwords?|passphrase|secret\s+key|api\s+key|credentials?|confidential|do\s+not\s+share"
        r"|off\s+the\s+record)\b",
        "password passwords passphrase secret api credential credentials confidential share record",
        "The passphrase is kept in two envelopes.",
        "The record is broken.",
        0.5,
    ),
    WeightedCue(
        "turn of life",
        r"\b(?:got\s+(?:married|engaged|divorced|promoted|fired|hired)|(?:is|was)\s+born|died"
        r"|passed\s+away|quit\s+(?:my|his|her|their)\s+job"
        r"|lost\s+(?:my|his|her|their)\s+job|new\s+job|graduated|retire[sd]|moved\s+to|moving\s+to"
        r"|had\s+a\s+(?:baby|son|daughter|child))\b",
        "married engaged divorced promoted fired hired born died passed quit lost job graduated "
        "retires retired moved moving baby son daughter child",
        "Nerys had a daughter called Wrenna.",
        "The job is done.",
        0.5,
    ),
    WeightedCue(
        "failure",
        r"\b(?:outage|incident|data\s+loss|root\s+cause|security|vulnerability|breach|postmortem|rollback"
        r"|corrupt(?:ed|ion)|lost\s+data)\b",
        "outage incident data root security vulnerability breach postmortem rollback corrupted corruption",
        "The outage was caused by a leap second.",
        "The data are fine.",
        0.4,
    ),
    WeightedCue(
        "likes",
        r"\b(?:prefers?|favou?rite|hates?|dislikes?|can(?:no|')t\s+stand)\b",
        "prefer prefers favourite favorite hate hates dislike dislikes stand",
        "Nerys prefers charts without gridlines.",
        "Stand up.",
        0.3,
    ),
)

HEDGES = (
    WeightedCue(
        "maybe",
        r"\b(?:maybe|perhaps|possibly|potentially|conceivably)\b",
        "maybe perhaps possibly potentially conceivably",
        "Maybe the sensor froze.",
        "The sensor may be frozen.",
        0.7,
    ),
    WeightedCue(
        "probably",
        r"\b(?:probably|presumably|likely|apparently|seemingly|supposedly)\b",
        "probably presumably likely apparently seemingly supposedly",
        "The sensor probably froze.",
        "A probable cause is known.",
        0.8,
    ),
    WeightedCue(
        "I think",
        r"\b(?:(?:i|we)\s+(?:think|believe|guess|suppose|assume|suspect|reckon|imagine)"
        r"|if\s+i\s+(?:recall|remember)|as\s+far\s+as\s+i\s+know|in\s+my\s+opinion|imho|iirc|afaik)\b",
        "think believe guess suppose assume suspect reckon imagine recall remember know opinion imho "
        "iirc afaik",
        "I think the sensor froze.",
        "Think twice.",
        0.8,
    ),
    WeightedCue(
        "not sure",
        r"\b(?:not\s+(?:\w+\s+)?(?:sure|certain)|unsure|uncertain|unclear|don't\s+know|no\s+idea"
        r"|unconfirmed|tentative(?:ly)?)\b",
        "sure certain unsure uncertain unclear know idea unconfirmed tentative tentatively",
        "I am not sure that the sensor froze.",
        "For sure, a good idea.",
        0.6,
    ),
    WeightedCue(
        "might",
        r"\b(?:might|could\s+(?:be|have)|may\s+(?:be|have|well|not)|seems?\s+(?:to|like)|looks\s+as\s+if)\b",
        "might could may seem seems looks",
        "The sensor might have frozen.",
        "On 2 May we could see it.",
        0.8,
    ),
    WeightedCue(
        "rumour",
        r"\b(?:rumou?rs?|allegedly|hearsay|gossip|(?:i|we)\s+heard|heard\s+(?:that|from)|word\s+is"
        r"|people\s+say|they\s+say)\b",
        "rumour rumor rumours rumors allegedly hearsay gossip heard word say",
        "There is a rumour that the office moves.",
        "I can not say a word.",
        0.5,
    ),
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
