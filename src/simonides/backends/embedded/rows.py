"""How SQL reads rows of the tables that have checksums: every FROM clause names one of three forms.

    verified("entities e")     the whole row, compared with its checksum
    keys("memories m")         only columns by which rows are found and refer to each other; not compared
    unverified("memories m")   the whole row, not compared; a test lists each use with its reason

A row is compared after all other conditions on it, so a statement compares only the rows that it returns. No
column that is not a key can be read without ``verified`` or ``unverified``; a test scans the SQL of this
package. Values that no writer of this version can have stored raise ``DamagedError`` (``decoded``).
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.backends.embedded.checksums import (
    CHECKSUMS,
    HAS_VECTOR,
    IMMUTABLE,
    check_memory,
    check_row,
    condition,
    memory_checksum,
    row_checksum,
)
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import apsw

Result = TypeVar("Result")

ROW = (*IMMUTABLE, "expired_at")
"""The columns of a row of ``memories`` without its checksums."""

_MAX_SHOWN = 60
_BATCH = 500
_STEP = 32

# Primary keys, columns of indexes, and references.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "embedders": ("fingerprint",),
    "episodes": ("document", "session"),
    "chunks": ("episode",),
    "memories": ("id", "version", "root", "chunk", "content_key"),
    "entities": ("folded",),
    "merges": ("entity",),
    "mentions": ("ordinal", "entity"),
    "links": ("source", "target", "embedder"),
    "jobs": ("task", "ordinal", "not_before"),
    "accesses": ("ordinal",),
    "moves": ("ordinal",),
    "impressions": ("recall",),
}


@cache
def verified(item: str, *, text: bool = False) -> str:
    """A FROM item: rows compared with their checksums; a damaged one makes the statement raise.

    *item*: a table and, after a space, its alias. *text*: of ``episodes``, the raw text, too.
    """
    table, _, alias = item.partition(" ")
    columns = dict.fromkeys(name for each in CHECKSUMS[table] for name in each.covered)
    digests = [each.digest for each in CHECKSUMS[table]]
    if table == "memories":
        columns, digests = dict.fromkeys(ROW), ["digest"]
    elif table == "episodes" and not text:
        columns.pop("text")
        digests.remove("text_digest")
    conditions = " AND ".join(condition(table, digest) for digest in digests)
    return f"(SELECT {', '.join(columns)} FROM {table} WHERE {conditions}) {alias or table}"


@cache
def keys(item: str) -> str:
    """A FROM item: key columns alone, not compared; see ``verified``."""
    table, _, alias = item.partition(" ")
    columns = (*CHECKSUMS[table][0].key, *_KEYS.get(table, ()))
    return f"(SELECT {', '.join(columns)} FROM {table}) {alias or table}"


def unverified(item: str) -> str:
    """A FROM item: whole rows, not compared; see ``verified``."""
    return item


@cache
def insert_into(table: str, columns: str, verb: str = "INSERT") -> str:
    """SQL that inserts one row; *columns* as a list with commas."""
    return f"{verb} INTO {table}({columns}) VALUES ({', '.join('?' * (columns.count(',') + 1))})"


def node_of(alias: str) -> str:
    """SQL for the node of a row of ``memories``: the ordinal of the first version in the same words.

    Links join nodes. Versions in the same words share a raw source, which tells wordings apart, so a recall
    as of an earlier moment finds the old words with their old links.
    """
    return (
        f"CASE WHEN {alias}.ordinal = {alias}.root THEN {alias}.ordinal ELSE (SELECT min(w.ordinal)"
        f" FROM {keys('memories w')} WHERE w.id = {alias}.id AND w.chunk = {alias}.chunk) END"
    )


def parts_of(ordinals: Sequence[int]) -> Iterator[list[int]]:
    """Parts of *ordinals*, padded with the last one to one of a few lengths.

    SQLite prepares a statement for every new number of marks, which takes as long as to read the rows.
    """
    for first in range(0, len(ordinals), _BATCH):
        part = [int(ordinal) for ordinal in ordinals[first : first + _BATCH]]
        yield part + part[-1:] * (-len(part) % _STEP)


def marks_for(part: Sequence[Any]) -> str:
    """A question mark for each of *part*."""
    return ",".join("?" * len(part))


def read_rows(
    connection: apsw.Connection, statement: str, bindings: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement; bytes in place of a text raise ``DamagedError``."""
    try:
        yield from connection.execute(statement, bindings)
    except UnicodeDecodeError as error:
        raise DamagedError(
            f"memory.db: a row holds bytes that are no text ({error.reason}); verify names it"
        ) from error


def in_order(found: Mapping[int, Result], ordinals: Sequence[int]) -> list[Result]:
    """What was found by ordinal, in the order asked for.

    ``DamagedError``: one is missing: a join drops a row that lost its source or labels.
    """
    try:
        return [found[ordinal] for ordinal in ordinals]
    except KeyError as error:
        raise DamagedError(
            f"memory.db: row {error.args[0]} of memories, or what it points at, is missing; "
            "restore the bank from a backup"
        ) from None


# -- whole rows of memories, compared in Python: a fifth faster than SQL, which passes texts as marked bytes

_END = len(IMMUTABLE)
_PLACE = {name: IMMUTABLE.index(name) for name in ("ordinal", "id", "path", "project", "tags", "acl")}
_MEMORY = ", ".join(f"memories.{name}" for name in IMMUTABLE)


def _covered(alias: str, table: str) -> tuple[str, ...]:
    (checksum,) = (each for each in CHECKSUMS[table] if each.digest == "digest")
    return tuple(f"{alias}.{name}" for name in (*checksum.covered, "digest"))


