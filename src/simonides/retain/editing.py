"""Changes what is noted about a memory: a new version of it, whose words, names and links stay.

Other words make more of a difference: see ``rewording``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simonides.errors import ConflictError, InputError
from simonides.options import AS_TOLD
from simonides.records.interval import FOREVER
from simonides.records.keyed_record import spaces_of
from simonides.records.time_to_live import ERASE, EXPIRE, TimeToLive
from simonides.retain.items import read_items

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from simonides.records.draft import Draft
    from simonides.records.memory import Memory
    from simonides.storage.writer import WriteTransaction

EDITABLE = (
    "text", "event_time", "kind", "layer", "tags", "project", "metadata", "source", "path", "salience",
    "confidence", "ttl",
)  # fmt: skip


def read_changes(changes: Mapping[str, Any], zone: tzinfo) -> Mapping[str, Any]:
    """The changes that were given, checked as ``retain`` checks them; ``None`` = not given.

    An event time is called ``occurred``; there ``None`` = as the words say.

    ``InputError``: one of them is wrong, or there is none.
    """
    named = {name: value for name, value in changes.items() if value is not None}
    if not named:
        raise InputError("changes", f"are missing; give at least one of {', '.join(EDITABLE)}")
    given = {name: value for name, value in named.items() if (name, value) != ("event_time", AS_TOLD)}
    draft = read_items({"text": "unchanged", **given}, {}, zone=zone)[0]
    return dict(_value(draft, name) for name in EDITABLE if name in named)


def _value(draft: Draft, name: str) -> tuple[str, Any]:
    if name == "event_time":
        return "occurred", draft.occurred
    return name, draft.metadata_json if name == "metadata" else getattr(draft, name)


def check_rewordable(memory: Memory, name: str) -> None:
    """Raise ``InputError`` of *name* for a memory that sums up others, or holds a value under a key."""
    if memory.consolidated:
        raise InputError(name, "sums up other memories; change what those say, and maintain the bank")
    space = next(iter(spaces_of(memory.metadata, memory.tags)), None)
    if space is not None:
        raise InputError(name, f"is of a value under a key of {space!r}; put the new value there")


def check_version(memory: str, version: int, expected: int | None) -> None:
    """Raise ``ConflictError`` where the caller has seen another version than the one to change."""
    if expected is not None and version != expected:
        raise ConflictError(
            f"memory {memory!r} is at version {version}, not {expected}: it was changed meanwhile; "
            "read it again, and change that version"
        )


def edit(transaction: WriteTransaction, ordinal: int, changes: Mapping[str, Any]) -> None:
    """Write the new version; none when every change is there already.

    ``InputError``: they would take a value from under its key, or put another one there.
    """
    if not changes:
        return
    _check_key(transaction, ordinal, changes)
    if not transaction.versions.differs(ordinal, changes):
        return
    memory = transaction.versions.read(ordinal).id
    due = transaction.reading.due(transaction.now)
    ended = [each for each in due if (each.memory, each.task) == (memory, EXPIRE)]
    # What is written after its end must not count as brought back.
    if transaction.maintenance.end_due(ended) and (held := transaction.versions.current(memory)):
        ordinal = held.ordinal
    transaction.versions.revise(ordinal, **changes)


def live(transaction: WriteTransaction, memory: str, ttl: int | None) -> None:
    """Set a memory's time to live from now on, in microseconds; an archived one becomes current again.

    ``FOREVER`` = it never ends, ``None`` = as it was. Its expiry action stays; without one it is archived.

    Raises:
        InputError: it holds a value under a key, or would be erased sooner, which is for ``forget``.
    """
    if ttl is None:
        return
    transaction.maintenance.return_archived(memory, "given a time to live")
    held = transaction.versions.current(memory)
    if held is None:
        return
    tags = transaction.versions.compared_fields(held.ordinal).tags
    space = next(iter(spaces_of(json.loads(held.metadata), tags)), None)
    if space is not None:
        raise InputError("ttl", f"is of a value under a key of {space!r}; put the value there with it")
    task, end = transaction.expiries.read(held.root) or (EXPIRE, FOREVER)
    due = TimeToLive(ttl).due(transaction.now)
    if task == ERASE and due < end:
        raise InputError("ttl", "would erase it sooner than it says; give a longer one, or forget it")
    transaction.expiries.set(held.root, None if due == FOREVER else (task, due))


def _check_key(transaction: WriteTransaction, ordinal: int, changes: Mapping[str, Any]) -> None:
    if not {"metadata", "tags"} & changes.keys():
        return
    metadata = json.loads(transaction.versions.read(ordinal).metadata)
    tags = transaction.versions.compared_fields(ordinal).tags
    wanted = json.loads(changes["metadata"]) if "metadata" in changes else metadata
    for space in spaces_of(metadata, tags):
        if wanted.get(space) != metadata[space]:
            raise InputError("metadata", f"hold a value under a key of {space!r}; put the new value there")
        keys = {tag for tag in tags if tag.startswith(f"{space}:")}
        if "tags" in changes and not keys <= set(changes["tags"]):
            raise InputError("tags", f"are the key of a value of {space!r}; give all that begin with it, too")
