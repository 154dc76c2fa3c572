"""What somebody meets who has just installed the program: messages that say what to do, nothing by surprise."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.surfaces.cli import opening
from simonides.surfaces.cli.output import console, table

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli


def test_the_program_alone_shows_its_help(cli: Cli) -> None:
    result = cli()
    assert result.exit_code == 2
    assert "\n  retain " in result.output
    assert "Missing command" not in result.output
    # What a command does is not cut in the middle.
    assert "..." not in result.output.partition("Commands:")[2]


@pytest.mark.parametrize("argument", ["notes/", "./notes", "../notes", "~/notes"])
def test_a_folder_that_is_not_there_is_not_stored_as_a_text(
    cli: Cli, store_path: Path, argument: str
) -> None:
    result = cli("retain", argument)
    assert result.exit_code == 2
    assert "there is no such file or folder" in result.stderr
    assert not store_path.exists()


@pytest.mark.parametrize("text", ["and/or", "/deploy", "He asked: red, green and/or blue/", "~5 apples"])
def test_a_text_with_a_slash_is_a_text(cli: Cli, text: str) -> None:
    assert cli("retain", text).exit_code == 0


def test_the_first_memory_says_where_the_store_is_if_nobody_named_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SIMONIDES_STORE")
    monkeypatch.setattr(opening, "data_folder", lambda: tmp_path / "mine")
    assert f"new store: {tmp_path / 'mine'}" in cli("retain", "The kiln is mended.").stderr
    assert "new store" not in cli("retain", "The boat is sold.").stderr


def test_a_store_that_was_named_is_not_told_again(cli: Cli) -> None:
    assert "new store" not in cli("retain", "The kiln is mended.").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("retain", "x", "--kind", "fact"), "'fact' is not one of 'episodic'"),
        (("undo-move", "e9904855da65a45b"), "expected a whole number"),
    ],
)
def test_a_wrong_value_is_named_in_plain_words(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    result = cli(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Value error" not in result.stderr
    assert "Input should be" not in result.stderr


def test_recall_without_a_model_by_choice_says_nothing_of_it(cli: Cli) -> None:
    cli("retain", "The kiln is mended.")
    result = cli("recall", "kiln")
    assert "The kiln is mended." in result.stdout
    assert result.stderr == ""


def test_recall_without_the_model_that_was_asked_for_says_it_once(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("retain", "The kiln is mended.")
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "auto")
    note = cli("recall", "kiln").stderr
    assert note.count("note:") == 1
    assert "simonides models pull" in note
    assert "no embedder" not in note
    assert "no vector" not in note


def test_times_are_whole_in_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = cli("when", "next friday at 3pm", "--at", "2026-11-30", "--zone", "UTC")
    assert "2026-12-11 15:00+00:00" in result.stdout
    assert "2026-12-11 16:00+00:00" in result.stdout


def test_names_of_models_are_whole_in_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = cli("models", "list").stdout
    for name in ("bge-small-en-v1.5", "snowflake-arctic-embed-l-v2.0", "mxbai-embed-large-v1"):
        assert name in shown


def test_a_column_that_is_whole_is_never_broken() -> None:
    rows = table("id", "text", whole=("id",))
    rows.add_row("x" * 30, "word " * 40)
    narrow = console()
    narrow.width = 60
    with narrow.capture() as caught:
        narrow.print(rows)
    assert "x" * 30 in caught.get()


def test_an_empty_list_says_so(cli: Cli) -> None:
    cli("retain", "it rains")
    for command in ("moves", "entities"):
        result = cli(command)
        assert result.exit_code == 0
        assert result.stdout == ""
        assert result.stderr.startswith("no ")


def test_a_field_of_several_lines_stays_in_its_column(cli: Cli) -> None:
    made = cli("retain", "Ilse prefers tea over coffee.").stdout.strip()
    lines = cli("get-memory", made).stdout.split("\n\n")[0].splitlines()
    [start] = [number for number, line in enumerate(lines) if line.startswith("expansion:")]
    assert lines[start + 1].startswith(" " * 17)


def test_what_was_forgotten_is_counted_as_memories(cli: Cli) -> None:
    made = cli("retain", "Ilse prefers tea over coffee.").stdout.strip()
    cli("update-memory", made, "--kind", "semantic")
    shown = cli("forget", made, "--yes").stdout
    assert shown.startswith("1 forgotten (erased)\n")
    assert re.search(r"^  versions: 2$", shown, re.MULTILINE)
    assert "memories: 2" not in shown


def test_a_new_token_is_explained_and_an_empty_list_names_its_store(cli: Cli, store_path: Path) -> None:
    cli("retain", "it rains")
    assert str(store_path) in cli("token", "list").stderr
    made = cli("token", "create", "--bank", "user-ivo", "--verb", "read")
    assert re.fullmatch(r"smn_\S+\n", made.stdout)
    assert "shown this once" in made.stderr
    assert "bank 'user-ivo' is not there yet; `simonides create-bank`" in made.stderr
    assert "not there yet" not in cli("token", "create", "--bank", "default", "--bank", "*").stderr


@pytest.mark.parametrize(
    ("number", "problem"), [(errno.EADDRINUSE, "is in use"), (errno.EACCES, "is not allowed to this user")]
)
def test_a_port_that_cannot_be_had_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, number: int, problem: str
) -> None:
    pytest.importorskip("fastapi")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr("simonides.surfaces.serving.listening.listen", refuse)
    result = cli("serve", "--port", "8917")
    assert result.exit_code == 2
    assert f"--port: 8917 on 127.0.0.1 {problem}" in result.stderr


def test_uninstall_says_where_there_is_nothing_of_ours(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    result = cli("uninstall", "codex", "--yes")
    assert result.exit_code == 0
    assert "nothing of simonides: " in result.stderr
    assert "unchanged" not in result.stderr


def test_store_bank_and_answer_are_readable_when_printed(tmp_path: Path) -> None:
    with simonides.open(tmp_path / "memories", embedder=None) as store:
        bank = store.bank("garden")
        bank.retain("The kiln is mended.")
        assert repr(store) == f"Store({str(tmp_path / 'memories')!r})"
        assert repr(bank) == "Bank('garden')"
        assert repr(store.bank("garden", principal="tove")) == "Bank('garden', principal='tove')"
        answer = bank.recall("Is the kiln mended?")
        assert str(answer) == answer.context
        assert str(answer[0]) == str(answer[0].memory) == "The kiln is mended."
        assert "StageTrace" not in repr(answer)
        assert str(bank.recall("Who painted the ceiling?")).startswith("Not in memory")


def test_install_says_that_the_model_is_to_be_fetched_before_hooks_need_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mcp")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "models pull" not in cli("install", "codex", "--yes").stderr
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "auto")
    assert "run `simonides models pull`" in cli("install", "codex", "--yes").stderr
    assert "models pull" not in cli("install", "codex", "--yes", "--no-hooks").stderr


def test_a_conversation_is_named_after_its_file(cli: Cli, tmp_path: Path) -> None:
    talk = tmp_path / "monday.json"
    talk.write_text('[{"speaker": "Tove", "text": "I moved to Norrhav."}]', "utf-8")
    made = cli("retain-conversation", str(talk)).stdout.strip()
    assert re.search(r"^session: +monday.json$", cli("get-memory", made).stdout, re.MULTILINE)
    refused = cli("retain-conversation", "-", stdin=talk.read_text("utf-8"))
    assert refused.exit_code == 2
    assert "--session: is needed with standard input" in refused.stderr


def test_a_restore_of_a_file_that_is_not_there_makes_no_store(cli: Cli, store_path: Path) -> None:
    result = cli("restore", "nofile.db", "--yes")
    assert result.exit_code == 2
    assert "FILE: there is no file nofile.db" in result.stderr
    assert not store_path.exists()


def test_an_event_that_is_not_json_is_no_fault_of_ours(cli: Cli) -> None:
    said = cli("hook", "codex", stdin="not json").stderr
    assert "event: standard input is not JSON" in said
    assert "fault in simonides" not in said
