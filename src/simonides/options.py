"""Every option of every operation, declared once: name, type and range, unit, default, and one sentence.

From a declaration come the check of a value, the JSON Schema of a request, the option of the command line,
the parameter of the MCP tool, and the reference pages. ``surfaces.operations.table`` says which operation
takes which. The engine reads its limits from here, so this module imports nothing of the engine. What options
mean together, such as an end before a start, no schema says, and the engine refuses it by name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.json_schema import (
    NO_NUL,
    SHARE,
    SWITCH,
    TIME,
    Bytes,
    Schema,
    checked,
    choice,
    either,
    listed,
    mapped,
    optional,
    published,
    text,
    whole,
)
from simonides.records.hygiene import MAX_LABEL_CHARACTERS, MAX_LABELS
from simonides.records.kind import ROLE_OF_MESSAGE, TRUST, Kind, Layer
from simonides.records.time_to_live import LONGEST_SECONDS
from simonides.records.time_to_live import ON_EXPIRY as EXPIRIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

REQUIRED: Any = object()

MAX_QUERY_BYTES = Bytes(64 * 1024)
MAX_TEXT_BYTES = Bytes(1024 * 1024)
MAX_CONTEXT_BYTES = Bytes(64 * 1024)
MAX_RELATION_BYTES = Bytes(256)
MAX_PATH_BYTES = Bytes(4096)
"""The longest path that common file systems allow."""
MAX_METADATA_BYTES = Bytes(64 * 1024)
MAX_DOCUMENT_BYTES = Bytes(64 * 1024 * 1024)
MAX_SPACE_CHARACTERS = 64
MOST_RECORDS = 10_000
"""Records that one call puts, or gives as the newest, at most."""
MOST_STEPS = 10_000
"""Of one run of maintenance, unless its caller says otherwise."""
LONGEST_WAIT_SECONDS = 3_600
"""For a job; each of its requests to a model has a shorter limit of its own."""
PROFILES = tuple(sorted(file.stem for file in (Path(__file__).parent / "profiles").glob("*.toml")))
KIND_OF_TYPE = {"world": Kind.SEMANTIC, "experience": Kind.EPISODIC, "observation": Kind.OBSERVATION}
"""Hindsight's types of memories and the kinds that they are here (HI-14; SPEC, general settlement 5)."""
HELPER_NAMES = ("hyde", "query2doc", "multi_query")
PRECISIONS = ("high", "balanced", "wide")
"""How much of what may be relevant a recall returns: only what stands out, what is likely, everything."""
OF_THE_WHOLE = frozenset({"session", "context", "document_id"})
"""What a conversation decides, and no turn by itself."""
NOT_OF_A_RECORD = frozenset({"text", "path", "tags", "metadata", "deduplicate", "document_id"})
"""Keys of an item of ``retain`` that the engine sets for a record, or that mean something else in one."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Attributes:
        name: in Python, JSON and tools; on the command line with dashes.
        values: schema of what it may be, where it is given.
        sentence: what it does.
        unit: what a number counts, such as "tokens" or "milliseconds"; empty where the sentence says it.
        default: where it is not given; ``None`` = the engine decides; ``REQUIRED`` = it must be given.
        otherwise: what the engine decides then, in words.
        null: whether ``null`` is a value of its own, and not "not given".
        flag: its name on the command line where that differs, such as ``tag``, which gives one of the tags.
        metavar: what stands for its value in help.
    """

    name: str
    values: Schema
    sentence: str
    default: Any = None
    otherwise: str = ""
    null: bool = False
    flag: str = ""
    metavar: str = ""
    unit: str = ""

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    @property
    def help(self) -> str:
        """The sentence, and what holds where it is not given."""
        return f"{self.sentence} Default: {self.otherwise}." if self.otherwise else self.sentence

    @property
    def schema(self) -> Schema:
        """Of its value in a request, where ``null`` may mean "not given"."""
        return optional(self.values) if self.default is None or self.null else self.values

    @property
    def described(self) -> Schema:
        """The schema with the sentence and the default."""
        default = {} if self.default is None or self.required else {"default": self.default}
        return {**published(self.schema), "description": self.help, **default}

    @property
    def moment(self) -> bool:
        """Whether it is a time or an interval, which only the engine can read: it knows the zone."""
        return self.values in (TIME, WINDOW.values, TIME_OR_TOLD)

    def but(self, **changes: Any) -> Option:
        """The same option as another operation takes it."""
        return replace(self, **changes)


