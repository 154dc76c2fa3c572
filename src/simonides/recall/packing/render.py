"""How a memory stands in the context: ``[1] (2026-03-02, decision, id 3f9a) text``.

Where a newer one changes it: ``[2] (earlier, 2026-01-05, decision, id 77b1) text``.

The number is the hit's rank in the answer. Every line but an item's first is indented by two spaces, so no
memory's text can open an item of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from simonides.records.interval import BEGINNING, FOREVER, Precision, from_micros
from simonides.records.recall import EARLIER, POSSIBLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.records.memory import Memory

LabelPart = Literal["date", "kind", "id"]

SEPARATOR = "\n"
"""Between two items."""

_OPEN = frozenset({BEGINNING, FOREVER})
_DAY_MICROS = 86_400_000_000
_HALF_A_DAY, _HALF_A_MONTH, _HALF_A_YEAR = _DAY_MICROS // 2, 14 * _DAY_MICROS, 180 * _DAY_MICROS
# How much of the ISO form is shown, and how far inside the interval it is read. A day, month or year begins
# at midnight of the zone that it was told in, perhaps the day before in UTC; its inside is right everywhere.
_SHOWN: dict[Precision, tuple[int, int]] = {
    Precision.INSTANT: (10, 0),
    Precision.HOUR: (10, 0),
    Precision.DAY: (10, _HALF_A_DAY),
    Precision.WEEK: (10, _HALF_A_DAY),
    Precision.MONTH: (7, _HALF_A_MONTH),
    Precision.QUARTER: (7, _HALF_A_MONTH),
    Precision.SEASON: (7, _HALF_A_MONTH),
    Precision.YEAR: (4, _HALF_A_YEAR),
    Precision.RANGE: (10, _HALF_A_DAY),
}


def render_item(
    memory: Memory, rank: int, label: Sequence[LabelPart], *, doubtful: bool = False, earlier: bool = False
) -> str:
    """One item of the context.

    Args:
        memory: what to render.
        rank: position in the answer, from 1.
        label: what stands in the brackets, in this order; a part that the memory lacks is left out.
        doubtful: whether the text is marked with "possibly:".
        earlier: whether the brackets begin with "earlier".
    """
    mark = POSSIBLY if doubtful else ""
    parts = [part for part in (EARLIER if earlier else "", *(_part(memory, name) for name in label)) if part]
    described = f" ({', '.join(parts)})" if parts else ""
    return f"[{rank}]{described} {mark}{indented(memory.text)}"


def render_date(memory: Memory) -> str:
    """The day, month or year when it occurred, as exactly as that is known; else the day it became valid.

    Days are UTC's. Empty when neither is known.
    """
    if memory.occurred is None:
        start, precision = memory.valid_from_micros, Precision.INSTANT
    else:
        start, precision = memory.occurred.start, memory.occurred.precision
    if start in _OPEN:
        return ""
    characters, inside = _SHOWN[precision]
    return _day((start + inside) // _DAY_MICROS)[:characters]


@lru_cache(4_096)
def _day(days: int) -> str:
    """The day so many days after 1970-01-01; a context has many memories of few days."""
    moment = from_micros(days * _DAY_MICROS)
    assert moment is not None
    return moment.date().isoformat()


def _part(memory: Memory, name: LabelPart) -> str:
    if name == "date":
        return render_date(memory)
    return memory.kind.value if name == "kind" else f"id {memory.id}"


def indented(text: str) -> str:
    """Lines but the first indented, so that no memory's text can open an item of its own."""
    return "\n  ".join(text.splitlines())
