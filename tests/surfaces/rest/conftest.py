"""A store with two banks, its app, and clients that hold tokens."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import httpx
import pytest

import simonides
from simonides.surfaces.operations.table import Verb
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.serving.tokens import TokenStore
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastapi import FastAPI

    from simonides.store import Store


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, what it printed at its start, its process and its store."""

    address: str
    token: str
    process: subprocess.Popen[str]
    store: Path


def start(store: Path, *arguments: str) -> Server:
    """Start one on any free port and wait until it has printed its address and token."""
    command = [sys.executable, "-c", "from simonides.surfaces.cli.main import main; main()"]
    environment = {**os.environ, "SIMONIDES_EMBEDDER": "none", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, "serve", "--port", "0", "--store", str(store), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    printed = process.stdout.readline()
    address = re.match(r"http://\S+", printed)
    assert address, printed
    token = process.stdout.readline().rpartition(" ")[2].strip()
    return Server(address[0], token, process, store)


def stop(server: Server) -> int:
    """End it as a service manager does; its exit status."""
    server.process.terminate()
    return server.process.wait(60)


class ClientFor(Protocol):
    def __call__(
        self,
        *banks: str,
        principal: str | None = None,
        verbs: tuple[str, ...] = (),
        of: FastAPI | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.AsyncClient: ...


@contextlib.contextmanager
def app_of(store: Store) -> Iterator[FastAPI]:
    """The app of a store with the banks `mine` and `theirs`."""
    for name in ("mine", "theirs"):
        store.bank(name).stats()
    made = make_app(store)
    yield made
    made.state.dispatcher.close()


@pytest.fixture
def app(store: Store) -> Iterator[FastAPI]:
    with app_of(store) as made:
        yield made


@pytest.fixture
def client_for(app: FastAPI, store: Store) -> ClientFor:
    return clients_of(app, store)


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store for all tests of a file, for those that do not care what others wrote."""
    with simonides.open(
        tmp_path_factory.mktemp("store"), clock=FrozenClock(), embedder=StubEmbedder(dimension=32), environ={}
    ) as store:
        yield store


@pytest.fixture(scope="module")
def client_for_one(one_store: Store) -> Iterator[ClientFor]:
    """``client_for`` of ``one_store``, with one app."""
    with app_of(one_store) as made:
        yield clients_of(made, one_store)


def clients_of(app: FastAPI, store: Store) -> ClientFor:
    """Makes a client with a token for banks; without banks, one without a token."""

    def make(
        *banks: str,
        principal: str | None = None,
        verbs: tuple[str, ...] = (),
        of: FastAPI | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.AsyncClient:
        sent = dict(headers or {})
        if banks:
            with TokenStore(store.folder) as tokens:
                allowed = verbs or tuple(verb.value for verb in Verb)
                token = tokens.create(banks=banks, principal=principal, verbs=allowed, now=0)
            sent["Authorization"] = f"Bearer {token}"
        transport = httpx.ASGITransport(of or app)
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765", headers=sent)

    return make


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """`simonides serve` on a store of its own, at its first start."""
    yield from _served(tmp_path / "served")


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The same for all tests of a file, for those that do not care what others wrote and let it run."""
    yield from _served(tmp_path_factory.mktemp("served"))


def _served(store: Path) -> Iterator[Server]:
    running = start(store)
    yield running
    if running.process.poll() is None:
        stop(running)
    if running.process.stdout:
        running.process.stdout.close()
