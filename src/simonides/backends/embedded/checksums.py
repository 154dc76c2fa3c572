"""Checksums of rows: BLAKE2b over the columns, each value with its type and length.

Triggers compute the checksum of every table but ``memories``, so no writer can leave it out; a bulk writer
passes checksums that it computed itself (``checksum_of``). The checksum of a row of ``memories`` is computed
by its writer (``memory_checksum``), except that of ``expired_at``. ``rows.verified`` compares rows when they
are read, ``find_damage`` compares all. ``changes`` and ``audit`` are hash chains instead. Cost: about 4 µs
per row written, 3 µs per row read, 15 µs per row of ``memories``. A checksum finds damage; it does not prove
origin.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import apsw

from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    Value = int | float | bytes | str | None

IMMUTABLE = (
    "ordinal", "id", "version", "root", "chunk", "kind", "layer", "text", "context", "relation", "expansion",
    "path", "project", "tags", "acl", "valid_from", "valid_from_precision", "valid_to", "valid_to_precision",
    "ingested_at", "occurred_from", "occurred_to", "occurred_precision", "salience", "confidence",
    "proof_count", "access_count", "last_access", "source", "metadata", "superseded_by", "state", "signature",
    "terms", "content_key",
)  # fmt: skip
"""Columns of ``memories`` that never change after they were written."""

MISSING = bytes(8)
"""The default of a checksum column; the insert trigger replaces it."""

_MAX_SHOWN = 60
_hash = hashlib.blake2b
_double = struct.Struct("<d").pack
_ID = IMMUTABLE.index("id")
_ORDINAL_PLACE = IMMUTABLE.index("ordinal")
# Made once: ``json.dumps`` makes a new encoder at every call that asks for anything special.
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Checksum:
    """The primary *key* and the other *columns* that one checksum covers, and the column that holds it."""

    key: tuple[str, ...]
    columns: tuple[str, ...]
    digest: str = "digest"

    @property
    def covered(self) -> tuple[str, ...]:
        return self.key + self.columns


_NUMBER, _ORDINAL = ("number",), ("ordinal",)

CHECKSUMS: Mapping[str, tuple[Checksum, ...]] = {
    "meta": (
        Checksum(
            ("one",),
            (
                "bank", "epoch", "sequence", "log_hash", "generation", "next_ordinal", "last_ingested",
                "embedder", "analyser", "numbers",
            ),
        ),
    ),
    "embedders": (Checksum(_NUMBER, ("fingerprint", "name", "dimension")),),
    # The text apart, because most readers want all but it and a text may be long.
    "episodes": (
        Checksum(_NUMBER, ("text",), "text_digest"),
        Checksum(_NUMBER, ("source", "document", "session", "speaker", "author", "trust", "recorded_at")),
    ),
    "chunks": (Checksum(_NUMBER, ("episode", "start", "stop")),),
    "labels": (Checksum(_NUMBER, ("text",)),),
    "label_sets": (Checksum(_NUMBER, ("names",)),),
    "memories": (Checksum(_ORDINAL, ("expired_at",), "end_digest"),),
    "vectors": (Checksum(("ordinal", "embedder"), ("scale", "codes")),),
    "reembedding": (Checksum(("one",), ("embedder", "begun_at", "linked")),),
    "token_codes": (Checksum(("ordinal", "embedder"), ("codes",)),),
    "sparse_encoder": (Checksum(("one",), ("fingerprint", "name")),),
    "sparse_terms": (Checksum(_ORDINAL, ("terms",)),),
    "entities": (Checksum(_NUMBER, ("name", "folded", "kind", "scope", "qualifier")),),
    "aliases": (Checksum(("folded", "entity"), ("name", "added_at")),),
    "merges": (Checksum(_NUMBER, ("entity", "into_entity", "merged_at", "undone_at")),),
    "mentions": (Checksum(_NUMBER, ("ordinal", "entity")),),
    "relations": (Checksum(("ordinal", "name", "subject", "object"), ("single_valued",)),),
    "statements": (Checksum(("ordinal", "subject", "attribute"), ()),),
    "links": (Checksum(_NUMBER, ("source", "target", "kind", "weight", "embedder")),),
    "idempotency": (Checksum(("key",), ("body", "ids")),),
    "jobs": (Checksum(_NUMBER, ("task", "ordinal", "tries", "not_before", "problem")),),
    "enrichments": (Checksum(_ORDINAL, ("base", "model")),),
    "accesses": (Checksum(_NUMBER, ("ordinal", "accessed_at", "principal")),),
    "moves": (Checksum(_NUMBER, ("ordinal", "action", "was", "became", "reason", "made_at", "undone_at")),),
    "evidence": (Checksum(("observation", "source", "known_from"), ("stance", "known_to")),),
    "impressions": (Checksum(_NUMBER, ("recall", "principal", "made_at", "embedder", "scale", "codes")),),
    "shown": (Checksum(("impression", "ordinal"), ("features", "accessed", "used")),),
}  # fmt: skip
"""By table, the checksums of a row; ``memories`` has another one, over ``IMMUTABLE``."""


def add_functions(connection: apsw.Connection) -> None:
    """Register the SQL functions that compute and compare checksums."""
    functions: Mapping[str, Callable[..., bytes | int]] = {
        # Triggers in stored banks call it by this name.
        "simonides_seal": _from_sql,
        "simonides_verified": _compare,
        "simonides_verified_memory": _compare_memory,
    }
    for name, function in functions.items():
        connection.create_scalar_function(name, function, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def triggers(tables: AbstractSet[str]) -> str:
    """SQL that creates the triggers of *tables*, in the order of ``CHECKSUMS``."""
    return "\n".join(
        _trigger(table, event) for table in CHECKSUMS if table in tables for event in ("INSERT", "UPDATE")
    )


def condition(table: str, digest: str = "digest") -> str:
    """SQL that is true for an intact row of *table* and raises ``DamagedError`` for any other."""
    # A subquery, because SQLite puts the constants of other conditions in the place of columns beside them.
    if (table, digest) == ("memories", "digest"):
        columns = ", ".join(f"memories.{name}" for name in IMMUTABLE)
        ends = "memories.end_digest, memories.expired_at"
        return f"(SELECT simonides_verified_memory(memories.digest, {HAS_VECTOR}, {ends}, {columns}))"
    (checksum,) = (each for each in CHECKSUMS[table] if each.digest == digest)
    columns = ", ".join(f"{table}.{name}" for name in (digest, *checksum.covered))
    return f"(SELECT simonides_verified('{table}', {columns}))"


HAS_VECTOR = (
    "EXISTS (SELECT 1 FROM vectors x WHERE x.ordinal = memories.ordinal"
    " AND x.embedder = (SELECT embedder FROM meta))"
)
"""SQL: whether a row of ``memories`` has a vector of the bank's embedder, which its checksum covers, too."""


