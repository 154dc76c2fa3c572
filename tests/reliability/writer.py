"""A process that retains batch after batch and says on standard output what it was promised.

    python writer.py STORE NAME [--seed N] [--largest N] [--merge N] [--vectors] [--retains N] [--seconds N]
        [--die-at N] [--die-at-statement N] [--stay]

After each retain has returned it prints one line: {"ids": […], "texts": […], "seconds": …}; a last line
{"end": …} when it was not killed. It can kill itself: right before the N-th thing that it does with index
files, or right before its N-th SQL statement. Every text is unique and says which batch it belongs to and how large that
batch is, so that whoever reads the bank later can tell a whole batch from half of one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.embedded_rows import embedded
from tests.reliability.dying import die_at_statement

import simonides
from simonides.backends.embedded import merge
from simonides.index.files import FileLayer
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    asked = _arguments()
    # A low threshold makes nearly every retain merge, so that kills land inside merges too.
    merge.SMALLEST_MERGE = asked.merge
    chance = random.Random(asked.seed)
    end = time.monotonic() + asked.seconds
    batch, number = 0, 0
    if asked.die_at_statement:
        die_at_statement(asked.die_at_statement)
    with simonides.open(asked.store, embedder=StubEmbedder() if asked.vectors else None) as store:
        bank = store.bank()
        if asked.die_at:
            embedded(bank._rows).cache.files = _deadly(asked.die_at)
        problems: set[str] = set()
        while batch < asked.retains and time.monotonic() < end:
            size = chance.randint(1, asked.largest)
            texts = [
                f"{asked.name} batch {batch} of {size} item {asked.name}x{number + i}" for i in range(size)
            ]
            began = time.monotonic()
            ids = bank.retain(texts)
            _say(ids=ids, texts=texts, seconds=time.monotonic() - began)
            batch, number = batch + 1, number + size
            problems |= set(bank._rows.problems())
        _say(end=True, problems=sorted(problems))
        if asked.stay:
            sys.stdin.read()


def _deadly(number: int) -> FileLayer:
    layer = FileLayer()
    calls = itertools.count(1)

    def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if next(calls) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(*arguments)

        return call

    calls_of = ("make_folder", "write", "sync_folder", "read", "map", "names", "remove_file", "remove_folder")
    for name in calls_of:
        setattr(layer, name, guarded(getattr(layer, name)))
    return layer


def _say(**words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--largest", type=int, default=300)
    parser.add_argument("--merge", type=int, default=2_000)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--retains", type=int, default=sys.maxsize)
    parser.add_argument("--die-at-statement", type=int, default=0)
    parser.add_argument("--die-at", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument(
        "--stay", action="store_true", help="do not close the store before standard input ends"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
