"""The LlamaIndex block beside the framework's own ``VectorMemoryBlock``; see ``references.MEANT``."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.integrations.references import ODD, STEPS, fresh, seeds, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.bank import Bank

__all__ = ["fresh", "seeds"]  # fixtures

pytestmark = pytest.mark.fault("N40")

TOWNS = ("Norrhav", "Quillstad", "Vesper", "Marrow", "Tarn")


def fact_of(draw: random.Random) -> str:
    number = draw.randrange(100, 120)
    return f"Locker {number} is in {TOWNS[number % len(TOWNS)]}, on the quay."


def said_of(draw: random.Random, types: Any) -> Any:
    """A message: mostly a fact of one of the two who speak."""
    role = draw.choice(("user", "user", "assistant", "assistant", "system", "tool"))
    text = draw.choice((fact_of(draw), fact_of(draw), fact_of(draw), None, *ODD[:-1]))
    if role in {"system", "tool"}:
        text = "Noted."
    if draw.random() < 0.1:
        parts = [types.TextBlock(text=text or ""), types.ImageBlock(url="http://127.0.0.1/a.png")]
        return types.ChatMessage(role=role, blocks=parts)
    return types.ChatMessage(role=role, content=text)


def asked_of(draw: random.Random, types: Any) -> list[Any] | None:
    """Messages whose newest asks for something: for one locker, or nothing that can be asked."""
    if draw.random() < 0.1:
        return draw.choice((None, []))
    before = [types.ChatMessage(role="assistant", content="Yes?")][: draw.randint(0, 1)]
    text = f"locker {draw.randrange(100, 120)}" if draw.random() < 0.8 else draw.choice((None, "", " "))
    return [*before, types.ChatMessage(role="user", content=text)]


def step_of_block(draw: random.Random, types: Any) -> tuple[str, Callable[[Any], Any]]:
    """What both blocks are asked, by name."""
    sort = draw.choice(("put", "put", "put", "get", "get", "get", "cut"))
    if sort == "put":
        said = [said_of(draw, types) for _ in range(draw.randint(0, 4))]
        given: Any = draw.choice((said, said, said, said, None, 7))
        session = "one" if isinstance(given, list) else None
        short = draw.random() < 0.5
        return sort, lambda block: block.aput(
            [each.model_copy(deep=True) for each in given] if isinstance(given, list) else given,
            from_short_term_memory=short,
            session_id=session,
        )
    if sort == "get":
        asked = asked_of(draw, types)
        return sort, lambda block: block.aget(asked, session_id="one")
    return sort, lambda block: block.atruncate("Locker 101", draw.randint(0, 9))


def step_of_memory(draw: random.Random, types: Any) -> tuple[str, Callable[[Any], Any]]:
    """What both memories are asked, by name."""
    sort = draw.choice(("put", "put", "put", "put", "get", "get", "all", "set", "reset"))
    said = [said_of(draw, types) for _ in range(draw.randint(0, 4))]
    if sort == "put":
        return sort, lambda memory: memory.aput_messages([each.model_copy(deep=True) for each in said])
    if sort == "get":
        asked = draw.choice((None, *(f"locker {number}" for number in range(100, 120)), *ODD))
        return sort, lambda memory: memory.aget(input=asked)
    if sort == "all":
        status = draw.choice((None, types.MessageStatus.ACTIVE, types.MessageStatus.ARCHIVED))
        return sort, lambda memory: memory.aget_all(status=status)
    if sort == "set":
        return sort, lambda memory: memory.aset([each.model_copy(deep=True) for each in said])
    return sort, lambda memory: memory.areset()


def facts_in(text: str) -> set[str]:
    return set(re.findall(r"Locker \d+ is in \w+, on the quay\.", text))


class Given:
    """An answer of a memory: the messages that say something, and what the block added to them."""

    def __init__(self, answer: Any) -> None:
        self.messages: list[Any] = []
        added = ""
        for message in answer:
            parts = []
            for part in message.blocks:
                text = str(getattr(part, "text", ""))
                if text.lstrip().startswith("<memory>"):
                    added += text
                else:
                    parts.append(part.model_dump())
            if parts:
                self.messages.append((message.role, parts, message.additional_kwargs))
        self.facts = facts_in(added)


@pytest.fixture
def llama() -> Any:
    """What is used of the framework; the reference's vectors are equal, so that it gives all that it keeps."""
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed; last run with 0.14.25")
    return llama_types()


def llama_types() -> Any:
    from types import SimpleNamespace  # noqa: PLC0415 - none of it where the package is missing

    from llama_index.core import MockEmbedding  # noqa: PLC0415
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock  # noqa: PLC0415
    from llama_index.core.memory import Memory, VectorMemoryBlock  # noqa: PLC0415
    from llama_index.core.memory.memory import InsertMethod  # noqa: PLC0415
    from llama_index.core.storage.chat_store.base_db import MessageStatus  # noqa: PLC0415
    from llama_index.core.vector_stores.types import (  # noqa: PLC0415
        BasePydanticVectorStore,
        VectorStoreQueryResult,
    )

    class Kept(BasePydanticVectorStore):
        """The nodes that were added, of one session."""

        stores_text: bool = True
        nodes: list[Any] = []  # noqa: RUF012 - pydantic copies it

        @property
        def client(self) -> None:
            return None

        def add(self, nodes: Any, **_: Any) -> list[str]:
            self.nodes.extend(nodes)
            return [node.node_id for node in nodes]

        def delete(self, ref_doc_id: str, **_: Any) -> None:
            raise NotImplementedError

        def query(self, query: Any, **_: Any) -> Any:
            wanted = {each.value for each in query.filters.filters}
            found = [node for node in self.nodes if node.metadata["session_id"] in wanted]
            return VectorStoreQueryResult(nodes=found, similarities=[1.0] * len(found), ids=[])

    def reference(name: str) -> Any:
        return VectorMemoryBlock(
            name=name, vector_store=Kept(), embed_model=MockEmbedding(embed_dim=2), similarity_top_k=10_000
        )

    return SimpleNamespace(
        ChatMessage=ChatMessage, TextBlock=TextBlock, ImageBlock=ImageBlock, MessageStatus=MessageStatus,
        Memory=Memory, InsertMethod=InsertMethod, reference=reference,
    )  # fmt: skip


