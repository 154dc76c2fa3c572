"""Small invented files of every format, and a way to read any text as one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from simonides.retain.importing.formats import named_file, read_file
from simonides.retain.importing.sources import ImportReport

if TYPE_CHECKING:
    from simonides.errors import InputError
    from simonides.retain.importing.sources import ImportedItem

SAMPLES = Path(__file__).parents[3] / "data" / "importing"


@dataclass
class Found:
    """What a reader gave, what it skipped or cleaned, and how many parts it left out."""

    items: list[ImportedItem] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)
    cleaned: list[InputError] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def texts(self) -> list[str]:
        return [item.item["text"] for item in self.items]

    @property
    def problems(self) -> list[str]:
        """The messages of what was skipped, without the folder of the file."""
        return self._named(self.errors)

    @property
    def cleanings(self) -> list[str]:
        """Those of what was cleaned."""
        return self._named(self.cleaned)

    @staticmethod
    def _named(errors: list[InputError]) -> list[str]:
        return [f"{error.field.rpartition('/')[2]}: {error.problem}" for error in errors]

    def all(self, key: str) -> list[Any]:
        """A value per item; ``None`` where it has none."""
        return [item.item.get(key) for item in self.items]


class Read(Protocol):
    def __call__(self, format_name: str, source: Path | str | bytes) -> Found: ...


@pytest.fixture
def samples() -> Path:
    return SAMPLES


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a file, or a text as the file ``x``, passing over what is malformed."""

    def read(format_name: str, source: Path | str | bytes) -> Found:
        path = source if isinstance(source, Path) else tmp_path / "x"
        if isinstance(source, str | bytes):
            path.write_bytes(source if isinstance(source, bytes) else source.encode())
        found = Found()
        report = ImportReport(found.errors.append, found.cleaned.append, found.left_out)
        found.items += read_file(path, format_name, named_file(path), report)
        return found

    return read
