"""What the engine itself just returned is not retained again (the feedback-loop guard).

An agent that writes its whole prompt back would otherwise store every recalled memory anew, each time.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

_REMEMBERED = 2_000


class RecentAnswers:
    """The newest texts and contexts that were returned, with the id each stands for; thread-safe."""

    def __init__(self) -> None:
        self._ids: OrderedDict[bytes, str] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, *returned: tuple[str, str]) -> None:
        """Note returned texts, each with the memory it came from."""
        keys = [(_key(text), memory) for text, memory in returned]
        with self._lock:
            for key, memory in keys:
                self._ids[key] = memory
                self._ids.move_to_end(key)
            while len(self._ids) > _REMEMBERED:
                self._ids.popitem(last=False)

    def forget(self, memory: str) -> None:
        """Note that *memory* no longer says what was returned of it."""
        with self._lock:
            for key in [key for key, held in self._ids.items() if held == memory]:
                del self._ids[key]

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._ids.clear()

    def source(self, text: str) -> str | None:
        """The memory that *text* was returned from, or ``None``."""
        with self._lock:
            return self._ids.get(_key(text))


def _key(text: str) -> bytes:
    """A hash, so that long contexts take no room and a forgotten text leaves nothing here."""
    return hashlib.blake2b(" ".join(text.split()).encode(), digest_size=16).digest()
