"""`simonides recall` and `simonides why-not` take everything that `Bank.recall` takes, and say what changed it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from simonides.bank import Bank
from simonides.surfaces.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]

# Arguments of Bank.recall whose option has another name, or two.
SPELLED = {"kinds": ["kind"], "tags": ["tag"], "entity_hints": ["entity-hint"], "aliases": ["alias"],
           "window": ["from", "to"], "explain": ["trace"], "helpers": ["helper"]}  # fmt: skip
EVERY = (
    "--limit", "3", "--max-tokens", "900", "--types", "world", "--types", "experience", "--tags-match", "any",
    "--entity-hint", "Ilse", "--mode", "bm25", "--question-date", "2026-04-02", "--budget", "low",
    "--budget-function", "fixed", "--include-chunks", "--max-chunk-tokens", "200", "--syntax", "extended",
    "--alias", "ledger=database", "--alias", "ledger=store", "--deadline-ms", "5000", "--seed", "7",
)  # fmt: skip


@pytest.fixture
def kept(cli: Cli) -> str:
    """The id of a memory of a bank of two."""
    text = "Ilse moved the database to the cellar."
    assert cli("retain", "The kettle is in the galley.").exit_code == 0
    return cli("retain", text, "--kind", "semantic").stdout.strip()


@pytest.mark.parametrize("command", ["recall", "why-not"])
def test_every_argument_of_a_recall_has_an_option(command: str) -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # a group
    spellings = {option for parameter in commands[command].params for option in parameter.opts}
    wanted = set(inspect.signature(Bank.recall).parameters) - {"self", "query"}
    if command == "why-not":
        wanted -= {"explain", "count_returned", "include_sources", "helpers"}
    for name in sorted(wanted):
        for spelled in SPELLED.get(name, [name.replace("_", "-")]):
            assert f"--{spelled}" in spellings, f"{command} has no --{spelled}"


def test_every_option_reaches_the_recall(cli_json: CliJson, kept: str) -> None:
    answer = cli_json("recall", "ledger", *EVERY, "--profile", "jeffs_brain", "--trace")
    assert [hit["id"] for hit in answer["hits"]] == [kept]
    assert answer["trace"]["seed"] == 7
    assert answer["chunks"][0]["text"] == "Ilse moved the database to the cellar."
    assert cli_json("why-not", kept, "ledger", *EVERY, "--profile", "jeffs_brain")["returned"] is True
    assert cli_json("recall", "ledger", "--profile", "jeffs_brain", "--mode", "bm25", code=1)["hits"] == []


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--alias", "db", "--alias: expected WORD=OTHER"),
        ("--alias", "=x", "--alias: expected WORD=OTHER"),
        ("--mode", "bm52", "did you mean 'bm25'?"),
        ("--budget", "lo", "did you mean 'low'?"),
        ("--types", "wrold", "did you mean 'world'?"),
        ("--syntax", "extnded", "did you mean 'extended'?"),
        ("--deadline-ms", "0", "deadline_ms: "),
        ("--max-chunk-tokens", "-1", "max_chunk_tokens: "),
        ("--question-date", "soonish", "question_date: "),
    ],
)
def test_a_wrong_value_is_one_line(cli: Cli, kept: str, option: str, value: str, says: str) -> None:
    for command in (["recall", "db"], ["why-not", kept, "db"]):
        result = cli(*command, option, value)
        assert (result.exit_code, result.stdout) == (2, "")
        assert says in result.stderr
        assert result.stderr.count("\n") == 1


def test_the_sources_are_shown_under_the_hits(cli: Cli, kept: str) -> None:
    text = cli("recall", "cellar", "--include-chunks", "--profile", "lexical").stdout
    assert kept in text
    assert text.endswith("source of 1:\nIlse moved the database to the cellar.\n")


def test_the_trace_is_one_aligned_table_with_ladder_and_viewpoint(cli: Cli, kept: str) -> None:
    shown = cli("recall", "database", "--profile", "jeffs_brain", "--trace", "--as-of", "2999-01-02")
    lines = shown.stderr.splitlines()
    assert kept in shown.stdout
    assert lines[0].startswith("profile jeffs_brain: 2 rows, 2 visible, 2 eligible; ")
    assert lines[1] == "as of 2999-01-02 00:00+00:00; known at 2999-01-02 00:00+00:00"
    assert lines[2].split() == ["stage", "shape", "technique", "ms", "out", "reason"]
    ends = {line.index(f" {line.split()[4]} ") for line in lines[3:6]}
    assert ends
    assert any(line.split() == ["attempt", "hits", "status", "searched", "for"] for line in lines)
    assert any(line.startswith("did less than asked: ") for line in lines)
    assert not any(line.startswith("note: ") for line in lines)


@pytest.mark.spec("HI-13")
def test_the_environment_changes_a_profile_and_the_trace_says_so(
    cli: Cli, cli_json: CliJson, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kept
    monkeypatch.setenv("SIMONIDES_RECALL_BUDGET_FUNCTION", "adaptive")
    setting = "SIMONIDES_RECALL_BUDGET_FUNCTION=adaptive"
    trace = cli_json("recall", "database", "--profile", "hindsight", "--trace")["trace"]
    assert trace["settings"] == [setting]
    assert not any("SIMONIDES" in line for line in trace["degraded"])
    assert (
        f"note: set by the environment: {setting}"
        in cli("recall", "database", "--profile", "hindsight").stderr
    )
    traced = cli("recall", "database", "--profile", "hindsight", "--trace").stderr.splitlines()
    assert f"set by the environment: {setting}" in traced
    assert cli_json("recall", "database", "--profile", "lexical", "--trace")["trace"]["settings"] == []
    monkeypatch.setenv("SIMONIDES_RECALL_BUDGET_MAX", "lots")
    wrong = cli("recall", "database")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "SIMONIDES_RECALL_BUDGET_MAX: expected a whole number" in wrong.stderr
