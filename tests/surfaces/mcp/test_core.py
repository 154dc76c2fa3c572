"""The tools that are offered by default: few, short, and every call checked as with all of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError

from simonides.errors import InputError, MissingExtraError, UnknownNameError
from simonides.models.token_counters import load_token_counter
from simonides.surfaces.mcp.core import CORE, chosen_tools, core_schema
from simonides.surfaces.mcp.tools import BANK, TOOLS

if TYPE_CHECKING:
    from tests.surfaces.mcp.conftest import Session

MOST_TOKENS = 2_500
FACT = "Odalys Brenn lives in Norrhav."


async def _listed(client: Any) -> list[Any]:
    return list((await client.list_tools()).tools)


def test_the_definitions_are_at_most_2500_tokens_in_all(session: Session) -> None:
    tools = session(_listed, tools=None)
    assert [tool.name for tool in tools] == list(CORE)
    sent = json.dumps(
        [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools], ensure_ascii=False
    )
    try:
        assert load_token_counter("o200k_base").count(sent) <= MOST_TOKENS
    except MissingExtraError:
        # The approximate counter is above the others: 1.9 of its tokens are one of o200k_base in JSON.
        assert load_token_counter("approximate").count(sent) <= 1.9 * MOST_TOKENS


@pytest.mark.parametrize("name", CORE)
def test_a_core_tool_publishes_a_part_of_what_it_takes(name: str, session: Session) -> None:
    tool = next(each for each in session(_listed, tools="core") if each.name == name)
    whole = TOOLS[name].schema
    assert set(tool.input_schema["properties"]) <= set(whole["properties"])
    assert tool.input_schema.get("required", []) == whole["required"]
    assert (BANK in tool.input_schema["properties"]) is TOOLS[name].in_bank
    assert "Do not call it" in tool.description
    for each in core_schema(TOOLS[name])["properties"].values():
        assert each["description"]
        assert each["type"] in {"string", "integer", "array"}
        assert "see tags_match" not in each["description"]


def test_a_conversation_needs_no_other_tool(session: Session) -> None:
    async def talk(client: Any) -> None:
        stored = await client.call_tool("retain", {"items": [FACT], "kind": "semantic", "tags": ["home"]})
        [memory] = stored.structured_content["ids"]
        for name, arguments in (
            ("recall", {"query": "Where does Odalys Brenn live?", "kinds": ["semantic"], "as_of": "2100"}),
            ("get_memory", {"memory": memory}),
            ("list_memories", {"tags": ["home"], "limit": 5}),
            ("brief", {"task": "Visit Odalys Brenn."}),
            ("list_banks", {}),
        ):
            found = await client.call_tool(name, arguments)
            assert not found.is_error, found.content[0].text
        assert not (await client.call_tool("invalidate", {"memory": memory})).is_error
        assert FACT not in (await client.call_tool("recall", {"query": FACT})).content[0].text
        assert not (await client.call_tool("forget", {"ids": [memory]})).is_error

    session(talk, tools="core")


def test_what_is_not_published_is_taken_and_checked_all_the_same(session: Session) -> None:
    async def talk(client: Any) -> None:
        stored = await client.call_tool("retain", {"items": [{"text": FACT, "salience": 0.9}]})
        assert not stored.is_error
        assert not (
            await client.call_tool("recall", {"query": FACT, "tags_match": "all", "tags": []})
        ).is_error
        wrong = await client.call_tool("recall", {"query": FACT, "limitt": 3})
        assert wrong.is_error
        assert "limit" in wrong.content[0].text

    session(talk, tools="core")


def test_a_tool_of_the_whole_set_says_how_it_is_offered(session: Session) -> None:
    async def talk(client: Any) -> None:
        with pytest.raises(MCPError, match="offered with --tools all"):
            await client.call_tool("reflect", {"query": FACT})
        with pytest.raises(MCPError, match="tools/list names them"):
            await client.call_tool("reflekt", {"query": FACT})

    session(talk, tools="core")


def test_names_of_another_system_come_with_all_tools() -> None:
    assert chosen_tools(None, None)[0] == "core"
    assert chosen_tools("all", None) == ("all", TOOLS)
    assert chosen_tools(None, "hindsight")[0] == "all"
    with pytest.raises(InputError, match="core has no names of hindsight"):
        chosen_tools("core", "hindsight")
    with pytest.raises(UnknownNameError, match="did you mean 'core'"):
        chosen_tools("cor", None)
