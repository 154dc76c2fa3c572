from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.index.vectors import pack_tokens
from simonides.recall.refining.rerankers import LateInteraction
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

ALONG = pack_tokens(np.array([[1, 1, 1, 1, 1, 1, 1, 1]], np.float32))
HALF = pack_tokens(np.array([[1, 1, 1, 1, -1, -1, -1, -1]], np.float32))
AGAINST = pack_tokens(np.array([[-1, -1, -1, -1, -1, -1, -1, -1]], np.float32))
QUERY = replace(fake_query("q"), token_vectors=np.full((1, 8), 8**-0.5, np.float32))


def refine(
    tokens: dict[int, bytes],
    *,
    depth: int = 100,
    kept: float = 1.0,
    weight: float = 1.0,
    query: object = QUERY,
) -> tuple[list[tuple[int, float]], str]:
    memories = [fake_memory(f"m{n}") for n in range(4)]
    view = replace(FakeView.of(memories, vectors=[[1.0] * 8] * 4), tokens=tokens)
    pool = tuple(Candidate(n, 4.0 - n, "test") for n in range(4))
    refined = LateInteraction(depth=depth, kept=kept, weight=weight).refine(view, query, pool, fake_tools())  # type: ignore[arg-type]
    return [(each.ordinal, each.score) for each in refined.pool], refined.reason


def test_both_scores_count_on_one_scale() -> None:
    # Before: 1, 2/3, 1/3, 0. MaxSim: −1, 0, 1, 1 → 0, 0.5, 1, 1.
    scored, reason = refine({0: AGAINST, 1: HALF, 2: ALONG, 3: ALONG})
    assert scored == [(2, 1.333333333), (1, 1.166666667), (0, 1.0), (3, 1.0)]
    assert reason == ""


def test_the_tail_stays_below_as_it_was() -> None:
    scored, _ = refine({0: AGAINST, 1: ALONG, 3: ALONG}, depth=2)
    assert scored[:2] == [(0, 1.0), (1, 1.0)]
    assert scored[2:] == [(2, 2.0), (3, 1.0)]


def test_what_has_no_codes_counts_as_the_mean() -> None:
    scored, _ = refine({0: AGAINST, 3: ALONG}, weight=10.0)
    assert [ordinal for ordinal, _ in scored] == [3, 1, 2, 0]
    assert dict(scored)[1] == pytest.approx(5 + 2 / 3)


def test_without_tokens_nothing_changes_and_the_trace_says_why() -> None:
    before = [(0, 4.0), (1, 3.0), (2, 2.0), (3, 1.0)]
    assert refine({}) == (before, "no candidate has token codes")
    assert refine({0: ALONG}, query=fake_query("q")) == (before, "the query has no token vectors")


def test_late_interaction_alone_orders_the_head() -> None:
    scored, _ = refine({0: AGAINST, 1: HALF, 2: ALONG, 3: AGAINST}, kept=0.0)
    assert scored == [(2, 1.0), (1, 0.5), (0, 0.0), (3, 0.0)]


@pytest.mark.parametrize(
    ("depth", "kept", "weight"), [(0, 1.0, 1.0), (10, -1.0, 1.0), (10, 1.0, 0.0), (10, 1.0, float("nan"))]
)
def test_options_out_of_range_are_refused(depth: int, kept: float, weight: float) -> None:
    with pytest.raises(InputError):
        LateInteraction(depth=depth, kept=kept, weight=weight)
