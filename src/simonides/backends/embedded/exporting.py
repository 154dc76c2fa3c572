"""Write a bank as lines, without loss: every version with its stamps, vectors, terms and links.

One read transaction, so the file is the bank at one moment while others write. Equal banks give equal bytes:
an export that was imported into an empty bank is exported as the same file. The epoch, the change and audit
logs, the numbers of rows and the index belong to one bank on one disk and are not exported. Cost: linear;
memory 16 bytes per source and name, and one batch of rows.
"""

from __future__ import annotations

from array import array
from base64 import b64encode
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.labels import read_label_sets, read_labels
from simonides.backends.embedded.models import read_run, read_sparse_encoder
from simonides.backends.embedded.rows import (
    ROW,
    check_rows,
    keys,
    marks_for,
    read_names,
    read_object,
    verified,
)
from simonides.records.receipt import Counts
from simonides.storage.export_fields import EVIDENCE, LINK_VERSIONS, MOVE
from simonides.storage.export_format import EPISODE_COLUMNS, FORMAT, MEMORY_COLUMNS, VERSION, encode_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from simonides.storage.reader import Meta

_BATCH = 500

_TABLES = (
    "entities", "aliases", "merges", "mentions", "relations", "links", "idempotency", "jobs", "enrichments",
    "accesses", "sparse_terms", "moves", "evidence",
)  # fmt: skip
# In the order of the fields of ``Counts``.
_COUNTS = f"""
SELECT (SELECT count(DISTINCT id) FROM {keys("memories")}), (SELECT count(*) FROM {keys("memories")}),
  (SELECT count(*) FROM {keys("vectors")}), (SELECT count(*) FROM {keys("token_codes")}),
  (SELECT count(DISTINCT episode) FROM {keys("chunks")}
    WHERE number IN (SELECT chunk FROM {keys("memories")})),
  (SELECT count(DISTINCT chunk) FROM {keys("memories")}),
  {", ".join(f"(SELECT count(*) FROM {keys(table)})" for table in _TABLES)}
"""


def _of(table: str, columns: str, order: str = "1") -> str:
    return f"SELECT ordinal, {columns} FROM {verified(table)} WHERE ordinal IN (%s) ORDER BY {order}"


