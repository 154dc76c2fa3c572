"""Settle what an item did not state: when it holds, what kind it is, how much it weighs.

valid_from: the event time if that has passed, else the moment of recording (SPEC, general settlement 1)
occurred:   the given event time, else the first date that the text states
kind:       the given one, else what cues say, else semantic; the layer follows it (settlement 5)
salience:   ½ · cues + ¼ · novelty + ¼ · trust, where novelty = 1 − mean cosine of the 5 nearest (HX-10)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded.transaction import Placement
from simonides.errors import InputError
from simonides.records.interval import FOREVER, Interval, Precision
from simonides.records.kind import Kind, Layer
from simonides.retain.trust import trust_of

if TYPE_CHECKING:
    from simonides.records.draft import Draft, Prepared
    from simonides.records.extraction import Extraction

_LAYER_OF_KIND = {
    Kind.EPISODIC: Layer.EPISODIC,
    Kind.PROCEDURAL: Layer.PROCEDURAL,
    Kind.CODE: Layer.CODEBASE,
}


def place_item(item: Prepared, ingested_at: int, author: str, novelty: float) -> Placement:
    """Everything about an item's row that is not its content.

    Args:
        item: checked and prepared.
        ingested_at: its recorded time, microseconds UTC.
        author: principal who retains it; empty = the owner.
        novelty: 0 to 1.

    Raises:
        InputError: valid_to does not lie after the valid_from that was settled.
    """
    draft, found = item.draft, item.extraction
    kind = draft.kind or found.kind or Kind.SEMANTIC
    trust = trust_of(draft.role)
    salience = 0.5 * found.salience + 0.25 * novelty + 0.25 * trust
    valid_from, valid_to = _validity(draft, ingested_at)
    return Placement(
        ingested_at=ingested_at,
        valid_from=valid_from,
        valid_to=valid_to,
        occurred=occurred(draft, found),
        kind=kind,
        layer=draft.layer or _LAYER_OF_KIND.get(kind, Layer.SEMANTIC),
        salience=round(salience, 6) if draft.salience is None else draft.salience,
        confidence=found.confidence if draft.confidence is None else draft.confidence,
        author=author,
        trust=trust,
    )


def occurred(draft: Draft, found: Extraction) -> Interval | None:
    """When it happened: as given, else the first date that the text states."""
    return draft.occurred or (found.times[0].interval if found.times else None)


def _validity(draft: Draft, ingested_at: int) -> tuple[Interval, Interval]:
    if draft.valid_from is not None:
        start = draft.valid_from
    elif draft.occurred is not None and draft.occurred.start <= ingested_at:
        start = draft.occurred
    else:
        start = Interval(ingested_at, ingested_at, Precision.INSTANT)
    end = draft.valid_to or Interval(FOREVER, FOREVER, Precision.INSTANT)
    if end.start <= start.start:
        raise InputError(
            f"{draft.place}.valid_to" if draft.place else "valid_to",
            "is not after valid_from (by default the event time, else now); state a valid_from before it",
        )
    return start, end
