from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.recall.channels.vectors import Dense, Hopfield, complete
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANNEL = Hopfield(depth=10, rescore=100, steps=1, beta=8.0, neighbours=10)


def unit(*parts: float) -> NDArray[np.float32]:
    vector = np.array(parts, np.float64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def bank(*vectors: NDArray[np.float32] | None, **changes: Any) -> FakeView:
    rows = [None if vector is None else vector.tolist() for vector in vectors]
    return FakeView.of([fake_memory(f"m{n}") for n in range(len(rows))], vectors=rows, **changes)


def found(channel: Hopfield | Dense, view: FakeView, cue: NDArray[np.float32]) -> list[int]:
    ordinals: list[int] = channel.search(view, fake_query("q", vector=cue), fake_tools()).ordinals.tolist()
    return ordinals


@pytest.mark.spec("EN-10")
def test_one_step_is_the_mean_of_the_patterns_weighted_by_likeness() -> None:
    patterns = np.stack([unit(1, 0), unit(0, 1)])
    cue = unit(0.8, 0.6)
    weights = np.exp(8 * np.array([0.8, 0.6]))
    expected = weights / np.linalg.norm(weights)
    assert complete(cue, patterns, steps=1, beta=8.0) == pytest.approx(expected, abs=1e-6)
    again = complete(complete(cue, patterns, steps=1, beta=8.0), patterns, steps=1, beta=8.0)
    assert complete(cue, patterns, steps=2, beta=8.0) == pytest.approx(again, abs=1e-6)


@pytest.mark.spec("EN-10")
def test_it_ranks_otherwise_than_the_cosine() -> None:
    # A lone memory is nearest to the cue; three that are alike, together, bring their like to mind.
    lone = unit(0.9, 0.44, 0)
    alike = [unit(0.85, 0, 0.5 + step) for step in (0.0, 0.01, 0.02)]
    view = bank(lone, *alike)
    cue = unit(1, 0, 0)
    assert found(Dense(depth=10, rescore=100), view, cue) == [0, 1, 2, 3]
    assert found(CHANNEL, view, cue)[-1] == 0
    assert sorted(found(CHANNEL, view, cue)) == [0, 1, 2, 3]


@pytest.mark.spec("EN-10")
def test_no_function_of_the_cosine_could_rank_so() -> None:
    # Two memories at the same angle from the cue, on either side; the crowd decides.
    one, other = unit(1, 1, 0), unit(1, -1, 0)
    view = bank(one, other, unit(1, -1, 0.2), unit(1, -1, -0.2))
    ranking = CHANNEL.search(view, fake_query("q", vector=unit(1, 0, 0)), fake_tools())
    by_row = dict(zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True))
    assert by_row[1] > by_row[0]


def test_only_the_nearest_complete_the_cue() -> None:
    view = bank(unit(1, 0.2), unit(0, 1), unit(0.1, 1))
    ranking = replace(CHANNEL, neighbours=1).search(view, fake_query("q", vector=unit(1, 0)), fake_tools())
    # Completed from one memory the cue is that memory.
    assert ranking.ordinals.tolist()[0] == 0
    assert ranking.scores.tolist()[0] == pytest.approx(1.0, abs=1e-6)


def test_the_cue_is_completed_from_visible_memories_and_finds_eligible_ones() -> None:
    vectors = (unit(1, 1, 0), unit(1, -1, 0), unit(1, -1, 0.2), unit(1, -1, -0.2))
    cue = unit(1, 0, 0)
    wanted = found(CHANNEL, bank(*vectors, eligible=[True, True, False, False]), cue)
    assert wanted == [1, 0]
    hidden = found(CHANNEL, bank(*vectors, visible=[True, True, False, False]), cue)
    assert hidden == [0, 1]


def test_without_vectors_to_compare_there_is_a_reason() -> None:
    tools, query = fake_tools(), fake_query("q", vector=unit(1, 0))
    assert CHANNEL.search(bank(unit(1, 0)), fake_query("q"), tools).reason == "the query has no vector"
    assert CHANNEL.search(bank(None), query, tools).reason == "the bank holds no vectors"
    assert CHANNEL.search(bank(), query, tools).reason == ""
    other = CHANNEL.search(bank(unit(1, 0, 0)), query, tools)
    assert other.reason == "the query has 2 dimensions, the bank 3"
    assert len(CHANNEL.search(bank(unit(1, 0), visible=[False]), query, tools)) == 0


def test_patterns_that_cancel_out_leave_the_cue() -> None:
    patterns = np.stack([unit(0, 1), unit(0, -1)])
    assert complete(unit(1, 0), patterns, steps=3, beta=8.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": 0}, "depth: 0 is below 1"),
        ({"rescore": 0}, "rescore: 0 is below 1"),
        ({"neighbours": 0}, "neighbours: 0 is below 1"),
        ({"steps": 4}, "steps: 4 is not 1 to 3"),
        ({"beta": 0.0}, "beta: 0.0 is not a number above 0"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(CHANNEL, **changes)
