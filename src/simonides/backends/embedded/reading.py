"""Rows as records for callers, and as index rows for replay; both inside an open read transaction."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simonides.backends.embedded.expiry import PENDING
from simonides.backends.embedded.nodes import node_of
from simonides.backends.embedded.seals import sound, sound_memory
from simonides.backends.embedded.stored import decoded, read_code, read_object
from simonides.backends.embedded.stored import read_names as stored_names
from simonides.errors import DamagedError
from simonides.index.columns import Row
from simonides.index.graph import LINK_CODES, edges_of
from simonides.index.sparse_postings import unpack_terms
from simonides.records.entity import EntityCount
from simonides.records.expiry import ON_EXPIRY_OF
from simonides.records.interval import BEGINNING, FOREVER, LAST_INSTANT, Interval, Precision, from_micros
from simonides.records.kind import KIND_CODES, LAYER_CODES, Kind, Layer
from simonides.records.memory import Memory
from simonides.records.merges import all_count_as
from simonides.records.source import Source
from simonides.records.versions import StoredVersion, Worded
from simonides.text.speech import asks, count_words, label_of, speaker_key, utterance

_Record = TypeVar("_Record")

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw
    from numpy.typing import NDArray

    from simonides.index.graph import Graph

_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
_BATCH = 500
_STEP = 32
_KINDS = {kind.value: kind for kind in Kind}
_LAYERS = {layer.value: layer for layer in Layer}
_PRECISIONS = {precision.value: precision for precision in Precision}
"""Calling the enumeration takes eight times as long."""

_EXPIRY = f"""(SELECT x.task || ' ' || x.not_before FROM jobs x
    WHERE x.ordinal = m.root AND x.task IN ({PENDING}) AND {sound("jobs", "x")} LIMIT 1)"""

_MEMORY = f"""
SELECT m.id, m.text, m.kind, m.layer, m.version, m.ordinal, m.valid_from, m.valid_to, m.ingested_at,
  m.expired_at, m.occurred_from, m.occurred_to, m.occurred_precision, m.context, m.relation, m.expansion,
  p.text, j.text, t.names, a.names, m.source, m.metadata, m.salience, m.confidence, m.proof_count,
  m.access_count, m.last_access, e.document, e.session, e.speaker, e.author, e.trust, m.superseded_by,
  m.state, {_EXPIRY}
FROM memories m JOIN labels p ON p.number = m.path JOIN labels j ON j.number = m.project
  JOIN label_sets t ON t.number = m.tags JOIN label_sets a ON a.number = m.acl
  JOIN chunks c ON c.number = m.chunk JOIN episodes e ON e.number = c.episode
"""
"""In the order of the fields of ``Memory``: names for thirty of them take as long as all the rest."""

_ROW = f"""
SELECT m.ordinal, m.id, m.kind, m.layer, m.valid_from, m.valid_to, m.ingested_at, m.expired_at,
  m.occurred_from, m.occurred_to, m.project, m.path, m.tags, m.acl, m.root, {node_of("m")},
  m.salience, m.confidence,
  m.proof_count, m.access_count, m.last_access, m.terms, v.scale, v.codes, k.codes, m.text, e.speaker,
  m.state, e.trust, e.document
FROM memories m
  LEFT JOIN chunks c ON c.number = m.chunk AND {sound("chunks", "c")}
  LEFT JOIN episodes e ON e.number = c.episode AND {sound("episodes", "e")}
  LEFT JOIN vectors v ON v.ordinal = m.ordinal AND v.embedder IS ?1
  LEFT JOIN vectors w ON w.ordinal = m.ordinal AND w.embedder = (SELECT embedder FROM meta)
  LEFT JOIN token_codes k ON k.ordinal = m.ordinal AND k.embedder IS ?1 AND {sound("token_codes", "k")}