def memory_checksum(values: Sequence[Any], *, embedded: bool) -> bytes:
    """16 bytes over the ``IMMUTABLE`` columns of a row of ``memories``, and whether it has a vector."""
    blobs = [value for value in values if type(value) is bytes]
    # The text holds the length of a blob; its bytes follow.
    plain = [len(value) if type(value) is bytes else value for value in values]
    plain.append(bool(embedded))
    return _hash(b"\0".join((_compact(plain).encode(), *blobs)), digest_size=16).digest()


def row_checksum(row: Mapping[str, Any], *, embedded: bool) -> bytes:
    """``memory_checksum`` of a row by column name."""
    return memory_checksum([row[name] for name in IMMUTABLE], embedded=embedded)


def check_memory(
    digest: Value, end_digest: Value, expired_at: Value, values: Sequence[Value], *, embedded: bool
) -> None:
    """Compare a row of ``memories``, *values* in the order of ``IMMUTABLE``.

    ``DamagedError`` if it differs.
    """
    if memory_checksum(values, embedded=embedded) != digest:
        raise DamagedError(
            f"memory {values[_ID]!s}: its row is not what was written; forget it, or restore the bank from a "
            "backup"
        )
    check_row("memories", end_digest, values[_ORDINAL_PLACE], expired_at)


def check_row(table: str, digest: Value, *values: Value) -> None:
    """Compare a row, *values* as ``Checksum.covered`` names them; ``DamagedError`` if it differs."""
    if checksum_of(*values) != digest:
        raise _damaged(table, values)


def checksum_of(*values: Value) -> bytes:
    """The checksum that the trigger would compute; values in SQLite's types (float in REAL columns)."""
    parts = []
    for value in values:
        if type(value) is int:
            parts.append(b"%d;" % value)
        elif isinstance(value, str):
            text = value.encode()
            parts.append(b"b%d:t%b" % (len(text) + 1, text))
        else:
            parts.append(_part(value))
    return _hash(b"".join(parts), digest_size=8).digest()


def numbers_checksum(*numbers: int) -> bytes:
    """``checksum_of`` integers."""
    return _hash(b"%d;" * len(numbers) % numbers, digest_size=8).digest()


def text_checksum(number: int, text: str) -> bytes:
    """``checksum_of`` a number and a text."""
    encoded = text.encode()
    return _hash(b"%d;b%d:t%b" % (number, len(encoded) + 1, encoded), digest_size=8).digest()


