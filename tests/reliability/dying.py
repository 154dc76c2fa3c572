"""A process that is killed right before a chosen SQL statement of its own."""

from __future__ import annotations

import itertools
import os
import signal

import apsw


def die_at_statement(number: int) -> None:
    """Count the statements of every connection from now on, the open ones too, and die before the *number*-th."""
    statements = itertools.count(1)

    def trace(*_: object) -> bool:
        if next(statements) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(trace))
    for connection in apsw.connections():
        connection.set_exec_trace(trace)
