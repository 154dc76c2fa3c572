r"""Multiplies scores by what a question asks for and what a memory is, in English only (JB-10).

A question for preferences ("what do I prefer?", "any tips?", "my favourite tea") and one for a fact ("how
many …", "did I buy …", "what's the version of …", "when did … happen?") may be one question; then both apply,
and all factors of a memory multiply.

    preference   ×preference_note   a preference of the user
                 ×preference_verb   else a note of the user's own in which someone prefers, likes, avoids, …
                 ×generic           advice, guides, checklists that are not the user's own
                 ×roll_up           summaries and totals
                 ×document_chunk    a piece of a document
    fact         ×concrete          a fact or milestone of the user; or no roll-up, and dated by a tag or told
                                    in the first person ("I bought", "we visited")
                 ×fact_roll_up      summaries and totals, also concrete ones
                 ×fact_generic      advice that is not the user's own, unless concrete
                 ×short_dated       a dated memory of at most *short_tokens*
                 ×long_prose        more than *prose_tokens*

The user's own are episodes and preferences that come from no document. Equal scores keep the order they had.
Cost: the records of the pool and a few regular expressions each. Weakness: word lists; a question in other
words, or another language, passes unweighted.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.order import split
from simonides.records.kind import Kind

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query

SIGNAL = "intent_reweight"


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


_PREFERENCE_QUESTION = _words(
    r"recommend(?:ation)?", r"suggest(?:ion)?", "tips?", "advice", "ideas?", r"(?:what|which) should i",
    "prefer(?:s|red|ence|ences)?", "favou?rites?",
)  # fmt: skip
_COUNT_QUESTION = _words("how many", "count", "(?:in )?total", "sum", "add up", "list", "what are all")
_FIRST_PERSON_QUESTION = _words("(?:did|have|was|were) i")
_DONE = (
    "picked up", "bought", "ordered", "spent", "earned", "sold", "drove", "travell?ed", "watched", "visited",
    "completed", "finished", "submitted", "booked",
)  # fmt: skip
_DONE_IN_QUESTION = _words(
    *_DONE, "pick up", "buy", "order", "spend", "earn", "sell", "drive", "travel", "watch", "visit",
    "complete", "finish", "submit", "book",
)  # fmt: skip
_PROPERTY_QUESTION = re.compile(
    r"\bwhat(?:['\u2019]?s| is| was) (?:the|my|our) [^?]{1,60}? of\b|\bwhen (?:did|was|were) \S",
    re.IGNORECASE,
)

_PREFERENCE_VERB = _words(
    "prefer(?:s|red)?", "like[sd]?", "love[sd]?", "want(?:s|ed)?", "need(?:s|ed)?", "avoid(?:s|ed)?",
    "dislike[sd]?", "hate[sd]?", "enjoy(?:s|ed)?", "interested in", "looking for",
)  # fmt: skip
_GENERIC = _words(
    "tips?", "advice", "suggest(?:s|ed|ions?)?", "recommend(?:s|ed|ations?)?", "ideas?", "options?", "guide",
    "track(?:ing|er)", "checklist",
)  # fmt: skip
_ROLL_UP = _words(
    "roll-?up", "summary", "recap", "overview", "aggregate", "combined", "overall", "in total",
    "totall?ed", "totall?ing",
)  # fmt: skip
_DONE_IN_NOTE = _words(rf"(?:i|we)\s+(?:{'|'.join((*_DONE, 'went', 'started', 'got', 'took'))})")
_DATE_TAG = re.compile(r"\[(?:date|observed on):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IntentReweight:
    """Refiner; every factor is above 0.

    Attributes:
        preference_note, preference_verb, generic, roll_up, document_chunk: for questions for preferences.
        concrete, fact_roll_up, fact_generic, short_dated, long_prose: for questions for facts.
        short_tokens, prose_tokens: up to how many a memory is short, beyond how many it is prose.
    """

    preference_note: float
    preference_verb: float
    generic: float
    roll_up: float
    document_chunk: float
    concrete: float
    fact_roll_up: float
    fact_generic: float
    short_dated: float
    long_prose: float
    short_tokens: int
    prose_tokens: int

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 < value < math.inf:
                raise InputError(field.name, f"{value} is not a number above 0; 1 changes nothing")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The pool with its scores multiplied."""
        prefers, asks_fact = asks_preference(query.text), asks_concrete_fact(query.text)
        head, tail = split(pool)
        if not head or not (prefers or asks_fact):
            return Refined(pool)
        scored = []
        for candidate, memory in zip(head, view.memories([each.ordinal for each in head]), strict=True):
            note = _Note.of(memory, tools)
            factor = (self._for_preference(note) if prefers else 1.0) * (
                self._for_fact(note) if asks_fact else 1.0
            )
            scored.append(
                candidate.rescored(
                    round(candidate.score * factor, 9), candidate.scored_by, **{SIGNAL: round(factor, 9)}
                )
            )
        # Stable: the published order of equal scores is the fused one.
        scored.sort(key=lambda candidate: -candidate.score)
        return Refined(tuple(scored) + tail)

    def _for_preference(self, note: _Note) -> float:
        factor = 1.0
        if note.preference:
            factor = self.preference_note
        elif note.own and note.prefers:
            factor = self.preference_verb
        if note.generic and not note.own:
            factor *= self.generic
        if note.roll_up:
            factor *= self.roll_up
        if note.chunk:
            factor *= self.document_chunk
        return factor

    def _for_fact(self, note: _Note) -> float:
        concrete = note.fact or (not note.roll_up and note.event)
        factor = self.concrete if concrete else 1.0
        if note.roll_up:
            factor *= self.fact_roll_up
        if note.generic and not note.own and not concrete:
            factor *= self.fact_generic
        if note.dated and note.tokens <= self.short_tokens:
            factor *= self.short_dated
        if note.tokens > self.prose_tokens:
            factor *= self.long_prose
        return factor


@dataclass(frozen=True, slots=True)
class _Note:
    """What matters of a memory."""

    own: bool
    chunk: bool
    preference: bool
    prefers: bool
    generic: bool
    roll_up: bool
    fact: bool
    event: bool
    dated: bool
    tokens: int

    @classmethod
    def of(cls, memory: Memory, tools: Tools) -> _Note:
        text = "\n".join((memory.path, *memory.tags, memory.context, memory.text))
        own = memory.kind in {Kind.EPISODIC, Kind.PREFERENCE} and not memory.document
        dated = bool(_DATE_TAG.search(text))
        return cls(
            own=own,
            chunk=bool(memory.document),
            preference=own and (memory.kind is Kind.PREFERENCE or "user-preference-" in memory.path.lower()),
            prefers=bool(_PREFERENCE_VERB.search(text)),
            generic=bool(_GENERIC.search(text)),
            roll_up=bool(_ROLL_UP.search(text)),
            fact=any(slug in memory.path.lower() for slug in ("user-fact-", "milestone-")),
            event=dated or bool(_DONE_IN_NOTE.search(text)),
            dated=dated or memory.occurred is not None,
            tokens=tools.tokens.count(memory.text),
        )


def asks_preference(question: str) -> bool:
    """Whether it asks for what someone likes, or for advice."""
    return bool(_PREFERENCE_QUESTION.search(question))


def asks_concrete_fact(question: str) -> bool:
    """Whether it asks for a number, a property, a date or something the asker did."""
    if _COUNT_QUESTION.search(question) or _PROPERTY_QUESTION.search(question):
        return True
    return bool(_FIRST_PERSON_QUESTION.search(question) and _DONE_IN_QUESTION.search(question))
