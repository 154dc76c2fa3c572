"""Each integration beside the framework's own reference: the same commands, the same answers, the same errors.

``references.MEANT`` names the differences that are meant; they are evened out here.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integrations.references import ODD, STEPS, fresh, seeds, tell

from simonides.errors import SimonidesError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.bank import Bank

__all__ = ["fresh", "seeds"]  # fixtures

pytestmark = [pytest.mark.fault("N67"), pytest.mark.fault("N68")]


# -- Anthropic's memory tool

NAMES = ("a", "b", "c.md", ".h", "sub")
LINES = ("", "one", "two", "one two", "é")


def path_of(draw: random.Random) -> str:
    parts = [draw.choice(NAMES) for _ in range(draw.choice((0, 1, 1, 1, 2, 2, 3)))]
    path = "/".join(("/memories", *parts))
    return draw.choice(
        (*[path] * 12, path + "/", f"/memories/a/../{'/'.join(parts)}", "/memories/../etc", "x")
    )


def text_of(draw: random.Random) -> str:
    return "\n".join(draw.choice(LINES) for _ in range(draw.randint(0, 5)))


def command_of(draw: random.Random) -> dict[str, Any]:
    sort = draw.choice(
        ("create", "create", "create", "view", "view", "str_replace", "insert", "delete", "rename")
    )
    made: dict[str, Any] = {"command": sort}
    if sort == "rename":
        return made | {"old_path": path_of(draw), "new_path": path_of(draw)}
    made["path"] = path_of(draw)
    if sort == "create":
        made["file_text"] = text_of(draw)
    elif sort == "view" and draw.random() < 0.4:
        made["view_range"] = draw.choice(([1, 2], [2, -1], [0, 1], [3, 2], [-4, 9], [9, 12]))
    elif sort == "str_replace":
        made |= {
            "old_str": draw.choice(("one", "two", "absent", "one two", "")),
            "new_str": draw.choice(LINES),
        }
    elif sort == "insert":
        made |= {"insert_line": draw.randint(-1, 6), "insert_text": text_of(draw)}
    return made


def answer_of(tool: Any, command: dict[str, Any], refused: type[Exception]) -> tuple[str, str]:
    try:
        return "done", str(tool.call(dict(command)))
    except refused as error:
        return "refused", str(error)
    except OSError:
        return "raw", ""


def without_sizes(answer: str) -> list[str]:
    """Lines of a listing; of folders without their sizes."""
    head, first, *lines = answer.split("\n")
    return [
        head,
        first.partition("\t")[2],
        *(line.partition("\t")[2] if line.endswith("/") else line for line in lines),
    ]


def without_empty_folders(root: Path) -> None:
    for folder in sorted(root.rglob("*"), key=lambda each: -len(each.parts)):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def test_the_memory_tool_answers_as_the_sdks_own(fresh: Callable[[int], Bank], seeds: range) -> None:
    tools = pytest.importorskip("anthropic.lib.tools")
    builtin = pytest.importorskip("anthropic.lib.tools._beta_builtin_memory_tool")
    made = pytest.importorskip("simonides.integrations.anthropic")
    seen: Counter[str] = Counter()
    for seed in seeds:
        draw = random.Random(seed)
        tool = made.BankMemoryTool(fresh(seed))
        with tempfile.TemporaryDirectory() as folder:
            reference = builtin.BetaLocalFilesystemMemoryTool(folder)
            done = []
            for _ in range(STEPS):
                done.append(command := command_of(draw))
                sort, expected = answer_of(reference, command, tools.ToolError)
                mine, got = answer_of(tool, command, tools.ToolError)
                without_empty_folders(reference.memory_root)
                seen[f"{command['command']} {sort}"] += 1
                if sort == "raw":
                    assert mine == "refused", (seed, done)
                elif expected.startswith("Here're"):
                    assert without_sizes(got) == without_sizes(expected), (seed, done)
                else:
                    assert (mine, got) == (sort, expected), (seed, done)
    assert len(seen) >= 12
    tell("memory tool", len(seeds), seen)


# -- LangGraph

LABELS = ("users", "docs", "odalys", "a")
VALUES: tuple[Any, ...] = (
    1, 2.5, "3", "figs", None, True, [1, "b"], [], {}, {"x": 1}, {"x": "figs", "y": [2]}, "\u00e9\n",
)  # fmt: skip


def value_of(draw: random.Random) -> dict[str, Any]:
    return {name: draw.choice(VALUES) for name in ("rank", "text", "more") if draw.random() < 0.6}


def filter_of(draw: random.Random) -> dict[str, Any] | None:
    if draw.random() < 0.3:
        return None
    compared = {draw.choice(("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")): draw.choice(VALUES)}
    asked = draw.choice((draw.choice(VALUES), draw.choice(VALUES), compared, {"x": compared}, {"$and": [1]}))
    return {draw.choice(("rank", "text", "more")): asked}


def namespace_of(draw: random.Random, fewest: int = 1) -> tuple[str, ...]:
    return tuple(draw.choice(LABELS) for _ in range(draw.randint(fewest, 3)))


def item_of(item: Any) -> Any:
    return None if item is None else (item.namespace, item.key, item.value)


def operation_of(draw: random.Random) -> Callable[[Any], Any]:
    """What one and the other store are asked; answers without times, order and scores."""
    sort = draw.choice(("put", "put", "put", "get", "delete", "search", "search", "list"))
    namespace, key = namespace_of(draw), draw.choice("kl")
    if sort == "put":
        value, index = value_of(draw), draw.choice((None, None, False, ["text"]))
        return lambda store: store.put(namespace, key, value, index=index)
    if sort == "get":
        return lambda store: item_of(store.get(namespace, key))
    if sort == "delete":
        return lambda store: store.delete(namespace, key)
    if sort == "search":
        prefix, asked = namespace_of(draw, 0), filter_of(draw)
        query = draw.choice((None, None, "figs", "rank 2.5", *ODD))
        size = draw.choice((0, 1, 2, 100))

        def search(store: Any) -> Any:
            pages: list[Any] = []
            while page := store.search(prefix, filter=asked, query=query, limit=size, offset=len(pages)):
                pages += page
            return sorted(map(item_of, pages), key=repr)

        return refused_always(search) if "$and" in repr(asked) else search
    ends: dict[str, Any] = {
        name: tuple(draw.choice((*LABELS, "*")) for _ in range(draw.randint(1, 2)))
        for name in ("prefix", "suffix")
        if draw.random() < 0.3
    }
    depth = draw.choice((None, None, 1, 2))
    first, size = draw.choice((0, 0, 1)), draw.choice((1, 100))
    return lambda store: store.list_namespaces(**ends, max_depth=depth, limit=size, offset=first)


def refused_always(search: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The reference's refusal, also where it has nothing to compare."""

    def refuse(store: Any) -> Any:
        search(store)
        if type(store).__name__ == "InMemoryStore":
            raise ValueError("Unsupported operator: $and")

    return refuse