WHERE m.ordinal >= ?2 AND m.ordinal < ?3 AND {sound_memory("m", "w")} ORDER BY m.ordinal
"""


_WHOLE_SOURCE = (
    f"JOIN chunks c ON c.number = m.chunk AND {sound('chunks', 'c')}"
    f" JOIN episodes e ON e.number = c.episode AND {sound('episodes', 'e')}"
    f" AND {sound('episodes', 'e', 'text_digest')}"
)
ENTITY_SCOPE = (
    f"JOIN label_sets s ON s.number = e.scope AND {sound('label_sets', 's')} AND {sound('entities', 'e')}"
)


def read_memories(connection: apsw.Connection, ordinals: Sequence[int]) -> list[Memory]:
    """Records by ordinal, in the order asked for."""
    found: dict[int, Memory] = {}
    for part in parts_of(ordinals):
        for row in read_rows(connection, f"{_MEMORY} WHERE m.ordinal IN ({marks_for(part)})", part):
            memory = _memory(row)
            found[memory.ordinal] = memory
    return _in_order(found, ordinals)


def _in_order(found: Mapping[int, _Record], ordinals: Sequence[int]) -> list[_Record]:
    """What was read of rows; a row without its source or labels is damaged, not missing."""
    try:
        return [found[ordinal] for ordinal in ordinals]
    except KeyError as error:
        raise DamagedError(
            f"memory.db: row {error.args[0]} of memories, or what it points at, is missing; "
            "restore the bank from a backup"
        ) from None


def read_versions(connection: apsw.Connection, memory: str) -> list[Memory]:
    """Every version of one memory, oldest first; empty when there is none."""
    rows = read_rows(connection, f"{_MEMORY} WHERE m.id = ? ORDER BY m.version", (memory,))
    return [_memory(row) for row in rows]


def read_ordinals_after(
    connection: apsw.Connection, memory: str, keep: NDArray[np.bool_], most: int
) -> list[int]:
    """Ordinals of versions to *keep*, in the order of ids, of ids above *memory*; *most* of them.

    Walks the index of ids, one step per version; where few are kept that is the whole rest of the bank.
    """
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        "SELECT ordinal FROM memories WHERE id > ? ORDER BY id, version", (memory,)
    )
    kept = (int(ordinal) for (ordinal,) in rows if keep[ordinal])
    return list(islice(kept, most))


def read_worded(connection: apsw.Connection, memory: str) -> Worded | None:
    """A memory that the bank holds now, with its words; unchecked."""
    row = connection.execute(
        f"SELECT m.ordinal, {node_of('m')} FROM memories m WHERE m.id=? AND m.expired_at=?",
        (memory, FOREVER),
    ).fetchone()
    source = read_source(connection, memory)
    if row is None or source is None:
        return None
    now, then = read_memories(connection, [int(row[0]), int(row[1])])
    begun, ended, key, first = connection.execute(
        "SELECT m.valid_from_precision, m.valid_to_precision, m.content_key, r.ingested_at FROM memories m"
        " JOIN memories r ON r.ordinal = m.root WHERE m.ordinal=?",
        (then.ordinal,),
    ).get
    return Worded(
        now,
        then,
        int(first),
        Interval(then.valid_from_micros, then.valid_from_micros, Precision(begun)),
        Interval(then.valid_to_micros, then.valid_to_micros, Precision(ended)),
        bytes(key),
        source,
    )


def read_source(connection: apsw.Connection, memory: str) -> Source | None:
    """The raw source behind the newest version of one memory; ``None`` when there is no such memory."""
    row = connection.execute(
        "SELECT e.text, c.start, c.stop, e.document, e.session, e.speaker, e.author, e.trust, e.recorded_at"
        f" FROM memories m {_WHOLE_SOURCE} WHERE m.id=? ORDER BY m.version DESC LIMIT 1",
        (memory,),
    ).fetchone()
    if row is None:
        return None
    text, start, stop, document, session, speaker, author, trust, recorded_at = row
    return Source(text, start, stop, document, session, speaker, author, trust, _moment(recorded_at))


def read_sources(connection: apsw.Connection, ordinals: Sequence[int]) -> list[Source]:
    """Raw sources by ordinal, in the order asked for."""
    found: dict[int, Source] = {}
    for part in parts_of(ordinals):
        rows: Iterable[tuple[Any, ...]] = connection.execute(
            "SELECT m.ordinal, e.text, c.start, c.stop, e.document, e.session, e.speaker, e.author, e.trust,"
            f" e.recorded_at FROM memories m {_WHOLE_SOURCE} WHERE m.ordinal IN ({marks_for(part)})",
            part,
        )
        for ordinal, text, start, stop, document, session, speaker, author, trust, recorded_at in rows:
            found[int(ordinal)] = Source(
                text, start, stop, document, session, speaker, author, trust, _moment(recorded_at)
            )
    return _in_order(found, ordinals)


_STORED_FIELDS = tuple(StoredVersion.__dataclass_fields__)
_SIGNATURE = _STORED_FIELDS.index("signature")


def read_stored(connection: apsw.Connection, condition: str, *bindings: Any) -> StoredVersion | None:
    """The first version *m* that an SQL condition is true of; unchecked."""
    return next(iter(read_all_stored(connection, f"{condition} LIMIT 1", *bindings)), None)


def read_all_stored(connection: apsw.Connection, condition: str, *bindings: Any) -> list[StoredVersion]:
    """The versions *m* that an SQL condition is true of; unchecked."""
    rows = connection.execute(
        f"SELECT {', '.join(f'm.{name}' for name in _STORED_FIELDS)} FROM memories m WHERE {condition}",
        bindings,
    ).fetchall()
    return [_stored(row) for row in rows]


def _stored(row: tuple[Any, ...]) -> StoredVersion:
    values = list(row)
    values[_SIGNATURE] = np.frombuffer(row[_SIGNATURE], "<u4").astype(np.uint32)
    return StoredVersion(*values)


def read_signatures(connection: apsw.Connection, ordinals: Sequence[int]) -> NDArray[np.uint32]:
    """MinHash signatures by ordinal, in the order asked for; shape (len(ordinals), length)."""
    found: dict[int, bytes] = {}
    for part in parts_of(ordinals):
        select = f"SELECT ordinal, signature FROM memories WHERE ordinal IN ({marks_for(part)})"
        found.update(connection.execute(select, part))
    whole = b"".join(_in_order(found, ordinals))
    signatures = np.frombuffer(whole, "<u4").astype(np.uint32, copy=False)
    return signatures.reshape(len(ordinals), -1 if whole else 0)


def read_entities_named(connection: apsw.Connection, folded: str, known_at: int) -> list[int]:
    """Numbers of the entities with a folded name, or an alias that they had by *known_at*; ascending."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT number FROM entities WHERE folded=?1 AND {sound('entities')}"
        f" UNION SELECT entity FROM aliases WHERE folded=?1 AND added_at<=?2 AND {sound('aliases')}"
        " ORDER BY 1",
        (folded, known_at),
    )
    return [int(number) for (number,) in rows]


