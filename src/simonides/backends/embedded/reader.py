"""Reads one bank at one change: the rows of one read transaction and the snapshot that belongs to them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.backends.embedded.activity import ActivityRows
from simonides.backends.embedded.entities import (
    ENTITY,
    read_entities_holding,
    read_entities_named,
    read_merges,
)
from simonides.backends.embedded.expiry import EXPIRIES, read_due
from simonides.backends.embedded.job_queue import count_jobs
from simonides.backends.embedded.maintenance import MOVE
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
from simonides.backends.embedded.reading import read_all_stored, read_candidates, read_memories
from simonides.backends.embedded.rows import (
    check_rows,
    decoded,
    in_order,
    keys,
    marks_for,
    node_of,
    parts_of,
    read_names,
    read_object,
    unverified,
    verified,
)
from simonides.index.graph import distinct
from simonides.records.enrichment import ENRICH, LONGEST_PAUSE, MOST_TRIES, Job
from simonides.records.entity import EntityCount, EntityMerge, all_count_as
from simonides.records.interval import FOREVER, HEAD, LAST_INSTANT, Interval, Precision, from_micros
from simonides.records.keyed_record import spaces_of
from simonides.records.kind import CONSOLIDATED
from simonides.records.memory import Move
from simonides.records.source import Source
from simonides.records.time_to_live import EXPIRED
from simonides.records.versions import CurrentVersion, Worded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw
    from numpy.typing import NDArray

    from simonides.index.snapshot import IndexSnapshot
    from simonides.records.memory import Memory
    from simonides.records.model_identity import EmbedderMigration, MissingVector, ModelIdentity
    from simonides.records.time_to_live import Due
    from simonides.records.versions import StoredVersion
    from simonides.storage.reader import Meta

_FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)

_SOURCE = (
    "e.text, c.start, c.stop, e.document, e.session, e.speaker, e.author, e.trust, e.recorded_at"
    f" FROM {keys('memories m')} JOIN {verified('chunks c')} ON c.number = m.chunk"
    f" JOIN {verified('episodes e', text=True)} ON e.number = c.episode"
)
_SIGNS = "+#@/. "
_WITHIN = (
    "{0}.folded >= r.value ->> 0 AND {0}.folded < r.value ->> 1"
    f" AND (rtrim({{0}}.folded, '{_SIGNS}') = r.value ->> 2"
    " OR (r.value ->> 3 <> '' AND instr({0}.folded, r.value ->> 3)))"
)
_USES = f"{verified('accesses a')} WHERE a.ordinal = m.root AND a.accessed_at <= ?1"
_CURRENT = f"""
SELECT m.ordinal, m.root, m.id, m.kind, m.layer, m.text, m.acl, m.project, m.tags, e.speaker, e.trust,
  m.salience, m.confidence, m.proof_count, m.state, m.valid_from, m.valid_to, r.ingested_at,
  m.occurred_from, m.occurred_to, m.signature,
  m.access_count + (SELECT count(*) FROM {_USES}), (SELECT max(a.accessed_at) FROM {_USES}),
  m.metadata, t.names
FROM {verified("memories m")} JOIN {verified("memories r")} ON r.ordinal = m.root
  JOIN {verified("label_sets t")} ON t.number = m.tags
  JOIN {verified("chunks c")} ON c.number = m.chunk JOIN {verified("episodes e")} ON e.number = c.episode
