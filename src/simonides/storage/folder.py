"""What lies in a store's folder: banks by name, and what killed imports and deletions leave.

Bank names become folder names that are reversible and never meet on any file system: lower-case ASCII
letters, digits and ``-`` stand for themselves; every other byte of the UTF-8 name becomes ``_`` and two hex
digits. So names that differ only in case or in Unicode composition get different folders also where the file
system folds them, and no name is special to any platform, thanks to the prefix.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.files import remove_dead
from simonides.records.hygiene import shown, shows_nothing

if TYPE_CHECKING:
    from pathlib import Path

_PREFIX = "bank-"
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_LONGEST = 200
_ESCAPED = re.compile(r"_([0-9a-f]{2})")


def folder_name(bank: object) -> str:
    """The folder of a bank; ``InputError``.

    Not text, blank, with a lone surrogate, or too long once encoded.
    """
    if not isinstance(bank, str) or shows_nothing(bank):
        raise InputError("bank", f"{shown(bank)} is not a name; give a text that is not blank")
    try:
        encoded = bank.encode()
    except UnicodeEncodeError:
        raise InputError("bank", "holds a lone surrogate, which is not text") from None
    body = "".join(chr(byte) if byte in _PLAIN else f"_{byte:02x}" for byte in encoded)
    if len(body) > _LONGEST:
        raise InputError(
            "bank",
            f"needs {len(body)} characters as a folder name, the limit is {_LONGEST}; choose a shorter one",
        )
    return _PREFIX + body


def bank_name(folder: str) -> str | None:
    """The bank of a folder, or ``None`` when it is not a bank's folder."""
    if not folder.startswith(_PREFIX):
        return None
    body = folder.removeprefix(_PREFIX)
    try:
        encoded = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), body).encode("latin-1")
        name = encoded.decode()
        return name if folder_name(name) == folder else None
    except (UnicodeError, InputError):
        return None


def bank_names(store: Path) -> list[str]:
    """Banks under a store's folder, sorted by name."""
    if not store.is_dir():
        return []
    names = [bank_name(entry.name) for entry in store.iterdir() if (entry / "memory.db").is_file()]
    return sorted(name for name in names if name is not None)


IMPORTING = ".import-"
"""How the folders begin in which a server keeps bodies of imports, in the store's folder."""

ASIDE = ".deleted-"
"""How the folders begin of banks that are being deleted."""

_IMPORTING, _DELETED = re.compile(r"\.import-.*"), re.compile(r"\.deleted-[0-9a-f]+")


def sweep_store(store: Path) -> tuple[Path, ...]:
    """Remove what killed imports and deletions left in a store's folder.

    Returns the bodies of imports that stay: a living process reads them, or they cannot be removed.
    """
    remove_dead(store, _DELETED)
    return tuple(remove_dead(store, _IMPORTING))
