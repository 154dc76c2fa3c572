"""From the answers of a server back to the records that a bank gives here.

What a record holds for the engine alone is not told by a server: ``Memory.ordinal`` is -1, an occurred range
that is not known to its end ends where it starts, and a stage of a trace has no rungs of its own.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from simonides.lifecycle.step import MaintenanceReport, Step
from simonides.records.activity import Activity, Event
from simonides.records.audit import AuditReport, Entry, VerifyReport, read_head
from simonides.records.entity import EntityCount, EntityDetails, EntityMerge, EntityName, Neighbour
from simonides.records.explanation import Attempt, Explanation, StageTrace, StageVerdict, Trace, WhyNot
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision, to_micros
from simonides.records.kind import ARCHIVED, CONSOLIDATED, PINNED, STANDING, Kind, Layer
from simonides.records.memory import Brief, Change, Diff, Evidence, Memory, Move
from simonides.records.recall import Chunk, Citation, Hit, Omitted, Recall, RecallJob, Reflection
from simonides.records.receipt import Counts, Restored, Saved
from simonides.records.review import Review, ReviewItem
from simonides.records.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    Answer = Mapping[str, Any]

UNKNOWN_ORDINAL = -1
_TIMES = ("event_time", "event_precision", "valid_from", "valid_to", "ingested_at", "expired_at")

_FLAGS = {"pinned": PINNED, "standing": STANDING, "archived": ARCHIVED, "consolidated": CONSOLIDATED}


def memory_of(answer: Answer) -> Memory:
    """One version of a memory."""
    read = {*_TIMES, *_FLAGS, "kind", "layer", "expires_at"}
    same = {name: value for name, value in answer.items() if name not in read}
    start = answer["event_time"]
    occurred = None
    if start is not None:
        at = _micros(start, BEGINNING)
        occurred = Interval(at, at, Precision(answer["event_precision"]))
    return Memory(
        **{**same, "tags": tuple(answer["tags"]), "acl": tuple(answer["acl"])},
        kind=Kind(answer["kind"]),
        layer=Layer(answer["layer"]),
        ordinal=UNKNOWN_ORDINAL,
        valid_from_micros=_micros(answer["valid_from"], BEGINNING),
        valid_to_micros=_micros(answer["valid_to"], FOREVER),
        ingested_at_micros=_micros(answer["ingested_at"], BEGINNING),
        expired_at_micros=_micros(answer["expired_at"], FOREVER),
        occurred=occurred,
        expires_micros=_micros(answer["expires_at"], FOREVER),
        state=sum(flag for name, flag in _FLAGS.items() if answer[name]),
    )


def _micros(time: str | None, otherwise: int) -> int:
    return otherwise if time is None else to_micros(datetime.fromisoformat(time))


def recall_of(answer: Answer) -> Recall:
    """The answer to a recall; its trace must be in it."""
    return Recall(
        hits=tuple(_hit_of(hit) for hit in answer["hits"]),
        context=answer["context"],
        omitted=tuple(Omitted(**each) for each in answer["omitted"]),
        no_match=answer["no_match"],
        trace=trace_of(answer["trace"]),
        chunks=tuple(
            Chunk(**{**each, "memories": tuple(each["memories"])}) for each in answer.get("chunks", ())
        ),
        explanations=tuple(_explanation_of(each) for each in answer.get("explanations", ())),
        no_match_reasons=tuple(answer["no_match_reasons"]),
        confidence=answer["confidence"],
        band=answer["band"],
        precision=answer["precision"],
        id=answer["id"],
        job=answer.get("job", ""),
        standing=tuple(_hit_of(hit) for hit in answer.get("standing", ())),
        evidence={
            memory: tuple(Evidence(memory_of(each["memory"]), each["stance"]) for each in behind)
            for memory, behind in answer.get("evidence", {}).items()
        },
    )


def job_of(answer: Answer) -> RecallJob:
    """A recall that is answered later; the traces of its answer must be in it."""
    recall = None if answer["recall"] is None else recall_of(answer["recall"])
    helpers = {name: tuple(texts) for name, texts in answer["helpers"].items()}
    return RecallJob(answer["id"], answer["status"], recall, helpers, answer.get("max_tokens"))


def _hit_of(answer: Answer) -> Hit:
    # What a hit works out of its memory and its signals.
    derived = {"id", "text", "kind", "earlier", "memory"}
    same = {name: value for name, value in answer.items() if name not in derived}
    return Hit(memory=memory_of(answer["memory"]), **same)


def _verdicts(answer: Answer) -> tuple[StageVerdict, ...]:
    return tuple(StageVerdict(**each) for each in answer["verdicts"])


def _explanation_of(answer: Answer) -> Explanation:
    return Explanation(**{**answer, "verdicts": _verdicts(answer)})


def why_not_of(answer: Answer) -> WhyNot:
    """Where a memory was lost."""
    return WhyNot(**{**answer, "verdicts": _verdicts(answer)})


def trace_of(answer: Answer) -> Trace:
    """What each stage did."""
    same = {
        name: answer[name]
        for name in (
            "query", "profile", "seed", "sequence", "rows", "visible", "eligible", "milliseconds", "counters",
            "fell_back_to_bm25", "token_counter", "skipped",
        )
    }  # fmt: skip
    rungs = tuple(Attempt(**each) for each in answer["ladder"])
    stages = [
        StageTrace(**{**each, "no_match": tuple(each.get("no_match", ()))}) for each in answer["stages"]
    ]
    if rungs and stages:
        # Which of them tried the rungs is not told; all of them together are.
        first = next((at for at, stage in enumerate(stages) if stage.shape == "channel"), 0)
        stages[first] = StageTrace(
            **{name: getattr(stages[first], name) for name in StageTrace.__slots__} | {"attempts": rungs}
        )
    return Trace(
        **same,
        as_of=answer["as_of_micros"],
        known_at=answer["known_at_micros"],
        stages=tuple(stages),
        degraded=tuple(answer["degraded"]),
        settings=tuple(answer["settings"]),
    )


def reflection_of(answer: Answer, query: str) -> Reflection:
    """An answer in words; of what was recalled for it a server tells the context alone."""
    trace = Trace(query, "", 0, 0, 0, 0, 0, 0, 0, (), 0.0)
    recall = Recall(
        (),
        answer["context"],
        (),
        answer["no_match"],
        trace,
        no_match_reasons=tuple(answer["no_match_reasons"]),
        confidence=answer["confidence"],
        band=answer["band"],
        id=answer["id"],
    )
    same = {name: answer[name] for name in ("answer", "removed", "no_match", "model", "note", "context")}
    return Reflection(
        **same, citations=tuple(Citation(**each) for each in answer["citations"]), recall=recall
    )


def source_of(answer: Answer) -> Source:
    """The raw text behind a memory."""
    return Source(**{**answer, "recorded_at": datetime.fromisoformat(answer["recorded_at"])})


def diff_of(answer: Answer) -> Diff:
    """What was believed at two moments."""
    return Diff(
        ended=tuple(memory_of(each) for each in answer["ended"]),
        begun=tuple(memory_of(each) for each in answer["begun"]),
        changed=tuple(
            Change(memory_of(each["before"]), memory_of(each["after"])) for each in answer["changed"]
        ),
    )


def entity_of(answer: Answer) -> EntityCount:
    """An entity and how often it is mentioned."""
    return EntityCount(**{**answer, "aliases": tuple(answer["aliases"])})


def entity_details_of(answer: Answer) -> EntityDetails:
    """An entity with what mentions it, what is beside it, and what was merged into it."""
    return EntityDetails(
        entity_of(answer["entity"]),
        tuple(memory_of(each) for each in answer["memories"]),
        answer["total"],
        tuple(
            Neighbour(EntityName(**each["entity"]), each["together"], tuple(each["relations"]))
            for each in answer["neighbours"]
        ),
        tuple(EntityMerge(**{**each, "at": datetime.fromisoformat(each["at"])}) for each in answer["merges"]),
    )


def report_of(answer: Answer) -> VerifyReport:
    """What a verification found."""
    return VerifyReport(answer["checked"], tuple(answer["problems"]), tuple(answer["notes"]))


def brief_of(answer: Answer) -> Brief:
    """A hand-over."""
    sections = {title: tuple(ids) for title, ids in answer["sections"].items()}
    return Brief(answer["text"], answer["tokens"], sections, tuple(answer["omitted"]))


def maintenance_of(answer: Answer) -> MaintenanceReport:
    """What a run of maintenance did."""
    return MaintenanceReport(
        tuple(Step(**each) for each in answer["steps"]), answer["left"], answer["dry_run"]
    )


def move_of(answer: Answer) -> Move:
    """One change that maintenance made."""
    same = {name: value for name, value in answer.items() if name not in {"made_at", "undone_at"}}
    return Move(
        **same,
        made_at_micros=_micros(answer["made_at"], BEGINNING),
        undone_at_micros=_micros(answer["undone_at"], FOREVER),
    )


def activity_of(answer: Answer) -> Activity:
    """What happened."""
    return Activity(tuple(map(_event_of, answer["events"])), answer["next"])


def _event_of(answer: Answer) -> Event:
    same = {**answer, "ids": tuple(answer["ids"]), "at": _moment(answer["at"])}
    return Event(**{**same, "memory": _memory_or_none(answer["memory"])})


def review_of(answer: Answer) -> Review:
    """What is to be decided."""
    return Review(tuple(map(_item_of, answer["items"])), answer["next"])


def _item_of(answer: Answer) -> ReviewItem:
    memories = {name: _memory_or_none(answer[name]) for name in ("memory", "other")}
    return ReviewItem(**{**answer, "at": _moment(answer["at"]), "days": tuple(answer["days"]), **memories})


def _memory_or_none(answer: Answer | None) -> Memory | None:
    return None if answer is None else memory_of(answer)


def _moment(time: str | None) -> datetime | None:
    return None if time is None else datetime.fromisoformat(time)


def entry_of(answer: Answer) -> Entry:
    """One row of the audit log."""
    return Entry(**{**answer, "ids": tuple(answer["ids"])})


def audit_of(answer: Answer) -> AuditReport:
    """What an audit found."""
    return AuditReport(
        answer["entries"],
        read_head(answer["head"]),
        tuple(answer["problems"]),
        answer["recalls"],
        read_head(answer["recalls_head"]),
    )


def saved_of(headers: Mapping[str, str]) -> Saved:
    """What a backup holds, from the headers of its response."""
    return Saved("", int(headers["x-simonides-memories"]), int(headers["x-simonides-sequence"]))


def restored_of(answer: Answer) -> Restored:
    """What an import did."""
    return Restored(Counts(**answer["added"]), answer["present"])
