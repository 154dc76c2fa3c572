"""Writes a bank as one page that opens from disk, without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank


def write_page(bank: Bank, path: Path) -> int:
    """Write the page of a bank to a file; returns the number of its memories."""
    raise NotImplementedError
