"""Runs the pipeline for one query: checked options, the plan of the profile, the models that it needs."""

from __future__ import annotations

import hashlib
import logging
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.errors import InputError, ModelDamagedError
from simonides.index.view import LENIENT
from simonides.options import RECALL, RECALL_DEFAULTS, check
from simonides.profiles.environment import overridden
from simonides.profiles.loader import load_profile
from simonides.protocols import Tools, WordKnower
from simonides.recall.arguments import (
    ASYNC_ELSEWHERE,
    heeded,
    read_recall_arguments,
)
from simonides.recall.pipeline import judges_relevance, run
from simonides.recall.refining.mlp import network_at
from simonides.records.interval import HEAD
from simonides.records.model_identity import mismatch, sparse_mismatch
from simonides.records.query import Query
from simonides.services.viewing import Viewing
from simonides.text.query_dsl import parse_query, read_clauses

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo
    from pathlib import Path

    from simonides.index.view import BankView
    from simonides.protocols import Embedder, SparseEncoder
    from simonides.recall.arguments import RecallRequest
    from simonides.recall.explaining import Recording
    from simonides.recall.plan import Plan
    from simonides.recall.refining.mlp import Network
    from simonides.records.query import Filters
    from simonides.records.recall import Recall
    from simonides.services.context import BankContext
    from simonides.storage.reader import Reader

_log = logging.getLogger("simonides")

RERANKING = ("cross_encoder", "head_rerank")
"""Techniques that read query and memory together; only for them is the store's reranker loaded."""
JUDGING = ("llm_judge",)
"""Techniques that ask a language model; only they get the store's judge."""


@dataclass(frozen=True, slots=True)
class Answering:
    """Runs the pipeline."""

    context: BankContext

    def plan(self, profile: str | Path) -> Plan:
        """The profile, with what environment variables change about it."""
        return overridden(load_profile(profile), self.context.parts.settings)[0]

    def read_options(self, query: str, options: Mapping[str, object]) -> RecallRequest:
        """What is asked for, from options of ``options.RECALL``."""
        context, zone = self.context, self.context.zone
        if options.get("tier") == "async":
            raise InputError("tier", ASYNC_ELSEWHERE)
        values = {**RECALL_DEFAULTS, "query": query, **options}
        if not context.checked:
            values = check(RECALL, values, moments=False)
        request = read_recall_arguments(values, principal=context.principal, zone=zone)
        if request.search.syntax == "extended":
            request = replace(request, filters=_narrowed(request.filters, query, zone))
        return request

    def answer(
        self,
        plan: Plan,
        view: BankView,
        request: RecallRequest,
        reading: Reader,
        recording: Recording | None,
    ) -> tuple[Recall, Tools]:
        """Run the pipeline with the models that the plan needs; the trace says which are missing."""
        if request.search.min_relevance is not None and not judges_relevance(plan):
            raise InputError(
                "min_relevance",
                f"profile {plan.name!r} does not judge relevance; leave it out, or recall with 'default'",
            )
        options, ignored = heeded(request.search, plan)
        seed = request.seed if request.seed is not None else _seed(request.text, view.as_of)
        tools, missing = self._tools(plan, reading, seed)
        query = Query(
            request.text,
            view.as_of,
            request.limit,
            request.max_tokens,
            seed,
            **{name: getattr(options, name) for name in options.__slots__},
        )
        viewing = Viewing(self.context)
        answer = run(
            plan,
            view,
            query,
            tools,
            known_at=view.as_of if view.known_at == HEAD else view.known_at,
            timer=self.context.parts.timer,
            executor=self.context.parts.executor,
            recording=recording,
            standing=viewing.standing(reading, request.filters, view.as_of) if request.standing else (),
        )
        trace = answer.trace
        if reasons := (*ignored, *missing):
            trace = replace(trace, degraded=(*reasons, *trace.degraded))
        if self.context.principal is not None:
            # A principal must not learn how much others have written, nor when.
            trace = replace(trace, rows=trace.visible, sequence=0)
        return replace(answer, trace=trace), tools

    def _tools(self, plan: Plan, reading: Reader, seed: int) -> tuple[Tools, list[str]]:
        """The tools that the stages of a plan get, and why some of them are missing."""
        parts = self.context.parts
        refiners = {step.technique for step in plan.refiners}
        embedder, no_embedder = self._usable_embedder(plan, reading)
        reranker, no_reranker = (None, "") if refiners.isdisjoint(RERANKING) else parts.reranker()
        learned, no_learned = self._learned_reranker(plan, embedder)
        sparse, no_sparse = self._usable_sparse(plan, reading)
        tools = Tools(
            parts.analyser,
            embedder,
            parts.tokens,
            random.Random(seed),  # noqa: S311 not for secrets
            reranker,
            learned,
            zone=self.context.zone,
            judge=None if refiners.isdisjoint(JUDGING) else parts.judge,
            sparse=sparse,
            words=_word_knower(embedder),
        )
        missing = (
            ("embedder", no_embedder),
            ("sparse encoder", no_sparse),
            ("reranker", no_reranker),
            ("learned reranker", no_learned),
        )
        return tools, [f"{model}: {reason}" for model, reason in missing if reason]

    def _usable_embedder(self, plan: Plan, reading: Reader) -> tuple[Embedder | None, str]:
        """The embedder for this plan and this bank, or ``None`` and the reason."""
        if not any(step.technique == "embedding" for step in plan.understanders):
            return None, ""
        model = reading.embedder()
        embedder, problem = self.context.parts.embedder(model)
        if embedder is not None and model.fingerprint not in {"", embedder.fingerprint}:
            return None, mismatch(model.name, model.dimension, embedder)
        return embedder, problem

    def _usable_sparse(self, plan: Plan, reading: Reader) -> tuple[SparseEncoder | None, str]:
        """The sparse encoder for this plan and this bank, or ``None`` and the reason."""
        if not any(step.technique == "sparse_terms" for step in plan.understanders):
            return None, ""
        encoder, problem = self.context.parts.sparse()
        name, fingerprint = reading.sparse_encoder()
        if encoder is not None and fingerprint not in {"", encoder.fingerprint}:
            return None, sparse_mismatch(name, encoder.name)
        return encoder, problem

    def _learned_reranker(self, plan: Plan, embedder: Embedder | None) -> tuple[Network | None, str]:
        """The bank's trained reranker if the plan has a stage for it, or ``None`` and the reason."""
        path = self.context.rows.reranker_path
        if not any(step.technique == "learned_mlp" for step in plan.refiners) or not path.is_file():
            return None, ""
        try:
            network = network_at(path)
        except FileNotFoundError:  # forgotten meanwhile
            return None, ""
        except (ModelDamagedError, OSError) as error:
            return None, str(error)
        if network.embedder != (embedder.fingerprint if embedder else ""):
            return None, "was trained with vectors of another embedder; train it anew"
        return network, ""


def _word_knower(embedder: object) -> WordKnower | None:
    return embedder if isinstance(embedder, WordKnower) else None


def _narrowed(filters: Filters, query: str, zone: tzinfo) -> Filters:
    """*filters* and also the conditions that an extended query states."""
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


def _seed(query: str, as_of: int) -> int:
    digest = hashlib.blake2b(f"{as_of} {query}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
