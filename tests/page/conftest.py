"""A real server with the page, and a real browser; `make test-ui` runs what is marked `browser`.

Every page that a test opens is watched: a script error, a violation of the policy, or a request to another
host fails the test that caused it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from simonides.surfaces.operations.table import OPERATIONS, Verb
from simonides.surfaces.rest.paths import place_of
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDE = {"width": 1280, "height": 900}
_WATCH = """
    globalThis.violations = [];
    addEventListener("securitypolicyviolation", (event) =>
      globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


@dataclass(slots=True)
class Served:
    """A bank of a server that runs as a process, with a token of the owner."""

    address: str
    token: str
    store: Path
    bank: str = "default"

    def call(self, operation: str, **values: Any) -> Any:
        """One operation over HTTP, past the page: how a test reads back what the page did."""
        place = place_of(operation)
        path = place.path.replace("{bank}", self.bank)
        for name in list(values):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", str(values.pop(name)))
        assert operation in OPERATIONS
        body = None if place.method == "GET" else json.dumps(values).encode()
        if place.method == "GET" and values:
            path += "?" + "&".join(f"{name}={value}" for name, value in values.items())
        request = urllib.request.Request(self.address + path, body, method=place.method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            return json.loads(answer.read())

    def at(self, place: str) -> str:
        """The address of a view of the bank."""
        return f"{self.address}/ui#/{self.bank}/{place}"

    def memories(self) -> list[dict[str, Any]]:
        """What the bank holds now, page by page."""
        found: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            page = self.call("list_memories", limit=1_000, **cursor)
            found += page["memories"]
            if page["next"] is None:
                return found
            cursor = {"cursor": page["next"]}

    def texts(self) -> list[str]:
        """The texts of what the bank holds now."""
        return [each["text"] for each in self.memories()]

    def make_token(self, *verbs: str) -> str:
        """A token for the bank; without verbs, one that allows all."""
        with TokenStore(self.store) as tokens:
            return tokens.create(banks=[self.bank], verbs=verbs or tuple(Verb), now=0)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`simonides serve` on a store of its own; each test has a bank in it."""
    store = tmp_path_factory.mktemp("page") / "store"
    command = [sys.executable, "-c", "from simonides.surfaces.cli.main import main; main()"]
    process = subprocess.Popen(
        [*command, "serve", "--port", "0", "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout
    try:
        address = re.match(r"http://\S+", process.stdout.readline())
        assert address
        process.stdout.readline()
        with TokenStore(store) as tokens:
            token = tokens.create(banks=["*"], verbs=tuple(Verb), now=0)
        yield Served(address[0], token, store)
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Chromium is not installed; `make test-ui` installs it")
        pytest.skip("Chromium is not installed; `make test-ui` installs it")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass(slots=True)
class Watched:
    """What a browser did that it must not do."""

    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)

    def watch(self, page: Page, address: str) -> None:
        """Note errors of scripts and requests to other hosts."""
        page.add_init_script(_WATCH)
        page.on("pageerror", lambda error: self.errors.append(f"{page.url} {error.stack}"))
        page.on("request", lambda asked: self._asked(asked.url, address))
        self.pages.append(page)

    def _asked(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:", "blob:", "about:")):
            self.foreign.append(url)

    def check(self) -> None:
        """Fail on anything that was noted."""
        for page in self.pages:
            if not page.is_closed():
                found = page.evaluate("globalThis.violations ?? []")
                self.errors.extend(f"policy: {each}" for each in found)
        assert self.errors == []
        assert self.foreign == []


class Opener:
    """Opens the page of a server as somebody who holds a token."""

    def __init__(self, browser: Browser, watched: Watched) -> None:
        self._browser = browser
        self._watched = watched
        self.contexts: list[BrowserContext] = []

    def __call__(
        self,
        served: Served,
        place: str = "ask",
        *,
        token: str = "",
        dark: bool = False,
        **options: Any,
    ) -> Page:
        context = self._browser.new_context(
            viewport=options.pop("viewport", WIDE),
            color_scheme="dark" if dark else "light",
            locale="en-GB",
            timezone_id="Europe/Oslo",
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(15_000)
        self.contexts.append(context)
        page = context.new_page()
        self._watched.watch(page, served.address)
        page.goto(f"{served.address}/ui")
        page.get_by_label("Token").fill(token or served.token)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("navigation", name="Views").wait_for()
        page.goto(served.at(place))
        return page


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opener]:
    """Opens pages; what they must not do fails the test at its end."""
    watched = Watched()
    opener = Opener(browser, watched)
    yield opener
    watched.check()
    for context in opener.contexts:
        context.close()


FACTS: list[dict[str, Any]] = [
    {"text": "Mara Quill lives in Oslo.", "event_time": "2026-01-10", "tags": ["people"]},
    {"text": "Mara Quill now lives in Bergen.", "event_time": "2026-03-02", "tags": ["people"]},
    {"text": "Mara Quill works at Fennwick Labs.", "event_time": "2026-02-01", "tags": ["people", "work"]},
    {"text": "Nils Varga likes rye bread.", "tags": ["people"]},
    {"text": "The heron service listens on port 8080.", "project": "heron", "tags": ["work"]},
    {"text": "The heron service now listens on port 9090.", "project": "heron", "tags": ["work"]},
    {"text": "Deploys of heron happen on Tuesdays.", "project": "heron", "tags": ["work"]},
    {"text": "We decided to keep the ledger in SQLite.", "kind": "decision", "project": "heron"},
    {"text": "Nils Varga is allergic to walnuts.", "tags": ["people", "health"]},
    {"text": "The spare key hangs behind the blue door.", "tags": ["home"]},
    {"text": "Mara Quill and Nils Varga met in Bergen on 4 May 2026.", "tags": ["people"]},
    {"text": "The passphrase of the guest network is: sparrow-lantern-42", "tags": ["home"]},
]


_NUMBERS = count(1)


@pytest.fixture
def empty(server: Served) -> Served:
    """An empty bank."""
    made = replace(server, bank=f"bank-{next(_NUMBERS)}")
    made.call("create_bank", name=made.bank)
    return made


@pytest.fixture
def served(empty: Served) -> Served:
    """A bank of a dozen facts, stored one after the other."""
    for fact in FACTS:
        empty.call("retain", items=[fact])
    return empty
