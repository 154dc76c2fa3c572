"""Time zones by name, and which one holds where nobody names one.

    given in the call > the bank's own > SIMONIDES_ZONE > simonides.toml (command line only) > the system's

A zone is named as the IANA does (``Europe/Berlin``), ``UTC``, or by an offset (``+14:00``, ``UTC-03:30``).
"""

from __future__ import annotations

import difflib
import re
import warnings
from datetime import UTC, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, available_timezones

from simonides.errors import InputError
from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "SIMONIDES_ZONE"

_OFFSET: Final = re.compile(r"(?:UTC)?([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
_LONGEST_NAME: Final = 60


def read_zone(value: object, place: str = "zone") -> tzinfo:
    """A zone as it was given.

    Args:
        value: a ``tzinfo``, or the name of a zone.
        place: where it was given, for the error.

    Raises:
        InputError: there is no such zone.
    """
    if isinstance(value, tzinfo):
        return value
    if not isinstance(value, str):
        raise InputError(place, f"expected a time zone such as 'Europe/Berlin', got {shown(value)}")
    name = value.strip()
    if name.upper() == "UTC":  # known without time zone data
        return UTC
    if offset := _OFFSET.fullmatch(name):
        length = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-length if offset[1] == "-" else length)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        pass
    raise InputError(place, f"{shown(value)} is no time zone; {_remedy(name)}")


def default_zone(environ: Mapping[str, str]) -> tzinfo:
    """The zone where the call and the bank state none: ``SIMONIDES_ZONE``, else the system's.

    Raises:
        InputError: the variable names no zone.
    """
    written = environ.get(VARIABLE, "").strip()
    return read_zone(written, VARIABLE) if written else _system_zone()


def _system_zone() -> tzinfo:
    from tzlocal import get_localzone  # noqa: PLC0415 only where nothing is set

    with warnings.catch_warnings():
        # A machine without any setting is on UTC; one that contradicts itself goes by the file of its clock.
        warnings.simplefilter("ignore")
        try:
            return get_localzone()
        except (KeyError, ValueError, OSError):
            return UTC


def _remedy(name: str) -> str:
    known = sorted(available_timezones() - {"localtime"})
    if not known:
        return "this machine has no time zone data: install it with pip install tzdata, or name an offset"
    folded = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name[:_LONGEST_NAME].lower(), folded, n=1)
    return f"did you mean {folded[close[0]]}?" if close else "names are like Europe/Berlin, UTC or +02:00"
