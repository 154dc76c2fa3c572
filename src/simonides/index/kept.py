"""What a stage made of a snapshot alone, kept for the next recall: few values; the longest unused goes first.

It lives and dies with its snapshot, which any write replaces, so nothing in it can be out of date. A key
names all that a value depends on beside the snapshot: above all the rows that were looked at, since other
principals see others.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Value = TypeVar("Value")

MOST = 16
"""Values that are kept at once."""


class Kept:
    """Thread-safe; a value that two threads want at once may be made twice, alike."""

    def __init__(self) -> None:
        self._values: dict[Hashable, object] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What *make* gives, or gave before for the same *key*; nobody may change it.

        Args:
            key: names the maker, too; its values are all of one type.
            make: depends on the snapshot and the key alone.
        """
        with self._lock:
            if key in self._values:
                # The one used last goes last.
                found: Value = self._values.pop(key)  # type: ignore[assignment]
                self._values[key] = found
                return found
        made = make()
        with self._lock:
            self._values[key] = made
            while len(self._values) > MOST:
                del self._values[next(iter(self._values))]
        return made