async def outcome_at(asked: Any, step: Callable[[Any], Any]) -> tuple[str, Any]:
    try:
        return "done", await step(asked)
    except Exception as error:  # noqa: BLE001 - the framework lets out errors of its database
        return "refused", type(error)


def test_a_memory_block_answers_as_llamaindexs_own(
    fresh: Callable[[int], Bank], seeds: range, llama: Any
) -> None:
    made = pytest.importorskip("simonides.integrations.llamaindex")
    seen: Counter[str] = Counter()

    async def compare(seed: int) -> None:
        draw, bank = random.Random(seed), fresh(seed)
        bank.forget_where(everything=True)
        mine = made.BankMemoryBlock(name="b", bank=bank, max_tokens=4_000, options={"profile": "lexical"})
        reference = llama.reference("b")
        mine.accept_short_term_memory = reference.accept_short_term_memory = draw.random() < 0.8
        for step in range(STEPS):
            sort, asked = step_of_block(draw, llama)
            state = draw.getstate()
            how, answer = await outcome_at(mine, asked)
            draw.setstate(state)
            expected, theirs = await outcome_at(reference, asked)
            assert how == expected, (seed, step, sort, answer, theirs)
            seen[f"{sort} {how}"] += 1
            if sort != "get":
                assert answer == theirs, (seed, step, sort)
                continue
            assert facts_in(answer) <= facts_in(theirs), (seed, step)
            assert answer == "" or theirs != "", (seed, step)
        everything = await reference.aget([llama.ChatMessage(content="What is kept?")], session_id="one")
        for fact in sorted(facts_in(everything)):
            words = " ".join(fact.split()[:2])
            assert fact in await mine.aget([llama.ChatMessage(content=words)], session_id="one"), (seed, fact)
            seen["fact asked for"] += 1

    for seed in seeds:
        asyncio.run(compare(seed))
    assert seen["fact asked for"] > len(seeds)
    assert min(seen["put refused"], seen["put done"], seen["get done"]) > 10
    tell("LlamaIndex", len(seeds), seen)


def test_a_memory_with_a_block_of_a_bank_answers_as_with_llamaindexs_own(
    fresh: Callable[[int], Bank], llama: Any
) -> None:
    """What leaves the short-term memory, and what stays in it, is the same; each aget compiles a template."""
    made = pytest.importorskip("simonides.integrations.llamaindex")
    flushed = 0

    async def compare(seed: int) -> int:
        draw, bank = random.Random(seed), fresh(seed)
        bank.forget_where(everything=True)
        block = made.BankMemoryBlock(name="b", bank=bank, max_tokens=4_000, options={"profile": "lexical"})
        method = draw.choice(list(llama.InsertMethod))
        mine, reference = pair = [
            llama.Memory.from_defaults(
                session_id="one", memory_blocks=[one], token_limit=40, token_flush_size=10,
                tokenizer_fn=str.split, insert_method=method,
            )
            for one in (block, llama.reference("b"))
        ]  # fmt: skip
        for step in range(STEPS):
            sort, asked = step_of_memory(draw, llama)
            (how, answer), (expected, theirs) = [await outcome_at(each, asked) for each in pair]
            assert how == expected, (seed, step, sort, answer, theirs)
            if isinstance(theirs, list):
                given, wanted = Given(answer), Given(theirs)
                assert given.messages == wanted.messages, (seed, step, sort)
                assert given.facts <= wanted.facts, (seed, step)
            else:
                assert answer == theirs, (seed, step, sort)
        kept = Given(await reference.aget(input="What is kept?")).facts
        for fact in sorted(kept):
            assert fact in Given(await mine.aget(input=" ".join(fact.split()[:2]))).facts, (seed, fact)
        for memory in pair:
            await memory.sql_store._async_engine.dispose()
        return len(kept)

    for seed in range(20):
        flushed += asyncio.run(compare(seed))
    assert flushed > 10


def test_llamaindex_memories_of_one_bank_share_what_each_has_heard(
    fresh: Callable[[int], Bank], llama: Any
) -> None:
    made = pytest.importorskip("simonides.integrations.llamaindex")
    bank = fresh(0)
    block = made.BankMemoryBlock(name="b", bank=bank, options={"profile": "lexical"})
    own = made.BankMemoryBlock(name="b", bank=bank, session="mine")
    reference = llama.reference("b")
    asked = [llama.ChatMessage(content="locker 104")]
    fact = "Locker 104 is in Tarn, on the quay."

    async def say() -> tuple[str, str]:
        for each in (block, reference):
            await each.aput([llama.ChatMessage(content=fact)], session_id="one")
        await own.aput([llama.ChatMessage(content="Noted.")], session_id="two")
        await block.aput([llama.ChatMessage(content="Heard.")], session_id="\0" + "é" * 300)
        await block.aput([llama.ChatMessage(content="So.")])
        return await block.aget(asked, session_id="two"), await reference.aget(asked, session_id="two")

    mine, theirs = asyncio.run(say())
    assert fact in mine
    assert theirs == ""
    sessions = {memory.text: bank.source(memory.id).session for memory in bank.list_memories()}
    assert sessions == {fact: "one", "Noted.": "mine", "Heard.": "é" * 128, "So.": "llamaindex"}
