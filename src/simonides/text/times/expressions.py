"""Finds the time expressions of a text and resolves them against the moment it was said.

A hand-made grammar of English (``ranges`` is its top), read from left to right: the longest expression from
a word on wins, and found ones do not overlap. The moment and the zone are handed in; nothing here reads a
clock. What the rules do not understand, or what the words around speak against (``guards``), is no time: a
missed one costs less than a wrong one.

A name without a year ("on Friday") is the latest one, or the next one where the sentence speaks of the future
before it ("we will meet on Friday"): so ``find_times`` reads questions. ``find_stated_times`` reads what is
told: in a plan the name lies ahead, in a report behind, and where neither is sure it is no time (``tense``).

Cost: linear; about 1 s CPU per megabyte of English, ten times that where every few words are a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final

from simonides.errors import InputError
from simonides.records.extraction import TimeMention
from simonides.records.hygiene import shown
from simonides.records.interval import local_time, to_micros
from simonides.text.times.calendar import Unit, instant, local, shift
from simonides.text.times.days import DAYS_RULES, MOMENTS_RULES, PERIODS_RULES
from simonides.text.times.grammar import Grammar, Parser
from simonides.text.times.guards import once, promised
from simonides.text.times.lexer import lex, vocabulary
from simonides.text.times.meaning import Now, find_dates, span
from simonides.text.times.ranges import OFFSETS_RULES, RANGES_RULES
from simonides.text.times.tense import Tense, tense_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from simonides.records.interval import Interval
    from simonides.text.times.grammar import Match
    from simonides.text.times.lexer import Token
    from simonides.text.times.meaning import Meaning


@dataclass(frozen=True, slots=True)
class UnsureDay:
    """A name of a day, as written, and the local days that it may mean."""

    text: str
    latest: date
    next: date


GRAMMAR: Final = Grammar([*PERIODS_RULES, *DAYS_RULES, *MOMENTS_RULES, *OFFSETS_RULES, *RANGES_RULES])
_VOCABULARY: Final = vocabulary(GRAMMAR.words)

_DAY_MICROS: Final = 25 * 3_600_000_000
"""As long as a day can be."""

_FAR_YEARS: Final = 31
"""So far away every name, unit and count that leans on now means another time."""


def find_times(
    text: str,
    *,
    anchor: datetime,
    zone: tzinfo,
    southern: bool = False,
    languages: Collection[str] = (),
) -> tuple[TimeMention, ...]:
    """Every time expression in *text*, in order, without overlaps.

    Args:
        text: anything; expressions in English are understood.
        anchor: the moment the text was said; naive means *zone*.
        zone: reckons the days; its changes of the clock give days of 23 or 25 hours.
        southern: seasons of the southern hemisphere, summer from December.
        languages: also whole dates (day, month by name, year) in these languages, by two-letter code; needs
            the extra ``dates``.

    Returns:
        Spans in characters with their half-open intervals; an instant has no length. An open start is
        ``BEGINNING``, an open end ``FOREVER``. The word that leads into a time belongs to it ("in March").

    Raises:
        InputError: *anchor* is no datetime or *zone* no zone, the anchor has no time in the zone within the
            years 1 to 9999, or there is something to read in a language that dateparser does not know.
        MissingExtraError: *languages* are given and dateparser is not installed.
    """
    now = _now(anchor, zone, southern=southern)
    found = _english(text, now, stated=False)
    if not languages:
        return found
    return _longest([*found, *find_dates(text, languages=languages, zone=zone)])


def find_stated_times(
    text: str, *, anchor: datetime, zone: tzinfo, southern: bool = False
) -> tuple[TimeMention, ...]:
    """The times at which what *text* tells happens, in order, without overlaps.

    Like ``find_times``, but by the tense of each sentence: a name without a year ("on Friday", "3 June",
    "in May") is the next one in a plan and the latest one in a report; in a habit ("every", "always") and
    where the tense is open it is no time. A time of day without a day ("eats at noon") is one only in a
    report, if it has passed today, and after words of the future.
    """
    return _english(text, _now(anchor, zone, southern=southern), stated=True)


def find_unsure_days(text: str, *, anchor: datetime, zone: tzinfo) -> tuple[UnsureDay, ...]:
    """Names without a year of which *text* does not tell whether they lie behind or ahead, in order.

    ``find_stated_times`` finds no time there: "was supposed to be on Monday", "Monday: dentist". Arguments
    and errors as of ``find_times``.
    """
    now = _now(anchor, zone, southern=False)
    tokens = lex(text, _VOCABULARY)
    found: list[UnsureDay] = []
    for at, match in _expressions(tokens, "told"):
        if match.value.onward is None or tense_of(tokens, at, match.stop) is not Tense.OPEN:
            continue
        times = (_resolved(match.value, now, None, ahead=ahead) for ahead in (False, True))
        latest, following = (_days(time, now)[0] if time else None for time in times)
        if latest and following and latest != following:
            words = text[tokens[at].start : tokens[match.stop - 1].stop]
            found.append(UnsureDay(words, latest, following))
    return tuple(found)


def parse_time_expression(
    text: str,
    *,
    anchor: datetime,
    zone: tzinfo,
    southern: bool = False,
    languages: Collection[str] = (),
) -> TimeMention | None:
    """Read *text* as one time expression, punctuation around it aside.

    ``None`` = it is none, or more than one.

    A name that would need a word before it in a sentence ("March", "Friday", "Q1") may stand alone here.
    Arguments and errors as of ``find_times``.
    """
    now = _now(anchor, zone, southern=southern)
    tokens = lex(text, _VOCABULARY)
    words = [at for at, token in enumerate(tokens) if any(map(str.isalnum, token.text))]
    if not words:
        return None
    parser = Parser(GRAMMAR, tokens)
    for name in ("expression", "alone"):
        match = parser.search(name, words[0])
        if match is not None and match.stop > words[-1]:
            interval = _resolved(match.value, now, None, ahead=False)
            if interval is not None:
                return _mention(text, tokens[words[0] : match.stop], interval, match.value, now)
    found = find_dates(text, languages=languages, zone=zone) if languages else ()
    bare = text[tokens[words[0]].start : tokens[words[-1]].stop]
    return next((mention for mention in found if mention.text == bare), None)


def _longest(mentions: Sequence[TimeMention]) -> tuple[TimeMention, ...]:
    """In order; of two that overlap the longer one, or the one that starts or stands first."""
    kept: list[TimeMention] = []
    for mention in sorted(mentions, key=lambda m: m.start):
        if not kept or kept[-1].stop <= mention.start:
            kept.append(mention)
        elif mention.stop - mention.start > kept[-1].stop - kept[-1].start:
            kept[-1] = mention
    return tuple(kept)


def _english(text: str, now: Now, *, stated: bool) -> tuple[TimeMention, ...]:
    tokens = lex(text, _VOCABULARY)
    found: list[TimeMention] = []
    spoken_of: Interval | None = None
    before = 0
    for at, match in _expressions(tokens, "told" if stated else "expression"):
        if any("STOP" in token.tags for token in tokens[before : at + 1]):
            spoken_of = None
        if stated:
            interval = _stated(match.value, now, spoken_of, tokens, at, match.stop)
        else:
            interval = _resolved(match.value, now, spoken_of, ahead=promised(tokens, at, match.stop))
        if interval is not None:
            found.append(_mention(text, tokens[at : match.stop], interval, match.value, now))
        spoken_of, before = interval, match.stop
    return tuple(found)


def _expressions(tokens: Sequence[Token], name: str) -> Iterator[tuple[int, Match]]:
    """Where each expression begins, and what it is, from left to right.

    What turns out to be no time is passed over whole: no part of it is one.
    """
    parser = Parser(GRAMMAR, tokens)
    at = 0
    while at < len(tokens):
        match = _match(parser, tokens, at, name)
        if match is None:
            at += 1
        else:
            yield at, match
            at = match.stop


def _stated(
    meaning: Meaning, now: Now, spoken_of: Interval | None, tokens: Sequence[Token], start: int, stop: int
) -> Interval | None:
    """What a statement means by a time: by its tense, where the words themselves leave that open."""
    alone = meaning.follows and spoken_of is None
    if meaning.onward is None and not alone:
        return _resolved(meaning, now, spoken_of, ahead=False)
    tense = tense_of(tokens, start, stop)
    if tense in {Tense.HABIT, Tense.OPEN} or (alone and tense is Tense.PLAN):
        return None
    found = _resolved(meaning, now, spoken_of, ahead=tense is not Tense.REPORT)
    if found is None or not alone:
        return found
    passed = found.start <= to_micros(now.moment)
    return found if passed == (tense is Tense.REPORT) else None


def _match(parser: Parser, tokens: Sequence[Token], at: int, name: str) -> Match | None:
    """An expression from there on, unless a dash ties it to something else or it is told of each one."""
    if tokens[at].glued:
        return None
    match = parser.search(name, at)
    if match is None or tokens[match.stop].glued or not once(tokens, at, match.stop):
        return None
    return match


def _resolved(meaning: Meaning, now: Now, spoken_of: Interval | None, *, ahead: bool) -> Interval | None:
    if meaning.follows and spoken_of is not None:
        if spoken_of.end - spoken_of.start > _DAY_MICROS:
            return None  # "in March … at 3pm": no day was named
        now = Now(local(spoken_of.start, now.zone), now.zone, now.southern)
    resolve = meaning.onward if ahead and meaning.onward is not None else meaning.at
    try:
        return span(resolve(now), now.zone)
    except (ValueError, OverflowError):
        return None


def _mention(
    text: str, tokens: Sequence[Token], interval: Interval, meaning: Meaning, now: Now
) -> TimeMention:
    start, stop = tokens[0].start, tokens[-1].stop
    return TimeMention(
        text[start:stop], start, stop, interval, _days(interval, now) if _depends(meaning, now) else None
    )


def _depends(meaning: Meaning, now: Now) -> bool:
    """Whether the words mean another time when they are said at another time."""
    if meaning.follows or meaning.onward is not None:
        return True
    years = -_FAR_YEARS if now.moment.year > _FAR_YEARS else _FAR_YEARS
    far = now.on(shift(now.today, years, Unit.YEAR) + timedelta(days=1))
    return _resolved(meaning, now, None, ahead=False) != _resolved(meaning, far, None, ahead=False)


def _days(interval: Interval, now: Now) -> tuple[date | None, date | None]:
    """The local days on which it starts and ends; ``None`` for an open end."""
    first, last = (local_time(moment, now.zone) for moment in (interval.start, interval.end))
    return first.date() if first else None, last.date() if last else None


def _now(anchor: object, zone: object, *, southern: bool) -> Now:
    if not isinstance(anchor, datetime):
        raise InputError("anchor", f"expected a datetime, got {type(anchor).__name__}")
    if not isinstance(zone, tzinfo):
        raise InputError("zone", f"expected a time zone such as zoneinfo.ZoneInfo('UTC'), got {shown(zone)}")
    try:
        moment = anchor.replace(tzinfo=zone) if anchor.utcoffset() is None else anchor.astimezone(zone)
        instant(moment)
    except (ValueError, OverflowError):
        raise InputError("anchor", f"{anchor} has no time in {zone} within the years 1 to 9999") from None
    return Now(moment, zone, southern)
