"""Compare rows that are about to be handed out with their digests, and all that is handed out with them.

The values are read and compared here and not by ``seals.sound``, in a fifth less time: a function that SQLite
calls has to be given every text as marked bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.digest import IMMUTABLE
from simonides.backends.embedded.reading import marks_for, parts_of, read_rows
from simonides.backends.embedded.seals import SEALS, Seal, check_memory, check_seal
from simonides.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import apsw


def _seal(table: str, digest: str = "digest") -> Seal:
    (found,) = (seal for seal in SEALS[table] if seal.digest == digest)
    return found


def _columns(alias: str, table: str) -> str:
    return ", ".join(f"{alias}.{name}" for name in (*_seal(table).covered, "digest"))


_CHECK = f"""
SELECT {", ".join(f"m.{name}" for name in IMMUTABLE)}, m.digest, m.expired_at, m.end_digest,
  {_columns("v", "vectors")}, {_columns("c", "chunks")}, {_columns("e", "episodes")}
FROM memories m
  LEFT JOIN vectors v ON v.ordinal = m.ordinal AND v.embedder IS ?
  LEFT JOIN chunks c ON c.number = m.chunk
  LEFT JOIN episodes e ON e.number = c.episode
WHERE m.ordinal IN (%s)
"""

_LABEL = {
    table: f"SELECT number, {column}, digest FROM {table} WHERE number IN (%s)"
    for table, (column,) in (("labels", _seal("labels").columns), ("label_sets", _seal("label_sets").columns))
}
_PLACE = {name: IMMUTABLE.index(name) for name in ("ordinal", "id", "path", "project", "tags", "acl")}
_END = len(IMMUTABLE)
_VECTOR = _END + 3
_CHUNK = _VECTOR + len(_seal("vectors").covered) + 1
_EPISODE = _CHUNK + len(_seal("chunks").covered) + 1


def check_rows(connection: apsw.Connection, ordinals: Sequence[int], embedder: int | None) -> None:
    """Compare rows, their vectors, sources and labels with their digests; about 0.03 ms each.

    Args:
        connection: in a transaction.
        ordinals: of rows of ``memories``.
        embedder: the bank's, which a transaction that chose it has not stored yet.

    Raises:
        DamagedError: one of them is not what was written, or points at something that is missing.
    """
    for part in parts_of(ordinals):
        labels: set[int] = set()
        sets: set[int] = set()
        for row in read_rows(connection, _CHECK % marks_for(part), (embedder, *part)):
            _check(row)
            labels |= {row[_PLACE["path"]], row[_PLACE["project"]]}
            sets |= {row[_PLACE["tags"]], row[_PLACE["acl"]]}
        # Most rows share their labels, so each of these is compared once.
        _check_labels(connection, "labels", labels)
        _check_labels(connection, "label_sets", sets)


def _check(row: tuple[Any, ...]) -> None:
    digest, expired_at, end_digest = row[_END:_VECTOR]
    check_memory(digest, row[:_END], embedded=row[_VECTOR] is not None)
    check_seal("memories", end_digest, row[_PLACE["ordinal"]], expired_at)
    if row[_VECTOR] is not None:
        check_seal("vectors", row[_CHUNK - 1], *row[_VECTOR : _CHUNK - 1])
    if row[_CHUNK] is None or row[_EPISODE] is None:
        raise DamagedError(
            f"memory {row[_PLACE['id']]}: its source is missing; forget it, or restore the bank from a backup"
        )
    check_seal("chunks", row[_EPISODE - 1], *row[_CHUNK : _EPISODE - 1])
    check_seal("episodes", row[-1], *row[_EPISODE:-1])


def _check_labels(connection: apsw.Connection, table: str, numbers: Collection[int]) -> None:
    missing = set(numbers)
    for part in parts_of(sorted(numbers)):
        for number, text, digest in read_rows(connection, _LABEL[table] % marks_for(part), part):
            check_seal(table, digest, number, text)
            missing.discard(number)
    if missing:
        raise DamagedError(
            f"memory.db: {table}: row {min(missing)}, which a memory points at, is missing; "
            "restore the bank from a backup"
        )