def outcome_of(store: Any, operation: Callable[[Any], Any]) -> tuple[str, Any]:
    try:
        return "done", operation(store)
    except ValueError as error:
        return "refused", str(error).partition(";")[0].removeprefix("filter: ")


def numbers_alone(compare: Callable[..., bool]) -> Callable[..., bool]:
    """The reference's comparison, without its errors about what is no number."""

    def compared(value: Any, operator: str, asked: Any) -> bool:
        try:
            return compare(value, operator, asked)
        except (TypeError, ValueError) as error:
            if "Unsupported" in str(error):
                raise
            return False

    return compared


def test_a_store_answers_as_langgraphs_own(
    fresh: Callable[[int], Bank], seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = pytest.importorskip("langgraph.store.memory")
    made = pytest.importorskip("simonides.integrations.langgraph")
    monkeypatch.setattr(memory, "_apply_operator", numbers_alone(memory._apply_operator))
    seen: Counter[str] = Counter()
    for seed in seeds:
        draw = random.Random(seed)
        mine, reference = made.BankStore(fresh(seed)), memory.InMemoryStore()
        for step in range(STEPS):
            operation = operation_of(draw)
            for namespace in [each for each, items in reference._data.items() if not items]:
                del reference._data[namespace]
            expected = outcome_of(reference, operation)
            assert outcome_of(mine, operation) == expected, (seed, step)
            seen[expected[0]] += 1
    assert min(seen["done"], seen["refused"]) > 10
    tell("LangGraph", len(seeds), seen)


def test_a_batch_and_bad_names_are_as_in_langgraphs_own(fresh: Callable[[int], Bank]) -> None:
    memory = pytest.importorskip("langgraph.store.memory")
    base = pytest.importorskip("langgraph.store.base")
    made = pytest.importorskip("simonides.integrations.langgraph")
    stores = made.BankStore(fresh(0)), memory.InMemoryStore()
    for namespace in ((), ("a.b",), ("langgraph", "x"), ("",), (1,)):
        for store in stores:
            with pytest.raises(base.InvalidNamespaceError):
                store.put(namespace, "k", {})
    # The reference takes no time to live; what becomes of one is tested beside the adapter.
    with pytest.raises(NotImplementedError, match="TTL is not supported"):
        stores[1].put(("a",), "k", {}, ttl=1)
    puts = [base.PutOp(("a",), key, {"n": number}) for number, key in enumerate("klk")]
    reads = [base.GetOp(("a",), "k"), base.SearchOp(("a",)), base.ListNamespacesOp()]
    answers = []
    for store in stores:
        assert store.batch(puts) == [None] * 3
        item, found, names = store.batch(reads)
        answers.append((item_of(item), sorted(map(item_of, found)), names))
    assert answers[0] == answers[1]


def test_what_is_not_indexed_is_found_by_its_key_alone(fresh: Callable[[int], Bank]) -> None:
    made = pytest.importorskip("simonides.integrations.langgraph")
    bank = fresh(0)
    store = made.BankStore(bank)
    store.put(("a",), "hidden", {"text": "The pump seal leaks."}, index=False)
    store.put(("a",), "flag", {"on": True})
    store.put(("a",), "shown", {"text": "The pump is red."})
    assert "seal" not in bank.recall("pump seal").context
    assert "{" not in bank.recall("on true flag pump", precision="wide").context
    found = store.search((), query="pump seal")
    assert (found[0].key, found[0].score is None) == ("shown", False)
    assert {each.key for each in found} == {"shown", "hidden", "flag"}
    assert store.get(("a",), "hidden").value == {"text": "The pump seal leaks."}
    assert bank.verify().ok


# -- OpenAI Agents SDK

CONTENTS: tuple[Any, ...] = (
    "I live in Norrhav.", "", "\u00e9\0\n", [{"type": "output_text", "text": "Noted."}], None, "x" * 70_000,
    "half \ud83d", {"deep": [[[{}]]]}, 10**20,
)  # fmt: skip


def agent_item_of(draw: random.Random) -> dict[str, Any]:
    content = draw.choice(CONTENTS)
    return draw.choice(
        (
            {"role": draw.choice(("user", "assistant", "system")), "content": content},
            {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": content},
            {"type": "reasoning", "id": "r", "summary": [], "n": draw.choice((1, 2.5, True, None))},
        )
    )


def session_step_of(draw: random.Random) -> Callable[[Any], Any]:
    sort = draw.choice(("add", "add", "add", "get", "get", "pop", "clear"))
    if sort == "add":
        items = [agent_item_of(draw) for _ in range(draw.randint(0, 4))]
        return lambda session: session.add_items(items)
    if sort == "get":
        limit = draw.choice((None, 0, 1, 2, 5, 1_000, 20_000, -1))
        return lambda session: session.get_items(limit)
    if sort == "pop":
        return lambda session: session.pop_item()
    return (lambda session: session.clear_session()) if draw.random() < 0.4 else (lambda s: s.get_items())


def test_a_session_answers_as_the_sdks_own(fresh: Callable[[int], Bank], seeds: range) -> None:
    agents = pytest.importorskip("agents")
    made = pytest.importorskip("simonides.integrations.openai_agents")

    async def compare(seed: int) -> None:
        draw = random.Random(seed)
        bank, settings = fresh(seed), draw.choice((None, None, {"limit": 2}))
        pairs = []
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "other"):
                reference = agents.SQLiteSession(
                    name, Path(folder) / "sessions.db", session_settings=settings
                )
                pairs.append((made.BankSession(name, bank, settings), reference))
            for step in range(STEPS):
                mine, reference = draw.choice(pairs)
                asked = session_step_of(draw)
                assert await asked(mine) == await asked(reference), (seed, step)
            for mine, reference in pairs:
                assert await mine.get_items() == await reference.get_items(), seed
                reference.close()

    for seed in seeds:
        asyncio.run(compare(seed))
    tell("OpenAI session", len(seeds), Counter({"done": len(seeds) * STEPS}))


def test_a_session_refuses_what_is_no_json(fresh: Callable[[int], Bank]) -> None:
    made = pytest.importorskip("simonides.integrations.openai_agents")
    session = made.BankSession("one", fresh(0))
    items = [{"role": "user", "content": "one"}, {"role": "user", "content": float("nan")}]
    with pytest.raises(SimonidesError, match="JSON"):
        asyncio.run(session.add_items(items))
    assert asyncio.run(session.get_items()) == []


def test_the_traffic_of_tools_is_kept_and_not_recalled(fresh: Callable[[int], Bank]) -> None:
    made = pytest.importorskip("simonides.integrations.openai_agents")
    bank = fresh(0)
    session = made.BankSession("one", bank)
    items = [
        {"role": "user", "content": "The gate code is 4417."},
        {"type": "function_call", "call_id": "1", "name": "gate_code", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "The gate code was 9999 once."},
    ]
    asyncio.run(session.add_items(items))
    assert [hit.text for hit in bank.recall("gate code", precision="wide")] == ["The gate code is 4417."]
    assert "9999" in bank.recall("gate code once", include_archived=True, precision="wide").context
    assert asyncio.run(session.get_items()) == items
