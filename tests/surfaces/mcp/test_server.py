from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST

from simonides.errors import ModelUnavailableError
from simonides.models.llm import LanguageModel
from simonides.surfaces.mcp.server import PROMPT
from simonides.surfaces.mcp.tools import BANK, MAX_TOKENS, TOOLS
from simonides.surfaces.operations import calls
from simonides.surfaces.operations.table import Operation, Verb
from simonides.surfaces.serving.grants import Grant
from simonides.testing.chat_server import ChatServer, spoken

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.mcp.conftest import Session

    from simonides.store import Store

FACT = "Odalys Brenn lives in Norrhav."
QUERY = "Where does Odalys Brenn live?"


@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_takes_what_its_operation_takes_and_says_honestly_what_it_does(
    name: str, session: Session
) -> None:
    async def talk(client: Any) -> Any:
        return next(tool for tool in (await client.list_tools()).tools if tool.name == name)

    tool, operation = session(talk), TOOLS[name].operation
    about_a_bank = {BANK} if name != "list_banks" else set()
    assert set(tool.input_schema["properties"]) - about_a_bank == {each.name for each in operation.parameters}
    assert tool.input_schema["additionalProperties"] is False
    assert "Do not call it" in tool.description
    hints = tool.annotations
    assert hints.read_only_hint is not operation.changes
    assert hints.destructive_hint is (name == "forget")
    assert hints.idempotent_hint is operation.idempotent
    assert hints.open_world_hint is (name == "reflect")
    assert tool.output_schema["type"] == "object"


def test_there_are_few_tools_and_every_text_has_a_budget(session: Session) -> None:
    async def talk(client: Any) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in session(talk)}
    assert list(tools) == [
        "retain", "recall", "get_job", "get_memory", "list_memories", "facets", "entities", "get_entity",
        "add_alias", "remove_alias", "update_memory", "activity", "review", "invalidate", "forget", "archive",
        "list_banks", "explain", "pin", "unpin", "set_ttl", "brief", "reflect",
    ]  # fmt: skip
    for name in ("recall", "get_memory", "list_memories", "get_entity", "update_memory", "reflect"):
        assert tools[name].input_schema["properties"]["max_tokens"]["default"] == MAX_TOKENS


@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_memory_is_stored_found_shown_changed_and_erased(session: Session, store: Store, mode: str) -> None:
    async def talk(client: Any) -> None:
        memory = (await client.call_tool("retain", {"items": FACT})).structured_content["ids"][0]
        found = await client.call_tool("recall", {"query": QUERY})
        assert [each["id"] for each in found.structured_content["memories"]] == [memory]
        assert found.content[0].text == found.structured_content["context"]
        assert FACT in found.content[0].text
        shown = await client.call_tool("get_memory", {"memory": memory})
        assert json.loads(shown.content[0].text.splitlines()[2]) == shown.structured_content["memory"]
        assert shown.structured_content["memory"]["text"] == FACT
        changed = await client.call_tool("update_memory", {"memory": memory, "tags": ["home"]})
        assert changed.structured_content["memory"]["tags"] == ["home"]
        listed = await client.call_tool("list_memories", {"limit": 5})
        assert [each["id"] for each in listed.structured_content["memories"]] == [memory]
        explained = await client.call_tool("explain", {"query": QUERY})
        assert explained.structured_content["explanations"][0]["id"] == memory
        assert (await client.call_tool("list_banks", {})).structured_content == {"banks": ["mine", "theirs"]}
        gone = await client.call_tool("forget", {"ids": [memory]})
        assert gone.structured_content == {"asked": 1, "forgotten": 1}

    session(talk, mode=mode)
    assert store.bank("mine").stats()["memories"] == 0


@pytest.mark.fault("N50")
def test_messages_are_retained(session: Session, store: Store) -> None:
    chat = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": FACT}]

    async def talk(client: Any) -> None:
        stored = await client.call_tool("retain", {"items": chat})
        assert len(stored.structured_content["ids"]) == 1
        assert stored.structured_content["left_out"] == {"system message": 1}
        wrong = await client.call_tool("retain", {"items": [*chat, {"role": "user", "content": " "}]})
        assert wrong.is_error
        assert "messages[2].content: is blank" in wrong.content[0].text

    session(talk)
    assert [memory.text for memory in store.bank("mine").list_memories()] == [FACT]


