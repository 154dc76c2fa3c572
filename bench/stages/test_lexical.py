from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from simonides.recall.channels.lexical import Lexical

if TYPE_CHECKING:
    from bench.stages.conftest import Desk
    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.benchmark(group="lexical, 100 of 10,000")
DEPTH, K1, B = 100, 1.2, 0.75


@pytest.fixture(scope="module")
def counted(desk: Desk) -> list[Counter[str]]:
    return [Counter(desk.tools.analyser.terms(text)) for text in desk.items]


def exact(desk: Desk, counted: list[Counter[str]]) -> dict[int, float]:
    """BM25 by its definition, document by document."""
    lengths = [sum(terms.values()) for terms in counted]
    mean = sum(lengths) / len(lengths)
    holders = {term: sum(term in terms for terms in counted) for term, _ in desk.query.terms}
    scores: dict[int, float] = {}
    for row, (terms, length) in enumerate(zip(counted, lengths, strict=True)):
        for term, _ in desk.query.terms:
            if times := terms[term]:
                rare = math.log(1 + (len(counted) - holders[term] + 0.5) / (holders[term] + 0.5))
                pays = times * (K1 + 1) / (times + K1 * (1 - B + B * length / mean))
                scores[row] = scores.get(row, 0.0) + rare * pays
    return scores


def test_lexical(benchmark: BenchmarkFixture, desk: Desk, counted: list[Counter[str]]) -> None:
    stage = Lexical(depth=DEPTH, k1=K1, b=B, fields={"text": 1.0})
    found = benchmark(stage.search, desk.view, desk.query, desk.tools)
    twin = exact(desk, counted)
    best = sorted(twin, key=lambda row: -twin[row])[:10]
    assert {*found.ordinals.tolist()[:10]} == {*best}


def test_every_document(benchmark: BenchmarkFixture, desk: Desk, counted: list[Counter[str]]) -> None:
    assert benchmark(exact, desk, counted)
