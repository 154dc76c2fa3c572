"""The way of every new text into the rows: read, redact, extract, encode, store in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import EmbedderMismatchError, InputError
from simonides.records.interval import check_recorded
from simonides.records.time_to_live import ERASE
from simonides.retain.conversations import with_messages
from simonides.retain.items import read_items
from simonides.retain.messages import LOST
from simonides.retain.pipeline import prepare
from simonides.retain.placing import dated, said_at, without_relative_times
from simonides.retain.redacted_errors import redact_errors
from simonides.retain.storing import LeftMeanwhileError, Storing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from simonides.records.draft import Draft, Prepared
    from simonides.records.extraction import Extraction
    from simonides.retain.extraction.known_names import KnownNames
    from simonides.services.context import BankContext
    from simonides.storage.writer import WriteTransaction

_log = logging.getLogger("simonides")

# Expired memories that one write archives or erases; the rest waits for the next one and is hidden meanwhile.
_MAX_EXPIRED = 200


@dataclass(frozen=True, slots=True)
class WritePath:
    """Stores what callers give."""

    context: BankContext

    def read_drafts(self, items: object, shared: Mapping[str, object]) -> list[Draft]:
        """Check items as ``Bank.retain`` takes them, redact them and check that who acts may store them."""
        # An iterator is read here, so that messages about an item do not repeat a secret that it holds.
        items = list(items) if isinstance(items, Iterator) else items
        with redact_errors(self.context.parts.redact, items):
            given = with_messages(items, shared)
            drafts = read_items(
                items if given is None else given.items,
                shared,
                zone=self.context.zone,
                places=None if given is None else given.places,
                trusted=self.context.checked,
            )
        if given is not None:
            log_left_out(given.left_out)
        redactor = self.context.redactor()
        drafts = redactor.drafts(drafts)
        log_masked(redactor.found)
        self.check_allowed(drafts)
        return drafts

    def check_allowed(self, drafts: Sequence[Draft]) -> None:
        """Nobody records in the future; a principal may not date back, nor write what it cannot read.

        Candidates for duplicates and for memories that a new one ends are those with the same readers, so
        nobody changes or learns of a memory that is hidden from them.
        """
        principal = self.context.principal
        if principal is None:
            now = self.context.now()
            for draft in drafts:
                if draft.recorded_at is not None:
                    field = f"{draft.place}.recorded_at" if draft.place else "recorded_at"
                    check_recorded(draft.recorded_at, now, field)
            return
        if any(draft.recorded_at is not None for draft in drafts):
            raise InputError("recorded_at", "only the owner may state it; leave it out")
        for draft in drafts:
            if draft.acl and principal not in draft.acl:
                raise InputError(
                    "acl", f"{list(draft.acl)} lacks {principal!r}, who stores it; add it, or leave acl out"
                )

    def prepare_and_store(
        self,
        drafts: list[Draft],
        store: Callable[[WriteTransaction, tuple[Prepared, ...]], list[str]],
        revived: str = "",
    ) -> list[str]:
        """Encode outside the transaction, then store inside it.

        Both are repeated once if the bank changed meanwhile: it migrated to another embedder, or a memory
        that made an encoding unnecessary was erased. *revived* is a memory that *store* changes; it is not
        archived before.
        """
        self.expire_due(revived)
        ready = self.prepare(drafts, known=self.context.rows.known_contents)
        try:
            with self.context.writing() as transaction:
                return store(transaction, ready)
        except LeftMeanwhileError:
            pass
        except EmbedderMismatchError:
            if not self._has_migrated(ready):
                raise
        ready = self.prepare(drafts)
        with self.context.writing() as transaction:
            return store(transaction, ready)

    def expire_due(self, revived: str = "", most: int | None = _MAX_EXPIRED) -> None:
        """Archive or erase what is due, before new memories are compared with it."""
        now = self.context.now()
        due = self.context.rows.due(now, most)
        # Archiving the revived one would make another version than the one that its editor has seen.
        due = [each for each in due if each.task == ERASE or each.memory != revived]
        if due:
            # In the owner's name, who set the time to live, whoever happens to write.
            with self.context.rows.writing(now) as transaction:
                if any(each.task == ERASE for each in transaction.maintenance.end_due(due)):
                    self.context.rows.drop_reranker()

    def _has_migrated(self, items: Iterable[Prepared]) -> bool:
        """Whether the bank migrated to another available embedder since *items* were encoded."""
        with self.context.reading() as reading:
            current = reading.embedder()
        made_by = {item.model.fingerprint for item in items if item.model is not None}
        embedder, _ = self.context.parts.embedder(current)
        return embedder is not None and embedder.fingerprint == current.fingerprint not in made_by

    def prepare(
        self,
        drafts: list[Draft],
        *,
        said_now: bool = True,
        known: Callable[[Sequence[bytes]], AbstractSet[bytes]] = lambda _: frozenset(),
    ) -> tuple[Prepared, ...]:
        """Extract, expand and encode.

        *said_now* false: words such as "yesterday" give no times. Items *known* to the bank are not encoded.
        """
        parts = self.context.parts
        with self.context.reading() as reading:
            embedder, _ = parts.embedder(reading.embedder())
            migration = reading.migration()
            names = {each: self.context.names.names(reading, each) for each in {d.acl for d in drafts}}
        target = None if migration is None or embedder is None else migration.model
        following = None if target is None else parts.embedder.cached(target)
        now = self.context.now()

        def extract(draft: Draft) -> Extraction:
            found = self.extract(draft, names[draft.acl], now)
            return found if said_now else without_relative_times(found)

        ready = prepare(
            drafts,
            parts.analyser,
            embedder,
            extract=extract,
            expander=parts.expander,
            token_codes=parts.token_codes,
            sparse=parts.sparse()[0],
            following=following,
            known=known,
        )
        for failed, effect in (
            (ready.unsparse, "no sparse terms"),
            (ready.unembedded, "no vector and are found by words only"),
        ):
            if failed:
                position, reason = failed[0]
                _log.warning(
                    "%d of %d memories have %s (first: item %d, %s)",
                    len(failed),
                    len(drafts),
                    effect,
                    position,
                    reason,
                )
        return ready.items

    def extract(self, draft: Draft, known: KnownNames, now: int) -> Extraction:
        """Names, relations and times in the text of a draft."""
        found = self.context.parts.extractor.extract(
            draft.text, anchor=said_at(draft, now), zone=self.context.zone, known=known
        )
        return dated(draft, found)

    def write(
        self, transaction: WriteTransaction, items: Sequence[Prepared], *, unread: bool = False
    ) -> list[str]:
        """Store prepared items; one id per item. *unread* leaves extraction to ``settle``."""
        current = transaction.models.embedder().fingerprint
        items = [item.encoded_by(current) for item in items]
        self.ensure_same_models(transaction, *items)
        return Storing(
            transaction,
            items,
            self.context.parts.analyser,
            self.context.author,
            self.context.answers.source,
            unread=unread,
            ttl_defaults=self.context.rows.settings.ttl_defaults,
        ).store()

    def ensure_same_models(self, transaction: WriteTransaction, *items: Prepared) -> None:
        """Raise ``EmbedderMismatchError`` when the bank's vectors come from other models than *items*."""
        made_by = next((item.model for item in items if item.codes is not None), None)
        if made_by is not None:
            transaction.models.use_embedder(made_by)
        sparse, _ = self.context.parts.sparse()
        if sparse is not None and any(item.sparse for item in items):
            transaction.models.use_sparse_encoder(sparse)


def erase(context: BankContext, transaction: WriteTransaction, ids: Sequence[str]) -> int:
    """Erase memories, and the reranker that may have been trained on them; returns how many there were."""
    erased = transaction.versions.erase(ids)
    if erased:
        context.rows.drop_reranker()
    return erased


def log_masked(found: Mapping[str, int]) -> None:
    """Warn about secrets that were masked, by their kinds."""
    if found:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(found.items()))
        _log.warning("secrets were masked before storing: %s", listed)


def log_left_out(counts: Mapping[str, int]) -> None:
    """Log parts of messages that are not stored; as a warning where they may hold something to remember."""
    if counts:
        listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        level = logging.WARNING if any(name in counts for name in LOST) else logging.INFO
        _log.log(level, "left out of messages, and not stored: %s", listed)
