"""Deleting a bank: its folder is gone for new callers at once, and whoever has it open is told.

rename the folder   nobody opens the bank any more; one rename, so it is there whole or not at all
mark the database   who has it open finds the mark in its next transaction (see ``read_meta``)
remove the files    a crash before the end leaves a renamed folder, which the next sweep removes
"""

from __future__ import annotations

import contextlib
import shutil
import uuid
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.change_log import DELETED
from simonides.backends.embedded.encryption import open_file
from simonides.backends.embedded.seals import add_functions
from simonides.errors import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.backends.embedded.encryption import Key

_ASIDE = ".deleted-"
_BUSY_MILLISECONDS = 5_000


def remove_bank(folder: Path, key: Key | None = None) -> None:
    """Delete a bank with everything in its folder.

    Args:
        folder: of the bank; this process has closed it.
        key: of the bank; ``None`` = it is plain.

    Raises:
        UnavailableError: the folder cannot be taken away; the bank is as it was.
    """
    aside = folder.with_name(_ASIDE + uuid.uuid4().hex)
    try:
        folder.rename(aside)
    except OSError as error:
        raise UnavailableError(
            f"{folder}: cannot be deleted ({error.strerror}); nothing was changed; check the permissions of "
            f"the folder above, and that no other process has the bank open"
        ) from error
    # A bank that is damaged or on a full disk is deleted all the same; only its open readers learn it later.
    with contextlib.suppress(apsw.Error):
        _mark(aside / "memory.db", key)
    shutil.rmtree(aside, ignore_errors=True)


def _mark(database: Path, key: Key | None) -> None:
    connection = open_file(database, key)
    try:
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        add_functions(connection)
        connection.execute("UPDATE meta SET bank=?", (DELETED,))
    finally:
        connection.close()


def sweep_removed(store: Path) -> None:
    """Remove what an interrupted deletion left in a store's folder."""
    for left in sorted(store.glob(_ASIDE + "*")):
        shutil.rmtree(left, ignore_errors=True)
