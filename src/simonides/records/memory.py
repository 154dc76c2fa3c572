"""The stored unit, as callers see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simonides.records.interval import FOREVER, Interval, from_micros
from simonides.records.state import ARCHIVED, CONSOLIDATED, PINNED, STANDING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from simonides.records.kind import Kind, Layer


@dataclass(frozen=True, slots=True)
class Memory:
    """One version of one memory; as ``str`` its text.

    Times are microseconds UTC with open ends ``BEGINNING``/``FOREVER``; the properties without the
    ``_micros`` suffix give aware datetimes, ``None`` for an open end. Salience and confidence lie in [0, 1].
    ``on_expiry`` is what becomes of it at ``expires_at``: archive or erase; empty = it has no end.
    """

    id: str
    text: str
    kind: Kind
    layer: Layer
    version: int
    ordinal: int
    valid_from_micros: int
    valid_to_micros: int
    ingested_at_micros: int
    expired_at_micros: int
    occurred: Interval | None = None
    context: str = ""
    relation: str = ""
    expansion: str = ""
    path: str = ""
    project: str = ""
    tags: tuple[str, ...] = ()
    acl: tuple[str, ...] = ()
    source: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    salience: float = 0.5
    confidence: float = 1.0
    proof_count: int = 1
    access_count: int = 0
    last_access_micros: int | None = None
    document: str = ""
    session: str = ""
    speaker: str = ""
    author: str = ""
    trust: float = 1.0
    superseded_by: str = ""
    state: int = 0
    expires_micros: int = FOREVER
    on_expiry: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def pinned(self) -> bool:
        """Whether it is kept from decay, and comes first in a brief."""
        return bool(self.state & PINNED)

    @property
    def standing(self) -> bool:
        """Whether it leads the context of each recall that asks for standing memories."""
        return bool(self.state & STANDING)

    @property
    def archived(self) -> bool:
        """Whether it is found on request only, until it is used again."""
        return bool(self.state & ARCHIVED)

    @property
    def consolidated(self) -> bool:
        """Whether maintenance made it from several memories (HI-17)."""
        return bool(self.state & CONSOLIDATED)

    @property
    def valid_from(self) -> datetime | None:
        return from_micros(self.valid_from_micros)

    @property
    def valid_to(self) -> datetime | None:
        return from_micros(self.valid_to_micros)

    @property
    def ingested_at(self) -> datetime | None:
        return from_micros(self.ingested_at_micros)

    @property
    def expired_at(self) -> datetime | None:
        return from_micros(self.expired_at_micros)

    @property
    def expires_at(self) -> datetime | None:
        """When its time to live ends; ``None`` = it has none. Of the memory, the same in every version."""
        return from_micros(self.expires_micros)

    @property
    def event_time(self) -> datetime | None:
        """Start of the occurred range, or ``None`` when the memory is undated."""
        return from_micros(self.occurred.start) if self.occurred else None

    @property
    def size(self) -> int:
        """Bytes of its texts, labels and metadata in UTF-8, roughly those of its JSON."""
        texts = (self.text, self.context, self.expansion, self.relation, self.path, self.source, self.project)
        labels = (*self.tags, *self.acl, str(self.metadata) if self.metadata else "")
        return sum(len(each.encode("utf-8", "replace")) for each in (*texts, *labels))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description; times in ISO 8601 UTC, open ends ``None``."""

        def iso(moment: datetime | None) -> str | None:
            return moment.isoformat() if moment else None

        return {
            "id": self.id,
            "text": self.text,
            "kind": self.kind.value,
            "layer": self.layer.value,
            "version": self.version,
            "event_time": iso(self.event_time),
            "event_precision": self.occurred.precision.value if self.occurred else None,
            "valid_from": iso(self.valid_from),
            "valid_to": iso(self.valid_to),
            "ingested_at": iso(self.ingested_at),
            "expired_at": iso(self.expired_at),
            "context": self.context,
            "relation": self.relation,
            "expansion": self.expansion,
            "path": self.path,
            "project": self.project,
            "tags": list(self.tags),
            "acl": list(self.acl),
            "source": self.source,
            "metadata": dict(self.metadata),
            "salience": self.salience,
            "confidence": self.confidence,
            "proof_count": self.proof_count,
            "access_count": self.access_count,
            "document": self.document,
            "session": self.session,
            "speaker": self.speaker,
            "author": self.author,
            "trust": self.trust,
            "superseded_by": self.superseded_by,
            "expires_at": iso(self.expires_at),
            "on_expiry": self.on_expiry,
            "pinned": self.pinned,
            "standing": self.standing,
            "archived": self.archived,
            "consolidated": self.consolidated,
        }
