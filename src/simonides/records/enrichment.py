"""What a language model adds to memories that the rules have stored, and how a run of it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.records.json_ready import JsonReady

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.records.extraction import Mention, Relation


@dataclass(frozen=True, slots=True)
class Completion:
    """A language model's answer to one request.

    Attributes:
        parsed: the JSON object of the answer, not yet checked; ``None`` = no usable answer.
        input_tokens, output_tokens: what the request is charged for, answer or not.
        problem: why there is no usable answer; empty when there is one. Holds nothing that the model said.
    """

    parsed: Mapping[str, Any] | None
    input_tokens: int
    output_tokens: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Enrichment:
    """What was kept of an answer about one memory.

    Attributes:
        mentions: names, each where the memory's text has it first.
        relations: between names that are in the text; none is single-valued, so none closes another.
        facts: sentences that can be understood alone.
        questions: that the memory answers.
        dropped: how many entries were not kept.
    """

    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    facts: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class EnrichReport(JsonReady):
    """How a run went.

    Attributes:
        done: memories that were enriched.
        failed: memories whose try failed; they are tried again later, unless they count as given up.
        waiting: memories that still wait, those that failed and are to be tried again included.
        given_up: memories that failed too often and wait no longer; ``stats`` shows why.
        dropped: entries of answers that were not kept.
        calls: answers that were asked for.
        input_tokens, output_tokens: charged in all.
        cost: of them, in the currency of the model's prices.
        stopped: why the run ended before the queue did; empty when it did not.
    """

    done: int
    failed: int
    waiting: int
    given_up: int
    dropped: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    stopped: str = ""


ENRICH = "enrich"
"""The task of asking a language model about a memory."""

MOST_TRIES = 5
"""A job that failed so often is kept with its problem and waits no longer."""

LONGEST_PAUSE = 86_400_000_000
"""Microseconds for which a job is put off at most."""


@dataclass(frozen=True, slots=True)
class Job:
    """Work that is due.

    Attributes:
        root: ordinal of the memory's first version.
        tries: how often it failed.
        ordinal: of the version that the bank holds now; ``None`` when it holds none.
    """

    root: int
    tries: int
    ordinal: int | None
