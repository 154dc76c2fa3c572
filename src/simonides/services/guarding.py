"""What each public method of a store and of a bank does beside its work.

It refuses to run in a forked child, says which file failed and what to do, and masks secrets in messages. A
method of a bank is also a span, and gives times to principals no finer than a millisecond.
"""

from __future__ import annotations

import functools
import inspect
import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.files import unavailable
from simonides.retain.redacted_errors import redact_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from simonides.forking import Origin
    from simonides.retain.secrets import Policy

C = TypeVar("C", bound=type)

_NO_SPAN: AbstractContextManager[Callable[[object], None]] = nullcontext(lambda _: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A decorator of a class that guards its public methods and properties.

    Attributes:
        origin: gives the process that made an object of the class.
        folder: gives the folder below which errors about files are translated. Errors of an embedder or
            another part of the caller about files elsewhere are left as they are.
        silent: methods that do nothing in a forked child, such as ``close``.
        span: makes what surrounds the call of a method, from the object and the method's name; on entry it
            gives a function that is told the answer.
        finish: makes what the caller gets, from the object and the answer.
    """

    origin: Callable[[Any], Origin]
    folder: Callable[[Any], Path]
    policy: Callable[[Any], Policy]
    silent: tuple[str, ...] = ()
    span: Callable[[Any, str], AbstractContextManager[Callable[[object], None]]] = lambda _, __: _NO_SPAN
    finish: Callable[[Any, Any], Any] = lambda _, answer: answer

    def __call__(self, decorated: C) -> C:
        # Also what the class inherits, so that nothing of it goes unguarded.
        inherited = {name: each for cls in reversed(decorated.__mro__) for name, each in vars(cls).items()}
        for name, member in inherited.items():
            if name.startswith("_"):
                continue
            if inspect.isfunction(member):
                setattr(decorated, name, self._around(member, self.span))
            elif isinstance(member, property) and member.fget is not None:
                setattr(decorated, name, property(self._around(member.fget, lambda _, __: _NO_SPAN)))
        return decorated

    def _around(
        self,
        method: Callable[..., Any],
        span: Callable[[Any, str], AbstractContextManager[Callable[[object], None]]],
    ) -> Callable[..., Any]:
        verb, silent = method.__name__, method.__name__ in self.silent

        @functools.wraps(method)
        def guarded(this: Any, *values: Any, **named: Any) -> Any:
            with span(this, verb) as note:
                made = self.origin(this)
                if silent and not made.here:
                    return None
                made.check()
                try:
                    answer = self.finish(this, method(this, *values, **named))
                except Exception as error:
                    told = _translated(error, self.folder(this))
                    if self.policy(this) != "off":
                        redact_error(told, values, named)
                    if told is error:
                        raise
                    raise told from error
                note(answer)
                return answer

        return guarded


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
