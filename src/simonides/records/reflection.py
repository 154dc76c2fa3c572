"""An answer to a question, made from recalled memories by a language model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simonides.records.recall import Recall

NOT_IN_MEMORY = "not in memory"
"""The whole answer where the memories hold none."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in an answer that names a memory: ``[number]``."""

    number: int
    id: str


@dataclass(frozen=True, slots=True)
class Reflection:
    """What was answered, and from what.

    Attributes:
        answer: with citations such as ``[1]``; ``NOT_IN_MEMORY`` where none is; empty without a model.
        citations: what the answer cites, in the order of their first place; each is a recalled memory.
        removed: how many citations were taken out of the answer, since they name no recalled memory.
        no_match: nothing that is remembered answers the question.
        model: that answered; empty = none did.
        note: what is to be known about the answer, such as that there is no model, or why nothing matches;
            empty = nothing.
        context: what the model was given: recalled memories, marked as data, numbered as cited.
        recall: what was recalled.
    """

    answer: str
    citations: tuple[Citation, ...]
    removed: int
    no_match: bool
    model: str
    note: str
    context: str
    recall: Recall

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "id": self.recall.id,
            "answer": self.answer,
            "citations": [{"number": each.number, "id": each.id} for each in self.citations],
            "removed": self.removed,
            "no_match": self.no_match,
            "no_match_reasons": list(self.recall.no_match_reasons),
            "confidence": self.recall.confidence,
            "band": self.recall.band,
            "model": self.model,
            "note": self.note,
            "context": self.context,
        }
