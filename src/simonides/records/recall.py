"""The answer to a recall, a recall whose answer comes later, and an answer by a language model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simonides.records.explanation import Explanation, Trace
    from simonides.records.memory import Evidence, Memory


Band = Literal["match", "weak", "none"]
"""How sure a recall is that anything answers: likely, possibly, no."""

POSSIBLY = "possibly: "
"""Stands before each memory that a person or a model reads where it is only possible that any answers."""

MOST_POSSIBLE = 2
"""So many memories are read then."""


EARLIER = "earlier"
"""The signal (1) of a hit that a newer one changes, and the word that marks it where it is read."""


STANDING = "standing"
"""What gives a hit its place in ``Recall.standing``, and the word that marks it where it is read."""


def is_doubtful(band: Band, precision: str) -> bool:
    """Whether what is read is marked with "possibly": nothing is likely to answer, but something may."""
    return band == "weak" and precision != "wide"


def not_in_memory(reasons: Sequence[str]) -> str:
    """What a person or a model reads where nothing answers, from ``Recall.no_match_reasons``."""
    return f"Not in memory: {'; '.join(reasons)}." if reasons else "Not in memory."


def percent(probability: float) -> str:
    """A probability for people, such as ``87 %``."""
    return "<1 %" if 0 < probability < 0.005 else f"{100 * probability:.0f} %"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a refiner holds of the pool as an answer.

    Attributes:
        confidence: the calibrated probability that anything in the pool answers the query, 0 to 1.
        band: what follows from it.
        relevance: by row ordinal, the calibrated probability that the memory answers the query.
    """

    confidence: float
    band: Band
    relevance: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Hit:
    """One recalled memory; as ``str`` its text.

    Attributes:
        memory: the whole record.
        score: higher is better, on the scale of the stage named by ``scored_by``.
        rank: position in the answer, from 1.
        tokens: what the memory was counted as against the budget.
        ranks, channel_scores: per channel, rank (from 1) and score there.
        signals: named numbers that refiners added.
        relevance: the calibrated probability that the memory answers the query, 0 to 1; ``None`` where the
            profile judges none.
    """

    memory: Memory
    score: float
    rank: int
    scored_by: str
    tokens: int
    ranks: Mapping[str, int] = field(default_factory=dict)
    channel_scores: Mapping[str, float] = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)
    relevance: float | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def text(self) -> str:
        return self.memory.text

    @property
    def kind(self) -> str:
        return self.memory.kind.value

    @property
    def earlier(self) -> bool:
        """Whether another hit, a newer one, states another value of the same."""
        return EARLIER in self.signals

    @property
    def judged(self) -> float:
        """The relevance, else the score: the one number for callers that take only one."""
        return self.score if self.relevance is None else self.relevance

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "rank": self.rank,
            "id": self.id,
            "text": self.text,
            "kind": self.kind,
            "relevance": self.relevance,
            "earlier": self.earlier,
            "score": self.score,
            "scored_by": self.scored_by,
            "tokens": self.tokens,
            "ranks": dict(self.ranks),
            "channel_scores": dict(self.channel_scores),
            "signals": dict(self.signals),
            "memory": self.memory.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Omitted:
    """A candidate that was not packed, and why (``"over budget"``)."""

    id: str
    reason: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Raw text behind hits (HI-15).

    Attributes:
        text: verbatim.
        memories: ids of the hits that come from it, best first.
        whole: whether it is the whole source, not just the part that one memory tells.
        tokens: what it took of ``max_chunk_tokens``.
        document: the caller's id of the document; empty = none.
        session: the conversation; empty = none.
        speaker: who said it; empty = not known.
    """

    text: str
    memories: tuple[str, ...]
    whole: bool
    tokens: int
    document: str = ""
    session: str = ""
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Recall:
    """Hits in rank order; iterable, and as ``str`` what a person reads: the context, or why there is none.

    Attributes:
        hits: what was found, best first.
        context: the same, rendered for a prompt; never above ``max_tokens``, empty when nothing matches.
        omitted: candidates that did not fit the budget.
        no_match: there is nothing to tell: nothing was found, or nothing of it answers the query (not:
            everything was over budget, see ``omitted``), and no standing memory leads the context. Hits that
            were found are there all the same.
        trace: what each stage did.
        chunks: the raw sources behind the hits, when they were asked for.
        explanations: one per hit, when they were asked for.
        confidence: the calibrated probability that anything answers the query, 0 to 1; ``None`` where the
            profile judges none.
        band: ``"match"``, ``"weak"`` (the context marks its lines with "possibly") or ``"none"``: nothing
            answers, whether standing memories are told or not.
        precision: that was asked for.
        no_match_reasons: why nothing answers, in words; empty when something may.
        id: by which ``Bank.used`` says what of it was of use; the same question at the same time has the
            same one. Empty where no bank gave one.
        evidence: by id of an observation that maintenance made, the memories for and against it, when they
            were asked for.
        job: in the async tier, by which ``Bank.get_job`` gives the better answer; empty = there is none.
        standing: the standing memories that lead the context, where they were asked for; none of them is
            among the hits, and ``relevance`` is ``None`` where the recall did not find it.
    """

    hits: tuple[Hit, ...]
    context: str
    omitted: tuple[Omitted, ...]
    no_match: bool
    trace: Trace = field(repr=False)
    chunks: tuple[Chunk, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    no_match_reasons: tuple[str, ...] = ()
    confidence: float | None = None
    band: Band = "match"
    precision: str = "balanced"
    id: str = field(default="", compare=False)
    evidence: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    job: str = ""
    standing: tuple[Hit, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __str__(self) -> str:
        return not_in_memory(self.no_match_reasons) if self.no_match else self.context

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]

    @property
    def doubtful(self) -> bool:
        """Whether what is read is marked with "possibly"; see ``is_doubtful``."""
        return is_doubtful(self.band, self.precision)

    @property
    def told(self) -> tuple[Hit, ...]:
        """The hits that a person or a model reads, at every interface; the first ones of ``hits``.

        In the band none there are none, and ``not_in_memory`` says why.
        """
        if self.no_match or self.band == "none":
            return ()
        return self.hits[:MOST_POSSIBLE] if self.doubtful else self.hits

    @property
    def mark(self) -> str:
        """What stands before each of them: ``POSSIBLY``, or nothing."""
        return POSSIBLY if self.doubtful else ""

    def mark_of(self, hit: Hit) -> str:
        """What stands before the text of *hit* where its date does not say that it is an earlier one."""
        return self.mark + (f"{EARLIER}: " if hit.earlier else "")

    def to_dict(self, *, trace: bool = True) -> dict[str, Any]:
        """A JSON-ready description."""
        answer: dict[str, Any] = {
            "id": self.id,
            "hits": [hit.to_dict() for hit in self.hits],
            "context": self.context,
            "omitted": [{"id": o.id, "reason": o.reason, "tokens": o.tokens} for o in self.omitted],
            "no_match": self.no_match,
            "no_match_reasons": list(self.no_match_reasons),
            "confidence": self.confidence,
            "band": self.band,
            "precision": self.precision,
            "told": len(self.told),
        }
        if self.standing:
            answer["standing"] = [hit.to_dict() for hit in self.standing]
        if self.job:
            answer["job"] = self.job
        if self.chunks:
            answer["chunks"] = [asdict(chunk) for chunk in self.chunks]
        if self.evidence:
            answer["evidence"] = {
                memory: [each.to_dict() for each in behind] for memory, behind in self.evidence.items()
            }
        if self.explanations:
            answer["explanations"] = [explanation.to_dict() for explanation in self.explanations]
        if trace:
            answer["trace"] = self.trace.to_dict()
        return answer


PENDING, DONE = "pending", "done"


@dataclass(frozen=True, slots=True)
class RecallJob:
    """What has become of it so far.

    Attributes:
        id: by which ``Bank.get_job`` finds it.
        status: ``pending`` or ``done``.
        recall: the answer, once it is done.
        helpers: by helper, what the language model made of the query.
        max_tokens: budget of the context that was asked for; ``None`` = none.
    """

    id: str
    status: str
    recall: Recall | None = None
    helpers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    max_tokens: int | None = None

    @property
    def done(self) -> bool:
        """Whether there is an answer."""
        return self.status == DONE

    def to_dict(self, *, trace: bool = True) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "id": self.id,
            "status": self.status,
            "helpers": {name: list(texts) for name, texts in self.helpers.items()},
            "recall": None if self.recall is None else self.recall.to_dict(trace=trace),
            "max_tokens": self.max_tokens,
        }


@dataclass(frozen=True, slots=True)
class KeptJob:
    """One job: what was asked, and what the helpers gave (JSON); ``None`` = they were not asked yet."""

    request: str
    texts: str | None


NOT_IN_MEMORY = "not in memory"
"""The whole answer where the memories hold none."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in an answer that names a memory: ``[number]``."""

    number: int
    id: str


@dataclass(frozen=True, slots=True)
class Reflection:
    """What was answered, and from what.

    Attributes:
        answer: with citations such as ``[1]``; ``NOT_IN_MEMORY`` where none is; empty without a model.
        citations: what the answer cites, in the order of their first place; each is a recalled memory.
        removed: how many citations were taken out of the answer, since they name no recalled memory.
        no_match: nothing that is remembered answers the question.
        model: that answered; empty = none did.
        note: what is to be known about the answer, such as that there is no model, or why nothing matches;
            empty = nothing.
        context: what the model was given: recalled memories, marked as data, numbered as cited.
        recall: what was recalled.
    """

    answer: str
    citations: tuple[Citation, ...]
    removed: int
    no_match: bool
    model: str
    note: str
    context: str
    recall: Recall

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "id": self.recall.id,
            "answer": self.answer,
            "citations": [{"number": each.number, "id": each.id} for each in self.citations],
            "removed": self.removed,
            "no_match": self.no_match,
            "no_match_reasons": list(self.recall.no_match_reasons),
            "confidence": self.recall.confidence,
            "band": self.recall.band,
            "model": self.model,
            "note": self.note,
            "context": self.context,
        }
