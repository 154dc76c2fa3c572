"""Peers for tests of the lines: one that works, and several that do not."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.peers.lines import Encode, Text


class FakePeer:
    """Ranks by the dot product of the shared encoder's vectors; talks on standard output as some libraries do."""

    def __init__(self, encode: Encode, folder: Path) -> None:
        print("welcome to the fake peer")  # noqa: T201 - what is tested
        (folder / "home.txt").write_text(os.environ["HOME"], encoding="utf-8")
        self._encode = encode
        self._texts: list[Text] = []

    def add(self, texts: Sequence[Text]) -> None:
        print("adding")  # noqa: T201 - same
        self._texts.extend(texts)

    def ask(self, question: str, depth: int) -> list[int]:
        (wanted,) = self._encode([question])
        vectors = self._encode([text.text for text in self._texts])
        scored = [
            (-sum(a * b for a, b in zip(wanted, vector, strict=True)), text.place)
            for text, vector in zip(self._texts, vectors, strict=True)
        ]
        return [place for _, place in sorted(scored)][:depth]


class Recorder(FakePeer):
    """Says what it was told, by an error."""

    def ask(self, question: str, depth: int) -> list[int]:
        raise RuntimeError(f"{question} {depth} {self._texts}\nsecond line")


class Unmade(FakePeer):
    def __init__(self, encode: Encode, folder: Path) -> None:
        raise ImportError("no engine here")


class Dying(FakePeer):
    def ask(self, question: str, depth: int) -> list[int]:
        print("about to die", file=sys.stderr, flush=True)  # noqa: T201 - same
        os._exit(3)


class Sleeping(FakePeer):
    def ask(self, question: str, depth: int) -> list[int]:
        time.sleep(60)
        return []
