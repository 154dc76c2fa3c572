"""Work on memories that are stored already: maintenance, deferred extraction, enrichment, re-embedding."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simonides.errors import NotFoundError
from simonides.lifecycle.maintaining import maintain
from simonides.lifecycle.moving import note_stale, undo
from simonides.lifecycle.observing import Writer
from simonides.lifecycle.reembedding import abandon, reembed
from simonides.lifecycle.staleness import ProjectFolder, find_dead_references
from simonides.lifecycle.thresholds import read_thresholds
from simonides.profiles.loader import load_lifecycle
from simonides.records.enrichment import ENRICH
from simonides.records.hygiene import clean_count, clean_ids, is_row_number
from simonides.records.query import Filters
from simonides.retain.enrichment_queue import EnrichmentRun
from simonides.retain.items import read_items
from simonides.retain.screening import Redactor
from simonides.retain.settling import settle
from simonides.services.viewing import Viewing, visible_memories
from simonides.services.write_path import WritePath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simonides.lifecycle.reembedding import ReembedReport
    from simonides.lifecycle.staleness import DeadReference
    from simonides.lifecycle.step import MaintenanceReport
    from simonides.protocols import Embedder, Enricher
    from simonides.records.draft import Prepared
    from simonides.records.enrichment import EnrichReport
    from simonides.records.extraction import Extraction
    from simonides.records.memory import Move
    from simonides.services.context import BankContext

    Progress = Callable[[str, int, int | None], None]

_SETTLED_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Maintaining:
    """Works on memories that are stored already."""

    context: BankContext

    def maintain(
        self,
        *,
        profile: str | Path,
        most: int,
        dry_run: bool,
        progress: Progress | None,
        model: Enricher | None,
        stopping: Callable[[], bool] | None,
    ) -> MaintenanceReport:
        self.context.require_owner("maintain")
        most = clean_count(most, "most", 1)
        thresholds = read_thresholds(*load_lifecycle(profile))
        return maintain(
            self.context.rows,
            thresholds,
            self.context.now,
            most=most,
            dry_run=dry_run,
            progress=progress,
            writer=None if model is None else self._writer(model),
            stopping=stopping or (lambda: False),
        )

    def _writer(self, model: Enricher) -> Writer:
        """Writes observations by a language model."""
        path, parts = WritePath(self.context), self.context.parts
        # Old memories may hold secrets that the model repeats, and no caller is there to remove them.
        redactor = Redactor("off" if parts.redact == "off" else "mask")

        def prepared(text: str) -> Prepared:
            drafts = redactor.drafts(read_items([text], {}, zone=self.context.zone))
            return path.prepare(drafts, said_now=False)[0]

        return Writer(model, parts.analyser, prepared, path.ensure_same_models)

    def settle(self, most: int | None) -> int:
        most = None if most is None else clean_count(most, "most", 0)
        with self.context.reading() as reading:
            # Only names that everyone in the bank may know, so nobody is shown the name of a hidden entity.
            known = self.context.names.names(reading, ())

        def extract(text: str, anchor: int) -> Extraction:
            return self.context.parts.extractor.extract(
                text, anchor=anchor, zone=self.context.zone, known=known
            )

        done = 0
        while most is None or done < most:
            step = _SETTLED_AT_ONCE if most is None else min(_SETTLED_AT_ONCE, most - done)
            with self.context.writing() as transaction:
                count = settle(transaction, step, extract)
            done += count
            if count < step:
                break
        return done if self.context.principal is None else 0

    def queue_enrichment(self, ids: str | Iterable[str] | None) -> int:
        self.context.require_owner("queue_enrichment")
        wanted = None if ids is None else clean_ids(ids)
        with self.context.writing() as transaction:
            if wanted is None:
                return transaction.queue.add_unenriched(ENRICH)
            for memory in wanted:
                held = transaction.versions.current(memory)
                if held is None:
                    raise NotFoundError(
                        f"no memory {memory!r} in bank {self.context.name!r}; nothing was queued"
                    )
                transaction.queue.restart(ENRICH, held.root)
            return len(wanted)

    def enrich(
        self, model: Enricher, *, most: int | None, cost_cap: float | None, progress: Progress | None
    ) -> EnrichReport:
        self.context.require_owner("enrich")
        WritePath(self.context).expire_due()
        rows, analyser, now = self.context.rows, self.context.parts.analyser, self.context.now
        return EnrichmentRun(rows, model, analyser, now, cost_cap=cost_cap, progress=progress).run(most)

    def reembed(
        self,
        model: str | Embedder,
        *,
        dimension: int | None,
        dry_run: bool,
        progress: Progress | None,
    ) -> ReembedReport:
        self.context.require_owner("reembed")
        parts = self.context.parts
        return reembed(
            self.context.rows,
            parts.embedder.adopt(model, dimension),
            self.context.now,
            token_codes=parts.token_codes,
            dry_run=dry_run,
            progress=progress,
        )

    def abandon_reembedding(self) -> bool:
        self.context.require_owner("abandon_reembedding")
        return abandon(self.context.rows, self.context.now())

    def moves(self, memory: str | None) -> list[Move]:
        self.context.require_owner("moves")
        if memory is not None:
            self.context.versions(memory)
        with self.context.reading() as reading:
            found = reading.moves(memory)
            # Reasons may hold words of the memories, so this is a read of them.
            self.context.record_read("moves", reading, [move.memory for move in found])
            return found

    def undo_move(self, number: int) -> None:
        self.context.require_owner("undo_move")
        with self.context.writing() as transaction:
            move = transaction.maintenance.read_move(number) if is_row_number(number) else None
            if move is None or not undo(transaction, move):
                raise NotFoundError(f"no move {number!r} to undo; moves() lists those that stand")

    def check_references(self, root: str | Path, *, dry_run: bool) -> list[DeadReference]:
        self.context.require_owner("check_references")
        folder = ProjectFolder(Path(root))
        with self.context.reading() as reading:
            current = visible_memories(reading, Viewing(self.context).view(reading, Filters()))
        found = find_dead_references(current, folder)
        self.context.record_read("check", reading, [reference.memory for reference in found])
        if not dry_run:
            with self.context.writing() as transaction:
                note_stale(transaction, [memory.id for memory in current], found)
        return found
