"""Clients that were made for other systems find their names and spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import UnknownNameError
from simonides.surfaces.mcp.compat import SYSTEMS, tools_for
from simonides.surfaces.mcp.tools import BANK, TOOLS

if TYPE_CHECKING:
    from mcp import Client
    from tests.surfaces.mcp.conftest import Session

    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

FACT = "Odalys Brenn lives in Norrhav."
QUERY = "Where does Odalys Brenn live?"


@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("system", SYSTEMS)
def test_an_alias_takes_what_ours_takes_and_its_own_spellings(system: str) -> None:
    tools = tools_for(system)
    assert set(TOOLS) <= set(tools)
    for tool in tools.values():
        ours = {each.name for each in tool.operation.parameters} | ({BANK} if tool.in_bank else set())
        assert set(tool.schema["properties"]) == ours | set(tool.spellings)
        assert set(tool.spellings.values()) <= ours
        assert not set(tool.spellings) & ours


def test_without_a_system_there_are_ours_alone() -> None:
    assert tools_for(None) is TOOLS
    with pytest.raises(UnknownNameError, match="did you mean 'hindsight'"):
        tools_for("hindsite")


def _asked(session: Session, system: str, *asked: tuple[str, dict[str, Any]]) -> list[Any]:
    async def talk(client: Client) -> list[Any]:
        await client.list_tools()
        return [await client.call_tool(name, arguments) for name, arguments in asked]

    return session(talk, compat=system)


@pytest.mark.spec("JB-12")
def test_jeffs_brain_searches_recalls_and_asks(session: Session) -> None:
    stored, *found = _asked(
        session,
        "jeffs-brain",
        ("memory_remember", {"content": FACT, "brain": "mine", "tags": ["home"]}),
        ("memory_search", {"query": QUERY, "top_k": 3, "brain": "mine"}),
        ("memory_recall", {"query": QUERY, "topK": 3, "profile": "jeffs_brain", "mode": "bm25"}),
        ("memory_ask", {"query": QUERY, "top_k": 3}),
        ("memory_list_brains", {}),
    )
    memory = stored.structured_content["ids"][0]
    for answer in found[:2]:
        assert [each["id"] for each in answer.structured_content["memories"]] == [memory]
    assert FACT in found[2].structured_content["context"]
    assert found[3].structured_content["banks"] == ["mine", "theirs"]


@pytest.mark.spec("HI-12")
@pytest.mark.spec("HI-13")
@pytest.mark.spec("HI-14")
@pytest.mark.spec("HI-15")
def test_hindsight_takes_its_budgets_types_tags_and_chunks(session: Session) -> None:
    stored, found, shown, ended, gone = _asked(
        session,
        "hindsight",
        ("retain", {"content": FACT, "timestamp": "2026-01-05", "context": "home", "tags": ["u"], "bank_id": "mine"}),
        (
            "recall",
            {
                "query": QUERY, "profile": "hindsight", "budget": "low", "budget_function": "adaptive",
                "max_tokens": 1000, "types": ["world"], "tags": ["u"], "tags_match": "any_strict",
                "include_chunks": True, "max_chunk_tokens": 100, "query_timestamp": "2026-02-01",
            },
        ),
        ("list_memories", {"type": "world", "bank_id": "mine"}),
        ("reflect", {"query": QUERY, "budget": "high", "profile": "hindsight"}),
        ("recall", {"query": QUERY, "types": ["experience"]}),
    )  # fmt: skip
    memory = stored.structured_content["ids"][0]
    assert [each["id"] for each in found.structured_content["memories"]] == [memory]
    assert found.structured_content["chunks"][0]["text"] == FACT
    assert [each["id"] for each in shown.structured_content["memories"]] == [memory]
    assert FACT in ended.structured_content["context"]
    assert gone.structured_content["memories"] == []


def test_hindsight_ends_and_erases(session: Session, store: Store, clock: FrozenClock) -> None:
    memory = store.bank("mine").retain(FACT)[0]
    clock.advance(days=1)
    ended, gone = _asked(
        session,
        "hindsight",
        ("invalidate_memory", {"memory_id": memory}),
        ("delete_memory", {"memory_id": memory}),
    )
    assert ended.structured_content["memory"]["valid_to"] is not None
    assert gone.structured_content == {"asked": 1, "forgotten": 1}


@pytest.mark.spec("ME-11")
def test_memoria_goes_back_in_time_and_hints_at_entities(session: Session) -> None:
    stored, found, before, past = _asked(
        session,
        "memoria",
        ("remember", {"content": FACT, "validFrom": "2026-01-01"}),
        ("recall", {"query": QUERY, "entityHints": ["Odalys Brenn"], "profile": "memoria"}),
        ("recall", {"query": QUERY, "asOf": "2025-01-01", "knownAt": "2026-04-01"}),
        ("recall", {"query": QUERY, "as_of": "2025-01-01", "asOf": "2025-01-01"}),
    )
    assert found.structured_content["memories"][0]["id"] == stored.structured_content["ids"][0]
    assert before.structured_content["memories"] == []
    assert past.is_error
    assert "is another name of as_of" in past.content[0].text


def test_engram_remembers_in_layers(session: Session) -> None:
    stored, found, told = _asked(
        session,
        "engram",
        ("remember", {"content": FACT, "layer": "episodic", "importance": 0.9}),
        ("recall_context", {"query": QUERY, "max_tokens": 300}),
        ("recall_explain", {"query": QUERY, "top_k": 1}),
    )
    memory = stored.structured_content["ids"][0]
    assert found.structured_content["memories"][0]["id"] == memory
    assert told.structured_content["explanations"][0]["id"] == memory


def test_what_is_not_taken_is_refused_and_not_dropped(session: Session) -> None:
    answer = _asked(session, "jeffs-brain", ("memory_search", {"query": QUERY, "scope": "global"}))[0]
    assert answer.is_error
    assert "'scope' is not known" in answer.content[0].text
