"""Bad input of every sort: one clear line naming the field, exit 2, nothing stored, nothing on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.testing import Result

    Cli = Callable[..., Result]


@pytest.fixture
def cli_on_a_bank(cli: Cli) -> Cli:
    assert cli("retain", "Mira bakes bread on Sundays").exit_code == 0
    return cli


@pytest.mark.parametrize(
    ("arguments", "stdin", "field"),
    [
        ([""], None, "text"),
        ([" \t\n"], None, "text"),
        (["-"], "", "text"),
        (["-"], " \n\n", "text"),
        (["a\0b"], None, "text"),
        (["a\ud800b"], None, "text"),
        (["-"], b"\xff\xfe\x00", "UTF-8"),
        (["-"], b"a" * (10 * 1024 * 1024), "text"),
        (["bread", "--event-time", "yesterday"], None, "--event-time"),
        (["bread", "--event-time", "2026-02-30"], None, "--event-time"),
        (["bread", "--event-time", ""], None, "--event-time"),
        (["bread", "--valid-from", "99999"], None, "--valid-from"),
        (["bread", "--valid-to", "2026-01-01T99:00"], None, "--valid-to"),
        (["bread", "--valid-from", "2026-02", "--valid-to", "2026-01"], None, "valid_to"),
        (["bread", "--kind", "rumour"], None, "--kind"),
        (["bread", "--tag", ""], None, "tags"),
        (["bread", "--tag", "a\0b"], None, "tags"),
        (["bread", "--acl", " "], None, "acl"),
        (["bread", "--project", "a\0b"], None, "project"),
        (["bread", "--batch", "0"], None, "--batch"),
        (["bread", "--batch", "-1"], None, "--batch"),
        (["bread", "--batch", "1000000000"], None, "--batch"),
        (["bread", "--salience"], None, "--salience"),
        (["bread", "--bank", ""], None, "bank"),
        (["bread", "--bank", "a\ud800b"], None, "bank"),
        (["bread", "--bank", "b" * 5000], None, "bank"),
    ],
)
def test_retain(cli: Cli, arguments: list[str], stdin: str | bytes | None, field: str) -> None:
    result = cli("retain", *arguments, stdin=stdin)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert field in result.stderr
    # Nothing was stored by halves: there is no bank, or it is empty.
    result = cli("recall", "bread", "--profile", "lexical")
    assert result.exit_code in {1, 2}
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ([""], "query"),
        (["  "], "query"),
        (["a\0b"], "query"),
        (["a\ud800b"], "query"),
        (["bread", "--limit", "0"], "limit"),
        (["bread", "--limit", "-1"], "limit"),
        (["bread", "--limit", "1000000000"], "limit"),
        (["bread", "--limit", "1.5"], "--limit"),
        (["bread", "--max-tokens", "-1"], "max_tokens"),
        (["bread", "--max-tokens", "1000000000"], "max_tokens"),
        (["bread", "--kind", "rumour"], "--kind"),
        (["bread", "--tag", ""], "tags"),
        (["bread", "--tags-match", "some"], "tags_match"),
        (["bread", "--as-of", "tomorrow"], "as_of"),
        (["bread", "--known-at", "2026-13"], "known_at"),
        (["bread", "--from", "soon"], "window"),
        (["bread", "--from", "2026-02", "--to", "2026-01"], "window"),
        (["bread", "--profile", "no-such-profile"], "profile"),
        (["bread", "--profile", ""], "profile"),
        (["bread", "--bank", ""], "bank"),
        (["bread", "--unheard-of"], "--unheard-of"),
        (["bread", "and", "flour"], "flour"),
    ],
)
def test_recall(cli_on_a_bank: Cli, arguments: list[str], field: str) -> None:
    result = cli_on_a_bank("recall", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert field in result.stderr


@pytest.mark.parametrize("memory_id", ["", "a\0b", "a\ud800b", "../memory.db", "x" * 100_000])
def test_ids(cli_on_a_bank: Cli, memory_id: str) -> None:
    for command in (["get-memory", memory_id], ["forget", memory_id, "--yes"]):
        result = cli_on_a_bank(*command)
        assert result.exit_code in {1, 2}
        assert result.stderr.count("\n") == 1
        assert len(result.stderr) < 500
    assert cli_on_a_bank("recall", "bread", "--profile", "lexical").exit_code == 0


@pytest.mark.parametrize(
    ("word", "command"),
    [("list", "list-memories"), ("search", "recall"), ("add", "retain"), ("rm", "forget")],
)
def test_words_of_other_programs_lead_to_the_command(word: str, command: str, cli: Cli) -> None:
    result = cli(word, "bread")
    assert result.exit_code == 2
    assert f"No such command {word!r}. Use {command!r}." in result.stderr
    assert cli(command, "--help").exit_code == 0


def test_a_history_fits_a_terminal_of_80_columns(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    older = cli("retain", "Ada Brook lives in Riga.").stdout.split()[0]
    newer = cli("retain", "Ada Brook moved to Vilnius.").stdout.split()[0]
    lines = cli("history", older).stdout.splitlines()
    assert f"version 2 was superseded by {newer}" in lines
    assert max(map(len, lines)) <= 80


def test_what_was_stored_after_the_viewpoint_is_named_as_the_reason(cli_on_a_bank: Cli) -> None:
    nothing = cli_on_a_bank("recall", "bread", "--as-of", "2020-01-01")
    assert "what was stored after that moment is not seen, a later --known-at shows it" in nothing.stderr
    assert "known-at" not in cli_on_a_bank("recall", "zzz").stderr


def test_a_history_shows_what_each_version_said(cli: Cli) -> None:
    memory = cli("retain", "Ada Brook lives in Riga.").stdout.split()[0]
    assert cli("update-memory", memory, "--text", "Ada Brook lives in Tarn.").exit_code == 0
    lines = cli("history", memory).stdout.splitlines()
    assert lines[0] == "Ada Brook lives in Tarn."
    assert lines[-1] == "version 1 said: Ada Brook lives in Riga."


def test_words_without_quotes_are_told_to_have_them(cli: Cli) -> None:
    result = cli("recall", "mortgage", "rate")
    assert result.exit_code == 2
    assert "(rate); a text of several words stands in quotes" in result.stderr


def test_a_client_without_hooks_is_told_so(cli: Cli) -> None:
    result = cli("hook", "vscode", stdin="{}")
    assert "CLIENT: vscode has no hooks; `simonides install vscode` gives it MCP alone" in result.stderr
