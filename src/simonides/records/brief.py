"""A hand-over to the next session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Brief:
    """A hand-over.

    Attributes:
        text: Markdown within the budget; empty when nothing is known or fits.
        tokens: of the text, by the store's counter.
        sections: title → ids, in the order of the text.
        omitted: ids that found no room.
    """

    text: str
    tokens: int
    sections: Mapping[str, tuple[str, ...]]
    omitted: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "text": self.text,
            "tokens": self.tokens,
            "sections": {title: list(ids) for title, ids in self.sections.items()},
            "omitted": list(self.omitted),
        }
