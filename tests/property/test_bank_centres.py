"""Centres that are kept are those that the definition gives, whoever asks, at whatever moment, after any write."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simonides
from simonides.recall.understanding import router as bank_centres
from simonides.recall.understanding.router import centres_of
from simonides.records.kind import KIND_CODES, RECALLED
from simonides.records.query import Filters
from simonides.services.viewing import Viewing
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.index.view import BankView
    from simonides.recall.understanding.router import BankCentres

Vectors = dict[object, "NDArray[np.float64]"]

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("retain"),
            st.sampled_from(("The lamp is lit", "Rain fell on the roof", "Ines fixed the fuse")),
            st.sampled_from(("semantic", "episodic", "decision")),
            st.sampled_from(("", "mill", "harbour")),
            st.sampled_from(((), ("ines",), ("tove",))),
        ),
        st.tuples(st.just("forget"), st.integers(0, 20)),
        st.tuples(
            st.just("ask"),
            st.sampled_from((None, "ines", "tove")),
            st.integers(0, 20),
            st.sampled_from((0, 1, 3, 1024)),
        ),
    ),
    min_size=1,
    max_size=25,
)


def by_definition(view: BankView, sampled: int) -> tuple[Vectors, Vectors, dict[int, int]]:
    """The centres as the formula states them, made anew; projects by the codes of their labels, ascending."""
    rows = np.flatnonzero(view.visible)
    steps = (step for step in (2**power for power in range(20)) if len(rows[::step]) <= sampled)
    rows = rows[:: next(steps)] if sampled else rows[:0]
    if not len(rows):
        return {}, {}, {}
    codes, scales = view.snapshot.codes(rows)
    vectors = (codes.astype(np.float32) * scales[:, np.newaxis]).astype(np.float64)
    there = vectors.any(axis=1)
    rows, vectors = rows[there], vectors[there]
    kinds, labels = view.column("kind", rows), view.column("project", rows)

    def centre(some: NDArray[np.float64]) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = some.mean(axis=0)
        length = float(np.linalg.norm(mean))
        return mean / length if length else mean

    return (
        {
            kind.value: centre(vectors[kinds == KIND_CODES[kind]])
            for kind in RECALLED
            if (kinds == KIND_CODES[kind]).any()
        },
        {label: centre(vectors[labels == label]) for label in sorted(set(labels.tolist()))},
        {label: int(rows[labels == label][0]) for label in sorted(set(labels.tolist()))},
    )


def check(bank: Bank, principal: str | None, as_of: int | None, now: int, sampled: int) -> None:
    with bank._rows.reading() as reading:
        filters = Filters(principal=principal, as_of=as_of)
        view = Viewing(bank._context).view(reading, filters, now)
        kinds, projects, members = by_definition(view, sampled)
        for _ in range(2):
            found: BankCentres = centres_of(view, sampled)
            assert found.kinds.keys() == kinds.keys()
            # Summed in float32.
            for kind, centre in found.kinds.items():
                np.testing.assert_allclose(centre, kinds[kind], rtol=0, atol=1e-6)
            assert found.members == tuple(members.values())
            for centre, wanted in zip(found.projects, projects.values(), strict=True):
                np.testing.assert_allclose(centre, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("shared", [2, 128])
@settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(STEPS)
def test_kept_centres_are_those_of_the_definition(
    monkeypatch: pytest.MonkeyPatch, shared: int, steps: list[tuple[object, ...]]
) -> None:
    monkeypatch.setattr(bank_centres, "_SHARED", shared)
    clock = FrozenClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        simonides.open(Path(folder) / "s", embedder=StubEmbedder(8), clock=clock) as store,
    ):
        bank = store.bank("b")
        ids: list[str] = []
        moments = [None, bank._context.now()]
        for number, (action, *rest) in enumerate(steps):
            clock.advance(seconds=60)
            if action == "retain":
                text, kind, project, acl = rest
                ids += bank.retain(
                    f"{text} {number}",
                    kind=str(kind),
                    project=str(project),
                    acl=acl,  # type: ignore[arg-type]
                )
                moments.append(bank._context.now())
            elif action == "forget" and ids:
                bank.forget(ids.pop(int(str(rest[0])) % len(ids)))
            elif action == "ask":
                principal, moment, sampled = rest
                at = moments[int(str(moment)) % len(moments)]
                check(bank, principal, at, bank._context.now(), int(str(sampled)))  # type: ignore[arg-type]
        for principal in (None, "ines", "tove"):
            for at in moments[-3:]:
                for sampled in (3, 1024):
                    check(bank, principal, at, bank._context.now(), sampled)
