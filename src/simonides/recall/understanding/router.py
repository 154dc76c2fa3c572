"""Routes a query by the centres of labelled examples and of the bank's own memories.

    centre(S) = mean of the vectors of S / length of that mean

The examples' vectors are shipped for the default embedder (``python scripts/embed_router_examples.py``):
embedding 354 texts takes half a second of CPU, which every process that asks once would pay. The file counts
only for the embedder and the examples that it was made of; for any others they are embedded.

The centres of a bank's kinds and projects come from a sample of the rows that the asker sees and depend on
these rows alone, so they are kept with the snapshot. So are the sums over all but the last few rows, which
moments of the past have in common. Cost: about 0.7 ms for 1,024 rows of any number of projects, a third of
that where all but the last few were looked at before, and 0.05 ms where all were.
"""

from __future__ import annotations

import hashlib
import io
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
from simonides.records.kind import KIND_CODES, RECALLED, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Embedder, Tools, View
    from simonides.records.query import Query


NAME = "router_vectors.npz"


def read_vectors(fingerprint: str, texts: Sequence[str]) -> NDArray[np.float32] | None:
    """What is shipped for these: float32, shape (texts, dimension); ``None`` = nothing."""
    with (files(__package__) / NAME).open("rb") as file, np.load(file, allow_pickle=False) as held:
        if bytes(held["origin"]) != _origin(fingerprint, texts):
            return None
        vectors: NDArray[np.float32] = held["vectors"]
        return vectors


