"""`simonides recall`, `show`, `forget`, `stats` and `verify`, on a real store."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.bank import Bank
from simonides.errors import DamagedError
from simonides.recall import telemetry
from simonides.recall.refining.relevance import Relevance
from simonides.surfaces.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


@pytest.fixture
def ids(cli_json: CliJson, tmp_path: Path) -> list[str]:
    items = [
        {"text": "Mira bakes bread on Sundays", "event_time": "2026-03", "tags": ["kitchen"]},
        {"text": "We chose the Alder mill for flour", "kind": "decision", "event_time": "2026-04-02"},
        {"text": "Tomas repaired the oven door", "event_time": "2026-05-09", "project": "bakery"},
    ]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    answer: list[str] = cli_json("retain", str(path))["ids"]
    return answer


def test_a_slow_recall_is_said(cli: Cli, ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("recall", "who repaired the oven", "--profile", "lexical")
    assert "slow" not in cli(*asked).stderr
    monkeypatch.setattr(telemetry, "SLOW_MS", 0.0)
    assert re.search(r"^recall [0-9a-f]{32} in bank default: .* slow: ", cli(*asked).stderr, re.MULTILINE)


def test_recall_finds_and_ranks(cli_json: CliJson, ids: list[str]) -> None:
    answer = cli_json("recall", "who repaired the oven", "--profile", "lexical")
    assert answer["hits"][0]["id"] == ids[2]
    assert answer["hits"][0]["rank"] == 1
    assert "Tomas repaired the oven door" in answer["context"]
    assert answer["no_match"] is False
    assert "trace" not in answer


def test_recall_for_people_is_a_table(cli: Cli, ids: list[str]) -> None:
    result = cli("recall", "flour mill", "--profile", "lexical")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split() == ["rank", "score", "date", "kind", "text"]
    assert "We chose the Alder mill for flour" in result.stdout
    assert "2026-04-02" in result.stdout
    assert "decision" in result.stdout
    assert ids[1] in result.stdout
    assert ids[0] not in result.stdout


def test_a_month_is_shown_as_a_month(cli: Cli, ids: list[str]) -> None:
    text = cli("recall", "bread", "--profile", "lexical").stdout
    assert "2026-03 " in text
    assert "2026-03-01" not in text


def test_nothing_found_is_exit_1(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    result = cli("recall", "zeppelin", "--profile", "lexical")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "nothing found" in result.stderr
    answer = cli_json("recall", "zeppelin", "--profile", "lexical", code=1)
    assert answer["hits"] == []


@pytest.mark.spec("DF-04")
def test_no_match_says_why_and_the_json_keeps_the_hits(
    cli: Cli, cli_json: CliJson, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refine = Relevance.refine
    monkeypatch.setattr(
        Relevance, "refine", lambda self, *given: refine(replace(self, weak=1.0, match=1.0), *given)
    )
    query = "zeppelin captain quarrelled violently about opera tickets Sundays"
    shown = cli("recall", query)
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert "Not in memory: the chance that anything answers is 0." in shown.stderr
    assert "the words of the best memory cover 0." in shown.stderr
    assert cli("recall", query, "--context").stdout == ""
    answer = cli_json("recall", query, "--trace", code=1)
    assert answer["hits"][0]["id"] == ids[0]
    assert answer["no_match"] is True
    assert answer["context"] == ""
    assert (answer["band"], answer["told"]) == ("none", 0)
    line = next(stage for stage in answer["trace"]["stages"] if stage["name"] == "relevance")
    assert line["no_match"] == answer["no_match_reasons"]
    assert line["evidence"]["coverage"] < 0.15


def test_context_alone(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    wanted = cli_json("recall", "oven", "--profile", "lexical")["context"]
    assert cli("recall", "oven", "--profile", "lexical", "--context").stdout.rstrip("\n") == wanted.rstrip(
        "\n"
    )


def test_the_trace_goes_to_standard_error_or_into_the_json(
    cli: Cli, cli_json: CliJson, ids: list[str]
) -> None:
    plain = cli("recall", "oven", "--profile", "lexical")
    traced = cli("recall", "oven", "--profile", "lexical", "--trace")
    assert traced.stdout == plain.stdout
    assert "profile lexical" in traced.stderr
    answer = cli_json("recall", "oven", "--profile", "lexical", "--trace")
    assert answer["trace"]["rows"] == 3
    for stage in answer["trace"]["stages"]:
        assert stage["name"] in traced.stderr


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], {0, 1, 2}),
        (["--kind", "decision"], {1}),
        (["--kind", "decision", "--kind", "semantic"], {0, 1}),
        (["--kind", "episodic"], {2}),
        (["--project", "bakery"], {2}),
        (["--tag", "kitchen", "--tags-match", "any_strict"], {0}),
        (["--from", "2026-04-01"], {1, 2}),
        (["--to", "2026-05-01"], {0, 1}),
        (["--from", "2026-04-01", "--to", "2026-05-01"], {1}),
    ],
)
def test_filters(cli_json: CliJson, ids: list[str], options: list[str], found: set[int]) -> None:
    answer = cli_json("recall", "Mira mill oven", "--profile", "lexical", *options)
    assert {hit["id"] for hit in answer["hits"]} == {ids[n] for n in found}


@pytest.mark.fault("N7")
@pytest.mark.parametrize("how", ["any_strict", "all_strict"])
def test_a_strict_match_without_a_tag_finds_nothing(cli_json: CliJson, ids: list[str], how: str) -> None:
    assert cli_json("recall", "Mira mill oven", "--tags-match", how, code=1)["hits"] == []
    assert cli_json("list-memories", "--tags-match", how, code=1)["memories"] == []
    assert len(cli_json("list-memories")["memories"]) == len(ids)


def test_limit_and_budget(cli_json: CliJson, ids: list[str]) -> None:
    query = ("recall", "Mira mill oven", "--profile", "lexical")
    assert len(cli_json(*query, "--limit", "2")["hits"]) == 2
    cut = cli_json(*query, "--max-tokens", "0", code=1)
    assert cut["hits"] == []
    assert {entry["id"] for entry in cut["omitted"]} == set(ids)


def test_a_viewpoint_in_the_past_sees_nothing_yet(cli_json: CliJson, ids: list[str]) -> None:
    assert cli_json("recall", "oven", "--profile", "lexical", "--known-at", "2001", code=1)["hits"] == []


def test_text_from_anywhere_cannot_steer_the_terminal(cli: Cli) -> None:
    cli("retain", "-", stdin="oven \x1b[2J\x1b]0;owned\x07 [red]door[/red] \u202edcba")
    for command in (["recall", "oven", "--profile", "lexical"], ["recall", "oven", "--context"]):
        text = cli(*command).stdout
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
        assert "[red]door[/red]" in text


def test_show_for_people(cli: Cli, ids: list[str]) -> None:
    result = cli("get-memory", ids[1])
    assert result.exit_code == 0
    assert "We chose the Alder mill for flour" in result.stdout
    assert "decision" in result.stdout


def test_show_of_an_id_that_is_not_there_is_exit_1(cli: Cli, ids: list[str]) -> None:
    result = cli("get-memory", "no-such-id")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "no-such-id" in result.stderr


def test_forgotten_memories_are_not_recalled(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    receipt = cli_json("forget", ids[0], ids[2], "--yes")
    assert (receipt["asked"], receipt["forgotten"], receipt["status"]) == (2, 2, "erased")
    assert receipt["ids"] == sorted([ids[0], ids[2]])
    answer = cli_json("recall", "Mira mill oven", "--profile", "lexical")
    assert [hit["id"] for hit in answer["hits"]] == [ids[1]]
    assert cli("get-memory", ids[0]).exit_code == 1


def test_forgetting_what_is_not_there_is_exit_1(cli: Cli, ids: list[str]) -> None:
    result = cli("forget", ids[0], "no-such-id", "--yes")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert cli("get-memory", ids[1]).exit_code == 0


def test_forget_asks_on_a_terminal_and_refuses_to_guess_elsewhere(
    cli: Cli, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = cli("forget", ids[0])
    assert result.exit_code == 2
    assert "--yes" in result.stderr
    monkeypatch.setattr(output, "_is_terminal", lambda: True)
    result = cli("forget", ids[0], stdin="n\n")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert cli("get-memory", ids[0]).exit_code == 0
    result = cli("forget", ids[0], stdin="y\n")
    assert result.exit_code == 0
    assert result.stdout.startswith("1 forgotten (erased)\n  versions: 1\n")


def test_stats_and_verify(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    assert cli_json("stats")
    assert cli("stats").stdout.count("\n") > 1
    assert cli_json("verify")["ok"] is True
    assert cli("verify").stdout == "ok\n"


def test_a_damaged_bank_fails_verify_with_exit_1(
    cli: Cli, cli_json: CliJson, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(self: Bank) -> None:
        raise DamagedError("page 3 of memory.db is torn; restore a backup")

    monkeypatch.setattr(Bank, "verify", damaged)
    assert cli_json("verify", code=1)["ok"] is False
    result = cli("verify")
    assert result.exit_code == 1
    assert result.stdout.startswith("not ok\n- page 3 of memory.db is torn")


def test_banks_do_not_meet(cli: Cli, cli_json: CliJson, ids: list[str]) -> None:
    (other,) = cli_json("retain", "Tomas repaired the oven at work", "--bank", "work")["ids"]
    answer = cli_json("recall", "oven", "--bank", "work", "--profile", "lexical")
    assert [hit["id"] for hit in answer["hits"]] == [other]
    assert cli("get-memory", other).exit_code == 1
