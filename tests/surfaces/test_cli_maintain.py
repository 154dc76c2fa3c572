"""`maintain`, `moves`, `undo`, `pin`, `unpin`, `check` and `brief`: what they print and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import simonides

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


@pytest.fixture
def ids(store_path: Path) -> list[str]:
    """A memory from long ago, and two that say the same."""
    with simonides.open(store_path, embedder=None) as store:
        return store.bank().retain(
            [
                {"text": "The pump failed.", "kind": "episodic", "role": "user", "recorded_at": "2019-05-01"},
                {"text": "The kettle is red.", "kind": "decision", "source": "note"},
                {"text": "The kettle is red.", "kind": "decision", "source": "call"},
            ]
        )


def test_a_dry_run_then_a_run_then_nothing(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    would = cli("maintain", "--dry-run")
    assert would.exit_code == 0
    assert ids[0] in would.stdout
    assert "2 steps would be made" in would.stdout

    did = cli_json("maintain")
    assert [step["action"] for step in did["steps"]] == ["archive", "observe"]
    assert "0 steps made" in cli("maintain").stdout
    assert cli("recall", "pump", "--profile", "lexical").exit_code == 1
    assert cli("recall", "pump", "--profile", "lexical", "--include-archived").exit_code == 0
    shown = cli("recall", "kettle", "--profile", "lexical", "--prefer-observations", "--include-sources")
    assert shown.stdout.count("for  ") == 2


def test_moves_are_shown_and_undone(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    cli("maintain")
    (move,) = cli_json("moves", ids[0])["moves"]
    assert move["action"] == "archive"
    assert "archive" in cli("moves").stdout

    assert cli("undo-move", str(move["number"])).exit_code == 0
    assert cli("undo-move", str(move["number"])).exit_code == 1
    assert cli("moves", "0" * 16).exit_code == 1
    assert cli("recall", "pump", "--profile", "lexical").exit_code == 0


def test_pinning(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    assert cli("pin", ids[0]).exit_code == 0
    assert [step["action"] for step in cli_json("maintain")["steps"]] == ["observe"]
    assert cli("unpin", ids[0]).exit_code == 0
    assert [step["action"] for step in cli_json("maintain")["steps"]] == ["archive"]
    assert cli("pin", "0" * 16).exit_code == 1


@pytest.mark.fault("N11")
def test_a_standing_memory_leads_what_is_asked(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    answer = cli_json("pin", ids[0], "--always")
    assert answer == {"memory": ids[0], "pinned": True, "standing": True}
    assert cli_json("get-memory", ids[0])["standing"] is True
    found = cli("recall", "quartz", "--profile", "lexical", "--standing", "--context")
    assert (found.exit_code, found.stdout[:11]) == (0, "(standing) ")
    table = cli("recall", "quartz", "--profile", "lexical", "--standing")
    assert "standing" in table.stdout
    assert ids[0] in table.stdout
    assert cli("recall", "quartz", "--profile", "lexical", "--context").exit_code == 1
    assert ids[0] in cli("brief", "quartz", "--profile", "lexical", "--project", "atlas").stdout
    assert (
        cli("brief", "quartz", "--profile", "lexical", "--project", "atlas", "--no-standing").exit_code == 1
    )
    assert cli("unpin", ids[0]).exit_code == 0
    assert cli_json("get-memory", ids[0])["standing"] is False


def test_memories_end_when_their_time_is_over(cli: Cli, cli_json: CliJson) -> None:
    (memory,) = cli_json("retain", "The guest code is 4471.", "--ttl", "1h", "--on-expiry", "erase")["ids"]
    shown = cli_json("get-memory", memory)
    assert shown["on_expiry"] == "erase"
    assert shown["expires_at"]
    assert "expires_at:" in cli("get-memory", memory).stdout
    assert cli("retain", "Figs.", "--ttl", "soon").exit_code == 2
    answer = cli_json("set-ttl", "30d", "--kind", "episodic")
    assert answer == {"bank": None, "kinds": {"episodic": {"ttl": 2_592_000.0, "on_expiry": "archive"}}}
    assert "episodic" in cli("set-ttl", "never").stdout
    assert cli("set-ttl", "none").exit_code == 0
    assert "never end" in cli("set-ttl", "none", "--kind", "episodic").stdout
    assert cli("set-ttl", "soon").exit_code == 2
    turns = '{"speaker": "Ivo", "text": "Figs need water."}'
    (turn,) = cli_json("retain-conversation", "-", "--session", "s", "--ttl", "2d", stdin=turns)["ids"]
    assert cli_json("get-memory", turn)["expires_at"]


def test_a_profile_without_numbers_and_a_wrong_number_end_with_2(cli: Cli, ids: list[str]) -> None:
    assert ids
    assert cli("maintain", "--profile", "memoria").exit_code == 2
    assert cli("maintain", "--most", "0").exit_code == 2


def test_check_ends_with_1_when_a_name_is_dead(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
    cli("retain", "The moon lives in src/moon.py.")
    root = tmp_path / "project"
    root.mkdir()

    found = cli("check", "--root", str(root))

    assert found.exit_code == 1
    assert "src/moon.py" in found.stdout
    (root / "src").mkdir()
    (root / "src" / "moon.py").touch()
    assert cli("check", "--root", str(root)).exit_code == 0
    assert cli("check", "--root", str(root / "none")).exit_code == 2


def test_a_brief_is_printed_or_there_is_none(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    assert "## " in cli("brief", "paint the kettle").stdout
    assert cli_json("brief", "paint the kettle")["tokens"] > 0
    nothing = cli("brief", "paint the kettle", "--max-tokens", "0")
    assert nothing.exit_code == 1
    assert nothing.stdout == ""
    assert ids


def test_without_a_language_model_none_can_write(cli: Cli, ids: list[str]) -> None:
    assert ids
    refused = cli("maintain", "--llm")
    assert refused.exit_code == 2
    assert "SIMONIDES_LLM_MODEL" in refused.stderr
