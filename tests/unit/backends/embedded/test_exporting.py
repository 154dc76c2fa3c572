"""What an export holds, how it is written, and what importing it does."""

from __future__ import annotations

import io
import json
import os
import stat
import zlib
from typing import TYPE_CHECKING, Any, cast

import apsw
import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.backends.embedded import importing
from simonides.backends.embedded.rows import read_version
from simonides.errors import EmbedderMismatchError, InputError, UnavailableError
from simonides.retain.documents import document_items
from simonides.storage.export_format import (
    EPISODE_COLUMNS,
    FORMAT,
    MEMORY_COLUMNS,
    check_line,
    decode_line,
    encode_line,
)
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import CopyOf

    from simonides.bank import Bank
    from simonides.store import Store

STUB = StubEmbedder(dimension=16)
DOCUMENT = "# Boats\n\nThe kayak is red.\n\n## Oars\n\nThe oars are short.\n\nThe sail is blue."


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with simonides.open(tmp_path / "store", embedder=STUB, clock=clock) as opened:
        yield opened


def fill(bank: Bank, clock: FrozenClock) -> None:
    """Versions, statements, readers, a document, names, a merge, a gap, work that waits, a key."""
    lives: dict[str, Any] = {"relation": "lives in", "subject": "Odalys Brandt", "single_valued": True}
    bank.retain([{**lives, "text": "Odalys Brandt lives in Norrhav", "object": "Norrhav"}])
    clock.advance(days=30)
    bank.retain([{**lives, "text": "Odalys Brandt lives in Quillstad", "object": "Quillstad"}])
    (gone,) = bank.retain("A secret that goes")
    bank.retain(
        {"text": "Mo hid the oars", "acl": ["mo"], "tags": ["oars"], "metadata": {"n": [1, 0.5, None]}}
    )
    bank.retain(document_items(DOCUMENT, document_id="boats", title="Boats"))
    bank.retain("The harbour opens at six", event_time="2026-05", idempotency_key="harbour")
    bank.retain(
        {"text": "Ilse Tamm owns a kayak", "relation": "owns", "subject": "Ilse Tamm", "object": "kayak"}
    )
    bank.forget(gone)
    entities = {entity.name: entity.number for entity in bank.entities(None)}
    bank.add_alias(entities["Ilse Tamm"], "The Skipper")
    bank.undo_merge(bank.merge_entities(entities["Ilse Tamm"], entities["Odalys Brandt"]))
    bank.merge_entities(entities["Odalys Brandt"], entities["Ilse Tamm"])
    bank.queue_enrichment()


@pytest.fixture
def bank(store: Store, clock: FrozenClock, copy_of: CopyOf) -> Bank:
    def make(folder: Path) -> None:
        then = FrozenClock()
        with simonides.open(folder, embedder=STUB, clock=then) as made:
            fill(made.bank("boats"), then)

    copy_of("boats to be exported", make, store.folder)
    clock.advance(days=31)
    return store.bank("boats")


@pytest.fixture
def export(bank: Bank, tmp_path: Path) -> Path:
    bank.export(tmp_path / "boats.jsonl")
    return tmp_path / "boats.jsonl"


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    """The same export with other records, checks and end fitted to them, as a stranger would forge it."""
    changed = [{key: value for key, value in record.items() if key != "~"} for record in records(path)]
    change(changed)
    for record in changed:
        if record["record"] == "end":
            record["lines"] = len(changed)
    other = path.with_name("forged.jsonl")
    other.write_bytes(b"".join(map(encode_line, changed)))
    return other