@pytest.mark.spec("ME-11")
def test_it_recalls_what_python_recalls(session: Session, store: Store) -> None:
    bank = store.bank("mine")
    bank.retain([FACT, "Ivo Skarn lives in Tarn.", "Norrhav lies by the sea."])
    here = bank.recall(QUERY, as_of="2026-03-02", profile="lexical", max_tokens=None)

    async def talk(client: Any) -> Any:
        asked = {"query": QUERY, "as_of": "2026-03-02", "profile": "lexical"}
        return (await client.call_tool("recall", asked)).structured_content

    there = session(talk)
    assert [each["id"] for each in there["memories"]] == [hit.id for hit in here]
    assert [each["score"] for each in there["memories"]] == [hit.score for hit in here]


@pytest.mark.fault("N11")
def test_standing_memories_lead_what_a_model_reads(session: Session, store: Store) -> None:
    bank = store.bank("mine")
    rule, fact = bank.retain(["Never release on a Friday.", FACT])
    bank.pin(rule, always=True)

    async def talk(client: Any) -> Any:
        asked = {"query": QUERY, "profile": "lexical"}
        return [
            await client.call_tool("recall", asked),
            await client.call_tool("recall", {**asked, "standing": False}),
            await client.call_tool("recall", {**asked, "query": "quartz"}),
            await client.call_tool("recall", {**asked, "form": "plain"}),
            await client.call_tool("brief", {"task": "quartz", "profile": "lexical"}),
            await client.get_prompt(PROMPT, {"question": "quartz?"}),
        ]

    led, off, nothing, plain, brief, prompt = session(talk)
    entries = led.structured_content["memories"]
    assert [(each["n"], each["id"], each.get("standing", False)) for each in entries] == [
        (1, rule, True),
        (2, fact, False),
    ]
    assert "[1] standing; " in led.structured_content["context"]
    assert [each["id"] for each in off.structured_content["memories"]] == [fact]
    assert [each["n"] for each in plain.structured_content["memories"]] == [None, 1]
    assert "Never release" in nothing.content[0].text
    assert nothing.content[0].text.endswith("Not in memory: nothing was found.")
    assert "Never release" in brief.content[0].text
    assert "Never release" in prompt.messages[0].content.text


def test_an_answer_never_exceeds_its_budget(session: Session, store: Store) -> None:
    store.bank("mine").retain([f"Odalys Brenn lives in house number {number}." for number in range(60)])

    async def talk(client: Any) -> Any:
        return [
            await client.call_tool("recall", {"query": QUERY, "profile": "lexical", "max_tokens": 200}),
            await client.call_tool("list_memories", {"max_tokens": 60}),
            await client.call_tool("recall", {"query": QUERY, "profile": "lexical", "max_tokens": 1}),
        ]

    recalled, listed, nothing = session(talk)
    count = store.bank("mine").count_tokens
    assert 0 < count(recalled.structured_content["context"]) <= 200
    assert recalled.structured_content["omitted"] > 0
    assert "Left out for want of tokens" in recalled.content[0].text
    assert sum(count(each["text"]) for each in listed.structured_content["memories"]) <= 60
    assert (nothing.structured_content["context"], nothing.structured_content["memories"]) == ("", [])


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("recall", {"queri": "x"}, "did you mean 'query'"),
        ("recall", {}, "query: is missing"),
        ("recall", {"query": "x", "limit": "5"}, "limit: expected a whole number"),
        ("retain", {"items": {"txt": "x"}}, "did you mean 'text'"),
        ("get_memory", {"memory": "nothing"}, "no memory"),
        ("recall", {"query": "x", "bank": 3}, "bank: expected a string"),
        ("recall", {"query": "x", "bank": "absent"}, "there is no bank"),
    ],
)
@pytest.mark.fault("F2")
def test_what_a_model_can_mend_is_a_result(
    session: Session, tool: str, arguments: dict[str, Any], says: str
) -> None:
    async def talk(client: Any) -> Any:
        return await client.call_tool(tool, arguments)

    answer = session(talk)
    assert answer.is_error
    assert says in answer.content[0].text


def test_a_tool_that_does_not_exist_is_a_protocol_error(session: Session) -> None:
    async def talk(client: Any) -> None:
        with pytest.raises(MCPError, match="no tool 'recal'"):
            await client.call_tool("recal", {})

    session(talk)


