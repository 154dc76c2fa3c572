"""Bodies of requests that are being read, or are held until the answer: few of a token, and few bytes.

A request counts from before its first byte, so that bodies which come slowly, or never end, are in the
limits, too. One token has at most half of the bytes. For the event loop's thread alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simonides.surfaces.serving.busy import BusyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.surfaces.serving.grants import Grant
    from simonides.surfaces.serving.limits import Limits


class Bodies:
    """All that a server holds; *turn*: to read a very large body, one at a time."""

    def __init__(self, limits: Limits) -> None:
        self._most = limits.per_token
        self._bytes = max(limits.held_bytes, limits.body_bytes)
        self._bytes_of_one = max(limits.held_bytes // 2, limits.body_bytes)
        self._open: Counter[str] = Counter()
        self._held: Counter[str] = Counter()
        self.turn = asyncio.Lock()

    @property
    def held(self) -> int:
        """Bytes."""
        return self._held.total()

    @property
    def count(self) -> int:
        """Requests."""
        return self._open.total()

    @contextmanager
    def opened(self, grant: Grant) -> Iterator[Body]:
        """The place of one request; what it holds is released afterwards.

        ``BusyError``: the token has too many.
        """
        if self._open[grant.name] >= self._most:
            raise BusyError(
                f"{self._most} requests of this token are being sent or at work; let one end first",
                1,
                yours=True,
            )
        self._open[grant.name] += 1
        body = Body(self, grant.name)
        try:
            yield body
        finally:
            self._open[grant.name] -= 1
            self._held[grant.name] -= body.size
            for counter in (self._open, self._held):
                if not counter[grant.name]:
                    del counter[grant.name]

    def take(self, token: str, size: int) -> None:
        """Hold *size* bytes more; ``BusyError`` when they would be too many."""
        if self._held[token] + size > self._bytes_of_one:
            raise BusyError(
                f"requests of this token hold {self._held[token]:,} bytes; send fewer at once", 1, yours=True
            )
        if self.held + size > self._bytes:
            raise BusyError(f"requests hold {self.held:,} bytes; try again", 1, yours=False)
        self._held[token] += size


class Body:
    """That of one request; ``turn`` as in ``Bodies``."""

    def __init__(self, bodies: Bodies, token: str) -> None:
        self._bodies = bodies
        self._token = token
        self.turn = bodies.turn
        self.size = 0

    def hold(self, size: int) -> None:
        """Hold *size* bytes more, in memory; ``BusyError`` when they would be too many."""
        self._bodies.take(self._token, size)
        self.size += size
