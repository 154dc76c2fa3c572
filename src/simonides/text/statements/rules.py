"""What each verb says of its subject, as statements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.text.statements.english import kept_forms, words
from simonides.text.statements.phrases import (
    USER,
    favourite,
    fold_subject,
    fold_value,
    kind_of,
    split_attribute,
)
from simonides.text.statements.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simonides.text.statements.clauses import Word
    from simonides.text.statements.predicate import Predicate

_PLACES = frozenset({"in", "at", "on", "near", "by", "under", "behind", "inside", "beside", "into", "onto"})
_TYPED = frozenset({"time", "date", "money", "number", "version", "code", "address", "floor"})
_NARROWING = words("narrowing")
_LEVELS = {"double": "2", "halve": "2"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A value of a clause.

    Attributes:
        found: its words.
        kind: of it.
        value: folded.
        qualifier: what stands behind it and narrows it, folded.
        preposition: what stood before it.
    """

    found: tuple[Word, ...]
    kind: str
    value: str
    qualifier: str
    preposition: str = ""

    @property
    def vague(self) -> bool:
        """Whether it says nothing of the thing: "the password is weak"."""
        return not self.found or (
            self.found[0].low in words("vague")
            and not self.found[0].raw[0].isupper()
            and not self.found[0].quoted
        )


def state(predicate: Predicate) -> Iterator[Statement]:
    """The statements of a clause."""
    handler = _HANDLERS.get((predicate.verb, predicate.passive)) or _HANDLERS.get((predicate.verb, None))
    found = tuple(handler(predicate)) if handler is not None else ()
    if not found:
        found = tuple(_plain(predicate))
    for statement in found:
        yield _finish(statement, predicate)


def _finish(statement: Statement, predicate: Predicate) -> Statement:
    marker = statement.marker or predicate.marker
    qualifier = " ".join(part for part in (statement.qualifier, predicate.qualifier) if part)
    old = statement.old_value or predicate.old
    ended = statement.ended or predicate.ended or predicate.negated
    if statement.attribute.startswith("attitude"):
        ended = False
    if predicate.coexists:
        statement = replace(statement, single_valued=False, sure=False)
        marker = "also"
    return replace(statement, marker=marker, qualifier=qualifier, old_value=old, ended=ended)


# -- phrases


def phrase(found: Sequence[Word], *, ends: frozenset[str] = frozenset(), timed: bool = False) -> Phrase:
    """The first phrase of *found*: up to a conjunction, a comma or one of *ends*.

    Args:
        found: words behind a verb.
        ends: prepositions that end it.
        timed: it is a time itself, so that no time is cut from its end.
    """
    stop = len(found)
    for place, word in enumerate(found):
        if (
            place
            and not word.quoted
            and (word.low in words("stoppers") or word.low == "," or word.low == ":")
        ):
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
        for place in range(1, cut):
            if inside[place].low in {"today", "tonight", "yesterday", "last", "this", "next"} and all(
                _is_time_word(word.low) for word in inside[place + 1 : cut]
            ):
                cut = place
                break
    value = tuple(inside[:cut])
    return Phrase(value, kind_of(value), fold_value(value, kind_of(value)), _qualifier(inside[cut:]))


def _is_time_word(low: str) -> bool:
    return low in words("months") or low in words("weekdays") or low in {"week", "month", "year", "spring", "summer",
                                                                        "autumn", "winter", "weekend", "morning"} or (
        low[:1].isdigit()
    )  # fmt: skip


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


def _behind(found: Sequence[Word], *prepositions: str) -> tuple[Word, ...]:
    """The words behind the first of some prepositions; none where none stands there."""
    for place, word in enumerate(found):
        if word.low in prepositions and not word.quoted:
            return tuple(found[place + 1 :])
    return ()


def _before(found: Sequence[Word], *prepositions: str) -> tuple[Word, ...]:
    for place, word in enumerate(found):
        if word.low in prepositions and not word.quoted:
            return tuple(found[:place])
    return tuple(found)


def _from(found: Sequence[Word]) -> str:
    """The value behind *from*, where it is no day."""
    behind = _before(_behind(found, "from"), "to", "into", "and", ",")
    if not behind:
        return ""
    lows = [word.low for word in behind]
    if lows[0] in {"now", "today"} or all(_is_time_word(low) for low in lows):
        kind = kind_of(behind)
        return fold_value(behind, kind) if kind in {"date", "time"} and "to" in [w.low for w in found] else ""
    value = phrase(behind)
    return value.value


def _name(word: Word) -> bool:
    return word.raw[0].isupper() or word.raw[0].isdigit()


def _versioned(found: Sequence[Word]) -> tuple[str, str] | None:
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


def _attributed(found: Sequence[Word]) -> tuple[str, Phrase] | None:
    """``("branch", main)`` of *the branch main*, ``("port", 8080)`` of *port 8080*."""
    bare = [word for word in found if word.low not in words("determiners")]
    if len(bare) < 2:
        return None
    noun = kept_forms("attributes").get(bare[0].low)
    if noun is None or noun in {"name", "date", "number"} and len(bare) > 2:
        return None
    value = phrase(bare[1:])
    return (noun, value) if value.found else None


# -- one statement


def _one(
    predicate: Predicate, attribute: str, value: Phrase, *, subject: str = "", single: bool = True,
    sure: bool = True, **more: object,
) -> Iterator[Statement]:  # fmt: skip
    if not value.found or value.vague:
        return
    for each in (subject,) if subject else predicate.subjects:
        yield Statement(
            each, attribute, value.value, single, kind=value.kind, qualifier=value.qualifier,
            sure=sure and single, **more,  # type: ignore[arg-type]
        )  # fmt: skip


