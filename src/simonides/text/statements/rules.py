"""What each verb says of its subject, as statements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.text.statements.changing import (
    bears_name,
    became_role,
    called,
    change_verb,
    ended_by_verb,
    leave_verb,
    move_verb,
    released_version,
    renamed,
    replaced_by,
    risen,
    set_to,
    swapped,
    timed_event,
    took_over,
)
from simonides.text.statements.copulas import copula
from simonides.text.statements.objects import (
    PLACES,
    Statement,
    is_name,
    one_statement,
    phrase,
    plain_statement,
    speaks_of_person,
    stated_place,
    versioned_value,
    words_before,
    words_behind,
)
from simonides.text.statements.people import (
    animal_called,
    called_off,
    died,
    home_found,
    job_left,
    job_taken,
    join,
    live,
    marry,
    parted,
    partner_had,
    start,
    work,
)
from simonides.text.statements.words import USER, fold_subject, kept_forms, kind_of, split_attribute, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simonides.text.statements.predicate import Predicate


def state(predicate: Predicate) -> Iterator[Statement]:
    """The statements of a clause."""
    handler = _HANDLERS.get((predicate.verb, predicate.passive)) or _HANDLERS.get((predicate.verb, None))
    found = tuple(handler(predicate)) if handler is not None else ()
    if not found:
        found = tuple(plain_statement(predicate))
    for statement in found:
        yield _finish(statement, predicate)


def _finish(statement: Statement, predicate: Predicate) -> Statement:
    marker = statement.marker or predicate.marker
    qualifier = " ".join(part for part in (statement.qualifier, predicate.qualifier) if part)
    old = statement.old_value or predicate.old
    ended = statement.ended or predicate.ended or predicate.negated
    if statement.attribute.startswith("attitude"):
        marker = marker or ("now" if predicate.ended else "")
        ended = False
    elif ended and predicate.negated and not predicate.ended:
        # "It is not red" contradicts; only "not red any more" tells of a change.
        marker = marker or "not"
    if predicate.coexists:
        statement = replace(statement, single_valued=False, sure=False)
        marker = "also"
    return replace(statement, marker=marker, qualifier=qualifier, old_value=old, ended=ended)


def _take(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    lows = [word.low for word in rest]
    if "over" in lows[1:] and "from" in lows:
        # "took the harbour project over from Bram".
        place = lows.index("over", 1)
        rest = (rest[place], *rest[:place], *rest[place + 1 :])
        lows = [word.low for word in rest]
    if lows[:1] == ["place"]:
        yield from timed_event(predicate)
    elif lows[:2] == ["over", "as"] or (lows[:1] == ["over"] and "from" in lows):
        yield from took_over(predicate, rest[2 if lows[1] == "as" else 1 :])
    else:
        yield from _found(predicate)


def _found(predicate: Predicate) -> Iterator[Statement]:
    """What is taken, found, got or bought: a job, a home."""
    yield from job_taken(predicate)
    yield from home_found(predicate)


def _get(predicate: Predicate) -> Iterator[Statement]:
    yield from _salary(predicate)
    yield from _found(predicate)
    yield from _new_value(predicate)


def _use(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    if predicate.past and not predicate.ended:
        return
    if rest and rest[0].low in words("prepositions"):
        yield from plain_statement(predicate)
        return
    value = phrase(rest)
    versioned = versioned_value(value.found)
    if versioned is not None:
        yield from one_statement(predicate, versioned[0], replace(value, value=versioned[1], kind="version"))
        return
    yield from plain_statement(predicate)


def _cost(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past and not predicate.marker:
        return
    value = phrase(predicate.rest)
    if value.kind in {"money", "number"}:
        yield from one_statement(predicate, "price", replace(value, kind="money"))


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
                yield from one_statement(predicate, "salary", replace(value, kind="money", qualifier=""))
            return


def _pay(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past:
        return
    if predicate.passive:
        yield from _salary(predicate)
        return
    value = phrase(words_before(predicate.rest, "of", "for", "in", "per"))
    noun = kept_forms("attributes").get(value.found[-1].low, "") if len(value.found) > 1 else ""
    if noun and value.kind in {"money", "number"}:
        # "pay 640 euros rent".
        bare = phrase(value.found[:-1])
        yield from one_statement(predicate, noun, replace(bare, kind="money", qualifier=value.qualifier))
        return
    behind = words_behind(predicate.rest, "of", "for", "in")
    thing = fold_subject(phrase(behind).found, predicate.context.speaker) if behind else None
    if value.kind in {"money", "number"} and thing:
        subject, attribute = split_attribute(thing)
        if not attribute:
            subject, attribute = thing, "price"
        yield from one_statement(predicate, attribute, replace(value, kind="money"), subject=subject)


def _status(predicate: Predicate) -> Iterator[Statement]:
    """*has been admitted*, *is running again*: how it stands with something."""
    if predicate.rest and predicate.rest[0].low not in {"by", "again"}:
        return
    if predicate.subject != USER:
        yield Statement(
            predicate.subject,
            "status",
            predicate.verb,
            single_valued=True,
            marker=predicate.marker or "moved",
        )


def _attitude(predicate: Predicate) -> Iterator[Statement]:
    rest = predicate.rest
    verb = predicate.verb
    if verb == "stand" and not predicate.negated:
        if rest and rest[0].low == "at" and phrase(rest[1:]).kind == "number":
            yield from plain_statement(predicate)
        elif rest:
            yield from stated_place(predicate, rest, "place")
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
        yield Statement(
            subject,
            f"attitude to {value.value}",
            "likes" if likes else "dislikes",
            True,
            qualifier=value.qualifier if value.qualifier.startswith("for ") else "",
            sure=True,
        )


def _prefer(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past:
        return
    rest = predicate.rest
    old = ""
    for link in ("over", "to"):
        behind = words_behind(rest, link)
        if behind:
            old = phrase(behind).value
            rest = words_before(rest, link)
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
    yield Statement(
        predicate.subject,
        f"want {value.found[-1].low}",
        value.value,
        bool(predicate.marker),
        qualifier=value.qualifier,
    )


def _leads(predicate: Predicate) -> Iterator[Statement]:
    noun = {
        "lead": "lead",
        "manage": "manager",
        "head": "lead",
        "chair": "chair",
        "coach": "coach",
        "captain": "captain",
        "own": "owner",
        "direct": "director",
    }[predicate.verb]
    rest = predicate.rest
    if predicate.passive:
        behind = phrase(words_behind(rest, "by"))
        if behind.found:
            yield from one_statement(
                predicate, noun, replace(behind, kind="name"), sure=noun in {"lead", "captain", "chair"}
            )
        return
    if predicate.past:
        return
    value = phrase(rest)
    definite = bool(value.found) and (
        value.found[0].low in {"the", "our", "my"} or all(map(is_name, value.found))
    )
    thing = fold_subject(value.found, predicate.context.speaker) if value.found else None
    if thing and definite and thing != USER:
        yield Statement(
            thing,
            noun,
            predicate.subject,
            single_valued=noun != "owner",
            kind="name",
            qualifier=value.qualifier,
            sure=noun in {"lead", "captain", "chair"},
        )


def _taught(predicate: Predicate) -> Iterator[Statement]:
    value = phrase(words_behind(predicate.rest, "to"))
    yield from one_statement(predicate, "report to", value)


def _sell(predicate: Predicate) -> Iterator[Statement]:
    """*sells a crate of perry at 28*: its price."""
    behind = words_behind(predicate.rest, "at", "for")
    value = phrase(behind)
    if predicate.past or value.kind not in {"money", "number"}:
        yield from ended_by_verb(predicate)
        return
    thing = fold_subject(words_before(predicate.rest, "at", "for"), predicate.context.speaker)
    if thing:
        yield from one_statement(
            predicate, "price", replace(value, kind="money"), subject=f"{predicate.subject} {thing}"
        )


def _keep(predicate: Predicate) -> Iterator[Statement]:
    if predicate.passive or (predicate.rest and predicate.rest[0].low in PLACES):
        yield from stated_place(predicate, predicate.rest, "place")
        return
    thing = words_before(predicate.rest, *PLACES)
    where = predicate.rest[len(thing) :]
    subject = fold_subject(thing, predicate.context.speaker, predicate.context.subject) if thing else None
    if subject and where:
        definite = thing[0].low in words("determiners") - {"a", "an", "some", "any"}
        sub = replace(predicate, subjects=(subject,), definite=definite)
        yield from stated_place(sub, where, "place")


def _have(predicate: Predicate) -> Iterator[Statement]:
    if predicate.past:
        return
    fresh = tuple(_new_value(predicate))
    yield from fresh or (*plain_statement(predicate), *animal_called(predicate), *partner_had(predicate))


def _new_value(predicate: Predicate) -> Iterator[Statement]:
    """*have a new phone number, 555-0129*, *got a new line: 555-0129*."""
    lows = [word.low for word in predicate.rest]
    place = next((at for at in range(3, min(len(lows), 6)) if lows[at] in {",", ":"}), 0)
    if lows[:2] != ["a", "new"] or not place:
        return
    noun, value = " ".join(lows[2:place]), phrase(predicate.rest[place + 1 :])
    owner = "" if predicate.subject == USER else f"{predicate.subject} "
    subject, attribute = split_attribute(f"{owner}{noun}")
    if value.found:
        yield Statement(subject, attribute or "be", value.value, True, marker="new", kind=value.kind)


def _planned(predicate: Predicate) -> Iterator[Statement]:
    if predicate.passive:
        behind = tuple(word for word in predicate.rest if word.low not in {"for", "on", "at", "in"})
        value = phrase(behind, timed=kind_of(behind) in {"date", "time"})
        if value.kind in {"date", "time"}:
            yield from one_statement(predicate, "when", value, single=predicate.definite)
        else:
            yield from stated_place(predicate, predicate.rest, "place")


def _leads_by(predicate: Predicate) -> Iterator[Statement]:
    """*Bettina conducts the youth choir*: its conductor."""
    value = phrase(predicate.rest)
    if predicate.passive or predicate.past or not value.found:
        yield from plain_statement(predicate)
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
    """*holds the post of chief coach*; *is held in the gymnasium*."""
    lows = [word.low for word in predicate.rest]
    if predicate.passive and predicate.definite and not predicate.past:
        yield from stated_place(predicate, predicate.rest, "place")
        return
    if (
        not predicate.passive
        and "of" in lows
        and set(lows[: lows.index("of")]) & {"post", "office", "position", "job", "rank"}
    ):
        value = phrase(words_behind(predicate.rest, "of"))
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
        and not speaks_of_person(predicate)
    ):
        yield from one_statement(predicate, "source", phrase(predicate.rest[1:]), sure=False)


def _skipped(_: Predicate) -> Iterator[Statement]:
    return iter(())


_HANDLERS: Mapping[tuple[str, bool | None], Callable[[Predicate], Iterator[Statement]]] = {
    ("be", None): copula,
    **dict.fromkeys([(verb, None) for verb in ("live", "reside", "dwell", "settle")], live),
    **dict.fromkeys([(verb, None) for verb in ("move", "relocate")], move_verb),
    **dict.fromkeys([(verb, None) for verb in words("change verbs")], change_verb),
    ("set", None): set_to,
    **dict.fromkeys([(verb, None) for verb in ("work", "employ")], work),
    ("hire", True): work,
    **dict.fromkeys([(verb, True) for verb in ("fire", "dismiss", "sack", "lay", "let")], job_left),
    **dict.fromkeys([("die", False), ("pass", False)], died),
    ("base", True): live,
    ("join", None): join,
    **dict.fromkeys([(verb, None) for verb in ("start", "begin")], start),
    **dict.fromkeys([(verb, False) for verb in ("find", "accept", "buy")], _found),
    **dict.fromkeys(
        [
            (verb, None)
            for verb in (
                "land",
                "arrive",
                "depart",
                "meet",
                "open",
                "happen",
                "occur",
                "expire",
                "finish",
            )
        ],
        timed_event,
    ),
    **dict.fromkeys([(verb, True) for verb in ("plan", "schedule")], _planned),
    ("take", None): _take,
    **dict.fromkeys([(verb, None) for verb in ("become", "promote", "appoint", "elect")], became_role),
    **dict.fromkeys([(verb, None) for verb in ("use", "deploy", "build", "compile", "host", "serve")], _use),
    ("cost", None): _cost,
    ("pay", None): _pay,
    **dict.fromkeys([(verb, False) for verb in ("earn", "receive")], _salary),
    ("get", False): _get,
    **dict.fromkeys([(verb, None) for verb in ("swap", "trade", "exchange")], swapped),
    ("sell", False): _sell,
    **dict.fromkeys([(verb, None) for verb in ("slip", "climb", "jump", "shrink", "sink", "double")], risen),
    ("make", True): became_role,
    ("split", None): parted,
    **dict.fromkeys([(verb, None) for verb in ("rise", "fall", "go", "drop")], risen),
    **dict.fromkeys([("call", True), ("name", True)], called),
    ("call", False): called_off,
    **dict.fromkeys([(verb, True) for verb in words("status verbs")], _status),
    ("bear", None): bears_name,
    ("rename", None): renamed,
    ("rechristen", None): renamed,
    ("rebrand", None): renamed,
    ("hold", None): _holds_post,
    ("come", None): _come,
    **dict.fromkeys([(verb, None) for verb in ("supply", "provide", "deliver")], _supplies),
    **dict.fromkeys([(verb, None) for verb in ("marry", "divorce", "engage", "separate")], marry),
    ("break", None): parted,
    **dict.fromkeys(
        [
            (verb, False)
            for verb in (
                "like",
                "love",
                "enjoy",
                "adore",
                "hate",
                "dislike",
                "detest",
                "stand",
            )
        ],
        _attitude,
    ),
    ("prefer", None): _prefer,
    ("want", None): _want,
    **dict.fromkeys(
        [
            (verb, None)
            for verb in (
                "lead",
                "manage",
                "head",
                "chair",
                "coach",
                "captain",
                "own",
                "direct",
            )
        ],
        _leads,
    ),
    **dict.fromkeys(
        [(verb, None) for verb in ("conduct", "command", "supervise", "present", "edit", "moderate")],
        _leads_by,
    ),
    ("report", None): _taught,
    ("replace", None): replaced_by,
    ("release", True): released_version,
    **dict.fromkeys([(verb, None) for verb in words("ending verbs")], ended_by_verb),
    **dict.fromkeys([(verb, None) for verb in ("retire", "resign")], job_left),
    ("turn", True): ended_by_verb,
    ("leave", None): leave_verb,
    **dict.fromkeys(
        [(verb, None) for verb in ("keep", "store", "park", "hang", "put", "lie", "lock", "place")], _keep
    ),
    ("sit", None): _keep,
    ("have", None): _have,
    **dict.fromkeys(
        [
            (verb, None)
            for verb in (
                "visit",
                "see",
                "say",
                "tell",
                "think",
                "know",
                "test",
                "win",
                "meet",
                "fly",
                "feel",
            )
        ],
        _skipped,
    ),
}
