"""The page at /ui: its files, signing in by link and by token, and what a cookie does not allow."""

from __future__ import annotations

import asyncio
import gzip
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from simonides.errors import InputError
from simonides.surfaces.operations.table import Verb
from simonides.surfaces.page.exporting import page_with, write_page
from simonides.surfaces.page.routes import HEADERS, static_files
from simonides.surfaces.page.sessions import CSRF_HEADER, Sessions
from simonides.surfaces.serving.grants import Grant
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from pathlib import Path

    from fastapi import FastAPI
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store

OWNER = Grant("ui", None, ("*",), frozenset(Verb))
MEMORIES = "/v1/banks/mine/memories"


async def _signed_in(app: FastAPI, client: httpx.AsyncClient, grant: Grant = OWNER) -> dict[str, Any]:
    code = app.state.sessions.link(grant)
    entered = await client.get("/ui/enter", params={"code": code})
    assert entered.status_code == 303
    assert entered.headers["location"] == "/ui"
    told: dict[str, Any] = (await client.get("/ui/session")).json()
    return told


def test_a_link_signs_in_once_and_the_cookie_is_out_of_reach_of_scripts(
    app: FastAPI, client_for: ClientFor
) -> None:
    async def work() -> None:
        code = app.state.sessions.link(OWNER)
        async with client_for() as client:
            entered = await client.get("/ui/enter", params={"code": code})
            cookie = entered.headers["set-cookie"]
            assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
            told = (await client.get("/ui/session")).json()
            assert told["banks"] == ["mine", "theirs"]
            assert told["verbs"] == ["admin", "forget", "read", "write"]
            assert told["operations"]["recall"]["path"] == "/v1/banks/{bank}/recall"
        async with client_for() as other:
            again = await other.get("/ui/enter", params={"code": code})
            assert again.headers["location"] == "/ui?link=used"
            assert "set-cookie" not in again.headers
            assert (await other.get("/ui/session")).status_code == 401

    asyncio.run(work())


def test_a_cookie_changes_nothing_without_the_header_that_only_the_page_knows(
    app: FastAPI, client_for: ClientFor
) -> None:
    async def work() -> None:
        async with client_for() as client:
            told = await _signed_in(app, client)
            items = {"items": ["Odalys Brenn lives in Norrhav."]}
            for headers in ({}, {CSRF_HEADER: "x"}, {CSRF_HEADER: ""}):
                refused = await client.post(MEMORIES, json=items, headers=headers)
                assert refused.status_code == 403
                assert CSRF_HEADER in refused.json()["detail"]
            assert (await client.get(MEMORIES)).json()["memories"] == []
            allowed = await client.post(MEMORIES, json=items, headers={CSRF_HEADER: told["csrf"]})
            assert allowed.status_code == 200

    asyncio.run(work())


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_reads_nothing_with_the_cookie(app: FastAPI, client_for: ClientFor, site: str) -> None:
    """A page from another port of this machine is the same site: the browser sends it the cookie."""

    async def work() -> None:
        async with client_for() as client:
            await _signed_in(app, client)
            for path in (MEMORIES, "/ui/session", "/v1/banks/mine/export"):
                refused = await client.get(path, headers={"Sec-Fetch-Site": site})
                assert refused.status_code == 403
            assert (await client.get(MEMORIES, headers={"Sec-Fetch-Site": "same-origin"})).status_code == 200
            foreign = {"Origin": "http://127.0.0.1:9999"}
            assert (await client.get(MEMORIES, headers=foreign)).status_code == 403

    asyncio.run(work())


def test_a_token_signs_in_with_its_own_rights_until_it_is_revoked(
    app: FastAPI, client_for: ClientFor, store: Store
) -> None:
    with TokenStore(store.folder) as tokens:
        token = tokens.create(banks=["mine"], verbs=["read"], principal=None, now=0)
        name = tokens.find(token, 1)
        assert name is not None

    async def work() -> None:
        async with client_for() as client:
            assert (await client.post("/ui/enter", json={"token": "smn_wrong"})).status_code == 401
            assert (await client.post("/ui/enter", content=b"x" * 10_000)).status_code == 401
            assert (await client.post("/ui/enter", content=b"[" * 4_000)).status_code == 401
            assert (await client.post("/ui/enter", json={"token": f" {token}\n"})).status_code == 200
            told = (await client.get("/ui/session")).json()
            assert (told["banks"], told["verbs"]) == (["mine"], ["read"])
            headers = {CSRF_HEADER: told["csrf"]}
            refused = await client.post(MEMORIES, json={"items": ["A fig."]}, headers=headers)
            assert refused.status_code == 403
            with TokenStore(store.folder) as tokens:
                tokens.revoke(name.name)
            assert (await client.get("/ui/session")).status_code == 401

    asyncio.run(work())


