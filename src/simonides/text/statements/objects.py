"""What a text states, and what a later text changes about it.

What stands behind a verb: a value with its sort, what narrows it, and statements that need no rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.text.statements.words import USER, fold_value, kept_forms, kind_of, split_attribute, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.text.statements.predicate import Predicate
    from simonides.text.statements.words import Word


@dataclass(frozen=True, slots=True)
class Statement:
    """One subject, one attribute, one value.

    Attributes:
        subject: folded, ``"user"`` for the first person; a thing that the user owns goes without its owner.
        attribute: folded: ``residence``, ``password``, ``port``; a verb where no rule names it.
        value: folded; empty where only an end is stated.
        single_valued: the subject has one such value at a time.
        ended: the value, or whatever the subject had, is so no more.
        old_value: the value that the text itself says this one replaces, folded.
        marker: what says that something changed: ``now``, ``moved``, ``back``, ``correction``, ``new``.
        kind: of value: ``time``, ``date``, ``money``, ``number``, ``version``, ``code``, ``address``,
            ``name``, ``floor`` or ``words``.
        qualifier: what narrows it (``weekdays``, ``for short trips``): two that differ are both true.
        sure: two values of it are surely not both true.
    """

    subject: str
    attribute: str
    value: str
    single_valued: bool
    ended: bool = False
    old_value: str = ""
    marker: str = ""
    kind: str = "words"
    qualifier: str = ""
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """That a later text states another value than an earlier one.

    Attributes:
        rule: which rule found it.
        sure: the earlier text may be ended for it; else the later one only leads.
    """

    rule: str
    sure: bool


PLACES = frozenset({"in", "at", "on", "near", "by", "under", "behind", "inside", "beside", "into", "onto"})


TYPED = frozenset({"time", "date", "money", "number", "version", "code", "address", "floor"})


_NARROWING = words("narrowing")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A value of a clause.

    Attributes:
        found: its words.
        kind: of it.
        value: folded.
        qualifier: what stands behind it and narrows it, folded.
    """

    found: tuple[Word, ...]
    kind: str
    value: str
    qualifier: str

    @property
    def vague(self) -> bool:
        """Whether it says nothing of the thing: "the password is weak"."""
        return not self.found or (
            self.found[0].low in words("vague")
            and not self.found[0].raw[0].isupper()
            and not self.found[0].quoted
        )


def phrase(found: Sequence[Word], *, ends: frozenset[str] = frozenset(), timed: bool = False) -> Phrase:
    """The first phrase of *found*: up to a conjunction, a comma or one of *ends*.

    Args:
        found: words behind a verb.
        ends: prepositions that end it.
        timed: it is a time itself, so that no time is cut from its end.
    """
    stop = len(found)
    for place, word in enumerate(found):
        if place and not word.quoted and (word.low in words("stoppers") or word.low in {",", ":"}):
            stop = place
            break
    inside = found[:stop]
    cut = len(inside)
    if not timed:
        for place in range(1, len(inside)):
            low = inside[place].low
            if (
                low in ends
                or low in _NARROWING
                or low in {"every", "each", "per", "with", "without", "as", "to"}
            ):
                cut = place
                break
        if cut > 3 and inside[cut - 1].low == "ago":
            # "smoking three weeks ago".
            cut -= 3
        for place in range(1, cut):
            if inside[place].low in {"today", "tonight", "yesterday", "last", "this", "next"} and all(
                _is_time_word(word.low) for word in inside[place + 1 : cut]
            ):
                cut = place
                break
    value = tuple(inside[:cut])
    return Phrase(value, kind_of(value), fold_value(value, kind_of(value)), _qualifier(inside[cut:]))


def is_passing(found: Sequence[Word]) -> bool:
    """Whether words say that something is so for a time or again and again: *until May*, *for a week*."""
    lows = [word.low for word in found]
    return any(
        low in words("temporary")
        or low in {"until", "till", "while", "meantime"}
        or (low[-1] == "s" and low[:-1] in words("weekdays"))
        or (before in {"for", "during"} and not _SPANS.isdisjoint(lows[at : at + 3]))
        for at, (before, low) in enumerate(zip(["", *lows], lows, strict=False))
    )