def vector_file(fingerprint: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    """The bytes of the file for ``read_vectors``."""
    body = io.BytesIO()
    origin = np.frombuffer(_origin(fingerprint, texts), np.uint8)
    np.savez(body, origin=origin, vectors=vectors.astype("<f4"))
    return body.getvalue()


def _origin(fingerprint: str, texts: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join([fingerprint, *texts]).encode()).digest()


@dataclass(frozen=True, slots=True)
class BankCentres:
    """Centres of the visible memories.

    Attributes:
        kinds: by the name of the kind; a kind of which the sample shows no vector has none.
        projects: one row for each, by the code of the label, ascending; float64, shape (projects, dimension).
        members: of each project, the ordinal of one memory.
    """

    kinds: Mapping[str, NDArray[np.float64]]
    projects: NDArray[np.float64]
    members: tuple[int, ...]

    def nearest(self, vector: NDArray[np.float64]) -> float:
        """The greatest cosine with a kind's centre; -1 for an empty bank."""
        return max((float(centre @ vector) for centre in self.kinds.values()), default=-1.0)

    def project(self, vector: NDArray[np.float64], margin: float, view: View) -> str | None:
        """The project that lies ahead of all others, memories without one included, by *margin*."""
        if len(self.members) < 2:
            return None
        cosines = self.projects @ vector
        second, best = np.argsort(cosines, kind="stable")[-2:].tolist()
        if cosines[best] - cosines[second] < margin:
            return None
        return view.memories([self.members[best]])[0].project or None


def centres_of(view: View, sampled: int) -> BankCentres:
    """From *sampled* visible rows at most, evenly spaced in the order in which they were written."""
    rows = _sample(view.visible, sampled)
    return view.snapshot.kept.get("bank centres", rows.tobytes(), lambda: _made(view, rows))


def centre_of(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of float vectors, shape (any, dimension), summed in float64 and scaled to length 1."""
    mean: NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    return mean / length if length else mean


def _sample(visible: NDArray[np.bool_], sampled: int) -> NDArray[np.int64]:
    """Every row, or every second, fourth, … of them, so that moments of the past look at the same rows.

    Rows that were read a moment ago are still in the processor's cache; others take most of the time.
    """
    count = int(np.count_nonzero(visible))
    if not sampled:
        return np.empty(0, np.int64)
    step = 1
    while -(-count // step) > sampled:
        step *= 2
    # Rows are written in the order of time, so a moment of the past sees all up to some row.
    return np.arange(0, count, step) if visible[:count].all() else np.flatnonzero(visible)[::step]


_SHARED = 128
"""The longest multiple of so many rows is summed apart, so that samples with the same beginning share it."""


def _made(view: View, rows: NDArray[np.int64]) -> BankCentres:
    whole = rows[: len(rows) // _SHARED * _SHARED]
    shared = view.snapshot.kept.get("centre sums", whole.tobytes(), lambda: _summed(view, whole))
    sums = _joined(shared, _summed(view, rows[len(whole) :]))
    kinds, has_kind = _directions(sums.kinds)
    projects, has_project = _directions(sums.projects)
    return BankCentres(
        {kind.value: kinds[place] for place, kind in enumerate(RECALLED) if has_kind[place]},
        projects[has_project],
        tuple(sums.members[has_project].tolist()),
    )


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums of vectors.

    Attributes:
        kinds: one row for each of ``RECALLED``; float32, shape (kinds, dimension).
        codes: of the projects' labels, ascending; shape (projects,).
        projects: one row for each of *codes*; float32, shape (projects, dimension).
        members: of each project, the first row.
    """

    kinds: NDArray[np.float32]
    codes: NDArray[Any]
    projects: NDArray[np.float32]
    members: NDArray[np.int64]


def _summed(view: View, rows: NDArray[np.int64]) -> _Sums:
    # By project, so that each project's rows stand together; within one in the order of time.
    labels = view.column("project", rows)
    order = np.argsort(labels, kind="stable")
    rows, labels = rows[order], labels[order]
    vectors = view.vectors(rows)
    if not len(rows):
        return _Sums(np.zeros((len(RECALLED), vectors.shape[1]), np.float32), labels, vectors, rows)
    # One product for all kinds: rows that stand apart would have to be copied first.
    members = (view.column("kind", rows) == _CODES).astype(np.float32)
    begins = np.concatenate([[0], np.flatnonzero(labels[1:] != labels[:-1]) + 1])
    projects = np.add.reduceat(vectors, begins, axis=0)
    return _Sums(members @ vectors, labels[begins], projects, rows[begins])


def _joined(first: _Sums, last: _Sums) -> _Sums:
    """Of both; the members are those of the first where it has one."""
    if not len(first.codes):
        return last
    codes = np.union1d(first.codes, last.codes)
    projects = np.zeros((len(codes), first.projects.shape[1]), np.float32)
    members = np.zeros(len(codes), np.int64)
    for sums in (last, first):
        places = codes.searchsorted(sums.codes)
        projects[places] += sums.projects
        members[places] = sums.members
    return _Sums(first.kinds + last.kinds, codes, projects, members)


_CODES = np.array([[KIND_CODES[kind]] for kind in RECALLED])


def _directions(sums: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Rows scaled to length 1, and which of them have a length; a row without a vector adds nothing to them.

    They were summed in float32, because a copy of all vectors in float64 has to get new pages, which cost
    more than all the rest.
    """
    directions = sums.astype(np.float64)
    lengths = np.sqrt(np.add.reduce(directions * directions, axis=1, keepdims=True))
    there = lengths > 0.0
    directions /= np.where(there, lengths, 1.0)
    return directions, there[:, 0]


SKIPPED = "skipped_by_router"

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Router:
    """Compares the query with centres of labelled examples: does it need memory, and of which kinds?

    Skip: the query lies nearer to the centre of a list of prompts that no memory can help than to any centre
    of questions that need one, or of the bank's own memories, by ``skip_margin``; and near enough to it at
    all. Never skipped is what names an entity that the bank knows, or holds a word that leans on the past.
    Kinds: score(k) = the mean of the cosines with the centre of example questions for k and with the centre
    of the bank's memories of kind k (of the examples alone for a kind that the bank has not shown). Kinds
    within ``kind_margin`` of the best stay. Projects: the one whose centre is nearest, if by
    ``project_margin``.

    With mode "filter" only what was routed is looked at; with "boost" it may raise and excludes nothing.
    Dates and readers are never routed. Without a vector nothing is routed.
    Cost: 354 short texts embedded once per embedder, 0.5 s (for the default one they come with the package,
    see ``router_vectors``); then that of ``bank_centres``.
    Weakness: the examples are English; questions in other languages are hardly ever skipped or routed right.

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