_VECTOR, _CHUNK, _EPISODE = _covered("v", "vectors"), _covered("c", "chunks"), _covered("e", "episodes")
_WHOLE = f"""
SELECT {_MEMORY}, memories.expired_at, memories.digest, memories.end_digest,
  {", ".join((*_VECTOR, *_CHUNK, *_EPISODE))}
FROM {unverified("memories")}
  LEFT JOIN {unverified("vectors v")} ON v.ordinal = memories.ordinal
    AND v.embedder = (SELECT embedder FROM {unverified("meta")})
  LEFT JOIN {unverified("chunks c")} ON c.number = memories.chunk
  LEFT JOIN {unverified("episodes e")} ON e.number = c.episode
WHERE memories.ordinal IN (%s)
"""


def check_rows(connection: apsw.Connection, ordinals: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Compare rows of ``memories``, their vectors, sources and labels with the checksums; 0.03 ms each.

    Returns:
        by ordinal, the columns of ``ROW``.

    Raises:
        DamagedError: one of them is not what was written, or refers to a row that is missing.
    """
    found = {}
    labels: set[int] = set()
    sets: set[int] = set()
    for part in parts_of(ordinals):
        for row in read_rows(connection, _WHOLE % marks_for(part), part):
            _check_whole(row)
            found[row[_PLACE["ordinal"]]] = row[: _END + 1]
            labels |= {row[_PLACE["path"]], row[_PLACE["project"]]}
            sets |= {row[_PLACE["tags"]], row[_PLACE["acl"]]}
    # Most rows share their labels.
    _check_labels(connection, "labels", labels)
    _check_labels(connection, "label_sets", sets)
    return found


def _check_whole(row: tuple[Any, ...]) -> None:
    expired_at, digest, end_digest = row[_END : _END + 3]
    vector, rest = row[_END + 3 :][: len(_VECTOR)], row[_END + 3 + len(_VECTOR) :]
    chunk, episode = rest[: len(_CHUNK)], rest[len(_CHUNK) :]
    check_memory(digest, end_digest, expired_at, row[:_END], embedded=vector[0] is not None)
    if vector[0] is not None:
        check_row("vectors", vector[-1], *vector[:-1])
    if chunk[0] is None or episode[0] is None:
        raise DamagedError(
            f"memory {row[_PLACE['id']]}: its source is missing; forget it, or restore the bank from a backup"
        )
    check_row("chunks", chunk[-1], *chunk[:-1])
    check_row("episodes", episode[-1], *episode[:-1])


def _check_labels(connection: apsw.Connection, table: str, numbers: Collection[int]) -> None:
    missing = set(numbers)
    for part in parts_of(sorted(numbers)):
        statement = f"SELECT number FROM {verified(table)} WHERE number IN ({marks_for(part)})"
        missing.difference_update(number for (number,) in read_rows(connection, statement, part))
    if missing:
        raise DamagedError(
            f"memory.db: {table}: row {min(missing)}, which a memory points at, is missing; "
            "restore the bank from a backup"
        )


def read_version(connection: apsw.Connection, ordinal: int) -> dict[str, Any]:
    """The columns ``ROW`` of a row of ``memories``, by name.

    See ``check_rows``. ``LookupError``: there is none.
    """
    values = check_rows(connection, [ordinal]).get(ordinal)
    if values is None:
        raise LookupError(f"no row {ordinal}")
    return dict(zip(ROW, values, strict=True))


def compare_memories(
    connection: apsw.Connection, condition: str, *bindings: Any
) -> Iterator[tuple[dict[str, Any], bool, bool]]:
    """Rows of ``memories`` by column, whether each is what was written, and whether it has a vector.

    For callers that handle damage themselves.
    """
    statement = f"SELECT {_MEMORY}, memories.digest, {HAS_VECTOR} FROM {unverified('memories')} {condition}"
    for *values, digest, embedded in connection.execute(statement, bindings):
        intact = memory_checksum(values, embedded=bool(embedded)) == digest
        yield dict(zip(IMMUTABLE, values, strict=True)), intact, bool(embedded)


def replace_terms(
    connection: apsw.Connection, row: Mapping[str, Any], *, intact: bool, embedded: bool
) -> None:
    """Store the context and terms of *row*; one that is not *intact* keeps its checksum, which shows it."""
    digest = ", digest=:digest" if intact else ""
    connection.execute(
        f"UPDATE memories SET context=:context, terms=:terms{digest} WHERE ordinal=:ordinal",
        {**row, "digest": row_checksum(row, embedded=embedded)},
    )


# -- stored values


def decoded(read: Callable[[Any], Result], value: object, place: str = "a row") -> Result:
    """*value* as *read* converts it, such as ``Kind`` or ``int``.

    ``DamagedError`` naming *place* where it cannot.
    """
    try:
        return read(value)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise DamagedError(
            f"memory.db: {place} holds {repr(value)[:_MAX_SHOWN]}, which cannot be "
            f"({type(error).__name__}); run verify, and restore the bank from a backup"
        ) from error


def read_names(text: object) -> tuple[str, ...]:
    """A stored JSON list of texts; anything else raises ``DamagedError``."""
    return decoded(_texts, text, "a set of names")


def read_object(text: object, place: str = "a row") -> dict[str, Any]:
    """A stored JSON object; anything else raises ``DamagedError``."""
    return decoded(_object, text, place)


@lru_cache(maxsize=4_096)
def _texts(text: Any) -> tuple[str, ...]:
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise TypeError("no list of texts")
    return tuple(found)


def _object(text: Any) -> dict[str, Any]:
    if text == "{}":
        return {}
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError("no object")
    return found
