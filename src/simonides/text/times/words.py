"""The words of the grammar: each maps to tags, and each tag to a value.

Tags are in capitals, so that a rule tells the word ``month`` from any name of a month (``MONTH``). Words that
are also something else in English have weaker tags, which only rules with more evidence ask for:

    MONTH       surely a month: a full name, and for may, march and august only with a capital
    LOWMONTH    may, march, august without one: a month after "in", or beside a year
    SHORTMONTH  Jan, Feb …, with a capital
    ANYMONTH    whatever can be a month, for places beside a year
    WEEKDAY     a full name; SHORTDAY (Tue, Fri, with a capital); ANYDAY whatever can be one
    SPAN        week, month, quarter, year, decade; UNIT any unit of time, UNITS its plural
    PLACE       first, second, 3rd …; NUMBER one, two, 3 …
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simonides.text.times.calendar import Unit
from simonides.text.times.english import spellings, word_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Tags = dict[str, object]

# Lengths that "last", "this" and "next" go with.
_SPANS: Final = {Unit.WEEK, Unit.MONTH, Unit.QUARTER, Unit.YEAR, Unit.DECADE}


def vocabulary(literals: Iterable[str]) -> Mapping[str, Tags]:
    """Word → tags. A key with a capital holds for that spelling, one without for all others.

    Args:
        literals: words that rules ask for by themselves; each is its own tag.
    """
    words: dict[str, Tags] = {}
    for word, tags in (*_months(), *_weekdays(), *_units(), *_others()):
        words.setdefault(word, {}).update(tags)
    for word in sorted(literals):
        # Entries with a capital are asked for by themselves, too.
        for key in {word, word.capitalize()} & words.keys() | {word}:
            words.setdefault(key, {})[word] = word
    return words


def _months() -> Iterator[tuple[str, Tags]]:
    ambiguous = word_list("months that are words")
    for number, name in enumerate(word_list("months"), 1):
        if name in ambiguous:
            yield name, {"MONTH": number, "ANYMONTH": number}
            yield name.lower(), {"LOWMONTH": number, "ANYMONTH": number}
        else:
            yield name.lower(), {"MONTH": number, "ANYMONTH": number}
    for number, shorts in enumerate(spellings("short months"), 1):
        for short in shorts:
            yield short, {"SHORTMONTH": number, "ANYMONTH": number}
            yield short.lower(), {"ANYMONTH": number}


def _weekdays() -> Iterator[tuple[str, Tags]]:
    for number, name in enumerate(word_list("weekdays")):
        yield name.lower(), {"WEEKDAY": number, "ANYDAY": number}
        yield f"{name.lower()}s", {"WEEKDAYS": number}
    sure = word_list("short weekdays that are sure")
    for number, shorts in enumerate(spellings("short weekdays")):
        for short in shorts:
            yield short.lower(), {"ANYDAY": number}
            if short in sure:
                yield short, {"SHORTDAY": number, "ANYDAY": number}


def _units() -> Iterator[tuple[str, Tags]]:
    for unit in Unit:
        yield unit.value, {"UNIT": unit, "SPAN": unit} if unit in _SPANS else {"UNIT": unit}
        yield f"{unit.value}s", {"UNITS": unit}
    for number, names in enumerate(spellings("seasons")):
        for name in names:
            yield name, {"SEASON": number}
            yield f"{name}s", {"SEASONS": number}


def _others() -> Iterator[tuple[str, Tags]]:
    for number, name in enumerate(word_list("numbers"), 1):
        yield name, {"NUMBER": number}
    for number, name in enumerate(word_list("tens"), 1):
        yield name, {"NUMBER": 10 * number}
    for number, name in enumerate(word_list("places"), 1):
        yield name, {"PLACE": number}
    for name in ("am", "pm"):
        yield name, {"MERIDIEM": name}
