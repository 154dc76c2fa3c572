"""Errors that do not repeat a secret: messages are masked on their way to the caller, whoever raised them.

A message may show a value cut short, where no shape is left to be found. So the secrets of what the caller
gave are looked for first, whole and by their beginnings, and only then what looks like one by itself.
Cost: none where nothing is raised.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simonides.retain.secrets import PLACEHOLDER, find_secrets, masked, placeholder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simonides.retain.secrets import Policy


_SHORTEST_BEGINNING = 8
"""Characters of a secret in a row that a message may not show."""

_DEEPEST = 40
_FIELDS = ("field", "problem", "name", "message", "filename", "filename2")


@contextmanager
def redact_errors(policy: Policy, *values: object) -> Iterator[None]:
    """Mask secrets in what is raised inside, those of *values* first, unless the policy is ``off``."""
    try:
        yield
    except Exception as error:
        if policy != "off":
            redact_error(error, *values)
        raise


def hidden(message: str, *values: object) -> str:
    """*message* with placeholders for the secrets of *values*, whole or cut off, and for any other."""
    return masked(without(message, _secrets(values)))


def redact_error(error: BaseException, *values: object) -> None:
    """Mask in place the messages of an error and of those that it came from."""
    secrets = _secrets(values)
    chain: list[BaseException] = [error]
    for one in chain:
        one.args = tuple(_hidden(argument, secrets) for argument in one.args)
        for name in _FIELDS:
            if isinstance(getattr(one, name, None), str):
                setattr(one, name, _hidden(getattr(one, name), secrets))
        causes = (one.__cause__, one.__context__)
        chain += [cause for cause in causes if cause is not None and all(cause is not each for each in chain)]


def without(text: str, secrets: Iterable[str]) -> str:
    """Replace *secrets* in *text* by placeholders: whole ones, and beginnings of at least 8 characters.

    One pass from left to right: at each place the longest match is replaced and passed over, and placeholders
    that stand in the text already are passed over, too. What a replacement writes is never looked at again.
    Cost: linear in the text; a few steps at each character that begins a secret.
    """
    # A message escapes line breaks and quotes.
    written = sorted({form for secret in secrets for form in (secret, repr(secret)[1:-1]) if form})
    if not written:
        return text
    starts = "".join(map(re.escape, sorted({form[0] for form in written})))
    candidates = re.compile(rf"(?P<done>{PLACEHOLDER})|[{starts}]")
    parts, done, match = [], 0, candidates.search(text)
    while match:
        at, stop = match.span()
        if match["done"] is None and (length := _matched(written, text, at)):
            parts += [text[done:at], placeholder("secret")]
            done = stop = at + length
        match = candidates.search(text, stop)
    return "".join([*parts, text[done:]])


def _matched(secrets: Sequence[str], text: str, at: int) -> int:
    """How many characters of *text* from *at* are one of the sorted *secrets*, or a beginning that counts.

    Else 0.
    """
    low, high, length, whole = 0, len(secrets), 0, 0
    while low < high and at + length < len(text):
        if high - low == 1:
            length = _common(secrets[low], text, at, length)
            return length if length >= min(_SHORTEST_BEGINNING, len(secrets[low])) else whole
        character = text[at + length]

        def following(secret: str, place: int = length) -> str:
            return secret[place : place + 1]

        low = bisect_left(secrets, character, low, high, key=following)
        high = bisect_right(secrets, character, low, high, key=following)
        if low < high:
            length += 1
            if len(secrets[low]) == length:
                whole = length
    return length if length >= _SHORTEST_BEGINNING else whole


def _common(secret: str, text: str, at: int, length: int) -> int:
    """How many characters of *secret* stand in *text* from *at*; the first *length* are known to."""
    step = 16
    while length < len(secret) and text.startswith(secret[length : length + step], at + length):
        length = min(length + step, len(secret))
        step *= 2
    while step > 1 and length < len(secret):
        step //= 2
        if text.startswith(secret[length : length + step], at + length):
            length = min(length + step, len(secret))
    return length


def _secrets(values: Iterable[object]) -> set[str]:
    return {
        text[start:end] for value in values for text in _texts(value) for start, end, _ in find_secrets(text)
    }


def _hidden(value: object, secrets: AbstractSet[str]) -> object:
    return masked(without(value, secrets)) if isinstance(value, str) else value


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """The texts in a value, keys too. An iterator is left alone: it is read once, and not here."""
    if isinstance(value, str):
        yield value
    elif depth > _DEEPEST:
        return
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _texts(key, depth + 1)
            yield from _texts(entry, depth + 1)
    elif isinstance(value, Sequence | AbstractSet) and not isinstance(value, bytes | bytearray | memoryview):
        for entry in value:
            yield from _texts(entry, depth + 1)
