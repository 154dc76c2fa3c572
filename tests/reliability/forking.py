"""A process that opens a store, forks, and tries everything in the child.

    python forking.py STORE used|reopened|busy|writing|jobs|asynchronous|remote|left|models

``used``: the child uses what its parent opened. ``reopened``: the child opens the store anew, goes on after the
parent has closed its own, and loses nothing. ``busy``: the parent forks inside a transaction, so the child
cannot open the store. ``writing``: another thread writes all the while, and the parent forks again and again.
``jobs``: the parent has recalled with ``tier="async"``. ``asynchronous`` and ``remote``: the child uses an AsyncBank,
and a bank of a server, that the parent has used. ``left``: the child drops all it inherited after its parent has
closed the bank and another process has written it. ``models``: the child uses what asks models. Prints one JSON object: how each call in the child ended, and what the bank holds.
"""

from __future__ import annotations

import asyncio
import gc
import io
import json
import os
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import apsw

import simonides
from simonides.errors import ForkedError
from simonides.models.llm import LanguageModel
from simonides.models.server import Health
from simonides.surfaces.client.asynchronous import AsyncBank
from simonides.testing.chat_server import ChatServer, spoken

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.bank import Bank
    from simonides.store import Store


def main() -> None:
    folder, what = Path(sys.argv[1]), sys.argv[2]
    store = simonides.open(folder, embedder=None)
    bank = store.bank()
    (memory,) = bank.retain("retained before the fork")
    calls = _WAYS[what](store, bank, memory)
    store.close()
    with simonides.open(folder, embedder=None) as again:
        report = again.bank().verify()
        with again.bank()._rows.reading() as reading:
            texts = [text for (text,) in cast("Any", reading).connection.execute("SELECT text FROM memories")]
    sys.stdout.write(json.dumps({"calls": calls, "texts": sorted(texts), "ok": report.ok}) + "\n")


