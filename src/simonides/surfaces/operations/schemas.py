"""What the values of parameters may be, as JSON Schema (2020-12): published, and enforced by ``checking``.

The engine's limits are read from where the engine states them. What fields mean together (an end before a
start) no schema says; the engine refuses it by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.recall.arguments import (
    KIND_OF_TYPE,
    MAX_LIMIT,
    MAX_QUERY_BYTES,
    MAX_SEED,
    MAX_TOKENS,
    TAGS_MATCHES,
)
from simonides.recall.helping.asking import HELPERS as HELPER_NAMES
from simonides.recall.packing.as_data import FORMS
from simonides.recall.search_arguments import (
    BUDGET_FUNCTIONS,
    BUDGETS,
    LONGEST_DEADLINE_MS,
    MODES,
    MOST_ALIASES,
    MOST_CHUNK_TOKENS,
    SYNTAXES,
)
from simonides.records.hygiene import MAX_LABEL_CHARACTERS, MAX_LABELS
from simonides.records.kind import TRUST, Kind, Layer
from simonides.records.query import PRECISIONS
from simonides.records.time_to_live import LONGEST_SECONDS
from simonides.retain.documents import MAX_DOCUMENT_BYTES
from simonides.retain.items import MAX_CONTEXT_BYTES, MAX_PATH_BYTES, MAX_RELATION_BYTES, MAX_TEXT_BYTES
from simonides.retain.messages import ROLES as MESSAGE_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable

Schema = dict[str, Any]

# Blanks and what is seen share no character, so every dialect reads these patterns in linear time.
_BLANK = r"\s\u001c-\u001f\u0085"
NOT_BLANK = rf"^[{_BLANK}]*[^{_BLANK}\u0000][^\u0000]*$"
"""Some character that is seen, and no NUL anywhere; what counts as blank in every dialect of patterns."""
NO_NUL = r"^[^\u0000]*$"
IN_PATH = rf"^[{_BLANK}]*[^{_BLANK}\u0000/][^\u0000/]*$"
"""The same for a part of a path, which a slash would end."""
_YEAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_YEAR_OR_MONTH = rf"^{_YEAR}(-(0[1-9]|1[0-2]))?$"


def text(*, longest: int, blank: bool = False) -> Schema:
    """A string of at most *longest* characters, not blank unless *blank*."""
    return {
        "type": "string",
        "maxLength": longest,
        **({} if blank else {"minLength": 1}),
        "pattern": NO_NUL if blank else NOT_BLANK,
    }


def choice(names: Iterable[str]) -> Schema:
    """One word of a closed vocabulary."""
    return {"type": "string", "enum": [str(name) for name in names]}


def whole(lowest: int, highest: int) -> Schema:
    """A whole number, both ends included."""
    return {"type": "integer", "minimum": lowest, "maximum": highest}


def listed(entry: Schema, *, most: int, least: int = 0) -> Schema:
    """A list of *least* to *most* entries."""
    return {"type": "array", "items": entry, "maxItems": most, **({"minItems": least} if least else {})}


def mapped(properties: dict[str, Schema], *, required: Iterable[str] = ()) -> Schema:
    """An object that has these keys and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def either(*schemas: Schema) -> Schema:
    """Any one of several."""
    return {"anyOf": list(schemas)}


def optional(schema: Schema) -> Schema:
    """The same, or ``null`` for "not given"."""
    return either(schema, {"type": "null"})


# The engine's limits are bytes of UTF-8, so it may still refuse a text of fewer characters than these.
QUERY = text(longest=MAX_QUERY_BYTES)
MEMORY_TEXT = text(longest=MAX_TEXT_BYTES)
DOCUMENT_TEXT = text(longest=MAX_DOCUMENT_BYTES)
CONTEXT = text(longest=MAX_CONTEXT_BYTES, blank=True)
NAME = text(longest=MAX_RELATION_BYTES, blank=True)
PATH = text(longest=MAX_PATH_BYTES, blank=True)
SESSION = text(longest=MAX_RELATION_BYTES)
DOCUMENT_ID = text(longest=MAX_PATH_BYTES)
LABEL = text(longest=MAX_LABEL_CHARACTERS)
LABELS = listed(LABEL, most=MAX_LABELS)
MEMORY_ID = text(longest=64)
MEMORY_IDS = listed(MEMORY_ID, most=10_000, least=1)
ENTITY = whole(1, 2**63 - 1)
VERSION = whole(1, 2**63 - 1)
BANK = text(longest=200)
ZONE = text(longest=64)
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
SWITCH: Schema = {"type": "boolean"}
TIME: Schema = {
    "anyOf": [
        {"type": "string", "pattern": _YEAR_OR_MONTH},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "date-time"},
    ],
    "description": "2026, 2026-03, 2026-03-10 or 2026-03-10T10:00:00Z",
}
WINDOW = either({"type": "array", "items": optional(TIME), "minItems": 2, "maxItems": 2}, TIME)
METADATA: Schema = {"type": "object", "description": "JSON values, kept and returned as they are."}
KIND = choice(Kind)
LAYER = choice(Layer)
ROLE = choice(name for name in TRUST if name)
KINDS = either(KIND, listed(KIND, most=len(Kind)))
TYPE = choice(KIND_OF_TYPE)
TYPES = either(TYPE, listed(TYPE, most=len(KIND_OF_TYPE)))
TAGS_MATCH = choice(TAGS_MATCHES)
LIMIT = whole(1, MAX_LIMIT)
BUDGET_OF_TOKENS = whole(0, MAX_TOKENS)
SEED = whole(0, MAX_SEED)
MODE = choice(MODES)
SYNTAX = choice(SYNTAXES)
BUDGET = choice(BUDGETS)
_HELPER = choice(HELPER_NAMES)
HELPERS = either(_HELPER, listed(_HELPER, most=len(HELPER_NAMES)))
FORM = choice(("plain", *FORMS))
BUDGET_FUNCTION = choice(BUDGET_FUNCTIONS)
CHUNK_TOKENS = whole(0, MOST_CHUNK_TOKENS)
TTL = either({"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_SECONDS}, text(longest=32))
DEADLINE: Schema = {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_DEADLINE_MS}
PRECISION = choice(PRECISIONS)
MESSAGE: Schema = {
    "type": "object",
    "properties": {
        "role": {"type": "string", "description": f"One of {', '.join(MESSAGE_ROLES)}."},
        "content": {"description": "A text, or a list of parts such as {type: text, text: …}."},
    },
    "required": ["role"],
    "description": "A chat message, as OpenAI's and Anthropic's interfaces take and give it.",
}
MESSAGE_ITEM: Schema = {
    "type": "object",
    "properties": {"type": {"type": "string"}},
    "required": ["type"],
    "description": "The same without a role, such as function_call_output.",
}
ALIASES: Schema = {
    "type": "object",
    "propertyNames": LABEL,
    "additionalProperties": listed(LABEL, most=MAX_LABELS),
    "maxProperties": MOST_ALIASES,
}
