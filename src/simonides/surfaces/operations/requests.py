"""The request of each operation: typed, with schema and help for every parameter."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from simonides.lifecycle.step import MOST_STEPS
from simonides.profiles import list_profiles
from simonides.recall.search_arguments import TIERS
from simonides.records.hygiene import MAX_LABELS
from simonides.records.keyed_record import MAX_SPACE_CHARACTERS, MOST_RECORDS, NOT_OF_A_RECORD
from simonides.records.kind import Kind
from simonides.records.time_to_live import ON_EXPIRY
from simonides.retain.conversations import OF_THE_WHOLE
from simonides.retain.items import MAX_TEXT_BYTES
from simonides.retain.metadata import MAX_METADATA_BYTES
from simonides.surfaces.operations import schemas as s
from simonides.surfaces.operations.parameters import parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROFILES = list_profiles()
"""Built-in ones alone: through a door that others use, no path of a file is read."""

_MEMORY_HELP = "Id of a memory, as retain and recall give it."
_AS_OF_HELP = "Viewpoint in the world's time; a date means its first instant. Default: now."
_KNOWN_HELP = "Viewpoint in recorded time: only what was stored by then. Default: as_of."
_FORM_HELP = "Of the context: plain, or marked as data: fenced text, or json."
_TEXT_BUDGET_HELP = "Tokens of memory text at most; what does not fit is left out and counted as omitted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """No parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What may be said about memories that are stored; the same as ``Bank.retain`` takes."""

    kind: str | None = parameter(s.KIND, "What sort of thing it states; by default semantic.", None)
    layer: str | None = parameter(s.LAYER, "By default it follows the kind.", None)
    tags: Sequence[str] | None = parameter(s.LABELS, "Labels to filter by.", None)
    project: str | None = parameter(s.NAME, "The project it belongs to.", None)
    event_time: str | None = parameter(s.TIME, "When it happened.", None)
    valid_from: str | None = parameter(s.TIME, "When it became true.", None)
    valid_to: str | None = parameter(s.TIME, "When it stopped being true, excluded.", None)
    recorded_at: str | None = parameter(
        s.TIME, "When it was first recorded, for imports; the owner's only.", None
    )
    metadata: Mapping[str, Any] | None = parameter(s.METADATA, "JSON values, kept as they are.", None)
    acl: Sequence[str] | None = parameter(s.LABELS, "Who may read it; empty = everyone in the bank.", None)
    source: str | None = parameter(s.PATH, "Where it came from.", None)
    context: str | None = parameter(s.CONTEXT, "Words it needs to be found alone.", None)
    relation: str | None = parameter(s.NAME, "Name of the relation it states.", None)
    path: str | None = parameter(s.PATH, "Document path; breaks ties between equal scores.", None)
    salience: float | None = parameter(s.SHARE, "How much it matters.", None)
    confidence: float | None = parameter(s.SHARE, "How sure it is.", None)
    document_id: str | None = parameter(
        s.PATH, "The items are the whole of this document: what is not among them ends.", None
    )
    session: str | None = parameter(s.NAME, "The conversation they belong to.", None)
    speaker: str | None = parameter(s.NAME, "Who said it.", None)
    role: str | None = parameter(s.ROLE, "Decides how far it is trusted.", None)
    expansion: str | None = parameter(s.CONTEXT, "Questions it answers; searched beside the text.", None)
    subject: str | None = parameter(s.NAME, "With relation and object: a statement.", None)
    object: str | None = parameter(s.NAME, "See subject.", None)
    single_valued: bool = parameter(
        s.SWITCH, "The subject has one object at a time: a newer statement closes the older.", default=False
    )
    deduplicate: bool = parameter(
        s.SWITCH, "What a current memory says already is not stored again.", default=True
    )
    ttl: float | str | None = parameter(
        s.TTL, "How long it lives: seconds, or 45m, 12h, 30d, 2w, never. Default: the bank's.", None
    )
    on_expiry: str | None = parameter(
        s.choice(ON_EXPIRY), "What becomes of it then: archive (the default) or erase.", None
    )


def _properties(request: type, *left_out: str) -> dict[str, s.Schema]:
    return {
        each.name: {**each.metadata["schema"], "description": each.metadata["help"]}
        for each in fields(request)
        if each.name not in left_out
    }


_ITEM = s.either(
    s.MEMORY_TEXT,
    s.mapped({"text": s.MEMORY_TEXT, **_properties(Described)}, required=("text",)),
    s.MESSAGE,
    s.MESSAGE_ITEM,
)
_TURN = s.either(
    s.mapped(
        {
            "text": s.MEMORY_TEXT,
            **_properties(Described, *OF_THE_WHOLE),
        },
        required=("text",),
    ),
    s.MESSAGE,
    s.MESSAGE_ITEM,
)
MOST_ITEMS = 10_000
_PROFILE = s.choice(PROFILES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retain(Described):
    """Store memories."""

    items: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = parameter(
        s.either(*_ITEM["anyOf"], s.listed(_ITEM, most=MOST_ITEMS, least=1)),
        "A text, an object with text and any other parameter, a chat message (role, content), or a list of "
        "these, at least one.",
    )
    zone: str | None = parameter(s.ZONE, "Time zone of this call, such as Europe/Berlin.", None)
    idempotency_key: str | None = parameter(
        s.LABEL, "The same key with the same items gives the first answer and stores nothing.", None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainDocument(Described):
    """Store a document by paragraphs, in place of what the bank holds of it."""

    text: str = parameter(s.DOCUMENT_TEXT, "Markdown or plain text.")
    document_id: str = parameter(s.DOCUMENT_ID, "The caller's name; the same again replaces the document.")
    title: str | None = parameter(s.PATH, "Of the document.", None)
    zone: str | None = parameter(s.ZONE, "Time zone of this call, such as Europe/Berlin.", None)
    idempotency_key: str | None = parameter(
        s.LABEL, "The same key with the same text gives the first answer and stores nothing.", None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainConversation(Described):
    """Store a conversation by turns."""

    turns: Sequence[Mapping[str, Any]] = parameter(
        s.listed(_TURN, most=MOST_ITEMS),
        "Objects with text, such as speaker and event_time, and any other parameter for this turn alone; or "
        "chat messages (role, content).",
    )
    session: str = parameter(s.SESSION, "The caller's name for the conversation.")
    window: int | None = parameter(s.whole(0, 20), "Turns on either side that become context.", None)
    zone: str | None = parameter(s.ZONE, "Time zone of this call, such as Europe/Berlin.", None)
    idempotency_key: str | None = parameter(
        s.LABEL, "The same key with the same turns gives the first answer and stores nothing.", None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """What may exclude a memory, and from when it is looked at."""

    kinds: str | Sequence[str] | None = parameter(s.KINDS, "Only these kinds.", None)
    project: str | None = parameter(s.NAME, "Only this project.", None)
    tags: Sequence[str] | None = parameter(s.LABELS, "Only by tags, see tags_match.", None)
    tags_match: str = parameter(
        s.TAGS_MATCH, "any (one shared; untagged pass), any_strict, all, all_strict or exact.", "any"
    )
    as_of: str | None = parameter(s.TIME, _AS_OF_HELP, None)
    known_at: str | None = parameter(s.TIME, _KNOWN_HELP, None)
    window: str | Sequence[str | None] | None = parameter(
        s.WINDOW, "Only what happened inside: [start, end], end excluded, or one date.", None
    )
    types: str | Sequence[str] | None = parameter(s.TYPES, "world, experience or observation.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Among):
    """How to recall; the same as ``Bank.recall`` takes."""

    query: str = parameter(s.QUERY, "What you want to know, in words.")
    limit: int | None = parameter(s.LIMIT, "Hits at most; by default the profile's number.", None)
    max_tokens: int | None = parameter(
        s.optional(s.BUDGET_OF_TOKENS), "Budget of the context, in tokens; null = none.", 4096
    )
    profile: str = parameter(_PROFILE, "Which profile ranks.", "default")
    include_archived: bool = parameter(s.SWITCH, "Also find archived memories.", default=False)
    prefer_observations: bool = parameter(
        s.SWITCH, "Let an observation stand for the memories behind it.", default=False
    )
    standing: bool = parameter(
        s.SWITCH, "Let standing memories lead the context, whatever is asked.", default=False
    )
    seed: int | None = parameter(s.SEED, "Of random parts; by default from the query and the clock.", None)
    entity_hints: Sequence[str] | None = parameter(
        s.LABELS, "Names that count as asked about whatever the words say.", None
    )
    mode: str | None = parameter(s.MODE, "How jeffs_brain searches.", None)
    question_date: str | None = parameter(
        s.TIME, 'When the question is asked, for "last week" in its words. Default: as_of.', None
    )
    budget: str | None = parameter(s.BUDGET, "How widely hindsight searches.", None)
    budget_function: str | None = parameter(s.BUDGET_FUNCTION, "How a level becomes a number.", None)
    include_chunks: bool = parameter(
        s.SWITCH, "Also give the raw sources behind the memories.", default=False
    )
    max_chunk_tokens: int = parameter(s.CHUNK_TOKENS, "Budget of these sources.", 8192)
    syntax: str = parameter(s.SYNTAX, "plain, or extended with fields and groups (jeffs_brain).", "plain")
    aliases: Mapping[str, Sequence[str]] | None = parameter(
        s.ALIASES, "Word → other words for it (jeffs_brain).", None
    )
    deadline_ms: float | None = parameter(s.DEADLINE, "Leave out optional stages that end later.", None)
    precision: str | None = parameter(
        s.PRECISION, "high, balanced (the default), or wide: how much of what may be relevant.", None
    )
    min_relevance: float | None = parameter(s.SHARE, "The least relevance of a hit.", None)
    zone: str | None = parameter(s.ZONE, "Time zone of this call, such as Europe/Berlin.", None)
    tier: str = parameter(s.choice(("default",)), "No language model is asked in a recall.", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Asked):
    """Find what answers a query."""

    explain: bool = parameter(s.SWITCH, "Also say what every stage made of each hit.", default=False)
    trace: bool = parameter(s.SWITCH, "Also say what each stage did, and how long it took.", default=False)
    include_sources: bool = parameter(
        s.SWITCH, "Also give the memories for and against each observation.", default=False
    )
    count_returned: bool = parameter(s.SWITCH, "Count every returned memory as used.", default=False)
    form: str = parameter(s.FORM, _FORM_HELP, "plain")
    tier: str = parameter(
        s.choice(TIERS), "async: also name a job, whose better answer get_job gives later.", "default"
    )
    helpers: str | Sequence[str] | None = parameter(
        s.HELPERS,
        "In the async tier: hyde, query2doc, multi_query; each asks a language model about the query.",
        None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GetJob:
    """What has become of a recall of the async tier."""

    job: str = parameter(s.MEMORY_ID, "The job in the answer of a recall with tier async.")
    trace: bool = parameter(s.SWITCH, "Also say what each stage did, and how long it took.", default=False)
    form: str = parameter(s.FORM, _FORM_HELP, "plain")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflect(Asked):
    """Have a language model answer from what is recalled."""

    standing: bool = parameter(
        s.SWITCH, "Let standing memories lead the context, whatever is asked.", default=True
    )
    max_answer_tokens: int = parameter(s.whole(1, 100_000), "Tokens of the answer at most.", 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Asked):
    """Why each hit of a recall stands where it does."""

    include_sources: bool = parameter(
        s.SWITCH, "Also give the memories for and against each observation.", default=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot(Asked):
    """Why a recall does not return a memory."""

    memory: str = parameter(s.MEMORY_ID, _MEMORY_HELP)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMemory:
    """One memory."""

    memory: str = parameter(s.MEMORY_ID, _MEMORY_HELP)
    max_tokens: int | None = parameter(s.BUDGET_OF_TOKENS, _TEXT_BUDGET_HELP, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMemories(Among):
    """What the bank holds, page by page."""

    limit: int = parameter(s.whole(1, 1_000), "Memories at most on one page.", 100)
    cursor: str | None = parameter(s.MEMORY_ID, "Where the page before ended: its next.", None)
    max_tokens: int | None = parameter(
        s.BUDGET_OF_TOKENS, "Tokens of memory text at most; the page ends earlier for it.", None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateMemory:
    """What to change about a memory; what is not given stays."""

    memory: str = parameter(s.MEMORY_ID, _MEMORY_HELP)
    text: str | None = parameter(
        s.MEMORY_TEXT, "What it says from now on; of a turn with or without the speaker.", None
    )
    kind: str | None = parameter(s.KIND, "What sort of thing it states.", None)
    layer: str | None = parameter(s.LAYER, "How far it has been promoted.", None)
    tags: Sequence[str] | None = parameter(s.LABELS, "Labels, in place of those it has.", None)
    project: str | None = parameter(s.NAME, "The project it belongs to.", None)
    metadata: Mapping[str, Any] | None = parameter(s.METADATA, "In place of what it has.", None)
    source: str | None = parameter(s.PATH, "Where it came from.", None)
    path: str | None = parameter(s.PATH, "Document path.", None)
    salience: float | None = parameter(s.SHARE, "How much it matters.", None)
    confidence: float | None = parameter(s.SHARE, "How sure it is.", None)
    expected_version: int | None = parameter(
        s.VERSION, "The version that you have seen; another one is a conflict, and nothing changes.", None
    )
    max_tokens: int | None = parameter(s.BUDGET_OF_TOKENS, _TEXT_BUDGET_HELP, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidate:
    """End what a memory states."""

    memory: str = parameter(s.MEMORY_ID, _MEMORY_HELP)
    at: str | None = parameter(s.TIME, "When it stopped being true, excluded. Default: now.", None)
    max_tokens: int | None = parameter(s.BUDGET_OF_TOKENS, _TEXT_BUDGET_HELP, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """Erase memories."""

    ids: Sequence[str] = parameter(s.MEMORY_IDS, "Ids of memories, at least one.")


_SPACE_HELP = "Name of the program or framework whose records they are."
_KEY = s.listed(s.text(longest=MAX_METADATA_BYTES, blank=True), most=MAX_LABELS - 1)
_RECORD = s.mapped(
    {
        "path": {**_KEY, "description": "The key."},
        "value": {"description": "Any JSON value."},
        "text": {
            **s.optional(s.text(longest=MAX_TEXT_BYTES, blank=True)),
            "description": "What recall finds it by; by default the value as JSON; blank = its key alone.",
        },
        "replaces": {
            **s.optional(s.listed(s.MEMORY_ID, most=MOST_RECORDS)),
            "description": "Ids of all that must stand at or below the path; empty = nothing may.",
        },
        **_properties(Described, *NOT_OF_A_RECORD),
    },
    required=("path", "value"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsBelow:
    """Values at or below a key."""

    space: str = parameter(s.text(longest=MAX_SPACE_CHARACTERS), _SPACE_HELP)
    path: Sequence[str] = parameter(_KEY, "Beginning of the keys; empty = all.", ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRecords(RecordsBelow):
    """Erase values by their key."""

    exact: bool = parameter(s.SWITCH, "Only those at the path itself, not below it.", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRecords(ForgetRecords):
    """Read values by their key."""

    newest: int | None = parameter(s.whole(1, MOST_RECORDS), "Only the last so many.", None)
    limit: int = parameter(s.whole(1, 1_000), "Records at most on one page.", 1_000)
    cursor: str | None = parameter(s.MEMORY_ID, "Where the page before ended: its next.", None)
    refresh: bool = parameter(
        s.SWITCH, "Let those with a ttl live it anew from now on, which writes.", default=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRecords:
    """Store values under keys."""

    space: str = parameter(s.text(longest=MAX_SPACE_CHARACTERS), _SPACE_HELP)
    records: Sequence[Mapping[str, Any]] = parameter(
        s.listed(_RECORD, most=MOST_RECORDS), "Objects with path and value."
    )
    append: bool = parameter(
        s.SWITCH, "Add each below its path, numbered after the last one there.", default=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRecords:
    """Give values other keys."""

    space: str = parameter(s.text(longest=MAX_SPACE_CHARACTERS), _SPACE_HELP)
    path: Sequence[str] = parameter(_KEY, "Beginning of the keys.")
    to: Sequence[str] = parameter(_KEY, "What takes its place.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Say that memories were of use."""

    ids: Sequence[str] = parameter(s.MEMORY_IDS, "Ids of memories, at least one.")
    recall_id: str | None = parameter(
        s.text(longest=64), "The recall that returned them: the id in its answer.", None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """Who and what is spoken of."""

    limit: int = parameter(s.LIMIT, "Entities at most, the most mentioned first.", 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddAlias:
    """Let another name stand for an entity."""

    entity: int = parameter(s.ENTITY, "Number of an entity, as entities gives it.")
    name: str = parameter(s.LABEL, "The other name.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeEntities:
    """Let one entity count as another."""

    entity: int = parameter(s.ENTITY, "Number of an entity, as entities gives it.")
    into: int = parameter(s.ENTITY, "Number of the entity that it is.")


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoMerge:
    """Tell two entities apart again."""

    merge: int = parameter(s.ENTITY, "Number of the merge, as merge_entities gives it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What the bank believed at two moments."""

    earlier: str = parameter(s.TIME, "A moment; a date means its first instant.")
    later: str | None = parameter(s.TIME, "The other moment. Default: now.", None)
    max_tokens: int | None = parameter(s.BUDGET_OF_TOKENS, _TEXT_BUDGET_HELP, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """Compare what large batches left for later."""

    most: int | None = parameter(s.whole(1, 1_000_000), "Rows at most; by default all that wait.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What the next session should know."""

    task: str = parameter(s.QUERY, "What is to be done, in words.")
    max_tokens: int = parameter(s.BUDGET_OF_TOKENS, "Tokens of the text at most.", 2000)
    profile: str = parameter(_PROFILE, "Which profile finds what is relevant.", "default")
    project: str | None = parameter(s.NAME, "Only this project; memories of no project stay out.", None)
    standing: bool = parameter(
        s.SWITCH, "Let standing memories come first, also those of no project.", default=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpin:
    """Let a memory age like any other."""

    memory: str = parameter(s.MEMORY_ID, _MEMORY_HELP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin(Unpin):
    """Keep a memory from decay."""

    always: bool = parameter(
        s.SWITCH, "Let it lead every context that asks for standing memories; for owners.", default=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTtl:
    """The time to live of memories that state none."""

    ttl: float | str = parameter(
        s.TTL, "As for retain; never = they do not end, none = what was set is taken away."
    )
    kind: str | None = parameter(s.KIND, "Of this kind only; by default of the whole bank.", None)
    on_expiry: str = parameter(s.choice(ON_EXPIRY), "archive, or erase.", "archive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintain:
    """Move memories up, put old ones away, sum up what is said again."""

    profile: str = parameter(_PROFILE, "Whose numbers decide.", "default")
    most: int = parameter(
        s.whole(1, 1_000_000), "Steps at most; the rest waits for the next run.", MOST_STEPS
    )
    dry_run: bool = parameter(s.SWITCH, "Write nothing and say what a run would do.", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """What maintenance and newer memories did."""

    memory: str | None = parameter(s.MEMORY_ID, "Only of this memory; by default of all.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """Take back what maintenance or a newer memory did."""

    number: int = parameter(s.ENTITY, "Number of a move, as moves gives it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """Set memories aside."""

    ids: Sequence[str] = parameter(s.MEMORY_IDS, "Ids of memories, at least one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Quarantine):
    """Take memories back."""

    kind: str = parameter(
        s.choice(kind for kind in Kind if kind is not Kind.QUARANTINE),
        "What they are from now on.",
        "semantic",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntries:
    """The newest rows of the audit log."""

    most: int = parameter(s.whole(1, 100_000), "Rows at most, newest first.", 20)
    recalls: bool = parameter(s.SWITCH, "The log of reads.", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerify:
    """Check the audit log."""

    anchor: str | None = parameter(
        s.text(longest=128), "A head that was kept elsewhere: it must be in the log.", None
    )
    recalls_anchor: str | None = parameter(s.text(longest=128), "The same for the log of reads.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteBank:
    """Delete a bank."""

    name: str = parameter(s.BANK, "Name of the bank.")
    confirm: str = parameter(s.BANK, "The name once more: what is deleted cannot be had back.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateBank:
    """Make a bank."""

    name: str = parameter(s.BANK, "Name of the bank.")
    zone: str | None = parameter(
        s.ZONE, "Its own time zone, such as Europe/Berlin; none takes it away.", None
    )
