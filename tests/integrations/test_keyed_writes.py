"""Writers at one key of a framework's memory: every acknowledged item stays, and a key has one value."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import InputError, SimonidesError
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank

WRITERS = 8


@pytest.fixture
def banks(tmp_path: Path) -> Iterator[list[Bank]]:
    """One bank, opened by as many stores as there are writers: nothing is shared but the files."""
    stores = [simonides.open(tmp_path / "store", embedder=StubEmbedder()) for _ in range(WRITERS)]
    yield [store.bank("diary") for store in stores]
    for store in stores:
        store.close()


def together(works: list[Callable[[], Any]]) -> list[Any]:
    """The results of *works*, all begun at once in threads of their own; the first error is raised."""
    results: list[Any] = [None] * len(works)
    errors: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run(place: int, work: Callable[[], Any]) -> None:
        start.wait()
        try:
            results[place] = work()
        except BaseException as error:  # noqa: BLE001 - a thread's errors reach no one else
            errors.append(error)

    threads = [threading.Thread(target=run, args=each) for each in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


@pytest.mark.fault("N62")
def test_every_item_added_to_a_session_stays_and_is_popped_once(banks: list[Bank]) -> None:
    openai = pytest.importorskip("simonides.integrations.openai_agents")
    sessions = [openai.BankSession("one", bank) for bank in banks]

    def add(number: int) -> None:
        for turn in range(4):
            items = [{"role": "user", "content": f"{number} {turn} {part}"} for part in "ab"]
            asyncio.run(sessions[number].add_items(items))

    together([partial(add, number) for number in range(WRITERS)])
    items = [item["content"] for item in asyncio.run(sessions[0].get_items())]
    assert sorted(items) == sorted(
        f"{number} {turn} {part}" for number in range(WRITERS) for turn in range(4) for part in "ab"
    )
    # One call is one transaction: nothing of another stands between its items.
    assert all(second == first[:-1] + "b" for first, second in zip(items[::2], items[1::2], strict=True))
    assert [turn for turn in items if turn.startswith("3 ")] == [
        f"3 {n} {part}" for n in range(4) for part in "ab"
    ]

    def pop(one: Any) -> list[Any]:
        return [asyncio.run(one.pop_item()) for _ in range(8)]

    popped = together([partial(pop, one) for one in sessions])
    taken = Counter(item["content"] for part in popped for item in part)
    assert taken == Counter(items)
    assert asyncio.run(sessions[0].get_items()) == []
    assert asyncio.run(sessions[0].pop_item()) is None


@pytest.mark.fault("N62")
def test_a_session_cleared_while_others_add_keeps_what_came_after(banks: list[Bank]) -> None:
    openai = pytest.importorskip("simonides.integrations.openai_agents")
    sessions = [openai.BankSession("one", bank) for bank in banks]

    def add(number: int) -> None:
        for turn in range(4):
            asyncio.run(sessions[number].add_items([{"role": "user", "content": f"{number} {turn}"}]))

    def clear() -> None:
        for _ in range(4):
            asyncio.run(sessions[0].clear_session())

    together([clear, *(partial(add, number) for number in range(1, 5))])
    left = [item["content"] for item in asyncio.run(sessions[0].get_items())]
    # What was added by one writer is cleared from its beginning, never from its middle.
    for number in range(1, 5):
        own = [item for item in left if item.startswith(f"{number} ")]
        assert own == [f"{number} {turn}" for turn in range(4 - len(own), 4)]


@pytest.mark.fault("N63")
def test_a_langgraph_key_has_one_value_however_many_put_it(banks: list[Bank]) -> None:
    langgraph = pytest.importorskip("simonides.integrations.langgraph")
    stores = [langgraph.BankStore(bank) for bank in banks]
    for turn in range(4):
        value = {"text": "put by all", "turn": turn}
        together([partial(one.put, ("users",), "home", value) for one in stores])
        [item] = stores[0].search(("users",))
        assert item.value["turn"] == turn
        assert stores[3].get(("users",), "home").value == item.value
        assert banks[0].stats()["memories"] == 1
    stores[0].delete(("users",), "home")
    assert stores[1].get(("users",), "home") is None
    assert stores[1].search(("users",)) == []
    assert stores[1].search(("users",), query="put by all") == []


@pytest.mark.fault("N63")
def test_a_batch_of_a_langgraph_store_is_done_in_order(banks: list[Bank]) -> None:
    base = pytest.importorskip("langgraph.store.base")
    langgraph = pytest.importorskip("simonides.integrations.langgraph")
    stores = [langgraph.BankStore(bank) for bank in banks]

    def batch(number: int) -> list[Any]:
        space = (f"own {number}",)
        ops: list[Any] = []
        for turn in range(3):
            ops += [base.PutOp(space, "k", {"turn": turn}), base.GetOp(space, "k")]
        return asyncio.run(
            stores[number].abatch([*ops, base.PutOp(space, "k", None), base.GetOp(space, "k")])
        )

    for results in together([partial(batch, number) for number in range(4)]):
        assert [item.value["turn"] for item in results[1:6:2]] == [0, 1, 2]
        assert results[-1] is None


@pytest.mark.fault("N63")
def test_no_edit_of_a_memory_file_is_lost(banks: list[Bank]) -> None:
    anthropic = pytest.importorskip("simonides.integrations.anthropic")
    tools = [anthropic.BankMemoryTool(bank) for bank in banks]
    path = "/memories/list.md"
    slots = "\n".join(f"slot {number}: free" for number in range(WRITERS))
    tools[0].call({"command": "create", "path": path, "file_text": slots})

    def edit(number: int) -> None:
        tool = tools[number]
        tool.call(
            {
                "command": "str_replace",
                "path": path,
                "old_str": f"slot {number}: free",
                "new_str": f"slot {number}: taken",
            }
        )
        for turn in range(3):
            tool.call(
                {"command": "insert", "path": path, "insert_line": 0, "insert_text": f"line {number} {turn}"}
            )

    together([partial(edit, number) for number in range(WRITERS)])
    shown = tools[0].call({"command": "view", "path": path})
    lines = [line.partition("\t")[2] for line in shown.splitlines()[1:-1]]
    assert sorted(lines) == sorted(
        [f"slot {number}: taken" for number in range(WRITERS)]
        + [f"line {number} {turn}" for number in range(WRITERS) for turn in range(3)]
    )
    assert banks[0].stats()["memories"] == 1


@pytest.mark.fault("N63")
def test_a_memory_folder_renamed_by_two_goes_to_one_name(banks: list[Bank]) -> None:
    anthropic = pytest.importorskip("simonides.integrations.anthropic")
    tools = [anthropic.BankMemoryTool(bank) for bank in banks]
    for name in "abc":
        tools[0].call({"command": "create", "path": f"/memories/old/{name}.md", "file_text": name})

    def rename(number: int) -> bool:
        command = {"command": "rename", "old_path": "/memories/old", "new_path": f"/memories/new{number}"}
        try:
            tools[number].call(command)
        except SimonidesError:
            return False
        return True

    won = together([partial(rename, number) for number in range(WRITERS)])
    assert sum(won) == 1
    listed = tools[0].call({"command": "view", "path": "/memories"})
    assert [listed.count(f"/{name}.md") for name in "abc"] == [1, 1, 1]
    assert f"/memories/new{won.index(True)}/a.md" in listed


@pytest.mark.fault("N62")
@pytest.mark.fault("N67")
def test_of_two_that_create_a_memory_file_one_is_refused(banks: list[Bank]) -> None:
    anthropic = pytest.importorskip("simonides.integrations.anthropic")
    tools = [anthropic.BankMemoryTool(bank) for bank in banks]
    path = "/memories/folder/new.md"

    def create(number: int) -> str:
        try:
            return str(tools[number].call({"command": "create", "path": path, "file_text": f"by {number}"}))
        except InputError as error:
            return str(error)

    answers = together([partial(create, number) for number in range(WRITERS)])
    [won] = [number for number, answer in enumerate(answers) if "already exists" not in answer]
    assert f"by {won}" in tools[0].call({"command": "view", "path": path})
    with pytest.raises(InputError, match="already exists"):
        tools[0].call({"command": "create", "path": "/memories/folder", "file_text": "a file of this name"})
    for name, problem in (("folder", "already exists"), ("folder/deeper", "is inside")):
        with pytest.raises(InputError, match=problem):
            tools[0].call(
                {"command": "rename", "old_path": "/memories/folder", "new_path": f"/memories/{name}"}
            )
