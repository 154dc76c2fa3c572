"""Banks that are open at the moment: as many as memory and file handles allow, least recently used first out.

A bank that is in use is never closed, so for a moment there may be more than the limit; each worker uses one
at a time, so that is at most one per worker.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simonides.errors import NotFoundError, StoreError
from simonides.surfaces.serving.listening import out_of_descriptors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank
    from simonides.store import Store


class OpenBanks:
    """Hands out banks of a store, and closes those least recently used beyond *most*, from 1."""

    def __init__(self, store: Store, most: int) -> None:
        self._store = store
        self._most = most
        self._used: OrderedDict[str, None] = OrderedDict()
        self._in_use: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._used)

    @contextmanager
    def use(self, name: str, principal: str | None) -> Iterator[Bank]:
        """A bank that stays open meanwhile; ``NotFoundError`` when there is none of this name."""
        with self._lock:
            # Inside the lock, so that it is not closed between being found and being counted.
            if name not in self._used and not self._store.has_bank(name):
                raise NotFoundError(
                    f"there is no bank {name!r}; make it with `simonides create-bank NAME` or POST /v1/banks"
                )
            self._in_use[name] += 1
            self._used[name] = None
            self._used.move_to_end(name)
        try:
            yield self._opened(name, principal)
        except (OSError, StoreError):
            # The next request finds room.
            self._make_room()
            raise
        finally:
            with self._lock:
                self._in_use[name] -= 1
                self._close_idle(self._most)

    def _opened(self, name: str, principal: str | None) -> Bank:
        try:
            return self._store.bank(name, principal=principal)
        except (OSError, StoreError):
            if not self._make_room():
                raise
        return self._store.bank(name, principal=principal)

    def _make_room(self) -> bool:
        """Close every idle bank where file descriptors have run out; whether it was so."""
        if not out_of_descriptors():
            return False
        with self._lock:
            self._close_idle(0)
        return True

    def drop(self, name: str) -> None:
        """Forget a bank that is open no more."""
        with self._lock:
            self._used.pop(name, None)

    def _close_idle(self, most: int) -> None:
        for name in list(self._used):
            if len(self._used) <= most:
                break
            if not self._in_use[name]:
                del self._used[name], self._in_use[name]
                self._store.close_bank(name)
