"""What a text states: clause by clause, without a model.

    text ─► words ─► clauses ─► subject and verb ─► what the verb says of the subject

English. A question, a wish, a plan, a condition, a hedge and a report state nothing; neither does a text of
more than ``LONGEST`` characters, which says more than one thing. Linear; about 50 µs for a sentence.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from simonides.text.normalise import fold_case, fold_characters
from simonides.text.speech import label_of
from simonides.text.statements.objects import Statement, phrase
from simonides.text.statements.predicate import SOMEBODY, Context, is_unsure, read_predicate
from simonides.text.statements.rules import state
from simonides.text.statements.words import (
    DAY_OR_MONTH,
    LONGEST,
    USER,
    cut,
    fold_subject,
    kept_forms,
    read_words,
    split_attribute,
    verb_bases,
    words,
)

if TYPE_CHECKING:
    from simonides.text.statements.words import Clause

_OCCASION = re.compile(
    r"\b(?:before|after|at|during|for|in the|on|over|every|each|in)\s+"
    r"(breakfast|lunch|dinner|supper|mornings?|afternoons?|evenings?|nights?|weekends?|weekdays|the week|term"
    r"|summer|winter|spring|autumn)\b",
    re.IGNORECASE,
)
_OWNERS = frozenset({"user", "human", "me", "i", "owner"})
_NOBODY = frozenset({"assistant", "ai", "bot", "agent", "system", "tool", "model", "developer", "speaker"})
_FIRST_PERSON = frozenset({"i", "my", "we", "our", "me", "us"})
_THE = frozenset({"the", "my", "our"})
_LONGEST_LABEL = 8
_LONGEST_NAME = 4
_NO_NAMES = frozenset({"note", "todo", "warning", "question", "answer", "quote", "ps", "nb"})
_FIELDS = frozenset({"text", "content", "value", "memory", "fact", "message", "data", "body", "description"})
"""What a JSON value is often filed under: a value under a key is found by "text: …"."""
_FEW_WORDS = 2
_LONGEST_CLAUSE = 18
_BESIDES = frozenset({"the", "a", "an", "who", "which", "where", "whose", "my", "our", "so"})
_RELATIVE = frozenset({"which", "who", "whose", "where", "while", "although", "though", "whereas"})
_LONGEST_ALONE = 160


_FROM_WHEN = re.compile(
    r"\b(?:from|starting|beginning|effective|as (?:of|from))\s+(?:on\s+|in\s+|the\s+)*"
    rf"(?:\d|(?:next|tomorrow|{DAY_OR_MONTH}|spring|summer|autumn|winter)\b)",
    re.IGNORECASE,
)
_FROM_TO = re.compile(r"\bfrom\s+(?:\S+\s+){1,4}(?:to|until|till)\b", re.IGNORECASE)


def says_from_when(text: str) -> bool:
    """Whether a text names a day from which on something holds ("from 1 March the rent is 950 euros")."""
    return bool(_FROM_WHEN.search(text)) and not _FROM_TO.search(text)


@lru_cache(maxsize=4096)
def read_statements(text: str, speaker: str | None = None) -> tuple[Statement, ...]:
    """The statements of a text, in order.

    Args:
        text: of a memory; any string. A label of its speaker at its start is read, too.
        speaker: who says it; ``None`` or a word for the user is the user, a word for the assistant nobody.
    """
    if len(text) > LONGEST or not text.strip():
        return ()
    found = read_words(text)
    first = fold_speaker(speaker)
    first, found = _said_by(text, found, first)
    statements: list[Statement] = []
    context = Context(first)
    for whole in cut(found):
        clause, told = _without_opening(whole)
        if told:
            context = replace(context, marker=told)
        labelled = _labelled(clause, context)
        if labelled is not None:
            statements.append(labelled)
            continue
        predicate = read_predicate(clause, context)
        if predicate is None:
            if clause and clause[0].low in words("pronouns"):
                # "She is called Juniper and lives here": what is said next is of her, too.
                context = replace(context, subject="")
            continue
        said = tuple(_narrowed(one, text) for one in state(predicate))
        statements += said
        one = len(predicate.subjects) == 1 and predicate.subject != SOMEBODY
        subject = predicate.subject if one else context.subject
        left = context.left or any(one.ended for one in said)
        rest = predicate.rest
        named = rest and (
            rest[0].low in _THE
            or rest[0].low.endswith("'s")
            or (predicate.verb in words("change verbs") and rest[0].low not in words("prepositions"))
        )
        thing = fold_subject(_up_to_comma(rest), first) if named else None
        if thing and thing[-1] == "s" and thing[:-1] in kept_forms("attributes"):
            # As in: we changed vets, it's Dr. Osei now.
            thing = thing[:-1]
        says_i = predicate.subject_words[0].low in {"i", "we"} if predicate.subject_words else context.says_i
        context = replace(context, subject=subject, left=left, thing=thing or "", says_i=says_i)
    return tuple(dict.fromkeys(statements))


def _narrowed(one: Statement, text: str) -> Statement:
    """The statement with the meals, parts of the day and seasons that narrow it, where nothing does yet."""
    if one.qualifier or one.ended:
        return one
    occasions = {found[1].lower() for found in _OCCASION.finditer(text)}
    narrowing = sorted(occasions.difference(one.value.split(" "), one.attribute.split(" ")))
    return replace(one, qualifier=" ".join(narrowing)) if narrowing else one


def is_reported(text: str) -> bool:
    """Whether a text tells of a wish, a plan, a condition or what somebody says."""
    return any(is_unsure(clause) for clause in cut(read_words(text)))


@lru_cache(maxsize=4096)
def subjects_of(text: str, speaker: str | None = None) -> frozenset[str]:
    """Whom the clauses of a text speak of, folded."""
    if len(text) > LONGEST:
        return frozenset()
    first, said = _said_by(text, read_words(text), fold_speaker(speaker))
    context = Context(first)
    found: list[str] = []
    for clause in cut(said):
        predicate = read_predicate(_without_opening(clause)[0], context)
        if predicate is not None:
            found += predicate.subjects
            context = replace(context, subject=predicate.subject)
    return frozenset(found)


@lru_cache(maxsize=4096)
def says_one_thing(text: str) -> bool:
    """Whether a text is one short clause about one attribute, so that nothing else is lost with it."""
    found = read_words(text)
    lows = [word.low for word in found]
    # "leads Heron, the service that …", "designs and leads": what is said besides would be over, too.
    besides = any(
        (low == "," and after in _BESIDES)
        or low in _RELATIVE
        or (low == "and" and before.endswith("s") and after.endswith("s") and before != after)
        for before, low, after in zip(lows, lows[1:], lows[2:], strict=False)
    )
    if besides or len(lows) > _LONGEST_CLAUSE:
        return False
    clauses = [clause for clause in cut(found) if len(clause) > _FEW_WORDS]
    stated = {one.attribute for one in read_statements(text)}
    if "employer" in stated:
        # "as a buyer": one post.
        stated.discard("role")
    if "marital status" in stated:
        stated -= {"partner", "have"}
    if stated & {"have", "name"}:
        # "a cat called Mitten": one cat.
        stated.discard("owner")
    return len(text) <= _LONGEST_ALONE and len(clauses) <= 1 and len(stated) <= 1


def _said_by(text: str, found: Clause, speaker: str) -> tuple[str, Clause]:
    """Who says a text, and its words without the label that tells it (``user: …``, ``Odalys: …``)."""
    place = next((at for at, word in enumerate(found[:_LONGEST_NAME]) if word.low == ":"), 0)
    if not place:
        return speaker, found
    label = " ".join(word.low for word in found[:place])
    if label in _OWNERS | _NOBODY:
        return fold_speaker(label), found[place + 1 :]
    if label in _FIELDS:
        return speaker, found[place + 1 :]
    body = {word.low for word in found[place + 1 :]}
    named = label_of(text) and label not in words("corrections") and label not in _NO_NAMES
    if label == speaker or (named and not body.isdisjoint(_FIRST_PERSON)):
        return label, found[place + 1 :]
    return speaker, found


@lru_cache(maxsize=4096)
def fold_speaker(speaker: str | None) -> str:
    """Who "I" is: the user, another speaker, or nobody (empty)."""
    folded = fold_case(fold_characters(speaker or "")).strip()
    if not folded or folded in _OWNERS:
        return USER
    return "" if folded in _NOBODY else folded


def _up_to_comma(rest: Clause) -> Clause:
    stops = [place for place, word in enumerate(rest) if word.low == "," or word.low in words("stoppers")]
    return rest[: stops[0]] if stops else rest


def _without_opening(clause: Clause) -> tuple[Clause, str]:
    """A clause without what says that it corrects something, and the marker of that."""
    lows = [word.low for word in clause]
    place, told = 0, ""
    for _ in range(4):
        if place < len(lows) and lows[place] in words("corrections"):
            told, place = "correction", place + 1
        elif lows[place : place + 2] == ["turns", "out"]:
            told, place = "correction", place + 2
        elif lows[place : place + 2] in (["i", "was"], ["i", "am"]) and set(lows[place + 2 : place + 4]) & {
            "mistaken",
            "wrong",
        }:
            told, place = "correction", place + 3
        elif (
            lows[place : place + 2] in (["i", "got"], ["i", "had"]) and "wrong" in lows[place + 2 : place + 5]
        ):
            told, place = "correction", lows.index("wrong", place) + 1
        elif place < len(lows) and lows[place] in {",", ":"} and place:
            place += 1
        else:
            break
    return clause[place:], told


def _labelled(clause: Clause, context: Context) -> Statement | None:
    """*Debug server: localhost:7001*, *New passphrase of the disk: "seven otters"*."""
    lows = [word.low for word in clause]
    if ":" not in lows:
        return None
    place = lows.index(":")
    if not 0 < place <= _LONGEST_LABEL or place + 1 >= len(lows):
        return None
    if any(low in words("auxiliaries") - {"have", "has"} for low in lows[:place]) or lows[0] in words(
        "corrections"
    ):
        return None
    fresh = next((at for at in range(place) if lows[at] in {"new", "better", "different"}), 0)
    if fresh:
        # As in: I've picked a better password.
        context = replace(context, marker="new")
    elif any(low in verb_bases() and verb_bases()[low] != low for low in lows[1:place]):
        return None
    thing = fold_subject(clause[fresh + 1 if fresh else 0 : place], context.speaker)
    value = phrase(clause[place + 1 :])
    if thing is None or thing == USER or not value.found:
        return None
    subject, attribute = split_attribute(thing)
    if subject == USER and _FIRST_PERSON.isdisjoint(lows[:place]) and lows[:1] != ["new"]:
        # "Date: 3 May": of whatever the text is about.
        return None
    if attribute == "address" and value.kind != "address":
        attribute = "residence"
    typed = value.kind in {"time", "date", "money", "number", "version", "code", "address"}
    single = typed or bool(attribute)
    marker = "new" if lows[0] == "new" else context.marker
    return Statement(
        subject,
        attribute or "be",
        value.value,
        single,
        marker=marker,
        kind=value.kind,
        qualifier=value.qualifier,
        # "New address: 4 Mill Lane": whose it is, nothing says.
        sure=single and (subject != USER or not _FIRST_PERSON.isdisjoint(lows[:place])),
    )