def _plain(predicate: Predicate) -> Iterator[Statement]:
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
    versioned = _versioned(value.found)
    if versioned is not None:
        attribute, number = versioned
        yield from _one(predicate, attribute, replace(value, value=number, kind="version"))
        return
    attributed = _attributed(value.found)
    if attributed is not None and not predicate.past:
        noun, inner = attributed
        inner = replace(inner, qualifier=value.qualifier)
        if len(inner.found) == 2 and inner.kind == "number" and inner.found[1].low.isalpha():
            # "size 8 gloves", worn or needed.
            noun, inner = f"{noun} {inner.found[1].low}", replace(inner, value=inner.found[0].low)
            verb = ""
        attribute = noun if noun in {"port", "version"} else f"{verb} {noun}".strip()
        yield from _one(predicate, attribute, inner)
        return
    often = _frequency(predicate.rest)
    if often is not None and predicate.definite:
        attribute, value = often
        yield from _one(predicate, f"{predicate.verb} {attribute}".strip(), value, sure=False)
        return
    typed = value.kind in {"money", "number", "version", "address", "code"}
    noun = value.found[-1].low if typed and len(value.found) > 1 else ""
    if typed and noun and not noun[0].isdigit():
        number = replace(value, value=fold_value(value.found[:1], "number"), kind="number")
        attribute = (
            f"count {noun}" if predicate.verb in {"have", "be", "stand", "count"} else f"{verb} {noun}"
        )
        yield from _one(predicate, attribute, number, sure=False)
        return
    # "is recorded on cards", "belongs to X": a thing has one such value at a time.
    one_place = verb in _SINGLE or (
        predicate.passive and first.low in words("prepositions") and predicate.verb not in _OPEN_PASSIVES
    )
    single = predicate.definite and (typed or one_place)
    if predicate.verb in words("manifold") and not typed and not (predicate.passive and one_place):
        single = False
    for subject in predicate.subjects:
        yield Statement(
            subject, verb, value.value, single, kind=value.kind, qualifier=value.qualifier, ended=predicate.ended,
        )  # fmt: skip


_OPEN_PASSIVES = frozenset({
    "use", "test", "speak", "cover", "sell", "make", "find", "eat", "see", "know", "play", "take", "compile", "support",
    "translate", "cut", "mention", "accept", "visit", "wear", "try", "like", "love", "say", "read", "drink",
})  # fmt: skip
"""In the passive these are true of several places and people at a time."""

_SINGLE = frozenset({
    "belong to", "go to", "study", "study at", "live with", "sleep in", "run on", "serve as", "count",
    "stand at", "answer on", "sit on", "attend", "read", "read at", "wear", "earn", "get", "deploy from",
})  # fmt: skip
"""Verbs, with their preposition, that have one object at a time where nothing says otherwise."""


