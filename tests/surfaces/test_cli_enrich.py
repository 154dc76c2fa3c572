"""`simonides enrich` against a server in this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simonides.testing.chat_server import ChatServer, Reply, failed, said

if TYPE_CHECKING:
    from tests.surfaces.conftest import Cli, CliJson

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http", "_no_settings")]


@pytest.fixture
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SIMONIDES_LLM_API_KEY", "SIMONIDES_LLM_MODEL", "SIMONIDES_LLM_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def asking(request: dict[str, Any]) -> Reply:
    told = json.loads(request["messages"][1]["content"])
    return said(
        {
            "memories": [
                {"number": m["number"], "questions": [f"Who kindled {m['text'].split()[-1]}?"]} for m in told
            ]
        }
    )


def test_it_queues_and_enriches_what_was_not_yet(cli: Cli, cli_json: CliJson) -> None:
    cli("retain", "Odalys lit the lamp")
    with ChatServer(asking) as server:
        first = cli_json("enrich", "--model", "a-model", "--base-url", server.url)
        second = cli_json("enrich", "--model", "a-model", "--base-url", server.url)

    assert len(server.requests) == 1
    assert first == {
        "done": 1, "failed": 0, "waiting": 0, "given_up": 0, "dropped": 0, "calls": 1,
        "input_tokens": 100, "output_tokens": 50, "cost": 0.0, "stopped": "",
    }  # fmt: skip
    assert (second["done"], second["calls"]) == (0, 0)
    assert cli("recall", "kindled", "--profile", "lexical").exit_code == 0


def test_the_text_form_sums_up(cli: Cli) -> None:
    cli("retain", "Odalys lit the lamp")
    with ChatServer(asking) as server:
        prices = ("--input-price", "2", "--output-price", "8")
        result = cli("enrich", "--model", "m", "--base-url", server.url, *prices, "--cost-cap", "1")

    assert result.exit_code == 0
    assert result.stdout == (
        "1 enriched, 0 failed, 0 waiting, 0 given up\n1 requests, 100 tokens sent, 50 received, cost 0.0006\n"
    )


def test_ids_are_enriched_again(cli: Cli, cli_json: CliJson) -> None:
    [memory] = cli_json("retain", "Odalys lit the lamp")["ids"]
    with ChatServer(asking) as server:
        options = ("--model", "m", "--base-url", server.url)
        cli_json("enrich", *options)
        assert cli_json("enrich", memory, *options)["done"] == 1


def test_a_failed_request_is_exit_code_1_and_the_reason_is_on_standard_error(cli: Cli) -> None:
    cli("retain", "Odalys lit the lamp")
    with ChatServer(failed(400, "context_length_exceeded")) as server:
        result = cli("enrich", "--model", "m", "--base-url", server.url)
    stats = cli("stats")

    assert result.exit_code == 1
    assert "0 enriched, 1 failed, 1 waiting" in result.stdout
    assert "400 context_length_exceeded" in stats.stdout


def test_a_server_that_is_not_there_stops_the_run(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    cli("retain", "Odalys lit the lamp")
    with ChatServer() as server:
        url = server.url
    result = cli("enrich", "--model", "m", "--base-url", url)

    assert result.exit_code == 1
    assert "stopped: http://127.0.0.1" in result.stderr


def test_a_cap_that_is_reached_is_no_failure(cli: Cli) -> None:
    cli("retain", "Odalys lit the lamp")
    with ChatServer(asking) as server:
        options = ("--base-url", server.url, "--output-price", "8", "--cost-cap", "0.0001")
        result = cli("enrich", "--model", "m", *options)

    assert result.exit_code == 0
    assert "stopped: the next request could raise the cost" in result.stderr
    assert server.requests == []


def test_the_key_of_the_settings_is_sent(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("retain", "Odalys lit the lamp")
    monkeypatch.setenv("SIMONIDES_LLM_API_KEY", "mine")
    with ChatServer(asking) as server:
        monkeypatch.setenv("SIMONIDES_LLM_MODEL", "a-model")
        monkeypatch.setenv("SIMONIDES_LLM_BASE_URL", server.url)
        assert cli("enrich").exit_code == 0

    assert server.requests[0].headers["authorization"] == "Bearer mine"
    assert server.requests[0].body["model"] == "a-model"


def test_the_common_key_goes_to_no_other_server(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("retain", "Odalys lit the lamp")
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    with ChatServer(asking) as server:
        assert cli("enrich", "--model", "m", "--base-url", server.url).exit_code == 0

    assert "s3cret" not in server.requests[0].headers["authorization"]


def test_without_a_key_the_default_server_is_not_asked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("retain", "Odalys lit the lamp")
    monkeypatch.delenv("SIMONIDES_OFFLINE")
    result = cli("enrich", "--model", "m")

    assert result.exit_code == 2
    assert "SIMONIDES_LLM_API_KEY: is not set" in result.stderr


def test_offline_no_server_elsewhere_is_asked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("retain", "Odalys lit the lamp")
    monkeypatch.setenv("SIMONIDES_OFFLINE", "1")
    result = cli("enrich", "--model", "m", "--base-url", "https://llm.example.org/v1")

    assert result.exit_code == 2
    assert "SIMONIDES_OFFLINE is set" in result.stderr


def test_a_wrong_key_is_exit_code_2(cli: Cli) -> None:
    cli("retain", "Odalys lit the lamp")
    with ChatServer(failed(401, "invalid_api_key")) as server:
        result = cli("enrich", "--model", "m", "--base-url", server.url)

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "check the API key" in result.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--model", "m", "--base-url", "nowhere"),
        ("--model", " ", "--base-url", "http://127.0.0.1:9/v1"),
        ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--most", "0"),
        ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--cost-cap", "1"),
        ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--timeout", "-1"),
        ("--base-url", "http://127.0.0.1:9/v1"),
    ],
)
def test_wrong_use_is_exit_code_2(cli: Cli, options: tuple[str, ...]) -> None:
    cli("retain", "Odalys lit the lamp")

    assert cli("enrich", *options).exit_code == 2


def test_a_bank_that_is_not_there_is_not_made(cli: Cli) -> None:
    assert cli("enrich", "--model", "m", "--base-url", "http://127.0.0.1:9/v1").exit_code == 2
