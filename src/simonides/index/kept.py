"""What a stage made of a snapshot alone, kept for the next recall: few values of each maker.

It lives and dies with its snapshot, which any write replaces, so nothing in it can be out of date. A key
names all that a value depends on beside the snapshot: above all the rows that were looked at, since other
principals see others. Of too many values that of the longest unused key goes first.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Value = TypeVar("Value")

MOST = 16
"""Values of one maker that are kept at once."""


class Kept:
    """Thread-safe; a value that two threads want at once may be made twice, alike."""

    def __init__(self) -> None:
        self._values: dict[str, dict[Hashable, object]] = {}
        self._lock = threading.Lock()

    def get(self, maker: str, key: Hashable, make: Callable[[], Value]) -> Value:
        """What *make* gives, or gave before for the same *key*; nobody may change it.

        Args:
            maker: names what the values are; they are all of one type.
            key: what a value depends on beside the snapshot.
            make: depends on the snapshot and the key alone.
        """
        with self._lock:
            values = self._values.setdefault(maker, {})
            if key in values:
                # The one used last goes last.
                found: Value = values.pop(key)  # type: ignore[assignment]
                values[key] = found
                return found
        made = make()
        with self._lock:
            values[key] = made
            while len(values) > MOST:
                del values[next(iter(values))]
        return made
