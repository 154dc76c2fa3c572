"""What may write the rows of a bank: the parts of one write transaction, each for one group of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from simonides.records.interval import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import numpy as np
    from numpy.typing import NDArray

    from simonides.index.snapshot import IndexSnapshot
    from simonides.protocols import Embedder, SparseEncoder
    from simonides.records.draft import Draft, Encoding, Prepared
    from simonides.records.entity import Entity
    from simonides.records.memory import Move
    from simonides.records.model_identity import EmbedderMigration, ModelIdentity
    from simonides.records.time_to_live import Due
    from simonides.records.versions import ComparedFields, Held, ResolvedFields, RowRef, StoredVersion
    from simonides.storage.reader import Meta, Reader


class Versions(Protocol):
    """Versions of memories, with their sources and vectors.

    What is read is compared with its checksums; a damaged row raises ``DamagedError``.
    """

    def read(self, ordinal: int) -> StoredVersion:
        """The version at an ordinal; ``LookupError``: it was erased."""

    def find(self, ordinal: int) -> StoredVersion | None:
        """The version at an ordinal; ``None`` = it was erased."""

    def current(self, memory: str) -> StoredVersion | None:
        """The version of a memory that the bank holds; ``None`` = none, or it is to be erased."""

    def terms(self, ordinal: int) -> dict[str, Any]:
        """The analysed terms of a version, by field."""

    def differs(self, ordinal: int, changes: Mapping[str, Any]) -> bool:
        """Whether any of *changes* (as ``revise`` takes them) differs from what a version says."""

    def compared_fields(self, ordinal: int) -> ComparedFields:
        """All of a row but its words."""

    def node(self, ordinal: int) -> int:
        """What the links of a row join: see ``rows.node_of``."""

    def ordinals_of(self, ordinal: int) -> list[int]:
        """Ordinals of all versions of the memory that a row is a version of, oldest first."""

    def vector(self, ordinal: int) -> NDArray[np.float32] | None:
        """A row's vector, or ``None``."""

    def roots(self, ids: Sequence[str]) -> list[int]:
        """Ordinals of the memories' first versions; ``NotFoundError``: one of them was forgotten."""

    def instant_after(self, ordinal: int, moment: int) -> int:
        """*moment*, if a row was recorded before it, else a recorded time after the row's.

        A version never ends before it began, also where it was recorded under a clock that stood years ahead.
        """

    def find_identical(self, item: Prepared) -> str | None:
        """Id of a memory that the bank holds and that says the same in every respect.

        "Today" on another day is another event, and so is every word that means another time by then.
        One in quarantine counts only for what is to be there, too: else what is retained would not be found.
        """

    def find_turns(self, item: Prepared) -> list[str]:
        """Ids of the memories that hold the same turn, oldest first, whatever has ended or archived them.

        One that has other words by now, too.
        """

    def find_edited(self, item: Prepared) -> str | None:
        """Id of a memory of the document of an item that was in the item's words before it was edited.

        As with ``find_identical``, one that has ended since says it no more.
        """

    def known_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those content keys that some row bears, whatever became of it."""

    def insert(self, item: Prepared, place: ResolvedFields) -> RowRef:
        """Write a new memory with its source and vector."""

    def insert_all(
        self, items: Sequence[Prepared], places: Sequence[ResolvedFields], keys: Sequence[bytes]
    ) -> list[RowRef]:
        """``insert`` for many memories that have no learned sparse terms and no vector of a target embedder.

        *keys*: the content key of each.
        """

    def revise(self, ordinal: int, *, learned_at: int | None = None, **changed: Any) -> RowRef:
        """Write a new version of a row; the old one only gets its ``expired_at`` stamp.

        Args:
            ordinal: of the current version.
            learned_at: recorded time of the new version, when it follows from a row recorded then.
            changed: columns of ``memories`` with their new values (valid_to, proof_count, superseded_by …).

        Raises:
            DamagedError: the row is not what was written; a new version would hide that.
        """

    def reword(self, ordinal: int, item: Prepared, place: ResolvedFields) -> RowRef:
        """Write a new version of a memory in other words; the old one only gets its ``expired_at`` stamp.

        It has a source of its own, so it is a node of its own: links of the old words are not its.

        Args:
            ordinal: of the current version.
            item: the new words.
            place: of the new row; recorded after the version at *ordinal*.

        Raises:
            DamagedError: see ``revise``.
        """

    def derive(self, ordinal: int, trust: float, item: Prepared | None = None, **changed: Any) -> RowRef:
        """Write a new memory in the words of a stored row, with its vector and the names it mentions.

        Args:
            ordinal: of the row whose text it takes over.
            trust: of its source.
            item: other words with all that models made of them, in place of the row's.
            changed: columns of ``memories`` that differ from the row's.

        Raises:
            DamagedError: see ``revise``.
        """

    def move(self, ordinal: int, draft: Draft, sparse: bytes) -> RowRef:
        """Move a row to another document and another path, as a new version of the same memory.

        Args:
            ordinal: of the current version.
            draft: the same words there, perhaps under another title; of an edited row those before the edit.
            sparse: learned sparse terms of them; empty = as they were.
        """

    def expire(self, ordinal: int, moment: int) -> int:
        """Stamp the moment from which the bank no longer holds this version; later, if it began later."""

    def erase(self, ids: Sequence[str]) -> int:
        """Delete every version of the named memories and what hangs on them; returns how many were there.

        Where their texts stand in other rows (raw documents, contexts of turns) they are taken out, too.
        """


class Sources(Protocol):
    """Raw sources of documents."""

    def rows_of(self, document: str, readers: Sequence[str], trust: float) -> list[tuple[int, str]]:
        """Current rows of a document, of at most this *trust*, that exactly *readers* may read."""

    def names_below(self, prefix: str, readers: Sequence[str], trust: float) -> list[str]:
        """Documents whose names begin with *prefix* and that have rows as ``document`` gives them, sorted."""

    def documents_ended_by(self, ids: AbstractSet[str]) -> list[str]:
        """Documents of which a memory was ended by one of the memories *ids*, sorted."""


class Entities(Protocol):
    """Entities: names, aliases, merges, and which memories mention whom."""

    def find(self, folded: str) -> list[Entity]:
        """Entities that bear a folded name or alias, by number, merged ones too."""

    def read(self, number: int) -> Entity:
        """One entity by number."""

    def canonical(self, entity: int) -> int:
        """What *entity* counts as, following merges that were not undone."""

    def add(self, name: str, folded: str, kind: str, readers: Sequence[str], qualifier: str) -> int:
        """A new entity; its number. One of the same name that counts as another (a merge) stays that one."""

    def qualify(self, entity: int, qualifier: str) -> None:
        """Give an entity a qualifier, unless another of its name and readers has it."""

    def add_alias(self, entity: int, name: str, folded: str) -> None:
        """Let a folded name stand for an entity, too."""

    def remove_alias(self, entity: int, folded: str) -> bool:
        """Take such a name away, as if it had never been added; false when there is none."""

    def merge(self, entity: int, into: int) -> int:
        """Let one entity, and all that counts as it, count as another; the merge's number, to undo it."""

    def entity_of_merge(self, number: int) -> int | None:
        """The entity that a merge lets count as another; ``None`` when there is no such merge to undo."""

    def undo_merge(self, number: int) -> bool:
        """End a merge; false when there is none to end."""

    def add_mention(self, ordinal: int, entity: int) -> None:
        """Note that a row speaks of an entity."""

    def mentioned(self, ordinal: int) -> set[int]:
        """Entities that a row speaks of, merged ones replaced by what they were merged into."""

    def known_before(self, entity: int, ordinal: int, readers: Sequence[str]) -> bool:
        """Whether a row before *ordinal* that all *readers* may read mentions an entity."""

    def mentions_namesake(self, ordinal: int, entity: int) -> bool:
        """Whether a row mentions a bearer of an entity's name, but not the entity itself."""


