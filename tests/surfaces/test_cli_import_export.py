"""`simonides export` and `simonides import`, with a real store and files of every format."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import simonides
from simonides.bank import Bank
from simonides.errors import UnavailableError
from simonides.models.catalogue import DEFAULT_EMBEDDER
from simonides.services.write_path import WritePath
from simonides.surfaces.cli.opening import open_for_writing
from simonides.testing.embedder import StubTokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]

SAMPLES = Path(__file__).parents[1] / "data" / "importing"
# Per sample: how many memories it makes.
MEMORIES = {
    "north-bed.md": 3,
    "items.jsonl": 2,
    "conversations.json": 4,
    "session.jsonl": 3,
    "graph.jsonl": 4,
    "graph.json": 4,
    "mem0.json": 2,
    "locomo.json": 3,
    "claude-conversations.json": 3,
    "claude-projects.json": 3,
    "vault/2026-04-02.md": 2,
}


def exported(cli: Cli, path: Path, bank: str = "default") -> bytes:
    assert cli("export", str(path), "--bank", bank).exit_code == 0
    return path.read_bytes()


def texts(store: Path, bank: str = "default") -> list[str]:
    """Texts of what the bank believes now."""
    import simonides  # noqa: PLC0415 - most tests here only run commands

    with simonides.open(store, embedder=None) as opened:
        return sorted(change.text for change in opened.bank(bank).diff("1970").begun)


# -- other programs' files


@pytest.mark.parametrize("name", MEMORIES)
def test_a_file_of_every_format_and_a_second_import_changes_nothing(
    cli: Cli, cli_json: CliJson, tmp_path: Path, name: str
) -> None:
    answer = cli_json("import", str(SAMPLES / name))
    assert (answer["stored"], answer["unchanged"], answer["skipped"]) == (MEMORIES[name], 0, 0)
    (file,) = answer["files"]
    assert file["path"] == str(SAMPLES / name)
    before = exported(cli, tmp_path / "before")

    again = cli_json("import", str(SAMPLES / name))

    assert (again["stored"], again["unchanged"]) == (0, MEMORIES[name])
    assert exported(cli, tmp_path / "after") == before
    assert cli("verify").exit_code == 0


@pytest.mark.parametrize("name", ["conversations.json", "session.jsonl", "mem0.json", "locomo.json"])
def test_a_second_import_after_the_facts_have_changed_changes_nothing(
    cli: Cli, cli_json: CliJson, tmp_path: Path, store_path: Path, name: str
) -> None:
    """What was forgotten or ended since stays so."""
    import simonides  # noqa: PLC0415 - most tests here only run commands

    cli_json("import", str(SAMPLES / name))
    with simonides.open(store_path, embedder=None) as store:
        bank = store.bank()
        first, second = (memory.id for memory in bank.diff("1970").begun[:2])
        bank.forget(first)
        bank.invalidate(second)
    before = exported(cli, tmp_path / "before")
    assert cli_json("import", str(SAMPLES / name))["stored"] == 0
    assert exported(cli, tmp_path / "after") == before


def test_what_the_formats_know_is_kept(cli_json: CliJson, cli: Cli) -> None:
    for name in ("conversations.json", "north-bed.md", "graph.jsonl", "mem0.json", "locomo.json"):
        cli_json("import", str(SAMPLES / name))

    def found(query: str) -> dict[str, Any]:
        (hit,) = cli_json("recall", query, "--limit", "1")["hits"]
        memory: dict[str, Any] = cli_json("get-memory", hit["id"])
        return memory

    said = found("patch a hull epoxy cloth")
    assert (said["session"], said["speaker"], said["source"]) == ("conv-1", "assistant", "chatgpt")
    assert said["event_time"].startswith("2026-02-25T")
    assert said["metadata"] == {"id": "m4"}
    note = found("pump litres minute")
    assert (note["path"], note["tags"]) == ("north-bed.md", ["fruit trees", "garden"])
    assert note["document"] == f"file:{(SAMPLES / 'north-bed.md').as_posix()}"
    assert (note["event_time"], note["trust"]) == ("2026-04-02T00:00:00+00:00", 0.6)
    assert found("boatyard")["trust"] == 0.5
    assert found("oat milk")["document"] == "mem0:9f3a"
    turn = found("red kayak image")
    assert (turn["session"], turn["speaker"]) == ("conv-99/session_2", "Odalys")
    assert turn["metadata"] == {"dia_id": "D2:1", "sample_id": "conv-99"}


def test_a_conversation_that_went_on_brings_only_what_is_new(cli_json: CliJson, tmp_path: Path) -> None:
    lines = (SAMPLES / "session.jsonl").read_text("utf-8").splitlines(keepends=True)
    path = tmp_path / "session.jsonl"
    path.write_text("".join(lines[:3]), encoding="utf-8")
    assert cli_json("import", str(path))["stored"] == 2
    path.write_text("".join(lines), encoding="utf-8")
    answer = cli_json("import", str(path))
    assert (answer["stored"], answer["unchanged"]) == (1, 2)


def test_a_note_that_changed_replaces_what_it_said(
    cli_json: CliJson, tmp_path: Path, store_path: Path
) -> None:
    note = tmp_path / "bed.md"
    for text in ("Figs.\n\nPears.", "Figs.\n\nPlums.", "Figs.\n\nPears."):
        note.write_text(text)
        cli_json("import", str(note))
        assert texts(store_path) == sorted(text.split("\n\n"))
    history = [memory for memory in texts(store_path) if memory == "Figs."]
    assert len(history) == 1


def test_a_memory_that_mem0_changed_replaces_what_it_was(
    cli_json: CliJson, tmp_path: Path, store_path: Path
) -> None:
    rows = json.loads((SAMPLES / "mem0.json").read_text("utf-8"))["results"]
    rows[0] |= {"memory": "Prefers rice milk", "updated_at": "2026-02-02T00:00:00Z"}
    (tmp_path / "later.json").write_text(json.dumps(rows))
    cli_json("import", str(SAMPLES / "mem0.json"))
    assert cli_json("import", str(tmp_path / "later.json"))["stored"] == 1
    assert texts(store_path) == ["Keeps bees on the roof", "Prefers rice milk"]


def test_a_folder_of_notes(cli_json: CliJson, tmp_path: Path, store_path: Path) -> None:
    (tmp_path / "notes" / "sub").mkdir(parents=True)
    (tmp_path / "notes" / "a.md").write_text("The figs came.")
    (tmp_path / "notes" / "sub" / "b.md").write_text("The pears came.")
    (tmp_path / "notes" / "settings.json").write_text("{}")
    (tmp_path / "notes" / ".hidden.md").write_text("hidden")
    answer = cli_json("import", str(tmp_path / "notes"))
    assert [Path(file["path"]).name for file in answer["files"]] == ["a.md", "b.md"]
    assert texts(store_path) == ["The figs came.", "The pears came."]


def test_two_folders_may_hold_a_note_of_one_name(cli_json: CliJson, tmp_path: Path, store_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder / "docs").mkdir(parents=True)
        (tmp_path / folder / "docs" / "README.md").write_text(f"All about {folder}.")
        cli_json("import", str(tmp_path / folder / "docs"))
    assert texts(store_path) == ["All about one.", "All about two."]


def test_a_folder_of_other_files(cli_json: CliJson, tmp_path: Path) -> None:
    for name in ("session.jsonl", "conversations.json"):
        (tmp_path / name).write_bytes((SAMPLES / name).read_bytes())
    answer = cli_json("import", str(tmp_path))
    assert [(file["format"], file["stored"]) for file in answer["files"]] == [
        ("chatgpt", 4),
        ("claude-code", 3),
    ]
    only = cli_json("import", str(tmp_path), "--format", "claude-code", "--bank", "b")
    assert [file["format"] for file in only["files"]] == ["claude-code"]


@pytest.mark.fault("X4")
def test_links_that_lead_out_of_a_folder_are_refused(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.md").write_text("a secret")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("a note")
    (notes / "same.md").symlink_to("a.md")
    assert cli("import", str(notes)).exit_code == 0
    for link, target in (("b.md", "../secret/key.md"), ("folder", "../secret"), ("up", "..")):
        (notes / link).symlink_to(target)
        result = cli("import", str(notes), "--bank", "other")
        assert result.exit_code == 2
        assert "leads out of" in result.stderr
        (notes / link).unlink()
    assert texts(store_path) == ["a note"]
    assert not [entry for entry in store_path.iterdir() if "other" in entry.name]


@pytest.mark.fault("X4")
def test_what_is_no_regular_file_is_refused(cli: Cli, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in (tmp_path / "pipe.md", tmp_path / "pipe.jsonl", "/dev/zero", tmp_path):
        result = cli("import", str(name))
        assert result.exit_code == 2
        assert "not a regular file" in result.stderr


@pytest.mark.fault("X4")
def test_names_in_a_file_are_never_paths(cli_json: CliJson, tmp_path: Path, store_path: Path) -> None:
    names = ["../x", "/abs", "..\\x", "%2e%2e/x", "C:\\x", "nul", "."]
    rows = [
        {"text": f"fact {n}", "path": name, "source": name, "document_id": name, "session": name}
        for n, name in enumerate(names)
    ]
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert cli_json("import", str(folder / "log.jsonl"))["stored"] == len(names)
    assert cli_json("export", str(folder / "x"))["counts"]["memories"] == len(names)
    assert cli_json("import", str(folder / "x"), "--bank", "copy")["stored"] == len(names)
    assert sorted(entry.name for entry in folder.iterdir()) == ["log.jsonl", "x"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["in", "store"]
    assert sorted(entry.name for entry in store_path.iterdir()) == ["bank-copy", "bank-default"]


@pytest.mark.parametrize("name", ["no-such-file", "../no/such.md", "a\0b", ""])
def test_a_path_to_nothing_is_refused(cli: Cli, store_path: Path, name: str) -> None:
    result = cli("import", name)
    assert result.exit_code == 2
    assert "no such file" in result.stderr
    assert not store_path.exists()


def test_an_empty_folder_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no file that can be imported" in cli("import", str(tmp_path / "empty")).stderr


def test_another_format_is_refused_before_anything_is_stored(
    cli: Cli, tmp_path: Path, store_path: Path
) -> None:
    (tmp_path / "photo").write_bytes(b"\x89PNG\r\n\0")
    result = cli("import", str(SAMPLES / "mem0.json"), str(tmp_path / "photo"))
    assert result.exit_code == 2
    assert "not text" in result.stderr
    assert "chatgpt" in result.stderr
    assert not store_path.exists()


def test_a_format_that_was_named_and_is_not_the_files(cli: Cli, store_path: Path) -> None:
    for name, wrong in (
        ("graph.jsonl", "chatgpt"),
        ("session.jsonl", "mem0"),
        ("mem0.json", "knowledge-graph"),
    ):
        result = cli("import", str(SAMPLES / name), "--format", wrong)
        assert result.exit_code == 2
        assert f"{name}:" in result.stderr
    assert "did you mean" in cli("import", str(SAMPLES / "mem0.json"), "--format", "mem1").stderr
    assert cli("import", str(SAMPLES), "--format", "simonides").exit_code == 2
    assert texts(store_path) == []


# -- malformed rows


def test_a_malformed_row_is_named_and_stops_the_import(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two"\n{"text": "three"}\n')
    result = cli("import", str(path))
    assert result.exit_code == 2
    assert f"{path}:2: is not JSON" in result.stderr
    assert texts(store_path) == []


def test_malformed_rows_are_passed_over_when_asked(
    cli: Cli, cli_json: CliJson, tmp_path: Path, store_path: Path
) -> None:
    """Those that a reader cannot read, and those that the bank refuses."""
    path = tmp_path / "log.jsonl"
    rows = ['{"text": "one"}', "[]", '{"text": " "}', '{"text": "two", "colour": "red"}', '{"text": "three"}']
    path.write_text("\n".join(rows))
    result = cli("import", str(path), "--skip-malformed")
    assert result.exit_code == 0
    assert result.stdout.strip() == "2 stored, 3 skipped"
    skipped = [line for line in result.stderr.splitlines() if line.startswith("skipped")]
    assert [line.split(":")[1] for line in skipped] == ["2", "3", "4"]
    assert "colour" in skipped[2]
    assert texts(store_path) == ["one", "three"]
    again = cli_json("import", str(path), "--skip-malformed")
    assert (again["stored"], again["unchanged"], again["skipped"]) == (0, 2, 3)


def test_what_the_bank_refuses_is_named_by_its_place(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps([{"id": "a", "memory": "x"}, {"id": "b", "memory": "y", "run_id": "r" * 300}]))
    result = cli("import", str(path))
    assert result.exit_code == 2
    assert f"{path}:1: memory 1: session: is 300 characters long" in result.stderr


def test_a_document_in_two_places_is_refused(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({"text": t, "document_id": d}) + "\n" for t, d in ("ax", "by", "cx")))
    assert f"{path}:3: document_id: 'x' ended at line 1" in cli("import", str(path)).stderr


# -- interrupted


def test_a_failure_says_how_far_it_came_and_the_next_import_goes_on(
    cli: Cli, cli_json: CliJson, tmp_path: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({"text": f"fact {n}"}) + "\n" for n in range(600)))
    real, batches = Bank.import_items, 0

    def fail_at_the_third(bank: Bank, items: Any) -> Any:
        nonlocal batches
        batches += 1
        if batches == 3:
            raise UnavailableError("the disk is full")
        return real(bank, items)

    monkeypatch.setattr(Bank, "import_items", fail_at_the_third)
    result = cli("import", str(path))
    assert result.exit_code == 2
    assert "the disk is full; 512 stored" in result.stderr

    def interrupt(bank: Bank, items: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bank, "import_items", interrupt)
    result = cli("import", str(path))
    assert result.exit_code == 130
    assert "go on" in result.stderr

    monkeypatch.setattr(Bank, "import_items", real)
    answer = cli_json("import", str(path))
    assert (answer["stored"], answer["unchanged"]) == (88, 512)
    assert len(texts(store_path)) == 600


def test_nothing_is_encoded_a_second_time(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("import", str(SAMPLES / "north-bed.md"))

    def prepare(*_: object, **__: object) -> None:
        pytest.fail("it was here before")

    monkeypatch.setattr(WritePath, "prepare", prepare)
    assert cli("import", str(SAMPLES / "north-bed.md")).stdout.strip() == "0 stored, 3 unchanged"


# -- converting


@pytest.mark.parametrize("name", MEMORIES)
def test_a_file_may_be_converted_into_lines_that_retain_reads(
    cli: Cli, cli_json: CliJson, tmp_path: Path, store_path: Path, name: str
) -> None:
    lines = tmp_path / "lines.jsonl"
    result = cli("import", str(SAMPLES / name), "--convert", str(lines))
    assert result.exit_code == 0
    assert not store_path.exists()
    assert len(lines.read_text("utf-8").splitlines()) == MEMORIES[name]
    assert cli_json("retain", str(lines))["stored"] == MEMORIES[name]
    cli("import", str(SAMPLES / name), "--bank", "direct")
    assert texts(store_path) == texts(store_path, "direct")


def test_an_export_holds_no_items_to_convert(cli: Cli, tmp_path: Path) -> None:
    cli("retain", "a fact")
    exported(cli, tmp_path / "x")
    result = cli("import", str(tmp_path / "x"), "--convert", str(tmp_path / "y"))
    assert result.exit_code == 2
    assert not (tmp_path / "y").exists()


# -- exports of banks


def test_export_import_export(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
    cli("import", str(SAMPLES / "locomo.json"), str(SAMPLES / "graph.jsonl"))
    first = exported(cli, tmp_path / "first.jsonl")

    answer = cli_json("import", str(tmp_path / "first.jsonl"), "--bank", "copy")

    assert answer["stored"] == answer["added"]["memories"] == 7
    assert answer["files"][0]["format"] == "simonides"
    assert exported(cli, tmp_path / "second.jsonl", "copy") == first
    again = cli_json("import", str(tmp_path / "first.jsonl"), "--bank", "copy")
    assert (again["stored"], again["unchanged"]) == (0, 7)
    assert not any(again["added"].values())
    assert exported(cli, tmp_path / "third.jsonl", "copy") == first


def test_counts_per_kind_are_told(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
    cli("import", str(SAMPLES / "graph.jsonl"))
    answer = cli_json("export", str(tmp_path / "x"))
    assert answer["file"] == str(tmp_path / "x")
    assert answer["counts"]["memories"] == 4
    assert answer["counts"]["relations"] >= 1
    printed = cli("export", str(tmp_path / "x")).stdout
    assert "memories: 4" in printed
    assert "links: " in printed


def test_an_export_to_standard_output(cli: Cli, tmp_path: Path) -> None:
    cli("retain", "a fact")
    result = cli("export", "-")
    assert result.exit_code == 0
    assert result.stdout_bytes == exported(cli, tmp_path / "x")
    assert cli("export", "-", "--json").exit_code == 2


def test_no_bank_is_made_by_an_export(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    assert cli("export", str(tmp_path / "x")).exit_code == 2
    cli("retain", "a fact")
    assert cli("export", str(tmp_path / "x"), "--bank", "no").exit_code == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["", " ", "a\0b", "no/such/folder/x"])
def test_an_export_needs_a_file_to_write(cli: Cli, name: str) -> None:
    cli("retain", "a fact")
    result = cli("export", name)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_a_damaged_export_is_refused_by_its_line(cli: Cli, tmp_path: Path, store_path: Path) -> None:
    cli("import", str(SAMPLES / "graph.jsonl"))
    raw = exported(cli, tmp_path / "x")
    (tmp_path / "x").write_bytes(raw.replace(b"Sundays", b"Mondays"))
    result = cli("import", str(tmp_path / "x"), "--bank", "copy")
    assert result.exit_code == 2
    assert f"{tmp_path / 'x'}:" in result.stderr
    assert "not what was written" in result.stderr
    assert texts(store_path, "copy") == []


def test_an_export_needs_no_model_to_be_imported(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("retain", "a fact")
    exported(cli, tmp_path / "x")
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "auto")
    result = cli("import", str(tmp_path / "x"), "--bank", "copy")
    assert result.exit_code == 0
    assert result.stderr == ""


# -- LoCoMo


def test_the_real_conversations(cli: Cli, cli_json: CliJson, tmp_path: Path, data_folder: Path) -> None:
    path = data_folder / "locomo" / "locomo10.json"
    if not path.is_file():
        pytest.skip(f"missing: {path}")
    lines = tmp_path / "all.jsonl"
    cli("import", str(path), "--convert", str(lines))
    conversation = tmp_path / "conversation.jsonl"
    kept = [
        line for line in lines.read_text("utf-8").splitlines(keepends=True) if '"conv-26/session_1"' in line
    ]
    conversation.write_text("".join(kept), encoding="utf-8")
    answer = cli_json("retain", str(conversation))
    assert answer["stored"] == len(kept) > 10
    (hit,) = cli_json("recall", "When did Caroline go to the support group?", "--limit", "1")["hits"]
    shown = cli_json("get-memory", hit["id"])
    assert shown["session"] == "conv-26/session_1"
    assert shown["event_time"].startswith("2023-05-07")


# -- items with vectors


@pytest.fixture
def embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of items and one of vectors, in a store whose embedder is a stub."""
    from simonides.models import on_demand  # noqa: PLC0415 - most tests here only run commands
    from simonides.testing.embedder import StubTokenEmbedder  # noqa: PLC0415 - the same

    stub = StubTokenEmbedder()
    monkeypatch.setattr(on_demand, "load_embedder", lambda *_, **__: stub)
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "all-MiniLM-L6-v2")
    said = [f"Ines planted {number} fig trees" for number in range(12)]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in said)
    (tmp_path / "items.jsonl").write_text(lines, encoding="utf-8")
    np.save(tmp_path / "vectors.npy", stub.encode(said))
    return tmp_path


