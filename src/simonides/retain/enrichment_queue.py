"""Work off the enrichment queue: take a few memories, ask the model, check its answer, write it.

Nothing is locked while a model works. What was kept of an answer becomes a new version of its memory and the
job is deleted, in one transaction per request, so a killed run loses one answer at most. A failed try leaves
the memory as it is and postpones its job by 1, 4, 16, then 64 minutes.

Memories share a request only if the same principals may read them, one author wrote them, that author is
fully trusted, and none seems to give orders; else a text could make the model say something of a memory it
is no part of. What failed before is asked about alone, so that one bad text does not block others.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, ModelUnavailableError
from simonides.options import MAX_CONTEXT_BYTES
from simonides.records.enrichment import ENRICH, LONGEST_PAUSE, MOST_TRIES, EnrichReport
from simonides.records.hygiene import clean_count, shown
from simonides.retain.enriching import (
    MOST_CHARACTERS,
    MOST_TOGETHER,
    SCHEMA,
    ask_about,
    gives_orders,
    read_answer,
)
from simonides.retain.resolution import fold_name, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simonides.protocols import Analyser, Enricher
    from simonides.records.enrichment import Enrichment, Job
    from simonides.records.extraction import Mention
    from simonides.records.memory import Memory
    from simonides.storage.bank import BankStorage
    from simonides.storage.reader import Reader
    from simonides.storage.writer import WriteTransaction

    Progress = Callable[[str, int, int | None], None]

_LOOKED_AT = 64
_MOST_CHARACTERS_TOGETHER = 12_000
_FULL_TRUST = 1.0
_FIRST_PAUSE_MICROS = 60_000_000
_PAUSE_GROWTH = 4
_MOST_FAILURES = 5
_PASSED_OVER = "the answer did not speak of this memory"


@dataclass(frozen=True, slots=True)
class _Taken:
    """One memory of a request: its job and its version when the request was made."""

    job: Job
    memory: Memory


class EnrichmentRun:
    """One run over the queue of a bank.

    Args:
        cost_cap: the most that the run may cost; ``None`` = no limit.
        progress: called with ("memories asked about", how many, of how many).

    Raises:
        InputError: the cap is no cost, or the model's prices are not known.
    """

    def __init__(
        self,
        rows: BankStorage,
        model: Enricher,
        analyser: Analyser,
        now: Callable[[], int],
        *,
        cost_cap: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        if cost_cap is not None and not (_is_number(cost_cap) and cost_cap >= 0):
            raise InputError("cost_cap", f"expected a number of 0 or more, got {shown(cost_cap)}")
        if cost_cap is not None and not model.priced:
            raise InputError("cost_cap", "needs the model's prices; give input_price and output_price")
        self._rows = rows
        self._model = model
        self._analyser = analyser
        self._now = now
        self._cost_cap = cost_cap
        self._progress = progress
        self._done = self._failed = self._dropped = self._calls = 0
        self._input = self._output = 0

    def run(self, most: int | None = None) -> EnrichReport:
        """Ask about up to *most* of the memories that are due now.

        Raises:
            InputError: *most* is no number of memories.
            ModelRefusedError: no memory can be enriched before a setting is right; those before it are.
        """
        most = None if most is None else clean_count(most, "most", 0)
        due = self._now()
        total = self._report().waiting
        total = total if most is None else min(most, total)
        failures, stopped = 0, ""
        while not stopped:
            taken = self._take(due, total - self._done - self._failed)
            if not taken:
                break
            messages = ask_about([one.memory for one in taken])
            if self._cost_cap is not None:
                most_cost = self._cost() + self._model.most_cost(messages, SCHEMA)
                if most_cost > self._cost_cap:
                    stopped = f"the next request could raise the cost to {most_cost:.4f}, above the cap"
                    break
            before = self._done
            try:
                self._ask(taken, messages)
            except ModelUnavailableError as error:
                self._write(taken, [None] * len(taken), str(error))
                stopped = str(error)
            failures = 0 if self._done > before else failures + 1
            if failures == _MOST_FAILURES:
                stopped = f"{failures} requests in a row failed; `stats` shows why"
            if self._progress is not None:
                self._progress("memories asked about", self._done + self._failed, total)
        return self._report(stopped)

    def _report(self, stopped: str = "") -> EnrichReport:
        with self._rows.reading() as reading:
            waiting, given_up = reading.count_jobs()
        return EnrichReport(
            self._done,
            self._failed,
            waiting,
            given_up,
            self._dropped,
            self._calls,
            self._input,
            self._output,
            self._cost(),
            stopped,
        )

    def _cost(self) -> float:
        return self._model.cost(self._input, self._output)

    def _take(self, due: int, most: int) -> list[_Taken]:
        """The memories of the next request; jobs of memories that the bank no longer holds are struck off."""
        while True:
            with self._rows.reading() as reading:
                jobs = reading.due_jobs(due, _LOOKED_AT)
                gone = [job.root for job in jobs if job.ordinal is None]
                taken = _together(reading, jobs, most)
            if not gone:
                return taken
            with self._rows.writing(self._now()) as transaction:
                for root in gone:
                    transaction.queue.remove(ENRICH, root)

    def _ask(self, taken: Sequence[_Taken], messages: Sequence[dict[str, str]]) -> None:
        self._calls += 1
        completion = self._model.complete(messages, SCHEMA)
        self._input += completion.input_tokens
        self._output += completion.output_tokens
        if completion.parsed is None:
            self._write(taken, [None] * len(taken), completion.problem)
            return
        memories = [one.memory for one in taken]
        found, dropped = read_answer(completion.parsed, memories, self._analyser)
        self._dropped += dropped + sum(one.dropped for one in found if one is not None)
        self._write(taken, found, _PASSED_OVER)

    def _write(self, taken: Sequence[_Taken], found: Sequence[Enrichment | None], problem: str) -> None:
        """Write down what was found of each memory, and put off the jobs of those without."""
        now = self._now()
        with self._rows.writing(now) as transaction:
            done = failed = 0
            for one, enrichment in zip(taken, found, strict=True):
                tries = transaction.queue.tries(ENRICH, one.job.root)
                if tries is None:  # another run was faster, or the memory was forgotten
                    continue
                if enrichment is None:
                    pause = min(_FIRST_PAUSE_MICROS * _PAUSE_GROWTH ** min(tries, MOST_TRIES), LONGEST_PAUSE)
                    transaction.queue.postpone(ENRICH, one.job.root, now + pause, problem)
                    failed += 1
                else:
                    apply(transaction, one.memory, enrichment, self._analyser, self._model.model)
                    transaction.queue.remove(ENRICH, one.job.root)
                    done += 1
        self._done += done
        self._failed += failed


def apply(
    transaction: WriteTransaction, memory: Memory, found: Enrichment, analyser: Analyser, model: str
) -> None:
    """Make what was found a new version of a memory; no version when it adds nothing.

    The bank may hold a later version than *memory*; one in other words is left as it is, and may be queued
    again. *model* names what found it.
    """
    held = transaction.versions.current(memory.id)
    if held is None or held.text != memory.text:
        return
    ordinal = held.ordinal
    expansion = _expanded(transaction.models.expansion_by_rules(ordinal), (*found.questions, *found.facts))
    readers = tuple(sorted(transaction.versions.compared_fields(ordinal).readers))
    numbers = _numbers(transaction, ordinal, memory.text, found.mentions, readers)
    names = set(numbers.values()) - transaction.entities.mentioned(ordinal)
    stated = {(r.name, numbers[fold_name(r.subject)], fold_name(r.object)) for r in found.relations}
    stated -= transaction.relations.counted(ordinal)
    if expansion != held.expansion or names or stated:
        terms = _with_terms(transaction.versions.terms(ordinal), expansion, analyser)
        ordinal = transaction.versions.revise(ordinal, expansion=expansion, terms=terms).ordinal
        for number in sorted(names):
            transaction.entities.add_mention(ordinal, number)
        for name, subject, obj in sorted(stated):
            transaction.relations.add(ordinal, name, subject, obj, single_valued=False)
    transaction.models.set_enriched(held.root, held.version, model)


def _together(reading: Reader, jobs: Sequence[Job], most: int) -> list[_Taken]:
    """The first memory, and those after it that may share its request."""
    held = [job for job in jobs if job.ordinal is not None]
    memories = reading.memories([job.ordinal for job in held if job.ordinal is not None])
    taken: list[_Taken] = []
    size = 0
    for job, memory in zip(held, memories, strict=True):
        size += len(memory.text[:MOST_CHARACTERS]) + len(memory.context[:MOST_CHARACTERS])
        one = _Taken(job, memory)
        if len(taken) == min(most, MOST_TOGETHER):
            break
        if not taken or (size <= _MOST_CHARACTERS_TOGETHER and _may_share(taken[0], one)):
            taken.append(one)
    return taken


def _may_share(first: _Taken, other: _Taken) -> bool:
    if first.job.tries or other.job.tries:
        return False
    one, two = first.memory, other.memory
    if gives_orders(one) or gives_orders(two):
        return False
    return one.trust == two.trust == _FULL_TRUST and one.acl == two.acl and one.author == two.author


def _numbers(
    transaction: WriteTransaction,
    ordinal: int,
    text: str,
    mentions: Sequence[Mention],
    readers: Sequence[str],
) -> dict[str, int]:
    """Entity numbers by folded name; a name that the row speaks of already stays with its bearer."""
    known = transaction.entities.mentioned(ordinal)
    numbers: dict[str, int] = {}
    unknown: list[Mention] = []
    for mention in mentions:
        folded = fold_name(mention.name)
        bearer = next((e.whole for e in transaction.entities.find(folded) if e.whole in known), None)
        if bearer is None:
            unknown.append(mention)
        else:
            numbers[folded] = bearer
    # Without relations: a model's word is not enough to tell two bearers of a name apart.
    found = resolve(transaction, text, unknown, (), readers)
    return numbers | {name: transaction.entities.canonical(number) for name, number in found.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _expanded(before: str, sentences: Sequence[str]) -> str:
    """*before* with one line for each new sentence, within the limit of the field."""
    lines = [before] if before else []
    known = set(before.split("\n"))
    size = len(before.encode())
    for sentence in sentences:
        longer = size + 1 + len(sentence.encode())
        if sentence not in known and longer <= MAX_CONTEXT_BYTES:
            lines.append(sentence)
            size = longer
    return "\n".join(lines)


def _with_terms(terms: dict[str, Any], expansion: str, analyser: Analyser) -> bytes:
    """The terms of a row with those of another expansion."""
    terms.pop("expansion", None)
    counted = dict(Counter(analyser.terms(expansion)))
    # The last of the lexical fields, in a new row and after a rebuild alike.
    fields = {**terms, "expansion": counted} if counted else terms
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
