"""Puts the head of the pool in the order of a small forest of decision trees over signals that exist already.

    score(m) = (score(m) + 0.05) · e^((forest(m) − median of the head) / start) − 0.05

The forest was trained to correct the order that it finds (LambdaMART, which began at ``start`` · ln(score +
0.05)); where it says the same of all, the order stays. It orders conversations, on which it was trained: a
pool of which less than half are turns beside other turns stays as it is. So does one that a reranker has
read, and every pool under another embedder, or none, since the forest belongs to one. A memory that holds no
word of the query never passes one that holds all of them (DF-05). Scores of the head are made to fall
strictly, so ties keep the order before.
Cost: 2 ms for 100 memories, of which the forest takes 0.3.
Source: Burges, From RankNet to LambdaRank to LambdaMART (2010); evaluation after Lucchese et al.,
QuickScorer (2015). Data and numbers: docs/profiles/default.md.
Weakness: everybody writes well in the conversations that it was trained on.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.fusion import covered, held_terms
from simonides.recall.refining.boosts import ASKED_SPEAKER_SIGNAL, BOUNDED_PRIORS_SIGNAL
from simonides.recall.refining.graph import GRAPH_RANK_SIGNAL, NEIGHBOURS_SIGNAL
from simonides.recall.refining.pool import ordinals_of
from simonides.recall.refining.relevance import has_vectors, word_signals
from simonides.recall.refining.rerankers import (
    CROSS_ENCODER_SIGNAL,
    LATE_INTERACTION_SIGNAL,
    LLM_JUDGE_SIGNAL,
)
from simonides.records.candidate import FUSED
from simonides.records.edges import LINK_CODES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query

SCORED_BY = SIGNAL = "learned_order"
FILE = "learned_order.json"
LEAVES = 8
"""Of a tree, at most: one bit each of a byte."""

FLOOR = 0.05
"""Added to a score before its logarithm is taken, so that a score of 0 has one."""

_STEP = 1e-9
"""The least difference of two scores that follow each other."""

_CENTRE = 5
"""How many of the first memories stand for what the answer is like."""

_EXPLAINED = 3
"""Of how many of the first memories it is said why they rose."""

_READ = frozenset({CROSS_ENCODER_SIGNAL, LLM_JUDGE_SIGNAL})


@dataclass(frozen=True, slots=True)
class Forest:
    """Regression trees of eight leaves at most, in the form of QuickScorer.

    Each tree begins with the byte 255, one bit for each leaf from the left. A node whose feature exceeds its
    threshold clears the leaves on its left; the lowest bit that is left is the leaf.

    Attributes:
        features: names, in the order of the columns.
        start: what ln(score + FLOOR) was multiplied by before the first tree, above 0.
        column: uint8, shape (trees, 7): the feature of each node.
        threshold: float64, shape (trees, 7); infinite = no node.
        mask: uint8, shape (trees, 7): the leaves that stay.
        value: float64, shape (trees, 8), of each leaf.
    """

    features: tuple[str, ...]
    start: float
    column: NDArray[np.uint8]
    threshold: NDArray[np.float64]
    mask: NDArray[np.uint8]
    value: NDArray[np.float64]

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Forest:
        """A forest from the form that ``to_dict`` gives."""
        trees = stored["trees"]
        shape = (len(trees), LEAVES - 1)
        column, mask = np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8)
        threshold, value = np.full(shape, np.inf), np.zeros((len(trees), LEAVES))
        for place, tree in enumerate(trees):
            nodes = len(tree["column"])
            column[place, :nodes], mask[place, :nodes] = tree["column"], tree["mask"]
            threshold[place, :nodes] = tree["threshold"]
            value[place, : len(tree["value"])] = tree["value"]
        return cls(tuple(stored["features"]), float(stored["start"]), column, threshold, mask, value)

    def scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the leaves that each row reaches.

        Args:
            rows: float64, shape (n, len(features)).

        Returns:
            float64, shape (n,).
        """
        above = rows[:, self.column.ravel()] > self.threshold.ravel()
        left = np.where(above, self.mask.ravel(), np.uint8(255)).reshape(len(rows), *self.column.shape)
        leaf = _LOWEST_BIT[np.bitwise_and.reduce(left, axis=2)]
        found: NDArray[np.float64] = self.value[np.arange(len(self.value)), leaf].sum(axis=1)
        return found


_LOWEST_BIT = np.array([0, *((byte & -byte).bit_length() - 1 for byte in range(1, 256))], np.uint8)


@cache
def forest_of(name: str) -> Forest | None:
    """The forest that was trained for the embedder *name*; ``None`` = there is none."""
    stored = json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))["forests"].get(name)
    return None if stored is None else Forest.read(stored)


