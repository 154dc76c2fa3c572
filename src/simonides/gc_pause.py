"""Pause the cyclic garbage collector, which would look many times at the many records that are made."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """Let Python's collector of cycles rest inside the block; afterwards it is as it was."""
    collecting = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if collecting:
            gc.enable()
