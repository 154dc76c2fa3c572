"""Read an export into a bank: exactly into an empty one, what is missing into any other.

An empty bank takes on the identity of the exported one (and a new epoch); its memories keep their ids,
stamps, versions, vectors and terms. In any bank a memory whose id is there already is left as it is, so a
second import changes nothing, and an import that was interrupted goes on where it stopped. Every batch is
one transaction, and a memory with all its versions and sources lies inside one. Names meet by folded form,
readers and qualifier. Whatever a line says is checked before it is written: an export is a file that anyone
may have made. Cost: linear, about 0.2 ms per memory; memory 8 bytes per source and name, and one batch.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import apsw

from simonides.backends.embedded.change_log import (
    ADD,
    EXPIRE,
    LINK,
    read_meta,
    write_counters,
)
from simonides.backends.embedded.connection import write_transaction
from simonides.backends.embedded.digest import row_digest
from simonides.backends.embedded.encryption import check_room
from simonides.backends.embedded.imported_names import ImportedNames, ImportSession
from simonides.backends.embedded.labels import label_code, label_set_code
from simonides.backends.embedded.nodes import node_of
from simonides.backends.embedded.reanalysis import analysed
from simonides.backends.embedded.reembedding import (
    SEMANTIC,
    begin,
    end,
    number_of,
    read_model,
    read_run,
)
from simonides.backends.embedded.relations import write_statements
from simonides.backends.embedded.seals import sound
from simonides.errors import EmbedderMismatchError, InputError
from simonides.records.interval import BEGINNING, CLOCK_SKEW, FOREVER
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
_EPISODE = ", ".join(EPISODE_COLUMNS)
_MARKS = ", ".join("?" * len(EPISODE_COLUMNS))


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
        analyser: makes terms anew when the file's are those of another version.
        epoch: the bank's next one, should it be empty.
        now: microseconds UTC.
        after_batch: told (lines done, lines) after each transaction.
        find_auditor: asked in each transaction, by its connection, for who seals its row of the audit log;
            ``None`` = nobody.

    Raises:
        InputError: the file is no export, of another version, or damaged; nothing of the batch at
            fault was stored.
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
                check_room(connection, connections.path)
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

    def store(self, connection: apsw.Connection, batch: Sequence[tuple[int, dict[str, Any]]]) -> None:
        """Write one batch in an open write transaction."""
        self._session.connection, self._session.meta = connection, read_meta(connection)
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
        write_counters(connection, self._session.meta)

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
            " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in tables) + " LIMIT 1"
        ):
            bank = self._header["bank"]
            if not isinstance(bank, str) or not bank.isalnum():
                raise ValueError("names no bank")
            self._session.meta = replace(self._session.meta, bank=bank, epoch=self._epoch, embedder=None)
            self._session.connection.execute(
                "UPDATE meta SET bank=?, epoch=?, embedder=NULL", (bank, self._epoch)
            )
            self._session.connection.execute("DELETE FROM sparse_encoder")
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
        row = self._session.one(
            f"SELECT fingerprint, name FROM sparse_encoder WHERE {sound('sparse_encoder')}"
        )
        if row is None:
            insert = "INSERT INTO sparse_encoder(one, fingerprint, name) VALUES (1, ?, ?)"
            self._session.connection.execute(insert, (found["fingerprint"], found["name"]))
        elif row[0] != found["fingerprint"]:
            raise EmbedderMismatchError(
                f"{self._path} holds sparse terms of {found['name']!r}, the bank those of another encoder "
                f"({row[1]!r}); import it into an empty bank"
            )

    def _sparse(self, ordinal: int, terms: bytes) -> None:
        if self._session.one("SELECT 1 FROM sparse_encoder") is None:
            raise ValueError("has sparse terms, and the header names no sparse encoder")
        insert = "INSERT INTO sparse_terms(ordinal, terms) VALUES (?, ?)"
        self._session.add("sparse", insert, ordinal, terms)

    def _embedder(self, fingerprint: str, name: str, dimension: int) -> int:
        return number_of(self._session.connection, ModelIdentity(name, dimension, fingerprint))

    def _use_embedder(self, number: int, name: str) -> None:
        if self._session.meta.embedder is None:
            self._session.meta = replace(self._session.meta, embedder=number)
        elif self._session.meta.embedder != number:
            (mine,) = self._session.one(
                "SELECT name FROM embedders WHERE number=?", self._session.meta.embedder
            ) or ("",)
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
            there = self._session.one("SELECT 1 FROM memories WHERE id=? LIMIT 1", memory) is not None
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
            "SELECT c.number, c.episode FROM memories m JOIN chunks c ON c.number = m.chunk"
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
                "INSERT INTO chunks(episode, start, stop) VALUES (?, ?, ?) RETURNING number",
                self._episode(waiting["episode"]),
                waiting["start"],
                waiting["stop"],
            )
            self._chunks[place] = int(row[0]) if row else 0
            self._session.added["chunks"] += 1
        if not 0 < place < len(self._chunks) or not self._chunks[place]:
            raise ValueError(f"speaks of chunk {place}, which is not in the file before it")
        return self._chunks[place]

    def _episode(self, place: int) -> int:
        waiting = self._waiting.pop(("episode", place), None)
        if waiting is not None:
            row = self._session.one(
                f"INSERT INTO episodes({_EPISODE}) VALUES ({_MARKS}) RETURNING number",
                *(waiting[name] for name in EPISODE_COLUMNS),
            )
            self._episodes[place] = int(row[0]) if row else 0
            self._session.added["episodes"] += 1
        if not 0 < place < len(self._episodes) or not self._episodes[place]:
            raise ValueError(f"speaks of episode {place}, which is not in the file before it")
        return self._episodes[place]

    def _insert(self, found: dict[str, Any]) -> None:
        row = dict(found)
        hanging = {
            name: row.pop(name)
            for name in (
                "vectors",
                "tokens",
                "sparse",
                "mentions",
                "relations",
                "jobs",
                "enrichments",
                "accesses",
                "moves",
            )
        }
        _check_intervals(row)
        ordinal = self._session.meta.next_ordinal
        first = self._session.one("SELECT ordinal FROM memories WHERE id=? AND version=1", row["id"])
        if (first is None) != (row["version"] == 1):
            raise ValueError("is no next version of its memory")
        row |= {
            "ordinal": ordinal,
            "root": int(first[0]) if first else ordinal,
            "chunk": self._chunk(row["chunk"]),
            "path": label_code(self._session.connection, row["path"]),
            "project": label_code(self._session.connection, row["project"]),
            "tags": label_set_code(self._session.connection, row["tags"]),
            "acl": label_set_code(self._session.connection, row["acl"]),
        }
        if self._header["analyser"] != self._session.meta.analyser:
            row["terms"] = analysed(row, self._analyser)
        read = [self._vector(vector) for vector in hanging["vectors"]]
        row["digest"] = row_digest(
            row, embedded=any(number == self._session.meta.embedder for number, *_ in read)
        )
        marks = ", ".join(f":{name}" for name in row)
        self._session.connection.execute(f"INSERT INTO memories({', '.join(row)}) VALUES ({marks})", row)
        self._session.added["versions"] += 1
        for number, vector_scale, vector_codes in read:
            self._session.add(
                "vectors",
                "INSERT INTO vectors(ordinal, embedder, scale, codes) VALUES (?, ?, ?, ?)",
                ordinal,
                number,
                vector_scale,
                vector_codes,
            )
        for stated in hanging["tokens"]:
            self._tokens(ordinal, read_fields(stated, TOKENS))
        if hanging["sparse"]:
            self._sparse(ordinal, hanging["sparse"])
        self._hang(ordinal, hanging)
        if row["expired_at"] == FOREVER:
            self._state(ordinal, row["text"], row["chunk"])
        end = self._session.now + CLOCK_SKEW
        stamps = row["ingested_at"], row["expired_at"], self._session.meta.last_ingested
        newest = max((stamp for stamp in stamps if stamp <= end), default=BEGINNING)
        self._session.meta = replace(self._session.meta, next_ordinal=ordinal + 1, last_ingested=newest)
        self._session.log(ADD, ordinal, row["ingested_at"])
        if row["expired_at"] != FOREVER:
            self._session.log(EXPIRE, ordinal, row["expired_at"])

    def _state(self, ordinal: int, text: str, chunk: int) -> None:
        """Note what the text states of whom; an export says it by the text alone."""
        row = self._session.one(
            "SELECT e.speaker FROM chunks c JOIN episodes e ON e.number = c.episode"
            f" WHERE c.number=? AND {sound('episodes', 'e')}",
            chunk,
        )
        write_statements(self._session.connection, ordinal, text, str(row[0]) if row else "")

    def _hang(self, ordinal: int, hanging: dict[str, list[Any]]) -> None:
        """Write what belongs to one version."""
        for place in hanging["mentions"]:
            self._session.add(
                "mentions",
                "INSERT INTO mentions(ordinal, entity) VALUES (?, ?)",
                ordinal,
                self._names.bearer(place),
            )
        for relation in hanging["relations"]:
            stated = read_fields(relation, RELATION)
            self._session.add(
                "relations",
                "INSERT INTO relations(ordinal, name, subject, object, single_valued) VALUES (?, ?, ?, ?, ?)",
                ordinal,
                stated["name"],
                self._names.bearer(stated["subject"]),
                stated["object"],
                stated["single_valued"],
            )
        for job in hanging["jobs"]:
            waiting = read_fields(job, JOB)
            self._session.add(
                "jobs",
                "INSERT INTO jobs(ordinal, task, tries, not_before, problem) VALUES (?, ?, ?, ?, ?)",
                ordinal,
                *(waiting[name] for name in JOB),
            )
        for enrichment in hanging["enrichments"]:
            asked = read_fields(enrichment, ENRICHMENT)
            insert = "INSERT INTO enrichments(ordinal, base, model) VALUES (?, ?, ?)"
            self._session.add("enrichments", insert, ordinal, asked["base"], asked["model"])
        for access in hanging["accesses"]:
            use = read_fields(access, ACCESS)
            insert = "INSERT INTO accesses(ordinal, accessed_at, principal) VALUES (?, ?, ?)"
            self._session.add(
                "accesses", insert, ordinal, use["at"], label_code(self._session.connection, use["principal"])
            )

        for move in hanging["moves"]:
            done = read_fields(move, MOVE)
            self._session.add(
                "moves",
                "INSERT INTO moves(ordinal, action, was, became, reason, made_at, undone_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                ordinal,
                *(done[name] for name in MOVE),
            )

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
        insert = "INSERT INTO token_codes(ordinal, embedder, codes) VALUES (?, ?, ?)"
        self._session.add("tokens", insert, ordinal, number, codes)

    # -- links and keys

    def _link(self, found: dict[str, Any], linked: dict[int, None]) -> None:
        ends = [
            self._session.one("SELECT root FROM memories WHERE id=? LIMIT 1", found[end])
            for end in ("source", "target")
        ]
        if ends[0] is None or ends[1] is None:
            raise ValueError("links a memory that is not in the file")
        ends = [
            self._session.one(
                f"SELECT {node_of('m')} FROM memories m WHERE m.id=? AND m.version=?",
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
        insert = "INSERT OR IGNORE INTO links(source, target, kind, weight, embedder) VALUES (?, ?, ?, ?, ?)"
        if source != target and self._session.add("links", insert, *values):
            linked[source] = None

    def _evidence(self, found: dict[str, Any]) -> None:
        ends = [
            self._session.one("SELECT root FROM memories WHERE id=? LIMIT 1", found[end])
            for end in ("observation", "source")
        ]
        if ends[0] is None or ends[1] is None:
            raise ValueError("rests on a memory that is not in the file")
        self._session.add(
            "evidence",
            "INSERT OR IGNORE INTO evidence(observation, source, stance, known_from, known_to)"
            " VALUES (?, ?, ?, ?, ?)",
            int(ends[0][0]),
            int(ends[1][0]),
            found["stance"],
            found["known_from"],
            found["known_to"],
        )

    def _key(self, found: dict[str, Any]) -> None:
        ids = json.dumps(found["ids"])
        self._session.add("keys", "INSERT OR IGNORE INTO idempotency(key, body, ids) VALUES (?, ?, ?)",
                  found["key"], found["body"], ids)  # fmt: skip


def _check_intervals(row: dict[str, Any]) -> None:
    """What lies in two fields must fit together."""
    if row["valid_from"] >= row["valid_to"]:
        raise ValueError("is valid until before it begins to be")
    occurred = [row[name] for name in ("occurred_from", "occurred_to", "occurred_precision")]
    if any(value is None for value in occurred) != all(value is None for value in occurred):
        raise ValueError("says when it happened by halves")
    if occurred[0] is not None and occurred[0] > occurred[1]:
        raise ValueError("happened until before it began")
