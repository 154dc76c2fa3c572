"""`simonides mcp --project`: the bank of the repository that the client works on, and no other."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from pydantic import FileUrl

from simonides.surfaces.agents.projects import bank_of
from simonides.surfaces.mcp.roots import ProjectBank
from simonides.surfaces.mcp.server import Settings, make_server
from simonides.surfaces.serving.dispatching import Dispatcher
from simonides.surfaces.serving.grants import LOCAL
from simonides.surfaces.serving.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.surfaces.conftest import Cli

    from simonides.store import Store

pytestmark = [pytest.mark.fault("N69"), pytest.mark.filterwarnings("ignore:.*roots.*")]

FACT = "Odalys Brenn lives in Norrhav."


@pytest.fixture
def shops(tmp_path: Path) -> list[Path]:
    roots = [tmp_path / owner / "shop" for owner in ("ivo", "tove")]
    for root in roots:
        (root / ".git").mkdir(parents=True)
        (root / "src").mkdir()
    return roots


def _run(
    store: Store,
    folder: Path,
    roots: list[Path] | None,
    talk: Callable[[Client], Awaitable[Any]],
    *,
    home: Path | None = None,
) -> Any:
    """A client of the older protocol, in which servers ask for roots, if it has any."""
    dispatcher = Dispatcher(store, Limits())

    async def answer(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(each.as_uri())) for each in roots or []])

    async def work() -> Any:
        settings = Settings(project=ProjectBank(store, folder, home))
        server = make_server(dispatcher, lambda _: LOCAL, settings)
        callback: Any = None if roots is None else answer
        async with Client(server, mode="legacy", list_roots_callback=callback) as client:
            return await talk(client)

    try:
        return asyncio.run(work())
    finally:
        dispatcher.close()


async def _keep(client: Any) -> list[str]:
    stored = await client.call_tool("retain", {"items": [FACT]})
    assert not stored.is_error, stored.content[0].text
    return list((await client.call_tool("list_banks", {})).structured_content["banks"])


async def _find(client: Any) -> str:
    return str((await client.call_tool("recall", {"query": FACT})).content[0].text)


def test_the_clients_root_decides_and_nothing_crosses(
    store: Store, shops: list[Path], tmp_path: Path
) -> None:
    ours, theirs = shops
    assert _run(store, tmp_path, [ours / "src"], _keep) == [bank_of(ours.resolve())]
    assert FACT in _run(store, tmp_path, [ours], _find)
    assert FACT not in _run(store, tmp_path, [theirs], _find)

    async def peek(client: Any) -> Any:
        return await client.call_tool("recall", {"query": FACT, "bank": bank_of(ours.resolve())})

    refused = _run(store, tmp_path, [theirs], peek)
    assert refused.is_error
    assert "not allowed" in refused.content[0].text

    async def resources(client: Any) -> list[str]:
        return [each.name for each in (await client.list_resources()).resources]

    assert len(_run(store, tmp_path, [ours], resources)) == 1
    assert _run(store, tmp_path, [theirs], resources) == []


@pytest.mark.parametrize("roots", [None, []])
def test_else_the_folder_that_it_was_started_in_decides(
    store: Store, shops: list[Path], roots: list[Path] | None
) -> None:
    assert _run(store, shops[0] / "src", roots, _keep) == [bank_of(shops[0].resolve())]


def test_a_server_that_knows_no_project_says_so(store: Store, tmp_path: Path) -> None:
    async def ask(client: Any) -> Any:
        return await client.call_tool("recall", {"query": FACT})

    refused = _run(store, tmp_path, None, ask, home=tmp_path)
    assert refused.is_error
    assert "no project is known" in refused.content[0].text
    # Where the client names the home folder, that is the project.
    assert not _run(store, tmp_path, [tmp_path], ask, home=tmp_path).is_error


def test_another_folder_opened_meanwhile_counts_at_once(
    store: Store, shops: list[Path], tmp_path: Path
) -> None:
    roots = [shops[0]]

    async def move(client: Any) -> str:
        await _keep(client)
        roots[:] = [shops[1]]
        return await _find(client)

    assert FACT not in _run(store, tmp_path, roots, move)


def test_the_program_finds_the_project_of_its_folder(shops: list[Path], tmp_path: Path, cli: Cli) -> None:
    program = "import sys; from simonides.surfaces.cli.main import main; main()"

    async def talk() -> list[str]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-c", program, "mcp", "--project", "--store", str(tmp_path / "kept")],
            env={**os.environ, "SIMONIDES_EMBEDDER": "none"},
            cwd=str(shops[0] / "src"),
        )
        async with Client(server) as client:
            return await _keep(client)

    assert asyncio.run(talk()) == [bank_of(shops[0].resolve())]
    refused = cli("mcp", "--project", "--bank", "x")
    assert refused.exit_code == 2
    assert "give it or --bank" in refused.stderr
