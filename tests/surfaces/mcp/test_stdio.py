"""`simonides mcp` as a process, spoken to by the SDK's client over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters

import simonides
from simonides.surfaces.mcp.core import CORE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli

_PROGRAM = "from simonides.surfaces.cli.main import main; main()"


def _server(store: Path, *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", _PROGRAM, "mcp", "--store", str(store), *arguments],
        env={**os.environ, "SIMONIDES_EMBEDDER": "none"},
    )


@pytest.mark.spec("ME-11")
def test_a_client_lists_retains_recalls_forgets_and_hears_of_progress(tmp_path: Path) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    async def talk() -> None:
        async with Client(_server(tmp_path / "store", "--bank", "notes")) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == list(CORE)
            kept = await client.call_tool(
                "retain", {"items": "Odalys lives in Norrhav."}, progress_callback=hear
            )
            memory = kept.structured_content["ids"][0]
            found = await client.call_tool("recall", {"query": "Where does Odalys live?"})
            assert found.structured_content["memories"][0]["id"] == memory
            other = await client.call_tool("recall", {"query": "x", "bank": "other"})
            assert other.is_error
            assert (await client.call_tool("forget", {"ids": [memory]})).structured_content["forgotten"] == 1

    asyncio.run(talk())
    assert heard[-1] == "retain: done"


def test_a_reader_neither_writes_nor_counts_anything_as_used(tmp_path: Path) -> None:
    async def talk() -> Any:
        async with Client(_server(tmp_path / "store", "--read-only")) as client:
            return (
                await client.call_tool("retain", {"items": "Odalys lives in Norrhav."}),
                await client.call_tool("recall", {"query": "Where?", "count_returned": True}),
            )

    written, counted = asyncio.run(talk())
    assert "does not allow to write" in written.content[0].text
    assert counted.is_error
    assert "count_returned" in counted.content[0].text


@pytest.mark.fault("N65")
@pytest.mark.fault("N66")
def test_a_line_that_the_json_reader_refuses_is_answered_and_does_nothing(tmp_path: Path) -> None:
    """A key twice, and values without end; the requests around them are answered as ever."""
    opening = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    call = '"method":"tools/call","params":{"name":"retain","arguments":{"items":"Figs."}}'
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}),
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":2,"id":2,' + call + "}",
        '{"jsonrpc":"2.0","id":3,"x":[' + "[]," * 300_000 + "0]," + call + "}",
        '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_banks","arguments":{}}}',
    ]
    environment = {**os.environ, "SIMONIDES_EMBEDDER": "none"}
    command = [sys.executable, "-c", _PROGRAM, "mcp", "--store", str(tmp_path / "store")]
    answers: dict[Any, Any] = {}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write("".join(f"{line}\n" for line in lines))
        server.stdin.flush()
        while 4 not in answers:
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer
        server.stdin.close()
        server.stdout.read()
    assert "twice" in answers[2]["error"]["message"]
    assert "values" in answers[None]["error"]["message"]
    assert answers[4]["result"]["structuredContent"]["banks"] == ["default"]
    with simonides.open(tmp_path / "store", embedder=None) as store:
        assert store.bank().stats()["current"] == 0


@pytest.mark.parametrize(
    ("name", "key"), [("claude", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")]
)
def test_a_configuration_starts_a_server_that_answers(cli: Cli, tmp_path: Path, name: str, key: str) -> None:
    result = cli("mcp", "--print-config", name, "--store", str(tmp_path / "store"), "--bank", "notes")
    assert result.exit_code == 0
    written = json.loads(result.stdout)[key]["simonides"]
    assert written["args"][:2] == ["mcp", "--store"]
    assert written["args"][-2:] == ["--bank", "notes"]
    assert "goes into" in result.stderr
    assert (written.get("type") == "stdio") is (name == "vscode")


def test_an_unknown_client_or_system_is_told_the_nearest(cli: Cli) -> None:
    assert "did you mean 'cursor'" in cli("mcp", "--print-config", "curser").stderr
    assert "did you mean 'engram'" in cli("mcp", "--compat", "engrem").stderr


@pytest.mark.fault("N74")
@pytest.mark.parametrize("begun", [False, True])
def test_the_first_interrupt_ends_the_process(tmp_path: Path, *, begun: bool) -> None:
    """It had stopped the answers, and the process waited for a line that nobody was to send."""
    parameters = _server(tmp_path / "store")
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
    }  # fmt: skip
    with subprocess.Popen(
        [parameters.command, *parameters.args],
        env=parameters.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        process.stdin.flush()
        assert b"serverInfo" in process.stdout.readline()
        if begun:
            process.stdin.write(b'{"jsonrpc": "2.0", "id": 2,')
            process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b"interrupted\n"
        process.stdin.close()
    # What was stored before is whole, and the bank is free.
    with simonides.open(tmp_path / "store", embedder=None) as store:
        assert store.bank("default").verify().ok
