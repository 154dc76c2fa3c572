"""Centres of what the asker sees of a bank: of its kinds and of its projects, from a sample of its rows.

    centre(S) = mean of the vectors of S / length of that mean

They depend on the rows of the sample alone, so they are kept with the snapshot by these rows: whoever sees
the same rows gets the same centres, and who sees others gets others. So are the sums over all but the last
few, which moments of the past have in common.
Cost: about 0.7 ms for 1,024 rows of any number of projects, a third of that where all but the last few were
looked at before, and 0.05 ms where all were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.records.kind import KIND_CODES, RECALLED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import View


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
