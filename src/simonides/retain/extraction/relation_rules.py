"""The relations that a cue states surely, as ``rules/relations.txt`` lists them.

``single_valued`` is kept for what one subject has once at a time, because a new value closes the old one:
where one works, lives, who leads. What one likes, uses or tests is never so. Where one person may well have
two (jobs, e-mail addresses of different sorts), the pattern is narrow: ``Ann's e-mail is``, not ``Ann's work
e-mail is``.

Weakness: "lives in Portugal" and "lives in Lisbon" are both true, so a country or region is never
single-valued.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from simonides.records.extraction import EntityKind
from simonides.retain.extraction.passage import Cue, by_trigger
from simonides.retain.extraction.rules import read_rules


class ObjectForm(StrEnum):
    """What the object of a relation must look like."""

    NAME = "name"
    """A mention that stands right behind the cue, an article or quotation mark aside."""

    PHRASE = "phrase"
    """A few words, cut at the end of the clause and before most prepositions."""

    CLAUSE = "clause"
    """The words up to the end of the clause."""

    TIME = "time"
    """A date, a year or a weekday."""

    PHONE = "phone"
    """A telephone number."""


_ANY = frozenset(EntityKind)


@dataclass(frozen=True, slots=True)
class RelationRule(Cue):
    """A cue between a subject and an object.

    Attributes:
        finds: subject and object in the example.
        single_valued: a subject has one object at a time.
        subjects: kinds of mention that may be the subject.
        objects: kinds of mention that may be the object, for names.
        link: when not empty, the cue stands before the subject and this pattern between subject and object:
            ``the deadline of X is Y``.
        swapped: the text names the object first: ``Y leads X`` is ``X, led by, Y``.
        generic: a phrase with a definite article is no object: "I like the idea" is not about ideas.
        listed: in a phrase, ``a and b`` are two objects.
    """

    finds: tuple[str, str]
    single_valued: bool = False
    subjects: frozenset[EntityKind] = _ANY
    form: ObjectForm = ObjectForm.NAME
    objects: frozenset[EntityKind] = _ANY
    link: str = ""
    swapped: bool = False
    generic: bool = False
    listed: bool = False


def _kinds(words: str) -> frozenset[EntityKind]:
    """Those of *words*, or all but those behind a "not"; empty = all."""
    kinds = frozenset(map(EntityKind, words.removeprefix("not ").split()))
    return kinds if kinds and not words.startswith("not ") else _ANY - kinds


RELATION_RULES = tuple(
    RelationRule(
        *rule.cue,
        rule.pairs("finds")[0],
        form=ObjectForm(rule["form"] or "name"),
        subjects=_kinds(rule["subjects"]),
        objects=_kinds(rule["objects"]),
        link=rule["link"],
        single_valued="single_valued" in rule["is"],
        swapped="swapped" in rule["is"],
        generic="generic" in rule["is"],
        listed="listed" in rule["is"],
    )
    for rule in read_rules("relations")
)
"""Every rule; a place in the text gives at most one relation of each name."""

BY_TRIGGER = by_trigger(RELATION_RULES)
