"""Runs the work of jobs beside everything else: a few at a time, a bounded number waiting.

A result is the job's future; the newest ``kept`` stay at hand. What was kept is dropped when it could hold
what was forgotten meanwhile; a job can always be worked again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Key = tuple[str, ...]


class JobRunner:
    """Of one store; its threads begin with the first job.

    Args:
        workers: jobs at work at the same time, from 1.
        waiting: jobs that may wait beside them, from 0.
        kept: results at hand, from 1.
    """

    def __init__(self, workers: int = 2, waiting: int = 64, kept: int = 256) -> None:
        self._workers = workers
        self._room = workers + waiting
        self._kept = kept
        self._futures: OrderedDict[Key, Future[Any]] = OrderedDict()
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._closed = False

    def start(self, key: Key, work: Callable[[], Any]) -> Future[Any] | None:
        """The future of a job, begun now unless it was; ``None`` where there is no room for it.

        Args:
            key: bank, principal and id.
            work: what is to be done.
        """
        with self._lock:
            found = self._futures.get(key)
            if found is not None:
                return found
            open_jobs = sum(not future.done() for future in self._futures.values())
            if self._closed or open_jobs >= self._room:
                return None
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="simonides-job")
            future = self._futures[key] = self._pool.submit(work)
            done = [each for each, one in self._futures.items() if one.done()]
            for each in done[: max(0, len(self._futures) - self._kept)]:
                del self._futures[each]
            return future

    def drop(self, bank: str, key: Key | None = None) -> None:
        """Keep no result of *bank*, or not that of *key*; what is at work is finished."""
        with self._lock:
            for each in [each for each in self._futures if each[0] == bank and key in {None, each}]:
                if self._futures[each].done():
                    del self._futures[each]

    def close(self) -> None:
        """Finish what is at work; what waits is left to whoever asks for it next. May be called again."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)
        self._futures.clear()
