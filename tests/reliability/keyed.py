"""A process whose threads write records under keys and say on standard output what they were promised.

    python keyed.py STORE NAME [--threads N] [--operations N] [--seed N] [--frameworks]

Each thread adds items to one session, pops from it, puts one key and edits one file, by chance: through the
integrations of the frameworks, or by the same calls of the bank, which start faster. Before a call it prints a
line {"begin": CALL, …} and after it has returned {"end": CALL, …}: a call that began and did not end was in
flight when the process was killed. A last line says {"done": true}.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import threading
from typing import TYPE_CHECKING, Any

import simonides
from simonides.errors import ConflictError

if TYPE_CHECKING:
    from simonides.bank import Bank

SESSION = ["one"]
FILE = "log.md"
NAMESPACE, KEY = ("users",), "home"
SHARES = {"add": 40, "pop": 25, "put": 20, "edit": 10, "read": 5}

_output = threading.Lock()


def main() -> None:
    asked = _arguments()
    failures: list[BaseException] = []
    with simonides.open(asked.store, embedder=None) as store:
        bank = store.bank()
        calls = _FrameworkCalls(bank) if asked.frameworks else _Calls(bank)

        def run(number: int) -> None:
            try:
                _Writer(calls, f"{asked.name}.{number}", asked.seed).work(asked.operations)
            except BaseException as error:  # noqa: BLE001 - a thread's errors reach no one else
                failures.append(error)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(asked.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    _say(done=True)


class _Writer:
    """One thread's calls; each value is unique and says whose it is and which in order."""

    def __init__(self, calls: _Calls, name: str, seed: int) -> None:
        self._calls = calls
        self._name = name
        self._chance = random.Random(f"{seed} {name}")

    def work(self, operations: int) -> None:
        names, weights = list(SHARES), list(SHARES.values())
        for number in range(operations):
            what = self._chance.choices(names, weights)[0]
            call, value = f"{self._name}#{number}", f"{self._name} {number:06}"
            _say(begin=call, what=what, value=value)
            _say(end=call, what=what, value=value, **getattr(self, f"_{what}")(value))

    def _add(self, value: str) -> dict[str, Any]:
        items = [{"role": "user", "content": f"{value} {part}"} for part in "ab"]
        self._calls.add(items)
        return {"added": [item["content"] for item in items]}

    def _pop(self, _: str) -> dict[str, Any]:
        item = self._calls.pop()
        return {"popped": item and item["content"]}

    def _put(self, value: str) -> dict[str, Any]:
        self._calls.put({"text": value})
        return {}

    def _edit(self, value: str) -> dict[str, Any]:
        self._calls.edit(value)
        return {}

    def _read(self, _: str) -> dict[str, Any]:
        return {"values": self._calls.count_values()}


class _Calls:
    """What a thread does, by the bank's own methods."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def add(self, items: list[dict[str, Any]]) -> None:
        records = [{"path": SESSION, "value": item, "session": SESSION[0]} for item in items]
        self._bank.put_records("openai-agents", records, append=True)

    def pop(self) -> dict[str, Any] | None:
        record = self._bank.pop_record("openai-agents", SESSION)
        return None if record is None else record.value

    def put(self, value: dict[str, Any]) -> None:
        self._bank.put_records("langgraph", [{"path": [*NAMESPACE, KEY], "value": value}])

    def edit(self, line: str) -> None:
        while True:
            [record] = self._bank.list_records("anthropic", [FILE])
            text = f"{line}\n{record.value}"
            changed = {"path": [FILE], "value": text, "text": text, "replaces": [record.id]}
            with contextlib.suppress(ConflictError):
                self._bank.put_records("anthropic", [changed])
                return

    def count_values(self) -> int:
        return len(self._bank.list_records("langgraph", NAMESPACE))


class _FrameworkCalls(_Calls):
    """The same through the integrations."""

    def __init__(self, bank: Bank) -> None:
        from simonides.integrations.anthropic import BankMemoryTool  # noqa: PLC0415 takes seconds
        from simonides.integrations.langgraph import BankStore  # noqa: PLC0415
        from simonides.integrations.openai_agents import BankSession  # noqa: PLC0415

        self._session: Any = BankSession(SESSION[0], bank)
        self._kept = BankStore(bank)
        self._tool = BankMemoryTool(bank)

    def add(self, items: list[dict[str, Any]]) -> None:
        asyncio.run(self._session.add_items(items))

    def pop(self) -> dict[str, Any] | None:
        item: dict[str, Any] | None = asyncio.run(self._session.pop_item())
        return item

    def put(self, value: dict[str, Any]) -> None:
        self._kept.put(NAMESPACE, KEY, value)

    def edit(self, line: str) -> None:
        self._tool.call(
            {"command": "insert", "path": f"/memories/{FILE}", "insert_line": 0, "insert_text": line}
        )

    def count_values(self) -> int:
        return len(self._kept.search(NAMESPACE))


def _say(**words: Any) -> None:
    with _output:
        sys.stdout.write(json.dumps(words) + "\n")
        sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("name")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--operations", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--frameworks", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
