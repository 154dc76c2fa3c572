"""What every stage must do, as checks that the author of a plug-in calls from a test.

    from simonides.testing.conformance import check_channel

    def test_it_is_a_channel():
        check_channel(NewestFirst(depth=10))

Each check builds small banks of invented memories, runs the stage on them and raises ``AssertionError`` with
what it did wrong. They need no model and no network.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.protocols import Tools
from simonides.records.candidate import Candidate, Ranking
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, WordAnalyser, WordCounter, fake_memory, fake_query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simonides.protocols import Channel, Fuser, Packer, Refiner, Understander
    from simonides.records.query import Query

TEXTS = (
    "the pump of the dinghy leaks",
    "Odalys ordered jasmine tea",
    "the harbour gate opens at seven",
    "Odalys oiled the hinge of the gate",
    "a new pump came on Tuesday",
    "the tea of the harbour master",
)
"""What the invented banks hold."""

HIDDEN = ("the pump is a secret", "Odalys hid the tea at the gate")
"""What one of them holds besides, readable by somebody else only."""

_QUESTIONS = ("who ordered the pump", "tea at the gate", "???")
_EMBEDDER = StubEmbedder(dimension=16)


def check_understander(stage: Understander) -> None:
    """It adds to the query and takes nothing away, says the same each time, and bears an empty bank."""
    for view in (_bank(), _bank(texts=())):
        for query in _queries():
            once, again = (stage.understand(view, query, _tools()) for _ in range(2))
            assert _told(once) == _told(again), f"two runs understood {query.text!r} differently"
            assert once.text == query.text, f"the caller's words {query.text!r} became {once.text!r}"
            assert once.notes[: len(query.notes)] == query.notes, "notes of earlier stages are gone"


def check_channel(stage: Channel) -> None:
    """It finds eligible rows only, in the total order, the same each time, whatever others hold."""
    for query in _queries():
        ranking = stage.search(_bank(), query, _tools())
        _check_ranking(ranking, _bank(), query)
        _same(ranking, stage.search(_bank(), query, _tools()), f"two runs differ for {query.text!r}")
        _same(
            ranking,
            stage.search(_bank(hidden=HIDDEN), query, _tools()),
            f"rows that the view does not see changed the answer to {query.text!r}",
        )
        few = _bank(eligible=[True, False] * 3)
        _check_ranking(stage.search(few, query, _tools()), few, query)
        assert not len(stage.search(_bank(texts=()), query, _tools())), "an empty bank has a hit"
        bare = replace(query, vector=None, terms=())
        _check_ranking(stage.search(_bank(), bare, _tools()), _bank(), bare)


def check_fuser(stage: Fuser) -> None:
    """It keeps every memory once, keeps ranks and scores of the channels, and bears empty rankings."""
    view, query = _bank(), _queries()[0]
    rankings = {"dense": _ranking([0, 3, 4]), "lexical": _ranking([3, 1]), "temporal": _ranking([])}
    pool = stage.fuse(view, query, rankings)
    _check_pool(pool, view)
    assert {each.ordinal for each in pool} == {0, 1, 3, 4}, "a memory that a channel found is missing"
    assert pool == stage.fuse(view, query, rankings), "two runs differ"
    for each in pool:
        for name, ranking in rankings.items():
            places = ranking.ordinals.tolist()
            rank = places.index(each.ordinal) + 1 if each.ordinal in places else None
            assert each.ranks.get(name) == rank, f"memory {each.ordinal} lost its rank in {name}"
    assert stage.fuse(view, query, {}) == (), "no ranking makes no pool"


def check_refiner(stage: Refiner) -> None:
    """Its pool is made of eligible rows, each once, the same each time; it bears an empty pool."""
    for query in _queries():
        view = _bank()
        pool = _pool(range(len(TEXTS)))
        once = stage.refine(view, query, pool, _tools())
        _check_pool(once.pool, view)
        assert once == stage.refine(_bank(), query, pool, _tools()), f"two runs differ for {query.text!r}"
        seen = stage.refine(_bank(hidden=HIDDEN), query, pool, _tools())
        assert once == seen, "rows that the view does not see changed the pool"
        few = _bank(eligible=[True, False] * 3)
        _check_pool(stage.refine(few, query, _pool([0, 2, 4]), _tools()).pool, few)
        _check_pool(stage.refine(view, query, (), _tools()).pool, view)


def check_packer(stage: Packer) -> None:
    """What it packs as rendered stays inside the budget, in rank order, whatever others hold.

    It bears an empty pool, and prints nothing that the view does not see.
    """
    tools = _tools()
    for budget in (0, 5, 12, 1_000):
        query = replace(_queries()[0], max_tokens=budget)
        packed = stage.pack(_bank(), query, _pool(range(len(TEXTS))), tools)
        assert tools.tokens.count(packed.context) <= budget, f"the context is above {budget} tokens"
        ranks = [hit.rank for hit in packed.hits]
        assert ranks == list(range(1, len(ranks) + 1)), f"ranks are {ranks}"
        again = stage.pack(_bank(), query, _pool(range(len(TEXTS))), tools)
        assert packed == again, "two runs differ"
        seen = stage.pack(_bank(hidden=HIDDEN), query, _pool(range(len(TEXTS))), tools)
        printed = seen.context + "".join(chunk.text for chunk in seen.chunks)
        assert not any(text in printed for text in HIDDEN), "a row that the view does not see is printed"
        assert packed == seen, "rows that the view does not see changed what is packed"
    assert stage.pack(_bank(), _queries()[0], (), tools).hits == (), "an empty pool has a hit"


def _bank(
    texts: Sequence[str] = TEXTS, *, hidden: Sequence[str] = (), eligible: Sequence[bool] | None = None
) -> FakeView:
    every = [*texts, *hidden]
    return FakeView.of(
        [fake_memory(text, path=f"p{place}") for place, text in enumerate(every)],
        vectors=[_EMBEDDER.encode_query(text).tolist() for text in every],
        visible=[True] * len(texts) + [False] * len(hidden),
        eligible=None if eligible is None else [*eligible, *[False] * len(hidden)],
    )


def _queries() -> list[Query]:
    words = WordAnalyser()
    return [
        replace(
            fake_query(text),
            terms=tuple((term, 1) for term in dict.fromkeys(words.query_terms(text))),
            vector=_EMBEDDER.encode_query(text),
        )
        for text in _QUESTIONS
    ]


def _tools() -> Tools:
    return Tools(WordAnalyser(), _EMBEDDER, WordCounter(), random.Random(0))  # noqa: S311 not for secrets


def _pool(ordinals: Sequence[int] | range) -> tuple[Candidate, ...]:
    return tuple(Candidate(o, 1 - place / 10, "test") for place, o in enumerate(ordinals))


def _ranking(ordinals: Sequence[int]) -> Ranking:
    return Ranking(np.array(ordinals, np.int64), np.linspace(0.9, 0.1, len(ordinals)))


def _check_ranking(ranking: Ranking, view: FakeView, query: Query) -> None:
    rows, scores = ranking.ordinals.tolist(), ranking.scores.tolist()
    assert len(rows) == len(set(rows)), f"a memory stands twice in the ranking for {query.text!r}"
    hidden = [row for row in rows if not view.eligible[row]]
    assert not hidden, f"rows {hidden} are not eligible; take results from view.eligible"
    assert all(np.isfinite(scores)), "a score is no number"
    ordered = view.ranking(ranking.ordinals, ranking.scores, None)
    assert ordered.ordinals.tolist() == rows, "not in the total order; end with view.ranking"
    assert scores == [round(score, 9) for score in scores], "scores are not rounded to 1e-9"


def _check_pool(pool: Sequence[Candidate], view: FakeView) -> None:
    rows = [each.ordinal for each in pool]
    assert len(rows) == len(set(rows)), "a memory stands twice in the pool"
    hidden = [row for row in rows if not view.eligible[row]]
    assert not hidden, f"rows {hidden} are not eligible"


def _same(one: Ranking, other: Ranking, problem: str) -> None:
    pairs: Mapping[int, float] = dict(zip(one.ordinals.tolist(), one.scores.tolist(), strict=True))
    again = dict(zip(other.ordinals.tolist(), other.scores.tolist(), strict=True))
    assert list(pairs.items()) == list(again.items()), problem


def _told(query: Query) -> tuple[object, ...]:
    vector = None if query.vector is None else query.vector.tobytes()
    return query.terms, vector, query.notes, query.entities, query.time, query.intent, query.skip
