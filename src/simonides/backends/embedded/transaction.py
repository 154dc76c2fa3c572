"""One open write transaction: what the write path may read and write before the commit.

Everything compares with the snapshot that was caught up inside this very transaction, plus the rows it wrote
itself. The parts share one ``WriteSession``; each writes its own tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded.accesses import prune_impressions, write_impressions, write_used
from simonides.backends.embedded.change_log import USE
from simonides.backends.embedded.entities import Entities
from simonides.backends.embedded.expiry import Expiries
from simonides.backends.embedded.job_queue import JobQueue
from simonides.backends.embedded.keys import Keys
from simonides.backends.embedded.maintenance import Maintenance
from simonides.backends.embedded.models import Models
from simonides.backends.embedded.reader import Reading
from simonides.backends.embedded.relations import Links, Relations
from simonides.backends.embedded.session import WriteSession
from simonides.backends.embedded.sources import Sources
from simonides.backends.embedded.versions import Versions
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from simonides.backends.embedded.auditing import Auditor
    from simonides.index.snapshot import IndexSnapshot
    from simonides.protocols import Analyser
    from simonides.records.impression import Impression
    from simonides.storage.reader import Meta


class WriteTransaction:
    """The rows of one bank inside BEGIN IMMEDIATE; made by ``EmbeddedBank.writing``.

    Each of its parts reads and writes one group of tables; see ``storage.writer``.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        meta: Meta,
        snapshot: IndexSnapshot | DamagedError,
        now: int,
        analyser: Analyser,
        auditor: Auditor | None = None,
        actor: str = "",
    ) -> None:
        self._session = session = WriteSession(connection, meta, now)
        self._auditor = auditor
        self._actor = actor
        self._began_at = meta.sequence
        self._snapshot = snapshot
        self.now = now
        self.sources = Sources(session)
        self.entities = Entities(session)
        self.versions = Versions(session, self.sources, self.entities, analyser)
        self.relations = Relations(session, self.entities.canonical)
        self.links = Links(session)
        self.queue = JobQueue(session)
        self.expiries = Expiries(session)
        self.keys = Keys(session)
        self.models = Models(session)
        self.maintenance = Maintenance(session, self.versions, self.expiries)

    @property
    def connection(self) -> apsw.Connection:
        """The connection that is in this transaction; for this package alone."""
        return self._session.connection

    @property
    def snapshot(self) -> IndexSnapshot:
        if isinstance(self._snapshot, DamagedError):
            raise self._snapshot
        return self._snapshot

    @property
    def meta(self) -> Meta:
        """The counters as they are now."""
        return self._session.meta

    @property
    def reading(self) -> Reading:
        """Reads the rows of this transaction; its snapshot is from before the writes."""
        return Reading(self._session.connection, self._session.meta, self.snapshot)

    @property
    def last_ingested(self) -> int:
        """The newest recorded time."""
        return self._session.meta.last_ingested

    def next_instant(self) -> int:
        """See ``WriteSession.next_instant``."""
        return self._session.next_instant()

    def instant_following(self, last: int) -> int:
        """See ``WriteSession.instant_following``."""
        return self._session.instant_following(last)

    def finish(self) -> None:
        """Store changes, counters and, where the bank is audited, a row about it; last before the commit."""
        self._session.write_log()
        if self._auditor is not None and self.meta.sequence > self._began_at:
            verb = "forget" if self.versions.has_erased else "write"
            self._auditor.append(
                self._session.connection, self.meta, self._actor, verb, self.now, began=self._began_at
            )

    # -- use

    def remember(self, impressions: Iterable[Impression]) -> None:
        """Store impressions, and the accesses of those that count what they returned."""
        self._log_use(write_impressions(self._session.connection, impressions, self.now))
        prune_impressions(self._session.connection)

    def used(self, ids: Sequence[str], recall: str | None, principal: str) -> int:
        """Store that memories were used, once per recall; returns how many accesses that made.

        Raises:
            InputError: there is no such recall of *principal*, or it did not return a memory.
            NotFoundError: a memory was forgotten meanwhile.
        """
        roots = self.versions.roots(ids)
        written = write_used(self._session.connection, roots, ids, recall, principal, self.now)
        self._log_use(written)
        for memory in ids:
            self.maintenance.return_archived(memory, "used")
        return written

    def _log_use(self, written: int) -> None:
        if written:
            # One change for the batch: readers then go on from the last access they saw.
            self._session.log(USE, written, self.now)
