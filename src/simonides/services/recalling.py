"""Recall in both tiers: an answer at once, and in the async tier a job that gives a better one later."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, ModelError, NotFoundError, StoreError
from simonides.index.snapshot import touch
from simonides.options import ASYNC_TIER, COUNT_RETURNED, EXPLAIN, HELPERS, INCLUDE_SOURCES, RECALL_DEFAULTS
from simonides.recall.explaining import Recording
from simonides.recall.explaining import explain as explained
from simonides.recall.helping.asking import HelperTexts, ask_helpers, read_helpers
from simonides.recall.helping.request import JobRequest, degraded, read_wait
from simonides.recall.helping.widening import widened
from simonides.recall.refining.mlp import impression_of
from simonides.recall.telemetry import observe
from simonides.records.hygiene import MAX_ID_BYTES, clean_text
from simonides.records.interval import read_zone
from simonides.records.memory import Evidence
from simonides.records.recall import DONE, PENDING, RecallJob
from simonides.services.answering import Answering
from simonides.services.viewing import Viewing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from simonides.recall.plan import Plan
    from simonides.records.recall import Recall
    from simonides.services.context import BankContext
    from simonides.storage.reader import Reader

_log = logging.getLogger("simonides")

# Asked when a bank is warmed; nobody gets the answer.
_WARMING = "What was said last, and when?"


@dataclass(frozen=True, slots=True)
class Recalling:
    """Answers queries, at once and by jobs."""

    context: BankContext

    def recall(
        self,
        query: str,
        *,
        profile: str | Path = "default",
        zone: object = None,
        tier: str = "default",
        helpers: Iterable[str] | str | None = None,
        count_returned: bool = False,
        **asked: Any,
    ) -> Recall:
        later = self.context.check((ASYNC_TIER, HELPERS), {"tier": tier, "helpers": helpers})
        wanted = read_helpers(later["tier"], later["helpers"])
        here = self.context.in_zone(zone)
        asked = {**RECALL_DEFAULTS, **asked}
        answer = Recalling(here).recall_at_once(query, profile, count_returned=count_returned, **asked)
        if wanted is None:
            return answer
        if zone is not None:
            # By its name, since another process may run the job.
            read_zone(str(here.zone))
            asked["zone"] = str(here.zone)
        return self._answered_later(answer, JobRequest(query, str(profile), wanted, asked))

    def recall_at_once(
        self,
        query: str,
        profile: str | Path,
        *,
        explain: bool = False,
        count_returned: bool = False,
        include_sources: bool = False,
        plan: Plan | None = None,
        job: str = "",
        **options: object,
    ) -> Recall:
        """Answer at once; options as ``Bank.recall``. *job* is that of the async tier that asks.

        Empty = none.
        """
        switches = {"explain": explain, "count_returned": count_returned, "include_sources": include_sources}
        self.context.check((EXPLAIN, COUNT_RETURNED, INCLUDE_SOURCES), switches)
        context, answering = self.context, Answering(self.context)
        request = answering.read_options(query, options)
        plan = plan or answering.plan(profile)
        recording, now = Recording(), context.now()
        with context.reading() as reading:
            viewing = Viewing(context)
            view = viewing.view(reading, request.filters, now)
            plan, view = viewing.with_observations(plan, view, reading, request.filters)
            answer, _ = answering.answer(plan, view, request, reading, recording)
            reading.check([hit.memory.ordinal for hit in (*answer.standing, *answer)])
            trace = answer.trace
            led = ("standing",) if request.standing else ()
            asked = (reading.meta.bank, context.principal, str(profile), request, request.search, *led)
            identity = f"{asked!r} {trace.as_of} {trace.known_at} {trace.seed} {job or now}".encode()
            digest = hashlib.blake2b(identity, digest_size=16).hexdigest()
            answer = replace(answer, id=digest, precision=request.search.precision)
            if include_sources:
                answer = replace(answer, evidence=self._evidence(reading, answer, view.known_at))
            if answer.hits and recording.query is not None:
                context.rows.impress(
                    impression_of(
                        view,
                        recording.query,
                        answer,
                        context.author,
                        now,
                        reading.embedder().fingerprint,
                        counted=count_returned,
                    )
                )
        context.record_read("recall", reading, returned_ids(answer), query, answer.id)
        self._remember(answer, query, str(profile), now)
        observe(context.name, answer, ended_ns=now * 1_000 + int(trace.milliseconds * 1_000_000))
        return replace(answer, explanations=explained(answer, recording)) if explain else answer

    def _remember(self, answer: Recall, query: str, profile: str, now: int) -> None:
        """Note what is returned, for whoever watches.

        And so that an agent that writes its prompt back does not retain it again.
        """
        self.context.rows.recent_recalls.add(
            now,
            recall=answer.id,
            principal=self.context.author,
            ids=tuple(dict.fromkeys(returned_ids(answer))),
            query=query,
            context=answer.context,
            band=answer.band,
            confidence=answer.confidence,
            profile=profile,
        )
        returned = [(hit.text, hit.id) for hit in (*answer, *answer.standing)]
        if answer.context:
            returned.append((answer.context, (*answer.hits, *answer.standing)[0].id))
        self.context.answers.remember(*returned)

    def _evidence(self, reading: Reader, answer: Recall, known_at: int) -> dict[str, tuple[Evidence, ...]]:
        """The sources behind the consolidated observations of an answer, as they were known then."""
        found = {}
        held = reading.evidence(known_at)
        for memory in (hit.memory for hit in answer.hits if hit.memory.consolidated):
            root = int(reading.snapshot.column("root")[memory.ordinal])
            sources = []
            for source, stance in held.get(root, {}).items():
                versions = reading.versions(reading.memories([source])[0].id)
                sources += [
                    Evidence(version, stance)
                    for version in versions
                    if version.ingested_at_micros <= known_at < version.expired_at_micros
                    and self.context.may_read(version)
                ]
            found[memory.id] = tuple(sources)
        return found

    def _answered_later(self, plain: Recall, asked: JobRequest) -> Recall:
        """The plain answer with a job, or with the reason why there is none."""
        request = asked.at(plain.trace)
        job = request.identity(plain.id)
        try:
            # The query is stored until the job is done, so it is redacted like a memory.
            stored = self.context.redactor().json_text(request.to_json(), "query")
            self.context.rows.recall_jobs.add(job, self.context.author, stored)
        except (StoreError, InputError) as error:
            return degraded(plain, f"async: {error}")
        # If no worker is free, the job starts when somebody asks for it.
        self.context.parts.jobs.start(self._key(job), lambda: self._run_job(job))
        return replace(plain, job=job)

    def job(self, job: str, *, wait_seconds: float) -> RecallJob:
        clean_text(job, "job", MAX_ID_BYTES)
        seconds = read_wait(wait_seconds)
        runner, key = self.context.parts.jobs, self._key(job)
        while True:
            stored = self.context.rows.recall_jobs.find(job, self.context.author)
            if stored is None:
                raise NotFoundError(f'no job {job!r}; recall with tier="async" gives one')
            work = runner.start(key, lambda: self._run_job(job))
            if work is None or not work.wait(seconds):
                return RecallJob(job, PENDING)
            try:
                texts, answer = work.result()
                if self._still_holds(answer):
                    budget = JobRequest.from_json(stored.request).options["max_tokens"]
                    return RecallJob(job, DONE, answer, texts.by_helper(), budget)
            except BaseException:
                runner.drop(key[0], key)
                raise
            # A memory in it was forgotten meanwhile: run the job again, without it.
            runner.drop(key[0], key)

    def _key(self, job: str) -> tuple[str, ...]:
        return str(self.context.rows.folder), self.context.author, job

    def _run_job(self, job: str) -> tuple[HelperTexts, Recall]:
        """The better answer at the viewpoint of the plain one; if a model fails, the plain one."""
        jobs = self.context.rows.recall_jobs
        stored = jobs.find(job, self.context.author)
        if stored is None:
            raise NotFoundError(f"no job {job!r}; it was dropped meanwhile")
        request = JobRequest.from_json(stored.request)
        # A job of an earlier version lacks the options that came since.
        options = {**RECALL_DEFAULTS, **request.options}
        recalling = Recalling(self.context.in_zone(options.pop("zone", None)))
        if stored.texts is None:
            texts = ask_helpers(request.query, request.helpers, self.context.parts.answerer)
            # Two processes that run one job both use the texts that the first one stored.
            texts = HelperTexts.from_json(jobs.keep_texts(job, texts.to_json()))
        else:
            texts = HelperTexts.from_json(stored.texts)
        reranker, problem = self.context.parts.heavy_reranker()
        plan = Answering(self.context).plan(request.profile)
        notes = [f"heavy reranker: {problem}"] if problem else []
        if not request.helpers and reranker is None:
            notes.append("async: no helper was asked for and no heavy reranker is set up")
        try:
            better = widened(plan, texts, reranker)
            answer = recalling.recall_at_once(request.query, request.profile, plan=better, job=job, **options)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 whatever fails in a model leaves the plain answer
            notes.append(f"async: {type(error).__name__}: {error}; this is the plain answer")
            answer = recalling.recall_at_once(request.query, request.profile, plan=plan, job=job, **options)
        return texts, replace(degraded(answer, *notes), job=job)

    def _still_holds(self, answer: Recall) -> bool:
        """Whether the bank still holds every memory whose words *answer* contains."""
        with self.context.reading() as reading:
            return all(
                any(map(self.context.may_read, reading.versions(memory)))
                for memory in sorted(set(returned_ids(answer)))
            )

    def warm(self, *, profile: str | Path) -> None:
        answering = Answering(self.context)
        plan = answering.plan(profile)
        request = answering.read_options(_WARMING, RECALL_DEFAULTS)
        with self.context.reading() as reading:
            touch(reading.snapshot)
            viewing = Viewing(self.context)
            view = viewing.view(reading, request.filters, self.context.now())
            plan, view = viewing.with_observations(plan, view, reading, request.filters)
            try:
                answering.answer(plan, view, request, reading, None)
            except ModelError as error:
                _log.warning("not everything could be loaded ahead: %s", error)


def returned_ids(answer: Recall) -> Iterator[str]:
    """Ids of all memories whose words an answer holds, the hits first; some of them twice."""
    yield from (hit.id for hit in (*answer, *answer.standing))
    behind = {each.memory.id for evidence in answer.evidence.values() for each in evidence}
    yield from sorted(behind | {memory for chunk in answer.chunks for memory in chunk.memories})
