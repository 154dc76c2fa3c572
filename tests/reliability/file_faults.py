"""Each k-th call on files fails, or the process is killed at it: what is stored is usable afterwards.

``disk`` does this below SQLite and for the index; here it is Python's own calls on every other file: open,
write, read, fsync, rename, link, unlink, mkdir, stat, list, lock and map. SQLite's calls are not counted.
"""

from __future__ import annotations

import contextlib
import errno
import io
import mmap
import os
import shutil
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import simonides
from simonides.errors import InputError, NotFoundError, SimonidesError
from simonides.files import disk_errors
from simonides.recall.refining.mlp import Network
from simonides.records.receipt import COMPLETE
from simonides.surfaces.rest.uploads import upload_in
from simonides.surfaces.serving.tokens import TokenStore, first_token
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simonides.bank import Bank
    from simonides.store import Store

CODES = (
    errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EMFILE, errno.EISDIR,
)  # fmt: skip
KILL = 0
"""In the place of an error's number: the process ends at the call."""

FACT = "The lighthouse keeper logs plumzifrax at dawn."
_MAKING = frozenset({"make", "mkdir", "rename", "link"})
"""Calls that may find no folder; what is there is never said to be missing."""


@dataclass
class Calls:
    """Counts calls on files below *root*, and fails one.

    Attributes:
        fail_at: number of the call; 0 = none.
        code: what it fails with, or ``KILL``.
        for_good: whether all later ones fail, too.
        failed: the call that failed first; empty = none did.
    """

    root: Path
    fail_at: int = 0
    code: int = errno.EIO
    for_good: bool = False
    count: int = 0
    failed: str = ""
    handles: set[int] = field(default_factory=set)

    def is_ours(self, target: object, folder: object = None) -> bool:
        if isinstance(target, int):
            return target in self.handles
        if isinstance(folder, int):
            return folder in self.handles
        return str(Path(os.fsdecode(target)).absolute()).startswith(str(self.root))  # type: ignore[arg-type]

    def step(self, name: str, target: object) -> None:
        """Count a call.

        Raises:
            OSError: it is the one that fails.
        """
        if self.code in {errno.ENOENT, errno.ENOTDIR} and name not in _MAKING:
            return
        if self.code == errno.EROFS and name in {"read", "open", "stat", "list", "map", "lock"}:
            return
        self.count += 1
        if self.fail_at and (self.count >= self.fail_at if self.for_good else self.count == self.fail_at):
            self.failed = self.failed or f"{name} {target}"
            if self.code == KILL:
                os._exit(9)
            shown = target if isinstance(target, (str, bytes, os.PathLike)) else None
            raise OSError(self.code, os.strerror(self.code), *([os.fsdecode(shown)] if shown else []))


