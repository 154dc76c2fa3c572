"""A bank: what one agent, user or project remembers. Joins the rooms, does no work of its own."""

from __future__ import annotations

import hashlib
import logging
import random
import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.verification import VerifyReport
from simonides.backends.embedded.writing import mismatch
from simonides.errors import InputError, NotFoundError
from simonides.index.view import look
from simonides.profiles.loader import load_profile
from simonides.protocols import Tools
from simonides.recall.arguments import read_recall_arguments
from simonides.recall.pipeline import run
from simonides.records.hygiene import clean_text, shown
from simonides.records.interval import FOREVER, to_micros
from simonides.records.query import Filters, Query
from simonides.retain.items import read_items
from simonides.retain.pipeline import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from concurrent.futures import Executor
    from datetime import tzinfo
    from pathlib import Path

    from simonides.backends.embedded.bank import EmbeddedBank, Reading
    from simonides.index.view import BankView
    from simonides.protocols import Analyser, Clock, Embedder, TokenCounter
    from simonides.recall.arguments import RecallRequest
    from simonides.recall.pipeline import Plan
    from simonides.records.memory import Memory
    from simonides.records.recall import Recall

_log = logging.getLogger("simonides")

_LONGEST_ID = 64


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a store hands to its banks.

    Attributes:
        clock: tells the time.
        zone: of times that state none.
        analyser, tokens: of the store.
        embedder: gives the store's embedder (loaded at first use), or ``None`` and why.
        executor: runs channels side by side.
    """

    clock: Clock
    zone: tzinfo
    analyser: Analyser
    tokens: TokenCounter
    embedder: Callable[[], tuple[Embedder | None, str]]
    executor: Executor


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
        self._rows = rows
        self._around = surroundings

    def retain(
        self,
        items: str | Mapping[str, Any] | Iterable[str | Mapping[str, Any]],
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
        deduplicate: bool = True,
    ) -> list[str]:
        """Store memories durably: one transaction and one embedding pass for the whole batch.

        Args:
            items: a text, a mapping with ``text`` and any of the arguments below, or an iterable of these.
            kind: episodic, semantic (the default), procedural, decision, code, preference or observation.
            layer: working, episodic, semantic, procedural or codebase; by default it follows the kind.
            tags: labels to filter by.
            project: the project it belongs to.
            event_time: when it happened: a datetime, a date, or ISO 8601 (``"2026"`` is the whole year).
            valid_from: when it became true; by default the event time if that has passed, else now.
            valid_to: when it stopped being true, excluded; by default it still is.
            recorded_at: when it was first recorded, for imports; the owner's only.
            metadata: JSON-ready values, kept and returned as they are.
            acl: principals who may read it; empty = everyone in the bank.
            source: where it came from.
            context: words it needs to be found alone; searched beside the text.
            relation: name of the relation it states; searched beside the text.
            path: document path; breaks ties between equal scores.
            salience: 0 to 1.
            confidence: 0 to 1.
            deduplicate: an item that says the same as a current memory in every respect changes nothing and
                returns that memory's id.

        Returns:
            one id per item, in order. When this returns, the memories survive a crash and a power cut.

        Raises:
            InputError: an argument is wrong; nothing was stored.
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
            "deduplicate": deduplicate,
        }
        drafts = read_items(items, shared, zone=self._around.zone)
        if self.principal is not None and any(draft.recorded_at is not None for draft in drafts):
            raise InputError("recorded_at", "only the owner may state it; leave it out")
        if not drafts:
            return []
        embedder, _ = self._around.embedder()
        ready = prepare(drafts, self._around.analyser, embedder)
        if ready.unembedded:
            position, reason = ready.unembedded[0]
            _log.warning(
                "%d of %d memories have no vector and are found by words only (first: item %d, %s)",
                len(ready.unembedded),
                len(drafts),
                position,
                reason,
            )
        return list(self._rows.write(ready.items, self._now(), embedder).ids)

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
    ) -> Recall:
        """Find the memories that answer *query*, best first.

        Args:
            query: words.
            limit: hits at most, 1 to 10,000; ``None`` = the profile's number.
            max_tokens: budget of ``Recall.context``; ``None`` = no budget.
            profile: name of a built-in profile, or the path of a TOML file.
            kinds: keep only these kinds.
            project: keep only this project.
            tags: keep memories by tags, see *tags_match*.
            tags_match: any (one shared; untagged pass), any_strict, all, all_strict, or exact.
            as_of: viewpoint in the world's time; a date means its first instant. Default: now.
            known_at: viewpoint in recorded time. Default: *as_of*.
            window: keep memories that happened inside: (start, end), end excluded, or one date.
            explain: every hit already carries its ranks and scores per channel; kept for callers that ask.
            seed: of random parts; by default derived from the query and the clock.

        Raises:
            InputError: an argument is wrong.
            ProfileError: the profile file is wrong.
        """
        request = read_recall_arguments(
            query,
            limit=limit,
            max_tokens=max_tokens,
            kinds=kinds,
            project=project,
            tags=tags,
            tags_match=tags_match,
            as_of=as_of,
            known_at=known_at,
            window=window,
            seed=seed,
            principal=self.principal,
            zone=self._around.zone,
        )
        if not isinstance(explain, bool):
            raise InputError("explain", f"expected true or false, got {shown(explain)}")
        plan = load_profile(profile)
        with self._rows.reading() as reading:
            view = look(reading.snapshot, request.filters, self._now(), reading.memories)
            return self._answer(plan, view, request, reading)

    def _answer(self, plan: Plan, view: BankView, request: RecallRequest, reading: Reading) -> Recall:
        embedder, problem = self._usable_embedder(plan, reading)
        seed = request.seed if request.seed is not None else _seed(request.text, view.as_of)
        answer = run(
            plan,
            view,
            Query(request.text, view.as_of, request.limit, request.max_tokens, seed),
            Tools(self._around.analyser, embedder, self._around.tokens, random.Random(seed)),  # noqa: S311 not for secrets
            known_at=view.known_at,
            timer=time.perf_counter,
            executor=self._around.executor,
        )
        trace = answer.trace
        if problem:
            trace = replace(trace, degraded=(f"embedder: {problem}", *trace.degraded))
        if self.principal is not None:
            # How much others have written, and when, is not for a principal to know.
            trace = replace(trace, rows=trace.visible, sequence=0)
        return replace(answer, trace=trace)

    def _usable_embedder(self, plan: Plan, reading: Reading) -> tuple[Embedder | None, str]:
        """The embedder for this plan and this bank, or why there is none."""
        if not any(step.technique == "embedding" for step in plan.understanders):
            return None, ""
        embedder, problem = self._around.embedder()
        name, dimension, fingerprint = reading.embedder()
        if embedder is not None and fingerprint not in {"", embedder.fingerprint}:
            return None, mismatch(name, dimension, embedder)
        return embedder, problem

    def get(self, memory: str) -> Memory:
        """The newest version of one memory.

        Raises:
            NotFoundError: there is none that the principal may read.
        """
        clean_text(memory, "id", _LONGEST_ID)
        with self._rows.reading() as reading:
            versions = [found for found in reading.versions(memory) if self._may_read(found)]
        if not versions:
            raise NotFoundError(f"no memory {memory!r} in bank {self.name!r}; recall shows the ids there are")
        return next((found for found in versions if found.expired_at_micros == FOREVER), versions[-1])

    def forget(self, ids: str | Iterable[str]) -> int:
        """Erase memories with every version and all that was derived from them.

        Returns:
            how many were there; ids that name nothing the principal may read are passed over.

        Raises:
            InputError: *ids* is not an id or an iterable of ids.
        """
        if not isinstance(ids, str) and not hasattr(ids, "__iter__"):
            raise InputError("ids", f"expected an id or a list of ids, got {shown(ids)}")
        wanted = [ids] if isinstance(ids, str) else list(ids)
        for position, memory in enumerate(wanted):
            clean_text(memory, f"ids[{position}]", _LONGEST_ID)
        if self.principal is not None:
            with self._rows.reading() as reading:
                wanted = [i for i in wanted if all(self._may_read(found) for found in reading.versions(i))]
        return self._rows.forget(list(dict.fromkeys(wanted)))

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes: current memories for everyone; all else for the owner only."""
        with self._rows.reading() as reading:
            view = look(reading.snapshot, Filters(principal=self.principal), self._now(), reading.memories)
            current = int(np.count_nonzero(view.visible))
        if self.principal is not None:
            return {"bank": self.name, "current": current}
        return {"bank": self.name, "current": current, **self._rows.stats()}

    def verify(self) -> VerifyReport:
        """Check rows and everything derived from them; changes nothing. Details are for the owner only."""
        report = self._rows.verify()
        if self.principal is None:
            return report
        problems = () if report.ok else ("the bank is damaged; its owner can see where",)
        return VerifyReport({}, problems)

    def _may_read(self, memory: Memory) -> bool:
        return self.principal is None or not memory.acl or self.principal in memory.acl

    def _now(self) -> int:
        moment: object = self._around.clock()
        if not isinstance(moment, datetime) or moment.utcoffset() is None:
            raise InputError("clock", f"returned {moment!r}; return an aware datetime")
        return to_micros(moment)


def _seed(query: str, as_of: int) -> int:
    digest = hashlib.blake2b(f"{as_of} {query}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
