"""Migrate a bank to another embedder, while it is read and written.

    begin ─► encode what has no vector of it ─► link by those vectors ─► write its index ─► switch ─► drop
             64 rows a transaction              200 rows a transaction                     one transaction

Until the switch every recall uses the old embedder and sees nothing of the new one. What is retained
meanwhile gets vectors of both where its writer has both, and is encoded here where it has not. The switch
happens only in a transaction in which every row has its vector and its links. A killed run continues when it
is repeated; what is left of the old embedder after the switch is dropped by any later run.

Links by vectors are made anew, each memory against those that were held when it was first recorded. What
else depends on cosines goes by the embedder's name or fingerprint and is out of use until it is made again:
the calibration of relevance, the learned reranker and its training data. Salience stays as it was judged.
Learned sparse terms have an encoder of their own and stay.
Cost: one encoder pass over all texts, one exact scan per memory, one index; about as much disk again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import ConflictError, ModelError
from simonides.records.json_ready import JsonReady
from simonides.records.kind import ARCHIVED, CONSOLIDATED, KIND_CODES, Kind
from simonides.records.model_identity import ModelIdentity
from simonides.retain.neighbours import MOST_SEMANTIC, RESCORE, SEMANTIC_FROM
from simonides.retain.pipeline import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from simonides.index.snapshot import IndexSnapshot
    from simonides.protocols import Embedder
    from simonides.records.model_identity import EmbedderMigration, MissingVector
    from simonides.storage.bank import BankStorage, MigrationWriter

    Progress = Callable[[str, int, int | None], None]

ENCODED_AT_ONCE = 64
LINKED_AT_ONCE = 200
DROPPED_AT_ONCE = 2_000
"""Rows in one transaction; a writer waits for one of them at most."""

_COMPARED = 4 * MOST_SEMANTIC
"""Nearest by the scan, of which the nearest by exact cosines are linked."""

_INDEX_TRIES = 3
"""How often the index is written ahead before the switch leaves it to the next reader."""

_FEWEST = 0.5
"""Of the rows that the old embedder could encode, the share that the new one must."""


@dataclass(frozen=True, slots=True)
class ReembedReport(JsonReady):
    """What a run did.

    Attributes:
        model, dimension: that the bank goes over to.
        was: name of the embedder before; empty = it had none.
        rows: versions of memories in the bank.
        encoded: that got a vector in this run; in a dry run, that would.
        without: that the model could not encode; words find them.
        links: by vectors that were made in this run.
        dropped: rows of left-over embedders that were deleted.
        switched: whether the bank went over in this run.
        dry_run: whether nothing was written.
    """

    model: str
    dimension: int
    was: str
    rows: int
    encoded: int = 0
    without: int = 0
    links: int = 0
    dropped: int = 0
    switched: bool = False
    dry_run: bool = False


def reembed(
    rows: BankStorage,
    embedder: Embedder,
    now: Callable[[], int],
    *,
    token_codes: bool,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ReembedReport:
    """Migrate the bank to *embedder*, or continue that.

    Args:
        now: the clock, microseconds UTC.
        token_codes: whether codes of tokens are made, too.
        dry_run: write nothing; the report says what a run would do.
        progress: called with (stage, done, of how many) after each transaction.

    Raises:
        ConflictError: the bank migrates to another model.
        ModelError: it could encode too little, or cannot be used; the bank stays with what it has.
        UnavailableError: another process maintains the bank, or it cannot be written.
    """
    model = ModelIdentity(embedder.name, embedder.dimension, embedder.fingerprint)
    if dry_run:
        return _looked_at(rows, model)
    with rows.maintaining():
        return _Reembedding(rows, embedder, model, now, token_codes, progress or _silent).run()


def abandon(rows: BankStorage, now: int, progress: Progress | None = None) -> bool:
    """End the migration to another embedder, and drop what that made; whether there was one."""
    with rows.maintaining():
        with rows.writing(now) as transaction:
            was = transaction.models.end_migration()
        rows.migration.sweep_index()
        _drop(rows, now, progress or _silent)
        return was


def _looked_at(rows: BankStorage, model: ModelIdentity) -> ReembedReport:
    with rows.reading() as reading:
        current, number = reading.embedder(), reading.embedder_number(model)
        done, total = reading.encoded(-1 if number is None else number)
        _check_run(reading.migration(), model)
        same = current.fingerprint == model.fingerprint
        wanted = 0 if same else total - done
        return ReembedReport(model.name, model.dimension, current.name, total, wanted, dry_run=True)


def _check_run(run: EmbedderMigration | None, model: ModelIdentity) -> None:
    if run is not None and run.model.fingerprint != model.fingerprint:
        raise ConflictError(
            f"the bank is going over to {run.model.name!r} ({run.model.dimension} dimensions) already; "
            "end that first, by the same command with that model or by --abandon"
        )


class _Reembedding:
    """One run."""

    def __init__(
        self,
        rows: BankStorage,
        embedder: Embedder,
        model: ModelIdentity,
        now: Callable[[], int],
        token_codes: bool,  # noqa: FBT001 handed on by name
        progress: Progress,
    ) -> None:
        self._rows = rows
        self._embedder = embedder
        self._model = model
        self._now = now
        self._token_codes = token_codes
        self._progress = progress
        self._encoded = 0
        self._links = 0
        # Rows that the model cannot encode; up to the second all others have their vector.
        self._given_up: set[int] = set()
        self._complete = -1
        self._number = 0

    def run(self) -> ReembedReport:
        was, switched = self._begin(), False
        if was.fingerprint != self._model.fingerprint:
            self._encode()
            self._check_share()
            self._link()
            self._switch()
            switched = True
            self._rows.migration.sweep_index()
        dropped = _drop(self._rows, self._now(), self._progress)
        with self._rows.reading() as reading:
            _, total = reading.encoded(self._number)
        return ReembedReport(
            self._model.name,
            self._model.dimension,
            was.name,
            total,
            self._encoded,
            len(self._given_up),
            self._links,
            dropped,
            switched,
        )

    def _begin(self) -> ModelIdentity:
        """Note the run, unless one goes on or there is nothing to do; the embedder so far."""
        with self._rows.writing(self._now()) as transaction:
            was, run = transaction.models.embedder(), transaction.models.migration()
            _check_run(run, self._model)
            if run is None and was.fingerprint != self._model.fingerprint:
                transaction.models.begin_migration(self._model)
                run = transaction.models.migration()
            self._number = run.number if run else 0
        return was

    def _encode(self) -> None:
        """Give every row a vector, but for those that the model cannot encode."""
        with self._rows.reading() as reading:
            done, total = reading.encoded(self._number)
        while True:
            with self._rows.reading() as reading:
                found = reading.missing(self._number, self._complete, ENCODED_AT_ONCE)
                last = reading.meta.next_ordinal - 1
            self._encode_some(found)
            self._complete = found[-1].ordinal if len(found) == ENCODED_AT_ONCE else last
            if not found:
                return
            done += len(found)
            self._progress("memories encoded", min(done, total), total)

    def _encode_some(self, found: Sequence[MissingVector]) -> None:
        if not found:
            return
        nodes = {row.ordinal for row in found if row.ordinal == row.node}
        with self._rows.reading() as reading:
            # Versions in the same words are encoded once.
            others = {row.node for row in found} - nodes
            encoded = nodes | (others - reading.without_vector(others, self._number))
            later = [row for row in found if row.ordinal != row.node and row.node in encoded]
        copied = {row.ordinal for row in later}
        fresh = [row for row in found if row.ordinal not in copied]
        texts = [row.text for row in fresh]
        made = encode(texts, self._embedder, token_codes=self._token_codes) if texts else []
        with self._rows.writing(self._now()) as transaction:
            for row, encoding in zip(fresh, made, strict=True):
                transaction.models.add_encoding(row.ordinal, encoding)
            there = [row.ordinal for row in found if transaction.versions.find(row.ordinal) is not None]
            for row in later:
                if row.ordinal in there:
                    transaction.models.copy_encoding(row.node, row.ordinal, self._number)
            without = transaction.models.without_vector(there, self._number)
        self._given_up |= without
        self._encoded += len(there) - len(without)

    def _check_share(self) -> None:
        """That a model which fails on most texts does not become the bank's."""
        with self._rows.reading() as reading:
            old, _ = reading.encoded(reading.meta.embedder)
            new, _ = reading.encoded(self._number)
        if new < old * _FEWEST:
            raise ModelError(
                f"{self._model.name} could encode {new} of {old} versions that have a vector, so the bank "
                "stays with the model it has; mend the model and go on, or abandon the run"
            )

    def _link(self) -> None:
        """Link every memory by the new vectors."""
        left = True
        while left:
            with self._rows.migration.writing(self._given_up) as going:
                left = going is None or self._link_some(going)
            if going is None:
                self._encode()
            else:
                total = going.meta.next_ordinal
                self._progress("memories linked", min(going.run.linked + LINKED_AT_ONCE, total), total)

    def _link_some(self, going: MigrationWriter) -> bool:
        """Link the next rows; whether some are left after them."""
        start, total = going.run.linked, going.meta.next_ordinal
        stop = min(start + LINKED_AT_ONCE, total)
        found = list(semantic_links(going.snapshot, start, stop))
        self._links += going.add_links(found, stop)
        return stop < total

    def _switch(self) -> None:
        """Go over, in a transaction in which nothing is missing."""
        for attempt in range(_INDEX_TRIES + 1):
            generation = self._rows.migration.write_index(self._given_up) if attempt < _INDEX_TRIES else 0
            while True:
                with self._rows.migration.writing(self._given_up) as going:
                    if going is not None and not self._link_some(going):
                        usable = bool(generation) and self._rows.migration.is_current(going, generation)
                        if not usable and attempt < _INDEX_TRIES:
                            break
                        going.switch(generation if usable else 0, self._now())
                        return
                if going is None:
                    self._encode()


