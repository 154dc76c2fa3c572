"""N80: a message is masked in one pass, whatever the secret is, and at every interface."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from tests.surfaces.rest.conftest import app, client_for

from simonides.errors import InputError, NotFoundError
from simonides.retain.redacted_errors import hidden, redact_error, without
from simonides.retain.secrets import placeholder
from simonides.surfaces.mcp.server import Settings, make_server
from simonides.surfaces.serving.dispatching import Dispatcher
from simonides.surfaces.serving.grants import LOCAL
from simonides.surfaces.serving.limits import Limits

if TYPE_CHECKING:
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.retain.secrets import Policy
    from simonides.store import Store

pytestmark = pytest.mark.fault("N80")

__all__ = ["app", "client_for"]

PARTS = ("secret", "RED", "ACTED:se", "[REDACTED:secret]", "REDACTED", "]]]", "cret]", "aaaaaaaaaa", "[RE")
"""Passwords that stand in the placeholder, or overlap with it."""
MASK = placeholder("secret")


@pytest.fixture
def redact() -> Policy:
    """In place of no policy."""
    return "mask"


@pytest.mark.parametrize("password", PARTS)
def test_a_secret_that_is_part_of_the_placeholder_is_masked_once(store: Store, password: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        store.bank("mine").get_memory(f"pg://u:{password}@h")
    said = str(caught.value)
    assert "pg://u:[REDACTED:" in said
    assert f":{password}@" not in said.replace(MASK, "")


@given(st.lists(st.sampled_from(PARTS) | st.text("abRED[:]", min_size=1, max_size=12)), st.data())
def test_every_secret_goes_and_no_placeholder_is_looked_into(secrets: list[str], data: st.DataObject) -> None:
    pieces = st.sampled_from([*secrets, MASK, "x", "[", "RED", "\n"]) | st.text("abRED[:]\n", max_size=9)
    text = "".join(data.draw(st.lists(pieces, max_size=20)))
    masked = without(text, secrets)
    assert without(masked, secrets) == masked
    left = masked.split(MASK)
    for secret in secrets:
        assert not any(secret[:8] in piece for piece in left)
    # Nothing else is taken away: what is left stands in the text, in this order.
    place = 0
    for piece in left:
        place = text.index(piece, place) + len(piece)


def test_the_longest_of_several_secrets_with_one_beginning_is_replaced() -> None:
    secrets = ["tulips-in-may", "tulips-in-march-and-more", "tul", "quoted'\n7"]
    text = "a tulips-in-march-and-more, tulips-in-m…, tulips-in-may, tulip, quoted'\n7 or " + repr(
        "quoted'\n7"
    )
    wanted = f'a {MASK}, {MASK}…, {MASK}, {MASK}ip, {MASK} or "{MASK}"'
    assert without(text, secrets) == wanted


def test_masking_twice_changes_nothing_more() -> None:
    values = [f"pg://u:{password}@h" for password in PARTS]
    error = InputError("limit", f"{values!r} and {values[0][:12]}…")
    redact_error(error, values)
    once = str(error)
    redact_error(error, values)
    assert str(error) == once == hidden(once, values)


def test_a_read_token_gets_an_answer(store: Store, client_for: ClientFor) -> None:
    async def ask() -> list[int]:
        async with client_for("mine", verbs=("read",)) as client:
            found = []
            for password in PARTS:
                secret = f"pg://u:{password}@h"
                for path, query in (
                    ("memories", {"limit": secret}),
                    ("memories", {secret: "1"}),
                    (secret, {}),
                ):
                    answer = await client.get(f"/v1/banks/mine/{path}", params=query)
                    found.append(answer.status_code)
                    assert password in PARTS[3:6] or f":{password}@" not in answer.text.replace(MASK, "")
                body = await client.post("/v1/banks/mine/recall", json={"query": "a", "limit": secret})
                found.append(body.status_code)
            return found

    store.bank("mine").stats()
    assert {status // 100 for status in asyncio.run(ask())} == {4}


def test_a_tool_answers(store: Store) -> None:
    store.bank("mine").stats()
    dispatcher = Dispatcher(store, Limits())

    async def talk() -> list[Any]:
        server = make_server(dispatcher, lambda _: LOCAL, Settings(bank="mine", tools="all"))
        async with Client(server) as client:
            return [
                await client.call_tool("get_memory", {"memory": f"pg://u:{password}@h"}) for password in PARTS
            ]

    answers = asyncio.run(talk())
    dispatcher.close()
    assert all(answer.is_error and "[REDACTED:" in answer.content[0].text for answer in answers)
