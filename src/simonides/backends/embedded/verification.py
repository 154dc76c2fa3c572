"""Compare everything that is derived with what it was derived from.

Rows are compared with their checksums and the change log, the log with its chain, every index file with its
checksum, and the arrays of the open snapshot, value by value, with arrays rebuilt from the rows; SQLite
checks the file and foreign keys. What cannot be read is reported as a problem, too.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import apsw
import numpy as np

from simonides.backends.embedded.accesses import FEATURES, extend_accesses
from simonides.backends.embedded.change_log import NUMBERS, link_hash
from simonides.backends.embedded.checksums import find_damage
from simonides.backends.embedded.entities import read_merges
from simonides.backends.embedded.migrations import schema_of
from simonides.backends.embedded.models import progress_of, read_run
from simonides.backends.embedded.reading import extend_graph, read_index_rows
from simonides.backends.embedded.rows import compare_memories, keys, unverified
from simonides.errors import DamagedError
from simonides.index.accesses import Accesses
from simonides.index.block import Block, Tail, join_blocks
from simonides.index.columns import COLUMNS
from simonides.index.generation import read_generation
from simonides.index.graph import Graph
from simonides.index.postings import FIELDS, SealedPostings
from simonides.records.audit import VerifyReport
from simonides.records.entity import described, find_cycles
from simonides.records.hygiene import shown
from simonides.records.interval import BEGINNING, CLOCK_SKEW, FOREVER, from_micros
from simonides.records.kind import ARCHIVED, CONSOLIDATED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.index.files import FileLayer
    from simonides.index.snapshot import IndexSnapshot
    from simonides.storage.reader import Meta

_MOST_REPORTED = 20

_NO_HARM = (
    "recall finds them and new memories go by the clock; set the clock right if it is the one that is wrong"
)

_AHEAD_MEMORIES = f"""
SELECT DISTINCT CAST(id AS TEXT) FROM {unverified("memories")}
WHERE ingested_at > :end OR (expired_at > :end AND expired_at <> :never) ORDER BY root
"""

_AHEAD_ARCHIVED = f"""
SELECT CAST(m.id AS TEXT) FROM {unverified("memories m")} WHERE m.expired_at = :never AND m.state & :archived
  AND (SELECT v.made_at FROM {unverified("moves v")}
    WHERE v.ordinal = m.root AND v.action = 'archive' AND v.undone_at = :never
    ORDER BY v.number DESC LIMIT 1) > :end