def read_merges(connection: apsw.Connection, known_at: int) -> dict[int, int]:
    """What each merged entity counted as at *known_at*, directly; of several merges the last."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT entity, into_entity, merged_at, undone_at FROM merges WHERE {sound('merges')}"
        " ORDER BY number"
    )
    return {
        int(entity): int(into)
        for entity, into, merged_at, undone_at in rows
        if merged_at <= known_at < undone_at
    }


def parts_of(ordinals: Sequence[int]) -> Iterator[list[int]]:
    """Runs of *ordinals*; the last ordinal is said again until their number is one of a few.

    SQLite prepares a statement anew for every number of marks that it has not seen, which takes about as long
    as to read the rows.
    """
    for first in range(0, len(ordinals), _BATCH):
        part = [int(ordinal) for ordinal in ordinals[first : first + _BATCH]]
        yield part + part[-1:] * (-len(part) % _STEP)


def marks_for(part: Sequence[int]) -> str:
    """A question mark for each of *part*."""
    return ",".join("?" * len(part))


def _moment(micros: int) -> datetime:
    # An earlier version imported recorded times that no calendar has.
    return decoded(lambda value: from_micros(min(value, LAST_INSTANT)) or _FIRST_MOMENT, micros)


def read_rows(
    connection: apsw.Connection, statement: str, bindings: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement; bytes where a text should be raise ``DamagedError``."""
    try:
        yield from connection.execute(statement, bindings)
    except UnicodeDecodeError as error:
        raise DamagedError(
            f"memory.db: a row holds bytes that are no text ({error.reason}); verify names it"
        ) from error


def _memory(row: tuple[Any, ...]) -> Memory:
    return decoded(_decoded_memory, row, f"memory {row[0]}")


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
        expired_at, occurred, context, relation, expansion, path, project, stored_names(tags),
        stored_names(acl), source, read_object(metadata), *others,
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
        found = _index_row(row)
        yield replace(found, sparse=sparse[row[0]]) if row[0] in sparse else found
    for gap in range(expected, stop):
        yield Row(gap, None, {}, None, 0.0)


