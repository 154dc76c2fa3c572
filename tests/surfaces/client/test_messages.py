"""Chat messages go into a bank alike, of this process or of a server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import simonides
from simonides.errors import InputError

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "name": "Tove", "content": "I never eat fish."},
    {"role": "assistant", "content": [{"type": "text", "text": "I will keep that in mind."}]},
    {"type": "function_call_output", "call_id": "1", "output": "Figs are fruit."},
]
STORED = {
    ("Tove: I never eat fish.", 1.0, "Tove"),
    ("I will keep that in mind.", 0.7, ""),
    ("Figs are fruit.", 0.6, ""),
}


class Dumped:
    """A message of a client's package."""

    def __init__(self, **message: Any) -> None:
        self._message = message

    def model_dump(self) -> dict[str, Any]:
        return self._message


def stored(bank: Any) -> set[tuple[str, float, str]]:
    return {(memory.text, memory.trust, memory.speaker) for memory in bank.list_memories(limit=10)}


@pytest.mark.fault("N50")
def test_a_list_of_messages(either: Any) -> None:
    ids = either.retain(CHAT, session="s", tags=["chat"])
    assert len(ids) == 3
    assert stored(either) == STORED
    told = either.get_memory(ids[1])
    assert (told.session, told.tags) == ("s", ("chat",))
    assert told.context == "Tove: I never eat fish.\nFigs are fruit."
    assert either.retain(CHAT, session="s", tags=["chat"]) == ids
    assert either.retain_conversation(CHAT, session="s", tags=["chat"]) == ids
    assert either.retain(CHAT[:1]) == []


@pytest.mark.fault("N50")
def test_one_message_and_those_of_a_package(either: Any) -> None:
    assert len(either.retain({"role": "user", "content": "I grow figs."})) == 1
    assert len(either.retain(Dumped(role="user", content="I grow plums."))) == 1
    assert len(either.retain([Dumped(role="assistant", content="Good.", refusal=None), "A text."])) == 2
    assert {text for text, _, _ in stored(either)} == {"I grow figs.", "I grow plums.", "Good.", "A text."}


@pytest.mark.fault("N50")
@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "user", "content": " "}, "messages[4].content"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[4].content[0].text"),
        ({"role": "usr", "content": "a"}, "messages[4].role"),
        ({"role": "user"}, "items[4].text"),
        ({"role": "user", "txt": "a"}, "items[4].txt"),
    ],
)
def test_a_wrong_message_is_named(either: Any, message: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        either.retain([*CHAT, message])
    assert caught.value.field == field
    assert stored(either) == set()


def test_an_asynchronous_bank(either: Any) -> None:
    async def work() -> None:
        async with simonides.AsyncBank(either) as bank:
            await bank.retain(CHAT)

    asyncio.run(work())
    assert stored(either) == STORED


def test_a_client_remembers_with_a_bank_of_a_server(either: Any) -> None:
    class Client:
        class Messages:
            def create(self, **values: Any) -> Any:
                sent.append(values)
                return {"role": "assistant", "content": [{"type": "text", "text": "It is on Thursday."}]}

        messages = Messages()

    sent: list[dict[str, Any]] = []
    either.retain("Odalys Brenn moved the review to Thursday.")
    client = simonides.remember(Client(), either, session="s", recall_options={"profile": "lexical"})
    client.messages.create(messages=[{"role": "user", "content": "When is the review of Odalys Brenn?"}])
    assert "Odalys Brenn moved the review to Thursday." in sent[0]["messages"][0]["content"]
    assert {text for text, _, _ in stored(either)} == {
        "Odalys Brenn moved the review to Thursday.",
        "When is the review of Odalys Brenn?",
        "It is on Thursday.",
    }
