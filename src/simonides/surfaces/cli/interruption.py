"""Ctrl-C during a batch: the batch ends first, so that the count that is reported is exact."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def unbroken() -> Iterator[None]:
    """Hold back a first Ctrl-C until the block has ended; let a second one through."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held = False

    def hold(_number: int, _frame: FrameType | None) -> None:
        nonlocal held
        if held:
            raise KeyboardInterrupt
        held = True

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt
