"""Migrates a bank to another embedder, in write transactions that see it by the vectors of that embedder."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.backends.embedded.catch_up import Position, catch_up, origin_of
from simonides.backends.embedded.change_log import read_meta, write_numbers
from simonides.backends.embedded.connection import translated, write_transaction
from simonides.backends.embedded.merge import free_number, is_unchanged, write_new
from simonides.backends.embedded.models import link_rows, missing, read_run, switch
from simonides.backends.embedded.purge_lock import joined
from simonides.errors import DamagedError
from simonides.index.block import join_blocks
from simonides.index.generation import read_generation
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import apsw

    from simonides.backends.embedded.auditing import Auditor
    from simonides.backends.embedded.bank_audit import BankAudit
    from simonides.backends.embedded.connection import Connections
    from simonides.backends.embedded.index_cache import IndexCache
    from simonides.index.snapshot import IndexSnapshot
    from simonides.records.model_identity import EmbedderMigration
    from simonides.storage.bank import MigrationWriter
    from simonides.storage.reader import Meta


@dataclass(frozen=True, slots=True)
class MigrationTransaction:
    """See ``storage.bank.MigrationWriter``."""

    connection: apsw.Connection
    meta: Meta
    run: EmbedderMigration
    snapshot: IndexSnapshot
    auditor: Auditor | None

    def add_links(self, found: Iterable[tuple[int, int, float]], linked: int) -> int:
        return link_rows(self.connection, self.run.number, found, linked)

    def switch(self, generation: int, now: int) -> None:
        switch(self.connection, self.meta, self.run.number, generation)
        if self.auditor is not None:
            after = read_meta(self.connection)
            self.auditor.append(self.connection, after, "", "reembed", now, began=self.meta.sequence)


class EmbedderMigrations:
    """Transactions of a bank that migrates to another embedder."""

    def __init__(self, connections: Connections, cache: IndexCache, audit: BankAudit) -> None:
        self._connections = connections
        self._cache = cache
        self._audit = audit
        # The bank by the vectors of the embedder that this process lets it migrate to.
        self._target_position: Position | None = None

    @contextlib.contextmanager
    def writing(self, given_up: Collection[int]) -> Iterator[MigrationTransaction | None]:
        with write_transaction(self._connections) as connection:
            meta, run = read_meta(connection), read_run(connection)
            if run is None:
                self._target_position = None
                yield None
                return
            after = self._target_position.snapshot.rows - 1 if self._target_position else -1
            rows = missing(connection, run.number, after, len(given_up) + 1)
            if any(row.ordinal not in given_up for row in rows):
                yield None
                return
            ours = replace(meta, embedder=run.number, generation=0)
            # Taken away while it changes, as in ``_catch_up``.
            before, self._target_position = self._target_position, None
            target = catch_up(connection, ours, before, self._cache.files, self._cache.folder, None)
            self._target_position = target
            yield MigrationTransaction(
                connection, meta, run, target.snapshot, self._audit.auditor_of(connection)
            )
            write_numbers(connection)

    def write_index(self, given_up: Collection[int]) -> int:
        with self.writing(given_up) as going:
            if going is None:
                return 0
            origin = origin_of(
                going.connection, replace(going.meta, embedder=going.run.number), sequence=going.meta.sequence
            )
        snapshot = going.snapshot
        blocks = [join_blocks([block], snapshot.expired, snapshot.dimension) for block in snapshot.blocks]
        gone = [ordinal for ordinal, stamp in snapshot.expired.items() if stamp == BEGINNING]
        graph = snapshot.graph.sealed(np.array(gone, np.int64))
        with translated(self._connections.path), joined(self._connections.path.parent) as may_write:
            if not may_write or not is_unchanged(going.connection, going.meta, snapshot.sequence):
                return 0
            number = free_number(self._cache.files, self._cache.folder, going.meta.generation)
            written = write_new(self._cache.files, self._cache.folder, number, origin, blocks, {}, graph)
        return number if written else 0

    def is_current(self, going: MigrationWriter, generation: int) -> bool:
        assert isinstance(going, MigrationTransaction)
        if generation <= going.meta.generation:
            return False
        try:
            found = read_generation(self._cache.files, self._cache.folder, generation).origin
        except (FileNotFoundError, DamagedError):
            return False
        ours = replace(going.meta, embedder=going.run.number)
        return found == origin_of(going.connection, ours, sequence=found.sequence)

    def sweep_index(self) -> None:
        self._target_position = None
        with translated(self._connections.path):
            number = read_meta(self._connections.get()).generation
        self._cache.remove_unused(number)
