"""Every error that simonides raises, in one tree.

    SimonidesError
    ├── InputError            an argument is wrong; nothing was changed (also a ValueError)
    │   ├── UnknownNameError  a name that does not exist, with the nearest one that does
    │   ├── ProfileError      a profile file is wrong; names the file and the key
    │   └── QuerySyntaxError  a query in the extended syntax is wrong; names the place in it
    ├── ConflictError         a key was used before with another body, or a version is not the one expected
    ├── NotFoundError         a memory, bank or profile that is not there (also a KeyError)
    ├── StoreError            the files of a bank cannot be used
    │   ├── UnavailableError  read-only folder, full disk, lock not obtained: try again after the remedy
    │   │   └── ReplacedError the bank's file was moved away or replaced while it was open
    │   ├── DamagedError      what was read is not what was written
    │   ├── EncryptionError   the key is not this bank's, or the bank is not encrypted
    │   ├── NewerSchemaError  the bank was written by a newer simonides; it was left untouched
    │   ├── SqliteVersionError the linked SQLite has a known corruption fault
    │   └── ForkedError       a connection was used in a child process
    ├── ModelError            a model cannot be used
    │   ├── ModelMissingError not in the cache and not to be fetched
    │   ├── ModelDamagedError a file's checksum is wrong
    │   ├── ModelUnavailableError a language model gives no answer now: try again later
    │   ├── ModelRefusedError a language model gives no answer before a setting is right
    │   └── EmbedderMismatchError the bank holds vectors of another embedder
    └── MissingExtraError     an optional package is not installed; names the command that installs it

Each message names the value, the place and the remedy.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


_LONGEST_SHOWN = 80


class SimonidesError(Exception):
    """Base of all errors raised on purpose by this package."""


class InputError(SimonidesError, ValueError):
    """An argument is wrong and nothing was changed.

    Attributes:
        field: the name of the argument, such as ``"tags"`` or ``"items[3].text"``.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


_MEANT = {
    "text": "items", "texts": "items", "content": "items", "message": "items", "messages": "items",
    "question": "query", "q": "query", "k": "limit", "top_k": "limit", "n_results": "limit",
}  # fmt: skip
"""What other engines call an argument → what it is called here."""


class UnknownNameError(InputError):
    """A name that does not exist; the message offers the nearest one that does."""

    def __init__(self, field: str, name: object, valid: Iterable[str], *, place: str = "") -> None:
        names = sorted(valid)
        shown = str(name)[:_LONGEST_SHOWN]
        close = difflib.get_close_matches(shown, names, n=1, cutoff=0.5)
        meant = _MEANT.get(shown)
        close = [meant] if meant in names else close
        hint = f"did you mean {close[0]!r}?" if close else f"valid names: {', '.join(names)}"
        where = f" in {place}" if place else ""
        super().__init__(field, f"{shown!r} is not known{where}; {hint}")
        self.name = shown
        self.valid = tuple(names)

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are rebuilt from their arguments when they cross a process; this one's differ.
        return (_restore, (type(self), self.field, self.problem, self.name, self.valid))


class ProfileError(InputError):
    """A profile file is wrong: names the file, the key and what would be right."""


class QuerySyntaxError(InputError):
    """A query in the extended syntax cannot be read.

    Attributes:
        position: of the fault in the query, in characters from 0.
    """

    def __init__(self, field: str, problem: str, position: int) -> None:
        super().__init__(field, problem)
        self.args = (field, problem, position)
        self.position = position

    def __str__(self) -> str:
        return f"{self.field}: at character {self.position}: {self.problem}"


class ConflictError(SimonidesError):
    """An idempotency key was used with another body, or a record or memory is not what the caller expects.

    Nothing was changed.
    """


class NotFoundError(SimonidesError, KeyError):
    """What was asked for is not there."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message.
        return str(self.args[0]) if self.args else ""


class StoreError(SimonidesError):
    """The files of a bank cannot be used as asked."""


class UnavailableError(StoreError):
    """The bank cannot be written or read right now (read-only folder, full disk, lock timeout)."""


class ReplacedError(UnavailableError):
    """The bank's file was moved away or replaced while it was open; it works again once the file is back."""


class DamagedError(StoreError):
    """What was read is not what was written."""


class EncryptionError(StoreError):
    """The key does not fit the bank: it is another bank's, or the bank is not encrypted."""


class NewerSchemaError(StoreError):
    """The bank was written by a newer version; it was refused without a write."""


class SqliteVersionError(StoreError):
    """The SQLite library that is linked has a known corruption fault."""


class ForkedError(StoreError):
    """A store opened in a parent process was used in a child; open it again in the child."""


class ModelError(SimonidesError):
    """A model cannot be loaded, run or reached."""


class ModelMissingError(ModelError):
    """The model's files are not in the cache and cannot be fetched."""


class ModelDamagedError(ModelError):
    """A model file does not have the checksum that the catalogue states."""


class ModelUnavailableError(ModelError):
    """A language model's server cannot be reached, is overloaded or too slow; a later try may do."""


class ModelRefusedError(ModelError):
    """A language model's server refuses the key, the address or the model's name; no retry helps."""


class EmbedderMismatchError(ModelError):
    """The bank holds vectors made by another embedder."""


class MissingExtraError(SimonidesError, ImportError):
    """An optional package is needed; the message names the command that installs it."""


def _restore(
    kind: type[UnknownNameError], field: str, problem: str, name: str, valid: tuple[str, ...]
) -> UnknownNameError:
    error = kind.__new__(kind, field, problem)
    InputError.__init__(error, field, problem)
    error.name, error.valid = name, valid
    return error
