"""Near duplicates, marginal relevance, blending and laying out against plain twins."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.packing.outside_in import outside_in
from simonides.recall.refining.boosts import SIGNALS, BoundedPriors
from simonides.recall.refining.diversity import (
    MarginalRelevance,
    NearDuplicates,
    banded_pairs,
    choose,
    cosine_table,
    jaccard,
)
from simonides.recall.refining.pool import min_max
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

WORDS = [f"w{n}" for n in range(40)]
BASE = st.lists(st.sampled_from(WORDS), min_size=12, max_size=30, unique=True)


@st.composite
def alike_texts(draw: Any) -> list[str]:
    """Texts of which some differ from another in a few words."""
    texts: list[list[str]] = []
    for _ in range(draw(st.integers(0, 6))):
        if texts and draw(st.booleans()):
            words = list(draw(st.sampled_from(texts)))
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(WORDS))
            texts.append(words)
        else:
            texts.append(draw(BASE))
    return [" ".join(words) for words in texts]


def left_of(texts: list[str], threshold: float) -> list[int]:
    view = FakeView.of([fake_memory(text, id=f"m{n}") for n, text in enumerate(texts)])
    pool = tuple(Candidate(n, 1.0, "blend") for n in range(len(texts)))
    stage = NearDuplicates(threshold, 32, 4, spare_numbers=False)
    return [candidate.ordinal for candidate in stage.refine(view, fake_query("q"), pool, fake_tools()).pool]


@pytest.mark.spec("HX-11")
@given(alike_texts(), st.sampled_from([0.5, 0.8, 0.85, 0.9, 1.0]))
def test_what_goes_repeats_a_better_placed_one_that_stays(texts: list[str], threshold: float) -> None:
    terms = [frozenset(text.split()) for text in texts]
    kept = left_of(texts, threshold)
    for place in set(range(len(texts))) - set(kept):
        assert any(jaccard(terms[place], terms[one]) >= threshold for one in kept if one < place)


@pytest.mark.spec("HX-11")
@given(alike_texts(), st.sampled_from([0.5, 0.8, 0.85, 0.9, 1.0]))
def test_of_what_stays_none_repeats_another_whose_signature_is_like_its_own(
    texts: list[str], threshold: float
) -> None:
    terms = [frozenset(text.split()) for text in texts]
    signatures = FakeView.of([fake_memory(text) for text in texts]).signatures(range(len(texts)))

    def told(one: int, other: int) -> bool:
        equal = signatures[one] == signatures[other]
        return bool(equal.reshape(32, 4).all(axis=1).any()) and equal.mean() >= threshold - 0.18

    exact: list[int] = []
    for place, mine in enumerate(terms):
        if not any(told(place, one) and jaccard(mine, terms[one]) >= threshold for one in exact):
            exact.append(place)
    assert left_of(texts, threshold) == exact


@pytest.mark.spec("HX-11")
def test_comparing_all_pairs_finds_no_more_of_many_pairs_at_the_threshold() -> None:
    # The share that is missed is 1.4 in a million, if the numbers of a signature are independent.
    texts = []
    for pair in range(300):
        common = [f"p{pair}w{n}" for n in range(16)]
        texts += [" ".join([*common, f"p{pair}{own}1", f"p{pair}{own}2"]) for own in "xy"]
    assert jaccard(frozenset(texts[0].split()), frozenset(texts[1].split())) == 0.8
    assert left_of(texts, 0.8) == list(range(0, len(texts), 2))


@pytest.mark.spec("HX-11")
@given(
    st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=9), st.integers(1, 3)
)
def test_banded_pairs_equal_those_of_the_definition(rows: list[list[int]], bands: int) -> None:
    width = 6 // bands
    cut = [[tuple(row[band * width :][:width]) for band in range(bands)] for row in rows]
    agree = {
        place: {one for one in range(place) if any(map(tuple.__eq__, cut[one], cut[place]))}
        for place in range(len(rows))
    }
    found = banded_pairs(np.array(rows, np.uint32), bands, width)
    assert found == {place: earlier for place, earlier in agree.items() if earlier}


VECTORS = st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=7)


@pytest.mark.spec("HX-12")
@given(VECTORS, st.floats(0, 1), st.integers(1, 8), st.data())
def test_choices_equal_those_of_the_definition(
    vectors: list[list[int]], weight: float, most: int, data: st.DataObject
) -> None:
    scores = data.draw(st.lists(st.floats(0, 1), min_size=len(vectors), max_size=len(vectors)))
    table = cosine_table(np.array(vectors, np.float32))
    chosen: list[int] = []
    values: list[float] = []
    while len(chosen) < min(most, len(scores)):

        def marginal(place: int) -> float:
            nearest = max((table[place][other] for other in chosen), default=0.0)
            return float(np.round(weight * scores[place] - (1 - weight) * nearest, 9))

        place = max((n for n in range(len(scores)) if n not in chosen), key=lambda n: (marginal(n), -n))
        values.append(marginal(place))
        chosen.append(place)
    assert choose(np.array(scores), table, weight, most) == (chosen, values)


@pytest.mark.spec("HX-12")
@given(VECTORS, st.integers(1, 8))
def test_relevance_alone_is_the_head_of_the_pool(vectors: list[list[int]], most: int) -> None:
    rows = [vector if any(vector) else None for vector in vectors]
    view = FakeView.of([fake_memory(f"m{n}") for n in range(len(rows))], vectors=rows)
    pool = tuple(Candidate(n, 1 - n / 10, "blend") for n in range(len(rows)))
    refined = MarginalRelevance(1.0, most).refine(view, fake_query("q"), pool, fake_tools())
    assert [candidate.ordinal for candidate in refined.pool] == list(range(len(rows)))[:most]


@pytest.mark.spec("HX-13")
@given(st.integers(0, 60))
def test_the_middle_is_the_weakest(count: int) -> None:
    order = outside_in(list(range(1, count + 1)))
    assert sorted(order) == list(range(1, count + 1))
    # A better rank never stands nearer to the middle than a worse one.
    depth = [min(place, count - 1 - place) for place in range(count)]
    by_rank = [depth[order.index(rank)] for rank in range(1, count + 1)]
    assert all(one <= other for one, other in itertools.pairwise(by_rank))


@pytest.mark.spec("HX-07")
@given(st.lists(st.floats(-1e6, 1e6), max_size=8))
def test_scaled_values_lie_between_zero_and_one(values: list[float]) -> None:
    scaled = min_max(np.array(values, np.float64))
    assert ((scaled >= 0) & (scaled <= 1)).all()
    if len(set(values)) > 1:
        assert (scaled.min(), scaled.max()) == (0.0, 1.0)
    assert all(
        scaled[one] <= scaled[other]
        for one, other in itertools.permutations(range(len(values)), 2)
        if values[one] <= values[other]
    )


MEMORIES = st.fixed_dictionaries(
    {
        "text": st.sampled_from(["lamp?", "lamp", "lamp " * 50, "lamp " * 500 + "?"]),
        "salience": st.floats(0, 1),
        "confidence": st.floats(0, 1),
        "access_count": st.integers(0, 10**9),
        "ingested_at_micros": st.integers(-(2**62), 2**62),
        "last_access_micros": st.none() | st.integers(-(2**62), 2**62),
    }
)


@pytest.mark.spec("DF-05")
@given(
    st.lists(MEMORIES, min_size=2, max_size=6),
    st.floats(1, 3),
    st.lists(st.floats(0, 1), min_size=len(SIGNALS), max_size=len(SIGNALS)),
    st.data(),
)
def test_no_prior_flips_a_gap_larger_than_the_band(
    fields: list[dict[str, Any]], band: float, parts: list[float], data: st.DataObject
) -> None:
    total = max(1.0, sum(parts)) * 1.000001
    weights = {name: part / total for name, part in zip(SIGNALS, parts, strict=True)}
    stage = BoundedPriors(band, weights, half_life_days=30.0)
    view = FakeView.of([fake_memory(**{"id": f"m{n}", **each}) for n, each in enumerate(fields)], as_of=0)
    priors = stage.priors(view, np.arange(len(fields)))
    assert (priors >= band**-0.5 - 1e-9).all()
    assert (priors <= band**0.5 + 1e-9).all()
    # Relevance falls by more than the band from each to the next: 1e-5 more, since scores are rounded.
    scores = [1.0]
    for _ in fields[1:]:
        scores.append(scores[-1] / band / data.draw(st.floats(1.00001, 2)))
    pool = tuple(Candidate(n, score, "cross_encoder") for n, score in enumerate(scores))
    refined = stage.refine(view, fake_query("q"), pool, fake_tools())
    assert [candidate.ordinal for candidate in refined.pool] == list(range(len(fields)))
