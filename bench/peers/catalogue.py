"""What is compared: each system by name, how it is started, and what a reader should know about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.adapters.dense import Dense

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.peers.lines import PeerClass

REQUIREMENTS = Path(__file__).parent / "requirements"

# Nothing that is compared may use the network; what tries gets an answer at once, from no one.
OFFLINE: Mapping[str, str] = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
}


@dataclass(frozen=True, slots=True)
class OwnProcess:
    """A peer with packages of its own: it gets an environment and, for each corpus, a process.

    Attributes:
        module, name: the adapter's class.
        distribution: the package whose version is reported, pinned in ``requirements/<peer>.txt``.
        install: more arguments for pip.
        environment: variables that switch its reports home off, or that it will not start without.
    """

    module: str
    name: str
    distribution: str
    install: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SameProcess:
    """A peer that needs nothing but numpy."""

    make: PeerClass


@dataclass(frozen=True, slots=True)
class Fused:
    """Other peers of this catalogue, fused by reciprocal rank."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ours:
    """simonides itself.

    Attributes:
        profile: what it recalls with.
        alone: whether it is given the texts and nothing else: no date, no session, no context.
    """

    profile: str
    alone: bool = False


@dataclass(frozen=True, slots=True)
class System:
    """One row of the comparison.

    Attributes:
        title: its name for readers.
        way: how it is started.
        note: what it was given or denied, for the table.
    """

    title: str
    way: OwnProcess | SameProcess | Fused | Ours
    note: str


SYSTEMS: Mapping[str, System] = {
    "simonides": System("simonides `default`", Ours("default"), "texts, dates, sessions, two turns around"),
    "simonides-alone": System(
        "simonides `default`, texts alone", Ours("default", alone=True), "no date, session or turns around"
    ),
    "bm25": System(
        "BM25", OwnProcess("bench.peers.adapters.bm25", "Bm25", "bm25s"), "bm25s, stop words out, stemmed"
    ),
    "dense": System("dense", SameProcess(Dense), "exact cosine, shared encoder"),
    "rrf": System("RRF(BM25, dense)", Fused(("bm25", "dense")), "k = 60, each to rank 100"),
    "yantrikdb": System(
        "YantrikDB",
        OwnProcess("bench.peers.adapters.yantrikdb", "YantrikDb", "yantrikdb"),
        "shared encoder; texts and dates",
    ),
    "mem0": System(
        "mem0",
        OwnProcess(
            "bench.peers.adapters.mem0",
            "Mem0",
            "mem0ai",
            # It asks for a key when made, though no model of that provider is ever called.
            environment={"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "unused"},
        ),
        "`infer=False`, threshold 0, shared encoder; keyword and entity signals need models from a hub: off",
    ),
    "txtai": System(
        "txtai",
        OwnProcess("bench.peers.adapters.txtai", "Txtai", "txtai-minimal"),
        "`hybrid=True`, shared encoder",
    ),
    "engram-search": System(
        "engram-search",
        OwnProcess(
            "bench.peers.adapters.engram_search", "EngramSearch", "engram-search", install=("--no-deps",)
        ),
        "shared encoder; its cross-encoder needs weights from a hub: off",
    ),
}
