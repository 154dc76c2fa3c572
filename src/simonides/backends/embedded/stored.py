"""What stored values stand for: names of sorts, JSON and numbers, read in one place.

A value that no writer of this version can have written raises ``DamagedError``, whatever the reason; nothing
that reads rows meets a ``KeyError`` or a ``ValueError`` of Python.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


Result = TypeVar("Result")

_LONGEST_SHOWN = 60


def decoded(read: Callable[[Any], Result], value: object, place: str = "a row") -> Result:
    """*value* as *read* makes it, such as ``Kind`` or ``int``.

    Args:
        read: raises ValueError, KeyError or TypeError for what cannot be.
        value: as it was stored.
        place: what holds it, for the message.

    Raises:
        DamagedError: *read* refuses it.
    """
    try:
        return read(value)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise DamagedError(
            f"memory.db: {place} holds {repr(value)[:_LONGEST_SHOWN]}, which cannot be "
            f"({type(error).__name__}); run verify, and restore the bank from a backup"
        ) from error


def read_code(codes: Mapping[str, int], name: object, place: str = "a row") -> int:
    """The code of a stored *name*.

    Raises:
        DamagedError: it is not among *codes*.
    """
    return decoded(codes.__getitem__, name, place)


def read_names(text: object, place: str = "a set of names") -> tuple[str, ...]:
    """A stored JSON list of texts.

    Raises:
        DamagedError: it is none.
    """
    return decoded(_texts, text, place)


def read_object(text: object, place: str = "a row") -> dict[str, Any]:
    """A stored JSON object.

    Raises:
        DamagedError: it is none.
    """
    return decoded(_object, text, place)


@lru_cache(maxsize=4_096)
def _texts(text: Any) -> tuple[str, ...]:
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise TypeError("no list of texts")
    return tuple(found)


def _object(text: Any) -> dict[str, Any]:
    if text == "{}":
        return {}
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError("no object")
    return found
