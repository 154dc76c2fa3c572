"""What *is* says: a value, a place, a time, a role, or whose role somebody has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.text.statements.objects import (
    PLACES,
    TYPED,
    Phrase,
    Statement,
    attributed_value,
    changed_value,
    is_name,
    one_statement,
    phrase,
    release_of,
    speaks_of_person,
    stated_place,
    value_is_exact,
    value_recurs,
    versioned_value,
)
from simonides.text.statements.words import (
    USER,
    favourite,
    fold_subject,
    fold_value,
    kept_forms,
    kind_of,
    split_attribute,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.text.statements.predicate import Predicate
    from simonides.text.statements.words import Word


_DATED = frozenset({"deadline", "birthday", "date", "time", "shift"})


def copula(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if not rest or (predicate.past and not predicate.ended):
        return
    first = rest[0].low
    if first == "to":
        return
    subject, attribute = split_attribute(predicate.subject)
    if attribute in {"address", "home"} and (subject != USER or not predicate.unowned):
        attribute = "residence"
    liked = favourite(predicate.subject)
    if liked is not None and len(predicate.subjects) == 1:
        yield from one_statement(predicate, liked[1], phrase(rest), subject=liked[0])
        return
    if first == "off" and len(rest) > 1 and rest[1].raw[:1].isupper():
        return  # a ship off Gotland
    if first in {"cancelled", "canceled", "off", "over", "history", "gone", "dead"}:
        yield Statement(predicate.subject, "", "", single_valued=False, ended=True)
        return
    if first in {"up", "down"} and len(rest) > 2 and rest[1].low == "to":
        yield from changed_value(predicate, predicate.subject, rest[2:], "")
        return
    if first in {"due", "planned", "scheduled", "expected", "fixed"}:
        behind = [word for word in rest[1:] if word.low not in {"on", "by", "for", "at", "in"}]
        value = phrase(behind, timed=True)
        name = "deadline" if first == "due" else "when"
        if value.kind in {"date", "time", "number"}:
            yield from one_statement(predicate, name, value)
        return
    if first == "based":
        yield from stated_place(predicate, rest[1:], "residence")
        return
    if first in {"single", "divorced", "widowed", "separated"}:
        yield Statement(predicate.subject, "marital status", first, single_valued=True, sure=True)
        return
    if any(word.low in words("diets") for word in rest[:3]) and rest[0].low != "the":
        diet = next(word.low for word in rest if word.low in words("diets"))
        yield Statement(predicate.subject, "diet", diet, single_valued=True, sure=True)
        return
    if first in PLACES and len(rest) > 1:
        yield from _copula_place(predicate, rest, subject, attribute)
        return
    role = role_of(predicate, rest) or _flipped(predicate, rest)
    if role is not None:
        yield role
        return
    if first == "with" and len(rest) > 1:
        yield from one_statement(predicate, "be with", phrase(rest[1:]), sure=False)
        return
    if first == "from" and len(rest) > 1 and not speaks_of_person(predicate):
        yield from one_statement(predicate, "source", phrase(rest[1:]), sure=False)
        return
    if rest[-1].low in words("colours") and len(rest) <= 3 and predicate.definite:
        yield from one_statement(predicate, "colour", phrase(rest), sure=False)
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
        yield from one_statement(predicate, attribute, value, subject=subject, single=not several)
        return
    if value.found and is_role(predicate, value):
        for each in predicate.subjects:
            yield Statement(
                each, "role", value.value, single_valued=_is_ranked(predicate, value), kind="words"
            )
        return
    if first in {"a", "an"} and value.kind not in TYPED:
        yield Statement(predicate.subject, "be", value.value, single_valued=False)
        return
    if value.kind == "money":
        yield from one_statement(predicate, "price", value)
    elif value.kind in TYPED or value.kind == "name":
        versioned = versioned_value(value.found)
        if versioned is not None:
            value = replace(value, value=versioned[1], kind="version")
            yield from one_statement(predicate, versioned[0], value)
            return
        one_thing = predicate.definite and predicate.subject != USER
        single = one_thing or value.kind != "name"
        name = "when" if value.kind in {"time", "date"} else "be"
        yield from one_statement(
            predicate, name, value, single=single, sure=value.kind != "name" and one_thing
        )
    else:
        # "allergic to bees": of wool it says nothing.
        to = value.qualifier if value.qualifier.startswith("to ") else ""
        yield Statement(predicate.subject, "be", value.value, False, kind=value.kind, qualifier=to)


def is_role(predicate: Predicate, value: Phrase) -> bool:
    if predicate.subject != USER and not speaks_of_person(predicate):
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
    if not all(is_name(word) for word in predicate.subject_words) and predicate.subject != USER:
        return None
    thing = fold_subject(value.found, predicate.context.speaker)
    if thing is None or thing == USER:
        return None
    if predicate.subject == USER and is_role(predicate, value):
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
    dated = value.kind in {"date", "time"} and attribute in _DATED
    # "The vet is on Thursday": no vet of that name.
    if attribute and (dated or value.kind in {"number", "version", "code", "address"}):
        yield from one_statement(predicate, attribute, value, subject=subject)
        return
    if value.kind in {"date", "time"}:
        recurs = value_recurs(value)
        sure = predicate.definite and value_is_exact(value) and not recurs
        yield from one_statement(
            predicate, "when", value, single=not recurs and predicate.definite, sure=sure
        )
        return
    if value.kind == "version":
        yield from one_statement(predicate, "version", replace(value, value=value.value.lstrip("v")))
        return
    attributed = attributed_value(value.found)
    if attributed is not None:
        yield from one_statement(predicate, attributed[0], attributed[1])
        return
    versioned = versioned_value(value.found)
    if versioned is not None:
        yield from one_statement(predicate, versioned[0], replace(value, value=versioned[1], kind="version"))
        return
    if value.found and value.found[-1].low in words("states"):
        yield Statement(predicate.subject, "status", value.value, single_valued=True)
        return
    if value.kind == "number" and rest[0].low in {"at", "on"} and len(value.found) > 1 and predicate.definite:
        number = replace(value, value=fold_value(value.found[:1], "number"))
        if value.found[-1].low.islower() and not value.found[-1].raw[0].isupper():
            yield from one_statement(predicate, f"count {value.found[-1].low}", number, sure=False)
            return
    if predicate.marker == "back" and speaks_of_person(predicate) and rest[0].low in {"in", "at"}:
        yield from stated_place(predicate, rest, "residence")
        return
    if predicate.subject == USER or rest[0].low not in PLACES:
        return
    yield from stated_place(predicate, rest, "place")


def role_of(predicate: Predicate, rest: Sequence[Word]) -> Statement | None:
    """*X is the captain of the second team*: the second team's captain is X."""
    lows = [word.low for word in rest]
    if lows[0] in {"a", "an", "one"} or "of" not in lows[1:-1] or len(predicate.subjects) > 1:
        return None
    place = lows.index("of", 1)
    noun = kept_forms("attributes").get(lows[place - 1])
    if noun is None or place > 3:
        return None
    thing = fold_subject(phrase(rest[place + 1 :]).found, predicate.context.speaker)
    if thing is None or (
        not any(is_name(word) for word in predicate.subject_words) and predicate.subject != USER
    ):
        return None
    return Statement(thing, noun, predicate.subject, single_valued=True, kind="name", sure=True)


def _current_release(predicate: Predicate, rest: Sequence[Word]) -> Statement | None:
    """*Version 4.2 of X is the current one*: the version of X is 4.2."""
    if not any(word.low in {"current", "latest", "newest", "only", "stable"} for word in rest[:2]):
        return None
    found = release_of(predicate)
    return (
        None if found is None else Statement(found[0], "version", found[1], True, kind="version", sure=True)
    )
