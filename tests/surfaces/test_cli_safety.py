"""`simonides forget` by condition, `backup`, `restore`, `verify --repair`, `audit`, `quarantine`, on a real store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson


@pytest.fixture
def ids(cli_json: CliJson) -> list[str]:
    """Two memories, of two sources."""
    first = cli_json("retain", "The lamp is green.", "--source", "mail")["ids"]
    return [*first, *cli_json("retain", "The fuse is red.", "--source", "chat")["ids"]]


def test_forget_by_condition(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    assert cli("forget").exit_code == 2
    assert "--all" in cli("forget").stderr
    dry = cli_json("forget", "--source", "mail", "--dry-run")
    assert (dry["status"], dry["ids"]) == ("dry run", [ids[0]])
    assert cli_json("forget", "--before", "2000", "--yes")["forgotten"] == 0
    gone = cli_json("forget", "--source", "mail", "--purge", "--yes")
    assert (gone["status"], gone["ids"], gone["rows"]) == ("complete", dry["ids"], dry["rows"])
    assert cli_json("forget", "--all", "--yes")["ids"] == [ids[1]]


@pytest.mark.fault("F5")
@pytest.mark.parametrize("option", ["--source", "--writer", "--before", "--after", ""])
def test_forget_refuses_a_condition_that_is_empty(
    cli: Cli, cli_json: CliJson, ids: list[str], option: str
) -> None:
    """As `--source "$UNSET"` gives it."""
    bare = cli_json("retain", "The socket has no source.")["ids"]
    wrong = cli("forget", *([option] if option else []), "", "--yes")
    assert (wrong.exit_code, "empty" in wrong.stderr or "''" in wrong.stderr) == (2, True)
    assert cli_json("forget", "--without-source", "--by-owner", "--yes")["ids"] == bare
    assert set(cli_json("forget", "--by-owner", "--yes")["ids"]) == set(ids)


def test_backup_and_restore(cli: Cli, cli_json: CliJson, ids: list[str], tmp_path: Path) -> None:
    path = str(tmp_path / "copy.db")
    assert cli_json("backup", path)["memories"] == 2
    assert cli("backup", path).exit_code == 2
    cli_json("forget", ids[0], "--yes")
    assert cli("restore", path).exit_code == 2
    assert cli_json("restore", path, "--yes")["memories"] == 2
    assert cli("get-memory", ids[0]).exit_code == 0
    assert cli("verify").exit_code == 0
    assert cli("verify", "--repair").stdout.startswith("ok")


def test_audit(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    assert cli("audit", "verify").exit_code == 2
    assert cli("audit", "start").exit_code == 0
    cli_json("forget", ids[0], "--yes")
    head = cli("audit", "entries", "--head").stdout.strip()
    assert cli("audit", "verify", "--anchor", head).stdout.startswith("ok: 2 rows")
    assert cli("audit", "verify", "--anchor", head.replace("2:", "7:")).exit_code == 1
    assert "forget" in cli("audit", "entries").stdout
    assert len(cli_json("audit", "entries")["entries"]) == 2


def test_audit_of_recalls(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    assert cli("audit", "recalls").exit_code == 2
    cli("audit", "start")
    assert cli_json("audit", "recalls") == {"on": True, "changed": True}
    assert "nothing changed" in cli("audit", "recalls").stdout
    assert ids[0] in cli("get-memory", ids[0], "--json").stdout
    assert cli_json("audit", "entries", "--recalls")["entries"][0]["ids"] == [ids[0]]
    assert "read  1 memories" in cli("audit", "entries", "--recalls").stdout
    head = cli("audit", "entries", "--recalls", "--head").stdout.strip()
    assert f"recalls: 2 rows, head {head}" in cli("audit", "verify", "--recalls-anchor", head).stdout
    assert cli("audit", "verify", "--recalls-anchor", head.replace("2:", "7:")).exit_code == 1
    assert cli("audit", "recalls", "--off").stdout == "recalls are no longer audited\n"


def test_quarantine_and_release(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    assert cli_json("quarantine", ids[0]) == {"quarantined": 1}
    assert cli("recall", "lamp green", "--profile", "lexical").exit_code == 1
    hits = cli_json("recall", "lamp green", "--profile", "lexical", "--kind", "quarantine")["hits"]
    assert [hit["id"] for hit in hits] == [ids[0]]
    assert cli_json("release", ids[0]) == {"released": 1}
    assert cli("recall", "lamp green", "--profile", "lexical").exit_code == 0
