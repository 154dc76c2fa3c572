"""A hash in every row of every table, made by triggers, so that no writer can leave it out.

    digest = BLAKE2b-64 of the columns, each with its type and its length

A writer of very many rows makes the hashes itself (``seal_of``) and inserts them with the row, which costs
less; the trigger then has nothing to do.

A row that is not what was written is found by ``find_damage``, and where a statement guards a table by
``sound``, reading it raises instead of handing it out. What a row of ``memories`` says is under a digest of
its own (``digest.row_digest``, ``sound_memory``); ``changes`` and ``audit`` are
chains. Cost: about 4 µs per row written, 3 µs per row read. The hash is no secret: it finds damage, it proves
no origin.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import apsw

from simonides.backends.embedded.digest import IMMUTABLE, values_digest
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Value = int | float | bytes | str | None

UNSEALED = bytes(8)
"""The digest of a row that its writer left out: its default, until the trigger has made it."""

_LONGEST_SHOWN = 60
_hash = hashlib.blake2b
_double = struct.Struct("<d").pack
_ID = IMMUTABLE.index("id")


@dataclass(frozen=True, slots=True)
class Seal:
    """What one digest of a table covers.

    Attributes:
        key: columns that tell one row from another.
        columns: the others.
        digest: the column that holds the hash.
    """

    key: tuple[str, ...]
    columns: tuple[str, ...]
    digest: str = "digest"

    @property
    def covered(self) -> tuple[str, ...]:
        """Every column that goes into the hash."""
        return self.key + self.columns


_NUMBER, _ORDINAL = ("number",), ("ordinal",)

SEALS: Mapping[str, tuple[Seal, ...]] = {
    "meta": (
        Seal(
            ("one",),
            (
                "bank", "epoch", "sequence", "log_hash", "generation", "next_ordinal", "last_ingested",
                "embedder", "analyser", "numbers",
            ),
        ),
    ),
    "embedders": (Seal(_NUMBER, ("fingerprint", "name", "dimension")),),
    # The text apart, because most readers want all but it and a text may be long.
    "episodes": (
        Seal(_NUMBER, ("text",), "text_digest"),
        Seal(_NUMBER, ("source", "document", "session", "speaker", "author", "trust", "recorded_at")),
    ),
    "chunks": (Seal(_NUMBER, ("episode", "start", "stop")),),
    "labels": (Seal(_NUMBER, ("text",)),),
    "label_sets": (Seal(_NUMBER, ("names",)),),
    "memories": (Seal(_ORDINAL, ("expired_at",), "end_digest"),),
    "vectors": (Seal(("ordinal", "embedder"), ("scale", "codes")),),
    "reembedding": (Seal(("one",), ("embedder", "begun_at", "linked")),),
    "token_codes": (Seal(("ordinal", "embedder"), ("codes",)),),
    "sparse_encoder": (Seal(("one",), ("fingerprint", "name")),),
    "sparse_terms": (Seal(_ORDINAL, ("terms",)),),
    "entities": (Seal(_NUMBER, ("name", "folded", "kind", "scope", "qualifier")),),
    "aliases": (Seal(("folded", "entity"), ("name", "added_at")),),
    "merges": (Seal(_NUMBER, ("entity", "into_entity", "merged_at", "undone_at")),),
    "mentions": (Seal(_NUMBER, ("ordinal", "entity")),),
    "relations": (Seal(("ordinal", "name", "subject", "object"), ("single_valued",)),),
    "statements": (Seal(("ordinal", "subject", "attribute"), ()),),
    "links": (Seal(_NUMBER, ("source", "target", "kind", "weight", "embedder")),),
    "idempotency": (Seal(("key",), ("body", "ids")),),
    "jobs": (Seal(_NUMBER, ("task", "ordinal", "tries", "not_before", "problem")),),
    "enrichments": (Seal(_ORDINAL, ("base", "model")),),
    "accesses": (Seal(_NUMBER, ("ordinal", "accessed_at", "principal")),),
    "moves": (Seal(_NUMBER, ("ordinal", "action", "was", "became", "reason", "made_at", "undone_at")),),
    "evidence": (Seal(("observation", "source", "known_from"), ("stance", "known_to")),),
    "impressions": (Seal(_NUMBER, ("recall", "principal", "made_at", "embedder", "scale", "codes")),),
    "shown": (Seal(("impression", "ordinal"), ("features", "accessed", "used")),),
}  # fmt: skip
"""By table, the seals of a row."""


def add_functions(connection: apsw.Connection) -> None:
    """Let a connection make and compare seals; without it sealed tables cannot be written."""
    functions: Mapping[str, Callable[..., bytes | int]] = {
        "simonides_seal": _seal,
        "simonides_sound": _check,
        "simonides_memory": _check_memory,
    }
    for name, function in functions.items():
        connection.create_scalar_function(name, function, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def triggers(tables: Iterable[str]) -> str:
    """SQL that makes the triggers of sealed tables, in the order of ``SEALS``."""
    wanted = set(tables)
    return "\n".join(
        _trigger(table, event) for table in SEALS if table in wanted for event in ("INSERT", "UPDATE")
    )


@cache
def sound(table: str, alias: str = "", digest: str = "digest") -> str:
    """An SQL condition: true of a row that is what was written; any other row makes the statement raise.

    Args:
        table: a table of ``SEALS``.
        alias: what the statement calls it; empty = its name.
        digest: which of its seals.
    """
    (seal,) = (each for each in SEALS[table] if each.digest == digest)
    row = alias or table
    # A subquery, because SQLite puts the constants of other conditions in the place of columns beside them.
    return f"(SELECT simonides_sound('{table}', {row}.{digest}, {_arguments(seal.covered, row)}))"


@cache
def sound_memory(memory: str, vector: str) -> str:
    """The same as ``sound``, of a row of ``memories`` and its vector.

    Args:
        memory: what the statement calls the table.
        vector: what it calls ``vectors``, joined by the bank's embedder; a row may have none.
    """
    columns = ", ".join(f"{memory}.{name}" for name in IMMUTABLE)
    row = f"(SELECT simonides_memory({memory}.digest, {vector}.embedder IS NOT NULL, {columns}))"
    end = sound("memories", memory, "end_digest")
    return f"{row} AND {end} AND ({vector}.embedder IS NULL OR {sound('vectors', vector)})"


def seal_of(*values: Value) -> bytes:
    """The digest that the trigger would make of a row.

    Args:
        values: as ``Seal.covered`` names them and of the types that SQLite keeps: floats where the column is
            REAL, texts as ``str``.
    """
    parts = []
    for value in values:
        if type(value) is int:
            parts.append(b"%d;" % value)
        elif isinstance(value, str):
            text = value.encode()
            parts.append(b"b%d:t%b" % (len(text) + 1, text))
        else:
            parts.append(_part(value))
    return hashlib.blake2b(b"".join(parts), digest_size=8).digest()


def check_seal(table: str, digest: Value, *values: Value) -> None:
    """Compare a row that was read with its seal; cheaper than ``sound`` where the values are read anyway.

    Args:
        table: a table of ``SEALS``.
        digest: the seal, as the row holds it.
        values: as ``Seal.covered`` names them, as SQLite gives them.

    Raises:
        DamagedError: the row is not what was written.
    """
    if seal_of(*values) != digest:
        raise _damaged(table, values)


def check_memory(digest: Value, values: Sequence[Value], *, embedded: bool) -> None:
    """The same for a row of ``memories``; *values* in the order of ``IMMUTABLE``."""
    if values_digest(values, embedded=embedded) != digest:
        raise DamagedError(
            f"memory {values[_ID]!s}: its row is not what was written; forget it, or restore the bank from a "
            "backup"
        )


def sealed_numbers(*numbers: int) -> bytes:
    """``seal_of`` of whole numbers alone."""
    return _hash(b"%d;" * len(numbers) % numbers, digest_size=8).digest()


def sealed_text(number: int, text: str) -> bytes:
    """``seal_of`` of a number and a text."""
    encoded = text.encode()
    return _hash(b"%d;b%d:t%b" % (number, len(encoded) + 1, encoded), digest_size=8).digest()


def sealed_vector(ordinal: int, embedder: int, scale: float, codes: bytes) -> bytes:
    """``seal_of`` of a row of ``vectors``."""
    body = b"%d;%d;f%bb%d:%b" % (ordinal, embedder, _double(scale), len(codes), codes)
    return _hash(body, digest_size=8).digest()


def sealed_source(number: int, texts: tuple[str, ...], trust: float, recorded_at: int) -> bytes:
    """``seal_of`` of a row of ``episodes`` but its text."""
    body = b"%d;%bf%b%d;" % (number, _text_parts(texts), _double(trust), recorded_at)
    return _hash(body, digest_size=8).digest()


def sealed_job(number: int, task: str, ordinal: int) -> bytes:
    """``seal_of`` of a row of ``jobs`` that nobody has tried."""
    body = b"%d;%b%d;0;0;b1:t" % (number, _text_parts((task,)), ordinal)
    return _hash(body, digest_size=8).digest()


@lru_cache(1_024)
def _text_parts(texts: tuple[str, ...]) -> bytes:
    """Many rows share where they come from and who says it."""
    encoded = [text.encode() for text in texts]
    return b"".join([b"b%d:t%b" % (len(text) + 1, text) for text in encoded])


def find_damage(connection: apsw.Connection) -> Iterator[str]:
    """Compare every row of every sealed table with its seals; an empty text for each sound one."""
    # An older bank that may only be read lacks what came later. A lost table is told of by the schema.
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
    for table, seals in SEALS.items():
        for seal in seals if table in there else ():
            key = ", ".join(f"CAST({column} AS BLOB)" for column in seal.key)
            made = f"simonides_seal({_arguments(seal.covered, table)})"
            for sealed, *names in connection.execute(f"SELECT {seal.digest} IS {made}, {key} FROM {table}"):
                yield "" if sealed else f"{table}: {_shown(names)} is not what was written"


def _trigger(table: str, event: str) -> str:
    seals = SEALS[table]
    made = dict.fromkeys(seal.digest for seal in seals)
    row = " AND ".join(f"{column} = new.{column}" for column in seals[0].key)
    updates = []
    for seal in seals:
        digest = f"simonides_seal({_arguments(seal.covered, table)})"
        if event == "UPDATE":
            # What was damaged before stays so: a new seal would hide it.
            before = f"simonides_seal({_arguments(seal.covered, 'old')})"
            digest = f"CASE WHEN old.{seal.digest} IS {before} THEN {digest} ELSE old.{seal.digest} END"
        updates.append(f"UPDATE {table} SET {seal.digest} = {digest} WHERE {row};")
    covered = dict.fromkeys(column for seal in seals for column in seal.covered if column not in made)
    when = event if event == "INSERT" else f"UPDATE OF {', '.join(covered)}"
    name = f"seal_{table}_{event.lower()}"
    unsealed = " OR ".join(f"new.{digest} = x'{UNSEALED.hex()}'" for digest in made)
    only = f" WHEN {unsealed}" if event == "INSERT" else ""
    return f"CREATE TRIGGER {name} AFTER {when} ON {table}{only} BEGIN {' '.join(updates)} END;"


def _arguments(columns: tuple[str, ...], row: str) -> str:
    """The values of columns; texts as marked bytes: damaged ones are no texts, and bytes are none either."""
    return ", ".join(
        f"CASE typeof({row}.{column}) WHEN 'text' THEN CAST('t' || {row}.{column} AS BLOB)"
        f" ELSE {row}.{column} END"
        for column in columns
    )


def _seal(*values: Value) -> bytes:
    return hashlib.blake2b(b"".join([_part(value) for value in values]), digest_size=8).digest()


def _part(value: Value) -> bytes:
    if isinstance(value, bytes):
        return b"b%d:%b" % (len(value), value)
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    return b"%a;" % (value,)


def _check(table: str, digest: Value, *values: Value) -> int:
    if _seal(*values) == digest:
        return 1
    raise _damaged(
        table, [value.removeprefix(b"t") if isinstance(value, bytes) else value for value in values]
    )


def _check_memory(digest: Value, embedded: int, *values: Value) -> int:
    check_memory(digest, values, embedded=bool(embedded))
    return 1


def _damaged(table: str, values: Sequence[Value]) -> DamagedError:
    key = values[: len(SEALS[table][0].key)]
    return DamagedError(
        f"memory.db: {table}: {_shown(key)} is not what was written; restore the bank from a backup"
    )


def _shown(key: Sequence[Value]) -> str:
    parts = [value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in key]
    return f"row {', '.join(parts)[:_LONGEST_SHOWN]}"
