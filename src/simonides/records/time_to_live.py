"""How long a memory lives, and what becomes of it then."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from numbers import Real
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.records.hygiene import clean_choice, shown, to_float
from simonides.records.interval import FOREVER, LAST_INSTANT, from_micros
from simonides.records.kind import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


ARCHIVE, ERASE = "archive", "erase"
ON_EXPIRY = (ARCHIVE, ERASE)
"""What becomes of a memory at its due moment: found on request only, or forgotten."""

NEVER = "never"
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_WRITTEN = re.compile(r"\s*+(\d{1,12}(?:\.\d{1,6})?)\s*+([smhdw])\s*+")
_MICROS = 1_000_000
LONGEST_SECONDS = 36_525 * 86_400
"""A hundred years."""
_REMEDY = (
    "give seconds above 0, at most 100 years, a timedelta, a text such as '90s', '45m', '12h', '30d' or "
    "'2w', or 'never'"
)


def read_ttl(value: object, name: str = "ttl") -> int:
    """A time to live in microseconds; ``FOREVER`` = it never ends.

    Args:
        value: seconds, a ``timedelta``, a number with a unit (s, m, h, d, w), or ``"never"``.

    Raises:
        InputError: it is none of these, 0 or less, or longer than a hundred years.
    """
    seconds = math.nan
    if isinstance(value, str):
        if value.strip().lower() == NEVER:
            return FOREVER
        written = _WRITTEN.fullmatch(value)
        if written is not None:
            seconds = float(written[1]) * _SECONDS[written[2]]
    elif isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif not isinstance(value, bool) and isinstance(value, Real):
        seconds = to_float(value)
    if not 0 < seconds <= LONGEST_SECONDS:
        raise InputError(
            name,
            f"{shown(str(value) if isinstance(value, timedelta) else value)} is no time to live; {_REMEDY}",
        )
    return max(1, round(seconds * _MICROS))


@dataclass(frozen=True, slots=True)
class TimeToLive:
    """A time to live: microseconds from the recording on (``FOREVER`` = no end), and one of ``ON_EXPIRY``."""

    micros: int
    on_expiry: str = ARCHIVE

    def due(self, recorded_at: int) -> int:
        """The moment at which it ends, microseconds UTC."""
        return FOREVER if self.micros == FOREVER else min(recorded_at + self.micros, LAST_INSTANT)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        seconds = NEVER if self.micros == FOREVER else self.micros / _MICROS
        return {"ttl": seconds, "on_expiry": self.on_expiry}


@dataclass(frozen=True, slots=True)
class TtlDefaults:
    """The times to live of memories that state none: of the bank (``None`` = no end), or of their kind."""

    of_all: TimeToLive | None = None
    by_kind: Mapping[Kind, TimeToLive] = field(default_factory=dict)

    def of(self, kind: Kind) -> TimeToLive | None:
        """That of a kind; ``None`` = it never ends."""
        ttl = self.by_kind.get(kind, self.of_all)
        return None if ttl is None or ttl.micros == FOREVER else ttl

    def changed(self, kind: Kind | None, ttl: TimeToLive | None) -> TtlDefaults:
        """The same with another one of a kind, or of the bank; ``None`` takes it away."""
        if kind is None:
            return replace(self, of_all=ttl)
        others = {each: held for each, held in self.by_kind.items() if each is not kind}
        return replace(self, by_kind=others if ttl is None else {**others, kind: ttl})

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description; kinds in the order of their names."""
        kinds = sorted(self.by_kind.items(), key=lambda pair: pair[0].value)
        return {
            "bank": None if self.of_all is None else self.of_all.to_dict(),
            "kinds": {kind.value: ttl.to_dict() for kind, ttl in kinds},
        }

    @classmethod
    def from_json(cls, written: str, place: str) -> TtlDefaults:
        """What ``to_dict`` describes, as a file holds it; ``InputError`` for anything else."""
        try:
            told = json.loads(written)
            kinds = {Kind(name): _time_to_live(each, place) for name, each in told["kinds"].items()}
            return cls(None if told["bank"] is None else _time_to_live(told["bank"], place), kinds)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InputError(
                place, f"holds no times to live ({type(error).__name__}); delete it, and set them anew"
            ) from error


def _time_to_live(told: Mapping[str, Any], place: str) -> TimeToLive:
    return TimeToLive(read_ttl(told["ttl"], place), clean_choice(told["on_expiry"], place, ON_EXPIRY))


EXPIRE, EXPIRED = "expire", "expired"
"""Tasks of the queue, beside ``ERASE``: to archive a memory, and that it was archived."""

ON_EXPIRY_OF = {EXPIRE: ARCHIVE, ERASE: ERASE}
"""What a task does, in the words of callers."""

TASK_OF = {on_expiry: task for task, on_expiry in ON_EXPIRY_OF.items()}


@dataclass(frozen=True, slots=True)
class Due:
    """A memory whose time to live ends.

    Attributes:
        root: ordinal of its first version.
        memory: its id.
        task: ``EXPIRE`` or ``ERASE``.
        moment: at which it ends, microseconds UTC.
    """

    root: int
    memory: str
    task: str
    moment: int

    @property
    def reason(self) -> str:
        """In words."""
        at = from_micros(self.moment)
        return f"its time to live ended at {at.isoformat() if at else 'an open end'}"