def the(kind: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    return next(record for record in found if record["record"] == kind)


# -- the file


def test_the_first_line_says_what_follows_and_the_last_how_much_there_was(bank: Bank, export: Path) -> None:
    lines = records(export)
    counts = bank.export(export.with_name("again")).to_dict()

    header = lines[0]
    assert (header["format"], header["version"], header["record"]) == (FORMAT, 1, "header")
    assert header["embedders"] == [{"fingerprint": STUB.fingerprint, "name": "stub", "dimension": 16}]
    assert header["embedder"] == 0
    assert header["counts"] == counts
    assert lines[-1]["record"] == "end"
    assert lines[-1]["lines"] == len(lines)
    for record, kind in (
        ("entity", "entities"),
        ("alias", "aliases"),
        ("merge", "merges"),
        ("episode", "episodes"),
        ("chunk", "chunks"),
        ("memory", "versions"),
        ("link", "links"),
        ("key", "keys"),
    ):
        assert sum(line["record"] == record for line in lines) == counts[kind] > 0, kind
    memories = [line for line in lines if line["record"] == "memory"]
    assert len({line["id"] for line in memories}) == counts["memories"] < counts["versions"]
    for hanging in ("vectors", "mentions", "relations", "jobs"):
        assert sum(len(line[hanging]) for line in memories) == counts[hanging] > 0, hanging


def test_every_line_is_canonical_and_checked(export: Path) -> None:
    for raw in export.read_bytes().splitlines(keepends=True):
        body = check_line(raw)
        assert body.decode() == json.dumps(
            json.loads(body), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )
        assert json.loads(raw)["~"] == f"{zlib.crc32(body):08x}"


def test_a_file_says_nothing_of_what_was_forgotten_and_no_epoch(export: Path, bank: Bank) -> None:
    with bank._rows.reading() as reading:
        epoch, bank_id = reading.meta.epoch, reading.meta.bank
    text = export.read_text("utf-8")
    assert "secret" not in text
    assert epoch not in text
    assert bank_id in text


DIGESTS = {"digest", "text_digest", "end_digest"}
"""Made anew by whoever writes the rows."""


def test_the_schema_holds_nothing_that_an_export_leaves_out(bank: Bank) -> None:
    """A new table or column must be carried, or be named here with its reason."""
    with bank._rows.reading() as reading:
        tables = [str(name) for (name,) in connection_of(reading).execute(
            "SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'"
        )]  # fmt: skip
        columns = {
            table: {str(row[1]) for row in connection_of(reading).execute(f"PRAGMA table_info({table})")}
            - DIGESTS
            for table in tables
        }
    assert set(tables) == {
        "accesses", "impressions", "shown",  # impressions stay: of recalls the other bank never made
        "meta", "embedders", "episodes", "chunks", "labels", "label_sets", "memories", "vectors", "entities",
        "aliases", "merges", "mentions", "relations", "links", "idempotency", "jobs", "enrichments",
        "token_codes",
        "reembedding",  # the header tells the embedder; how far the run came is found out anew
        "sparse_encoder", "sparse_terms",
        "audit",  # sealed over the change log, which stays
        "moves", "evidence",
        "statements",  # follow from the texts, and are read out of them again
        "changes",  # of one bank on one disk; made anew
    }  # fmt: skip
    places = {"ordinal", "root", "chunk"}
    coded = {"path", "project", "tags", "acl"}
    assert columns["memories"] == {*MEMORY_COLUMNS, *places, *coded}
    assert columns["episodes"] == {*EPISODE_COLUMNS, "number"}
    assert columns["jobs"] == {"number", "task", "ordinal", "tries", "not_before", "problem"}
    assert columns["enrichments"] == {"ordinal", "base", "model"}
    assert columns["sparse_encoder"] == {"one", "fingerprint", "name"}
    assert columns["sparse_terms"] == {"ordinal", "terms"}
    assert columns["entities"] == {"number", "name", "folded", "kind", "scope", "qualifier"}
    assert columns["aliases"] == {"folded", "name", "entity", "added_at"}
    assert columns["token_codes"] == {"ordinal", "embedder", "codes"}
    assert columns["merges"] == {"number", "entity", "into_entity", "merged_at", "undone_at"}
    assert columns["links"] == {"number", "source", "target", "kind", "weight", "embedder"}
    assert columns["vectors"] == {"ordinal", "embedder", "scale", "codes"}
    assert columns["relations"] == {"ordinal", "name", "subject", "object", "single_valued"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_file_is_for_its_owner_only(export: Path) -> None:
    assert stat.S_IMODE(export.stat().st_mode) == 0o600


def test_a_stream_is_written_too(bank: Bank, export: Path) -> None:
    stream = io.BytesIO()
    bank.export(stream)
    assert stream.getvalue() == export.read_bytes()


def test_what_fails_leaves_the_file_that_was_there_and_nothing_else(
    bank: Bank, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = export.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    bank.retain("one more")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnavailableError, match="No space"):
        bank.export(export)
    assert export.read_bytes() == before
    assert [entry.name for entry in export.parent.iterdir() if entry.is_file()] == [export.name]


@pytest.mark.fault("X4")
@pytest.mark.fault("N74")
def test_what_is_no_regular_file_is_not_written(bank: Bank, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path, tmp_path / "pipe", "/dev/null", "a\0b", "", tmp_path / "no" / "x", 7):
        with pytest.raises(InputError, match=r"^target: "):
            bank.export(target)  # type: ignore[arg-type]


@pytest.mark.fault("X4")
def test_a_link_is_replaced_and_what_it_leads_to_is_left_alone(bank: Bank, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    bank.export(tmp_path / "link")
    assert (tmp_path / "target").read_text() == "mine"
    assert not (tmp_path / "link").is_symlink()


def test_only_the_owner_exports_and_imports(store: Store, export: Path) -> None:
    guest = store.bank("boats", principal="mo")
    with pytest.raises(InputError, match="owner"):
        guest.export(export)
    with pytest.raises(InputError, match="owner"):
        guest.import_bank(export)


# -- into an empty bank


def test_an_empty_bank_becomes_the_exported_one(store: Store, bank: Bank, export: Path) -> None:
    copy = store.bank("copy")

    restored = copy.import_bank(export)

    assert restored.added.to_dict() == records(export)[0]["counts"]
    assert restored.present == 0
    copy.export(export.with_name("again"))
    assert export.with_name("again").read_bytes() == export.read_bytes()
    assert copy.verify().problems == ()
    ids = {record["id"] for record in records(export) if record["record"] == "memory"}
    for memory in ids:
        assert [m.to_dict() for m in bank.history(memory)] == [m.to_dict() for m in copy.history(memory)]
    for query in ("Where does Odalys live?", "oars", "kayak"):
        assert copy.recall(query).to_dict()["hits"] == bank.recall(query).to_dict()["hits"]
        assert (
            copy.recall(query, as_of="2026-03-15").to_dict()["hits"]
            == (bank.recall(query, as_of="2026-03-15").to_dict()["hits"])
        )
    assert [(e.name, e.aliases, e.mentions) for e in copy.entities()] == (
        [(e.name, e.aliases, e.mentions) for e in bank.entities()]
    )


def test_it_takes_on_the_identity_but_a_new_epoch(store: Store, bank: Bank, export: Path) -> None:
    copy = store.bank("copy")
    with copy._rows.reading() as reading:
        before = reading.meta
    copy.import_bank(export)
    with copy._rows.reading() as reading, bank._rows.reading() as original:
        assert reading.meta.bank == original.meta.bank != before.bank
        assert reading.meta.epoch not in {before.epoch, original.meta.epoch}


def test_an_export_of_nothing_is_one_too(store: Store, tmp_path: Path) -> None:
    store.bank("nothing").export(tmp_path / "a")
    assert len(records(tmp_path / "a")) == 2
    copy = store.bank("copy")
    assert copy.import_bank(tmp_path / "a").added.memories == 0
    copy.export(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_no_embedder_is_needed(tmp_path: Path, export: Path, clock: FrozenClock) -> None:
    with simonides.open(tmp_path / "other", embedder=None, clock=clock) as other:
        copy = other.bank("copy")
        copy.import_bank(export)
        assert copy.verify().problems == ()
        copy.export(export.with_name("again"))
    assert export.with_name("again").read_bytes() == export.read_bytes()
    with simonides.open(tmp_path / "other", embedder=STUB, clock=clock) as other:
        degraded = other.bank("copy").recall("oars", profile="jeffs_brain").trace.degraded
        assert degraded == ("head_rerank: no_reranker",)


def test_terms_of_another_analyser_are_made_anew(tmp_path: Path, export: Path, clock: FrozenClock) -> None:
    with simonides.open(tmp_path / "other", embedder=STUB, clock=clock, language="none") as other:
        copy = other.bank("copy")
        copy.import_bank(export)
        assert copy.verify().problems == ()
        assert [hit.text for hit in copy.recall("harbour", profile="lexical")] == ["The harbour opens at six"]
        assert not copy.recall("opening", profile="lexical").hits, "no stemming here"


def test_what_waits_goes_on_waiting(store: Store, bank: Bank, export: Path) -> None:
    copy = store.bank("copy")
    copy.import_bank(export)
    assert copy.stats()["waiting"] == bank.stats()["waiting"] > 0
    assert copy.stats()["enrichment"] == bank.stats()["enrichment"]


def test_a_key_is_answered_in_the_copy_as_in_the_original(store: Store, bank: Bank, export: Path) -> None:
    copy = store.bank("copy")
    copy.import_bank(export)
    answers = [
        b.retain("The harbour opens at six", event_time="2026-05", idempotency_key="harbour")
        for b in (bank, copy)
    ]
    assert answers[0] == answers[1]


# -- again, and into a bank that holds something


def test_a_second_import_changes_nothing(store: Store, export: Path) -> None:
    copy = store.bank("copy")
    first = copy.import_bank(export)
    before = copy.stats()

    second = copy.import_bank(export)

    assert not any(second.added.to_dict().values())
    assert second.present == first.added.memories
    for name in ("sequence", "versions", "links", "entities", "waiting", "episodes"):
        assert copy.stats()[name] == before[name], name


def test_into_its_own_bank_nothing_comes(bank: Bank, export: Path) -> None:
    sequence = bank.stats()["sequence"]
    assert not any(bank.import_bank(export).added.to_dict().values())
    assert bank.stats()["sequence"] == sequence


def test_other_memories_stay_and_the_imported_keep_their_times(
    store: Store, bank: Bank, export: Path
) -> None:
    other = store.bank("other")
    (mine,) = other.retain("Odalys Brandt paints")
    before = other.get_memory(mine)

    other.import_bank(export)

    assert other.get_memory(mine) == before
    assert other.verify().problems == ()
    for record in records(export):
        if record["record"] == "memory":
            assert [m.to_dict() for m in other.history(record["id"])] == (
                [m.to_dict() for m in bank.history(record["id"])]
            )
    named = [entity for entity in other.entities(None) if entity.name == "Odalys Brandt"]
    assert len(named) <= 1, "one name, one entity"


def test_a_forgotten_memory_comes_back_with_its_source(store: Store, export: Path) -> None:
    copy = store.bank("copy")
    copy.import_bank(export)
    links = copy.stats()["links"]
    wanted = ("The oars are short", "The kayak is red")
    gone = [
        hit.id
        for hit in copy.recall("kayak oars", limit=20, precision="wide")
        if any(w in hit.text for w in wanted)
    ]
    assert len(gone) == 2
    copy.forget(gone)

    added = copy.import_bank(export).added

    assert (added.memories, added.chunks, added.episodes) == (2, 2, 1)
    assert copy.stats()["links"] == links
    assert copy.verify().problems == ()
    with copy._rows.reading() as reading:
        sources = [reading.source(memory) for memory in gone]
    assert {source.text for source in sources if source} == {DOCUMENT}


def test_a_memory_that_is_missing_shares_the_source_of_one_that_is_there(
    store: Store, clock: FrozenClock, tmp_path: Path
) -> None:
    bank, copy = store.bank("first"), store.bank("copy")
    items = document_items(DOCUMENT, document_id="boats")
    bank.retain(items[:1], document_id="boats")
    bank.export(tmp_path / "a")
    copy.import_bank(tmp_path / "a")
    # Later a model reads more out of the same chunk: here by hand.
    with bank._rows.writing(0) as transaction:
        values = read_version(connection_of(transaction), 0)
        cast("Any", transaction.versions)._insert_row(
            values | {"ordinal": 1, "root": 1, "id": "f" * 16}, 0.0, b""
        )
    bank.export(tmp_path / "b")

    added = copy.import_bank(tmp_path / "b").added

    assert (added.memories, added.chunks, added.episodes) == (1, 0, 0)


def test_another_process_sees_what_was_imported(tmp_path: Path, export: Path, clock: FrozenClock) -> None:
    """Also links, which come after their memories."""
    with (
        simonides.open(tmp_path / "shared", embedder=STUB, clock=clock) as one,
        simonides.open(tmp_path / "shared", embedder=STUB, clock=clock) as two,
    ):
        two.bank("x").recall("kayak")
        one.bank("x").import_bank(export)
        assert two.bank("x").recall("kayak").hits
        assert two.bank("x").verify().problems == ()


def test_vectors_of_another_embedder_are_refused(tmp_path: Path, export: Path, clock: FrozenClock) -> None:
    other = StubEmbedder(dimension=16, name="other")
    with simonides.open(tmp_path / "other", embedder=other, clock=clock) as opened:
        mine = opened.bank("mine")
        mine.retain("something")
        with pytest.raises(EmbedderMismatchError, match="empty bank"):
            mine.import_bank(export)
        assert mine.stats()["memories"] == 1


# -- interrupted


def test_an_interrupted_import_is_whole_up_to_there_and_completed_by_the_next(
    store: Store, bank: Bank, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "LARGEST_BATCH", 3)
    steps: list[tuple[int, int]] = []
    store.bank("whole").import_bank(export, progress=lambda done, lines: steps.append((done, lines)))
    assert [done for done, _ in steps] == sorted({done for done, _ in steps})
    assert steps[-1][0] == steps[-1][1] - 1
    assert len(steps) > 10

    for stop in range(len(steps)):
        copy = store.bank(f"copy {stop}")
        left = stop

        def interrupt(_done: int, _lines: int) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            copy.import_bank(export, progress=interrupt)
        for hit in copy.recall("kayak oars harbour", limit=50):
            assert len(copy.history(hit.id)) == len(bank.history(hit.id)), "never half a memory"
        copy.import_bank(export)
        copy.export(export.with_name("again"))
        assert export.with_name("again").read_bytes() == export.read_bytes()
        assert copy.verify().problems == ()


# -- damage


def place_of(export: Path, kind: str) -> int:
    return next(n for n, record in enumerate(records(export), start=1) if record["record"] == kind)


def refused(store: Store, path: Path, line: int, match: str) -> None:
    """Nothing at all of a damaged file is stored."""
    copy = store.bank("copy")
    with pytest.raises(InputError, match=match) as caught:
        copy.import_bank(path)
    assert caught.value.field == f"{path}:{line}"
    assert copy.stats()["memories"] == copy.stats()["entities"] == 0


@pytest.mark.parametrize("kind", ["header", "entity", "episode", "memory", "link", "end"])
def test_a_changed_byte_is_named_by_its_line(store: Store, export: Path, kind: str) -> None:
    line = place_of(export, kind)
    lines = export.read_bytes().splitlines(keepends=True)
    middle = len(lines[line - 1]) // 2
    lines[line - 1] = (
        lines[line - 1][:middle] + bytes([lines[line - 1][middle] ^ 1]) + lines[line - 1][middle + 1 :]
    )
    export.write_bytes(b"".join(lines))
    if kind == "header":
        with pytest.raises(InputError, match=":1: "):
            store.bank("copy").import_bank(export)
    else:
        refused(store, export, line, "not what was written")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused_whole(store: Store, export: Path, share: float) -> None:
    raw = export.read_bytes()
    export.write_bytes(raw[: int(len(raw) * share)].rstrip(b"\n"))
    refused(store, export, export.read_bytes().count(b"\n") + 1, "cut off")


def test_a_file_that_is_cut_between_lines_is_refused_whole(store: Store, export: Path) -> None:
    lines = export.read_bytes().splitlines(keepends=True)
    export.write_bytes(b"".join(lines[:-2]))
    refused(store, export, len(lines) - 2, "cut off")


def test_a_line_that_is_missing_is_missed(store: Store, export: Path) -> None:
    lines = export.read_bytes().splitlines(keepends=True)
    export.write_bytes(b"".join(lines[:5] + lines[6:]))
    refused(store, export, len(lines) - 1, "missing")


def test_a_newer_version_is_refused(store: Store, export: Path) -> None:
    path = rewrite(export, lambda found: found[0].update(version=2))
    refused(store, path, 1, "version 2.*upgrade")


@pytest.mark.parametrize(
    "text", ["", "\n", "# Notes\n", '{"text": "a fact"}\n', "[1, 2]", "\0\1\2", "[" * 9000]
)
def test_another_format_is_refused(store: Store, tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    refused(store, tmp_path / "x", 1, "no export")


FORGERIES: dict[str, tuple[str, Callable[[dict[str, Any]], object], str]] = {
    "id": ("memory", lambda r: r.update(id="../../etc"), "no id"),
    "id of another length": ("memory", lambda r: r.update(id="ab"), "no id"),
    "kind": ("memory", lambda r: r.update(kind="secret"), "kind"),
    "layer": ("memory", lambda r: r.update(layer=3), "layer"),
    "precision": ("memory", lambda r: r.update(valid_from_precision="eon"), "precision"),
    "time": ("memory", lambda r: r.update(ingested_at=2**62), "no time"),
    "time as text": ("memory", lambda r: r.update(valid_from="now"), "no time"),
    "empty validity": ("memory", lambda r: r.update(valid_to=r["valid_from"]), "until before"),
    "half a date": ("memory", lambda r: r.update(occurred_from=0), "by halves"),
    "inverted date": (
        "memory",
        lambda r: r.update(occurred_from=5, occurred_to=4, occurred_precision="day"),
        "until before",
    ),
    "share": ("memory", lambda r: r.update(salience=7), "salience"),
    "share that is true": ("memory", lambda r: r.update(salience=True), "salience"),
    "count": ("memory", lambda r: r.update(proof_count=2**40), "proof_count"),
    "version": ("memory", lambda r: r.update(version=9), "no next version"),
    "chunk": ("memory", lambda r: r.update(chunk=99), "chunk 99"),
    "tag": ("memory", lambda r: r.update(tags=[""]), "blank"),
    "many tags": ("memory", lambda r: r.update(tags=[str(n) for n in range(100_000)]), "labels"),
    "reader": ("memory", lambda r: r.update(acl="mo"), "acl"),
    "metadata": ("memory", lambda r: r.update(metadata=[1]), "metadata"),
    "terms": ("memory", lambda r: r.update(terms={"text": {"a": 0}}), "terms"),
    "field of terms": ("memory", lambda r: r.update(terms={"body": {"a": 1}}), "terms"),
    "signature": ("memory", lambda r: r.update(signature="!"), "signature"),
    "key": ("memory", lambda r: r.update(content_key="AA=="), "content_key"),
    "NUL": ("memory", lambda r: r.update(text="a\0b"), "NUL"),
    "vector's length": ("memory", lambda r: r["vectors"][0].update(codes="AAAA"), "3 numbers"),
    "vector's embedder": ("memory", lambda r: r["vectors"][0].update(embedder=4), "embedder 4"),
    "vector's scale": ("memory", lambda r: r["vectors"][0].update(scale=-1.0), "scale"),
    "mention": ("memory", lambda r: r.update(mentions=[77]), "entity 77"),
    "mention twice": ("memory", lambda r: r.update(mentions=[1, 1]), "does not fit"),
    "relation": ("memory", lambda r: r.update(relations=[{"name": "x"}]), "object"),
    "job": ("memory", lambda r: r.update(jobs=["x"]), "object"),
    "field too many": ("memory", lambda r: r.update(sql="DROP"), "'sql'"),
    "field missing": ("memory", lambda r: r.pop("text"), "'text'"),
    "superseding": ("memory", lambda r: r.update(superseded_by="x"), "no id"),
    "entity's number": ("entity", lambda r: r.update(number=9), "out of order"),
    "episode's number": ("episode", lambda r: r.update(number=2**40), "number"),
    "episode of a chunk": ("chunk", lambda r: r.update(episode=50), "episode 50"),
    "trust": ("episode", lambda r: r.update(trust=2), "trust"),
    "merge into itself": ("merge", lambda r: r.update(into=r["entity"]), "itself"),
    "alias": ("alias", lambda r: r.update(entity=0), "entity"),
    "link's end": ("link", lambda r: r.update(target="0" * 16), "not in the file"),
    "link's kind": ("link", lambda r: r.update(kind="evil"), "kind"),
    "idempotency": ("key", lambda r: r.update(ids="x"), "ids"),
    "record": ("key", lambda r: r.update(record="script"), "unknown sort"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_line_is_named_and_its_batch_is_not_stored(store: Store, export: Path, name: str) -> None:
    kind, forge, match = FORGERIES[name]
    path = rewrite(export, lambda found: forge(the(kind, found)))
    line = place_of(export, kind)
    if name == "episode of a chunk":
        line += 1  # noticed by the memory that needs it
    refused(store, path, line, match)


@pytest.mark.fault("L6")
def test_half_a_character_is_refused(store: Store, export: Path) -> None:
    raw = export.read_bytes().splitlines(keepends=True)
    line = place_of(export, "memory")
    body = check_line(raw[line - 1]).replace(b'"path":""', b'"path":"\\ud83d"')
    raw[line - 1] = b'%b,"~":"%08x"}\n' % (body[:-1], zlib.crc32(body))
    export.write_bytes(b"".join(raw))
    refused(store, export, line, "surrogates")


def test_a_text_that_spells_such_an_escape_is_a_text() -> None:
    record = {"record": "memory", "text": "\\ud83d and \\u0000 are escapes; \x01\x1f\u2028 are characters"}
    assert decode_line(encode_line(record)) | {"~": ""} == {**record, "~": ""}


def test_metadata_that_json_writes_in_many_ways_survives(store: Store, tmp_path: Path) -> None:
    bank = store.bank("odd")
    odd = {"é": 1e-7, "a": 2**62, "b": -0.0, "c": [True, None, "\u2028"], "\x7f": {"z": 1, "a": 1e300}}
    (memory,) = bank.retain({"text": "odd", "metadata": odd})
    bank.export(tmp_path / "a")
    copy = store.bank("copy")
    copy.import_bank(tmp_path / "a")
    assert copy.get_memory(memory).metadata == odd
    copy.export(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_export_is_one_moment_while_others_write(store: Store, bank: Bank, tmp_path: Path) -> None:
    """The second connection writes between two lines of the export."""
    from simonides.backends.embedded.exporting import export_lines  # noqa: PLC0415

    with bank._rows.reading() as reading:
        lines = export_lines(connection_of(reading), reading.meta)
        first = next(lines)
        other = apsw.Connection(str(bank._rows.folder / "memory.db"))
        other.set_busy_timeout(5_000)
        other.execute("UPDATE memories SET access_count = 99")
        other.close()
        rest = b"".join(lines)
    counts = json.loads(first)["counts"]
    assert rest.count(b'"record":"memory"') == counts["versions"]
    assert b'"access_count":99' not in rest