_SPANS = words("days") | {"week", "weeks", "month", "months", "year", "years", "hour", "hours", "day"}
_SPANS |= {"days", "weekend", "holidays", "moment", "season"}


def _is_time_word(low: str) -> bool:
    return (
        low in words("months")
        or low in words("weekdays")
        or low in {"week", "month", "year", "spring", "summer", "autumn", "winter", "weekend", "morning"}
        or (low[:1].isdigit())
    )


def _qualifier(found: Sequence[Word]) -> str:
    """What narrows a value; the day of a change does not."""
    if not found:
        return ""
    lows = [word.low for word in found]
    if lows[0] in {"today", "tonight"} or lows[:2] in (
        ["this", "week"],
        ["this", "morning"],
        ["this", "afternoon"],
    ):
        return "today"
    if lows[0] not in _NARROWING and lows[0] not in {"every", "each", "per", "to", "with", "without"}:
        return ""
    rest = lows[1:]
    recurring = any(low in words("temporary") or low == "every" for low in lows)
    if lows[0] in {"in", "on", "since", "from", "at", "until"} and rest and not recurring:
        if all(_is_time_word(low) or low in {"the", "this", "last", "of"} for low in rest):
            return "until" if lows[0] == "until" else ""
        if lows[0] in {"in", "at"} and found[1].raw[0].isupper():
            return ""
    return " ".join(low for low in lows if low not in words("determiners"))


def words_behind(found: Sequence[Word], *prepositions: str) -> tuple[Word, ...]:
    """The words behind the first of some prepositions; none where none stands there."""
    for place, word in enumerate(found):
        if word.low in prepositions and not word.quoted:
            return tuple(found[place + 1 :])
    return ()


def words_before(found: Sequence[Word], *prepositions: str) -> tuple[Word, ...]:
    for place, word in enumerate(found):
        if word.low in prepositions and not word.quoted:
            return tuple(found[:place])
    return tuple(found)


def behind_from(found: Sequence[Word]) -> str:
    """The value behind *from*, where it is no day."""
    behind = words_before(words_behind(found, "from"), "to", "into", "and", ",")
    if not behind:
        return ""
    lows = [word.low for word in behind]
    if lows[0] in {"now", "today"} or all(_is_time_word(low) for low in lows):
        kind = kind_of(behind)
        return fold_value(behind, kind) if kind in {"date", "time"} and "to" in [w.low for w in found] else ""
    value = phrase(behind)
    return value.value


def is_name(word: Word) -> bool:
    return word.raw[0].isupper() or word.raw[0].isdigit()


def versioned_value(found: Sequence[Word]) -> tuple[str, str] | None:
    """``("python version", "3.11")`` of *Python 3.11*; ``("version", "2.1")`` of *version 2.1*."""
    if len(found) < 2:
        return None
    last, before = found[-1], found[-2]
    if not (last.low[:1].isdigit() or (last.low[:1] == "v" and last.low[1:2].isdigit())):
        return None
    number = last.low.lstrip("v")
    if before.low in {"version", "release", "v"}:
        return (
            " ".join([*(w.low for w in found[:-2] if w.low not in words("determiners")), "version"]),
            number,
        )
    if before.raw[0].isupper() and kind_of((last,)) in {"version", "number"}:
        return f"{before.low} version", number
    return None


def attributed_value(found: Sequence[Word]) -> tuple[str, Phrase] | None:
    """``("branch", main)`` of *the branch main*, ``("port", 8080)`` of *port 8080*."""
    bare = [word for word in found if word.low not in words("determiners")]
    if len(bare) < 2:
        return None
    noun = kept_forms("attributes").get(bare[0].low)
    if noun is None or (noun in {"name", "date", "number"} and len(bare) > 2):
        return None
    value = phrase(bare[1:])
    return (noun, value) if value.found else None


def one_statement(
    predicate: Predicate,
    attribute: str,
    value: Phrase,
    *,
    subject: str = "",
    single: bool = True,
    sure: bool = True,
    **more: object,
) -> Iterator[Statement]:
    if not value.found or value.vague:
        return
    for each in (subject,) if subject else predicate.subjects:
        yield Statement(
            each,
            attribute,
            value.value,
            single,
            kind=value.kind,
            qualifier=value.qualifier,
            sure=sure and single,
            **more,  # type: ignore[arg-type]
        )


