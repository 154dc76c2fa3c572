from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents")

from agents.memory import Session
from agents.tool_context import ToolContext

from simonides.errors import InputError
from simonides.integrations.openai_agents import BankSession, recall_tool

if TYPE_CHECKING:
    from simonides.bank import Bank

ITEMS: list[Any] = [
    {"role": "user", "content": "I live in Norrhav."},
    {"role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
    {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
    {"role": "user", "content": "I live in Norrhav."},
]


def test_a_session_keeps_its_items_in_order(bank: Bank) -> None:
    one, other = BankSession("one", bank), BankSession("other", bank)
    assert isinstance(one, Session)

    async def work() -> None:
        await one.add_items(ITEMS[:2])
        await one.add_items(ITEMS[2:])
        await other.add_items(ITEMS[:1])
        assert await one.get_items() == ITEMS
        assert await one.get_items(2) == ITEMS[2:]
        assert await one.pop_item() == ITEMS[3]
        assert await one.get_items() == ITEMS[:3]
        await one.clear_session()
        assert await one.get_items() == []
        assert await one.pop_item() is None
        assert await other.get_items() == ITEMS[:1]

    asyncio.run(work())


def test_an_agent_recalls_by_a_tool(bank: Bank) -> None:
    bank.retain("Odalys Brenn lives in Norrhav.")
    tool = recall_tool(bank, profile="lexical")
    assert "data" in tool.description
    assert list(tool.params_json_schema["properties"]) == ["query"]

    async def invoke(arguments: str) -> Any:
        context = ToolContext(None, tool_name="recall", tool_call_id="1", tool_arguments=arguments)
        return await tool.on_invoke_tool(context, arguments)

    def ask(query: str) -> Any:
        arguments = json.dumps({"query": query})
        return asyncio.run(invoke(arguments))

    assert "Norrhav" in ask("Where does Odalys Brenn live?")
    assert ask("zzz") == "Not in memory: nothing was found."
    assert [ask(text) for text in ("", "\0", "\u200b")] == ["Not in memory."] * 3
    assert "Norrhav" in ask("figs " * 20_000 + "Where does Odalys Brenn\0 live?")
    bank.pin(bank.retain("Never release on a Friday.")[0], always=True)
    assert "Never release" in ask("Where does Odalys Brenn live?")
    assert ask("zzz").endswith("Not in memory: nothing was found.")
    assert "Never release" in ask("zzz")


@pytest.mark.fault("N46")
def test_a_long_output_of_a_tool_is_kept_whole(bank: Bank) -> None:
    session = BankSession("one", bank)
    items: list[Any] = [
        {"type": "function_call_output", "call_id": "1", "output": "A line about figs.\n" * 20_000},
        {"role": "user", "content": "What was that?"},
    ]

    async def work() -> None:
        await session.add_items(items)
        assert await session.get_items() == items
        assert await session.pop_item() == items[1]
        assert await session.pop_item() == items[0]

    asyncio.run(work())


@pytest.mark.fault("N3")
def test_after_six_runs_with_the_recall_tool_the_users_own_words_still_lead(bank: Bank) -> None:
    fact = "The alarm code of the greenhouse is 8821."
    asked = (
        "What is the alarm code of the greenhouse?",
        "Which code switches off the greenhouse alarm?",
        "tell me the greenhouse alarm code",
        "Sorry, what was the alarm code again?",
        "Can you look up the code of the greenhouse alarm?",
        "The greenhouse alarm, what is its code?",
    )
    tool = recall_tool(bank)

    async def run(number: int, question: str) -> str:
        session, arguments = BankSession(f"run-{number}", bank), json.dumps({"query": question})
        context = ToolContext(None, tool_name="recall", tool_call_id=f"c{number}", tool_arguments=arguments)
        output = str(await tool.on_invoke_tool(context, arguments))
        items: list[Any] = [
            {"role": "user", "content": question},
            {"type": "function_call", "call_id": f"c{number}", "name": "recall", "arguments": arguments},
            {"type": "function_call_output", "call_id": f"c{number}", "output": output},
            {"role": "assistant", "content": [{"type": "output_text", "text": "It is 8821."}]},
        ]
        await session.add_items(items)
        return output

    asyncio.run(BankSession("first", bank).add_items([{"role": "user", "content": fact}]))
    for number, question in enumerate(asked):
        output = asyncio.run(run(number, question))
        assert fact in output.split("\n[2]")[0], output
        assert bank.recall(question).hits[0].text == fact


def test_what_is_no_bank_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="bank: expected a bank, got str"):
        recall_tool("notes")  # type: ignore[arg-type]
