"""JSON lines of items: each line an object with ``text`` and any other argument of ``retain``."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from simonides.retain.importing.item import ImportedItem, ImportReport
from simonides.retain.importing.json_source import json_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.retain.importing.item import NamedFile


def read_jsonl(
    stream: IO[str], file: NamedFile, report: ImportReport | None = None
) -> Iterator[ImportedItem]:
    """Items as they stand; whether they can be stored is for the bank to say."""
    report = report or ImportReport()
    for line, row in json_lines(stream, file, report.skipped):
        if "text" in row:
            yield ImportedItem(row, line)
        else:
            report.skipped(file.wrong(line, "text: is missing; an item needs a text"))