def plain_statement(predicate: Predicate) -> Iterator[Statement]:
    """Subject, verb and object as they stand; several objects may be true at a time."""
    value = phrase(predicate.rest)
    if predicate.past and not predicate.ended and not predicate.negated:
        return
    if not predicate.rest:
        if predicate.ended or predicate.negated:
            yield Statement(predicate.subject, predicate.verb, "", single_valued=False)
        return
    first = predicate.rest[0]
    verb = predicate.verb
    if first.low in words("prepositions") and len(predicate.rest) > 1:
        verb = f"{verb} {first.low}"
        value = phrase(predicate.rest[1:])
    if first.low == "at" and value.kind == "number" and len(value.found) == 1:
        value = replace(value, kind="time")
    versioned = versioned_value(value.found)
    if versioned is not None:
        attribute, number = versioned
        yield from one_statement(predicate, attribute, replace(value, value=number, kind="version"))
        return
    attributed = attributed_value(value.found)
    if attributed is not None and not predicate.past:
        noun, inner = attributed
        inner = replace(inner, qualifier=value.qualifier)
        if len(inner.found) == 2 and inner.kind == "number" and inner.found[1].low.isalpha():
            # "size 8 gloves", worn or needed.
            noun, inner = f"{noun} {inner.found[1].low}", replace(inner, value=inner.found[0].low)
            verb = ""
        attribute = noun if noun in {"port", "version"} else f"{verb} {noun}".strip()
        yield from one_statement(predicate, attribute, inner)
        return
    behind = tuple(word for word in predicate.rest if word.low not in words("stoppers"))
    if behind and words_behind(behind, "in", "on", "with") and len(predicate.rest) == len(behind):
        # "do layouts in Pagesmith 8".
        last = versioned_value(behind[-2:])
        if last is not None and last[0] != "version":
            yield from one_statement(
                predicate, last[0], Phrase(behind[-2:], "version", last[1], ""), sure=False
            )
            return
    often = _frequency(predicate.rest)
    if often is not None and predicate.definite:
        what, how_often = often
        yield from one_statement(predicate, f"{predicate.verb} {what}".strip(), how_often, sure=False)
        return
    typed = value.kind in {"money", "number", "version", "address", "code"}
    noun = value.found[-1].low if typed and len(value.found) > 1 else ""
    if (
        typed
        and noun
        and not noun[0].isdigit()
        and not (predicate.passive and predicate.verb in _OPEN_PASSIVES)
    ):
        counted = replace(value, value=fold_value(value.found[:1], "number"), kind="number")
        attribute = (
            f"count {noun}" if predicate.verb in {"have", "be", "stand", "count"} else f"{verb} {noun}"
        )
        yield from one_statement(predicate, attribute, counted, sure=False)
        return
    # "is recorded on cards", "belongs to X": a thing has one such value at a time.
    one_place = verb in _SINGLE or (
        predicate.passive and first.low in words("prepositions") and predicate.verb not in _OPEN_PASSIVES
    )
    single = predicate.definite and (typed or one_place)
    if predicate.passive and predicate.verb in _OPEN_PASSIVES and first.low in words("prepositions"):
        single = False
    if predicate.verb in words("manifold") and not typed and not (predicate.passive and one_place):
        single = False
    for subject in predicate.subjects:
        yield Statement(
            subject,
            verb,
            value.value,
            single,
            kind=value.kind,
            qualifier=value.qualifier,
            ended=predicate.ended,
        )


_OPEN_PASSIVES = words("open passives")
"""In the passive these are true of several places and people at a time."""


_SINGLE = frozenset(
    {
        "belong to",
        "go to",
        "study",
        "study at",
        "live with",
        "sleep in",
        "run on",
        "serve as",
        "count",
        "stand at",
        "answer on",
        "sit on",
        "attend",
        "read",
        "read at",
        "wear",
        "earn",
        "get",
        "deploy from",
    }
)
"""Verbs, with their preposition, that have one object at a time where nothing says otherwise."""


