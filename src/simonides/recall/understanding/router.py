"""Compares the query with the centres of labelled examples: does it need memory, and memories of which kinds?

Skip: the query lies nearer to the centre of a list of prompts that no memory can help than to any centre of
questions that need one, or of the bank's own memories, by ``skip_margin``; and near enough to it at all.
Never skipped is what names an entity that the bank knows, or holds a word that leans on the past.
Kinds: score(k) = the mean of the cosines with the centre of example questions for k and with the centre of
the bank's memories of kind k (of the examples alone for a kind that the bank has not shown). Kinds within
``kind_margin`` of the best stay. Projects: the one whose centre is nearest, if by ``project_margin``.

With mode "filter" only what was routed is looked at; with "boost" it may raise and excludes nothing. Dates
and readers are never routed. Without a vector nothing is routed.
Cost: 354 short texts embedded once per embedder, 0.5 s (for the default one they come with the package, see
``router_vectors``); then that of ``bank_centres``.
Weakness: the examples are English; questions in other languages are hardly ever skipped or routed right.
"""

from __future__ import annotations

import re
import threading
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simonides.errors import InputError
from simonides.forking import renewed_after_fork
from simonides.recall.understanding.bank_centres import centre_of, centres_of
from simonides.recall.understanding.router_vectors import read_vectors
from simonides.records.kind import RECALLED, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Embedder, Tools, View
    from simonides.recall.understanding.bank_centres import BankCentres
    from simonides.records.query import Query

SKIPPED = "skipped_by_router"

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Router:
    """Understander.

    Attributes:
        mode: whether what was routed excludes the rest, or may only raise.
        skip_margin: how much nearer, in cosine, a query must be to a centre of prompts that need no memory.
        skip_floor: the least cosine with that centre.
        short_words, short_floor: a query of up to so many words is skipped only if it has this cosine with
            one of the examples themselves: two words may be a search as well as a greeting.
        kind_margin: how far behind the best kind, in cosine, a kind may lie and stay; 2 = all kinds stay.
        project_margin: how far ahead of all others the nearest project must be; 2 = never.
        sampled: visible rows that the bank's centres are made of, from 0, evenly spaced.
    """

    mode: Literal["filter", "boost"]
    skip_margin: float
    skip_floor: float
    short_words: int
    short_floor: float
    kind_margin: float
    project_margin: float
    sampled: int

    def __post_init__(self) -> None:
        for name in ("skip_margin", "kind_margin", "project_margin"):
            if not 0 <= getattr(self, name) <= 2:
                raise InputError(
                    name, f"{getattr(self, name)} is not between 0 and 2, a difference of cosines"
                )
        for name in ("skip_floor", "short_floor"):
            if not -1 <= getattr(self, name) <= 1:
                raise InputError(name, f"{getattr(self, name)} is not between -1 and 1, a cosine")
        for name in ("short_words", "sampled"):
            if getattr(self, name) < 0:
                raise InputError(name, f"{getattr(self, name)} is below 0")

    def understand(self, view: View, query: Query, tools: Tools) -> Query:
        """The query as it was, or told to skip, or with kinds and a project."""
        if query.vector is None or tools.embedder is None:
            return query
        examples = _embedded(tools.embedder)
        if examples is None:
            note = "the embedder gives no vectors for the router's examples"
            return replace(query, notes=(*query.notes, note))
        bank = centres_of(view, self.sampled)
        note = self._skips(view, query, examples, bank)
        if note:
            return replace(query, skip=SKIPPED, notes=(*query.notes, f"{SKIPPED}: {note}"))
        return self._routed(view, query, examples, bank)

    def _skips(self, view: View, query: Query, examples: _Examples, bank: BankCentres) -> str:
        """Why nothing needs to be looked for, or an empty text."""
        vector = _of(query)
        skip, group = _nearest(vector, examples.skip)
        need = max(_nearest(vector, examples.retrieve)[0], bank.nearest(vector))
        if skip < self.skip_floor or skip - need < self.skip_margin:
            return ""
        words = _WORD.findall(query.text.casefold())
        if not examples.past.isdisjoint(words):
            return ""
        if len(words) <= self.short_words and float((examples.prompts @ vector).max()) < self.short_floor:
            return ""
        if query.entities or query.hints or view.find_entities(query.text):
            return ""
        return f"{skip:.2f} near to {group}, {need:.2f} to what needs a memory"

    def _routed(self, view: View, query: Query, examples: _Examples, bank: BankCentres) -> Query:
        vector = _of(query)
        kinds = self._kinds(vector, examples, bank)
        project = bank.project(vector, self.project_margin, view)
        if not kinds and project is None:
            return query
        narrow = self.mode == "filter"
        if narrow and not view.narrowed(kinds, project).eligible.any():
            return query
        names = [*(kind.value for kind in kinds), *([] if project is None else [f"project {project}"])]
        note = f"looked at {', '.join(names)} only" if narrow else f"prefers {', '.join(names)}"
        return replace(
            query, routed_kinds=kinds, routed_project=project, narrow=narrow, notes=(*query.notes, note)
        )

    def _kinds(self, vector: NDArray[np.float64], examples: _Examples, bank: BankCentres) -> tuple[Kind, ...]:
        """The kinds that stay; empty when all do."""
        scores = {}
        for kind in RECALLED:
            parts = [
                float(centres[kind.value] @ vector)
                for centres in (examples.retrieve, bank.kinds)
                if kind.value in centres
            ]
            scores[kind] = round(sum(parts) / len(parts), 9)
        least = max(scores.values()) - self.kind_margin
        kinds = tuple(kind for kind in RECALLED if scores[kind] >= least)
        return () if len(kinds) == len(RECALLED) else kinds


