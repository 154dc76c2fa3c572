"""What may read the rows of a bank at one change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from simonides.index.snapshot import IndexSnapshot
    from simonides.records.activity import Given, Written
    from simonides.records.enrichment import Job
    from simonides.records.entity import EntityCount, EntityMerge
    from simonides.records.memory import Memory, Move
    from simonides.records.model_identity import EmbedderMigration, MissingVector, ModelIdentity
    from simonides.records.source import Source
    from simonides.records.time_to_live import Due
    from simonides.records.versions import CurrentVersion, StoredVersion, Worded


@dataclass(frozen=True, slots=True)
class Meta:
    """The bank's one row of identity and counters; see the schema for each field."""

    bank: str
    epoch: str
    sequence: int
    log_hash: bytes
    generation: int
    next_ordinal: int
    last_ingested: int
    embedder: int | None
    analyser: str


class ActivityReader(Protocol):
    """What was written and returned, inside a read transaction."""

    def written(
        self, after: int | None, most: int, seen: NDArray[np.bool_], *, erased: bool
    ) -> list[Written]:
        """What was written, oldest first: the first after a change, or the newest; *most* of it.

        Args:
            after: number of the change; ``None`` = the newest.
            seen: rows whose changes are told.
            erased: whether erasures are told, of which no row is left.
        """

    def shown(self, after: int | None, most: int, principal: str | None, but: Collection[str]) -> list[Given]:
        """Recalls that the impressions tell of, oldest first: the first after one, or the newest; no words.

        Args:
            after: number of the impression; ``None`` = the newest.
            principal: who asked; ``None`` = anyone.
            but: ids of recalls that are left out.
        """

    def last_impression(self) -> int:
        """The number of the newest impression; 0 = there is none."""

    def kept(self, ids: Collection[str], now: int) -> set[str]:
        """Those of *ids* that the bank holds and that are not due to be erased by *now*."""