def _frequency(rest: Sequence[Word]) -> tuple[str, Phrase] | None:
    """*every 40 minutes*, *my setter twice a day*: how often, and what else is said."""
    lows = [word.low for word in rest]
    for place, low in enumerate(lows):
        often = low in {"every", "once", "twice", "daily", "hourly", "weekly", "monthly"} or (
            low == "times" and place and _has_digit(lows[place - 1])
        )
        if often:
            start = place - 1 if low == "times" else place
            found = tuple(word for word in rest[start : start + 4] if word.low not in words("stoppers"))
            attribute = " ".join(
                [*(one for one in lows[:start] if one not in words("determiners")), "how often"]
            )
            return attribute, Phrase(found, "words", " ".join(word.low for word in found), "")
    return None


def _has_digit(low: str) -> bool:
    return low[:1].isdigit() or low in words("numbers")


def value_recurs(value: Phrase) -> bool:
    return any(word.low.endswith("s") and word.low[:-1] in words("weekdays") for word in value.found) or any(
        word.low in {"every", "each"} for word in value.found
    )


def value_is_exact(value: Phrase) -> bool:
    return any(word.low[:1].isdigit() for word in value.found)


def release_of(predicate: Predicate) -> tuple[str, str] | None:
    """Product and version that a subject names."""
    parts = predicate.subject.split(" ")
    numbers = [part for part in parts if part.lstrip("v")[:1].isdigit()]
    if len(numbers) != 1:
        return None
    name = " ".join(part for part in parts if part not in {*numbers, "version", "release", "v"})
    return (name, numbers[0].lstrip("v")) if name else None


def stated_place(predicate: Predicate, rest: Sequence[Word], attribute: str) -> Iterator[Statement]:
    """Where something is: *in the drawer*, *at 4 Mill Lane*."""
    if not rest or rest[0].low not in PLACES:
        return
    inner = rest[1:]
    value = phrase(inner)
    if not value.found or value.kind in {"date", "time"}:
        return
    # "in a flat in Lisbon": the last name says where.
    names = words_behind(inner, "in")
    if value.kind == "words" and names and names[0].raw[0].isupper():
        value = phrase(names)
    sure = value.kind in {"name", "floor", "address", "number", "code"} or bool(predicate.marker)
    single = attribute == "residence" or predicate.definite
    if value.qualifier in {"", "with"}:
        value = replace(value, qualifier="")
    yield from one_statement(predicate, attribute, value, single=single, sure=sure)


def speaks_of_person(predicate: Predicate) -> bool:
    if predicate.subject in {USER, predicate.context.speaker}:
        return True
    found = predicate.subject_words
    if not found:
        return True
    if found[-1].low in words("attributes"):
        return False
    if found[0].low in words("pronouns"):
        return found[0].low in {"he", "she", "they"}
    return all(word.raw[0].isupper() for word in found) or found[-1].low in words("people")


def changed_value(predicate: Predicate, thing: str, behind: Sequence[Word], old: str) -> Iterator[Statement]:
    """That something has another value than it had; which attribute, the value or the thing says."""
    if not behind:
        if old and not predicate.past:
            return
        return
    value = phrase(behind, timed=kind_of(behind) in {"date", "time"})
    if not value.found:
        return
    versioned = versioned_value(value.found)
    if versioned is not None:
        yield Statement(
            predicate.subject if not predicate.passive else thing,
            versioned[0],
            versioned[1],
            True,
            old_value=old,
            marker="moved",
            kind="version",
            sure=True,
        )
        return
    attributed = attributed_value(value.found)
    subject, attribute = split_attribute(thing) if thing else (predicate.subject, "")
    if not thing and len(value.found) > 1:
        attribute = kept_forms("attributes").get(value.found[-1].low, "")
    if attributed is not None and not attribute:
        attribute, value = attributed
    if attribute in {"address", "home"}:
        attribute = "residence"
    if value.kind == "number" and not attribute and len(value.found) == 2 and value.found[1].low.isalpha():
        attribute, value = (
            f"count {value.found[1].low}",
            replace(value, value=fold_value(value.found[:1], "number")),
        )
    yield Statement(
        subject,
        attribute,
        value.value,
        True,
        old_value=old,
        marker="moved",
        kind=value.kind,
        qualifier=value.qualifier if value.qualifier.startswith("for ") else "",
        sure=True,
    )