ORDER BY m.root
"""

_NOTES = {
    "{} versions have no vector; they are found by words": (
        f"SELECT count(*) FROM {keys('memories m')} WHERE :embedder IS NOT NULL AND NOT EXISTS"
        f" (SELECT 1 FROM {keys('vectors v')} WHERE v.ordinal = m.ordinal AND v.embedder = :embedder)"
    ),
    "{} versions have no sparse terms; other channels find them": (
        f"SELECT count(*) FROM {keys('memories m')} JOIN {keys('sparse_encoder')} WHERE NOT EXISTS"
        f" (SELECT 1 FROM {keys('sparse_terms s')} WHERE s.ordinal = m.ordinal)"
    ),
    "{} idempotency keys name only memories that are gone; a purge deletes them": (
        f"SELECT count(*) FROM {unverified('idempotency')} WHERE NOT EXISTS (SELECT 1"
        f" FROM json_each(idempotency.ids) i JOIN {keys('memories m')} ON m.id = i.value)"
    ),
    # An import that was interrupted has brought the names and not yet all memories.
    "{} names are mentioned by no memory; a purge deletes them": (
        f"SELECT count(*) FROM {keys('entities')} WHERE number NOT IN (SELECT entity FROM {keys('mentions')})"
    ),
}
"""What is no problem and worth a note, and the statement that counts the rows."""

# What the rows are, how to find those recorded after :end, and what to do.
_RECORDED = (
    (
        "memories",
        _AHEAD_MEMORIES,
        f"{_NO_HARM}; to have them recorded anew, forget them and retain their texts again",
    ),
    ("archived memories", _AHEAD_ARCHIVED, "the next maintenance run brings them back"),
    (
        "accesses",
        f"SELECT number FROM {unverified('accesses')} WHERE accessed_at > :end ORDER BY number",
        f"{_NO_HARM}; they go with their memories",
    ),
)


def verify(
    connection: apsw.Connection,
    meta: Meta,
    snapshot: IndexSnapshot | None,
    files: FileLayer,
    index: Path,
    now: int | None,
) -> VerifyReport:
    """Check one bank.

    Args:
        connection: in a read transaction.
        meta: as that transaction sees it.
        snapshot: at the same change; ``None`` = there is none, because rows cannot be read.
        files: the file layer.
        index: the bank's index folder.
        now: the clock; ``None`` = what was recorded after it is not named.
    """
    problems: list[str] = []
    checked: dict[str, int] = {}
    for name, findings in (
        ("file", chain(_file(connection), _schema(connection), _numbers(connection))),
        ("rows", _rows(connection)),
        ("reembedding", _reembedding(connection)),
        ("seals", find_damage(connection)),
        ("changes", chain(_changes(connection, meta), _unlogged(connection))),
        ("index_files", _index_files(meta.generation, files, index)),
        ("arrays", _arrays(connection, meta, snapshot) if snapshot is not None else iter(())),
        ("accesses", _accesses(connection, snapshot)),
        ("upkeep", chain(_upkeep(connection), _merges(connection))),
        ("forgetting", _leftovers(connection)),
        ("graph", _graph(connection, meta, snapshot) if snapshot is not None else iter(())),
    ):
        count = 0
        reported = 0
        try:
            for problem in findings:
                count += 1
                if problem and reported < _MOST_REPORTED:
                    problems.append(problem)
                    reported += 1
        except (apsw.Error, DamagedError, ValueError, TypeError, LookupError, OverflowError) as error:
            problems.append(f"{name}: cannot be read to the end ({error})")
        checked[name] = count
    return VerifyReport(checked, tuple(problems), tuple(_notes(connection, meta, now)))


def _notes(connection: apsw.Connection, meta: Meta, now: int | None) -> Iterator[str]:
    for note, select in _NOTES.items():
        count = connection.execute(select, {"embedder": meta.embedder}).get
        if count:
            yield note.format(count)
    run = read_run(connection)
    if run is not None:
        done, rows = progress_of(connection, run.number)
        yield f"the bank is going over to {run.model.name}: {done} of {rows} versions have its vector"
    if now is not None:
        yield from _recorded_ahead(connection, now)


def _recorded_ahead(connection: apsw.Connection, now: int) -> Iterator[str]:
    """Rows that a clock which stood ahead recorded, or that an earlier version took as stated."""
    bindings = {"end": now + CLOCK_SKEW, "never": FOREVER, "archived": ARCHIVED}
    clock = from_micros(now)
    for name, statement, remedy in _RECORDED:
        rows = [str(row) for (row,) in connection.execute(statement, bindings)]
        named = ", ".join(rows[:_MOST_REPORTED]) + ", …" * (len(rows) > _MOST_REPORTED)
        if rows:
            yield (
                f"{len(rows)} {name} recorded later than the clock, {clock.isoformat() if clock else now}"
                f" ({named}): {remedy}"
            )


def _file(connection: apsw.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA integrity_check(20)"):
        yield "" if line == "ok" else f"memory.db: {line}"
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield f"memory.db: row {row} of {table} points at a missing row of {parent}"


def _schema(connection: apsw.Connection) -> Iterator[str]:
    """The schema, word by word, beside the one that the migrations make."""
    select = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    mine = set(connection.execute(select).fetchall())
    wanted = set(schema_of(connection.pragma("user_version"), select))
    for kind, name, *_ in sorted(mine ^ wanted, key=repr):
        yield f"memory.db: the {kind} {name} is not the one of this schema"


def _numbers(connection: apsw.Connection) -> Iterator[str]:
    ((same,),) = connection.execute(f"SELECT numbers IS {NUMBERS} FROM {unverified('meta')}").fetchall()
    yield "" if same else "memory.db: the last numbers given (sqlite_sequence) are not what was written"


def _rows(connection: apsw.Connection) -> Iterator[str]:
    done: int | None = -1
    while done is not None:
        try:
            for row, intact, _ in compare_memories(connection, "WHERE ordinal > ? ORDER BY ordinal", done):
                done = row["ordinal"]
                yield "" if intact else f"memory {row['id']}: its row is not what was written"
            done = None
        except UnicodeDecodeError:
            # Bytes that are no text end the loop; it goes on after the row that holds them.
            done, memory = connection.execute(
                f"SELECT ordinal, CAST(id AS BLOB) FROM {keys('memories')} WHERE ordinal > ?"
                " ORDER BY ordinal LIMIT 1",
                (done,),
            ).get
            yield f"memory {_text(memory)}: its row is not what was written (row {done})"


def _reembedding(connection: apsw.Connection) -> Iterator[str]:
    """Vectors of embedders that are not the bank's: those of one that it goes over to, or has left."""
    for memory, name, fits in connection.execute(
        f"SELECT CAST(m.id AS BLOB), e.name, length(v.codes) = e.dimension FROM {unverified('vectors v')}"
        f" JOIN {keys('memories m')} ON m.ordinal = v.ordinal JOIN {unverified('embedders e')}"
        " ON e.number = v.embedder"
        f" WHERE v.embedder IS NOT (SELECT embedder FROM {unverified('meta')}) ORDER BY v.ordinal, v.embedder"
    ):
        shown = _text(memory)
        yield "" if fits else f"memory {shown}: its vector by {name} is not what was written"


