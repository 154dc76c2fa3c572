"""A bank in one folder: ``memory.db`` for the rows, ``index/`` for the arrays.

Several threads and several processes may use one bank at once. Writers queue at BEGIN IMMEDIATE; a reader
never waits for a writer.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
import uuid
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import apsw
import numpy as np

from simonides.backends.embedded import forgetting
from simonides.backends.embedded.accesses import read_samples, read_used
from simonides.backends.embedded.auditing import (
    KEY_FILE,
    RESTORE,
    Auditor,
    adopt_key,
    find_key,
    has_entries,
    make_key,
    read_entries,
)
from simonides.backends.embedded.auditing import START as AUDIT_START
from simonides.backends.embedded.backup import put_back, send_backup, write_backup
from simonides.backends.embedded.bulk_rows import known
from simonides.backends.embedded.catch_up import Position, catch_up, origin_of
from simonides.backends.embedded.change_log import DELETED, create_meta, read_meta, write_numbers
from simonides.backends.embedded.connection import (
    Connections,
    read_transaction,
    translated,
    write_transaction,
)
from simonides.backends.embedded.copies import alone, joined, sharing
from simonides.backends.embedded.emptied import check_not_emptied
from simonides.backends.embedded.encryption import check_room, engine, open_file
from simonides.backends.embedded.expiry import ALL, count_expiring, read_due
from simonides.backends.embedded.exporting import count_rows, export_lines, write_export
from simonides.backends.embedded.feeding import fed_block, feed, publish
from simonides.backends.embedded.forgetting import (
    blot_out_names,
    count_tables,
    cut_log,
    drop_replies,
    drop_unmentioned,
    lost,
    select,
)
from simonides.backends.embedded.jobs import count_jobs, described_jobs, due_jobs
from simonides.backends.embedded.left_over import MAINTENANCE, RERANKER, TTL, ZONE, left_overs, sweep_store
from simonides.backends.embedded.merge import free_number, is_unchanged, merge, merge_due, write_new
from simonides.backends.embedded.migrations import migrate
from simonides.backends.embedded.name_lookup import any_within, read_names_within
from simonides.backends.embedded.reading import (
    claimed_bodies,
    count_entities,
    names_changed,
    read_entities_named,
    read_memories,
    read_merges,
    read_names,
    read_ordinals_after,
    read_signatures,
    read_source,
    read_sources,
    read_versions,
    read_worded,
)
from simonides.backends.embedded.reanalysis import reanalyse
from simonides.backends.embedded.recall_audit import START, STOP, RecallLog, Switches
from simonides.backends.embedded.recall_jobs import RecallJobs
from simonides.backends.embedded.reembedding import Run, missing, read_model, read_run
from simonides.backends.embedded.restoring import restore
from simonides.backends.embedded.row_check import check_rows
from simonides.backends.embedded.sealing import is_due, sealed
from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.transaction import WriteTransaction
from simonides.backends.embedded.verification import verify
from simonides.errors import (
    DamagedError,
    NotFoundError,
    ReplacedError,
    SimonidesError,
    StoreError,
    UnavailableError,
)
from simonides.files import disk_errors, make_empty, make_folder, remove, remove_if_dead, write_file
from simonides.gc_pause import gc_paused
from simonides.index.block import join_blocks
from simonides.index.files import FileLayer
from simonides.index.generation import (
    read_generation,
    remove_unused,
    replaced_files,
    used_generations,
)
from simonides.records.audit import AuditReport, Entry, Told, VerifyReport
from simonides.records.hygiene import read_at_most
from simonides.records.interval import BEGINNING, read_zone
from simonides.records.receipt import (
    COMPLETE,
    DRY_RUN,
    ERASED,
    PENDING_COPIES,
    PENDING_INDEX,
    PENDING_JOBS,
    PENDING_READERS,
    Receipt,
    Saved,
    Selection,
)
from simonides.records.time_to_live import TtlDefaults

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path
    from typing import IO

    from numpy.typing import NDArray

    from simonides.backends.embedded.change_log import Meta
    from simonides.backends.embedded.encryption import Key
    from simonides.index.block import Block, IndexPart
    from simonides.index.snapshot import IndexSnapshot
    from simonides.protocols import Analyser
    from simonides.records.enrichment import Job
    from simonides.records.entity import EntityCount
    from simonides.records.impression import Impression, Samples
    from simonides.records.memory import Memory
    from simonides.records.model_identity import ModelIdentity
    from simonides.records.receipt import Counts, Restored
    from simonides.records.source import Source
    from simonides.records.time_to_live import Due
    from simonides.records.versions import Worded

_P = ParamSpec("_P")
_R = TypeVar("_R")
_TRIES = 5
_LARGEST_ZONE = 1_000
"""Bytes of the file that names the bank's zone."""
_LARGEST_TTL = 10_000
"""Bytes of the file with the bank's times to live."""
_LOADING_CACHE_KB = 256 * 1024
RECALLS_ON, RECALLS_OFF = "audit recalls", "stop auditing recalls"
MOST_IMPRESSIONS = 1_000
"""Recalls that wait in memory until something is said to be of use; the oldest falls out."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One read transaction: a snapshot and the rows behind it, both at the same change."""

    connection: apsw.Connection
    meta: Meta
    snapshot: IndexSnapshot

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        """Records by ordinal, in the order asked for.

        Raises:
            DamagedError: one of them is not what was written.
        """
        self.check(ordinals)
        return read_memories(self.connection, ordinals)

    def candidates(self, ordinals: Sequence[int]) -> list[Memory]:
        """The same, unchecked: for who checks those that are handed out in the end."""
        return read_memories(self.connection, ordinals)

    def check(self, ordinals: Sequence[int]) -> None:
        """Compare rows with their digests.

        Raises:
            DamagedError: one of them is not what was written.
        """
        check_rows(self.connection, ordinals, self.meta.embedder)

    def ordinals_after(self, memory: str, keep: NDArray[np.bool_], most: int) -> list[int]:
        """Ordinals of versions to *keep*, in the order of ids, of ids above *memory*; *most* of them."""
        return read_ordinals_after(self.connection, memory, keep, most)

    def versions(self, memory: str) -> list[Memory]:
        """Every version of one memory, oldest first.

        Raises:
            DamagedError: one of them is not what was written.
        """
        found = read_versions(self.connection, memory)
        self.check([version.ordinal for version in found])
        return found

    def worded(self, memory: str) -> Worded | None:
        """A memory that the bank holds now, and what was settled when it got its words.

        Raises:
            DamagedError: it is not what was written.
        """
        found = read_worded(self.connection, memory)
        if found is not None:
            self.check([found.now.ordinal, found.then.ordinal])
        return found

    def source(self, memory: str) -> Source | None:
        """The raw source behind the newest version of one memory."""
        return read_source(self.connection, memory)

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        """MinHash signatures by ordinal, in the order asked for."""
        return read_signatures(self.connection, ordinals)

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        """Raw sources by ordinal, in the order asked for."""
        return read_sources(self.connection, ordinals)

    def entities_named(self, folded: str, known_at: int) -> list[int]:
        """Numbers of the entities with a folded name, or an alias they had by *known_at*; ascending."""
        return read_entities_named(self.connection, folded, known_at)

    def merged_entities(self, known_at: int) -> dict[int, int]:
        """What each merged entity counted as at *known_at*, directly."""
        return read_merges(self.connection, known_at)

    def entities(self, rows: NDArray[np.int64]) -> list[EntityCount]:
        """Entities that *rows* mention, most mentioned first."""
        return count_entities(self.connection, self.snapshot.graph, rows)

    def names(self, after: int, readers: Sequence[str] | None) -> tuple[list[str], int]:
        """Names of entities numbered above *after* that all *readers* may know of, and where to go on."""
        return read_names(self.connection, after, readers)

    def names_within(
        self, ranges: Sequence[tuple[str, str, str, str]], readers: Sequence[str] | None
    ) -> list[str]:
        """Names in ranges of their folded forms that all *readers* may know of; see ``name_lookup``."""
        return read_names_within(self.connection, ranges, readers)

    def any_name_within(self, ranges: Iterable[tuple[str, str]]) -> bool:
        """Whether the folded form of any name lies in one of *ranges*."""
        return any_within(self.connection, ranges)

    def names_changed(self) -> int:
        """The last change that took names away or gave an old entity a new one."""
        return names_changed(self.connection)

    def due_jobs(self, due: int, most: int) -> list[Job]:
        """Enrichments that may be tried at *due*, oldest first."""
        return due_jobs(self.connection, due, most)

    def count_jobs(self) -> tuple[int, int]:
        """How many enrichments wait, and how many were given up."""
        return count_jobs(self.connection)

    def sparse_encoder(self) -> tuple[str, str]:
        """Name and fingerprint of the bank's sparse encoder; empty before the first sparse terms."""
        row = self.connection.execute(
            f"SELECT name, fingerprint FROM sparse_encoder WHERE {sound('sparse_encoder')}"
        ).fetchone()
        return (str(row[0]), str(row[1])) if row else ("", "")

    def embedder(self) -> ModelIdentity:
        """The bank's embedder; empty before the first vector."""
        return read_model(self.connection, self.meta.embedder)

    def following(self) -> ModelIdentity | None:
        """The embedder that the bank is going over to; ``None`` = it stays with the one it has."""
        run = read_run(self.connection)
        return None if run is None else run.model


