"""Writes the whole bank to a file: an export as text, or a backup of the rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from simonides.records.hygiene import MAX_FILE_PATH_BYTES, clean_text

if TYPE_CHECKING:
    from simonides.records.receipt import Counts, Saved
    from simonides.services.context import BankContext


@dataclass(frozen=True, slots=True)
class Exporting:
    """Writes the whole bank to a file."""

    context: BankContext

    def export(self, target: str | os.PathLike[str] | IO[bytes]) -> Counts:
        self.context.require_owner("export")
        self.context.record_read("export", None)
        return self.context.rows.export(target)

    def backup(self, target: str | os.PathLike[str] | IO[bytes]) -> Saved:
        self.context.require_owner("backup")
        self.context.record_read("backup", None)
        if isinstance(target, str | os.PathLike):
            return self.context.rows.backup(
                Path(clean_text(os.fspath(target), "target", MAX_FILE_PATH_BYTES))
            )
        return self.context.rows.backup(target)