def check(
    options: Iterable[Option], values: Mapping[str, object], *, place: str = "", moments: bool = True
) -> dict[str, Any]:
    """The value of every option: the given one, checked, or its default.

    Args:
        options: what may be given.
        values: what is given, by name.
        place: what takes them, for the error.
        moments: whether times are checked, too; the engine reads them itself.

    Raises:
        UnknownNameError: an option that does not exist, with the nearest one that does.
        InputError: one is missing or wrong; it says which, and what may be given.
    """
    taken = {each.name: each for each in options}
    for name in values:
        if name not in taken:
            raise UnknownNameError(str(name), name, taken, place=place)
    found: dict[str, Any] = {}
    for name, each in taken.items():
        if name not in values and each.required:
            raise InputError(name, f"is missing; {each.help[:1].lower()}{each.help[1:]}")
        value = found[name] = values.get(name, each.default)
        if value is not each.default and (moments or not each.moment):
            found[name] = checked(value, each.schema, name)
    return found


def schema_of(options: Iterable[Option]) -> Schema:
    """JSON Schema of a request: these options and no other."""
    taken = tuple(options)
    return mapped(
        {each.name: each.described for each in taken},
        required=(each.name for each in taken if each.required),
    )


_NAME = text(longest=MAX_RELATION_BYTES, blank=True)
_PATH = text(longest=MAX_PATH_BYTES, blank=True)
_TEXT = text(longest=MAX_TEXT_BYTES)
_CONTEXT = text(longest=MAX_CONTEXT_BYTES, blank=True)
_LABEL = text(longest=MAX_LABEL_CHARACTERS)
_LABELS = listed(_LABEL, most=MAX_LABELS)
_TOKENS = whole(0, 10_000_000)
_NUMBER = whole(1, 2**63 - 1)
_TTL = either({"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_SECONDS}, text(longest=32))
_MOST_ITEMS = 10_000
_MODES = ("auto", "bm25", "semantic", "hybrid", "hybrid-rerank")
ID = text(longest=64)
BANK_NAME = text(longest=200)


def _one_or_more(names: Iterable[str]) -> Schema:
    """One word of a vocabulary, or a list of them."""
    word = choice(names)
    return either(word, listed(word, most=len(word["enum"])))


def _switch(name: str, sentence: str, *, default: bool = False, flag: str = "") -> Option:
    return Option(name, SWITCH, sentence, default, flag=flag)


# What identifies a memory, an entity, a job or a bank.
MEMORY = Option("memory", ID, "Id of the memory, as retain and recall give it.", REQUIRED, metavar="ID")
IDS = Option("ids", listed(ID, most=10_000, least=1), "Ids of the memories.", REQUIRED, metavar="ID…")
ENTITY = Option("entity", _NUMBER, "Number of the entity, as entities gives it.", REQUIRED)
OTHER_NAME = Option("alias", _LABEL, "The other name, as entities lists it.", REQUIRED)
INTO = Option("into", _NUMBER, "Number of the entity that remains.", REQUIRED)
ALIAS = Option("name", _LABEL, "The other name.", REQUIRED)
MERGE = Option("merge", _NUMBER, "Number of the merge, as merge_entities gives it.", REQUIRED)
MOVE = Option("number", _NUMBER, "Number of the move, as moves gives it.", REQUIRED)
JOB = Option("job", ID, "Id of the job, as recall with tier async gives it.", REQUIRED, metavar="ID")
BANK = Option("name", BANK_NAME, "Name of the bank.", REQUIRED)
CONFIRM = Option("confirm", BANK_NAME, "The name again, because this cannot be undone.", REQUIRED)

# What memories are selected, and as of when.
KINDS = Option("kinds", _one_or_more(Kind), f"Only these kinds: {', '.join(Kind)}.", flag="kind")
TYPES = Option("types", _one_or_more(KIND_OF_TYPE), "Only these types: world, experience, observation.")
PROJECT = Option("project", _NAME, "Only this project.", metavar="NAME")
TAGS = Option("tags", _LABELS, "Only memories with these tags.", flag="tag")
TAGS_MATCH = Option(
    "tags_match",
    choice(("any", "any_strict", "all", "all_strict", "exact")),
    "How tags must match: any (one of them, or no tags), any_strict, all, all_strict, exact.",
    "any",
    metavar="HOW",
)
AS_OF = Option("as_of", TIME, "Answer as of this time.", otherwise="now")
KNOWN_AT = Option("known_at", TIME, "Use only what was stored by this time.", otherwise="as_of")
WINDOW = Option(
    "window",
    either({"type": "array", "items": optional(TIME), "minItems": 2, "maxItems": 2}, TIME),
    "Only what happened in this interval: [start, end), or one date.",
)
FILTERS = (KINDS, PROJECT, TAGS, TAGS_MATCH, AS_OF, KNOWN_AT, WINDOW, TYPES)

# What is listed and counted, beside these.
BROWSED = (
    Option("layer", choice(Layer), f"Only this layer: {', '.join(Layer)}."),
    Option("speaker", text(longest=MAX_RELATION_BYTES), "Only what this speaker said.", metavar="NAME"),
    Option("session", text(longest=MAX_RELATION_BYTES), "Only this conversation.", metavar="NAME"),
    ENTITY.but(sentence="Only what mentions this entity: its number, as entities gives it.", default=None),
    Option("period", TIME, "Only what happened, or else was stored, in this year, month or day."),
    Option(
        "state",
        choice(("pinned", "standing", "archived")),
        "Only memories in this state: pinned, standing, archived.",
    ),
)
ORDER = Option("order", choice(("id", "newest")), "By id, or newest: what was stored last first.", "id")

# How to recall.
QUERY = Option("query", text(longest=MAX_QUERY_BYTES), "The question, or keywords.", REQUIRED)
LIMIT = Option("limit", whole(1, 10_000), "Maximum number of hits.", otherwise="the profile's", unit="hits")
CONTEXT_TOKENS = Option("max_tokens", _TOKENS, "Token budget of the context.", 4096, null=True, unit="tokens")
PROFILE = Option("profile", choice(PROFILES), "Profile that ranks.", "default", metavar="NAME")
INCLUDE_ARCHIVED = _switch("include_archived", "Also find archived memories.")
PREFER_OBSERVATIONS = _switch(
    "prefer_observations", "Return observations in place of the memories behind them."
)
STANDING = _switch("standing", "Put standing memories first in the context.", flag="standing/no-standing")
SEED = Option("seed", whole(0, 2**63 - 1), "Seed of random parts.", otherwise="from the query and the time")
ENTITY_HINTS = Option("entity_hints", _LABELS, "Names that the question is about.", flag="entity_hint")
MODE = Option(
    "mode",
    choice(_MODES),
    f"Search mode of jeffs_brain: {', '.join(_MODES)}.",
    otherwise="auto",
)
QUESTION_DATE = Option(
    "question_date", TIME, 'When the question is asked, for "last week" in it.', otherwise="as_of"
)
BUDGET = Option(
    "budget",
    choice(("low", "mid", "high")),
    "Search depth of hindsight: low, mid, high.",
    otherwise="the profile's",
)
BUDGET_FUNCTION = Option(
    "budget_function",
    choice(("fixed", "adaptive")),
    "Depth of a level: fixed, or adaptive to max_tokens.",
    otherwise="the profile's",
)
INCLUDE_CHUNKS = _switch("include_chunks", "Also return the original texts behind the memories.")
MAX_CHUNK_TOKENS = Option("max_chunk_tokens", _TOKENS, "Token budget of these texts.", 8192, unit="tokens")
SYNTAX = Option(
    "syntax",
    choice(("plain", "extended")),
    "Query syntax of jeffs_brain: plain, or extended with fields.",
    "plain",
)
ALIASES = Option(
    "aliases",
    {
        "type": "object",
        "propertyNames": _LABEL,
        "additionalProperties": _LABELS,
        "maxProperties": 1_000,
    },
    "Synonyms for jeffs_brain, by word.",
    flag="alias",
    metavar="WORD=OTHER",
)
DEADLINE_MS = Option(
    "deadline_ms",
    {"type": "number", "exclusiveMinimum": 0, "maximum": 600_000},
    "Skip optional stages that would exceed this time, in milliseconds.",
    metavar="MS",
    unit="milliseconds",
)
PRECISION = Option(
    "precision",
    choice(PRECISIONS),
    "Which hits to return: high (the surest), balanced, or wide (all).",
    otherwise="balanced",
    metavar="LEVEL",
)
MIN_RELEVANCE = Option("min_relevance", SHARE, "Minimum relevance of a hit, 0 to 1.", metavar="P")
ZONE = Option(
    "zone", text(longest=64), "Time zone of times without one, such as Europe/Berlin.", otherwise="the bank's"
)
TIER = Option("tier", choice(("default",)), "Only default: no language model is asked.", "default")
SEARCH = (
    QUERY, LIMIT, CONTEXT_TOKENS, PROFILE, INCLUDE_ARCHIVED, PREFER_OBSERVATIONS, STANDING, SEED,
    ENTITY_HINTS, MODE, QUESTION_DATE, BUDGET, BUDGET_FUNCTION, INCLUDE_CHUNKS, MAX_CHUNK_TOKENS, SYNTAX,
    ALIASES, DEADLINE_MS, PRECISION, MIN_RELEVANCE, ZONE,
)  # fmt: skip

RECALL = tuple(each for each in (*FILTERS, *SEARCH, TIER) if each.name not in {"profile", "zone"})
"""What every recall takes, in either tier and by whatever operation."""
RECALL_DEFAULTS = {each.name: each.default for each in RECALL if not each.required}

EXPLAIN = _switch("explain", "Also explain the score of each hit, stage by stage.")
TRACE = _switch("trace", "Also report what each stage did, and how long it took.")
INCLUDE_SOURCES = _switch("include_sources", "Also return the memories for and against each observation.")
COUNT_RETURNED = _switch("count_returned", "Count every returned memory as used.")
FORM = Option(
    "form", choice(("plain", "fenced", "json")), "Context as plain text, fenced data, or json.", "plain"
)
ASYNC_TIER = TIER.but(
    values=choice(("default", "async")),
    sentence="default, or async: also start a job that computes a better answer.",
)
HELPERS = Option(
    "helpers",
    _one_or_more(HELPER_NAMES),
    f"With tier async: {', '.join(HELPER_NAMES)}; each asks a language model.",
    flag="helper",
    metavar="NAME",
)
ANSWER_TOKENS = Option(
    "max_answer_tokens", whole(1, 100_000), "Token budget of the answer.", 1024, unit="tokens"
)

# What is retained, and what is said about it.
TTL = Option(
    "ttl", _TTL, "Time to live: seconds, or 45m, 12h, 30d, 2w, never.", otherwise="the bank's", metavar="TIME"
)
ON_EXPIRY = Option(
    "on_expiry", choice(EXPIRIES), "When it expires: archive, or erase.", otherwise="archive", metavar="WHAT"
)
KIND = Option("kind", choice(Kind), f"One of {', '.join(Kind)}.", otherwise="semantic")
DESCRIPTION = (
    KIND,
    Option("layer", choice(Layer), f"One of {', '.join(Layer)}.", otherwise="by kind"),
    TAGS.but(sentence="Labels to filter by."),
    PROJECT.but(sentence="Name of the project."),
    Option("event_time", TIME, "When it happened."),
    Option("valid_from", TIME, "From when it is true."),
    Option("valid_to", TIME, "Until when it is true (not included)."),
    Option("recorded_at", TIME, "When it was first recorded, for imports; only for the owner."),
    Option("metadata", {"type": "object", "description": "JSON values, kept and returned as they are."},
           "JSON object, stored as it is.", metavar="JSON"),
    Option("acl", _LABELS, "Principals that may read it.", otherwise="everyone", metavar="PRINCIPAL"),
    Option("source", _PATH, "Where it comes from.", metavar="NAME"),
    Option("context", _CONTEXT, "Text that is searched with it."),
    Option("relation", _NAME, "Name of the relation that it states."),
    Option("path", _PATH, "Path of the document; breaks ties between equal scores.", metavar="PATH"),
    Option("salience", SHARE, "Importance, 0 to 1.", metavar="SHARE"),
    Option("confidence", SHARE, "Confidence, 0 to 1.", metavar="SHARE"),
    Option("document_id", _PATH, "The items replace everything stored of this document."),
    Option("session", _NAME, "Name of the conversation.", metavar="NAME"),
    Option("speaker", _NAME, "Who said it."),
    Option("role", choice(name for name in TRUST if name), "Role of the speaker; decides the trust."),
    Option("expansion", _CONTEXT, "Questions that it answers, searched with it."),
    Option("subject", _NAME, "Subject of a statement, with relation and object."),
    Option("object", _NAME, "Object of the statement."),
    _switch("single_valued", "A newer statement about the subject ends the older one."),
    _switch("deduplicate", "Do not store again what a current memory says.", default=True),
    TTL,
    ON_EXPIRY,
)  # fmt: skip


def _described(*left_out: str) -> dict[str, Schema]:
    return {each.name: {**each.schema, "description": each.help} for each in without(DESCRIPTION, *left_out)}


def without(options: Iterable[Option], *names: str) -> tuple[Option, ...]:
    """*options* but for those of these names."""
    return tuple(each for each in options if each.name not in names)


_NO_TEXT: Schema = {"required": ["text"]}
"""An object with a text is an item, whatever else it holds."""
_MESSAGE: Schema = {
    "type": "object",
    "not": _NO_TEXT,
    "properties": {
        "role": {
            "type": "string",
            "pattern": NO_NUL,
            "description": f"One of {', '.join(ROLE_OF_MESSAGE)}.",
        },
        "content": {"description": "A text, or a list of parts such as {type: text, text: …}."},
    },
    "required": ["role"],
    "description": "A chat message in the format of OpenAI or Anthropic.",
}
_MESSAGE_ITEM: Schema = {
    "type": "object",
    "not": _NO_TEXT,
    "properties": {"type": {"type": "string", "pattern": NO_NUL}},
    "required": ["type"],
    "description": "A message item without a role, such as function_call_output.",
}
_ITEM = either(
    _TEXT,
    mapped({"text": _TEXT, **_described()}, required=("text",)),
    _MESSAGE,
    _MESSAGE_ITEM,
)
_TURN = either(
    mapped({"text": _TEXT, **_described(*OF_THE_WHOLE)}, required=("text",)), _MESSAGE, _MESSAGE_ITEM
)
ITEMS = Option(
    "items",
    either(*_ITEM["anyOf"], listed(_ITEM, most=_MOST_ITEMS, least=1)),
    "A text, an object with text and any other option, a chat message (role, content), or a list of these.",
    REQUIRED,
)
SHORT_ITEM = either(
    _TEXT,
    {
        "type": "object",
        "properties": {"text": _TEXT},
        "description": "text and any other parameter of this tool, for this item alone; or role and content.",
    },
)
"""What a model reads of an item."""
SHORT_ITEMS = published(either(*SHORT_ITEM["anyOf"], listed(SHORT_ITEM, most=_MOST_ITEMS, least=1)))
IDEMPOTENCY_KEY = Option(
    "idempotency_key",
    _LABEL,
    "A repeated request with the same key stores nothing again.",
    metavar="KEY",
)
DOCUMENT = Option("text", text(longest=MAX_DOCUMENT_BYTES), "Markdown or plain text.", REQUIRED)
DOCUMENT_ID = Option(
    "document_id",
    text(longest=MAX_PATH_BYTES),
    "Your name of the document; the same again replaces it.",
    REQUIRED,
)
TITLE = Option("title", _PATH, "What the document is called.")
TURNS = Option(
    "turns",
    listed(_TURN, most=_MOST_ITEMS),
    "Objects with text, such as speaker and event_time, and other options; or chat messages (role, content).",
    REQUIRED,
)
SESSION = Option(
    "session", text(longest=MAX_RELATION_BYTES), "Your name of the conversation.", REQUIRED, metavar="NAME"
)
TURN_WINDOW = Option("window", whole(0, 20), "Turns on either side that become context.", metavar="N")
RETAIN = (ITEMS, *DESCRIPTION, ZONE, IDEMPOTENCY_KEY)
RETAIN_DOCUMENT = (
    DOCUMENT, DOCUMENT_ID, *without(DESCRIPTION, "document_id"), TITLE, ZONE, IDEMPOTENCY_KEY,
)  # fmt: skip
RETAIN_CONVERSATION = (
    TURNS, SESSION, *without(DESCRIPTION, "session"), TURN_WINDOW, ZONE, IDEMPOTENCY_KEY,
)  # fmt: skip

# Reading and changing single memories.
TEXT_TOKENS = Option(
    "max_tokens", _TOKENS, "Token budget of memory text; what does not fit is counted as omitted."
)
CURSOR = Option("cursor", ID, "Where to continue: next of the previous page.", metavar="ID")
PAGE = Option("limit", whole(1, 1_000), "Maximum number of memories on a page.", 100)
AS_TOLD = "told"
"""In place of an event time: the one that follows from the words."""
TIME_OR_TOLD = either(TIME, choice([AS_TOLD]))
UPDATE = (
    MEMORY,
    Option("text", _TEXT, "The new text, of a turn with or without the speaker."),
    Option("event_time", TIME_OR_TOLD, f"When it happened; {AS_TOLD} = when the words say."),
    *(
        each.but(
            otherwise="",
            sentence={
                "tags": "Tags, in place of the present ones.",
                "metadata": "JSON object, in place of the present one.",
                "ttl": "Time to live from now on: seconds, or 45m, 12h, 30d, 2w, never.",
            }.get(each.name, each.sentence),
        )
        for each in DESCRIPTION
        if each.name
        in {"kind", "layer", "tags", "project", "metadata", "source", "path", "salience", "confidence", "ttl"}
    ),
    Option(
        "expected_version",
        _NUMBER,
        "The version that you have seen; another one is a conflict, and nothing changes.",
    ),
    TEXT_TOKENS,
)
AT = Option("at", TIME, "When it stopped being true (not included).", otherwise="now")
EARLIER = Option("earlier", TIME, "The first moment; a date means its first instant.", REQUIRED)
LATER = Option("later", TIME, "The second moment.", otherwise="now")
RECALL_ID = Option("recall_id", ID, "Id of the recall that returned them.", metavar="ID")
ALWAYS = _switch("always", "Make it a standing memory, first in every context that asks; only for owners.")
RELEASED_KIND = KIND.but(
    values=choice(kind for kind in Kind if kind is not Kind.QUARANTINE),
    sentence="The new kind.",
    default="semantic",
    otherwise="",
)

# Values that programs keep under keys.
_KEY = listed(text(longest=MAX_METADATA_BYTES, blank=True), most=MAX_LABELS - 1)
SPACE = Option(
    "space", text(longest=MAX_SPACE_CHARACTERS), "Name of the program that owns the records.", REQUIRED
)
KEY_PREFIX = Option("path", _KEY, "Start of the keys; empty = all.", ())
RECORDS = Option(
    "records",
    listed(
        mapped(
            {
                "path": {**_KEY, "description": "The key."},
                "value": {"description": "Any JSON value."},
                "text": {
                    **optional(text(longest=MAX_TEXT_BYTES, blank=True)),
                    "description": "Text that recall finds it by; blank = the key alone. Default: the value.",
                },
                "replaces": {
                    **optional(listed(ID, most=MOST_RECORDS)),
                    "description": "Ids of all that must be at or below the path; empty = nothing may be.",
                },
                **_described(*NOT_OF_A_RECORD),
            },
            required=("path", "value"),
        ),
        most=MOST_RECORDS,
    ),
    "Objects with path and value.",
    REQUIRED,
)
APPEND = _switch("append", "Add each below its path, numbered after the last one there.")
EXACT = _switch("exact", "Only those at the path itself, not below it.")
NEWEST = Option("newest", whole(1, MOST_RECORDS), "Only the newest N.")
RECORD_PAGE = PAGE.but(sentence="Maximum number of records on a page.", default=1_000)
REFRESH = _switch("refresh", "Start their time to live again; this writes.")
TO = Option("to", _KEY, "What replaces the start of the keys.", REQUIRED)

# What happens, and what is to be decided.
AFTER = Option(
    "after", ID, "Where to continue: next of the answer before.", otherwise="the newest", metavar="CURSOR"
)
EVENTS = Option("most", whole(1, 1_000), "Maximum number of events.", 50)
REVIEW_ITEMS = Option("most", whole(1, 1_000), "Maximum number of items.", 100)
INCLUDE_DECIDED = _switch("include_decided", "Also list what was decided.")

# Entities, maintenance, audit, banks.
ENTITY_LIMIT = LIMIT.but(
    sentence="Maximum number of entities, most mentioned first.", default=100, otherwise=""
)
NAMED = Option("named", _LABEL, "Only those with a name or alias that holds this text.", metavar="TEXT")
GET_ENTITY = (
    ENTITY,
    AS_OF,
    KNOWN_AT,
    Option("most", whole(1, 1_000), "Maximum number of memories, newest first.", 50),
)
SETTLE_MOST = Option("most", whole(1, 1_000_000), "Maximum number of rows.", otherwise="all")
TASK = QUERY.but(name="task", sentence="The task of the next session.")
BRIEF_TOKENS = Option("max_tokens", _TOKENS, "Token budget of the text.", 2000)
BRIEF_STANDING = STANDING.but(sentence="Put standing memories first, also those of no project.", default=True)
SET_TTL = (
    TTL.but(
        sentence="Such as 45m, 12h, 30d or 2w; never = no end; none removes the setting.",
        default=REQUIRED,
        otherwise="",
    ),
    KIND.but(sentence="Only for this kind.", otherwise="the whole bank"),
    ON_EXPIRY.but(default="archive", otherwise=""),
)
LIFECYCLE = PROFILE.but(sentence="Profile whose ``[lifecycle]`` numbers decide.")
STEPS = Option(
    "most", whole(1, 1_000_000), "Maximum number of steps; the next run does the rest.", MOST_STEPS
)
DRY_RUN = _switch("dry_run", "Report what would be done, and write nothing.")
MOVED_MEMORY = MEMORY.but(sentence="Only of this memory.", default=None, otherwise="all")
ROWS = Option("most", whole(1, 100_000), "Maximum number of rows, newest first.", 20)
READS = _switch("recalls", "The log of reads.")
ANCHOR = Option("anchor", text(longest=128), "A head that you kept; it must be in the log.", metavar="HEAD")
RECALLS_ANCHOR = ANCHOR.but(name="recalls_anchor", sentence="The same for the log of reads.")
BANK_ZONE = ZONE.but(sentence="Time zone of the bank, such as Europe/Berlin; none removes it.", otherwise="")
