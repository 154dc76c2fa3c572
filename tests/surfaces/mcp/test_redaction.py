"""An MCP server whose store redacts: no tool stores a token, and no answer of a failed one repeats it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError
from tests.faults.test_secrets import Tokens, leaks

from simonides.surfaces.mcp.tools import BANK, TOOLS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.mcp.conftest import Session

    from simonides.retain.secrets import Policy
    from simonides.store import Store

pytestmark = pytest.mark.fault("X6")


@pytest.fixture
def redact() -> Policy:
    """In place of no policy."""
    return "mask"


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.soak)], ids=["", "all shapes"])
def whole(request: pytest.FixtureRequest) -> bool:
    """Each parameter gets every shape of a value; else two of the five, others for the next parameter."""
    return bool(request.param)


def test_no_tool_stores_a_token_and_no_failure_repeats_one(  # noqa: C901 see below
    store: Store, session: Session, tmp_path: Path, *, whole: bool
) -> None:
    tokens, echoes, failed = Tokens(), set(), 0
    [memory] = store.bank("mine").retain("Odalys Fennimark leads the harbour office.")
    base: dict[str, dict[str, Any]] = {
        "retain": {"items": ["The kettle leaks."]},
        "recall": {"query": "What leaks?", "tier": "async"},
        "update_memory": {"memory": memory},
    }

    async def talk(client: Any) -> None:  # noqa: C901 see above
        nonlocal failed
        for name, tool in TOOLS.items():
            parameters = (*(each.name for each in tool.operation.parameters), BANK, "unknown")
            for place, parameter in enumerate(parameters):
                token = tokens.new(f"{name}({parameter})")
                long = f"what Tove wrote down last week was {token} for Ravi"
                shapes = (token, long, [long], [{"text": "words", "context": long, token: 1}], {"a": long})
                for number, value in enumerate(shapes):
                    if not whole and (number + place) % 5 >= 2:
                        continue
                    given = {**base.get(name, {}), (token if parameter == "unknown" else parameter): value}
                    try:
                        answer = await client.call_tool(name, given)
                    except MCPError as error:
                        said = str(error)
                    else:
                        if not answer.is_error:
                            continue
                        said = answer.content[0].text
                    failed += 1
                    if tokens.told_in(said):
                        echoes.add((name, parameter, said))
        token = tokens.new("protocol")
        for ask in (
            lambda: client.call_tool(token, {}),
            lambda: client.get_prompt(token, {}),
            lambda: client.read_resource(f"memory://mine/{token}"),
            lambda: client.read_resource(f"memory://{token}/{memory}"),
        ):
            with pytest.raises(MCPError) as caught:
                await ask()  # type: ignore[no-untyped-call]
            if tokens.told_in(str(caught.value)):
                echoes.add(("protocol", "", str(caught.value)))

    session(talk)
    assert failed > 100
    assert echoes == set()
    store.close()
    assert leaks(tmp_path / "store", tokens) == {}
