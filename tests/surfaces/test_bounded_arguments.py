"""N84, N89: arguments are measured first, checked off the event loop, and never hold up other callers."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError
from tests.surfaces.mcp.conftest import session
from tests.surfaces.rest.conftest import app, client_for

from simonides.retain.secrets import find_secrets
from simonides.surfaces.mcp.server import MAX_ARGUMENTS, PROMPT
from simonides.surfaces.operations.table import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.surfaces.mcp.conftest import Session
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.retain.secrets import Policy

__all__ = ["app", "client_for", "session"]


@pytest.fixture
def redact() -> Policy:
    """In place of no policy."""
    return "mask"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Checking of arguments waits until this is set; it must not run on a thread with an event loop."""
    go, bind = threading.Event(), Operation.bind

    def waiting(self: Operation, values: Any) -> Any:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        assert go.wait(60)
        return bind(self, values)

    monkeypatch.setattr(Operation, "bind", waiting)
    yield go
    go.set()


@pytest.mark.fault("N84")
@pytest.mark.parametrize(
    ("method", "path", "given"),
    [
        ("POST", "/v1/banks/mine/recall", {"json": {"query": "What leaks?"}}),
        ("GET", "/v1/banks/mine/memories", {"params": {"limit": 3}}),
        ("POST", "/v1/banks/mine/memories", {"json": {"items": ["The kettle leaks."]}}),
        ("GET", "/v1/banks/mine/memories", {"headers": {"accept": "application/x-ndjson"}}),
        ("GET", "/v1/banks/mine/export", {}),
    ],
)
def test_the_server_answers_while_a_request_is_checked(
    client_for: ClientFor, slow: threading.Event, method: str, path: str, given: dict[str, Any]
) -> None:
    async def ask() -> int:
        async with client_for("*") as client:
            asked = asyncio.ensure_future(client.request(method, path, **given))
            for _ in range(5):
                assert (await client.get("/health/live")).status_code == 200
                await asyncio.sleep(0.01)
            assert not asked.done()
            slow.set()
            return (await asked).status_code

    assert asyncio.run(ask()) == 200


@pytest.mark.fault("N84")
def test_the_loop_of_mcp_turns_while_arguments_are_checked(session: Session, slow: threading.Event) -> None:
    async def talk(client: Any) -> Any:
        asked = asyncio.ensure_future(client.call_tool("recall", {"query": "What leaks?"}))
        for _ in range(5):
            assert (await client.list_tools()).tools
        assert not asked.done()
        slow.set()
        return await asked

    assert not session(talk).is_error


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the texts that are searched for secrets, and of those that are checked."""
    lengths: list[int] = []

    def counting(text: str) -> Any:
        lengths.append(len(text))
        return find_secrets(text)

    monkeypatch.setattr("simonides.retain.redacted_errors.find_secrets", counting)
    monkeypatch.setattr("simonides.retain.secrets.find_secrets", counting)
    return lengths


@pytest.mark.fault("N89")
@pytest.mark.parametrize(
    "given",
    [
        {"query": "pg://u:hunter2@h " * 850_000},
        {"query": "a", "tags": ["x" * 1_000] * 14_000},
        {"query": "a", "limit": [[1] * 1_200_000] * 2},
        {"x" * 14_000_000: 1},
    ],
)
def test_large_arguments_of_a_tool_are_refused_by_their_size(
    session: Session, looked_at: list[int], given: dict[str, Any]
) -> None:
    async def talk(client: Any) -> Any:
        return await client.call_tool("recall", given)

    answer = session(talk)
    assert answer.is_error
    assert f"{MAX_ARGUMENTS:,}" in answer.content[0].text
    assert "hunter2" not in answer.content[0].text
    assert looked_at == []


@pytest.mark.fault("N89")
def test_names_and_prompts_that_are_too_large_are_refused(session: Session, looked_at: list[int]) -> None:
    long = "pg://u:hunter2@h " * 850_000

    async def talk(client: Any) -> list[str]:
        said = []
        for ask in (
            lambda: client.get_prompt(PROMPT, {"question": long}),
            lambda: client.get_prompt(long, {}),
            lambda: client.call_tool(long, {}),
            lambda: client.read_resource(f"memory://mine/{long}"),
        ):
            with pytest.raises(MCPError) as raised:
                await ask()  # type: ignore[no-untyped-call]
            said.append(str(raised.value))
        return said

    assert all(len(each) < 1_000 and "hunter2" not in each for each in session(talk))
    assert sum(looked_at) < 1_000_000