def _frequency(rest: Sequence[Word]) -> tuple[str, Phrase] | None:
    """*every 40 minutes*, *my setter twice a day*: how often, and what else is said."""
    lows = [word.low for word in rest]
    for place, low in enumerate(lows):
        often = low in {"every", "once", "twice", "daily", "hourly", "weekly", "monthly"} or (
            low in {"times"} and place and _has_digit(lows[place - 1])
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


# -- verbs


def _copula(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if not rest or (predicate.past and not predicate.ended):
        return
    first = rest[0].low
    if first == "to":
        return
    subject, attribute = split_attribute(predicate.subject)
    if attribute in {"address", "home"}:
        attribute = "residence"
    liked = favourite(predicate.subject)
    if liked is not None and len(predicate.subjects) == 1:
        yield from _one(predicate, liked[1], phrase(rest), subject=liked[0])
        return
    if first in {"cancelled", "canceled", "off", "over", "history", "gone", "dead"}:
        yield Statement(predicate.subject, "", "", single_valued=False, ended=True)
        return
    if first in {"up", "down"} and len(rest) > 2 and rest[1].low == "to":
        yield from _changed(predicate, predicate.subject, rest[2:], "")
        return
    if first in {"due", "planned", "scheduled", "expected", "fixed"}:
        behind = [word for word in rest[1:] if word.low not in {"on", "by", "for", "at", "in"}]
        value = phrase(behind, timed=True)
        name = "deadline" if first == "due" else "when"
        if value.kind in {"date", "time", "number"}:
            yield from _one(predicate, name, value)
        return
    if first == "based":
        yield from _place(predicate, rest[1:], "residence")
        return
    if first in {"single", "divorced", "widowed", "separated"}:
        yield Statement(predicate.subject, "marital status", first, single_valued=True, sure=True)
        return
    if any(word.low in words("diets") for word in rest[:3]) and not (rest[0].low == "the"):
        diet = next(word.low for word in rest if word.low in words("diets"))
        yield Statement(predicate.subject, "diet", diet, single_valued=True, sure=True)
        return
    if first in _PLACES and len(rest) > 1:
        yield from _copula_place(predicate, rest, subject, attribute)
        return
    role = _role_of(predicate, rest) or _flipped(predicate, rest)
    if role is not None:
        yield role
        return
    if first == "with" and len(rest) > 1:
        yield from _one(predicate, "be with", phrase(rest[1:]), sure=False)
        return
    if first == "from" and len(rest) > 1 and not _is_person(predicate):
        yield from _one(predicate, "source", phrase(rest[1:]), sure=False)
        return
    if rest[-1].low in words("colours") and len(rest) <= 3 and predicate.definite:
        yield from _one(predicate, "colour", phrase(rest), sure=False)
        return
    if first in words("states") and predicate.definite:
        yield Statement(predicate.subject, "status", first, single_valued=True)
        return
    current = _current_release(predicate, rest)
    if current is not None:
        yield current
        return
    value = phrase(rest, timed=kind_of(rest) in {"date", "time"})
    if attribute and len(predicate.subjects) == 1:
        several = attribute == "name" and subject.split(" ")[-1] in words("several")
        yield from _one(predicate, attribute, value, subject=subject, single=not several)
        return
    if value.found and _is_role(predicate, value):
        for each in predicate.subjects:
            yield Statement(
                each, "role", value.value, single_valued=_is_ranked(predicate, value), kind="words"
            )
        return
    if first in {"a", "an"} and value.kind not in _TYPED:
        yield Statement(predicate.subject, "be", value.value, single_valued=False)
        return
    if value.kind == "money":
        yield from _one(predicate, "price", value)
    elif value.kind in _TYPED or value.kind == "name":
        versioned = _versioned(value.found)
        if versioned is not None:
            value = replace(value, value=versioned[1], kind="version")
            yield from _one(predicate, versioned[0], value)
            return
        one_thing = predicate.definite and predicate.subject != USER
        single = one_thing or value.kind != "name"
        name = "when" if value.kind in {"time", "date"} else "be"
        yield from _one(predicate, name, value, single=single, sure=value.kind != "name" and one_thing)
    else:
        yield Statement(predicate.subject, "be", value.value, single_valued=False, kind=value.kind)


def _is_role(predicate: Predicate, value: Phrase) -> bool:
    if predicate.subject != USER and not _is_person(predicate):
        return False
    return any(word.low in words("occupations") or word.low in words("ranks") for word in value.found)


def _is_ranked(predicate: Predicate, value: Phrase) -> bool:
    """Whether a person has one such role at a time: an office, or a rank."""
    return bool(predicate.marker) or any(word.low in words("ranks") for word in value.found)


def _flipped(predicate: Predicate, rest: Sequence[Word]) -> Statement | None:
    """*Rolf is the hut warden*, *Old Heron is my favourite beer*: the warden is Rolf."""
    if rest[0].low not in {"the", "my", "our"} and not rest[0].low.endswith("'s"):
        return None
    value = phrase(rest)
    if len(value.found) < 2 or value.qualifier or len(predicate.subjects) > 1:
        return None
    if not all(_name(word) for word in predicate.subject_words) and predicate.subject != USER:
        return None
    thing = fold_subject(value.found, predicate.context.speaker)
    if thing is None or thing == USER:
        return None
    if predicate.subject == USER and _is_role(predicate, value):
        return Statement(USER, "role", value.value, single_valued=True)
    liked = favourite(thing)
    if liked is not None:
        return Statement(liked[0], liked[1], predicate.subject, single_valued=True, kind="name", sure=True)
    subject, attribute = split_attribute(thing)
    if attribute:
        return Statement(subject, attribute, predicate.subject, single_valued=True, kind="name", sure=False)
    if value.found[-1].low in words("occupations") | words("ranks"):
        return Statement(thing, "be", predicate.subject, single_valued=True, kind="name")
    return None


def _copula_place(
    predicate: Predicate, rest: Sequence[Word], subject: str, attribute: str
) -> Iterator[Statement]:
    value = phrase(rest[1:], timed=kind_of(rest[1:]) in {"date", "time"})
    if attribute and value.kind in {"date", "time", "number", "version", "code", "address"}:
        yield from _one(predicate, attribute, value, subject=subject)
        return
    if value.kind in {"date", "time"}:
        recurs = _recurs(value)
        sure = predicate.definite and _is_exact(value) and not recurs
        yield from _one(predicate, "when", value, single=not recurs and predicate.definite, sure=sure)
        return
    if value.kind == "version":
        yield from _one(predicate, "version", replace(value, value=value.value.lstrip("v")))
        return
    attributed = _attributed(value.found)
    if attributed is not None:
        yield from _one(predicate, attributed[0], attributed[1])
        return
    versioned = _versioned(value.found)
    if versioned is not None:
        yield from _one(predicate, versioned[0], replace(value, value=versioned[1], kind="version"))
        return
    if value.found and value.found[-1].low in words("states"):
        yield Statement(predicate.subject, "status", value.value, single_valued=True)
        return
    if value.kind == "number" and rest[0].low in {"at", "on"} and len(value.found) > 1 and predicate.definite:
        number = replace(value, value=fold_value(value.found[:1], "number"))
        if value.found[-1].low.islower() and not value.found[-1].raw[0].isupper():
            yield from _one(predicate, f"count {value.found[-1].low}", number, sure=False)
            return
    if predicate.marker == "back" and _is_person(predicate) and rest[0].low in {"in", "at"}:
        yield from _place(predicate, rest, "residence")
        return
    if predicate.subject == USER or rest[0].low not in _PLACES:
        return
    yield from _place(predicate, rest, "place")


def _recurs(value: Phrase) -> bool:
    return any(word.low.endswith("s") and word.low[:-1] in words("weekdays") for word in value.found) or any(
        word.low in {"every", "each"} for word in value.found
    )


def _is_exact(value: Phrase) -> bool:
    return any(word.low[:1].isdigit() for word in value.found)


def _role_of(predicate: Predicate, rest: Sequence[Word]) -> Statement | None:
    """*X is the captain of the second team*: the second team's captain is X."""
    lows = [word.low for word in rest]
    if lows[0] in {"a", "an", "one"} or "of" not in lows[1:-1] or len(predicate.subjects) > 1:
        return None
    place = lows.index("of", 1)
    noun = kept_forms("attributes").get(lows[place - 1])
    if noun is None or place > 3:
        return None
    thing = fold_subject(phrase(rest[place + 1 :]).found, predicate.context.speaker)
    if (
        thing is None
        or not any(_name(word) for word in predicate.subject_words)
        and predicate.subject != USER
    ):
        return None
    return Statement(thing, noun, predicate.subject, single_valued=True, kind="name", sure=True)


def _current_release(predicate: Predicate, rest: Sequence[Word]) -> Statement | None:
    """*Version 4.2 of X is the current one*: the version of X is 4.2."""
    if not any(word.low in {"current", "latest", "newest", "only", "stable"} for word in rest[:2]):
        return None
    found = _release(predicate)
    return (
        None if found is None else Statement(found[0], "version", found[1], True, kind="version", sure=True)
    )


def _release(predicate: Predicate) -> tuple[str, str] | None:
    """Product and version that a subject names."""
    parts = predicate.subject.split(" ")
    numbers = [part for part in parts if part.lstrip("v")[:1].isdigit()]
    if len(numbers) != 1:
        return None
    name = " ".join(part for part in parts if part not in {*numbers, "version", "release", "v"})
    return (name, numbers[0].lstrip("v")) if name else None


def _place(predicate: Predicate, rest: Sequence[Word], attribute: str) -> Iterator[Statement]:
    """Where something is: *in the drawer*, *at 4 Mill Lane*."""
    if not rest or rest[0].low not in _PLACES:
        return
    inner = rest[1:]
    value = phrase(inner)
    if not value.found or value.kind in {"date", "time"}:
        return
    # "in a flat in Lisbon": the last name says where.
    names = _behind(inner, "in")
    if value.kind == "words" and names and names[0].raw[0].isupper():
        value = phrase(names)
    sure = value.kind in {"name", "floor", "address", "number", "code"} or bool(predicate.marker)
    single = attribute == "residence" or predicate.definite
    if value.qualifier in {"", "with"}:
        value = replace(value, qualifier="")
    yield from _one(predicate, attribute, value, single=single, sure=sure)


def _live(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past and not predicate.ended:
        return
    rest = predicate.rest
    if rest and rest[0].low == "with":
        return
    while rest and rest[0].low not in _PLACES:
        rest = rest[1:]
    yield from _place(predicate, rest, "residence")


_WAYS = frozenset(
    {"house", "home", "over", "away", "again", ",", "down", "up", "out", "across", "in", "back", "on"}
)


def _move(predicate: Predicate) -> Iterator[Statement]:
    rest = [word for word in predicate.rest if word.low not in _WAYS]
    if predicate.passive:
        yield from _changed(predicate, predicate.subject, _behind(rest, "to", "into"), _from(rest))
        return
    lows = [word.low for word in rest]
    if not lows:
        return
    if lows[0] in {"to", "from", "into"}:
        behind = _behind(rest, "to", "into")
        value = phrase(behind)
        if value.kind in {"date", "time", "version", "money"} or not _is_person(predicate):
            yield from _changed(predicate, predicate.subject, behind, _from(rest))
        elif behind:
            yield from _one(predicate, "residence", replace(value, qualifier=_until(value)),
                            old_value=_from(rest), marker=predicate.marker or "moved")  # fmt: skip
        elif _from(rest):
            yield Statement(predicate.subject, "residence", _from(rest), single_valued=True, ended=True)
        return
    yield from _changed_object(predicate, rest)


def _until(value: Phrase) -> str:
    return value.qualifier if value.qualifier.startswith(("until", "for", "during")) else ""


def _is_person(predicate: Predicate) -> bool:
    if predicate.subject == USER or predicate.subject == predicate.context.speaker:
        return True
    found = predicate.subject_words
    if not found:
        return True
    if found[-1].low in words("attributes"):
        return False
    if found[0].low in words("pronouns"):
        return found[0].low in {"he", "she", "they"}
    return all(word.raw[0].isupper() for word in found) or found[-1].low in words("people")


def _changed_object(predicate: Predicate, rest: Sequence[Word]) -> Iterator[Statement]:
    """*We moved the exporter from port 9310 to 9477*."""
    thing = _before(rest, "from", "to", "into", "by", "with")
    if not thing:
        yield from _changed(predicate, "", _behind(rest, "to", "into"), _from(rest))
        return
    subject = fold_subject(thing, predicate.context.speaker, predicate.context.subject)
    if subject is None:
        return
    if any(low.low in {"mind", "minds"} for low in thing):
        return
    yield from _changed(predicate, subject, _behind(rest, "to", "into"), _from(rest))


def _changed(predicate: Predicate, thing: str, behind: Sequence[Word], old: str) -> Iterator[Statement]:
    """That something has another value than it had; which attribute, the value or the thing says."""
    if not behind:
        if old and not predicate.past:
            return
        return
    value = phrase(behind, timed=kind_of(behind) in {"date", "time"})
    if not value.found:
        return
    versioned = _versioned(value.found)
    if versioned is not None:
        yield Statement(predicate.subject if not predicate.passive else thing, versioned[0], versioned[1], True,
                        old_value=old, marker="moved", kind="version", sure=True)  # fmt: skip
        return
    attributed = _attributed(value.found)
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
    yield Statement(subject, attribute, value.value, True, old_value=old, marker="moved", kind=value.kind,
                    qualifier=value.qualifier if value.qualifier.startswith("for ") else "", sure=True)  # fmt: skip


def _change(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if predicate.verb == "switch" and rest and rest[0].low == "off":
        yield from _ended(predicate)
    elif predicate.passive or (rest and rest[0].low in {"to", "from", "up", "down"}):
        yield from _changed(
            predicate, predicate.subject if predicate.passive or not _is_person(predicate) else "",
            _behind(rest, "to", "into"), _from(rest),
        )  # fmt: skip
    else:
        yield from _changed_object(predicate, rest)


def _work(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if not rest or (predicate.past and not predicate.ended):
        return
    first = rest[0].low
    if first == "as":
        yield from _role(predicate, rest[1:])
    elif first in {"at", "for", "with"}:
        value = phrase(rest[1:])
        if first == "with" and value.kind != "name":
            return
        if value.qualifier.startswith(("at ", "in ", "with ")):
            value = replace(value, qualifier="")
        yield from _one(predicate, "employer", value)
        yield from _role(predicate, _behind(rest[1:], "as"))


def _role(predicate: Predicate, found: Sequence[Word]) -> Iterator[Statement]:
    value = phrase(found, ends=frozenset({"at", "of", "for"}))
    if value.found:
        yield Statement(
            predicate.subject, "role", value.value, single_valued=bool(predicate.marker), kind="words"
        )


def _join(predicate: Predicate) -> Iterator[Statement]:
    value = phrase(predicate.rest)
    job = predicate.context.left or bool(_behind(predicate.rest, "as"))
    clubs = any(word.low in words("clubs") for word in value.found)
    if value.kind == "name" and job and not clubs:
        yield from _one(predicate, "employer", value, marker=predicate.marker or "moved")


def _start(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    lows = [word.low for word in rest]
    if not rest:
        return
    if _is_person(predicate):
        job = {"job", "work", "working", "position", "role"} & set(lows[:4])
        behind = _behind(rest, "at", "with", "for")
        if lows[0] == "as":
            yield from _role(predicate, rest[1:])
        elif behind and (job or lows[0] == "at") and kind_of(behind) not in {"time", "date", "number"}:
            yield from _one(predicate, "employer", phrase(behind), marker=predicate.marker or "moved")
        return
    yield from _timed(predicate)


def _owned_by(predicate: Predicate) -> bool:
    first = predicate.subject_words[0].low if predicate.subject_words else ""
    return first in {"my", "our", "his", "her"} or any(
        word.low.endswith("'s") for word in predicate.subject_words
    )


def _timed(predicate: Predicate) -> Iterator[Statement]:
    """When something begins, ends, leaves: *on 3 May*, *at 8:15*."""
    rest = predicate.rest
    if not rest:
        return
    if rest[0].low == "place":
        rest = rest[1:]
    name = {"start": "when", "begin": "when", "happen": "when", "take": "when", "meet": "when", "plan": "when",
            "schedule": "when", "occur": "when", "depart": "leave"}.get(predicate.verb, predicate.verb)  # fmt: skip
    if rest and rest[0].low in {"on", "at", "in"}:
        value = phrase(rest[1:], timed=kind_of(rest[1:]) in {"date", "time"})
        if rest[0].low == "at" and value.kind in {"version", "number"} and len(value.found) == 1:
            value = replace(value, kind="time")
        if value.kind in {"date", "time"}:
            recurs = _recurs(value)
            sure = (
                _is_exact(value)
                and (bool(predicate.marker) or name in {"when", "end"})
                and predicate.definite
            )
            # A ferry leaves at eight and at ten.
            daily = value.kind == "time" and name != "when" and not (predicate.marker or _owned_by(predicate))
            single = not recurs and predicate.definite and not daily
            yield from _one(predicate, name, value, single=single, sure=sure)
            return
        attributed = _attributed(value.found)
        if attributed is not None:
            yield from _one(predicate, f"{predicate.verb} {attributed[0]}", attributed[1])
            return
        if name == "when":
            yield from _place(predicate, rest, "place")
            return
        yield from _place(predicate, rest, f"{name} place")


def _take(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    lows = [word.low for word in rest]
    if lows[:1] == ["place"]:
        yield from _timed(predicate)
    elif lows[:2] == ["over", "as"] or (lows[:1] == ["over"] and "from" in lows):
        yield from _took_over(predicate, rest[2 if lows[1] == "as" else 1 :])


def _took_over(predicate: Predicate, rest: Sequence[Word]) -> Iterator[Statement]:
    """*Marisol took over as captain of the second team from Teodor*."""
    old = _from(rest)
    inner = _before(rest, "from")
    lows = [word.low for word in inner]
    noun = next((kept_forms("attributes")[low] for low in lows[:2] if low in kept_forms("attributes")), "")
    thing = _behind(inner, "of", "at")
    subject = fold_subject(thing, predicate.context.speaker) if thing else None
    if noun and subject:
        yield Statement(
            subject, noun, predicate.subject, True, old_value=old, marker="moved", kind="name", sure=True
        )
    elif inner and not noun:
        folded = fold_subject(inner, predicate.context.speaker)
        if folded:
            yield Statement(
                folded, "", predicate.subject, True, old_value=old, marker="moved", kind="name", sure=True
            )


def _become(predicate: Predicate) -> Iterator[Statement]:
    if predicate.verb in {"elect", "appoint", "name", "make"} and not predicate.passive:
        # "We elected Norma as shop steward."
        role = _behind(predicate.rest, "as")
        person = phrase(_before(predicate.rest, "as"))
        thing = fold_subject(phrase(role).found, predicate.context.speaker) if role else None
        if thing and person.kind == "name":
            yield Statement(thing, "be", person.value, True, marker="moved", kind="name")
        return
    if (
        predicate.passive
        and predicate.rest
        and predicate.rest[0].low not in {"to", "as", "a", "an", "the", "by"}
    ):
        value = phrase(predicate.rest)
        if value.found and _is_role(predicate, value):
            yield Statement(predicate.subject, "role", value.value, True, marker=predicate.marker or "moved")
        return
    rest = predicate.rest if predicate.verb == "become" else _behind(predicate.rest, "to", "as")
    if not rest:
        return
    marked = replace(predicate, marker=predicate.marker or "moved")
    role = _role_of(marked, rest)
    if role is not None:
        yield replace(role, marker=marked.marker)
        return
    value = phrase(rest, ends=frozenset({"at", "of"}))
    if value.found and (predicate.verb != "become" or value.found[-1].low in words("occupations")):
        yield Statement(predicate.subject, "role", value.value, True, marker=marked.marker)


def _use(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if predicate.past and not predicate.ended:
        return
    if rest and rest[0].low in words("prepositions"):
        yield from _plain(predicate)
        return
    value = phrase(rest)
    versioned = _versioned(value.found)
    if versioned is not None:
        yield from _one(predicate, versioned[0], replace(value, value=versioned[1], kind="version"))
        return
    yield from _plain(predicate)


def _cost(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past and not predicate.marker:
        return
    value = phrase(predicate.rest)
    if value.kind in {"money", "number"}:
        yield from _one(predicate, "price", replace(value, kind="money"))


_PERIODS = frozenset({"hour", "day", "week", "fortnight", "month", "quarter", "term", "year"})


def _salary(predicate: Predicate) -> Iterator[Statement]:
    """*earns 2,900 a month*, *is paid 600 a quarter*."""
    lows = [word.low for word in predicate.rest]
    if not lows or predicate.past:
        return
    for place in range(1, min(len(lows), 5)):
        if lows[place] in _PERIODS and lows[place - 1] in {"a", "an", "per"}:
            value = phrase(predicate.rest[: place - 1])
            if value.kind in {"money", "number"}:
                yield from _one(predicate, "salary", replace(value, kind="money", qualifier=""))
            return


def _pay(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past:
        return
    if predicate.passive:
        yield from _salary(predicate)
        return
    value = phrase(_before(predicate.rest, "of", "for", "in", "per"))
    behind = _behind(predicate.rest, "of", "for", "in")
    thing = fold_subject(phrase(behind).found, predicate.context.speaker) if behind else None
    if value.kind in {"money", "number"} and thing:
        subject, attribute = split_attribute(thing)
        if not attribute:
            subject, attribute = thing, "price"
        yield from _one(predicate, attribute, replace(value, kind="money"), subject=subject)


def _rise(predicate: Predicate) -> Iterator[Statement]:
    if predicate.verb == "go" and predicate.rest and predicate.rest[0].low in words("diets"):
        yield Statement(
            predicate.subject, "diet", predicate.rest[0].low, single_valued=True, marker="moved", sure=True
        )
        return
    behind = _behind(predicate.rest, "to")
    value = phrase(behind)
    if value.kind in {"money", "number", "version", "date", "time"}:
        yield from _changed(predicate, predicate.subject, behind, _from(predicate.rest))
    elif behind and (predicate.verb == "return" or (predicate.verb == "go" and predicate.marker == "back")):
        yield Statement(predicate.subject, "", value.value, True, marker="back", kind=value.kind, sure=True)


def _named(predicate: Predicate) -> Iterator[Statement]:
    value = phrase(predicate.rest)
    if value.found and value.found[0].low == "off":
        for subject in predicate.subjects:
            yield Statement(subject, "", "", single_valued=False, ended=True)
        return
    if not value.found or predicate.past:
        return
    several = predicate.subject.split(" ")[-1] in words("several")
    yield from _one(predicate, "name", value, single=not several or bool(predicate.old))


def _rename(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if predicate.passive:
        subject: str | None = predicate.subject
        behind = _behind(rest, "to", "as") or tuple(rest)
    else:
        subject = fold_subject(
            _before(rest, "from", "to"), predicate.context.speaker, predicate.context.subject
        )
        behind = _behind(rest, "to", "as")
    value = phrase(behind)
    if subject and value.found:
        yield Statement(
            subject,
            "name",
            value.value,
            True,
            old_value=_from(rest),
            marker="renamed",
            kind="name",
            sure=True,
        )


def _marry(predicate: Predicate) -> Iterator[Statement]:
    status = {"marry": "married", "divorce": "divorced", "engage": "engaged", "separate": "separated"}[
        predicate.verb
    ]
    for subject in predicate.subjects:
        yield Statement(subject, "marital status", status, single_valued=True, sure=True)


def _broke(predicate: Predicate) -> Iterator[Statement]:
    lows = [word.low for word in predicate.rest]
    if lows[:1] in (["off"], ["up"]):
        for subject in predicate.subjects:
            yield Statement(subject, "marital status", "separated", single_valued=True, sure=True)


def _attitude(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    verb = predicate.verb
    if verb == "stand" and not predicate.negated:
        if rest and rest[0].low == "at" and phrase(rest[1:]).kind == "number":
            yield from _plain(predicate)
        elif rest:
            yield from _place(predicate, rest, "place")
        return
    if predicate.past:
        return
    value = phrase(rest, ends=frozenset({"on", "in"}))
    if not value.found or value.found[0].low in {"to", "it", "that", "this"}:
        return
    likes = (verb in {"like", "love", "enjoy", "adore"}) != predicate.negated
    if verb == "stand":
        likes = False
    for subject in predicate.subjects:
        yield Statement(subject, f"attitude to {value.value}", "likes" if likes else "dislikes", True,
                        qualifier=value.qualifier if value.qualifier.startswith("for ") else "", sure=True)  # fmt: skip


def _prefer(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past:
        return
    rest = predicate.rest
    old = ""
    for link in ("over", "to"):
        behind = _behind(rest, link)
        if behind:
            old = phrase(behind).value
            rest = _before(rest, link)
            break
    value = phrase(rest)
    if not value.found or value.found[0].low == "to":
        return
    # "aisle seats": of which sort; "tabs for indentation": for what.
    noun = value.found[-1].low if len(value.found) > 1 else ""
    if value.qualifier:
        yield Statement(
            predicate.subject,
            "prefer",
            value.value,
            True,
            old_value=old,
            qualifier=value.qualifier,
            sure=True,
        )
    else:
        yield Statement(
            predicate.subject,
            f"prefer {noun}".strip(),
            value.value,
            bool(noun),
            old_value=old,
            sure=bool(noun),
        )


def _want(predicate: Predicate) -> Iterator[Statement]:
    value = phrase(tuple(word for word in predicate.rest if word.low != ","))
    if predicate.past or len(value.found) < 2 or value.found[0].low in {"to", "a", "an"}:
        return
    yield Statement(predicate.subject, f"want {value.found[-1].low}", value.value, bool(predicate.marker),
                    qualifier=value.qualifier)  # fmt: skip


def _leads(predicate: Predicate) -> Iterator[Statement]:
    noun = {"lead": "lead", "manage": "manager", "head": "lead", "chair": "chair", "coach": "coach",
            "captain": "captain", "own": "owner", "direct": "director"}[predicate.verb]  # fmt: skip
    rest = predicate.rest
    if predicate.passive:
        behind = phrase(_behind(rest, "by"))
        if behind.found:
            yield from _one(
                predicate, noun, replace(behind, kind="name"), sure=noun in {"lead", "captain", "chair"}
            )
        return
    if predicate.past:
        return
    value = phrase(rest)
    definite = bool(value.found) and (
        value.found[0].low in {"the", "our", "my"} or all(map(_name, value.found))
    )
    thing = fold_subject(value.found, predicate.context.speaker) if value.found else None
    if thing and definite and thing != USER:
        yield Statement(thing, noun, predicate.subject, single_valued=noun != "owner", kind="name",
                        qualifier=value.qualifier, sure=noun in {"lead", "captain", "chair"})  # fmt: skip


def _taught(predicate: Predicate) -> Iterator[Statement]:
    value = phrase(_behind(predicate.rest, "to"))
    yield from _one(predicate, "report to", value)


def _replace(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if predicate.passive:
        value = phrase(_behind(rest, "by", "with"))
        if value.found:
            yield Statement(predicate.subject, "", value.value, True, old_value=predicate.subject, marker="moved",
                            kind=value.kind, sure=True)  # fmt: skip
        return
    other = _behind(rest, "with", "by")
    if other:
        value, old = phrase(other), phrase(_before(rest, "with", "by"))
        yield Statement(predicate.subject, "", value.value, True, old_value=old.value, marker="moved",
                        kind=value.kind, sure=True)  # fmt: skip
        return
    released = _release(predicate)
    old = phrase(_before(rest, "as"))
    if released is not None:
        yield Statement(released[0], "version", released[1], True, old_value=old.value.lstrip("v"), marker="moved",
                        kind="version", sure=True)  # fmt: skip
        return
    role = _behind(rest, "as")
    noun = next((kept_forms("attributes")[w.low] for w in role[:2] if w.low in kept_forms("attributes")), "")
    thing = fold_subject(_behind(role, "of", "at"), predicate.context.speaker) if noun else None
    yield Statement(
        thing or "",
        noun,
        predicate.subject,
        True,
        old_value=old.value,
        marker="moved",
        kind="name",
        sure=True,
    )


def _swap(predicate: Predicate) -> Iterator[Statement]:
    """*swapped the kick wheel for an electric one*."""
    old, new = phrase(_before(predicate.rest, "for", "in")), phrase(_behind(predicate.rest, "for"))
    if old.found and new.found:
        yield Statement(
            predicate.subject,
            "",
            new.value,
            True,
            old_value=_owned(old.value),
            marker="moved",
            kind=new.kind,
            sure=True,
        )


def _owned(value: str) -> str:
    return value.removeprefix("her ").removeprefix("his ").removeprefix("their ")


def _sell(predicate: Predicate) -> Iterator[Statement]:
    """*sells a crate of perry at 28*: its price."""
    behind = _behind(predicate.rest, "at", "for")
    value = phrase(behind)
    if predicate.past or value.kind not in {"money", "number"}:
        yield from _ended(predicate)
        return
    thing = fold_subject(_before(predicate.rest, "at", "for"), predicate.context.speaker)
    if thing:
        yield from _one(
            predicate, "price", replace(value, kind="money"), subject=f"{predicate.subject} {thing}"
        )


def _released(predicate: Predicate) -> Iterator[Statement]:
    found = _release(predicate)
    if found is not None:
        yield Statement(found[0], "version", found[1], True, marker="moved", kind="version", sure=True)


def _ended(predicate: Predicate) -> Iterator[Statement]:
    """*I cancelled my subscription*, *the picnic is cancelled*, *I stopped smoking*."""
    if predicate.passive:
        release = _release(predicate)
        if release is not None:
            yield Statement(release[0], "", release[1], False, ended=True)
        for subject in predicate.subjects:
            yield Statement(subject, "", "", single_valued=False, ended=True)
        return
    rest = predicate.rest
    if predicate.verb in {"drop", "return"} and rest and rest[0].low in {"to", "from"}:
        yield from _rise(predicate)
        return
    if not predicate.past and predicate.verb not in {"quit"} and not predicate.context.left:
        # "The shop closes at six" is no end; a perfect is.
        if not (rest and predicate.verb in {"cancel", "stop", "abandon"}):
            yield from _timed(predicate)
            return
    while rest and rest[0].low in {
        "up",
        "off",
        "down",
        "out",
        "with",
        "to",
        "from",
        "away",
        "rid",
        "of",
        "using",
    }:
        rest = rest[1:]
    if not rest:
        return
    value = phrase(rest)
    if value.kind in {"time", "date"} or rest[0].low in {"at", "on", "in"}:
        yield from _timed(predicate)
        return
    yield Statement(predicate.subject, "", value.value, False, ended=True)


def _leave(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if rest and rest[0].low in {"at", "on", "from"}:
        yield from _timed(predicate)
    elif rest and _is_person(predicate) and not (predicate.passive or rest[0].low in {"for", "a", "an"}):
        value = phrase(rest)
        if predicate.past or predicate.marker or predicate.ended or value.kind == "name":
            yield Statement(predicate.subject, "", value.value, False, ended=True, marker="left")


def _keep(predicate: Predicate) -> Iterator[Statement]:
    if predicate.passive or (predicate.rest and predicate.rest[0].low in _PLACES):
        yield from _place(predicate, predicate.rest, "place")
        return
    thing = _before(predicate.rest, *_PLACES)
    where = predicate.rest[len(thing) :]
    subject = fold_subject(thing, predicate.context.speaker, predicate.context.subject) if thing else None
    if subject and where:
        definite = thing[0].low in words("determiners") - {"a", "an", "some", "any"}
        sub = replace(predicate, subjects=(subject,), definite=definite)
        yield from _place(sub, where, "place")


def _have(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past:
        return
    lows = [word.low for word in predicate.rest]
    if lows[:2] == ["a", "new"] and "," in lows[3:6]:
        place = lows.index(",")
        noun, value = " ".join(lows[2:place]), phrase(predicate.rest[place + 1 :])
        owner = "" if predicate.subject == USER else f"{predicate.subject} "
        subject, attribute = split_attribute(f"{owner}{noun}")
        if value.found:
            yield Statement(subject, attribute or "be", value.value, True, marker="new", kind=value.kind)
            return
    yield from _plain(predicate)


def _set(predicate: Predicate) -> Iterator[Statement]:
    if predicate.passive:
        if predicate.rest and predicate.rest[0].low == "for":
            yield from _one(predicate, "when", phrase(predicate.rest[1:], timed=True))
            return
        yield from _changed(predicate, predicate.subject, _behind(predicate.rest, "to", "at"), "")
        return
    yield from _changed_object(predicate, predicate.rest)


def _planned(predicate: Predicate) -> Iterator[Statement]:
    if predicate.passive:
        behind = tuple(word for word in predicate.rest if word.low not in {"for", "on", "at", "in"})
        value = phrase(behind, timed=kind_of(behind) in {"date", "time"})
        if value.kind in {"date", "time"}:
            yield from _one(predicate, "when", value, single=predicate.definite)
        else:
            yield from _place(predicate, predicate.rest, "place")


def _leads_by(predicate: Predicate) -> Iterator[Statement]:
    """*Bettina conducts the youth choir*: its conductor."""
    value = phrase(predicate.rest)
    if predicate.passive or predicate.past or not value.found:
        yield from _plain(predicate)
        return
    thing = fold_subject(value.found, predicate.context.speaker)
    if thing and thing != USER and value.found[0].low in {"the", "our", "my"}:
        yield Statement(
            thing,
            predicate.verb,
            predicate.subject,
            single_valued=True,
            kind="name",
            qualifier=value.qualifier,
        )


def _holds_post(predicate: Predicate) -> Iterator[Statement]:
    """*holds the post of chief coach*."""
    lows = [word.low for word in predicate.rest]
    if (
        not predicate.passive
        and "of" in lows
        and set(lows[: lows.index("of")]) & {"post", "office", "position", "job", "rank"}
    ):
        value = phrase(_behind(predicate.rest, "of"))
        if value.found:
            yield Statement(predicate.subject, "role", value.value, single_valued=True)


def _supplies(predicate: Predicate) -> Iterator[Statement]:
    """*Wax & Wick supplies our candles*: where they come from."""
    value = phrase(predicate.rest)
    if (
        predicate.past
        or predicate.passive
        or not value.found
        or value.found[0].low not in {"the", "our", "my"}
    ):
        return
    thing = fold_subject(value.found, predicate.context.speaker)
    if thing and thing != USER:
        yield Statement(thing, "source", predicate.subject, single_valued=True, kind="name")


def _come(predicate: Predicate) -> Iterator[Statement]:
    if (
        predicate.rest
        and predicate.rest[0].low == "from"
        and not predicate.past
        and not _is_person(predicate)
    ):
        yield from _one(predicate, "source", phrase(predicate.rest[1:]), sure=False)


def _skipped(_: Predicate) -> Iterator[Statement]:
    return iter(())


_Handler = "Callable[[Predicate], Iterator[Statement]]"

_HANDLERS: Mapping[tuple[str, bool | None], Callable[[Predicate], Iterator[Statement]]] = {
    ("be", None): _copula,
    **dict.fromkeys([(verb, None) for verb in ("live", "reside", "dwell", "settle")], _live),
    **dict.fromkeys([(verb, None) for verb in ("move", "relocate")], _move),
    **dict.fromkeys([(verb, None) for verb in (
        "change", "switch", "upgrade", "update", "downgrade", "migrate", "raise", "lower", "reduce", "increase",
        "decrease", "extend", "postpone", "reschedule", "shift", "push", "bring", "transfer", "convert", "swap",
        "reset", "bump", "revert", "roll", "shorten", "correct", "improve", "rotate", "port", "beat",
    )], _change),
    ("set", None): _set,
    ("work", None): _work,
    ("employ", None): _work,
    ("base", True): _live,
    ("join", None): _join,
    **dict.fromkeys([(verb, None) for verb in ("start", "begin")], _start),
    **dict.fromkeys([(verb, None) for verb in (
        "land", "arrive", "depart", "meet", "open", "happen", "occur", "expire", "finish",
    )], _timed),
    **dict.fromkeys([(verb, True) for verb in ("plan", "schedule")], _planned),
    ("take", None): _take,
    **dict.fromkeys([(verb, None) for verb in ("become", "promote", "appoint", "elect")], _become),
    **dict.fromkeys([(verb, None) for verb in ("use", "deploy", "build", "compile", "host", "serve")], _use),
    ("cost", None): _cost,
    ("pay", None): _pay,
    **dict.fromkeys([(verb, False) for verb in ("earn", "get", "receive")], _salary),
    **dict.fromkeys([(verb, None) for verb in ("swap", "trade", "exchange")], _swap),
    ("sell", False): _sell,
    **dict.fromkeys([(verb, None) for verb in ("slip", "climb", "jump", "shrink", "sink", "double")], _rise),
    ("make", True): _become,
    ("split", None): _broke,
    **dict.fromkeys([(verb, None) for verb in ("rise", "fall", "go", "drop")], _rise),
    **dict.fromkeys([("call", True), ("name", True)], _named),
    ("rename", None): _rename,
    ("rechristen", None): _rename,
    ("rebrand", None): _rename,
    ("hold", None): _holds_post,
    ("come", None): _come,
    **dict.fromkeys([(verb, None) for verb in ("supply", "provide", "deliver")], _supplies),
    **dict.fromkeys([(verb, None) for verb in ("marry", "divorce", "engage", "separate")], _marry),
    ("break", None): _broke,
    **dict.fromkeys([(verb, False) for verb in (
        "like", "love", "enjoy", "adore", "hate", "dislike", "detest", "stand",
    )], _attitude),
    ("prefer", None): _prefer,
    ("want", None): _want,
    **dict.fromkeys([(verb, None) for verb in (
        "lead", "manage", "head", "chair", "coach", "captain", "own", "direct",
    )], _leads),
    **dict.fromkeys([(verb, None) for verb in ("conduct", "command", "supervise", "present", "edit", "moderate")], _leads_by),
    ("report", None): _taught,
    ("replace", None): _replace,
    ("release", True): _released,
    **dict.fromkeys([(verb, None) for verb in (
        "quit", "resign", "stop", "hand", "donate", "scrap", "pack", "withdraw", "dump", "ditch", "give", "cancel", "end", "lose", "sell", "close", "return", "throw", "drop",
        "abandon", "discontinue", "dissolve", "disable", "deprecate", "retire", "remove", "unsubscribe",
    )], _ended),
    ("turn", True): _ended,
    ("leave", None): _leave,
    **dict.fromkeys([(verb, None) for verb in ("keep", "store", "park", "hang", "put", "lie", "lock", "place")], _keep),
    ("sit", None): _keep,
    ("have", None): _have,
    **dict.fromkeys([(verb, None) for verb in (
        "visit", "see", "say", "tell", "think", "know", "test", "fix", "buy", "win", "meet", "fly", "feel",
    )], _skipped),
}  # fmt: skip
