"""A memory as callers see it, with its moves, differences between two moments, and a brief."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from simonides.records.interval import FOREVER, Interval, from_micros
from simonides.records.json_ready import JsonReady
from simonides.records.kind import ARCHIVED, CONSOLIDATED, PINNED, STANDING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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


@dataclass(frozen=True, slots=True)
class Change(JsonReady):
    """One memory in two versions."""

    before: Memory
    after: Memory


@dataclass(frozen=True, slots=True)
class Diff(JsonReady):
    """Memories by id: believed only then, only later, or in another version. Each list is sorted by id."""

    ended: tuple[Memory, ...]
    begun: tuple[Memory, ...]
    changed: tuple[Change, ...]


def compare(before: Iterable[Memory], after: Iterable[Memory]) -> Diff:
    """The difference between two sets of believed memories (at most one version of each)."""
    old = {memory.id: memory for memory in before}
    new = {memory.id: memory for memory in after}
    return Diff(
        ended=tuple(old[i] for i in sorted(old.keys() - new.keys())),
        begun=tuple(new[i] for i in sorted(new.keys() - old.keys())),
        changed=tuple(
            Change(old[i], new[i])
            for i in sorted(old.keys() & new.keys())
            if old[i].version != new[i].version
        ),
    )


@dataclass(frozen=True, slots=True)
class Brief(JsonReady):
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


@dataclass(frozen=True, slots=True)
class Move:
    """One recorded move.

    Attributes:
        number: by which it is undone.
        memory: id.
        action: promote, archive, return, stale; close = a newer statement or somebody ended it, continue = it
            is a memory that holds again after another one.
        was, became: the layers, the states, or the names that lead nowhere; of a close when it would have
            ended (microseconds UTC; empty = never) and the memory that ended it (empty = it was ended by
            hand); of a continue the memory
            that it continues and the one that it holds again after.
        reason: in words, with the numbers or the rule that decided.
        made_at_micros, undone_at_micros: microseconds UTC; ``FOREVER`` while it stands.
    """

    number: int
    memory: str
    action: str
    was: str
    became: str
    reason: str
    made_at_micros: int
    undone_at_micros: int

    @property
    def stands(self) -> bool:
        """Whether it was not undone."""
        return self.undone_at_micros == FOREVER

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        made, undone = from_micros(self.made_at_micros), from_micros(self.undone_at_micros)
        return {
            **{name: value for name, value in asdict(self).items() if not name.endswith("_micros")},
            "made_at": made.isoformat() if made else None,
            "undone_at": undone.isoformat() if undone else None,
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory behind an observation.

    Attributes:
        memory: as it stood at the recall's viewpoint in recorded time.
        stance: ``for`` or ``against``.
    """

    memory: Memory
    stance: str

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"stance": self.stance, "memory": self.memory.to_dict()}
