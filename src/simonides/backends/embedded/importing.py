"""Read an export into a bank: exactly into an empty one, what is missing into any other.

An empty bank takes on the identity of the exported one, with a new epoch; its memories keep ids, stamps,
versions, vectors and terms. A memory whose id is there already is left as it is, so a second import changes
nothing, and an interrupted import goes on where it stopped. A batch is one transaction, and holds a memory
with all its versions and sources. Names meet by folded form, readers and qualifier. Every line is validated
before it is written, since anyone may have made the file. Cost: linear, about 0.2 ms per memory; memory 8
bytes per source and name, and one batch.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import apsw

from simonides.backends.embedded.accesses import ADD_ACCESS
from simonides.backends.embedded.change_log import ADD, EXPIRE, LINK, read_meta
from simonides.backends.embedded.checksums import row_checksum
from simonides.backends.embedded.connection import write_transaction
from simonides.backends.embedded.encryption import check_room
from simonides.backends.embedded.imported_names import ImportedNames, ImportSession
from simonides.backends.embedded.models import (
    ADD_LINK,
    ADD_SPARSE_ENCODER,
    SEMANTIC,
    begin,
    end,
    number_of,
    read_model,
    read_run,
    read_sparse_encoder,
)
from simonides.backends.embedded.reanalysis import analysed
from simonides.backends.embedded.relations import write_statements
from simonides.backends.embedded.rows import insert_into, keys, node_of, verified
from simonides.errors import EmbedderMismatchError, InputError
from simonides.records.interval import FOREVER
from simonides.records.model_identity import ModelIdentity
from simonides.records.receipt import Counts, Restored
from simonides.storage.export_fields import (
    ACCESS,
    ALIAS,
    CHUNK,
    EMBEDDER,
    ENRICHMENT,
    ENTITY,
    EPISODE,
    EVIDENCE,
    JOB,
    KEY,
    LINK_FIELDS,
    LINK_VERSIONS,
    MEMORY,
    MERGE,
    MOVE,
    RELATION,
    SPARSE_ENCODER,
    TOKENS,
    VECTOR,
    check_recorded_times,
    read_fields,
)
from simonides.storage.export_format import EPISODE_COLUMNS, check_file, read_batches

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from simonides.backends.embedded.auditing import Auditor
    from simonides.backends.embedded.connection import Connections
    from simonides.protocols import Analyser

LARGEST_BATCH = 2_000
"""Lines per transaction; more only where one memory needs them."""

_HEADER_AND_END = 2
_PARTS = (
    "vectors", "tokens", "sparse", "mentions", "relations", "jobs", "enrichments", "accesses", "moves"
)  # fmt: skip
_ADD_EPISODE = insert_into("episodes", ", ".join(EPISODE_COLUMNS)) + " RETURNING number"
_ADD_CHUNK = insert_into("chunks", "episode, start, stop") + " RETURNING number"


def import_rows(
    connections: Connections,
    path: Path,
    analyser: Analyser,
    *,
    epoch: str,
    now: int,
    after_batch: Callable[[int, int], None],
    find_auditor: Callable[[apsw.Connection], Auditor | None],
) -> Restored:
    """Import an export.

    Args:
        connections: of the bank.
        path: the file.
        analyser: computes terms again when the file's are those of another version.
        epoch: the bank's next one, should it be empty.
        now: microseconds UTC.
        after_batch: told (lines done, lines) after each transaction.
        find_auditor: returns what adds a transaction to the audit log.

    Raises:
        InputError: the file is no export, of another version, or damaged; nothing of the batch at fault was
            stored.
        EmbedderMismatchError: the bank's vectors were made by another embedder; nothing was stored.
    """
    header, lines = check_file(path, now)
    run = _Import(path, header, analyser, epoch, now)
    # An export without a record, too, hands on the identity of its bank.
    batches = read_batches(path, LARGEST_BATCH) if lines > _HEADER_AND_END else iter([[]])
    for batch in batches:
        with write_transaction(connections) as connection:
            began = read_meta(connection).sequence
            run.store(connection, batch)
            auditor = find_auditor(connection)
            if auditor is not None:
                auditor.append(connection, read_meta(connection), "", "import", now, began=began)
            if connections.key is not None:
                check_room(connection, run.next_ordinal, connections.path)
        after_batch(batch[-1][0] if batch else lines, lines)
    return Restored(Counts(**run.added), run.present)


class _Import:
    """One import: where the file's numbers lie in the bank, and what was added so far."""

    def __init__(self, path: Path, header: dict[str, Any], analyser: Analyser, epoch: str, now: int) -> None:
        self._session = ImportSession(now)
        self._names = ImportedNames(self._session)
        self.present = 0
        self._path = path
        self._header = header
        self._analyser = analyser
        self._epoch = epoch
        self._started = False
        self._embedders: list[tuple[int, int]] = []
        # Places in the file → numbers in the bank; 0 = not there yet. Lines that wait for their memory.
        self._episodes = array("q", [0])
        self._chunks = array("q", [0])
        self._waiting: dict[tuple[str, int], dict[str, Any]] = {}
        self._decided = ("", False)

    @property
    def added(self) -> Counter[str]:
        """How many rows of each kind were added so far."""
        return self._session.added

    @property
    def next_ordinal(self) -> int:
        """The ordinal of the next version."""
        return self._session.meta.next_ordinal

    def store(self, connection: apsw.Connection, batch: Sequence[tuple[int, dict[str, Any]]]) -> None:
        """Write one batch in an open write transaction."""
        self._session.begin(connection)
        self._names.begin()
        number = 1
        linked: dict[int, None] = {}
        try:
            if not self._started:
                self._start()
                self._started = True
            for number, record in batch:  # noqa: B007 used in the error below
                self._record(record, linked)
        except KeyError as error:
            raise InputError(f"{self._path}:{number}", f"lacks {error.args[0]!r}") from None
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise InputError(f"{self._path}:{number}", str(error)) from None
        except (apsw.ConstraintError, apsw.MismatchError) as error:
            raise InputError(f"{self._path}:{number}", f"does not fit the bank ({error})") from None
        for root in linked:
            self._session.log(LINK, root, self._session.now)
        self._session.write_log()

    def _record(self, record: dict[str, Any], linked: dict[int, None]) -> None:
        check_recorded_times(record, self._session.now)
        match record.get("record"):
            case "entity":
                self._names.add(read_fields(record, ENTITY))
            case "alias":
                self._names.add_alias(read_fields(record, ALIAS))
            case "merge":
                self._names.add_merge(read_fields(record, MERGE))
            case "episode":
                self._wait("episode", self._episodes, read_fields(record, EPISODE))
            case "chunk":
                self._wait("chunk", self._chunks, read_fields(record, CHUNK))
            case "memory":
                self._memory(read_fields(record, MEMORY))
            case "link":
                versions = LINK_VERSIONS if LINK_VERSIONS.keys() & record.keys() else {}
                self._link(read_fields(record, {**LINK_FIELDS, **versions}), linked)
            case "evidence":
                self._evidence(read_fields(record, EVIDENCE))
            case "key":
                self._key(read_fields(record, KEY))
            case other:
                raise ValueError(f"holds a record of the unknown sort {other!r}")

    # -- the bank as a whole

    def _start(self) -> None:
        tables = ("memories", "entities", "idempotency", "episodes")
        if not self._session.one(
            " UNION ALL ".join(f"SELECT 1 FROM {keys(table)}" for table in tables) + " LIMIT 1"
        ):
            bank = self._header["bank"]
            if not isinstance(bank, str) or not bank.isalnum():
                raise ValueError("names no bank")
            self._session.meta = replace(self._session.meta, bank=bank, epoch=self._epoch, embedder=None)
            self._session.run("UPDATE meta SET bank=?, epoch=?, embedder=NULL", bank, self._epoch)
            self._session.run("DELETE FROM sparse_encoder")
            end(self._session.connection)
        self._use_sparse()
        current = self._header["embedder"]
        following = self._header.get("reembedding")
        for place, embedder in enumerate(self._header["embedders"]):
            found = read_fields({"record": "embedder", **embedder}, EMBEDDER)
            number = self._embedder(found["fingerprint"], found["name"], found["dimension"])
            self._embedders.append((number, found["dimension"]))
            if place == current:
                self._use_embedder(number, found["name"])
            elif place == following and read_run(self._session.connection) is None:
                begin(
                    self._session.connection, read_model(self._session.connection, number), self._session.now
                )

    def _use_sparse(self) -> None:
        stated = self._header.get("sparse_encoder")
        if stated is None:
            return
        found = read_fields({"record": "sparse_encoder", **stated}, SPARSE_ENCODER)
        fingerprint, name = read_sparse_encoder(self._session.connection)
        if not fingerprint:
            self._session.run(ADD_SPARSE_ENCODER, 1, found["fingerprint"], found["name"])
        elif fingerprint != found["fingerprint"]:
            raise EmbedderMismatchError(
                f"{self._path} holds sparse terms of {found['name']!r}, the bank those of another encoder "
                f"({name!r}); import it into an empty bank"
            )

    def _sparse(self, ordinal: int, terms: bytes) -> None:
        if self._session.one(f"SELECT 1 FROM {keys('sparse_encoder')}") is None:
            raise ValueError("has sparse terms, and the header names no sparse encoder")
        self._session.add("sparse", insert_into("sparse_terms", "ordinal, terms"), ordinal, terms)

    def _embedder(self, fingerprint: str, name: str, dimension: int) -> int:
        return number_of(self._session.connection, ModelIdentity(name, dimension, fingerprint))

    def _use_embedder(self, number: int, name: str) -> None:
        if self._session.meta.embedder is None:
            self._session.meta = replace(self._session.meta, embedder=number)
            # At once: a row's checksum says whether it has a vector of the embedder that is stored.
            self._session.run("UPDATE meta SET embedder=?", number)
        elif self._session.meta.embedder != number:
            mine = read_model(self._session.connection, self._session.meta.embedder).name
            raise EmbedderMismatchError(
                f"{self._path} holds vectors of {name!r}, the bank those of {mine!r}; "
                "import it into an empty bank"
            )

    # -- memories

    def _wait(self, kind: str, numbers: array[int], found: dict[str, Any]) -> None:
        if found["number"] != len(numbers):
            raise ValueError("is out of order")
        numbers.append(0)
        self._waiting[kind, found["number"]] = found

    def _memory(self, found: dict[str, Any]) -> None:
        memory, version = found["id"], found["version"]
        if memory != self._decided[0]:
            there = bool(self._session.one(f"SELECT 1 FROM {keys('memories')} WHERE id=? LIMIT 1", memory))
            self._decided = (memory, there)
            self._session.added["memories"] += not there
            self.present += there
        if self._decided[1]:
            self._note_source(found["chunk"], memory, version)
        else:
            self._insert(found)

    def _note_source(self, place: int, memory: str, version: int) -> None:
        """Later memories of the file may share the source of one that the bank has already."""
        row = self._session.one(
            f"SELECT c.number, c.episode FROM {keys('memories m')} JOIN {keys('chunks c')}"
            " ON c.number = m.chunk"
            " WHERE m.id=? AND m.version=?",
            memory,
            version,
        )
        waiting = self._waiting.pop(("chunk", place), None) if row else None
        if row is None or waiting is None:
            return
        self._chunks[place] = int(row[0])
        if self._waiting.pop(("episode", waiting["episode"]), None):
            self._episodes[waiting["episode"]] = int(row[1])

    def _chunk(self, place: int) -> int:
        waiting = self._waiting.pop(("chunk", place), None)
        if waiting is not None:
            row = self._session.one(
                _ADD_CHUNK, self._episode(waiting["episode"]), waiting["start"], waiting["stop"]
            )
            self._chunks[place] = int(row[0]) if row else 0
            self._session.added["chunks"] += 1
        if not 0 < place < len(self._chunks) or not self._chunks[place]:
            raise ValueError(f"speaks of chunk {place}, which is not in the file before it")
        return self._chunks[place]

    def _episode(self, place: int) -> int:
        waiting = self._waiting.pop(("episode", place), None)
        if waiting is not None:
            row = self._session.one(_ADD_EPISODE, *(waiting[name] for name in EPISODE_COLUMNS))
            self._episodes[place] = int(row[0]) if row else 0
            self._session.added["episodes"] += 1
        if not 0 < place < len(self._episodes) or not self._episodes[place]:
            raise ValueError(f"speaks of episode {place}, which is not in the file before it")
        return self._episodes[place]

    def _insert(self, found: dict[str, Any]) -> None:
        row = dict(found)
        parts = {name: row.pop(name) for name in _PARTS}
        _check_intervals(row)
        ordinal = self._session.meta.next_ordinal
        select = f"SELECT ordinal FROM {keys('memories')} WHERE id=? AND version=1"
        first = self._session.one(select, row["id"])
        if (first is None) != (row["version"] == 1):
            raise ValueError("is no next version of its memory")
        row |= {
            "ordinal": ordinal,
            "root": int(first[0]) if first else ordinal,
            "chunk": self._chunk(row["chunk"]),
            "path": self._session.label(row["path"]),
            "project": self._session.label(row["project"]),
            "tags": self._session.label_set(tuple(row["tags"])),
            "acl": self._session.label_set(tuple(row["acl"])),
        }
        if self._header["analyser"] != self._session.meta.analyser:
            row["terms"] = analysed(row, self._analyser)
        read = [self._vector(vector) for vector in parts["vectors"]]
        embedded = any(number == self._session.meta.embedder for number, *_ in read)
        row["digest"] = row_checksum(row, embedded=embedded)
        self._session.run(insert_into("memories", ", ".join(row)), *row.values())
        self._session.added["versions"] += 1
        for vector in read:
            insert = insert_into("vectors", "ordinal, embedder, scale, codes")
            self._session.add("vectors", insert, ordinal, *vector)
        for stated in parts["tokens"]:
            self._tokens(ordinal, read_fields(stated, TOKENS))
        if parts["sparse"]:
            self._sparse(ordinal, parts["sparse"])
        self._hang(ordinal, parts)
        if row["expired_at"] == FOREVER:
            self._state(ordinal, row["text"], row["chunk"])
        stamp, end = row["ingested_at"], row["expired_at"]
        newest = self._session.newest_of(stamp, end)
        self._session.log(ADD, ordinal, stamp, next_ordinal=ordinal + 1, last_ingested=newest)
        if end != FOREVER:
            self._session.log(EXPIRE, ordinal, end)

    def _state(self, ordinal: int, text: str, chunk: int) -> None:
        """Store the statements of a text; an export leaves them out, since they follow from the text."""
        row = self._session.one(
            f"SELECT e.speaker FROM {verified('chunks c')} JOIN {verified('episodes e')}"
            " ON e.number = c.episode"
            " WHERE c.number=?",
            chunk,
        )
        write_statements(self._session.connection, ordinal, text, str(row[0]) if row else "")

    def _hang(self, ordinal: int, parts: dict[str, list[Any]]) -> None:
        """Write what belongs to one version."""
        add = self._session.add
        for place in parts["mentions"]:
            add("mentions", insert_into("mentions", "ordinal, entity"), ordinal, self._names.number_of(place))
        for relation in parts["relations"]:
            stated = read_fields(relation, RELATION)
            stated["subject"] = self._names.number_of(stated["subject"])
            self._add_fields("relations", ordinal, stated)
        for job in parts["jobs"]:
            self._add_fields("jobs", ordinal, read_fields(job, JOB))
        for enrichment in parts["enrichments"]:
            self._add_fields("enrichments", ordinal, read_fields(enrichment, ENRICHMENT))
        for access in parts["accesses"]:
            use = read_fields(access, ACCESS)
            principal = self._session.label(use["principal"])
            add("accesses", ADD_ACCESS, ordinal, use["at"], principal)
        for move in parts["moves"]:
            self._add_fields("moves", ordinal, read_fields(move, MOVE))

    def _add_fields(self, table: str, ordinal: int, fields: dict[str, Any]) -> None:
        insert = insert_into(table, ", ".join(("ordinal", *fields)))
        self._session.add(table, insert, ordinal, *fields.values())

    def _vector(self, vector: dict[str, Any]) -> tuple[int, float, bytes]:
        found = read_fields(vector, VECTOR)
        if not 0 <= found["embedder"] < len(self._embedders):
            raise ValueError(f"has a vector of embedder {found['embedder']}, which is not in the header")
        number, dimension = self._embedders[found["embedder"]]
        if len(found["codes"]) != dimension:
            raise ValueError(f"has a vector of {len(found['codes'])} numbers, its embedder makes {dimension}")
        return number, found["scale"], found["codes"]

    def _tokens(self, ordinal: int, found: dict[str, Any]) -> None:
        if not 0 <= found["embedder"] < len(self._embedders):
            raise ValueError(f"has token codes of embedder {found['embedder']}, which is not in the header")
        number, dimension = self._embedders[found["embedder"]]
        codes = found["codes"]
        if len(codes) % -(-dimension // 8):
            raise ValueError(
                f"has {len(codes)} bytes of token codes, its embedder makes {-(-dimension // 8)} a token"
            )
        insert = insert_into("token_codes", "ordinal, embedder, codes")
        self._session.add("tokens", insert, ordinal, number, codes)

    # -- links and keys

    def _link(self, found: dict[str, Any], linked: dict[int, None]) -> None:
        self._roots(found, "source", "target", "links a memory that is not in the file")
        ends = [
            self._session.one(
                f"SELECT {node_of('m')} FROM {keys('memories m')} WHERE m.id=? AND m.version=?",
                found[end],
                found.get(f"{end}_version", 1),
            )
            for end in ("source", "target")
        ]
        if ends[0] is None or ends[1] is None:
            # The memory was here already, and never got these words.
            return
        source, target = int(ends[0][0]), int(ends[1][0])
        place, embedder = found["embedder"], 0
        if place is not None:
            if found["kind"] != SEMANTIC:
                raise ValueError(f"is {found['kind']}, which vectors find no links of")
            if place >= len(self._embedders):
                raise ValueError(f"was found by embedder {place}, which is not in the header")
            embedder = self._embedders[place][0]
        values = source, target, found["kind"], found["weight"], embedder
        if source != target and self._session.add("links", ADD_LINK, *values):
            linked[source] = None

    def _evidence(self, found: dict[str, Any]) -> None:
        ends = self._roots(found, "observation", "source", "rests on a memory that is not in the file")
        columns = "observation, source, stance, known_from, known_to"
        insert = insert_into("evidence", columns, "INSERT OR IGNORE")
        self._session.add("evidence", insert, *ends, found["stance"], found["known_from"], found["known_to"])

    def _roots(self, found: dict[str, Any], one: str, other: str, problem: str) -> tuple[int, int]:
        """The first versions of the two memories that a record joins."""
        select = f"SELECT root FROM {keys('memories')} WHERE id=? LIMIT 1"
        first, second = self._session.one(select, found[one]), self._session.one(select, found[other])
        if first is None or second is None:
            raise ValueError(problem)
        return int(first[0]), int(second[0])

    def _key(self, found: dict[str, Any]) -> None:
        insert = insert_into("idempotency", "key, body, ids", "INSERT OR IGNORE")
        self._session.add("keys", insert, found["key"], found["body"], json.dumps(found["ids"]))


def _check_intervals(row: dict[str, Any]) -> None:
    """What lies in two fields must fit together."""
    if row["valid_from"] >= row["valid_to"]:
        raise ValueError("is valid until before it begins to be")
    occurred = [row[name] for name in ("occurred_from", "occurred_to", "occurred_precision")]
    if any(value is None for value in occurred) != all(value is None for value in occurred):
        raise ValueError("says when it happened by halves")
    if occurred[0] is not None and occurred[0] > occurred[1]:
        raise ValueError("happened until before it began")