# What belongs to one version: the name in its line, and columns after the ordinal.
_PARTS = {
    "vectors": _of("vectors", "embedder, scale, codes", "1, 2"),
    "tokens": _of("token_codes", "embedder, codes", "1, 2"),
    "sparse": _of("sparse_terms", "terms"),
    "mentions": _of("mentions", "entity", "1, 2"),
    "relations": _of("relations", "name, subject, object, single_valued", "1, 2, 3, 4"),
    "jobs": _of("jobs", "task, tries, not_before, problem", "1, 2"),
    "enrichments": _of("enrichments", "base, model"),
    "accesses": f"SELECT a.ordinal, a.accessed_at, l.text FROM {verified('accesses a')}"
    f" JOIN {verified('labels l')} ON l.number = a.principal WHERE a.ordinal IN (%s) ORDER BY 1, 2, 3",
    "moves": _of("moves", "action, was, became, reason, made_at, undone_at", "number"),
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
    """The records of one export; maps numbers of rows to places in the file."""

    def __init__(self, connection: apsw.Connection, meta: Meta) -> None:
        self._connection = connection
        self._meta = meta
        self._embedders: list[int] = []
        self._entities = array("q")
        self._episodes = _Places(self._highest("episodes"))
        self._chunks = _Places(self._highest("chunks"))
        self._labels = read_labels(connection, 0)
        self._label_sets = read_label_sets(connection, 0)

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
            f"SELECT number, fingerprint, name, dimension FROM {verified('embedders')} ORDER BY number"
        ):
            self._embedders.append(int(number))
            embedders.append({"fingerprint": fingerprint, "name": name, "dimension": dimension})
        current, run = self._meta.embedder, read_run(self._connection)
        fingerprint, name = read_sparse_encoder(self._connection)
        return {
            "record": "header",
            "format": FORMAT,
            "version": VERSION,
            "bank": self._meta.bank,
            "analyser": self._meta.analyser,
            "embedders": embedders,
            "embedder": None if current is None else self._embedders.index(current),
            "reembedding": None if run is None else self._embedders.index(run.number),
            "sparse_encoder": {"fingerprint": fingerprint, "name": name} if fingerprint else None,
            "counts": count_rows(self._connection).to_dict(),
        }

    def _names(self) -> Iterator[dict[str, Any]]:
        for number, name, folded, kind, qualifier, readers in self._all(
            f"SELECT e.number, e.name, e.folded, e.kind, e.qualifier, s.names FROM {verified('entities e')}"
            f" JOIN {verified('label_sets s')} ON s.number = e.scope ORDER BY e.number"
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
            f"SELECT entity, folded, name, added_at FROM {verified('aliases')} ORDER BY 1, 2"
        ):
            yield {
                "record": "alias",
                "entity": self._entity(entity),
                "folded": folded,
                "name": name,
                "added_at": added_at,
            }
        for entity, into, merged_at, undone_at in self._all(
            f"SELECT entity, into_entity, merged_at, undone_at FROM {verified('merges')} ORDER BY number"
        ):
            yield {
                "record": "merge",
                "entity": self._entity(entity),
                "into": self._entity(into),
                "merged_at": merged_at,
                "undone_at": undone_at,
            }

    def _memories(self) -> Iterator[dict[str, Any]]:
        ordinals = self._all(f"SELECT ordinal FROM {keys('memories')} ORDER BY root, version")
        batch: list[int] = []
        for (ordinal,) in ordinals:
            batch.append(int(ordinal))
            if len(batch) == _BATCH:
                yield from self._batch(batch)
                batch = []
        if batch:
            yield from self._batch(batch)

    def _batch(self, ordinals: Sequence[int]) -> Iterator[dict[str, Any]]:
        rows = check_rows(self._connection, ordinals)
        marks = marks_for(ordinals)
        parts: dict[str, dict[int, list[Any]]] = {}
        for name, select in _PARTS.items():
            found = parts[name] = {}
            for ordinal, *values in self._all(select % marks, ordinals):
                found.setdefault(ordinal, []).append(values)
        for ordinal in ordinals:
            row = dict(zip(ROW, rows[ordinal], strict=True))
            yield from self._source(int(row["chunk"]))
            record = {name: row[name] for name in MEMORY_COLUMNS}
            record |= {
                "record": "memory",
                "chunk": self._chunks[row["chunk"]],
                "path": self._labels[row["path"]],
                "project": self._labels[row["project"]],
                "tags": sorted(self._label_sets[row["tags"]]),
                "acl": sorted(self._label_sets[row["acl"]]),
                "metadata": read_object(record["metadata"]),
                "terms": read_object(record["terms"]),
                "signature": _base64(record["signature"]),
                "content_key": _base64(record["content_key"]),
                "vectors": [
                    {"embedder": self._embedders.index(embedder), "scale": scale, "codes": _base64(codes)}
                    for embedder, scale, codes in parts["vectors"].get(ordinal, ())
                ],
                "tokens": [
                    {"embedder": self._embedders.index(embedder), "codes": _base64(codes)}
                    for embedder, codes in parts["tokens"].get(ordinal, ())
                ],
                "sparse": "".join(_base64(terms) for (terms,) in parts["sparse"].get(ordinal, ())),
                "mentions": [self._entity(entity) for (entity,) in parts["mentions"].get(ordinal, ())],
                "relations": [
                    {"name": name, "subject": self._entity(subject), "object": obj, "single_valued": single}
                    for name, subject, obj, single in parts["relations"].get(ordinal, ())
                ],
                "jobs": [
                    {"task": task, "tries": tries, "not_before": moment, "problem": problem}
                    for task, tries, moment, problem in parts["jobs"].get(ordinal, ())
                ],
                "enrichments": [
                    {"base": base, "model": model} for base, model in parts["enrichments"].get(ordinal, ())
                ],
                "accesses": [
                    {"at": at, "principal": principal} for at, principal in parts["accesses"].get(ordinal, ())
                ],
                "moves": [dict(zip(MOVE, values, strict=True)) for values in parts["moves"].get(ordinal, ())],
            }
            yield record

    def _source(self, chunk: int) -> Iterator[dict[str, Any]]:
        """The lines of a chunk and its episode, when this is the first memory that needs them."""
        if self._chunks[chunk]:
            return
        ((episode, start, stop),) = self._all(
            f"SELECT episode, start, stop FROM {verified('chunks')} WHERE number=?", [chunk]
        )
        if not self._episodes[episode]:
            columns = ", ".join(EPISODE_COLUMNS)
            select = f"SELECT {columns} FROM {verified('episodes', text=True)} WHERE number=?"
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
            "SELECT s.id, t.id, l.kind, l.weight, l.embedder, s.version, t.version"
            f" FROM {verified('links l')}"
            f" JOIN {keys('memories s')} ON s.ordinal = l.source JOIN {keys('memories t')}"
            " ON t.ordinal = l.target"
            " ORDER BY l.number"
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
            f"SELECT o.id, s.id, e.stance, e.known_from, e.known_to FROM {verified('evidence e')}"
            f" JOIN {keys('memories o')} ON o.ordinal = e.observation JOIN {keys('memories s')}"
            " ON s.ordinal = e.source"
            " ORDER BY e.known_from, o.id, s.id"
        ):
            yield {"record": "evidence", **dict(zip(EVIDENCE, values, strict=True))}

    def _keys(self) -> Iterator[dict[str, Any]]:
        for key, body, ids in self._all(f"SELECT key, body, ids FROM {verified('idempotency')} ORDER BY key"):
            yield {"record": "key", "key": key, "body": _base64(body), "ids": list(read_names(ids))}

    def _entity(self, number: int) -> int:
        return bisect_left(self._entities, number) + 1

    def _highest(self, table: str) -> int:
        ((number,),) = self._all(f"SELECT coalesce(max(number), 0) FROM {keys(table)}")
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
