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

from simonides.integrations.keyed import check_bank, question_of
from simonides.options import MAX_RELATION_BYTES
from simonides.recall.packing.as_data import pack_as_data
from simonides.records.hygiene import shows_nothing
from simonides.records.recall import STANDING
from simonides.retain.importing.sources import clean_characters, cut
from simonides.text.token_count import ApproximateTokenCounter

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        check_bank(bank)
        self._bank = bank
        self._asked = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = question_of(query_bundle.query_str)
        if not question:
            return []
        found = self._bank.recall(question, **{"standing": True, **self._asked})
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
        session: conversation that retained messages belong to; ``None`` = that of the ``Memory`` which the
            block is of, or "llamaindex".
        options: of ``Bank.recall``.
    """

    bank: Any
    max_tokens: int = 1_000
    session: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def model_post_init(self, context: Any) -> None:
        """Refuse what is no bank."""
        super().model_post_init(context)
        check_bank(self.bank)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        """What answers the newest message with words."""
        questions = (question_of(each.content) for each in reversed(messages or []))
        asked = next(filter(None, questions), None)
        if asked is None:
            return ""
        options = {"standing": True, **self.options}
        found = await asyncio.to_thread(self.bank.recall, asked, max_tokens=self.max_tokens, **options)
        return pack_as_data(found, ApproximateTokenCounter().count, max_tokens=self.max_tokens).text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Retain messages with words, each with who said it; what no memory may hold is taken out."""
        turns = [turn for each in messages or () for turn in self._turns(each)]
        if turns:
            await asyncio.to_thread(self.bank.retain, turns)

    def _turns(self, message: ChatMessage) -> Iterator[dict[str, Any]]:
        told = self.session or str(message.additional_kwargs.get("session_id") or "")
        session = clean_characters(told).encode()[:MAX_RELATION_BYTES].decode(errors="ignore")
        about = {
            "role": _role(message),
            "speaker": str(message.role.value),
            "session": "llamaindex" if shows_nothing(session) else session,
        }
        for text in cut(clean_characters(message.content or "")):
            if not shows_nothing(text):
                yield {"text": text, **about}


def _role(message: ChatMessage) -> str:
    """How far it is trusted; an instruction of the system is no one's statement of fact."""
    known = {"user": "user", "assistant": "assistant", "tool": "tool"}
    return known.get(str(message.role.value), "import")
