"""Reads JSON that callers send: bounded work, no key twice, whatever interface it comes through.

Before anything is built, one pass over the bytes counts values and levels of nesting and stops at the first
one too many; a body of a few megabytes can hold millions of empty lists, which take seconds and gigabytes as
objects. The garbage collector is paused while the objects are made: what is parsed holds no cycles, and going
through it again and again took nine tenths of the time.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from simonides.errors import InputError
from simonides.gc_pause import gc_paused
from simonides.records.hygiene import shown

MAX_DEPTH = 64
"""Levels of lists and objects. No parameter needs more than a dozen; metadata may be nested."""

MAX_VALUES = 250_000
"""Values of one body: 10,000 items with 25 values each."""

BYTES_OF_VALUE = 100
"""Of memory that a value takes once it is parsed, roughly; beside the bytes of the body."""

# No match is longer than about 64 KiB: a match holds the interpreter, and other threads wait.
_TOKEN = re.compile(
    rb'[\[{]|[\]}]|,|"(?:[^"\\]{1,256}+|\\.){0,64}+"|"|[^\[\]{},"]{1,65536}+',
    re.DOTALL,
)
_LONG_STRING = re.compile(rb'(?:[^"\\]{1,256}+|\\.){0,256}+', re.DOTALL)
_OPENS, _CLOSES, _COMMA, _QUOTE = frozenset(b"[{"), frozenset(b"]}"), ord(","), ord('"')
_TOO_MANY = f"holds more than {MAX_VALUES:,} values; split it"


def count_values(body: bytes | bytearray) -> int:
    """How many values a JSON text has at most, without building any.

    ``InputError`` beyond the limits above.
    """
    depth, count, at = 0, 1, 0
    while at < len(body):
        for tokens, found in enumerate(_TOKEN.finditer(body, at)):
            at = found.end()
            sign = body[found.start()]
            if sign == _COMMA:
                count += 1
            elif sign in _OPENS:
                count += 1
                depth += 1
                if depth > MAX_DEPTH:
                    raise InputError("body", f"is nested deeper than {MAX_DEPTH} levels; send flatter values")
            elif sign in _CLOSES:
                depth -= 1
            elif sign == _QUOTE and at - found.start() == 1:
                # Longer than one match may be; the next pass begins behind it.
                at = _end_of_string(body, at)
                break
            # Between two signs that count there are a key, a colon and a value at most.
            if count > MAX_VALUES or tokens > 3 * MAX_VALUES:
                raise InputError("body", _TOO_MANY)
    return count


def _end_of_string(body: bytes | bytearray, at: int) -> int:
    """Behind the quote that ends the string whose characters begin at *at*, or at the end of the body."""
    while at < len(body) and body[at] != _QUOTE:
        found = _LONG_STRING.match(body, at)
        # A backslash as the last byte is no escape.
        at = found.end() if found and found.end() > at else len(body)
    return min(at + 1, len(body))


def parse_json(body: bytes | bytearray) -> Any:
    """The value of a JSON text in UTF-8; ``InputError`` if it is none, states a key twice, or is too much."""
    count_values(body)
    try:
        text = body.decode("utf-8", "surrogatepass")
        with gc_paused():
            return json.loads(
                text.removeprefix("\ufeff"), parse_constant=no_constant, object_pairs_hook=_once
            )
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else error
        raise InputError("body", f"is not valid JSON ({problem})") from None


def no_constant(name: str) -> None:
    """Refuse NaN and infinities, which Python takes for JSON."""
    raise ValueError(f"{name} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        given = Counter(key for key, _ in pairs)
        key = next(key for key, times in given.items() if times > 1)
        raise ValueError(f"an object states a key twice: {shown(key)}")
    return values
