"""SQLite connections after a fork: the child closes them without a checkpoint, or leaves torn ones alone.

SQLite forbids carrying a connection over a fork: closing it in the child could write the parent's log into
the database and delete it. During a fork every connection is kept alive. In the child, idle ones are marked
so that closing leaves the files alone; those that another thread was using are never touched, since their
mutexes stay locked.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from simonides.errors import ForkedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_lock = threading.Lock()
_all: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
_opening = 0
_pinned: list[apsw.Connection] = []
_torn = False
"""Whether another thread was inside SQLite when this process was forked: global mutexes may be held."""


def check_whole(path: Path) -> None:
    """Raise ``ForkedError`` where this process was forked while another thread was inside SQLite."""
    if _torn:
        raise ForkedError(
            f"{path}: a store was being used when this process was forked, so it cannot be opened here; "
            "start the process by 'spawn', or fork before the store is opened"
        )


@contextmanager
def opened_here(path: Path) -> Iterator[None]:
    """Around the opening of a connection; raises as ``check_whole``."""
    global _opening  # noqa: PLW0603 one count for the process
    check_whole(path)
    with _lock:
        _opening += 1
    try:
        yield
    finally:
        with _lock:
            _opening -= 1


def note(connection: apsw.Connection) -> apsw.Connection:
    """The same connection, known from now on to whatever forks this process."""
    with _lock:
        _all.add(connection)
    return connection


def _before() -> None:
    _lock.acquire()
    # The interpreter drops what belongs to other threads before it calls `_in_child`.
    _pinned.extend(_all)


def _in_parent() -> None:
    _pinned.clear()
    _lock.release()


def _in_child() -> None:
    global _torn, _opening  # noqa: PLW0603 of the process
    _torn = _torn or _opening > 0
    _opening = 0
    for connection in _pinned:
        try:
            idle = connection.get_autocommit()
            if idle:
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        except apsw.ConnectionClosedError:
            continue
        except apsw.ThreadingViolationError:
            idle, _torn = False, True
        if not idle:
            # Closing it would end the parent's transaction in the shared log, or wait for ever.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
    if _torn:
        for connection in _pinned:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
    _pinned.clear()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
