"""Delete a bank: its folder is gone for new callers at once, and processes that have it open notice.

rename the folder   nobody opens the bank any more; one rename, so it is there whole or not at all
mark the database   a process that has it open finds the mark in its next transaction (see ``read_meta``)
remove the files    a crash before the end leaves a renamed folder, which the next sweep removes
"""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.change_log import DELETED
from simonides.backends.embedded.checksums import add_functions
from simonides.backends.embedded.encryption import open_file
from simonides.errors import UnavailableError
from simonides.files import disk_errors, has_other_names, remove, sync_folder
from simonides.storage.folder import ASIDE

if TYPE_CHECKING:
    from simonides.backends.embedded.encryption import Key

_BUSY_MILLISECONDS = 5_000


def remove_bank(folder: Path, key: Key | None = None) -> None:
    """Delete a bank, which this process has closed, with everything in its folder.

    ``UnavailableError``: the folder cannot be taken away, and the bank is as it was; or it was taken away,
    and files of it stay. The message says which.
    """
    aside = folder.with_name(ASIDE + uuid.uuid4().hex)
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
    if not remove(aside):
        raise UnavailableError(
            f"{folder}: the bank is deleted, and some of its files stay in {aside}: they cannot be removed "
            "now; check its permissions and the disk. The next opening of the store tries again"
        )
    with disk_errors(folder, "deleted"):
        sync_folder(folder.parent)


def check_removable(folder: Path) -> None:
    """Raise ``UnavailableError`` where bytes of a bank would stay: under symbolic or other hard links."""
    with disk_errors(folder, "deleted"):
        inside = [Path(at, name) for at, folders, files in os.walk(folder) for name in (*folders, *files)]
        for path in (folder, *inside):
            if path.is_symlink():
                raise UnavailableError(
                    f"{path}: is a link to {path.readlink()}, where the bank's bytes would stay; nothing was "
                    "deleted. Put what it leads to in its place, or delete link and target yourself"
                )
            if has_other_names(path):
                raise UnavailableError(
                    f"{path}: has another name elsewhere (a hard link), where its bytes would stay; nothing "
                    f"was deleted. Find it by `find DISK -samefile {path}`, remove it and try again"
                )


def _mark(database: Path, key: Key | None) -> None:
    connection = open_file(database, key)
    try:
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        add_functions(connection)
        connection.execute("UPDATE meta SET bank=?", (DELETED,))
    finally:
        connection.close()