class Relations(Protocol):
    """Relations that rows state surely, and what their words are about."""

    def add(self, ordinal: int, name: str, subject: int, obj: str, *, single_valued: bool) -> None:
        """Note a relation that a row states surely; *obj* is folded."""

    def current(self, subject: int, name: str) -> list[tuple[int, str]]:
        """Single-valued relations of a subject in rows that the bank holds now: ordinal and folded object.

        The subject is all that counts as one with it.
        """

    def counted(self, ordinal: int) -> set[tuple[str, int, str]]:
        """Relations that a row states: name, subject (what it was merged into), folded object."""

    def read(self, ordinal: int) -> list[tuple[str, int, str, bool]]:
        """Relations that a row states: name, subject's number, folded object, single-valued."""

    def add_statements(self, ordinal: int, text: str, speaker: str) -> None:
        """Note what a stored row's text states of whom."""

    def rows_stating(
        self,
        subject: str,
        attribute: str | None,
        readers: Sequence[str],
        most: int,
        after: int = BEGINNING,
        begins: int = BEGINNING,
    ) -> list[int]:
        """Ordinals of rows that the bank holds now and that state *attribute* of *subject*, newest first.

        Args:
            subject: folded.
            attribute: folded; ``None`` = any.
            readers: all of them may read what is returned.
            most: how many at most.
            after: only what holds after it, microseconds UTC.
            begins: only what holds from this moment on or a later one, microseconds UTC.
        """

    def held(self, ordinals: Iterable[int], wanted: Callable[[str, str], bool] | None = None) -> list[Held]:
        """Those of some rows that the bank holds now outside quarantine, in the order given.

        *wanted*: whether a row of this text and speaker is wanted. It is asked before the row is verified,
        which costs ten times as much, so the caller asks again.
        """

    def continued_after(self, memory: str, after: str) -> int | None:
        """Current ordinal of what holds again, in the words of *memory*, after another memory."""


