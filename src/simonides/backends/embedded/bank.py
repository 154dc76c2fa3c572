"""A bank in one folder: ``memory.db`` for the rows, ``index/`` for the arrays.

Several threads and several processes may use one bank at once. Writers queue at BEGIN IMMEDIATE; a reader
never waits for a writer.
"""

from __future__ import annotations

import contextlib
import functools
import os
import uuid
from collections import deque
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import apsw

from simonides.backends.embedded.accesses import read_samples, read_used
from simonides.backends.embedded.auditing import has_entries
from simonides.backends.embedded.backup import restore_backup, send_backup, write_backup
from simonides.backends.embedded.bank_audit import BankAudit
from simonides.backends.embedded.bulk_rows import known
from simonides.backends.embedded.change_log import create_meta, find_meta, read_meta
from simonides.backends.embedded.connection import (
    Connections,
    read_transaction,
    translated,
    write_transaction,
)
from simonides.backends.embedded.encryption import check_room, engine, open_file
from simonides.backends.embedded.expiry import ALL, count_expiring, read_due
from simonides.backends.embedded.exporting import count_rows, export_lines
from simonides.backends.embedded.forgetting import (
    count_tables,
    drop_replies,
    drop_unmentioned,
    lost,
    overwrite_unused_names,
    purge,
    select,
)
from simonides.backends.embedded.importing import import_rows
from simonides.backends.embedded.index_cache import IndexCache
from simonides.backends.embedded.job_queue import described_jobs
from simonides.backends.embedded.keys import claimed_bodies
from simonides.backends.embedded.migrating import EmbedderMigrations
from simonides.backends.embedded.migrations import migrate
from simonides.backends.embedded.purge_lock import sharing
from simonides.backends.embedded.reader import Reading
from simonides.backends.embedded.reanalysis import reanalyse
from simonides.backends.embedded.recall_jobs import RecallJobs
from simonides.backends.embedded.rows import keys
from simonides.backends.embedded.settings import BankSettings
from simonides.backends.embedded.stale_files import MAINTENANCE, RERANKER, check_not_emptied
from simonides.backends.embedded.transaction import WriteTransaction
from simonides.backends.embedded.verification import verify
from simonides.errors import DamagedError, UnavailableError
from simonides.files import disk_errors, make_empty, make_folder, remove
from simonides.gc_pause import gc_paused
from simonides.index.files import FileLayer
from simonides.records.audit import VerifyReport
from simonides.records.receipt import DRY_RUN, ERASED, Receipt, Saved, Selection
from simonides.storage.export_format import write_export
from simonides.storage.recent_recalls import RecentRecalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from simonides.backends.embedded.catch_up import Position
    from simonides.backends.embedded.encryption import Key
    from simonides.index.block import Block, IndexPart
    from simonides.index.snapshot import IndexSnapshot
    from simonides.protocols import Analyser
    from simonides.records.impression import Impression, Samples
    from simonides.records.receipt import Counts, Restored
    from simonides.records.time_to_live import Due

