"""Recorded times as principals get them: cut to the millisecond.

Stamps of a bank rise by a microsecond a row while the clock stands, so that their last digits count the rows
of others. A bank keeps them; what it hands to a principal has them cut off. What a principal asks by is taken
to the end of its millisecond, so that a time that was handed out finds what it was handed out with.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from typing import Any

from simonides.records.explanation import Trace
from simonides.records.interval import BEGINNING, FOREVER, HEAD

_MILLISECOND = 1_000


def start_of_millisecond(micros: int) -> int:
    """The first microsecond of the millisecond of *micros*; an open end stays open."""
    return micros if micros in {BEGINNING, FOREVER} else micros - micros % _MILLISECOND


def end_of_millisecond(micros: int) -> int:
    """The last microsecond of the millisecond of *micros*; an open end stays open."""
    if micros in {BEGINNING, HEAD, FOREVER}:
        return micros
    return micros - micros % _MILLISECOND + _MILLISECOND - 1


def coarsened(answer: Any) -> Any:
    """*answer* with the times of all records in it cut to the millisecond; a trace holds none, and stays."""
    if isinstance(answer, datetime):
        return answer.replace(microsecond=start_of_millisecond(answer.microsecond))
    if isinstance(answer, list | tuple):
        return type(answer)(map(coarsened, answer))
    if isinstance(answer, dict):
        return {key: coarsened(value) for key, value in answer.items()}
    if not is_dataclass(answer) or isinstance(answer, type | Trace):
        return answer
    changed: dict[str, Any] = {}
    for field in fields(answer):
        value = getattr(answer, field.name)
        if field.name.endswith("_micros") and value is not None:
            changed[field.name] = start_of_millisecond(value)
        elif not isinstance(value, str | int | float):
            changed[field.name] = coarsened(value)
    return replace(answer, **changed)
