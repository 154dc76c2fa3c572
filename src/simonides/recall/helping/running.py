"""Runs work beside the caller: channels of a recall, and jobs, a few at a time, a bounded number waiting.

Callers wait by locks and queues that are written in C. Those of ``concurrent.futures`` are not: an interrupt
inside one of its calls can leave a lock held, and then a worker, and whoever closes the store, stands for
ever.

A result is the job's ``Work``; the newest ``kept`` stay at hand. What was kept is dropped when it could hold
what was forgotten meanwhile; a job can always be worked again.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from concurrent.futures import CancelledError
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Key = tuple[str, ...]
T = TypeVar("T")


class Work(Generic[T]):
    """One piece of work, run in another thread; any number of threads may wait for it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._over = self._done = False
        self._running = threading.Lock()
        self._waiting = threading.Lock()
        self._waiting.acquire()

    def run(self) -> None:
        """Do it, unless it was stopped."""
        with self._running:
            try:
                if self._over:
                    raise CancelledError  # noqa: TRY301 kept like any other
                self._found.append(self._work())
            except BaseException as error:  # noqa: BLE001 whoever asks for the result raises it
                self._error = error
            self._done = True
        self._waiting.release()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._done

    def wait(self, seconds: float = -1) -> bool:
        """Wait until it has ended, for *seconds* at most (below 0: for ever); whether it has."""
        if not self._done and self._waiting.acquire(timeout=seconds):
            self._waiting.release()
        return self._done

    def stop(self) -> None:
        """See that it never begins, and wait until it has ended where it has begun."""
        self._over = True
        with self._running:
            pass

    def result(self) -> T:
        """What it gave, once it has ended; its error is raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._found[0]


class Threads:
    """A fixed number of threads that do what is submitted, in its order.

    Args:
        count: from 1.
        name: how the names of the threads begin.
    """

    def __init__(self, count: int, name: str) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=_serve, args=(self._work,), name=f"{name}_{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()
        # Also where nobody closes the store.
        self._end = weakref.finalize(self, _end, self._work, count)

    def submit(self, work: Callable[[], None], /) -> None:
        """Run *work* in one of the threads; not after ``close``."""
        self._work.put(work)

    def close(self) -> None:
        """End the threads once they have done what was submitted; may be called again."""
        self._end()
        for thread in self._threads:
            thread.join()


def _serve(queue: SimpleQueue[Callable[[], None] | None]) -> None:
    while (work := queue.get()) is not None:
        work()
        # It may hold what a recall read.
        del work


def _end(queue: SimpleQueue[Callable[[], None] | None], threads: int) -> None:
    for _ in range(threads):
        queue.put(None)


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
        self._works: OrderedDict[Key, Work[Any]] = OrderedDict()
        self._threads: Threads | None = None
        self._lock = threading.Lock()
        self._closed = False

    def start(self, key: Key, work: Callable[[], Any]) -> Work[Any] | None:
        """The work of a job, begun now unless it was; ``None`` where there is no room for it.

        Args:
            key: bank, principal and id.
            work: what is to be done.
        """
        with self._lock:
            found = self._works.get(key)
            if found is not None:
                return found
            waiting = sum(not work.done for work in self._works.values())
            if self._closed or waiting >= self._room:
                return None
            if self._threads is None:
                self._threads = Threads(self._workers, "simonides-job")
            begun = Work(work)
            self._threads.submit(begun.run)
            self._works[key] = begun
            done = [each for each, one in self._works.items() if one.done]
            for each in done[: max(0, len(self._works) - self._kept)]:
                del self._works[each]
            return begun

    def drop(self, bank: str, key: Key | None = None) -> None:
        """Keep no result of *bank*, or not that of *key*; what is at work is finished."""
        with self._lock:
            for each in [each for each in self._works if each[0] == bank and key in {None, each}]:
                if self._works[each].done:
                    del self._works[each]

    def close(self) -> None:
        """Finish what is at work; what waits is left to whoever asks for it next. May be called again."""
        with self._lock:
            self._closed = True
            works = list(self._works.values())
        # The last first, so that none begins while another is waited for.
        for work in reversed(works):
            work.stop()
        if self._threads is not None:
            self._threads.close()
        self._works.clear()
