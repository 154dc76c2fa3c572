"""A bank: what one agent, user or project remembers. The public interface; services do the work."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simonides.bank_administration import BankAdministration
from simonides.bank_browsing import BankBrowsing
from simonides.bank_exchange import BankExchange
from simonides.bank_structure import BankStructure
from simonides.deprecations import BANK_METHODS, answers_old_names
from simonides.forking import Origin
from simonides.recall.telemetry import operation
from simonides.retain.conversations import WINDOW
from simonides.services.composing import Composing
from simonides.services.context import BankContext, arguments
from simonides.services.editing import Editing
from simonides.services.explaining import Explaining
from simonides.services.forgetting import Forgetting
from simonides.services.guarding import Guard
from simonides.services.reading import MemoryReading
from simonides.services.recalling import Recalling
from simonides.services.retaining import Retaining

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime, timedelta, tzinfo
    from pathlib import Path

    from simonides.protocols import (
        Answerer,
    )
    from simonides.records.explanation import WhyNot
    from simonides.records.memory import Brief, Diff, Memory
    from simonides.records.recall import Recall, RecallJob, Reflection
    from simonides.records.source import Source
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
class Bank(BankBrowsing, BankExchange, BankStructure, BankAdministration):
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

    def _trusting(self) -> Bank:
        """The same bank for an interface that has checked the values of options already."""
        bank = copy(self)
        bank._context = replace(self._context, checked=True)  # noqa: SLF001 of the same class
        return bank

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
        """Store memories durably, in one transaction and one embedding pass for the whole batch.

        Args:
            items: A text, an object with text and any other option, a chat message (role, content), or a list
                of these. Messages of user, assistant and tools are stored with their role; system messages,
                tool calls, images, audio and files are left out, and the log counts them. With *session*, a
                message is also found by the words of its neighbours.
            kind: one of episodic, semantic, procedural, decision, code, preference, observation, quarantine.
                Default: semantic.
            layer: one of working, episodic, semantic, procedural, codebase. Default: by kind.
            tags: labels to filter by.
            project: name of the project.
            event_time: when it happened. A datetime, a date, or ISO 8601 (``"2026"`` is the whole year).
            valid_from: from when it is true. By default the event time if that has passed, else now.
            valid_to: until when it is true (not included). By default it still is.
            recorded_at: when it was first recorded, for imports; only for the owner. Not after the clock.
            metadata: JSON object, stored as it is. Returned unchanged.
            acl: principals that may read it. Default: everyone.
            source: where it comes from.
            context: text that is searched with it.
            relation: name of the relation that it states. Searched with the text.
            path: path of the document; breaks ties between equal scores.
            salience: importance, 0 to 1.
            confidence: confidence, 0 to 1.
            document_id: the items replace everything stored of this document. Memories of it that are not
                among them end.
            session: name of the conversation. Each item is linked to the one before it.
            speaker: who said it.
            role: role of the speaker; decides the trust. One of user, assistant, tool, document, import.
            expansion: questions that it answers, searched with it.
            subject: subject of a statement, with relation and object. Such as ("works at", "Odalys",
                "Norrhav").
            object: object of the statement.
            single_valued: A newer statement about the subject ends the older one.
            deduplicate: do not store again what a current memory says. An item that repeats a current memory
                changes nothing and returns that memory's id, or counts as one more proof of it if the words
                differ slightly; a statement may end another one. False stores each item as it is and changes
                no other memory.
            ttl: time to live: seconds, or 45m, 12h, 30d, 2w, never. Default: the bank's. Also a
                ``timedelta``; the default is what ``set_ttl`` sets for its kind. Then it counts as archived
                at once; the next write or ``maintain`` records that. A repeated item lives as long as the
                longer of the two.
            on_expiry: when it expires: archive, or erase. Default: archive. Erased as by ``forget``.
            zone: time zone of times without one, such as Europe/Berlin. Default: the bank's. Also of words
                such as "today" in this call; see ``Bank.zone``.
            idempotency_key: A repeated request with the same key stores nothing again. It returns the first
                answer; with other items it is refused. Every principal has keys of its own.

        Returns:
            one id per item, in order; none for a message that is left out. When this returns, the memories
            survive a crash and a power cut.

        Raises:
            InputError: an argument is wrong; nothing was stored.
            ConflictError: the idempotency key was used with other items; nothing was stored.
            EmbedderMismatchError: the bank's vectors were made by another embedder; nothing was stored.
            UnavailableError: the bank cannot be written; nothing was stored.
        """
        return Retaining(self._context).retain(**arguments(locals()))

    def retain_document(
        self, text: str, *, document_id: str, title: str | None = None, **shared: Any
    ) -> list[str]:
        """Store a document by paragraphs and replace what the bank holds of it.

        Each paragraph is a memory; its context is the title, the headings above it and the date. An unchanged
        paragraph keeps its memory, a removed one ends, and the whole text is stored as the source.

        Args:
            text: Markdown or plain text. Up to 64 MiB.
            document_id: your name of the document; the same again replaces it.
            title: what the document is called.
            shared: any other argument of ``retain``, for all paragraphs; by default *role* is document.

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
        """Store a conversation by turns; each is also found by the words of the turns around it.

        Turns that the bank holds are not stored again, so you may give a growing conversation anew.

        Args:
            turns: objects with text, such as speaker and event_time, and other options; or chat messages
                (role, content). Not session, context and document_id, which the conversation decides.
            session: your name of the conversation.
            window: turns on either side that become context, from 0.
            shared: any other argument of ``retain``, for all turns.

        Returns:
            one id per turn, in order.

        Raises:
            the same as ``retain``.
        """
        return Retaining(self._context).retain_conversation(turns, session=session, window=window, **shared)

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
            query: the question, or keywords.
            limit: maximum number of hits, 1 to 10,000. Default: the profile's.
            max_tokens: token budget of the context, 0 to 10,000,000. ``None`` = no budget.
            profile: profile that ranks. A built-in one, or in Python and on the command line the path of a
                TOML file.
            kinds: only these kinds: episodic, semantic, procedural, decision, code, preference, observation,
                quarantine. An empty list matches nothing.
            project: only this project. Memories without a project stay out.
            tags: only memories with these tags.
            tags_match: how tags must match: any (one of them, or no tags), any_strict, all, all_strict,
                exact. Without tags, or with an empty list, any and all filter nothing, the strict ones match
                nothing, and exact keeps untagged memories.
            as_of: answer as of this time. Default: now. The viewpoint in the world's time; a date means its
                first instant.
            known_at: use only what was stored by this time. Default: as_of. The viewpoint in recorded time.
            window: only what happened in this interval: [start, end), or one date.
            explain: also explain the score of each hit, stage by stage. In ``Recall.explanations``.
            seed: seed of random parts. Default: from the query and the time.
            types: only these types: world, experience, observation. Hindsight's names for kinds; an empty
                list matches nothing.
            entity_hints: names that the question is about. Whatever its words say, in profiles with entities.
            mode: search mode of jeffs_brain: auto, bm25, semantic, hybrid, hybrid-rerank. Default: auto.
            question_date: when the question is asked, for "last week" in it. Default: as_of.
            budget: search depth of hindsight: low, mid, high. Default: the profile's.
            budget_function: depth of a level: fixed, or adaptive to max_tokens. Default: the profile's.
            include_chunks: also return the original texts behind the memories. In ``Recall.chunks``.
            max_chunk_tokens: token budget of these texts, 0 to 10,000,000.
            syntax: query syntax of jeffs_brain: plain, or extended with fields.
            aliases: synonyms for jeffs_brain, by word.
            deadline_ms: skip optional stages that would exceed this time, in milliseconds, above 0 to
                600,000. The trace says which.
            precision: which hits to return: high (the surest), balanced, or wide (all). Default: balanced.
                High is what stands out, balanced what is likely, wide everything up to *limit*, for your own
                rerankers and for benchmarks.
            min_relevance: minimum relevance of a hit, 0 to 1. See ``Hit.relevance``; in profiles that judge
                relevance.
            zone: time zone of times without one, such as Europe/Berlin. Default: the bank's. Also of words
                such as "today" in this call; see ``Bank.zone``.
            tier: default, or async: also start a job that computes a better answer. The answer is the plain
                one, and its ``job`` names a better one that ``get_job`` gives later: with what *helpers* made
                of the query, and reranked by the store's heavy reranker.
            count_returned: count every returned memory as used. This waits in memory until the next ``used``
                or until the store is closed; a crash before that loses it.
            include_archived: also find archived memories. ``used`` brings them back.
            prefer_observations: return observations in place of the memories behind them. Maintenance makes
                observations. Without this, and unless *kinds* or *types* ask for observations, recall ignores
                them.
            standing: put standing memories first in the context. Whatever the query, newest first, in up to
                half of *max_tokens*; see ``pin`` and ``Recall.standing``. *kinds*, *types* and *window* do
                not exclude them, *tags* do, and *project* excludes those of another project.
            include_sources: also return the memories for and against each observation. In
                ``Recall.evidence``.
            helpers: with tier async: hyde, query2doc, multi_query; each asks a language model.

        Raises:
            InputError: an argument is wrong.
            ProfileError: the profile file is wrong.
        """
        return Recalling(self._context).recall(**arguments(locals()))

    def get_job(self, job: str, *, wait_seconds: float = 0.0) -> RecallJob:
        """The state of a recall of the async tier, and its answer once it is there.

        A job whose process ended starts again here.

        Args:
            job: id of the job, as recall with tier async gives it. Of a recall by the same principal.
            wait_seconds: how long to wait for the answer, 0 to 3,600.

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
        """Answer a question from memory by a language model, with citations that are checked.

        Without a model the answer is empty, and ``context`` holds what was recalled. If nothing matches, no
        model is asked.

        Args:
            query: the question, or keywords.
            max_tokens: token budget of the context, 0 to 10,000,000. ``None`` = no budget.
            max_answer_tokens: token budget of the answer, 1 to 100,000.
            answerer: the model, such as ``models.llm.LanguageModel``; by default the store's.
            on_text: called with each piece of the answer as it arrives, citations checked.
            options: any other argument of ``recall``, by name; by default *standing* is true.

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
        """Compose a hand-over for the next session: what is pinned, relevant, decided, open and changed.

        Each line names the memory it comes from. The same bank, task and clock give the same text.

        Args:
            task: the task of the next session.
            max_tokens: token budget of the text, 0 to 10,000,000.
            profile: profile that ranks. A built-in one, or in Python and on the command line the path of a
                TOML file.
            project: only this project. Memories without a project stay out.
            standing: put standing memories first, also those of no project.

        Raises:
            InputError: an argument is wrong.
        """
        return Composing(self._context).brief(**arguments(locals()))

    def why_not(self, memory: str, query: str, *, profile: str | Path = "default", **options: Any) -> WhyNot:
        """Explain why a recall does not return a memory: which stage lost it, and what would help.

        Args:
            memory: id of the memory, as retain and recall give it.
            query: the question, or keywords.
            profile: as for ``recall``.
            options: any other argument of ``recall``, by name.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
            UnknownNameError: ``recall`` has no such option.
        """
        return Explaining(self._context).why_not(memory, query, profile=profile, **options)

    def get_memory(self, memory: str) -> Memory:
        """The newest version of one memory.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
        """
        return MemoryReading(self._context).get(memory)

    def history(self, memory: str) -> list[Memory]:
        """Every version of a memory, oldest first.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
        """
        return self._context.versions(memory)

    def source(self, memory: str) -> Source:
        """The raw text behind a memory, and the part of it that the memory states.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
        """
        return MemoryReading(self._context).source(memory)

    def diff(self, earlier: datetime | str, later: datetime | str | None = None) -> Diff:
        """What the bank believed at one moment and at another (each its own as_of and known_at).

        Args:
            earlier: the first moment; a date means its first instant.
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
        event_time: datetime | str | None = None,
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
        """Change the text of a memory, or what is noted about it, as a new version.

        A new text is encoded, read and linked as by ``retain``: names, times, and kind, salience and
        confidence where they followed from the old text. Other memories that the old text ended hold again,
        and the new text ends its own. Id, readers, trust, pin and statements stay; an archived memory comes
        back. A recall as of before the change finds the old text. If something is no longer true, retain what
        is true now instead: that keeps both.

        Args:
            memory: id of the memory, as retain and recall give it.
            text: the new text, of a turn with or without the speaker.
            event_time: when it happened; told = when the words say. What it ended, and what ended it, is
                settled anew.
            kind: as for ``retain``, like the next eight; ``None`` = unchanged.
            layer: the same.
            tags: the same.
            project: the same.
            metadata: the same.
            source: the same.
            path: the same.
            salience: the same.
            confidence: the same.
            ttl: time to live from now on: seconds, or 45m, 12h, 30d, 2w, never. It belongs to the memory, not
                to a version, and makes none. An archived memory comes back; what happens at its end stays,
                and a memory that is to be erased then is not erased sooner.
            expected_version: the version that you have seen; another one is a conflict, and nothing changes.
                See ``Memory.version``.

        Returns:
            the memory as it is now; ``history`` has the version before.

        Raises:
            NotFoundError: there is no such memory that the principal may read, or it was forgotten.
            InputError: an argument is wrong, there is nothing to change, a principal would change a standing
                memory, or quarantine or release one, or a new text or event time is given for a memory that
                holds a value under a key or sums up others; nothing was changed.
            ConflictError: it was changed since *expected_version*; nothing was changed.
            EmbedderMismatchError: the bank's vectors were made by another embedder; nothing was changed.
        """
        return Editing(self._context).update(**arguments(locals()))

    def invalidate(self, memory: str, *, at: datetime | str | None = None) -> None:
        """End what a memory states; history is kept, and a recall as of an earlier moment still finds it.

        Args:
            memory: id of the memory, as retain and recall give it.
            at: when it stopped being true (not included). Default: now. A date means its first instant. Not
                before what is stored already if the clock was set back. A memory that ended before stays as
                it is; an earlier end corrects a later one.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
            InputError: *at* lies before the memory began to hold.
        """
        Editing(self._context).invalidate(memory, at=at)

    def pin(self, memory: str, *, pinned: bool = True, always: bool = False) -> None:
        """Protect a memory from decay and put it first in briefs; an archived one comes back.

        A principal may pin what only itself and the owner can read: its ``acl`` names the principal alone.

        Args:
            memory: id of the memory, as retain and recall give it.
            pinned: false = it ages like any other, and is no standing memory.
            always: make it a standing memory, first in every context that asks; only for owners. In recalls
                with ``standing``, in ``reflect`` and in ``brief``, for all who may read it, as long as it
                holds; false = a pin only. Every change of a standing memory's pin is for the owner, too.

        Raises:
            NotFoundError: there is no such memory that the principal may read.
            InputError: an argument is wrong, or a principal makes or changes a standing memory, or pins one
                that others may read.
        """
        Editing(self._context).pin(memory, pinned=pinned, always=always)

    def unpin(self, memory: str) -> None:
        """The same as ``pin`` with ``pinned=False``."""
        Editing(self._context).pin(memory, pinned=False, always=False)

    def forget(self, ids: str | Iterable[str], *, dry_run: bool = False) -> int:
        """Erase memories with every version and all that was derived from them.

        Args:
            ids: ids of the memories.
            dry_run: report what would be done, and write nothing.

        Returns:
            how many there were; ids of nothing that the principal may read are skipped. A memory that is to
            be erased by now, which no other call finds, counts.

        Raises:
            InputError: *ids* is no id and no iterable of ids.
        """
        return Forgetting(self._context).forget(ids, dry_run=dry_run)
