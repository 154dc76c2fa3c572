"""From a system's name to a fresh, empty peer, and the encoder that all of them share."""

from __future__ import annotations

import os
from array import array
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from bench.peers.adapters.reciprocal_rank import ReciprocalRank
from bench.peers.catalogue import SYSTEMS, Fused, OwnProcess, SameProcess
from bench.peers.environments import make_environment
from bench.peers.process import PeerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.peers.lines import Peer

    from simonides.protocols import Embedder


class SharedEncoder:
    """Encodes each text once, whoever asks (``lines.Encode``).

    The default embedder reads questions and texts alike, so there is one way to ask.

    Attributes:
        cpu_seconds: what encoding has cost so far.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._ready: dict[str, array[float]] = {}
        self.cpu_seconds = 0.0

    def __call__(self, texts: Sequence[str]) -> list[array[float]]:
        """Vectors of *texts*, float32, of length 1 or all zero."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._ready]
        if missing:
            started = own_cpu_seconds()
            for text, vector in zip(missing, self._embedder.encode(missing), strict=True):
                self._ready[text] = array("f", vector.tolist())
            self.cpu_seconds += own_cpu_seconds() - started
        return [self._ready[text] for text in texts]


def own_cpu_seconds() -> float:
    """CPU time of this process so far."""
    times = os.times()
    return times.user + times.system


@contextmanager
def open_peer(name: str, encoder: SharedEncoder, folder: Path) -> Iterator[Peer]:
    """A fresh peer that lives as long as the block.

    Args:
        name: a system of the catalogue, not simonides itself.
        encoder: shared by all.
        folder: an empty folder.

    Raises:
        PeerUnavailableError: it cannot be installed or does not start.
    """
    way = SYSTEMS[name].way
    with ExitStack() as stack:
        if isinstance(way, SameProcess):
            yield way.make(encoder, folder)
        elif isinstance(way, OwnProcess):
            python = make_environment(name, way)
            adapter = (way.module, way.name)
            yield stack.enter_context(
                PeerProcess(python, adapter, encoder, folder, environment=way.environment)
            )
        elif isinstance(way, Fused):
            members = []
            for member in way.members:
                (folder / member).mkdir()
                members.append(stack.enter_context(open_peer(member, encoder, folder / member)))
            yield ReciprocalRank(members)
        else:
            raise TypeError(f"{name} is not a peer")
