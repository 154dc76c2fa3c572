"""A process that is killed in the middle of writing a copy of what a bank holds.

    python purge_killed.py STORE merge|load|reembed|backup|restore|export|job

It opens the bank ``default`` of a store, begins, and sends itself SIGKILL at the worst moment.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import apsw

import simonides
from simonides.backends.embedded import backup as backup_module
from simonides.backends.embedded import recall_jobs
from simonides.index.files import FileLayer
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simonides.bank import Bank


def die(*_: object) -> Any:
    """Die as a kill -9 makes it."""
    os.kill(os.getpid(), signal.SIGKILL)


class Dying(FileLayer):
    """Dies when it is to write the manifest, after all that holds words."""

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        if path.name == "manifest.json":
            die()
        super().write(path, pieces)


class Sink(io.BytesIO):
    """A file that dies of its first piece."""

    write = die


def merge(bank: Bank) -> None:
    cast("Any", bank._rows).cache.files = Dying()
    bank._rows.merge_if_due(force=True)


def load(bank: Bank) -> None:
    cast("Any", bank._rows).cache.files = Dying()
    texts = [f"Loaded text number {n} about bread." for n in range(300)]
    bank.load(texts, StubEmbedder().encode(texts))


def reembed(bank: Bank) -> None:
    cast("Any", bank._rows).cache.files = Dying()
    bank.reembed(StubEmbedder(16, name="other"))


def backup(bank: Bank) -> None:
    bank.backup(Sink())


def restore(bank: Bank) -> None:
    saved = bank._rows.folder.parent.with_suffix(".saved")
    bank.backup(saved)
    backup_module.__dict__["_replace"] = die
    bank.restore(saved)


def export(bank: Bank) -> None:
    """Into the bank's own folder, of all places."""
    os.__dict__["fsync"] = die
    bank.export(bank._rows.folder / "export.jsonl")


def job(bank: Bank) -> None:
    """Dies while a second job is committed: the journal holds the page with the first one."""
    bank._rows.recall_jobs.add("a", "", "Zyxolume")

    def dying(path: Path, _: object) -> object:
        connection = apsw.Connection(str(path))
        connection.set_commit_hook(die)
        return connection

    recall_jobs.__dict__["open_file"] = dying
    bank._rows.recall_jobs.add("b", "", "{}")


if __name__ == "__main__":
    store = simonides.open(Path(sys.argv[1]), embedder=StubEmbedder(), environ={})
    acts = (merge, load, reembed, backup, restore, export, job)
    {act.__name__: act for act in acts}[sys.argv[2]](store.bank("default"))
