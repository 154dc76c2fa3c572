"""The write transaction of a retain and of a forget: every table a memory touches, or none."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.change_log import ADD, ERASE, Meta, log_change, read_meta, write_counters
from simonides.backends.embedded.digest import content_key, memory_id, row_digest
from simonides.backends.embedded.labels import label_code, label_set_code
from simonides.errors import EmbedderMismatchError, InputError
from simonides.records.interval import FOREVER, Interval, Precision

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from simonides.protocols import Embedder
    from simonides.records.draft import Draft, Prepared


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did: one id per item in order, and how many of them are new memories."""

    ids: tuple[str, ...]
    new: int


def insert_items(
    connection: apsw.Connection, items: Sequence[Prepared], now: int, embedder: Embedder | None
) -> Written:
    """Store items inside an open write transaction.

    Args:
        connection: in a write transaction.
        items: checked, analysed and encoded.
        now: the clock, microseconds UTC.
        embedder: what made the items' vectors.

    Raises:
        EmbedderMismatchError: the bank holds vectors of another embedder.
        InputError: an interval turns out empty once its defaults are filled in.
    """
    meta = read_meta(connection)
    if any(item.codes is not None for item in items) and embedder is not None:
        meta = replace(meta, embedder=_embedder_number(connection, meta, embedder))
    ids: list[str] = []
    new = 0
    for position, item in enumerate(items):
        key = content_key(item.draft)
        existing = _identical(connection, item.draft, key, now) if item.draft.deduplicate else None
        if existing is None:
            existing, meta = _insert(connection, meta, item, key, now, position)
            new += 1
        ids.append(existing)
    write_counters(connection, meta)
    return Written(tuple(ids), new)


def erase_memories(connection: apsw.Connection, ids: Sequence[str]) -> int:
    """Delete every version of the named memories with all that hangs on them; returns how many were there."""
    meta = read_meta(connection)
    erased = 0
    for memory in ids:
        rows: list[tuple[Any, ...]] = connection.execute(
            "SELECT ordinal, chunk FROM memories WHERE id=? ORDER BY ordinal", (memory,)
        ).fetchall()
        for ordinal, chunk in rows:
            connection.execute("DELETE FROM memories WHERE ordinal=?", (ordinal,))
            _drop_source(connection, int(chunk))
            meta = log_change(connection, meta, ERASE, int(ordinal), 0)
        erased += bool(rows)
    write_counters(connection, meta)
    return erased


def _drop_source(connection: apsw.Connection, chunk: int) -> None:
    if connection.execute("SELECT 1 FROM memories WHERE chunk=? LIMIT 1", (chunk,)).fetchone():
        return
    episode = connection.execute("DELETE FROM chunks WHERE number=? RETURNING episode", (chunk,)).fetchone()
    if episode and not connection.execute("SELECT 1 FROM chunks WHERE episode=? LIMIT 1", episode).fetchone():
        connection.execute("DELETE FROM episodes WHERE number=?", episode)


def _embedder_number(connection: apsw.Connection, meta: Meta, embedder: Embedder) -> int:
    if meta.embedder is not None:
        name, dimension, fingerprint = connection.execute(
            "SELECT name, dimension, fingerprint FROM embedders WHERE number=?", (meta.embedder,)
        ).fetchone() or ("", 0, "")
        if fingerprint != embedder.fingerprint:
            raise EmbedderMismatchError(mismatch(name, dimension, embedder))
        return meta.embedder
    row = connection.execute(
        "INSERT INTO embedders(fingerprint, name, dimension) VALUES (?, ?, ?) RETURNING number",
        (embedder.fingerprint, embedder.name, embedder.dimension),
    ).fetchone()
    if row is None:
        raise LookupError("embedders gave no number")
    return int(row[0])


def mismatch(name: str, dimension: int, embedder: Embedder) -> str:
    """The message for a bank opened with another embedder than its vectors were made with."""
    return (
        f"the bank holds vectors of {name!r} ({dimension} dimensions), the store was opened with "
        f"{embedder.name!r} ({embedder.dimension} dimensions); open it with {name!r}, or retain into a new "
        "bank. Recall goes on by words alone"
    )


