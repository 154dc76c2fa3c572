"""What keeps a store from being written, as far as its disk says so: reading goes on all the same."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LEAST_FREE = 64 * 1024 * 1024
"""Bytes below which writes are about to fail: a few bodies of requests, and what SQLite logs of them."""


def disk_problems(folder: Path) -> list[str]:
    """One line for each problem; none where the folder can be written.

    Args:
        folder: of the store; it is there.
    """
    found = []
    closed = [each for each in (folder, *sorted(folder.glob("bank-*"))) if not os.access(each, os.W_OK)]
    if closed:
        found.append(f"disk: {len(closed)} folders of the store cannot be written; make them writable")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        found.append(f"disk: {free:,} bytes are free, writes need {LEAST_FREE:,}; make room")
    return found
