"""A process that opens a store, forks, and tries everything in the child.

    python forking.py STORE used|reopened|busy

``used``: the child uses what its parent opened. ``reopened``: the child opens the store anew, goes on after the
parent has closed its own, and loses nothing. ``busy``: the parent forks inside a transaction, so the child
cannot open the store. Prints one JSON object: how each call in the child ended, and what the bank holds.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import simonides
from simonides.errors import ForkedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simonides.bank import Bank
    from simonides.store import Store


def main() -> None:
    folder, what = Path(sys.argv[1]), sys.argv[2]
    store = simonides.open(folder, embedder=None)
    bank = store.bank()
    (memory,) = bank.retain("retained before the fork")
    calls = {"used": _used, "reopened": _reopened, "busy": _busy}[what](store, bank, memory)
    store.close()
    with simonides.open(folder, embedder=None) as again:
        report = again.bank().verify()
        with again.bank()._rows.reading() as reading:
            texts = [text for (text,) in reading.connection.execute("SELECT text FROM memories")]
    sys.stdout.write(json.dumps({"calls": calls, "texts": sorted(texts), "ok": report.ok}) + "\n")


def _used(store: Store, bank: Bank, memory: str) -> dict[str, str]:
    def child(say: Callable[[str], None], hear: Callable[[], str]) -> None:
        calls: dict[str, Callable[[], Any]] = {
            "retain": lambda: bank.retain("retained in the child"),
            "recall": lambda: bank.recall("fork"),
            "get": lambda: bank.get(memory),
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
    assert bank.get(memory).text
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
        assert status == 0, "the child failed; its error stands above"


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
