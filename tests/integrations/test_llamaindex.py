from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("llama_index.core")

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
    assert bank.memories()[0].speaker == "user"
    assert asyncio.run(block.aget([])) == ""
