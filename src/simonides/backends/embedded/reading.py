"""Rows as records for callers, and as index rows for replay; both inside an open read transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.expiry import PENDING
from simonides.backends.embedded.rows import (
    check_rows,
    decoded,
    in_order,
    marks_for,
    node_of,
    parts_of,
    read_names,
    read_object,
    read_rows,
    unverified,
    verified,
)
from simonides.index.columns import Row
from simonides.index.graph import LINK_CODES, edges_of
from simonides.index.sparse_postings import unpack_terms
from simonides.records.interval import BEGINNING, FOREVER, Interval, Precision
from simonides.records.kind import KIND_CODES, LAYER_CODES, Kind, Layer
from simonides.records.memory import Memory
from simonides.records.time_to_live import ON_EXPIRY_OF
from simonides.records.versions import StoredVersion
from simonides.text.speech import asks, count_words, label_of, session_key, speaker_key, utterance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from simonides.index.graph import Graph

_KINDS = {kind.value: kind for kind in Kind}
_LAYERS = {layer.value: layer for layer in Layer}
_PRECISIONS = {precision.value: precision for precision in Precision}
"""Calling the enumeration takes eight times as long."""

_EXPIRY = f"""(SELECT x.task || ' ' || x.not_before FROM {verified("jobs x")}
    WHERE x.ordinal = m.root AND x.task IN ({PENDING}) LIMIT 1)"""

# In the order of the fields of ``Memory``: to name thirty of them takes as long as all the rest.
_MEMORY = f"""
SELECT m.id, m.text, m.kind, m.layer, m.version, m.ordinal, m.valid_from, m.valid_to, m.ingested_at,
  m.expired_at, m.occurred_from, m.occurred_to, m.occurred_precision, m.context, m.relation, m.expansion,
  p.text, j.text, t.names, a.names, m.source, m.metadata, m.salience, m.confidence, m.proof_count,
  m.access_count, m.last_access, e.document, e.session, e.speaker, e.author, e.trust, m.superseded_by,
  m.state, {_EXPIRY}
FROM {unverified("memories m")} JOIN {unverified("labels p")} ON p.number = m.path
  JOIN {unverified("labels j")} ON j.number = m.project JOIN {unverified("label_sets t")} ON t.number = m.tags
  JOIN {unverified("label_sets a")} ON a.number = m.acl JOIN {unverified("chunks c")} ON c.number = m.chunk
  JOIN {unverified("episodes e")} ON e.number = c.episode
WHERE m.ordinal IN (%s)
"""

_ROW = f"""
SELECT m.ordinal, m.id, m.kind, m.layer, m.valid_from, m.valid_to, m.ingested_at, m.expired_at,
  m.occurred_from, m.occurred_to, m.project, m.path, m.tags, m.acl, m.root, {node_of("m")},
  m.salience, m.confidence,
  m.proof_count, m.access_count, m.last_access, m.terms, v.scale, v.codes, k.codes, m.text, e.speaker,
  m.state, e.trust, e.document, e.session
FROM {verified("memories m")}
  LEFT JOIN {verified("chunks c")} ON c.number = m.chunk
  LEFT JOIN {verified("episodes e")} ON e.number = c.episode
  LEFT JOIN {verified("vectors v")} ON v.ordinal = m.ordinal AND v.embedder IS ?1
  LEFT JOIN {verified("token_codes k")} ON k.ordinal = m.ordinal AND k.embedder IS ?1
