"""What a fork does to objects with threads, connections and locks: the child refuses them by ``ForkedError``.

A forked child has a copy of each object and none of its threads. A pool without threads never answers, a lock
that another thread held stays held, and a connection is shared with the parent. So whoever made an object is
noted, and the child refuses it before anything of it is touched; closing it there does nothing.
"""

from __future__ import annotations

import functools
import inspect
import os
import weakref
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from simonides.errors import ForkedError

if TYPE_CHECKING:
    from collections.abc import Callable

C = TypeVar("C", bound=type)


class Origin:
    """The process that made an object.

    *what* is the object, for the message, and *remedy* what the child should do.
    """

    def __init__(self, what: str, remedy: str = "open the store again in the child process") -> None:
        self._what = what
        self._remedy = remedy
        self._process = os.getpid()

    @property
    def here(self) -> bool:
        """Whether this process made it."""
        return os.getpid() == self._process

    def check(self) -> None:
        """Nothing where this process made it; ``ForkedError``: another one did."""
        if not self.here:
            raise ForkedError(f"{self._what}: opened before a fork; {self._remedy}")


def refused_after_fork(origin: Callable[[Any], Origin], *, quiet: tuple[str, ...] = ()) -> Callable[[C], C]:
    """A decorator of a class: in a forked child, its public methods and properties raise ``ForkedError``.

    *origin* gives the origin of an object; methods named in *quiet*, such as ``close``, do nothing there.
    """

    def decorate(decorated: C) -> C:
        for name, member in list(vars(decorated).items()):
            if name.startswith("_"):
                continue
            if inspect.isfunction(member):
                setattr(decorated, name, _checked(member, origin, quiet=name in quiet))
            elif isinstance(member, property) and member.fget is not None:
                setattr(decorated, name, property(_checked(member.fget, origin, quiet=False)))
        return decorated

    return decorate


def _checked(
    method: Callable[..., Any], origin: Callable[[Any], Origin], *, quiet: bool
) -> Callable[..., Any]:
    @functools.wraps(method)
    def checked(self: Any, *values: Any, **named: Any) -> Any:
        made = origin(self)
        if quiet and not made.here:
            return None
        made.check()
        return method(self, *values, **named)

    return checked


class Renewed(Protocol):
    """Usable in a forked child once its locks are new."""

    def renew(self) -> None:
        """Make the locks anew: a thread that is not in this process may hold them."""
        ...


# By identity, since two that are equal are two all the same.
_renewed: weakref.WeakValueDictionary[int, Renewed] = weakref.WeakValueDictionary()


def renewed_after_fork(each: Renewed) -> None:
    """Call ``each.renew()`` in every forked child, for objects that a child may go on using."""
    _renewed[id(each)] = each


def _renew() -> None:
    for each in list(_renewed.values()):
        each.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
