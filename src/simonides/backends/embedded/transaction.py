"""One open write transaction: what the write path may read and write before the commit.

The policy of a retain (what is a duplicate, what supersedes what, who is meant by a name) lives in
``simonides.retain``; here are only the rows. Everything compares with the snapshot that was caught up inside
this very transaction, plus the rows it wrote itself.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.accesses import (
    drop_empty_impressions,
    prune_impressions,
    write_impressions,
    write_used,
)
from simonides.backends.embedded.bulk_rows import BulkRows, free_ids, known, queue_rows, stored_terms
from simonides.backends.embedded.change_log import (
    ADD,
    ERASE,
    EXPIRE,
    LINK,
    NAME,
    USE,
    Meta,
    link_hash,
    next_change,
    next_epoch,
    write_changes,
    write_counters,
)
from simonides.backends.embedded.digest import IMMUTABLE, row_digest
from simonides.backends.embedded.expiry import copy_expiry
from simonides.backends.embedded.labels import label_code, label_set_code
from simonides.backends.embedded.nodes import node_of
from simonides.backends.embedded.reanalysis import analysed
from simonides.backends.embedded.redaction import read_forgotten, redact
from simonides.backends.embedded.reembedding import (
    SEMANTIC,
    copy_encodings,
    number_of,
    read_model,
    write_encoding,
)
from simonides.backends.embedded.row_check import check_rows
from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.stated import (
    READABLE,
    copy_statements,
    held,
    listed,
    move_statements,
    stating,
    write_statements,
)
from simonides.backends.embedded.stored import read_names
from simonides.backends.embedded.upkeep import Upkeep, observations_of
from simonides.errors import DamagedError, EmbedderMismatchError, NotFoundError
from simonides.records.draft import content_key
from simonides.records.entity import Entity, counts_as
from simonides.records.interval import BEGINNING, CLOCK_SKEW, FOREVER, LAST_INSTANT
from simonides.records.kind import ARCHIVED, CONSOLIDATED, Kind
from simonides.records.model_identity import ModelIdentity, mismatch, sparse_mismatch
from simonides.records.versions import ComparedFields, ResolvedFields, RowRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import apsw
    from numpy.typing import NDArray

    from simonides.backends.embedded.auditing import Auditor
    from simonides.backends.embedded.change_log import Change
    from simonides.backends.embedded.redaction import Forgotten
    from simonides.index.snapshot import IndexSnapshot
    from simonides.protocols import Analyser, Embedder, SparseEncoder
    from simonides.records.draft import Draft, Prepared
    from simonides.records.impression import Impression
    from simonides.records.versions import Held


class WriteTransaction:
    """The rows of one bank inside BEGIN IMMEDIATE; made by ``EmbeddedBank.writing``.

    Attributes:
        now: the clock, microseconds UTC.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        meta: Meta,
        snapshot: IndexSnapshot | DamagedError,
        now: int,
        analyser: Analyser,
        auditor: Auditor | None = None,
        actor: str = "",
    ) -> None:
        self._connection = connection
        self._auditor = auditor
        self._actor = actor
        self._began_at = meta.sequence
        self._began_with = meta.next_ordinal
        self._erased = False
        self._meta = meta
        self._analyser = analyser
        self._snapshot = snapshot
        self.now = now
        # Episodes of documents that this transaction wrote, by document and text.
        self._episodes: dict[tuple[str, str], int] = {}
        # Codes that this transaction has looked up or made.
        self._labels: dict[str, int] = {}
        self._label_sets: dict[tuple[str, ...], int] = {}
        self._keyed: tuple[Prepared | None, bytes] = (None, b"")
        self._at_once: list[tuple[Any, ...]] = []
        # Written at the end, all at once.
        self._changes: list[Change] = []

    @property
    def connection(self) -> apsw.Connection:
        """The connection that is in this transaction."""
        return self._connection

    @property
    def snapshot(self) -> IndexSnapshot:
        """The bank before this transaction's own writes.

        Raises:
            DamagedError: a row makes no arrays; it can be erased all the same.
        """
        if isinstance(self._snapshot, DamagedError):
            raise self._snapshot
        return self._snapshot

    @property
    def meta(self) -> Meta:
        """The counters as they are now."""
        return self._meta

    @property
    def added_at_once(self) -> Sequence[tuple[Any, ...]]:
        """The rows that this transaction added, as ``IMMUTABLE`` names their values.

        Empty where they were not all added by one ``insert_all`` that kept a raw source for each, or one of
        them was changed since.
        """
        alone = len(self._at_once) == self.rows_added == self._meta.sequence - self._began_at
        return self._at_once if alone else ()

    @property
    def rows_added(self) -> int:
        """How many versions this transaction has stored so far."""
        return self._meta.next_ordinal - self._began_with

    def _all(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    def _one(self, sql: str, *parameters: Any) -> tuple[Any, ...] | None:
        return self._connection.execute(sql, parameters).fetchone()

    def _version(self, ordinal: int) -> dict[str, Any]:
        """A row of ``memories`` by column."""
        cursor = self._connection.execute("SELECT * FROM memories WHERE ordinal=?", (ordinal,))
        names = [name for name, _ in cursor.get_description()]
        # Read to the end: apsw 3.54.0 keeps a cursor that was asked for its columns, and a statement that
        # is under way stops the VACUUM of a purge.
        (row,) = cursor.fetchall()
        return dict(zip(names, row, strict=True))

    def finish(self) -> None:
        """Store changes, counters and, where the bank is audited, a row about it; last before the commit."""
        write_changes(self._connection, self._changes)
        self._changes = []
        write_counters(self._connection, self._meta)
        if self._auditor is not None and self._meta.sequence > self._began_at:
            verb = "forget" if self._erased else "write"
            self._auditor.append(
                self._connection, self._meta, self._actor, verb, self.now, began=self._began_at
            )

    def _log(self, operation: str, ordinal: int, stamp: int, **counters: Any) -> None:
        """Count a change, with other *counters* that it moves on."""
        change = next_change(self._meta, operation, ordinal, stamp)
        self._changes.append(change)
        self._meta = replace(self._meta, sequence=change[0], log_hash=change[-1], **counters)

    # -- use

    def remember(self, impressions: Iterable[Impression]) -> None:
        """Store impressions, and the accesses of those that count what they returned."""
        self._log_use(write_impressions(self._connection, impressions, self.now))
        prune_impressions(self._connection)

    def used(self, ids: Sequence[str], recall: str | None, principal: str) -> int:
        """Store that memories were used, once per recall; returns how many accesses that made.

        Raises:
            InputError: there is no such recall of *principal*, or it did not return a memory.
            NotFoundError: a memory was forgotten meanwhile.
        """
        written = write_used(self._connection, self.roots(ids), ids, recall, principal, self.now)
        self._log_use(written)
        for memory in ids:
            self.upkeep.return_archived(memory, "used")
        return written

    def roots(self, ids: Sequence[str]) -> list[int]:
        """Ordinals of the memories' first versions.

        Raises:
            NotFoundError: one of them was forgotten.
        """
        roots: list[int] = []
        for memory in ids:
            row = self._one("SELECT root FROM memories WHERE id=? LIMIT 1", memory)
            if row is None:
                raise NotFoundError(f"memory {memory!r} was forgotten meanwhile")
            roots.append(int(row[0]))
        return roots

    def _log_use(self, written: int) -> None:
        if written:
            # One change for the batch: readers then go on from the last access they saw.
            self._log(USE, written, self.now)

    # -- memories

    def next_instant(self) -> int:
        """The recorded time of the next row: the clock, or just after the last row if the clock stands.

        A last row more than ``CLOCK_SKEW`` after the clock was written under a wrong clock: rows then go by
        the clock, and the change log alone carries their order (ADR 0009).
        """
        return self.instant_following(self._meta.last_ingested)

    def instant_following(self, last: int) -> int:
        """The recorded time of a row that is written after one recorded at *last*; never after year 9999."""
        moment = max(self.now, last + 1) if last <= self.now + CLOCK_SKEW else self.now
        return min(moment, LAST_INSTANT)

    def newest_of(self, *stamps: int) -> int:
        """The newest recorded time of the bank and *stamps*, without those that a wrong clock set."""
        end = self.now + CLOCK_SKEW
        return max(
            (stamp for stamp in (self._meta.last_ingested, *stamps) if stamp <= end), default=BEGINNING
        )

    def embedder(self) -> ModelIdentity:
        """What makes the bank's vectors; empty before the first."""
        return read_model(self._connection, self._meta.embedder)

    def use_embedder(self, embedder: Embedder | ModelIdentity) -> None:
        """Tie the bank to what makes its vectors.

        Raises:
            EmbedderMismatchError: its vectors were made by another embedder.
        """
        if self._meta.embedder is None:
            number = number_of(
                self._connection, ModelIdentity(embedder.name, embedder.dimension, embedder.fingerprint)
            )
            self._meta = replace(self._meta, embedder=number)
            return
        held = self.embedder()
        if held.fingerprint != embedder.fingerprint:
            raise EmbedderMismatchError(mismatch(held.name, held.dimension, embedder))

    def use_sparse(self, encoder: SparseEncoder) -> None:
        """Tie the bank to what makes its learned sparse terms.

        Raises:
            EmbedderMismatchError: they were made by another encoder.
        """
        row = self._one(f"SELECT fingerprint, name FROM sparse_encoder WHERE {sound('sparse_encoder')}")
        if row is None:
            insert = "INSERT INTO sparse_encoder(one, fingerprint, name) VALUES (1, ?, ?)"
            self._connection.execute(insert, (encoder.fingerprint, encoder.name))
        elif row[0] != encoder.fingerprint:
            raise EmbedderMismatchError(sparse_mismatch(str(row[1]), encoder.name))

    def identical(self, item: Prepared) -> str | None:
        """Id of a memory that the bank holds and that says the same in every respect.

        "Today" on another day is another event, and so is every word that means another time by then.
        One in quarantine counts only for what is to be there, too: else what is retained would not be found.
        """
        draft = item.draft
        # What has ended since is no longer said. What states its own end is, and so is what states its
        # beginning and was superseded: it said no more than that.
        stated_end = draft.valid_to.start if draft.valid_to is not None else FOREVER
        dated = draft.occurred is not None or draft.valid_from is not None
        row = self._one(
            "SELECT id FROM memories WHERE content_key=? AND expired_at=? AND state & ?=0"
            " AND (kind=?)=? AND (valid_to>max(?, ingested_at) OR valid_to=? OR (? AND superseded_by<>''))"
            " ORDER BY ordinal LIMIT 1",
            self._content_key(item),
            FOREVER,
            ARCHIVED | CONSOLIDATED,
            Kind.QUARANTINE.value,
            draft.kind == Kind.QUARANTINE,
            self.next_instant(),
            stated_end,
            dated,
        )
        return None if row is None else str(row[0])

    def same_turns(self, item: Prepared) -> list[str]:
        """Ids of the memories that hold the same turn, oldest first, whatever has ended or archived them.

        One that has other words by now, too.
        """
        rows = self._all(
            "SELECT DISTINCT m.root, m.id FROM memories m JOIN memories now ON now.id = m.id"
            " WHERE m.content_key=? AND now.expired_at=? AND (now.kind=?)=? ORDER BY m.root",
            self._content_key(item),
            FOREVER,
            Kind.QUARANTINE.value,
            item.draft.kind == Kind.QUARANTINE,
        )
        return [str(memory) for _, memory in rows]

    def edited(self, item: Prepared) -> str | None:
        """Id of a memory of the document of an item that was in the item's words before it was edited.

        As with ``identical``, one that has ended since says it no more.
        """
        row = self._one(
            "SELECT now.id FROM memories m JOIN memories now ON now.id = m.id AND now.expired_at=?"
            f" JOIN chunks c ON c.number = now.chunk JOIN episodes e ON e.number = c.episode AND {_SOURCE}"
            " WHERE m.content_key=? AND e.document=? AND now.state & ?=0 AND (now.kind=?)=?"
            " AND now.valid_to>max(?, now.ingested_at) ORDER BY now.ordinal LIMIT 1",
            FOREVER,
            self._content_key(item),
            item.draft.document,
            ARCHIVED | CONSOLIDATED,
            Kind.QUARANTINE.value,
            item.draft.kind == Kind.QUARANTINE,
            self.next_instant(),
        )
        return None if row is None else str(row[0])

    def insert(self, item: Prepared, place: ResolvedFields) -> RowRef:
        """Write a new memory with its source and vector."""
        ordinal = self._meta.next_ordinal
        memory = self._free_id(place.ingested_at, item.draft.text)
        codes = b"" if item.codes is None else item.codes.tobytes()
        key = self._content_key(item)
        values = self._values(item, place, ordinal, memory, self._insert_source(item, place), key)
        self._insert_row(dict(zip(IMMUTABLE, values, strict=True)), item.scale, codes)
        self._insert_models(ordinal, item)
        write_statements(self._connection, ordinal, item.draft.text, item.draft.speaker)
        return RowRef(memory, ordinal, ordinal)

    def _values(
        self, item: Prepared, place: ResolvedFields, ordinal: int, memory: str, chunk: int, key: bytes
    ) -> tuple[Any, ...]:
        """The values of a new memory's row, in the order of ``IMMUTABLE``."""
        draft, occurred = item.draft, place.occurred
        return (
            ordinal, memory, 1, ordinal, chunk, place.kind.value, place.layer.value,
            draft.text, draft.context, draft.relation, item.expansion,
            self._label(draft.path), self._label(draft.project),
            self._label_set(draft.tags), self._label_set(draft.acl),
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

    def insert_all(
        self, items: Sequence[Prepared], places: Sequence[ResolvedFields], keys: Sequence[bytes]
    ) -> list[RowRef]:
        """``insert`` for many memories that have no learned sparse terms and no following vector.

        Args:
            items: in order.
            places: of each.
            keys: content key of each.
        """
        rows = BulkRows.after(self._connection)
        wanted = [(place.ingested_at, item.draft.text) for item, place in zip(items, places, strict=True)]
        ids = free_ids(self._connection, self._meta.bank, wanted)
        first = self._meta.next_ordinal
        stored = []
        for ordinal, (item, place, memory, key) in enumerate(
            zip(items, places, ids, keys, strict=True), first
        ):
            codes = b"" if item.codes is None else item.codes.tobytes()
            add_episode = partial(rows.add_episode, draft=item.draft, place=place)
            chunk = rows.add_chunk(*self._source(item.draft, add_episode))
            values = self._values(item, place, ordinal, memory, chunk, key)
            rows.add_memory(values, self._meta.embedder, item, codes)
            stored.append(values)
        rows.write(self._connection)
        # Pieces of a document may share the raw source, and the speaker, of another one.
        if first == self._began_with and not self._episodes:
            self._at_once = stored
        self._log_added([place.ingested_at for place in places])
        return [RowRef(memory, ordinal, ordinal) for ordinal, memory in enumerate(ids, first)]

    def _log_added(self, stamps: Sequence[int]) -> None:
        """Count the next rows as added, recorded at *stamps*."""
        meta = self._meta
        sequence, log_hash, first = meta.sequence, meta.log_hash, meta.next_ordinal
        for ordinal, stamp in enumerate(stamps, first):
            sequence += 1
            log_hash = link_hash(log_hash, sequence, ADD, ordinal, stamp)
            self._changes.append((sequence, ADD, ordinal, stamp, log_hash))
        self._meta = replace(
            meta,
            sequence=sequence,
            log_hash=log_hash,
            next_ordinal=first + len(stamps),
            last_ingested=self.newest_of(*stamps),
        )

    def known_keys(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those content keys that some row bears, whatever became of it."""
        return known(self._connection, "content_key", keys)

    @property
    def last_ingested(self) -> int:
        """The newest recorded time."""
        return self._meta.last_ingested

    def _insert_models(self, ordinal: int, item: Prepared) -> None:
        """What models made of a text, beside its vector."""
        if item.tokens and item.codes is not None:
            insert = "INSERT INTO token_codes(ordinal, embedder, codes) VALUES (?, ?, ?)"
            self._connection.execute(insert, (ordinal, self._meta.embedder, item.tokens))
        if item.following is not None:
            write_encoding(self._connection, ordinal, item.following)
        if item.sparse:
            insert = "INSERT INTO sparse_terms(ordinal, terms) VALUES (?, ?)"
            self._connection.execute(insert, (ordinal, item.sparse))

    def instant_after(self, ordinal: int, moment: int) -> int:
        """*moment*, if a row was recorded before it, else a recorded time after the row's.

        A version never ends before it began, also where it was recorded under a clock that stood years ahead.
        """
        recorded = int(self.columns(ordinal, "ingested_at")[0])
        if recorded < moment:
            return moment
        return max(self.next_instant(), recorded + 1 if recorded < LAST_INSTANT else recorded)

    def revise(self, ordinal: int, *, learned_at: int | None = None, **changed: Any) -> RowRef:
        """Write a new version of a row; the old one only gets its ``expired_at`` stamp.

        Args:
            ordinal: of the current version.
            learned_at: recorded time of the new version, when it follows from a row recorded then.
            changed: columns of ``memories`` with their new values (valid_to, proof_count, superseded_by …).

        Raises:
            DamagedError: the row is not what was written; a new version would hide that.
        """
        check_rows(self._connection, [ordinal], self._meta.embedder)
        values = self._version(ordinal)
        stamp = self.expire(ordinal, self.next_instant() if learned_at is None else learned_at)
        scale, codes = self._vector_of(ordinal)
        values |= {
            **changed,
            "ordinal": self._meta.next_ordinal,
            "version": int(values["version"]) + 1,
            "ingested_at": stamp,
            "expired_at": FOREVER,
        }
        fresh = self._meta.next_ordinal
        self._insert_row(values, scale, codes)
        self._copy_models(ordinal, fresh)
        self._copy_mentions(ordinal, fresh)
        self._copy_relations(ordinal, fresh)
        move_statements(self._connection, ordinal, fresh)
        return RowRef(str(values["id"]), fresh, int(values["root"]))

    def _copy_relations(self, ordinal: int, fresh: int) -> None:
        self._connection.execute(
            "INSERT INTO relations(ordinal, name, subject, object, single_valued)"
            " SELECT ?, name, subject, object, single_valued FROM relations"
            f" WHERE ordinal=? AND {sound('relations')}",
            (fresh, ordinal),
        )

    def reword(self, ordinal: int, item: Prepared, place: ResolvedFields) -> RowRef:
        """Write a new version of a memory in other words; the old one only gets its ``expired_at`` stamp.

        It has a source of its own, so it is a node of its own: links of the old words are not its.

        Args:
            ordinal: of the current version.
            item: the new words.
            place: of the new row; recorded after the version at *ordinal*.

        Raises:
            DamagedError: the row is not what was written; a new version would hide that.
        """
        check_rows(self._connection, [ordinal], self._meta.embedder)
        before = self._version(ordinal)
        self.expire(ordinal, place.ingested_at)
        self._connection.execute("DELETE FROM statements WHERE ordinal=?", (ordinal,))
        fresh, memory, root = self._meta.next_ordinal, str(before["id"]), int(before["root"])
        chunk, key = self._insert_source(item, place), self._content_key(item)
        values = dict(
            zip(IMMUTABLE, self._values(item, place, fresh, memory, chunk, key), strict=True),
        )
        values |= {
            "version": int(before["version"]) + 1,
            "root": root,
            "access_count": before["access_count"],
            "last_access": before["last_access"],
        }
        codes = b"" if item.codes is None else item.codes.tobytes()
        self._insert_row(values, item.scale, codes)
        self._insert_models(fresh, item)
        write_statements(self._connection, fresh, item.draft.text, item.draft.speaker)
        # What waited for the old words, and what a model said of them.
        for task in ("link", "repeat"):
            self._connection.execute(
                "DELETE FROM jobs WHERE task=? AND ordinal IN (SELECT ordinal FROM memories WHERE id=?)",
                (task, memory),
            )
        self._connection.execute("DELETE FROM enrichments WHERE ordinal=?", (root,))
        return RowRef(memory, fresh, root)

    def links_of(self, node: int, kind: str) -> list[tuple[int, int, float]]:
        """Links of a kind that join a node: source, target and weight, in the order written."""
        rows = self._all(
            f"SELECT source, target, weight FROM links WHERE (source=?1 OR target=?1) AND kind=?2"
            f" AND embedder IN (0, ?3) AND {sound('links')} ORDER BY number",
            node,
            kind,
            self._meta.embedder,
        )
        return [(int(source), int(target), float(weight)) for source, target, weight in rows]

    def go_on(self, ordinal: int, trust: float, after: str, **changed: Any) -> RowRef:
        """Let what a row states hold again, after *after*, as a memory of its own in the same words.

        Args:
            ordinal: of the row.
            trust: of its source.
            after: the memory that it holds again after.
            changed: columns of ``memories`` that differ from the row's.
        """
        memory, root = self.columns(ordinal, "id", "root")
        before = self._one(
            f"SELECT was FROM moves WHERE ordinal=? AND action='continue' AND {sound('moves')} LIMIT 1", root
        )
        fresh = self.derive(ordinal, trust, **changed)
        self._copy_relations(ordinal, fresh.ordinal)
        copy_statements(self._connection, ordinal, fresh.ordinal)
        copy_expiry(self._connection, int(root), fresh.root)
        first = str(before[0]) if before else str(memory)
        self.upkeep.note(fresh.root, "continue", first, after, "it holds again after it")
        return fresh

    def _copy_mentions(self, ordinal: int, fresh: int) -> None:
        self._connection.execute(
            "INSERT INTO mentions(ordinal, entity) SELECT ?, entity FROM mentions"
            f" WHERE ordinal=? AND {sound('mentions')}",
            (fresh, ordinal),
        )

    def derive(self, ordinal: int, trust: float, item: Prepared | None = None, **changed: Any) -> RowRef:
        """Write a new memory in the words of a stored row, with its vector and the names it mentions.

        Args:
            ordinal: of the row whose text it takes over.
            trust: of its source.
            item: other words with all that models made of them, in place of the row's.
            changed: columns of ``memories`` that differ from the row's.

        Raises:
            DamagedError: the row is not what was written.
        """
        check_rows(self._connection, [ordinal], self._meta.embedder)
        values = self._version(ordinal)
        scale, codes = self._vector_of(ordinal)
        fresh, stamp = self._meta.next_ordinal, self.next_instant()
        if item is not None:
            scale, codes = item.scale, b"" if item.codes is None else item.codes.tobytes()
            values |= {
                "text": item.draft.text,
                "expansion": item.expansion,
                "signature": item.signature.astype("<u4").tobytes(),
            }
        # Of the clock and the row that it is from: the stamp counts what others' private rows led to, too.
        memory = self._free_id(self.now, f"{values['id']} {values['text']}")
        values |= {
            **changed,
            "ordinal": fresh,
            "id": memory,
            "version": 1,
            "root": fresh,
            "chunk": self._own_source(int(values["chunk"]), str(values["text"]), trust, stamp),
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

    def _copy_models(self, ordinal: int, fresh: int) -> None:
        """What models made of a row's text, for a new row in the same words."""
        copy_encodings(self._connection, ordinal, fresh, self._meta.embedder)
        self._connection.execute(
            "INSERT INTO sparse_terms(ordinal, terms) SELECT ?, terms FROM sparse_terms"
            f" WHERE ordinal=? AND {sound('sparse_terms')}",
            (fresh, ordinal),
        )

    def _own_source(self, chunk: int, text: str, trust: float, stamp: int) -> int:
        """A raw source of its own for a derived text, by the author of the source in *chunk*."""
        row = self._connection.execute(
            "INSERT INTO episodes(text, source, document, session, speaker, author, trust, recorded_at)"
            " SELECT ?, '', '', '', e.speaker, e.author, ?, ? FROM chunks c"
            f" JOIN episodes e ON e.number = c.episode AND {sound('episodes', 'e')}"
            f" WHERE c.number=? AND {sound('chunks', 'c')} RETURNING number",
            (text, trust, stamp, chunk),
        ).fetchone()
        return _number(
            self._one(
                "INSERT INTO chunks(episode, start, stop) VALUES (?, 0, ?) RETURNING number",
                _number(row),
                len(text),
            )
        )

    @property
    def upkeep(self) -> Upkeep:
        """The rows about maintenance, inside this transaction."""
        return Upkeep(self._connection, self)

    def coded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Columns of ``memories`` from a draft's values by name: labels and sets of labels as their codes."""
        coders: Mapping[str, Callable[[Any], Any]] = {
            "path": lambda value: label_code(self._connection, value),
            "project": lambda value: label_code(self._connection, value),
            "tags": lambda value: label_set_code(self._connection, value),
            "kind": lambda value: value.value,
            "layer": lambda value: value.value,
            "salience": lambda value: value + 0.0,
            "confidence": lambda value: value + 0.0,
        }
        return {name: coders.get(name, lambda value: value)(value) for name, value in values.items()}

    def expire(self, ordinal: int, moment: int) -> int:
        """Stamp the moment from which the bank no longer holds this version; later, if it began later."""
        stamp = self.instant_after(ordinal, moment)
        self._connection.execute("UPDATE memories SET expired_at=? WHERE ordinal=?", (stamp, ordinal))
        self._log(EXPIRE, ordinal, stamp, last_ingested=self.newest_of(stamp))
        return stamp

    def erase(self, ids: Sequence[str]) -> int:
        """Delete every version of the named memories and what hangs on them; returns how many were there.

        Where their texts stand in other rows (raw documents, contexts of turns) they are taken out, too.
        """
        erased = 0
        forgotten: list[Forgotten] = []
        spoken_of: set[int] = set()
        # An observation is in the words of one of its sources; the others make another one, if they do.
        wanted = [*ids, *observations_of(self._connection, ids)]
        for memory in wanted:
            rows = self._all("SELECT ordinal, chunk FROM memories WHERE id=? ORDER BY ordinal DESC", memory)
            for ordinal, chunk in rows:
                forgotten.append(read_forgotten(self._connection, int(ordinal)))
                mentioned = self._all("SELECT entity FROM mentions WHERE ordinal=?", ordinal)
                spoken_of |= {int(entity) for (entity,) in mentioned}
                self._connection.execute("DELETE FROM memories WHERE ordinal=?", (ordinal,))
                self._drop_source(int(chunk))
                self._log(ERASE, int(ordinal), 0)
            erased += bool(rows) and memory in ids
        for entity in sorted(spoken_of):
            self._drop_entity(entity)
        if erased:
            self._erased = True
            drop_empty_impressions(self._connection)
        if redact(self._connection, forgotten, self._analyser):
            self._connection.execute("UPDATE meta SET epoch=?", (next_epoch(self._meta),))
        return erased

    def _drop_entity(self, entity: int) -> None:
        """Delete an entity that nothing mentions any more, or a qualifier that nothing states any more."""
        self._connection.execute(
            "DELETE FROM entities WHERE number=?1 AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity=?1)",
            (entity,),
        )
        # Without one, or by its number where another bearer of the name is without one.
        for qualifier in ("", f"#{entity}"):
            self._connection.execute(
                "UPDATE OR IGNORE entities SET qualifier=?2 WHERE number=?1 AND qualifier NOT IN ('', ?3)"
                " AND NOT EXISTS (SELECT 1 FROM relations WHERE subject=?1 AND object=qualifier)",
                (entity, qualifier, f"#{entity}"),
            )

    def current_ordinal(self, memory: str) -> int | None:
        """Ordinal of the version of *memory* that the bank holds now."""
        row = self._connection.execute(
            "SELECT ordinal FROM memories WHERE id=? AND expired_at=?", (memory, FOREVER)
        ).fetchone()
        return None if row is None else int(row[0])

    def columns(self, ordinal: int, *names: str) -> tuple[Any, ...]:
        """Columns of one row of ``memories``."""
        select = f"SELECT {', '.join(names)} FROM memories WHERE ordinal=?"
        row = self._one(select, ordinal)
        if row is None:
            raise LookupError(f"no row {ordinal}")
        return row

    def signature(self, ordinal: int) -> NDArray[np.uint32]:
        """MinHash of a row's text."""
        return np.frombuffer(self.columns(ordinal, "signature")[0], "<u4").astype(np.uint32)

    def node(self, ordinal: int) -> int:
        """What the links of a row join: see ``nodes``."""
        row = self._one(f"SELECT {node_of('m')} FROM memories m WHERE m.ordinal=?", ordinal)
        return _number(row)

    def exists(self, ordinal: int) -> bool:
        """Whether a row was not erased."""
        return self._one("SELECT 1 FROM memories WHERE ordinal=?", ordinal) is not None

    def versions(self, ordinal: int) -> list[int]:
        """Ordinals of all versions of the memory that a row is a version of, oldest first."""
        rows = self._all(
            "SELECT ordinal FROM memories WHERE id=(SELECT id FROM memories WHERE ordinal=?)"
            " ORDER BY version",
            ordinal,
        )
        return [int(version) for (version,) in rows]

    def _vector_of(self, ordinal: int) -> tuple[float, bytes]:
        """Scale and codes of a row's vector; no codes where it has none."""
        row = self._one(
            f"SELECT scale, codes FROM vectors WHERE ordinal=? AND embedder IS ? AND {sound('vectors')}",
            ordinal,
            self._meta.embedder,
        )
        return (float(row[0]), bytes(row[1])) if row else (0.0, b"")

    def vector(self, ordinal: int) -> NDArray[np.float32] | None:
        """A row's vector, or ``None``."""
        scale, codes = self._vector_of(ordinal)
        return np.frombuffer(codes, np.int8).astype(np.float32) * np.float32(scale) if codes else None

    def document(self, document: str, readers: Sequence[str], trust: float) -> list[tuple[int, str]]:
        """Current rows of a document, of at most this *trust*, that exactly *readers* may read."""
        rows = self._all(
            f"SELECT m.ordinal, m.id FROM episodes e JOIN chunks c ON c.episode = e.number AND {_SOURCE}"
            " JOIN memories m ON m.chunk = c.number"
            " WHERE e.document=? AND e.document<>'' AND m.expired_at=? AND m.valid_to>?"
            " AND m.acl=? AND e.trust<=? ORDER BY m.ordinal",
            document,
            FOREVER,
            self.next_instant(),
            label_set_code(self._connection, readers),
            trust,
        )
        return [(int(ordinal), str(memory)) for ordinal, memory in rows]

    def documents_below(self, prefix: str, readers: Sequence[str], trust: float) -> list[str]:
        """Documents whose names begin with *prefix* and that have rows as ``document`` gives them, sorted."""
        rows = self._all(
            f"SELECT DISTINCT e.document FROM episodes e JOIN chunks c ON c.episode = e.number AND {_SOURCE}"
            " JOIN memories m ON m.chunk = c.number"
            " WHERE e.document>=? AND e.document<? AND e.document<>'' AND m.expired_at=? AND m.valid_to>?"
            " AND m.acl=? AND e.trust<=? ORDER BY e.document",
            prefix,
            f"{prefix}\U0010ffff",
            FOREVER,
            self.next_instant(),
            label_set_code(self._connection, readers),
            trust,
        )
        return [str(document) for (document,) in rows]

    def superseded_documents(self, ids: AbstractSet[str]) -> list[str]:
        """Documents of which a memory was ended by one of the memories *ids*, sorted."""
        rows = self._all(
            f"SELECT m.superseded_by, e.document FROM memories m JOIN chunks c ON c.number = m.chunk"
            f" JOIN episodes e ON e.number = c.episode AND {_SOURCE}"
            " WHERE m.superseded_by<>'' AND m.expired_at=? AND e.document<>''",
            FOREVER,
        )
        return sorted({str(document) for memory, document in rows if memory in ids})

    def move(self, ordinal: int, draft: Draft, sparse: bytes) -> RowRef:
        """Let a row stand in another document and at another path, as a new version of the same memory.

        Args:
            ordinal: of the current version.
            draft: the same words there, perhaps under another title; of an edited row those before the edit.
            sparse: learned sparse terms of them; empty = as they were.
        """
        (chunk,) = self.columns(ordinal, "chunk")
        begun = self.next_instant()

        def add_episode(text: str) -> int:
            return _number(
                self._one(
                    "INSERT INTO episodes"
                    "(text, source, document, session, speaker, author, trust, recorded_at)"
                    " SELECT ?, ?, ?, e.session, e.speaker, e.author, e.trust, ?"
                    f" FROM chunks c JOIN episodes e ON e.number = c.episode AND {_SOURCE}"
                    " WHERE c.number=? RETURNING number",
                    text,
                    draft.source,
                    draft.document,
                    begun,
                    chunk,
                )
            )

        place = self._one(
            "INSERT INTO chunks(episode, start, stop) VALUES (?, ?, ?) RETURNING number",
            *self._source(draft, add_episode),
        )
        changed: dict[str, Any] = {
            "chunk": _number(place),
            "path": self._label(draft.path),
            "source": draft.source,
            "context": draft.context,
            "content_key": content_key(draft),
        }
        if self.columns(ordinal, "context")[0] != draft.context:
            changed["terms"] = analysed({**self._version(ordinal), **changed}, self._analyser)
        stored = self.revise(ordinal, **changed)
        if sparse:
            update = "UPDATE sparse_terms SET terms=? WHERE ordinal=?"
            self._connection.execute(update, (sparse, stored.ordinal))
        return stored

    def frame(self, ordinal: int) -> ComparedFields:
        """All of a row but its words; unchecked, because it is compared only and asked for often."""
        row = self._connection.execute(
            "SELECT p.text, w.text, e.document, e.speaker, m.metadata, t.names, a.names, m.context,"
            " m.relation, m.source, m.kind, m.layer, m.salience, m.confidence, m.occurred_from,"
            " m.occurred_to, m.valid_to, m.valid_from IN (m.occurred_from, r.ingested_at)"
            " FROM memories m JOIN memories r ON r.ordinal = m.root"
            " JOIN labels p ON p.number = m.project JOIN labels w ON w.number = m.path"
            " JOIN label_sets t ON t.number = m.tags JOIN label_sets a ON a.number = m.acl"
            " JOIN chunks c ON c.number = m.chunk"
            " JOIN episodes e ON e.number = c.episode WHERE m.ordinal=?",
            (ordinal,),
        ).fetchone()
        if row is None:
            raise LookupError(f"no row {ordinal}")
        project, path, document, speaker, metadata, tags, readers, *rest, starts = row
        names = frozenset(read_names(tags)), frozenset(read_names(readers))
        rest.append(bool(starts))
        return ComparedFields(project, path, document, speaker, metadata, *names, *rest)

    def before_in_session(self, session: str, root: int, readers: Sequence[str]) -> int | None:
        """Node of the memory before *root* in a conversation, among those that all *readers* may read."""
        row = self._one(
            f"SELECT m.id FROM episodes e JOIN chunks c ON c.episode = e.number AND {_SOURCE}"
            # Of first versions: other words come later, and stand where the first ones did.
            " JOIN memories m ON m.chunk = c.number AND m.ordinal = m.root"
            " JOIN label_sets s ON s.number = m.acl"
            # The second condition lets SQLite use the index, which holds no empty names.
            f" WHERE e.session=?2 AND e.session<>'' AND m.root < ?3 AND {READABLE}"
            " ORDER BY e.number DESC, m.root DESC LIMIT 1",
            listed(readers),
            session,
            root,
        )
        if row is None:
            return None
        last = f"SELECT {node_of('m')} FROM memories m WHERE m.id=? ORDER BY m.version DESC LIMIT 1"
        return _number(self._one(last, row[0]))

    def around(
        self, moment: int, reach: int, most: int, readers: Sequence[str], before: int, after: int = -1
    ) -> list[tuple[int, int]]:
        """Current memories that occurred near a moment, nearest first.

        Args:
            moment: microseconds UTC.
            reach: how far, in microseconds.
            most: how many at most.
            readers: all of them may read what is returned.
            before: only memories whose first versions have smaller ordinals.
            after: only those whose first versions have larger ones.

        Returns:
            node and microseconds away, of each.
        """
        found: list[tuple[int, int]] = []
        for order, condition in (("DESC", "<="), ("ASC", ">")):
            select = (
                f"SELECT {node_of('m')}, abs(m.occurred_from - ?2)"
                " FROM memories m JOIN label_sets s ON s.number = m.acl"
                f" WHERE m.occurred_from IS NOT NULL AND m.occurred_from {condition} ?2"
                " AND m.occurred_precision IN ('instant', 'hour', 'day')"
                " AND m.occurred_from BETWEEN ?2 - ?3 AND ?2 + ?3"
                f" AND m.expired_at = ?4 AND m.root < ?5 AND m.root > ?7 AND {READABLE}"
                f" ORDER BY m.occurred_from {order}, m.ordinal DESC LIMIT ?6"
            )
            rows = self._all(select, listed(readers), moment, reach, FOREVER, before, most, after)
            found += [(int(node), int(apart)) for node, apart in rows]
        return sorted(found, key=lambda pair: (pair[1], pair[0]))[:most]

    def _label(self, text: str) -> int:
        code = self._labels.get(text)
        if code is None:
            code = self._labels[text] = label_code(self._connection, text)
        return code

    def _label_set(self, names: tuple[str, ...]) -> int:
        code = self._label_sets.get(names)
        if code is None:
            code = self._label_sets[names] = label_set_code(self._connection, names)
        return code

    def _content_key(self, item: Prepared) -> bytes:
        """The key of *item*, made once for the look at what is there and for the row."""
        if self._keyed[0] is not item:
            self._keyed = item, content_key(item.draft, item.days)
        return self._keyed[1]

    def _free_id(self, ingested: int, text: str) -> str:
        return free_ids(self._connection, self._meta.bank, [(ingested, text)])[0]

    def _insert_row(self, values: dict[str, Any], scale: float, codes: bytes) -> None:
        values.setdefault("expired_at", FOREVER)
        # Of the row that this one came from; the trigger makes the new one's.
        values.pop("end_digest", None)
        values["digest"] = row_digest(values, embedded=bool(codes))
        self._connection.execute(_insert_into_memories(tuple(values)), tuple(values.values()))
        ordinal, ingested = int(values["ordinal"]), int(values["ingested_at"])
        if codes:
            self._connection.execute(
                "INSERT INTO vectors(ordinal, embedder, scale, codes) VALUES (?, ?, ?, ?)",
                (ordinal, self._meta.embedder, scale, codes),
            )
        self._log(ADD, ordinal, ingested, next_ordinal=ordinal + 1, last_ingested=self.newest_of(ingested))

    def _insert_source(self, item: Prepared, place: ResolvedFields) -> int:
        """Keep the raw text behind an item; the pieces of a document share one, verbatim."""
        add_episode = partial(self._insert_episode, draft=item.draft, place=place)
        chunk = self._connection.execute(
            "INSERT INTO chunks(episode, start, stop) VALUES (?, ?, ?) RETURNING number",
            self._source(item.draft, add_episode),
        ).fetchone()
        return _number(chunk)

    def _source(self, draft: Draft, add_episode: Callable[[str], int]) -> tuple[int, int, int]:
        """The number of the raw text behind an item, kept by *add_episode*, and the item's span of it."""
        if draft.span is None:
            return add_episode(draft.text), 0, len(draft.text)
        text = draft.source_text
        episode = self._episodes.get((draft.document, text)) if draft.document else None
        if episode is None:
            episode = add_episode(text)
            if draft.document:
                self._episodes[draft.document, text] = episode
        return episode, *draft.span

    def _insert_episode(self, text: str, draft: Draft, place: ResolvedFields) -> int:
        row = self._connection.execute(
            "INSERT INTO episodes(text, source, document, session, speaker, author, trust, recorded_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
            (
                text,
                draft.source,
                draft.document,
                draft.session,
                draft.speaker,
                place.author,
                place.trust,
                place.ingested_at,
            ),
        ).fetchone()
        return _number(row)

    def _drop_source(self, chunk: int) -> None:
        used = "SELECT 1 FROM memories WHERE chunk=? LIMIT 1"
        if self._connection.execute(used, (chunk,)).fetchone():
            return
        episode = self._connection.execute(
            "DELETE FROM chunks WHERE number=? RETURNING episode", (chunk,)
        ).fetchone()
        left = "SELECT 1 FROM chunks WHERE episode=? LIMIT 1"
        if episode and not self._connection.execute(left, episode).fetchone():
            self._connection.execute("DELETE FROM episodes WHERE number=?", episode)

    # -- names and relations

    def named(self, folded: str) -> list[Entity]:
        """Entities that bear a folded name or alias, by number, merged ones too."""
        rows = self._all(
            f"SELECT number FROM entities WHERE folded=?1 AND {sound('entities')}"
            f" UNION SELECT entity FROM aliases WHERE folded=?1 AND {sound('aliases')} ORDER BY 1",
            folded,
        )
        return [self.entity(int(number)) for (number,) in rows]

    def known_before(self, entity: int, ordinal: int, readers: Sequence[str]) -> bool:
        """Whether a row before *ordinal* that all *readers* may read mentions an entity."""
        row = self._one(
            "SELECT 1 FROM mentions n JOIN memories m ON m.ordinal = n.ordinal"
            " JOIN label_sets s ON s.number = m.acl"
            f" WHERE n.entity=?2 AND n.ordinal<?3 AND {READABLE} LIMIT 1",
            listed(readers),
            entity,
            ordinal,
        )
        return row is not None

    def speaks_of_another(self, ordinal: int, entity: int) -> bool:
        """Whether a row mentions a bearer of an entity's name, but not the entity itself."""
        whole, folded = self.entity(entity).whole, self.entity(entity).folded
        bearers = self._all(
            "SELECT e.number FROM mentions n JOIN entities e ON e.number = n.entity"
            f" WHERE n.ordinal=? AND e.folded=? AND {sound('entities', 'e')}",
            ordinal,
            folded,
        )
        return bool(bearers) and all(self.canonical(int(number)) != whole for (number,) in bearers)

    def canonical(self, entity: int) -> int:
        """What *entity* counts as, following merges that were not undone."""

        def into(merged: int) -> int | None:
            row = self._one(
                f"SELECT into_entity FROM merges WHERE entity=? AND undone_at=? AND {sound('merges')}"
                " ORDER BY number DESC LIMIT 1",
                merged,
                FOREVER,
            )
            return None if row is None else int(row[0])

        return counts_as(entity, into)[0]

    def entity(self, number: int) -> Entity:
        """One entity by number."""
        row = self._connection.execute(
            "SELECT e.number, e.name, e.folded, e.kind, e.qualifier, s.names FROM entities e"
            f" JOIN label_sets s ON s.number = e.scope AND {sound('label_sets', 's')}"
            f" WHERE e.number=? AND {sound('entities', 'e')}",
            (number,),
        ).fetchone()
        if row is None:
            raise LookupError(f"no entity {number}")
        number, name, folded, kind, qualifier, names = row
        readers = frozenset(read_names(names))
        return Entity(int(number), self.canonical(int(number)), name, folded, kind, qualifier, readers)

    def add_entity(self, name: str, folded: str, kind: str, readers: Sequence[str], qualifier: str) -> int:
        """A new entity; its number. One of the same name that counts as another (a merge) stays that one."""
        row = self._connection.execute(
            "INSERT INTO entities(name, folded, kind, scope, qualifier) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT(folded, scope, qualifier) DO UPDATE SET folded=excluded.folded RETURNING number",
            (name, folded, kind, self._label_set(tuple(readers)), qualifier),
        ).fetchone()
        return _number(row)

    def qualify(self, entity: int, qualifier: str) -> None:
        """Give an entity a qualifier, unless another of its name and readers has it."""
        self._connection.execute(
            "UPDATE OR IGNORE entities SET qualifier=? WHERE number=?", (qualifier, entity)
        )

    def add_alias(self, entity: int, name: str, folded: str) -> None:
        """Let a folded name stand for an entity, too."""
        self._connection.execute(
            "INSERT OR IGNORE INTO aliases(folded, name, entity, added_at) VALUES (?, ?, ?, ?)",
            (folded, name, entity, self.now),
        )
        self._log(NAME, entity, self.now)

    def merge_entities(self, entity: int, into: int) -> int:
        """Let one entity, and all that counts as it, count as another; the merge's number, to undo it."""
        entity = self.canonical(entity)
        row = self._connection.execute(
            "INSERT INTO merges(entity, into_entity, merged_at, undone_at) VALUES (?, ?, ?, ?)"
            " RETURNING number",
            (entity, into, self.now, FOREVER),
        ).fetchone()
        self._log(NAME, entity, self.now)
        return _number(row)

    def merged(self, number: int) -> int | None:
        """The entity that a merge lets count as another; ``None`` when there is no such merge to undo."""
        row = self._one("SELECT entity FROM merges WHERE number=? AND undone_at=?", number, FOREVER)
        return None if row is None else int(row[0])

    def undo_merge(self, number: int) -> bool:
        """End a merge; false when there is none to end."""
        row = self._connection.execute(
            "UPDATE merges SET undone_at=? WHERE number=? AND undone_at=? RETURNING entity",
            (self.now, number, FOREVER),
        ).fetchone()
        if row is not None:
            self._log(NAME, int(row[0]), self.now)
        return row is not None

    def mention(self, ordinal: int, entity: int) -> None:
        """Note that a row speaks of an entity."""
        self._connection.execute(
            "INSERT OR IGNORE INTO mentions(ordinal, entity) VALUES (?, ?)", (ordinal, entity)
        )

    def state(self, ordinal: int, name: str, subject: int, obj: str, *, single_valued: bool) -> None:
        """Note a relation that a row states surely; *obj* is folded."""
        self._connection.execute(
            "INSERT OR IGNORE INTO relations(ordinal, name, subject, object, single_valued)"
            " VALUES (?, ?, ?, ?, ?)",
            (ordinal, name, subject, obj, int(single_valued)),
        )

    def note_statements(self, ordinal: int, text: str, speaker: str) -> None:
        """Note what a stored row's text states of whom."""
        write_statements(self._connection, ordinal, text, speaker)

    def stating(
        self,
        subject: str,
        attribute: str | None,
        readers: Sequence[str],
        most: int,
        after: int = BEGINNING,
        begins: int = BEGINNING,
    ) -> list[int]:
        """See ``stated.stating``."""
        return stating(self._connection, subject, attribute, readers, most, after, begins)

    def held(self, ordinals: Iterable[int], wanted: Callable[[str, str], bool] | None = None) -> list[Held]:
        """See ``stated.held``."""
        return held(self._connection, ordinals, wanted)

    def continued(self, memory: str, after: str) -> int | None:
        """Current ordinal of what holds again, in the words of *memory*, after another memory."""
        row = self._one(
            "SELECT m.ordinal FROM moves v JOIN memories m ON m.root = v.ordinal"
            " WHERE v.action='continue' AND v.was=? AND v.became=? AND m.expired_at=?"
            f" AND {sound('moves', 'v')} ORDER BY m.ordinal LIMIT 1",
            memory,
            after,
            FOREVER,
        )
        return None if row is None else int(row[0])

    def stated(self, subject: int, name: str) -> list[tuple[int, str]]:
        """Single-valued relations of a subject in rows that the bank holds now: ordinal and folded object.

        The subject is all that counts as one with it.
        """
        rows = self._all(
            "WITH RECURSIVE one(number) AS (VALUES (?) UNION SELECT m.entity FROM merges m"
            " JOIN one ON m.into_entity = one.number WHERE m.undone_at=?)"
            " SELECT r.ordinal, r.object FROM relations r JOIN memories m ON m.ordinal = r.ordinal"
            f" WHERE r.subject IN one AND r.name=? AND {sound('relations', 'r')} AND r.single_valued=1"
            " AND m.expired_at=? AND m.kind<>? ORDER BY r.ordinal",
            self.canonical(subject),
            FOREVER,
            name,
            FOREVER,
            Kind.QUARANTINE.value,
        )
        return [(int(ordinal), str(obj)) for ordinal, obj in rows]

    # -- links, keys and jobs

    def link(self, source: int, target: int, kind: str, weight: float) -> None:
        """Link two memories by their nodes; the source is the later one."""
        if source != target:
            embedder = self._meta.embedder if kind == SEMANTIC else 0
            self._connection.execute(
                "INSERT OR IGNORE INTO links(source, target, kind, weight, embedder) VALUES (?, ?, ?, ?, ?)",
                (source, target, kind, weight, embedder or 0),
            )

    def linked_later(self, ordinal: int) -> None:
        """Tell readers that links of a stored row were added after its own transaction."""
        self._log(LINK, ordinal, self.now)

    def claimed(self, key: str) -> tuple[bytes, list[str]] | None:
        """Body hash and ids of a retain that was acknowledged under *key*."""
        row = self._one(f"SELECT body, ids FROM idempotency WHERE key=? AND {sound('idempotency')}", key)
        return None if row is None else (bytes(row[0]), list(read_names(row[1])))

    def claim(self, key: str, body: bytes, ids: Sequence[str]) -> None:
        """Remember the answer to a retain under *key*, in the same transaction as its rows."""
        self._connection.execute(
            "INSERT INTO idempotency(key, body, ids) VALUES (?, ?, ?)", (key, body, json.dumps(list(ids)))
        )

    def claim_anew(self, key: str, body: bytes, ids: Sequence[str]) -> None:
        """Remember under *key* what is there now, whatever was remembered before."""
        self._connection.execute(
            "INSERT INTO idempotency(key, body, ids) VALUES (?, ?, ?)"
            " ON CONFLICT(key) DO UPDATE SET body=excluded.body, ids=excluded.ids",
            (key, body, json.dumps(list(ids))),
        )

    def queue(self, task: str, ordinal: int, *, not_before: int = 0) -> None:
        """Leave work for later."""
        self._connection.execute(
            "INSERT OR IGNORE INTO jobs(task, ordinal, tries, not_before, problem) VALUES (?, ?, 0, ?, '')",
            (task, ordinal, not_before),
        )

    def queue_all(self, task: str, ordinals: Iterable[int]) -> None:
        """Leave the same work for later, for many rows."""
        queue_rows(self._connection, task, ordinals)

    def waiting(self, task: str, most: int) -> list[int]:
        """Ordinals with work of one sort, oldest first."""
        # There is no index by age. As many of the sort, whichever they are, bound how young the oldest are,
        # and work is mostly done in the order of age, so few rows are older than them.
        last = self._one(
            "SELECT max(number) FROM (SELECT number FROM jobs WHERE task=? AND not_before<=?"
            " ORDER BY ordinal LIMIT ?)",
            task,
            self.now,
            most,
        )
        rows = self._all(
            "SELECT ordinal FROM jobs NOT INDEXED WHERE number<=? AND task=? AND not_before<=?"
            f" AND {sound('jobs')} ORDER BY number LIMIT ?",
            -1 if last is None or last[0] is None else last[0],
            task,
            self.now,
            most,
        )
        return [int(ordinal) for (ordinal,) in rows]

    def done(self, task: str, ordinal: int) -> None:
        """Strike work off."""
        self._connection.execute("DELETE FROM jobs WHERE task=? AND ordinal=?", (task, ordinal))

    def tries(self, task: str, ordinal: int) -> int | None:
        """How often work was tried in vain; ``None`` when there is none to do."""
        row = self._one(
            f"SELECT tries FROM jobs WHERE task=? AND ordinal=? AND {sound('jobs')}", task, ordinal
        )
        return None if row is None else int(row[0])

    def put_off(self, task: str, ordinal: int, not_before: int, problem: str) -> None:
        """Count a try of some work that failed, and leave the work for later."""
        self._connection.execute(
            "UPDATE jobs SET tries=tries+1, not_before=?, problem=? WHERE task=? AND ordinal=?",
            (not_before, problem, task, ordinal),
        )

    def queue_again(self, task: str, ordinal: int) -> None:
        """Leave work for later as if it had never been tried."""
        self.done(task, ordinal)
        self.queue(task, ordinal)

    # -- enrichment; memories by the ordinals of their first versions

    def queue_unenriched(self, task: str) -> int:
        """Queue every memory that holds now, was never enriched and does not wait; returns how many."""
        rows = self._all(
            "INSERT OR IGNORE INTO jobs(task, ordinal, tries, not_before, problem)"
            " SELECT ?, m.root, 0, 0, '' FROM memories m WHERE m.expired_at=? AND m.valid_to>?"
            " AND m.state & ?=0 AND NOT EXISTS (SELECT 1 FROM enrichments e WHERE e.ordinal=m.root)"
            " ORDER BY m.root RETURNING number",
            task,
            FOREVER,
            self.next_instant(),
            CONSOLIDATED,
        )
        return len(rows)

    def mentioned(self, ordinal: int) -> set[int]:
        """Entities that a row speaks of, merged ones replaced by what they were merged into."""
        rows = self._all(
            f"SELECT entity FROM mentions WHERE ordinal=? AND {sound('mentions')} ORDER BY entity", ordinal
        )
        return {self.canonical(int(entity)) for (entity,) in rows}

    def statements(self, ordinal: int) -> set[tuple[str, int, str]]:
        """Relations that a row states: name, subject (what it was merged into), folded object."""
        rows = self._all(
            f"SELECT name, subject, object FROM relations WHERE ordinal=? AND {sound('relations')}", ordinal
        )
        return {(str(name), self.canonical(int(subject)), str(obj)) for name, subject, obj in rows}

    def relations(self, ordinal: int) -> list[tuple[str, int, str, bool]]:
        """Relations that a row states: name, subject's number, folded object, single-valued."""
        rows = self._all(
            "SELECT name, subject, object, single_valued FROM relations"
            f" WHERE ordinal=? AND {sound('relations')} ORDER BY 1, 2, 3",
            ordinal,
        )
        return [(str(name), int(subject), str(obj), bool(single)) for name, subject, obj, single in rows]

    def expansion_by_rules(self, ordinal: int) -> str:
        """The expansion of a row without what an enrichment added."""
        row = self._one(
            "SELECT base.expansion FROM memories m"
            f" JOIN enrichments e ON e.ordinal = m.root AND {sound('enrichments', 'e')}"
            " JOIN memories base ON base.id = m.id AND base.version = e.base WHERE m.ordinal=?",
            ordinal,
        )
        return str((row or self.columns(ordinal, "expansion"))[0])

    def enriched(self, root: int, version: int, model: str) -> None:
        """Note which version of a memory *model* was the last to add something to."""
        self._connection.execute(
            "INSERT INTO enrichments(ordinal, base, model) VALUES (?, ?, ?)"
            " ON CONFLICT(ordinal) DO UPDATE SET model=excluded.model",
            (root, version, model),
        )


# Condition: the source and its place in the raw text are what was written.
_SOURCE = f"{sound('episodes', 'e')} AND {sound('chunks', 'c')}"


@lru_cache(maxsize=8)
def _insert_into_memories(names: tuple[str, ...]) -> str:
    return f"INSERT INTO memories({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def _number(row: tuple[Any, ...] | None) -> int:
    if row is None:
        raise LookupError("the insert returned no number")
    return int(row[0])