@dataclass(frozen=True, slots=True)
class LearnedOrder:
    """Refiner.

    Attributes:
        depth: candidates that are put in order, best first, from 2; the rest follows as it was.
    """

    depth: int

    def __post_init__(self) -> None:
        if self.depth < 2:
            raise InputError("depth", f"{self.depth} is below 2; to drop the stage, leave it out")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The pool by its new scores; each of the head carries its factor as ``learned_order``."""
        head, tail = pool[: self.depth], pool[self.depth :]
        forest = forest_of(tools.embedder.name) if tools.embedder and len(head) > 1 else None
        if forest is None or not has_vectors(view, query):
            return Refined(pool)
        if any(not _READ.isdisjoint(each.signals) for each in head):
            return Refined(pool)
        beside = turns_beside(view, ordinals_of(head))
        if 2 * np.count_nonzero((beside >= 0).any(axis=0)) < len(head):
            return Refined(pool)
        found = collect_features(view, query, head, beside)
        rows = matrix(found, forest.features)
        gains = forest.scores(rows)
        factors = np.exp((gains - np.median(gains)) / forest.start).round(6)
        scores = (np.array([max(0.0, each.score) for each in head]) + FLOOR) * factors - FLOOR
        order = bounded_order(scores, found["coverage"])
        falling = _falling(scores[order].tolist(), max(0.0, tail[0].score) if tail else 0.0)
        ordered = tuple(
            head[place].with_signals(score, SCORED_BY, {SIGNAL: float(factors[place])})
            for place, score in zip(order, falling, strict=True)
        )
        return Refined(ordered + tail, notes=_notes(forest, rows, head, order))


def bounded_order(scores: NDArray[np.float64], coverage: NDArray[np.float64]) -> list[int]:
    """Places by falling score, equal ones as they stand, within the bound of DF-05.

    What holds no word of the query comes after every memory that holds all of them and stood before it.

    Args:
        scores: float64, shape (n,).
        coverage: float64, shape (n,), in [0, 1]: the share of the query's words that each holds.
    """
    ordered: list[int] = []
    for place in np.argsort(-scores, kind="stable").tolist():
        if coverage[place] == 1.0:
            passed = (n for n, other in enumerate(ordered) if other > place and coverage[other] == 0.0)
            at = next(passed, None)
            ordered.insert(len(ordered) if at is None else at, place)
        else:
            ordered.append(place)
    return ordered


def _falling(scores: Sequence[float], above: float) -> list[float]:
    """The scores, best first, changed as little as makes each lower than the one before and above *above*."""
    count = len(scores)
    found: list[float] = []
    for place, score in enumerate(scores):
        least = above + (count - place) * _STEP
        most = found[-1] - _STEP if found else math.inf
        found.append(round(min(max(score, least), most), 9))
    return found


def _notes(
    forest: Forest, rows: NDArray[np.float64], head: Sequence[Candidate], order: Sequence[int]
) -> dict[int, str]:
    """For each of the first that rose, the two features by which it gained most against the head's median."""
    rose = [(was, now) for now, was in enumerate(order[:_EXPLAINED]) if was > now]
    if not rose:
        return {}
    count = len(forest.features)
    own = rows[[was for was, _ in rose]]
    changed = np.repeat(own, count, axis=0)
    columns = np.tile(np.arange(count), len(rose))
    changed[np.arange(len(changed)), columns] = np.median(rows, axis=0)[columns]
    gains = np.repeat(forest.scores(own), count) - forest.scores(changed)
    notes = {}
    for (was, now), gain in zip(rose, gains.round(9).reshape(len(rose), count), strict=True):
        best = [place for place in np.argsort(-gain, kind="stable")[:2].tolist() if gain[place] > 0]
        by = f" by {', '.join(forest.features[place] for place in best)}" if best else ""
        notes[head[was].ordinal] = f"rose from {was + 1} to {now + 1}{by}"
    return notes


def matrix(found: Mapping[str, NDArray[np.float64]], names: Sequence[str]) -> NDArray[np.float64]:
    """The features *names* as columns, rounded to 1e-6, so that no last bit of a sum decides.

    Returns:
        float64, shape (candidates, len(names)).
    """
    return np.stack([found[name] for name in names], axis=1).round(6)


