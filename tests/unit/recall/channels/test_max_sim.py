from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.index.vectors import pack_tokens
from simonides.recall.channels import vectors as max_sim
from simonides.recall.channels.vectors import MaxSim
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

ALONG = pack_tokens(np.array([[1, 1, 1, 1, 1, 1, 1, 1]], np.float32))
HALF = pack_tokens(np.array([[1, 1, 1, 1, -1, -1, -1, -1]], np.float32))
AGAINST = pack_tokens(np.array([[-1, -1, -1, -1, -1, -1, -1, -1]], np.float32))
QUERY = replace(fake_query("q"), token_vectors=np.full((1, 8), 8**-0.5, np.float32))


def search(
    tokens: dict[int, bytes], *, depth: int = 10, most: int = 100, query: object = QUERY
) -> tuple[list[tuple[int, float]], str]:
    memories = [fake_memory(f"m{n}") for n in range(4)]
    view = replace(FakeView.of(memories, vectors=[[1.0] * 8] * 4), tokens=tokens)
    ranking = MaxSim(depth, most).search(view, query, fake_tools())  # type: ignore[arg-type]
    scores = ranking.scores.round(6).tolist()
    return list(zip(ranking.ordinals.tolist(), scores, strict=True)), ranking.reason


@pytest.mark.parametrize("at_once", [1, 3, 512])
def test_every_memory_with_codes_is_ranked_by_its_tokens(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(max_sim, "_AT_ONCE", at_once)
    assert search({0: AGAINST, 1: HALF, 3: ALONG}) == ([(3, 1.0), (1, 0.0), (0, -1.0)], "")
    assert search({0: AGAINST, 1: HALF, 3: ALONG}, depth=1) == ([(3, 1.0)], "")


def test_what_it_cannot_search_it_says() -> None:
    assert search({}) == ([], "no memory has token codes")
    assert search({0: ALONG}, query=fake_query("q")) == ([], "the query has no token vectors")
    assert search({0: ALONG}, most=3) == ([], "4 memories are more than the 3 that it reads at most")


def test_who_asks_for_words_alone_gets_none() -> None:
    assert search({0: ALONG}, query=replace(QUERY, mode="bm25")) == ([], "")


def test_an_empty_bank_has_nothing_wrong() -> None:
    ranking = MaxSim(10, 100).search(FakeView.of([]), QUERY, fake_tools())
    assert (len(ranking), ranking.reason) == (0, "")


@pytest.mark.parametrize(("depth", "most"), [(0, 1), (1, 0), (-1, 1)])
def test_numbers_start_at_one(depth: int, most: int) -> None:
    with pytest.raises(InputError):
        MaxSim(depth, most)
