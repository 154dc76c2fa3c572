"""A bank: what one agent, user or project remembers. The public interface; services do the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.deprecations import BANK_METHODS, answers_old_names
from simonides.forking import Origin
from simonides.lifecycle.step import MOST_STEPS
from simonides.recall.observing import operation
from simonides.retain.conversations import WINDOW
from simonides.services.administration import Administration
from simonides.services.auditing import Auditing
from simonides.services.composing import Composing
from simonides.services.context import BankContext
from simonides.services.editing import Editing
from simonides.services.entities import Entities
from simonides.services.explaining import Explaining
from simonides.services.exporting import Exporting
from simonides.services.forgetting import Forgetting
from simonides.services.guarding import Guard
from simonides.services.importing import Importing
from simonides.services.keyed_records import KeyedStorage
from simonides.services.learning import Learning
from simonides.services.maintaining import Maintaining
from simonides.services.reading import MemoryReading
from simonides.services.recalling import Recalling
from simonides.services.retaining import LOADED_AT_ONCE, Retaining

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime, timedelta, tzinfo
    from pathlib import Path
    from typing import IO

    from numpy.typing import NDArray

    from simonides.lifecycle.reembedding import ReembedReport
    from simonides.lifecycle.staleness import DeadReference
    from simonides.lifecycle.step import MaintenanceReport
    from simonides.protocols import (
        Answerer,
        Embedder,
        Enricher,
    )
    from simonides.recall.refining.mlp import Network
    from simonides.records.audit import AuditReport, Entry, VerifyReport
    from simonides.records.enrichment import EnrichReport
    from simonides.records.entity import EntityCount
    from simonides.records.explanation import WhyNot
    from simonides.records.impression import Samples
    from simonides.records.keyed_record import KeyedRecord
    from simonides.records.memory import Brief, Diff, Memory, Move
    from simonides.records.recall import Recall, RecallJob, Reflection
    from simonides.records.receipt import Counts, Imported, Receipt, Restored, Saved, Synced
    from simonides.records.source import Source
    from simonides.records.time_to_live import TtlDefaults
    from simonides.retain.messages import MessageObject
    from simonides.services.context import StoreParts
    from simonides.storage.bank import BankStorage


@Guard(
    origin=lambda bank: bank._origin,  # noqa: SLF001 the decorator is of this class
    folder=lambda bank: bank._context.rows.folder.parent,  # noqa: SLF001 see above
    policy=lambda bank: bank._context.parts.redact,  # noqa: SLF001 see above
    span=lambda bank, verb: operation(bank.name, verb),
    finish=lambda bank, answer: bank._context.as_told(answer),  # noqa: SLF001 see above
)
@answers_old_names(BANK_METHODS)
class Bank:
    """Retains and recalls; made by ``Store.bank``. Usable from several threads at once.

    Args:
        name: of the bank.
        rows: its storage.
        principal: who acts; ``None`` = the owner, who sees all.
        parts: what the store provides.
    """

    def __init__(self, name: str, rows: BankStorage, principal: str | None, parts: StoreParts) -> None:
        self.name = name
        self.principal = principal
        self._origin = Origin(f"bank {name!r}")
        self._context = BankContext(name, principal, rows, parts)

    def __repr__(self) -> str:
        acting = "" if self.principal is None else f", principal={self.principal!r}"
        return f"Bank({self.name!r}{acting})"

    @property
    def _rows(self) -> BankStorage:
        return self._context.rows

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
        return Retaining(self._context).retain(**_arguments(locals()))

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
        return Retaining(self._context).retain_document(text, document_id=document_id, title=title, **shared)

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
        return Retaining(self._context).retain_conversation(turns, session=session, window=window, **shared)

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
        return Retaining(self._context).load(**_arguments(locals()))

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
        return Importing(self._context).import_items(items)

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
        return Importing(self._context).sync_documents(items, below=below, keep=keep)

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
                ``Bank.get_job`` gives later, with what *helpers* made of the query and read again by the
                store's heavy reranker.
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
        return Recalling(self._context).recall(**_arguments(locals()))

    def get_job(self, job: str, *, wait_seconds: float = 0.0) -> RecallJob:
        """What has become of a recall of the async tier.

        One that nobody works on, because its process ended, is begun here.

        Args:
            job: ``Recall.job`` of a recall by the same principal.
            wait_seconds: for the answer, 0 to 3,600.

        Raises:
            NotFoundError: there is no such job; a bank keeps the last 1,000 of each principal.
            InputError: an argument is wrong.
        """
        return Recalling(self._context).job(job, wait_seconds=wait_seconds)

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
        return Composing(self._context).reflect(
            query,
            max_tokens=max_tokens,
            max_answer_tokens=max_answer_tokens,
            answerer=answerer,
            on_text=on_text,
            **options,
        )

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
        return Composing(self._context).brief(**_arguments(locals()))

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
        return Explaining(self._context).why_not(memory, query, profile=profile, **options)

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
        return Learning(self._context).used(ids, recall_id=recall_id)

    def warm(self, *, profile: str | Path = "default") -> None:
        """Load now what the first recall would load: index, models, and what is made of them once.

        Call it when a session starts; ``simonides.open(warm=True)`` does so for each bank that is opened.
        What cannot be had is left to the recall that needs it, which says so.

        Args:
            profile: of the recalls to come; its stages decide which models they need.

        Raises:
            ProfileError: the profile file is wrong.
        """
        Recalling(self._context).warm(profile=profile)

    def get_memory(self, memory: str) -> Memory:
        """The newest version of one memory.

        Raises:
            NotFoundError: there is none that the principal may read.
        """
        return MemoryReading(self._context).get(memory)

    def list_memories(
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
        return MemoryReading(self._context).memories(**_arguments(locals()))

    def history(self, memory: str) -> list[Memory]:
        """Every version of a memory, oldest first.

        Raises:
            NotFoundError: there is none that the principal may read.
        """
        return self._context.versions(memory)

    def source(self, memory: str) -> Source:
        """The raw text that a memory comes from, and the part of it that the memory tells.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
        """
        return MemoryReading(self._context).source(memory)

    def diff(self, earlier: datetime | str, later: datetime | str | None = None) -> Diff:
        """What the bank believed at one moment and at another (each its own as_of and known_at).

        Args:
            earlier: a moment; a date means its first instant.
            later: the same; by default now.
        """
        return MemoryReading(self._context).diff(earlier, later)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text as the store counts them for budgets."""
        return self._context.parts.tokens.count(text)

    def update_memory(
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
        ttl: float | timedelta | str | None = None,
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
            ttl: how long it lives from now on, as for ``retain``; ``"never"`` = it has no end. It is of the
                memory, not of a version, and makes none. One that was archived comes back; what becomes of it
                at its end stays, and one that is to be erased then is not erased sooner.
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
        return Editing(self._context).update(**_arguments(locals()))

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
        Editing(self._context).invalidate(memory, at=at)

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
        Editing(self._context).pin(memory, pinned=pinned, always=always)

    def unpin(self, memory: str) -> None:
        """The same as ``pin`` with ``pinned=False``."""
        Editing(self._context).pin(memory, pinned=False, always=False)

    def quarantine(self, ids: str | Iterable[str]) -> int:
        """Set memories aside: only a recall of the kind ``quarantine`` sees them; the owner's only.

        Returns:
            how many were set aside now. Earlier viewpoints (``known_at``) still see them.

        Raises:
            NotFoundError: there is no such memory; nothing was changed.
        """
        return Editing(self._context).quarantine(ids)

    def release(self, ids: str | Iterable[str], *, kind: str = "semantic") -> int:
        """Take memories out of quarantine, as memories of *kind*; the owner's only.

        Returns:
            how many were released.

        Raises:
            NotFoundError: there is no such memory; nothing was changed.
            InputError: *kind* is no kind, or quarantine.
            ConflictError: one holds a value under a key that another value holds by now; nothing was changed.
        """
        return Editing(self._context).release(ids, kind=kind)

    def forget(self, ids: str | Iterable[str]) -> int:
        """Erase memories with every version and all that was derived from them.

        Returns:
            how many were there; ids that name nothing the principal may read are passed over. What was to be
            erased by now, which no other call finds, counts.

        Raises:
            InputError: *ids* is not an id or an iterable of ids.
        """
        return Forgetting(self._context).forget(ids)

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
        return Forgetting(self._context).forget_where(**_arguments(locals()))

    def purge(self) -> str:
        """Leave no byte of what was forgotten before in any file; the owner's only.

        Returns:
            ``complete``, or what it waits for, as in a receipt.
        """
        return Forgetting(self._context).purge()

    def entities(self, limit: int | None = 100) -> list[EntityCount]:
        """Who and what is spoken of, most mentioned first; only what visible memories mention.

        Args:
            limit: how many at most, from 0; ``None`` = all.

        Raises:
            InputError: *limit* is no such number.
        """
        return Entities(self._context).entities(limit)

    def add_alias(self, entity: int, name: str) -> None:
        """Let another name stand for an entity from now on."""
        Entities(self._context).add_alias(entity, name)

    def merge_entities(self, entity: int, into: int) -> int:
        """Let one entity count as another from now on; returns the merge's number, for ``undo_merge``."""
        return Entities(self._context).merge(entity, into)

    def undo_merge(self, merge: int) -> None:
        """End a merge: its two entities are told apart again.

        Raises:
            NotFoundError: there is no such merge, or it was undone.
        """
        Entities(self._context).undo_merge(merge)

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
        return KeyedStorage(self._context).read(**_arguments(locals()))

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
        return KeyedStorage(self._context).put(space, records, append=append)

    def move_records(self, space: str, path: Sequence[str], to: Sequence[str]) -> int:
        """Give the records at or below one path keys that begin with another, in one transaction.

        Returns:
            how many there were.

        Raises:
            InputError: one path lies below the other.
            ConflictError: a record stands at or below *to*; nothing was changed.
        """
        return KeyedStorage(self._context).move(space, path, to)

    def pop_record(self, space: str, path: Sequence[str] = ()) -> KeyedRecord | None:
        """Erase the record at or below a path that was stored last, and return it; each is returned once."""
        return KeyedStorage(self._context).pop(space, path)

    def forget_records(self, space: str, path: Sequence[str] = (), *, exact: bool = False) -> int:
        """Erase the records at or below a path, in one transaction; returns how many there were.

        Args:
            space: name of the program or framework whose records they are.
            path: beginning of the keys; empty = all records of the space.
            exact: only the records at *path* itself, not those below it.
        """
        return KeyedStorage(self._context).forget(space, path, exact=exact)

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
        return Maintaining(self._context).maintain(**_arguments(locals()))

    def moves(self, memory: str | None = None) -> list[Move]:
        """What maintenance and newer memories did to one memory, or to all, with reasons; the owner's only.

        The oldest first. ``close`` = a newer memory ended it, by the rule in ``reason``.
        """
        return Maintaining(self._context).moves(memory)

    def undo_move(self, number: int) -> None:
        """Take back a promotion, an archiving, or that a newer memory ended one. The owner's only.

        Maintenance does not make its move again. An ended memory holds again as if the newer one had not
        come; both then stand beside each other.

        Raises:
            NotFoundError: there is no such move, it was undone, or the memory has moved on since.
        """
        Maintaining(self._context).undo_move(number)

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
        return Maintaining(self._context).check_references(root, dry_run=dry_run)

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
        return Maintaining(self._context).queue_enrichment(ids)

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
        return Maintaining(self._context).enrich(model, most=most, cost_cap=cost_cap, progress=progress)

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
        return Maintaining(self._context).reembed(**_arguments(locals()))

    def abandon_reembedding(self) -> bool:
        """Stay with the embedder that the bank has, and drop what another one has made; the owner's only.

        Returns:
            whether the bank was going over to another.

        Raises:
            UnavailableError: another process maintains this bank, or it cannot be written.
        """
        return Maintaining(self._context).abandon_reembedding()

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
        return Exporting(self._context).export(target)

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
        return Importing(self._context).import_bank(path, progress=progress)

    def backup(self, target: str | os.PathLike[str] | IO[bytes]) -> Saved:
        """Copy all rows to a new file, while others read and write; the owner's only.

        The copy is the bank at one moment. Trained files and the key of the audit log are not in it.

        Args:
            target: path of a file that is not there yet, or a binary file.

        Raises:
            InputError: there is a file already, or no folder for it.
            UnavailableError: it cannot be written; nothing of it is left.
        """
        return Exporting(self._context).backup(target)

    def restore(self, path: str | os.PathLike[str]) -> Saved:
        """Replace everything in the bank by a backup, whole or not at all; the owner's only.

        The backup is verified first. What was retained since is gone, and what was forgotten since is back:
        forget it again. Every process that has the bank open goes on with what was restored.

        Raises:
            InputError: there is no such file.
            DamagedError, NewerSchemaError: it cannot be used; the bank was left untouched.
            UnavailableError: the bank cannot be written.
        """
        return Importing(self._context).restore(path)

    def start_audit(self) -> Path | None:
        """Audit every change from now on, with a new key beside the bank; the owner's only.

        Where it was begun before, nothing changes.

        Returns:
            the key's file (mode 0600); ``None`` with ``simonides.open(audit_key=…)``, whose key it is then.

        Raises:
            NotFoundError: it was begun before, and its key is not here.
            UnavailableError: it was begun before and goes by another key, or the bank cannot be written.
        """
        return Auditing(self._context).start()

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
        return Auditing(self._context).audit_recalls(on=on)

    def audit_entries(self, most: int | None = None, *, recalls: bool = False) -> list[Entry]:
        """The *most* newest rows of the audit log, or of the log of *recalls*; the owner's only."""
        return Auditing(self._context).entries(most, recalls=recalls)

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
        return Auditing(self._context).verify(anchor=anchor, recalls_anchor=recalls_anchor)

    @property
    def zone(self) -> tzinfo:
        """The zone of times that state none, and of the days that words such as "yesterday" mean."""
        return self._context.zone

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
        Administration(self._context).set_zone(name)

    @property
    def ttl_defaults(self) -> TtlDefaults:
        """The times to live of memories that are retained without one; see ``set_ttl``."""
        return self._context.rows.settings.ttl_defaults

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
        return Administration(self._context).set_ttl(ttl, kind=kind, on_expiry=on_expiry)

    @property
    def embedder(self) -> Embedder | None:
        """The embedder in use for this bank (loaded now if it was not yet), or ``None``."""
        return Administration(self._context).embedder()

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes: current memories for everyone; all else for the owner only."""
        return MemoryReading(self._context).stats()

    def last_write(self) -> datetime | None:
        """The newest stamp on a memory, UTC: the earliest viewpoint that sees all; ``None`` in an empty bank.

        Raises:
            InputError: the bank is opened for a principal.
        """
        return MemoryReading(self._context).last_write()

    def verify(self) -> VerifyReport:
        """Check rows and everything derived from them; changes nothing. Details are for the owner only."""
        return Administration(self._context).verify()

    def repair(self) -> VerifyReport:
        """Make everything derived anew from the rows and verify; the owner's only. No row is changed."""
        return Administration(self._context).repair()

    def samples(self) -> Samples:
        """What the learned reranker may be trained on: recalls of which something was used.

        Only memories that everyone in the bank may read.

        Raises:
            InputError: the bank is opened for a principal.
        """
        return Learning(self._context).samples()

    def used_by_recall(self) -> Mapping[str, tuple[str, ...]]:
        """By recall id, what was said to be of use of what it returned, in the order of storing.

        Only memories that everyone in the bank may read.

        Raises:
            InputError: the bank is opened for a principal.
        """
        return Learning(self._context).used_by_recall()

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
        return Learning(self._context).adopt_reranker(network, memories)


def _arguments(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a method, from its ``locals()``: each is named in its signature and nowhere else."""
    return {name: value for name, value in values.items() if name != "self"}
