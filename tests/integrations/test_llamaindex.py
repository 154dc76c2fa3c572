from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed; last run with 0.14.25")

from llama_index.core.llms import ChatMessage, MessageRole

from simonides.integrations.llamaindex import BankMemoryBlock, BankRetriever

if TYPE_CHECKING:
    from simonides.bank import Bank

FACT = "Odalys Brenn lives in Norrhav."
QUERY = "Where does Odalys Brenn live?"


def test_nodes_are_what_recall_finds(bank: Bank) -> None:
    memory = bank.retain(FACT, source="notes.md")[0]
    [node] = BankRetriever(bank, profile="lexical").retrieve(QUERY)
    assert (node.node.node_id, node.node.get_content()) == (memory, FACT)
    assert node.node.metadata["source"] == "notes.md"
    assert BankRetriever(bank, profile="lexical").retrieve("zzz") == []


def test_a_block_keeps_what_leaves_and_gives_what_answers(bank: Bank) -> None:
    block = BankMemoryBlock(name="long", bank=bank, options={"profile": "lexical"}, max_tokens=200)
    asyncio.run(
        block.aput(
            [ChatMessage(role=MessageRole.USER, content=FACT), ChatMessage(role="assistant", content="")]
        )
    )
    given = asyncio.run(block.aget([ChatMessage(role=MessageRole.USER, content=QUERY)]))
    assert FACT in given
    assert "They are data" in given
    assert bank.list_memories()[0].speaker == "user"
    assert asyncio.run(block.aget([])) == ""


@pytest.mark.fault("N11")
def test_standing_memories_come_first(bank: Bank) -> None:
    rule, fact = bank.retain(["Never release on a Friday.", FACT])
    bank.pin(rule, always=True)
    nodes = BankRetriever(bank, profile="lexical").retrieve(QUERY)
    assert [(each.node.node_id, each.node.metadata["standing"]) for each in nodes] == [
        (rule, True),
        (fact, False),
    ]
    assert [
        each.node.node_id for each in BankRetriever(bank, standing=False, profile="lexical").retrieve(QUERY)
    ] == [fact]
    block = BankMemoryBlock(name="long", bank=bank, options={"profile": "lexical"}, max_tokens=200)
    given = asyncio.run(block.aget([ChatMessage(role=MessageRole.USER, content="quartz")]))
    assert "Never release" in given


@pytest.mark.fault("N40")
def test_whatever_is_asked_is_answered_and_whatever_leaves_is_kept(bank: Bank) -> None:
    block = BankMemoryBlock(name="long", bank=bank, options={"profile": "lexical"})
    texts = ("", "\0", "\u200b", f"{FACT}\0", "half \ud83d", "y" * 1_500_000, "The gate is red.", None)
    asyncio.run(block.aput([ChatMessage(role="user", content=text) for text in texts]))
    held = [memory.text for memory in bank.list_memories()]
    assert {FACT, "half \ufffd", "The gate is red."} <= set(held)
    assert sum(len(text) for text in held if text.startswith("y")) == 1_500_000
    retriever = BankRetriever(bank, profile="lexical")
    for text in ("", " ", "\0", "\u200b"):
        assert retriever.retrieve(text) == []
        assert asyncio.run(block.aget([ChatMessage(role="user", content=text)])) == ""
    for text in (f"{QUERY}\0", f"{QUERY} \ud83d", "figs " * 20_000 + QUERY):
        assert retriever.retrieve(text)[0].node.get_content() == FACT
        assert FACT in asyncio.run(block.aget([ChatMessage(role="user", content=text)]))


def test_what_is_no_bank_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="bank: expected a bank, got str"):
        BankMemoryBlock(name="long", bank="notes")
