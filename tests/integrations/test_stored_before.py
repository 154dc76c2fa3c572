"""What version 0.1 stored for the frameworks is found, replaced and deleted."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock


def stored(bank: Bank, space: str, path: list[str], value: Any, text: str, **described: Any) -> None:
    """A value as version 0.1 stored it."""
    tags = [
        f"{space}:" + hashlib.blake2b(json.dumps(path[:length]).encode(), digest_size=16).hexdigest()
        for length in range(len(path) + 1)
    ]
    metadata = {space: {"path": path, "value": value}}
    bank.retain(text, tags=tags, metadata=metadata, deduplicate=False, **described)


@pytest.mark.fault("N62")
def test_a_session(bank: Bank) -> None:
    openai = pytest.importorskip("simonides.integrations.openai_agents")
    items = [{"role": "user", "content": f"Turn {number}"} for number in range(12)]
    for number, item in enumerate(items, 1):
        path = ["one", f"{number:012}"]
        stored(bank, "openai-agents", path, item, item["content"], session="one", kind="episodic")
    session = openai.BankSession("one", bank)
    added = {"role": "user", "content": "A new turn"}

    async def work() -> None:
        assert await session.get_items() == items
        assert await session.get_items(2) == items[-2:]
        await session.add_items([added])
        assert await session.get_items() == [*items, added]
        assert await session.pop_item() == added
        assert await session.pop_item() == items[-1]
        await session.clear_session()

    asyncio.run(work())
    assert bank.stats()["memories"] == 0


@pytest.mark.fault("N63")
def test_values_of_a_langgraph_store(bank: Bank) -> None:
    langgraph = pytest.importorskip("simonides.integrations.langgraph")
    created = "2026-01-02T03:04:05+00:00"
    for number in range(3):
        # Two writers at once left several.
        value = {"value": {"text": f"Odalys {number}"}, "created": created}
        stored(bank, "langgraph", ["users", "odalys"], value, f"Odalys {number}")
    kept = langgraph.BankStore(bank)
    item = kept.get(("users",), "odalys")
    assert item.value == {"text": "Odalys 2"}
    assert item.created_at.isoformat() == created
    assert [each.value for each in kept.search(("users",))] == [item.value]
    kept.put(("users",), "odalys", {"value": 1, "created": "by hand"})
    item = kept.get(("users",), "odalys")
    assert item.value == {"value": 1, "created": "by hand"}
    assert item.created_at.isoformat() == created
    assert bank.stats()["memories"] == 1
    kept.delete(("users",), "odalys")
    assert kept.search(()) == []


@pytest.mark.fault("N63")
def test_an_import_brings_no_old_value_back(
    bank: Bank, store: Store, tmp_path: Path, clock: FrozenClock
) -> None:
    langgraph = pytest.importorskip("simonides.integrations.langgraph")
    kept = langgraph.BankStore(bank)
    kept.put(("users",), "odalys", {"text": "old"})
    bank.export(tmp_path / "bank.jsonl")
    clock.advance(seconds=60)
    kept.put(("users",), "odalys", {"text": "new"})
    bank.import_bank(tmp_path / "bank.jsonl")
    assert kept.get(("users",), "odalys").value == {"text": "new"}
    assert [item.value for item in kept.search(("users",))] == [{"text": "new"}]
    kept.delete(("users",), "odalys")
    assert kept.get(("users",), "odalys") is None
    other = langgraph.BankStore(store.bank("other"))
    store.bank("other").import_bank(tmp_path / "bank.jsonl")
    assert other.get(("users",), "odalys").value == {"text": "old"}


@pytest.mark.fault("N63")
def test_files_of_the_memory_tool(bank: Bank) -> None:
    anthropic = pytest.importorskip("simonides.integrations.anthropic")
    text = "lives in Norrhav\nsails"
    stored(bank, "anthropic", ["people", "odalys.md"], text, text, source="/memories/people/odalys.md")
    tool = anthropic.BankMemoryTool(bank)
    tool.call({"command": "rename", "old_path": "/memories/people", "new_path": "/memories/friends"})
    path = "/memories/friends/odalys.md"
    tool.call({"command": "str_replace", "path": path, "old_str": "Norrhav", "new_str": "Tarn"})
    assert "\tlives in Tarn\n" in tool.call({"command": "view", "path": path})
    [memory] = bank.list_memories()
    assert memory.source == path
