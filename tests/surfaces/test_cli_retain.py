"""`simonides retain`, into a real store."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from simonides.bank import Bank
from simonides.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


def write_lines(path: Path, count: int) -> Path:
    lines = [json.dumps({"text": f"Day {n}: Mira walked {n} miles"}) for n in range(count)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def stored(cli_json: CliJson, memory_id: str) -> dict[str, Any]:
    memory: dict[str, Any] = cli_json("get-memory", memory_id)
    return memory


def test_a_text_is_stored_and_its_id_is_the_answer(cli: Cli, cli_json: CliJson) -> None:
    result = cli("retain", "Mira bakes bread on Sundays")
    assert result.exit_code == 0
    (memory_id,) = result.stdout.splitlines()
    assert stored(cli_json, memory_id)["text"] == "Mira bakes bread on Sundays"


def test_options_describe_every_item(cli_json: CliJson) -> None:
    answer = cli_json(
        "retain",
        "We chose flour from the Alder mill",
        "We bought a second oven",
        *("--kind", "decision", "--tag", "flour", "--tag", "bakery", "--project", "bakery"),
        *("--event-time", "2026-03-10", "--valid-from", "2026-03-11", "--valid-to", "2027"),
        *("--acl", "mira", "--source", "meeting"),
    )
    assert answer["stored"] == 2
    for memory_id in answer["ids"]:
        memory = stored(cli_json, memory_id)
        assert memory["kind"] == "decision"
        assert memory["tags"] == ["bakery", "flour"]
        assert memory["project"] == "bakery"
        assert memory["event_time"] == "2026-03-10T00:00:00+00:00"
        assert memory["event_precision"] == "day"
        assert memory["valid_from"].startswith("2026-03-11")
        assert memory["valid_to"].startswith("2027-01-01")
        assert memory["acl"] == ["mira"]
        assert memory["source"] == "meeting"


def test_what_a_line_says_of_its_item_comes_before_the_options(cli_json: CliJson, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"text": "a fact"}\n{"text": "x = 1", "kind": "code"}', encoding="utf-8")
    ids = cli_json("retain", str(path), "--kind", "semantic")["ids"]
    assert [stored(cli_json, memory_id)["kind"] for memory_id in ids] == ["semantic", "code"]


def test_standard_input(cli_json: CliJson) -> None:
    text = "Zoë's café opens at 07:00\nand closes at 15:00\n"
    (memory_id,) = cli_json("retain", "-", stdin=text)["ids"]
    assert stored(cli_json, memory_id)["text"].strip() == text.strip()
    assert cli_json("retain", "--lines", stdin="one line\nanother line\n")["stored"] == 2


def test_a_folder_of_notes(cli_json: CliJson, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "sub").mkdir(parents=True)
    (notes / "sub" / "bread.md").write_text("# Bread\n\nMira bakes on Sundays.\n", encoding="utf-8")
    (memory_id,) = cli_json("retain", str(notes))["ids"]
    memory = stored(cli_json, memory_id)
    assert memory["path"] == "sub/bread.md"
    assert memory["source"] == "bread.md"


def test_the_same_text_twice_is_one_memory_unless_asked_otherwise(cli_json: CliJson) -> None:
    first, second = (cli_json("retain", "Mira bakes bread")["ids"] for _ in range(2))
    assert first == second
    assert cli_json("retain", "Mira bakes bread", "--no-deduplicate")["ids"] != first


def test_batches_cover_every_line_in_order(cli_json: CliJson, tmp_path: Path) -> None:
    answer = cli_json("retain", str(write_lines(tmp_path / "log.jsonl", 25)), "--batch", "10")
    assert answer == {"ids": answer["ids"], "stored": 25, "skipped": 0}
    assert len(set(answer["ids"])) == 25
    assert stored(cli_json, answer["ids"][24])["text"] == "Day 24: Mira walked 24 miles"


def test_ids_alone_stand_on_standard_output(cli: Cli, tmp_path: Path) -> None:
    result = cli("retain", str(write_lines(tmp_path / "log.jsonl", 3)))
    assert len(result.stdout.splitlines()) == 3
    assert result.stderr == "3 memories stored\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("nonsense", "not valid JSON"),
        ('{"text": "a", "kind": "rumour"}', "kind: 'rumour' is not known"),
        ('{"text": " "}', "text: is blank"),
        ('{"text": "a", "colour": "red"}', "'colour' is not known"),
        ('{"text": "a", "tags": "flour"}', "tags"),
        ('{"kind": "code"}', "text: is missing"),
        ('{"text": "a\\u0000b"}', "text"),
        ('{"text": "a\\ud800b"}', "text"),
        ('{"text": "a", "event_time": "2026-13-40"}', "event_time"),
    ],
)
def test_a_malformed_line_stops_its_batch_and_keeps_those_before(
    cli: Cli, cli_json: CliJson, tmp_path: Path, line: str, problem: str
) -> None:
    path = write_lines(tmp_path / "log.jsonl", 14)
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n" + '{"text": "last"}', encoding="utf-8")
    result = cli("retain", str(path), "--batch", "10")
    assert result.exit_code == 2
    assert f"{path}:15: " in result.stderr
    assert problem in result.stderr
    assert "10 memories stored before it" in result.stderr
    assert result.stderr.count("\n") == 1
    assert len(result.stdout.splitlines()) == 10
    assert cli("recall", "day").exit_code == 0
    assert "10" in cli("stats").stdout


def test_a_malformed_first_batch_makes_no_store(cli: Cli, store_path: Path, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"text": "one"}\nnonsense', encoding="utf-8")
    result = cli("retain", str(tmp_path / "log.jsonl"))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert not store_path.exists()


def test_malformed_lines_can_be_skipped(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [
        '{"text": "one"}',
        "nonsense",
        '{"text": ""}',
        '{"text": "two"}',
        '{"text": "x", "kind": "rumour"}',
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    result = cli("retain", str(path), "--skip-malformed", "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert (answer["stored"], answer["skipped"]) == (2, 3)
    for number in (2, 3, 5):
        assert f"skipped {path}:{number}: " in result.stderr


def test_an_empty_file_is_an_error(cli: Cli, store_path: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    result = cli("retain", str(tmp_path / "empty.jsonl"))
    assert result.exit_code == 2
    assert "nothing was stored" in result.stderr
    assert not store_path.exists()


def test_an_interruption_waits_for_the_batch_and_says_what_was_stored(
    cli: Cli, cli_json: CliJson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    retain = Bank.retain
    calls: list[int] = []

    def interrupted(self: Bank, items: list[Any], **options: Any) -> list[str]:
        calls.append(len(items))
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return retain(self, items, **options)

    monkeypatch.setattr(Bank, "retain", interrupted)
    path = write_lines(tmp_path / "log.jsonl", 35)
    result = cli("retain", str(path), "--batch", "10")
    monkeypatch.undo()
    assert result.exit_code == 130
    assert result.stderr == "interrupted; 20 memories stored\n"
    assert calls == [10, 10]
    assert len(result.stdout.splitlines()) == 20


def test_an_interruption_while_the_model_is_fetched_does_not_wait(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_bank: Bank) -> None:
        signal.raise_signal(signal.SIGINT)
        pytest.fail("went on")

    monkeypatch.setattr(Bank, "embedder", property(interrupted))
    result = cli("retain", "Mira bakes bread")
    assert result.exit_code == 130
    assert result.stderr == "interrupted; 0 memories stored\n"


def test_a_second_interruption_does_not_wait(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Bank, items: list[Any], **options: Any) -> list[str]:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("went on")

    monkeypatch.setattr(Bank, "retain", interrupted)
    result = cli("retain", str(write_lines(tmp_path / "log.jsonl", 5)))
    assert result.exit_code == 130
    assert result.stderr == "interrupted; 0 memories stored\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_file_that_cannot_be_read_leaves_what_came_before(cli: Cli, tmp_path: Path) -> None:
    first = write_lines(tmp_path / "first.jsonl", 10)
    (tmp_path / "second.jsonl").symlink_to(tmp_path / "gone.jsonl")
    result = cli("retain", str(first), str(tmp_path / "second.jsonl"), "--batch", "10")
    assert result.exit_code == 2
    assert "10 memories stored before it" in result.stderr
    assert "second.jsonl" in result.stderr
    assert len(result.stdout.splitlines()) == 10


def test_a_disk_that_fills_up_leaves_whole_batches(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    retain = Bank.retain
    calls: list[int] = []

    def filling(self: Bank, items: list[Any], **options: Any) -> list[str]:
        calls.append(len(items))
        if len(calls) == 2:
            raise UnavailableError("the disk is full; free some space")
        return retain(self, items, **options)

    monkeypatch.setattr(Bank, "retain", filling)
    result = cli("retain", str(write_lines(tmp_path / "log.jsonl", 20)), "--batch", "10", "--json")
    assert result.exit_code == 2
    assert "the disk is full; free some space; 10 memories stored before it" in result.stderr
    assert json.loads(result.stdout)["stored"] == 10
