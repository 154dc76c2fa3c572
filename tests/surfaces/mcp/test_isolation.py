"""No tool gives a caller what another bank or another principal holds; and nothing it sends breaks the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from mcp.shared.exceptions import MCPError

from simonides.surfaces.mcp.compat import SYSTEMS, tools_for
from simonides.surfaces.mcp.tools import TOOLS
from simonides.surfaces.operations.table import Verb
from simonides.surfaces.serving.grants import Grant

if TYPE_CHECKING:
    from mcp import Client
    from tests.surfaces.mcp.conftest import Session

    from simonides.bank import Bank
    from simonides.store import Store

CANARY = "Zephyrine Quillmoor keeps the canary in Tarn Hollow"
MINE = Grant("one", None, ("mine",), frozenset(Verb))
_VALUES: dict[str, Any] = {
    "items": ["Figs need water."],
    "query": "Where does Zephyrine Quillmoor keep the canary?",
    "tags": ["t"],
    "ttl": "30d",
    "entity": 1,
    "name": "Zephyrine",
    "alias": "Zephyrine",
    "task": "Where does Zephyrine Quillmoor keep the canary?",
}
_EVERY = [
    (system, name)
    for system in (None, *SYSTEMS)
    for name in tools_for(system)
    if not system or name not in TOOLS
]


def _values(system: str | None, name: str, memory: str, job: str = "0" * 32) -> dict[str, Any]:
    tool = tools_for(system)[name]
    values = {**_VALUES, "memory": memory, "ids": [memory], "job": job}
    wanted = [each.name for each in tool.operation.parameters if each.required]
    return {each: values[each] for each in [*wanted, *(["tags"] if "update" in name else [])]}


def _made(bank: Bank) -> str:
    """A job whose answer holds the canary."""
    job = bank.recall(_VALUES["query"], profile="lexical", tier="async").job
    done = bank.get_job(job, wait_seconds=30)
    assert done.recall
    assert CANARY in done.recall.context
    return job


@pytest.mark.fault("F1")
@pytest.mark.spec("ME-11")
@pytest.mark.parametrize(("system", "name"), _EVERY)
def test_another_banks_grant_gets_nothing(
    session: Session, store: Store, system: str | None, name: str
) -> None:
    memory = store.bank("theirs").retain(CANARY)[0]
    values = _values(system, name, memory, _made(store.bank("theirs")))

    async def talk(client: Client) -> list[Any]:
        answers = [await client.call_tool(name, values)]
        if tools_for(system)[name].in_bank:
            answers.append(await client.call_tool(name, {**values, "bank": "theirs"}))
        return answers

    answers = session(talk, grant=MINE, compat=system)
    for answer in answers:
        told = answer.model_dump_json()
        assert "Tarn Hollow" not in told
        assert '"theirs"' not in told
    if len(answers) == 2:
        assert answers[1].is_error
        assert "not allowed" in answers[1].content[0].text
    assert store.bank("theirs").get_memory(memory).version == 1
    assert store.bank("theirs").stats()["memories"] == 1


@pytest.mark.fault("F1")
def test_resources_and_prompts_stay_in_the_grant(session: Session, store: Store) -> None:
    memory = store.bank("theirs").retain(CANARY)[0]

    async def talk(client: Client) -> None:
        with pytest.raises(MCPError, match="not allowed"):
            await client.read_resource(f"memory://theirs/{memory}")
        with pytest.raises(MCPError, match="not allowed"):
            await client.get_prompt("with_memory", {"question": "canary", "bank": "theirs"})
        assert (await client.list_resources()).resources == []

    session(talk, grant=MINE)


@pytest.mark.fault("F1")
@pytest.mark.parametrize("name", TOOLS)
def test_another_principal_gets_nothing(session: Session, store: Store, name: str) -> None:
    memory = store.bank("mine").retain(CANARY, acl=["ivo"])[0]
    other = Grant("one", "odalys", ("mine",), frozenset(Verb))
    job = _made(store.bank("mine"))

    async def talk(client: Client) -> Any:
        return await client.call_tool(name, _values(None, name, memory, job))

    assert "Tarn Hollow" not in session(talk, grant=other).model_dump_json()
    assert store.bank("mine").get_memory(memory).version == 1


@pytest.mark.parametrize(
    ("name", "verb"),
    [("retain", Verb.WRITE), ("update_memory", Verb.WRITE), ("forget", Verb.FORGET), ("recall", Verb.READ)],
)
def test_a_verb_that_is_not_granted_is_refused(session: Session, store: Store, name: str, verb: Verb) -> None:
    memory = store.bank("mine").retain("Figs need water.")[0]
    grant = Grant("one", None, ("mine",), frozenset(Verb) - {verb})

    async def talk(client: Client) -> Any:
        return await client.call_tool(name, _values(None, name, memory))

    answer = session(talk, grant=grant)
    assert answer.is_error
    assert f"does not allow to {verb}" in answer.content[0].text
    assert store.bank("mine").get_memory(memory).version == 1


# explain and reflect take what recall takes.
@pytest.mark.parametrize("name", [name for name in TOOLS if name not in {"explain", "reflect"}])
def test_whatever_a_schema_allows_is_answered(session: Session, name: str) -> None:
    """The values may not fit each other, or name nothing that is there; that is a result, never a fault."""
    assert _answered(session, None, name, examples=5) >= _fewest(name, 5)


@pytest.mark.soak
@pytest.mark.parametrize(("system", "name"), _EVERY)
def test_whatever_a_schema_allows_is_answered_three_hundred_times(
    session: Session, system: str | None, name: str
) -> None:
    assert _answered(session, system, name, examples=300) >= _fewest(name, 300)


def _fewest(name: str, examples: int) -> int:
    """A tool without parameters has only one way to be called."""
    return 1 if name in {"list_banks", "memory_list_brains"} else examples


def _answered(session: Session, system: str | None, name: str, *, examples: int) -> int:
    """Calls a tool with values that its schema allows; how many differing ones there were.

    A protocol error is raised by the client, an answer that its output schema does not allow likewise.
    """
    drawn: list[Any] = []
    tool = tools_for(system)[name]

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(_described(tool.schema).as_strategy())
    def draw(case: Any) -> None:
        drawn.append(case.body)

    draw()

    async def talk(client: Client) -> list[Any]:
        await client.list_tools()
        own = {"bank": "mine"} if tool.in_bank else {}
        return [await client.call_tool(name, {**values, **own}) for values in drawn]

    for answer in session(talk, compat=system):
        assert "server's log" not in answer.content[0].text
    return len(drawn)


def _described(schema: Any) -> Any:
    """A tool as schemathesis knows operations, so that the same generator draws the values of both doors."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    paths = {"/tool": {"post": {"requestBody": body, "responses": {"200": {"description": "done"}}}}}
    document = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths}
    return schemathesis.openapi.from_dict(document)["/tool"]["POST"]
