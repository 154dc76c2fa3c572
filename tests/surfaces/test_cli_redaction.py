"""`--redact`, SIMONIDES_REDACT and the user's file; what the command line says on standard error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson

pytestmark = pytest.mark.fault("X6")

TOKEN = "ghp_" + "Zq7Rk2Lw9X" * 4
PLACEHOLDER = "[REDACTED:github_token]"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's configuration folder, and an empty current one."""
    here, own = tmp_path / "here", tmp_path / "config" / "simonides"
    here.mkdir()
    own.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own.parent))
    return own


def stored(folder: Path) -> bool:
    return any(TOKEN.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def text_of(cli: Cli, *arguments: str) -> str:
    answer: str = json.loads(cli("list-memories", "--json").stdout)["memories"][-1]["text"]
    return answer


def test_the_option_the_variable_and_the_file_each_have_it_masked(
    cli: Cli, folders: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("retain", f"One is {TOKEN}.", "--redact", "mask").exit_code == 0
    monkeypatch.setenv("SIMONIDES_REDACT", "mask")
    assert cli("retain", f"Two is {TOKEN}.").exit_code == 0
    monkeypatch.delenv("SIMONIDES_REDACT")
    (folders / "simonides.toml").write_text('redact = "mask"\n')
    assert cli("retain", f"Three is {TOKEN}.").exit_code == 0
    assert not stored(store_path)
    assert cli("retain", f"Four is {TOKEN}.", "--redact", "off").exit_code == 0
    assert stored(store_path)


def test_every_command_that_writes_words_takes_the_option(
    cli: Cli, folders: Path, store_path: Path, tmp_path: Path
) -> None:
    memory = cli("retain", "Odalys Fennimark leads the harbour office.").stdout.strip()
    turns = tmp_path / "turns.jsonl"
    turns.write_text(json.dumps({"speaker": "Ivo", "text": f"use {TOKEN}"}) + "\n")
    notes = tmp_path / "notes.md"
    notes.write_text(f"# Keys\n\nThe key is {TOKEN}.\n")
    for arguments in (
        ("retain-conversation", str(turns), "--session", TOKEN),
        ("import", str(notes)),
        ("retain", str(notes)),
        ("update-memory", memory, "--source", TOKEN, "--metadata", json.dumps({"k": TOKEN})),
        ("recall", f"who has {TOKEN}?", "--tier", "async"),
    ):
        assert cli(*arguments, "--redact", "mask").exit_code in {0, 1}
        assert not stored(store_path), arguments
    refused = cli("add-alias", "1", TOKEN, "--redact", "mask")
    assert refused.exit_code == 2
    assert "name: holds a secret (github_token), and a name cannot be masked" in refused.stderr


def test_refusing_says_what_to_do(cli: Cli, folders: Path, store_path: Path) -> None:
    result = cli("retain", f"The key is {TOKEN}.", "--redact", "refuse")
    assert result.exit_code == 2
    assert "text: holds a secret (github_token); take it out" in result.stderr
    assert TOKEN not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("retain", "words", "--kind", TOKEN),
        ("retain", "words", "--event-time", f"on the morning of the day before {TOKEN}"),
        ("get-memory", TOKEN),
        ("get-memory", f"{'x' * 40} {TOKEN}"),
        ("recall", "words", "--profile", TOKEN),
        (TOKEN,),
        ("retain", "words", f"--{TOKEN}"),
        ("stats", "--bank", TOKEN),
        ("update-memory", "0" * 16, "--metadata", TOKEN),
        ("forget", TOKEN, "-y"),
    ],
)
def test_no_message_repeats_a_token(cli: Cli, folders: Path, arguments: tuple[str, ...]) -> None:
    cli("retain", "The kettle leaks.")
    result = cli(*arguments)
    assert result.exit_code in {1, 2}
    assert TOKEN[:14] not in result.stderr
    assert result.stderr


def test_a_wrong_word_names_its_place(
    cli: Cli, folders: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        "--redact: 'masc' is not known; did you mean 'mask'?"
        in cli("retain", "words", "--redact", "masc").stderr
    )
    monkeypatch.setenv("SIMONIDES_REDACT", "all")
    result = cli("settle")
    assert result.exit_code == 2
    assert not store_path.exists()


def test_the_settings_show_it_and_a_project_may_not_set_it(
    cli: Cli, cli_json: CliJson, folders: Path, tmp_path: Path
) -> None:
    (folders / "simonides.toml").write_text('redact = "refuse"\n')
    shown = {each["key"]: each for each in cli_json("config", "show")["settings"]}
    assert shown["redact"]["value"] == "refuse"
    assert shown["redact"]["origin"] == str(folders / "simonides.toml")
    (tmp_path / "here" / "simonides.toml").write_text('redact = "off"\n')
    refused = cli("retain", "words")
    assert refused.exit_code == 2
    assert "may not come from the current folder" in refused.stderr
    assert "SIMONIDES_REDACT" in refused.stderr


def test_a_client_starts_the_server_with_the_policy(cli: Cli, folders: Path) -> None:
    result = cli("mcp", "--print-config", "claude", "--redact", "mask")
    assert json.loads(result.stdout)["mcpServers"]["simonides"]["args"][-2:] == ["--redact", "mask"]


@pytest.mark.fault("N80")
@pytest.mark.parametrize("password", ["secret", "RED", "ACTED:se"])
def test_a_password_that_is_part_of_the_placeholder_is_masked_once(cli: Cli, password: str) -> None:
    cli("retain", "The kettle leaks.")
    answer = cli("get-memory", f"pg://u:{password}@h")
    assert answer.exit_code != 0
    assert "pg://u:[REDACTED:secret]@h" in answer.stderr
