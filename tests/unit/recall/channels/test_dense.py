from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.channels.vectors import Dense
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from numpy.typing import NDArray

DENSE = Dense(depth=10, rescore=100)
EAST = np.array([1.0, 0.0], np.float32)


def view(vectors: list[list[float] | None], eligible: list[bool] | None = None) -> FakeView:
    return FakeView.of(
        [fake_memory(f"m{n}") for n in range(len(vectors))], vectors=vectors, eligible=eligible
    )


def test_memories_come_by_falling_cosine_negative_ones_too() -> None:
    bank = view([[-1.0, 0.0], [1.0, 1.0], None, [2.0, 0.0]])
    ranking = DENSE.search(bank, fake_query("q", vector=EAST), fake_tools())
    assert ranking.ordinals.tolist() == [3, 1, 0]
    assert ranking.scores.tolist() == pytest.approx([1.0, 0.5**0.5, -1.0], abs=1e-9)
    assert ranking.reason == ""


def test_the_ranking_is_cut_to_its_depth_with_ties_by_id() -> None:
    bank = view([[1.0, 0.0]] * 4)
    ranking = Dense(depth=2, rescore=9).search(bank, fake_query("q", vector=EAST), fake_tools())
    assert ranking.ordinals.tolist() == [0, 1]


def test_only_eligible_memories_are_found() -> None:
    bank = view([[1.0, 0.0], [0.0, 1.0]], eligible=[False, True])
    ranking = DENSE.search(bank, fake_query("q", vector=EAST), fake_tools())
    assert ranking.ordinals.tolist() == [1]


def test_a_query_without_a_vector_is_a_reason() -> None:
    ranking = DENSE.search(view([[1.0, 0.0]]), fake_query("q"), fake_tools())
    assert len(ranking) == 0
    assert ranking.reason == "the query has no vector"


@pytest.mark.fault("V2")
def test_vectors_of_another_size_are_a_reason_with_both_sizes() -> None:
    query = fake_query("q", vector=np.ones(3, np.float32))
    ranking = DENSE.search(view([[1.0, 0.0]]), query, fake_tools())
    assert len(ranking) == 0
    assert "3 dimensions" in ranking.reason
    assert "2" in ranking.reason


def test_a_bank_without_vectors_is_a_reason_unless_it_is_empty() -> None:
    query = fake_query("q", vector=EAST)
    assert DENSE.search(view([None]), query, fake_tools()).reason == "the bank holds no vectors"
    assert DENSE.search(view([]), query, fake_tools()).reason == ""


@pytest.mark.parametrize(("depth", "rescore", "field"), [(0, 1, "depth"), (1, 0, "rescore")])
def test_options_out_of_range_are_refused(depth: int, rescore: int, field: str) -> None:
    with pytest.raises(InputError, match=f"{field}: 0 is below 1"):
        Dense(depth=depth, rescore=rescore)


@dataclass(frozen=True, slots=True)
class Asked:
    """Vectors that note how many rows were asked for and give every one."""

    depths: list[int] = field(default_factory=list)
    dimension: int = 2

    def nearest(
        self, query: NDArray[np.float32], eligible: NDArray[np.bool_], *, depth: int, rescore: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        self.depths.append(depth)
        return np.arange(len(eligible)), np.linspace(1.0, 0.0, len(eligible))


@pytest.mark.spec("HI-12")
@pytest.mark.parametrize(
    ("stage", "depth", "fetched", "found"),
    [
        (Dense(depth=3, rescore=9), 7, 3, 3),
        (Dense(depth=3, rescore=9, budgeted=True), None, 3, 3),
        (Dense(depth=3, rescore=9, budgeted=True), 7, 7, 7),
        (Dense(depth=3, rescore=9, budgeted=True, overfetch=5, least_fetched=100), 7, 100, 7),
        (Dense(depth=3, rescore=9, budgeted=True, overfetch=5, least_fetched=100), 30, 150, 30),
    ],
)
def test_more_is_fetched_than_kept(stage: Dense, depth: int | None, fetched: int, found: int) -> None:
    bank, asked = view([[1.0, 0.0]] * 200), Asked()
    bank = replace(bank, snapshot=replace(bank.snapshot, vectors=asked))  # type: ignore[arg-type]  # a double
    assert len(stage.search(bank, fake_query("q", vector=EAST, depth=depth), fake_tools())) == found
    assert asked.depths == [fetched]
