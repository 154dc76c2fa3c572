"""What kind of memory a text is, by ordered cues: the first kind with a cue wins.

    decision      something was settled: decided, agreed, chose, from now on, instead of X we …
    procedural    how to do something, or a rule of what to do: to X do Y, first … then, when X do Y, must not
    preference    what someone likes or wants
    code          it is about identifiers, files or a command, or holds a code block
    episodic      something happened: a past tense beside a date or someone
    semantic      what something is

A text that only asks decides nothing and prefers nothing. No cue: ``None``, and the caller's default stands.
Cost: about 60 µs for 40 words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from simonides.records.extraction import EntityKind
from simonides.records.kind import Kind
from simonides.retain.extraction.passage import Cue, by_trigger, section, triggered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simonides.records.extraction import Mention
    from simonides.retain.extraction.passage import Passage

_NO_NAME = (
    r"(?!(?:it|this|that|there|here|what|who|he|she|they|i|you|we|these|those|how|so|my|your|his|her|our"
    r"|their|its|and|but|or|if|when|people|would|do|does|did)\b)"
)
_NAME = rf"{_NO_NAME}(?-i:[A-Z])[\w.'-]{{1,30}}"
_SUBJECT = rf"(?:\b(?:i|we|they|he|she|everyone)|\b{_NAME})"
_ADVERB = (
    r"(?:\s+(?:really|also|just|always|absolutely|usually|still|now|generally|much|strongly|do|have|finally"
    r"|all))?"
)


# Not the end of a sentence; a point inside a name is none.
_WITHIN = r"(?:[^.!?\n]|\.(?=\w))"
_CLAUSE_START = r"(?:\A|[.!?,;:\n–—-]\s*|\b(?:and|but|because|so|since|that|as|know|yes|yeah|well|plus)\s+)"
_DO = (
    r"(?:run|call|phone|restart|check|drain|ask|promote|tell|charge|freeze|use|open|close|create|delete"
    r"|write|read|send|set"
    r"|stop|start|wait|turn|point|add|remove|rotate|clear|deploy|push|merge|commit|install|update|store"
    r"|share|review|test"
    r"|verify|rebuild|disable|enable|keep|build|copy|publish|press|click|do\s+not|don't)"
)
_PRAISE = (
    r"(?:best|great|good|amazing|awesome|perfect|key|way|bit|lot|few|couple|wonderful|nice|blast|big|huge"
    r"|fantastic|real|super"
    r"|same|only|worst|most|true|beautiful|lovely|cool|fun|reminder|blessing|must|total|bummer|pleasure"
    r"|shame|pity)"
)


@dataclass(frozen=True, slots=True)
class KindCue(Cue):
    """Words that tell the kind of a memory."""

    kind: Kind


KIND_CUES = (
    KindCue(
        "settled",
        r"(?<!\bnot\s)(?<!\bhaven't\s)(?<!n't\s)(?<!\bto\sbe\s)\b(?:decided|agreed\s+(?:to|that|on|upon)"
        r"|settled\s+on|opted\s+(?:for|to|not)|ruled\s+out"
        r"|resolved\s+to|signed\s+off\s+on|approved)\b",
        "decided agreed settled opted ruled resolved signed approved",
        "After the storm we agreed that gauges must split their backlog.",
        "We have not decided anything.",
        Kind.DECISION,
    ),
    KindCue(
        "chose",
        rf"{_SUBJECT}\s+(?:(?:have|has|'ve)\s+)?(?:chose|chosen|picked|selected)\b(?!\s+(?:up|on)\b)"
        rf"|\bgo(?:ing)?\s+with\b(?=\s+[\w`]+\s+(?:for|because|as|instead|over|rather)\b)",
        "chose chosen picked selected go going",
        "We chose DuckDB for the readings.",
        "The well-chosen colours are going with the wall.",
        Kind.DECISION,
    ),
    KindCue(
        "plan changed",
        r"\b(?:from\s+now\s+on|as\s+of\s+(?:today|now)|no\s+longer\s+(?:use|support|allow|ship)s?"
        r"|slips?\s+(?:again,?\s+)?from"
        r"|moves?\s+from\s+.{1,40}\s+to\b|stops\s+(?:buying|using|supporting|shipping)"
        r"|(?:is|was|are)\s+(?:postponed|deprecated|scheduled|planned)\s+(?:to|for|until|in\s+favou?r))\b",
        "now as no moves move slips slip stops postponed deprecated scheduled planned",
        "From now on every service stores time in UTC.",
        "There is no longer way home than this.",
        Kind.DECISION,
    ),
    KindCue(
        "one thing for another",
        r"\b(?:will|now)\s[^.!?\n]{0,110}\binstead\s+of\b|\binstead\s+of\s+(?:mon|tues|wednes|thurs|fri"
        r"|satur|sun)day\b"
        r"|\b(?:raised?|lowered|increased|reduced|goes\s+(?:up"
        r"|down))\s[^.!?\n]{0,60}?\bfrom\s+[\d`]\S{0,20}\s+to\s",
        "will now instead raise raised lowered increased reduced goes",
        "Heron will publish a forecast every six hours instead of every hour.",
        "She was raised from rags to riches and now sings.",
        Kind.DECISION,
    ),
    KindCue(
        "decision stated",
        r"\A\W*(?:adr|decision|decided|resolution)\b[^.\n]{0,40}:|\b(?:the|our|final)\s+decision\s+(?:is"
        r"|was)\s+(?:to|that|not)\b",
        "adr decision decided resolution",
        "Decision: readings move to PostgreSQL.",
        "A decision is due.",
        Kind.DECISION,
    ),
    KindCue(
        "will do",
        r"\bwe\s+(?:will|shall|won't|are\s+going\s+to|move|keep|hire|stop|drop|adopt"
        r"|switch)\b(?=.{0,160}\b(?:instead\s+of|rather\s+than|because|so\s+that|from)\b)",
        "we",
        "We keep two rented servers rather than moving to a cloud, because traffic is small.",
        "We keep bees.",
        Kind.DECISION,
    ),
    KindCue(
        "to do",
        rf"\A\W*to\s+[a-z]{{3,20}}\s+{_WITHIN}{{2,80}},\s+{_DO}\s",
        "to",
        "To rotate the signing keys, create the new pair with `mtkeys new`.",
        "To be honest, I liked it.",
        Kind.PROCEDURAL,
    ),
    KindCue(
        "how to",
        r"\bhow\s+to\s+\w+\b[^\n]{0,60}:|\A\W*(?:step\s+\d|steps:)|\bfollow\s+these\s+steps\b"
        r"|(?<!'ll\s)(?<!\bto\s)(?<!\bwill\s)\bmake\s+sure\s+(?:to|that)\b",
        "how step steps make",
        "How to calibrate a gauge: read the brass staff three times.",
        "I'll make sure to ask how to do it.",
        Kind.PROCEDURAL,
    ),
    KindCue(
        "in order",
        rf"\bfirst\b,?{_WITHIN}{{3,120}}\b(?:then|and\s+after\s+that|finally)\b,?\s+[a-z`]{{3}}"
        r"|\A\s*1[.)]\s.{3,200}\n\s*2[.)]\s",
        "first 1",
        "First charge the batteries, then freeze all releases.",
        "The first time was then.",
        Kind.PROCEDURAL,
    ),
    KindCue(
        "when do",
        rf"\A(?:if|when|whenever|before|after|during)\b{_WITHIN}{{3,120}},\s+(?:please\s+|always\s+"
        rf"|never\s+|first\s+)?{_DO}\b"
        rf"|\bon\s+the\s[^.!?\n,]{{3,60}}\b(?:each|every)\s+\w+,?\s+{_DO}\b",
        "if when whenever before after during on",
        "If the ingest queue stops moving, drain it before you restart.",
        "When the clocks went back, QM-1 stored one hour twice.",
        Kind.PROCEDURAL,
    ),
    KindCue(
        "rule",
        rf"(?:\A|[.!\n]\s+)(?:always|never|do\s+not|please)\s+{_DO}\b|\bmust(?:\s+not|\s+never"
        rf"|n't)?\s+be\s+\w+ed\b"
        r"|\bmust\s+(?:always|never|not)\s+\w+",
        "always never do please must mustn't",
        "Never deploy on a Friday.",
        "Never mind, it must have been fun.",
        Kind.PROCEDURAL,
    ),
    KindCue(
        "likes",
        rf"(?:{_CLAUSE_START}(?:i|we|they){_ADVERB}\s+(?:prefer|like|love|hate|dislike|adore|detest|enjoy)"
        rf"|(?:\b(?:he|she|everyone)|\b{_NAME}){_ADVERB}\s+(?:prefers|likes|loves|hates|dislikes|adores"
        rf"|detests|enjoys))\b"
        r"(?!\s+(?:that|this|it|you|your|these|those|them|how|when|what|i|to\s+(?:see|hear|know|think))\b)",
        "prefer prefers like likes love loves hate hates dislike dislikes adore adores detest detests "
        "enjoy enjoys",
        "Nerys Halvorquill prefers charts without gridlines.",
        "Sounds like a plan, people like you; I like that, the ones I love know.",
        Kind.PREFERENCE,
    ),
    KindCue(
        "favourite",
        r"\b(?:my|his|her|their|[\w-]+'s)\s+(?:all-time\s+)?favou?rites?\b|\bwould\s+rather\b|\bcan(?:no"
        r"|')t\s+stand\b|\b(?:is|am|are|'m|'s)\s+(?:a\s+(?:big|huge)\s+fan|(?:very\s+)?fond"
        r"|allergic)\s*(?:of|to)?\b"
        r"|\b(?:wants?|insists?\s+on|drinks?|eats?)\s+(?:no|only)\b|\bdo(?:es)?\s*n[o']t\s+(?:like|eat"
        r"|drink)\b",
        "favourite favorite favourites favorites rather stand fan fond allergic want wants insist "
        "insists drink drinks eat eats like",
        "Kofi Dunmarrow drinks only ginger tea at work.",
        "Ask a fan, rather than me.",
        Kind.PREFERENCE,
    ),
    KindCue(
        "wants",
        rf"\b{_NAME}\s+(?:wants(?!\s+to\b)|refuses(?!\s+to\b)|insists\s+on|asks\s+(?:for|not\s+to)|avoids"
        rf"|learns\s+best)\b",
        "wants refuses insists asks avoids learns",
        "Cordula Vantwick wants urgent alerts by telephone.",
        "Cordula wants to leave and asks why.",
        Kind.PREFERENCE,
    ),
    KindCue(
        "is a",
        rf"(?:\A|[.!?\n]\s*|,\s+){_NO_NAME}(?:the\s+|an?\s+)?[\w`][\w`' -]{{0,60}}?\s+(?:is|are)\s+"
        rf"(?:(?:an?|the|our)\s+(?!{_PRAISE}\b)|one\s+of\b|part\s+of\b|called\b|made\s+of\b|located\b"
        rf"|based\b|led\s+by\b)|\b(?:means\s+that|stands\s+for|refers\s+to|consists\s+of"
        rf"|is\s+defined\s+as|was\s+born)\b",
        "is are means stands refers consists born",
        "Marrowtide is a tide-gauge data service.",
        "Sports are the best, it is a blast.",
        Kind.SEMANTIC,
    ),
    KindCue(
        "does by nature",
        r"\b(?:owns|leads|is\s+(?:led|owned|run)\s+by|works\s+(?:at|as|for|from)|lives\s+in|reports\s+to"
        r"|depends\s+on|supports|contains|belongs\s+to|costs|requires|provides|runs\s+on)\b",
        "owns owned leads led run works lives reports depends supports contains belongs costs requires "
        "provides runs",
        "Isaura Plimwater owns ingest.",
        "He works hard and runs often.",
        Kind.SEMANTIC,
    ),
)
"""Cues in the order in which they are tried, kind by kind."""

_BEFORE_CODE = tuple(cue for cue in KIND_CUES if cue.kind is not Kind.SEMANTIC)
_AFTER_EPISODE = tuple(cue for cue in KIND_CUES if cue.kind is Kind.SEMANTIC)
_BEFORE_CODE_INDEX, _AFTER_EPISODE_INDEX = by_trigger(_BEFORE_CODE), by_trigger(_AFTER_EPISODE)

_CODE_BLOCK = re.compile(
    r"^(?:```|~~~| {0,3}(?:def|class|import|from|fn|func|const|let|public|SELECT)\s\S.*[:;{(])", re.MULTILINE
)
_QUESTION = re.compile(r"\?[\"')]*\s*\Z")
_WHEN = section("grammar", "when")
_PERSON = section("grammar", "people")
_STATE_BEFORE = section("grammar", "state_before")
_FILLERS = section("grammar", "fillers")
_REGULAR_PAST = re.compile(r"[a-z]{2,}ed\Z")
_NO_PAST = section("grammar", "no_past")
_PAST_FORMS = section("grammar", "past_forms")


def find_kind(
    passage: Passage, mentions: Sequence[Mention], *, dated: bool = False, body: int = 0
) -> Kind | None:
    """What the cues say the text is; ``None`` where none is sure.

    *dated*: a time expression was found in it. *body*: where speech starts, behind a speaker's label.
    """
    text = passage.text[body:]
    if passage.english:
        cued = _first(passage, text, _BEFORE_CODE, _BEFORE_CODE_INDEX)
        if cued is not None:
            return cued
    if _is_code(text, mentions):
        return Kind.CODE
    if not passage.english:
        return None
    if _is_episode(passage, mentions, dated=dated, body=body):
        return Kind.EPISODIC
    return _first(passage, text, _AFTER_EPISODE, _AFTER_EPISODE_INDEX)


def _first(
    passage: Passage, text: str, cues: Sequence[KindCue], index: Mapping[str, tuple[int, ...]]
) -> Kind | None:
    asks = _QUESTION.search(text[-8:]) is not None
    for cue in triggered(passage, cues, index):
        if any(True for _ in cue.matches(text)) and not (asks and "." not in text and "!" not in text):
            return cue.kind
    return None


def _is_code(text: str, mentions: Sequence[Mention]) -> bool:
    return _CODE_BLOCK.search(text) is not None or any(
        mention.kind in {EntityKind.CODE, EntityKind.FILE} for mention in mentions
    )


def _is_episode(passage: Passage, mentions: Sequence[Mention], *, dated: bool, body: int) -> bool:
    """A past tense, and in the same sentence someone, something with a name, or a time it goes with."""
    for number in range(passage.sentence_number(body), len(passage.sentence_starts)):
        start, stop = max(body, passage.sentence_starts[number]), passage.sentence_end(number)
        if passage.text[max(start, stop - 4) : stop].rstrip().endswith("?"):
            continue
        words = passage.words_between(start, stop)
        if not any(_is_past(word, before) for before, word in pairwise(("", *words))):
            continue
        if dated or not _WHEN.isdisjoint(words) or not _PERSON.isdisjoint(words):
            return True
        place = bisect_left(mentions, start, key=lambda mention: mention.start)
        if place < len(mentions) and mentions[place].start < stop:
            return True
    return False


def _is_past(word: str, before: str) -> bool:
    if before in _STATE_BEFORE or (not before and word in _FILLERS):
        return False
    if word in _PAST_FORMS:
        return True
    return word not in _NO_PAST and _REGULAR_PAST.match(word) is not None
