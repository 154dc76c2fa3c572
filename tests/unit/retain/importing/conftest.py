"""Small invented files of every format, and a way to read any text as one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from simonides.retain.importing.files import named_file, read_file

if TYPE_CHECKING:
    from simonides.errors import InputError
    from simonides.retain.importing.item import ImportedItem

SAMPLES = Path(__file__).parents[3] / "data" / "importing"


@dataclass
class Found:
    """What a reader gave, and what it passed over."""

    items: list[ImportedItem] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [item.item["text"] for item in self.items]

    @property
    def problems(self) -> list[str]:
        """The messages, without the folder of the file."""
        return [f"{error.field.rpartition('/')[2]}: {error.problem}" for error in self.errors]

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
        found.items += read_file(path, format_name, named_file(path), found.errors.append)
        return found

    return read
