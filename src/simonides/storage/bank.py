"""The storage of one bank, as everything above it uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import tzinfo
    from pathlib import Path
    from typing import IO

    from simonides.index.block import IndexPart
    from simonides.index.snapshot import IndexSnapshot
    from simonides.protocols import Analyser
    from simonides.records.audit import AuditReport, Entry, ReadAudit, VerifyReport
    from simonides.records.impression import Impression, Samples
    from simonides.records.model_identity import EmbedderMigration
    from simonides.records.recall import KeptJob
    from simonides.records.receipt import Counts, Receipt, Restored, Saved, Selection
    from simonides.records.time_to_live import Due, TtlDefaults
    from simonides.storage.reader import Meta, Reader
    from simonides.storage.recent_recalls import RecentRecalls
    from simonides.storage.writer import WriteTransaction


class MigrationWriter(Protocol):
    """One write transaction of a bank that migrates to another embedder."""

    @property
    def meta(self) -> Meta: ...

    @property
    def run(self) -> EmbedderMigration: ...

    @property
    def snapshot(self) -> IndexSnapshot:
        """The bank by the vectors of the target, caught up inside the transaction."""

    def add_links(self, found: Iterable[tuple[int, int, float]], linked: int) -> int:
        """Store semantic links (source, target, cosine) and that all rows below *linked* have theirs."""

    def switch(self, generation: int, now: int) -> None:
        """Make the target the embedder of the bank; *generation* is its index, 0 = it is made later."""


class RecallJobs(Protocol):
    """Recalls that wait for texts of a helper."""

    def add(self, job: str, principal: str, request: str) -> None:
        """Keep a job; one that is there stays as it is; ``UnavailableError``: the file cannot be written."""

    def find(self, job: str, principal: str) -> KeptJob | None:
        """A job of this principal; ``None`` where there is none."""

    def keep_texts(self, job: str, texts: str) -> str:
        """Keep what the helpers gave, unless another process has kept its own; returns what is kept."""


class Settings(Protocol):
    """What the owner of a bank set."""

    @property
    def zone(self) -> tzinfo | None: ...

    @property
    def ttl_defaults(self) -> TtlDefaults: ...

    def set_zone(self, name: str | None) -> None:
        """Keep the bank's own time zone; ``None`` = it has none.

        Raises:
            InputError: there is no such zone.
            UnavailableError: the folder cannot be written.
        """

    def set_ttl_defaults(self, defaults: TtlDefaults) -> None:
        """Keep the times to live of what states none; ``UnavailableError``: the folder cannot be written."""


class Audit(Protocol):
    """The audit logs of a bank."""

    def start(self, now: int) -> Path | None:
        """Audit every change from now on, by the key that was handed in, or else one beside the bank.

        Returns:
            the key's file, made where it was missing; ``None`` = the key was handed in.

        Raises:
            NotFoundError: the log was begun, and its key is not here.
            UnavailableError: it was begun with another key.
        """

    def switch_recalls(self, now: int, *, on: bool) -> bool:
        """Begin or end the log of recalls.

        False when it was so before. ``NotFoundError``: there is no key.
        """

    @property
    def covers_recalls(self) -> bool:
        """Whether reads are audited."""

    def record_read(self, read: ReadAudit) -> None:
        """Append a read to the audit log before it is returned.

        Raises:
            UnavailableError: the row cannot be written, or not by this key; nothing may be returned.
        """

    def verify(self, anchor: str | None = None, recalls_anchor: str | None = None) -> AuditReport:
        """Check both audit logs; see ``auditing`` and ``recall_audit``.

        ``NotFoundError``: there is no key.
        """

    def entries(self, most: int | None = None, *, recalls: bool = False) -> list[Entry]:
        """Rows of the log of changes, or of that of recalls, newest first."""


class Migrations(Protocol):
    """Transactions of a bank that migrates to another embedder."""

    def writing(self, given_up: Collection[int]) -> AbstractContextManager[MigrationWriter | None]:
        """Open a write transaction with a snapshot by the vectors of the target embedder.

        ``None`` when the bank does not migrate, or a row has no vector yet that is not one of *given_up*, the
        ordinals of rows that the target cannot encode.
        """

    def write_index(self, given_up: Collection[int]) -> int:
        """Write the index of the following embedder ahead of the switch; its generation, 0 = none was."""

    def is_current(self, going: MigrationWriter, generation: int) -> bool:
        """Whether an index that was written ahead can still become the bank's."""

    def sweep_index(self) -> None:
        """Delete generations that the bank's own does not use, after it went over to another embedder."""