def _used(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    def child(say: Callable[[str], None], hear: Callable[[], str]) -> None:
        calls: dict[str, Callable[[], Any]] = {
            "retain": lambda: bank.retain("retained in the child"),
            "recall": lambda: bank.recall("fork"),
            "get": lambda: bank.get_memory(memory),
            "forget": lambda: bank.forget(memory),
            "stats": bank.stats,
            "verify": bank.verify,
            "bank": lambda: store.bank().recall("fork"),
        }
        say(json.dumps({name: _outcome(call) for name, call in calls.items()}))
        store.close()

    with _forked(child) as (hear, _):
        ended: dict[str, str] = json.loads(hear())
    bank.retain("retained by the parent afterwards")
    assert bank.get_memory(memory).text
    return ended


def _reopened(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    def child(say: Callable[[str], None], hear: Callable[[], str]) -> None:
        with simonides.open(store.folder, embedder=None) as mine:
            mine.bank().retain("retained in the child")
            say("one")
            hear()
            mine.bank().retain("retained in the child after its parent closed")
            say("two")

    with _forked(child) as (hear, say):
        hear()
        bank.retain("retained by the parent afterwards")
        store.close()
        # Someone else comes and goes meanwhile; the last one to close a bank folds its log away.
        with simonides.open(store.folder, embedder=None) as other:
            other.bank().retain("retained by another")
        say("closed")
        hear()
    return {}


def _busy(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    def child(say: Callable[[str], None], hear: Callable[[], str]) -> None:
        say(json.dumps({"open": _outcome(lambda: simonides.open(store.folder, embedder=None).bank())}))

    with bank._rows.reading(), _forked(child) as (hear, _):
        ended: dict[str, str] = json.loads(hear())
    return ended


def _writing(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    """Fork after fork while a thread writes; each child must end soon, and be refused."""
    stop, written = threading.Event(), 0

    def write() -> None:
        nonlocal written
        while not stop.is_set():
            bank.retain(f"note {written} of the other thread", deduplicate=False)
            written += 1

    writer = threading.Thread(target=write)
    writer.start()
    endings: set[str] = set()
    try:
        for _ in range(30):
            with _forked(lambda say, hear: say(json.dumps(_refused(store, bank, memory)))) as (hear, _):
                endings |= {f"{name}: {end}" for name, end in json.loads(hear()).items()}
    finally:
        stop.set()
        writer.join()
    assert bank.stats()["current"] == written + 1
    for _ in range(written):
        bank.forget([each.id for each in bank.list_memories(limit=1_000) if each.id != memory])
        if bank.stats()["current"] == 1:
            break
    return dict.fromkeys(sorted(endings), "")


def _refused(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    calls: dict[str, Callable[[], Any]] = {
        "retain": lambda: bank.retain("retained in the child"),
        "get": lambda: bank.get_memory(memory),
        "bank": store.bank,
        "banks": store.list_banks,
    }
    ended = {name: _outcome(call) for name, call in calls.items()}
    # Whether it can be opened here depends on what the other thread did; an error is of the tree.
    try:
        with simonides.open(store.folder, embedder=None) as again:
            again.bank().get_memory(memory)
        ended["open"] = "opened"
    except ForkedError:
        ended["open"] = "refused"
    return ended


def _jobs(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    job = bank.recall("fork", tier="async").job
    bank.get_job(job, wait_seconds=30)
    calls: dict[str, Callable[[], Any]] = {
        "recall": lambda: bank.recall("fork in the child", tier="async"),
        "job": lambda: bank.get_job(job, wait_seconds=30),
        "another": lambda: bank.get_job("job-of-nobody", wait_seconds=30),
        "embedder": lambda: store.embedder,
    }

    def child(say: Callable[[str], None], hear: Callable[[], str]) -> None:
        say(json.dumps({name: _outcome(call) for name, call in calls.items()}))
        store.close()

    with _forked(child) as (hear, _):
        ended: dict[str, str] = json.loads(hear())
    return ended


def _asynchronous(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    mine = AsyncBank(bank)
    asyncio.run(mine.get_memory(memory))

    async def use() -> dict[str, str]:
        ended = {}
        for name, call in {"get": lambda: mine.get_memory(memory), "stats": mine.stats}.items():
            try:
                await asyncio.wait_for(call(), 20)
                ended[name] = "went through"
            except ForkedError as error:
                ended[name] = str(error)
        await asyncio.wait_for(mine.close(), 20)
        return ended

    with _forked(lambda say, hear: say(json.dumps(asyncio.run(use())))) as (hear, _):
        ended: dict[str, str] = json.loads(hear())
    asyncio.run(mine.get_memory(memory))
    asyncio.run(mine.close())
    return ended


def _remote(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    """A server that keeps its connection open; the child must send nothing over it."""
    body = json.dumps({"banks": ["default"]}).encode()
    sent = 0
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        nonlocal sent
        connection = listening.accept()[0]
        with connection:
            while data := connection.recv(65_536):
                sent += data.count(b" HTTP/1.1\r\n")
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                connection.sendall(head.encode() + body)

    thread = threading.Thread(target=serve)
    thread.start()
    remote = simonides.connect(f"http://127.0.0.1:{listening.getsockname()[1]}", token="smn_any")
    there = remote.bank()
    remote.list_banks()
    calls: dict[str, Callable[[], Any]] = {
        "banks": remote.list_banks,
        "get": lambda: there.get_memory(memory),
        "reflect": lambda: there.reflect("fork", on_text=print),
        "export": lambda: there.export(io.BytesIO()),
    }

    def child(say: Callable[[str], None], hear: Callable[[], str]) -> None:
        say(json.dumps({name: _outcome(call) for name, call in calls.items()}))
        remote.close()

    with _forked(child) as (hear, _):
        ended: dict[str, str] = json.loads(hear())
    remote.list_banks()
    remote.close()
    thread.join()
    listening.close()
    assert sent == 2
    return ended


def _left(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    """What the child inherited goes away after others have written the bank; nothing of theirs may be lost."""

    def child(say: Callable[[str], None], hear: Callable[[], str]) -> None:
        hear()
        # The last references here, as in a child that ends by itself.
        for each in [each for each in gc.get_objects() if isinstance(each, apsw.Connection)]:
            each.close()
        say("dropped")

    with _forked(child) as (hear, say):
        store.close()
        # A writer that ends without closing leaves its changes in the log alone.
        killed = os.fork()
        if killed == 0:
            other = simonides.open(store.folder, embedder=None)
            other.bank().retain("retained by another")
            os._exit(0)
        os.waitpid(killed, 0)
        log = store.folder / "bank-default" / "memory.db-wal"
        assert log.stat().st_size > 0
        say("written")
        hear()
        assert log.stat().st_size > 0
    return {}


def _models(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    health = Health("http://127.0.0.1:1", 1, 0.0)
    asking = health.slot(time.monotonic() + 5)
    asking.__enter__()

    def child(say: Callable[[str], None], hear: Callable[[], str]) -> None:
        with health.watched(), health.slot(time.monotonic()):
            say(json.dumps({"server": "may be asked"}))

    # Another thread of the parent asks the server, and holds its lock.
    with health._state.lock, _forked(child) as (hear, _):
        ended: dict[str, str] = json.loads(hear())
    asking.__exit__(None, None, None)
    with ChatServer(spoken("one ", "two ", "three")) as server:
        words = LanguageModel("any", server.url, max_retries=0).stream(
            [{"role": "system", "content": "x"}], 5
        )
        next(words)
        with _forked(lambda say, hear: say(json.dumps(_outcome(lambda: list(words))))) as (hear, _):
            ended["words"] = json.loads(hear())
    return ended


_WAYS = {
    "used": _used,
    "reopened": _reopened,
    "busy": _busy,
    "writing": _writing,
    "jobs": _jobs,
    "asynchronous": _asynchronous,
    "remote": _remote,
    "left": _left,
    "models": _models,
}


class _forked:  # noqa: N801 reads as the verb it is
    """Runs *child* in a fork with two ways to talk: (hear, say) on each side; waits for it at the end."""

    def __init__(self, child: Callable[[Callable[[str], None], Callable[[], str]], None]) -> None:
        self._child = child

    def __enter__(self) -> tuple[Callable[[], str], Callable[[str], None]]:
        up, down = os.pipe(), os.pipe()
        self._number = os.fork()
        if self._number == 0:
            failed = 1
            try:
                self._child(_speaker(up[1]), _listener(down[0]))
                failed = 0
            except Exception:  # noqa: BLE001 - the child must end here, whatever happened
                traceback.print_exc()
            finally:
                os._exit(failed)
        os.close(up[1])
        return _listener(up[0]), _speaker(down[1])

    def __exit__(self, *ended: object) -> None:
        _, status = os.waitpid(self._number, 0)
        assert status == 0, f"the child failed ({status}); its error stands above"


def _speaker(handle: int) -> Callable[[str], None]:
    def say(words: str) -> None:
        os.write(handle, words.encode() + b"\n")

    return say


def _listener(handle: int) -> Callable[[], str]:
    file = os.fdopen(handle)
    return lambda: file.readline().strip()


def _outcome(call: Callable[[], Any]) -> str:
    try:
        call()
    except ForkedError as error:
        return str(error)
    return "went through"


if __name__ == "__main__":
    main()