def test_a_bank_that_nobody_named_is_asked_for(session: Session) -> None:
    async def talk(client: Any) -> Any:
        return await client.call_tool("recall", {"query": QUERY})

    assert "bank: is missing" in session(talk, bank=None).content[0].text
    only = Grant("one", None, ("mine",), frozenset(Verb))
    assert not session(talk, bank=None, grant=only).is_error


def test_memories_are_resources(session: Session, store: Store) -> None:
    ids = store.bank("mine").retain([f"Note {number}: " + "figs " * 40 for number in range(60)])

    async def talk(client: Any) -> None:
        first = await client.list_resources()
        rest = await client.list_resources(cursor=first.next_cursor)
        assert sorted(each.name for each in [*first.resources, *rest.resources]) == sorted(ids)
        assert rest.next_cursor is None
        assert all(len(each.description or "") <= 100 for each in first.resources)
        read = await client.read_resource(first.resources[0].uri)
        assert json.loads(read.contents[0].text)["memory"]["id"] == first.resources[0].name
        templates = await client.list_resource_templates()
        assert templates.resource_templates[0].uri_template == "memory://{bank}/{id}"
        for wrong in ("memory://mine/absent", "memory://mine", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(wrong)

    session(talk)


@pytest.mark.parametrize(
    "uri", ["memory://[", "memory://mine]/a", "memory://", "memory:", "", "::", "memory://%5B/a"]
)
def test_a_uri_that_cannot_be_read_is_told_so(
    session: Session, caplog: pytest.LogCaptureFixture, uri: str
) -> None:
    async def talk(client: Any) -> None:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        assert raised.value.error.code == INVALID_PARAMS
        if not uri.endswith("/a"):
            assert repr(uri) in raised.value.error.message
            assert "memory://bank/id" in raised.value.error.message

    session(talk)
    assert "Traceback" not in caplog.text


def test_a_fault_while_a_resource_is_read_tells_no_more_than_that(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device", "/srv/secret-folder")

    monkeypatch.setattr(Operation, "bind", broken)

    async def talk(client: Any) -> None:
        for wanted in (
            client.read_resource("memory://mine/absent"),
            client.list_resources(),
            client.get_prompt(PROMPT, {"question": QUERY}),
        ):
            with pytest.raises(MCPError) as raised:
                await wanted
            assert raised.value.error.code in {INVALID_PARAMS, INVALID_REQUEST}
            assert "secret-folder" not in raised.value.error.message

    session(talk)


def test_a_model_that_fails_is_told_without_its_address(
    session: Session, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ModelUnavailableError("http://model.example:8080 is not reached")

    monkeypatch.setattr(Operation, "bind", broken)

    async def talk(client: Any) -> Any:
        return await client.call_tool("reflect", {"query": QUERY})

    answer = session(talk)
    assert answer.is_error
    assert "try again later" in answer.content[0].text
    assert "model.example" not in answer.content[0].text


def test_a_prompt_brings_what_is_remembered(session: Session, store: Store) -> None:
    store.bank("mine").retain(FACT)

    async def talk(client: Any) -> None:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == [PROMPT]
        text = (await client.get_prompt(PROMPT, {"question": QUERY})).messages[0].content.text
        assert FACT in text
        assert text.endswith(QUERY)
        for name, arguments in (
            (PROMPT, {}),
            ("other", {"question": QUERY}),
            (PROMPT, {"question": "x", "y": "z"}),
        ):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)

    session(talk)


def test_long_work_tells_of_itself(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[float, str | None]] = []
    enough = threading.Event()

    def slow(*_: object, **__: object) -> dict[str, Any]:
        assert enough.wait(30)
        return {"ids": []}

    monkeypatch.setattr(calls, "retain", slow)

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))
        if len(heard) == 4:
            enough.set()

    async def talk(client: Any) -> Any:
        return await client.call_tool("retain", {"items": FACT}, progress_callback=hear)

    assert not session(talk, beat_seconds=0.01).is_error
    assert len(heard) >= 5
    assert [progress for progress, _ in heard] == sorted(progress for progress, _ in heard)
    assert (heard[0][1], heard[-1][1]) == ("retain: at work", "retain: done")


