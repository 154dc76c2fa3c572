"""Values under keys: each operation reads and writes inside one transaction.

A key is a path in a space; a framework's integration has a space of its own. At most one current value
stands under a key, whoever writes at the same time: ``put`` erases the value before it in the transaction
that stores the new one, and the number of an appended record is taken there, too. See
``records.keyed_record`` for how a memory holds a record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from simonides.errors import ConflictError, InputError, UnknownNameError
from simonides.index.view import tagged
from simonides.options import (
    MAX_METADATA_BYTES,
    MAX_SPACE_CHARACTERS,
    MAX_TEXT_BYTES,
    MOST_RECORDS,
    NOT_OF_A_RECORD,
)
from simonides.records.hygiene import MAX_LABELS, clean_label, clean_switch, clean_text, named_entries, shown
from simonides.records.interval import FOREVER, from_micros
from simonides.records.keyed_record import (
    IN_SOURCE,
    path_in,
    record_of,
    spaces_of,
    tag_of,
    value_is_in_source,
)
from simonides.records.kind import ARCHIVED
from simonides.records.source import Origin
from simonides.records.stamps import start_of_millisecond
from simonides.records.time_to_live import ERASE, NEVER, TimeToLive, read_ttl
from simonides.retain.items import ITEM_KEYS, ORIGIN, canonical_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simonides.records.draft import Prepared
    from simonides.records.keyed_record import KeyedRecord
    from simonides.storage.reader import Reader
    from simonides.storage.writer import WriteTransaction

MAX_VALUE_BYTES = 16 * 1024 * 1024
"""Of one value as JSON."""

_LONGEST_IN_METADATA = 32 * 1024
"""Bytes of a value and its key as JSON up to which it stands in the metadata; else it is the raw source."""

_LONGEST_PATH = MAX_METADATA_BYTES - 1024
"""Bytes of a key as JSON."""

_LONGEST_WORDS = 200_000
_OWN_KEYS = frozenset({"path", "value", "text", "replaces"})
_KEYS = (ITEM_KEYS - NOT_OF_A_RECORD) | _OWN_KEYS
_DIGITS = 12
_READ_AT_ONCE = 100
# Placeholders for what is settled inside the transaction, as long as what takes their place.
_NO_NUMBER = "0" * _DIGITS
_NO_TIME = "0001-01-01T00:00:00.000000+00:00"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One record to put.

    Attributes:
        path: its key; of an appended one that of the records it is added to.
        item: for ``retain``.
        replaces: ids that must be all that stands at or below the path; ``None`` = whatever stands there.
        searched: whether recall finds it by its words.
    """

    path: tuple[str, ...]
    item: Mapping[str, Any]
    replaces: frozenset[str] | None
    searched: bool = True