def _changes(connection: apsw.Connection, meta: Meta) -> Iterator[str]:
    log_hash, expected = bytes(16), 1
    for sequence, operation, ordinal, stamp, stated in connection.execute(
        "SELECT sequence, operation, ordinal, stamp, log_hash FROM changes ORDER BY sequence"
    ):
        log_hash = link_hash(log_hash, sequence, operation, ordinal, stamp)
        intact = sequence == expected and log_hash == stated
        expected += 1
        yield "" if intact else f"change log: the chain is broken at change {sequence}"
        log_hash = stated if isinstance(stated, bytes) else b""
    if meta.sequence != expected - 1 or meta.log_hash != log_hash:
        yield f"change log: ends at change {expected - 1}, the bank says {meta.sequence}"


def _unlogged(connection: apsw.Connection) -> Iterator[str]:
    # Changes of names carry the numbers of entities, those of use how many accesses came.
    live = (
        "SELECT ordinal FROM changes WHERE operation NOT IN ('name', 'use')"
        " GROUP BY ordinal HAVING max(operation = 'erase') = 0"
    )
    for (ordinal,) in connection.execute(f"{live} EXCEPT SELECT ordinal FROM {keys('memories')}"):
        yield f"change log: row {ordinal} was added and never erased, and is missing"
    for (ordinal,) in connection.execute(f"SELECT ordinal FROM {keys('memories')} EXCEPT {live}"):
        yield f"change log: row {ordinal} is there and not in it"
    # The stamp of the row that holds the maximum: SQLite gives that one for a bare column.
    for (memory,) in connection.execute(
        f"SELECT CAST(m.id AS BLOB) FROM {unverified('memories m')} LEFT"
        " JOIN (SELECT ordinal, stamp, max(sequence)"
        " FROM changes WHERE operation = 'expire' GROUP BY ordinal) c ON c.ordinal = m.ordinal"
        " WHERE m.expired_at IS NOT coalesce(c.stamp, ?) ORDER BY m.ordinal",
        (FOREVER,),
    ):
        yield (f"memory {_text(memory)}: expired at another time than the change log says")


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