def test_a_memory_is_pinned_and_lives_its_time(session: Session, store: Store) -> None:
    memory = store.bank("mine").retain(FACT)[0]

    async def talk(client: Any) -> list[Any]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("pin", {"memory": memory, "always": True}),
            ("unpin", {"memory": memory}),
            ("pin", {"memory": memory}),
            ("set_ttl", {"ttl": "30d", "kind": "episodic", "on_expiry": "erase"}),
            ("update_memory", {"memory": memory, "ttl": "1w"}),
        ]
        return [(await client.call_tool(name, given)).structured_content for name, given in calls]

    always, unpinned, pinned, set_now, updated = session(talk)
    assert [each["standing"] for each in (always, unpinned, pinned)] == [True, False, False]
    assert [each["pinned"] for each in (always, unpinned, pinned)] == [True, False, True]
    assert set_now["kinds"] == {"episodic": {"ttl": 30 * 86_400.0, "on_expiry": "erase"}}
    assert updated["memory"]["expires_at"]
    assert store.bank("mine").get_memory(memory).pinned


def test_only_the_owner_sets_a_time_to_live(session: Session) -> None:
    async def talk(client: Any) -> Any:
        return await client.call_tool("set_ttl", {"ttl": "30d"})

    answer = session(talk, grant=Grant("one", "ivo", ("mine",), frozenset(Verb)))
    assert answer.is_error


@pytest.mark.spec("JB-12")
@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.usefixtures("plain_http")
def test_an_answer_is_told_as_it_comes(
    session: Session, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = store.bank("mine").retain(FACT)[0]
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async def talk(client: Any) -> Any:
        asked = {"query": QUERY, "profile": "lexical"}
        return await client.call_tool("reflect", asked, progress_callback=hear)

    with ChatServer(spoken("In ", "Norrhav [1]", " [8].")) as server:
        model = LanguageModel("a-model", server.url, max_retries=0)
        answering = calls.reflect

        def reflect(bank: Any, on_text: Any = None, **options: Any) -> Any:
            monkeypatch.setattr(bank, "_context", bank._context.with_parts(answerer=model))
            return answering(bank, on_text, **options)

        monkeypatch.setattr(calls, "reflect", reflect)
        answer = session(talk, beat_seconds=0.01)
    assert answer.structured_content["answer"] == "In Norrhav [1]."
    assert answer.structured_content["citations"] == [{"number": 1, "id": memory}]
    assert answer.structured_content["removed"] == 1
    assert "In Norrhav [1]." in "".join(heard)


def test_a_fault_tells_no_folder(session: Session, store: Store, tmp_path: Path) -> None:
    store.close()

    async def talk(client: Any) -> Any:
        return await client.call_tool("recall", {"query": QUERY})

    answer = session(talk)
    assert answer.is_error
    assert str(tmp_path) not in answer.content[0].text


def test_many_calls_at_once_are_all_answered(session: Session, store: Store) -> None:
    async def talk(client: Any) -> Any:
        jobs = [client.call_tool("retain", {"items": f"Note {number}."}) for number in range(20)]
        return await asyncio.gather(*jobs)

    assert not any(answer.is_error for answer in session(talk))
    assert store.bank("mine").stats()["memories"] == 20


def test_schemas_are_json_schema_and_answers_fit_them(session: Session) -> None:
    async def talk(client: Any) -> None:
        for tool in (await client.list_tools()).tools:
            jsonschema_rs.meta.validate(tool.input_schema)
            jsonschema_rs.meta.validate(tool.output_schema)
        for name, arguments in (
            ("retain", {"items": [FACT, {"text": "Figs need water.", "kind": "procedural"}]}),
            ("recall", {"query": QUERY, "explain": True, "trace": True, "include_chunks": True}),
            ("explain", {"query": QUERY}),
            ("reflect", {"query": QUERY}),
        ):
            # The client checks structured content against the tool's schema.
            assert not (await client.call_tool(name, arguments)).is_error

    session(talk)


@pytest.mark.fault("N7")
def test_a_filter_without_a_wanted_value_matches_nothing(session: Session, store: Store) -> None:
    store.bank("mine").retain(["Figs need water.", {"text": "Figs need sun.", "tags": ["garden"]}])
    filters: list[dict[str, Any]] = [
        {"kinds": []},
        {"types": []},
        {"tags": [], "tags_match": "any_strict"},
        {"tags_match": "all_strict"},
    ]

    async def talk(client: Any) -> list[Any]:
        recalled = [await client.call_tool("recall", {"query": "figs", **each}) for each in filters]
        return recalled + [await client.call_tool("list_memories", each) for each in filters]

    for answer in session(talk):
        assert answer.structured_content["memories"] == []
