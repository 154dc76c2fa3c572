"""What the write path hands to the backend: an item that was checked, analysed and encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.interval import Interval
    from simonides.records.kind import Kind, Layer


@dataclass(frozen=True, slots=True)
class Draft:
    """A checked item, not yet stored. Times in microseconds UTC; ``None`` means "not given"."""

    text: str
    kind: Kind
    layer: Layer
    context: str
    relation: str
    path: str
    project: str
    tags: tuple[str, ...]
    acl: tuple[str, ...]
    source: str
    metadata_json: str
    occurred: Interval | None
    valid_from: Interval | None
    valid_to: Interval | None
    recorded_at: int | None
    salience: float
    confidence: float
    deduplicate: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft with everything that needs no look at the store.

    Attributes:
        terms: per lexical field, each term with its frequency there (fields without terms are left out).
        codes: int8 vector of the text, shape (dimension,), or ``None`` when there is no vector.
        scale: factor that turns ``codes`` back into a unit vector.
    """

    draft: Draft
    terms: Mapping[str, Mapping[str, int]]
    codes: NDArray[np.int8] | None
    scale: float
