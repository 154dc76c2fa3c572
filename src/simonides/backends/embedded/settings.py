"""Small files beside a bank's rows with what its owner set: the time zone, and times to live."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simonides.backends.embedded.stale_files import TTL, ZONE
from simonides.files import disk_errors, write_file
from simonides.records.hygiene import read_at_most
from simonides.records.interval import read_zone
from simonides.records.time_to_live import TtlDefaults

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

_LARGEST_ZONE = 1_000
"""Bytes of the file that names the bank's zone."""
_LARGEST_TTL = 10_000
"""Bytes of the file with the bank's times to live."""


class BankSettings:
    """The settings of one bank, read when it is opened."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.zone = self._read_zone()
        self.ttl_defaults = self._read_ttl_defaults()

    def set_zone(self, name: str | None) -> None:
        zone = None if name is None else read_zone(name)
        with disk_errors(self._folder / ZONE):
            if name is None:
                (self._folder / ZONE).unlink(missing_ok=True)
            else:
                write_file(self._folder / ZONE, f"{name.strip()}\n")
        self.zone = zone

    def _read_zone(self) -> tzinfo | None:
        path = self._folder / ZONE
        written = _read_setting(path, _LARGEST_ZONE)
        return None if written is None else read_zone(written.strip(), str(path))

    def set_ttl_defaults(self, defaults: TtlDefaults) -> None:
        with disk_errors(self._folder / TTL):
            write_file(self._folder / TTL, f"{json.dumps(defaults.to_dict())}\n")
        self.ttl_defaults = defaults

    def _read_ttl_defaults(self) -> TtlDefaults:
        path = self._folder / TTL
        written = _read_setting(path, _LARGEST_TTL)
        return TtlDefaults() if written is None else TtlDefaults.from_json(written, str(path))


def _read_setting(path: Path, most: int) -> str | None:
    """The text of a small file of the bank's folder; ``None`` = there is none."""
    with disk_errors(path, "read"):
        try:
            with path.open("rb") as stream:
                return read_at_most(stream, most, str(path)).decode("utf-8", "replace")
        except FileNotFoundError:
            return None
