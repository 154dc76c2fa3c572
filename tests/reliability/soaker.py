"""A process that changes and asks a bank over simulated years, and measures itself as it goes.

    python soaker.py STORE OPERATIONS [--fill] [--merge-at ROWS] [--leak BYTES]

It prints what was measured as JSON. Run it with PYTHONMALLOC=malloc: Python's own allocator hands memory back
in pieces of a megabyte, and a leak could not be told from one of them.

What an engine keeps up to a bound (stems of words, names, recent answers, impressions, the tail) is filled by
--fill before the count begins: until then memory grows by design. With --leak that many bytes of each operation
are kept, so that it is known that they are seen.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np

import simonides
from simonides.backends.embedded import merge
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from simonides.bank import Bank

LIVE = 400
"""Memories that the bank holds at any time: what it may keep in memory is bounded by them."""

ROUNDS = 20
WORDS = 72_000
"""Distinct ones, more than the largest bound on words that are kept."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path)
    parser.add_argument("operations", type=int)
    parser.add_argument("--fill", action="store_true")
    parser.add_argument("--merge-at", type=int, default=merge.SMALLEST_MERGE)
    parser.add_argument("--leak", type=int, default=0)
    asked = parser.parse_args()
    merge.SMALLEST_MERGE = asked.merge_at
    sys.stdout.write(
        json.dumps(_soak(asked.store, asked.operations, fill=asked.fill, leak=asked.leak)) + "\n"
    )


def _soak(folder: Path, operations: int, *, fill: bool, leak: int) -> dict[str, float]:
    """Two simulated years in equal steps, leap day and changes of the clock included."""
    chance, clock = random.Random(12), FrozenClock()
    in_use: list[int] = []
    private: list[int] = []
    leaked: list[bytes] = []
    files: list[int] = []
    disk: list[int] = []
    changes: list[int] = []
    unneeded = 0
    with simonides.open(folder, embedder=StubEmbedder(dimension=16), clock=clock, environ={}) as store:
        bank = store.bank()
        held: list[str] = []
        if fill:
            _fill(bank, held, chance)
        for _ in range(ROUNDS):
            for _ in range(operations // ROUNDS):
                clock.advance(days=730 / operations)
                _operate(bank, held, chance)
                if leak:
                    leaked.append(bytes(leak))
            # What waits in memory to be sealed is no leak, and how much it is depends on the moment.
            bank._rows.merge_if_due(force=True)
            stats = bank.stats()
            in_use.append(_in_use_kb())
            private.append(_private_kb())
            others, mapped = _open_files(bank._rows.folder / "index")
            files.append(others)
            unneeded = max(unneeded, mapped - stats["blocks"] - 1)  # each block, and the graph
            disk.append(stats["disk_bytes"])
            changes.append(stats["sequence"])
        assert bank.verify().ok
        bank.purge()
        purged = bank.stats()
        needed = purged["disk_bytes"] - _empty_bytes(bank)
    quarter = ROUNDS // 4
    slopes = [
        float(np.polyfit(np.arange(ROUNDS - quarter), kb[quarter:], 1)[0]) * ROUNDS * 100_000 / operations
        for kb in (in_use, private)
    ]
    return {
        "operations": operations,
        "in_use_kb_first_quarter": in_use[quarter],
        "in_use_kb_last": in_use[-1],
        "in_use_kb_per_100_000": round(slopes[0], 1),
        "private_kb_first_quarter": private[quarter],
        "private_kb_last": private[-1],
        "private_kb_per_100_000": round(slopes[1], 1),
        "files_first": files[quarter],
        "files_last": files[-1],
        "most_unneeded_maps": unneeded,
        "generation": purged["generation"],
        "disk_first_quarter": disk[quarter],
        "disk_last": disk[-1],
        "bytes_a_change": round((disk[-1] - disk[quarter]) / (changes[-1] - changes[quarter]), 1),
        "purged_bytes": purged["disk_bytes"],
        "needed_bytes": needed,
    }


def _fill(bank: Bank, held: list[str], chance: random.Random) -> None:
    """Fill what is kept up to a bound, and let the tail be sealed once."""
    # Of the shape that the texts' own have: a longer word that takes a shorter one's place is no leak.
    words = [f"{number / 1_000_000:.6f}" for number in range(WORDS)]
    texts = [" ".join(words[start : start + 1_000]) for start in range(0, WORDS, 1_000)]
    for memory in bank.retain(texts, deduplicate=False):
        bank.forget(memory)
    held += bank.retain([_text(chance) for _ in range(LIVE)], deduplicate=False)
    rows = bank.retain([_text(chance) for _ in range(2_000)], deduplicate=False)
    bank.forget(rows)
    for _ in range(2_500):
        bank.recall(f"gauge {chance.randint(0, 99)} {chance.random():.6f}", limit=5)
        bank._context.answers.remember((f"{chance.random()}", held[0]))


def _text(chance: random.Random) -> str:
    return f"Keeper {chance.randint(0, 9)} read gauge {chance.randint(0, 99)} at {chance.random():.6f}."


def _operate(bank: Bank, held: list[str], chance: random.Random) -> None:
    if chance.random() < 0.5:
        bank.recall(f"gauge {chance.randint(0, 99)}", limit=5)
    elif len(held) >= LIVE:
        bank.forget(held.pop(chance.randrange(len(held))))
    else:
        held += bank.retain(_text(chance), deduplicate=False)


def _empty_bytes(bank: Bank) -> int:
    """Bytes of ``memory.db`` in pages that hold nothing."""
    connection = apsw.Connection(str(bank._rows.folder / "memory.db"))
    try:
        return int(connection.pragma("freelist_count")) * int(connection.pragma("page_size"))
    finally:
        connection.close()


class _MallocInfo(ctypes.Structure):
    """``struct mallinfo2`` of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    )


def _in_use_kb() -> int:
    """What was allocated and not freed, over all threads; of this a leak shows at once."""
    gc.collect()
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = _MallocInfo
    info = ask()
    return int(info.uordblks + info.hblkhd) // 1_024


def _private_kb() -> int:
    """What the process has of no file, once the allocator has given back what it can."""
    ctypes.CDLL(None).malloc_trim(0)
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise AssertionError("no RssAnon")


def _open_files(index: Path) -> tuple[int, int]:
    """How many files outside of *index* are open, and how many inside: one for each mapped array file."""
    names = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            names.append(str(entry.readlink()))
        except FileNotFoundError:  # the handle of this very listing
            continue
    inside = sum(name.startswith(f"{index}/") for name in names)
    return len(names) - inside, inside


if __name__ == "__main__":
    main()