def _arrays(connection: apsw.Connection, meta: Meta, snapshot: IndexSnapshot) -> Iterator[str]:
    if snapshot.rows != meta.next_ordinal:
        yield f"index: holds {snapshot.rows} rows, the bank {meta.next_ordinal}"
        return
    for block in snapshot.blocks:
        twin = _rebuilt(connection, meta, snapshot, block)
        mine = join_blocks([block], snapshot.expired, snapshot.dimension)
        for name, difference in _differences(mine, twin):
            yield f"index: {name} of rows {block.start} to {block.stop} differs from the rows" * difference


def _rebuilt(connection: apsw.Connection, meta: Meta, snapshot: IndexSnapshot, block: Block) -> Block:
    tail = Tail(block.start, snapshot.dimension)
    for row in read_index_rows(connection, meta.embedder, block.start, block.stop):
        tail.append(row)
    return join_blocks([tail.frozen()], snapshot.expired, snapshot.dimension)


def _differences(mine: Block, twin: Block) -> Iterator[tuple[str, bool]]:
    for name in COLUMNS:
        yield f"column {name}", not np.array_equal(mine.columns[name], twin.columns[name])
    for name in ("codes", "scales", "bits"):
        yield f"vector {name}", not np.array_equal(getattr(mine.vectors, name), getattr(twin.vectors, name))
    for name in ("offsets", "codes"):
        yield f"token {name}", not np.array_equal(getattr(mine.tokens, name), getattr(twin.tokens, name))
    for field in FIELDS:
        yield f"postings of {field}", not _equal(mine.postings[field], twin.postings[field])
    yield (
        "sparse terms",
        not all(
            np.array_equal(getattr(mine.sparse, name), getattr(twin.sparse, name))
            for name in ("ids", "starts", "rows", "codes", "scales")
        ),
    )


def _graph(connection: apsw.Connection, meta: Meta, snapshot: IndexSnapshot) -> Iterator[str]:
    stamps = snapshot.column("expired_at")
    mine = snapshot.graph.sealed(np.flatnonzero(stamps == BEGINNING))
    twin = extend_graph(connection, Graph.empty(), meta.embedder).sealed(np.empty(0, np.int64))
    for part in ("links", "by_row", "by_entity"):
        equal = all(
            np.array_equal(getattr(getattr(mine, part), name), getattr(getattr(twin, part), name))
            for name in ("starts", "ends", "kinds", "weights")
        )
        yield "" if equal else f"index: {part} differ from the mentions and links in the rows"


def _accesses(connection: apsw.Connection, snapshot: IndexSnapshot | None) -> Iterator[str]:
    for (number,) in connection.execute(
        f"SELECT a.number FROM {unverified('accesses a')} JOIN {unverified('memories m')}"
        " ON m.ordinal = a.ordinal WHERE m.root <> m.ordinal"
    ):
        yield f"access {number}: names a version that is not its memory's first"
    for impression, ordinal, features in connection.execute(
        f"SELECT impression, ordinal, features FROM {unverified('shown')} ORDER BY impression, ordinal"
    ):
        numbers = np.frombuffer(features, "<f4") if len(features) % 4 == 0 else np.empty(0, "<f4")
        intact = len(numbers) == FEATURES and bool(np.isfinite(numbers).all())
        yield "" if intact else f"impression {impression}: the features of row {ordinal} are damaged"
    if snapshot is not None:
        twin = extend_accesses(connection, Accesses.empty())
        mine = snapshot.accesses
        # Events of erased rows may stay in memory until the bank is opened anew; no view sees the rows.
        there = np.isin(mine.roots, np.flatnonzero(snapshot.column("expired_at") != BEGINNING))
        equal = all(
            np.array_equal(getattr(mine, name)[there], getattr(twin, name))
            for name in ("roots", "stamps", "principals")
        )
        yield "" if equal else "index: accesses differ from those in the rows"