class BankStorage(Protocol):
    """The rows and arrays of one bank."""

    @property
    def folder(self) -> Path: ...

    @property
    def recall_jobs(self) -> RecallJobs: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def audit(self) -> Audit: ...

    @property
    def migration(self) -> Migrations: ...

    def reading(self) -> AbstractContextManager[Reader]:
        """Open a read transaction and a snapshot at exactly its change.

        ``UnavailableError``, ``DamagedError``: the rows cannot be read.
        """

    def writing(
        self, now: int, actor: str = "", parts: Sequence[IndexPart] = ()
    ) -> AbstractContextManager[WriteTransaction]:
        """Open a write transaction with a snapshot caught up inside it; commit when the block ends well.

        Args:
            now: the clock, microseconds UTC.
            actor: principal who writes, for the audit log; empty = the owner.
            parts: what the index keeps of the rows that will be stored, if they are new and stored at once;
                the index then takes it instead of reading the rows.

        Raises:
            UnavailableError: the bank cannot be written; nothing was stored.
        """

    def loading(
        self, now: int, actor: str = "", parts: Sequence[IndexPart] = ()
    ) -> AbstractContextManager[WriteTransaction]:
        """``writing``, for very many rows.

        New rows lie anywhere in the indexes of ids and contents, so the pages of these stay in memory: with
        SQLite's usual 2 MB each of them would be written many times over in one transaction.
        """

    def impress(self, impression: Impression) -> None:
        """Keep in memory what a recall returned; nothing is written."""

    @property
    def recent_recalls(self) -> RecentRecalls:
        """What recalls of this process returned, whoever asked."""

    def used(self, ids: Sequence[str], recall: str | None, principal: str, now: int) -> int:
        """Write what was used and its recall's impression in one transaction; see ``bank.Bank.used``.

        Impressions that count what they returned are written with it; all others go on waiting.
        """

    def flush(self, now: int) -> None:
        """Write the waiting impressions that count what they returned."""

    def maintaining(self) -> AbstractContextManager[None]:
        """Hold the bank's turn of maintenance, which ends with its process.

        ``UnavailableError``: another process or thread has it.
        """

    def copying(self) -> AbstractContextManager[None]:
        """Keep purges out while a copy of rows, or what was learned of them, is written beside the bank.

        ``UnavailableError``: a purge is under way.
        """

    @property
    def reranker_path(self) -> Path:
        """Where the learned reranker of the bank is kept, once there is one."""

    def drop_reranker(self) -> None:
        """Delete the trained reranker: it may have been trained on what is forgotten in this transaction.

        Before the commit, so that no crash keeps it. One with another hard link is renamed: no recall reads
        it, and a purge reports it. ``UnavailableError``: it cannot be deleted.
        """

    def samples(self) -> Samples:
        """What the learned reranker may be trained on."""

    def used_by_recall(self) -> dict[str, tuple[str, ...]]:
        """By recall, the memories of it that were used."""

    def merge_if_due(self, *, force: bool = False) -> bool:
        """Seal the tail when it is large, or by *force*; returns whether a generation was published.

        What was stored is safe before this begins, so a failure is remembered (see ``problems``) and the
        arrays stay in memory.
        """

    @property
    def encrypted(self) -> bool:
        """Whether the rows are encrypted and nothing derived from them may be written."""

    def problems(self) -> list[str]:
        """What is wrong with the index right now; recall works all the same."""

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes; see ``bank.Bank.stats``."""

    def verify(self, now: int | None = None) -> VerifyReport:
        """Check rows, change log, audit log, index files and arrays; changes nothing.

        Notes name what was recorded after *now*; ``None`` = no such notes.
        """

    def repair(self, now: int) -> VerifyReport:
        """Make everything derived anew from the rows, then verify; rows are not touched."""

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

    def backup(self, target: Path | IO[bytes]) -> Saved:
        """Copy the rows to a new file, or into an open one, while the bank is in use; see ``backup``."""

    def restore(self, path: Path, now: int) -> Saved:
        """Replace all rows by those of a backup; every process that has the bank open starts anew."""

    def export(self, target: str | os.PathLike[str] | IO[bytes]) -> Counts:
        """Write everything in the bank at one moment; see ``exporting``."""

    def import_export(
        self, path: Path, analyser: Analyser, now: int, *, progress: Callable[[int, int], None] | None = None
    ) -> Restored:
        """Import an export, batch by batch; see ``storage.export_format``.

        *analyser* makes terms anew when the file's are those of another version; *progress* is told (lines
        done, lines) after each batch.
        """

    def known_contents(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the content keys that some row bears, whatever became of it."""

    def due(self, now: int, most: int | None) -> list[Due]:
        """See ``expiry.read_due``; no index is brought up to date for it."""

    def claimed(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Body hashes by key, of the keys that are claimed."""

    @property
    def replaced(self) -> bool:
        """Whether the rows' file was moved away or replaced since it was opened."""

    @property
    def log_in_the_way(self) -> bool:
        """Whether the file in its place cannot be opened: the log of the old one lies beside it."""

    def close(self) -> None:
        """Close every connection; the bank cannot be used afterwards."""