WHERE m.ordinal >= ?2 AND m.ordinal < ?3 ORDER BY m.ordinal
"""


def read_memories(connection: apsw.Connection, ordinals: Sequence[int]) -> list[Memory]:
    """Records by ordinal, in the order asked for; each is compared with its checksums."""
    check_rows(connection, ordinals)
    return read_candidates(connection, ordinals)


def read_candidates(connection: apsw.Connection, ordinals: Sequence[int]) -> list[Memory]:
    """``read_memories`` without comparing; the caller passes those that it returns to ``check_rows``."""
    found: dict[int, Memory] = {}
    for part in parts_of(ordinals):
        for row in read_rows(connection, _MEMORY % marks_for(part), part):
            memory = decoded(_decoded_memory, row, f"memory {row[0]}")
            found[memory.ordinal] = memory
    return in_order(found, ordinals)


_STORED_FIELDS = tuple(StoredVersion.__dataclass_fields__)
_SIGNATURE = _STORED_FIELDS.index("signature")
_STORED = f"SELECT {', '.join(f'm.{name}' for name in _STORED_FIELDS)} FROM {verified('memories m')} WHERE "


def read_stored(connection: apsw.Connection, condition: str, *bindings: Any) -> StoredVersion | None:
    """The first version *m* for which an SQL condition is true."""
    return next(iter(read_all_stored(connection, f"{condition} LIMIT 1", *bindings)), None)


def read_all_stored(connection: apsw.Connection, condition: str, *bindings: Any) -> list[StoredVersion]:
    """The versions *m* for which an SQL condition is true."""
    found = []
    for row in connection.execute(_STORED + condition, bindings).fetchall():
        values: list[Any] = list(row)
        values[_SIGNATURE] = np.frombuffer(values[_SIGNATURE], "<u4").astype(np.uint32)
        found.append(StoredVersion(*values))
    return found


def _decoded_memory(row: tuple[Any, ...]) -> Memory:
    (
        memory, text, kind, layer, version, ordinal, valid_from, valid_to, ingested_at, expired_at,
        occurred_from, occurred_to, precision, context, relation, expansion, path, project, tags, acl, source,
        metadata, *others, expiry,
    ) = row  # fmt: skip
    task, _, moment = (expiry or "").partition(" ")
    others += (int(moment), ON_EXPIRY_OF[task]) if task else (FOREVER, "")
    occurred = None if occurred_from is None else Interval(occurred_from, occurred_to, _PRECISIONS[precision])
    return Memory(
        memory, text, _KINDS[kind], _LAYERS[layer], version, ordinal, valid_from, valid_to, ingested_at,
        expired_at, occurred, context, relation, expansion, path, project, read_names(tags),
        read_names(acl), source, read_object(metadata), *others,
    )  # fmt: skip


def read_index_rows(
    connection: apsw.Connection, embedder: int | None, start: int, stop: int
) -> Iterator[Row]:
    """Index rows with ordinals from *start* up to *stop*; erased ones come as rows without values."""
    expected = start
    sparse = read_sparse_terms(connection, start, stop)
    for row in read_rows(connection, _ROW, (embedder, start, stop)):
        for gap in range(expected, row[0]):
            yield Row(gap, None, {}, None, 0.0)
        expected = row[0] + 1
        found = decoded(_decoded_index_row, row, f"memory {row[1]}")
        yield replace(found, sparse=sparse[row[0]]) if row[0] in sparse else found
    for gap in range(expected, stop):
        yield Row(gap, None, {}, None, 0.0)


def read_sparse_terms(connection: apsw.Connection, start: int, stop: int) -> dict[int, bytes]:
    """Packed sparse terms of the rows with ordinals from *start* up to *stop* that have any."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT ordinal, terms FROM {verified('sparse_terms')} WHERE ordinal >= ? AND ordinal < ?",
        (start, stop),
    )
    found = {}
    for ordinal, terms in rows:
        decoded(unpack_terms, terms, f"row {ordinal} of sparse_terms")
        found[int(ordinal)] = bytes(terms)
    return found


def _decoded_index_row(row: tuple[Any, ...]) -> Row:
    (
        ordinal, memory, kind, layer, valid_from, valid_to, ingested_at, expired_at, occurred_from,
        occurred_to, project, path, tags, acl, root, node, salience, confidence, proof, accesses, last_access,
        terms, scale, codes, tokens, text, speaker, state, trust, document, session,
    ) = row  # fmt: skip
    if speaker is None:
        raise ValueError("no source")
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
        "root": root,
        "node": node,
        "salience": salience,
        "confidence": confidence,
        "proof_count": proof,
        "access_count": accesses,
        "last_access": BEGINNING if last_access is None else last_access,
        "words": count_words(text),
        "asks": asks(text),
        "utterance": utterance(text, speaker, trust, filed=bool(document or path)),
        "speaker": speaker_key(speaker or label_of(text)),
        "session": session_key(session),
        "state": state,
    }
    vector = None if codes is None else np.frombuffer(codes, np.int8)
    return Row(ordinal, values, read_object(terms), vector, scale or 0.0, tokens or b"")


def extend_graph(connection: apsw.Connection, graph: Graph, embedder: int | None) -> Graph:
    """*graph* with the mentions and links that were written since; of links by vectors, *embedder*'s."""
    links: list[tuple[Any, ...]] = connection.execute(
        f"SELECT number, source, target, kind, weight FROM {verified('links')} WHERE number > ?"
        " AND embedder IN (0, ?) ORDER BY number",
        (graph.last_link, embedder),
    ).fetchall()
    mentions: list[tuple[Any, ...]] = connection.execute(
        f"SELECT number, ordinal, entity FROM {verified('mentions')} WHERE number > ? ORDER BY number",
        (graph.last_mention,),
    ).fetchall()
    return graph.extended(
        edges_of(
            [
                (source, target, decoded(LINK_CODES.__getitem__, kind, f"row {number} of links"), weight)
                for number, source, target, kind, weight in links
            ]
        ),
        edges_of([(ordinal, entity, 0, 1.0) for _, ordinal, entity in mentions]),
        links[-1][0] if links else graph.last_link,
        mentions[-1][0] if mentions else graph.last_mention,
    )
