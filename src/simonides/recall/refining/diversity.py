"""Refiners that keep candidates from saying the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.index.vectors import products_of
from simonides.protocols import Refined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query


_SIGNATURE_LENGTH = 128
_MARGIN = 0.18
"""Five standard errors of the similarity that 128 numbers estimate, at 0.8: below that no text is read.

It is wide for higher thresholds; at lower ones it misses more (1.3 in 10⁵ at 0.5), but the bands more still.
"""

_MIXER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """Takes out memories that say again, in nearly the same words, what a better placed one says.

    Two memories are near duplicates when the Jaccard similarity of their terms (shared terms / all terms)
    reaches the threshold. Pairs are found by banding: the 128 numbers of a MinHash signature are cut into
    bands of rows, and two memories that agree on a whole band, and in enough numbers in all, are compared by
    their terms. So what is dropped is a near duplicate always, while one at similarity s is missed with
    probability (1 − s^rows)^bands (no band is shared) + P(Binomial(128, s) < 128 (threshold − 0.18)) (too few
    numbers are): for 32 bands of 4 at 0.8, 5 in 10⁸ + 1.4 in 10⁶. The pool is read best first; a memory stays
    unless it repeats one that stays.
    Cost: linear in the pool, plus the terms of the memories whose signatures are alike: under 1 ms for 160.
    Source: Broder, On the resemblance and containment of documents (1997); Indyk and Motwani, Approximate
    Nearest Neighbors (1998).
    Weakness: records that differ in one number alone are near duplicates, too; ``spare_numbers`` keeps those.

    Attributes:
        threshold: Jaccard similarity of the terms from which two memories count as one, above 0 to 1.
        bands, rows: how a signature is cut; their product is at most 128.
        spare_numbers: whether memories whose terms with digits differ are never duplicates.
    """

    threshold: float
    bands: int
    rows: int
    spare_numbers: bool

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise InputError("threshold", f"{self.threshold} is not above 0 and at most 1; 0.8 is usual")
        for name, value in (("bands", self.bands), ("rows", self.rows)):
            if value < 1:
                raise InputError(name, f"{value} is below 1")
        if self.bands * self.rows > _SIGNATURE_LENGTH:
            raise InputError(
                "bands",
                f"{self.bands} bands of {self.rows} rows need more than the {_SIGNATURE_LENGTH} numbers of a "
                "signature; lower one of them",
            )

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The pool in its order without the repeats."""
        if not pool:
            return Refined(pool)
        ordinals = [candidate.ordinal for candidate in pool]
        signatures = view.signatures(ordinals)
        least = self.threshold - _MARGIN
        partners = {
            place: alike
            for place, earlier in banded_pairs(signatures, self.bands, self.rows).items()
            if (alike := _alike(signatures, place, earlier, least))
        }
        wanted = sorted(set(partners).union(*partners.values()))
        memories = dict(zip(wanted, view.memories([ordinals[place] for place in wanted]), strict=True))
        terms = {place: frozenset(tools.analyser.terms(memory.text)) for place, memory in memories.items()}
        dropped: dict[int, str] = {}
        gone: set[int] = set()
        for place in sorted(partners):
            for earlier in sorted(partners[place] - gone):
                similarity = jaccard(terms[place], terms[earlier])
                if similarity >= self.threshold and not (
                    self.spare_numbers and _numbers(terms[place]) != _numbers(terms[earlier])
                ):
                    gone.add(place)
                    dropped[ordinals[place]] = (
                        f"says again what memory {memories[earlier].id} says, which is placed better: "
                        f"similarity {similarity:.3f}, dropped from {self.threshold:g}"
                    )
                    break
        kept = tuple(candidate for place, candidate in enumerate(pool) if place not in gone)
        return Refined(kept, dropped=dropped)


def banded_pairs(signatures: NDArray[np.uint32], bands: int, rows: int) -> Mapping[int, set[int]]:
    """For each place that has any, the earlier places that agree with it on at least one whole band.

    Args:
        signatures: uint32, shape (n, at least bands × rows).
        bands: how many parts a signature is cut into.
        rows: numbers of a part.
    """
    cut = signatures[:, : bands * rows].reshape(len(signatures), bands, rows)
    numbers = _one_number_each(cut)
    ordered = np.sort(numbers, axis=1)
    repeats = ordered[:, 1:] == ordered[:, :-1]
    partners: dict[int, set[int]] = {}
    for band in np.flatnonzero(repeats.any(axis=1)).tolist():
        for number in np.unique(ordered[band, 1:][repeats[band]]):
            # Bands that differ may have the same number.
            seen: dict[bytes, list[int]] = {}
            for place in np.flatnonzero(numbers[band] == number).tolist():
                same = seen.setdefault(cut[place, band].tobytes(), [])
                if same:
                    partners.setdefault(place, set()).update(same)
                same.append(place)
    return partners


