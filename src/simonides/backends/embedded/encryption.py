"""Encryption at rest: which SQLite is loaded, the key, and how much an encrypted bank may hold.

Two packages provide the module ``apsw``, and only one may be installed: ``apsw``, whose SQLite reads plain
files only, and ``apsw-sqlite3mc``, whose SQLite encrypts pages, log and journal (ChaCha20 with Poly1305,
which also detects changed pages). An encrypted bank has no index files: its index is built from the rows at
each opening and stays in memory, which limits its size.
Source: https://utelle.github.io/SQLite3MultipleCiphers (cipher ``chacha20``, raw key).
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.inherited import note, opened_here
from simonides.backends.embedded.rows import keys
from simonides.errors import EncryptionError, InputError, MissingExtraError, UnavailableError
from simonides.records.hygiene import read_at_most, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_VARIABLE, KEY_FILE_VARIABLE = "SIMONIDES_KEY", "SIMONIDES_KEY_FILE"
KEY_BYTES = 32

MOST_ROWS = 100_000
"""Versions of memories that an encrypted bank may hold; ``bench/results/encryption.json`` has the cost."""

# Retains and recalls use more than the usual 100; to prepare one takes several times as long as to run it.
_CACHED_STATEMENTS = 256
_PLAIN_HEADER = b"SQLite format 3\0"
_LARGEST_KEY_FILE = 4_096
_PACKAGES = ("apsw", "apsw-sqlite3mc")
_INSTALL = "pip uninstall -y apsw apsw-sqlite3mc && pip install apsw-sqlite3mc"
_HOW_TO_MAKE = "make one with: python -c 'import secrets; print(secrets.token_hex(32))'"


@dataclass(frozen=True, slots=True)
class Key:
    """A key of ``KEY_BYTES`` bytes, which no text of this object shows."""

    secret: bytes = field(repr=False)


def encrypts() -> bool:
    """Whether the SQLite that is loaded can encrypt."""
    return hasattr(apsw, "mc_version")


def engine() -> str:
    """The loaded SQLite and its package, such as ``3.54.1 (apsw)``."""
    package = _PACKAGES[1] if encrypts() else _PACKAGES[0]
    return f"{apsw.sqlite_lib_version()} ({package})"


def read_key(given: object, environ: Mapping[str, str]) -> Key | None:
    """See ``storage.storage.read_key``."""
    written, file = environ.get(KEY_VARIABLE, "").strip(), environ.get(KEY_FILE_VARIABLE, "").strip()
    if given is None and written and file:
        raise InputError(KEY_VARIABLE, f"is set beside {KEY_FILE_VARIABLE}; unset one of them")
    if given is None and not written and not file:
        return None
    if isinstance(given, bytes):
        key = _checked(given, "key")
    elif given is None and written:
        key = _parsed(written, KEY_VARIABLE)
    elif isinstance(given, os.PathLike) or given is None:
        path = Path(os.fspath(given) if given is not None else file)
        key = _parsed(_file_text(path), "key" if given is not None else KEY_FILE_VARIABLE)
    else:
        raise InputError(
            "key", f"expected {KEY_BYTES} bytes or the Path of a file, got {type(given).__name__}"
        )
    check_engine()
    return key


def check_engine() -> None:
    """Raise ``MissingExtraError`` where SQLite cannot encrypt, or two packages overwrote each other."""
    if not encrypts():
        raise MissingExtraError(
            f"SQLite {engine()} reads no encrypted bank; install the one that does in its place: {_INSTALL}"
        )
    if all(_is_installed(package) for package in _PACKAGES):
        raise MissingExtraError(
            f"{' and '.join(_PACKAGES)} are both installed and overwrite each other's files: {_INSTALL}"
        )


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def _file_text(path: Path) -> str:
    try:
        if os.name == "posix" and path.stat().st_mode & stat.S_IRWXO:
            raise UnavailableError(f"{path}: everybody can read this key; chmod 600 it")
        with path.open("rb") as stream:
            return read_at_most(stream, _LARGEST_KEY_FILE, str(path)).decode("ascii").strip()
    except OSError as error:
        raise UnavailableError(f"{path}: the key cannot be read ({error.strerror})") from error
    except UnicodeDecodeError:
        raise InputError("key", f"{path} holds no hexadecimal digits; {_HOW_TO_MAKE}") from None


def _parsed(text: str, place: str) -> Key:
    # The message of the error would repeat the text.
    if len(text) != 2 * KEY_BYTES or not all(digit in "0123456789abcdefABCDEF" for digit in text):
        raise InputError(place, f"expected {2 * KEY_BYTES} hexadecimal digits; {_HOW_TO_MAKE}")
    return _checked(bytes.fromhex(text), place)


def _checked(secret: bytes, place: str) -> Key:
    if len(secret) != KEY_BYTES:
        raise InputError(place, f"expected {KEY_BYTES} bytes, got {shown(len(secret))}; {_HOW_TO_MAKE}")
    return Key(secret)


def open_file(
    path: Path, key: Key | None, *, immutable: bool = False, create: bool = True
) -> apsw.Connection:
    """A connection to a database file, unlocked; nothing of it has been read yet.

    *immutable*: read it as a file that nobody changes. *create*: make the file if it is missing.
    """
    with opened_here(path):
        if immutable:
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            name = f"{path.absolute().as_uri()}?immutable=1"
        else:
            flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
            name = str(path)
        connection = note(apsw.Connection(name, flags=flags, statementcachesize=_CACHED_STATEMENTS))
    if key is not None and not _unlocked(connection, key):
        # Raised outside of any handler, so that no context of it holds the statement with the key.
        raise EncryptionError(f"{path}: SQLite {engine()} did not take the key")
    return connection


def _unlocked(connection: apsw.Connection, key: Key) -> bool:
    try:
        connection.pragma("cipher", "chacha20")
        connection.pragma("key", f"raw:{key.secret.hex()}")
        # What does not fit into memory while it is sorted would go into a plain file.
        connection.pragma("temp_store", "MEMORY")
    except apsw.Error:
        return False
    return True


def explained(path: Path, key: Key | None) -> str:
    """Why a file is no database for this key, and the remedy."""
    try:
        with path.open("rb") as file:
            plain = file.read(len(_PLAIN_HEADER)) == _PLAIN_HEADER
    except OSError:
        plain = False
    if key is None and plain:
        return "is damaged or no database; move the folder of the bank away and restore it from a backup"
    if key is None:
        needed = "" if encrypts() else f" (which needs another SQLite: {_INSTALL})"
        return (
            "is damaged or no database, or it is encrypted: open it with its key, by "
            f"{KEY_FILE_VARIABLE} or simonides.open(key=…){needed}, or move the folder of the bank away and "
            "restore it from a backup"
        )
    if plain:
        return "is not encrypted; open it without a key, and to encrypt it export it into a new store"
    return "the key does not open it: check that it is this bank's key; if it is, the file is damaged"


def check_room(connection: apsw.Connection, next_ordinal: int, path: Path, most: int = MOST_ROWS) -> None:
    """Raise ``UnavailableError`` when an encrypted bank would get more versions than *most*."""
    if next_ordinal <= most:
        return
    rows = connection.execute(f"SELECT count(*) FROM {keys('memories')}").get
    if rows > most:
        raise UnavailableError(
            f"{path}: would hold {rows:,} versions, and an encrypted bank, whose index is in memory alone, "
            f"may hold {most:,}; nothing was stored. For more, use a bank without a key on an encrypted disk"
        )