class Links(Protocol):
    """Links between memories, by their nodes."""

    def add(self, source: int, target: int, kind: str, weight: float) -> None:
        """Link two memories by their nodes; the source is the later one."""

    def of_node(self, node: int, kind: str) -> list[tuple[int, int, float]]:
        """Links of a kind that join a node: source, target and weight, in the order written."""

    def log_later(self, ordinal: int) -> None:
        """Tell readers that links of a stored row were added after its own transaction."""

    def before_in_session(self, session: str, root: int, readers: Sequence[str]) -> int | None:
        """Node of the memory before *root* in a conversation, among those that all *readers* may read."""

    def around(
        self, moment: int, reach: int, most: int, readers: Sequence[str], before: int, after: int = -1
    ) -> list[tuple[int, int]]:
        """Current memories that occurred near a moment, nearest first: node and microseconds away.

        Args:
            moment: microseconds UTC.
            reach: how far, in microseconds.
            most: how many at most.
            readers: all of them may read what is returned.
            before: only memories whose first versions have smaller ordinals.
            after: only those whose first versions have larger ones.
        """


class Queue(Protocol):
    """Jobs for later; a job hangs on an ordinal."""

    def add(self, task: str, ordinal: int, *, not_before: int = 0) -> None:
        """Leave work for later."""

    def add_all(self, task: str, ordinals: Iterable[int]) -> None:
        """Leave the same work for later, for many rows."""

    def due(self, task: str, most: int) -> list[int]:
        """Ordinals with work of one sort, oldest first."""

    def remove(self, task: str, ordinal: int) -> None:
        """Strike work off."""

    def tries(self, task: str, ordinal: int) -> int | None:
        """How often work was tried in vain; ``None`` when there is none to do."""

    def postpone(self, task: str, ordinal: int, not_before: int, problem: str) -> None:
        """Count a try of some work that failed, and leave the work for later."""

    def restart(self, task: str, ordinal: int) -> None:
        """Leave work for later as if it had never been tried."""

    def add_unenriched(self, task: str) -> int:
        """Queue every memory that holds now, was never enriched and does not wait; returns how many."""


class Expiries(Protocol):
    """Ends of times to live; memories by the ordinals of their first versions."""

    def read(self, root: int) -> tuple[str, int] | None:
        """Task and moment of a memory with a time to live; ``None`` = it has no end."""

    def add_all(self, expiries: Iterable[tuple[int, str, int]]) -> None:
        """Give memories that have none an end: (root, task, moment) each."""

    def set(self, root: int, expiry: tuple[str, int] | None) -> None:
        """Give a memory another end; ``None`` = none."""

    def revive(self, root: int) -> bool:
        """Take away the end of a memory that is brought back; whether that hid it until now."""


class Keys(Protocol):
    """Idempotency keys: answers to retains, kept with their rows."""

    def read(self, key: str) -> tuple[bytes, list[str]] | None:
        """Body hash and ids of a retain that was acknowledged under *key*."""

    def add(self, key: str, body: bytes, ids: Sequence[str]) -> None:
        """Remember the answer to a retain under *key*, in the same transaction as its rows."""

    def replace(self, key: str, body: bytes, ids: Sequence[str]) -> None:
        """Remember under *key* what is there now, whatever was remembered before."""


