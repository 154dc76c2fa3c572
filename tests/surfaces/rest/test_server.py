"""`simonides serve` as a process, over a real connection."""

from __future__ import annotations

import stat
import threading
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson
    from tests.surfaces.rest.conftest import Server

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http")]


def _client(server: Server) -> httpx.Client:
    headers = {"Authorization": f"Bearer {server.token}"}
    return httpx.Client(base_url=server.address, headers=headers, trust_env=False, timeout=30)


def test_the_first_start_prints_a_token_that_works(one_server: Server) -> None:
    kept = one_server.store / "token"
    assert kept.read_text().strip() == one_server.token
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600

    with _client(one_server) as client:
        assert client.get("/health/ready").json()["status"] == "ready"
        stored = client.post("/v1/banks/default/memories", json={"items": ["Odalys lives in Norrhav."]})
        found = client.post("/v1/banks/default/recall", json={"query": "Where does Odalys live?"})
        assert found.json()["hits"][0]["id"] == stored.json()["ids"][0]
        assert httpx.get(f"{one_server.address}/health/live", trust_env=False).status_code == 200
        assert httpx.get(f"{one_server.address}/version", trust_env=False).status_code == 401
        assert "server" not in client.get("/version").headers


@pytest.mark.fault("O1")
def test_a_stop_finishes_what_has_begun_and_loses_no_write(server: Server, cli: Cli, tmp_path: Path) -> None:
    answered: list[str] = []
    started = threading.Event()

    def write() -> None:
        with _client(server) as client:
            for number in range(2_000):
                try:
                    answer = client.post(
                        "/v1/banks/default/memories",
                        json={"items": [f"Note {number}."], "deduplicate": False},
                    )
                except httpx.HTTPError:
                    return
                if answer.status_code != 200:
                    return
                answered.extend(answer.json()["ids"])
                started.set()

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    assert started.wait(30)
    server.process.terminate()
    assert server.process.wait(60) == 0
    for writer in writers:
        writer.join(60)

    assert answered
    result = cli("export", str(tmp_path / "out"), "--store", str(tmp_path / "served"))
    assert result.exit_code == 0
    exported = (tmp_path / "out").read_text()
    assert all(memory in exported for memory in answered)


def test_tokens_are_made_listed_and_revoked_while_it_runs(
    one_server: Server, cli_json: CliJson, cli: Cli
) -> None:
    where = ("--store", str(one_server.store))
    made = cli_json("token", "create", "--bank", "default", "--verb", "read", *where)["token"]
    headers = {"Authorization": f"Bearer {made}"}

    def ask() -> int:
        url = f"{one_server.address}/v1/banks/default/memories"
        return httpx.get(url, headers=headers, trust_env=False).status_code

    assert ask() == 200
    listed = cli_json("token", "list", *where)["tokens"]
    assert [each["verbs"] for each in listed][-1] == ["read"]
    assert made not in cli("token", "list", *where).stdout
    name = made.split("_")[1]
    assert cli_json("token", "revoke", name, *where) == {"revoked": name}
    assert ask() == 401
    assert cli("token", "revoke", name, *where).exit_code == 1


def test_a_token_that_is_given_as_a_name_is_not_repeated(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
    where = ("--store", str(tmp_path))
    made = cli_json("token", "create", "--bank", "default", *where)["token"]
    for given in (made, made[:-3], made.removeprefix("smn_")):
        result = cli("token", "revoke", given, *where)
        assert result.exit_code == 1
        assert made.rpartition(made.split("_")[1])[2][1:20] not in result.stderr
        assert "16 hex digits" in result.stderr
    assert "'0123456789abcdef'" in cli("token", "revoke", "0123456789abcdef", *where).stderr


def test_an_address_for_others_needs_a_name(cli: Cli) -> None:
    result = cli("serve", "--host", "0.0.0.0")
    assert result.exit_code == 2
    assert "--allow-host" in result.stderr