_LEFT = (
    ("chunks", "no memory is made from it", "chunk", "memories"),
    ("episodes", "it has no chunk", "episode", "chunks"),
    ("impressions", "it shows nothing", "impression", "shown"),
)
"""Tables whose rows exist for others that refer to them: table, problem, column and table of the others."""


def _leftovers(connection: apsw.Connection) -> Iterator[str]:
    """Rows that forgetting should have taken along; all others are bound by foreign keys (see ``_file``)."""
    for table, problem, column, others in _LEFT:
        select = f"SELECT number FROM {keys(table)} EXCEPT SELECT {column} FROM {keys(others)} ORDER BY 1"
        rows = connection.execute(select).fetchall()
        yield from (f"{table}: row {number} is left over, {problem}" for (number,) in rows)
        yield ""


def _upkeep(connection: apsw.Connection) -> Iterator[str]:
    """Moves and evidence name first versions; every observation held rests on something, none on another."""
    for table, column in (("moves", "ordinal"), ("evidence", "observation"), ("evidence", "source")):
        for number, root in connection.execute(
            f"SELECT t.{column}, m.root FROM {unverified(f'{table} t')} JOIN {unverified('memories m')}"
            f" ON m.ordinal = t.{column} ORDER BY 1"
        ):
            yield "" if number == root else f"{table}: row {number} is not its memory's first version"
    for memory, marked, rests in connection.execute(
        f"SELECT CAST(m.id AS BLOB), m.state & ?1, EXISTS (SELECT 1 FROM {unverified('evidence e')} WHERE"
        f" e.observation = m.root AND e.known_to = ?2) FROM {unverified('memories m')}"
        " WHERE m.expired_at = ?2"
        f" AND (m.state & ?1 OR m.root IN (SELECT observation FROM {keys('evidence')})) ORDER BY m.ordinal",
        (CONSOLIDATED, FOREVER),
    ):
        yield "" if marked and rests else f"memory {_text(memory)}: an observation without evidence"
    for memory, marked in connection.execute(
        f"SELECT CAST(o.id AS BLOB), max(s.state & ?1) FROM {unverified('evidence e')}"
        f" JOIN {unverified('memories o')} ON o.ordinal ="
        f" e.observation JOIN {unverified('memories s')} ON s.ordinal = e.source"
        " WHERE e.known_to = ?2 GROUP BY e.observation",
        (CONSOLIDATED, FOREVER),
    ):
        name = _text(memory)
        yield f"memory {name}: an observation that rests on another; maintain the bank" if marked else ""


def _merges(connection: apsw.Connection) -> Iterator[str]:
    """Merges that hold now and form a cycle, so that no entity of it is the one that the others count as."""
    merges = read_merges(connection, FOREVER - 1)
    yield from ("" for _ in merges)

    def name_of(entity: int) -> str:
        select = f"SELECT name FROM {unverified('entities')} WHERE number=?"
        row = connection.execute(select, (entity,)).fetchone()
        return shown(row[0]) if row else f"entity {entity}"

    for cycle in find_cycles(merges):
        select = f"SELECT max(number) FROM {unverified('merges')} WHERE entity=? AND undone_at=?"
        number = connection.execute(select, (cycle[-1], FOREVER)).get
        yield (
            f"merges: merged names form a cycle, {described(cycle, name_of)}; undo merge {number} "
            f"(simonides undo-merge {number})"
        )


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _equal(mine: object, twin: object) -> bool:
    if not isinstance(mine, SealedPostings) or not isinstance(twin, SealedPostings):
        return False
    return list(mine.vocabulary) == list(twin.vocabulary) and all(
        np.array_equal(getattr(mine, name), getattr(twin, name))
        for name in ("starts", "rows", "frequencies", "lengths")
    )