@dataclass(frozen=True, slots=True)
class GoingOver:
    """One write transaction of a bank that goes over to another embedder.

    Attributes:
        connection: in the transaction.
        meta: as it sees it.
        run: what the bank goes over to.
        snapshot: the bank by the vectors of that embedder, caught up inside the transaction.
        auditor: seals a row about the switch; ``None`` = the bank is not audited.
    """

    connection: apsw.Connection
    meta: Meta
    run: Run
    snapshot: IndexSnapshot
    auditor: Auditor | None


def _copying(
    method: Callable[Concatenate[EmbeddedBank, _P], _R],
) -> Callable[Concatenate[EmbeddedBank, _P], _R]:
    """A method that writes copies of rows into the bank's folder, so that a purge waits for it."""

    @functools.wraps(method)
    def sharing_the_folder(bank: EmbeddedBank, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with bank.copying():
            return method(bank, *args, **kwargs)

    return sharing_the_folder


class EmbeddedBank:
    """The rows and arrays of one bank.

    Args:
        folder: the bank's folder; made when it is missing and *create* is true.
        analyser: what makes terms; a bank whose terms another version made is analysed anew once.
        create: whether a missing bank is made.
        new_id: gives the identity of a new bank.
        files: the file layer of the index.
        audit_key: seals the audit log; ``None`` = the key in the folder, or no audit where there is none.
        key: encrypts the rows, and keeps the index in memory; ``None`` = neither.

    Raises:
        UnavailableError: the folder cannot be used.
        EncryptionError: the key is not this bank's.
        NewerSchemaError, DamagedError, SqliteVersionError: see ``errors``.
    """

    def __init__(
        self,
        folder: Path,
        analyser: Analyser,
        *,
        create: bool = True,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        files: FileLayer | None = None,
        audit_key: bytes | None = None,
        key: Key | None = None,
    ) -> None:
        self.folder = folder
        self._key = key
        self.recall_jobs = RecallJobs(folder, key)
        self._recall_log = RecallLog(folder, self._read_switches, key)
        # The newest row of the audit log that was read, and what it says of the log of recalls.
        self._switches = 0, Switches(0, None)
        self._audit_key = audit_key
        self._analyser = analyser
        self._files = files or FileLayer()
        self._index = folder / "index"
        self._lock = threading.Lock()
        self._merging = threading.Lock()
        self._position: Position | None = None
        # The bank by the vectors of the embedder that this process lets it go over to.
        self._following: Position | None = None
        self._merge_problem = ""
        self._impressions: deque[Impression] = deque(maxlen=MOST_IMPRESSIONS)
        database = folder / "memory.db"
        if not database.is_file():
            check_not_emptied(database)
            if not create:
                raise UnavailableError(f"{folder}: holds no bank; retain something first, or check --store")
            _make_private(folder)
        self._connections = Connections(database, key)
        try:
            migrate(self._connections)
            self._settle(analyser, new_id)
            self.zone = self._read_zone()
            self.ttl_defaults = self._read_ttl_defaults()
        except BaseException:
            # A transaction whose end failed, too, would hold the bank until this object is collected.
            self.close()
            raise

    def set_zone(self, name: str | None) -> None:
        """Keep the bank's own time zone; ``None`` = it has none.

        Raises:
            InputError: there is no such zone.
            UnavailableError: the folder cannot be written.
        """
        zone = None if name is None else read_zone(name)
        with disk_errors(self.folder / ZONE):
            if name is None:
                (self.folder / ZONE).unlink(missing_ok=True)
            else:
                write_file(self.folder / ZONE, f"{name.strip()}\n")
        self.zone = zone

    def _read_zone(self) -> tzinfo | None:
        path = self.folder / ZONE
        written = _read_setting(path, _LARGEST_ZONE)
        return None if written is None else read_zone(written.strip(), str(path))

    def set_ttl_defaults(self, defaults: TtlDefaults) -> None:
        """Keep the times to live of what states none.

        Raises:
            UnavailableError: the folder cannot be written.
        """
        with disk_errors(self.folder / TTL):
            write_file(self.folder / TTL, f"{json.dumps(defaults.to_dict())}\n")
        self.ttl_defaults = defaults

    def _read_ttl_defaults(self) -> TtlDefaults:
        path = self.folder / TTL
        written = _read_setting(path, _LARGEST_TTL)
        return TtlDefaults() if written is None else TtlDefaults.from_json(written, str(path))

    def _settle(self, analyser: Analyser, new_id: Callable[[], str]) -> None:
        with translated(self._connections.path):
            found = (
                self._connections.get()
                .execute(f"SELECT analyser FROM meta WHERE bank = '{DELETED}' OR {sound('meta')}")
                .fetchone()
            )
        if self._connections.read_only or (found and found[0] == analyser.fingerprint):
            return
        with write_transaction(self._connections) as connection:
            create_meta(connection, new_id(), new_id(), analyser.fingerprint)
            if read_meta(connection).analyser != analyser.fingerprint:
                reanalyse(connection, analyser, new_id())

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reading]:
        """Open a read transaction and a snapshot at exactly its change.

        Raises:
            UnavailableError, DamagedError: the rows cannot be read.
        """
        with self._reading_index() as (connection, meta, position):
            yield Reading(connection, meta, position.snapshot)
        self._publish_rebuilt()

    @contextlib.contextmanager
    def _reading_index(self) -> Iterator[tuple[apsw.Connection, Meta, Position]]:
        """Open a read transaction and bring the index in memory to its change."""
        missing: int | None = None
        for _ in range(_TRIES):
            with read_transaction(self._connections) as connection:
                try:
                    meta, position = self._catch_up(connection, missing)
                except FileNotFoundError:
                    missing = read_meta(connection).generation
                    continue
                yield connection, meta, position
                return
        raise UnavailableError(f"{self._index}: was replaced {_TRIES} times while it was opened; try again")

    def _publish_rebuilt(self) -> None:
        """Save others the work: an index that had to be rebuilt from rows is written once."""
        if self._key is not None:
            self.merge_if_due()
            return
        with self._lock:
            position = self._position
            unpublished = position is not None and bool(
                position.problem or (position.rebuilt and position.generation is None)
            )
        if unpublished and not self._merge_problem and not self._connections.read_only:
            self.merge_if_due()

    def _catch_up(self, connection: apsw.Connection, missing: int | None = None) -> tuple[Meta, Position]:
        """Bring the index in memory to the change that *connection*'s transaction sees.

        Raises:
            FileNotFoundError: see ``catch_up``.
        """
        with self._lock:
            # Inside, so that another thread of a later transaction does not move on first.
            meta = read_meta(connection)
            # Taken away while it changes: if anything breaks it off, an interrupt, too, nobody sees it half
            # changed, and the next call makes another from the generation on disk and the rows.
            before, self._position = self._position, None
            if self._files.cut_short():
                before = None
            try:
                position = catch_up(connection, meta, before, self._files, self._index, missing)
            except FileNotFoundError:
                # Raised by the opening of a generation, before anything is changed.
                self._position = before
                raise
            self._position = position
            return meta, position

    @contextlib.contextmanager
    def writing(
        self, now: int, actor: str = "", parts: Sequence[IndexPart] = ()
    ) -> Iterator[WriteTransaction]:
        """Open a write transaction with a snapshot caught up inside it; commit when the block ends well.

        Args:
            now: the clock, microseconds UTC.
            actor: principal who writes, for the audit log; empty = the owner.
            parts: what the index keeps of the rows that will be stored, if they are new and stored at once;
                the index then takes it instead of reading the rows, and the commit names the generation that
                holds it.

        Raises:
            UnavailableError: the bank cannot be written; nothing was stored.
        """
        block: Block | None = None
        generation = 0
        try:
            with write_transaction(self._connections) as connection:
                meta = read_meta(connection)
                snapshot: IndexSnapshot | DamagedError
                position: Position | None = None
                try:
                    _, position = self._catch_up_alone(connection)
                    snapshot = position.snapshot
                except DamagedError as error:
                    # A row that makes no arrays can still be forgotten; whoever compares with it is told.
                    snapshot = error
                auditor = self._sealer(connection)
                transaction = WriteTransaction(
                    connection, meta, snapshot, now, self._analyser, auditor=auditor, actor=actor
                )
                yield transaction
                transaction.finish()
                if self._key is not None and transaction.rows_added:
                    check_room(connection, self._connections.path)
                block = self._loaded(transaction, parts)
                if block is not None and position is not None:
                    generation = self._publish(transaction, position, block)
        except BaseException:
            if generation:
                self._take_back(generation)
            raise
        if generation:
            self._remove_unused(generation)
        elif block is not None:
            with self._lock:
                self._position = feed(self._position, transaction.meta, block) or self._position
        self.merge_if_due()

    def _loaded(self, transaction: WriteTransaction, parts: Sequence[IndexPart]) -> Block | None:
        """The block of what a transaction has added, where that is nothing but *parts*."""
        values = transaction.added_at_once
        if self._key is not None or not values or len(values) != sum(part.rows for part in parts):
            return None
        return fed_block(values, parts)

    def _publish(self, transaction: WriteTransaction, position: Position, block: Block) -> int:
        """Write a load's block and name it before the commit; the new generation, 0 = there is none.

        The rows are what counts: a failure is remembered (see ``problems``) and fails nothing.
        """
        connection, snapshot, after = transaction.connection, transaction.snapshot, transaction.meta
        try:
            return publish(connection, position, snapshot, after, block, self._files, self._index)
        except OSError as error:
            self._merge_problem = f"the index could not be written: {error}"
            return 0

    def _take_back(self, generation: int) -> None:
        """Delete a generation whose transaction failed, unless its commit came through all the same."""
        with contextlib.suppress(SimonidesError, apsw.Error, OSError):
            if read_meta(self._connections.get()).generation != generation:
                self._files.remove_folder(self._index / str(generation))

    def _remove_unused(self, number: int) -> None:
        """Delete generations that *number*, the bank's own, does not use, unless someone was faster."""
        try:
            remove_unused(self._files, self._index, read_generation(self._files, self._index, number))
        except (FileNotFoundError, DamagedError):
            return
        except OSError as error:
            # The rows are stored and named; what is left goes with the next merge.
            self._merge_problem = f"the index could not be cleared: {error}"

    @contextlib.contextmanager
    def loading(
        self, now: int, actor: str = "", parts: Sequence[IndexPart] = ()
    ) -> Iterator[WriteTransaction]:
        """``writing``, for very many rows.

        New rows lie anywhere in the indexes of ids and contents, so the pages of these stay in memory: with
        SQLite's usual 2 MB each of them would be written many times over in one transaction.
        """
        with translated(self._connections.path):
            connection = self._connections.idle()
            usual, undone_in = connection.pragma("cache_size"), connection.pragma("temp_store")
            connection.pragma("cache_size", -_LOADING_CACHE_KB)
            # What undoes a single statement; in a file it would be several pages for every row.
            connection.pragma("temp_store", "MEMORY")
        try:
            # Nothing of a batch is garbage before its commit, and to look for it costs a tenth of the load.
            with gc_paused(), self.writing(now, actor, parts) as transaction:
                yield transaction
        finally:
            # These read the schema first: a disk that fails has said so already.
            with contextlib.suppress(apsw.Error):
                connection.pragma("temp_store", undone_in)
                connection.pragma("cache_size", usual)

    def _catch_up_alone(self, connection: apsw.Connection) -> tuple[Meta, Position]:
        """Inside a write transaction no one publishes, so a missing generation is missing for good."""
        try:
            return self._catch_up(connection)
        except FileNotFoundError:
            return self._catch_up(connection, read_meta(connection).generation)

    def impress(self, impression: Impression) -> None:
        """Keep in memory what a recall returned; nothing is written."""
        self._impressions.append(impression)

    def used(self, ids: Sequence[str], recall: str | None, principal: str, now: int) -> int:
        """Write what was used and its recall's impression in one transaction; see ``bank.Bank.used``.

        Impressions that count what they returned go with it; all others go on waiting.
        """
        waiting = [shown for shown in list(self._impressions) if shown.counted or shown.recall == recall]
        with self.writing(now, principal) as transaction:
            transaction.remember(waiting)
            written = transaction.used(ids, recall, principal)
        self._forget_waiting(waiting)
        return written

    def flush(self, now: int) -> None:
        """Write the waiting impressions that count what they returned."""
        waiting = [impression for impression in list(self._impressions) if impression.counted]
        if waiting and not self._connections.read_only:
            with self.writing(now) as transaction:
                transaction.remember(waiting)
            self._forget_waiting(waiting)

    def _forget_waiting(self, written: Sequence[Impression]) -> None:
        for impression in written:
            with contextlib.suppress(ValueError):
                self._impressions.remove(impression)

    @contextlib.contextmanager
    def maintaining(self) -> Iterator[None]:
        """Hold the bank's turn of maintenance; whoever dies with it leaves it free.

        Raises:
            UnavailableError: another process or thread has it.
        """
        path = self.folder / MAINTENANCE
        with contextlib.ExitStack() as held:
            make_empty(path)
            with translated(path):
                turn = open_file(path, None)
                held.callback(turn.close)
                try:
                    turn.execute("PRAGMA journal_mode=MEMORY")
                    turn.execute("BEGIN EXCLUSIVE")
                except apsw.BusyError as error:
                    raise UnavailableError(
                        f"{self.folder}: another process maintains this bank; wait until it is done"
                    ) from error
            yield

    @contextlib.contextmanager
    def copying(self) -> Iterator[None]:
        """Keep purges out while a copy of rows, or what was learned of them, is written beside the bank.

        Raises:
            UnavailableError: a purge is under way.
        """
        with sharing(self.folder):
            yield

    @property
    def reranker_path(self) -> Path:
        """Where the learned reranker of the bank is kept, once there is one."""
        return self.folder / RERANKER

    def drop_reranker(self) -> None:
        """Delete the trained reranker: it may have been trained on what is forgotten in this transaction.

        Before the commit, so that no crash keeps it. One that has another name elsewhere gets a name that no
        recall reads and that a purge tells of.

        Raises:
            UnavailableError: it cannot be deleted.
        """
        with disk_errors(self.reranker_path, "deleted"):
            if not remove(self.reranker_path):
                self.reranker_path.replace(self.folder / f".{RERANKER}.{uuid.uuid4().hex}.left")

    def samples(self) -> Samples:
        """What the learned reranker may be trained on."""
        with self.reading() as reading:
            return read_samples(reading.connection)

    def used_by_recall(self) -> dict[str, tuple[str, ...]]:
        """By recall, the memories of it that were used."""
        with self.reading() as reading:
            return read_used(reading.connection)

    def merge_if_due(self, *, force: bool = False, alone: bool = False) -> bool:
        """Seal the tail when it is large; returns whether a generation was published.

        What was stored is safe before this begins, so a failure is remembered (see ``problems``) and the
        arrays stay in memory.

        Args:
            force: also when it is not large.
            alone: the caller keeps out all who write copies (see ``copies``).
        """
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
        if self._key is not None:
            return self._seal()
        with self._reading_index() as (connection, meta, position):
            snapshot, generation = position.snapshot, position.generation
            if not (force or merge_due(position)):
                # Nothing waits to be written any more, so nothing is in its way.
                self._merge_problem = ""
                return False
            origin = origin_of(connection, meta, sequence=snapshot.sequence)
        with translated(self._connections.path):
            won = merge(
                self._connections, meta, origin, snapshot, generation, self._files, self._index, alone=alone
            )
        self._merge_problem = ""
        return won

    def _seal(self) -> bool:
        """Seal the tail in memory; true when that was due and no one else moved on meanwhile."""
        with self._lock:
            position = self._position
            if position is None or not is_due(position):
                return False
            snapshot = position.snapshot
        done = sealed(position, snapshot)
        with self._lock:
            if self._position is not position:
                return False
            self._position = done
        return True

    @property
    def encrypted(self) -> bool:
        """Whether the rows are encrypted and nothing derived from them may be written."""
        return self._key is not None

    def problems(self) -> list[str]:
        """What is wrong with the index right now; recall works all the same."""
        with self._lock:
            found = self._position.problem if self._position else ""
        return [problem for problem in (found, self._merge_problem) if problem]

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes; see ``bank.Bank.stats``."""
        with self.reading() as reading:
            counts = (
                reading.connection.execute(
                    "SELECT (SELECT count(DISTINCT id) FROM memories), (SELECT count(*) FROM memories),"
                    " (SELECT count(*) FROM episodes),"
                    " (SELECT count(*) FROM vectors WHERE embedder IS ?1), (SELECT count(*) FROM entities),"
                    " (SELECT count(*) FROM links WHERE embedder IN (0, ?1)), (SELECT count(*) FROM jobs"
                    f" WHERE task NOT IN ({ALL}))",
                    (reading.meta.embedder,),
                ).fetchone()
                or (0,) * 7
            )
            model, following = reading.embedder(), reading.following()
            with self._lock:
                tail = self._position.tail.rows if self._position else 0
            return {
                "memories": counts[0],
                "versions": counts[1],
                "episodes": counts[2],
                "with_vector": counts[3],
                "entities": counts[4],
                "links": counts[5],
                "waiting": counts[6],
                "with_ttl": count_expiring(reading.connection),
                "ttl_defaults": self.ttl_defaults.to_dict(),
                "enrichment": described_jobs(reading.connection),
                "embedder": model.name,
                "dimension": model.dimension,
                "following_embedder": following.name if following else "",
                "sparse_encoder": reading.sparse_encoder()[0],
                "sequence": reading.meta.sequence,
                "generation": reading.meta.generation,
                "blocks": len(reading.snapshot.blocks),
                "tail_rows": tail,
                "read_only": self._connections.read_only,
                "encrypted": self.encrypted,
                "sqlite": engine(),
                "disk_bytes": _disk_bytes(self.folder),
                "problems": self.problems(),
            }

    def verify(self, now: int | None = None) -> VerifyReport:
        """Check rows, change log, audit log, index files and arrays; changes nothing.

        Args:
            now: the clock, microseconds UTC; notes name what was recorded after it. ``None`` = no such notes.
        """
        try:
            with self.reading() as reading:
                report = verify(
                    reading.connection, reading.meta, reading.snapshot, self._files, self._index, now
                )
        except DamagedError:
            report = self._verify_without_arrays(now)
        found = [problem for problem in self.problems() if problem not in report.problems]
        audit, notes = self._audit_found()
        return VerifyReport(
            report.checked, (*report.problems, *found, *audit), tuple(sorted({*report.notes, *notes}))
        )

    def _audit_found(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Problems of the audit log, and what to note about it."""
        try:
            with self._rows_only() as connection:
                rows = connection.execute("SELECT count(*) FROM audit").get
            if self._auditor() is None:
                note = f"{rows} rows of the audit log are unchecked: its key is missing"
                return (), (note,) if rows else ()
            return self.audit_verify().problems, ()
        except StoreError as error:
            if type(error) is StoreError or isinstance(error, ReplacedError):
                # Closed, deleted or moved away meanwhile: no problem of the log.
                raise
            return (f"audit: cannot be checked ({error})",), ()

    def repair(self, now: int) -> VerifyReport:
        """Make everything derived anew from the rows, then verify; rows are not touched."""
        with write_transaction(self._connections) as connection:
            meta = read_meta(connection)
            connection.execute("UPDATE meta SET generation=0, epoch=?", (uuid.uuid4().hex,))
            self._audit(connection, meta, "repair", now)
        self._delete_former_index()
        with contextlib.suppress(DamagedError):
            self.merge_if_due(force=True)
        report = self.verify(now)
        return VerifyReport(report.checked, report.problems, (*report.notes, "the index was rebuilt"))

    # -- going over to another embedder

    @contextlib.contextmanager
    def going_over(self, given_up: Collection[int]) -> Iterator[GoingOver | None]:
        """Open a write transaction with a snapshot by the vectors of the following embedder.

        ``None`` when the bank does not go over to another, or a row that is not *given_up* has no vector yet.

        Args:
            given_up: ordinals of rows that the following embedder cannot encode.
        """
        with write_transaction(self._connections) as connection:
            meta, run = read_meta(connection), read_run(connection)
            if run is None:
                self._following = None
                yield None
                return
            after = self._following.snapshot.rows - 1 if self._following else -1
            rows = missing(connection, run.number, after, len(given_up) + 1)
            if any(row.ordinal not in given_up for row in rows):
                yield None
                return
            ours = replace(meta, embedder=run.number, generation=0)
            # Taken away while it changes, as in ``_catch_up``.
            before, self._following = self._following, None
            following = catch_up(connection, ours, before, self._files, self._index, None)
            self._following = following
            yield GoingOver(connection, meta, run, following.snapshot, self._sealer(connection))
            write_numbers(connection)

    def write_following(self, given_up: Collection[int]) -> int:
        """Write the index of the following embedder ahead of the switch; its generation, 0 = none was."""
        with self.going_over(given_up) as going:
            if going is None:
                return 0
            origin = origin_of(
                going.connection, replace(going.meta, embedder=going.run.number), sequence=going.meta.sequence
            )
        snapshot = going.snapshot
        blocks = [join_blocks([block], snapshot.expired, snapshot.dimension) for block in snapshot.blocks]
        gone = [ordinal for ordinal, stamp in snapshot.expired.items() if stamp == BEGINNING]
        graph = snapshot.graph.sealed(np.array(gone, np.int64))
        with translated(self._connections.path), joined(self.folder) as may_write:
            if not may_write or not is_unchanged(going.connection, going.meta, snapshot.sequence):
                return 0
            number = free_number(self._files, self._index, going.meta.generation)
            written = write_new(self._files, self._index, number, origin, blocks, {}, graph)
        return number if written else 0

    def is_current(self, going: GoingOver, generation: int) -> bool:
        """Whether an index that was written ahead can still become the bank's."""
        if generation <= going.meta.generation:
            return False
        try:
            found = read_generation(self._files, self._index, generation).origin
        except (FileNotFoundError, DamagedError):
            return False
        ours = replace(going.meta, embedder=going.run.number)
        return found == origin_of(going.connection, ours, sequence=found.sequence)

    def sweep_index(self) -> None:
        """Delete generations that the bank's own does not use, after it went over to another embedder."""
        self._following = None
        with translated(self._connections.path):
            number = read_meta(self._connections.get()).generation
        self._remove_unused(number)

    # -- forgetting

    def forget(
        self, wanted: Selection, now: int, *, purge: bool = False, dry_run: bool = False, actor: str = ""
    ) -> Receipt:
        """Erase what is meant; see ``forgetting``.

        Args:
            wanted: which memories.
            now: the clock, microseconds UTC.
            purge: also leave no byte of them in any file.
            dry_run: undo it before the commit; the receipt says what would have gone.
            actor: for the audit log.
        """
        ids: list[str] = []
        rows: dict[str, int] = {}
        names = 0
        try:
            with self.writing(now, actor) as transaction:
                ids = select(transaction.connection, wanted)
                before = count_tables(transaction.connection)
                transaction.erase(ids)
                if purge:
                    drop_replies(transaction.connection)
                    drop_unmentioned(transaction.connection)
                rows = lost(before, count_tables(transaction.connection))
                if purge:
                    names = blot_out_names(transaction.connection)
                _end_if(dry_run)
                if ids:
                    self.drop_reranker()
        except _DryRunError:
            return Receipt(DRY_RUN, len(ids), tuple(ids), rows, names)
        status, left = self.purge() if purge else (ERASED, ())
        return Receipt(status, len(ids), tuple(ids), rows, names, left)

    def purge(self) -> tuple[str, tuple[str, ...]]:
        """Leave nothing of erased rows in any file.

        Returns:
            ``complete``, or the first thing it still waits for; and the files that stay and may hold some of
            it, by their paths below the store's folder.
        """
        self._impressions.clear()
        if self._key is not None:
            with self._lock:
                self._position = None
        # Nobody writes what he read before until it is done; who comes then looks whether it was erased.
        with alone(self.folder, forgetting.PATIENCE_MILLISECONDS) as by_itself:
            copies: tuple[Path, ...] = ()
            swept = indexed = synced = False
            # The rows are gone by now. What the disk refuses here is still to do, and said so.
            with contextlib.suppress(OSError):
                copies = self._sweep()
                swept = by_itself and not copies
            with contextlib.suppress(OSError):
                indexed = self._purge_index(alone=by_itself)
            cleared = self.recall_jobs.clear(forgetting.PATIENCE_MILLISECONDS)
            with contextlib.suppress(OSError):
                self._files.sync_folder(self.folder)
                synced = True
            with translated(self._connections.path):
                cut = cut_log(self._connections.get())
        done = {
            PENDING_INDEX: indexed,
            PENDING_READERS: cut,
            PENDING_COPIES: swept and synced,
            PENDING_JOBS: cleared,
        }
        left = copies if indexed else (*copies, *self._index_left())
        status = next((pending for pending, ready in done.items() if not ready), COMPLETE)
        return status, tuple(str(path.relative_to(self.folder.parent)) for path in left)

    def _sweep(self) -> tuple[Path, ...]:
        """Remove files left by crashed processes beside the rows; those that stay."""
        for path in left_overs(self.folder):
            remove_if_dead(path)
        return (*left_overs(self.folder), *sweep_store(self.folder.parent))

    def _index_left(self) -> list[Path]:
        """Generations that the bank's own does not use."""
        used: Collection[int] = ()
        with contextlib.suppress(SimonidesError, FileNotFoundError), translated(self._connections.path):
            number = read_meta(self._connections.get()).generation
            used = used_generations(read_generation(self._files, self._index, number))
        return [self._index / name for name in self._others(used)]

    def _purge_index(self, *, alone: bool = False) -> bool:
        """Write the index without erased rows and delete every other generation; false when that failed."""
        for _ in range(_TRIES):
            if not self._files.names(self._index):
                return True
            with write_transaction(self._connections) as connection:
                unused = self._key is not None or not read_meta(connection).generation
                if alone and unused and self._delete_index(frozenset()):
                    return True
            self.merge_if_due(force=True, alone=alone)
            # A load writes the generation that its commit names inside its own transaction: not now.
            with write_transaction(self._connections) as connection:
                meta = read_meta(connection)
                try:
                    current = read_generation(self._files, self._index, meta.generation)
                except (FileNotFoundError, DamagedError):
                    continue
                if current.origin.epoch != meta.epoch or current.origin.sequence < meta.sequence:
                    continue
                used = used_generations(current)
                left = not self._delete_index(used)
                for path in replaced_files(self._files, self._index, current):
                    self._files.remove_folder(path)
                for number in sorted(used):
                    self._files.sync_folder(self._index / str(number))
                if not left and not replaced_files(self._files, self._index, current):
                    return True
        return False

    def _delete_index(self, used: Collection[int]) -> bool:
        """Delete all of the index folder but generations in *used*, for good; whether nothing else stays."""
        self._remove_others(used)
        self._files.sync_folder(self._index)
        return not self._others(used)

    def _remove_others(self, used: Collection[int]) -> None:
        for name in self._others(used):
            self._files.remove_folder(self._index / name)

    def _others(self, used: Collection[int]) -> list[str]:
        """All of the index folder but generations in *used*.

        Where the folder is a link, what is no generation there is not ours.
        """
        linked = self._index.is_symlink()
        names = self._files.names(self._index)
        return [name for name in names if (int(name) not in used if name.isdecimal() else not linked)]

    # -- backup

    @_copying
    def backup(self, target: Path | IO[bytes]) -> Saved:
        """Copy the rows to a new file, or into an open one, while the bank is in use; see ``backup``."""
        with translated(self._connections.path):
            connection = self._connections.get()
            if isinstance(target, os.PathLike):
                return write_backup(connection, target, self._key)
            return send_backup(connection, self.folder, target, self._key)

    @_copying
    def put_back(self, path: Path, now: int) -> Saved:
        """Replace all rows by those of a backup; every process that has the bank open starts anew."""
        audited = False
        with contextlib.suppress(DamagedError), self._rows_only() as connection:
            audited = has_entries(connection)
        if audited and self._auditor() is None:
            raise UnavailableError(
                f"{self.folder}: the bank is audited and the audit key is missing; pass `audit_key=` or "
                "restore audit.key, so that the restore is logged"
            )

        def prepare(folder: Path) -> VerifyReport:
            copied = EmbeddedBank(folder, self._analyser, create=False, key=self._key)
            try:
                with write_transaction(copied._connections) as connection:
                    # The index of the bank that was backed up is elsewhere; that is no damage.
                    connection.execute("UPDATE meta SET generation=0, epoch=?", (uuid.uuid4().hex,))
                report = copied.verify(now)
                with write_transaction(copied._connections) as connection:
                    connection.execute("UPDATE meta SET generation=0, epoch=?", (uuid.uuid4().hex,))
                    meta = read_meta(connection)
                    self._audit(connection, meta, RESTORE, now)
                    if (auditor := self._auditor()) is not None and self._recall_log.is_on:
                        # The rows that come back may say otherwise.
                        self._recall_log.begin(auditor, Told(START, "", now, meta.sequence))
                        self._audit(connection, meta, RECALLS_ON, now)
                return report
            finally:
                copied.close()

        saved = put_back(self._connections, path, prepare)
        self._switches = 0, Switches(0, None)
        self._impressions.clear()
        self.drop_reranker()
        with self._lock:
            self._position = None
        # The rows are back. What cannot be deleted now belongs to another epoch, so nobody reads it.
        with contextlib.suppress(UnavailableError):
            self._delete_former_index()
        return saved

    def _delete_former_index(self) -> None:
        """Delete the index of rows that were replaced, but not what was published since."""
        # A load writes the generation that its commit names inside its own transaction: not now.
        with write_transaction(self._connections) as connection:
            number = read_meta(connection).generation
            used: Collection[int] = ()
            if number:
                with contextlib.suppress(FileNotFoundError, DamagedError):
                    used = used_generations(read_generation(self._files, self._index, number))
            self._remove_others(used)

    # -- audit

    def start_audit(self, now: int) -> Path | None:
        """Audit every change from now on, by the key that was handed in, or else one beside the bank.

        Returns:
            the key's file, made where it was missing; ``None`` = the key was handed in.

        Raises:
            NotFoundError: the log was begun, and its key is not here.
            UnavailableError: it was begun with another key.
        """
        with write_transaction(self._connections) as connection:
            begun = has_entries(connection)
            if begun:
                auditor = self._auditor()
                if auditor is None:
                    raise NotFoundError(
                        f"{self.folder}: the audit key of its audit log is missing; restore its "
                        f"{KEY_FILE}, or pass `audit_key=`"
                    )
                auditor.check_key(connection)
            else:
                auditor = self._handed_in() or Auditor(make_key(self.folder))
                meta = read_meta(connection)
                auditor.append(connection, meta, "", AUDIT_START, now, began=meta.sequence)
        if self._audit_key is not None:
            return None
        if not begun:
            adopt_key(self.folder)
        return self.folder / KEY_FILE

    def audit_recalls(self, now: int, *, on: bool) -> bool:
        """Begin or end the log of recalls; false when it was so before.

        Raises:
            NotFoundError: there is no key.
        """
        auditor = self._audited()
        with write_transaction(self._connections) as connection:
            # First: the other log is a file of its own, which no rollback clears.
            auditor.check_key(connection)
            meta = read_meta(connection)
            switched = self._recall_log.switch(auditor, Told(START if on else STOP, "", now, meta.sequence))
            if switched:
                verb = RECALLS_ON if on else RECALLS_OFF
                auditor.append(connection, meta, "", verb, now, began=meta.sequence)
        return switched

    @property
    def recalls_audited(self) -> bool:
        """Whether what is handed out is to be told first."""
        return self._recall_log.is_on

    def _read_switches(self) -> Switches:
        """What came back with a backup says nothing of the file that is here. Also inside a transaction."""
        with translated(self._connections.path):
            connection = self._connections.get()
            newest = connection.execute("SELECT coalesce(max(number), 0) FROM audit").get
            if newest != self._switches[0]:
                # Only the new rows, for the log may be long; all of them where it became shorter.
                seen, known = self._switches if newest > self._switches[0] else (0, Switches(0, None))
                count, since = known.count, known.on_since
                for verb, at in connection.execute(
                    "SELECT verb, at FROM audit WHERE number > ? AND verb IN (?, ?, ?) ORDER BY number",
                    (seen, RECALLS_ON, RECALLS_OFF, RESTORE),
                ):
                    count += verb != RESTORE
                    since = int(at) if verb == RECALLS_ON else None
                self._switches = newest, Switches(count, since)
        return self._switches[1]

    def tell(self, told: Told) -> None:
        """Audit what is about to be handed out.

        Raises:
            UnavailableError: that cannot be written, or not by this key; nothing may be handed out.
        """
        auditor = self._auditor()
        if auditor is None:
            raise UnavailableError(
                "recalls of this bank are audited and the audit key is missing; pass `audit_key=` or "
                "restore audit.key"
            )
        with translated(self._connections.path):
            auditor.check_key(self._connections.get())
        self._recall_log.append(auditor, told)

    def audit_verify(self, anchor: str | None = None, recalls_anchor: str | None = None) -> AuditReport:
        """Check both audit logs; see ``auditing`` and ``recall_audit``.

        Raises:
            NotFoundError: there is no key.
        """
        auditor = self._audited()
        with self._rows_only() as connection:
            report = auditor.verify(connection, read_meta(connection, checked=False), anchor)
        recalls = self._recall_log.verify(auditor, self._read_switches().count, recalls_anchor)
        problems = (*report.problems, *recalls.problems)
        return AuditReport(report.entries, report.head, problems, recalls.entries, recalls.head)

    def audit_entries(self, most: int | None = None, *, recalls: bool = False) -> list[Entry]:
        """Rows of the log of changes, or of that of recalls, newest first."""
        if recalls:
            return self._recall_log.entries(most)
        with self._rows_only() as connection:
            return read_entries(connection, most)

    def _audited(self) -> Auditor:
        auditor = self._auditor()
        if auditor is None:
            raise NotFoundError(
                "this bank has no audit key; start the audit (`simonides audit start`), or pass `audit_key=`"
            )
        return auditor

    def _auditor(self) -> Auditor | None:
        if (handed_in := self._handed_in()) is not None:
            return handed_in
        key = find_key(self.folder, self._log_goes_by)
        return None if key is None else Auditor(key)

    def _handed_in(self) -> Auditor | None:
        return None if self._audit_key is None else Auditor(self._audit_key, handed_in=True)

    def _log_goes_by(self, key: bytes | None) -> bool:
        """Whether the audit log has rows, and goes by *key* where one is given."""
        with translated(self._connections.path):
            connection = self._connections.get()
            if not has_entries(connection):
                return False
            with contextlib.suppress(UnavailableError):
                if key is not None:
                    Auditor(key).check_key(connection)
                return True
        return False

    def _sealer(self, connection: apsw.Connection) -> Auditor | None:
        """Who adds rows to the log that *connection* sees; ``None`` = the bank is not audited.

        Raises:
            UnavailableError: the log goes by another key.
        """
        auditor = self._auditor()
        if auditor is not None:
            auditor.check_key(connection)
        return auditor

    def _audit(self, connection: apsw.Connection, meta: Meta, verb: str, now: int) -> None:
        """A row about a transaction that makes no change of the log."""
        # A backup may bring rows of another key; all that follows goes by this one.
        auditor = self._auditor() if verb == RESTORE else self._sealer(connection)
        if auditor is not None:
            auditor.append(connection, meta, "", verb, now, began=meta.sequence)

    @contextlib.contextmanager
    def _rows_only(self) -> Iterator[apsw.Connection]:
        """A read transaction without arrays."""
        with read_transaction(self._connections) as connection:
            yield connection

    @_copying
    def export(self, target: str | os.PathLike[str] | IO[bytes]) -> Counts:
        """Write everything in the bank at one moment; see ``exporting``."""
        with self.reading() as reading:
            write_export(target, export_lines(reading.connection, reading.meta))
            return count_rows(reading.connection)

    def restore(
        self, path: Path, analyser: Analyser, now: int, *, progress: Callable[[int, int], None] | None = None
    ) -> Restored:
        """Import an export, batch by batch; see ``restoring``.

        Args:
            path: the file.
            analyser: makes terms anew when the file's are those of another version.
            now: the clock, microseconds UTC.
            progress: told (lines done, lines) after each batch.
        """

        def after_batch(done: int, lines: int) -> None:
            self.merge_if_due()
            if progress:
                progress(done, lines)

        return restore(
            self._connections,
            path,
            analyser,
            epoch=uuid.uuid4().hex,
            now=now,
            after_batch=after_batch,
            find_auditor=self._sealer,
        )

    def known_contents(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the content keys that some row bears, whatever became of it."""
        with translated(self._connections.path):
            return known(self._connections.get(), "content_key", keys)

    def due(self, now: int, most: int) -> list[Due]:
        """See ``expiry.read_due``; no index is brought up to date for it."""
        with translated(self._connections.path):
            return read_due(self._connections.get(), now, most)

    def claimed(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Body hashes by key, of the keys that are claimed."""
        with translated(self._connections.path):
            return claimed_bodies(self._connections.get(), keys)

    def _verify_without_arrays(self, now: int | None) -> VerifyReport:
        """Rows that cannot be read make no arrays; say which rows these are."""
        with self._rows_only() as connection:
            meta = read_meta(connection, checked=False)
            return verify(connection, meta, None, self._files, self._index, now)

    @property
    def replaced(self) -> bool:
        """Whether the rows' file was moved away or replaced since it was opened."""
        return self._connections.replaced

    @property
    def log_in_the_way(self) -> bool:
        """Whether the file in its place cannot be opened: the log of the old one lies beside it."""
        return self._connections.log_in_the_way

    def close(self) -> None:
        """Close every connection; the bank cannot be used afterwards."""
        self._connections.close()
        self._recall_log.close()
        with self._lock:
            self._position = None


class _DryRunError(Exception):
    """Ends a dry run's transaction without a commit; never leaves this module."""


def _end_if(dry_run: bool) -> None:  # noqa: FBT001 the one thing it is told
    if dry_run:
        raise _DryRunError


def _read_setting(path: Path, most: int) -> str | None:
    """The text of a small file of the bank's folder; ``None`` = there is none."""
    with disk_errors(path, "read"):
        try:
            with path.open("rb") as stream:
                return read_at_most(stream, most, str(path)).decode("utf-8", "replace")
        except FileNotFoundError:
            return None


def _make_private(folder: Path) -> None:
    make_folder(folder)
    database = folder / "memory.db"
    if not make_empty(database) and not database.is_file():
        raise UnavailableError(f"{database}: is no file; remove it, or choose another --store")


def _disk_bytes(folder: Path) -> int:
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            # Another process may merge meanwhile and delete what was listed a moment ago.
            with contextlib.suppress(FileNotFoundError):
                size += os.stat(os.path.join(place, name)).st_size  # noqa: PTH116, PTH118 os.walk gives texts
    return size
