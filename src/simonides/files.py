"""Write a file beside the rows: whole or not at all, durable, readable by its owner only.

    make    .NAME.<16 hexadecimal digits>.partial in the same folder: exclusively, with its mode, locked
    write   the bytes; fsync
    name    rename it to NAME, or link it there where nothing may be replaced; fsync of the folder

Whatever is raised meanwhile removes the partial file. What a killed process left is removed by the next
writer of that NAME and by ``remove_dead``, which tell it by the lock: ``flock`` ends with its process. Where
the platform has none (Windows), an open file cannot be deleted, which serves as well.
No error of the operating system about these files leaves this package: ``disk_errors`` and
``services.guarding`` say what failed, where, and what to do.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simonides.errors import InputError, UnavailableError

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO


PRIVATE, SHARED = 0o600, 0o666
"""Modes of new files: for the owner only; as the umask says."""

_PARTIAL = ".partial"
_SHOWN_NAME = 40
"""Characters of a file's name in the name of its partial file, which may have 255 bytes."""

_REMEDIES = {
    errno.ENOSPC: "free some space and try again",
    errno.EDQUOT: "free some space and try again",
    errno.EFBIG: "raise the limit on file size (ulimit -f) and try again",
    errno.EACCES: "check its permissions and those of its folder",
    errno.EPERM: "check its permissions and those of its folder",
    errno.EROFS: "its disk is read-only: make it writable, or name another place",
    errno.EMFILE: "close other files or raise the limit on open ones (ulimit -n), and try again",
    errno.ENFILE: "close other files and try again",
    errno.ENOENT: "check that it and its folder are there",
    errno.EEXIST: "something is in its way: remove that, or name another place",
    errno.ENOTDIR: "a part of its path is no folder; check it",
    errno.EISDIR: "it is a folder; name a file",
    errno.ELOOP: "its links lead in a circle; check them",
    errno.ENAMETOOLONG: "its name is too long; choose a shorter one",
    errno.EIO: "check the disk's health and try again",
}


def unavailable(error: OSError, path: object, doing: str = "written") -> UnavailableError:
    """The error of this package for one of the operating system, about *path* or the file that it names.

    *doing*: what cannot be done: ``written``, ``read``, ``made`` …
    """
    remedy = _REMEDIES.get(error.errno or 0, "check the disk and try again")
    place = error.filename or path
    place = place.decode(errors="replace") if isinstance(place, bytes) else place
    return UnavailableError(f"{place}: cannot be {doing} ({error.strerror or error}); {remedy}")


@contextlib.contextmanager
def disk_errors(path: object, doing: str = "written") -> Iterator[None]:
    """Turn the operating system's errors about files, but for broken pipes, into ``UnavailableError``."""
    try:
        yield
    except (ConnectionError, TimeoutError):
        raise
    except OSError as error:
        raise unavailable(error, path, doing) from error


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let errors of calls on open files name *path*, which the operating system leaves out."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


# -- writing


@contextlib.contextmanager
def new_file(path: Path, *, replace: bool = True, mode: int = PRIVATE) -> Iterator[IO[bytes]]:
    """A file to write into, which becomes *path* when the block ends well.

    *replace*: whether one that is there already is replaced. *mode*: of the new file, less the umask.

    Raises:
        InputError: there is one already and it is not to be replaced.
        UnavailableError: it cannot be written; what was there before is still there.
    """
    with disk_errors(path):
        remove_dead(path.parent, _partials_of(path))
        if not replace:
            check_absent(path)
        # Named before it is there, and removed by one call: an interrupt leaves no moment for it to stay.
        partial = path.with_name(f".{_shown(path)}.{secrets.token_hex(8)}{_PARTIAL}")
        name = os.fspath(partial)
        try:
            with _open_partial(name, mode) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                publish(partial, path, replace=replace)
        finally:
            try:  # noqa: SIM105 - a context manager is a function, at whose start an interrupt may strike
                os.unlink(name)  # noqa: PTH108 - so is Path.unlink
            except OSError:
                pass


def write_file(path: Path, content: bytes | str, *, replace: bool = True, mode: int = PRIVATE) -> None:
    """Write a file; texts as UTF-8. See ``new_file``."""
    with new_file(path, replace=replace, mode=mode) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def publish(made: Path, path: Path, *, replace: bool) -> None:
    """Give the synced file *made* its name, durably.

    Raises:
        InputError: there is a file of this name already and it is not to be replaced.
        OSError: it could not be named; where it replaces nothing, no file of this name is left.
    """
    if replace:
        made.replace(path)
        sync_folder(path.parent)
        return
    linked = True
    try:
        os.link(made, path)
    except OSError as error:
        check_absent(path)
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP}:
            raise
        # A file system without hard links: an empty file holds the name.
        linked = False
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
    try:
        if not linked:
            made.replace(path)
        sync_folder(path.parent)
        made.unlink(missing_ok=True)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def check_absent(path: Path) -> None:
    """Refuse a path where something is; ``InputError``: there is a file, a folder or a link."""
    if os.path.lexists(path):
        raise InputError("path", f"{path} is there already; name a new file")


