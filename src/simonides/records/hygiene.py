"""What every text that enters the engine must satisfy, and the characters that show nothing.

A text is a ``str`` that can be written as UTF-8 and read back whole by every file, wire and C library below:
no NUL, no lone surrogate, no more bytes than its field allows. A label (tag, reader) is a short text that is
not blank. Write path and query arguments both check through here; what fails is an ``InputError`` that names
*field*.

``INVISIBLE`` (marks of format and of writing direction, fillers, tags, variation selectors) and ``JOINERS``
are ranges for a character class. Joiners are kept where text is shown: Persian words and emoji need them.
"""

from __future__ import annotations

import math
import re
from numbers import Integral
from typing import IO, TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


INVISIBLE = (
    "\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""What Unicode says to leave out of sight, without ``JOINERS``."""
JOINERS = "\u200c\u200d\ufe0e\ufe0f"

_SEEN = re.compile(f"[^\\s\x00-\x1f\x7f-\x9f{INVISIBLE}{JOINERS}]")


def shows_nothing(text: str) -> bool:
    """Whether no character of *text* can be seen."""
    return _SEEN.search(text) is None


MAX_LABEL_CHARACTERS = 256
MAX_LABELS = 1_000
MAX_ID_BYTES = 64
"""Of a memory, a recall or a job."""
MAX_FILE_PATH_BYTES = 4096

_MAX_SHOWN = 60
_MAX_SHOWN_NUMBER = 10**18


def shown(value: object) -> str:
    """*value* as a message may print it: escaped and cut; its type where it has no short form."""
    if isinstance(value, str):
        # repr() escapes what a terminal could not print, lone surrogates above all.
        return (
            repr(value)
            if len(value) <= _MAX_SHOWN
            else f"{value[:_MAX_SHOWN]!r}… ({len(value):,} characters)"
        )
    if isinstance(value, int) and not -_MAX_SHOWN_NUMBER <= value <= _MAX_SHOWN_NUMBER:
        return f"a whole number of {value.bit_length():,} bits"
    return repr(value) if isinstance(value, int | float) else type(value).__name__


def read_at_most(stream: IO[bytes], most: int, place: str) -> bytes:
    """At most *most* bytes of a file or pipe, which may be a device that never ends.

    ``InputError`` if it is more.
    """
    found = stream.read(most + 1)
    if len(found) > most:
        raise InputError(place, f"holds more than {most:,} bytes, which is the most that is read of it")
    return found


def clean_text(value: object, field: str, max_bytes: int, *, remedy: str = "shorten it") -> str:
    """Check a text of at most *max_bytes* in UTF-8; it comes back unchanged."""
    if not isinstance(value, str):
        hint = "; decode it first" if isinstance(value, bytes | bytearray) else ""
        raise InputError(field, f"expected a string, got {type(value).__name__}{hint}")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InputError(
            field,
            f"holds a lone surrogate (U+{ord(value[error.start]):04X}) at character {error.start}, which is "
            f"half of a character; decode the source again or remove it",
        ) from None
    nul = value.find("\0")
    if nul >= 0:
        raise InputError(field, f"holds a NUL at character {nul}; remove it")
    if size > max_bytes:
        raise InputError(
            field, f"is {size:,} bytes long in UTF-8, at most {max_bytes:,} are allowed; {remedy}"
        )
    return value


def clean_count(value: object, field: str, lowest: int, highest: int = 2**63 - 1) -> int:
    """Check a whole number from *lowest* to *highest*, by default the largest that SQLite can take."""
    number = None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)
    if number is None or not lowest <= number <= highest:
        wanted = f"from {lowest:,}" if highest == 2**63 - 1 else f"from {lowest:,} to {highest:,}"
        raise InputError(
            field, f"expected a whole number {wanted}, got {shown(value if number is None else number)}"
        )
    return number


def to_float(value: Any) -> float:
    """A number as a float; one of hundreds of digits is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def clean_switch(value: object, field: str) -> bool:
    """*value*, which must be a bool; no other value stands for one."""
    if not isinstance(value, bool):
        raise InputError(field, f"expected true or false, got {shown(value)}")
    return value


def clean_label(value: object, field: str) -> str:
    """Check one label: a text that is not blank, of at most ``MAX_LABEL_CHARACTERS`` characters."""
    label = clean_text(value, field, 4 * MAX_LABEL_CHARACTERS)
    if shows_nothing(label):
        raise InputError(field, "is blank; leave it out or name it")
    if len(label) > MAX_LABEL_CHARACTERS:
        raise InputError(
            field, f"is {len(label)} characters long, at most {MAX_LABEL_CHARACTERS} are allowed; shorten it"
        )
    return label


def clean_labels(value: object, field: str) -> tuple[str, ...]:
    """Check a list, tuple or set of at most ``MAX_LABELS`` labels; they come back without repeats, sorted.

    A lone string is refused: it would be read letter by letter. An entry is named ``field[position]``.
    """
    if isinstance(value, str):
        raise InputError(field, f"expected a list of strings, got a string; write [{shown(value)}]")
    entries = named_entries(value, field, expected="a list of strings")
    unique = sorted({clean_label(entry, name) for name, entry in entries})
    if len(unique) > MAX_LABELS:
        raise InputError(field, f"holds {len(unique):,} labels, at most {MAX_LABELS:,} are allowed")
    return tuple(unique)


def named_entries(value: object, field: str, *, expected: str) -> list[tuple[str, object]]:
    """The entries of a list, tuple or set (else *expected* is asked for), each with its name for errors."""
    if isinstance(value, list | tuple):
        return [(f"{field}[{position}]", entry) for position, entry in enumerate(value)]
    if isinstance(value, set | frozenset):
        # A set has no positions. Sorted, so that the entry an error speaks of is always the same.
        ordered = sorted(value, key=lambda entry: entry if isinstance(entry, str) else shown(entry))
        return [(field, entry) for entry in ordered]
    raise InputError(field, f"expected {expected}, got {type(value).__name__}")


def clean_choice(value: object, field: str, choices: Collection[str]) -> str:
    """Check a word of a closed vocabulary; a string that is none of *choices* is an ``UnknownNameError``."""
    if not isinstance(value, str):
        raise InputError(field, f"expected one of {', '.join(choices)}, got {type(value).__name__}")
    if value not in choices:
        name = value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…"
        raise UnknownNameError(field, name, choices)
    return value


def clean_ids(ids: str | Iterable[str]) -> list[str]:
    """Check one id or several; they come back without repeats, in order."""
    if not isinstance(ids, str) and not hasattr(ids, "__iter__"):
        raise InputError("ids", f"expected an id or a list of ids, got {shown(ids)}")
    wanted = [ids] if isinstance(ids, str) else list(ids)
    for position, memory in enumerate(wanted):
        clean_text(memory, f"ids[{position}]", MAX_ID_BYTES)
    return list(dict.fromkeys(wanted))


def is_row_number(value: object) -> bool:
    """Whether SQLite could have given *value* as the number of a row."""
    return isinstance(value, int) and 0 < value < 2**63
