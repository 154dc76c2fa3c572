"""A process that asks and changes a store it may only read.

    python read_only.py STORE QUERY…

Prints {"recalls": [[[id, score], …], …], "refusals": {call: error}, "read_only": …, "problems": […]}.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import simonides
from simonides.errors import UnavailableError
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    folder, *queries = sys.argv[1:]
    with simonides.open(folder, embedder=StubEmbedder()) as store:
        bank = store.bank()
        before = [[(hit.id, hit.score) for hit in bank.recall(query)] for query in queries]
        memory = before[0][0][0]
        refusals = {
            "retain": _refusal(lambda: bank.retain("cannot be kept")),
            "forget": _refusal(lambda: bank.forget(memory)),
            "new bank": _refusal(lambda: store.bank("new")),
        }
        after = [[(hit.id, hit.score) for hit in bank.recall(query)] for query in queries]
        assert before == after
        stats = bank.stats()
    said = {
        "recalls": after,
        "refusals": refusals,
        "read_only": stats["read_only"],
        "problems": stats["problems"],
    }
    sys.stdout.write(json.dumps(said) + "\n")


def _refusal(call: Callable[[], Any]) -> str:
    try:
        call()
    except UnavailableError as error:
        return str(error)
    raise AssertionError("a folder that is read-only was written")


if __name__ == "__main__":
    main()
