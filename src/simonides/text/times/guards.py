"""What the words around a match say against it.

Each guard answers whether ``tokens[start:stop]`` may be a time. A time that is missed costs less than one
that is wrong, so a guard refuses in doubt. Words are compared in lower case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simonides.text.times.calendar import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.text.times.grammar import Guard
    from simonides.text.times.lexer import Token

    Tokens = Sequence[Token]

_POINTERS: Final = word_set("pointers")
_MODALS: Final = word_set("modals")
_REPEATED: Final = word_set("repeated")
_NAMES: Final = word_set("months that are names")
_PRONOUNS: Final = word_set("pronouns")
_COUNTED: Final = word_set("counted")
_PLURAL_PEOPLE: Final = word_set("plural people")
_NO_PLURALS: Final = word_set("no plurals")
_CLOSED: Final = word_set("closed")
_HABITS: Final = word_set("habits")
_ZONES: Final = word_set("zones")
_FUTURE: Final = word_set("future")
_PAST: Final = word_set("past")
_PRESENT: Final = word_set("present")
_NO_PAST: Final = word_set("no past")
_BRIEF: Final = word_set("brief units")
_TIMES: Final = word_set("times")

# So many words before and after a time are looked at for its tense.
_LOOK_BACK: Final = 12
_LOOK_AHEAD: Final = 4


def _word(tokens: Tokens, at: int) -> str:
    return tokens[at].text.lower().replace("\u2019", "'") if 0 <= at < len(tokens) else ""


def all_of(*guards: Guard) -> Guard:
    """Every one of *guards* agrees."""
    return lambda tokens, start, stop: all(guard(tokens, start, stop) for guard in guards)


def undetermined(tokens: Tokens, start: int, _stop: int) -> bool:
    """No ``the``, ``her``, ``a`` before it: "her last fall", "the next week" are something else."""
    before = _word(tokens, start - 1)
    return before not in _POINTERS and not (before in _MODALS and _word(tokens, start) == "last")


def once(tokens: Tokens, start: int, _stop: int) -> bool:
    """Not repeated: "every last Friday"."""
    return _word(tokens, start - 1) not in _REPEATED


def untitled(tokens: Tokens, start: int, _stop: int) -> bool:
    """Not the end of a name: "USA Today"."""
    name = tokens[start - 1].text if start else ""
    return not (tokens[start].text[:1].isupper() and name[:1].isupper() and name.isalpha())


def uncounted(tokens: Tokens, _start: int, stop: int) -> bool:
    """A bare year at the end counts nothing: not "in 2048 bytes", "from 1999 to 2020 files", "in 1950 12"."""
    following = tokens[stop]
    return _word(tokens, stop) not in _COUNTED and "NUMBER" not in following.tags


def no_number_after(tokens: Tokens, _start: int, stop: int) -> bool:
    """A date without year is not followed by a number, which might be its year: not "8 May 23"."""
    return "NUMBER" not in tokens[stop].tags or "MERIDIEM" in tokens[stop + 1].tags


def no_day_before(tokens: Tokens, start: int, _stop: int) -> bool:
    """No day that found no place stands before its month: not "8 May 23", "31 April 2024", "3/5 May 2026"."""
    if start == 0:
        return True
    before = tokens[start - 1]
    return before.tags.keys().isdisjoint({"NUMBER", "NTH"}) and not (
        before.text[:1].isdigit() and not before.tags
    )


def not_a_count(tokens: Tokens, start: int, stop: int) -> bool:
    """The day of a month counts nothing: not "March 8 miles", "in May 12 people"."""
    if "NUMBER" not in tokens[stop - 1].tags:
        return no_number_after(tokens, start, stop)
    word = _word(tokens, stop)
    plural = word.endswith("s") and word.isalpha() and word not in _NO_PLURALS
    return not plural and word not in _PLURAL_PEOPLE and no_number_after(tokens, start, stop)


def unnamed(tokens: Tokens, _start: int, stop: int) -> bool:
    """A month that is a first name has no surname and owns nothing: not "since June Carter left"."""
    if _word(tokens, stop - 1) not in _NAMES:
        return True
    following = tokens[stop]
    surname = following.text[:1].isupper() and not following.tags and _word(tokens, stop) not in _PRONOUNS
    return not surname and _word(tokens, stop) != "'s"


def nobody(tokens: Tokens, start: int, stop: int) -> bool:
    """The month is no first name at all: "a letter from June" may be from her."""
    return _word(tokens, stop - 1) not in _NAMES and unnamed(tokens, start, stop)


def owns_nothing(tokens: Tokens, _start: int, stop: int) -> bool:
    """As a month "April" has no "'s" when nothing else says that it is one."""
    return _word(tokens, stop - 1) not in _NAMES or _word(tokens, stop) != "'s"


def stands_alone(tokens: Tokens, _start: int, stop: int) -> bool:
    """What follows does not make an adjective of it: not "in spring boot", "over the summer dress"."""
    following = tokens[stop]
    return not following.text[:1].isalpha() or _word(tokens, stop) in _CLOSED or bool(following.tags)


def no_part(tokens: Tokens, _start: int, stop: int) -> bool:
    """Not "the past week of", nor "last Monday of the month", which comes again."""
    return _word(tokens, stop) != "of"


def once_on_a_weekday(tokens: Tokens, _start: int, stop: int) -> bool:
    """Not "on Friday mornings", which is a habit, nor "on Friday the 13th"."""
    thirteenth = _word(tokens, stop) == "the" and "DAYOFMONTH" in tokens[stop + 1].tags
    return _word(tokens, stop) not in _HABITS and not thirteenth


def local_time(tokens: Tokens, _start: int, stop: int) -> bool:
    """A time of day with another zone is not understood, rather than misunderstood; nor "10 am I right"."""
    word = _word(tokens, stop)
    return word not in _ZONES and not (word == "i" and _word(tokens, stop - 1) == "am")


def uncombined(tokens: Tokens, start: int, _stop: int) -> bool:
    """Not the end of "two years and three months ago"."""
    before = start - 2 if _word(tokens, start - 1) == "and" else start - 1
    return before < 0 or tokens[before].tags.keys().isdisjoint({"UNIT", "UNITS"})


def not_back_to(tokens: Tokens, _start: int, stop: int) -> bool:
    """Not "two weeks back to back"."""
    return _word(tokens, stop) != "to"


def not_the_fall(tokens: Tokens, _start: int, stop: int) -> bool:
    """Without a year, "fall" is more often not the season: "hurt in the fall"."""
    return _word(tokens, stop - 1) != "fall"


def no_other_fall(tokens: Tokens, start: int, stop: int) -> bool:
    """Not "let this fall apart"."""
    return not_the_fall(tokens, start, stop) or stands_alone(tokens, start, stop)


def no_range(tokens: Tokens, _start: int, stop: int) -> bool:
    """Not the left side of what was no range after all: "from 1914 to 1918 files"."""
    return _word(tokens, stop) not in {"to", "until", "till", "through"} and "DASH" not in tokens[stop].tags


def two_digits(tokens: Tokens, start: int, stop: int) -> bool:
    """The end of "2026-05-03 to 05" is written as in a date, and counts nothing."""
    return len(tokens[stop - 1].text) == len("05") and not_a_count(tokens, start, stop)


def no_word_after(tokens: Tokens, _start: int, stop: int) -> bool:
    """Not "from Friday on the market"."""
    return not tokens[stop].text[:1].isalnum()


def not_a_question_number(tokens: Tokens, _start: int, stop: int) -> bool:
    """Not "Q1:" or "Q2)"."""
    return tokens[stop].text[:1] not in {":", ")"}


def ahead(tokens: Tokens, start: int, _stop: int) -> bool:
    """The sentence so far does not speak of the past."""
    return not _of_the_past(_sentence_before(tokens, start))


def promised(tokens: Tokens, start: int, _stop: int) -> bool:
    """The sentence so far speaks of the future: "we will meet"."""
    words = _sentence_before(tokens, start)
    return not _FUTURE.isdisjoint(words) and not _of_the_past(words)


def in_the_future(tokens: Tokens, start: int, stop: int) -> bool:
    """A duration where the sentence speaks of the past: "we finished in two weeks".

    Hours and less need a word of the future or nothing around them: "it runs in 3 minutes" is one, too.
    """
    if promised(tokens, start, stop):
        return True
    words = [*_sentence_before(tokens, start), *_sentence_after(tokens, stop)]
    if not words:
        return True
    brief = any(_word(tokens, at) in _BRIEF for at in range(start, stop))
    return not brief and _word(tokens, start - 1) not in _TIMES and not _of_the_past(words)


def _of_the_past(words: list[str]) -> bool:
    if not _PAST.isdisjoint(words):
        return True
    return _PRESENT.isdisjoint(words) and any(word.endswith("ed") and word not in _NO_PAST for word in words)


def _sentence_before(tokens: Tokens, start: int) -> list[str]:
    """The words before *start* in its sentence, the nearest first."""
    words: list[str] = []
    for at in range(start - 1, max(-1, start - 1 - _LOOK_BACK), -1):
        if "STOP" in tokens[at].tags:
            break
        word = _word(tokens, at)
        words.append("will" if word == "won" and _word(tokens, at + 1) == "'t" else word)
    return words


def _sentence_after(tokens: Tokens, stop: int) -> list[str]:
    """The next words of the sentence that goes on at *stop*."""
    words: list[str] = []
    for at in range(stop, min(len(tokens), stop + _LOOK_AHEAD)):
        if "STOP" in tokens[at].tags:
            break
        words.append(_word(tokens, at))
    return words
