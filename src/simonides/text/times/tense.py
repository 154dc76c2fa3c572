"""How a sentence speaks of a time: as a plan, a report, a habit, or in a way that leaves it open.

A name without a year ("on Friday", "3 June") lies ahead in a plan and behind in a report; a habit has no
single date. The nearest finite verb before the time decides, first in its own clause, then the first verb
after it, then the rest of the sentence:

    plan      present or future: "the exam is on Monday", "we fly on 3 June", "must be filed by Friday"
    report    past: "we flew on 3 June", "has met her in May", "the letter from Monday"
    habit     "every", "always", "Thursdays", "of each month"
    open      "was supposed to be on Monday", "would have been", no verb at all

Verbs are known by their forms: auxiliaries, irregular past forms, *-ed* after neither article nor auxiliary,
the word after "I", "we", "they" or a plural, *-s* after a noun, *-ing* after "be". Cost: the 24 words on
either side of a time. Weakness: English has no sure sign of a verb, so a rare noun may be taken for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final

from simonides.text.analyser import irregular_forms
from simonides.text.times.calendar import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.text.times.lexer import Token


class Tense(Enum):
    """How a sentence speaks of a time."""

    PROMISE = "promise"
    """A plan in the future tense."""
    PLAN = "plan"
    REPORT = "report"
    HABIT = "habit"
    OPEN = "open"


_AROUND: Final = 24
"""Words on either side of a time that are looked at."""

_PLAN_VERBS: Final = word_set("plan verbs")
_REPORT_VERBS: Final = word_set("report verbs")
_UNFULFILLED: Final = word_set("unfulfilled")
_UNSURE: Final = word_set("unsure verbs")
_BE: Final = word_set("be")
_HAVE: Final = word_set("have")
_NOT_FINITE: Final = word_set("not finite")
_SKIPPED: Final = word_set("skipped")
_DETERMINERS: Final = word_set("determiners")
_SUBJECTS: Final = word_set("subjects")
_SINGULAR: Final = word_set("singular subjects")
_BOUNDARIES: Final = word_set("boundaries")
_EITHER: Final = word_set("either form")
_NO_PAST: Final = word_set("no past ed")
_FIXING: Final = word_set("fixing")
_POSSESSIVES: Final = frozenset({"my", "our", "the", "he", "she"})
_FIXING_LEADS: Final = word_set("fixing leads")
_SHIFTING: Final = word_set("shifting")
_INTENTIONS: Final = word_set("intentions")
_PLAN_BASE: Final = word_set("plan base")
_PARTICLES: Final = word_set("particles")
_OPINIONS: Final = word_set("opinions")
_COUNTS: Final = frozenset({"once", "twice", "times"})
_PLURAL_VERBS: Final = word_set("plural verbs")
_PLAN_NOUNS: Final = word_set("plan nouns")
_RECORDS: Final = word_set("records")
_RECORD_LEADS: Final = word_set("record leads")
_HABITS: Final = word_set("habit words")
_REPEATED: Final = word_set("again and again")
_OF_EACH: Final = word_set("of each")
_CLOSED: Final = word_set("closed")
_FUTURE: Final = word_set("future")
_LEADS: Final = frozenset(
    {"on", "in", "at", "by", "from", "since", "until", "till", "before", "after", "during"}
)
_ANY_SUBJECT: Final = _SUBJECTS | _SINGULAR
_OWNED: Final = _BE | _HAVE | _NOT_FINITE
_BEFORE_SUBJECTS: Final = (_NOT_FINITE - {"to"}) | _HAVE
_IS_AFTER: Final = _SINGULAR | {"that", "there", "here", "what", "when", "where", "let"}
_NO_VERBS: Final = _CLOSED | _DETERMINERS | _SKIPPED | _LEADS | _PARTICLES
_SHORT: Final = 3


def fixed_before(tokens: Sequence[Token], start: int, stop: int) -> bool:
    """A date was fixed: "moved to Friday", "a table for Friday"."""
    sentence = _Sentence.around(tokens, start, stop)
    return sentence.is_fixed(0)


def shifted_before(tokens: Sequence[Token], start: int, stop: int) -> bool:
    """A date gave way to another: "moved back from Friday to Monday"."""
    return _Sentence.around(tokens, start, stop).is_shifted()


def sure(tokens: Sequence[Token], start: int, stop: int) -> bool:
    """The sentence promises or reports; in the present tense two weekdays are a habit."""
    return tense_of(tokens, start, stop) in {Tense.PROMISE, Tense.REPORT}


def recorded_before(tokens: Sequence[Token], start: int, _stop: int) -> bool:
    """What is kept of a day: "the letter from Friday"."""
    return start > 0 and tokens[start - 1].text.lower() in _RECORDS


def opens_clause(tokens: Sequence[Token], start: int, stop: int) -> bool:
    """A weekday before a subject, first in its sentence: "Thursday we fly"."""
    first = start == 0 or "STOP" in tokens[start - 1].tags
    return first and tokens[stop].text.lower() in _SUBJECTS | _POSSESSIVES


def tense_of(tokens: Sequence[Token], start: int, stop: int) -> Tense:
    """How the sentence of ``tokens[start:stop]``, a time, speaks of it."""
    return _Sentence.around(tokens, start, stop).tense()


@dataclass(frozen=True, slots=True)
class _Sentence:
    """The words of a sentence, in lower case, and whether each has a *capital*.

    The time is *start* to *stop*.
    """

    words: tuple[str, ...]
    capital: tuple[bool, ...]
    start: int
    stop: int

    @classmethod
    def around(cls, tokens: Sequence[Token], start: int, stop: int) -> _Sentence:
        first = start
        while first > max(0, start - _AROUND) and "STOP" not in tokens[first - 1].tags:
            first -= 1
        last = stop
        while last < min(len(tokens), stop + _AROUND) and "STOP" not in tokens[last].tags:
            last += 1
        texts = [token.text.replace("\u2019", "'") for token in tokens[first:last]]
        return cls(
            tuple(text.lower() for text in texts),
            tuple(text[:1].isupper() for text in texts),
            start - first,
            stop - first,
        )

    def tense(self) -> Tense:  # noqa: PLR0911 one rule a line
        """How it speaks of the time."""
        lead = self._word(self.start)
        before = self._word(self.start - 1)
        if lead == "since":
            return Tense.REPORT
        first, last = self._clause()
        told = self._nearest(first, last)
        whole = told is None
        if whole:
            told = self._nearest(0, len(self.words))
        if self._repeats(0 if whole else first, len(self.words) if whole else last, told):
            return Tense.HABIT
        if self._is_record(lead, before, first):
            return Tense.REPORT
        if (before in _FIXING_LEADS or lead in _FIXING_LEADS) and self.is_fixed(
            first if first < self.start - 1 else 0
        ):
            return Tense.PLAN
        if lead == "from" and self.is_shifted():
            return Tense.PLAN
        if "born" in self.words[first:last]:
            return Tense.OPEN
        if told is None and not _PLAN_NOUNS.isdisjoint(self.words):
            return Tense.PLAN if _RECORDS.isdisjoint(self.words) else Tense.OPEN
        return Tense.OPEN if told is None else told

    def _word(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

    def _clause(self) -> tuple[int, int]:
        first = self.start
        while first > 0 and not self._parts(first - 1):
            first -= 1
        last = self.stop
        while last < len(self.words) and not self._parts(last):
            last += 1
        return first, last

    def _parts(self, at: int) -> bool:
        word = self.words[at]
        return word in _BOUNDARIES or (not word[:1].isalnum() and word[:1] not in {"'", "-", "–"})

    def _nearest(self, first: int, last: int) -> Tense | None:
        """What the nearest verb before the time tells, else the first one after it.

        A word that may be a noun, too ("long walks", "fed the ducks bread"), is a verb where no other verb
        stands before it, or only one of a relative clause ("the match we watched starts").
        """
        doubtful = False
        for at in (*range(self.start - 1, first - 1, -1), *range(self.stop, last)):
            told = self._verb(at, first)
            if told is not None:
                return Tense.PLAN if doubtful and self._is_relative(at, first) else told
            doubtful = doubtful or self._is_doubtful(at, first)
        return Tense.PLAN if doubtful else None

    def _is_relative(self, at: int, first: int) -> bool:
        """Whether the verb at *at* has a subject of its own within the clause: "the match we watched"."""
        before = self._before(at)
        return before > first and self._word(before) in _ANY_SUBJECT | {"that"}

    def _before(self, at: int) -> int:
        """The place of the word before, adverbs passed over; -1 = there is none."""
        at -= 1
        while at >= 0 and self.words[at] in _SKIPPED:
            at -= 1
        return at

    def _after(self, at: int) -> int:
        at += 1
        while at < len(self.words) and self.words[at] in _SKIPPED:
            at += 1
        return at

    def _verb(self, at: int, first: int) -> Tense | None:  # noqa: PLR0911 one form a line
        """What a word tells as a finite verb; ``None`` where it is none, or tells nothing."""
        word, following = self.words[at], self._word(self._after(at))
        if not word[:1].isalpha() and word[:1] != "'":
            return None
        if word == "won" and self._word(at + 1) == "'t":
            return Tense.PROMISE
        if word in _OPINIONS and following != "to" and self._before(at) >= first:
            return None
        if word in _FUTURE or word in _PLAN_VERBS:
            return self._planning(at, word, following)
        if word in _REPORT_VERBS:
            return self._reporting(word, following)
        if word == "'s":
            return self._contracted(at, following)
        if word in _UNSURE:
            return Tense.PLAN if following in {"like", "love", "better", "rather"} else Tense.OPEN
        if word in {"could", "may"}:
            undone = following in {"have", "'ve"} or self._word(at + 1) in {"not", "'t"}
            return Tense.OPEN if undone else Tense.PLAN
        if self._is_past(at, word, first):
            return Tense.OPEN if word in _INTENTIONS | {"used"} and following == "to" else Tense.REPORT
        return Tense.PLAN if self._is_present(at, word, first) else None

    def _planning(self, at: int, word: str, following: str) -> Tense | None:  # noqa: PLR0911 one form a line
        if word == "will" and self.capital[at] and at:
            return None  # a name
        if word == "going":
            earlier = self._word(self._before(at))
            if earlier in {"was", "were", "wasn", "weren"}:
                return Tense.OPEN
            return Tense.PROMISE if following == "to" or earlier in _BE else None
        if word in _FUTURE:
            return Tense.PROMISE
        before = self._before(at)
        earlier = self._word(before)
        if word in {"do", "have", "'ve", "need", "want"} and (earlier in _NOT_FINITE or self._asked(before)):
            return None
        if word in {"plans", "hopes", "wants", "needs"} and earlier in _DETERMINERS:
            return None
        if word in {"should", "must", "might", "ought"} and following in {"have", "'ve"}:
            return Tense.OPEN
        if word in _HAVE and self._perfect(at):
            return Tense.PLAN if self._has_planned(at) else Tense.REPORT
        if word in _BE and following.endswith("ing"):
            return Tense.PROMISE
        return Tense.PLAN

    def _perfect(self, at: int) -> bool:
        after = self._after(at)
        if self._word(after) in _ANY_SUBJECT:  # have you seen
            after = self._after(after)
        word = self._word(after)
        if word == "got":  # I've got a ticket
            return False
        return word in _past_forms() or _ends_in_ed(word) or word in {"come", "run", "become"}

    def _has_planned(self, at: int) -> bool:
        """Has planned, has agreed to come, has been asked to speak."""
        participle = self._after(at)
        if self._word(participle) == "been":
            participle = self._after(participle)
        planned = self._word(participle) in {"planned", "scheduled", "arranged"}
        return planned or self._word(self._after(participle)) == "to"

    @staticmethod
    def _reporting(word: str, following: str) -> Tense:
        if word in {"was", "were", "wasn", "weren"} and following in _UNFULFILLED:
            return Tense.OPEN
        return Tense.PLAN if word == "had" and following == "better" else Tense.REPORT

    def _contracted(self, at: int, following: str) -> Tense | None:
        """``'s`` after a pronoun is "is" or "has"; after a noun it owns something."""
        if self._word(at - 1) not in _IS_AFTER:
            return None
        if following.endswith("ing"):
            return Tense.PROMISE
        return Tense.REPORT if following in _past_forms() and following not in _EITHER else Tense.PLAN

    def _is_past(self, at: int, word: str, first: int) -> bool:
        if word not in _past_forms() and not _ends_in_ed(word):
            return False
        if self.capital[at] and at != 0:
            return False  # a name: Fred, Ahmed
        before = self._before(at)
        earlier = self._word(before) if before >= 0 else ""
        if self._determines(before):
            return False  # the lost dog
        if word in _EITHER and (at == first or earlier in _NOT_FINITE):
            return False
        return earlier not in _OWNED and not self._asked(before)

    def _asked(self, subject: int) -> bool:
        """Whether a verb stands before its subject, as in "did you", "will she"."""
        earlier = self._word(self._before(subject)) if subject > 0 else ""
        return self._word(subject) in _ANY_SUBJECT and earlier in _BEFORE_SUBJECTS

    def _determines(self, at: int) -> bool:
        """Whether what follows the word at *at* is a noun: an article, or "that" which joins no clause."""
        word, before = self._word(at), self._word(at - 1)
        if word == "'s":
            return before not in _SINGULAR
        if word == "that":
            return at == 0 or before in _CLOSED or not before.isalpha()
        return at >= 0 and word in _DETERMINERS

    def _is_present(self, at: int, word: str, first: int) -> bool:  # noqa: PLR0911 one form a line
        before = self._before(at)
        earlier = self._word(before) if before >= 0 else ""
        if not word.isalpha() or word in _NO_VERBS:
            return False
        if self._determines(before) or earlier in _OWNED:
            return False
        opens = before < first
        if word.endswith("ing") and word not in _base_forms():
            return opens and len(word) > len("bring")
        if opens:  # an imperative, or the subject left out: "Starts on Friday."
            left_out = _third_person(word) in _base_forms() and self._word(at + 1) in _LEADS
            return left_out or word in _base_forms()
        if self._asked(before):
            return False
        if earlier in _SUBJECTS:
            return earlier != "you" or before == first
        plural = earlier.endswith("s") or earlier in {"people", "parents", "children", "and"}
        if word in _base_forms():
            return plural or self.capital[before] or earlier in _SINGULAR
        base = _third_person(word)
        return base in _base_forms() and (base not in _PLURAL_VERBS or earlier in _SINGULAR)

    def _is_doubtful(self, at: int, first: int) -> bool:
        """What may be a verb or a noun: a word with -s after a noun, a word after a plural or "you"."""
        word, before = self.words[at], self._before(at)
        if not word.isalpha() or word in _NO_VERBS or before < first or self._determines(before):
            return False
        earlier = self._word(before)
        if earlier in _OWNED or not earlier.isalpha() or self.capital[at]:
            return False
        alone = before == first and at + 1 == self.start
        starts = alone or self._word(self._before(before)) in _DETERMINERS
        if earlier == "you" or (earlier.endswith("s") and starts and not word.endswith("s")):
            return True
        if _third_person(word) in _base_forms():
            return True
        if len(word) <= _SHORT or not word.endswith("s") or word.endswith(("ss", "us", "is")):
            return False
        following = self._word(at + 1)
        after_noun = earlier in _SINGULAR or (earlier not in _LEADS and earlier not in _CLOSED)
        goes_on = at + 1 == self.start or following in _CLOSED | _DETERMINERS or not following.isalpha()
        return after_noun and goes_on

    def _repeats(self, first: int, last: int, told: Tense | None) -> bool:
        for at in range(first, last):
            word = self.words[at]
            if word in _HABITS and not self.start <= at < self.stop:
                return True
            following = self._word(at + 1)
            if word in _REPEATED and following in _OF_EACH:
                return True
            if word in _COUNTS and following in {"a", "an"} | _REPEATED:
                return True
            if word in _WEEKDAYS and not self.start <= at < self.stop:
                return True
            if word == "never" and told is not Tense.REPORT:
                return True
        after = self.words[self.stop : self.stop + 3]
        return after[:2] == ("of", "the") and after[2:] in {("month",), ("year",), ("week",), ("quarter",)}

    def _is_record(self, lead: str, before: str, first: int) -> bool:
        """The photo from 3 June, the invoice of 3 May."""
        if lead not in _RECORD_LEADS and before not in _RECORD_LEADS:
            return False
        at = self.start - 1 if lead in _RECORD_LEADS else self.start - 2
        return at >= first and self._word(at) in _RECORDS

    def is_fixed(self, first: int) -> bool:
        """Moved to Friday, a table for Friday, booked for 3 June."""
        return not _FIXING.isdisjoint(self.words[first : self.start])

    def is_shifted(self) -> bool:
        """Moved, or moved back, directly before the time."""
        return not _SHIFTING.isdisjoint(self.words[max(0, self.start - 2) : self.start])


def _ends_in_ed(word: str) -> bool:
    return len(word) > _SHORT and word.endswith("ed") and word not in _NO_PAST


def _third_person(word: str) -> str:
    """The base form of a word in -s, or an empty text."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else ""


_PLURALS: Final = word_set("irregular plurals")
_WEEKDAYS: Final = frozenset(f"{day}s" for day in word_set("weekdays"))


@cache
def _base_forms() -> frozenset[str]:
    """Verbs that plans are often told with, and the irregular ones."""
    verbs = {base for form, base in irregular_forms("english").items() if form not in _PLURALS}
    return _PLAN_BASE | verbs


@cache
def _past_forms() -> frozenset[str]:
    """Past forms and past participles of irregular verbs."""
    verbs = {form for form, base in irregular_forms("english").items() if form != base}
    return word_set("report forms") | (verbs - _PLURALS)