@dataclass(frozen=True, slots=True)
class KeyedRecords:
    """The records of one space, of 1 to 64 characters, as one principal (``None`` = the owner) sees them.

    Records whose time to live has ended by *now* are not there. ``InputError``: *space* cannot be a name.
    """

    space: str
    principal: str | None
    now: int

    def __post_init__(self) -> None:
        if len(clean_label(self.space, "space")) > MAX_SPACE_CHARACTERS:
            raise InputError("space", f"is longer than {MAX_SPACE_CHARACTERS} characters; shorten it")

    def read(
        self, reading: Reader, path: Sequence[str], *, exact: bool = False, newest: int | None = None
    ) -> list[KeyedRecord]:
        """Records at or below a path, in the order of storing.

        Args:
            path: the beginning of the keys; empty = all records of the space.
            exact: only those at the path itself.
            newest: only so many, those that were stored last.
        """
        parts = clean_path(path, "path")
        if newest is None:
            return list(self._read(reading, parts, exact=exact))
        last = list(islice(self._read(reading, parts, exact=exact, last=newest), newest))
        return last[::-1]

    def wanted(self, records: object, mask: Callable[[str, str], str], *, append: bool) -> list[Wanted]:
        """Check what ``Bank.put_records`` is given; *mask* redacts secrets in JSON: (text, field) → text.

        ``InputError``: a record is wrong, two have the same path, or there are too many.
        """
        clean_switch(append, "append")
        entries = named_entries(records, "records", expected="a list of records")
        if len(entries) > MOST_RECORDS:
            raise InputError("records", f"holds {len(entries):,}, at most {MOST_RECORDS:,} are allowed")
        found = [self._wanted(entry, place, mask, append=append) for place, entry in entries]
        if not append and len({each.path for each in found}) < len(found):
            raise InputError("records", "two have the same path; put the newer one alone")
        return found

    def put(
        self,
        transaction: WriteTransaction,
        items: Sequence[Prepared],
        wanted: Sequence[Wanted],
        write: Callable[[WriteTransaction, Sequence[Prepared]], list[str]],
        erase: Callable[[WriteTransaction, Sequence[str]], int],
        *,
        append: bool,
    ) -> list[str]:
        """Store records in place of those with the same paths, or (*append*) at the end of those below them.

        *items* are *wanted*, prepared; *write* stores prepared items and gives their ids; *erase* erases by
        id.

        Raises:
            ConflictError: what stands at a path is not what its record replaces.
        """
        reading = inside(transaction)
        if append:
            return write(transaction, self._numbered(reading, items, wanted))
        # The next stamp of the bank counts the rows of others.
        mine = self.principal is not None
        now = from_micros(start_of_millisecond(self.now) if mine else transaction.next_instant())
        assert now is not None
        ready, before = [], []
        for item, each in zip(items, wanted, strict=True):
            held = list(self._read(reading, each.path))
            self._check_replaced(each, held)
            old = [record for record in held if len(record.path) == len(each.path)]
            created = min((record.created_at for record in old), default=now)
            stamp = created.isoformat(timespec="microseconds")
            ready.append(self._settled(item, each, created=stamp))
            before += [record.id for record in old]
        ids = write(transaction, ready)
        # After the new ones are there: they may be linked to those that go, whose links go with them.
        erase(transaction, before)
        return ids

    def move(self, transaction: WriteTransaction, path: Sequence[str], to: Sequence[str]) -> int:
        """Give the records at or below *path* keys that begin with *to*; returns how many there were.

        Raises:
            InputError: *to* lies at or below *path*, or the other way round.
            ConflictError: a record stands at or below *to*.
        """
        old, new = clean_path(path, "path"), clean_path(to, "to")
        shorter = min(len(old), len(new))
        if old[:shorter] == new[:shorter]:
            raise InputError("to", "is the same path, or one lies below the other; choose another path")
        reading = inside(transaction)
        if next(self._read(reading, new), None) is not None:
            raise ConflictError(f"records stand at or below {list(new)} already; choose another path")
        moved = list(self._read(reading, old))
        for record in moved:
            self._rename(transaction, record, old, new)
        return len(moved)

    def refresh(self, transaction: WriteTransaction, records: Iterable[KeyedRecord]) -> None:
        """Let records live their time anew from now on."""
        for record in records:
            held = None if record.ttl is None else transaction.versions.current(record.id)
            if held is None or record.ttl is None:
                continue
            due = TimeToLive(read_ttl(record.ttl)).due(self.now)
            transaction.expiries.set(held.root, (ERASE, due))

    def _rename(
        self, transaction: WriteTransaction, record: KeyedRecord, old: tuple[str, ...], new: tuple[str, ...]
    ) -> None:
        held = transaction.versions.current(record.id)
        if held is None:
            raise LookupError(f"no current version of {record.id}")
        path = (*new, *record.path[len(old) :])
        kept, source = json.loads(held.metadata), held.source
        was = kept[self.space]
        was |= {"path": list(path), "created": record.created_at.isoformat(timespec="microseconds")}
        if "value" in was:
            # Version 0.1 wrapped it together with a time.
            was["value"] = record.value
        # A source that names the record by its path names it by the new one.
        ending = "/".join(record.path)
        if source.endswith(f"/{ending}"):
            source = source.removesuffix(ending) + "/".join(path)
        # Tags that are not of this space are the caller's own.
        tags = {
            tag
            for tag in transaction.versions.compared_fields(held.ordinal).tags
            if not tag.startswith(f"{self.space}:")
        }
        changed: dict[str, Any] = {"tags": tuple(sorted(tags | set(self._tags(path)))), "source": source}
        changed["metadata"] = canonical_json(kept, "metadata")
        transaction.versions.revise(held.ordinal, **changed)

    def _read(
        self,
        reading: Reader,
        path: tuple[str, ...],
        *,
        exact: bool = False,
        last: int = 0,
        quarantined: bool = False,
    ) -> Iterator[KeyedRecord]:
        """Records in the order of storing; with *last* backwards, for a caller that wants about so many."""
        ended, tag = reading.roots_due(self.now, ERASE), tag_of(self.space, path)
        held = tagged(reading.snapshot, tag, self.principal, ended, quarantined=quarantined)
        ordinals = held.tolist()
        if last:
            ordinals.reverse()
        first, step = 0, min(last or _READ_AT_ONCE, _READ_AT_ONCE)
        while first < len(ordinals):
            part = ordinals[first : first + step]
            first, step = first + step, _READ_AT_ONCE
            memories = reading.memories(part)
            apart = [memory.ordinal for memory in memories if value_is_in_source(memory, self.space)]
            sources = dict(zip(apart, reading.sources(apart), strict=True))
            for memory in memories:
                record = record_of(memory, self.space, sources.get(memory.ordinal))
                if record is not None and not (exact and len(record.path) != len(path)):
                    yield record

    def _wanted(self, entry: object, place: str, mask: Callable[[str, str], str], *, append: bool) -> Wanted:
        if not isinstance(entry, Mapping):
            raise InputError(place, f"expected a mapping with path and value, got {type(entry).__name__}")
        for key in entry:
            if key not in _KEYS:
                raise UnknownNameError(place, str(key)[:60], _KEYS)
        for key in ("path", "value"):
            if key not in entry:
                raise InputError(f"{place}.{key}", "is missing")
        path = clean_path(entry["path"], f"{place}.path")
        replaces = entry.get("replaces")
        if replaces is not None:
            if append:
                raise InputError(f"{place}.replaces", "an appended record replaces nothing; leave it out")
            named = named_entries(replaces, f"{place}.replaces", expected="a list of ids")
            replaces = frozenset(clean_text(memory, name, 64) for name, memory in named)
        kept: dict[str, Any] = {"path": [*path, _NO_NUMBER] if append else list(path), "created": _NO_TIME}
        item = {name: given for name, given in entry.items() if name not in _OWN_KEYS}
        item |= _ttl(entry, place, kept)
        item |= self._held(entry, place, kept, mask)
        item |= {"tags": self._tags(path), "metadata": {self.space: kept}, "deduplicate": False}
        text = entry.get("text")
        return Wanted(path, item, replaces, not isinstance(text, str) or bool(text.strip()))

    def _held(
        self, entry: Mapping[str, Any], place: str, kept: dict[str, Any], mask: Callable[[str, str], str]
    ) -> dict[str, Any]:
        """The words of a record, and its value: in the metadata *kept*, as the source, or as the words."""
        value, text = entry["value"], entry.get("text")
        words = "" if text is None else clean_text(text, f"{place}.text", MAX_TEXT_BYTES)
        if value == words and words.strip():
            return {"text": words}
        written = _json(value, f"{place}.value")
        if not words.strip():
            words = written[:_LONGEST_WORDS]
        size = len(written.encode()) + _size_of(kept["path"])
        if size <= _LONGEST_IN_METADATA and _fits_metadata(value):
            kept["value"] = value
            return {"text": words}
        kept[IN_SOURCE] = True
        masked = mask(written, f"{place}.value")
        return {"text": words, ORIGIN: Origin(masked, 0, len(masked))}

    def _tags(self, path: tuple[str, ...]) -> list[str]:
        return [tag_of(self.space, path[:length]) for length in range(len(path) + 1)]

    def _check_replaced(self, wanted: Wanted, held: Sequence[KeyedRecord]) -> None:
        if wanted.replaces is not None and wanted.replaces != {record.id for record in held}:
            there = ", ".join(sorted(record.id for record in held)[:5]) or "nothing"
            raise ConflictError(
                f"what stands at {list(wanted.path)} is {there}, not what was to be replaced; read it again"
            )

    def _numbered(
        self, reading: Reader, items: Sequence[Prepared], wanted: Sequence[Wanted]
    ) -> list[Prepared]:
        """Appended records with their numbers: those after the last record that stands there."""
        last: dict[tuple[str, ...], int] = {}
        ready = []
        for item, each in zip(items, wanted, strict=True):
            if each.path not in last:
                last[each.path] = self._last_number(reading, each.path)
            last[each.path] += 1
            ready.append(self._settled(item, each, number=f"{last[each.path]:0{_DIGITS}}"))
        return ready

    def _last_number(self, reading: Reader, path: tuple[str, ...]) -> int:
        # What is in quarantine may come back, and keeps its number.
        for record in self._read(reading, path, last=1, quarantined=True):
            if len(record.path) == len(path) + 1 and record.path[-1].isdecimal():
                return int(record.path[-1])
        return 0

    def _settled(self, item: Prepared, wanted: Wanted, *, created: str = "", number: str = "") -> Prepared:
        """A prepared record with what is known inside the transaction alone."""
        metadata = json.loads(item.draft.metadata_json)
        kept = metadata[self.space]
        if number:
            kept["path"][-1] = number
            # It is never replaced, so it was created when it was stored.
            del kept["created"]
        else:
            kept["created"] = created
        # What has no words is found by its key alone: recall passes over what is archived.
        draft = replace(
            item.draft,
            metadata_json=canonical_json(metadata, "metadata"),
            state=0 if wanted.searched else ARCHIVED,
        )
        return replace(item, draft=draft)


