"""Verbs that tell of a change, an end or a time: *moved*, *was raised to*, *cancelled*, *starts at*."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.text.statements.copulas import is_role, role_of
from simonides.text.statements.objects import (
    Phrase,
    Statement,
    attributed_value,
    behind_from,
    changed_value,
    is_name,
    is_passing,
    one_statement,
    phrase,
    release_of,
    speaks_of_person,
    stated_place,
    value_is_exact,
    value_recurs,
    words_before,
    words_behind,
)
from simonides.text.statements.words import USER, fold_subject, kept_forms, kind_of, split_attribute, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.text.statements.predicate import Predicate
    from simonides.text.statements.words import Word

_WAYS = frozenset(
    {"house", "home", "over", "away", "again", ",", "down", "up", "out", "across", "in", "back", "on"}
)


def move_verb(predicate: Predicate) -> Iterator[Statement]:
    rest = [word for word in predicate.rest if word.low not in _WAYS]
    if predicate.passive:
        yield from changed_value(
            predicate, predicate.subject, words_behind(rest, "to", "into"), behind_from(rest)
        )
        return
    lows = [word.low for word in rest]
    if not lows:
        return
    if lows[0] in {"to", "from", "into"}:
        behind = words_behind(rest, "to", "into")
        value = phrase(behind)
        if value.kind in {"date", "time", "version", "money"} or not speaks_of_person(predicate):
            yield from changed_value(predicate, predicate.subject, behind, behind_from(rest))
        elif behind:
            yield from one_statement(
                predicate,
                "residence",
                replace(value, qualifier=_until(value)),
                old_value=behind_from(rest),
                marker=predicate.marker or "moved",
            )
        elif behind_from(rest):
            yield Statement(predicate.subject, "residence", behind_from(rest), single_valued=True, ended=True)
        return
    yield from _changed_object(predicate, rest)


def _until(value: Phrase) -> str:
    return value.qualifier if value.qualifier.startswith(("until", "for", "during")) else ""


def _changed_object(predicate: Predicate, rest: Sequence[Word]) -> Iterator[Statement]:
    """*We moved the exporter from port 9310 to 9477*."""
    thing = words_before(rest, "from", "to", "into", "by", "with")
    if not thing:
        yield from changed_value(predicate, "", words_behind(rest, "to", "into"), behind_from(rest))
        return
    subject = fold_subject(thing, predicate.context.speaker, predicate.subject)
    if subject is None:
        return
    if any(low.low in {"mind", "minds"} for low in thing):
        return
    yield from changed_value(predicate, subject, words_behind(rest, "to", "into"), behind_from(rest))


def change_verb(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if predicate.verb == "switch" and rest and rest[0].low == "off":
        yield from ended_by_verb(predicate)
    elif predicate.passive or (rest and rest[0].low in {"to", "from", "up", "down"}):
        yield from changed_value(
            predicate,
            predicate.subject if predicate.passive or not speaks_of_person(predicate) else "",
            words_behind(rest, "to", "into"),
            behind_from(rest),
        )
    else:
        yield from _changed_object(predicate, rest)


def _owned_by(predicate: Predicate) -> bool:
    first = predicate.subject_words[0].low if predicate.subject_words else ""
    return first in {"my", "our", "his", "her"} or any(
        word.low.endswith("'s") for word in predicate.subject_words
    )


def timed_event(predicate: Predicate) -> Iterator[Statement]:
    """When something begins, ends, leaves: *on 3 May*, *at 8:15*."""
    rest = predicate.rest
    if not rest:
        return
    if rest[0].low == "place":
        rest = rest[1:]
    name = {
        "start": "when",
        "begin": "when",
        "happen": "when",
        "take": "when",
        "meet": "when",
        "plan": "when",
        "schedule": "when",
        "occur": "when",
        "depart": "leave",
    }.get(predicate.verb, predicate.verb)
    if rest and rest[0].low in {"on", "at", "in"}:
        value = phrase(rest[1:], timed=kind_of(rest[1:]) in {"date", "time"})
        if rest[0].low == "at" and value.kind in {"version", "number"} and len(value.found) == 1:
            value = replace(value, kind="time")
        if value.kind in {"date", "time"}:
            recurs = value_recurs(value)
            sure = (
                value_is_exact(value)
                and (bool(predicate.marker) or name in {"when", "end"})
                and predicate.definite
            )
            # A ferry leaves at eight and at ten.
            daily = value.kind == "time" and name != "when" and not (predicate.marker or _owned_by(predicate))
            single = not recurs and predicate.definite and not daily
            yield from one_statement(predicate, name, value, single=single, sure=sure)
            return
        attributed = attributed_value(value.found)
        if attributed is not None:
            yield from one_statement(predicate, f"{predicate.verb} {attributed[0]}", attributed[1])
            return
        if name == "when":
            yield from stated_place(predicate, rest, "place")
            return
        yield from stated_place(predicate, rest, f"{name} place")


def took_over(predicate: Predicate, rest: Sequence[Word]) -> Iterator[Statement]:
    """*Marisol took over as captain of the second team from Teodor*."""
    old = behind_from(rest)
    inner = words_before(rest, "from")
    lows = [word.low for word in inner]
    noun = next((kept_forms("attributes")[low] for low in lows[:2] if low in kept_forms("attributes")), "")
    thing = words_behind(inner, "of", "at")
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


def became_role(predicate: Predicate) -> Iterator[Statement]:
    if predicate.verb in {"elect", "appoint", "name", "make"} and not predicate.passive:
        # "We elected Norma as shop steward."
        behind = words_behind(predicate.rest, "as")
        person = phrase(words_before(predicate.rest, "as"))
        thing = fold_subject(phrase(behind).found, predicate.context.speaker) if behind else None
        if thing and person.kind == "name":
            yield Statement(thing, "be", person.value, True, marker="moved", kind="name")
        return
    if (
        predicate.passive
        and predicate.rest
        and predicate.rest[0].low not in {"to", "as", "a", "an", "the", "by"}
    ):
        value = phrase(predicate.rest)
        if value.found and is_role(predicate, value):
            yield Statement(predicate.subject, "role", value.value, True, marker=predicate.marker or "moved")
        return
    rest = predicate.rest if predicate.verb == "become" else words_behind(predicate.rest, "to", "as")
    if not rest:
        return
    marked = replace(predicate, marker=predicate.marker or "moved")
    role = role_of(marked, rest)
    if role is not None:
        yield replace(role, marker=marked.marker)
        return
    value = phrase(rest, ends=frozenset({"at", "of"}))
    if value.found and (predicate.verb != "become" or value.found[-1].low in words("occupations")):
        yield Statement(predicate.subject, "role", value.value, True, marker=marked.marker)


def risen(predicate: Predicate) -> Iterator[Statement]:
    if predicate.verb == "go" and predicate.rest and predicate.rest[0].low in words("diets"):
        yield Statement(
            predicate.subject, "diet", predicate.rest[0].low, single_valued=True, marker="moved", sure=True
        )
        return
    if predicate.verb == "go" and predicate.rest and predicate.rest[0].low == "by":
        # "goes by Field Notes now", but not by bus.
        alias = phrase(predicate.rest[1:])
        if alias.kind == "name" and not predicate.past:
            yield from one_statement(predicate, "name", alias, sure=False)
        return
    behind = words_behind(predicate.rest, "to")
    value = phrase(behind)
    if value.kind in {"money", "number", "version", "date", "time"}:
        yield from changed_value(predicate, predicate.subject, behind, behind_from(predicate.rest))
    elif behind and predicate.verb == "go" and predicate.definite and not speaks_of_person(predicate):
        # "The lathe had to go to the north shed."
        if (predicate.past or predicate.marker) and value.kind in {"name", "words"}:
            yield from one_statement(replace(predicate, marker=""), "place", value, sure=False)
    elif behind and (predicate.verb == "return" or (predicate.verb == "go" and predicate.marker == "back")):
        yield Statement(predicate.subject, "", value.value, True, marker="back", kind=value.kind, sure=True)


def called(predicate: Predicate) -> Iterator[Statement]:
    value = phrase(predicate.rest)
    if value.found and value.found[0].low == "off":
        for subject in predicate.subjects:
            yield Statement(subject, "", "", single_valued=False, ended=True)
        return
    if not value.found or predicate.past:
        return
    *before, sort = predicate.subject.split(" ")
    if sort in words("partners"):
        # "Ana's husband is called Milo": her husband is Milo.
        yield from one_statement(predicate, sort, value, subject=" ".join(before) or USER)
        return
    several = sort in words("several")
    yield from one_statement(predicate, "name", value, single=not several or bool(predicate.old))
    if sort in words("animals"):
        yield Statement(value.value, "owner", " ".join(before) or USER, single_valued=False, kind="name")


def bears_name(predicate: Predicate) -> Iterator[Statement]:
    """*merged and bears the name Holmtal United*."""
    value = phrase(words_behind(predicate.rest, "name"))
    if value.found and not predicate.past:
        yield from one_statement(predicate, "name", value, sure=False)


def renamed(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if predicate.passive:
        subject: str | None = predicate.subject
        behind = words_behind(rest, "to", "as") or tuple(rest)
    else:
        subject = fold_subject(
            words_before(rest, "from", "to"), predicate.context.speaker, predicate.context.subject
        )
        behind = words_behind(rest, "to", "as")
    value = phrase(behind)
    if subject and value.found:
        thing, attribute = split_attribute(subject)
        named_itself = attribute in {"branch", "username", "login", "handle", "hostname", "host", "domain"}
        yield Statement(
            thing if named_itself else subject,
            attribute if named_itself else "name",
            value.value,
            True,
            old_value=behind_from(rest),
            marker="renamed",
            kind="name",
            sure=True,
        )


def replaced_by(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if predicate.passive:
        value = phrase(words_behind(rest, "by", "with"))
        if value.found:
            yield Statement(
                predicate.subject,
                "",
                value.value,
                True,
                old_value=predicate.subject,
                marker="moved",
                kind=value.kind,
                sure=True,
            )
        return
    other = words_behind(rest, "with", "by")
    if other:
        value, old = phrase(other), phrase(words_before(rest, "with", "by"))
        yield Statement(
            predicate.subject,
            "",
            value.value,
            True,
            old_value=old.value,
            marker="moved",
            kind=value.kind,
            sure=True,
        )
        return
    released = release_of(predicate)
    old = phrase(words_before(rest, "as"))
    if released is not None:
        yield Statement(
            released[0],
            "version",
            released[1],
            True,
            old_value=old.value.lstrip("v"),
            marker="moved",
            kind="version",
            sure=True,
        )
        return
    role = words_behind(rest, "as")
    noun = next((kept_forms("attributes")[w.low] for w in role[:2] if w.low in kept_forms("attributes")), "")
    thing = fold_subject(words_behind(role, "of", "at"), predicate.context.speaker) if noun else None
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


def swapped(predicate: Predicate) -> Iterator[Statement]:
    """*swapped the kick wheel for an electric one*."""
    old, new = phrase(words_before(predicate.rest, "for", "in")), phrase(words_behind(predicate.rest, "for"))
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


def released_version(predicate: Predicate) -> Iterator[Statement]:
    found = release_of(predicate)
    if found is not None:
        yield Statement(found[0], "version", found[1], True, marker="moved", kind="version", sure=True)


def ended_by_verb(predicate: Predicate) -> Iterator[Statement]:
    """*I cancelled my subscription*, *the picnic is cancelled*, *I stopped smoking*."""
    if predicate.passive:
        release = release_of(predicate)
        if release is not None:
            yield Statement(release[0], "", release[1], False, ended=True)
        for subject in predicate.subjects:
            yield Statement(subject, "", "", single_valued=False, ended=True)
        return
    rest = predicate.rest
    if predicate.verb in {"drop", "return"} and rest and rest[0].low in {"to", "from"}:
        yield from risen(predicate)
        return
    # "The shop closes at six" is no end; "I have sold the car" is.
    over = predicate.past or predicate.marker == "done" or predicate.verb == "quit" or predicate.context.left
    if not over and not (rest and predicate.verb in {"cancel", "stop", "abandon"}):
        yield from timed_event(predicate)
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
    while rest and rest[-1].low in {"up", "off", "back", "in", "over", "away"}:
        rest = rest[:-1]
    if not rest:
        return
    value = phrase(rest, ends=frozenset({"over", "back", "up", "off", "and"}))
    if value.kind in {"time", "date"} or rest[0].low in {"at", "on", "in"}:
        yield from timed_event(predicate)
        return
    if value.value in {"job", "position", "post"} and speaks_of_person(predicate):
        # "quit my job", "lost her job at Gullspire".
        firm = phrase(words_behind(rest, "at", "with")).value
        yield Statement(predicate.subject, "employer", firm, False, ended=True, marker="left")
        return
    gone = predicate.verb in words("parting verbs") and predicate.rest[0].low not in {"up", "in", "over"}
    if gone and (is_passing(rest) or not _is_certain(rest)):
        # "sold twelve jars of honey", "gave the dog to a friend for a week".
        return
    yield Statement(predicate.subject, "", value.value, False, ended=True, marker="gone" if gone else "")


def _is_certain(found: Sequence[Word]) -> bool:
    """Whether words mean what one has, not some: *the van*, *her goats*, *Bracken*."""
    first = found[0]
    return first.low in words("determiners") - {"a", "an", "some", "any", "this", "that"} or (
        is_name(first) and not first.low[:1].isdigit()
    )


def leave_verb(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if rest and rest[0].low in {"at", "on", "from"}:
        yield from timed_event(predicate)
    elif (
        rest and speaks_of_person(predicate) and not (predicate.passive or rest[0].low in {"for", "a", "an"})
    ):
        value = phrase(rest)
        if predicate.past or predicate.marker or predicate.ended or value.kind == "name":
            yield Statement(predicate.subject, "", value.value, False, ended=True, marker="left")


def set_to(predicate: Predicate) -> Iterator[Statement]:
    if predicate.passive:
        if predicate.rest and predicate.rest[0].low == "for":
            yield from one_statement(predicate, "when", phrase(predicate.rest[1:], timed=True))
            return
        yield from changed_value(predicate, predicate.subject, words_behind(predicate.rest, "to", "at"), "")
        return
    yield from _changed_object(predicate, predicate.rest)
