"""The page about the file format names what a real store holds, all of it, and nothing else."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import simonides
from simonides.backends.embedded.migrations import APPLICATION_ID, MIGRATIONS
from simonides.backends.embedded.stale_files import OWNED, RERANKER
from simonides.index.generation import FORMAT
from simonides.index.graph import LINK_KINDS
from simonides.index.postings import FIELDS
from simonides.recall.refining.mlp import Network
from simonides.storage.folder import ASIDE, IMPORTING
from simonides.surfaces.rest.uploads import upload_in
from simonides.surfaces.serving.tokens import TokenStore, first_token
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "file-format.md"
TEXT = PAGE.read_text("utf-8")
PARTS = ("links", "by_row", "by_entity")
VIEWS = {"current_memories", "history"}
OTHERS = {"recall-jobs.db": "recall_jobs", "recall-audit.db": "recalls", "tokens.db": "tokens"}
"""The table of each database beside ``memory.db``."""

PASSING = {".deleted-…", ".backup-…", ".restoring-…", ".….partial", ".reranker.npz.….left", "audit.key.new"}
"""Names that a sound store has for moments only."""

Columns = dict[str, str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store in use that has something of everything: a merged index, newer rows, logs, locks, jobs, tokens."""
    place = tmp_path_factory.mktemp("format") / "store"
    clock = FrozenClock()
    with (
        simonides.open(place, embedder=StubEmbedder(dimension=70), clock=clock, environ={}) as store,
        upload_in(place),
        TokenStore(place),
    ):
        bank = store.bank("mill")
        bank.start_audit()
        bank.audit_recalls()
        bank.set_zone("Europe/Berlin")
        bank.retain([f"Keeper {n} of lock {n % 3} is Rosa Brandt." for n in range(6)], tags=["lock"])
        (old,) = bank.retain("The toll is 3 crowns.", event_time="2025", context="told", relation="costs")
        bank._rows.merge_if_due(force=True)
        clock.advance(days=1)
        bank.retain("The toll is 4 crowns.")
        bank._rows.merge_if_due(force=True)
        bank.update_memory(old, tags=["toll"])
        bank.retain("I live in Mariager.", speaker="Rosa Brandt")
        bank.maintain()
        bank.set_ttl("30d", kind="episodic")
        bank.backup(place / "copy.db")
        (place / "copy.db").unlink()
        bank._rows.recall_jobs.add("job", "", "{}")
        Network(np.ones((10, 2)), np.ones(2), np.ones(2), 0.0, 1).save(bank._rows.folder / RERANKER)
        first_token(place, "mill", 0)
        yield place


@pytest.fixture(scope="module")
def bank(folder: Path) -> Path:
    return folder / "bank-mill"


def section(title: str) -> str:
    """What stands between a heading and the next one that is no deeper."""
    found = re.search(rf"^(#+) {re.escape(title)}$", TEXT, re.MULTILINE)
    assert found, title
    end = re.search(rf"^#{{1,{len(found[1])}}} ", TEXT[found.end() :], re.MULTILINE)
    return TEXT[found.end() : found.end() + end.start() if end else len(TEXT)]


def rows(text: str, head: str) -> list[list[str]]:
    """The cells of the tables below *head*."""
    found = []
    for table in re.findall(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE):
        found += [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()
        ]
    assert found, head
    return found


def named(text: str, head: str) -> list[str]:
    return [name for cell, *_ in rows(text, head) for name in re.findall(r"`([^`]+)`", cell)]


def columns(title: str) -> Columns:
    return {
        name: kind
        for cell, kind, *_ in rows(section(title), "column")
        for name in re.findall(r"`([^`]+)`", cell)
    }