class Reader(Protocol):
    """One read transaction: a snapshot and the rows behind it, both at the same change."""

    @property
    def meta(self) -> Meta: ...

    @property
    def snapshot(self) -> IndexSnapshot: ...

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        """Records by ordinal, in the order asked for.

        ``DamagedError``: one of them is not what was written.
        """

    def candidates(self, ordinals: Sequence[int]) -> list[Memory]:
        """``memories`` without verification; the caller passes those that it returns to ``check``."""

    def check(self, ordinals: Sequence[int]) -> None:
        """Compare rows with their checksums; ``DamagedError``: one of them is not what was written."""

    def ordinals_after(self, memory: str, keep: NDArray[np.bool_], most: int) -> list[int]:
        """Ordinals of versions to *keep*, in the order of ids, of ids above *memory*; *most* of them."""

    def versions(self, memory: str) -> list[Memory]:
        """Every version of one memory, oldest first.

        ``DamagedError``: one of them is not what was written.
        """

    def worded(self, memory: str) -> Worded | None:
        """A memory that the bank holds now, and what was settled when it got its words.

        May be ``DamagedError``.
        """

    def source(self, memory: str) -> Source | None:
        """The raw source behind the newest version of one memory."""

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        """MinHash signatures of candidates by ordinal, in the order asked for; not verified."""

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        """Raw sources by ordinal, in the order asked for."""

    def entities_named(self, folded: str, known_at: int) -> list[int]:
        """Numbers of the entities with a folded name, or an alias they had by *known_at*; ascending."""

    def merged_entities(self, known_at: int) -> dict[int, int]:
        """What each merged entity counted as at *known_at*, directly."""

    def entities(self, rows: NDArray[np.int64], folded: str | None = None) -> list[EntityCount]:
        """Entities that *rows* mention, most mentioned first.

        Args:
            rows: ordinals.
            folded: only those with a name that holds it; also a name of what was merged into one, if *rows*
                mention that. ``None`` = all.
        """

    def called(self, mentions: Mapping[int, int], known_at: int) -> list[EntityCount]:
        """Entities by number, with how often each is mentioned, as they were called by *known_at*."""

    def merges(self, entities: Sequence[int], known_at: int) -> list[EntityMerge]:
        """Merges of these entities into others, made by *known_at*, that can be undone; by number."""

    def relations_between(self, rows: Sequence[int], known_at: int) -> list[tuple[str, int, int]]:
        """Relations that *rows* state of two entities which they mention: name, subject and object.

        An object is what the row mentions by that name, or by an alias that it had by *known_at*.
        """

    def names(self, after: int, readers: Sequence[str] | None) -> tuple[list[str], int]:
        """Names of entities numbered above *after* that all *readers* may know of, and where to go on."""

    def names_within(
        self, ranges: Sequence[tuple[str, str, str, str]], readers: Sequence[str] | None
    ) -> list[str]:
        """Names and aliases in any of *ranges* that all *readers* may know of, by their entities' numbers.

        Args:
            ranges: least folded form, the first one behind, what a name there is (but for signs behind it),
                and what it may hold instead; empty = nothing.
            readers: none = everyone; ``None`` = the owner, who knows all.
        """

    def any_name_within(self, ranges: Iterable[tuple[str, str]]) -> bool:
        """Whether the folded form of any name lies in one of *ranges*."""

    def names_changed(self) -> int:
        """The last change that took names away or gave an old entity a new one."""

    def text_of(self, ordinal: int) -> str:
        """The text of a version."""

    def observations(self) -> list[tuple[StoredVersion, Mapping[str, Any]]]:
        """Observations of maintenance that the bank holds now, with their metadata, by root."""

    def current_versions(self, now: int) -> Iterator[CurrentVersion]:
        """Every memory that the bank holds now, ended ones too, by the ordinal of the first version.

        Uses after *now* do not count.
        """

    def current_relations(self) -> list[tuple[int, str, int, str, bool]]:
        """Relations of memories held now: root, name, subject's number, folded object, single-valued."""

    def single_valued_relations(self) -> list[tuple[int, str, int, str]]:
        """Those of one value at a time, of every row: its ordinal, name, subject's number, folded object."""

    def superseded(self, after: int, until: int) -> list[tuple[int, str]]:
        """Ordinals of memories that another ended after *after* up to *until*, with the id of that one.

        The last to end first; microseconds UTC.
        """

    @property
    def activity(self) -> ActivityReader: ...

    def evidence(self, known_at: int) -> dict[int, dict[int, str]]:
        """By observation, its sources and their stance, as they were recorded by *known_at*; roots."""

    def moves(self, memory: str | None = None, *, actions: Sequence[str] = ()) -> list[Move]:
        """Moves in the order in which they were made; of one memory, of some actions, or all."""

    def due(self, now: int, most: int | None = None) -> list[Due]:
        """What is to be archived or erased by *now*, the first to end first; *most* of it."""

    def roots_due(self, moment: int, *tasks: str) -> list[int]:
        """First versions of memories with one of *tasks* that ends, or ended, by *moment*."""

    def moments_ended(self, moment: int) -> list[tuple[int, int]]:
        """First versions of memories archived, or brought back, after they ended, and when that was."""

    def due_jobs(self, due: int, most: int) -> list[Job]:
        """Enrichments that may be tried at *due*, oldest first."""

    def count_jobs(self) -> tuple[int, int]:
        """How many enrichments wait, and how many were given up."""

    def sparse_encoder(self) -> tuple[str, str]:
        """Name and fingerprint of the bank's sparse encoder; empty before the first sparse terms."""

    def embedder(self) -> ModelIdentity:
        """The bank's embedder; empty before the first vector."""

    def migration(self) -> EmbedderMigration | None:
        """The migration to another embedder that is under way; ``None`` = none is."""

    def embedder_number(self, model: ModelIdentity) -> int | None:
        """An embedder's number in the bank; ``None`` = the bank never had it."""

    def encoded(self, number: int | None) -> tuple[int, int]:
        """How many rows have a vector of an embedder, and how many rows there are."""

    def missing(self, number: int, after: int, most: int) -> list[MissingVector]:
        """Rows above ordinal *after* without a vector of an embedder, *most* of them, ascending."""

    def without_vector(self, ordinals: Iterable[int], number: int) -> set[int]:
        """Those of some rows that have no vector of an embedder."""

    def has_left_over(self) -> bool:
        """Whether something is left of embedders that the bank neither has nor migrates to."""
