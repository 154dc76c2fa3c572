"""What persons do and are: homes, jobs, partners, and the animals they have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.text.statements.changing import ended_by_verb, timed_event
from simonides.text.statements.objects import (
    PLACES,
    Statement,
    is_name,
    is_passing,
    one_statement,
    phrase,
    plain_statement,
    speaks_of_person,
    stated_place,
    words_behind,
)
from simonides.text.statements.words import USER, kind_of, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.text.statements.predicate import Predicate
    from simonides.text.statements.words import Word

_JOBS = frozenset({"job", "position", "post", "role", "work", "working"})
_PLAIN = (
    words("determiners") | words("adjectives") | {"better", "permanent", "full-time", "first", "different"}
)
"""What may stand before *job* where it is the only one: "a new job", but not "a side job"."""
_HOMES = frozenset({"home", "house", "flat", "apartment", "place"})
_WEDDINGS = frozenset({"wedding", "engagement", "marriage", "relationship"})
_AFTER_PARTING = frozenset({"with", "from", "in", "on", "after", "last", "this", "again", "over"})


def live(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past and not predicate.ended:
        return
    rest = predicate.rest
    if rest and rest[0].low == "with":
        return
    while rest and rest[0].low not in PLACES:
        rest = rest[1:]
    hosted = bool(rest) and rest[0].low == "on" and not speaks_of_person(predicate)
    attribute = "place" if hosted else "residence"
    yield from stated_place(predicate, rest, attribute)


def home_found(predicate: Predicate) -> Iterator[Statement]:
    """*got his own place in Brightmoor*, *has found a home in the mill*: never surely the only one."""
    where = words_behind(predicate.rest, *PLACES)
    if not where or predicate.passive or predicate.negated or is_passing(predicate.rest):
        return
    before = predicate.rest[: len(predicate.rest) - len(where) - 1]
    if len(before) < 2 or before[-1].low not in _HOMES:
        return
    if any(word.low not in _PLAIN | {"her", "his", "their"} for word in before[:-1]):
        return
    value = phrase(where)
    if value.kind not in {"date", "time"}:
        attribute = "residence" if speaks_of_person(predicate) else "place"
        yield from one_statement(replace(predicate, marker=""), attribute, value, sure=False)


def work(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    hired = predicate.passive and predicate.verb == "hire"
    if not rest or (predicate.past and not (predicate.ended or hired)):
        return
    first = rest[0].low
    if first == "as":
        yield from role(predicate, rest[1:], sure=predicate.verb == "work")
    elif first in {"at", "for", "with"} or (first == "by" and predicate.passive):
        value = phrase(rest[1:])
        if first == "with" and value.kind != "name":
            return
        if value.qualifier.startswith(("at ", "in ", "with ", "as ")):
            value = replace(value, qualifier="")
        yield from one_statement(predicate, "employer", value, marker="moved" if hired else "")
        yield from role(predicate, words_behind(rest[1:], "as"))


def role(predicate: Predicate, found: Sequence[Word], *, sure: bool = False) -> Iterator[Statement]:
    """What somebody is by trade; *sure* where it is what they work as, of which "now" leaves one."""
    value = phrase(found, ends=frozenset({"at", "of", "for"}))
    if value.found:
        # Started as: what it was before is over.
        marker = predicate.marker or ("moved" if predicate.verb in {"start", "begin"} else "")
        yield Statement(
            predicate.subject,
            "role",
            value.value,
            single_valued=marker not in {"", "done"},
            marker=marker,
            qualifier=value.qualifier if is_passing(found) else "",
            sure=sure,
        )


def join(predicate: Predicate) -> Iterator[Statement]:
    value = phrase(predicate.rest)
    job = predicate.context.left or bool(words_behind(predicate.rest, "as"))
    clubs = any(word.low in words("clubs") for word in value.found)
    if value.kind == "name" and job and not clubs:
        yield from one_statement(predicate, "employer", value, marker=predicate.marker or "moved")


def start(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if not rest:
        return
    if not speaks_of_person(predicate):
        yield from timed_event(predicate)
    elif rest[0].low == "as":
        yield from role(predicate, rest[1:])
    else:
        yield from job_taken(predicate)


def job_taken(predicate: Predicate) -> Iterator[Statement]:
    """*started a new job at Marrowtide*, *has taken a post with the council*; a side job is one more."""
    rest = predicate.rest
    lows = [word.low for word in rest]
    place = next((at for at, low in enumerate(lows) if low in {"at", "with", "for"}), 0)
    before = lows[: min(place, lows.index("as"))] if "as" in lows[:place] else lows[:place]
    if place and (not before[-1:] or before[-1] not in _JOBS or not _PLAIN.issuperset(before[:-1])):
        return
    if not place and not (lows[:1] == ["at"] and predicate.verb == "start"):
        return
    behind = rest[place + 1 :]
    started = predicate.verb in {"start", "begin"}
    if not (started or predicate.past or predicate.marker):
        return
    if not is_passing(rest) and kind_of(behind) not in {"time", "date", "number"}:
        # Who takes a job may keep another one; who takes a new one does not.
        sure = started or not {"new", "better", "different", "permanent"}.isdisjoint(before)
        marker = predicate.marker if predicate.marker not in {"", "done"} else "moved"
        one = replace(predicate, marker="")
        yield from one_statement(one, "employer", phrase(behind), marker=marker if sure else "", sure=sure)


def job_left(predicate: Predicate) -> Iterator[Statement]:
    """*retired in June*, *was laid off*, *resigned from Gullspire*: there is no employer any more."""
    rest = predicate.rest
    needed = {"lay": "off", "let": "go"}.get(predicate.verb, "")
    dismissed = predicate.passive and (not needed or (bool(rest) and rest[0].low == needed))
    alone = not rest or kind_of(rest) in {"date", "time"} or rest[0].low in {"in", "last", "at", "early"}
    left = dismissed or (predicate.verb in {"retire", "resign"} and alone and predicate.past)
    if left and speaks_of_person(predicate) and not predicate.negated:
        for attribute in ("employer", "role"):
            yield Statement(predicate.subject, attribute, "", single_valued=False, ended=True, marker="left")
    else:
        yield from ended_by_verb(predicate)


def marry(predicate: Predicate) -> Iterator[Statement]:
    status = {"marry": "married", "divorce": "divorced", "engage": "engaged", "separate": "separated"}[
        predicate.verb
    ]
    lows = [word.low for word in predicate.rest]
    if predicate.verb in {"engage", "separate"} and lows and lows[0] not in {"to", "from", "in", "last"}:
        return  # "separated the eggs"
    if predicate.verb == "engage" and lows[:1] == ["in"]:
        return
    yield from _with_partner(predicate, status, words_behind(predicate.rest, "to", "from") or predicate.rest)


def _with_partner(predicate: Predicate, status: str, other: Sequence[Word]) -> Iterator[Statement]:
    """The marital status of each subject, and with whom, where the other one is named."""
    named = phrase(other)
    name = named.value if named.kind == "name" and is_name(other[0]) else ""
    pairs = [(subject, name) for subject in predicate.subjects]
    if len(predicate.subjects) > 1:
        pairs = list(zip(predicate.subjects, predicate.subjects[::-1], strict=True))
    for one, name in pairs:
        value = f"{status} {name}" if name != USER else status
        yield Statement(one, "marital status", value.strip(), single_valued=True, sure=True)
        if name and status in {"divorced", "separated"}:
            yield Statement(one, "partner", name, single_valued=False, ended=True, marker="left")


def partner_had(predicate: Predicate) -> Iterator[Statement]:
    """*I have a girlfriend*: no more single, though with whom it does not say."""
    lows = [word.low for word in predicate.rest[:2]]
    if len(lows) == 2 and lows[0] in {"a", "an"} and lows[1] in words("partners") and not predicate.negated:
        status = "married" if lows[1] in {"husband", "wife", "spouse"} else "together"
        yield Statement(predicate.subject, "marital status", status, single_valued=True)


def called_off(predicate: Predicate) -> Iterator[Statement]:
    lows = [word.low for word in predicate.rest]
    if lows[:1] == ["off"] and {"wedding", "engagement"} & set(lows):
        yield Statement(predicate.subject, "marital status", "separated", single_valued=True, sure=True)
    elif lows[:1] == ["off"]:
        yield from ended_by_verb(predicate)


def parted(predicate: Predicate) -> Iterator[Statement]:
    """*Milo and I broke up*, *broke off our engagement*; not *broke up the fight*, *split up into groups*."""
    rest = predicate.rest
    lows = [word.low for word in rest]
    other = words_behind(rest, "with", "from")
    closed = len(lows) < 2 or lows[1] in _AFTER_PARTING or bool(_WEDDINGS & set(lows[1:]))
    if lows[:1] not in (["off"], ["up"]) or not closed or (other and not _is_partner(other[:2])):
        return
    both = predicate.subject_words
    place = next((at for at, word in enumerate(both) if word.low == "and"), 0)
    if place and not (_is_partner(both[:place]) and _is_partner(both[place + 1 :])):
        return
    yield from _with_partner(predicate, "separated", other)


def _is_partner(found: Sequence[Word]) -> bool:
    """Whether words mean somebody by name, by a pronoun, or as *my wife*; not *my business partner*."""
    bare = [word for word in found if word.low not in words("determiners")]
    return bool(bare) and all(
        is_name(word) or word.low in words("partners") | words("pronouns") | {USER, "me", "him"}
        for word in bare
    )


def died(predicate: Predicate) -> Iterator[Statement]:
    """*Mitten died*, *my cat Mitten passed away*: whoever has the animal of that name has it no more."""
    if predicate.verb == "pass" and [word.low for word in predicate.rest[:1]] != ["away"]:
        yield from plain_statement(predicate)
        return
    if predicate.past or predicate.marker == "done":
        sort, _, name = predicate.subject.partition(" ")
        one = name if name and sort in words("animals") else predicate.subject
        yield Statement(one, "owner", "", single_valued=False, ended=True, marker="left")


def animal_called(predicate: Predicate) -> Iterator[Statement]:
    """*I have a cat called Mitten*: Mitten's owner."""
    lows = [word.low for word in predicate.rest]
    place = next((at for at, low in enumerate(lows) if low in {"called", "named"}), 0)
    if place and lows[place - 1] in words("animals") and not predicate.past:
        value = phrase(predicate.rest[place + 1 :])
        if value.kind == "name":
            yield Statement(value.value, "owner", predicate.subject, single_valued=False, kind="name")
