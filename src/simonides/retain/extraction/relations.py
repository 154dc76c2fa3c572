"""Relations where a cue is sure of them: subject and object stand right beside it.

The subject is the mention directly before the cue (an adverb, ``, who …,`` or a second verb may stand
between), or the speaker where the cue follows ``I`` or ``my``. Without a speaker's label a first person is
nobody: two notes that say "I live in …" may have two authors, so no relation is made. A pronoun is never
resolved.

A relation is refused in a question, behind a condition, a hedge or a report ("if", "maybe", "I think",
"heard"), where a preposition makes the name part of something else ("the friend of Ann lives in …"), and for
a first person in quotation marks. Where several names are the object, each is one relation and none is
single-valued.

``single_valued`` is kept for what one subject has once at a time, because a new value closes the old one:
where one works, lives, who leads. What one likes, uses or tests is never so. Where one person may well have
two (jobs, e-mail addresses of different sorts), the pattern is narrow: ``Ann's e-mail is``, not ``Ann's work
e-mail is``. "Lives in Portugal" and "lives in Lisbon" are both true, so a country or region never is.

Cost: linear; about 25 µs for 40 words with one cue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from simonides.records.extraction import EntityKind, Mention, Relation
from simonides.retain.extraction.passage import Cue, by_trigger, compiled, lines, section, triggered
from simonides.retain.extraction.rules import read_rules
from simonides.text.analyser import stopwords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.retain.extraction.passage import Passage, Speaker


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


_LONGEST_CONTEXT = 160
_LONGEST_OBJECT = 100
_MOST_WORDS = {ObjectForm.PHRASE: 6, ObjectForm.CLAUSE: 14}

_BEFORE_CUE = re.compile(
    r"[`\"*)]?(?:,\s+(?:which|who|whose|the|a|an|our|my)\b[^,.;:!?\n]{1,110},)?"
    r"(?:\s+(?:also|now|currently|still|really|usually|always|just|already|absolutely|generally"
    r"|officially|recently"
    r"|[a-z]{3,15}s\s+and))*\s*\Z"
)
_FIRST_PERSON = re.compile(r"(?<![\w'])I(?=\Z|\s|'m)")
_WORD_BEFORE = re.compile(r"(?<![\w'])([\w']+)\s+\Z")
_CLAUSE_OPENERS = section("grammar", "clause_openers")
_MY = re.compile(r"my\b", re.IGNORECASE)
_DETERMINER = re.compile(r"\s*(?:(?:the|an?|our|my|his|her|their|project|team)\s+)?[`\"'*]?", re.IGNORECASE)
_AND = re.compile(r"[`\"*]?(?:(?:\s*+,)?\s++and\s+|\s*+&\s*|/|,\s+)(?:the\s+)?[`\"*]?")
_AFTER_LIST = re.compile(
    r"[`\"'*]?\s*(?:[.,;:!?)\n]|\Z|(?:since|as|in|on|for|until|from|with|at|and|but|because|when|while|to"
    r"|now|too)\b)"
)
_OR = re.compile(r"\s+or\b")
_NOT_A_SUBJECT_AFTER = section("grammar", "before_no_subject")
_UNSURE = section("grammar", "unsure")

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_TIME = re.compile(
    rf"\s*(?:the\s+)?((?:{_WEEKDAY},?\s+)?(?:\d{{4}}-\d\d-\d\d"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}\b(?:,?\s+\d{{4}}\b)?"
    rf"|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?"
    rf"|{_MONTH}(?:\s+\d{{4}})?\b|(?:19|20)\d\d\b)|{_WEEKDAY}\b)",
    re.IGNORECASE,
)
_WEEKDAY_ONLY = re.compile(rf"{_WEEKDAY}\Z", re.IGNORECASE)
_PHONE = re.compile(r"\s*(\+?\d[\d ()./-]{5,18}\d)(?!\w)")
_CLAUSE = re.compile(r"[^\n.,;:!?()\[\]\"—–…]{1,100}")
_CLAUSE_END = re.compile(
    r"\s(?:and|but|or|because|since|so|which|that|who|when|while|where|after|before|until|although|though"
    r"|if|as"
    r"|unless|whereas|-+)\s",
    re.IGNORECASE,
)
_PHRASE_END = re.compile(
    r"\s(?:at|on|for|from|by|over|during|than|rather|every|like|instead|whenever|these|lately|now|today"
    r"|too|also|again"
    r"|anymore|a\s+lot|very\s+much|so\s+much|more|most|best|is|are|was|has|will)(?:\s|\Z)",
    re.IGNORECASE,
)
_LEADING = re.compile(r"(?:the|an?|my|our|his|her|their|some|both|most|all)\s+", re.IGNORECASE)
_DEFINITE = re.compile(r"\s*(?:the|his|her|their|its|both)\s", re.IGNORECASE)
_PRONOUNS = section("grammar", "object_pronouns")
_DANGLING = section("grammar", "dangling")
_LIGHT = section("grammar", "light_verbs")
_NO_OBJECT = section("grammar", "no_object")


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text with its mentions at hand by place."""

    passage: Passage
    by_start: dict[int, Mention]
    by_stop: dict[int, Mention]
    speaker: Speaker | None


