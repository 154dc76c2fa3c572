"""What each public method of a store and of a bank does beside its work.

It refuses to run in a forked child, says which file failed and what to do, and masks secrets in messages.
"""

from __future__ import annotations

import functools
import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.files import unavailable
from simonides.retain.quiet_errors import hush

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.forking import Origin
    from simonides.retain.secrets import Policy

C = TypeVar("C", bound=type)


def guarded(
    *,
    origin: Callable[[Any], Origin],
    folder: Callable[[Any], Path],
    policy: Callable[[Any], Policy],
    silent: tuple[str, ...] = (),
) -> Callable[[C], C]:
    """A decorator of a class that guards its public methods and properties.

    Args:
        origin: gives the process that made an object of the class.
        folder: gives the folder below which errors about files are translated. Errors of an embedder or
            another part of the caller about files elsewhere are left as they are.
        policy: gives what happens to secrets.
        silent: methods that do nothing in a forked child, such as ``close``.
    """

    def decorate(decorated: C) -> C:
        for name, member in list(vars(decorated).items()):
            if name.startswith("_"):
                continue
            if inspect.isfunction(member):
                setattr(decorated, name, _guard(member, origin, folder, policy, silent=name in silent))
            elif isinstance(member, property) and member.fget is not None:
                setattr(decorated, name, property(_guard(member.fget, origin, folder, policy, silent=False)))
        return decorated

    return decorate


def _guard(
    method: Callable[..., Any],
    origin: Callable[[Any], Origin],
    folder: Callable[[Any], Path],
    policy: Callable[[Any], Policy],
    *,
    silent: bool,
) -> Callable[..., Any]:
    @functools.wraps(method)
    def guarded_method(self: Any, *values: Any, **named: Any) -> Any:
        made = origin(self)
        if silent and not made.here:
            return None
        made.check()
        try:
            return method(self, *values, **named)
        except Exception as error:
            told = _translated(error, folder(self))
            if policy(self) != "off":
                hush(told, values, named)
            if told is error:
                raise
            raise told from error

    return guarded_method


def _translated(error: Exception, folder: Path) -> Exception:
    """The error of this package for one of the operating system about a file below *folder*."""
    if not isinstance(error, OSError):
        return error
    # absolute() follows no link, so a file keeps the name that it was opened by.
    file = Path(error.filename if isinstance(error.filename, str) else os.devnull)
    if not file.absolute().is_relative_to(folder.absolute()):
        return error
    told = unavailable(error, error.filename, "used")
    # Set here already, so that messages of the cause are masked, too.
    told.__cause__ = error
    return told