def collect_features(
    view: View, query: Query, head: Sequence[Candidate], beside: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """By name, one value for each of *head*, which is not empty, of a query with a vector.

        rank, ratio             ln of the rank, from 0; ln of the score as a share of the best one's, to 0
        fused, late, graph, neighbour, prior, asked_speaker
                                what earlier stages left as signals; 0 = nothing
        lexical                 the score of the word channel as a share of the best one's, 0 to 1
        coverage, coverage_text idf-weighted share of the query's terms in any field, in the text, 0 to 1
        rare                    of the rarest term held: 1 where one visible row holds it, 0 where all do
        terms, unseen           ln(1 + terms of the query), and the share of them that no visible row holds
        words                   ln(1 + words of the text)
        entities                share of the query's entities that it mentions, 0 to 1
        cosine, cosine_z        with the query, −1 to 1; less the mean of the head, divided by its deviation
        late_z                  the same of the late interaction
        like_first              cosine with the mean of the first five
        cosine_before, cosine_after
                                with the query, of the turns beside it; 0 = none

    Args:
        head: best first.
        beside: as ``turns_beside`` gives it.

    Returns:
        float64, shape (len(head),), each.
    """
    assert query.vector is not None
    count = len(head)
    ordinals = ordinals_of(head)
    scores = np.array([max(0.0, each.score) for each in head], np.float64)
    late = _signal(head, LATE_INTERACTION_SIGNAL)
    lexical = np.array([each.channel_scores.get("lexical", 0.0) for each in head], np.float64)
    cosines = view.cosines(query.vector, ordinals)
    vectors = view.vectors(ordinals).astype(np.float64)
    centre = vectors[:_CENTRE].mean(axis=0)
    told = word_signals(view, query, ordinals)
    before, after = beside
    return {
        "rank": np.log(np.arange(1, count + 1, dtype=np.float64)),
        "ratio": np.log((scores + FLOOR) / (scores[0] + FLOOR)),
        "fused": _signal(head, FUSED),
        "late": late,
        "graph": _signal(head, GRAPH_RANK_SIGNAL),
        "neighbour": _signal(head, NEIGHBOURS_SIGNAL),
        "prior": _signal(head, BOUNDED_PRIORS_SIGNAL),
        "asked_speaker": _signal(head, ASKED_SPEAKER_SIGNAL),
        "lexical": lexical / max(float(lexical.max()), 1e-9),
        "coverage": told["coverage"],
        "coverage_text": _coverage_of_texts(view, query, ordinals),
        "rare": told["rare"],
        "terms": np.full(count, math.log1p(len(query.terms))),
        "unseen": told["unseen"],
        "words": np.log1p(view.column("words", ordinals).astype(np.float64)),
        "entities": _entities(view, query, ordinals),
        "cosine": cosines,
        "cosine_z": _standard(cosines),
        "late_z": _standard(late),
        "like_first": vectors @ centre / (math.sqrt(float(centre @ centre)) + 1e-9),
        "cosine_before": _cosines_at(view, query.vector, before),
        "cosine_after": _cosines_at(view, query.vector, after),
    }


def turns_beside(view: View, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
    """The turns before and after each row in its conversation, by when their first versions were stored.

    Returns:
        int64, shape (2, len(ordinals)): row ordinals; −1 = none that is visible.
    """
    found = np.full((2, len(ordinals)), -1, np.int64)
    places = {ordinal: place for place, ordinal in enumerate(ordinals.tolist())}
    links = view.links(ordinals)
    links = links.keep(links.kinds == LINK_CODES["session"])
    # A turn whose words were edited has a newer row, and keeps its root.
    roots = (view.column("root", rows).tolist() for rows in (links.first, links.second))
    nearest: dict[tuple[int, int], int] = {}
    for first, second, own, other in zip(links.first.tolist(), links.second.tolist(), *roots, strict=True):
        key = (int(other > own), places[first])
        if key not in nearest or abs(other - own) < nearest[key]:
            nearest[key] = abs(other - own)
            found[key] = second
    return found


def _signal(head: Sequence[Candidate], name: str) -> NDArray[np.float64]:
    return np.array([each.signals.get(name, 0.0) for each in head], np.float64)


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    standard: NDArray[np.float64] = (values - values.mean()) / (values.std() + 1e-6)
    return standard


def _cosines_at(view: View, vector: NDArray[np.float32], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(ordinals >= 0, view.cosines(vector, np.maximum(ordinals, 0)), 0.0)


def _entities(view: View, query: Query, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    if not query.entities:
        return np.zeros(len(ordinals))
    edges = view.mentions(ordinals)
    named = edges.first[np.isin(edges.second, np.array(query.entities, np.int64))].tolist()
    return np.array([named.count(each) / len(query.entities) for each in ordinals.tolist()], np.float64)


def _coverage_of_texts(view: View, query: Query, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    if not query.terms:
        return np.zeros(len(ordinals))
    _, idf, _ = held_terms(view, query, ordinals[:0])
    terms = [term for term, _ in query.terms]
    return covered(idf, view.snapshot.postings.held(terms, view.visible, ordinals, fields=("text",))[1])
