"""The index of a bank in this process: brought to the change of a transaction, merged, published, purged."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded import bulk_index
from simonides.backends.embedded.catch_up import Position, catch_up, origin_of
from simonides.backends.embedded.change_log import read_meta
from simonides.backends.embedded.connection import read_transaction, translated, write_transaction
from simonides.backends.embedded.merge import memory_merge_due, merge, merge_due, merged_in_memory
from simonides.errors import DamagedError, SimonidesError, UnavailableError
from simonides.index.generation import read_generation, remove_unused, replaced_files, used_generations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from simonides.backends.embedded.connection import Connections
    from simonides.backends.embedded.transaction import WriteTransaction
    from simonides.index.block import Block, IndexPart
    from simonides.index.files import FileLayer
    from simonides.storage.reader import Meta

_TRIES = 5


class IndexCache:
    """The index in memory, and its generations in *folder*.

    *in_memory*: write none, the bank is encrypted.
    """

    def __init__(self, connections: Connections, files: FileLayer, folder: Path, *, in_memory: bool) -> None:
        self._connections = connections
        self.files = files
        self.folder = folder
        self._in_memory = in_memory
        self._lock = threading.Lock()
        self._merging = threading.Lock()
        self.position: Position | None = None
        self._merge_problem = ""

    @property
    def tail_rows(self) -> int:
        """Rows that no block holds yet."""
        with self._lock:
            return self.position.tail.rows if self.position else 0

    def drop(self) -> None:
        """Forget what is in memory; the next transaction makes it anew."""
        with self._lock:
            self.position = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[tuple[apsw.Connection, Meta, Position]]:
        """Open a read transaction and bring the index in memory to its change."""
        missing: int | None = None
        for _ in range(_TRIES):
            with read_transaction(self._connections) as connection:
                try:
                    meta, position = self.catch_up(connection, missing)
                except FileNotFoundError:
                    missing = read_meta(connection).generation
                    continue
                yield connection, meta, position
                return
        raise UnavailableError(f"{self.folder}: was replaced {_TRIES} times while it was opened; try again")

    def publish_rebuilt(self) -> None:
        """Save others the work: an index that had to be rebuilt from rows is written once."""
        if self._in_memory:
            self.merge_if_due()
            return
        with self._lock:
            position = self.position
            unpublished = position is not None and bool(
                position.problem or (position.rebuilt and position.generation is None)
            )
        if unpublished and not self._merge_problem and not self._connections.read_only:
            self.merge_if_due()

    def catch_up(self, connection: apsw.Connection, missing: int | None = None) -> tuple[Meta, Position]:
        """Bring the index in memory to the change that *connection*'s transaction sees.

        Raises as ``catch_up``.
        """
        with self._lock:
            # Inside, so that another thread of a later transaction does not move on first.
            meta = read_meta(connection)
            # Taken away while it changes: if anything breaks it off, an interrupt, too, nobody sees it half
            # changed, and the next call makes another from the generation on disk and the rows.
            before, self.position = self.position, None
            if self.files.cut_short():
                before = None
            try:
                position = catch_up(connection, meta, before, self.files, self.folder, missing)
            except FileNotFoundError:
                # Raised by the opening of a generation, before anything is changed.
                self.position = before
                raise
            self.position = position
            return meta, position

    def catch_up_alone(self, connection: apsw.Connection) -> tuple[Meta, Position]:
        """Inside a write transaction no one publishes, so a missing generation is missing for good."""
        try:
            return self.catch_up(connection)
        except FileNotFoundError:
            return self.catch_up(connection, read_meta(connection).generation)

    def loaded(self, transaction: WriteTransaction, parts: Sequence[IndexPart]) -> Block | None:
        """The block of what a transaction has added, where that is nothing but *parts*."""
        values = transaction.versions.added_at_once
        if self._in_memory or not values or len(values) != sum(part.rows for part in parts):
            return None
        return bulk_index.fed_block(values, parts)

    def publish(self, transaction: WriteTransaction, position: Position, block: Block) -> int:
        """Write a load's block and name it before the commit; the new generation, 0 = there is none.

        The rows are what counts: a failure is remembered (see ``problems``) and fails nothing.
        """
        connection, snapshot, after = transaction.connection, transaction.snapshot, transaction.meta
        try:
            return bulk_index.publish(connection, position, snapshot, after, block, self.files, self.folder)
        except OSError as error:
            self._merge_problem = f"the index could not be written: {error}"
            return 0

    def take_back(self, generation: int) -> None:
        """Delete a generation whose transaction failed, unless its commit came through all the same."""
        with contextlib.suppress(SimonidesError, apsw.Error, OSError):
            if read_meta(self._connections.get()).generation != generation:
                self.files.remove_folder(self.folder / str(generation))

    def remove_unused(self, number: int) -> None:
        """Delete generations that *number*, the bank's own, does not use, unless someone was faster."""
        try:
            remove_unused(self.files, self.folder, read_generation(self.files, self.folder, number))
        except (FileNotFoundError, DamagedError):
            return
        except OSError as error:
            # The rows are stored and named; what is left goes with the next merge.
            self._merge_problem = f"the index could not be cleared: {error}"

    def merge_if_due(self, *, force: bool = False, alone: bool = False) -> bool:
        # Kept out, another thread's merge ends at once: wait for it.
        if not alone and self._merging.locked():
            return False
        with self._merging:
            try:
                return self._merge(force=force, alone=alone)
            except (SimonidesError, OSError) as error:
                self._merge_problem = f"the index could not be written: {error}"
                return False

    def _merge(self, *, force: bool, alone: bool) -> bool:
        if self._in_memory:
            return self._merge_in_memory()
        with self.reading() as (connection, meta, position):
            snapshot, generation = position.snapshot, position.generation
            if not (force or merge_due(position)):
                # Nothing waits to be written any more, so nothing is in its way.
                self._merge_problem = ""
                return False
            origin = origin_of(connection, meta, sequence=snapshot.sequence)
        with translated(self._connections.path):
            won = merge(
                self._connections, meta, origin, snapshot, generation, self.files, self.folder, alone=alone
            )
        self._merge_problem = ""
        return won

    def _merge_in_memory(self) -> bool:
        """Merge the tail in memory; true when that was due and no other thread moved on meanwhile."""
        with self._lock:
            position = self.position
            if position is None or not memory_merge_due(position):
                return False
            snapshot = position.snapshot
        done = merged_in_memory(position, snapshot)
        with self._lock:
            if self.position is not position:
                return False
            self.position = done
        return True

    def problems(self) -> list[str]:
        with self._lock:
            found = self.position.problem if self.position else ""
        return [problem for problem in (found, self._merge_problem) if problem]

    def left(self) -> list[Path]:
        """Generations that the bank's own does not use."""
        used: Collection[int] = ()
        with contextlib.suppress(SimonidesError, FileNotFoundError), translated(self._connections.path):
            number = read_meta(self._connections.get()).generation
            used = used_generations(read_generation(self.files, self.folder, number))
        return [self.folder / name for name in self._others(used)]

    def purge(self, *, alone: bool = False) -> bool:
        """Write the index without erased rows and delete every other generation; false when that failed."""
        for _ in range(_TRIES):
            if not self.files.names(self.folder):
                return True
            with write_transaction(self._connections) as connection:
                unused = self._in_memory or not read_meta(connection).generation
                if alone and unused and self._delete(frozenset()):
                    return True
            self.merge_if_due(force=True, alone=alone)
            # A load writes the generation that its commit names inside its own transaction: not now.
            with write_transaction(self._connections) as connection:
                meta = read_meta(connection)
                try:
                    current = read_generation(self.files, self.folder, meta.generation)
                except (FileNotFoundError, DamagedError):
                    continue
                if current.origin.epoch != meta.epoch or current.origin.sequence < meta.sequence:
                    continue
                used = used_generations(current)
                left = not self._delete(used)
                for path in replaced_files(self.files, self.folder, current):
                    self.files.remove_folder(path)
                for number in sorted(used):
                    self.files.sync_folder(self.folder / str(number))
                if not left and not replaced_files(self.files, self.folder, current):
                    return True
        return False

    def _delete(self, used: Collection[int]) -> bool:
        """Delete all of the index folder but generations in *used*, for good; whether nothing else stays."""
        self._remove_others(used)
        self.files.sync_folder(self.folder)
        return not self._others(used)

    def _remove_others(self, used: Collection[int]) -> None:
        for name in self._others(used):
            self.files.remove_folder(self.folder / name)

    def _others(self, used: Collection[int]) -> list[str]:
        """All of the index folder but generations in *used*; of a folder that is a link, generations only."""
        linked = self.folder.is_symlink()
        names = self.files.names(self.folder)
        return [name for name in names if (int(name) not in used if name.isdecimal() else not linked)]

    def delete_former(self) -> None:
        """Delete the index of rows that were replaced, but not what was published since."""
        # A load writes the generation that its commit names inside its own transaction: not now.
        with write_transaction(self._connections) as connection:
            number = read_meta(connection).generation
            used: Collection[int] = ()
            if number:
                with contextlib.suppress(FileNotFoundError, DamagedError):
                    used = used_generations(read_generation(self.files, self.folder, number))
            self._remove_others(used)

    def feed(self, meta: Meta, block: Block) -> None:
        """Take the block of what a transaction stored, which left the bank at *meta*."""
        with self._lock:
            self.position = bulk_index.feed(self.position, meta, block) or self.position