def vector_checksum(ordinal: int, embedder: int, scale: float, codes: bytes) -> bytes:
    """``checksum_of`` a row of ``vectors``."""
    body = b"%d;%d;f%bb%d:%b" % (ordinal, embedder, _double(scale), len(codes), codes)
    return _hash(body, digest_size=8).digest()


def source_checksum(number: int, texts: tuple[str, ...], trust: float, recorded_at: int) -> bytes:
    """``checksum_of`` a row of ``episodes`` without its text."""
    body = b"%d;%bf%b%d;" % (number, _text_parts(texts), _double(trust), recorded_at)
    return _hash(body, digest_size=8).digest()


def job_checksum(number: int, task: str, ordinal: int) -> bytes:
    """``checksum_of`` a row of ``jobs`` that was never tried."""
    body = b"%d;%b%d;0;0;b1:t" % (number, _text_parts((task,)), ordinal)
    return _hash(body, digest_size=8).digest()


# Cached, because many rows share their source and speaker.
@lru_cache(1_024)
def _text_parts(texts: tuple[str, ...]) -> bytes:
    encoded = [text.encode() for text in texts]
    return b"".join([b"b%d:t%b" % (len(text) + 1, text) for text in encoded])


def find_damage(connection: apsw.Connection) -> Iterator[str]:
    """Compare every row of ``CHECKSUMS``; yields a problem for each damaged row, "" for each other."""
    # An older bank that may only be read lacks later tables. The schema check reports a lost table.
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
    for table, checksums in CHECKSUMS.items():
        for each in checksums if table in found else ():
            key = ", ".join(f"CAST({column} AS BLOB)" for column in each.key)
            computed = f"simonides_seal({_arguments(each.covered, table)})"
            select = f"SELECT {each.digest} IS {computed}, {key} FROM {table}"
            for intact, *names in connection.execute(select):
                yield "" if intact else f"{table}: {_shown(names)} is not what was written"


def _trigger(table: str, event: str) -> str:
    checksums = CHECKSUMS[table]
    digests = dict.fromkeys(each.digest for each in checksums)
    row = " AND ".join(f"{column} = new.{column}" for column in checksums[0].key)
    updates = []
    for each in checksums:
        computed = f"simonides_seal({_arguments(each.covered, table)})"
        if event == "UPDATE":
            # A damaged row keeps its checksum: a new one would hide the damage.
            before = f"simonides_seal({_arguments(each.covered, 'old')})"
            computed = f"CASE WHEN old.{each.digest} IS {before} THEN {computed} ELSE old.{each.digest} END"
        updates.append(f"UPDATE {table} SET {each.digest} = {computed} WHERE {row};")
    covered = dict.fromkeys(column for each in checksums for column in each.covered if column not in digests)
    when = event if event == "INSERT" else f"UPDATE OF {', '.join(covered)}"
    missing = " OR ".join(f"new.{digest} = x'{MISSING.hex()}'" for digest in digests)
    only = f" WHEN {missing}" if event == "INSERT" else ""
    # The name stands in stored banks.
    name = f"seal_{table}_{event.lower()}"
    return f"CREATE TRIGGER {name} AFTER {when} ON {table}{only} BEGIN {' '.join(updates)} END;"


def _arguments(columns: tuple[str, ...], row: str) -> str:
    """The values of columns; texts as marked bytes, because a damaged text may not be UTF-8."""
    return ", ".join(
        f"CASE typeof({row}.{column}) WHEN 'text' THEN CAST('t' || {row}.{column} AS BLOB)"
        f" ELSE {row}.{column} END"
        for column in columns
    )


def _from_sql(*values: Value) -> bytes:
    return _hash(b"".join([_part(value) for value in values]), digest_size=8).digest()


def _part(value: Value) -> bytes:
    if isinstance(value, bytes):
        return b"b%d:%b" % (len(value), value)
    if isinstance(value, float):
        return b"f" + _double(value)
    return b"%a;" % (value,)


def _compare(table: str, digest: Value, *values: Value) -> int:
    check_row(table, digest, *values)
    return 1


def _compare_memory(
    digest: Value, embedded: int, end_digest: Value, expired_at: Value, *values: Value
) -> int:
    check_memory(digest, end_digest, expired_at, values, embedded=bool(embedded))
    return 1


def _damaged(table: str, values: Sequence[Value]) -> DamagedError:
    key = values[: len(CHECKSUMS[table][0].key)]
    return DamagedError(
        f"memory.db: {table}: {_shown(key)} is not what was written; restore the bank from a backup"
    )


def _shown(key: Sequence[Value]) -> str:
    parts = [value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in key]
    return f"row {', '.join(parts)[:_MAX_SHOWN]}"