def _one_number_each(cut: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Bands as one number each, the same for the same, shape (bands, n); *cut*: shape (n, bands, rows)."""
    numbers = cut[:, :, 0].astype(np.uint64)
    for row in range(1, cut.shape[2]):
        numbers *= _MIXER
        numbers += cut[:, :, row]
    return np.ascontiguousarray(numbers.T)


def _alike(signatures: NDArray[np.uint32], place: int, earlier: set[int], least: float) -> set[int]:
    """Those of *earlier* whose signatures agree with that at *place* in at least *least* of their numbers."""
    ones = sorted(earlier)
    shares = (signatures[ones] == signatures[place]).mean(axis=1)
    return {one for one, share in zip(ones, shares.tolist(), strict=True) if share >= least}


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared terms / all terms; two empty sets have nothing in common."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _numbers(terms: frozenset[str]) -> frozenset[str]:
    return frozenset(term for term in terms if any(character.isdigit() for character in term))


SIGNAL = "marginal_relevance"


@dataclass(frozen=True, slots=True)
class MarginalRelevance:
    """Chooses candidates one by one, each as relevant as possible and as unlike those chosen before.

    next = argmax over m not yet chosen of
           relevance_weight · score(m) − (1 − relevance_weight) · max over chosen c of cos(m, c)

    The score is the pool's own, on a scale of 0 to 1 such as the blend's; the cosine is between the memories'
    vectors, 0 where one has none; for the first choice the maximum is 0. With relevance_weight = 1 the order
    of the pool stays as it is. Equal values go to the better placed.
    Cost: the pool's vectors with one another once, then most × pool sums: under 1 ms for 160 candidates and
    50 choices.
    Source: Carbonell and Goldstein, The Use of MMR (1998).
    Weakness: on fused scores, which are far below 0.1, the cosines decide alone; scale the scores first.

    Attributes:
        relevance_weight: 1 = relevance only, 0 = after the first choice only unlikeness counts.
        most: candidates chosen at most, from 1; the others leave the pool.
    """

    relevance_weight: float
    most: int

    def __post_init__(self) -> None:
        if not 0 <= self.relevance_weight <= 1:
            raise InputError("relevance_weight", f"{self.relevance_weight} is not between 0 and 1")
        if self.most < 1:
            raise InputError("most", f"{self.most} is below 1; give how many candidates are chosen")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:  # noqa: ARG002 - the protocol's shape
        """The chosen ones in the order of choice; scores stay, and each carries what it was chosen by."""
        if not pool:
            return Refined(pool)
        ordinals = [candidate.ordinal for candidate in pool]
        vectors = view.vectors(np.array(ordinals, np.int64))
        scores = np.array([candidate.score for candidate in pool])
        chosen, values = choose(scores, cosine_table(vectors), self.relevance_weight, self.most)
        kept = tuple(
            pool[place].with_signals(pool[place].score, pool[place].scored_by, {SIGNAL: value})
            for place, value in zip(chosen, values, strict=True)
        )
        remedy = f"{len(chosen)} of {len(pool)} were chosen, the last at {values[-1]:.6f}"
        left = set(ordinals).difference([ordinals[place] for place in chosen])
        return Refined(kept, dropped=dict.fromkeys(sorted(left), f"was not chosen: {remedy}"))


def cosine_table(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosine of each row with each, float64, shape (n, n), rounded to 1e-9; 0 beside a zero row."""
    # In place where it can be: new pages for so large arrays cost more than what is reckoned in them.
    table: NDArray[np.float64] = products_of(vectors.astype(np.float64))
    lengths = np.sqrt(table.diagonal())
    lengths[lengths == 0.0] = 1.0
    table /= lengths
    table /= lengths[:, np.newaxis]
    return table.round(9, out=table)


def choose(
    scores: NDArray[np.float64], cosines: NDArray[np.float64], relevance_weight: float, most: int
) -> tuple[list[int], list[float]]:
    """Places in the order of choice, and the value of each when it was chosen, rounded to 1e-9.

    Args:
        scores: float64, shape (n,).
        cosines: float64, shape (n, n).
        relevance_weight: 0 to 1.
        most: how many are chosen at most.
    """
    # Each candidate's value beside each that may be chosen before it. Rounding keeps the order of numbers, so
    # the least of rounded values is what the greatest cosine gives.
    values = np.multiply(cosines, 1 - relevance_weight)
    np.subtract(relevance_weight * scores, values, out=values)
    values.round(9, out=values)
    marginal = (relevance_weight * scores).round(9)
    chosen: list[int] = []
    given: list[float] = []
    for _ in range(min(most, len(scores))):
        # The first of equal ones: the pool is in a total order.
        place = int(marginal.argmax())
        given.append(float(marginal[place]))
        if chosen:
            np.minimum(marginal, values[place], out=marginal)
        else:
            marginal = values[place].copy()
        chosen.append(place)
        marginal[place] = -np.inf
    return chosen, given
