"""Compare everything that is derived with what it was derived from.

Rows are checked against their digests, the change log against its chain, foreign keys and the file by
SQLite, every index file against its checksum, and the arrays of the open snapshot, value by value, against
arrays rebuilt from the rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.digest import IMMUTABLE, row_digest
from simonides.backends.embedded.reading import read_index_rows
from simonides.errors import DamagedError
from simonides.index.block import Block, Tail, join_blocks
from simonides.index.columns import COLUMNS
from simonides.index.generation import read_generation
from simonides.index.postings import FIELDS, SealedPostings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import apsw

    from simonides.backends.embedded.bank import Reading
    from simonides.index.files import FileLayer
    from simonides.index.snapshot import IndexSnapshot

_MOST_REPORTED = 20


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification found.

    Attributes:
        checked: how many of each thing were looked at.
        problems: what is wrong, at most 20 lines of each sort; empty = sound.
        notes: what is worth knowing and no damage, such as memories without a vector.
    """

    checked: Mapping[str, int]
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "ok": self.ok,
            "checked": dict(self.checked),
            "problems": list(self.problems),
            "notes": list(self.notes),
        }


def verify(reading: Reading, files: FileLayer, index: Path) -> VerifyReport:
    """Check one bank inside one read transaction."""
    problems: list[str] = []
    checked: dict[str, int] = {}
    for name, findings in (
        ("file", _file(reading.connection)),
        ("rows", _rows(reading.connection)),
        ("changes", _changes(reading)),
        ("index_files", _index_files(reading.meta.generation, files, index)),
        ("arrays", _arrays(reading)),
    ):
        count = 0
        reported = 0
        for problem in findings:
            count += 1
            if problem and reported < _MOST_REPORTED:
                problems.append(problem)
                reported += 1
        checked[name] = count
    return VerifyReport(checked, tuple(problems), _notes(reading))


def _notes(reading: Reading) -> tuple[str, ...]:
    if reading.meta.embedder is None:
        return ()
    (missing,) = reading.connection.execute(
        "SELECT count(*) FROM memories m WHERE NOT EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.ordinal = m.ordinal AND v.embedder = ?)",
        (reading.meta.embedder,),
    ).fetchone() or (0,)
    return (f"{missing} versions have no vector; they are found by words",) if missing else ()


def _file(connection: apsw.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check(20)"):
        yield "" if line == "ok" else f"memory.db: {line}"
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield f"memory.db: row {row} of {table} points at a missing row of {parent}"


def _rows(connection: apsw.Connection) -> Iterator[str]:
    columns = ", ".join(f"m.{name}" for name in IMMUTABLE)
    rows = connection.execute(
        f"SELECT {columns}, m.digest, v.scale, v.codes FROM memories m LEFT JOIN vectors v"  # noqa: S608 constant names
        " ON v.ordinal = m.ordinal AND v.embedder = (SELECT embedder FROM meta) ORDER BY m.ordinal"
    )
    for *values, digest, scale, codes in rows:
        row = dict(zip(IMMUTABLE, values, strict=True))
        sound = row_digest(row, scale or 0.0, codes or b"") == digest
        yield "" if sound else f"memory {row['id']}: its row is not what was written"


def _changes(reading: Reading) -> Iterator[str]:
    log_hash, expected = bytes(16), 1
    for sequence, operation, ordinal, stamp, stated in reading.connection.execute(
        "SELECT sequence, operation, ordinal, stamp, log_hash FROM changes ORDER BY sequence"
    ):
        link = log_hash + f"{sequence} {operation} {ordinal} {stamp}".encode()
        log_hash = hashlib.blake2b(link, digest_size=16).digest()
        sound = sequence == expected and log_hash == stated
        expected += 1
        yield "" if sound else f"change log: the chain is broken at change {sequence}"
        log_hash = stated
    if reading.meta.sequence != expected - 1 or reading.meta.log_hash != log_hash:
        yield f"change log: ends at change {expected - 1}, the bank says {reading.meta.sequence}"


def _index_files(generation: int, files: FileLayer, index: Path) -> Iterator[str]:
    if generation == 0:
        return
    try:
        opened = read_generation(files, index, generation, check=True)
    except FileNotFoundError as error:
        yield f"index: {error.filename} is missing; it will be rebuilt"
    except (DamagedError, OSError) as error:
        yield f"index: {error}"
    else:
        yield from ("" for _ in opened.files)


def _arrays(reading: Reading) -> Iterator[str]:
    snapshot = reading.snapshot
    if snapshot.rows != reading.meta.next_ordinal:
        yield f"index: holds {snapshot.rows} rows, the bank {reading.meta.next_ordinal}"
        return
    for block in snapshot.blocks:
        twin = _rebuilt(reading, block)
        mine = join_blocks([block], snapshot.expired, snapshot.dimension)
        for name, difference in _differences(mine, twin):
            yield f"index: {name} of rows {block.start} to {block.stop} differs from the rows" * difference


def _rebuilt(reading: Reading, block: Block) -> Block:
    snapshot: IndexSnapshot = reading.snapshot
    tail = Tail(block.start, snapshot.dimension)
    for row in read_index_rows(reading.connection, reading.meta.embedder, block.start, block.stop):
        tail.append(row)
    return join_blocks([tail.frozen()], snapshot.expired, snapshot.dimension)


def _differences(mine: Block, twin: Block) -> Iterator[tuple[str, bool]]:
    for name in COLUMNS:
        yield f"column {name}", not np.array_equal(mine.columns[name], twin.columns[name])
    for name in ("codes", "scales", "bits"):
        yield f"vector {name}", not np.array_equal(getattr(mine.vectors, name), getattr(twin.vectors, name))
    for field in FIELDS:
        yield f"postings of {field}", not _equal(mine.postings[field], twin.postings[field])


def _equal(mine: object, twin: object) -> bool:
    if not isinstance(mine, SealedPostings) or not isinstance(twin, SealedPostings):
        return False
    return list(mine.vocabulary) == list(twin.vocabulary) and all(
        np.array_equal(getattr(mine, name), getattr(twin, name))
        for name in ("starts", "rows", "frequencies", "lengths")
    )