def find_relations(
    passage: Passage, mentions: Sequence[Mention], speaker: Speaker | None = None
) -> tuple[Relation, ...]:
    """The relations of a text, in the order of their cues, none twice; *speaker* is who "I" is."""
    if not passage.english:
        return ()
    rules = triggered(passage, RELATION_RULES, BY_TRIGGER)
    if not rules:
        return ()
    reading = _Reading(
        passage,
        {mention.start: mention for mention in mentions},
        {mention.stop: mention for mention in mentions},
        speaker,
    )
    found: list[tuple[int, Relation]] = []
    for rule in rules:
        for cue in rule.matches(passage.text):
            found.extend((cue.start(), relation) for relation in _read(reading, rule, cue))
    found.sort(key=lambda entry: entry[0])
    return tuple(dict.fromkeys(relation for _, relation in found))


def _read(reading: _Reading, rule: RelationRule, cue: re.Match[str]) -> list[Relation]:
    """The relations of one cue."""
    if rule.link:
        framed = _framed_subject(reading, rule, cue)
        if framed is None:
            return []
        subject, object_at = framed
    else:
        before = _subject(reading, rule, cue)
        if before is None:
            return []
        subject, object_at = before, cue.end()
    if _is_unsure(reading.passage, cue.start()):
        return []
    objects, single = _objects(reading, rule, object_at)
    single = single and rule.single_valued
    pairs = [(other, subject) if rule.swapped else (subject, other) for other in objects]
    return [Relation(rule.name, *pair, single) for pair in pairs if pair[0] != pair[1]]


def _framed_subject(reading: _Reading, rule: RelationRule, cue: re.Match[str]) -> tuple[str, int] | None:
    """Subject behind the cue, and where its object starts: ``the deadline for X is Y``."""
    text = reading.passage.text
    subject = _name_at(reading, cue.end())
    if subject is None or subject.kind not in rule.subjects:
        return None
    link = compiled(rule.link).match(text, subject.stop)
    return (subject.name, link.end()) if link else None


def _subject(reading: _Reading, rule: RelationRule, cue: re.Match[str]) -> str | None:
    """Who or what the cue speaks of."""
    text, start = reading.passage.text, cue.start()
    sentence = reading.passage.sentence(start)[0]
    window = max(sentence, start - _LONGEST_CONTEXT)
    if _MY.match(text, start):
        return _first_person(reading, sentence, start)
    before = text[window:start]
    # The pattern is tried where a mention ends, nearest first, so that it runs a few times at most.
    for stop in _stops(reading, window, start):
        if _BEFORE_CUE.match(text[stop:start]):
            mention = reading.by_stop[stop]
            return mention.name if mention.kind in rule.subjects and _stands_alone(reading, mention) else None
    first = next(reversed(list(_FIRST_PERSON.finditer(before))), None)
    if first is None or not _BEFORE_CUE.match(before[first.end() :]):
        return None
    # "the authors I love": what comes behind is no object.
    word = _WORD_BEFORE.search(before[: first.start()])
    if word is not None and word[1].lower() not in _CLAUSE_OPENERS:
        return None
    return _first_person(reading, sentence, start)


def _stops(reading: _Reading, window: int, start: int) -> list[int]:
    """Where the last two mentions before *start* end, nearest first."""
    found: list[int] = []
    for place in range(start, window, -1):
        if place in reading.by_stop:
            found.append(place)
            if len(found) == 2:
                break
    return found


def _first_person(reading: _Reading, sentence: int, position: int) -> str | None:
    speaker = reading.speaker
    if speaker is None or not speaker.may_be_i:
        return None
    said = reading.passage.text[max(sentence, position - 1_000) : position]
    quoted = said.count('"') % 2 == 1
    return None if quoted else speaker.name


