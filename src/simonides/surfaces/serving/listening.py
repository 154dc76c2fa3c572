"""A socket that a server listens on, and how its threads share the interpreter.

The protocol is named when the socket is made: asyncio switches Nagle's algorithm off only for sockets whose
protocol it knows, and ``socket.create_server`` leaves it 0. With Nagle's algorithm the body of an answer
waits for the caller's acknowledgement of its head, which Linux sends 40 ms later.
"""

from __future__ import annotations

import os
import socket
import sys

SWITCH_SECONDS = 0.0005
"""How long a thread may hold the interpreter while others wait. Python's own 5 ms, times the workers, is what
an answer to ``/health/live`` would wait for at each of its steps (``bench/soak/load.py``)."""


def listen(host: str, port: int, *, backlog: int) -> socket.socket:
    """A socket that listens, to be closed by its caller.

    Args:
        host: an address, of version 6 where it holds a colon, or a name.
        port: 0 = any that is free.
        backlog: connections that may wait.

    Raises:
        OSError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
    """Let waiting threads of this process have the interpreter sooner; for processes that only serve."""
    sys.setswitchinterval(SWITCH_SECONDS)
