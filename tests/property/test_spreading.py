"""The two channels that follow edges, against a twin in plain Python on random small banks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.columns import meets, proximity
from simonides.recall.channels.graph import LinkExpansion
from simonides.recall.channels.temporal import Temporal
from simonides.records.interval import Interval
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.records.candidate import Ranking
    from simonides.records.memory import Memory

NAMES = "ABCD"
MOST = 9
EAST = np.array([1.0, 0.0], np.float32)
TIME = Interval(0, 100)
DIRECTIONS = [None, [1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-1.0, 0.0]]


@dataclass(frozen=True)
class Bank:
    """What a view is made of."""

    memories: list[Memory]
    entities: list[set[str]]
    vectors: list[list[float] | None]
    links: list[tuple[int, int, str, float]]
    visible: list[bool]
    eligible: list[bool]

    def view(self, **changes: Any) -> FakeView:
        parts = {
            "entities": self.entities,
            "vectors": self.vectors,
            "links": self.links,
            "visible": self.visible,
            "eligible": self.eligible,
            **changes,
        }
        return FakeView.of(self.memories, **parts)


@st.composite
def banks(draw: st.DrawFn) -> Bank:
    size = draw(st.integers(1, MOST))
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(
        lambda pair: pair[0] < pair[1]
    )
    kinds = st.sampled_from(["semantic", "causal", "temporal", "session"])
    weights = st.sampled_from([0.0, 0.25, 0.7, 0.8, 1.0])
    links = draw(st.dictionaries(st.tuples(ends, kinds), weights, max_size=8)) if size > 1 else {}

    def each(strategy: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(strategy, min_size=size, max_size=size))

    moments = each(st.sampled_from([None, -5, 0, 20, 50, 99, 100]))
    return Bank(
        memories=[
            fake_memory(f"m{n}", occurred=None if moment is None else Interval(moment, moment))
            for n, moment in enumerate(moments)
        ],
        entities=each(st.sets(st.sampled_from(NAMES), max_size=3)),
        vectors=[[1.0, 0.0], *each(st.sampled_from(DIRECTIONS))[1:]],
        links=[(one, other, kind, weight) for ((one, other), kind), weight in links.items()],
        visible=each(st.booleans() | st.just(True)),
        eligible=each(st.booleans() | st.just(True)),
    )


def pairs(ranking: Ranking) -> list[tuple[int, float]]:
    return list(zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True))


def best(scored: dict[int, float], room: int | None = None) -> list[tuple[int, float]]:
    return sorted(scored.items(), key=lambda pair: (-pair[1], f"m{pair[0]}"))[:room]


def edges(bank: Bank, row: int) -> list[tuple[int, str, float]]:
    """What a row is linked to, as far as both ends are visible."""
    both = [*bank.links, *((other, one, kind, weight) for one, other, kind, weight in bank.links)]
    return [
        (other, kind, weight)
        for one, other, kind, weight in both
        if one == row and bank.visible[one] and bank.visible[other]
    ]


def expanded(bank: Bank, asked: set[str], stage: LinkExpansion, depth: int) -> list[tuple[int, float]]:
    """The definition of link expansion, row by row."""
    rows = [row for row in range(len(bank.memories)) if bank.visible[row]]

    def score(row: int, sources: list[int], known: set[str]) -> float:
        shared = {
            name
            for name in bank.entities[row]
            if name in known or any(name in bank.entities[source] for source in sources if source != row)
        }
        total = math.tanh(stage.entity_scale * len(shared))
        for kind in ("semantic", "causal"):
            ties = [w for s in sources for other, k, w in edges(bank, s) if other == row and k == kind]
            total += max(ties, default=0.0)
        return round(total, 9)

    def reaches(row: int, sources: list[int], known: set[str]) -> bool:
        names = known.union(*(bank.entities[source] for source in sources))
        tied = any(
            other == row and kind in {"semantic", "causal"}
            for s in sources
            for other, kind, _ in edges(bank, s)
        )
        return tied or bool(names & bank.entities[row])

    cosines = {
        row: round(float(np.dot(EAST, vector)), 9)
        for row in rows
        if bank.eligible[row] and (vector := bank.vectors[row]) is not None
    }
    alike = {row: cosine for row, cosine in cosines.items() if cosine >= stage.seed_similarity}
    seeds = [row for row, _ in best(alike, min(stage.seeds, depth // 2))]
    visited = {row: score(row, seeds, asked) for row in seeds}
    sources, known, factor = seeds, asked, 1.0
    while len(visited) < depth:
        reached = {
            row: round(score(row, sources, known) * factor, 9)
            for row in rows
            if row not in visited and reaches(row, sources, known)
        }
        new = best(reached, depth - len(visited))
        if not new:
            break
        visited |= dict(new)
        sources, known, factor = [row for row, _ in new], set(), factor * stage.hop_factor
    return best({row: value for row, value in visited.items() if bank.eligible[row] and value > 0})


def spread(bank: Bank, stage: Temporal, depth: int, *, vectors: bool) -> list[tuple[int, float]]:
    """The definition of the temporal channel, row by row."""
    scored: dict[int, float] = {}
    for row, memory in enumerate(bank.memories):
        if not (bank.visible[row] and bank.eligible[row]) or memory.occurred is None:
            continue
        first, last = np.array([memory.occurred.start]), np.array([memory.occurred.end])
        vector = bank.vectors[row]
        if not meets(first, last, TIME)[0] or (vectors and vector is None):
            continue
        near = proximity(first, last, TIME)[0]
        scored[row] = round(float(np.dot(EAST, vector) if vectors and vector is not None else near), 9)
    visited = dict(best(scored, depth))
    frontier = dict(visited)
    while frontier and len(visited) < depth and stage.link_factor:
        handed: dict[int, float] = {}
        for row, value in frontier.items():
            for other, _, weight in edges(bank, row):
                given_on = value * weight * stage.link_factor
                if other not in visited and given_on > 0:
                    handed[other] = max(handed.get(other, 0.0), round(given_on, 9))
        frontier = dict(best(handed, depth - len(visited)))
        visited |= frontier
    return best({row: value for row, value in visited.items() if bank.eligible[row]})


@pytest.mark.spec("HI-03")
@given(bank=banks(), asked=st.sets(st.sampled_from(NAMES), max_size=2), depth=st.integers(1, MOST + 1))
def test_link_expansion_is_its_definition(bank: Bank, asked: set[str], depth: int) -> None:
    stage = LinkExpansion(
        depth=depth, seeds=2, seed_similarity=0.5, rescore=99, entity_scale=0.5, hop_factor=0.5
    )
    view = bank.view()
    entities = tuple(view.names[name] for name in sorted(asked) if name in view.names)
    ranking = stage.search(view, fake_query("q", vector=EAST, entities=entities), fake_tools())

    expected = expanded(bank, asked, stage, depth)

    assert [row for row, _ in pairs(ranking)] == [row for row, _ in expected]
    assert [score for _, score in pairs(ranking)] == pytest.approx([s for _, s in expected], abs=2e-9)
    assert len(ranking) <= depth
    assert all(0 < score <= 3 for score in ranking.scores.tolist())


@pytest.mark.spec("HI-02")
@given(bank=banks(), depth=st.integers(1, MOST + 1), vectors=st.booleans())
def test_the_temporal_channel_is_its_definition(bank: Bank, depth: int, vectors: bool) -> None:
    stage = Temporal(depth=depth, rescore=99, link_factor=0.5)
    query = fake_query("q", vector=EAST if vectors else None, time=TIME)

    ranking = stage.search(bank.view(), query, fake_tools())

    expected = spread(bank, stage, depth, vectors=vectors)
    assert [row for row, _ in pairs(ranking)] == [row for row, _ in expected]
    assert [score for _, score in pairs(ranking)] == pytest.approx([s for _, s in expected], abs=2e-9)


@given(bank=banks(), depth=st.integers(1, MOST + 1), data=st.data())
def test_what_others_wrote_changes_no_score(bank: Bank, depth: int, data: st.DataObject) -> None:
    """Hidden rows may hold any entities and links: to the asker they are as if they were not there."""
    hidden = [row for row, seen in enumerate(bank.visible) if not seen]
    entities = [
        data.draw(st.sets(st.sampled_from(NAMES))) if row in hidden else named
        for row, named in enumerate(bank.entities)
    ]
    # Names are numbered by what the bank holds: every name stays known, so that numbers stay the same.
    everything = fake_memory("all")
    base = replace(
        bank,
        memories=[*bank.memories, everything],
        vectors=[*bank.vectors, None],
        visible=[*bank.visible, False],
        eligible=[*bank.eligible, True],
        entities=[*bank.entities, set(NAMES)],
    )
    changed = replace(
        base,
        entities=[*entities, set(NAMES)],
        links=[link for link in base.links if not {link[0], link[1]} & {*hidden}],
    )
    query = fake_query("q", vector=EAST, entities=(1,), time=TIME)
    for stage in (
        LinkExpansion(
            depth=depth, seeds=2, seed_similarity=0.5, rescore=99, entity_scale=0.5, hop_factor=0.5
        ),
        Temporal(depth=depth, rescore=99, link_factor=0.5),
    ):
        one = stage.search(base.view(), query, fake_tools())
        other = stage.search(changed.view(), query, fake_tools())
        assert pairs(one) == pairs(other)
