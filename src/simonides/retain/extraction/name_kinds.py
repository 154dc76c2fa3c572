"""What a name stands for, from its words and from the words beside it.

In this order: a listed place; a title or a hint beside the name; a word of organisations or of places in it;
a given name in front; two or three words that are no English words (a person's first and last name). What
is left is ``OTHER``: a wrong kind would mislead more than none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from simonides.records.extraction import EntityKind
from simonides.retain.extraction.passage import compiled, given_names, is_common, is_listed, lines, section
from simonides.retain.extraction.rules import read_rules
from simonides.text.analyser import stopwords

if TYPE_CHECKING:
    from collections.abc import Sequence


_REACH = 40


_AT = r"\b(?:at|in)\s+\Z"


_MOST_PERSON_WORDS = 4


_PARTICLES = section("grammar", "particles")


@dataclass(frozen=True, slots=True)
class Hint:
    """Words directly before or after a name that tell its kind.

    Attributes:
        before, after: patterns, case ignored, for what ends at the name or starts behind it; one is empty.
        example: a text, and the name in it that gets the kind.
        counterexample: a text, and a name in it that does not get it from this hint.
    """

    kind: EntityKind
    before: str
    after: str
    example: tuple[str, str]
    counterexample: tuple[str, str]


HINTS = tuple(
    Hint(
        EntityKind(rule.name),
        rule["before"],
        rule["after"],
        rule.pairs("example")[0],
        rule.pairs("counterexample")[0],
    )
    for rule in read_rules("name_hints")
)


def is_place(name: str) -> bool:
    """Whether *name*, as written, is in the list of places."""
    return name in _places()


def kind_of(words: Sequence[str], text: str, start: int, stop: int) -> EntityKind:
    """What the name at ``text[start:stop]`` stands for.

    *words* are lower-case, without a possessive ending.
    """
    name = text[start:stop]
    if is_place(name):
        return EntityKind.PLACE
    if len(words) > 1 and words[0] in section("name_words", "title") and words[1] not in stopwords("english"):
        return EntityKind.PERSON
    hinted = _hinted(text, start, stop)
    if hinted is not None and not (hinted is EntityKind.PLACE and words[0] in given_names()):
        return hinted
    if len(words) > 1:
        formal = _by_words(words)
        if formal is not None:
            return formal
    if words[0] not in given_names() and compiled(_AT).search(text[max(0, start - 4) : start]):
        return EntityKind.OTHER
    return EntityKind.PERSON if _is_person(words, name) else EntityKind.OTHER


def _hinted(text: str, start: int, stop: int) -> EntityKind | None:
    before, after = text[max(0, start - _REACH) : start], text[stop : stop + _REACH]
    for hint in HINTS:
        if hint.before and compiled(hint.before).search(before):
            return hint.kind
        if hint.after and compiled(hint.after).match(after):
            return hint.kind
    return None


def _by_words(words: Sequence[str]) -> EntityKind | None:
    last, first = words[-1], words[0]
    if last in section("name_words", "organisation") or first in section("grammar", "organisation_heads"):
        return EntityKind.ORGANISATION
    if last in section("name_words", "place") or first in section("grammar", "place_heads"):
        return EntityKind.PLACE
    return None


def _is_person(words: Sequence[str], name: str) -> bool:
    own = [word for word in words if word not in _PARTICLES]
    if not own or len(own) > _MOST_PERSON_WORDS or any(map(str.isdigit, name)):
        return False
    # A person's words have small letters; WORLD, II and NBA do not.
    if any(len(word) > 1 and word.isupper() for word in name.replace(".", " ").split()):
        return False
    if own[0] in given_names():
        return len(own) == 1 or not is_listed(own[1]) or own[1] in given_names()
    return 2 <= len(own) <= 3 and not any(map(is_common, own))


@cache
def _places() -> frozenset[str]:
    return lines("places", "countries") | lines("places", "cities")