def write_new(path: Path, pieces: Iterable[bytes | memoryview], mode: int = PRIVATE) -> None:
    """Write and fsync a file in a folder that has not got its name yet; whoever made the folder removes it.

    Raises:
        FileExistsError: there is one.
        OSError: it cannot be written.
    """
    with (
        naming(path),
        os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file,
    ):
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def make_folder(folder: Path) -> None:
    """Make a private folder where there is none, with those above it; or raise ``UnavailableError``."""
    with disk_errors(folder, "made"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_empty(path: Path) -> bool:
    """Make an empty private file, for SQLite to fill.

    False where there is one. May be ``UnavailableError``.
    """
    with disk_errors(path, "made"):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
        except FileExistsError:
            return False
    return True


def sync_folder(folder: Path) -> None:
    """Make the names in *folder* durable, where the platform can."""
    if os.name == "nt":
        return
    with naming(folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _shown(path: Path) -> str:
    return path.name[:_SHOWN_NAME]


def _partials_of(path: Path) -> re.Pattern[str]:
    return re.compile(rf"\.{re.escape(_shown(path))}\.[0-9a-f]{{16}}\.partial", re.DOTALL)


def _open_partial(name: str, mode: int) -> IO[bytes]:
    """A new partial file, open for writing and locked."""
    while True:
        file = os.fdopen(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb")
        try:
            if _alive(file.fileno()):
                return file
        except BaseException:
            file.close()
            raise
        file.close()


@contextlib.contextmanager
def working_folder(parent: Path, prefix: str, suffix: str = "") -> Iterator[Path]:
    """A new private folder in *parent*, gone when the block ends; one of a killed process is left.

    ``UnavailableError``: it cannot be made.
    """
    folder, handle = parent / f"{prefix}{secrets.token_hex(8)}{suffix}", None
    try:
        with disk_errors(parent, "written"):
            handle = _make_folder(folder)
        yield folder
    finally:
        # What cannot be removed now is left for a sweep, which the lock keeps out no more.
        remove(folder)
        if handle is not None:
            os.close(handle)


@contextlib.contextmanager
def working_folder_of(path: Path) -> Iterator[Path]:
    """A working folder beside *path*, whose name says what it is for; those that killed processes left go."""
    remove_dead(path.parent, _partials_of(path))
    with working_folder(path.parent, f".{_shown(path)}.", _PARTIAL) as folder:
        yield folder


def _make_folder(folder: Path) -> int | None:
    """Make a private folder; its handle, locked, where folders can be opened."""
    while True:
        folder.mkdir(mode=0o700)
        if os.name == "nt":
            return None
        try:
            handle = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue  # a sweep took it for one that was left
        try:
            if _alive(handle):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


# -- what killed processes left


def remove_dead(folder: Path, names: re.Pattern[str]) -> list[Path]:
    """Remove what killed processes left in *folder*.

    *names*: of partial files and working folders, as a whole.

    Returns what stays, sorted: a living process writes it, or it cannot be removed.
    """
    try:
        with os.scandir(folder) as entries:
            found = sorted(Path(entry) for entry in entries if names.fullmatch(entry.name))
    except FileNotFoundError:
        return []
    return [path for path in found if not remove_if_dead(path)]


def remove_if_dead(path: Path) -> bool:
    """Remove a partial file or working folder that no living process writes; whether nothing stays."""
    try:
        if path.is_symlink() or os.name == "nt":
            return remove(path)
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        return _lock(handle, wait=False) and remove(path)
    finally:
        os.close(handle)


def remove(path: Path) -> bool:
    """Remove a file, a folder with all in it, or a link and not what it leads to; whether nothing stays.

    What cannot be removed stays, and so does a file that has another name elsewhere (a hard link): its bytes
    would live on there, and nobody could tell any more. A partial file goes all the same, since its other
    name is the finished file's.
    """
    try:
        if path.is_symlink() or not path.is_dir():
            if has_other_names(path) and not path.name.endswith(_PARTIAL):
                return False
            path.unlink(missing_ok=True)
        else:
            partial = path.name.endswith(_PARTIAL)
            with os.scandir(path) as entries:
                inside = [Path(entry) for entry in entries]
            for each in inside:
                if partial and not each.is_dir():
                    each.unlink(missing_ok=True)
                else:
                    remove(each)
            path.rmdir()
    except OSError:
        return not os.path.lexists(path)
    return True


def has_other_names(path: Path) -> bool:
    """Whether a regular file has more than one hard link."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return found.st_nlink > 1 and not path.is_dir() and not path.is_symlink()


def _alive(handle: int) -> bool:
    """Lock what was just made; false where a sweep took it for something left and removed it."""
    _lock(handle, wait=True)
    return os.fstat(handle).st_nlink > 0


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file or folder until it is closed; false where another process has it."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        # Somebody has it, or the file system knows no locks: then nothing there counts as left.
        return False
    return True
