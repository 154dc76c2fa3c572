"""What every reader of another program's file takes and gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, NoReturn

from simonides.errors import InputError

Skipped = Callable[[InputError], None]
"""Told of a row that cannot be read, which is then passed over; raises to stop there instead."""


def refuse(error: InputError) -> NoReturn:
    """The ``Skipped`` that stops at the first row that cannot be read."""
    raise error


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What a reader could not bring as it stands.

    Attributes:
        skipped: called with the file, line and reason of each row or turn that is lost; by default raises.
        cleaned: called with those of each one that is stored without a part of it, such as a wrong time.
        left_out: how many parts without words were left out, by kind: ``image``, ``tool call`` …
    """

    skipped: Skipped = refuse
    cleaned: Callable[[InputError], None] = lambda _: None
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file as messages and memories name it.

    Attributes:
        name: for messages, such as ``notes/garden.md``.
        place: below the folder that was named; becomes the path of its memories.
        document: the id of the document that a note becomes; must not be another file's.
    """

    name: str
    place: str = ""
    document: str = ""

    def wrong(self, line: int, problem: str, part: str = "") -> InputError:
        """The error for a row."""
        return InputError(f"{self.name}:{line}", f"{part}: {problem}" if part else problem)


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """One item for ``Bank.import_items``.

    Attributes:
        item: the text and what is known of it.
        line: where it stands in the file, from 1.
        part: what it is there, where a line holds many, such as ``message 3f2a``.
    """

    item: dict[str, Any]
    line: int
    part: str = ""


Reader = Callable[[IO[str], NamedFile, ImportReport], Iterator[ImportedItem]]
"""Reads a text stream. Raises InputError when the file as a whole is of another form."""


def given(**values: object) -> dict[str, Any]:
    """Those values that say something."""
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}