_P = ParamSpec("_P")
_R = TypeVar("_R")
_LOADING_CACHE_KB = 256 * 1024
MOST_IMPRESSIONS = 1_000
"""Recalls that wait in memory until something is said to be of use; the oldest falls out."""
_STATS = f"""
SELECT (SELECT count(DISTINCT id) FROM {keys("memories")}), (SELECT count(*) FROM {keys("memories")}),
  (SELECT count(*) FROM {keys("episodes")}), (SELECT count(*) FROM {keys("vectors")} WHERE embedder IS ?1),
  (SELECT count(*) FROM {keys("entities")}), (SELECT count(*) FROM {keys("links")} WHERE embedder IN (0, ?1)),
  (SELECT count(*) FROM {keys("jobs")} WHERE task NOT IN ({ALL}))
"""


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
        analyser: makes terms; a bank whose terms another version made is analysed anew once.
        create: whether a missing bank is made.
        new_id: gives the identity of a new bank.
        files: the file layer of the index.
        audit_key: seals the audit log; ``None`` = the key in the folder, or no audit where there is none.
        key: encrypts the rows, and keeps the index in memory.

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
        self._analyser = analyser
        self._impressions: deque[Impression] = deque(maxlen=MOST_IMPRESSIONS)
        self.recent_recalls = RecentRecalls()
        database = folder / "memory.db"
        if not database.is_file():
            check_not_emptied(database)
            if not create:
                raise UnavailableError(f"{folder}: holds no bank; retain something first, or check --store")
            _make_private(folder)
        self._connections = connections = Connections(database, key)
        self.cache = IndexCache(
            connections, files or FileLayer(), folder / "index", in_memory=key is not None
        )
        self.audit = BankAudit(folder, connections, audit_key, key)
        self.migration = EmbedderMigrations(connections, self.cache, self.audit)
        try:
            migrate(self._connections)
            self._settle(analyser, new_id)
            self.settings = BankSettings(folder)
        except BaseException:
            # Close now: a failed rollback keeps the lock until garbage collection.
            self.close()
            raise

    def _settle(self, analyser: Analyser, new_id: Callable[[], str]) -> None:
        with translated(self._connections.path):
            found = find_meta(self._connections.get())
        if self._connections.read_only or (found and found.analyser == analyser.fingerprint):
            return
        with write_transaction(self._connections) as connection:
            create_meta(connection, new_id(), new_id(), analyser.fingerprint)
            if read_meta(connection).analyser != analyser.fingerprint:
                reanalyse(connection, analyser, new_id())

    @contextlib.contextmanager
    def reading(self) -> Iterator[Reading]:
        with self.cache.reading() as (connection, meta, position):
            yield Reading(connection, meta, position.snapshot)
        self.cache.publish_rebuilt()

    @contextlib.contextmanager
    def writing(
        self, now: int, actor: str = "", parts: Sequence[IndexPart] = ()
    ) -> Iterator[WriteTransaction]:
        block: Block | None = None
        generation = 0
        try:
            with write_transaction(self._connections) as connection:
                meta = read_meta(connection)
                snapshot: IndexSnapshot | DamagedError
                position: Position | None = None
                try:
                    _, position = self.cache.catch_up_alone(connection)
                    snapshot = position.snapshot
                except DamagedError as error:
                    # A row that makes no arrays can still be forgotten; ``WriteTransaction.snapshot`` raises.
                    snapshot = error
                auditor = self.audit.auditor_of(connection)
                transaction = WriteTransaction(
                    connection, meta, snapshot, now, self._analyser, auditor=auditor, actor=actor
                )
                yield transaction
                transaction.finish()
                if self._key is not None and transaction.versions.rows_added:
                    check_room(connection, transaction.meta.next_ordinal, self._connections.path)
                block = self.cache.loaded(transaction, parts)
                if block is not None and position is not None:
                    generation = self.cache.publish(transaction, position, block)
        except BaseException:
            if generation:
                self.cache.take_back(generation)
            raise
        if generation:
            self.cache.remove_unused(generation)
        elif block is not None:
            self.cache.feed(transaction.meta, block)
        self.merge_if_due()

    @contextlib.contextmanager
    def loading(
        self, now: int, actor: str = "", parts: Sequence[IndexPart] = ()
    ) -> Iterator[WriteTransaction]:
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

    def impress(self, impression: Impression) -> None:
        self._impressions.append(impression)

    def used(self, ids: Sequence[str], recall: str | None, principal: str, now: int) -> int:
        waiting = [shown for shown in list(self._impressions) if shown.counted or shown.recall == recall]
        with self.writing(now, principal) as transaction:
            transaction.remember(waiting)
            written = transaction.used(ids, recall, principal)
        self._forget_waiting(waiting)
        return written

    def flush(self, now: int) -> None:
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
        with sharing(self.folder):
            yield

    @property
    def reranker_path(self) -> Path:
        return self.folder / RERANKER

    def drop_reranker(self) -> None:
        with disk_errors(self.reranker_path, "deleted"):
            if not remove(self.reranker_path):
                self.reranker_path.replace(self.folder / f".{RERANKER}.{uuid.uuid4().hex}.left")

    def samples(self) -> Samples:
        with self.reading() as reading:
            return read_samples(reading.connection)

    def used_by_recall(self) -> dict[str, tuple[str, ...]]:
        with self.reading() as reading:
            return read_used(reading.connection)

    def merge_if_due(self, *, force: bool = False) -> bool:
        return self.cache.merge_if_due(force=force)

    @property
    def encrypted(self) -> bool:
        return self._key is not None

    def problems(self) -> list[str]:
        return self.cache.problems()

    def stats(self) -> Mapping[str, Any]:
        with self.reading() as reading:
            counts = reading.connection.execute(_STATS, (reading.meta.embedder,)).get
            model, migration = reading.embedder(), reading.migration()
            return {
                "memories": counts[0],
                "versions": counts[1],
                "episodes": counts[2],
                "with_vector": counts[3],
                "entities": counts[4],
                "links": counts[5],
                "waiting": counts[6],
                "with_ttl": count_expiring(reading.connection),
                "ttl_defaults": self.settings.ttl_defaults.to_dict(),
                "enrichment": described_jobs(reading.connection),
                "embedder": model.name,
                "dimension": model.dimension,
                "following_embedder": migration.model.name if migration else "",
                "sparse_encoder": reading.sparse_encoder()[0],
                "sequence": reading.meta.sequence,
                "generation": reading.meta.generation,
                "blocks": len(reading.snapshot.blocks),
                "tail_rows": self.cache.tail_rows,
                "read_only": self._connections.read_only,
                "encrypted": self.encrypted,
                "sqlite": engine(),
                "disk_bytes": _disk_bytes(self.folder),
                "problems": self.problems(),
            }

    def verify(self, now: int | None = None) -> VerifyReport:
        try:
            with self.reading() as reading:
                report = verify(
                    reading.connection,
                    reading.meta,
                    reading.snapshot,
                    self.cache.files,
                    self.cache.folder,
                    now,
                )
        except DamagedError:
            report = self._verify_without_arrays(now)
        found = [problem for problem in self.problems() if problem not in report.problems]
        audit, notes = self.audit.findings()
        return VerifyReport(
            report.checked, (*report.problems, *found, *audit), tuple(sorted({*report.notes, *notes}))
        )

    def repair(self, now: int) -> VerifyReport:
        with write_transaction(self._connections) as connection:
            meta = read_meta(connection)
            connection.execute("UPDATE meta SET generation=0, epoch=?", (uuid.uuid4().hex,))
            self.audit.append(connection, meta, "repair", now)
        self.cache.delete_former()
        with contextlib.suppress(DamagedError):
            self.merge_if_due(force=True)
        report = self.verify(now)
        return VerifyReport(report.checked, report.problems, (*report.notes, "the index was rebuilt"))

    # -- forgetting

    def forget(
        self, wanted: Selection, now: int, *, purge: bool = False, dry_run: bool = False, actor: str = ""
    ) -> Receipt:
        ids: list[str] = []
        rows: dict[str, int] = {}
        names = 0
        try:
            with self.writing(now, actor) as transaction:
                ids = select(transaction.connection, wanted)
                before = count_tables(transaction.connection)
                transaction.versions.erase(ids)
                if purge:
                    drop_replies(transaction.connection)
                    drop_unmentioned(transaction.connection)
                rows = lost(before, count_tables(transaction.connection))
                if purge:
                    names = overwrite_unused_names(transaction.connection)
                _end_if(dry_run)
                if ids:
                    self.drop_reranker()
        except _DryRunError:
            return Receipt(DRY_RUN, len(ids), tuple(ids), rows, names)
        status, left = self._purge() if purge else (ERASED, ())
        return Receipt(status, len(ids), tuple(ids), rows, names, left)

    def _purge(self) -> tuple[str, tuple[str, ...]]:
        self._impressions.clear()
        self.recent_recalls.clear()
        if self._key is not None:
            self.cache.drop()
        return purge(self._connections, self.cache, self.recall_jobs)

    # -- backup

    @_copying
    def backup(self, target: Path | IO[bytes]) -> Saved:
        with translated(self._connections.path):
            connection = self._connections.get()
            if isinstance(target, os.PathLike):
                return write_backup(connection, target, self._key)
            return send_backup(connection, self.folder, target, self._key)

    @_copying
    def restore(self, path: Path, now: int) -> Saved:
        audited = False
        with contextlib.suppress(DamagedError), read_transaction(self._connections) as connection:
            audited = has_entries(connection)
        if audited and self.audit.auditor() is None:
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
                    self.audit.restored(connection, read_meta(connection), now)
                return report
            finally:
                copied.close()

        saved = restore_backup(self._connections, path, prepare)
        self.audit.read_anew()
        self._impressions.clear()
        self.recent_recalls.clear()
        self.drop_reranker()
        self.cache.drop()
        # The rows are back. What cannot be deleted now belongs to another epoch, so nobody reads it.
        with contextlib.suppress(UnavailableError):
            self.cache.delete_former()
        return saved

    @_copying
    def export(self, target: str | os.PathLike[str] | IO[bytes]) -> Counts:
        with self.reading() as reading:
            write_export(target, export_lines(reading.connection, reading.meta))
            return count_rows(reading.connection)

    def import_export(
        self, path: Path, analyser: Analyser, now: int, *, progress: Callable[[int, int], None] | None = None
    ) -> Restored:

        def after_batch(done: int, lines: int) -> None:
            self.merge_if_due()
            if progress:
                progress(done, lines)

        return import_rows(
            self._connections,
            path,
            analyser,
            epoch=uuid.uuid4().hex,
            now=now,
            after_batch=after_batch,
            find_auditor=self.audit.auditor_of,
        )

    def known_contents(self, keys: Sequence[bytes]) -> set[bytes]:
        with translated(self._connections.path):
            return known(self._connections.get(), "content_key", keys)

    def due(self, now: int, most: int | None) -> list[Due]:
        with translated(self._connections.path):
            return read_due(self._connections.get(), now, most)

    def claimed(self, keys: Sequence[str]) -> dict[str, bytes]:
        with translated(self._connections.path):
            return claimed_bodies(self._connections.get(), keys)

    def _verify_without_arrays(self, now: int | None) -> VerifyReport:
        """Rows that cannot be read make no arrays; say which rows these are."""
        with read_transaction(self._connections) as connection:
            meta = read_meta(connection, checked=False)
            return verify(connection, meta, None, self.cache.files, self.cache.folder, now)

    @property
    def replaced(self) -> bool:
        return self._connections.replaced

    @property
    def log_in_the_way(self) -> bool:
        return self._connections.log_in_the_way

    def close(self) -> None:
        self._connections.close()
        self.audit.close()
        self.cache.drop()


class _DryRunError(Exception):
    """Ends a dry run's transaction without a commit; never leaves this module."""


def _end_if(dry_run: bool) -> None:  # noqa: FBT001 the one thing it is told
    if dry_run:
        raise _DryRunError


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
