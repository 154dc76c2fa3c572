"""A bank: what one agent, user or project remembers. Joins the rooms, does no work of its own."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from simonides.backends.embedded.expiry import expire_due, moments_ended, roots_due
from simonides.backends.embedded.export_format import check_file, read_records
from simonides.backends.embedded.upkeep import read_evidence, read_moves
from simonides.errors import (
    ConflictError,
    EmbedderMismatchError,
    InputError,
    ModelDamagedError,
    ModelError,
    NotFoundError,
    StoreError,
    UnavailableError,
    UnknownNameError,
)
from simonides.files import translates_disk_errors
from simonides.forking import Origin, refused_after_fork
from simonides.index.snapshot import touch
from simonides.index.view import LENIENT, Ended, look
from simonides.lifecycle.briefing import newest_first, recent_changes, sort_out, write_brief
from simonides.lifecycle.maintaining import maintain
from simonides.lifecycle.preferring import prefer_observations, with_stand_ins
from simonides.lifecycle.reembedding import abandon, reembed
from simonides.lifecycle.staleness import ProjectFolder, find_dead_references
from simonides.lifecycle.step import MOST_STEPS
from simonides.lifecycle.thresholds import read_thresholds
from simonides.lifecycle.undoing import note_stale, undo
from simonides.lifecycle.wording import Writer
from simonides.profiles.environment import overridden
from simonides.profiles.loader import load_lifecycle, load_profile
from simonides.protocols import Tools, WordKnower
from simonides.recall.answering import Asking, reflect
from simonides.recall.arguments import clean_query, read_recall_arguments
from simonides.recall.explaining import Recording
from simonides.recall.explaining import explain as explained
from simonides.recall.helping.asking import HelperTexts, ask_helpers, read_helpers
from simonides.recall.helping.request import JobRequest, degraded, read_wait
from simonides.recall.helping.running import JobRunner
from simonides.recall.helping.widening import widened
from simonides.recall.observing import observe
from simonides.recall.pipeline import judges_relevance, run
from simonides.recall.refining.mlp import impression_of, network_at
from simonides.recall.search_arguments import ASYNC_ELSEWHERE, SearchOptions, heeded, read_search_arguments
from simonides.recall.why_not import Recalled
from simonides.recall.why_not import why_not as find_why_not
from simonides.recall_rows import NameLookup, RecallRows
from simonides.records.audit import Told, VerifyReport
from simonides.records.draft import content_key
from simonides.records.enrichment import ENRICH
from simonides.records.hygiene import clean_choice, clean_count, clean_label, clean_switch, clean_text, shown
from simonides.records.interval import (
    FOREVER,
    HEAD,
    check_recorded,
    from_micros,
    latest_recorded,
    parse_time,
    read_zone,
)
from simonides.records.keyed_record import MOST_RECORDS
from simonides.records.kind import PINNED, STANDING, Kind
from simonides.records.memory import Diff, Evidence, compare
from simonides.records.model_identity import ModelIdentity, mismatch, sparse_mismatch
from simonides.records.query import Filters, Query
from simonides.records.recall import DONE, PENDING, RecallJob
from simonides.records.receipt import Imported, Selection
from simonides.records.time_to_live import EXPIRE, EXPIRY_ERASE, ON_EXPIRY, TimeToLive, read_ttl
from simonides.records.time_to_live import TIME_TO_LIVE_ERASE as FORGET
from simonides.retain.conversations import WINDOW, conversation_items, with_messages
from simonides.retain.documents import document_items
from simonides.retain.echo import RecentAnswers
from simonides.retain.editing import check_rewordable, check_version, edit, read_changes
from simonides.retain.enrichment_queue import EnrichmentRun
from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.importing.pieces import gather
from simonides.retain.importing.syncing import Syncing
from simonides.retain.items import MAX_CONTEXT_BYTES, MAX_PATH_BYTES, read_items
from simonides.retain.keyed_records import KeyedRecords, inside
from simonides.retain.messages import LOST
from simonides.retain.names import fold_name
from simonides.retain.pipeline import prepare
from simonides.retain.placing import dated, said_at, without_relative_times
from simonides.retain.quiet_errors import quiet, quiet_errors
from simonides.retain.readers import all_may_read
from simonides.retain.rewording import Rewording, reworded
from simonides.retain.screening import Screen, secrets_in
from simonides.retain.secrets import masked_apart
from simonides.retain.sparse import in_context, sparse_terms
from simonides.retain.storing import LeftMeanwhileError, Storing, close, settle
from simonides.text.query_dsl import parse_query, read_clauses

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import timedelta, tzinfo
    from typing import IO

    from numpy.typing import NDArray

    from simonides.backends.embedded.bank import EmbeddedBank, Reading
    from simonides.backends.embedded.transaction import WriteTransaction
    from simonides.index.view import BankView
    from simonides.lifecycle.reembedding import ReembedReport
    from simonides.lifecycle.staleness import DeadReference
    from simonides.lifecycle.step import MaintenanceReport
    from simonides.profiles.environment import Setting
    from simonides.protocols import (
        Analyser,
        Answerer,
        Clock,
        Embedder,
        Enricher,
        Expander,
        Extractor,
        Judge,
        Reranker,
        SparseEncoder,
        TokenCounter,
    )
    from simonides.recall.arguments import RecallRequest
    from simonides.recall.pipeline import Plan, Submits
    from simonides.recall.refining.mlp import Network
    from simonides.records.audit import AuditReport, Entry
    from simonides.records.draft import Draft, Prepared
    from simonides.records.enrichment import EnrichReport
    from simonides.records.entity import Entity, EntityCount
    from simonides.records.explanation import WhyNot
    from simonides.records.extraction import Extraction
    from simonides.records.impression import Samples
    from simonides.records.keyed_record import KeyedRecord
    from simonides.records.memory import Brief, Memory, Move
    from simonides.records.recall import Recall, Reflection
    from simonides.records.receipt import Counts, Receipt, Restored, Saved, Synced
    from simonides.records.source import Source
    from simonides.records.time_to_live import TtlDefaults
    from simonides.retain.importing.pieces import Piece
    from simonides.retain.messages import MessageObject
    from simonides.retain.secrets import Policy

_log = logging.getLogger("simonides")

_READ_AT_ONCE = 16
"""Memories read before their bytes are counted."""
_LONGEST_ID = 64
_LONGEST_PATH = 4096
# Before keys of principals among those of the owner; it is followed by a number, or by itself.
_MARK = "\x1f"
_SETTLED_AT_ONCE = 200
# Times to live that a write ends before it; what is left ends at the next one, and is hidden meanwhile.
_EXPIRED_AT_ONCE = 200
LOADED_AT_ONCE = 32_768
"""Items per transaction of a load: a sealed block of the index then is written one and a half times."""
_MOST_ANSWER_TOKENS = 100_000

_SEARCH_DEFAULTS: Mapping[str, object] = {
    "entity_hints": None,
    "mode": None,
    "question_date": None,
    "budget": None,
    "budget_function": None,
    "include_chunks": False,
    "max_chunk_tokens": 8192,
    "syntax": "plain",
    "aliases": None,
    "deadline_ms": None,
    "precision": None,
    "min_relevance": None,
    "tier": "default",
}
_RECALL_DEFAULTS: Mapping[str, object] = {
    "limit": None,
    "max_tokens": 4096,
    "kinds": None,
    "project": None,
    "tags": None,
    "tags_match": "any",
    "as_of": None,
    "known_at": None,
    "window": None,
    "seed": None,
    "types": None,
    "include_archived": False,
    "prefer_observations": False,
    "standing": False,
    **_SEARCH_DEFAULTS,
}
# Techniques that read query and memory together; only for them is the store's reranker loaded.
RERANKING = ("cross_encoder", "head_rerank")
# Those that ask a language model; only they are handed the store's judge.
JUDGING = ("llm_judge",)
# Asked when a bank is warmed, and answered to nobody.
_WARMING = "What was said last, and when?"
# Sets of readers whose known names are kept in memory; about 30 MB each in a bank of 100,000 names.
_MOST_READERS = 4


class Embedders(Protocol):
    """What a store knows of embedders."""

    def __call__(self, model: ModelIdentity = ...) -> tuple[Embedder | None, str]:
        """The embedder for a bank whose vectors are of *model* (empty: it has none yet), or ``None`` and why.

        Another one than *model* where the store was opened with that one.
        """
        ...

    def at_hand(self, model: ModelIdentity) -> Embedder | None:
        """That very embedder, if it can be had without fetching it."""
        ...

    def adopt(self, model: str | Embedder, dimension: int | None) -> Embedder:
        """The embedder that a bank goes over to; from now on it is at hand.

        Raises:
            InputError, UnknownNameError, ModelError: see ``open_store``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a store hands to its banks.

    Attributes:
        clock: tells the time.
        zone: of times that state none.
        own_zone: whether a bank's own zone goes before it.
        analyser, tokens, extractor, expander: of the store.
        embedder: gives the embedder of a bank (loaded at first use), or ``None`` and why.
        executor: runs channels side by side; ``None`` = one after the other.
        reranker: gives the store's reranker (loaded at first use), or ``None`` and why.
        token_codes: whether codes of tokens are stored.
        settings: what the environment changes about profiles, by variable.
        judge: of the store, handed only to profiles that have a place for it.
        sparse: gives the store's sparse encoder (loaded at first use), or ``None`` and why.
        redact: what becomes of secrets in what is retained.
        answerer: the language model that ``reflect`` and the helpers ask, or ``None``.
        timer: seconds, for the traces.
        heavy_reranker: gives the reranker of the async tier (loaded at first use), or ``None`` and why.
        jobs: works off recalls of the async tier.
    """

    clock: Clock
    zone: tzinfo
    own_zone: bool
    analyser: Analyser
    tokens: TokenCounter
    extractor: Extractor
    expander: Expander | None
    embedder: Embedders
    executor: Submits | None
    reranker: Callable[[], tuple[Reranker | None, str]]
    token_codes: bool
    settings: Mapping[str, Setting] = field(default_factory=dict)
    judge: Judge | None = None
    sparse: Callable[[], tuple[SparseEncoder | None, str]] = lambda: (None, "")
    redact: Policy = "off"
    answerer: Answerer | None = None
    timer: Callable[[], float] = time.perf_counter
    heavy_reranker: Callable[[], tuple[Reranker | None, str]] = lambda: (None, "")
    jobs: JobRunner = field(default_factory=JobRunner)


@refused_after_fork(lambda bank: bank._origin)  # noqa: SLF001 the decorator is of this class
@quiet(lambda bank: bank._around.redact)  # noqa: SLF001 see above
@translates_disk_errors(lambda bank: bank._rows.folder.parent)  # noqa: SLF001 see above
class Bank:
    """Retains and recalls; made by ``Store.bank``. Usable from several threads at once.

    Args:
        name: of the bank.
        rows: its backend.
        principal: who acts; ``None`` = the owner, who sees all.
        surroundings: what the store hands in.
    """

    def __init__(
        self, name: str, rows: EmbeddedBank, principal: str | None, surroundings: Surroundings
    ) -> None:
        self.name = name
        self.principal = principal
        self._origin = Origin(f"bank {name!r}")
        self._rows = rows
        self._around = surroundings
        self._answers = RecentAnswers()
        # By readers of a new memory: the names that all of them may know of, and the last one read.
        self._names: dict[tuple[str, ...] | None, tuple[KnownNames, int]] = {}
        self._names_changed = 0
        self._names_lock = threading.Lock()

    def __repr__(self) -> str:
        acting = "" if self.principal is None else f", principal={self.principal!r}"
        return f"Bank({self.name!r}{acting})"

    def retain(
        self,
        items: str | Mapping[str, Any] | MessageObject | Iterable[str | Mapping[str, Any] | MessageObject],
        *,
        kind: str | None = None,
        layer: str | None = None,
        tags: Iterable[str] | None = None,
        project: str | None = None,
        event_time: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        recorded_at: datetime | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        acl: Iterable[str] | None = None,
        source: str | None = None,
        context: str | None = None,
        relation: str | None = None,
        path: str | None = None,
        salience: float | None = None,
        confidence: float | None = None,
        document_id: str | None = None,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        expansion: str | None = None,
        subject: str | None = None,
        object: str | None = None,  # noqa: A002 the field's name in the public contract
        single_valued: bool = False,
        deduplicate: bool = True,
        ttl: float | timedelta | str | None = None,
        on_expiry: str | None = None,
        zone: tzinfo | str | None = None,
        idempotency_key: str | None = None,
    ) -> list[str]:
        """Store memories durably: one transaction and one embedding pass for the whole batch.

        Args:
            items: a text, a mapping with ``text`` and any of the arguments below, a chat message as language
                models take and give it (``{"role": "user", "content": "…"}``), or an iterable of these.
                Messages of user, assistant and tools are stored in their role; system messages, calls of
                tools, images, audio and files are left out, and the log counts them. With *session* a
                message is found by the words of the messages around it, too.
            kind: episodic, semantic (the default), procedural, decision, code, preference or observation.
            layer: working, episodic, semantic, procedural or codebase; by default it follows the kind.
            tags: labels to filter by.
            project: the project it belongs to.
            event_time: when it happened: a datetime, a date, or ISO 8601 (``"2026"`` is the whole year).
            valid_from: when it became true; by default the event time if that has passed, else now.
            valid_to: when it stopped being true, excluded; by default it still is.
            recorded_at: when it was first recorded, for imports; not after the clock; the owner's only.
            metadata: JSON-ready values, kept and returned as they are.
            acl: principals who may read it; empty = everyone in the bank.
            source: where it came from.
            context: words it needs to be found alone; searched beside the text.
            relation: name of the relation it states; searched beside the text.
            path: document path; breaks ties between equal scores.
            salience: 0 to 1.
            confidence: 0 to 1.
            document_id: the items are the whole of this document: its memories that are not among them end.
            session: the conversation they belong to; each is linked to the one before it.
            speaker: who said it.
            role: user, assistant, tool, document or import; decides how far it is trusted.
            expansion: questions it answers; searched beside the text.
            subject: with *relation* and *object*, a statement such as ("works at", "Odalys", "Norrhav").
            object: see *subject*.
            single_valued: the subject has one object at a time: a newer statement closes the older one.
            deduplicate: an item that says the same as a current memory changes nothing (or adds a proof, when
                it says it in nearly the same words) and returns that memory's id; a statement may close
                another. False stores each item as it comes and changes no other memory.
            ttl: how long it lives from its recording on: seconds, a ``timedelta``, a text such as ``"30d"``
                (s, m, h, d, w), or ``"never"``; by default what ``set_ttl`` says of its kind. Then it counts
                as archived at once; the next write or ``maintain`` records it. What is said again lives as
                long as the longer of the two.
            on_expiry: archive (the default), or erase: it is forgotten then, as by ``forget``.
            zone: of times and of words such as "today" in this call, in place of the bank's: see ``zone``.
            idempotency_key: the same key with the same items returns the first answer and stores nothing;
                every principal has keys of its own.

        Returns:
            one id per item, in order; none for a message that is left out. When this returns, the memories
            survive a crash and a power cut.

        Raises:
            InputError: an argument is wrong; nothing was stored.
            ConflictError: the idempotency key was used with other items; nothing was stored.
            EmbedderMismatchError: the bank's vectors were made by another embedder; nothing was stored.
            UnavailableError: the bank cannot be written; nothing was stored.
        """
        shared = {
            "kind": kind,
            "layer": layer,
            "tags": tags,
            "project": project,
            "event_time": event_time,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "recorded_at": recorded_at,
            "metadata": metadata,
            "acl": acl,
            "source": source,
            "context": context,
            "relation": relation,
            "path": path,
            "salience": salience,
            "confidence": confidence,
            "document_id": document_id,
            "session": session,
            "speaker": speaker,
            "role": role,
            "expansion": expansion,
            "subject": subject,
            "object": object,
            "single_valued": single_valued,
            "deduplicate": deduplicate,
            "ttl": ttl,
            "on_expiry": on_expiry,
        }
        bank = self._in(zone)
        drafts = bank._read(items, shared)  # noqa: SLF001 the same bank
        self._check_allowed(drafts)
        key = None if idempotency_key is None else clean_label(idempotency_key, "idempotency_key")
        if key is not None:
            # Refused, where it is to be, before anything is encoded.
            Screen(self._around.redact).apart(key, "idempotency_key")
        if not drafts:
            return []
        store = partial(self._store, key=key)
        return bank._prepare_and_store(drafts, store)  # noqa: SLF001 the same bank

    def _prepare_and_store(
        self,
        drafts: list[Draft],
        store: Callable[[WriteTransaction, tuple[Prepared, ...]], list[str]],
        revived: str = "",
    ) -> list[str]:
        """Encode outside the transaction; once more if the bank is another one by then.

        It may have gone over to another embedder, or what it held already may have left it. A memory that
        is *revived* by *store* is not archived before.
        """
        self._expire_due(revived)
        ready = self._prepare(drafts, known=self._rows.known_contents)
        try:
            with self._rows.writing(self._now(), self.principal or "") as transaction:
                return store(transaction, ready)
        except LeftMeanwhileError:
            pass
        except EmbedderMismatchError:
            if not self._went_over(ready):
                raise
        ready = self._prepare(drafts)
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            return store(transaction, ready)

    def _expire_due(self, revived: str = "") -> None:
        """Archive or erase what is due, before anything is compared with it."""
        now = self._now()
        due = self._rows.due(now, _EXPIRED_AT_ONCE)
        # Archiving it would be another version than the one that its editor has seen.
        due = [each for each in due if each.task == EXPIRY_ERASE or each.memory != revived]
        if due:
            # Whoever happens to write does it in the owner's name, who set the time.
            with self._rows.writing(now) as transaction:
                if any(each.task == EXPIRY_ERASE for each in expire_due(transaction, due)):
                    self._rows.drop_reranker()

    def _went_over(self, items: Iterable[Prepared]) -> bool:
        """Whether the bank has gone over to another embedder that is at hand since *items* were encoded."""
        with self._rows.reading() as reading:
            current = reading.embedder()
        made_by = {item.model.fingerprint for item in items if item.model is not None}
        embedder, _ = self._around.embedder(current)
        return embedder is not None and embedder.fingerprint == current.fingerprint not in made_by

    def load(
        self,
        items: Iterable[str | Mapping[str, Any]],
        vectors: NDArray[Any],
        *,
        tokens: Sequence[NDArray[Any]] | None = None,
        batch: int = LOADED_AT_ONCE,
        workers: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """Store very many memories that are embedded already, batch by batch.

        Each batch is one transaction; ``settle`` later reads names and relations out of the texts and links
        each memory to its neighbours, and recall works meanwhile. A load that broke off can be made again:
        an item that is there already is not stored anew. What ``retain`` reads out of a text at once stays
        as the item states it: its kind (semantic), salience, confidence and event time.

        Args:
            items: as for ``retain``.
            vectors: float, shape (items, dimension), of the store's embedder; may be mapped from a file.
            tokens: per item the vectors of its tokens less the embedder's mean, float, shape (tokens,
                dimension), as ``encode_both`` gives them; for late interaction.
            batch: items per transaction, from 1.
            workers: processes that check and analyse items beside this one, which stores; 1 = none. Items
                then must be what can be sent to a process.
            progress: told after each batch how many items, from the first on, will survive a power cut.

        Returns:
            one id per item, in order.

        Raises:
            InputError: an item or a vector is wrong; the message names it by number. Its batch was not
                stored; those before it stay.
            EmbedderMismatchError: the bank's vectors were made by another embedder.
            UnavailableError: the bank cannot be written.
        """
        from simonides.retain.loading import Preparing, batches_of, parts_of  # noqa: PLC0415 rarely used

        with self._rows.reading() as reading:
            embedder, problem = self._around.embedder(reading.embedder())
        if embedder is None:
            raise InputError(
                "vectors", f"need the embedder that made them ({problem or 'the store has none'})"
            )
        parts = parts_of(items, np.asanyarray(vectors), tokens, embedder.dimension)
        model = ModelIdentity(embedder.name, embedder.dimension, embedder.fingerprint)
        self._expire_due()
        prepare_part = Preparing(self._around.analyser, self.zone, self._around.redact, model)
        ids: list[str] = []
        for each in batches_of(parts, prepare_part, batch=batch, workers=workers):
            self._warn_of_secrets(each.masked)
            self._check_allowed([row.draft for row in each.rows])
            with self._rows.loading(self._now(), self.principal or "", each.parts) as transaction:
                ids += self._write(transaction, each.rows, unread=True)
            if progress:
                progress(len(ids))
        return ids

    def retain_document(
        self, text: str, *, document_id: str, title: str | None = None, **shared: Any
    ) -> list[str]:
        """Store a document by paragraphs, in place of what the bank holds of it.

        Each paragraph is a memory whose context is the title, the headings above it and the date. A paragraph
        that was there before keeps its memory, what is there no more ends, and the raw text is kept whole.

        Args:
            text: Markdown or plain text, up to 64 MiB.
            document_id: the caller's name for it; the same name again replaces the document.
            title: of the document.
            shared: any other argument of ``retain`` for all paragraphs; *role* is document if not given.

        Returns:
            one id per paragraph, in order.

        Raises:
            the same as ``retain``.
        """
        when = shared.get("event_time")
        zone = self._in(shared.get("zone")).zone
        date = None if when is None else parse_time(when, "event_time", zone=zone)
        # Before it is cut into paragraphs, one of which might hold half a secret.
        screen = Screen(self._around.redact)
        if title is not None:
            title = clean_text(title, "title", MAX_CONTEXT_BYTES)
        text, title = screen.words(text, "text"), screen.words(title, "title")
        self._warn_of_secrets(screen.found)
        items = document_items(text, document_id=document_id, title=title or "", date=date)
        return self.retain(items, **{"role": "document", **shared})

    def retain_conversation(
        self,
        turns: Iterable[Mapping[str, Any] | MessageObject],
        *,
        session: str,
        window: int = WINDOW,
        **shared: Any,
    ) -> list[str]:
        """Store a conversation by turns; each is found by the words of the turns around it, too.

        Turns that are there already are not stored again, so a conversation may be given anew as it goes on.

        Args:
            turns: mappings with ``text``, such as ``speaker`` and ``event_time``, and any other key of an
                item of ``retain`` but ``session``, ``context`` and ``document_id``, which the whole decides;
                or chat messages, as ``retain`` takes them.
            session: the caller's name for the conversation.
            window: how many turns before and after a turn become its context, from 0.
            shared: any other argument of ``retain`` for all turns.

        Returns:
            one id per turn, in order.

        Raises:
            the same as ``retain``.
        """
        window = clean_count(window, "window", 0)
        # Read here, so that a message about one does not repeat what it holds.
        turns = list(turns) if isinstance(turns, Iterator) else turns
        left_out: Counter[str] = Counter()
        with quiet_errors(self._around.redact, turns):
            items = conversation_items(turns, session=session, before=window, after=window, left_out=left_out)
        _tell_left_out(left_out)
        return self.retain(items, **shared)

    def source(self, memory: str) -> Source:
        """The raw text that a memory comes from, and the part of it that the memory tells.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
        """
        current = self.get(memory)
        with self._rows.reading() as reading:
            found = reading.source(current.id)
        if found is None:
            raise NotFoundError(f"memory {memory!r} was forgotten meanwhile")
        return found

    def _read(self, items: object, shared: Mapping[str, object]) -> list[Draft]:
        """What is to be stored, checked and without secrets, as far as the store is to redact."""
        # An iterator is read here, so that a message about an item does not repeat what it holds.
        items = list(items) if isinstance(items, Iterator) else items
        with quiet_errors(self._around.redact, items):
            given = with_messages(items, shared)
            drafts = (
                read_items(items, shared, zone=self.zone)
                if given is None
                else read_items(given.items, shared, zone=self.zone, places=given.places)
            )
        if given is not None:
            _tell_left_out(given.left_out)
        screen = Screen(self._around.redact)
        drafts = screen.drafts(drafts)
        self._warn_of_secrets(screen.found)
        return drafts

    def _warn_of_secrets(self, found: Mapping[str, int]) -> None:
        if found:
            listed = ", ".join(f"{count} {kind}" for kind, count in sorted(found.items()))
            _log.warning("secrets were masked before storing: %s", listed)

    def _own_key(self, key: str) -> str:
        """A caller's key as it is kept: no two who act share one; the owner's is kept as it is."""
        if self.principal is not None:
            return f"{_MARK}{len(self.principal)}{_MARK}{self.principal}{key}"
        return _MARK + key if key.startswith(_MARK) else key

    def _check_allowed(self, drafts: Sequence[Draft]) -> None:
        """Nobody records in the future; a principal may not date back, nor write where it cannot read.

        What a memory ends, repeats or replaces is looked for among those with its own readers: whoever is one
        of them neither changes nor learns of what is hidden from it.
        """
        now = self._now()
        for draft in drafts:
            if draft.recorded_at is not None and self.principal is None:
                check_recorded(
                    draft.recorded_at, now, f"{draft.place}.recorded_at" if draft.place else "recorded_at"
                )
        if self.principal is None:
            return
        if any(draft.recorded_at is not None for draft in drafts):
            raise InputError("recorded_at", "only the owner may state it; leave it out")
        for draft in drafts:
            if draft.acl and self.principal not in draft.acl:
                raise InputError(
                    "acl",
                    f"{list(draft.acl)} lacks {self.principal!r}, who stores it; add it, or leave acl out",
                )

    def _prepare(
        self,
        drafts: list[Draft],
        *,
        said_now: bool = True,
        known: Callable[[Sequence[bytes]], AbstractSet[bytes]] = lambda _: frozenset(),
    ) -> tuple[Prepared, ...]:
        with self._rows.reading() as reading:
            embedder, _ = self._around.embedder(reading.embedder())
            target = reading.following()
        following = None if target is None or embedder is None else self._around.embedder.at_hand(target)
        now, names = self._now(), self._known_names_for({draft.acl for draft in drafts})

        def extract(draft: Draft) -> Extraction:
            found = self._extracted(draft, names[draft.acl], now)
            return found if said_now else without_relative_times(found)

        ready = prepare(
            drafts,
            self._around.analyser,
            embedder,
            extract=extract,
            expander=self._around.expander,
            token_codes=self._around.token_codes,
            sparse=self._around.sparse()[0],
            following=following,
            known=known,
        )
        if ready.unsparse:
            position, reason = ready.unsparse[0]
            _log.warning(
                "%d of %d memories have no sparse terms (first: item %d, %s)",
                len(ready.unsparse),
                len(drafts),
                position,
                reason,
            )
        if ready.unembedded:
            position, reason = ready.unembedded[0]
            _log.warning(
                "%d of %d memories have no vector and are found by words only (first: item %d, %s)",
                len(ready.unembedded),
                len(drafts),
                position,
                reason,
            )
        return ready.items

    def _store(
        self, transaction: WriteTransaction, items: tuple[Prepared, ...], key: str | None
    ) -> list[str]:
        if key is None:
            return self._write(transaction, items)
        body = b"".join(content_key(item.draft) for item in items)
        body = hashlib.blake2b(body, digest_size=16).digest()
        # Under either form: the policy may have been another when the key was first used.
        forms = dict.fromkeys(
            (Screen(self._around.redact).apart(key, "idempotency_key"), masked_apart(key), key)
        )
        kept, *_ = forms
        claimed = next(filter(None, (transaction.claimed(self._own_key(form)) for form in forms)), None)
        if claimed is not None:
            if claimed[0] != body:
                raise ConflictError(
                    f"idempotency_key {key!r} was used with other items; use a new key for new items"
                )
            return claimed[1]
        ids = self._write(transaction, items)
        transaction.claim(self._own_key(kept), body, ids)
        return ids

    def _write(
        self, transaction: WriteTransaction, items: Sequence[Prepared], *, unread: bool = False
    ) -> list[str]:
        current = transaction.embedder().fingerprint
        items = [item.gone_over(current) for item in items]
        self._fit(transaction, *items)
        author = self.principal or ""
        analyser, returned = self._around.analyser, self._answers.source
        defaults = self._rows.ttl_defaults
        return Storing(
            transaction, items, analyser, author, returned, unread=unread, ttl_defaults=defaults
        ).store()

    def _fit(self, transaction: WriteTransaction, *items: Prepared) -> None:
        """Check that the bank's vectors are by the models that made those of *items*."""
        made_by = next((item.model for item in items if item.codes is not None), None)
        if made_by is not None:
            transaction.use_embedder(made_by)
        sparse, _ = self._around.sparse()
        if sparse is not None and any(item.sparse for item in items):
            transaction.use_sparse(sparse)

    def import_items(self, items: Iterable[Mapping[str, Any]]) -> Imported:
        """Store items of an import that were not stored by an earlier one; otherwise like ``retain``.

        Args:
            items: as for ``retain``; of a document (``document_id``) all that there are.

        Returns:
            ids of what was stored, and how many items an earlier import had brought. Those stay as they are,
            also where they were forgotten or closed since.

        Raises:
            the same as ``retain``; an InputError names the item by its position in *items*.
        """
        drafts = self._read(items, {})
        self._check_allowed(drafts)
        pieces = gather(drafts, self.principal or "")
        known = self._rows.claimed([piece.key for piece in pieces])
        fresh = [piece for piece in pieces if known.get(piece.key) != piece.body]
        stored = self._import(fresh, drafts) if fresh else []
        return Imported(tuple(stored), len(drafts) - len(stored))

    def sync_documents(
        self, items: Iterable[Mapping[str, Any]], *, below: str | Sequence[str], keep: Collection[str] = ()
    ) -> Synced:
        """Follow documents that moved and end those that left, before *items* are imported.

        A paragraph that stands in another document than before keeps its memory: same id, history and links.
        Memories of documents that are no more end now; ``history`` and recalls of earlier times still find
        them. Only what everyone in the bank may read, and no role more trusted than document said, is moved
        or ended.

        Args:
            items: as for ``import_items``: everything that the documents say now. It stores nothing of them.
            below: how the names (``document_id``) of the documents that are synced begin, one or more.
            keep: names of documents that are there, but whose text is not among *items*.

        Raises:
            the same as ``import_items``.
        """
        beginnings = [below] if isinstance(below, str) else list(below)
        for beginning in beginnings:
            if not clean_text(beginning, "below", MAX_PATH_BYTES):
                raise InputError("below", "is blank; give the beginning of the documents' names")
        drafts = self._read(items, {})
        self._check_allowed(drafts)
        encoder, _ = self._around.sparse()

        def sparse(draft: Draft) -> bytes:
            return sparse_terms([in_context(draft.text, draft.context)], encoder)[0][0]

        with self._rows.writing(self._now(), self.principal or "") as transaction:
            kept = {Screen(self._around.redact).apart(name, "keep") for name in keep}
            return Syncing(transaction, drafts, self.principal or "", sparse).run(beginnings, kept)

    def _import(self, fresh: Sequence[Piece], drafts: Sequence[Draft]) -> list[str]:
        places = [place for piece in fresh for place in piece.positions]

        def store(transaction: WriteTransaction, prepared: Sequence[Prepared]) -> list[str]:
            ready = dict(zip(places, prepared, strict=True))
            # Another process may be importing the same.
            left = [p for p in fresh if (transaction.claimed(p.key) or (b"",))[0] != p.body]
            there = [place for piece in left for place in piece.positions]
            stored = self._write(transaction, [ready[place] for place in there])
            ids = dict(zip(there, stored, strict=True))
            for piece in left:
                transaction.claim_anew(piece.key, piece.body, [ids[place] for place in piece.positions])
            return stored

        return self._prepare_and_store([drafts[place] for place in places], store)

    def export(self, target: str | os.PathLike[str] | IO[bytes]) -> Counts:
        """Write everything in the bank without loss, as it is at one moment; the owner's only.

        Args:
            target: a path (written whole or not at all, readable by its owner only), or a binary file.

        Returns:
            how many of each kind the export holds.

        Raises:
            InputError: the path cannot be a file's.
            UnavailableError: it cannot be written; what was there before is still there.
        """
        self._owners_only("export")
        self._tell("export", None)
        return self._rows.export(target)

    def import_bank(
        self, path: str | os.PathLike[str], *, progress: Callable[[int, int], None] | None = None
    ) -> Restored:
        """Read an export: exactly into an empty bank, what is missing into any other; the owner's only.

        A memory whose id is there already is left as it is, so a second import changes nothing, and one that
        was interrupted can be made again. Memories keep their ids, versions and recorded times.

        Args:
            path: what ``export`` wrote.
            progress: told (lines done, lines) after each batch.

        Raises:
            InputError: it is no export, of another version, or damaged; the message names the line.
            EmbedderMismatchError: the bank's vectors were made by another embedder; nothing was stored.
            UnavailableError: the file cannot be read.
        """
        self._owners_only("import_bank")
        file = clean_text(os.fspath(path), "path", _LONGEST_PATH)
        self._check_export(Path(file))
        return self._rows.restore(Path(file), self._around.analyser, self._now(), progress=progress)

    def _check_export(self, path: Path) -> None:
        """That an export, which is taken over as it is, holds no secret where the store redacts."""
        if self._around.redact == "off":
            return
        check_file(path, self._now())
        for number, record in read_records(path):
            kind = next(secrets_in(record), None)
            if kind is not None:
                raise InputError(
                    "path",
                    f"line {number:,} of {path} holds a secret ({kind}), and an export is read in unchanged; "
                    "forget that memory where it comes from and export anew, or import with redact='off'",
                )

    def _extracted(self, draft: Draft, known: KnownNames, now: int) -> Extraction:
        """What a draft's text says."""
        found = self._around.extractor.extract(
            draft.text, anchor=said_at(draft, now), zone=self.zone, known=known
        )
        return dated(draft, found)

    def _known_names_for(self, readers: set[tuple[str, ...]]) -> dict[tuple[str, ...], KnownNames]:
        """The names of the bank by readers, for what is retained."""
        with self._rows.reading() as reading, self._names_lock:
            return {each: self._names_of(reading, each) for each in readers}

    def _names_of(self, reading: Reading, readers: tuple[str, ...] | None) -> KnownNames:
        """The names that *readers* may know of (``None`` = the owner: all), read on from the last call."""
        changed = reading.names_changed()
        if changed != self._names_changed:
            self._names, self._names_changed = {}, changed
        known, read = self._names.pop(readers, (KnownNames(), 0))
        fresh, read = reading.names(read, readers)
        for name in fresh:
            known.add(name)
        self._names[readers] = known, read
        while len(self._names) > _MOST_READERS:
            del self._names[next(iter(self._names))]
        return known

    def settle(self, most: int | None = None) -> int:
        """Work off what large batches and loads left for later: names, relations, links, near repeats.

        Args:
            most: tasks at most, one or two per memory; ``None`` = all that wait.

        Returns:
            how many tasks were done; 0 for a principal, whom it would tell how much others have stored.
            Recall works before, meanwhile and after.

        Raises:
            InputError: *most* is no number of tasks.
        """
        most = None if most is None else clean_count(most, "most", 0)
        done = 0
        with self._rows.reading() as reading, self._names_lock:
            # Those that everyone in the bank may know of: they show nobody a name that is not for them.
            known = self._names_of(reading, ())

        def extract(text: str, anchor: int) -> Extraction:
            return self._around.extractor.extract(text, anchor=anchor, zone=self.zone, known=known)

        while most is None or done < most:
            step = _SETTLED_AT_ONCE if most is None else min(_SETTLED_AT_ONCE, most - done)
            with self._rows.writing(self._now(), self.principal or "") as transaction:
                count = settle(transaction, step, extract)
            done += count
            if count < step:
                break
        return done if self.principal is None else 0

    def queue_enrichment(self, ids: str | Iterable[str] | None = None) -> int:
        """Queue memories for ``enrich``; the owner's only.

        Args:
            ids: these, also if they were enriched or given up before; ``None`` = all that hold now, were
                never enriched and do not wait.

        Returns:
            how many were queued.

        Raises:
            NotFoundError: there is no such memory; nothing was queued.
        """
        self._owners_only("queue_enrichment")
        wanted = None if ids is None else _ids(ids)
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            if wanted is None:
                return transaction.queue_unenriched(ENRICH)
            for memory in wanted:
                ordinal = transaction.current_ordinal(memory)
                if ordinal is None:
                    raise NotFoundError(f"no memory {memory!r} in bank {self.name!r}; nothing was queued")
                transaction.queue_again(ENRICH, int(transaction.columns(ordinal, "root")[0]))
            return len(wanted)

    def enrich(
        self,
        model: Enricher,
        *,
        most: int | None = None,
        cost_cap: float | None = None,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> EnrichReport:
        """Ask a language model about queued memories; the owner's only.

        What can be checked against a memory's text (names, relations between them, facts and questions in its
        words) becomes a new version of it. A try that fails changes no memory and is made again by a later
        run. Texts and contexts of memories are sent to the model's server.

        Args:
            model: such as ``models.llm.LanguageModel``.
            most: memories at most; ``None`` = all that are due.
            cost_cap: of this run; it ends before a request that could pass it. Needs the model's prices.
            progress: told ("memories asked about", how many, of how many).

        Raises:
            InputError: an argument is wrong.
            MissingExtraError: the model needs a package that is not installed.
            ModelRefusedError: the server refuses the key, the address or the model's name. What was enriched
                before it stays so.
        """
        self._owners_only("enrich")
        self._expire_due()
        enrichment = EnrichmentRun(
            self._rows, model, self._around.analyser, self._now, cost_cap=cost_cap, progress=progress
        )
        return enrichment.run(most)

    def _owners_only(self, verb: str) -> None:
        if self.principal is not None:
            raise InputError("principal", f"only the owner may {verb}; open the bank without a principal")

    def invalidate(self, memory: str, *, at: datetime | str | None = None) -> None:
        """End what a memory states; it is kept, and recall at an earlier moment still finds it.

        Args:
            memory: its id.
            at: when it stopped being true, excluded; a date means its first instant. Default: now, and never
                before what is stored already, under a clock that stands still or was set back. A memory that
                ended before stays as it is; an earlier end corrects a later one.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
            InputError: *at* lies before the memory began to hold.
        """
        current = self.get(memory)
        given = None if at is None else parse_time(at, "at", zone=self.zone).start
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            ordinal = transaction.current_ordinal(memory)
            if ordinal is None:
                raise NotFoundError(f"memory {memory!r} is no longer held in bank {self.name!r}")
            now = transaction.instant_after(ordinal, transaction.next_instant())
            moment = now if given is None else given
            if moment < current.valid_from_micros:
                raise InputError(
                    "at", f"lies before the memory began to hold ({current.valid_from}); give a later time"
                )
            close(transaction, ordinal, moment)

    def update(
        self,
        memory: str,
        *,
        text: str | None = None,
        kind: str | None = None,
        layer: str | None = None,
        tags: Iterable[str] | None = None,
        project: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        source: str | None = None,
        path: str | None = None,
        salience: float | None = None,
        confidence: float | None = None,
        expected_version: int | None = None,
    ) -> Memory:
        """Change what a memory says, or what is noted about it, as a new version of it.

        Other words are encoded, read and linked as by ``retain``: names, times, and kind, salience and
        confidence where they followed from the old words. Ends that the old words made of other memories are
        taken back, and those of the new ones are made. Id, readers, trust, pin and what was stated stay; a
        memory that was archived comes back. A recall as of before the change finds the old words. To say that
        something is true no more, retain what is true now: that keeps both.

        Args:
            memory: its id.
            text: what it says from now on, in place of what it said; of a turn with or without the speaker.
            kind: as for ``retain``, like all below; ``None`` = as it was.
            layer: the same.
            tags: the same.
            project: the same.
            metadata: the same.
            source: the same.
            path: the same.
            salience: the same.
            confidence: the same.
            expected_version: the version that the caller has seen (``Memory.version``), from 1; ``None`` =
                whichever there is.

        Returns:
            the memory as it is now; the version before it is in ``history``.

        Raises:
            NotFoundError: there is no such memory that the principal may read, or it is no longer held.
            InputError: an argument is wrong, nothing is to be changed, a principal would change a standing
                memory, or quarantine or release one, or other words are given for one that holds a value
                under a key or sums up others; nothing was changed.
            ConflictError: it was changed since the *expected_version*; nothing was changed.
            EmbedderMismatchError: the bank's vectors were made by another embedder; nothing was changed.
        """
        changes = read_changes(
            {
                "text": text,
                "kind": kind,
                "layer": layer,
                "tags": tags,
                "project": project,
                "metadata": metadata,
                "source": source,
                "path": path,
                "salience": salience,
                "confidence": confidence,
            }
        )
        expected = None if expected_version is None else clean_count(expected_version, "expected_version", 1)
        screen = Screen(self._around.redact)
        changes = screen.changes(changes)
        words = changes.pop("text", None)
        self.get(memory)
        while words is not None and not self._reword(memory, words, changes, expected):
            # Each time another change came through, so this ends.
            pass
        if words is None:
            with self._rows.writing(self._now(), self.principal or "") as transaction:
                edit(transaction, self._checked_version(transaction, memory, changes, expected), changes)
        self._warn_of_secrets(screen.found)
        return self.get(memory)

    def _checked_version(
        self, transaction: WriteTransaction, memory: str, changes: Mapping[str, Any], expected: int | None
    ) -> int:
        """Ordinal of the version that is to be changed."""
        ordinal = transaction.current_ordinal(memory)
        if ordinal is None:
            raise NotFoundError(f"memory {memory!r} is no longer held in bank {self.name!r}")
        version, held, state = transaction.columns(ordinal, "version", "kind", "state")
        if int(state) & STANDING:
            self._owners_only("change a standing memory")
        check_version(memory, int(version), expected)
        kinds = {changes["kind"], held} if "kind" in changes else set()
        if len(kinds) > 1 and Kind.QUARANTINE in kinds:
            self._owners_only("quarantine or release")
        return ordinal

    def _reword(self, memory: str, text: str, changes: Mapping[str, Any], expected: int | None) -> bool:
        """Give a memory other words; false = it was changed while they were encoded."""
        with self._rows.reading() as reading:
            worded = reading.worded(memory)
        if worded is None:
            raise NotFoundError(f"memory {memory!r} is no longer held in bank {self.name!r}")
        check_version(memory, worded.now.version, expected)
        check_rewordable(worded.now)
        known = self._known_names_for({worded.now.acl})
        expander = self._around.expander

        def read(draft: Draft) -> Extraction:
            # What it ended may be for fewer readers; these know of all that its own readers know of.
            names = known.get(draft.acl, known[worded.now.acl])
            return self._extracted(draft, names, worded.first_recorded)

        def questions(said: str, found: Extraction) -> str:
            return expander.expand(said, found) if expander else ""

        draft = reworded(worded, text, changes, read, questions)

        def store(transaction: WriteTransaction, items: tuple[Prepared, ...]) -> list[str]:
            ordinal = self._checked_version(transaction, memory, changes, expected)
            if int(transaction.columns(ordinal, "version")[0]) != worded.now.version:
                return []
            if draft.text == worded.now.text:
                edit(transaction, ordinal, changes)
                return [memory]
            item = items[0].gone_over(transaction.embedder().fingerprint)
            self._fit(transaction, item)
            rewording = Rewording(
                transaction, worded, item, self._around.analyser, self.principal or "", read
            )
            return [rewording.write().id]

        done = self._prepare_and_store([draft], store, memory)
        if done:
            self._answers.forget(memory)
        return bool(done)

    def memories(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        kinds: Iterable[str] | str | None = None,
        project: str | None = None,
        tags: Iterable[str] | None = None,
        tags_match: str = "any",
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        window: tuple[Any, Any] | str | None = None,
        types: Iterable[str] | str | None = None,
        max_bytes: int | None = None,
    ) -> list[Memory]:
        """What the bank holds at a viewpoint, in the order of ids, page by page.

        Args:
            after: id of the last memory of the page before; ``None`` = from the first.
            limit: memories at most, 1 to 10,000.
            kinds: as for ``recall``, like all below.
            project: the same.
            tags: the same.
            tags_match: the same.
            as_of: the same.
            known_at: the same.
            window: the same.
            types: the same.
            max_bytes: of the memories (``Memory.size``); the one that passes it is the last. ``None`` = any.

        Raises:
            InputError: an argument is wrong.
        """
        request = read_recall_arguments(
            "-",
            limit=limit,
            max_tokens=None,
            kinds=kinds,
            project=project,
            tags=tags,
            tags_match=tags_match,
            as_of=as_of,
            known_at=known_at,
            window=window,
            seed=None,
            principal=self.principal,
            zone=self.zone,
            types=types,
        )
        last = "" if after is None else clean_text(after, "after", _LONGEST_ID)
        most = request.limit or 100
        with self._rows.reading() as reading:
            view = self._look(reading, request.filters)
            ordinals = reading.ordinals_after(last, view.eligible, most)
            found = _checked(reading, _within(max_bytes, ordinals, view.memories))
        self._tell("list", reading, [memory.id for memory in found])
        return found

    def count_tokens(self, text: str) -> int:
        """Tokens of a text as the store counts them for budgets."""
        return self._around.tokens.count(text)

    def history(self, memory: str) -> list[Memory]:
        """Every version of a memory, oldest first.

        Raises:
            NotFoundError: there is none that the principal may read.
        """
        clean_text(memory, "memory", _LONGEST_ID)
        with self._rows.reading() as reading:
            versions = [found for found in reading.versions(memory) if self._may_read(found)]
        if not versions:
            raise NotFoundError(f"no memory {memory!r} in bank {self.name!r}; recall shows the ids there are")
        self._tell("read", reading, [memory])
        return versions

    def diff(self, earlier: datetime | str, later: datetime | str | None = None) -> Diff:
        """What the bank believed at one moment and at another (each its own as_of and known_at).

        Args:
            earlier: a moment; a date means its first instant.
            later: the same; by default now.
        """
        zone, now = self.zone, self._now()
        first = parse_time(earlier, "earlier", zone=zone).start
        second = None if later is None else parse_time(later, "later", zone=zone).start
        with self._rows.reading() as reading:
            before = self._seen(reading, first, now)
            after = self._seen(reading, second, now)
        self._tell("diff", reading, [memory.id for memory in (*before, *after)])
        return compare(before, after)

    def _seen(self, reading: Reading, as_of: int | None, now: int) -> list[Memory]:
        filters = Filters(as_of=as_of, principal=self.principal)
        view = self._look(reading, filters, now)
        return _checked(reading, view.memories(np.flatnonzero(view.visible).tolist()))

    def entities(self, limit: int | None = 100) -> list[EntityCount]:
        """Who and what is spoken of, most mentioned first; only what visible memories mention.

        Args:
            limit: how many at most, from 0; ``None`` = all.

        Raises:
            InputError: *limit* is no such number.
        """
        limit = None if limit is None else clean_count(limit, "limit", 0)
        with self._rows.reading() as reading:
            view = self._look(reading, Filters(principal=self.principal))
            return reading.entities(np.flatnonzero(view.visible))[:limit]

    def add_alias(self, entity: int, name: str) -> None:
        """Let another name stand for an entity from now on."""
        Screen(self._around.redact).name(clean_label(name, "name"), "name")
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            self._entity(transaction, entity)
            transaction.add_alias(entity, name, fold_name(name))

    def merge_entities(self, entity: int, into: int) -> int:
        """Let one entity count as another from now on; returns the merge's number, for ``undo_merge``."""
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            merged, whole = self._entity(transaction, entity), self._entity(transaction, into)
            if merged.whole == whole.whole:
                raise InputError("into", f"entity {entity} and entity {into} are merged already")
            if not all_may_read(transaction.entity(merged.whole).readers, whole.readers):
                raise InputError(
                    "into", f"entity {into} is known to fewer than entity {entity} is; merge it the other way"
                )
            return transaction.merge_entities(entity, into)

    def undo_merge(self, merge: int) -> None:
        """End a merge: its two entities are told apart again.

        Raises:
            NotFoundError: there is no such merge, or it was undone.
        """
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            entity = transaction.merged(merge) if _is_number(merge) else None
            if entity is None or not self._may_know(transaction.entity(entity)):
                raise NotFoundError(f"no merge {merge!r} to undo; merge_entities returns the numbers")
            transaction.undo_merge(merge)

    def _entity(self, transaction: WriteTransaction, number: int) -> Entity:
        try:
            found = transaction.entity(number) if _is_number(number) else None
        except LookupError:
            found = None
        if found is None or not self._may_know(found):
            raise NotFoundError(f"no entity {number!r}; entities() lists them")
        return found

    def _may_know(self, entity: Entity) -> bool:
        return self.principal is None or all_may_read([self.principal], entity.readers)

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        max_tokens: int | None = 4096,
        profile: str | Path = "default",
        kinds: Iterable[str] | str | None = None,
        project: str | None = None,
        tags: Iterable[str] | None = None,
        tags_match: str = "any",
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        window: tuple[Any, Any] | str | None = None,
        explain: bool = False,
        seed: int | None = None,
        types: Iterable[str] | str | None = None,
        entity_hints: Iterable[str] | None = None,
        mode: str | None = None,
        question_date: datetime | str | None = None,
        budget: str | None = None,
        budget_function: str | None = None,
        include_chunks: bool = False,
        max_chunk_tokens: int = 8192,
        syntax: str = "plain",
        aliases: Mapping[str, Iterable[str]] | None = None,
        deadline_ms: float | None = None,
        precision: str | None = None,
        min_relevance: float | None = None,
        zone: tzinfo | str | None = None,
        tier: str = "default",
        count_returned: bool = False,
        include_archived: bool = False,
        prefer_observations: bool = False,
        standing: bool = False,
        include_sources: bool = False,
        helpers: Iterable[str] | str | None = None,
    ) -> Recall:
        """Find the memories that answer *query*, best first.

        Args:
            query: words.
            limit: hits at most, 1 to 10,000; ``None`` = the profile's number.
            max_tokens: budget of ``Recall.context``; ``None`` = no budget.
            profile: name of a built-in profile, or the path of a TOML file.
            kinds: keep only these kinds; an empty list matches nothing, ``None`` = all.
            project: keep only this project.
            tags: keep memories by tags, see *tags_match*.
            tags_match: any (one shared; untagged pass), any_strict, all, all_strict, or exact. Without tags,
                or with an empty list, any and all filter nothing, the strict ones match nothing, and exact
                keeps the untagged.
            as_of: viewpoint in the world's time; a date means its first instant. Default: now.
            known_at: viewpoint in recorded time. Default: *as_of*.
            window: keep memories that happened inside: (start, end), end excluded, or one date.
            explain: also say what every stage made of each hit, in ``Recall.explanations``.
            seed: of random parts; by default derived from the query and the clock.
            types: world, experience or observation; Hindsight's names for kinds. An empty list matches
                nothing.
            entity_hints: names that count as asked about whatever the words say, in profiles with entities.
            mode: auto, bm25, semantic, hybrid or hybrid-rerank, in ``jeffs_brain``.
            question_date: when the question is asked, for "last week" in its words. Default: *as_of*.
            budget: low, mid or high: how widely ``hindsight`` searches.
            budget_function: fixed or adaptive (by *max_tokens*).
            include_chunks: also pack the raw sources behind the memories, into ``Recall.chunks``.
            max_chunk_tokens: budget of these sources.
            syntax: plain, or extended with fields and groups, in ``jeffs_brain``.
            aliases: word → other words for it, in ``jeffs_brain``.
            deadline_ms: leave out optional stages that would end later; the trace says which.
            precision: how much of what may be relevant is handed out, in ``default``: high (what stands out),
                balanced (what is likely; the default), or wide (everything up to *limit*: for rerankers of
                your own and for benchmarks).
            min_relevance: the least ``Hit.relevance`` of a hit, 0 to 1; in profiles that judge relevance.
            zone: of times and of words such as "today" in this call, in place of the bank's: see ``zone``.
            tier: default, or async: the answer is the plain one, and its ``job`` names a better one that
                ``Bank.job`` gives later, with what *helpers* made of the query and read again by the store's
                heavy reranker.
            count_returned: every returned memory counts as accessed. That waits in memory until the next
                ``used`` or until the store is closed: a crash before loses it.
            include_archived: also find what maintenance has put away; ``used`` brings it back.
            prefer_observations: let an observation that maintenance made stand for the memories behind it.
                Without it, and unless *kinds* or *types* ask for observations, recall answers as if
                maintenance had made none.
            standing: let standing memories (``pin(id, always=True)``) lead the context whatever is asked,
                the newest first, in up to half of *max_tokens*; see ``Recall.standing``. *kinds*, *types*
                and *window* do not leave them out, *tags* do, and *project* does where they have another.
            include_sources: also give the memories for and against each such observation, in
                ``Recall.evidence``.
            helpers: hyde, query2doc and multi_query, each one call to the store's language model, in the
                async tier alone.

        Raises:
            InputError: an argument is wrong.
            ProfileError: the profile file is wrong.
        """
        wanted = read_helpers(tier, helpers)
        asked: dict[str, Any] = {
            "explain": explain,
            "include_sources": include_sources,
            "include_archived": include_archived,
            "prefer_observations": prefer_observations,
            "standing": standing,
            "limit": limit,
            "max_tokens": max_tokens,
            "kinds": kinds,
            "project": project,
            "tags": tags,
            "tags_match": tags_match,
            "as_of": as_of,
            "known_at": known_at,
            "window": window,
            "seed": seed,
            "types": types,
            "entity_hints": entity_hints,
            "mode": mode,
            "question_date": question_date,
            "budget": budget,
            "budget_function": budget_function,
            "include_chunks": include_chunks,
            "max_chunk_tokens": max_chunk_tokens,
            "syntax": syntax,
            "aliases": aliases,
            "deadline_ms": deadline_ms,
            "precision": precision,
            "min_relevance": min_relevance,
            "tier": "default",
        }
        bank = self._in(zone)
        counted = {**asked, "count_returned": count_returned}
        answer = bank._recall(query, profile, **counted)  # noqa: SLF001 the same bank
        if wanted is None:
            return answer
        if zone is not None:  # by its name, since another process may work the job off
            read_zone(str(bank.zone))
            asked["zone"] = str(bank.zone)
        return self._answered_later(answer, wanted, query, profile, asked)

    def _answered_later(
        self, plain: Recall, helpers: tuple[str, ...], query: str, profile: str | Path, asked: dict[str, Any]
    ) -> Recall:
        """The plain answer with a job, or with the reason why there is none."""
        request = JobRequest(query, str(profile), helpers, asked).at(plain.trace)
        job = request.identity(plain.id)
        try:
            # The query is kept until the job is done, so what is to be masked is masked there.
            kept = Screen(self._around.redact).json_text(request.to_json(), "query")
            self._rows.recall_jobs.add(job, self.principal or "", kept)
        except (StoreError, InputError) as error:
            return degraded(plain, f"async: {error}")
        # Where there is no room now, whoever asks for the job begins it.
        self._around.jobs.start(self._job_key(job), lambda: self._work(job))
        return replace(plain, job=job)

    def job(self, job: str, *, wait_seconds: float = 0.0) -> RecallJob:
        """What has become of a recall of the async tier.

        One that nobody works on, because its process ended, is begun here.

        Args:
            job: ``Recall.job`` of a recall by the same principal.
            wait_seconds: for the answer, 0 to 3,600.

        Raises:
            NotFoundError: there is no such job; a bank keeps the last 1,000 of each principal.
            InputError: an argument is wrong.
        """
        clean_text(job, "job", _LONGEST_ID)
        seconds = read_wait(wait_seconds)
        kept = self._rows.recall_jobs.find(job, self.principal or "")
        if kept is None:
            raise NotFoundError(f'no job {job!r}; recall with tier="async" gives one')
        key = self._job_key(job)
        work = self._around.jobs.start(key, lambda: self._work(job))
        if work is None or not work.wait(seconds):
            return RecallJob(job, PENDING)
        try:
            texts, answer = work.result()
            if self._still_holds(answer):
                budget = JobRequest.from_json(kept.request).options["max_tokens"]
                return RecallJob(job, DONE, answer, texts.by_helper(), budget)
        except BaseException:
            self._around.jobs.drop(key[0], key)
            raise
        # Something of it was forgotten meanwhile: answered anew, without it.
        self._around.jobs.drop(key[0], key)
        return self.job(job, wait_seconds=wait_seconds)

    def _job_key(self, job: str) -> tuple[str, ...]:
        return str(self._rows.folder), self.principal or "", job

    def _work(self, job: str) -> tuple[HelperTexts, Recall]:
        """The better answer, as the bank was when it was asked for; a fault leaves the plain one."""
        kept = self._rows.recall_jobs.find(job, self.principal or "")
        if kept is None:
            raise NotFoundError(f"no job {job!r}; it was dropped meanwhile")
        request = JobRequest.from_json(kept.request)
        options = dict(request.options)
        recalled = self._in(options.pop("zone", None))._recall  # noqa: SLF001 the same bank
        if kept.texts is None:
            texts = ask_helpers(request.query, request.helpers, self._around.answerer)
            # Of two processes that answer one job, both answer from what the first one kept.
            texts = HelperTexts.from_json(self._rows.recall_jobs.keep_texts(job, texts.to_json()))
        else:
            texts = HelperTexts.from_json(kept.texts)
        reranker, problem = self._around.heavy_reranker()
        plan = self._plan(request.profile)
        notes = [f"heavy reranker: {problem}"] if problem else []
        if not request.helpers and reranker is None:
            notes.append("async: no helper was asked for and no heavy reranker is set up")
        try:
            better = widened(plan, texts, reranker)
            answer = recalled(request.query, request.profile, plan=better, job=job, **options)
        except Exception as error:
            if isinstance(error, StoreError):
                raise
            notes.append(f"async: {type(error).__name__}: {error}; this is the plain answer")
            answer = recalled(request.query, request.profile, plan=plan, job=job, **options)
        return texts, replace(degraded(answer, *notes), job=job)

    def _still_holds(self, answer: Recall) -> bool:
        """Whether every memory that has words in *answer* is there."""
        with self._rows.reading() as reading:
            return all(
                any(map(self._may_read, reading.versions(memory)))
                for memory in sorted(set(_handed_out(answer)))
            )

    def _recall(
        self,
        query: str,
        profile: str | Path,
        *,
        explain: bool,
        count_returned: bool = False,
        include_sources: bool = False,
        plan: Plan | None = None,
        job: str = "",
        **options: object,
    ) -> Recall:
        for name, switch in (
            ("explain", explain),
            ("count_returned", count_returned),
            ("include_sources", include_sources),
        ):
            clean_switch(switch, name)
        request, search = self._read_options(query, options)
        plan = plan or self._plan(profile)
        recording, now = Recording(), self._now()
        with self._rows.reading() as reading:
            plan, view = self._view(plan, reading, request.filters, now)
            answer, _ = self._answer(plan, view, request, search, reading, recording)
            reading.check([hit.memory.ordinal for hit in (*answer.standing, *answer)])
            trace = answer.trace
            led = ("standing",) if request.standing else ()
            asked = (reading.meta.bank, self.principal, str(profile), request, search, *led)
            identity = f"{asked!r} {trace.as_of} {trace.known_at} {trace.seed} {job or now}".encode()
            digest = hashlib.blake2b(identity, digest_size=16).hexdigest()
            answer = replace(answer, id=digest, precision=search.precision)
            if include_sources:
                answer = replace(answer, evidence=self._evidence(reading, answer, view.known_at))
            if answer.hits and recording.query is not None:
                fingerprint = reading.embedder().fingerprint
                self._rows.impress(
                    impression_of(
                        view,
                        recording.query,
                        answer,
                        self.principal or "",
                        now,
                        fingerprint,
                        counted=count_returned,
                    )
                )
        self._tell("recall", reading, _handed_out(answer), query, answer.id)
        returned = [(hit.text, hit.id) for hit in answer]
        returned += [(hit.text, hit.id) for hit in answer.standing]
        if answer.context:
            returned.append((answer.context, (*answer.hits, *answer.standing)[0].id))
        self._answers.remember(*returned)
        observe(self.name, answer, ended_ns=now * 1_000 + int(trace.milliseconds * 1_000_000))
        return replace(answer, explanations=explained(answer, recording)) if explain else answer

    def reflect(
        self,
        query: str,
        *,
        max_tokens: int | None = 4096,
        max_answer_tokens: int = 1024,
        answerer: Answerer | None = None,
        on_text: Callable[[str], object] | None = None,
        **options: Any,
    ) -> Reflection:
        """Answer a question from what is remembered, by a language model, with citations that were checked.

        Without a model the answer is empty, and ``context`` holds what was recalled. Where nothing matches
        no model is asked.

        Args:
            query: the question.
            max_tokens: of the memories that the model is given; ``None`` = no budget.
            max_answer_tokens: of the answer, 1 to 100,000.
            answerer: the model, such as ``models.llm.LanguageModel``; default: the store's.
            on_text: told each piece of the answer as it comes, citations checked.
            options: any other argument of ``recall``, by name; *standing* is true if not given.

        Raises:
            InputError: an argument is wrong.
            ModelError: the model cannot be asked, or broke off.
        """
        clean_count(max_answer_tokens, "max_answer_tokens", 1, _MOST_ANSWER_TOKENS)
        options = {"standing": True, **options}
        known = {*_RECALL_DEFAULTS, "profile", "zone"} - {"max_tokens"}
        for name in options:
            if name not in known:
                raise UnknownNameError(name, name, known)
        if read_helpers(options.get("tier", "default"), None) is not None:
            raise InputError("tier", ASYNC_ELSEWHERE)
        recall = self.recall(query, max_tokens=max_tokens, **options)
        asking = Asking(
            self._around.answerer if answerer is None else answerer,
            self.count_tokens,
            max_tokens,
            max_answer_tokens,
            _ignore if on_text is None else on_text,
        )
        return reflect(query, recall, asking)

    def used(self, ids: str | Iterable[str], *, recall_id: str | None = None) -> int:
        """Say that memories were of use: they count as accessed, now.

        Args:
            ids: of memories.
            recall_id: ``Recall.id`` of the recall that returned them, so that the learned reranker can be
                trained on what was used; each memory then counts once, however often this is called.

        Returns:
            how many accesses were recorded. They survive a crash.

        Raises:
            NotFoundError: there is no such memory that the principal may read; nothing was written.
            InputError: an argument is wrong, the recall is not remembered, or it did not return a memory;
                nothing was written.
        """
        wanted = _ids(ids)
        if recall_id is not None:
            clean_text(recall_id, "recall_id", _LONGEST_ID)
        with self._rows.reading() as reading:
            for memory in wanted:
                versions = reading.versions(memory)
                if not versions or not all(self._may_read(found) for found in versions):
                    raise NotFoundError(f"no memory {memory!r}; recall returns the ids there are")
        return self._rows.used(wanted, recall_id, self.principal or "", self._now()) if wanted else 0

    def why_not(self, memory: str, query: str, *, profile: str | Path = "default", **options: Any) -> WhyNot:
        """Why a recall does not return a memory: the stage that lost it, by how much, what would keep it.

        Args:
            memory: its id.
            query: words.
            profile: as for ``recall``.
            options: any other argument of ``recall``, by name.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
            UnknownNameError: an option that ``recall`` does not have.
        """
        if (zone := options.pop("zone", None)) is not None:
            return self._in(zone).why_not(memory, query, profile=profile, **options)
        for name in options:
            if name not in _RECALL_DEFAULTS:
                raise UnknownNameError(name, name, (*_RECALL_DEFAULTS, "zone"))
        versions = self.history(memory)
        request, search = self._read_options(query, {**_RECALL_DEFAULTS, **options})
        plan, recording = self._plan(profile), Recording()
        with self._rows.reading() as reading:
            plan, view = self._view(plan, reading, request.filters, self._now())
            answer, tools = self._answer(plan, view, request, search, reading, recording)
            self._tell("why_not", reading, [memory], query)
            return find_why_not(versions, Recalled(plan, view, tools, request.filters, answer, recording))

    def _plan(self, profile: str | Path) -> Plan:
        """The profile, with what the environment changes about it."""
        return overridden(load_profile(profile), self._around.settings)[0]

    def _read_options(self, query: str, options: Mapping[str, object]) -> tuple[RecallRequest, SearchOptions]:
        zone = self.zone
        about = {name: value for name, value in options.items() if name in _SEARCH_DEFAULTS}
        among = {name: value for name, value in options.items() if name not in _SEARCH_DEFAULTS}
        request = read_recall_arguments(query, principal=self.principal, zone=zone, **among)
        search = read_search_arguments(zone=zone, **about)
        if search.syntax == "extended":
            request = replace(request, filters=_narrowed(request.filters, query, zone))
        return request, search

    def _answer(
        self,
        plan: Plan,
        view: BankView,
        request: RecallRequest,
        options: SearchOptions,
        reading: Reading,
        recording: Recording | None,
    ) -> tuple[Recall, Tools]:
        if options.min_relevance is not None and not judges_relevance(plan):
            raise InputError(
                "min_relevance",
                f"profile {plan.name!r} does not judge relevance; leave it out, or recall with 'default'",
            )
        options, ignored = heeded(options, plan)
        embedder, problem = self._usable_embedder(plan, reading)
        reads_pairs = any(step.technique in RERANKING for step in plan.refiners)
        reranker, no_reranker = self._around.reranker() if reads_pairs else (None, "")
        judges = any(step.technique in JUDGING for step in plan.refiners)
        learned, no_learned = self._learned(plan, embedder)
        sparse, no_sparse = self._usable_sparse(plan, reading)
        seed = request.seed if request.seed is not None else _seed(request.text, view.as_of)
        tools = Tools(
            self._around.analyser,
            embedder,
            self._around.tokens,
            random.Random(seed),  # noqa: S311 not for secrets
            reranker,
            learned,
            zone=self.zone,
            judge=self._around.judge if judges else None,
            sparse=sparse,
            words=_word_knower(embedder),
        )
        answer = run(
            plan,
            view,
            Query(
                request.text,
                view.as_of,
                request.limit,
                request.max_tokens,
                seed,
                **{name: getattr(options, name) for name in SearchOptions.__slots__},
            ),
            tools,
            known_at=view.as_of if view.known_at == HEAD else view.known_at,
            timer=self._around.timer,
            executor=self._around.executor,
            recording=recording,
            standing=self._standing(reading, request.filters, view.as_of) if request.standing else (),
        )
        trace = answer.trace
        missing = (
            ("embedder", problem),
            ("sparse encoder", no_sparse),
            ("reranker", no_reranker),
            ("learned reranker", no_learned),
        )
        reasons = (*ignored, *(f"{model}: {why}" for model, why in missing if why))
        if reasons:
            trace = replace(trace, degraded=(*reasons, *trace.degraded))
        if self.principal is not None:
            # How much others have written, and when, is not for a principal to know.
            trace = replace(trace, rows=trace.visible, sequence=0)
        return replace(answer, trace=trace), tools

    def _standing(self, reading: Reading, filters: Filters, now: int) -> list[Memory]:
        """The standing memories of a scope at its viewpoint, the newest first."""
        wide = replace(filters, kinds=None, project=None, window=None, archived=False, observations=True)
        view = self._look(reading, wide, now)
        rows = np.flatnonzero(view.standing)
        return [
            memory
            for memory in newest_first(view, rows)
            if filters.project is None or memory.project in {"", filters.project}
        ]

    def _view(self, plan: Plan, reading: Reading, filters: Filters, now: int) -> tuple[Plan, BankView]:
        view = self._look(reading, filters, now)
        if not filters.observations:
            return plan, view
        evidence = read_evidence(reading.connection, view.known_at)
        view, stand_ins = prefer_observations(view, evidence, filters)
        return with_stand_ins(plan, stand_ins), view

    def _evidence(self, reading: Reading, answer: Recall, known_at: int) -> dict[str, tuple[Evidence, ...]]:
        """What stands behind the consolidated observations of an answer, as it was known then."""
        found = {}
        held = read_evidence(reading.connection, known_at)
        for memory in (hit.memory for hit in answer.hits if hit.memory.consolidated):
            root = int(reading.snapshot.column("root")[memory.ordinal])
            sources = []
            for source, stance in held.get(root, {}).items():
                versions = reading.versions(reading.memories([source])[0].id)
                sources += [
                    Evidence(version, stance)
                    for version in versions
                    if version.ingested_at_micros <= known_at < version.expired_at_micros
                    and self._may_read(version)
                ]
            found[memory.id] = tuple(sources)
        return found

    def _look(self, reading: Reading, filters: Filters, now: int | None = None) -> BankView:
        """What the filters let see, at their viewpoint."""
        now = self._now() if now is None else now
        past = filters.as_of is not None or filters.known_at is not None
        # What is to be erased is gone for every viewpoint once the clock says so.
        clock = self._now() if past else now

        def ended(moment: int) -> Ended:
            return Ended(
                roots_due(reading.connection, moment, EXPIRE),
                roots_due(reading.connection, clock, EXPIRY_ERASE),
                moments_ended(reading.connection, moment) if past else (),
            )

        return look(reading.snapshot, filters, now, self._reader(reading), ended)

    def _reader(self, reading: Reading) -> RecallRows:
        readers = None if self.principal is None else (self.principal,)
        return RecallRows(reading, NameLookup(reading, readers))

    def _usable_embedder(self, plan: Plan, reading: Reading) -> tuple[Embedder | None, str]:
        """The embedder for this plan and this bank, or why there is none."""
        if not any(step.technique == "embedding" for step in plan.understanders):
            return None, ""
        model = reading.embedder()
        embedder, problem = self._around.embedder(model)
        if embedder is not None and model.fingerprint not in {"", embedder.fingerprint}:
            return None, mismatch(model.name, model.dimension, embedder)
        return embedder, problem

    def _usable_sparse(self, plan: Plan, reading: Reading) -> tuple[SparseEncoder | None, str]:
        """The sparse encoder for this plan and this bank, or why there is none."""
        if not any(step.technique == "sparse_terms" for step in plan.understanders):
            return None, ""
        encoder, problem = self._around.sparse()
        name, fingerprint = reading.sparse_encoder()
        if encoder is not None and fingerprint not in {"", encoder.fingerprint}:
            return None, sparse_mismatch(name, encoder.name)
        return encoder, problem

    def get(self, memory: str) -> Memory:
        """The newest version of one memory.

        Raises:
            NotFoundError: there is none that the principal may read.
        """
        versions = self.history(memory)
        return next((found for found in versions if found.expired_at_micros == FOREVER), versions[-1])

    def forget(self, ids: str | Iterable[str]) -> int:
        """Erase memories with every version and all that was derived from them.

        Returns:
            how many were there; ids that name nothing the principal may read are passed over.

        Raises:
            InputError: *ids* is not an id or an iterable of ids.
        """
        wanted = _ids(ids)
        if self.principal is not None:
            with self._rows.reading() as reading:
                wanted = [i for i in wanted if all(self._may_read(found) for found in reading.versions(i))]
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            return self._erase(transaction, wanted)

    def _erase(self, transaction: WriteTransaction, ids: Sequence[str]) -> int:
        erased = transaction.erase(ids)
        if erased:
            self._rows.drop_reranker()
        return erased

    def _keyed(self, space: str) -> KeyedRecords:
        Screen(self._around.redact).name(space, "space")
        return KeyedRecords(space, self.principal, self._now())

    def list_records(
        self,
        space: str,
        path: Sequence[str] = (),
        *,
        exact: bool = False,
        newest: int | None = None,
        refresh: bool = False,
    ) -> list[KeyedRecord]:
        """Read values by their key, as they are at one moment, in the order of storing.

        Args:
            space: name of the program or framework whose records they are.
            path: beginning of the keys.
            exact: only the records at *path* itself, not those below it.
            newest: only the last so many.
            refresh: let those that have a ``ttl`` live it anew from now on, which writes.

        Raises:
            InputError: an argument is wrong.
        """
        clean_switch(refresh, "refresh")
        if newest is not None and not (_is_number(newest) and newest <= MOST_RECORDS):
            raise InputError(
                "newest", f"expected a whole number from 1 to {MOST_RECORDS:,}, got {shown(newest)}"
            )
        kept = self._keyed(space)
        with self._rows.reading() as reading:
            found = kept.read(reading, path, exact=exact, newest=newest)
        if refresh and any(record.ttl is not None for record in found):
            with self._rows.writing(self._now(), self.principal or "") as transaction:
                kept.refresh(transaction, found)
        self._tell("list", reading, [record.id for record in found])
        return found

    def put_records(
        self, space: str, records: Iterable[Mapping[str, Any]], *, append: bool = False
    ) -> list[str]:
        """Store values under keys in one transaction; a value that stood under a key is erased.

        Args:
            space: name of the program or framework whose records they are.
            records: mappings with ``path`` (the key, a list of strings), ``value`` (JSON-ready), ``text``
                (what recall finds it by; by default the value as JSON; blank = it is found by its key alone,
                and recalled with ``include_archived`` only), ``replaces`` (ids of all that must
                stand at or below the path; an empty list = nothing; by default whatever stands there), and
                keys of an item of ``retain`` such as ``session``, ``role`` and ``source``. With a ``ttl`` a
                record is erased when that ends; without one it never ends.
            append: add each record below its path, numbered after the last one there.

        Returns:
            one id per record, in order.

        Raises:
            InputError: a record is wrong; nothing was stored.
            ConflictError: what stands at a path is not what the record replaces; nothing was stored.
            the same as ``retain``.
        """
        kept = self._keyed(space)
        records = list(records) if isinstance(records, Iterator) else records
        with quiet_errors(self._around.redact, records):
            wanted = kept.wanted(records, Screen(self._around.redact).json_text, append=append)
        drafts = self._read([each.item for each in wanted], {})
        self._check_allowed(drafts)
        if not drafts:
            return []
        return self._prepare_and_store(
            drafts,
            lambda opened, ready: kept.put(opened, ready, wanted, self._write, self._erase, append=append),
        )

    def move_records(self, space: str, path: Sequence[str], to: Sequence[str]) -> int:
        """Give the records at or below one path keys that begin with another, in one transaction.

        Returns:
            how many there were.

        Raises:
            InputError: one path lies below the other.
            ConflictError: a record stands at or below *to*; nothing was changed.
        """
        kept = self._keyed(space)
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            return kept.move(transaction, path, to)

    def pop_record(self, space: str, path: Sequence[str] = ()) -> KeyedRecord | None:
        """Erase the record at or below a path that was stored last, and return it; each is returned once."""
        kept = self._keyed(space)
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            reading = inside(transaction)
            found = next(iter(kept.read(reading, path, newest=1)), None)
            if found is not None:
                self._erase(transaction, [found.id])
                self._tell("read", reading, [found.id])
        return found

    def forget_records(self, space: str, path: Sequence[str] = (), *, exact: bool = False) -> int:
        """Erase the records at or below a path, in one transaction; returns how many there were.

        Args:
            space: name of the program or framework whose records they are.
            path: beginning of the keys; empty = all records of the space.
            exact: only the records at *path* itself, not those below it.
        """
        kept = self._keyed(space)
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            found = kept.read(inside(transaction), path, exact=exact)
            return self._erase(transaction, list(dict.fromkeys(record.id for record in found)))

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
        """Erase all memories of which every given condition holds; the owner's only.

        Args:
            ids: only these.
            source: only of this ``source``, not empty.
            writer: only what this principal retained, not empty.
            before: only what was recorded before this moment; a date means its first instant.
            after: only what was recorded then or later.
            without_source: only what has no source.
            by_owner: only what the owner retained, who has no name.
            everything: must be true where no condition is given: the whole bank is forgotten.
            purge: also leave no byte of it in any file of the bank. Rewrites the database, so it takes time.
            dry_run: change nothing; the receipt says what would go.

        Returns:
            what went. With *purge* its ``status`` is ``complete``, or says what a later call must finish:
            ``pending: readers`` (another process reads an older state), ``pending: copies`` (one merges,
            backs up, restores, exports, trains or purges), ``pending: recall jobs`` (one is writing a recall
            to be answered later) or ``pending: index`` (it could not be written).

        Raises:
            InputError: an argument is wrong, or none is given and *everything* is not true.
            UnavailableError: the bank cannot be written; nothing was forgotten.
        """
        self._owners_only("forget by condition")
        switches = {"without_source": without_source, "by_owner": by_owner}
        for name, switch in {
            **switches,
            "everything": everything,
            "purge": purge,
            "dry_run": dry_run,
        }.items():
            clean_switch(switch, name)
        zone = self.zone
        wanted = Selection(
            ids=None if ids is None else tuple(_named_ids(ids)),
            source=_chosen("source", source, "without_source", without=without_source),
            writer=_chosen("writer", writer, "by_owner", without=by_owner),
            before=None if before is None else parse_time(before, "before", zone=zone).start,
            after=None if after is None else parse_time(after, "after", zone=zone).start,
        )
        if wanted.is_everything != everything:
            raise InputError(
                "everything",
                "must be true to forget the whole bank; or give ids, source, writer, before, after, "
                "without_source or by_owner"
                if wanted.is_everything
                else "cannot be joined with a condition; leave one of them out",
            )
        receipt = self._rows.forget(wanted, self._now(), purge=purge, dry_run=dry_run)
        if (receipt.memories or purge) and not dry_run:
            self._forget_in_memory()
        return receipt

    def _forget_in_memory(self) -> None:
        self._answers = RecentAnswers()
        self._around.jobs.drop(str(self._rows.folder))
        with self._names_lock:
            self._names = {}

    def purge(self) -> str:
        """Leave no byte of what was forgotten before in any file; the owner's only.

        Returns:
            ``complete``, or what it waits for, as in a receipt.
        """
        self._owners_only("purge")
        receipt = self._rows.forget(Selection(ids=()), self._now(), purge=True)
        self._forget_in_memory()
        return receipt.status

    def quarantine(self, ids: str | Iterable[str]) -> int:
        """Set memories aside: only a recall of the kind ``quarantine`` sees them; the owner's only.

        Returns:
            how many were set aside now. Earlier viewpoints (``known_at``) still see them.

        Raises:
            NotFoundError: there is no such memory; nothing was changed.
        """
        return self._rekind(ids, Kind.QUARANTINE, lambda kind: kind is not Kind.QUARANTINE)

    def release(self, ids: str | Iterable[str], *, kind: str = "semantic") -> int:
        """Take memories out of quarantine, as memories of *kind*; the owner's only.

        Returns:
            how many were released.

        Raises:
            NotFoundError: there is no such memory; nothing was changed.
            InputError: *kind* is no kind, or quarantine.
        """
        wanted = Kind(
            clean_choice(kind, "kind", tuple(one.value for one in Kind if one is not Kind.QUARANTINE))
        )
        return self._rekind(ids, wanted, lambda kind: kind is Kind.QUARANTINE)

    def _rekind(self, ids: str | Iterable[str], kind: Kind, applies: Callable[[Kind], bool]) -> int:
        self._owners_only("quarantine or release")
        wanted = _ids(ids)
        changed = 0
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            for memory in wanted:
                ordinal = transaction.current_ordinal(memory)
                if ordinal is None:
                    raise NotFoundError(f"no memory {memory!r} in bank {self.name!r}; nothing was changed")
                if applies(Kind(transaction.columns(ordinal, "kind")[0])):
                    transaction.revise(ordinal, kind=kind.value)
                    changed += 1
        return changed

    def backup(self, target: str | os.PathLike[str] | IO[bytes]) -> Saved:
        """Copy all rows to a new file, while others read and write; the owner's only.

        The copy is the bank at one moment. Trained files and the key of the audit log are not in it.

        Args:
            target: path of a file that is not there yet, or a binary file.

        Raises:
            InputError: there is a file already, or no folder for it.
            UnavailableError: it cannot be written; nothing of it is left.
        """
        self._owners_only("backup")
        self._tell("backup", None)
        if isinstance(target, str | os.PathLike):
            return self._rows.backup(Path(clean_text(os.fspath(target), "target", _LONGEST_PATH)))
        return self._rows.backup(target)

    def restore(self, path: str | os.PathLike[str]) -> Saved:
        """Replace everything in the bank by a backup, whole or not at all; the owner's only.

        The backup is verified first. What was retained since is gone, and what was forgotten since is back:
        forget it again. Every process that has the bank open goes on with what was restored.

        Raises:
            InputError: there is no such file.
            DamagedError, NewerSchemaError: it cannot be used; the bank was left untouched.
            UnavailableError: the bank cannot be written.
        """
        self._owners_only("restore")
        saved = self._rows.put_back(Path(clean_text(os.fspath(path), "path", _LONGEST_PATH)), self._now())
        self._forget_in_memory()
        return saved

    def repair(self) -> VerifyReport:
        """Make everything derived anew from the rows and verify; the owner's only. No row is changed."""
        self._owners_only("repair")
        return self._rows.repair(self._now())

    def start_audit(self) -> Path | None:
        """Audit every change from now on, with a new key beside the bank; the owner's only.

        Where it was begun before, nothing changes.

        Returns:
            the key's file (mode 0600); ``None`` with ``simonides.open(audit_key=…)``, whose key it is then.

        Raises:
            NotFoundError: it was begun before, and its key is not here.
            UnavailableError: it was begun before and goes by another key, or the bank cannot be written.
        """
        self._owners_only("start_audit")
        return self._rows.start_audit(self._now())

    def audit_recalls(self, *, on: bool = True) -> bool:
        """Audit also what is handed out, from now on (or no longer); the owner's only, off by default.

        Each recall (those of ``reflect``, ``brief`` and jobs, too), ``why_not``, ``get``, ``history``,
        ``source``, ``memories``, ``diff``, ``export`` and ``backup`` then writes a row to a log of its own
        before it returns: when, a keyed hash of who, the ids of the memories, and salted, keyed hashes of the
        query and of ``Recall.id``; no text. Where that cannot be written, nothing is handed out.

        Returns:
            whether this changed anything.

        Raises:
            NotFoundError: the bank is not audited; see ``start_audit``.
            UnavailableError: the bank cannot be written.
        """
        self._owners_only("audit_recalls")
        clean_switch(on, "on")
        return self._rows.audit_recalls(self._now(), on=on)

    def audit_verify(self, *, anchor: str | None = None, recalls_anchor: str | None = None) -> AuditReport:
        """Check the audit log against its key and the change log, and the log of recalls; the owner's only.

        Args:
            anchor: a head that was kept elsewhere, as ``AuditReport.head`` prints it. Without one, rows that
                were cut off the end together with their changes are not noticed.
            recalls_anchor: the same, of the log of recalls (``AuditReport.recalls_head``).

        Raises:
            InputError: an anchor is no head.
            NotFoundError: there is no key.
        """
        self._owners_only("audit_verify")
        return self._rows.audit_verify(anchor, recalls_anchor)

    def audit_entries(self, most: int | None = None, *, recalls: bool = False) -> list[Entry]:
        """The *most* newest rows of the audit log, or of the log of *recalls*; the owner's only."""
        self._owners_only("audit_entries")
        most = None if most is None else clean_count(most, "most", 0)
        return self._rows.audit_entries(most, recalls=recalls)

    def _tell(
        self, verb: str, reading: Reading | None, ids: Iterable[str] = (), query: str = "", recall: str = ""
    ) -> None:
        """Audit what is about to be handed out, where the bank asks for it."""
        if not self._rows.recalls_audited:
            return
        sequence = 0 if reading is None else reading.meta.sequence
        wanted = tuple(dict.fromkeys(ids))
        self._rows.tell(Told(verb, self.principal or "", self._now(), sequence, wanted, query, recall))

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
        """Move memories up, put old ones away and sum up what is said again; the owner's only.

        Everything becomes a new version, so answers as of an earlier moment stay as they are; nothing is
        deleted. A run that was cut short is simply made again; a second run changes nothing.

        Args:
            profile: whose ``[lifecycle]`` numbers decide.
            most: steps at most, from 1.
            dry_run: write nothing and report what a run would do.
            progress: told ("maintenance steps", done, of how many).
            model: a language model, such as ``models.llm.LanguageModel``, that writes new observations. Texts
                of their sources are sent to its server. What it says must cite them and keep to their words,
                else it is refused; then, and where it cannot be asked, they are in the words of a source.
            stopping: asked between transactions; when it says so, the rest waits for the next run.

        Raises:
            InputError: an argument is wrong.
            MissingExtraError: the model needs a package that is not installed.
            ProfileError: the profile states no such numbers, or wrong ones.
            UnavailableError: another process maintains this bank, or it cannot be written.
        """
        self._owners_only("maintain")
        most = clean_count(most, "most", 1)
        thresholds = read_thresholds(*load_lifecycle(profile))
        return maintain(
            self._rows,
            thresholds,
            self._now,
            most=most,
            dry_run=dry_run,
            progress=progress,
            writer=None if model is None else self._writer(model),
            stopping=stopping or (lambda: False),
        )

    def _writer(self, model: Enricher) -> Writer:
        # A memory from before may hold a secret, and nobody is there to take it out of what is said of it.
        screen = Screen("off" if self._around.redact == "off" else "mask")

        def prepared(text: str) -> Prepared:
            drafts = screen.drafts(read_items([text], {}, zone=self.zone))
            return self._prepare(drafts, said_now=False)[0]

        return Writer(model, self._around.analyser, prepared, self._fit)

    @property
    def zone(self) -> tzinfo:
        """The zone of times that state none, and of the days that words such as "yesterday" mean."""
        own = self._rows.zone if self._around.own_zone else None
        return self._around.zone if own is None else own

    def _in(self, zone: object) -> Bank:
        """The same bank for a call that names its own zone; ``None`` = it does not."""
        if zone is None:
            return self
        by_zone = replace(self._around, zone=read_zone(zone), own_zone=False)
        bank = object.__new__(Bank)
        vars(bank).update({**vars(self), "_around": by_zone})
        return bank

    @property
    def ttl_defaults(self) -> TtlDefaults:
        """The times to live of memories that are retained without one; see ``set_ttl``."""
        return self._rows.ttl_defaults

    def set_ttl(
        self, ttl: float | timedelta | str | None, *, kind: str | None = None, on_expiry: str = "archive"
    ) -> TtlDefaults:
        """Give memories that state no ``ttl`` one from now on, kept with the bank; the owner's only.

        What is stored keeps what it has. Another process that has the bank open goes by it once it opens the
        bank again.

        Args:
            ttl: as for ``retain``; ``"never"`` = they never end, ``None`` = what was set is taken away.
            kind: of this kind only, before that of the whole bank; ``None`` = of the whole bank.
            on_expiry: archive or erase.

        Returns:
            all that is set.

        Raises:
            InputError: an argument is wrong, or a principal asks, who is not the owner.
            UnavailableError: the bank's folder cannot be written.
        """
        self._owners_only("set a time to live for others")
        then = clean_choice(on_expiry, "on_expiry", ON_EXPIRY)
        of = None if kind is None else Kind(clean_choice(kind, "kind", tuple(one.value for one in Kind)))
        chosen = None if ttl is None else TimeToLive(read_ttl(ttl), then)
        self._rows.set_ttl_defaults(self._rows.ttl_defaults.changed(of, chosen))
        return self._rows.ttl_defaults

    def set_zone(self, name: str | None) -> None:
        """Give the bank a zone of its own, kept with it; what is stored keeps the days it was given.

        It holds wherever the bank is opened without naming a zone, before the environment and the system's.
        Another process that has the bank open goes by it once it opens the bank again.

        Args:
            name: such as ``"Europe/Berlin"``; ``None`` = none of its own.

        Raises:
            InputError: there is no such zone, or a principal asks, who is not the owner.
            UnavailableError: the bank's folder cannot be written.
        """
        self._owners_only("set_zone")
        self._rows.set_zone(name)

    @property
    def embedder(self) -> Embedder | None:
        """The embedder in use for this bank (loaded now if it was not yet), or ``None``."""
        with self._rows.reading() as reading:
            model = reading.embedder()
        return self._around.embedder(model)[0]

    def warm(self, *, profile: str | Path = "default") -> None:
        """Load now what the first recall would load: index, models, and what is made of them once.

        Call it when a session starts; ``simonides.open(warm=True)`` does so for each bank that is opened.
        What cannot be had is left to the recall that needs it, which says so.

        Args:
            profile: of the recalls to come; its stages decide which models they need.

        Raises:
            ProfileError: the profile file is wrong.
        """
        plan = self._plan(profile)
        request, search = self._read_options(_WARMING, _RECALL_DEFAULTS)
        with self._rows.reading() as reading:
            touch(reading.snapshot)
            plan, view = self._view(plan, reading, request.filters, self._now())
            try:
                self._answer(plan, view, request, search, reading, None)
            except ModelError as error:
                _log.warning("not everything could be loaded ahead: %s", error)

    def reembed(
        self,
        model: str | Embedder,
        *,
        dimension: int | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> ReembedReport:
        """Let the bank go over to another embedder, or go on with that; the owner's only.

        Recall works by the old one until everything is ready, then by the new one. A run that was cut short
        is simply made again, and goes on. A store that was opened with the embedder ``"auto"`` uses the new
        one from then on; one that was opened with another recalls by words until it is opened with it.

        Args:
            model: name of a catalogued model (fetched when it is missing), or your own
                ``protocols.Embedder``.
            dimension: as for ``open_store``; for catalogued models only.
            dry_run: write nothing, and report what a run would do.
            progress: told (stage, done, of how many).

        Raises:
            InputError, UnknownNameError: an argument is wrong.
            ConflictError: the bank is going over to another model.
            ModelError: the model cannot be had, or can encode too little; the bank stays with what it has.
            UnavailableError: another process maintains this bank, or it cannot be written.
        """
        self._owners_only("reembed")
        embedder = self._around.embedder.adopt(model, dimension)
        return reembed(
            self._rows,
            embedder,
            self._now,
            token_codes=self._around.token_codes,
            dry_run=dry_run,
            progress=progress,
        )

    def abandon_reembedding(self) -> bool:
        """Stay with the embedder that the bank has, and drop what another one has made; the owner's only.

        Returns:
            whether the bank was going over to another.

        Raises:
            UnavailableError: another process maintains this bank, or it cannot be written.
        """
        self._owners_only("abandon_reembedding")
        return abandon(self._rows, self._now())

    def moves(self, memory: str | None = None) -> list[Move]:
        """What maintenance and newer memories did to one memory, or to all, with reasons; the owner's only.

        The oldest first. ``close`` = a newer memory ended it, by the rule in ``reason``.
        """
        self._owners_only("moves")
        if memory is not None:
            self.get(memory)
        with self._rows.reading() as reading:
            found = read_moves(reading.connection, memory)
            # Reasons may hold words of the memories.
            self._tell("moves", reading, [move.memory for move in found])
            return found

    def undo_move(self, number: int) -> None:
        """Take back a promotion, an archiving, or that a newer memory ended one. The owner's only.

        Maintenance does not make its move again. An ended memory holds again as if the newer one had not
        come; both then stand beside each other.

        Raises:
            NotFoundError: there is no such move, it was undone, or the memory has moved on since.
        """
        self._owners_only("undo_move")
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            move = transaction.upkeep.move(number) if _is_number(number) else None
            if move is None or not undo(transaction, move):
                raise NotFoundError(f"no move {number!r} to undo; moves() lists those that stand")

    def pin(self, memory: str, *, pinned: bool = True, always: bool = False) -> None:
        """Keep a memory from decay and first in a brief, or no longer; an archived one comes back.

        A principal may do so with what nobody but the owner reads beside it: its ``acl`` names it alone.

        Args:
            memory: its id.
            pinned: false = it ages like any other, and stands no longer.
            always: make it a standing memory, which leads the context of each recall with ``standing``, of
                ``reflect`` and of ``brief``, for all who may read it, as long as it holds; false = a pin
                only. The owner's only, and so is every change of a standing memory's pin.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
            InputError: an argument is wrong, or a principal makes, or changes, a standing memory, or pins
                one that others may read.
        """
        for name, switch in (("pinned", pinned), ("always", always)):
            clean_switch(switch, name)
        if always and not pinned:
            raise InputError("always", "is of a pin; leave it out to unpin")
        held = self.get(memory)
        if held.standing or always:
            self._owners_only("make a memory standing, or change a standing one")
        elif held.acl != (self.principal,):
            self._owners_only("pin or unpin what others may read, which leads their briefs, too")
        with self._rows.writing(self._now(), self.principal or "") as transaction:
            transaction.upkeep.return_archived(memory, "pinned")
            ordinal = transaction.current_ordinal(memory)
            if ordinal is None:
                raise NotFoundError(f"memory {memory!r} is no longer held in bank {self.name!r}")
            state = int(transaction.columns(ordinal, "state")[0])
            if state & STANDING:
                self._owners_only("change a standing memory")
            marks = PINNED | STANDING if always else PINNED if pinned else 0
            wanted = state & ~(PINNED | STANDING) | marks
            if wanted != state:
                transaction.revise(ordinal, state=wanted)

    def check_references(self, root: str | Path, *, dry_run: bool = False) -> list[DeadReference]:
        """Find paths, commands and packages that current memories name and a folder does not have.

        They are noted as moves (``stale``) of their memories, which stay as they are; a note ends when the
        name leads somewhere again. The owner's only.

        Args:
            root: the folder.
            dry_run: note nothing.

        Raises:
            InputError: *root* is no folder.
        """
        self._owners_only("check_references")
        folder = ProjectFolder(Path(root))
        with self._rows.reading() as reading:
            view = self._look(reading, Filters())
            current = _checked(reading, view.memories(np.flatnonzero(view.visible).tolist()))
        found = find_dead_references(current, folder)
        self._tell("check", reading, [reference.memory for reference in found])
        if not dry_run:
            with self._rows.writing(self._now(), self.principal or "") as transaction:
                note_stale(transaction, [memory.id for memory in current], found)
        return found

    def brief(
        self,
        task: str,
        max_tokens: int = 2000,
        *,
        profile: str | Path = "default",
        project: str | None = None,
        standing: bool = True,
    ) -> Brief:
        """A hand-over for the next session: pinned, relevant, decisions, open questions, recent changes.

        Each line names the memory it comes from. The same bank, task and clock give the same text.

        Args:
            task: what is to be done, in words.
            max_tokens: of the text, by the store's counter; from 0.
            profile: of the recall that finds what is relevant.
            project: only this project; memories of no project stay out.
            standing: let standing memories come first, also those of no project.

        Raises:
            InputError: an argument is wrong.
        """
        if max_tokens is None:
            raise InputError("max_tokens", "is None; a brief has a budget, so give a whole number from 0")
        clean_switch(standing, "standing")
        clean_query(task, "task")
        found = self.recall(task, max_tokens=max_tokens, profile=profile, project=project, limit=20)
        filters = Filters(principal=self.principal, project=project)
        with self._rows.reading() as reading:
            view = self._look(reading, filters)
            first = self._standing(reading, filters, self._now()) if standing else []
            held = [memory for memory in newest_first(view) if memory.id not in {each.id for each in first}]
            current = _checked(reading, [*first, *held])
            changed = recent_changes(reading, view, self._may_read)
        told = [*current, *(memory for pair in changed for memory in pair)]
        self._tell("brief", reading, [memory.id for memory in told], task)
        relevant = tuple((hit.memory, found.mark_of(hit)) for hit in found.told)
        return write_brief(sort_out(current, changed, relevant), max_tokens, self._around.tokens)

    def samples(self) -> Samples:
        """What the learned reranker may be trained on: recalls of which something was used.

        Only memories that everyone in the bank may read.

        Raises:
            InputError: the bank is opened for a principal.
        """
        self._check_owner("samples")
        return self._rows.samples()

    def used_by_recall(self) -> Mapping[str, tuple[str, ...]]:
        """By recall id, what was said to be of use of what it returned, in the order of storing.

        Only memories that everyone in the bank may read.

        Raises:
            InputError: the bank is opened for a principal.
        """
        self._check_owner("used_by_recall")
        return self._rows.used_by_recall()

    def last_write(self) -> datetime | None:
        """The newest stamp on a memory, UTC: the earliest viewpoint that sees all; ``None`` in an empty bank.

        Raises:
            InputError: the bank is opened for a principal.
        """
        self._check_owner("last_write")
        with self._rows.reading() as reading:
            last = latest_recorded(self._now(), reading.snapshot.last_ingested)
            return from_micros(min(last, reading.snapshot.last_ingested)) if reading.snapshot.rows else None

    def adopt_reranker(self, network: Network, memories: Iterable[str]) -> Path:
        """Keep a trained network in the bank's folder, whole or not at all; recalls use it from now on.

        Args:
            network: as ``evaluation.mlp_training.train_mlp`` gives it.
            memories: ids of those that it was trained on.

        Raises:
            InputError: the bank is opened for a principal.
            ConflictError: one of *memories* was forgotten meanwhile; nothing was written.
            UnavailableError: the bank is encrypted and keeps no such file, or it cannot be written; what was
                there before is still there.
        """
        self._check_owner("adopt_reranker")
        if self._rows.encrypted:
            raise UnavailableError(
                f"bank {self.name!r} is encrypted: a trained reranker would lie beside it in a plain file; "
                "recall without it, or train it in a bank without a key on an encrypted disk"
            )
        with self._rows.reading() as reading:
            network = replace(network, embedder=reading.embedder().fingerprint)
        path = self._rows.reranker_path
        # ``forget`` deletes the file inside a write transaction, so inside one nothing is forgotten.
        with self._rows.copying(), self._rows.writing(self._now(), self.principal or "") as transaction:
            try:
                transaction.roots(list(dict.fromkeys(memories)))
            except NotFoundError as error:
                raise ConflictError(f"{error}: train the reranker again") from error
            network.save(path)
        return path

    def _check_owner(self, operation: str) -> None:
        if self.principal is not None:
            raise InputError(operation, "is for the owner only; open the bank without a principal")

    def _learned(self, plan: Plan, embedder: Embedder | None) -> tuple[Network | None, str]:
        """The bank's learned reranker when the plan asks for it, or why it is not used."""
        path = self._rows.reranker_path
        if not any(step.technique == "learned_mlp" for step in plan.refiners) or not path.is_file():
            return None, ""
        try:
            network = network_at(path)
        except FileNotFoundError:
            return None, ""
        except (ModelDamagedError, OSError) as error:
            return None, str(error)
        if network.embedder != (embedder.fingerprint if embedder else ""):
            return None, "was trained with vectors of another embedder; train it anew"
        return network, ""

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes: current memories for everyone; all else for the owner only."""
        with self._rows.reading() as reading:
            view = self._look(reading, Filters(principal=self.principal))
            current = int(np.count_nonzero(view.visible))
        if self.principal is not None:
            return {"bank": self.name, "current": current}
        return {"bank": self.name, "current": current, **self._rows.stats()}

    def verify(self) -> VerifyReport:
        """Check rows and everything derived from them; changes nothing. Details are for the owner only."""
        report = self._rows.verify(self._now())
        if self.principal is None:
            return report
        problems = () if report.ok else ("the bank is damaged; its owner can see where",)
        return VerifyReport({}, problems)

    def _may_read(self, memory: Memory) -> bool:
        """Whether it is there for who asks; what is to be erased by now is not, whether it was or not."""
        if memory.on_expiry == FORGET and memory.expires_micros <= self._now():
            return False
        return self.principal is None or not memory.acl or self.principal in memory.acl

    def _now(self) -> int:
        moment: object = self._around.clock()
        if not isinstance(moment, datetime) or moment.utcoffset() is None:
            raise InputError("clock", f"returned {moment!r}; return an aware datetime")
        return parse_time(moment, "clock").start


def _tell_left_out(counts: Mapping[str, int]) -> None:
    """Log what was left out of messages; loudly where it may have held something to remember."""
    if counts:
        listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        level = logging.WARNING if any(name in counts for name in LOST) else logging.INFO
        _log.log(level, "left out of messages, and not stored: %s", listed)


def _handed_out(answer: Recall) -> Iterator[str]:
    """Ids of all memories that have words in an answer: the hits, then those behind them; some twice."""
    yield from (hit.id for hit in (*answer, *answer.standing))
    behind = {each.memory.id for evidence in answer.evidence.values() for each in evidence}
    yield from sorted(behind | {memory for chunk in answer.chunks for memory in chunk.memories})


def _checked(reading: Reading, memories: list[Memory]) -> list[Memory]:
    """What a view read, compared with its digests before it is handed out."""
    reading.check([memory.ordinal for memory in memories])
    return memories


def _within(
    max_bytes: int | None, ordinals: Sequence[int], read: Callable[[Sequence[int]], list[Memory]]
) -> list[Memory]:
    """The memories of *ordinals* up to the one that passes *max_bytes*; a few are read at a time."""
    if max_bytes is None:
        return read(ordinals)
    found: list[Memory] = []
    size = 0
    for start in range(0, len(ordinals), _READ_AT_ONCE):
        for memory in read(ordinals[start : start + _READ_AT_ONCE]):
            found.append(memory)
            size += memory.size
            if size >= max_bytes:
                return found
    return found


def _ids(ids: str | Iterable[str]) -> list[str]:
    """Ids without repeats, in order."""
    if not isinstance(ids, str) and not hasattr(ids, "__iter__"):
        raise InputError("ids", f"expected an id or a list of ids, got {shown(ids)}")
    wanted = [ids] if isinstance(ids, str) else list(ids)
    for position, memory in enumerate(wanted):
        clean_text(memory, f"ids[{position}]", _LONGEST_ID)
    return list(dict.fromkeys(wanted))


def _named_ids(ids: str | Iterable[str]) -> list[str]:
    """The same, where an empty one is a mistake: a variable that was never set, for example."""
    wanted = _ids(ids)
    if "" in wanted:
        raise InputError("ids", "one is an empty text; name a memory, or leave it out")
    return wanted


def _chosen(name: str, value: str | None, switch: str, *, without: bool) -> str | None:
    """The text that a column must have: *value*; empty by *switch* alone; ``None`` = any."""
    if value is None:
        return "" if without else None
    if without:
        raise InputError(switch, f"cannot be joined with {name}; leave one of them out")
    if not clean_text(value, name, _LONGEST_PATH):
        raise InputError(name, f"is an empty text; name one, leave it out, or set {switch} for what has none")
    return value


def _is_number(value: object) -> bool:
    """Whether SQLite could have given it as a row's number."""
    return isinstance(value, int) and 0 < value < 2**63


def _narrowed(filters: Filters, query: str, zone: tzinfo) -> Filters:
    """*filters* with the conditions that an extended query states, which hold beside them."""
    stated = read_clauses(parse_query(query, syntax="extended"), zone)
    if stated.tags:
        if filters.tags_match == "exact" or (filters.tags and filters.tags_match != "all_strict"):
            raise InputError("tags", "cannot be joined with tag: in the query; use tags_match='all_strict'")
        if filters.tags or filters.tags_match in LENIENT:
            # Else the caller's own filter, no tags under a strict mode, matches nothing; so it stays.
            tags = tuple(sorted({*filters.tags, *stated.tags}))
            filters = replace(filters, tags=tags, tags_match="all_strict")
    if stated.kinds:
        kinds = tuple(kind for kind in stated.kinds if filters.kinds is None or kind in filters.kinds)
        if filters.kinds and not kinds:
            raise InputError("kinds", "leave nothing of the kinds that the query states; give one of both")
        filters = replace(filters, kinds=kinds)
    if stated.window is not None:
        start, end = filters.window or stated.window
        window = max(start, stated.window[0]), min(end, stated.window[1])
        if window[0] >= window[1]:
            raise InputError("window", "does not meet the dates that the query states; widen one of them")
        filters = replace(filters, window=window)
    return filters


def _ignore(_: str) -> None:
    """Nobody waits for the pieces of an answer."""


def _word_knower(embedder: object) -> WordKnower | None:
    return embedder if isinstance(embedder, WordKnower) else None


def _seed(query: str, as_of: int) -> int:
    digest = hashlib.blake2b(f"{as_of} {query}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
