"""Rows as records for callers, and as index rows for replay; both inside an open read transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import DamagedError
from simonides.index.columns import Row
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision
from simonides.records.kind import KIND_CODES, LAYER_CODES, Kind, Layer
from simonides.records.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

_BATCH = 500

_MEMORY = """
SELECT m.ordinal, m.id, m.version, m.kind, m.layer, m.text, m.context, m.relation, p.text, j.text, t.names,
  a.names, m.valid_from, m.valid_to, m.ingested_at, m.expired_at, m.occurred_from, m.occurred_to,
  m.occurred_precision, m.salience, m.confidence, m.proof_count, m.access_count, m.last_access, m.source,
  m.metadata
FROM memories m JOIN labels p ON p.number = m.path JOIN labels j ON j.number = m.project
  JOIN label_sets t ON t.number = m.tags JOIN label_sets a ON a.number = m.acl
"""

_ROW = """
SELECT m.ordinal, m.id, m.kind, m.layer, m.valid_from, m.valid_to, m.ingested_at, m.expired_at,
  m.occurred_from, m.occurred_to, m.project, m.path, m.tags, m.acl, m.salience, m.confidence, m.proof_count,
  m.access_count, m.last_access, m.terms, v.scale, v.codes
FROM memories m LEFT JOIN vectors v ON v.ordinal = m.ordinal AND v.embedder IS ?
WHERE m.ordinal >= ? AND m.ordinal < ? ORDER BY m.ordinal
"""


def read_memories(connection: apsw.Connection, ordinals: Sequence[int]) -> list[Memory]:
    """Records by ordinal, in the order asked for."""
    found: dict[int, Memory] = {}
    wanted = [int(ordinal) for ordinal in ordinals]
    for first in range(0, len(wanted), _BATCH):
        part = wanted[first : first + _BATCH]
        marks = ",".join("?" * len(part))
        for row in _rows(connection, f"{_MEMORY} WHERE m.ordinal IN ({marks})", part):
            found[int(row[0])] = _memory(row)
    return [found[ordinal] for ordinal in wanted]


def read_versions(connection: apsw.Connection, memory: str) -> list[Memory]:
    """Every version of one memory, oldest first; empty when there is none."""
    rows = _rows(connection, f"{_MEMORY} WHERE m.id = ? ORDER BY m.version", (memory,))
    return [_memory(row) for row in rows]


def _rows(connection: apsw.Connection, statement: str, bindings: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    try:
        yield from connection.execute(statement, bindings)
    except UnicodeDecodeError as error:
        raise DamagedError(
            f"memory.db: a row holds bytes that are no text ({error.reason}); verify names it"
        ) from error


def _unreadable(memory: object, error: Exception) -> DamagedError:
    return DamagedError(
        f"memory {memory}: its row is not what was written ({type(error).__name__}: {error}); "
        "forget it, or restore the bank from a backup"
    )


def _memory(row: tuple[Any, ...]) -> Memory:
    try:
        return _decoded_memory(row)
    except (ValueError, KeyError) as error:
        raise _unreadable(row[1], error) from error


def _decoded_memory(row: tuple[Any, ...]) -> Memory:
    (
        ordinal, memory, version, kind, layer, text, context, relation, path, project, tags, acl, valid_from,
        valid_to, ingested_at, expired_at, occurred_from, occurred_to, precision, salience, confidence, proof,
        accesses, last_access, source, metadata,
    ) = row  # fmt: skip
    occurred = None if occurred_from is None else Interval(occurred_from, occurred_to, Precision(precision))
    return Memory(
        id=memory, text=text, kind=Kind(kind), layer=Layer(layer), version=version, ordinal=ordinal,
        valid_from_micros=valid_from, valid_to_micros=valid_to, ingested_at_micros=ingested_at,
        expired_at_micros=expired_at, occurred=occurred, context=context, relation=relation, path=path,
        project=project, tags=tuple(json.loads(tags)), acl=tuple(json.loads(acl)), source=source,
        metadata=json.loads(metadata), salience=salience, confidence=confidence, proof_count=proof,
        access_count=accesses, last_access_micros=last_access,
    )  # fmt: skip


def read_index_rows(
    connection: apsw.Connection, embedder: int | None, start: int, stop: int
) -> Iterator[Row]:
    """Index rows with ordinals from *start* up to *stop*; erased ones come as rows without values."""
    expected = start
    for row in _rows(connection, _ROW, (embedder, start, stop)):
        for gap in range(expected, row[0]):
            yield Row(gap, None, {}, None, 0.0)
        expected = row[0] + 1
        yield _index_row(row)
    for gap in range(expected, stop):
        yield Row(gap, None, {}, None, 0.0)


def _index_row(row: tuple[Any, ...]) -> Row:
    try:
        return _decoded_index_row(row)
    except (ValueError, KeyError) as error:
        raise _unreadable(row[1], error) from error


def _decoded_index_row(row: tuple[Any, ...]) -> Row:
    (
        ordinal, memory, kind, layer, valid_from, valid_to, ingested_at, expired_at, occurred_from,
        occurred_to, project, path, tags, acl, salience, confidence, proof, accesses, last_access, terms,
        scale, codes,
    ) = row  # fmt: skip
    values = {
        "kind": KIND_CODES[kind],
        "layer": LAYER_CODES[layer],
        "valid_from": valid_from,
        "valid_to": valid_to,
        "ingested_at": ingested_at,
        "expired_at": expired_at,
        "occurred_from": FOREVER if occurred_from is None else occurred_from,
        "occurred_to": BEGINNING if occurred_to is None else occurred_to,
        "project": project,
        "path": path,
        "tags": tags,
        "acl": acl,
        "id_key": int(memory, 16),
        "salience": salience,
        "confidence": confidence,
        "proof_count": proof,
        "access_count": accesses,
        "last_access": BEGINNING if last_access is None else last_access,
    }
    vector = None if codes is None else np.frombuffer(codes, np.int8)
    return Row(ordinal, values, json.loads(terms), vector, scale or 0.0)
