"""Versions of memories inside a write transaction: rows of ``memories`` with their sources and vectors.

``simonides.retain`` decides what is a duplicate and what supersedes what; here are only the rows.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.accesses import drop_empty_impressions
from simonides.backends.embedded.bulk_rows import BulkRows, free_ids, known, stored_terms
from simonides.backends.embedded.change_log import ADD, ERASE, EXPIRE, next_epoch
from simonides.backends.embedded.checksums import IMMUTABLE, row_checksum
from simonides.backends.embedded.expiry import IS_KEPT
from simonides.backends.embedded.models import copy_encodings, write_encoding
from simonides.backends.embedded.reading import read_stored
from simonides.backends.embedded.reanalysis import analysed
from simonides.backends.embedded.redaction import read_forgotten, redact
from simonides.backends.embedded.relations import copy_relations, move_statements, write_statements
from simonides.backends.embedded.rows import (
    insert_into,
    keys,
    node_of,
    read_names,
    read_object,
    read_version,
    verified,
)
from simonides.errors import NotFoundError
from simonides.records.draft import content_key
from simonides.records.interval import FOREVER, LAST_INSTANT
from simonides.records.kind import ARCHIVED, CONSOLIDATED, Kind
from simonides.records.versions import ComparedFields, RowRef, StoredVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import apsw
    from numpy.typing import NDArray

    from simonides.backends.embedded.entities import Entities
    from simonides.backends.embedded.redaction import Forgotten
    from simonides.backends.embedded.session import WriteSession
    from simonides.backends.embedded.sources import Sources
    from simonides.protocols import Analyser
    from simonides.records.draft import Draft, Prepared
    from simonides.records.versions import ResolvedFields

_CODERS: Mapping[str, Callable[[WriteSession, Any], Any]] = {
    "path": lambda session, value: session.label(value),
    "project": lambda session, value: session.label(value),
    "tags": lambda session, value: session.label_set(tuple(value)),
    "kind": lambda _, value: getattr(value, "value", value),
    "layer": lambda _, value: getattr(value, "value", value),
    # Plus zero, because SQLite keeps no negative zero and the digest must match what it keeps.
    "salience": lambda _, value: value + 0.0,
    "confidence": lambda _, value: value + 0.0,
}
"""How values become columns; all others are kept as they are."""


class Versions:
    """The versions inside a write transaction; see ``storage.writer.Versions``."""

    def __init__(
        self, session: WriteSession, sources: Sources, entities: Entities, analyser: Analyser
    ) -> None:
        self._session = session
        self._sources = sources
        self._entities = entities
        self._analyser = analyser
        self._began_at = session.meta.sequence
        self._began_with = session.meta.next_ordinal
        self._erased = False
        self._keyed: tuple[Prepared | None, bytes] = (None, b"")
        self._at_once: list[tuple[Any, ...]] = []

    @property
    def has_erased(self) -> bool:
        """Whether this transaction erased a memory."""
        return self._erased

    # -- reading

    def read(self, ordinal: int) -> StoredVersion:
        found = self.find(ordinal)
        if found is None:
            raise LookupError(f"no row {ordinal}")
        return found

    def find(self, ordinal: int) -> StoredVersion | None:
        return read_stored(self._session.connection, "ordinal=?", ordinal)

    def current(self, memory: str) -> StoredVersion | None:
        condition = f"m.id=? AND m.expired_at=? AND {IS_KEPT}"
        return read_stored(self._session.connection, condition, memory, FOREVER, self._session.now)

    def terms(self, ordinal: int) -> dict[str, Any]:
        row = self._session.one(f"SELECT terms FROM {verified('memories')} WHERE ordinal=?", ordinal)
        if row is None:
            raise LookupError(f"no row {ordinal}")
        return read_object(row[0])

    def differs(self, ordinal: int, changes: Mapping[str, Any]) -> bool:
        changed = self._coded(changes)
        version = self._read(ordinal)
        return any(version[name] != value for name, value in changed.items())

    def compared_fields(self, ordinal: int) -> ComparedFields:
        row = self._session.one(
            "SELECT p.text, w.text, e.document, e.speaker, m.metadata, t.names, a.names, m.context,"
            " m.relation, m.source, m.kind, m.layer, m.salience, m.confidence, m.occurred_from,"
            " m.occurred_to, m.valid_to, m.valid_from IN (m.occurred_from, r.ingested_at)"
            f" FROM {verified('memories m')} JOIN {verified('memories r')} ON r.ordinal = m.root"
            f" JOIN {verified('labels p')} ON p.number = m.project JOIN {verified('labels w')}"
            " ON w.number = m.path"
            f" JOIN {verified('label_sets t')} ON t.number = m.tags"
            f" JOIN {verified('label_sets a')} ON a.number = m.acl"
            f" JOIN {verified('chunks c')} ON c.number = m.chunk"
            f" JOIN {verified('episodes e')} ON e.number = c.episode WHERE m.ordinal=?",
            ordinal,
        )
        if row is None:
            raise LookupError(f"no row {ordinal}")
        project, path, document, speaker, metadata, tags, readers, *rest, starts = row
        names = frozenset(read_names(tags)), frozenset(read_names(readers))
        rest.append(bool(starts))
        return ComparedFields(project, path, document, speaker, metadata, *names, *rest)

    def node(self, ordinal: int) -> int:
        return self._session.number(
            f"SELECT {node_of('m')} FROM {keys('memories m')} WHERE m.ordinal=?", ordinal
        )

    def ordinals_of(self, ordinal: int) -> list[int]:
        rows = self._session.all(
            f"SELECT ordinal FROM {keys('memories')} WHERE id=(SELECT id FROM {keys('memories')}"
            " WHERE ordinal=?)"
            " ORDER BY version",
            ordinal,
        )
        return [int(version) for (version,) in rows]

    def vector(self, ordinal: int) -> NDArray[np.float32] | None:
        scale, codes = self._vector_of(ordinal)
        return np.frombuffer(codes, np.int8).astype(np.float32) * np.float32(scale) if codes else None

    def _vector_of(self, ordinal: int) -> tuple[float, bytes]:
        """Scale and codes of a row's vector; no codes where it has none."""
        row = self._session.one(
            f"SELECT scale, codes FROM {verified('vectors')} WHERE ordinal=? AND embedder IS ?",
            ordinal,
            self._session.meta.embedder,
        )
        return (float(row[0]), bytes(row[1])) if row else (0.0, b"")

    def _read(self, ordinal: int) -> dict[str, Any]:
        return read_version(self._session.connection, ordinal)

    def roots(self, ids: Sequence[str]) -> list[int]:
        roots: list[int] = []
        for memory in ids:
            row = self._session.one(f"SELECT root FROM {keys('memories')} WHERE id=? LIMIT 1", memory)
            if row is None:
                raise NotFoundError(f"memory {memory!r} was forgotten meanwhile")
            roots.append(int(row[0]))
        return roots

    def instant_after(self, ordinal: int, moment: int) -> int:
        recorded = self.read(ordinal).ingested_at
        if recorded < moment:
            return moment
        return max(self._session.next_instant(), recorded + 1 if recorded < LAST_INSTANT else recorded)

    def find_identical(self, item: Prepared) -> str | None:
        draft = item.draft
        # What has ended since is no longer said. What states its own end is, and so is what states its
        # beginning and was superseded: it said no more than that.
        stated_end = draft.valid_to.start if draft.valid_to is not None else FOREVER
        dated = draft.occurred is not None or draft.valid_from is not None
        row = self._session.one(
            f"SELECT id FROM {verified('memories')} WHERE content_key=? AND expired_at=? AND state & ?=0"
            " AND (kind=?)=? AND (valid_to>max(?, ingested_at) OR valid_to=? OR (? AND superseded_by<>''))"
            " ORDER BY ordinal LIMIT 1",
            self._content_key(item),
            FOREVER,
            ARCHIVED | CONSOLIDATED,
            Kind.QUARANTINE.value,
            draft.kind == Kind.QUARANTINE,
            self._session.next_instant(),
            stated_end,
            dated,
        )
        return None if row is None else str(row[0])

    def find_turns(self, item: Prepared) -> list[str]:
        rows = self._session.all(
            f"SELECT DISTINCT m.root, m.id FROM {keys('memories m')} JOIN {verified('memories now')}"
            " ON now.id = m.id"
            " WHERE m.content_key=? AND now.expired_at=? AND (now.kind=?)=? ORDER BY m.root",
            self._content_key(item),
            FOREVER,
            Kind.QUARANTINE.value,
            item.draft.kind == Kind.QUARANTINE,
        )
        return [str(memory) for _, memory in rows]

    def find_edited(self, item: Prepared) -> str | None:
        row = self._session.one(
            f"SELECT now.id FROM {keys('memories m')} JOIN {verified('memories now')} ON now.id = m.id"
            f" AND now.expired_at=? JOIN {verified('chunks c')} ON c.number = now.chunk"
            f" JOIN {verified('episodes e')} ON e.number = c.episode"
            " WHERE m.content_key=? AND e.document=? AND now.state & ?=0 AND (now.kind=?)=?"
            " AND now.valid_to>max(?, now.ingested_at) ORDER BY now.ordinal LIMIT 1",
            FOREVER,
            self._content_key(item),
            item.draft.document,
            ARCHIVED | CONSOLIDATED,
            Kind.QUARANTINE.value,
            item.draft.kind == Kind.QUARANTINE,
            self._session.next_instant(),
        )
        return None if row is None else str(row[0])

    def known_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        return known(self._session.connection, "content_key", keys)

    @property
    def added_at_once(self) -> Sequence[tuple[Any, ...]]:
        """The rows that this transaction added, as ``IMMUTABLE`` names their values.

        Empty where they were not all added by one ``insert_all`` that kept a raw source for each, or one of
        them was changed since.
        """
        alone = len(self._at_once) == self.rows_added == self._session.meta.sequence - self._began_at
        return self._at_once if alone else ()

    @property
    def rows_added(self) -> int:
        """How many versions this transaction has stored so far."""
        return self._session.meta.next_ordinal - self._began_with

    # -- writing

    def insert(self, item: Prepared, place: ResolvedFields) -> RowRef:
        ordinal = self._session.meta.next_ordinal
        memory = self._free_id(place.ingested_at, item.draft.text)
        codes = b"" if item.codes is None else item.codes.tobytes()
        key = self._content_key(item)
        values = self._values(item, place, ordinal, memory, self._sources.insert(item, place), key)
        self._insert_row(dict(zip(IMMUTABLE, values, strict=True)), item.scale, codes)
        self._insert_models(ordinal, item)
        write_statements(self._session.connection, ordinal, item.draft.text, item.draft.speaker)
        return RowRef(memory, ordinal, ordinal)

    def insert_all(
        self, items: Sequence[Prepared], places: Sequence[ResolvedFields], keys: Sequence[bytes]
    ) -> list[RowRef]:
        rows = BulkRows.after(self._session.connection)
        wanted = [(place.ingested_at, item.draft.text) for item, place in zip(items, places, strict=True)]
        ids = free_ids(self._session.connection, self._session.meta.bank, wanted)
        first = self._session.meta.next_ordinal
        stored = []
        for ordinal, (item, place, memory, key) in enumerate(
            zip(items, places, ids, keys, strict=True), first
        ):
            codes = b"" if item.codes is None else item.codes.tobytes()
            add_episode = partial(rows.add_episode, draft=item.draft, place=place)
            chunk = rows.add_chunk(*self._sources.place(item.draft, add_episode))
            values = self._values(item, place, ordinal, memory, chunk, key)
            rows.add_memory(values, self._session.meta.embedder, item, codes)
            stored.append(values)
        rows.write(self._session.connection)
        # Pieces of a document may share the raw source, and the speaker, of another one.
        if first == self._began_with and not self._sources.has_shared:
            self._at_once = stored
        self._session.log_added([place.ingested_at for place in places])
        return [RowRef(memory, ordinal, ordinal) for ordinal, memory in enumerate(ids, first)]

    def _values(
        self, item: Prepared, place: ResolvedFields, ordinal: int, memory: str, chunk: int, key: bytes
    ) -> tuple[Any, ...]:
        """The values of a new memory's row, in the order of ``IMMUTABLE``."""
        draft, occurred = item.draft, place.occurred
        return (
            ordinal, memory, 1, ordinal, chunk, place.kind.value, place.layer.value,
            draft.text, draft.context, draft.relation, item.expansion,
            self._session.label(draft.path), self._session.label(draft.project),
            self._session.label_set(draft.tags), self._session.label_set(draft.acl),
            place.valid_from.start, place.valid_from.precision.value,
            place.valid_to.start, place.valid_to.precision.value,
            place.ingested_at,
            occurred.start if occurred else None,
            occurred.end if occurred else None,
            occurred.precision.value if occurred else None,
            # Plus zero, because SQLite keeps no negative zero and the digest must match what it keeps.
            place.salience + 0.0, place.confidence + 0.0,
            1, 0, None, draft.source, draft.metadata_json, place.superseded_by, place.state,
            item.signature.astype("<u4").tobytes(), stored_terms(item), key,
        )  # fmt: skip

    def _insert_row(self, values: dict[str, Any], scale: float, codes: bytes) -> None:
        values.setdefault("expired_at", FOREVER)
        values["digest"] = row_checksum(values, embedded=bool(codes))
        self._session.run(insert_into("memories", ", ".join(values)), *values.values())
        ordinal, ingested = int(values["ordinal"]), int(values["ingested_at"])
        if codes:
            insert = insert_into("vectors", "ordinal, embedder, scale, codes")
            self._session.run(insert, ordinal, self._session.meta.embedder, scale, codes)
        self._session.log(
            ADD, ordinal, ingested, next_ordinal=ordinal + 1, last_ingested=self._session.newest_of(ingested)
        )

    def _insert_models(self, ordinal: int, item: Prepared) -> None:
        """What models made of a text, beside its vector."""
        if item.tokens and item.codes is not None:
            insert = insert_into("token_codes", "ordinal, embedder, codes")
            self._session.run(insert, ordinal, self._session.meta.embedder, item.tokens)
        if item.following is not None:
            write_encoding(self._session.connection, ordinal, item.following)
        if item.sparse:
            self._session.run(insert_into("sparse_terms", "ordinal, terms"), ordinal, item.sparse)

    def revise(self, ordinal: int, *, learned_at: int | None = None, **changed: Any) -> RowRef:
        values = self._read(ordinal)
        stamp = self.expire(ordinal, self._session.next_instant() if learned_at is None else learned_at)
        scale, codes = self._vector_of(ordinal)
        values |= {
            **self._coded(changed),
            "ordinal": self._session.meta.next_ordinal,
            "version": int(values["version"]) + 1,
            "ingested_at": stamp,
            "expired_at": FOREVER,
        }
        fresh = self._session.meta.next_ordinal
        self._insert_row(values, scale, codes)
        self._copy_models(ordinal, fresh)
        self._copy_mentions(ordinal, fresh)
        copy_relations(self._session.connection, ordinal, fresh)
        move_statements(self._session.connection, ordinal, fresh)
        return RowRef(str(values["id"]), fresh, int(values["root"]))

    def reword(self, ordinal: int, item: Prepared, place: ResolvedFields) -> RowRef:
        before = self._read(ordinal)
        self.expire(ordinal, place.ingested_at)
        self._session.run("DELETE FROM statements WHERE ordinal=?", ordinal)
        fresh, memory, root = self._session.meta.next_ordinal, str(before["id"]), int(before["root"])
        chunk, key = self._sources.insert(item, place), self._content_key(item)
        values = dict(zip(IMMUTABLE, self._values(item, place, fresh, memory, chunk, key), strict=True))
        values |= {
            "version": int(before["version"]) + 1,
            "root": root,
            "access_count": before["access_count"],
            "last_access": before["last_access"],
        }
        codes = b"" if item.codes is None else item.codes.tobytes()
        self._insert_row(values, item.scale, codes)
        self._insert_models(fresh, item)
        write_statements(self._session.connection, fresh, item.draft.text, item.draft.speaker)
        # What waited for the old words, and what a model said of them.
        for task in ("link", "repeat"):
            versions = f"SELECT ordinal FROM {keys('memories')} WHERE id=?"
            self._session.run(f"DELETE FROM jobs WHERE task=? AND ordinal IN ({versions})", task, memory)
        self._session.run("DELETE FROM enrichments WHERE ordinal=?", root)
        return RowRef(memory, fresh, root)

    def derive(self, ordinal: int, trust: float, item: Prepared | None = None, **changed: Any) -> RowRef:
        values = self._read(ordinal)
        scale, codes = self._vector_of(ordinal)
        fresh, stamp = self._session.meta.next_ordinal, self._session.next_instant()
        if item is not None:
            scale, codes = item.scale, b"" if item.codes is None else item.codes.tobytes()
            values |= {
                "text": item.draft.text,
                "expansion": item.expansion,
                "signature": item.signature.astype("<u4").tobytes(),
            }
        # Of the clock and the row that it is from: the stamp counts what others' private rows led to, too.
        memory = self._free_id(self._session.now, f"{values['id']} {values['text']}")
        values |= {
            **self._coded(changed),
            "ordinal": fresh,
            "id": memory,
            "version": 1,
            "root": fresh,
            "chunk": self._sources.copy_for(int(values["chunk"]), str(values["text"]), trust, stamp),
            "ingested_at": stamp,
            "expired_at": FOREVER,
            "access_count": 0,
            "last_access": None,
            "superseded_by": changed.get("superseded_by", ""),
            # It says something no draft can say in every respect.
            "content_key": hashlib.blake2b(memory.encode(), digest_size=16).digest(),
        }
        values["terms"] = analysed(values, self._analyser)
        self._insert_row(values, scale, codes)
        if item is None:
            self._copy_models(ordinal, fresh)
        else:
            self._insert_models(fresh, item)
        self._copy_mentions(ordinal, fresh)
        return RowRef(memory, fresh, fresh)

    def move(self, ordinal: int, draft: Draft, sparse: bytes) -> RowRef:
        before = self._read(ordinal)
        changed: dict[str, Any] = {
            "chunk": self._sources.move(int(before["chunk"]), draft, self._session.next_instant()),
            "path": draft.path,
            "source": draft.source,
            "context": draft.context,
            "content_key": content_key(draft),
        }
        if before["context"] != draft.context:
            changed["terms"] = analysed({**before, **changed}, self._analyser)
        stored = self.revise(ordinal, **changed)
        if sparse:
            self._session.run("UPDATE sparse_terms SET terms=? WHERE ordinal=?", sparse, stored.ordinal)
        return stored

    def expire(self, ordinal: int, moment: int) -> int:
        stamp = self.instant_after(ordinal, moment)
        self._session.run("UPDATE memories SET expired_at=? WHERE ordinal=?", stamp, ordinal)
        self._session.log(EXPIRE, ordinal, stamp, last_ingested=self._session.newest_of(stamp))
        return stamp

    def erase(self, ids: Sequence[str]) -> int:
        erased = 0
        forgotten: list[Forgotten] = []
        mentioned: set[int] = set()
        # An observation is in the words of one of its sources; the others make another one, if they do.
        wanted = [*ids, *_observations_of(self._session.connection, ids)]
        for memory in wanted:
            select = f"SELECT ordinal, chunk FROM {keys('memories')} WHERE id=? ORDER BY ordinal DESC"
            rows = self._session.all(select, memory)
            for ordinal, chunk in rows:
                forgotten.append(read_forgotten(self._session.connection, int(ordinal)))
                select = f"SELECT entity FROM {keys('mentions')} WHERE ordinal=?"
                mentioned |= {int(entity) for (entity,) in self._session.all(select, ordinal)}
                self._session.run("DELETE FROM memories WHERE ordinal=?", ordinal)
                self._sources.drop_unused(int(chunk))
                self._session.log(ERASE, int(ordinal), self._session.now)
            erased += bool(rows) and memory in ids
        for entity in sorted(mentioned):
            self._entities.drop_unused(entity)
        if erased:
            self._erased = True
            drop_empty_impressions(self._session.connection)
        if redact(self._session.connection, forgotten, self._analyser):
            self._session.run("UPDATE meta SET epoch=?", next_epoch(self._session.meta))
        return erased

    def _coded(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Columns of ``memories`` from values by name: labels and sets of labels as their codes."""
        return {
            name: _CODERS[name](self._session, value) if name in _CODERS else value
            for name, value in changes.items()
        }

    def _copy_models(self, ordinal: int, fresh: int) -> None:
        """What models made of a row's text, for a new row in the same words."""
        copy_encodings(self._session.connection, ordinal, fresh, self._session.meta.embedder)
        select = f"SELECT ?, terms FROM {verified('sparse_terms')} WHERE ordinal=?"
        self._session.run(f"INSERT INTO sparse_terms(ordinal, terms) {select}", fresh, ordinal)

    def _copy_mentions(self, ordinal: int, fresh: int) -> None:
        select = f"SELECT ?, entity FROM {verified('mentions')} WHERE ordinal=?"
        self._session.run(f"INSERT INTO mentions(ordinal, entity) {select}", fresh, ordinal)

    def _content_key(self, item: Prepared) -> bytes:
        """The key of *item*, made once for the look at what is there and for the row."""
        if self._keyed[0] is not item:
            self._keyed = item, content_key(item.draft, item.days)
        return self._keyed[1]

    def _free_id(self, ingested: int, text: str) -> str:
        return free_ids(self._session.connection, self._session.meta.bank, [(ingested, text)])[0]


def _observations_of(connection: apsw.Connection, ids: Iterable[str]) -> list[str]:
    """Ids of observations that rest, or once rested, on one of *ids*; those in *ids* are left out."""
    given = dict.fromkeys(ids)
    found: dict[str, None] = {}
    for memory in given:
        for (observation,) in connection.execute(
            f"SELECT DISTINCT CAST(o.id AS TEXT) FROM {keys('memories m')} JOIN {keys('evidence e')}"
            " ON e.source ="
            f" m.root JOIN {keys('memories o')} ON o.ordinal = e.observation WHERE m.id=? ORDER BY o.ordinal",
            (memory,),
        ):
            found[str(observation)] = None
    return [observation for observation in found if observation not in given]
