"""Each operation once: what it is called, what it takes, what it may do, and how it is done.

The name of an operation is the same at every door, and so are its parameters. ``call`` is handed a bank that
is opened for the caller's principal already; it can see and change no more than the bank lets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from simonides.errors import UnknownNameError
from simonides.surfaces.operations import calls, requests, results
from simonides.surfaces.operations.parameters import Parameter, bind, parameters_of, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simonides.surfaces.operations.schemas import Schema


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
        name: at every door.
        help: a sentence for people and models.
        request: dataclass of its parameters.
        result: JSON Schema of its answer, with a ``title``.
        verb: what a token must allow.
        call: does it. Of a bank: (``Bank``, request) → JSON-ready answer. Of a store: (``Store``, request) →
            the same. A stream out: (``Bank``, request, binary file to write) → answer. A stream in:
            (``Bank``, request, path of the lines) → answer.
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
    request: type[Any]
    result: Schema
    verb: Verb
    call: Callable[..., Mapping[str, Any]]
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
    def parameters(self) -> tuple[Parameter, ...]:
        """In order."""
        return parameters_of(self.request)

    @property
    def schema(self) -> Schema:
        """JSON Schema of the request."""
        return schema_of(self.request)

    def bind(self, values: Mapping[str, object]) -> Any:
        """A request from named values.

        Raises:
            UnknownNameError: a parameter that does not exist, with the nearest one that does.
            InputError: one is missing or wrong.
        """
        return bind(self.request, values, place=self.name)


_READ, _WRITE = Verb.READ, Verb.WRITE

OPERATIONS: Mapping[str, Operation] = {
    each.name: each
    for each in (
        Operation(
            "retain",
            "Store memories durably, all of them or none; gives one id per item.",
            requests.Retain,
            results.RETAINED,
            _WRITE,
            calls.retain,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "retain_document",
            "Store a document by paragraphs, in place of what the bank holds of it.",
            requests.RetainDocument,
            results.IDS,
            _WRITE,
            calls.retain_document,
            changes=True,
        ),
        Operation(
            "retain_conversation",
            "Store a conversation by turns; turns that are there already are not stored again.",
            requests.RetainConversation,
            results.RETAINED,
            _WRITE,
            calls.retain_conversation,
            changes=True,
        ),
        Operation(
            "recall",
            "Find the memories that answer a query, best first, with a context for a prompt.",
            requests.Recall,
            results.RECALL,
            _READ,
            calls.recall,
        ),
        Operation(
            "get_job",
            "Give the better answer of a recall of the async tier, once it is there.",
            requests.GetJob,
            results.JOB,
            _READ,
            calls.get_job,
        ),
        Operation(
            "reflect",
            "Answer a question from what is recalled, by a language model, with citations that were checked.",
            requests.Reflect,
            results.REFLECTION,
            _READ,
            calls.reflect,
            idempotent=False,
        ),
        Operation(
            "explain",
            "Say of each hit of a recall why it stands where it does, stage by stage.",
            requests.Explain,
            results.EXPLANATIONS,
            _READ,
            calls.explain,
        ),
        Operation(
            "why_not",
            "Say which stage of a recall lost a memory, by how much, and what would keep it.",
            requests.WhyNot,
            results.WHY_NOT,
            _READ,
            calls.why_not,
        ),
        Operation(
            "get_memory",
            "Show the newest version of one memory.",
            requests.OneMemory,
            results.MEMORY,
            _READ,
            calls.get_memory,
        ),
        Operation(
            "list_memories",
            "List what the bank holds at a viewpoint, page by page, in the order of ids.",
            requests.ListMemories,
            results.PAGE,
            _READ,
            calls.list_memories,
        ),
        Operation(
            "update_memory",
            "Change what a memory says, or what is noted about it, as a new version of it.",
            requests.UpdateMemory,
            results.MEMORY,
            _WRITE,
            calls.update_memory,
            changes=True,
            alters=True,
            shows=True,
        ),
        Operation(
            "invalidate",
            "End what a memory states; it is kept, and recall at an earlier moment still finds it.",
            requests.Invalidate,
            results.MEMORY,
            _WRITE,
            calls.invalidate,
            changes=True,
            shows=True,
        ),
        Operation(
            "forget",
            "Erase memories with every version and all that was derived from them, for good.",
            requests.Forget,
            results.FORGOTTEN,
            Verb.FORGET,
            calls.forget,
            destructive=True,
            changes=True,
        ),
        Operation(
            "list_records",
            "Read the values that a framework stored under keys, in the order of storing, page by page.",
            requests.ListRecords,
            results.RECORDS,
            _READ,
            calls.list_records,
        ),
        Operation(
            "put_records",
            "Store values under keys in one transaction; a value that stood under a key is erased.",
            requests.PutRecords,
            results.IDS,
            _WRITE,
            calls.put_records,
            destructive=True,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "move_records",
            "Give the values at or below one key keys that begin with another.",
            requests.MoveRecords,
            results.MOVED,
            _WRITE,
            calls.move_records,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "pop_record",
            "Erase the value at or below a key that was stored last, and give it; each is given once.",
            requests.RecordsBelow,
            results.POPPED,
            Verb.FORGET,
            calls.pop_record,
            destructive=True,
            changes=True,
            idempotent=False,
            shows=True,
        ),
        Operation(
            "forget_records",
            "Erase the values at or below a key, for good.",
            requests.ForgetRecords,
            results.RECORDS_FORGOTTEN,
            Verb.FORGET,
            calls.forget_records,
            destructive=True,
            changes=True,
        ),
        Operation(
            "used",
            "Say that memories were of use: they count as accessed, now.",
            requests.Used,
            results.USED,
            _WRITE,
            calls.used,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "history",
            "Show every version of one memory, oldest first.",
            requests.OneMemory,
            results.HISTORY,
            _READ,
            calls.history,
        ),
        Operation(
            "source",
            "Show the raw text that a memory comes from, and the part of it that the memory tells.",
            requests.OneMemory,
            results.SOURCE,
            _READ,
            calls.source,
        ),
        Operation(
            "diff",
            "Show what the bank believed at one moment and at another.",
            requests.Diff,
            results.DIFF,
            _READ,
            calls.diff,
        ),
        Operation(
            "entities",
            "List who and what is spoken of, most mentioned first.",
            requests.Entities,
            results.ENTITIES,
            _READ,
            calls.entities,
        ),
        Operation(
            "add_alias",
            "Let another name stand for an entity from now on.",
            requests.AddAlias,
            results.ALIAS,
            _WRITE,
            calls.add_alias,
            changes=True,
        ),
        Operation(
            "merge_entities",
            "Let one entity count as another from now on.",
            requests.MergeEntities,
            results.MERGE,
            _WRITE,
            calls.merge_entities,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "undo_merge",
            "Tell the two entities of a merge apart again.",
            requests.UndoMerge,
            results.UNDONE,
            _WRITE,
            calls.undo_merge,
            changes=True,
            idempotent=False,
        ),
        Operation(
            "settle",
            "Compare what large batches stored without comparing it; recall works meanwhile.",
            requests.Settle,
            results.SETTLED,
            _WRITE,
            calls.settle,
            changes=True,
        ),
        Operation(
            "brief",
            "Sum up for the next session what is pinned, relevant, decided, open and changed, with ids.",
            requests.Brief,
            results.BRIEF,
            _READ,
            calls.brief,
        ),
        Operation(
            "pin",
            "Keep a memory from decay and first in a brief; with always, in every context that asks.",
            requests.Pin,
            results.PINNED,
            _WRITE,
            calls.pin,
            changes=True,
            alters=True,
        ),
        Operation(
            "unpin",
            "Let a pinned memory age like any other.",
            requests.Unpin,
            results.PINNED,
            _WRITE,
            calls.unpin,
            changes=True,
            alters=True,
        ),
        Operation(
            "set_ttl",
            "Give memories of the bank, or of a kind, that state no time to live one from now on.",
            requests.SetTtl,
            results.TTL_DEFAULTS,
            Verb.ADMIN,
            calls.set_ttl,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "maintain",
            "Move memories up, put old ones away, sum up what is said again, end what has lived its time.",
            requests.Maintain,
            results.MAINTAINED,
            Verb.ADMIN,
            calls.maintain,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "moves",
            "Show what maintenance and newer memories did to memories, and why.",
            requests.Moves,
            results.MOVES,
            _READ,
            calls.moves,
            owner_only=True,
        ),
        Operation(
            "undo",
            "Take back a promotion, an archiving, or that a newer memory ended one.",
            requests.Undo,
            results.UNDONE,
            Verb.ADMIN,
            calls.undo,
            changes=True,
            idempotent=False,
            owner_only=True,
        ),
        Operation(
            "quarantine",
            "Set memories aside, so that only who asks for the kind quarantine finds or lists them.",
            requests.Quarantine,
            results.QUARANTINED,
            Verb.ADMIN,
            calls.quarantine,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "release",
            "Take memories out of quarantine.",
            requests.Release,
            results.RELEASED,
            Verb.ADMIN,
            calls.release,
            changes=True,
            owner_only=True,
        ),
        Operation(
            "audit_entries",
            "Show the newest rows of the audit log, or of that of recalls: when, who and what; no text.",
            requests.AuditEntries,
            results.AUDIT_ENTRIES,
            Verb.ADMIN,
            calls.audit_entries,
            owner_only=True,
        ),
        Operation(
            "audit_verify",
            "Check every seal of the audit log and of that of recalls.",
            requests.AuditVerify,
            results.AUDITED,
            Verb.ADMIN,
            calls.audit_verify,
            owner_only=True,
        ),
        Operation(
            "stats",
            "Count what the bank holds; sizes and all else for its owner only.",
            requests.Nothing,
            results.STATS,
            _READ,
            calls.stats,
        ),
        Operation(
            "verify",
            "Check rows and everything derived from them; changes nothing.",
            requests.Nothing,
            results.VERIFIED,
            _READ,
            calls.verify,
        ),
        Operation(
            "export",
            "Write everything in the bank without loss, as it is at one moment, as lines of JSON.",
            requests.Nothing,
            results.COUNTS,
            Verb.ADMIN,
            calls.export,
            stream=Stream.OUT,
            owner_only=True,
        ),
        Operation(
            "backup",
            "Copy the rows as one file, as they are at one moment; restore puts it back at the machine.",
            requests.Nothing,
            results.SAVED,
            Verb.ADMIN,
            calls.backup,
            stream=Stream.OUT,
            media=DATABASE,
            owner_only=True,
        ),
        Operation(
            "import",
            "Read an export: exactly into an empty bank, what is missing into any other.",
            requests.Nothing,
            results.RESTORED,
            Verb.ADMIN,
            calls.import_bank,
            changes=True,
            stream=Stream.IN,
            owner_only=True,
        ),
        Operation(
            "list_banks",
            "List the banks of the store that the caller may use.",
            requests.Nothing,
            results.BANKS,
            _READ,
            calls.list_banks,
            scope=Scope.STORE,
        ),
        Operation(
            "create_bank",
            "Create a bank, or set the time zone of one that exists.",
            requests.CreateBank,
            results.BANK,
            Verb.ADMIN,
            calls.create_bank,
            scope=Scope.STORE,
            changes=True,
        ),
        Operation(
            "delete_bank",
            "Delete a bank with everything in it, for good; whoever has it open is told.",
            requests.DeleteBank,
            results.DELETED,
            Verb.ADMIN,
            calls.delete_bank,
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
