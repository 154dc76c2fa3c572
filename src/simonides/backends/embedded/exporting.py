"""Write a bank as lines, without loss: every version with its stamps, vectors and terms, and all around it.

Runs inside one read transaction, so the file is the bank at one moment, while others write. Equal banks give
equal bytes, so what was imported into an empty bank and is exported again is the same file. What the file
does not hold: the epoch, the change and audit logs, the numbers of rows and the index; they belong to one
bank on one disk. Cost: linear; memory 16 bytes per source and name, and one batch of rows.
"""

from __future__ import annotations

from array import array
from base64 import b64encode
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.reembedding import read_run
from simonides.backends.embedded.row_check import check_rows
from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.stored import read_names, read_object
from simonides.records.receipt import Counts
from simonides.storage.export_fields import EVIDENCE, LINK_VERSIONS, MOVE
from simonides.storage.export_format import (
    EPISODE_COLUMNS,
    FORMAT,
    MEMORY_COLUMNS,
    VERSION,
    encode_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from simonides.storage.reader import Meta

_BATCH = 500

_COUNTS = """
SELECT (SELECT count(DISTINCT id) FROM memories), (SELECT count(*) FROM memories),
  (SELECT count(*) FROM vectors), (SELECT count(*) FROM token_codes),
  (SELECT count(DISTINCT episode) FROM chunks WHERE number IN (SELECT chunk FROM memories)),
  (SELECT count(DISTINCT chunk) FROM memories), (SELECT count(*) FROM entities),
  (SELECT count(*) FROM aliases), (SELECT count(*) FROM merges), (SELECT count(*) FROM mentions),
  (SELECT count(*) FROM relations), (SELECT count(*) FROM links), (SELECT count(*) FROM idempotency),
  (SELECT count(*) FROM jobs), (SELECT count(*) FROM enrichments),
  (SELECT count(*) FROM accesses), (SELECT count(*) FROM sparse_terms),
  (SELECT count(*) FROM moves), (SELECT count(*) FROM evidence)
"""

_CARRIED = ", ".join(f"m.{name}" for name in MEMORY_COLUMNS)
_MEMORIES = f"""
SELECT m.ordinal, m.chunk, p.text, j.text, t.names, a.names, {_CARRIED}
FROM memories m JOIN labels p ON p.number = m.path JOIN labels j ON j.number = m.project
  JOIN label_sets t ON t.number = m.tags JOIN label_sets a ON a.number = m.acl
"""

_SOUND_EPISODE = f"{sound('episodes')} AND {sound('episodes', digest='text_digest')}"

# What hangs on one version: the name in its line, and columns after the ordinal.
_HANGING = {
    "vectors": "SELECT ordinal, embedder, scale, codes FROM vectors"
    f" WHERE ordinal IN (%s) AND {sound('vectors')} ORDER BY 1, 2",
    "tokens": "SELECT ordinal, embedder, codes FROM token_codes"
    f" WHERE ordinal IN (%s) AND {sound('token_codes')}",
    "sparse": f"SELECT ordinal, terms FROM sparse_terms WHERE ordinal IN (%s) AND {sound('sparse_terms')}",
    "mentions": "SELECT ordinal, entity FROM mentions"
    f" WHERE ordinal IN (%s) AND {sound('mentions')} ORDER BY 1, 2",
    "relations": "SELECT ordinal, name, subject, object, single_valued FROM relations"
    f" WHERE ordinal IN (%s) AND {sound('relations')} ORDER BY 1, 2, 3, 4",
    "jobs": "SELECT ordinal, task, tries, not_before, problem FROM jobs"
    f" WHERE ordinal IN (%s) AND {sound('jobs')} ORDER BY 1, 2",
    "enrichments": "SELECT ordinal, base, model FROM enrichments"
    f" WHERE ordinal IN (%s) AND {sound('enrichments')}",
    "accesses": "SELECT a.ordinal, a.accessed_at, l.text FROM accesses a"
    f" JOIN labels l ON l.number = a.principal AND {sound('labels', 'l')}"
    f" WHERE a.ordinal IN (%s) AND {sound('accesses', 'a')} ORDER BY 1, 2, 3",
    "moves": "SELECT ordinal, action, was, became, reason, made_at, undone_at FROM moves"
    f" WHERE ordinal IN (%s) AND {sound('moves')} ORDER BY number",
}


def count_rows(connection: apsw.Connection) -> Counts:
    """What an export of this moment holds."""
    row = connection.execute(_COUNTS).fetchone()
    return Counts(*(int(number) for number in row or ()))


def export_lines(connection: apsw.Connection, meta: Meta) -> Iterator[bytes]:
    """Every line of an export, inside an open read transaction."""
    lines = 0
    for lines, record in enumerate(_Export(connection, meta).records(), start=1):  # noqa: B007 used below
        yield encode_line(record)
    yield encode_line({"record": "end", "lines": lines + 1})


class _Export:
    """The records of one export; keeps what turns numbers of rows into places in the file."""

    def __init__(self, connection: apsw.Connection, meta: Meta) -> None:
        self._connection = connection
        self._meta = meta
        self._embedders: list[int] = []
        self._entities = array("q")
        self._episodes = _Places(self._highest("episodes"))
        self._chunks = _Places(self._highest("chunks"))

    def records(self) -> Iterator[dict[str, Any]]:
        yield self._header()
        yield from self._names()
        yield from self._memories()
        yield from self._links()
        yield from self._evidence()
        yield from self._keys()

    def _header(self) -> dict[str, Any]:
        embedders = []
        for number, fingerprint, name, dimension in self._all(
            f"SELECT number, fingerprint, name, dimension FROM embedders WHERE {sound('embedders')}"
            " ORDER BY number"
        ):
            self._embedders.append(int(number))
            embedders.append({"fingerprint": fingerprint, "name": name, "dimension": dimension})
        current, run = self._meta.embedder, read_run(self._connection)
        return {
            "record": "header",
            "format": FORMAT,
            "version": VERSION,
            "bank": self._meta.bank,
            "analyser": self._meta.analyser,
            "embedders": embedders,
            "embedder": None if current is None else self._embedders.index(current),
            "reembedding": None if run is None else self._embedders.index(run.number),
            "sparse_encoder": next(
                (
                    {"fingerprint": fingerprint, "name": name}
                    for fingerprint, name in self._all(
                        f"SELECT fingerprint, name FROM sparse_encoder WHERE {sound('sparse_encoder')}"
                    )
                ),
                None,
            ),
            "counts": count_rows(self._connection).to_dict(),
        }

    def _names(self) -> Iterator[dict[str, Any]]:
        for number, name, folded, kind, qualifier, readers in self._all(
            "SELECT e.number, e.name, e.folded, e.kind, e.qualifier, s.names FROM entities e"
            f" JOIN label_sets s ON s.number = e.scope AND {sound('label_sets', 's')}"
            f" WHERE {sound('entities', 'e')} ORDER BY e.number"
        ):
            self._entities.append(int(number))
            yield {
                "record": "entity",
                "number": len(self._entities),
                "name": name,
                "folded": folded,
                "kind": kind,
                "qualifier": qualifier,
                "readers": list(read_names(readers)),
            }
        for entity, folded, name, added_at in self._all(
            f"SELECT entity, folded, name, added_at FROM aliases WHERE {sound('aliases')} ORDER BY 1, 2"
        ):
            yield {
                "record": "alias",
                "entity": self._entity(entity),
                "folded": folded,
                "name": name,
                "added_at": added_at,
            }
        for entity, into, merged_at, undone_at in self._all(
            f"SELECT entity, into_entity, merged_at, undone_at FROM merges WHERE {sound('merges')}"
            " ORDER BY number"
        ):
            yield {
                "record": "merge",
                "entity": self._entity(entity),
                "into": self._entity(into),
                "merged_at": merged_at,
                "undone_at": undone_at,
            }

    def _memories(self) -> Iterator[dict[str, Any]]:
        ordinals = self._all("SELECT ordinal FROM memories ORDER BY root, version")
        batch: list[int] = []
        for (ordinal,) in ordinals:
            batch.append(int(ordinal))
            if len(batch) == _BATCH:
                yield from self._batch(batch)
                batch = []
        if batch:
            yield from self._batch(batch)

    def _batch(self, ordinals: Sequence[int]) -> Iterator[dict[str, Any]]:
        check_rows(self._connection, ordinals, self._meta.embedder)
        marks = ",".join("?" * len(ordinals))
        rows = {row[0]: row for row in self._all(f"{_MEMORIES} WHERE m.ordinal IN ({marks})", ordinals)}
        hanging: dict[str, dict[int, list[Any]]] = {}
        for name, select in _HANGING.items():
            found = hanging[name] = {}
            for ordinal, *values in self._all(select % marks, ordinals):
                found.setdefault(ordinal, []).append(values)
        for ordinal in ordinals:
            _, chunk, path, project, tags, acl, *values = rows[ordinal]
            yield from self._source(int(chunk))
            record = dict(zip(MEMORY_COLUMNS, values, strict=True))
            record |= {
                "record": "memory",
                "chunk": self._chunks[chunk],
                "path": path,
                "project": project,
                "tags": list(read_names(tags)),
                "acl": list(read_names(acl)),
                "metadata": read_object(record["metadata"]),
                "terms": read_object(record["terms"]),
                "signature": _base64(record["signature"]),
                "content_key": _base64(record["content_key"]),
                "vectors": [
                    {"embedder": self._embedders.index(embedder), "scale": scale, "codes": _base64(codes)}
                    for embedder, scale, codes in hanging["vectors"].get(ordinal, ())
                ],
                "tokens": [
                    {"embedder": self._embedders.index(embedder), "codes": _base64(codes)}
                    for embedder, codes in hanging["tokens"].get(ordinal, ())
                ],
                "sparse": "".join(_base64(terms) for (terms,) in hanging["sparse"].get(ordinal, ())),
                "mentions": [self._entity(entity) for (entity,) in hanging["mentions"].get(ordinal, ())],
                "relations": [
                    {"name": name, "subject": self._entity(subject), "object": obj, "single_valued": single}
                    for name, subject, obj, single in hanging["relations"].get(ordinal, ())
                ],
                "jobs": [
                    {"task": task, "tries": tries, "not_before": moment, "problem": problem}
                    for task, tries, moment, problem in hanging["jobs"].get(ordinal, ())
                ],
                "enrichments": [
                    {"base": base, "model": model} for base, model in hanging["enrichments"].get(ordinal, ())
                ],
                "accesses": [
                    {"at": at, "principal": principal}
                    for at, principal in hanging["accesses"].get(ordinal, ())
                ],
                "moves": [
                    dict(zip(MOVE, values, strict=True)) for values in hanging["moves"].get(ordinal, ())
                ],
            }
            yield record

    def _source(self, chunk: int) -> Iterator[dict[str, Any]]:
        """The lines of a chunk and its episode, when this is the first memory that needs them."""
        if self._chunks[chunk]:
            return
        ((episode, start, stop),) = self._all(
            f"SELECT episode, start, stop FROM chunks WHERE number=? AND {sound('chunks')}", [chunk]
        )
        if not self._episodes[episode]:
            columns = ", ".join(EPISODE_COLUMNS)
            select = f"SELECT {columns} FROM episodes WHERE number=? AND {_SOUND_EPISODE}"
            (row,) = self._all(select, [episode])
            number = self._episodes.place(episode)
            yield {"record": "episode", "number": number, **dict(zip(EPISODE_COLUMNS, row, strict=True))}
        number = self._chunks.place(chunk)
        yield {
            "record": "chunk",
            "number": number,
            "episode": self._episodes[episode],
            "start": start,
            "stop": stop,
        }

    def _links(self) -> Iterator[dict[str, Any]]:
        for source, target, kind, weight, embedder, *versions in self._all(
            "SELECT s.id, t.id, l.kind, l.weight, l.embedder, s.version, t.version FROM links l"
            " JOIN memories s ON s.ordinal = l.source JOIN memories t ON t.ordinal = l.target"
            f" WHERE {sound('links', 'l')} ORDER BY l.number"
        ):
            yield {
                "record": "link",
                "source": source,
                "target": target,
                "kind": kind,
                "weight": weight,
                "embedder": self._embedders.index(embedder) if embedder else None,
                **(dict(zip(LINK_VERSIONS, versions, strict=True)) if versions != [1, 1] else {}),
            }

    def _evidence(self) -> Iterator[dict[str, Any]]:
        for values in self._all(
            "SELECT o.id, s.id, e.stance, e.known_from, e.known_to FROM evidence e"
            " JOIN memories o ON o.ordinal = e.observation JOIN memories s ON s.ordinal = e.source"
            f" WHERE {sound('evidence', 'e')} ORDER BY e.known_from, o.id, s.id"
        ):
            yield {"record": "evidence", **dict(zip(EVIDENCE, values, strict=True))}

    def _keys(self) -> Iterator[dict[str, Any]]:
        for key, body, ids in self._all(
            f"SELECT key, body, ids FROM idempotency WHERE {sound('idempotency')} ORDER BY key"
        ):
            yield {"record": "key", "key": key, "body": _base64(body), "ids": list(read_names(ids))}

    def _entity(self, number: int) -> int:
        return bisect_left(self._entities, number) + 1

    def _highest(self, table: str) -> int:
        ((number,),) = self._all(f"SELECT coalesce(max(number), 0) FROM {table}")
        return int(number)

    def _all(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        return iter(self._connection.execute(sql, parameters))


class _Places:
    """From the number of a row to its place in the file, from 1; 0 = not written yet."""

    def __init__(self, highest: int) -> None:
        self._places = array("q", bytes(8 * (highest + 1)))
        self._last = 0

    def __getitem__(self, number: int) -> int:
        return self._places[number]

    def place(self, number: int) -> int:
        self._last += 1
        self._places[number] = self._last
        return self._last


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode("ascii")
