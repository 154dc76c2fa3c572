"""Where the body of an import lies while it is read: a file of mode 0600 in a folder of its own.

An export is plain text of everything in a bank, so none may outlive the request. A server that is killed
cannot clear up after itself; the next that opens the store does, and a purge. See ``files.working_folder``.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from simonides.files import make_empty, working_folder
from simonides.storage.folder import IMPORTING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE = "import.jsonl"


@contextmanager
def upload_in(store: Path) -> Iterator[Path]:
    """The path of an empty file for a body; gone afterwards, with its folder.

    Raises:
        UnavailableError: the folder cannot be written.
    """
    with working_folder(store, IMPORTING) as folder:
        make_empty(folder / FILE)
        yield folder / FILE