class Models(Protocol):
    """The models of a bank, and what they made."""

    def embedder(self) -> ModelIdentity:
        """What makes the bank's vectors; empty before the first."""

    def use_embedder(self, embedder: Embedder | ModelIdentity) -> None:
        """Tie the bank to an embedder; ``EmbedderMismatchError``: another one made its vectors."""

    def use_sparse_encoder(self, encoder: SparseEncoder) -> None:
        """Tie the bank to a sparse encoder; ``EmbedderMismatchError``: another one made its sparse terms."""

    def migration(self) -> EmbedderMigration | None:
        """The migration to another embedder that is under way; ``None`` = none is."""

    def begin_migration(self, model: ModelIdentity) -> None:
        """Begin to migrate to another embedder."""

    def end_migration(self) -> bool:
        """End the migration without a switch; whether there was one."""

    def add_encoding(self, ordinal: int, made: Encoding) -> None:
        """Store what the target embedder made of a text; a vector that is there stays."""

    def copy_encoding(self, ordinal: int, fresh: int, number: int) -> None:
        """Give a row the encodings of another row in the same words."""

    def without_vector(self, ordinals: Iterable[int], number: int) -> set[int]:
        """Those of some rows that have no vector of an embedder."""

    def drop_left_over(self, start: int, stop: int) -> int:
        """Delete what other embedders left of the rows from *start* up to *stop*; how many rows went."""

    def drop_left_over_names(self) -> None:
        """Delete other embedders of which nothing is left."""

    def expansion_by_rules(self, ordinal: int) -> str:
        """The expansion of a row without what an enrichment added."""

    def set_enriched(self, root: int, version: int, model: str) -> None:
        """Note which version of a memory *model* was the last to add something to."""


class Maintenance(Protocol):
    """What maintenance notes of memories."""

    def add_move(self, root: int, action: str, was: str, became: str, reason: str) -> None:
        """Record a move."""

    def read_move(self, number: int) -> Move | None:
        """One move by number."""

    def ends_of(self, root: int, memory: str) -> list[Move]:
        """Moves that stand and by which a memory ended another or was ended by one, the last one first."""

    def undo_move(self, number: int) -> None:
        """Record that a move stands no more."""

    def undo_stale(self, root: int) -> None:
        """Take back what was noted of the names in a memory's words."""

    def withdraw_observations(self, root: int) -> None:
        """End the observations that rest on a memory; maintenance makes others, where there is reason to."""

    def set_evidence(self, observation: int, stances: dict[int, str], stamp: int) -> None:
        """Let an observation rest on *stances* (source's root → stance) from *stamp* on."""

    def return_archived(self, memory: str, reason: str) -> bool:
        """Bring back a memory that was archived, or is hidden since its time to live has ended; else false.

        A value under a key that was stored without words is found by its key alone, and stays so.
        """

    def continue_after(self, ordinal: int, trust: float, after: str, **changed: Any) -> RowRef:
        """Store a memory that states again what a row states, after the memory *after*, in the same words.

        *trust*: of its source. *changed*: columns of ``memories`` that differ from the row's.
        """

    def end_due(self, due: Sequence[Due]) -> list[Due]:
        """Archive or erase what is due; returns those that were, in order."""


class WriteTransaction(Protocol):
    """One write transaction; committed when the block that opened it ends well."""

    @property
    def now(self) -> int:
        """The clock, microseconds UTC."""

    @property
    def meta(self) -> Meta: ...

    @property
    def snapshot(self) -> IndexSnapshot:
        """The bank before this transaction's own writes.

        ``DamagedError``: a row makes no arrays; it can be erased all the same.
        """

    @property
    def reading(self) -> Reader:
        """Reads the rows inside this transaction, with the snapshot from before its writes."""

    @property
    def last_ingested(self) -> int:
        """The newest recorded time."""

    def next_instant(self) -> int:
        """The recorded time of the next row: the clock, or just after the last row if the clock stands."""

    def instant_following(self, last: int) -> int:
        """The recorded time of a row that is written after one recorded at *last*; never after year 9999."""

    @property
    def versions(self) -> Versions: ...

    @property
    def sources(self) -> Sources: ...

    @property
    def entities(self) -> Entities: ...

    @property
    def relations(self) -> Relations: ...

    @property
    def links(self) -> Links: ...

    @property
    def queue(self) -> Queue: ...

    @property
    def expiries(self) -> Expiries: ...

    @property
    def keys(self) -> Keys: ...

    @property
    def models(self) -> Models: ...

    @property
    def maintenance(self) -> Maintenance: ...
