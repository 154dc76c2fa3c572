"""Cuts a text into tokens for the grammar: words, numbers, dates, clock times and punctuation.

A text is read in chunks between white space. Punctuation around a chunk is set apart; what remains is one or
more pieces joined by dashes, each of a known form. Any other chunk is one token without tags, so identifiers,
versions, paths, addresses, prices and phone numbers are never part of a time: ``port:8443``, ``2024.1``,
``may_pole``, ``monday.com``, ``1/2``.

Cost: linear; every pattern is possessive or of bounded length, and a chunk longer than ``_LONGEST`` is not
looked into.

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

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simonides.text.times.calendar import Unit, clock, spellings, word_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


YEARS = range(1500, 2100)
"""Numbers that may be a year at all."""

MODERN_YEARS = range(1900, 2100)
"""Numbers that may be a year where the cue is weak, as after "from"."""

_LONGEST = 64
_UNTAGGED: Tags = {}
_STOP: Tags = {"STOP": True}
_DASH: Tags = {"DASH": True}

# Han, kana and full-width forms are written without spaces; an em dash separates what it touches.
_CHUNK = re.compile(r"[^\s—\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]++")
_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n")

_OPENING = "\"'\u2018\u2019“«([{<*_`¿¡…•|.,:;!?–-"
_CLOSING = "\"'\u2019”»)]}>*_`….,:;!?–|-"

# What follows a form is a dash, an apostrophe or the end.
_PIECE = re.compile(
    r"""(?:
      (?P<moment> \d{4}-\d\d-\d\d [Tt] \d\d:\d\d (?: :\d\d (?: [.,]\d{1,6}+ )?+ )?+
                  (?: [Zz] | [+-]\d\d:?+\d\d )?+ )
    | (?P<date> \d{4}-\d\d-\d\d | \d{4}/\d{1,2}+/\d{1,2}+ )
    | (?P<isomonth> \d{4}-\d\d )
    | (?P<isoweek> \d{4}-?+W\d\d )
    | (?P<yearquarter> \d{4}-?+[Qq][1-4] )
    | (?P<quarteryear> [Qq][1-4]-?+\d{4} )
    | (?P<numeric> \d{1,2}+ (?P<mark>[-/.]) \d{1,2}+ (?P=mark) \d{4} )
    | (?P<clock> \d{1,2}+:\d\d (?: :\d\d )?+ (?: [AaPp]\.?+[Mm]\.?+ )?+ )
    | (?P<hour> \d{1,2}+[AaPp]\.?+[Mm]\.?+ )
    | (?P<nth> \d{1,2}+(?:st|nd|rd|th) )
    | (?P<decade> '\d0s | \d{3}0s )
    | (?P<number> \d{1,4}+ )
    | (?P<quarter> [Qq][1-4] )
    | (?P<half> [Hh][12] )
    | (?P<meridiem> [AaPp]\.[Mm]\.?+ )
    | (?P<word> [A-Za-z]++ )
    | (?P<suffix> '[A-Za-z]{1,6}+ )
    )(?= [-–'] | \Z )""",
    re.VERBOSE | re.ASCII,
)


class Token(NamedTuple):
    """A piece of a text.

    Attributes:
        start, stop: characters, half-open.
        tags: what it can be in the grammar, with the value of each.
        glued: whether a dash or a dot ties it to what is before, or it is that dash.
    """

    text: str
    start: int
    stop: int
    tags: Tags
    glued: bool = False


def lex(text: str, vocabulary: Mapping[str, Tags]) -> list[Token]:
    """The tokens of *text*, in order, and one without text behind them: there is always a next one."""
    tokens: list[Token] = []
    last = 0
    for chunk in _CHUNK.finditer(text):
        start, stop = chunk.span()
        word = chunk[0]
        gap = text[last:start]
        if gap != " ":
            tokens.extend(_gap(gap, last, start))
        if word.isalpha():
            tokens.append(Token(word, start, stop, tags_of(word, vocabulary)))
        elif len(word) > _LONGEST:
            tokens.append(Token(word, start, stop, _UNTAGGED))
        else:
            tokens.extend(_chunk(word, start, vocabulary, line_start="\n" in gap))
        last = stop
    tokens.append(Token("", len(text), len(text), _STOP))
    return tokens


def tags_of(word: str, vocabulary: Mapping[str, Tags]) -> Tags:
    """The tags of a word in this spelling."""
    return vocabulary.get(word) or vocabulary.get(word.lower(), _UNTAGGED)


def _gap(gap: str, start: int, stop: int) -> Iterator[Token]:
    """A paragraph ends a sentence, and characters of another script part what stands beside them."""
    if _BLANK_LINE.search(gap):
        yield Token(gap, start, stop, _STOP)
    elif gap and not gap.isspace():
        yield Token(gap, start, stop, _UNTAGGED)


def _chunk(chunk: str, offset: int, vocabulary: Mapping[str, Tags], *, line_start: bool) -> Iterator[Token]:
    bare = chunk.lstrip(_OPENING)
    core = bare.rstrip(_CLOSING)
    opening, closing = chunk[: len(chunk) - len(bare)], bare[len(core) :]
    if not core:
        tags = _UNTAGGED if line_start and chunk in _DASHES else _punctuation(chunk)
        yield Token(chunk, offset, offset + len(chunk), tags)
        return
    start, stop = len(opening), len(opening) + len(core)
    if opening.endswith(_APOSTROPHES) and core[0].isdigit():  # the '90s
        opening, start = opening[:-1], start - 1
    if closing.startswith(".") and core.lower().endswith(_DOTTED):  # its last dot
        closing, stop = closing[1:], stop + 1
    if opening:
        yield Token(opening, offset, offset + start, _UNTAGGED)
    yield from _pieces(chunk[start:stop], offset + start, vocabulary, glued=opening.endswith(_TIES))
    if closing:
        yield Token(closing, offset + stop, offset + len(chunk), _punctuation(closing))


_DASHES = ("-", "–")
_TIES = (*_DASHES, ".")  # --since, .5, *.6pm
_DOTTED = ("a.m", "p.m")
_APOSTROPHES = ("'", "\u2018", "\u2019")
# One apostrophe and one hyphen for the forms.
_PLAIN = str.maketrans("\u2018\u2019\u2010\u2011", "''--")
_ENDS = frozenset(".!?…")


def _punctuation(marks: str) -> Tags:
    if marks in _DASHES:
        return _DASH
    if marks in _APOSTROPHES:
        return {"'": True}
    if marks == ",":
        return {",": True}
    if not _ENDS.isdisjoint(marks):
        return {".": True, "STOP": True} if marks == "." else _STOP
    return _UNTAGGED


def _pieces(core: str, offset: int, vocabulary: Mapping[str, Tags], *, glued: bool) -> Iterator[Token]:
    plain = core.translate(_PLAIN)
    at = 0
    while at < len(core):
        if plain[at] in _DASHES:
            yield Token(core[at], offset + at, offset + at + 1, _DASH, glued=True)
            at, glued = at + 1, True
            continue
        piece = _PIECE.match(plain, at)
        if piece is None:
            yield Token(core[at:], offset + at, offset + len(core), _UNTAGGED, glued=glued)
            return
        tags = _piece_tags(str(piece.lastgroup), piece, vocabulary)
        yield Token(core[at : piece.end()], offset + at, offset + piece.end(), tags, glued=glued)
        at, glued = piece.end(), False


def _piece_tags(form: str, piece: re.Match[str], vocabulary: Mapping[str, Tags]) -> Tags:
    found = piece[form]
    if form == "word":
        return tags_of(found, vocabulary)
    if form == "suffix":
        return {found.lower(): True}
    try:
        return _READERS[form](found)
    except ValueError:  # the 31st of February, 25:00
        return _UNTAGGED


def _moment(text: str) -> Tags:
    return {"MOMENT": datetime.fromisoformat(text.upper())}


def _date(text: str) -> Tags:
    year, month, day = map(int, re.split("[-/]", text))
    return {"DATE": date(year, month, day)}


def _numeric(text: str) -> Tags:
    """Day and month in either order, if only one order is possible or both mean the same day."""
    first, second, year = map(int, re.split("[-/.]", text))
    if first != second and max(first, second) <= 12:
        return _UNTAGGED
    day, month = max(first, second), min(first, second)
    return {"DATE": date(year, month, day)}


def _isomonth(text: str) -> Tags:
    year, month = map(int, text.split("-"))
    return {"ISOMONTH": date(year, month, 1)}


def _isoweek(text: str) -> Tags:
    year, week = map(int, re.split("-?W", text))
    return {"ISOWEEK": date.fromisocalendar(year, week, 1)}


def _year_and_quarter(text: str) -> Tags:
    year, quarter = sorted(map(int, re.findall("[0-9]+", text)), reverse=True)
    return {"DATEDQUARTER": (year, quarter)}


def _clock(text: str) -> Tags:
    hour, minute, second, *_ = (*map(int, re.findall("[0-9]+", text)), 0)
    meridiem = _meridiem(text)
    value = clock(hour, minute, second, meridiem=meridiem)
    return {"CLOCK": value, "SURECLOCK": value} if meridiem else {"CLOCK": value}


def _hour(text: str) -> Tags:
    value = clock(int(text.rstrip("AaPpMm.")), meridiem=_meridiem(text))
    return {"CLOCK": value, "SURECLOCK": value}


def _meridiem(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))


def _nth(text: str) -> Tags:
    number = int(text[:-2])
    return {"PLACE": number, "NTH": number, "DAYOFMONTH": number}


def _number(text: str) -> Tags:
    number = int(text)
    tags: dict[str, Any] = {"NUMBER": number}
    if 1 <= number <= 31 and len(text) <= 2:
        tags["DAYOFMONTH"] = number
    if len(text) == 4 and number in YEARS:
        tags["YEAR"] = number
        if number in MODERN_YEARS:
            tags["MODERN"] = number
    return tags


_READERS: dict[str, Callable[[str], Tags]] = {
    "moment": _moment,
    "date": _date,
    "isomonth": _isomonth,
    "isoweek": _isoweek,
    "yearquarter": _year_and_quarter,
    "quarteryear": _year_and_quarter,
    "numeric": _numeric,
    "clock": _clock,
    "hour": _hour,
    "nth": _nth,
    "decade": lambda text: {"DECADE": int(text.strip("'s"))},
    "number": _number,
    "quarter": lambda text: {"QUARTER": int(text[1])},
    "half": lambda text: {"HALF": int(text[1])},
    "meridiem": lambda text: {"MERIDIEM": _meridiem(text)},
}


Tags = dict[str, object]

# Lengths that "last", "this" and "next" go with.
_SPANS: Final = {Unit.WEEK, Unit.MONTH, Unit.QUARTER, Unit.YEAR, Unit.DECADE}


def vocabulary(literals: Iterable[str]) -> Mapping[str, Tags]:
    """Word → tags; *literals* are their own tags.

    A key with a capital holds for that spelling, one without for others.
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
