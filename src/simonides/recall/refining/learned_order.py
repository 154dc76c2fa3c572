"""Puts the head of the pool in the order of a small forest of decision trees over signals that exist already.

    score(m) = (score(m) + 0.05) · e^(forest(m) / start) − 0.05

The forest was trained to correct the order that it finds (LambdaMART; its start was ``start`` · ln(score +
0.05)), so where it says nothing the order stays. It was trained for one embedder, on the data that its file
names; with any other embedder, or none, the order stays as it is. A memory that holds no word of the query
never passes one that holds all of them (DF-05).
Cost: the postings of the query's terms, the cosines of the head and of the turns beside it; 0.5 ms for the
forest.
Source: Burges, From RankNet to LambdaRank to LambdaMART (2010); evaluation after Lucchese et al.,
QuickScorer (2015). Numbers and data: docs/guide/quality.md.
Weakness: it knows the kinds of text that it was trained on, chats and passages.
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
from simonides.recall.refining.pool import by_score, ordinals_of
from simonides.recall.refining.rerankers import LATE_INTERACTION_SIGNAL
from simonides.recall.rounding import rounded
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

_TOP = 5
_EXPLAINED = 5
_WHEN = ("when", "how long", "what date", "what day")


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
        if len(head) < 2 or not has_vectors(view, query):
            return Refined(pool)
        forest = forest_of(tools.embedder.name if tools.embedder else "")
        if forest is None:
            return Refined(pool)
        found = collect_features(view, query, head)
        rows = matrix(found, forest.features)
        factors = np.exp(forest.scores(rows) / forest.start)
        scores = (np.array([max(0.0, each.score) for each in head]) + FLOOR) * factors - FLOOR
        if len(tail):
            # What was not looked at stays behind.
            scores = np.maximum(scores, tail[0].score)
        scores = _bounded(scores, found["coverage"])
        scored = [
            each.with_signals(score, SCORED_BY, {SIGNAL: round(factor, 6)})
            for each, score, factor in zip(head, rounded(scores.tolist()), factors.tolist(), strict=True)
        ]
        ordered = by_score(view, scored)
        return Refined(ordered + tail, notes=_notes(forest, rows, head, ordered))


def _bounded(scores: NDArray[np.float64], coverage: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores by which nothing of coverage 0 stands before anything of coverage 1 that it stood behind."""
    whole, none = coverage == 1.0, coverage == 0.0
    if not whole.any() or not none.any():
        return scores
    bounded = scores.copy()
    for place in np.flatnonzero(none).tolist():
        before = scores[:place][whole[:place]]
        if len(before):
            # A hair below: equal scores would be ordered by their paths.
            bounded[place] = min(bounded[place], float(before.min()) - 1e-6)
    return bounded


def _notes(
    forest: Forest, rows: NDArray[np.float64], head: Sequence[Candidate], ordered: Sequence[Candidate]
) -> dict[int, str]:
    """Why each of the first hits that rose did so: the features that raised it most against a usual one."""
    was = {candidate.ordinal: place for place, candidate in enumerate(head)}
    rose = [
        (candidate.ordinal, was[candidate.ordinal], place)
        for place, candidate in enumerate(ordered[:_EXPLAINED])
        if was[candidate.ordinal] > place
    ]
    if not rose:
        return {}
    usual = np.median(rows, axis=0)
    count = len(forest.features)
    changed = np.repeat(rows[[place for _, place, _ in rose]], count, axis=0)
    columns = np.tile(np.arange(count), len(rose))
    changed[np.arange(len(changed)), columns] = usual[columns]
    whole = np.repeat(forest.scores(rows[[place for _, place, _ in rose]]), count)
    gains = (whole - forest.scores(changed)).round(9).reshape(len(rose), count)
    notes = {}
    for (ordinal, before, after), gain in zip(rose, gains, strict=True):
        best = [place for place in np.argsort(-gain, kind="stable")[:2].tolist() if gain[place] > 0]
        by = ", ".join(forest.features[place] for place in best)
        notes[ordinal] = f"rose from {before + 1} to {after + 1}" + (f" by {by}" if by else "")
    return notes


def has_vectors(view: View, query: Query) -> bool:
    """Whether the query and the bank have vectors that can be compared."""
    return query.vector is not None and view.snapshot.vectors.dimension == len(query.vector)


def matrix(found: Mapping[str, NDArray[np.float64]], names: Sequence[str]) -> NDArray[np.float64]:
    """The features *names* as columns, rounded to 1e-6, so that no last bit of a sum decides.

    Returns:
        float64, shape (candidates, len(names)).
    """
    return np.stack([found[name] for name in names], axis=1).round(6)


