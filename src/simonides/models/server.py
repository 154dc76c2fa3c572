"""What every client of a model behind HTTP needs: its address, a body with limits, and memory of its health.

A body is read piece by piece with a limit on its time and size, so that a server that drips bytes or floods
holds nothing up. A server that failed is left alone for a while, so that not every recall waits for it, and
only so many requests are under way at once. Messages never repeat what a server said: it may quote a memory.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from simonides.errors import InputError, ModelError, ModelUnavailableError
from simonides.forking import renewed_after_fork

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

LARGEST_BODY = 4 * 1024 * 1024
"""Bytes of an answer at most."""

_LOOK_SECONDS = 0.005
"""How often who waits for a slot looks whether one is free."""

PASSING = frozenset({408, 409, 425, 429})
"""Status codes below 500 that another try may get past."""


def is_address(text: str) -> bool:
    """Whether *text* is the address of a server, http or https."""
    try:
        url = urlsplit(text)
        named = url.hostname and not any(sign.isspace() for sign in url.netloc)
        return bool(named) and url.scheme in {"http", "https"} and url.port != 0
    except ValueError:
        return False


def place(address: str) -> str:
    """The server at *address*, for people: without path, and without a password that it may hold."""
    url = urlsplit(address)
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    return f"{url.scheme}://{host}{f':{url.port}' if url.port else ''}"


def read_body(
    pieces: Iterable[bytes],
    *,
    end: float,
    seconds: float,
    timer: Callable[[], float],
    unavailable: Callable[[str], ModelUnavailableError],
) -> bytes:
    """The whole of an answer, on the clock of *timer* (seconds that never run backwards) until *end*.

    ``ModelUnavailableError``: it is longer than ``LARGEST_BODY``, or did not end in time.
    """
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > LARGEST_BODY:
            raise unavailable(f"sent more than {LARGEST_BODY:,} bytes")
        if timer() > end:
            raise unavailable(f"did not end its answer within {seconds:g} s")
    return bytes(body)


@dataclass(slots=True)
class _State:
    down_until: float = float("-inf")
    problem: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Health:
    """What is remembered of a server between calls, and who may ask it now. Thread-safe.

    Attributes:
        concurrency: requests under way at most, for all threads together, from 1.
        pause_seconds: for how long a server that failed is left alone, from 0.
        timer: seconds that never run backwards.

    Raises:
        InputError: an attribute is out of its range.
    """

    address: str
    concurrency: int
    pause_seconds: float
    timer: Callable[[], float] = time.monotonic
    _turns: set[object] = field(default_factory=set, init=False, repr=False, compare=False)
    _state: _State = field(default_factory=_State, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise InputError("concurrency", f"{self.concurrency} is below 1")
        if not self.pause_seconds >= 0:
            raise InputError("pause_seconds", f"{self.pause_seconds} is below 0")
        renewed_after_fork(self)

    def renew(self) -> None:
        """Forget who asks the server now; for a forked child, where nobody does."""
        self._turns.clear()
        self._state.lock = threading.Lock()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Remember a model's error; ``ModelUnavailableError`` within ``pause_seconds`` of the last one."""
        with self._state.lock:
            left = self._state.down_until - self.timer()
            if left > 0:
                raise ModelUnavailableError(
                    f"{place(self.address)} failed a moment ago and is asked again in {left:.0f} s "
                    f"({self._state.problem})"
                )
        try:
            yield
        except ModelError as error:
            with self._state.lock:
                self._state.down_until = self.timer() + self.pause_seconds
                self._state.problem = str(error)
            raise

    def in_batches(
        self, texts: Sequence[str], most: int, threads: str, ask: Callable[[list[str]], list[float]]
    ) -> list[float]:
        """One score per text, in order: up to *most* texts a request, ``concurrency`` requests at once."""
        if isinstance(texts, str):
            raise InputError("texts", "is one string; give a list of texts")
        batches = [list(texts[start : start + most]) for start in range(0, len(texts), most)]
        if not batches:
            return []
        with self.watched():
            if len(batches) == 1:
                return ask(batches[0])
            with ThreadPoolExecutor(min(self.concurrency, len(batches)), threads) as pool:
                return [score for scores in pool.map(ask, batches) for score in scores]

    @contextmanager
    def slot(self, end: float) -> Iterator[None]:
        """One of the requests that may be under way; ``ModelUnavailableError`` when none is free by *end*."""
        turn = object()
        try:
            while not self._takes(turn):
                if self.timer() >= end:
                    raise ModelUnavailableError(
                        f"{place(self.address)} is busy: {self.concurrency} requests are under way"
                    )
                time.sleep(_LOOK_SECONDS)
            yield
        finally:
            # Nothing where it was not taken, so an interrupt between taking and here leaves none taken.
            self._turns.discard(turn)

    def _takes(self, turn: object) -> bool:
        with self._state.lock:
            if len(self._turns) < self.concurrency:
                self._turns.add(turn)
        return turn in self._turns
