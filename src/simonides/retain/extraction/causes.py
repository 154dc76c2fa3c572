"""One part of a text leads to another: because, so that, led to, therefore.

Each connective is a record: which side is the cause, how far its parts reach, and how surely it speaks of a
cause. Spans stay within a sentence, end at the next connective, and leave the connective itself out; a
connective that opens a sentence (``Therefore …``) joins it to the sentence before.

``since`` is a cause only where a verb in the present follows it and no time does: ``since May`` and
``since we moved`` are left out, although the latter may mean either.

Source: weights are judgements, not measurements; they only order links. Cost: linear; about 15 µs for 40
words with one connective.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from simonides.records.extraction import Cause
from simonides.retain.extraction.passage import Cue, by_trigger, triggered
from simonides.retain.extraction.rules import read_rules

if TYPE_CHECKING:
    from simonides.retain.extraction.passage import Passage, Span


class Shape(StrEnum):
    """Where cause and effect stand."""

    EFFECT_FIRST = "effect first"
    """``E because C``; at the start of a sentence ``Because C, E``."""

    CAUSE_FIRST = "cause first"
    """``C led to E``."""

    NEXT_SENTENCE = "next sentence"
    """``C. Therefore E``; inside a sentence as CAUSE_FIRST."""


@dataclass(frozen=True, slots=True)
class Connective(Cue):
    """Words that join a cause and its effect.

    Attributes:
        finds: cause and effect in the example.
        weight: how surely the words state a cause, in (0, 1].
        nouns: a part may be a single word.
    """

    finds: tuple[str, str]
    shape: Shape
    weight: float
    nouns: bool = False


CONNECTIVES = tuple(
    Connective(
        *rule.cue, rule.pairs("finds")[0], Shape(rule["shape"]), float(rule["weight"]), rule["is"] == "nouns"
    )
    for rule in read_rules("causes")
)
"""Every connective; where two match at one place, the longer match counts."""

_BY_TRIGGER = by_trigger(CONNECTIVES)
_LONGEST_PART = 300
_EDGE = ' \t\r\n,;:–—-.!?…"()[]*_`'
_OPENING = re.compile(r"(?:and|but|or|well|so|also|then|yet|only|just)\b\s*+(?:,\s*+)?", re.IGNORECASE)
_BREAK = re.compile(r"[;:]|\s[–—-]\s|,\s+(?:but|and\s+(?:i|we|he|she|it|they))\b", re.IGNORECASE)


def find_causes(passage: Passage, body: int = 0) -> tuple[Cause, ...]:
    """The causes that connectives state, by the place of the connective; their spans never overlap.

    *body* is where to start: a speaker's label in front is part of nothing.
    """
    if not passage.english:
        return ()
    matches = _matches(passage, body)
    found = []
    for place, (connective, start, stop) in enumerate(matches):
        earlier = matches[place - 1][2] if place else body
        later = matches[place + 1][1] if place + 1 < len(matches) else len(passage.text)
        cause = _read(passage, connective, (start, stop), (max(body, earlier), later))
        if cause is not None:
            found.append(cause)
    return tuple(found)


def _matches(passage: Passage, body: int) -> list[tuple[Connective, int, int]]:
    """Connectives by place, not overlapping, the longer first."""
    found = [
        (match.start(), -match.end(), order, connective)
        for order, connective in enumerate(triggered(passage, CONNECTIVES, _BY_TRIGGER))
        for match in connective.matches(passage.text)
        if match.start() >= body
    ]
    found.sort(key=lambda entry: entry[:3])
    kept: list[tuple[Connective, int, int]] = []
    for start, negative_stop, _, connective in found:
        if not kept or start >= kept[-1][2]:
            kept.append((connective, start, -negative_stop))
    return kept


def _read(passage: Passage, connective: Connective, place: Span, bounds: Span) -> Cause | None:
    """Cause and effect around one connective, if both have words."""
    text, (start, stop) = passage.text, place
    number = passage.sentence_number(start)
    first, last = passage.sentence_starts[number], passage.sentence_end(number)
    if text[max(first, last - 4) : last].rstrip().endswith("?"):
        return None
    before = _trim(text, _reach_back(text, max(first, bounds[0]), start))
    after = _trim(text, _reach_on(text, stop, min(last, bounds[1])))
    if before is None or _OPENING.fullmatch(text[before[0] : before[1]]):
        if connective.shape is Shape.EFFECT_FIRST:
            return _opened(text, connective, (stop, min(last, bounds[1])))
        before = _sentence_before(passage, connective, number, bounds[0])
    if before is None or after is None or not _are_whole(text, connective, before, after):
        return None
    cause, effect = (after, before) if connective.shape is Shape.EFFECT_FIRST else (before, after)
    return Cause(cause, effect, connective.weight)


def _sentence_before(passage: Passage, connective: Connective, number: int, bound: int) -> Span | None:
    """The sentence that a connective at the start of sentence *number* goes on from."""
    if connective.shape is not Shape.NEXT_SENTENCE or number == 0:
        return None
    stop = passage.sentence_starts[number]
    start = max(passage.sentence_starts[number - 1], bound, stop - _LONGEST_PART)
    return _trim(passage.text, (start, stop))


def _are_whole(text: str, connective: Connective, before: Span, after: Span) -> bool:
    """Whether both parts have as many words as the connective asks for."""
    # "Sure. That is why …" has no cause in it.
    fewest = 3 if connective.shape is Shape.NEXT_SENTENCE else 1 if connective.nouns else 2
    enough = len(text[before[0] : before[1]].split()) >= fewest
    return enough and (connective.nouns or _is_clause(text, after))


def _opened(text: str, connective: Connective, rest: Span) -> Cause | None:
    """``Because C, E``: the first comma parts them."""
    comma = text.find(",", rest[0], min(rest[1], rest[0] + _LONGEST_PART))
    if comma < 0:
        return None
    cause = _trim(text, (rest[0], comma))
    effect = _trim(text, _reach_on(text, comma + 1, rest[1]))
    if cause is None or effect is None or not _is_clause(text, effect):
        return None
    return Cause(cause, effect, connective.weight)


def _is_clause(text: str, span: Span) -> bool:
    """Whether a part has two words or more."""
    return any(map(str.isspace, text[span[0] : span[1]]))


def _reach_back(text: str, start: int, stop: int) -> Span:
    """The clause that ends at *stop*."""
    begin = max(start, stop - _LONGEST_PART)
    if begin > start:
        space = text.find(" ", begin, stop)
        begin = space if space >= 0 else begin
    for broken in _BREAK.finditer(text, begin, stop):
        if text[broken.end() : stop].strip(_EDGE):
            begin = broken.end()
    return begin, stop


def _reach_on(text: str, start: int, stop: int) -> Span:
    """The clause that starts at *start*."""
    end = min(stop, start + _LONGEST_PART)
    if end < stop:
        space = text.rfind(" ", start, end)
        end = space if space > start else end
    broken = _BREAK.search(text, start, end)
    if broken and text[start : broken.start()].strip(_EDGE):
        end = broken.start()
    return start, end


def _trim(text: str, span: Span) -> Span | None:
    """*span* without white space and punctuation at its ends; ``None`` where no letter or digit remains."""
    piece = text[span[0] : span[1]]
    left = len(piece) - len(piece.lstrip(_EDGE))
    right = len(piece.rstrip(_EDGE))
    if left >= right or not any(character.isalnum() for character in piece[left:right]):
        return None
    return span[0] + left, span[0] + right
