"""The answer of each operation as JSON Schema; a test checks real answers against them."""

from __future__ import annotations

from typing import get_args

from simonides.json_schema import Schema, choice, optional
from simonides.options import PRECISIONS
from simonides.records import activity, review
from simonides.records.kind import Kind, Layer
from simonides.records.recall import Band
from simonides.records.receipt import Counts
from simonides.records.time_to_live import ON_EXPIRY

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_SWITCH: Schema = {"type": "boolean"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_TIME: Schema = {"type": ["string", "null"], "description": "ISO 8601 in UTC; null = open."}
_RANKS: Schema = {"type": "object", "additionalProperties": _COUNT}
_NUMBERS: Schema = {"type": "object", "additionalProperties": {"type": ["number", "null"]}}
RELEVANCE: Schema = {
    "type": ["number", "null"],
    "description": "How probably the memory answers the query, 0 to 1; null where the profile judges none.",
}
_CONFIDENCE: Schema = {
    "type": ["number", "null"],
    "description": "How probably anything answers the query, 0 to 1; null where the profile judges none.",
}
_BAND: Schema = {
    **choice(get_args(Band)),
    "description": "match: something likely answers; weak: possibly; none: nothing does.",
}
_TOLD: Schema = {
    **_COUNT,
    "description": "How many of the hits, from the first on, a reader is to be given: all with match, the "
    "first ones with weak, each marked as possible, none with none.",
}
_OMITTED: Schema = {**_COUNT, "description": "How many are left out because max_tokens is spent."}


def _answer(title: str, **properties: Schema) -> Schema:
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _some(schema: Schema, *not_always: str) -> Schema:
    """The same, some of whose keys may be missing."""
    return {**schema, "required": [name for name in schema["required"] if name not in not_always]}


def _listed(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


RECORD = _answer(
    "MemoryRecord",
    id=_TEXT,
    text=_TEXT,
    kind=choice(Kind),
    layer=choice(Layer),
    version={"type": "integer", "minimum": 1},
    event_time=_TIME,
    event_precision={"type": ["string", "null"]},
    valid_from=_TIME,
    valid_to=_TIME,
    ingested_at=_TIME,
    expired_at=_TIME,
    context=_TEXT,
    relation=_TEXT,
    expansion=_TEXT,
    path=_TEXT,
    project=_TEXT,
    tags=_TEXTS,
    acl=_TEXTS,
    source=_TEXT,
    metadata={"type": "object"},
    salience=_NUMBER,
    confidence=_NUMBER,
    proof_count=_COUNT,
    access_count=_COUNT,
    document=_TEXT,
    session=_TEXT,
    speaker=_TEXT,
    author=_TEXT,
    trust=_NUMBER,
    superseded_by=_TEXT,
    expires_at={**_TIME, "description": "When its time to live ends; null = it has none."},
    on_expiry=choice(("", *ON_EXPIRY)),
    pinned=_SWITCH,
    standing=_SWITCH,
    archived=_SWITCH,
    consolidated=_SWITCH,
)
_HIT = _answer(
    "Hit",
    rank=_COUNT,
    id=_TEXT,
    text=_TEXT,
    kind=choice(Kind),
    relevance=RELEVANCE,
    earlier={**_SWITCH, "description": "Whether another hit, a newer one, states another value of the same."},
    score=_NUMBER,
    scored_by=_TEXT,
    tokens=_COUNT,
    ranks=_RANKS,
    channel_scores=_NUMBERS,
    signals=_NUMBERS,
    memory=RECORD,
)
_LEFT_OUT = _answer("Omitted", id=_TEXT, reason=_TEXT, tokens=_COUNT)
_CHUNK = _answer(
    "Chunk",
    text=_TEXT,
    memories=_TEXTS,
    whole=_SWITCH,
    tokens=_COUNT,
    document=_TEXT,
    session=_TEXT,
    speaker=_TEXT,
)
_VERDICT = _answer(
    "StageVerdict",
    stage=_TEXT,
    shape=_TEXT,
    verdict=_TEXT,
    rank={"type": ["integer", "null"]},
    score={"type": ["number", "null"]},
    note=_TEXT,
)
_EXPLANATION = _answer(
    "Explanation",
    id=_TEXT,
    rank=_COUNT,
    tokens=_COUNT,
    ranks=_RANKS,
    channel_scores=_NUMBERS,
    fused_score={"type": ["number", "null"]},
    signals=_NUMBERS,
    score=_NUMBER,
    scored_by=_TEXT,
    relevance=RELEVANCE,
    verdicts=_listed(_VERDICT),
)
_BEHIND = _answer("Evidence", stance=_TEXT, memory=RECORD)
_TRACE: Schema = {"type": "object", "description": "What each stage did, and how long it took."}

IDS = _answer("Ids", ids=_TEXTS)
RETAINED = _some(
    _answer(
        "Retained",
        ids=_TEXTS,
        left_out={
            "type": "object",
            "additionalProperties": _COUNT,
            "description": "What of chat messages was not stored, such as system messages and images.",
        },
    ),
    "left_out",
)
RECALL = _some(
    _answer(
        "Recall",
        id=_TEXT,
        hits=_listed(_HIT),
        context=_TEXT,
        omitted=_listed(_LEFT_OUT),
        no_match=_SWITCH,
        no_match_reasons=_TEXTS,
        confidence=_CONFIDENCE,
        band=_BAND,
        precision=choice(PRECISIONS),
        told=_TOLD,
        standing={
            **_listed(_HIT),
            "description": "Standing memories that lead the context; none of them is among the hits.",
        },
        chunks=_listed(_CHUNK),
        job={**_TEXT, "description": "In the async tier: what get_job takes."},
        explanations=_listed(_EXPLANATION),
        evidence={"type": "object", "additionalProperties": _listed(_BEHIND)},
        trace=_TRACE,
    ),
    "standing",
    "chunks",
    "job",
    "explanations",
    "evidence",
    "trace",
)
JOB = _answer(
    "Job",
    id=_TEXT,
    status=choice(("pending", "done")),
    helpers={"type": "object", "additionalProperties": _TEXTS},
    recall=optional(RECALL),
    max_tokens=optional(_COUNT),
)
REFLECTION = _answer(
    "Reflection",
    id=_TEXT,
    answer=_TEXT,
    citations=_listed(_answer("Citation", number=_COUNT, id=_TEXT)),
    removed=_COUNT,
    no_match=_SWITCH,
    no_match_reasons=_TEXTS,
    confidence=_CONFIDENCE,
    band=_BAND,
    model=_TEXT,
    note=_TEXT,
    context=_TEXT,
)
EXPLANATIONS = _answer(
    "Explanations",
    id=_TEXT,
    no_match=_SWITCH,
    no_match_reasons=_TEXTS,
    confidence=_CONFIDENCE,
    band=_BAND,
    explanations=_listed(_EXPLANATION),
    omitted=_listed(_LEFT_OUT),
    trace=_TRACE,
)
WHY_NOT = _answer(
    "WhyNot",
    id=_TEXT,
    returned=_SWITCH,
    stage=_TEXT,
    reason=_TEXT,
    short_by={"type": ["number", "null"]},
    unit=_TEXT,
    remedy=_TEXT,
    verdicts=_listed(_VERDICT),
)
MEMORY = _answer("Memory", memory=optional(RECORD), omitted=_OMITTED)
PAGE = _answer(
    "Page",
    memories=_listed(RECORD),
    omitted=_OMITTED,
    next={"type": ["string", "null"], "description": "The cursor of the next page; null = this is the last."},
)
FACETS = _answer(
    "Facets",
    total=_COUNT,
    facets={
        "type": "object",
        "additionalProperties": _listed(_answer("Facet", value=_TEXT, count=_COUNT)),
        "description": "kind, layer, project, tag, month, speaker, session and state, each most first.",
    },
)
HISTORY = _answer("History", id=_TEXT, versions=_listed(RECORD), omitted=_OMITTED)
SOURCE = _answer(
    "Source",
    source=optional(
        _answer(
            "SourceRecord",
            text=_TEXT,
            start=_COUNT,
            stop=_COUNT,
            document=_TEXT,
            session=_TEXT,
            speaker=_TEXT,
            author=_TEXT,
            trust=_NUMBER,
            recorded_at=_TEXT,
        )
    ),
    omitted=_OMITTED,
)
DIFF = _answer(
    "Diff",
    ended=_listed(RECORD),
    begun=_listed(RECORD),
    changed=_listed(_answer("Change", before=RECORD, after=RECORD)),
    omitted=_OMITTED,
)
FORGOTTEN = _some(
    _answer(
        "Forgotten",
        asked=_COUNT,
        forgotten=_COUNT,
        dry_run={**_SWITCH, "description": "True where nothing was deleted."},
        rows={
            "type": "object",
            "additionalProperties": _COUNT,
            "description": "What would go, told to the owner: versions, episodes (raw sources), links, …",
        },
    ),
    "dry_run",
    "rows",
)
_KEYED = _answer(
    "KeyedRecord",
    id=_TEXT,
    path=_TEXTS,
    value={"description": "Any JSON value."},
    created_at=_TEXT,
    updated_at=_TEXT,
    ttl={"type": ["number", "null"], "description": "Seconds that it lives; null = it has no end."},
)
RECORDS = _answer("Records", records=_listed(_KEYED), next={"type": ["string", "null"]})
POPPED = _answer("Popped", record=optional(_KEYED))
MOVED = _answer("Moved", moved=_COUNT)
RECORDS_FORGOTTEN = _answer("RecordsForgotten", forgotten=_COUNT)
USED = _answer("Used", recorded=_COUNT)
_ENTITY = _answer(
    "Entity",
    number=_COUNT,
    name=_TEXT,
    kind=_TEXT,
    qualifier=_TEXT,
    aliases=_TEXTS,
    mentions=_COUNT,
)
ENTITIES = _answer("Entities", entities=_listed(_ENTITY))
ENTITY_DETAILS = _answer(
    "EntityDetails",
    entity=_ENTITY,
    memories=_listed(RECORD),
    omitted=_OMITTED,
    total={**_COUNT, "description": "Of the memories, also those beyond most."},
    neighbours=_listed(
        _answer(
            "Neighbour",
            entity=_answer("EntityName", number=_COUNT, name=_TEXT, kind=_TEXT),
            together=_COUNT,
            relations=_TEXTS,
        )
    ),
    merges=_listed(_answer("EntityMerge", merge=_COUNT, entity=_COUNT, name=_TEXT, at=_TIME)),
)
ALIAS = _answer("Alias", entity=_COUNT, alias=_TEXT)
MERGE = _answer("Merge", merge=_COUNT, entity=_COUNT, into=_COUNT)
UNDONE = _answer("Undone", undone=_COUNT)
SETTLED = _answer("Settled", compared=_COUNT)
BRIEF = _answer(
    "Brief",
    text=_TEXT,
    tokens=_COUNT,
    sections={"type": "object", "additionalProperties": _TEXTS},
    omitted=_TEXTS,
)
PINNED = _answer("Pinned", memory=_TEXT, pinned=_SWITCH, standing=_SWITCH)
MAINTAINED = _answer(
    "Maintained",
    dry_run=_SWITCH,
    left=_COUNT,
    steps=_listed(_answer("Step", action=_TEXT, memory=_TEXT, was=_TEXT, became=_TEXT, reason=_TEXT)),
)
ACTIVITY = _answer(
    "Activity",
    events=_listed(
        _answer(
            "Event",
            at={**_TIME, "description": "ISO 8601 in UTC; null = not known."},
            what=choice(activity.WHAT),
            memory=optional(RECORD),
            ids=_TEXTS,
            query=_TEXT,
            context={**_TEXT, "description": "Exactly as it was given; empty where it is not kept."},
            band=_TEXT,
            confidence=_CONFIDENCE,
            profile=_TEXT,
            by={
                "type": ["string", "null"],
                "description": "Who stored it or asked; empty = the owner, null = not known.",
            },
            recall=_TEXT,
        )
    ),
    omitted={**_COUNT, "description": "How many older ones are left out because max_tokens is spent."},
    next={**_TEXT, "description": "What after takes in the next call."},
)
REVIEW = _answer(
    "Review",
    items=_listed(
        _answer(
            "ReviewItem",
            key=_TEXT,
            what=choice(review.WHAT),
            memory=RECORD,
            other=optional(RECORD),
            rule=_TEXT,
            move={"type": ["integer", "null"], "description": "What undo_move takes."},
            at=_TIME,
            days={**_listed(_TEXT), "description": "What the words of an unsure date may mean."},
            decided=_SWITCH,
        )
    ),
    omitted=_OMITTED,
    next={"type": ["string", "null"], "description": "The cursor of the next page; null = this is the last."},
)
MOVES = _answer(
    "Moves",
    moves=_listed(
        _answer(
            "Move",
            number=_COUNT,
            memory=_TEXT,
            action=_TEXT,
            was=_TEXT,
            became=_TEXT,
            reason=_TEXT,
            made_at=_TIME,
            undone_at=_TIME,
        )
    ),
)
_TIME_TO_LIVE = _answer("TimeToLive", ttl={"type": ["number", "string"]}, on_expiry=choice(ON_EXPIRY))
TTL_DEFAULTS = _answer(
    "TtlDefaults",
    bank=optional(_TIME_TO_LIVE),
    kinds={"type": "object", "additionalProperties": _TIME_TO_LIVE},
)
ARCHIVED = _answer("Archived", archived=_COUNT)
QUARANTINED = _answer("Quarantined", quarantined=_COUNT)
RELEASED = _answer("Released", released=_COUNT)
AUDIT_ENTRIES = _answer(
    "AuditEntries",
    entries=_listed(
        _answer(
            "AuditEntry",
            number=_COUNT,
            at={**_COUNT, "description": "Microseconds UTC."},
            actor={**_TEXT, "description": "Keyed hash of the principal; empty = the owner."},
            verb=_TEXT,
            first=_COUNT,
            last=_COUNT,
            seal=_TEXT,
            ids={**_TEXTS, "description": "Of the memories that were handed out."},
            query={**_TEXT, "description": "Keyed hash; empty = none."},
            recall={**_TEXT, "description": "Keyed hash of the recall's id; empty = none."},
        )
    ),
)
AUDITED = _answer(
    "Audited",
    ok=_SWITCH,
    entries=_COUNT,
    head=_TEXT,
    problems=_TEXTS,
    recalls=_COUNT,
    recalls_head=_TEXT,
)
SAVED = _answer("Saved", path=_TEXT, memories=_COUNT, sequence=_COUNT)
STATS: Schema = {**_answer("Stats", bank=_TEXT, current=_COUNT), "additionalProperties": True}
VERIFIED = _answer(
    "Verified",
    ok=_SWITCH,
    checked={"type": "object", "additionalProperties": _COUNT},
    problems=_TEXTS,
    notes=_TEXTS,
)
_COUNTS = _answer("CountsByKind", **dict.fromkeys(Counts.__slots__, _COUNT))
COUNTS = _answer("Exported", counts=_COUNTS)
RESTORED = _answer("Restored", added=_COUNTS, present=_COUNT)
BANKS = _answer("Banks", banks=_TEXTS)
DELETED = _answer("BankDeleted", deleted=_TEXT)
BANK = _answer("BankMade", bank=_TEXT, created=_SWITCH, zone=_TEXT)