def _stands_alone(reading: _Reading, mention: Mention) -> bool:
    """Whether the mention is the subject itself, not part of what is (``a friend of Ann``)."""
    before = reading.passage.words_between(max(0, mention.start - 20), mention.start)
    if not before or before[-1] not in _NOT_A_SUBJECT_AFTER:
        return True
    # What stands in another sentence or behind a comma is no preposition of this name.
    gap = reading.passage.text[max(0, mention.start - 3) : mention.start]
    return any(character in gap for character in ",.;:!?")


def _is_unsure(passage: Passage, position: int) -> bool:
    number = passage.sentence_number(position)
    start, stop = passage.sentence_starts[number], passage.sentence_end(number)
    if passage.text[max(start, stop - 4) : stop].rstrip().endswith("?"):
        return True
    begin = max(start, position - _LONGEST_CONTEXT)
    # In small letters only: May is a month.
    if " may " in passage.text[begin:position]:
        return True
    return not _UNSURE.isdisjoint(passage.words_between(begin, position))


def _objects(reading: _Reading, rule: RelationRule, position: int) -> tuple[list[str], bool]:
    """The objects of a cue, and whether there is surely one."""
    text = reading.passage.text
    match rule.form:
        case ObjectForm.NAME:
            return _names(reading, rule, position)
        case ObjectForm.TIME:
            time = _TIME.match(text, position)
            if time is None:
                return [], False
            # A weekday is a turn that comes again, a date is one duty of many.
            recurs = rule.name != "on call on" or bool(_WEEKDAY_ONLY.match(time[1]))
            return [time[1]], recurs and not _AND.match(text, time.end())
        case ObjectForm.PHONE:
            phone = _PHONE.match(text, position)
            return ([phone[1]], True) if phone else ([], False)
        case _:
            return _phrases(text, rule, position)


def _names(reading: _Reading, rule: RelationRule, position: int) -> tuple[list[str], bool]:
    first = _name_at(reading, position)
    text = reading.passage.text
    if first is None or first.kind not in rule.objects or _OR.match(text, first.stop):
        return [], False
    names, last, conjunction = [first], first, False
    while len(names) < 8:
        gap = _AND.match(text, last.stop)
        following = reading.by_start.get(gap.end()) if gap else None
        if gap is None or following is None or following.kind not in rule.objects:
            break
        conjunction = conjunction or gap[0].strip() != ","
        names.append(following)
        last = following
    if not conjunction or not _AFTER_LIST.match(text, last.stop):
        # Lisbon, Portugal is one place; in "works at A and B left", B belongs to what follows.
        names = names[:1]
    region = any(mention.name in lines("places", "countries") for mention in names)
    return [mention.name for mention in names], len(names) == 1 and not region


def _name_at(reading: _Reading, position: int) -> Mention | None:
    """The mention that starts at *position*, articles and quotation marks aside."""
    skipped = _DETERMINER.match(reading.passage.text, position)
    return reading.by_start.get(skipped.end() if skipped else position)


def _phrases(text: str, rule: RelationRule, position: int) -> tuple[list[str], bool]:
    """The words up to the end of the clause, without article; two where the rule allows a list."""
    clause = _CLAUSE.match(text, position, position + _LONGEST_OBJECT)
    if clause is None or (rule.generic and _DEFINITE.match(clause[0])):
        return [], False
    words = " " + " ".join(clause[0].split()) + " "
    parts = words.split(" and ") if rule.listed else [words]
    objects = [phrase for part in parts if (phrase := _phrase(f" {part.strip()} ", rule.form))]
    return objects, len(objects) == 1


def _phrase(words: str, form: ObjectForm) -> str:
    """One object, or nothing where the words are no object."""
    end = _CLAUSE_END.search(words)
    phrase = words[: end.start()] if end else words
    if form is ObjectForm.PHRASE:
        end = _PHRASE_END.search(phrase)
        phrase = (phrase[: end.start()] if end else phrase).strip()
        article = _LEADING.match(phrase)
        phrase = phrase[article.end() :] if article else phrase
    phrase = phrase.strip(" -*_`'")
    pieces = phrase.split(" ")
    if not phrase or len(pieces) > _MOST_WORDS[form]:
        return ""
    lower = [piece.lower() for piece in pieces]
    if form is ObjectForm.PHRASE and (lower[0] in _NO_OBJECT or not _PRONOUNS.isdisjoint(lower)):
        return ""
    if lower[-1] in _DANGLING or (len(lower) == 1 and lower[0] in _LIGHT):
        return ""
    if all(piece in stopwords("english") for piece in lower):
        return ""
    return phrase
