"""Bring a snapshot to exactly the change that a read transaction sees.

The sealed blocks come from the generation that ``meta`` names; later rows are replayed from their stored
blobs into an in-memory tail; later expiries and erasures are applied on top. Nothing is encoded or tokenised
again. A file's checksums are compared when it is opened, a block's once per process; after a merge only the
files that it wrote are opened. A generation that is missing, damaged, or of another bank, epoch or log is
rebuilt from rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from simonides.backends.embedded.accesses import extend_accesses
from simonides.backends.embedded.change_log import ADD, ERASE, EXPIRE, LINK, NAME, USE, hash_at, read_changes
from simonides.backends.embedded.labels import read_label_sets, read_labels
from simonides.backends.embedded.models import read_model
from simonides.backends.embedded.reading import extend_graph, read_index_rows
from simonides.errors import DamagedError
from simonides.index.accesses import Accesses
from simonides.index.block import LARGEST_BLOCK, Block, Tail, join_blocks
from simonides.index.generation import Generation, Origin, read_generation
from simonides.index.graph import Graph
from simonides.index.snapshot import IndexSnapshot
from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

    from simonides.index.columns import Row
    from simonides.index.files import FileLayer
    from simonides.storage.reader import Meta

_CHUNK = 4_096


@dataclass(frozen=True)
class Position:
    """The state of the index of one bank in one process.

    The next position shares and extends its tail and names, so whoever makes it holds the bank's lock and
    drops this one first: after an error both may be incomplete.

    Attributes:
        generation: the opened generation, ``None`` when the blocks were rebuilt or there are none.
        rebuilt: blocks after the generation's that no generation holds yet; the next merge publishes them.
        problem: why the index on disk was not used; empty when it was.
    """

    snapshot: IndexSnapshot
    epoch: str
    analyser: str
    embedder: int | None
    generation: Generation | None
    rebuilt: tuple[Block, ...]
    tail: Tail
    graph: Graph
    accesses: Accesses
    problem: str = ""
    labels: list[str] = field(default_factory=list)
    label_sets: list[frozenset[str]] = field(default_factory=list)

    @property
    def sealed(self) -> tuple[Block, ...]:
        return (self.generation.blocks if self.generation else ()) + self.rebuilt


def catch_up(
    connection: apsw.Connection,
    meta: Meta,
    position: Position | None,
    files: FileLayer,
    index: Path,
    missing: int | None,
) -> Position:
    """The position at this read transaction's change.

    Args:
        connection: in a read transaction.
        meta: as that transaction sees it.
        position: where this process stood before. Not to be used again after an error other than
            ``FileNotFoundError``.
        files: the file layer.
        index: the bank's index folder.
        missing: a generation that is known to be missing: rebuild instead of opening it.

    Raises:
        FileNotFoundError: a file of the generation is gone, perhaps because a newer one was published since
            the transaction began: begin a new one and try again.
    """
    if position is None or _outdated(position, meta):
        position = _open(connection, meta, files, index, missing, position)
    snapshot = position.snapshot
    if snapshot.sequence == meta.sequence:
        return position
    expired = dict(snapshot.expired)
    for operation, ordinal, stamp in read_changes(connection, meta, snapshot.sequence):
        if operation in {EXPIRE, ERASE}:
            expired[int(ordinal)] = BEGINNING if operation == ERASE else int(stamp)
        elif operation not in {ADD, LINK, NAME, USE}:
            raise DamagedError(f"the change log holds the unknown operation {operation!r}")
    return _moved_on(connection, meta, position, expired)


def _outdated(position: Position, meta: Meta) -> bool:
    number = position.generation.number if position.generation else position.snapshot.generation
    return (
        meta.epoch != position.epoch
        or meta.analyser != position.analyser
        or meta.embedder != position.embedder
        or meta.generation != number
    )


def _known(position: Position | None, meta: Meta) -> Generation | None:
    """The generation of *position*, where one that came after may be made of the same files."""
    return position.generation if position is not None and position.epoch == meta.epoch else None


def _goes_on(position: Position | None, meta: Meta, generation: Generation | None) -> Position | None:
    """*position*, where *generation* only has blocks more: a load leaves the graph and all older rows."""
    if position is None or position.generation is None or generation is None:
        return None
    same = (position.epoch, position.analyser, position.embedder) == (
        meta.epoch,
        meta.analyser,
        meta.embedder,
    )
    return position if same and position.generation.graph_at == generation.graph_at else None


def _moved_on(
    connection: apsw.Connection, meta: Meta, position: Position, expired: dict[int, int]
) -> Position:
    """The position with all that came since, and with *expired* for its newer stamps."""
    position.labels.extend(read_labels(connection, len(position.labels)))
    position.label_sets.extend(read_label_sets(connection, len(position.label_sets)))
    tail = position.tail
    for rows in _chunks(connection, meta.embedder, tail.start + tail.rows, meta.next_ordinal):
        tail.extend(rows)
    graph = extend_graph(connection, position.graph, meta.embedder)
    accesses = extend_accesses(connection, position.accesses)
    snapshot = IndexSnapshot(
        sequence=meta.sequence,
        generation=meta.generation,
        dimension=tail.dimension,
        blocks=position.sealed + ((tail.frozen(),) if tail.rows else ()),
        expired=expired,
        labels=position.labels,
        label_sets=position.label_sets,
        last_ingested=meta.last_ingested,
        graph=graph,
        accesses=accesses,
    )
    return replace(position, snapshot=snapshot, graph=graph, accesses=accesses)


def _open(
    connection: apsw.Connection,
    meta: Meta,
    files: FileLayer,
    index: Path,
    missing: int | None,
    before: Position | None,
) -> Position:
    known = _known(before, meta)
    generation, problem = _opened_generation(connection, meta, files, index, missing, known)
    before = _goes_on(before, meta, generation)
    dimension, _ = embedder_identity(connection, meta)
    rebuilt = () if generation else rebuild_blocks(connection, meta, dimension)
    sealed = generation.blocks if generation else rebuilt
    position = Position(
        snapshot=IndexSnapshot(
            sequence=generation.origin.sequence if generation else meta.sequence,
            generation=meta.generation,
            dimension=dimension,
            blocks=sealed,
            expired=generation.expired if generation else {},
            labels=(),
            label_sets=(),
            last_ingested=meta.last_ingested,
        ),
        epoch=meta.epoch,
        analyser=meta.analyser,
        embedder=meta.embedder,
        generation=generation,
        rebuilt=rebuilt,
        tail=Tail(sealed[-1].stop if sealed else 0, dimension),
        graph=generation.graph if generation else Graph.empty(),
        accesses=Accesses.empty(),
        problem=problem,
    )
    if before is not None:
        position = replace(
            position,
            graph=before.graph,
            accesses=before.accesses,
            labels=before.labels,
            label_sets=before.label_sets,
        )
    if generation is None or position.snapshot.sequence == meta.sequence:
        return _moved_on(connection, meta, position, dict(position.snapshot.expired))
    return position


def _chunks(connection: apsw.Connection, embedder: int | None, start: int, stop: int) -> Iterator[list[Row]]:
    """Index rows from *start* up to *stop*, some at a time: to append many at once is cheaper."""
    rows = read_index_rows(connection, embedder, start, stop)
    while chunk := list(islice(rows, _CHUNK)):
        yield chunk


def _opened_generation(
    connection: apsw.Connection,
    meta: Meta,
    files: FileLayer,
    index: Path,
    missing: int | None,
    known: Generation | None,
) -> tuple[Generation | None, str]:
    if meta.generation == 0:
        return None, ""
    if meta.generation == missing:
        return None, f"generation {missing} of the index is missing"
    try:
        generation = read_generation(files, index, meta.generation, check=True, known=known)
    except FileNotFoundError:
        raise
    except (DamagedError, OSError) as error:
        return None, str(error)
    if generation.origin != origin_of(connection, meta, sequence=generation.origin.sequence):
        return None, f"generation {meta.generation} of the index was made from other rows"
    return generation, ""


def rebuild_blocks(connection: apsw.Connection, meta: Meta, dimension: int) -> tuple[Block, ...]:
    """Full sealed blocks straight from rows; the rows after the last full block are the tail's."""
    whole = meta.next_ordinal - meta.next_ordinal % LARGEST_BLOCK
    blocks = []
    for start in range(0, whole, LARGEST_BLOCK):
        tail = Tail(start, dimension)
        for rows in _chunks(connection, meta.embedder, start, start + LARGEST_BLOCK):
            tail.extend(rows)
        blocks.append(join_blocks([tail.frozen()], {}, dimension))
    return tuple(blocks)


def origin_of(connection: apsw.Connection, meta: Meta, *, sequence: int) -> Origin:
    """What a generation made at *sequence* must say of itself."""
    dimension, fingerprint = embedder_identity(connection, meta)
    return Origin(
        bank=meta.bank,
        epoch=meta.epoch,
        sequence=sequence,
        log_hash=hash_at(connection, sequence).hex(),
        dimension=dimension,
        embedder=fingerprint,
        analyser=meta.analyser,
    )


def embedder_identity(connection: apsw.Connection, meta: Meta) -> tuple[int, str]:
    """Dimension and fingerprint of the bank's embedder; (0, "") before the first vector."""
    model = read_model(connection, meta.embedder)
    return model.dimension, model.fingerprint
