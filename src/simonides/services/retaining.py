"""Stores new memories: items, documents, conversations, and loads of items that are encoded already."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import ConflictError, InputError
from simonides.options import MAX_CONTEXT_BYTES
from simonides.records.draft import content_key
from simonides.records.hygiene import clean_count, clean_label, clean_text
from simonides.records.interval import parse_time
from simonides.records.model_identity import ModelIdentity
from simonides.retain.conversations import conversation_items
from simonides.retain.documents import document_items
from simonides.retain.redacted_errors import redact_errors
from simonides.retain.secrets import masked_apart
from simonides.services.write_path import WritePath, log_left_out, log_masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.records.draft import Prepared
    from simonides.retain.messages import MessageObject
    from simonides.services.context import BankContext
    from simonides.storage.writer import WriteTransaction

LOADED_AT_ONCE = 32_768
"""Items per transaction of a load: a sealed block of the index then is written one and a half times."""
# Begins keys of principals among those of the owner; a number follows it, or the mark itself.
_MARK = "\x1f"


@dataclass(frozen=True, slots=True)
class Retaining:
    """Stores new memories."""

    context: BankContext

    def retain(
        self, items: object, *, zone: object = None, idempotency_key: object = None, **shared: object
    ) -> list[str]:
        path = WritePath(self.context.in_zone(zone))
        drafts = path.read_drafts(items, shared)
        key = None if idempotency_key is None else clean_label(idempotency_key, "idempotency_key")
        if key is not None:
            # A key with a secret is refused, if the policy says so, before anything is encoded.
            self.context.redactor().apart(key, "idempotency_key")
        if not drafts:
            return []

        def store(transaction: WriteTransaction, ready: tuple[Prepared, ...]) -> list[str]:
            if key is None:
                return path.write(transaction, ready)
            return self._store_once(path, transaction, ready, key)

        return path.prepare_and_store(drafts, store)

    def _store_once(
        self, path: WritePath, transaction: WriteTransaction, items: tuple[Prepared, ...], key: str
    ) -> list[str]:
        """Store items, or return the ids that they got when the key was first used."""
        whole = b"".join(content_key(item.draft) for item in items)
        body = hashlib.blake2b(whole, digest_size=16).digest()
        # In each form: the policy may have been another one when the key was first used.
        forms = dict.fromkeys((self.context.redactor().apart(key, "idempotency_key"), masked_apart(key), key))
        kept, *_ = forms
        claimed = next(filter(None, (transaction.keys.read(self._own_key(form)) for form in forms)), None)
        if claimed is not None:
            if claimed[0] != body:
                raise ConflictError(
                    f"idempotency_key {key!r} was used with other items; use a new key for new items"
                )
            return claimed[1]
        ids = path.write(transaction, items)
        transaction.keys.add(self._own_key(kept), body, ids)
        return ids

    def _own_key(self, key: str) -> str:
        """A caller's key as it is stored: those of two principals never meet; the owner's is unchanged."""
        principal = self.context.principal
        if principal is not None:
            return f"{_MARK}{len(principal)}{_MARK}{principal}{key}"
        return _MARK + key if key.startswith(_MARK) else key

    def retain_document(self, text: str, *, document_id: str, title: str | None, **shared: Any) -> list[str]:
        when = shared.get("event_time")
        zone = self.context.in_zone(shared.get("zone")).zone
        date = None if when is None else parse_time(when, "event_time", zone=zone)
        # Redact the whole text: a paragraph might hold half a secret.
        redactor = self.context.redactor()
        if title is not None:
            title = clean_text(title, "title", MAX_CONTEXT_BYTES)
        text, title = redactor.words(text, "text"), redactor.words(title, "title")
        log_masked(redactor.found)
        items = document_items(text, document_id=document_id, title=title or "", date=date)
        return self.retain(items, **{"role": "document", **shared})

    def retain_conversation(
        self, turns: Iterable[Mapping[str, Any] | MessageObject], *, session: str, window: int, **shared: Any
    ) -> list[str]:
        window = clean_count(window, "window", 0)
        # An iterator is read here, so that messages about a turn do not repeat a secret that it holds.
        turns = list(turns) if isinstance(turns, Iterator) else turns
        left_out: Counter[str] = Counter()
        with redact_errors(self.context.parts.redact, turns):
            items = conversation_items(turns, session=session, before=window, after=window, left_out=left_out)
            log_left_out(left_out)
            return self.retain(items, **shared)

    def load(
        self,
        items: Iterable[str | Mapping[str, Any]],
        vectors: NDArray[Any],
        *,
        tokens: Sequence[NDArray[Any]] | None,
        batch: int,
        workers: int,
        progress: Callable[[int], None] | None,
    ) -> list[str]:
        from simonides.retain.loading import Preparing, batches_of, parts_of  # noqa: PLC0415 rarely used

        parts, path = self.context.parts, WritePath(self.context)
        with self.context.reading() as reading:
            embedder, problem = parts.embedder(reading.embedder())
        if embedder is None:
            raise InputError(
                "vectors", f"need the embedder that made them ({problem or 'the store has none'})"
            )
        slices = parts_of(items, np.asanyarray(vectors), tokens, embedder.dimension)
        model = ModelIdentity(embedder.name, embedder.dimension, embedder.fingerprint)
        path.expire_due()
        prepare = Preparing(parts.analyser, self.context.zone, parts.redact, model)
        ids: list[str] = []
        for each in batches_of(slices, prepare, batch=batch, workers=workers):
            log_masked(each.masked)
            path.check_allowed([row.draft for row in each.rows])
            now = self.context.now()
            with self.context.rows.loading(now, self.context.author, each.parts) as transaction:
                ids += path.write(transaction, each.rows, unread=True)
            if progress:
                progress(len(ids))
        return ids
