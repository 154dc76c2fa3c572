"""A process that keeps a store open and answers a list of queries whenever it is told to.

    python asker.py STORE QUERIES

QUERIES is a JSON file: [[query, profile], …]. For each line on standard input it prints one line, the answers:
[[[[id, score], …], context, omitted ids], …]. It ends with its input.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from simonides.bank import Bank


def main() -> None:
    queries = json.loads(Path(sys.argv[2]).read_text())
    with simonides.open(sys.argv[1], embedder=StubEmbedder(), clock=FrozenClock()) as store:
        for _ in sys.stdin:
            sys.stdout.write(json.dumps(_answers(store.bank(), queries)) + "\n")
            sys.stdout.flush()


def _answers(bank: Bank, queries: list[tuple[str, str]]) -> list[Any]:
    found = [bank.recall(query, profile=profile, max_tokens=200) for query, profile in queries]
    return [[[[h.id, h.score] for h in one], one.context, [o.id for o in one.omitted]] for one in found]


if __name__ == "__main__":
    main()