def query(path: Path, select: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(select).fetchall()


def tables(path: Path, kind: str = "table") -> dict[str, Columns]:
    names = query(path, f"SELECT name FROM sqlite_schema WHERE type = '{kind}'")
    return {
        table: dict(query(path, f"SELECT name, type FROM pragma_table_info('{table}')")) for (table,) in names
    }


def arrays(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """An array file, read as the page says and not by the code that wrote it."""
    data = path.read_bytes()
    assert data[:8] == b"SIMARR01"
    length, crc = (int.from_bytes(data[at : at + 8], "little") for at in (8, 16))
    header = data[24 : 24 + length]
    assert zlib.crc32(header) == crc
    assert (24 + length) % 64 == 0
    described = json.loads(header)
    found = {}
    for name, each in described["arrays"].items():
        start = 24 + length + each["offset"]
        piece = data[start : start + each["bytes"]]
        assert each["offset"] % 64 == 0
        assert zlib.crc32(piece) == each["crc32"]
        found[name] = np.frombuffer(piece, each["dtype"]).reshape(each["shape"])
    return described["about"], found


# -- files


def test_the_page_names_every_file_of_a_store(folder: Path, bank: Path) -> None:
    files = section("Files")
    page = {name.rstrip("/") for name in named(files, "name")}
    there = {path.name for path in (*folder.iterdir(), *bank.iterdir())}
    there = {re.sub(r"^(bank-mill|\.import-.*)$", _spelt, name) for name in there}
    assert there == page - PASSING
    assert page >= {*PASSING, *OWNED, IMPORTING + "…", ASIDE + "…"}


def _spelt(name: re.Match[str]) -> str:
    return "bank-NAME" if name[0].startswith("bank-") else f"{IMPORTING}…"


def test_the_page_names_every_file_of_the_index(bank: Path) -> None:
    page = set(named(section("The index"), "name"))
    there = {str(path.relative_to(bank)) for path in bank.glob("index/*/*")}
    assert {
        re.sub(r"block-\d+", "block-ORDINAL", re.sub(r"^index/\d+", "index/GENERATION", name))
        for name in there
    } == page


# -- tables


def test_the_page_names_every_table_with_its_columns(bank: Path) -> None:
    there = tables(bank / "memory.db")
    page = set(re.findall(r"^### `(\w+)`$", section("memory.db"), re.MULTILINE))
    assert page == set(there)
    for table, wanted in there.items():
        assert columns(f"`{table}`") == wanted, table


@pytest.mark.parametrize(("file", "table"), OTHERS.items())
def test_the_page_names_the_columns_of_the_other_databases(folder: Path, file: str, table: str) -> None:
    (path,) = folder.rglob(file)
    assert {table: columns(file)} == tables(path)
    assert f"The table is `{table}`." in section(file)


def test_the_page_names_the_views_and_their_columns_in_order(bank: Path) -> None:
    page = columns("SQL views")
    views = tables(bank / "memory.db", "view")
    assert set(views) == VIEWS == set(named(section("SQL views"), "view"))
    for view in VIEWS:
        assert sorted(views[view]) == sorted(page)
        for name, kind in page.items():
            found = query(bank / "memory.db", f"SELECT DISTINCT typeof({name}) FROM {view}")
            assert {each for (each,) in found} <= {kind.lower(), "null"}, name


def test_the_page_has_the_numbers(bank: Path) -> None:
    assert query(bank / "memory.db", "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert f"`PRAGMA application_id` is {APPLICATION_ID}" in section("memory.db")
    listed = [(int(number), name) for number, name, _ in rows(section("memory.db"), "schema")]
    assert listed == [(step.number, step.name) for step in MIGRATIONS]
    assert f"`format` ({FORMAT})" in section("The index")


def test_the_sql_of_the_page_runs(bank: Path) -> None:
    statements = [
        each
        for block in re.findall(r"^```sql\n(.*?)^```$", section("SQL views"), re.MULTILINE | re.DOTALL)
        for each in block.split(";\n")
        if each.strip()
    ]
    assert len(statements) == 4
    answers = [query(bank / "memory.db", each) for each in statements]
    assert answers[0] == []
    assert [(old, new) for old, _, new in answers[1]] == [("The toll is 3 crowns.", "The toll is 4 crowns.")]
    assert answers[3][0] == ("lock", 6)


# -- values


def part(value: object) -> bytes:
    """A value of a digest, as the page says."""
    if isinstance(value, int):
        return f"{value};".encode()
    if isinstance(value, str):
        return f"b{len(value.encode()) + 1}:t{value}".encode()
    if isinstance(value, bytes):
        return f"b{len(value)}:".encode() + value
    if isinstance(value, float):
        return b"f" + np.array(value, "<f8").tobytes()
    return b"None;"


@pytest.mark.parametrize("table", ["labels", "vectors", "links", "meta", "episodes"])
def test_digests_are_made_as_the_page_says(bank: Path, table: str) -> None:
    there = tables(bank / "memory.db")[table]
    covered = [name for name in there if not name.endswith("digest")]
    if table == "episodes":
        covered.remove("text")
    found = query(bank / "memory.db", f"SELECT {', '.join(covered)}, digest FROM {table}")
    assert found
    for *values, digest in found:
        assert hashlib.blake2b(b"".join(map(part, values)), digest_size=8).digest() == digest


def test_digests_of_memories_are_made_as_the_page_says(bank: Path) -> None:
    covered = [
        name
        for name in tables(bank / "memory.db")["memories"]
        if name != "expired_at" and not name.endswith("digest")
    ]
    found = query(
        bank / "memory.db", f"SELECT {', '.join(covered)}, digest, end_digest, expired_at FROM memories"
    )
    for *values, digest, end_digest, expired_at in found:
        plain = [len(value) if isinstance(value, bytes) else value for value in values]
        body = json.dumps([*plain, True], ensure_ascii=False, separators=(",", ":")).encode()
        blobs = b"".join(b"\0" + value for value in values if isinstance(value, bytes))
        assert hashlib.blake2b(body + blobs, digest_size=16).digest() == digest
        ended = hashlib.blake2b(part(values[0]) + part(expired_at), digest_size=8)
        assert ended.digest() == end_digest


def test_the_change_log_is_chained_as_the_page_says(bank: Path) -> None:
    before = bytes(16)
    found = query(bank / "memory.db", "SELECT * FROM changes ORDER BY sequence")
    for sequence, operation, ordinal, stamp, log_hash in found:
        text = f"{sequence} {operation} {ordinal} {stamp}".encode()
        before = hashlib.blake2b(before + text, digest_size=16).digest()
        assert before == log_hash
    assert query(bank / "memory.db", "SELECT sequence, log_hash FROM meta") == [(len(found), before)]


# -- arrays


def test_the_page_names_every_array_with_its_type(bank: Path) -> None:
    index = section("The index")
    page = {
        name: kind.replace("\\", "").strip("`")
        for cell, kind, *_ in rows(index, "array")
        for name in re.findall(r"`([^`]+)`", cell)
    }
    spelt = {
        name.replace("FIELD", field).replace("PART", edges): kind
        for name, kind in page.items()
        for field in FIELDS
        for edges in PARTS
    }
    there = {
        name: array.dtype.str
        for path in bank.glob("index/*/*.arr")
        for name, array in arrays(path)[1].items()
    }
    assert spelt == there
    assert ", ".join(f"{code} {kind}" for code, kind in enumerate(LINK_KINDS)) in index


def test_the_arrays_hold_what_the_page_says(bank: Path) -> None:
    ((generation, bank_id),) = query(bank / "memory.db", "SELECT generation, bank FROM meta")
    outer = json.loads((bank / "index" / str(generation) / "manifest.json").read_text("utf-8"))
    assert set(outer) == {"body", "crc32"}
    assert zlib.crc32(outer["body"].encode()) == outer["crc32"]
    body = json.loads(outer["body"])
    assert set(body) - {"graph"} == {"format", "origin", "blocks"}
    assert body["origin"]["bank"] == bank_id
    index = section("The index")
    for name in (*outer, *body, *body["origin"], *body["blocks"][0]):
        assert f"`{name}`" in index, name
    block = body["blocks"][0]
    about, found = arrays(bank / "index" / str(block["generation"]) / block["name"])
    assert about["start"] == block["start"] == 0
    stored = query(
        bank / "memory.db",
        "SELECT m.id, v.scale, v.codes, m.ingested_at, m.terms FROM memories m JOIN vectors v USING (ordinal)"
        f" WHERE m.ordinal < {block['rows']} ORDER BY m.ordinal",
    )
    assert len(stored) == block["rows"] == len(found["vector.codes"])
    for row, (memory, scale, codes, ingested_at, terms) in enumerate(stored):
        assert f"{found['column.id_key'][row]:016x}" == memory
        assert found["vector.scales"][row] == np.float32(scale)
        assert found["vector.codes"][row].tobytes() == codes
        assert found["column.ingested_at"][row] == ingested_at
        assert found["text.lengths"][row] == sum(json.loads(terms)["text"].values())
    assert found["vector.bits"].shape == (2, block["rows"])
