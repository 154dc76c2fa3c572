"""Whole dates in other languages, through dateparser: a day, a month by its name, and a year of four digits.

dateparser alone sees times in plain words and numbers, so it is only shown what has that form, and its answer
counts only if it has the day and the year that are written there.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from simonides.errors import InputError, MissingExtraError
from simonides.records.extraction import TimeMention
from simonides.text.times.calendar import interval, single

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import tzinfo

# 8 de mayo de 2023 · 8. Mai 2023 · 1er mai 2023; and 2023年5月8日. Each part is of bounded length.
_DATE: Final = re.compile(
    r"""(?<![\w/.,-]) (?P<day>[0-9]{1,2}) (?:\.|º|er)? \s
        (?:[^\W\d_]{1,3}\s)? [^\W\d_]{3,14} \.? ,? \s
        (?:[^\W\d_]{1,3}\s)? (?P<year>[0-9]{4}) (?![\w/-])
      | (?<!\d) (?P<first>[0-9]{4}) \s?[年년]\s? [0-9]{1,2} \s?[月월]\s?
        (?P<last>[0-9]{1,2}) \s?[日일]""",
    re.VERBOSE,
)
_SETTINGS: Final = {
    "REQUIRE_PARTS": ["day", "month", "year"],
    "STRICT_PARSING": True,
    "PARSERS": ["absolute-time"],
    "DATE_ORDER": "DMY",
}


def find_dates(text: str, *, languages: Collection[str], zone: tzinfo) -> tuple[TimeMention, ...]:
    """Whole dates in *text*, in order.

    Args:
        text: anything.
        languages: two-letter codes, such as ``de``.
        zone: reckons the days.

    Raises:
        InputError: dateparser does not know a language; noticed only where there is something to read.
        MissingExtraError: dateparser is not installed.
    """
    try:
        dateparser = import_module("dateparser")
    except ImportError:
        raise MissingExtraError(
            "dates in other languages need dateparser; install it with: pip install 'simonides[dates]'"
        ) from None
    return tuple(_mentions(dateparser, text, sorted(languages), zone))


def _mentions(dateparser: Any, text: str, languages: list[str], zone: tzinfo) -> Iterator[TimeMention]:
    for found in _DATE.finditer(text):
        try:
            moment = dateparser.parse(found[0], languages=languages, settings=_SETTINGS)
        except ValueError as error:
            raise InputError("languages", f"{', '.join(languages)}: {error}") from None
        day, year = int(found["day"] or found["last"]), int(found["year"] or found["first"])
        if moment is None or (moment.day, moment.year) != (day, year):
            continue
        try:
            days = interval(single(moment.date()), zone)
        except (ValueError, OverflowError):
            continue
        yield TimeMention(found[0], found.start(), found.end(), days)