def collect_features(view: View, query: Query, head: Sequence[Candidate]) -> dict[str, NDArray[np.float64]]:
    """By name, one value for each of *head*, which is not empty, of a query with a vector.

        rank, ratio             ln of the rank; ln of the score as a share of the best one's
        fused, late, graph, neighbour, prior, asked_speaker
                                what earlier stages left as signals; 0 = nothing
        lexical                 the score of the word channel as a share of the best one's
        coverage, coverage_text idf-weighed share of the query's terms that any field, or the text, holds
        rare, rare_text         of the rarest term held: 1 where one visible row holds it, 0 where all do
        terms, seen             ln(1 + terms of the query), and the share of them that any visible row holds
        words, dated            ln(1 + words of the text); whether it is known when it happened
        when                    whether the query asks for a time
        entities                share of the query's entities that it mentions
        cosine, cosine_z, cosine_rank
                                with the query; less the mean of the head, by its deviation; ln of the rank
        late_z, late_rank       the same of the late interaction
        like_first              cosine with the mean of the first five
        cosine_before, cosine_after
                                of the turns beside it in the conversation; 0 = none

    Returns:
        float64, shape (len(head),), each.
    """
    assert query.vector is not None
    count = len(head)
    ordinals = ordinals_of(head)
    scores = np.array([max(0.0, each.score) for each in head], np.float64)
    late = _signal(head, LATE_INTERACTION_SIGNAL)
    lexical = np.array([each.channel_scores.get("lexical", 0.0) for each in head], np.float64)
    occurred = view.column("occurred_from", ordinals) < view.column("occurred_to", ordinals)
    cosines = view.cosines(query.vector, ordinals)
    vectors = view.vectors(ordinals).astype(np.float64)
    centre = vectors[:_TOP].mean(axis=0)
    before, after = _beside(view, ordinals)
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
        **_words(view, query, ordinals),
        "words": np.log1p(view.column("words", ordinals).astype(np.float64)),
        "dated": occurred.astype(np.float64),
        "when": np.full(count, float(query.text.casefold().startswith(_WHEN))),
        "entities": _entities(view, query, ordinals),
        "cosine": cosines,
        "cosine_z": _standard(cosines),
        "cosine_rank": _log_ranks(cosines),
        "late_z": _standard(late),
        "late_rank": _log_ranks(late),
        "like_first": vectors @ centre / (math.sqrt(float(centre @ centre)) + 1e-9),
        "cosine_before": _cosines_at(view, query.vector, before),
        "cosine_after": _cosines_at(view, query.vector, after),
    }


def _signal(head: Sequence[Candidate], name: str) -> NDArray[np.float64]:
    return np.array([each.signals.get(name, 0.0) for each in head], np.float64)


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    standard: NDArray[np.float64] = (values - values.mean()) / (values.std() + 1e-6)
    return standard


def _log_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of the ranks, the highest value 1, equal ones alike."""
    higher: NDArray[np.float64] = np.log1p(np.searchsorted(np.sort(-values), -values, side="left"))
    return higher


def _beside(view: View, ordinals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The turn before and the one after in the conversation; −1 = none that is seen."""
    before, after = np.full(len(ordinals), -1, np.int64), np.full(len(ordinals), -1, np.int64)
    places = {ordinal: place for place, ordinal in enumerate(ordinals.tolist())}
    links = view.links(ordinals)
    links = links.keep(links.kinds == LINK_CODES["session"])
    for first, second in zip(links.first.tolist(), links.second.tolist(), strict=True):
        place = places[first]
        if second < first:
            before[place] = max(before[place], second)
        elif after[place] < 0 or second < after[place]:
            after[place] = second
    return before, after


def _cosines_at(view: View, vector: NDArray[np.float32], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(ordinals >= 0, view.cosines(vector, np.maximum(ordinals, 0)), 0.0)


def _entities(view: View, query: Query, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    if not query.entities:
        return np.zeros(len(ordinals))
    edges = view.mentions(ordinals)
    named = edges.first[np.isin(edges.second, np.array(query.entities, np.int64))].tolist()
    return np.array([named.count(each) / len(query.entities) for each in ordinals.tolist()], np.float64)


def _words(view: View, query: Query, ordinals: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    count = len(ordinals)
    if not query.terms:
        names = ("coverage", "coverage_text", "rare", "rare_text", "terms", "seen")
        return {name: np.zeros(count) for name in names}
    terms = [term for term, _ in query.terms]
    frequencies, idf, held = held_terms(view, query, ordinals)
    _, in_text = view.snapshot.postings.held(terms, view.visible, ordinals, fields=("text",))
    rows = int(np.count_nonzero(view.visible))
    seen = frequencies > 0
    rarity = np.where(seen, 1.0 - np.log(np.maximum(frequencies, 1)) / math.log(max(2, rows)), 0.0)
    return {
        "coverage": covered(idf, held),
        "coverage_text": covered(idf, in_text),
        "rare": (held * rarity[:, np.newaxis]).max(axis=0),
        "rare_text": (in_text * rarity[:, np.newaxis]).max(axis=0),
        "terms": np.full(count, math.log1p(len(terms))),
        "seen": np.full(count, float(np.mean(seen))),
    }