def test_items_are_stored_with_the_vectors_of_a_file(cli: Cli, cli_json: CliJson, embedded: Path) -> None:
    options = ("--vectors", str(embedded / "vectors.npy"))
    assert cli_json("import", str(embedded / "items.jsonl"), *options)["stored"] == 12
    assert cli_json("stats")["with_vector"] == 12
    assert cli("settle").exit_code == 0
    assert cli("verify").exit_code == 0


@pytest.mark.parametrize("content", [b"", b"no array", b"PK"])
def test_a_file_that_holds_no_vectors_is_named(cli: Cli, embedded: Path, content: bytes) -> None:
    (embedded / "vectors.npy").write_bytes(content)
    result = cli("import", str(embedded / "items.jsonl"), "--vectors", str(embedded / "vectors.npy"))
    assert result.exit_code != 0
    assert "--vectors" in result.stderr


def test_vectors_go_with_one_file_of_items(cli: Cli, embedded: Path) -> None:
    items = str(embedded / "items.jsonl")
    result = cli("import", items, items, "--vectors", str(embedded / "vectors.npy"))
    assert result.exit_code != 0
    assert "one file of items" in result.stderr


def test_processes_encode_with_the_model_of_the_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def load(name: str, **_: object) -> StubTokenEmbedder:
        asked.append(name)
        return StubTokenEmbedder(name=name)

    monkeypatch.setattr("simonides.models.resolve.load_embedder", load)
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "auto")
    for bank, model in (("old", "e5-small"), ("new", "")):
        if model:
            with simonides.open(tmp_path / "store", embedder=StubTokenEmbedder(name=model)) as store:
                store.bank(bank).retain("Figs need water.")
        with open_for_writing(str(tmp_path / "store"), bank, workers=2):
            pass
    assert asked[0] == "e5-small"
    assert asked[-1] == DEFAULT_EMBEDDER


def test_a_page_is_written_of_the_bank_that_was_named_and_of_no_other(
    cli: Cli, tmp_path: Path, store_path: Path
) -> None:
    for bank in ("diary", "work"):
        assert cli("retain", f"Of {bank}.", "--bank", bank, "--store", str(store_path)).exit_code == 0
    for named in (["--bank", "dairy"], []):
        target = tmp_path / "page.html"
        failed = cli("ui", "--export", str(target), "--store", str(store_path), *named)
        assert failed.exit_code == 2
        assert "is not known" in failed.stderr
        assert not target.exists()
    done = cli("ui", "--export", str(tmp_path / "page.html"), "--bank", "diary", "--store", str(store_path))
    assert done.exit_code == 0, done.stderr
