"""A client that remembers, over the packages ``openai`` and ``anthropic`` and a server on this machine."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.testing.chat_server import ChatServer, Reply, said, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simonides.bank import Bank

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http")]

FACT = "Odalys Brenn moved the review to Thursday."
QUESTION = "When is the review of Odalys Brenn?"
ANSWER = "It is on Thursday."
MESSAGES: list[Any] = [{"role": "user", "content": QUESTION}]

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_767_225_600,
    "model": "m",
    "status": "completed",
    "output": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
        }
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": ANSWER}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 9, "output_tokens": 5},
}


def whole(answer: dict[str, Any]) -> Reply:
    return Reply(json.dumps(answer).encode())


def events(items: Iterable[dict[str, Any]]) -> Reply:
    lines = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in items)
    return Reply(lines.encode(), headers={"Content-Type": "text/event-stream"})


def response_stream() -> Reply:
    begun = {**RESPONSE, "output": [], "status": "in_progress"}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": []}
    deltas = [
        {"type": "response.output_text.delta", "delta": text, **place} for text in ("It is ", "on Thursday.")
    ]
    kinds: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        *deltas,
        {"type": "response.completed", "response": RESPONSE},
    ]
    return events({**each, "sequence_number": number} for number, each in enumerate(kinds))


def message_stream() -> Reply:
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in ("It is ", "on Thursday.")
    ]
    return events(
        [
            {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            *deltas,
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 5},
            },
            {"type": "message_stop"},
        ]
    )


def remembering(client: Any, bank: Bank) -> Any:
    bank.retain(FACT)
    return simonides.remember(client, bank, session="s", recall_options={"profile": "lexical"})


def check(server: ChatServer, bank: Bank, argument: str = "messages") -> None:
    """The model read the fact, and the bank holds what was said."""
    [request] = server.requests
    assert FACT in request.body[argument][0]["content"]
    assert request.body[argument][0]["content"].endswith(QUESTION)
    assert {memory.text for memory in bank.list_memories()} == {FACT, QUESTION, ANSWER}


def of_openai(server: ChatServer) -> Any:
    return openai.OpenAI(base_url=server.url, api_key="k", max_retries=0)


def of_anthropic(server: ChatServer) -> Any:
    return anthropic.Anthropic(base_url=server.url.removesuffix("/v1"), api_key="k", max_retries=0)


def test_chat_completions(bank: Bank) -> None:
    with ChatServer(said(ANSWER)) as server, remembering(of_openai(server), bank) as client:
        assert isinstance(client, openai.OpenAI)
        answer = client.chat.completions.create(model="m", messages=MESSAGES)
        assert answer.choices[0].message.content == ANSWER
        check(server, bank)
        # The next call is sent the message of the package.
        client.chat.completions.create(
            model="m", messages=[*MESSAGES, answer.choices[0].message, {"role": "user", "content": "Thanks."}]
        )
        assert sorted(memory.text for memory in bank.list_memories()) == sorted(
            [FACT, QUESTION, ANSWER, "Thanks."]
        )


@pytest.mark.parametrize("whole_way", [True, False])
def test_a_stream_of_chat_completions(bank: Bank, *, whole_way: bool) -> None:
    with (
        ChatServer(spoken("It is ", "on Thursday.")) as server,
        remembering(of_openai(server), bank) as client,
    ):
        with client.chat.completions.create(model="m", messages=MESSAGES, stream=True) as stream:
            assert isinstance(stream, openai.Stream)
            pieces = [chunk.choices[0].delta.content for _, chunk in zip(range(2), stream, strict=False)]
            assert pieces == ["It is ", "on Thursday."]
            if whole_way:
                list(stream)
        check(server, bank)


def test_the_helpers_of_chat_completions(bank: Bank) -> None:
    with (
        ChatServer(spoken("It is ", "on Thursday.")) as server,
        remembering(of_openai(server), bank) as client,
    ):
        with client.chat.completions.stream(model="m", messages=MESSAGES) as stream:
            assert stream.get_final_completion().choices[0].message.content == ANSWER
        check(server, bank)


def test_an_asynchronous_client_of_openai(bank: Bank) -> None:
    async def work(server: ChatServer) -> None:
        client = openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0)
        async with remembering(client, bank) as client:
            stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
            assert isinstance(stream, openai.AsyncStream)
            assert [chunk.choices[0].delta.content async for chunk in stream][:2] == [
                "It is ",
                "on Thursday.",
            ]

    with ChatServer(spoken("It is ", "on Thursday.")) as server:
        asyncio.run(work(server))
        check(server, bank)


@pytest.mark.parametrize("stream", [False, True])
def test_responses(bank: Bank, *, stream: bool) -> None:
    reply = response_stream() if stream else whole(RESPONSE)
    with ChatServer(reply) as server, remembering(of_openai(server), bank) as client:
        answer = client.responses.create(model="m", input=MESSAGES, stream=stream)
        if stream:
            assert [event.type for event in answer][-1] == "response.completed"
        else:
            assert answer.output_text == ANSWER
        check(server, bank, "input")


@pytest.mark.parametrize("stream", [False, True])
def test_messages(bank: Bank, *, stream: bool) -> None:
    reply = message_stream() if stream else whole(MESSAGE)
    with ChatServer(reply) as server, remembering(of_anthropic(server), bank) as client:
        assert isinstance(client, anthropic.Anthropic)
        answer = client.messages.create(model="m", max_tokens=99, messages=MESSAGES, stream=stream)
        if stream:
            assert [event.type for event in answer][-1] == "message_stop"
        else:
            assert answer.content[0].text == ANSWER
        check(server, bank)


def test_the_helpers_of_messages(bank: Bank) -> None:
    with ChatServer(message_stream()) as server, remembering(of_anthropic(server), bank) as client:
        with client.messages.stream(model="m", max_tokens=99, messages=MESSAGES) as stream:
            assert "".join(stream.text_stream) == ANSWER
        check(server, bank)


def test_an_asynchronous_client_of_anthropic(bank: Bank) -> None:
    async def work(server: ChatServer) -> None:
        url = server.url.removesuffix("/v1")
        client = anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0)
        client = remembering(client, bank)
        async with client, client.messages.stream(model="m", max_tokens=99, messages=MESSAGES) as stream:
            assert [text async for text in stream.text_stream] == ["It is ", "on Thursday."]

    with ChatServer(message_stream()) as server:
        asyncio.run(work(server))
        check(server, bank)


def test_an_error_of_the_package_passes(bank: Bank) -> None:
    with ChatServer(Reply(b"{}", 400)) as server, remembering(of_openai(server), bank) as client:
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(model="m", messages=MESSAGES)
        assert [memory.text for memory in bank.list_memories()] == [FACT]


def test_messages_of_the_packages_are_retained(bank: Bank) -> None:
    from openai.types.chat import ChatCompletionMessage  # noqa: PLC0415 the package may be missing

    message = ChatCompletionMessage(role="assistant", content=ANSWER)
    answer = anthropic.types.Message.model_validate(MESSAGE)
    bank.retain([*MESSAGES, message, {"role": "assistant", "content": answer.content}, answer])
    assert sorted(memory.text for memory in bank.list_memories()) == sorted([QUESTION, ANSWER])
