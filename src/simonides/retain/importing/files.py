"""The files that an import reads, and their items."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.files import disk_errors
from simonides.retain.importing.cleaning import clean_items
from simonides.retain.importing.formats import FORMATS
from simonides.retain.importing.item import ImportReport, NamedFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.retain.importing.item import ImportedItem


def named_file(path: Path, place: str = "") -> NamedFile:
    """How messages and memories name a file.

    Args:
        path: of the file.
        place: below the folder that was named; the file's own name when it was named itself.
    """
    # The whole path, for two folders may hold a README each, and neither may end what the other says.
    return NamedFile(str(path), place or path.name, f"file:{path.resolve().as_posix()}")


def read_file(
    path: Path, format_name: str, file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """The items of a file in one of ``FORMATS``.

    Args:
        path: a regular file.
        format_name: see ``formats.detect``.
        file: how to name it.
        report: told of what is lost or cleaned; by default the first row that would be lost stops it.

    Raises:
        InputError: it is no regular file, or of another form.
        UnavailableError: it cannot be read.
    """
    report = report or ImportReport()
    check_regular(path)
    # newline="": a note is kept as it is.
    with (
        disk_errors(path, "read"),
        path.open(encoding="utf-8", errors="surrogateescape", newline="") as stream,
    ):
        yield from clean_items(FORMATS[format_name].read(stream, file, report), file, report)


def check_regular(path: Path) -> None:
    """Refuse folders, devices and pipes.

    Raises:
        InputError: *path* is no regular file.
        UnavailableError: it cannot be looked at.
    """
    with disk_errors(path, "read"):
        mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise InputError(str(path), "is not a regular file")