def _identical(connection: apsw.Connection, draft: Draft, key: bytes, now: int) -> str | None:
    # What has ended since is no longer said; what states a past end itself is said again.
    stated_end = draft.valid_to.start if draft.valid_to is not None else FOREVER
    row = connection.execute(
        "SELECT id FROM memories WHERE content_key=? AND expired_at=? AND (valid_to>? OR valid_to=?)"
        " ORDER BY ordinal LIMIT 1",
        (key, FOREVER, now, stated_end),
    ).fetchone()
    return None if row is None else str(row[0])


def _insert(
    connection: apsw.Connection, meta: Meta, item: Prepared, key: bytes, now: int, position: int
) -> tuple[str, Meta]:
    draft = item.draft
    ingested = draft.recorded_at if draft.recorded_at is not None else max(now, meta.last_ingested + 1)
    valid_from, valid_to = _validity(draft, ingested, position)
    ordinal = meta.next_ordinal
    memory = _free_id(connection, meta.bank, ingested, draft.text)
    occurred = draft.occurred
    values = {
        "ordinal": ordinal,
        "id": memory,
        "version": 1,
        "chunk": _insert_source(connection, draft, ingested),
        "kind": draft.kind.value,
        "layer": draft.layer.value,
        "text": draft.text,
        "context": draft.context,
        "relation": draft.relation,
        "path": label_code(connection, draft.path),
        "project": label_code(connection, draft.project),
        "tags": label_set_code(connection, draft.tags),
        "acl": label_set_code(connection, draft.acl),
        "valid_from": valid_from.start,
        "valid_from_precision": valid_from.precision.value,
        "valid_to": valid_to.start,
        "valid_to_precision": valid_to.precision.value,
        "ingested_at": ingested,
        "expired_at": FOREVER,
        "occurred_from": occurred.start if occurred else None,
        "occurred_to": occurred.end if occurred else None,
        "occurred_precision": occurred.precision.value if occurred else None,
        # Plus zero, because SQLite keeps no negative zero and the digest must match what it keeps.
        "salience": draft.salience + 0.0,
        "confidence": draft.confidence + 0.0,
        "proof_count": 1,
        "access_count": 0,
        "last_access": None,
        "source": draft.source,
        "metadata": draft.metadata_json,
        "terms": json.dumps(item.terms, ensure_ascii=False, separators=(",", ":")).encode(),
        "content_key": key,
    }
    codes = b"" if item.codes is None else item.codes.tobytes()
    values["digest"] = row_digest(values, item.scale, codes)
    columns = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    insert = f"INSERT INTO memories({columns}) VALUES ({marks})"  # noqa: S608 names from the keys above
    connection.execute(insert, values)
    if codes:
        connection.execute(
            "INSERT INTO vectors VALUES (?, ?, ?, ?)", (ordinal, meta.embedder, item.scale, codes)
        )
    moved = replace(meta, next_ordinal=ordinal + 1, last_ingested=max(ingested, meta.last_ingested))
    return memory, log_change(connection, moved, ADD, ordinal, ingested)


def _validity(draft: Draft, ingested: int, position: int) -> tuple[Interval, Interval]:
    if draft.valid_from is not None:
        start = draft.valid_from
    elif draft.occurred is not None and draft.occurred.start <= ingested:
        start = draft.occurred
    else:
        start = Interval(ingested, ingested, Precision.INSTANT)
    end = draft.valid_to or Interval(FOREVER, FOREVER, Precision.INSTANT)
    if end.start <= start.start:
        raise InputError(
            f"items[{position}].valid_to",
            "is not after valid_from (by default the event time, else now); state a valid_from before it",
        )
    return start, end


def _insert_source(connection: apsw.Connection, draft: Draft, ingested: int) -> int:
    episode = connection.execute(
        "INSERT INTO episodes(text, source, recorded_at) VALUES (?, ?, ?) RETURNING number",
        (draft.text, draft.source, ingested),
    ).fetchone()
    if episode is None:
        raise LookupError("episodes gave no number")
    chunk = connection.execute(
        "INSERT INTO chunks(episode, start, stop) VALUES (?, 0, ?) RETURNING number",
        (episode[0], len(draft.text)),
    ).fetchone()
    if chunk is None:
        raise LookupError("chunks gave no number")
    return int(chunk[0])


def _free_id(connection: apsw.Connection, bank: str, ingested: int, text: str) -> str:
    attempt = 0
    while True:
        memory = memory_id(bank, ingested, text, attempt)
        if not connection.execute("SELECT 1 FROM memories WHERE id=? LIMIT 1", (memory,)).fetchone():
            return memory
        attempt += 1
