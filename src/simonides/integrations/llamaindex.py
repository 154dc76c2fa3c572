"""A LlamaIndex retriever and a memory block over a bank.

    index_memory = Memory.from_defaults(memory_blocks=[BankMemoryBlock(name="long_term", bank=bank)])

The block retains what leaves the short-term memory, and gives back what answers the newest message, marked as
data. Needs the extra ``llamaindex``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from llama_index.core.memory.memory import BaseMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from pydantic import Field

from simonides.recall.packing.as_data import pack_as_data
from simonides.records.recall import STANDING
from simonides.text.token_count import ApproximateTokenCounter

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage
    from llama_index.core.schema import QueryBundle

    from simonides.integrations.keyed import AnyBank


class BankRetriever(BaseRetriever):
    """A ``BaseRetriever``; a node is a memory, its score the relevance where the bank judges it.

    Where it is only possible that any answers there are two at most, with ``possibly`` true in their
    metadata; where nothing answers there is none. Standing memories come first, with ``standing`` true and
    a score of 0 where the question does not find them; ``standing=False`` leaves them out.

    Args:
        bank: of this process, or of a server.
        options: of ``Bank.recall``.
    """

    def __init__(self, bank: AnyBank, **options: Any) -> None:
        super().__init__()
        self._bank = bank
        self._asked = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._bank.recall(query_bundle.query_str, **{"standing": True, **self._asked})
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.id,
                    text=hit.text,
                    metadata={
                        **hit.memory.metadata,
                        "possibly": found.doubtful and hit.scored_by != STANDING,
                        "standing": hit.scored_by == STANDING,
                        "earlier": hit.earlier,
                        "source": hit.memory.source,
                        "trust": hit.memory.trust,
                    },
                ),
                score=hit.judged,
            )
            for hit in (*found.standing, *found.told)
        ]


class BankMemoryBlock(BaseMemoryBlock[str]):
    """A ``BaseMemoryBlock``.

    Attributes:
        bank: of this process, or of a server.
        max_tokens: of what is given back.
        session: conversation that retained messages belong to.
    """

    bank: Any
    max_tokens: int = 1_000
    session: str = "llamaindex"
    options: dict[str, Any] = Field(default_factory=dict)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        """What answers the newest message with words."""
        asked = next(
            (each.content for each in reversed(messages or []) if (each.content or "").strip()), None
        )
        if asked is None:
            return ""
        options = {"standing": True, **self.options}
        found = await asyncio.to_thread(self.bank.recall, asked, max_tokens=self.max_tokens, **options)
        return pack_as_data(found, ApproximateTokenCounter().count, max_tokens=self.max_tokens).text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Retain messages with words, each with who said it."""
        turns = [
            {"text": each.content, "role": _role(each), "speaker": str(each.role.value)}
            for each in messages
            if (each.content or "").strip()
        ]
        if turns:
            await asyncio.to_thread(self.bank.retain, turns, session=self.session)


def _role(message: ChatMessage) -> str:
    """How far it is trusted; an instruction of the system is no one's statement of fact."""
    known = {"user": "user", "assistant": "assistant", "tool": "tool"}
    return known.get(str(message.role.value), "import")
