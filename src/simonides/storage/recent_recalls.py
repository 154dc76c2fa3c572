"""What the recalls of this process returned, for whoever watches the bank; in memory alone.

Neither query nor context of a recall is written to disk. One object is shared by all who use the bank in this
process. Cost of a recall: about 3 µs.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import Any

from simonides.records.activity import Given

MOST = 200
"""Recalls that are kept; the oldest go first."""

MOST_BYTES = 4 * 1024 * 1024
"""Of their queries, contexts and ids; texts that are longer are not kept."""

_ID_BYTES = 72
"""Of one id in a tuple."""


class RecentRecalls:
    """The newest answers, oldest first; thread-safe."""

    def __init__(self) -> None:
        self._kept: deque[Given] = deque()
        self._bytes = 0
        self._last = 0
        self._lock = threading.Lock()

    def add(self, at: int, **fields: Any) -> None:
        """Keep an answer; *at* and *fields* as in ``Given``. Numbers go by the clock, so that they rise."""
        with self._lock:
            self._keep(Given(number=self._next(at), at=at, **fields))

    def amend(self, recall: str, **fields: Any) -> None:
        """Note what an answer became before it was given, such as another form of its context.

        It gets a new number: who was told of it before is told again.
        """
        with self._lock:
            for given in reversed(self._kept):
                if given.recall == recall:
                    self._kept.remove(given)
                    self._bytes -= _size(given)
                    self._keep(given._replace(number=self._next(given.at), **fields))
                    return

    def all(self) -> list[Given]:
        """All that are kept, oldest first."""
        with self._lock:
            return list(self._kept)

    def clear(self) -> None:
        """Drop all of them."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _next(self, at: int) -> int:
        self._last = max(self._last + 1, at)
        return self._last

    def _keep(self, given: Given) -> None:
        size = _size(given)
        if size > MOST_BYTES:
            given = given._replace(query="", context="")
            size = _size(given)
        self._kept.append(given)
        self._bytes += size
        while len(self._kept) > MOST or self._bytes > MOST_BYTES:
            self._bytes -= _size(self._kept.popleft())


def _size(given: Given) -> int:
    return sys.getsizeof(given.query) + sys.getsizeof(given.context) + _ID_BYTES * len(given.ids)