def test_signing_out_ends_the_session(app: FastAPI, client_for: ClientFor) -> None:
    async def work() -> None:
        async with client_for() as client:
            told = await _signed_in(app, client)
            kept = dict(client.cookies)
            assert (await client.post("/ui/leave", headers={CSRF_HEADER: told["csrf"]})).status_code == 200
            client.cookies.update(kept)
            assert (await client.get("/ui/session")).status_code == 401

    asyncio.run(work())


def test_files_need_no_token_and_carry_the_policy(client_for: ClientFor) -> None:
    async def work() -> None:
        async with client_for() as client:
            for path in ("/ui", "/ui/", "/ui/app.js", "/ui/views/ask.js", "/ui/vendor/preact.js"):
                answer = await client.get(path)
                assert answer.status_code == 200
                assert all(answer.headers[name] == value for name, value in HEADERS.items())
            assert "unsafe" not in HEADERS["Content-Security-Policy"]
            for path in (
                "/ui/nothing.js",
                "/ui/../app.py",
                "/ui/%2e%2e/sessions.py",
                "/ui/vendor/vendor.json",
            ):
                assert (await client.get(path)).status_code in {401, 404}
            assert (await client.get("/ui/session")).status_code == 401

    asyncio.run(work())


def test_the_page_asks_no_other_host_and_runs_no_text_as_code() -> None:
    own = {name: body.decode() for name, body in static_files().items() if not name.startswith("vendor/")}
    for name, text in own.items():
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        ), name


def test_the_page_is_light() -> None:
    """What a browser loads, compressed: at most 200 kB."""

    assert sum(len(gzip.compress(body)) for body in static_files().values()) <= 200_000


def test_sessions_end_and_are_bounded() -> None:
    now = [0]
    sessions = Sessions(lambda _: OWNER, lambda: now[0])
    code = sessions.link(OWNER)
    now[0] = 11 * 60 * 1_000_000
    assert sessions.enter(code) is None
    first = sessions.enter(sessions.link(OWNER))
    headers = httpx.Headers({"cookie": f"other=1; simonides_ui_8765={first}"})
    assert sessions.grant_of("GET", headers, 8765) == OWNER  # type: ignore[arg-type]
    assert sessions.grant_of("GET", headers, 8766) is None  # type: ignore[arg-type]
    now[0] += 13 * 3_600 * 1_000_000
    assert sessions.grant_of("GET", headers, 8765) is None  # type: ignore[arg-type]
    cookies = [sessions.enter_with("smn") for _ in range(1_001)]
    alive = [httpx.Headers({"cookie": f"simonides_ui_1={cookie}"}) for cookie in cookies]
    assert sum(sessions.grant_of("GET", each, 1) is not None for each in alive) == 1_000  # type: ignore[arg-type]


def test_an_export_holds_the_memories_and_nothing_that_ends_its_script(store: Store, tmp_path: Path) -> None:
    bank = store.bank("mine")
    [first, _] = bank.retain(["Odalys lives in Norrhav.", "</script><script>alert(1)</script><!--"])
    bank.update_memory(first, text="Odalys lives in Vik.")
    path = tmp_path / "page.html"
    assert write_page(bank, path) == 2
    page = path.read_text("utf-8")
    assert "Odalys lives in Norrhav." in page  # its history
    assert "Odalys lives in Vik." in page
    assert "</script><script>alert" not in page
    assert page.count("<script") == page.count("</script>") == 3
    assert "/ui/" not in page_with({}).partition("<body>")[0]
    with pytest.raises(InputError, match="is there already"):
        write_page(bank, path)
