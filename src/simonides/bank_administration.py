"""The verbs of a bank for its owner: forgetting by condition, maintenance, audit, settings, training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.options import MOST_STEPS
from simonides.services.administration import Administration, Auditing, Learning
from simonides.services.context import arguments
from simonides.services.editing import Editing
from simonides.services.forgetting import Forgetting
from simonides.services.maintaining import Maintaining
from simonides.services.reading import MemoryReading
from simonides.services.recalling import Recalling
from simonides.services.reviewing import Reviewing
from simonides.services.watching import Watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime, timedelta, tzinfo
    from pathlib import Path

    from simonides.lifecycle.reembedding import ReembedReport
    from simonides.lifecycle.staleness import DeadReference
    from simonides.lifecycle.step import MaintenanceReport
    from simonides.protocols import (
        Embedder,
        Enricher,
    )
    from simonides.recall.refining.mlp import Network
    from simonides.records.activity import Activity
    from simonides.records.audit import AuditReport, Entry, VerifyReport
    from simonides.records.enrichment import EnrichReport
    from simonides.records.impression import Samples
    from simonides.records.memory import Move
    from simonides.records.receipt import Receipt
    from simonides.records.review import Review
    from simonides.records.time_to_live import TtlDefaults
    from simonides.services.context import BankContext


class BankAdministration:
    """Looks after a whole bank. Part of ``Bank``."""

    _context: BankContext

    def forget_where(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        source: str | None = None,
        writer: str | None = None,
        before: datetime | str | None = None,
        after: datetime | str | None = None,
        without_source: bool = False,
        by_owner: bool = False,
        everything: bool = False,
        purge: bool = False,
        dry_run: bool = False,
    ) -> Receipt:
        """Erase all memories that meet every given condition; only for the owner.

        Args:
            ids: only these.
            source: only of this ``source``, not empty.
            writer: only what this principal retained, not empty.
            before: only what was recorded before this moment; a date means its first instant.
            after: only what was recorded then or later.
            without_source: only what has no source.
            by_owner: only what the owner retained, who has no name.
            everything: must be true if no condition is given: the whole bank is forgotten.
            purge: also leave no byte of it in any file of the bank. Rewrites the database, so it takes time.
            dry_run: change nothing; the receipt reports what would be erased.

        Returns:
            what was erased. With *purge* its ``status`` is ``complete``, or says what a later call must
            finish: ``pending: readers`` (another process reads an older state), ``pending: copies`` (one
            merges, backs up, restores, exports, trains or purges), ``pending: recall jobs`` (one is writing a
            recall to be answered later) or ``pending: index`` (it could not be written).

        Raises:
            InputError: an argument is wrong, or none is given and *everything* is not true.
            UnavailableError: the bank cannot be written; nothing was forgotten.
        """
        return Forgetting(self._context).forget_where(**arguments(locals()))

    def purge(self) -> str:
        """Leave no byte of what was forgotten before in any file; only for the owner.

        Returns:
            ``complete``, or what it waits for, as in a receipt.
        """
        return Forgetting(self._context).purge()

    def archive(self, ids: str | Iterable[str]) -> int:
        """Archive memories by hand, as maintenance does with old ones; only for the owner.

        Each is a move (``moves``) that ``undo_move`` undoes; ``used`` brings them back, too.

        Returns:
            how many were archived now.

        Raises:
            NotFoundError: there is no such memory; nothing was changed.
            InputError: a memory is pinned; nothing was changed.
        """
        return Editing(self._context).archive(ids)

    def quarantine(self, ids: str | Iterable[str]) -> int:
        """Hide memories from every recall except one of the kind ``quarantine``; only for the owner.

        Returns:
            how many were hidden now. Earlier viewpoints (``known_at``) still see them.

        Raises:
            NotFoundError: there is no such memory; nothing was changed.
        """
        return Editing(self._context).quarantine(ids)

    def release(self, ids: str | Iterable[str], *, kind: str = "semantic") -> int:
        """Take memories out of quarantine, as memories of *kind*; only for the owner.

        Returns:
            how many were released.

        Raises:
            NotFoundError: there is no such memory; nothing was changed.
            InputError: *kind* is no kind, or quarantine.
            ConflictError: a memory holds a value under a key that another value holds by now; nothing was
                changed.
        """
        return Editing(self._context).release(ids, kind=kind)

    def settle(self, most: int | None = None) -> int:
        """Do the work that large batches and loads postponed: names, relations, links, near-duplicates.

        Args:
            most: maximum number of tasks, one or two per memory; ``None`` = all that wait.

        Returns:
            how many tasks were done; 0 for a principal, who must not learn how much others have stored.
            Recall works before, meanwhile and after.

        Raises:
            InputError: *most* is no number of tasks.
        """
        return Maintaining(self._context).settle(most)

    def maintain(
        self,
        *,
        profile: str | Path = "default",
        most: int = MOST_STEPS,
        dry_run: bool = False,
        progress: Callable[[str, int, int | None], None] | None = None,
        model: Enricher | None = None,
        stopping: Callable[[], bool] | None = None,
    ) -> MaintenanceReport:
        """Promote memories, archive old ones and sum up repeated ones; only for the owner.

        Every change is a new version, so answers as of an earlier moment stay as they are; nothing is
        deleted. If a run was cut short, start it again; a second run changes nothing.

        Args:
            profile: profile whose ``[lifecycle]`` numbers decide.
            most: maximum number of steps, from 1; the next run does the rest.
            dry_run: report what would be done, and write nothing.
            progress: called with ("maintenance steps", done, of how many).
            model: a language model, such as ``models.llm.LanguageModel``, that writes new observations. Texts
                of their sources are sent to its server. Its text must cite them and keep to their words, else
                it is refused; then, and if the model cannot be asked, an observation has the words of a
                source.
            stopping: asked between transactions; if it returns true, the next run does the rest.

        Raises:
            InputError: an argument is wrong.
            MissingExtraError: the model needs a package that is not installed.
            ProfileError: the profile states no such numbers, or wrong ones.
            UnavailableError: another process maintains this bank, or it cannot be written.
        """
        return Maintaining(self._context).maintain(**arguments(locals()))

    def moves(self, memory: str | None = None) -> list[Move]:
        """What maintenance, newer memories and people did to one memory, or to all; only for the owner.

        Oldest first. ``close`` = a newer memory ended it, by the rule in ``reason``, or ``invalidate`` did.
        """
        return Maintaining(self._context).moves(memory)

    def activity(self, *, after: str | None = None, most: int = 50) -> Activity:
        """What happens in the bank: what is written, and what is returned to whom, with the exact text.

        Poll with ``after=answer.next``. Writes of every process are told. Of recalls the last 200 of this
        process are told with query and context, which are kept in memory alone; those of other processes only
        once something of them was reported as used, with ids alone. Query and context are left out once one
        of the returned memories was forgotten. A principal sees what it may read, and its own recalls.

        Args:
            after: where to continue: next of the answer before. Default: the newest.
            most: maximum number of events, 1 to 1,000. An answer ends earlier where its texts exceed 512 KiB.

        Raises:
            InputError: an argument is wrong.
        """
        return Watching(self._context).activity(after=after, most=most)

    def review(self, *, most: int = 100, cursor: str | None = None, include_decided: bool = False) -> Review:
        """What deserves a person's decision, newest first.

        That is: ends, near duplicates, conflicts, days that the words leave open, and what is in quarantine.

        Decide by ``undo_move``, ``invalidate``, ``forget``, ``update_memory`` or ``release``. To keep an item
        as it is, put a record under its key in the space ``review`` (``put_records``, with a blank text);
        what the owner put there counts for everybody, what a principal put for itself.

        Args:
            most: maximum number of items, 1 to 1,000. A page ends earlier where its texts exceed 512 KiB.
            cursor: where to continue: next of the previous page.
            include_decided: also list what was decided.

        Raises:
            InputError: an argument is wrong.
        """
        return Reviewing(self._context).review(most=most, cursor=cursor, include_decided=include_decided)

    def undo_move(self, number: int) -> None:
        """Undo a promotion, an archiving, or the end of a memory; only for the owner.

        Maintenance does not repeat the move. An ended memory holds again as if the newer one had not come;
        both then hold side by side. Of several ends by hand the last is undone first.

        Raises:
            NotFoundError: there is no such move, it was undone, or the memory has moved on since.
        """
        Maintaining(self._context).undo_move(number)

    def check_references(self, root: str | Path, *, dry_run: bool = False) -> list[DeadReference]:
        """Find paths, commands and packages that memories name and a folder lacks; only for the owner.

        They are recorded as moves (``stale``) of their memories, which stay as they are; a move ends when the
        name exists again.

        Args:
            root: the folder.
            dry_run: record nothing.

        Raises:
            InputError: *root* is no folder.
        """
        return Maintaining(self._context).check_references(root, dry_run=dry_run)

    def queue_enrichment(self, ids: str | Iterable[str] | None = None) -> int:
        """Enqueue memories for ``enrich``; only for the owner.

        Args:
            ids: these, also if they were enriched or given up before; ``None`` = all current memories that
                were never enriched and do not wait.

        Returns:
            how many were queued.

        Raises:
            NotFoundError: there is no such memory; nothing was queued.
        """
        return Maintaining(self._context).queue_enrichment(ids)

    def enrich(
        self,
        model: Enricher,
        *,
        most: int | None = None,
        cost_cap: float | None = None,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> EnrichReport:
        """Ask a language model about queued memories; only for the owner.

        What can be checked against a memory's text (names, relations between them, facts and questions in its
        words) becomes a new version of it. A failed try changes no memory, and a later run repeats it. Texts
        and contexts of memories are sent to the model's server.

        Args:
            model: such as ``models.llm.LanguageModel``.
            most: maximum number of memories; ``None`` = all that are due.
            cost_cap: of this run; it ends before a request that could exceed it. Needs the model's prices.
            progress: called with ("memories asked about", how many, of how many).

        Raises:
            InputError: an argument is wrong.
            MissingExtraError: the model needs a package that is not installed.
            ModelRefusedError: the server refuses the key, the address or the model's name. What was enriched
                before stays so.
        """
        return Maintaining(self._context).enrich(model, most=most, cost_cap=cost_cap, progress=progress)

    def reembed(
        self,
        model: str | Embedder,
        *,
        dimension: int | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> ReembedReport:
        """Migrate the bank to another embedder, or continue to; only for the owner.

        Recall uses the old one until everything is ready, then the new one. If a run was cut short, start it
        again and it continues. A store that was opened with the embedder ``"auto"`` uses the new one from
        then on; one that was opened with another uses keyword search until it is opened with the new one.

        Args:
            model: name of a catalogued model (fetched if it is missing), or your own ``protocols.Embedder``.
            dimension: as for ``open_store``; for catalogued models only.
            dry_run: write nothing, and report what a run would do.
            progress: called with (stage, done, of how many).

        Raises:
            InputError, UnknownNameError: an argument is wrong.
            ConflictError: the bank is migrating to another model.
            ModelError: the model cannot be loaded, or can encode too little; the bank stays with what it has.
            UnavailableError: another process maintains this bank, or it cannot be written.
        """
        return Maintaining(self._context).reembed(**arguments(locals()))

    def abandon_reembedding(self) -> bool:
        """Stop a migration and drop what the new embedder has encoded; only for the owner.

        Returns:
            whether the bank was migrating.

        Raises:
            UnavailableError: another process maintains this bank, or it cannot be written.
        """
        return Maintaining(self._context).abandon_reembedding()

    def start_audit(self) -> Path | None:
        """Audit every change from now on, with a new key beside the bank; only for the owner.

        If the bank is audited already, nothing changes.

        Returns:
            the key's file (mode 0600); ``None`` with ``simonides.open(audit_key=…)``, whose key is used then.

        Raises:
            NotFoundError: the bank is audited, and the audit key is missing.
            UnavailableError: the bank is audited with another key, or it cannot be written.
        """
        return Auditing(self._context).start()

    def audit_recalls(self, *, on: bool = True) -> bool:
        """Start or stop auditing what is returned, too; only for the owner, off by default.

        Each recall (also of ``reflect``, ``brief`` and jobs), ``why_not``, ``get_memory``, ``get_entity``,
        ``history``, ``source``, ``list_memories``, ``diff``, ``activity``, ``review``, ``export`` and
        ``backup`` then appends a record to a log of its own before it returns: when, a keyed hash of who, the
        ids of the memories, and salted, keyed hashes of the query and of ``Recall.id``; no text. If the
        record cannot be written, nothing is returned.

        Returns:
            whether this changed anything.

        Raises:
            NotFoundError: the bank is not audited; see ``start_audit``.
            UnavailableError: the bank cannot be written.
        """
        return Auditing(self._context).audit_recalls(on=on)

    def audit_entries(self, most: int | None = None, *, recalls: bool = False) -> list[Entry]:
        """The *most* newest rows of the audit log, or of the log of *recalls*; only for the owner."""
        return Auditing(self._context).entries(most, recalls=recalls)

    def audit_verify(self, *, anchor: str | None = None, recalls_anchor: str | None = None) -> AuditReport:
        """Check the audit logs against their key and the change log; only for the owner.

        Args:
            anchor: A head that you kept; it must be in the log. As ``AuditReport.head`` prints it. Without
                one, rows that were cut off the end together with their changes are not noticed.
            recalls_anchor: the same, of the log of recalls (``AuditReport.recalls_head``).

        Raises:
            InputError: an anchor is no head.
            NotFoundError: there is no key.
        """
        return Auditing(self._context).verify(anchor=anchor, recalls_anchor=recalls_anchor)

    @property
    def zone(self) -> tzinfo:
        """The zone of times that state none, and of the days that words such as "yesterday" mean."""
        return self._context.zone

    def set_zone(self, name: str | None) -> None:
        """Give the bank a zone of its own, stored with it; stored memories keep the days they were given.

        It holds wherever the bank is opened without a zone, before the environment's and the system's.
        Another process that has the bank open follows once it opens the bank again.

        Args:
            name: such as ``"Europe/Berlin"``; ``None`` = none of its own.

        Raises:
            InputError: there is no such zone, or a principal asks, who is not the owner.
            UnavailableError: the bank's folder cannot be written.
        """
        Administration(self._context).set_zone(name)

    @property
    def ttl_defaults(self) -> TtlDefaults:
        """The times to live of memories that are retained without one; see ``set_ttl``."""
        return self._context.rows.settings.ttl_defaults

    def set_ttl(
        self, ttl: float | timedelta | str | None, *, kind: str | None = None, on_expiry: str = "archive"
    ) -> TtlDefaults:
        """Set the time to live of memories that state none, from now on; only for the owner.

        It is stored with the bank. Memories that are stored keep theirs. Another process that has the bank
        open follows once it opens the bank again.

        Args:
            ttl: as for ``retain``; ``"never"`` = no end, ``None`` = remove the setting.
            kind: only for this kind. Default: the whole bank.
            on_expiry: when it expires: archive, or erase. Erased as by ``forget``.

        Returns:
            all that is set.

        Raises:
            InputError: an argument is wrong, or a principal asks, who is not the owner.
            UnavailableError: the bank's folder cannot be written.
        """
        return Administration(self._context).set_ttl(ttl, kind=kind, on_expiry=on_expiry)

    @property
    def embedder(self) -> Embedder | None:
        """The embedder of this bank (loaded now if it was not yet), or ``None``."""
        return Administration(self._context).embedder()

    def warm(self, *, profile: str | Path = "default") -> None:
        """Load now what the first recall would load: index, models, and what is computed once from them.

        Call it when a session starts; ``simonides.open(warm=True)`` does so for each bank that is opened.
        What cannot be loaded is left to the recall that needs it, which reports it.

        Args:
            profile: of later recalls; its stages decide which models they need.

        Raises:
            ProfileError: the profile file is wrong.
        """
        Recalling(self._context).warm(profile=profile)

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes: current memories for everyone; all else for the owner only."""
        return MemoryReading(self._context).stats()

    def last_write(self) -> datetime | None:
        """The newest time of a memory, UTC, from which all is seen; ``None`` in an empty bank.

        Raises:
            InputError: the bank is opened for a principal.
        """
        return MemoryReading(self._context).last_write()

    def verify(self) -> VerifyReport:
        """Check rows and everything derived from them; changes nothing. Details are for the owner only."""
        return Administration(self._context).verify()

    def repair(self) -> VerifyReport:
        """Rebuild everything derived from the rows, and verify; only for the owner. No row is changed."""
        return Administration(self._context).repair()

    def used(self, ids: str | Iterable[str], *, recall_id: str | None = None) -> int:
        """Report that memories were useful: they count as accessed, now.

        Args:
            ids: ids of the memories.
            recall_id: id of the recall that returned them. The learned reranker can then be trained on what
                was used; each memory counts once, however often you report it.

        Returns:
            how many accesses were recorded. They survive a crash.

        Raises:
            NotFoundError: there is no such memory that the principal may read; nothing was written.
            InputError: an argument is wrong, the recall is not remembered, or it did not return a memory;
                nothing was written.
        """
        return Learning(self._context).used(ids, recall_id=recall_id)

    def used_by_recall(self) -> Mapping[str, tuple[str, ...]]:
        """By recall id, which returned memories were reported as useful, in the order of storing.

        Only memories that everyone in the bank may read.

        Raises:
            InputError: the bank is opened for a principal.
        """
        return Learning(self._context).used_by_recall()

    def samples(self) -> Samples:
        """Training data of the learned reranker: recalls of which something was used.

        Only memories that everyone in the bank may read.

        Raises:
            InputError: the bank is opened for a principal.
        """
        return Learning(self._context).samples()

    def adopt_reranker(self, network: Network, memories: Iterable[str]) -> Path:
        """Store a trained network in the bank's folder, whole or not at all; recalls use it from now on.

        Args:
            network: as ``evaluation.mlp_training.train_mlp`` gives it.
            memories: ids of those that it was trained on.

        Raises:
            InputError: the bank is opened for a principal.
            ConflictError: one of *memories* was forgotten meanwhile; nothing was written.
            UnavailableError: the bank is encrypted and stores no such file, or it cannot be written; what was
                there before is still there.
        """
        return Learning(self._context).adopt_reranker(network, memories)
