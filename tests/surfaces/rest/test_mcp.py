"""The MCP door of `simonides serve`, spoken to by the SDK's client over a real connection."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.surfaces.rest.conftest import start, stop

from simonides.surfaces.mcp.core import CORE
from simonides.surfaces.mcp.tools import TOOLS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import CliJson
    from tests.surfaces.rest.conftest import Server

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http")]


def _talk(server: Server, talk: Any, *, token: str | None = None, mode: str = "auto") -> Any:
    async def work() -> Any:
        headers = {"Authorization": f"Bearer {token or server.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http,
            Client(streamable_http_client(f"{server.address}/mcp", http_client=http), mode=mode) as client,
        ):
            return await talk(client)

    return asyncio.run(work())


@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_lists_retains_recalls_forgets_and_hears_of_progress(one_server: Server, mode: str) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def talk(client: Client) -> None:
        assert len((await client.list_tools()).tools) == len(CORE)
        kept = await client.call_tool("retain", {"items": "Odalys lives in Norrhav."}, progress_callback=hear)
        memory = kept.structured_content["ids"][0]
        found = await client.call_tool("recall", {"query": "Where does Odalys live?"})
        assert found.structured_content["memories"][0]["id"] == memory
        assert (await client.list_resources()).resources[0].name == memory
        assert (await client.call_tool("forget", {"ids": [memory]})).structured_content["forgotten"] == 1

    _talk(one_server, talk, mode=mode)
    assert heard[0] == "retain: at work"
    assert heard[-1] == "retain: done"


def test_the_server_offers_the_tools_that_it_is_told_to(tmp_path: Path) -> None:
    running = start(tmp_path / "served", "--tools", "all")

    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    try:
        assert _talk(running, names) == list(TOOLS)
    finally:
        stop(running)
        assert running.process.stdout
        running.process.stdout.close()


@pytest.mark.fault("F1")
@pytest.mark.spec("ME-11")
def test_each_request_is_done_under_its_own_token(one_server: Server, cli_json: CliJson) -> None:
    where = ("--store", str(one_server.store))
    cli_json("retain", "The canary lives in Tarn Hollow.", "--bank", "canaries", *where)
    other = cli_json("token", "create", "--bank", "other", *where)["token"]
    reader = cli_json("token", "create", "--bank", "canaries", "--verb", "read", *where)["token"]

    async def steal(client: Client) -> Any:
        return await client.call_tool("recall", {"query": "Where does the canary live?", "bank": "canaries"})

    async def write(client: Client) -> Any:
        return await client.call_tool("retain", {"items": "Figs need water.", "bank": "canaries"})

    stolen = _talk(one_server, steal, token=other)
    assert stolen.is_error
    assert "Tarn" not in stolen.model_dump_json()
    assert not _talk(one_server, steal, token=reader).is_error
    assert "does not allow to write" in _talk(one_server, write, token=reader).content[0].text


@pytest.mark.fault("F1")
def test_the_door_is_behind_the_guard(one_server: Server) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    with httpx.Client(base_url=one_server.address, headers=accept, trust_env=False, timeout=30) as client:
        assert client.post("/mcp", json=call).status_code == 401
        token = {"Authorization": f"Bearer {one_server.token}"}
        assert client.post("/mcp", json=call, headers=token).status_code == 200
        assert client.post("/mcp", json=call, headers={**token, "Host": "evil.example"}).status_code == 421
        assert (
            client.post("/mcp", json=call, headers={**token, "Origin": "http://evil.example"}).status_code
            == 403
        )