def read_sparse_terms(connection: apsw.Connection, start: int, stop: int) -> dict[int, bytes]:
    """Packed sparse terms of the rows with ordinals from *start* up to *stop* that have any."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        "SELECT s.ordinal, m.id, s.terms FROM sparse_terms s JOIN memories m ON m.ordinal = s.ordinal"
        f" WHERE s.ordinal >= ? AND s.ordinal < ? AND {sound('sparse_terms', 's')}",
        (start, stop),
    )
    found = {}
    for ordinal, memory, terms in rows:
        decoded(unpack_terms, terms, f"memory {memory}")
        found[int(ordinal)] = bytes(terms)
    return found


def _index_row(row: tuple[Any, ...]) -> Row:
    return decoded(_decoded_index_row, row, f"memory {row[1]}")


def _decoded_index_row(row: tuple[Any, ...]) -> Row:
    (
        ordinal, memory, kind, layer, valid_from, valid_to, ingested_at, expired_at, occurred_from,
        occurred_to, project, path, tags, acl, root, node, salience, confidence, proof, accesses, last_access,
        terms, scale, codes, tokens, text, speaker, state, trust, document,
    ) = row  # fmt: skip
    said_by = _there(speaker)
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
        "utterance": utterance(text, said_by, trust, filed=bool(document or path)),
        "speaker": speaker_key(said_by or label_of(text)),
        "state": state,
    }
    vector = None if codes is None else np.frombuffer(codes, np.int8)
    return Row(ordinal, values, read_object(terms), vector, scale or 0.0, tokens or b"")


def _there(speaker: str | None) -> str:
    if speaker is None:
        raise ValueError("no source")
    return speaker


def extend_graph(connection: apsw.Connection, graph: Graph, embedder: int | None) -> Graph:
    """*graph* with the mentions and links that were written since; of links by vectors, *embedder*'s."""
    links: list[tuple[Any, ...]] = connection.execute(
        "SELECT number, source, target, kind, weight FROM links WHERE number > ? AND embedder IN (0, ?)"
        f" AND {sound('links')} ORDER BY number",
        (graph.last_link, embedder),
    ).fetchall()
    mentions: list[tuple[Any, ...]] = connection.execute(
        f"SELECT number, ordinal, entity FROM mentions WHERE number > ? AND {sound('mentions')}"
        " ORDER BY number",
        (graph.last_mention,),
    ).fetchall()
    return graph.extended(
        edges_of(
            [
                (source, target, read_code(LINK_CODES, kind, f"row {number} of links"), weight)
                for number, source, target, kind, weight in links
            ]
        ),
        edges_of([(ordinal, entity, 0, 1.0) for _, ordinal, entity in mentions]),
        links[-1][0] if links else graph.last_link,
        mentions[-1][0] if mentions else graph.last_mention,
    )


def count_entities(connection: apsw.Connection, graph: Graph, rows: NDArray[np.int64]) -> list[EntityCount]:
    """Entities that *rows* mention, most mentioned first, then by name and number; merged ones as one."""
    merged = all_count_as(read_merges(connection, FOREVER - 1))
    mentions = graph.entities(rows)
    names, places = np.unique(mentions.second, return_inverse=True)
    wholes = np.array([merged.get(int(name), int(name)) for name in names], np.int64)
    # A memory that speaks of two merged entities mentions one.
    pairs = np.unique(np.stack([wholes[places], mentions.first]), axis=1)
    entities, times = np.unique(pairs[0], return_counts=True)
    found = []
    for entity, count in zip(entities.tolist(), times.tolist(), strict=True):
        row = connection.execute(
            f"SELECT name, kind, qualifier FROM entities WHERE number=? AND {sound('entities')}", (entity,)
        ).fetchone()
        if row is not None:
            others = connection.execute(
                f"SELECT name FROM aliases WHERE entity=? AND {sound('aliases')} ORDER BY name", (entity,)
            )
            aliases = tuple(str(name) for (name,) in others)
            found.append(EntityCount(entity, str(row[0]), str(row[1]), str(row[2]), aliases, count))
    return sorted(found, key=lambda entity: (-entity.mentions, entity.name, entity.number))


def read_names(
    connection: apsw.Connection, after: int, readers: Sequence[str] | None
) -> tuple[list[str], int]:
    """Names and aliases of entities numbered above *after* that all *readers* may know of.

    No readers = everyone; ``None`` = the owner, who knows all.

    Returns:
        the names, and the number to go on from.
    """
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT e.number, e.name, s.names FROM entities e {ENTITY_SCOPE}"
        " WHERE e.number > ?1 UNION ALL SELECT e.number, a.name, s.names FROM entities e"
        f" JOIN aliases a ON a.entity = e.number AND {sound('aliases', 'a')} {ENTITY_SCOPE}"
        " WHERE e.number > ?1 ORDER BY 1, 2",
        (after,),
    ).fetchall()
    return names_known(rows, readers), int(rows[-1][0]) if rows else after


def names_known(rows: Iterable[tuple[Any, str, str]], readers: Sequence[str] | None) -> list[str]:
    """The names that all *readers* may know of, of rows of an entity's number, name and scope."""
    return [
        str(name)
        for _, name, theirs in rows
        if readers is None or theirs == "[]" or (readers and set(readers) <= set(stored_names(theirs)))
    ]


def names_changed(connection: apsw.Connection) -> int:
    """The last change that took names away or gave an old entity a new one."""
    (sequence,) = connection.execute(
        "SELECT max(sequence) FROM changes WHERE operation IN ('name', 'erase')"
    ).fetchone() or (None,)
    return 0 if sequence is None else int(str(sequence))
