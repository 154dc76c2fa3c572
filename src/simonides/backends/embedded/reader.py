"""Reads one bank at one change: the rows of one read transaction and the snapshot that belongs to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.entities import (
    any_within,
    count_entities,
    names_changed,
    read_entities_named,
    read_entity_names,
    read_merges,
    read_names_within,
)
from simonides.backends.embedded.expiry import moments_ended, read_due, roots_due
from simonides.backends.embedded.job_queue import count_jobs, due_jobs
from simonides.backends.embedded.maintenance import (
    read_current_relations,
    read_current_versions,
    read_evidence,
    read_moves,
)
from simonides.backends.embedded.models import (
    find_number,
    missing,
    progress_of,
    read_model,
    read_run,
    read_sparse_encoder,
    unused_embedders,
    without_vector,
)
from simonides.backends.embedded.reading import (
    read_all_stored,
    read_candidates,
    read_memories,
    read_ordinals_after,
    read_signatures,
    read_source,
    read_sources,
    read_versions,
    read_worded,
)
from simonides.backends.embedded.rows import check_rows, read_object, verified
from simonides.records.interval import FOREVER
from simonides.records.kind import CONSOLIDATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from simonides.index.snapshot import IndexSnapshot
    from simonides.records.enrichment import Job
    from simonides.records.entity import EntityCount
    from simonides.records.memory import Memory, Move
    from simonides.records.model_identity import EmbedderMigration, MissingVector, ModelIdentity
    from simonides.records.source import Source
    from simonides.records.time_to_live import Due
    from simonides.records.versions import CurrentVersion, StoredVersion, Worded
    from simonides.storage.reader import Meta


@dataclass(frozen=True, slots=True)
class Reading:
    """One read transaction: a snapshot and the rows behind it, both at the same change."""

    connection: apsw.Connection
    meta: Meta
    snapshot: IndexSnapshot

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        return read_memories(self.connection, ordinals)

    def candidates(self, ordinals: Sequence[int]) -> list[Memory]:
        return read_candidates(self.connection, ordinals)

    def check(self, ordinals: Sequence[int]) -> None:
        check_rows(self.connection, ordinals)

    def ordinals_after(self, memory: str, keep: NDArray[np.bool_], most: int) -> list[int]:
        return read_ordinals_after(self.connection, memory, keep, most)

    def versions(self, memory: str) -> list[Memory]:
        return read_versions(self.connection, memory)

    def worded(self, memory: str) -> Worded | None:
        return read_worded(self.connection, memory)

    def source(self, memory: str) -> Source | None:
        return read_source(self.connection, memory)

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        return read_signatures(self.connection, ordinals)

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        return read_sources(self.connection, ordinals)

    def entities_named(self, folded: str, known_at: int) -> list[int]:
        return read_entities_named(self.connection, folded, known_at)

    def merged_entities(self, known_at: int) -> dict[int, int]:
        return read_merges(self.connection, known_at)

    def entities(self, rows: NDArray[np.int64]) -> list[EntityCount]:
        return count_entities(self.connection, self.snapshot.graph, rows)

    def names(self, after: int, readers: Sequence[str] | None) -> tuple[list[str], int]:
        return read_entity_names(self.connection, after, readers)

    def names_within(
        self, ranges: Sequence[tuple[str, str, str, str]], readers: Sequence[str] | None
    ) -> list[str]:
        return read_names_within(self.connection, ranges, readers)

    def any_name_within(self, ranges: Iterable[tuple[str, str]]) -> bool:
        return any_within(self.connection, ranges)

    def names_changed(self) -> int:
        return names_changed(self.connection)

    def text_of(self, ordinal: int) -> str:
        select = f"SELECT text FROM {verified('memories')} WHERE ordinal=?"
        return str(self.connection.execute(select, (ordinal,)).get)

    def observations(self) -> list[tuple[StoredVersion, Mapping[str, Any]]]:
        condition = "state & ? AND expired_at=? ORDER BY root"
        rows = read_all_stored(self.connection, condition, CONSOLIDATED, FOREVER)
        return [(row, read_object(row.metadata, f"memory {row.id}")) for row in rows]

    def current_versions(self, now: int) -> Iterator[CurrentVersion]:
        return read_current_versions(self.connection, now)

    def current_relations(self) -> list[tuple[int, str, int, str, bool]]:
        return list(read_current_relations(self.connection))

    def superseded(self, after: int, until: int) -> list[tuple[int, str]]:
        rows = self.connection.execute(
            f"SELECT ordinal, superseded_by FROM {verified('memories')} WHERE superseded_by<>''"
            " AND expired_at=?"
            " AND valid_to<=? AND valid_to>? ORDER BY valid_to DESC, ordinal DESC",
            (FOREVER, until, after),
        ).fetchall()
        return [(int(str(ordinal)), str(successor)) for ordinal, successor in rows]

    def evidence(self, known_at: int) -> dict[int, dict[int, str]]:
        return read_evidence(self.connection, known_at)

    def moves(self, memory: str | None = None, *, actions: Sequence[str] = ()) -> list[Move]:
        return read_moves(self.connection, memory, actions=actions)

    def due(self, now: int, most: int | None = None) -> list[Due]:
        return read_due(self.connection, now, most)

    def roots_due(self, moment: int, *tasks: str) -> list[int]:
        return roots_due(self.connection, moment, *tasks)

    def moments_ended(self, moment: int) -> list[tuple[int, int]]:
        return moments_ended(self.connection, moment)

    def due_jobs(self, due: int, most: int) -> list[Job]:
        return due_jobs(self.connection, due, most)

    def count_jobs(self) -> tuple[int, int]:
        return count_jobs(self.connection)

    def sparse_encoder(self) -> tuple[str, str]:
        fingerprint, name = read_sparse_encoder(self.connection)
        return name, fingerprint

    def embedder(self) -> ModelIdentity:
        return read_model(self.connection, self.meta.embedder)

    def migration(self) -> EmbedderMigration | None:
        return read_run(self.connection)

    def embedder_number(self, model: ModelIdentity) -> int | None:
        return find_number(self.connection, model)

    def encoded(self, number: int | None) -> tuple[int, int]:
        return progress_of(self.connection, number)

    def missing(self, number: int, after: int, most: int) -> list[MissingVector]:
        return missing(self.connection, number, after, most)

    def without_vector(self, ordinals: Iterable[int], number: int) -> set[int]:
        return without_vector(self.connection, ordinals, number)

    def has_left_over(self) -> bool:
        return bool(unused_embedders(self.connection))
