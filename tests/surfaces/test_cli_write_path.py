"""Notes as documents, commands about entities, `history`, `diff`, `invalidate` and `settle`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simonides.retain import storing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]

NOTE = "# Garden\n\nIlse planted figs.\n\n## Tools\n\nThe spade is blunt.\n\nBuy a rake.\n"


@pytest.fixture
def note(tmp_path: Path) -> Path:
    file = tmp_path / "notes" / "garden.md"
    file.parent.mkdir()
    file.write_text(NOTE, encoding="utf-8")
    return file


def column(result: Result, number: int) -> list[str]:
    """One column of a table, its heading left out."""
    return [line.split()[number] for line in result.stdout.splitlines()[1:]]


# -- notes


def test_a_note_is_a_document_whose_paragraphs_have_context(cli_json: CliJson, note: Path) -> None:
    ids = cli_json("retain", str(note))["ids"]
    shown = [cli_json("get-memory", memory) for memory in ids]
    assert [memory["context"] for memory in shown] == ["", "# Garden", "# Garden > ## Tools"]
    assert len({memory["document"] for memory in shown}) == 1
    assert cli_json("stats")["episodes"] == 1


def test_a_changed_note_replaces_what_it_said(cli_json: CliJson, cli: Cli, note: Path) -> None:
    first = cli_json("retain", str(note))["ids"]
    assert cli_json("retain", str(note))["ids"] == first
    note.write_text(NOTE.replace("blunt", "sharp"), encoding="utf-8")
    second = cli_json("retain", str(note.parent))["ids"]
    assert [old == new for old, new in zip(first, second, strict=True)] == [True, False, True]
    texts = [hit["text"] for hit in cli_json("recall", "spade", "--profile", "lexical")["hits"]]
    assert texts == ["## Tools\n\nThe spade is sharp."]


def test_notes_of_one_name_in_two_folders_are_two_documents(cli_json: CliJson, tmp_path: Path) -> None:
    for folder in ("red", "blue"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "README.md").write_text(f"The {folder} boat.", encoding="utf-8")
        cli_json("retain", str(tmp_path / folder))
    assert cli_json("stats")["current"] == 2


def test_a_document_is_not_divided_between_batches(cli_json: CliJson, tmp_path: Path) -> None:
    for name, count in (("a", 3), ("b", 5), ("c", 1)):
        text = "\n\n".join(f"Paragraph {n} of {name}." for n in range(count))
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    assert (
        len(cli_json("retain", *(str(tmp_path / f"{name}.md") for name in "abc"), "--batch", "2")["ids"]) == 9
    )
    assert cli_json("stats")["current"] == 9
    assert cli_json("stats")["episodes"] == 3


def test_a_note_with_a_byte_order_mark(cli_json: CliJson, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf# Bread\n\nMira bakes.\n\nTwice.")
    first, second = (
        cli_json("get-memory", memory) for memory in cli_json("retain", str(tmp_path / "a.md"))["ids"]
    )
    assert first["text"] == "# Bread\n\nMira bakes."
    assert second["context"] == "# Bread"


def test_what_a_large_note_leaves_for_later_is_settled_at_once(
    cli_json: CliJson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "LARGEST_COMPARED", 3)
    (tmp_path / "a.md").write_text("\n\n".join(f"Paragraph {n}." for n in range(8)), encoding="utf-8")
    assert len(cli_json("retain", str(tmp_path / "a.md"))["ids"]) == 8
    assert cli_json("stats")["waiting"] == 0
    assert cli_json("settle") == {"compared": 0}


def test_settle_works_off_what_waits(
    cli_json: CliJson, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simonides.surfaces.cli import retain as command  # noqa: PLC0415 - patched here alone

    monkeypatch.setattr(storing, "LARGEST_COMPARED", 3)
    monkeypatch.setattr(command, "settle_all", lambda _bank, _progress: 0)
    lines = "\n".join(json.dumps({"text": f"line {n}", "event_time": "2026-03-02"}) for n in range(8))
    (tmp_path / "log.jsonl").write_text(lines, encoding="utf-8")
    cli_json("retain", str(tmp_path / "log.jsonl"))
    before = cli_json("stats")
    assert before["waiting"] == 8
    result = cli("settle")
    assert (result.exit_code, result.stdout) == (0, "8 compared\n")
    after = cli_json("stats")
    assert after["waiting"] == 0
    assert after["links"] > before["links"]


# -- entities


@pytest.fixture
def people(cli_json: CliJson) -> dict[str, int]:
    for text in (
        "Odalys Fennimark works at Gullspire.",
        "Odalys Fennimark is allergic to hazelnuts.",
        "Joss Underbeck lives in Lisbon.",
    ):
        cli_json("retain", text)
    return {entity["name"]: entity["number"] for entity in cli_json("entities")["entities"]}


def test_entities_come_with_their_counts(cli: Cli, cli_json: CliJson, people: dict[str, int]) -> None:
    found = cli_json("entities", "--limit", "1")["entities"]
    assert [(entity["name"], entity["kind"], entity["mentions"]) for entity in found] == [
        ("Odalys Fennimark", "person", 2)
    ]
    result = cli("entities")
    assert result.stdout.splitlines()[0].split() == ["number", "name", "kind", "memories", "also", "called"]
    assert column(result, 0) == [str(people[name]) for name in people]


def test_no_entities(cli: Cli, cli_json: CliJson) -> None:
    cli_json("retain", "it rained")
    result = cli("entities")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no memory names" in result.stderr
    assert cli_json("entities") == {"entities": []}


def test_another_name_stands_for_an_entity(cli: Cli, cli_json: CliJson, people: dict[str, int]) -> None:
    number = people["Odalys Fennimark"]
    assert cli_json("add-alias", str(number), "Oda") == {"entity": number, "alias": "Oda"}
    assert "Oda" in cli("entities").stdout
    cli_json("retain", "Oda owns a red boat.")
    counts = {entity["number"]: entity["mentions"] for entity in cli_json("entities")["entities"]}
    assert counts[number] == 3
    assert cli("add-alias", str(number), "Fenny").stdout == f"Fenny is now a name of entity {number}\n"


def test_a_name_that_was_added_is_removed(cli: Cli, cli_json: CliJson, people: dict[str, int]) -> None:
    number = str(people["Odalys Fennimark"])
    cli_json("add-alias", number, "Oda")
    assert column(cli("entities", "--named", "ODA"), 0) == [number]
    assert cli("remove-alias", number, "Oda").stdout == f"Oda is no longer a name of entity {number}\n"
    assert cli_json("entities", "--named", "ODA")["entities"][0]["aliases"] == []
    assert cli("remove-alias", number, "Oda").exit_code == 1
    assert cli("remove-alias", number, "Odalys Fennimark").exit_code == 2


def test_an_entity_is_shown(cli: Cli, cli_json: CliJson, people: dict[str, int]) -> None:
    one, other = str(people["Joss Underbeck"]), str(people["Odalys Fennimark"])
    merge = cli_json("merge-entities", one, other)["merge"]
    shown = cli("get-entity", other, "--most", "2").stdout
    for part in ("Gullspire", "works at", "Lisbon", f"simonides undo-merge {merge}", "lives in Lisbon."):
        assert part in shown
    assert "3 memories" in cli("get-entity", other, "--most", "2").stderr
    assert cli_json("get-entity", other)["total"] == 3
    assert cli("get-entity", other, "--as-of", "2020").exit_code == 1


@pytest.mark.spec("ME-10")
def test_a_merge_can_be_undone(cli: Cli, cli_json: CliJson, people: dict[str, int]) -> None:
    one, other = people["Joss Underbeck"], people["Odalys Fennimark"]
    merge = cli_json("merge-entities", str(one), str(other))
    assert merge == {"merge": merge["merge"], "entity": one, "into": other}
    assert one not in {entity["number"] for entity in cli_json("entities")["entities"]}
    assert cli_json("undo-merge", str(merge["merge"])) == {"undone": merge["merge"]}
    assert one in {entity["number"] for entity in cli_json("entities")["entities"]}
    again = cli("merge-entities", str(one), str(other))
    assert "simonides undo-merge " in again.stdout
    assert cli("undo-merge", again.stdout.split("undo-merge ")[1].split("`")[0]).exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("get-entity", "9999"),
        ("add-alias", "9999", "Oda"),
        ("remove-alias", "9999", "Oda"),
        ("merge-entities", "9999", "1"),
        ("merge-entities", "1", "9999"),
        ("undo-merge", "9999"),
    ],
)
def test_an_entity_or_merge_that_is_not_there(
    cli: Cli, people: dict[str, int], words: tuple[str, ...]
) -> None:
    result = cli(*words)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "9999" in result.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("alias", "x", "Oda"), "ENTITY"),
        (("alias", "1", " "), "name"),
        (("merge", "1", "1"), "merged already"),
        (("entities", "--limit", "0"), "limit"),
        (("diff", "once"), "earlier"),
    ],
)
def test_bad_input(cli: Cli, people: dict[str, int], words: tuple[str, ...], problem: str) -> None:
    result = cli(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert problem in result.stderr


# -- versions


@pytest.fixture
def port(cli_json: CliJson) -> str:
    (memory,) = cli_json("retain", "Staging runs on port 5439.", "--event-time", "2026-03-02")["ids"]
    return str(memory)


@pytest.mark.spec("ME-10")
@pytest.mark.spec("DF-08")
def test_an_ended_memory_is_kept_with_its_history(cli: Cli, cli_json: CliJson, port: str) -> None:
    ended = cli_json("invalidate", port, "--at", "2026-04-01")
    assert ended == {"id": port, "valid_to": "2026-04-01T00:00:00+00:00"}
    assert cli("recall", "staging", "--profile", "lexical").exit_code == 1
    assert cli("recall", "staging", "--profile", "lexical", "--as-of", "2026-03-15").exit_code == 1
    known = ("--as-of", "2026-03-15", "--known-at", "2999-01-01")
    assert cli("recall", "staging", "--profile", "lexical", *known).exit_code == 0
    versions = cli_json("history", port)["versions"]
    assert [version["version"] for version in versions] == [1, 2]
    assert [version["valid_to"] for version in versions] == [None, "2026-04-01T00:00:00+00:00"]


def test_history_for_people(cli: Cli, port: str) -> None:
    assert cli("invalidate", port).stdout.startswith(f"{port} ended at 20")
    lines = cli("history", port).stdout.splitlines()
    assert lines[0] == "Staging runs on port 5439."
    assert lines[1].split()[:3] == ["version", "true", "from"]
    assert [line.split()[0] for line in lines[2:]] == ["1", "2"]
    assert lines[2].split()[1:3] == ["2026-03-02", "-"]


@pytest.mark.parametrize(("moment", "problem"), [("soon", "not a valid date"), ("2026-03-01", "lies before")])
def test_a_memory_ends_at_a_moment_that_it_can_end_at(cli: Cli, port: str, moment: str, problem: str) -> None:
    result = cli("invalidate", port, "--at", moment)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert problem in result.stderr


@pytest.mark.parametrize("command", ["history", "invalidate"])
def test_a_memory_that_is_not_there(cli: Cli, port: str, command: str) -> None:
    result = cli(command, "0" * 16)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "no memory" in result.stderr


@pytest.mark.spec("DF-08")
def test_diff_tells_what_ended_began_and_changed(cli: Cli, cli_json: CliJson, port: str) -> None:
    (other,) = cli_json("retain", "Production runs on port 5500.", "--event-time", "2026-03-10")["ids"]
    cli_json("invalidate", port, "--at", "2026-04-01")
    found = cli_json("diff", "2020-01-01")
    assert [memory["id"] for memory in found["begun"]] == [other]
    assert (found["ended"], found["changed"]) == ([], [])
    result = cli("diff", "2020-01-01")
    (line,) = result.stdout.splitlines()[1:]
    assert line.split()[:4] == ["+", other, "2026-03-10", "-"]


def test_diff_without_a_difference(cli: Cli, cli_json: CliJson, port: str) -> None:
    result = cli("diff", "2020-01-01", "2020-02-01")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing changed" in result.stderr
    assert cli_json("diff", "2020-01-01", "2020-02-01") == {"ended": [], "begun": [], "changed": []}


@pytest.mark.parametrize(
    "words",
    [
        ("entities",),
        ("history", "0" * 16),
        ("diff", "2020-01-01"),
        ("invalidate", "0" * 16),
        ("alias", "1", "x"),
        ("merge", "1", "2"),
        ("undo-merge", "1"),
        ("settle",),
    ],
)
def test_no_verb_but_retain_makes_a_store(cli: Cli, store_path: Path, words: tuple[str, ...]) -> None:
    result = cli(*words)
    assert result.exit_code == 2
    assert "there is no store" in result.stderr
    assert not store_path.exists()
