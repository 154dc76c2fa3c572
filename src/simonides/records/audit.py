"""Rows of the audit logs, and the reports of the checks of a bank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIRST_SEAL = bytes(32)
"""What stands before the first row of a log."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the audit log.

    Attributes:
        number: from 1, without gaps.
        at: the clock, microseconds UTC.
        actor: keyed hash of the principal; empty = the owner.
        verb: what was done.
        first, last: numbers of the changes; *first* above *last* = none (*last* is then the newest seen).
        seal: hexadecimal.
        ids: of the memories that were handed out; only in the log of recalls, as are the next two.
        query, recall: keyed hashes of the query and of ``Recall.id``; empty = none. The query of that log's
            first row is the salt of these hashes.
    """

    number: int
    at: int
    actor: str
    verb: str
    first: int
    last: int
    seal: str
    ids: tuple[str, ...] = ()
    query: str = ""
    recall: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {name: getattr(self, name) for name in self.__slots__} | {"ids": list(self.ids)}


@dataclass(frozen=True, slots=True)
class Head:
    """The newest row's number and seal: what to keep elsewhere, written ``number:seal``."""

    number: int
    seal: str

    def __str__(self) -> str:
        return f"{self.number}:{self.seal}"


NO_HEAD = Head(0, FIRST_SEAL.hex())


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit found; *problems* is empty when every row is what was written.

    Attributes:
        entries, head: rows of the log of changes, and the newest.
        problems: of both logs.
        recalls, recalls_head: rows of the log of recalls, and the newest; 0 where there is none.
    """

    entries: int
    head: Head
    problems: tuple[str, ...]
    recalls: int = 0
    recalls_head: Head = NO_HEAD

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "ok": self.ok,
            "entries": self.entries,
            "head": str(self.head),
            "problems": list(self.problems),
            "recalls": self.recalls,
            "recalls_head": str(self.recalls_head),
        }


def read_head(text: str) -> Head:
    """A head from ``number:seal``.

    Raises:
        InputError: it is no such text.
    """
    number, _, seal = text.strip().partition(":")
    if not number.isdecimal() or len(seal) != 64 or set(seal) - set("0123456789abcdef"):
        raise InputError("anchor", "expected NUMBER:SEAL, as `audit show --head` prints it")
    return Head(int(number), seal)


@dataclass(frozen=True, slots=True)
class ReadAudit:
    """What is about to be handed out.

    Attributes:
        verb: what was asked for: recall, why_not, read, list, diff, brief, check, export or backup.
        principal: who asked; empty = the owner.
        at: the clock, microseconds UTC.
        sequence: the last change that the answer sees.
        ids: of the memories in it, in its order.
        query, recall: the words and ``Recall.id``; only keyed hashes of them are kept. Empty = none.
    """

    verb: str
    principal: str
    at: int
    sequence: int
    ids: Sequence[str] = ()
    query: str = ""
    recall: str = ""


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification found.

    Attributes:
        checked: how many of each thing were looked at.
        problems: what is wrong, at most 20 lines of each sort; empty = sound.
        notes: what is worth knowing and no damage, such as memories without a vector.
    """

    checked: Mapping[str, int]
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "ok": self.ok,
            "checked": dict(self.checked),
            "problems": list(self.problems),
            "notes": list(self.notes),
        }