class _File(io.FileIO):
    def __init__(self, calls: Calls, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._calls = calls

    def write(self, piece: Any) -> int:
        with memoryview(piece).cast("B") as whole:
            try:
                self._calls.step("write", self.fileno())
            except OSError:
                super().write(whole[: len(whole) // 2])
                raise
        return super().write(piece)

    def readinto(self, into: Any) -> int:
        self._calls.step("read", self.fileno())
        return super().readinto(into)

    def readall(self) -> bytes:
        self._calls.step("read", self.fileno())
        return super().readall()


_PATHS = {
    "mkdir": "mkdir", "rmdir": "unlink", "unlink": "unlink", "remove": "unlink", "rename": "rename",
    "replace": "rename", "link": "link", "scandir": "list", "listdir": "list", "stat": "stat", "lstat": "stat",
    "chmod": "write", "readlink": "stat", "fsync": "fsync", "sendfile": "write", "fstat": "stat",
}  # fmt: skip


@contextlib.contextmanager
def counted(calls: Calls) -> Iterator[None]:
    """Put *calls* between Python and the files inside the block."""
    real_open, real_close, real_map = os.open, os.close, mmap.mmap
    file = _opener(calls, io.open)
    with contextlib.ExitStack() as stack:
        for name, kind in _PATHS.items():
            stack.enter_context(patch.object(os, name, _wrapped(calls, getattr(os, name), kind)))

        def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            if not calls.is_ours(path, dir_fd):
                return real_open(path, flags, mode, dir_fd=dir_fd)
            calls.step("make" if flags & os.O_CREAT else "open", path)
            handle = real_open(path, flags, mode, dir_fd=dir_fd)
            calls.handles.add(handle)
            return handle

        def closed(handle: int) -> None:
            calls.handles.discard(handle)
            real_close(handle)

        def mapped(handle: int, *rest: Any, **named: Any) -> mmap.mmap:
            calls.step("map", handle)
            return real_map(handle, *rest, **named)

        stack.enter_context(patch.object(os, "open", opened))
        stack.enter_context(patch.object(os, "close", closed))
        stack.enter_context(patch.object(os, "fdopen", file))
        stack.enter_context(patch.object(io, "open", file))
        stack.enter_context(patch.object(mmap, "mmap", mapped))
        if sys.platform != "win32":
            import fcntl  # noqa: PLC0415

            real_lock = fcntl.flock

            def locked(handle: int, how: int) -> None:
                calls.step("lock", handle)
                real_lock(handle, how)

            stack.enter_context(patch.object(fcntl, "flock", locked))
        yield


def _opener(calls: Calls, real: Callable[..., Any]) -> Callable[..., Any]:
    def file(target: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
        if not calls.is_ours(target):
            return real(target, mode, buffering, *rest, **named)
        if not isinstance(target, int):
            calls.step("open" if mode.startswith("r") else "make", target)
        raw = _File(calls, target, mode.replace("b", "").replace("t", ""))
        calls.handles.add(raw.fileno())
        both = raw.readable() and raw.writable()
        kind = io.BufferedRandom if both else io.BufferedWriter if raw.writable() else io.BufferedReader
        body: Any = kind(raw)
        names = ("encoding", "errors", "newline")
        return (
            body if "b" in mode else io.TextIOWrapper(body, **dict(zip(names, rest, strict=False)), **named)
        )

    return file


def _wrapped(calls: Calls, real: Callable[..., Any], kind: str) -> Callable[..., Any]:
    def wrapped(target: Any = ".", *rest: Any, **named: Any) -> Any:
        if calls.is_ours(target, named.get("dir_fd")):
            calls.step(kind, target)
        return real(target, *rest, **named)

    return wrapped


# -- what is done


@dataclass
class World:
    """A folder with a store and files beside it."""

    place: Path

    def open(self) -> Store:
        clock = FrozenClock()
        clock.advance(seconds=3_600)
        return simonides.open(
            self.place / "store", embedder=StubEmbedder(dimension=8), clock=clock, environ={}, extractor=None
        )

    @contextlib.contextmanager
    def bank(self, name: str = "default") -> Iterator[Bank]:
        with self.open() as store:
            yield store.bank(name)

    def build(self) -> None:
        """Make what the operations need."""
        with self.bank() as bank:
            bank.retain([f"Keeper {number} read gauge {number}." for number in range(6)], deduplicate=False)
            bank._rows.merge_if_due(force=True)
            bank.retain(FACT)
            bank.export(self.place / "old.jsonl")
            bank.backup(self.place / "old.backup")
        with self.bank("audited") as bank:
            bank.retain(FACT)
            bank.start_audit()
            bank.audit_recalls()
        with self.bank("doomed") as bank:
            bank.retain(FACT)
            bank._rows.merge_if_due(force=True)


Operation = "Callable[[World], object]"


def _network() -> Network:
    return Network(np.ones((10, 2)), np.zeros(2), np.ones(2), 0.0, 20)


def make_bank(world: World) -> None:
    with world.bank("fresh") as bank:
        bank.retain("Something new.")
        bank._rows.merge_if_due(force=True)


def retain(world: World) -> None:
    with world.bank() as bank:
        bank.retain("One more fact.")
        bank._rows.merge_if_due(force=True)


def recall(world: World) -> None:
    with world.bank() as bank:
        bank.recall("lighthouse keeper")
        bank.stats()
        bank.verify()


def start_audit(world: World) -> None:
    with world.bank() as bank:
        bank.start_audit()
        bank.audit_verify()


def audited(world: World) -> None:
    with world.bank("audited") as bank:
        bank.retain("Audited fact.")
        bank.recall("keeper")
        bank.audit_entries()


def export(world: World) -> None:
    with world.bank() as bank:
        bank.export(world.place / "old.jsonl")


def backup(world: World) -> None:
    with world.bank() as bank:
        with contextlib.suppress(InputError):  # there already, where it was tried before
            bank.backup(world.place / "new.backup")
        bank.backup(io.BytesIO())


def restore(world: World) -> None:
    with world.bank() as bank:
        bank.restore(world.place / "old.backup")


def import_bank(world: World) -> None:
    with world.bank("imported") as bank:
        bank.import_bank(world.place / "old.jsonl")


def upload(world: World) -> None:
    with upload_in(world.place / "store") as path, disk_errors(path), path.open("wb") as file:
        file.write(FACT.encode())


def adopt(world: World) -> None:
    with world.bank() as bank:
        bank.adopt_reranker(_network(), ())
        bank.recall("keeper", profile="engram")


def forget(world: World) -> None:
    with world.bank() as bank:
        bank.adopt_reranker(_network(), ())
        bank.forget_where([bank.retain("Forget me not.")[0]], purge=True)


def repair(world: World) -> None:
    with world.bank() as bank:
        bank.repair()
        bank.maintain()


def delete(world: World) -> None:
    with world.open() as store, contextlib.suppress(NotFoundError):
        store.delete_bank("doomed")


def tokens(world: World) -> None:
    first_token(world.place / "store", "default", 1)
    with TokenStore(world.place / "store") as kept:
        kept.revoke(kept.list()[-1].grant.name) if len(kept.list()) > 1 else kept.create(banks=["*"], now=2)


OPERATIONS: Sequence[Callable[[World], object]] = (
    make_bank, retain, recall, start_audit, audited, export, backup, restore, import_bank, upload, adopt, forget,
    repair, delete, tokens,
)  # fmt: skip


# -- what is found


@dataclass
class Found:
    """What the trials found; all but the first three are faults of the product."""

    failures: int = 0
    kills: int = 0
    refused: int = 0
    bare: int = 0
    unusable: int = 0
    open_to_others: int = 0
    left: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def harm(self) -> int:
        return self.bare + self.unusable + self.open_to_others + self.left


def fail_each_call(
    place: Path,
    *,
    codes: Sequence[int] = CODES,
    for_good: Sequence[bool] = (False, True),
    first: int = 1,
    step: int = 1,
    operations: Sequence[Callable[[World], object]] = OPERATIONS,
) -> Found:
    """Run each operation once per call, error and way of failing.

    Args:
        place: an empty folder.
        codes: errors, or ``KILL``.
        for_good: whether every later call fails, too.
        first, step: which calls: first, first + step, …; the first moves on with each operation and error.
    """
    found = Found()
    template = World(place / "template")
    template.place.mkdir()
    template.build()
    turn = 0
    for operation in operations:
        for code in codes:
            for good in (False,) if code == KILL else for_good:
                at = first + turn % step
                turn += 1
                reached = True
                while reached:
                    world = World(place / "world")
                    shutil.copytree(template.place, world.place)
                    calls = Calls(world.place, at, code, good)
                    where = f"{operation.__name__}: call {at}, {errno.errorcode.get(code, 'kill')}, {good}"
                    reached = (
                        _killed(world, operation, calls)
                        if code == KILL
                        else _failed(world, operation, calls, found, where)
                    )
                    if reached:
                        found.kills += code == KILL
                        found.failures += code != KILL
                        _judge(world, operation, found, f"{where} ({calls.failed})")
                    shutil.rmtree(world.place)
                    at += step
    return found


def _failed(
    world: World, operation: Callable[[World], object], calls: Calls, found: Found, where: str
) -> bool:
    try:
        with counted(calls):
            operation(world)
    except SimonidesError:
        found.refused += 1
    except Exception as error:  # noqa: BLE001 - whatever else comes out is a finding
        found.bare += 1
        found.problems.append(f"{where} ({calls.failed}): {type(error).__name__}: {error}")
    return bool(calls.failed)


def _killed(world: World, operation: Callable[[World], object], calls: Calls) -> bool:
    child = os.fork()
    if not child:
        try:
            with counted(calls):
                operation(world)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def _judge(world: World, operation: Callable[[World], object], found: Found, where: str) -> None:
    """All is well again: everything must work, the operation too."""
    try:
        operation(world)
        _use(world, "audited" if operation is audited else "default")
    except Exception as error:  # noqa: BLE001
        found.unusable += 1
        found.problems.append(f"{where}: afterwards {type(error).__name__}: {error}")
        return
    for path in world.place.rglob("*"):
        secret = path.is_file() and "template" not in path.parts
        if secret and stat.S_IMODE(path.lstat().st_mode) & 0o077:
            found.open_to_others += 1
            found.problems.append(f"{where}: {path} has the mode {path.lstat().st_mode:o}")
    ours = (".partial", ".import-", ".backup-", ".restoring-", ".deleted-", ".left")
    left = [path for path in world.place.rglob("*") if any(mark in path.name for mark in ours)]
    if left:
        found.left += 1
        found.problems.append(f"{where}: left {[str(path.relative_to(world.place)) for path in left]}")


def _use(world: World, name: str) -> None:
    with world.open() as store:
        bank = store.bank(name)
        bank.retain("Stored when all was well again.")
        assert FACT in {hit.text for hit in bank.recall("lighthouse keeper plumzifrax")}, "the fact is gone"
        assert bank.purge() == COMPLETE
        report = bank.verify()
        assert report.ok, report.problems
        if (bank._rows.folder / "audit.key").exists():
            audit = bank.audit_verify()
            assert audit.ok, audit.problems
        if (store.folder / "token").exists():
            with TokenStore(store.folder) as kept:
                assert kept.find((store.folder / "token").read_text().strip(), 3), "the kept token is none"