def _ttl(entry: Mapping[str, Any], place: str, kept: dict[str, Any]) -> dict[str, Any]:
    """The time to live of a record, noted in its metadata *kept*: it is erased then, never archived."""
    if entry.get("on_expiry") not in (None, ERASE):
        raise InputError(f"{place}.on_expiry", "a record is erased when its time ends; leave it out")
    if entry.get("ttl") is None:
        # The bank's own is for what people and models retain.
        return {"ttl": NEVER}
    micros = read_ttl(entry["ttl"], f"{place}.ttl")
    if micros != FOREVER:
        kept["ttl"] = micros / 1_000_000
    return {"on_expiry": ERASE}


def inside(transaction: WriteTransaction) -> Reader:
    """The bank as it was when a write transaction began, for reading inside it."""
    return transaction.reading


def check_keys(transaction: WriteTransaction, ordinals: Iterable[int]) -> None:
    """Raise ``ConflictError`` when one of *ordinals*, to leave quarantine, has a key that another uses."""
    reading = inside(transaction)
    due = reading.roots_due(transaction.now, ERASE)
    back = reading.memories(list(ordinals))
    for at, memory in enumerate(back):
        for space in spaces_of(memory.metadata, memory.tags):
            path = memory.metadata[space]["path"]
            beside = tagged(reading.snapshot, tag_of(space, path), None, due).tolist()
            for other in (*reading.memories(beside), *back[:at]):
                there = path_in(other, space) == path
                if there and (not memory.acl or not other.acl or {*memory.acl} & {*other.acl}):
                    raise ConflictError(
                        f"another value stands under the key {shown(path)} of {space!r} by now"
                        f" ({other.id}); forget or move it first, or forget {memory.id}"
                    )


