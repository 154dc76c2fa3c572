"""Each operation once: its name, its options, its answer, and what it may do.

The name of an operation is the same in Python, on the command line, over HTTP, over MCP and in the client,
and so are its options. ``call`` is handed a bank that is opened for the caller's principal already; it can
see and change no more than the bank lets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from simonides import options as o
from simonides.errors import UnknownNameError
from simonides.surfaces.operations import results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.bank import Bank
    from simonides.json_schema import Schema
    from simonides.store import Store


LINES = "application/x-ndjson"
DATABASE = "application/vnd.sqlite3"


class Verb(StrEnum):
    """What a token must allow for an operation."""

    READ = "read"
    WRITE = "write"
    FORGET = "forget"
    ADMIN = "admin"


class Scope(StrEnum):
    """What an operation is about: one bank, or the banks of a store."""

    BANK = "bank"
    STORE = "store"


class Stream(StrEnum):
    """Whether an operation's body is a file, and which way it goes."""

    NONE = "none"
    OUT = "out"
    IN = "in"


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that callers may do.

    Attributes:
        name: the same everywhere.
        help: a sentence for people and models.
        parameters: its options, in order.
        result: JSON Schema of its answer, with a ``title``.
        verb: what a token must allow.
        scope: what it is about.
        destructive: whether what it takes away cannot be had back.
        changes: whether it writes anything at all.
        idempotent: whether doing it twice is doing it once.
        stream: whether its body is a stream.
        media: media type of that stream.
        owner_only: whether a bank that is opened for a principal refuses it.
        alters: whether it changes the words or marks of the one memory that the request names.
        shows: whether its answer holds what is stored, so that a token needs ``read`` beside *verb*.
    """

    name: str
    help: str
    parameters: tuple[o.Option, ...]
    result: Schema
    verb: Verb
    scope: Scope = Scope.BANK
    destructive: bool = False
    changes: bool = False
    idempotent: bool = True
    stream: Stream = Stream.NONE
    media: str = LINES
    owner_only: bool = False
    alters: bool = False
    shows: bool = False

    @property
    def verbs(self) -> tuple[Verb, ...]:
        """What a token must allow, in order; what some parameters need beside is in ``serving.grants``."""
        return (self.verb, Verb.READ) if self.shows else (self.verb,)

    @property
    def schema(self) -> Schema:
        """JSON Schema of the request."""
        return o.schema_of(self.parameters)

    def bind(self, values: Mapping[str, object]) -> dict[str, Any]:
        """The value of every parameter, from those that are given.

        Raises:
            UnknownNameError: a parameter that does not exist, with the nearest one that does.
            InputError: one is missing or wrong.
        """
        return o.check(self.parameters, values, place=self.name)

    def call(self, subject: Bank | Store, values: Mapping[str, Any], *extra: object) -> Mapping[str, Any]:
        """The JSON-ready answer.

        Args:
            subject: the bank, or the store of an operation of that scope.
            values: as ``bind`` gives them.
            extra: of a stream out, the binary file to write; of a stream in, the path of the lines.
        """
        # At first use: a client of the HTTP interface needs the table and no engine.
        done = import_module("simonides.surfaces.operations.calls")
        if self.scope is Scope.BANK:
            subject = cast("Bank", subject)._trusting()  # noqa: SLF001 for interfaces, whose table this is
        answer: Mapping[str, Any] = getattr(done, self.name)(subject, *extra, **values)
        return answer


_ASKED = (*o.FILTERS, *o.SEARCH)
_BROWSED = (*o.FILTERS, *o.BROWSED, o.INCLUDE_ARCHIVED)
_ONE = (o.MEMORY, o.TEXT_TOKENS)
_READ, _WRITE = Verb.READ, Verb.WRITE

OPERATIONS: Mapping[str, Operation] = {
    each.name: each
    for each in (
        Operation(
            "retain",
            "Store memories in one transaction; returns one id per item.",
            o.RETAIN,
            results.RETAINED,
            _WRITE,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "retain_document",
            "Store a document by paragraphs; replaces what the bank holds of it.",
            o.RETAIN_DOCUMENT,
            results.IDS,
            _WRITE,
            changes=True,
        ),
        Operation(
            "retain_conversation",
            "Store a conversation by turns; turns that are stored already stay as they are.",
            o.RETAIN_CONVERSATION,
            results.RETAINED,
            _WRITE,
            changes=True,
        ),
        Operation(
            "recall",
            "Find the memories that answer a query, best first, with a context for a prompt.",
            (
                *_ASKED,
                o.ASYNC_TIER,
                o.EXPLAIN,
                o.TRACE,
                o.INCLUDE_SOURCES,
                o.COUNT_RETURNED,
                o.FORM,
                o.HELPERS,
            ),
            results.RECALL,
            _READ,
        ),
        Operation(
            "get_job",
            "Return the better answer of a recall of the async tier, when it is ready.",
            (o.JOB, o.TRACE, o.FORM),
            results.JOB,
            _READ,
        ),
        Operation(
            "reflect",
            "Answer a question from memory with a language model; its citations are checked.",
            (*o.without(_ASKED, "standing"), o.TIER, o.STANDING.but(default=True), o.ANSWER_TOKENS),
            results.REFLECTION,
            _READ,
            idempotent=False,
        ),
        Operation(
            "explain",
            "Explain the score and rank of each hit of a recall, stage by stage.",
            (*_ASKED, o.TIER, o.INCLUDE_SOURCES),
            results.EXPLANATIONS,
            _READ,
        ),
        Operation(
            "why_not",
            "Explain why a recall does not return a memory: which stage dropped it, and what would keep it.",
            (o.MEMORY, *_ASKED, o.TIER),
            results.WHY_NOT,
            _READ,
        ),
        Operation("get_memory", "Return the newest version of one memory.", _ONE, results.MEMORY, _READ),
        Operation(
            "list_memories",
            "List the memories of a bank page by page, by id or the newest first.",
            (*_BROWSED, o.ORDER, o.PAGE, o.CURSOR, o.TEXT_TOKENS),
            results.PAGE,
            _READ,
        ),
        Operation(
            "facets",
            "Count memories by kind, layer, tag, project, speaker, session, month and state.",
            _BROWSED,
            results.FACETS,
            _READ,
        ),
        Operation(
            "update_memory",
            "Change the text or the labels of a memory, as a new version.",
            o.UPDATE,
            results.MEMORY,
            _WRITE,
            changes=True,
            alters=True,
            shows=True,
        ),
        Operation(
            "invalidate",
            "End a memory: it is found only for earlier moments; its history stays.",
            (o.MEMORY, o.AT, o.TEXT_TOKENS),
            results.MEMORY,
            _WRITE,
            changes=True,
            shows=True,
        ),
        Operation(
            "forget",
            "Delete memories with every version and everything derived from them.",
            (o.IDS, o.DRY_RUN),
            results.FORGOTTEN,
            Verb.FORGET,
            destructive=True,
            changes=True,
        ),
        Operation(
            "list_records",
            "List the values that a program stored under keys, in the order of storing, page by page.",
            (o.SPACE, o.KEY_PREFIX, o.EXACT, o.NEWEST, o.RECORD_PAGE, o.CURSOR, o.REFRESH),
            results.RECORDS,
            _READ,
        ),
        Operation(
            "put_records",
            "Store values under keys in one transaction; a value that a key had before is deleted.",
            (o.SPACE, o.RECORDS, o.APPEND),
            results.IDS,
            _WRITE,
            destructive=True,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "move_records",
            "Move the values at or below one key to another key.",
            (o.SPACE, o.KEY_PREFIX.but(default=o.REQUIRED), o.TO),
            results.MOVED,
            _WRITE,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "pop_record",
            "Delete the newest value at or below a key and return it; each is returned once.",
            (o.SPACE, o.KEY_PREFIX),
            results.POPPED,
            Verb.FORGET,
            destructive=True,
            changes=True,
            idempotent=False,
            shows=True,
        ),
        Operation(
            "forget_records",
            "Delete the values at or below a key.",
            (o.SPACE, o.KEY_PREFIX, o.EXACT),
            results.RECORDS_FORGOTTEN,
            Verb.FORGET,
            destructive=True,
            changes=True,
        ),
        Operation(
            "used",
            "Record that memories were useful: they count as accessed now.",
            (o.IDS, o.RECALL_ID),
            results.USED,
            _WRITE,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "history", "Return every version of one memory, oldest first.", _ONE, results.HISTORY, _READ
        ),
        Operation(
            "source",
            "Return the raw text that a memory comes from, and where in it the memory stands.",
            _ONE,
            results.SOURCE,
            _READ,
        ),
        Operation(
            "diff",
            "Compare what a bank believed at two moments.",
            (o.EARLIER, o.LATER, o.TEXT_TOKENS),
            results.DIFF,
            _READ,
        ),
        Operation(
            "entities",
            "List people, places and things, most mentioned first.",
            (o.ENTITY_LIMIT, o.NAMED),
            results.ENTITIES,
            _READ,
        ),
        Operation(
            "get_entity",
            "Show an entity: what mentions it, what is mentioned beside it, and what was merged into it.",
            (*o.GET_ENTITY, o.TEXT_TOKENS),
            results.ENTITY_DETAILS,
            _READ,
        ),
        Operation(
            "add_alias",
            "Add another name of an entity, used from now on.",
            (o.ENTITY, o.ALIAS),
            results.ALIAS,
            _WRITE,
            changes=True,
        ),
        Operation(
            "remove_alias",
            "Remove another name of an entity, as if it had never been added.",
            (o.ENTITY, o.OTHER_NAME),
            results.ALIAS,
            _WRITE,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "merge_entities",
            "Merge one entity into another.",
            (o.ENTITY, o.INTO),
            results.MERGE,
            _WRITE,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "undo_merge",
            "Undo a merge of two entities.",
            (o.MERGE,),
            results.UNDONE,
            _WRITE,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "settle",
            "Link memories that were stored in large batches to their neighbours; recall works meanwhile.",
            (o.SETTLE_MOST,),
            results.SETTLED,
            _WRITE,
            changes=True,
        ),
        Operation(
            "brief",
            "Summarise for the next session what is pinned, relevant, decided, open and changed, with ids.",
            (o.TASK, o.BRIEF_TOKENS, o.PROFILE, o.PROJECT, o.BRIEF_STANDING),
            results.BRIEF,
            _READ,
        ),
        Operation(
            "pin",
            "Keep a memory from decay, and first in a brief; with always, in every context that asks.",
            (o.MEMORY, o.ALWAYS),
            results.PINNED,
            _WRITE,
            changes=True,
            alters=True,
        ),
        Operation(
            "unpin",
            "Let a pinned memory age like any other.",
            (o.MEMORY,),
            results.PINNED,
            _WRITE,
            changes=True,
            alters=True,
        ),
        Operation(
            "set_ttl",
            "Set the time to live of memories that are stored without one, in the bank or of a kind.",
            o.SET_TTL,
            results.TTL_DEFAULTS,
            Verb.ADMIN,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "maintain",
            "Promote memories, archive old ones, summarise repeated statements, end expired ones.",
            (o.LIFECYCLE, o.STEPS, o.DRY_RUN),
            results.MAINTAINED,
            Verb.ADMIN,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "activity",
            "Tell what happens in a bank: what is written, and what recalls return, with the exact text.",
            (o.AFTER, o.EVENTS, o.TEXT_TOKENS),
            results.ACTIVITY,
            _READ,
        ),
        Operation(
            "review",
            "List what deserves a person's decision: ends, duplicates, conflicts, unsure days, quarantine.",
            (o.REVIEW_ITEMS, o.CURSOR, o.INCLUDE_DECIDED, o.TEXT_TOKENS),
            results.REVIEW,
            _READ,
        ),
        Operation(
            "moves",
            "List what maintenance, newer memories and people did to memories, and why.",
            (o.MOVED_MEMORY,),
            results.MOVES,
            _READ,
            owner_only=True,
        ),
        Operation(
            "undo_move",
            "Undo a promotion, an archiving or the end of a memory.",
            (o.MOVE,),
            results.UNDONE,
            Verb.ADMIN,
            changes=True,
            idempotent=False,
            owner_only=True,
        ),
        Operation(
            "archive",
            "Archive memories: they are found on request only; undo_move and used bring them back.",
            (o.IDS,),
            results.ARCHIVED,
            Verb.ADMIN,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "quarantine",
            "Quarantine memories: only a request for the kind quarantine finds or lists them.",
            (o.IDS,),
            results.QUARANTINED,
            Verb.ADMIN,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "release",
            "Take memories out of quarantine.",
            (o.IDS, o.RELEASED_KIND),
            results.RELEASED,
            Verb.ADMIN,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "audit_entries",
            "List the newest rows of the audit log, or of the log of reads: when, who and what; no text.",
            (o.ROWS, o.READS),
            results.AUDIT_ENTRIES,
            Verb.ADMIN,
            owner_only=True,
        ),
        Operation(
            "audit_verify",
            "Verify every checksum of the audit log and of the log of reads.",
            (o.ANCHOR, o.RECALLS_ANCHOR),
            results.AUDITED,
            Verb.ADMIN,
            owner_only=True,
        ),
        Operation(
            "stats",
            "Count what a bank holds; only the owner sees sizes and settings.",
            (),
            results.STATS,
            _READ,
        ),
        Operation(
            "verify",
            "Check a bank for damage; changes nothing.",
            (),
            results.VERIFIED,
            _READ,
        ),
        Operation(
            "export",
            "Export everything in a bank, as of one moment, as lines of JSON.",
            (),
            results.COUNTS,
            Verb.ADMIN,
            stream=Stream.OUT,
            owner_only=True,
        ),
        Operation(
            "backup",
            "Copy a bank, as of one moment, to one file, which `simonides restore` reads.",
            (),
            results.SAVED,
            Verb.ADMIN,
            stream=Stream.OUT,
            media=DATABASE,
            owner_only=True,
        ),
        Operation(
            "import_bank",
            "Import an export: exactly into an empty bank, only what is missing into another.",
            (),
            results.RESTORED,
            Verb.ADMIN,
            changes=True,
            stream=Stream.IN,
            owner_only=True,
        ),
        Operation(
            "list_banks",
            "List the banks of the store that the caller may use.",
            (),
            results.BANKS,
            _READ,
            scope=Scope.STORE,
        ),
        Operation(
            "create_bank",
            "Create a bank, or set the time zone of one that exists.",
            (o.BANK, o.BANK_ZONE),
            results.BANK,
            Verb.ADMIN,
            scope=Scope.STORE,
            changes=True,
        ),
        Operation(
            "delete_bank",
            "Delete a bank with everything in it; whoever has it open gets an error.",
            (o.BANK, o.CONFIRM),
            results.DELETED,
            Verb.ADMIN,
            scope=Scope.STORE,
            destructive=True,
            changes=True,
            owner_only=True,
        ),
    )
}
"""By name, in the order of the reference pages."""


def find_operation(name: str) -> Operation:
    """An operation by name.

    Raises:
        UnknownNameError: there is none; the message offers the nearest one.
    """
    if name not in OPERATIONS:
        raise UnknownNameError("operation", name, OPERATIONS)
    return OPERATIONS[name]
