"""A recall whose answer comes later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.records.recall import Recall

PENDING, DONE = "pending", "done"


@dataclass(frozen=True, slots=True)
class RecallJob:
    """What has become of it so far.

    Attributes:
        id: by which ``Bank.get_job`` finds it.
        status: ``pending`` or ``done``.
        recall: the answer, once it is done.
        helpers: by helper, what the language model made of the query.
        max_tokens: budget of the context that was asked for; ``None`` = none.
    """

    id: str
    status: str
    recall: Recall | None = None
    helpers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    max_tokens: int | None = None

    @property
    def done(self) -> bool:
        """Whether there is an answer."""
        return self.status == DONE

    def to_dict(self, *, trace: bool = True) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "id": self.id,
            "status": self.status,
            "helpers": {name: list(texts) for name, texts in self.helpers.items()},
            "recall": None if self.recall is None else self.recall.to_dict(trace=trace),
            "max_tokens": self.max_tokens,
        }


@dataclass(frozen=True, slots=True)
class KeptJob:
    """One job: what was asked, and what the helpers gave (JSON); ``None`` = they were not asked yet."""

    request: str
    texts: str | None
