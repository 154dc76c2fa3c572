"""A socket that a server listens on, its file descriptors, and how its threads share the interpreter.

The protocol is named when the socket is made: asyncio switches Nagle's algorithm off only for sockets whose
protocol it knows, and ``socket.create_server`` leaves it 0. With Nagle's algorithm the body of an answer
waits for the caller's acknowledgement of its head, which Linux sends 40 ms later.

Where the process has no file descriptors left, what waits to be accepted is accepted and closed at once: left
in the queue, it would wake the event loop, and fill the log, for ever.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import socket
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simonides.surfaces.serving.limits import Limits

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Options of glibc's ``mallopt``."""
SWITCH_SECONDS = 0.0001
"""How long a thread may hold the interpreter while others wait. Python's own 5 ms, times the workers, is what
an answer to ``/health/live`` would wait for at each of its steps (``bench/soak/load.py``)."""

_NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_PAUSE_SECONDS = 0.05
"""Between two looks at connections that cannot be accepted at all."""
_OWN_DESCRIPTORS = 32
"""Of the interpreter, the event loop, the log and the files that an operation opens."""
_FEWEST_CONNECTIONS = 8
_OF_A_BANK = 3
"""Descriptors that one worker has open of one bank."""
_UNLIMITED = 1 << 20


def descriptors() -> int:
    """File descriptors that this process may have."""
    try:
        resource = importlib.import_module("resource")
    except ImportError:
        # Windows has no such limit.
        return _UNLIMITED
    soft: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _UNLIMITED if soft == resource.RLIM_INFINITY else soft


def most_connections(limits: Limits) -> int:
    """Connections that a server keeps: at most a third of its descriptors, the rest is for banks."""
    return max(_FEWEST_CONNECTIONS, min(limits.connections, (descriptors() - _OWN_DESCRIPTORS) // 3))


def most_banks(limits: Limits) -> int:
    """Banks that a server keeps open, as far as its descriptors go; one at least."""
    left = descriptors() - _OWN_DESCRIPTORS - most_connections(limits)
    return max(1, min(limits.open_banks, left // (_OF_A_BANK * (limits.workers + 1))))


def out_of_descriptors() -> bool:
    """Whether this process can open no file now."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in _NO_ROOM
    return False


class AcceptingSocket(socket.socket):
    """A listening socket that never leaves a connection in the queue for want of descriptors."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._spare: int | None = os.open(os.devnull, os.O_RDONLY)
        self._queue = 0

    def listen(self, backlog: int = 128, /) -> None:
        """Queue as many connections as it was first told; asyncio's number is of one turn of its loop."""
        self._queue = max(self._queue, backlog)
        super().listen(self._queue)

    def accept(self) -> tuple[socket.socket, Any]:
        """One connection, as the event loop asks for it; ``BlockingIOError`` where none could be served."""
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
        self._refuse_one()
        raise BlockingIOError

    def _refuse_one(self) -> None:
        """Accept a connection by the spare descriptor, and close it."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
        try:
            super().accept()[0].close()
        except BlockingIOError:
            pass
        except OSError:
            # Another thread took the descriptor, or memory is short: no look at once again.
            time.sleep(_PAUSE_SECONDS)
        try:
            self._spare = os.open(os.devnull, os.O_RDONLY)
        except OSError:
            self._spare = None

    def close(self) -> None:
        """Close it and its spare descriptor."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
        super().close()


def listen(host: str, port: int, *, backlog: int) -> socket.socket:
    """A socket that listens, to be closed by its caller; ``OSError`` where the address cannot be had.

    *host* is an address, of version 6 where it holds a colon, or a name; *port* 0 = any that is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = AcceptingSocket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # On other systems it would let two servers share a port.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind((host, port))
        listening.listen(backlog)
    except BaseException:
        listening.close()
        raise
    return listening


def share_fairly() -> None:
    """For servers: give waiting threads the interpreter sooner, and free large blocks at once."""
    sys.setswitchinterval(SWITCH_SECONDS)
    with suppress(AttributeError, OSError, TypeError):
        # glibc keeps freed blocks of up to 32 MB, of each thread, as soon as one was freed: hundreds of MB.
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_MMAP_THRESHOLD, 256 * 1024)
        allocator.mallopt(_ARENA_MAX, 2)
