"""What a text says of itself: names, relations, causes, dates, kind. Spans are characters, half-open."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date
    from typing import TypeAlias

    from simonides.records.interval import Interval
    from simonides.records.kind import Kind

    Days: TypeAlias = tuple[date | None, date | None]
    """The local days on which a time starts and ends; ``None`` at an open end."""


class EntityKind(StrEnum):
    """What sort of thing a name stands for."""

    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    HANDLE = "handle"
    EMAIL = "email"
    URL = "url"
    FILE = "file"
    CODE = "code"
    VERSION = "version"
    TICKET = "ticket"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name where it stands in the text; ``name`` is its form for people, without trailing punctuation."""

    name: str
    kind: EntityKind
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that a cue states surely.

    Attributes:
        name: of the relation, such as ``works at``.
        subject, object: names as written.
        single_valued: whether a subject has one object at a time, so that a new one closes the old.
    """

    name: str
    subject: str
    object: str
    single_valued: bool


@dataclass(frozen=True, slots=True)
class Cause:
    """One part of the text leads to another; weight in (0, 1]."""

    cause: tuple[int, int]
    effect: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time expression where it stands, and the half-open interval it means.

    Attributes:
        days: the local days on which the interval starts and ends (``None`` at an open end), where the words
            mean another time on another day ("yesterday", "on Friday"); ``None`` for "in 2023".
    """

    text: str
    start: int
    stop: int
    interval: Interval
    days: Days | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything one extractor found in one text.

    Attributes:
        kind: what the cues say it is; ``None`` = no cue was sure.
        salience: 0 to 1, from cues alone; novelty and trust are added at the write.
        confidence: 0 to 1; hedged words lower it.
    """

    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    causes: tuple[Cause, ...] = ()
    times: tuple[TimeMention, ...] = ()
    kind: Kind | None = None
    salience: float = 0.5
    confidence: float = 1.0