def clean_path(path: object, place: str) -> tuple[str, ...]:
    """A path as it is; ``InputError`` when it is no list of strings, or too long."""
    entries = path if isinstance(path, list | tuple) else None
    if entries is None:
        raise InputError(place, f"expected a list of strings, got {shown(path)}")
    if len(entries) >= MAX_LABELS:
        raise InputError(place, f"has {len(entries):,} parts, fewer than {MAX_LABELS:,} are allowed")
    path = tuple(clean_text(part, f"{place}[{at}]", MAX_METADATA_BYTES) for at, part in enumerate(entries))
    if (size := _size_of(path)) > _LONGEST_PATH:
        raise InputError(
            place, f"has {size:,} bytes as JSON, at most {_LONGEST_PATH:,} are allowed; shorten it"
        )
    return path


def _size_of(path: Sequence[str]) -> int:
    return len(json.dumps(path, ensure_ascii=False).encode())


def _fits_metadata(value: object) -> bool:
    """Whether metadata may hold a value: no NUL, no half of a character, not too deep."""
    try:
        canonical_json({"value": value}, "value")
    except InputError:
        return False
    return True


def _json(value: object, place: str) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(place, f"cannot be written as JSON ({error})") from None
    return clean_text(text, place, MAX_VALUE_BYTES, remedy="keep it elsewhere and store where it is")
