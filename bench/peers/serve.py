"""A peer's own process: makes the peer that is named and answers the benchmark's lines (see lines.py).

    python -m bench.peers.serve MODULE CLASS FOLDER

Whatever the peer prints goes to standard error, so that it cannot get between the lines.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bench.peers.lines import hear, say, texts_from_json, unpack_vector

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from bench.peers.lines import Peer, PeerClass


def main() -> int:
    """Serve until the input ends."""
    module, name, folder = sys.argv[1:]
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    serve(module, name, Path(folder), sys.stdin, lines)
    return 0


def serve(module: str, name: str, folder: Path, source: IO[str], to: IO[str]) -> None:
    """Make the peer, then answer each message of *source* on *to*."""

    def encode(texts: Sequence[str]) -> list[array[float]]:
        say({"encode": list(texts)}, to)
        answer = hear(source)
        if answer is None:
            raise EOFError("the benchmark went away")
        return [unpack_vector(packed) for packed in answer["vectors"]]

    try:
        make: PeerClass = getattr(importlib.import_module(module), name)
        peer = make(encode, folder)
    except Exception as error:  # noqa: BLE001 - whatever keeps a peer from starting is what gets reported
        say({"error": describe(error)}, to)
        return
    say({"ready": True}, to)
    while (message := hear(source)) is not None:
        try:
            answer = _answer(peer, message)
        except Exception as error:  # noqa: BLE001 - same
            answer = {"error": describe(error)}
        say(answer, to)


def describe(error: BaseException) -> str:
    """The error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _answer(peer: Peer, message: dict[str, Any]) -> dict[str, Any]:
    if message["op"] == "add":
        peer.add(texts_from_json(message["texts"]))
        return {}
    if message["op"] == "ask":
        return {"places": peer.ask(message["question"], message["depth"])}
    raise ValueError(f"no such operation: {message['op']!r}")


if __name__ == "__main__":
    sys.exit(main())
