"""Centres of what the asker sees of a bank: of its kinds and of its projects, from a sample of its rows.

    centre(S) = mean of the vectors of S / length of that mean

They depend on the rows of the sample alone, so they are kept with the snapshot by these rows: whoever sees
the same rows gets the same centres, and who sees others gets others.
Cost: about 1 ms for 1,024 rows, 0.05 ms where the same rows were looked at before.
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
        kinds: by the name of the kind; a kind that the sample does not show has none.
        projects: by the label of the project.
        members: of each project, the ordinal of one memory.
    """

    kinds: Mapping[str, NDArray[np.float64]]
    projects: Mapping[int, NDArray[np.float64]]
    members: Mapping[int, int]

    def nearest(self, vector: NDArray[np.float64]) -> float:
        """The greatest cosine with a kind's centre; -1 for an empty bank."""
        return max((float(centre @ vector) for centre in self.kinds.values()), default=-1.0)

    def project(self, vector: NDArray[np.float64], margin: float, view: View) -> str | None:
        """The project that lies ahead of all others, memories without one included, by *margin*."""
        if len(self.projects) < 2:
            return None
        ranked = sorted(
            ((float(self.projects[label] @ vector), label) for label in self.members), reverse=True
        )
        (best, label), (second, _) = ranked[:2]
        if best - second < margin:
            return None
        return view.memories([self.members[label]])[0].project or None


def centres_of(view: View, sampled: int) -> BankCentres:
    """From *sampled* visible rows at most, evenly spaced in the order in which they were written."""
    rows = _sample(view.visible, sampled)
    return view.snapshot.kept.get(("bank centres", rows.tobytes()), lambda: _made(view, rows))


def centre_of(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of float vectors, shape (any, dimension), summed in float64 and scaled to length 1."""
    mean: NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    return mean / length if length else mean


def _sample(visible: NDArray[np.bool_], sampled: int) -> NDArray[np.int64]:
    count = int(np.count_nonzero(visible))
    if count <= sampled:
        return np.flatnonzero(visible)
    if not sampled:
        return np.empty(0, np.int64)
    places = np.linspace(0, count - 1, sampled).astype(np.int64)
    # Rows are written in the order of time, so a moment of the past sees all up to some row.
    return places if visible[:count].all() else np.flatnonzero(visible)[places]


def _made(view: View, rows: NDArray[np.int64]) -> BankCentres:
    vectors = view.vectors(rows)
    there = vectors.any(axis=1)
    if not there.all():
        rows, vectors = rows[there], vectors[there]
    if not len(rows):
        return BankCentres({}, {}, {})
    kinds, projects = _members(view.column("kind", rows)), _members(view.column("project", rows))
    return BankCentres(
        {
            kind.value: centre_of(vectors[kinds[KIND_CODES[kind]]])
            for kind in RECALLED
            if KIND_CODES[kind] in kinds
        },
        {label: centre_of(vectors[members]) for label, members in projects.items()},
        {label: int(rows[members[0]]) for label, members in projects.items()},
    )


def _members(codes: NDArray[Any]) -> dict[int, NDArray[np.intp]]:
    """By code, ascending, the places that hold it, ascending."""
    order = np.argsort(codes, kind="stable")
    found, firsts = np.unique(codes[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, firsts[1:]), strict=True))