WHERE m.expired_at = ?2 ORDER BY m.root
"""


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
        rows: Iterable[tuple[Any, ...]] = self.connection.execute(
            f"SELECT ordinal FROM {keys('memories')} WHERE id > ? ORDER BY id, version", (memory,)
        )
        kept = (int(ordinal) for (ordinal,) in rows if keep[ordinal])
        return list(islice(kept, most))

    def versions(self, memory: str) -> list[Memory]:
        rows: Iterable[tuple[Any, ...]] = self.connection.execute(
            f"SELECT ordinal FROM {keys('memories')} WHERE id=? ORDER BY version", (memory,)
        )
        return self.memories([int(ordinal) for (ordinal,) in rows])

    def worded(self, memory: str) -> Worded | None:
        row = self.connection.execute(
            f"SELECT m.ordinal, {node_of('m')} FROM {verified('memories m')} WHERE m.id=? AND m.expired_at=?",
            (memory, FOREVER),
        ).fetchone()
        source = self.source(memory)
        if row is None or source is None:
            return None
        now, then = self.memories([int(row[0]), int(row[1])])
        begun, ended, key, first = self.connection.execute(
            f"SELECT m.valid_from_precision, m.valid_to_precision, m.content_key, r.ingested_at"
            f" FROM {verified('memories m')} JOIN {verified('memories r')} ON r.ordinal = m.root"
            " WHERE m.ordinal=?",
            (then.ordinal,),
        ).get
        return Worded(
            now,
            then,
            int(first),
            Interval(then.valid_from_micros, then.valid_from_micros, Precision(begun)),
            Interval(then.valid_to_micros, then.valid_to_micros, Precision(ended)),
            bytes(key),
            source,
        )

    def source(self, memory: str) -> Source | None:
        select = f"SELECT {_SOURCE} WHERE m.id=? ORDER BY m.version DESC LIMIT 1"
        row = self.connection.execute(select, (memory,)).fetchone()
        return None if row is None else _source(row)

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        found: dict[int, bytes] = {}
        for part in parts_of(ordinals):
            wanted = f"ordinal IN ({marks_for(part)})"
            select = f"SELECT ordinal, signature FROM {unverified('memories')} WHERE {wanted}"
            found.update(self.connection.execute(select, part))
        whole = b"".join(in_order(found, ordinals))
        signatures = np.frombuffer(whole, "<u4").astype(np.uint32, copy=False)
        return signatures.reshape(len(ordinals), -1 if whole else 0)

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        found: dict[int, Source] = {}
        for part in parts_of(ordinals):
            select = f"SELECT m.ordinal, {_SOURCE} WHERE m.ordinal IN ({marks_for(part)})"
            rows: Iterable[tuple[Any, ...]] = self.connection.execute(select, part)
            found.update((int(ordinal), _source(source)) for ordinal, *source in rows)
        return in_order(found, ordinals)

    def entities_named(self, folded: str, known_at: int) -> list[int]:
        return read_entities_named(self.connection, folded, known_at)

    def merged_entities(self, known_at: int) -> dict[int, int]:
        return read_merges(self.connection, known_at)

    def entities(self, rows: NDArray[np.int64], folded: str | None = None) -> list[EntityCount]:
        merged = all_count_as(read_merges(self.connection, HEAD))
        mentions = self.snapshot.graph.entities(rows)
        names, places = np.unique(mentions.second, return_inverse=True)
        wholes = np.array([merged.get(int(name), int(name)) for name in names], np.int64)
        # A memory that speaks of two merged entities mentions one. Each pair is one number: numpy compares
        # pairs as structured arrays, and these turn an interrupt into a TypeError.
        all_rows = max(self.snapshot.rows, 1)
        pairs = distinct(wholes[places] * all_rows + mentions.first)
        entities, times = np.unique(pairs // all_rows, return_counts=True)
        counts = dict(zip(entities.tolist(), times.tolist(), strict=True))
        if folded is not None:
            bearers = set(read_entities_holding(self.connection, folded))
            # What was merged counts by its own name only where a row mentions it: others may not know of it.
            bearers |= {merged.get(name, name) for name in bearers.intersection(names.tolist())}
            counts = {entity: count for entity, count in counts.items() if entity in bearers}
        return sorted(
            self.called(counts, HEAD), key=lambda entity: (-entity.mentions, entity.name, entity.number)
        )

    def called(self, mentions: Mapping[int, int], known_at: int) -> list[EntityCount]:
        found = []
        for entity, count in sorted(mentions.items()):
            row = self.connection.execute(
                f"SELECT name, kind, qualifier FROM {verified('entities')} WHERE number=?", (entity,)
            ).fetchone()
            if row is not None:
                others = self.connection.execute(
                    f"SELECT name FROM {verified('aliases')} WHERE entity=? AND added_at<=? ORDER BY name",
                    (entity, known_at),
                )
                aliases = tuple(str(name) for (name,) in others)
                found.append(EntityCount(entity, str(row[0]), str(row[1]), str(row[2]), aliases, count))
        return found

    def merges(self, entities: Sequence[int], known_at: int) -> list[EntityMerge]:
        rows: Iterable[tuple[Any, ...]] = self.connection.execute(
            f"SELECT m.number, m.entity, e.name, m.merged_at FROM json_each(?) j"
            f" CROSS JOIN {verified('merges m')} ON m.entity = j.value"
            f" JOIN {verified('entities e')} ON e.number = m.entity"
            " WHERE m.merged_at<=? AND m.undone_at=? ORDER BY m.number",
            (json.dumps(entities), known_at, FOREVER),
        )
        return [EntityMerge(int(n), int(entity), str(name), _moment(at)) for n, entity, name, at in rows]

    def relations_between(self, rows: Sequence[int], known_at: int) -> list[tuple[str, int, int]]:
        found: Iterable[tuple[Any, ...]] = self.connection.execute(
            f"SELECT DISTINCT r.name, r.subject, e.number FROM json_each(?1) j"
            f" CROSS JOIN {verified('relations r')} ON r.ordinal = j.value"
            f" CROSS JOIN {keys('mentions n')} ON n.ordinal = r.ordinal"
            f" CROSS JOIN {keys('entities e')} ON e.number = n.entity"
            f" WHERE e.folded = r.object OR EXISTS (SELECT 1 FROM {verified('aliases a')}"
            "  WHERE a.folded = r.object AND a.entity = e.number AND a.added_at<=?2) ORDER BY 1, 2, 3",
            (json.dumps(rows), known_at),
        )
        return [(str(name), int(subject), int(obj)) for name, subject, obj in found]

    def names(self, after: int, readers: Sequence[str] | None) -> tuple[list[str], int]:
        rows: list[tuple[Any, ...]] = self.connection.execute(
            f"SELECT e.number, e.name, s.names FROM {ENTITY} WHERE e.number > ?1"
            f" UNION ALL SELECT e.number, a.name, s.names FROM {ENTITY}"
            f" JOIN {verified('aliases a')} ON a.entity = e.number WHERE e.number > ?1 ORDER BY 1, 2",
            (after,),
        ).fetchall()
        return _known(rows, readers), int(rows[-1][0]) if rows else after

    def names_within(
        self, ranges: Sequence[tuple[str, str, str, str]], readers: Sequence[str] | None
    ) -> list[str]:
        rows: list[tuple[Any, ...]] = self.connection.execute(
            f"SELECT e.number, e.name, s.names FROM json_each(?1) r CROSS JOIN {verified('entities e')}"
            f" JOIN {verified('label_sets s')} ON s.number = e.scope WHERE {_WITHIN.format('e')}"
            f" UNION SELECT e.number, a.name, s.names FROM json_each(?1) r CROSS JOIN {verified('aliases a')}"
            f" JOIN {verified('entities e')} ON e.number = a.entity"
            f" JOIN {verified('label_sets s')} ON s.number = e.scope WHERE {_WITHIN.format('a')}"
            " ORDER BY 1, 2",
            (json.dumps(ranges),),
        ).fetchall()
        return _known(rows, readers)

    def any_name_within(self, ranges: Iterable[tuple[str, str]]) -> bool:
        folded = "folded >= r.value ->> 0 AND folded < r.value ->> 1"
        found = self.connection.execute(
            f"SELECT 1 FROM json_each(?1) r WHERE EXISTS (SELECT 1 FROM {keys('entities')} WHERE {folded})"
            f" OR EXISTS (SELECT 1 FROM {keys('aliases')} WHERE {folded}) LIMIT 1",
            (json.dumps(list(ranges)),),
        ).fetchone()
        return found is not None

    def names_changed(self) -> int:
        return int(
            self.connection.execute(
                "SELECT coalesce(max(sequence), 0) FROM changes WHERE operation IN ('name', 'erase')"
            ).get
        )

    def text_of(self, ordinal: int) -> str:
        select = f"SELECT text FROM {verified('memories')} WHERE ordinal=?"
        return str(self.connection.execute(select, (ordinal,)).get)

    def observations(self) -> list[tuple[StoredVersion, Mapping[str, Any]]]:
        condition = "state & ? AND expired_at=? ORDER BY root"
        rows = read_all_stored(self.connection, condition, CONSOLIDATED, FOREVER)
        return [(row, read_object(row.metadata, f"memory {row.id}")) for row in rows]

    def current_versions(self, now: int) -> Iterator[CurrentVersion]:
        rows: Iterable[tuple[Any, ...]] = self.connection.execute(_CURRENT, (now, FOREVER))
        for row in rows:
            occurred_from, occurred_to, signature, accesses, last, metadata, tags = row[18:]
            occurred = None if occurred_from is None else (int(occurred_from), int(occurred_to))
            keyed = metadata != "{}" and bool(spaces_of(read_object(metadata), read_names(tags)))
            values: list[Any] = [*row[:18], occurred, bytes(signature), int(accesses), last, keyed]
            yield CurrentVersion(*values)

    def current_relations(self) -> list[tuple[int, str, int, str, bool]]:
        rows: Iterable[tuple[Any, ...]] = self.connection.execute(
            f"SELECT m.root, r.name, r.subject, r.object, r.single_valued FROM {verified('relations r')}"
            f" JOIN {verified('memories m')} ON m.ordinal = r.ordinal WHERE m.expired_at=? AND m.state & ?=0"
            " ORDER BY r.name, r.subject, r.object, m.root",
            (FOREVER, CONSOLIDATED),
        )
        return [
            (int(root), str(name), int(subject), str(obj), bool(one))
            for root, name, subject, obj, one in rows
        ]

    def single_valued_relations(self) -> list[tuple[int, str, int, str]]:
        rows: Iterable[tuple[Any, ...]] = self.connection.execute(
            f"SELECT ordinal, name, subject, object FROM {verified('relations')} WHERE single_valued=1"
            " ORDER BY ordinal, name, subject, object"
        )
        return [(int(ordinal), str(name), int(subject), str(obj)) for ordinal, name, subject, obj in rows]

    def superseded(self, after: int, until: int) -> list[tuple[int, str]]:
        rows = self.connection.execute(
            f"SELECT ordinal, superseded_by FROM {verified('memories')} WHERE superseded_by<>''"
            " AND expired_at=? AND valid_to<=? AND valid_to>? ORDER BY valid_to DESC, ordinal DESC",
            (FOREVER, until, after),
        ).fetchall()
        return [(int(str(ordinal)), str(successor)) for ordinal, successor in rows]

    @property
    def activity(self) -> ActivityRows:
        return ActivityRows(self.connection)

    def evidence(self, known_at: int) -> dict[int, dict[int, str]]:
        found: dict[int, dict[int, str]] = {}
        for observation, source, stance in self.connection.execute(
            f"SELECT observation, source, stance FROM {verified('evidence')} WHERE known_from<=?1"
            " AND ?1<known_to ORDER BY observation, source",
            (known_at,),
        ):
            found.setdefault(int(observation), {})[int(source)] = str(stance)
        return found

    def moves(self, memory: str | None = None, *, actions: Sequence[str] = ()) -> list[Move]:
        where, values = ["1"], list[Any]()
        if memory is not None:
            where.append(f"v.ordinal = (SELECT root FROM {keys('memories')} WHERE id=? LIMIT 1)")
            values.append(memory)
        if actions:
            where.append(f"v.action IN ({marks_for(actions)})")
            values += actions
        rows = self.connection.execute(f"{MOVE} WHERE {' AND '.join(where)} ORDER BY v.number", values)
        return [Move(*row) for row in rows]

    def due(self, now: int, most: int | None = None) -> list[Due]:
        return read_due(self.connection, now, most)

    def roots_due(self, moment: int, *tasks: str) -> list[int]:
        rows = self.connection.execute(
            f"SELECT ordinal FROM {verified('jobs')} WHERE {EXPIRIES}"
            f" AND task IN ({marks_for(tasks)}) AND not_before<=?",
            (*tasks, moment),
        )
        return [int(root) for (root,) in rows]

    def moments_ended(self, moment: int) -> list[tuple[int, int]]:
        rows = self.connection.execute(
            f"SELECT ordinal, not_before FROM {verified('jobs')} WHERE {EXPIRIES}"
            " AND task=? AND not_before<=?",
            (EXPIRED, moment),
        )
        return [(int(root), int(ended)) for root, ended in rows]

    def due_jobs(self, due: int, most: int) -> list[Job]:
        rows: list[tuple[Any, ...]] = self.connection.execute(
            f"SELECT j.ordinal, j.tries, (SELECT now.ordinal FROM {verified('memories now')}"
            " WHERE now.id = first.id AND now.expired_at = ?)"
            f" FROM {verified('jobs j')} JOIN {keys('memories first')} ON first.ordinal = j.ordinal"
            " WHERE j.task=? AND (j.not_before<=? OR j.not_before>?) AND j.tries<?"
            " ORDER BY j.number LIMIT ?",
            (FOREVER, ENRICH, due, due + LONGEST_PAUSE, MOST_TRIES, most),
        ).fetchall()
        return [Job(int(root), int(tries), None if now is None else int(now)) for root, tries, now in rows]

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


def _source(row: Sequence[Any]) -> Source:
    text, start, stop, document, session, speaker, author, trust, recorded_at = row
    return Source(text, start, stop, document, session, speaker, author, trust, _moment(recorded_at))


def _moment(recorded_at: object) -> datetime:
    # An earlier version imported recorded times that no calendar has.
    return decoded(lambda value: from_micros(min(value, LAST_INSTANT)) or _FIRST_MOMENT, recorded_at)


def _known(rows: Iterable[tuple[Any, str, str]], readers: Sequence[str] | None) -> list[str]:
    """The names that all *readers* may know of, of rows of an entity's number, name and scope."""
    return [
        str(name)
        for _, name, scope in rows
        if readers is None or scope == "[]" or (readers and set(readers) <= set(read_names(scope)))
    ]