@dataclass(frozen=True, slots=True)
class _Examples:
    """Vectors of the labelled examples: centres by list, and every prompt that needs no memory."""

    skip: Mapping[str, NDArray[np.float64]]
    retrieve: Mapping[str, NDArray[np.float64]]
    prompts: NDArray[np.float64]
    past: frozenset[str]


def _nearest(vector: NDArray[np.float64], centres: Mapping[str, NDArray[np.float64]]) -> tuple[float, str]:
    """The greatest cosine with a centre, rounded to 1e-9, and the centre's name; the first of equal ones."""
    cosines = {name: round(float(centre @ vector), 9) for name, centre in centres.items()}
    best = max(cosines, key=lambda name: cosines[name])
    return cosines[best], best


def _of(query: Query) -> NDArray[np.float64]:
    assert query.vector is not None
    return query.vector.astype(np.float64)


_KEPT = 4
"""Embedders whose vectors of the examples are kept."""


class _Lock:
    """A lock that a forked child gets anew: another thread may hold the parent's."""

    def __init__(self) -> None:
        self.renew()
        renewed_after_fork(self)

    def renew(self) -> None:
        self.held = threading.Lock()


_lock = _Lock()
_by_embedder: dict[str, _Examples | None] = {}


def _embedded(embedder: Embedder) -> _Examples | None:
    """The examples as *embedder* sees them, computed once; ``None`` if it fails on one."""
    with _lock.held:
        if embedder.fingerprint not in _by_embedder:
            while len(_by_embedder) >= _KEPT:
                del _by_embedder[next(iter(_by_embedder))]
            _by_embedder[embedder.fingerprint] = _embed(embedder)
        return _by_embedder[embedder.fingerprint]


def _embed(embedder: Embedder) -> _Examples | None:
    lists = read_examples()
    texts = example_texts()
    raw = read_vectors(embedder.fingerprint, texts)
    try:
        # As memories: a query is embedded once, and these are none.
        whole = np.array(embedder.encode(texts) if raw is None else raw, np.float64)
    except Exception:  # noqa: BLE001 - any fault of a plugged-in model must leave recall without a router
        return None
    if whole.shape != (len(texts), embedder.dimension):
        return None
    lengths = np.linalg.norm(whole, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        return None
    whole /= lengths
    vectors: dict[str, dict[str, NDArray[np.float64]]] = {"skip": {}, "retrieve": {}}
    start = 0
    for side, groups in vectors.items():
        for group, members in lists[side].items():
            groups[group] = whole[start : start + len(members)]
            start += len(members)
    return _Examples(
        {group: centre_of(some) for group, some in vectors["skip"].items()},
        {group: centre_of(some) for group, some in vectors["retrieve"].items()},
        np.concatenate(list(vectors["skip"].values())),
        read_past(),
    )


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / "router_examples.toml").read_text(encoding="utf-8"))


def read_examples() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """The labelled examples: skip and retrieve, each with its lists by name."""
    return {side: _file()[side] for side in ("skip", "retrieve")}


def example_texts() -> list[str]:
    """All examples, in the order of their lists."""
    return [text for lists in read_examples().values() for texts in lists.values() for text in texts]


def read_past() -> frozenset[str]:
    """Words that keep a query from being skipped."""
    return frozenset(_file()["past"])
