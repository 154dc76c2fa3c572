"""A log that a caller cannot fill: the same line is written so often, then it is counted.

Lines are the same where logger, level, template and first word of their arguments are. After a while the next
one says how many were left out. Only so many different lines are remembered.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

OFTEN = 5
"""Times that a line is written in one period."""
PERIOD_SECONDS = 60.0
_REMEMBERED = 256
_WORD = 64


class LogRate(logging.Filter):
    """A filter for handlers; *timer*: seconds that never run backwards."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._timer = timer
        self._lock = threading.Lock()
        # Line → begin of its period, times in it.
        self._seen: OrderedDict[tuple[object, ...], tuple[float, int]] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written now; the first one of a period tells of those that were not."""
        arguments = record.args if isinstance(record.args, tuple) else ()
        word = arguments[0] if arguments and isinstance(arguments[0], str) else ""
        line = (record.name, record.levelno, str(record.msg)[:_WORD], word[:_WORD])
        now = self._timer()
        with self._lock:
            begun, times = self._seen.pop(line, (now, 0))
            left_out = 0
            if now - begun >= PERIOD_SECONDS:
                left_out, begun, times = max(0, times - OFTEN), now, 0
            self._seen[line] = begun, times + 1
            while len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
        if left_out:
            record.msg = f"{record.getMessage()} (repeated {left_out:,} times meanwhile)"
            record.args = ()
        return times < OFTEN


def limit_log_rate() -> None:
    """Limit what this process logs; for processes that only serve, once their loggers are set up."""
    rate = LogRate()
    handlers = {logging.lastResort, *logging.getLogger().handlers}
    for name in tuple(logging.getLogger().manager.loggerDict):
        handlers.update(logging.getLogger(name).handlers)
    for handler in handlers:
        if handler is not None:
            handler.addFilter(rate)