def semantic_links(snapshot: IndexSnapshot, start: int, stop: int) -> Iterator[tuple[int, int, float]]:
    """Links (source, target, cosine) of the wordings whose first versions lie in [*start*, *stop*).

    Each is compared with what was held when it was recorded, as retaining did; the exact scan of a recall.
    """
    columns = {
        name: snapshot.column(name)
        for name in ("root", "node", "acl", "ingested_at", "expired_at", "valid_to", "kind", "state")
    }
    kept: NDArray[np.bool_] = (columns["kind"] != KIND_CODES[Kind.QUARANTINE]) & (
        columns["state"] & (ARCHIVED | CONSOLIDATED) == 0
    )
    ordinals = np.arange(start, stop, dtype=np.int64)
    codes, scales = snapshot.codes(ordinals)
    readable: dict[int, NDArray[np.bool_]] = {}
    for place, ordinal in enumerate(ordinals.tolist()):
        if scales[place] <= 0 or columns["node"][ordinal] != ordinal:
            continue
        acl, moment = int(columns["acl"][ordinal]), columns["ingested_at"][ordinal]
        if acl not in readable:
            readable[acl] = _readable(snapshot, acl)[columns["acl"]]
        mask = kept & readable[acl] & (columns["expired_at"] >= moment) & (columns["valid_to"] > moment)
        mask[ordinal:] = False
        if columns["root"][ordinal] != ordinal:
            mask &= columns["root"] != columns["root"][ordinal]
        vector = codes[place].astype(np.float32) * scales[place]
        near, _ = snapshot.vectors.nearest(vector, mask, depth=_COMPARED, rescore=RESCORE)
        # As a batch is compared: the scan rounds its query anew.
        found, lengths = snapshot.codes(near)
        dots = (found.astype(np.int64) @ codes[place].astype(np.int64)).astype(np.float64)
        cosines = (dots * (lengths.astype(np.float64) * float(scales[place]))).round(9)
        for one in np.lexsort((near, -cosines))[:MOST_SEMANTIC]:
            node = int(columns["node"][near[one]])
            if cosines[one] >= SEMANTIC_FROM and node != ordinal:
                yield ordinal, node, float(cosines[one])


def _readable(snapshot: IndexSnapshot, acl: int) -> NDArray[np.bool_]:
    """By code of readers, whether all readers of a memory with the readers *acl* are among them."""
    wanted = snapshot.label_sets[acl]
    return np.array([not held or (bool(wanted) and held >= wanted) for held in snapshot.label_sets], np.bool_)


def _drop(rows: BankStorage, now: int, progress: Progress) -> int:
    """Delete what is left of other embedders, range by range."""
    with rows.reading() as reading:
        total, left = reading.meta.next_ordinal, reading.has_left_over()
    if not left:
        return 0
    dropped = 0
    for start in range(0, total, DROPPED_AT_ONCE):
        stop = min(start + DROPPED_AT_ONCE, total)
        with rows.writing(now) as transaction:
            dropped += transaction.models.drop_left_over(start, stop)
        progress("old vectors dropped", stop, total)
    with rows.writing(now) as transaction:
        transaction.models.drop_left_over_names()
    return dropped


def _silent(stage: str, done: int, total: int | None) -> None:
    """Nobody watches."""
