"""A process that recalls while others write, and checks that nothing acknowledged before is missing.

    python reader.py STORE ACKS… [--seed N] [--vectors]

ACKS are the growing outputs of ``writer.py``. Before each look it reads what has been acknowledged so far;
the bank must then show all of it. It ends when every writer has said that it ended, and prints
{"looks": …, "seen": …, "slowest": …}.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import simonides
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.store import Store

_LOOKS_PER_OPENING = 25


@dataclass
class Acks:
    """What one writer has said so far; a line that is not complete yet counts later."""

    path: Path
    offset: int = 0
    ended: bool = False
    promised: list[tuple[str, str]] = field(default_factory=list)

    def catch_up(self) -> None:
        with self.path.open("rb") as file:
            file.seek(self.offset)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self.offset += len(whole)
        for line in whole.splitlines():
            said = json.loads(line)
            self.ended |= "end" in said
            self.promised += zip(said.get("ids", ()), said.get("texts", ()), strict=True)


def main() -> None:
    asked = _arguments()
    chance = random.Random(asked.seed)
    acks = [Acks(path) for path in asked.acks]
    looks, slowest = 0, 0.0
    while not all(one.ended for one in acks):
        # Open anew now and then: the last one to close a bank folds its log away, under everyone's feet.
        with _open(asked) as store:
            bank = store.bank()
            for _ in range(_LOOKS_PER_OPENING):
                for one in acks:
                    one.catch_up()
                began = time.monotonic()
                _look(bank, acks, chance)
                slowest = max(slowest, time.monotonic() - began)
                looks += 1
    seen = sum(len(one.promised) for one in acks)
    sys.stdout.write(json.dumps({"looks": looks, "seen": seen, "slowest": slowest}) + "\n")


def _look(bank: Bank, acks: list[Acks], chance: random.Random) -> None:
    promised = sum(len(one.promised) for one in acks)
    stored = bank.stats()["current"]
    assert stored >= promised, f"{promised} were acknowledged, {stored} are there"
    for one in acks:
        if one.promised:
            memory, text = one.promised[-1]
            found = [hit.id for hit in bank.recall(text)]
            assert memory in found, f"recall({text!r}) lacks {memory}: {found}"
            for known, words in (one.promised[-1], chance.choice(one.promised)):
                assert bank.get_memory(known).text == words


def _open(asked: argparse.Namespace) -> Store:
    return simonides.open(asked.store, embedder=StubEmbedder() if asked.vectors else None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("acks", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--vectors", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
