"""BM25 over blocks and a tail against the textbook formula, row by row in plain Python."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.postings import (
    FIELDS,
    BlockPostings,
    FrozenTail,
    SealedPostings,
    TailPostings,
    merge_postings,
    seal_terms,
)
from simonides.text.similarity import trigrams

Rows = list[dict[str, dict[str, int]]]

TERMS = ["fuse", "fused", "lamp", "wire", "über", "请求"]
TERM_COUNTS = st.dictionaries(st.sampled_from(TERMS), st.sampled_from([1, 1, 2, 3, 300]), max_size=4)
FIELD_TERMS = st.dictionaries(st.sampled_from(FIELDS), TERM_COUNTS, max_size=3)


@dataclass(frozen=True)
class Search:
    """What is asked of a bank."""

    terms: list[tuple[str, int]]
    weights: dict[str, float]
    k1: float
    b: float


SEARCHES = st.builds(
    Search,
    st.lists(
        st.tuples(st.sampled_from([*TERMS, "absent", "f*", "fused*", "ü*", "*", "x*"]), st.integers(1, 3)),
        max_size=4,
        unique_by=lambda t: t[0],
    ),
    st.dictionaries(st.sampled_from(FIELDS), st.sampled_from([0.0, 0.5, 1.0, 3.0]), max_size=4),
    st.sampled_from([0.0, 0.9, 1.2, 2.0]),
    st.sampled_from([0.0, 0.4, 0.75, 1.0]),
)


@st.composite
def banks(draw: st.DrawFn) -> tuple[Rows, list[bool], list[bool], list[int]]:
    """Rows, visible, eligible, and where blocks end."""
    rows = draw(st.lists(FIELD_TERMS, max_size=14))
    count = len(rows)
    visible = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    wanted = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    cuts = draw(st.lists(st.integers(0, count), max_size=3).map(sorted))
    return rows, visible, [v and w for v, w in zip(visible, wanted, strict=True)], cuts


def tail_of(rows: Rows, field: str) -> FrozenTail:
    tail = TailPostings()
    for row, fields in enumerate(rows):
        tail.append(row, fields.get(field, {}))
    return tail.frozen(np.array([sum(fields.get(field, {}).values()) for fields in rows], np.int32))


def bank_of(rows: Rows, cuts: list[int]) -> BlockPostings:
    """All blocks sealed but the last."""
    edges = [0, *cuts, len(rows)]
    blocks = []
    for number, (start, stop) in enumerate(itertools.pairwise(edges)):
        tails = {field: tail_of(rows[start:stop], field) for field in FIELDS}
        sealed = {
            field: merge_postings([(0, tail)], np.ones(stop - start, np.bool_))
            for field, tail in tails.items()
        }
        blocks.append((start, tails if number == len(edges) - 2 else sealed))
    return BlockPostings(tuple(blocks), len(rows))


def scores(
    bank: BlockPostings,
    visible: list[bool],
    eligible: list[bool],
    search: Search,
    depth: int | None = None,
) -> dict[int, float]:
    ordinals, found = bank.bm25(
        search.terms,
        np.array(visible, np.bool_),
        np.array(eligible, np.bool_),
        field_weights=search.weights,
        k1=search.k1,
        b=search.b,
        depth=depth,
    )
    return dict(zip(ordinals.tolist(), found.tolist(), strict=True))


def frequency(term: str, terms: dict[str, int]) -> int:
    """A star stands for every term with that beginning, as one."""
    if term.endswith("*"):
        return min(sum(min(tf, 255) for held, tf in terms.items() if held.startswith(term[:-1])), 255)
    return min(terms.get(term, 0), 255)


def twin(rows: Rows, visible: list[bool], eligible: list[bool], search: Search) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for field, weight in search.weights.items():
        held = [(row, terms[field]) for row, terms in enumerate(rows) if visible[row] and terms.get(field)]
        if weight == 0.0 or not held:
            continue
        average = sum(sum(terms.values()) for _, terms in held) / len(held)
        for term, count in search.terms:
            df = sum(frequency(term, terms) > 0 for _, terms in held)
            idf = math.log(1 + (len(held) - df + 0.5) / (df + 0.5))
            for row, terms in held:
                tf = frequency(term, terms)
                if tf and eligible[row]:
                    length = sum(terms.values())
                    norm = search.k1 * (1 - search.b + search.b * length / average)
                    part = weight * count * idf * tf * (search.k1 + 1) / (tf + norm)
                    found.setdefault(row, []).append(part)
    return {row: math.fsum(parts) for row, parts in found.items()}


@given(banks(), SEARCHES)
def test_held_counts_and_marks_what_a_look_at_every_row_does(
    bank: tuple[Rows, list[bool], list[bool], list[int]], search: Search
) -> None:
    rows, visible, eligible, cuts = bank
    asked = np.flatnonzero(np.array(eligible, np.bool_)).astype(np.int64)[::-1]
    terms = [term for term, _ in search.terms]
    frequencies, held = bank_of(rows, cuts).held(
        terms, np.array(visible, np.bool_), asked, fields=search.weights
    )
    holding = [
        {row for row, fields in enumerate(rows) for f in search.weights if frequency(t, fields.get(f, {}))}
        for t in terms
    ]
    assert frequencies.tolist() == [sum(visible[row] for row in found) for found in holding]
    assert held.shape == (len(terms), len(asked))
    assert held.tolist() == [[row in found for row in asked.tolist()] for found in holding]


@given(banks(), SEARCHES)
def test_scores_equal_the_textbook(
    bank: tuple[Rows, list[bool], list[bool], list[int]], search: Search
) -> None:
    rows, visible, eligible, cuts = bank
    found = scores(bank_of(rows, cuts), visible, eligible, search)
    exact = twin(rows, visible, eligible, search)
    assert set(found) == set(exact)
    for row, score in found.items():
        assert abs(score - exact[row]) <= 1e-9
        assert score > 0


@pytest.mark.spec("DF-06")
@given(banks(), SEARCHES, st.integers(1, 6), st.sampled_from([1, 4, 65_536]))
def test_the_best_alone_are_the_best_of_all_to_the_last_bit(
    bank: tuple[Rows, list[bool], list[bool], list[int]], search: Search, depth: int, at_once: int
) -> None:
    rows, visible, eligible, cuts = bank
    every = scores(bank_of(rows, cuts), visible, eligible, search)
    least = sorted(every.values())[-depth] if len(every) >= depth else 0.0
    # Windows of few postings, so that all but the first leave rows out; whether by search or by adding up.
    for cost in (0, 4, 1_000):
        with patch.multiple("simonides.index.bm25", AT_ONCE=at_once, _SEARCH_COST=cost):
            best = scores(bank_of(rows, cuts), visible, eligible, search, depth)
            whole = scores(bank_of(rows, cuts), visible, eligible, search)
        assert repr(best) == repr({row: score for row, score in every.items() if score >= least})
        assert repr(whole) == repr(every)


@pytest.mark.spec("DF-06")
@given(banks(), SEARCHES)
def test_where_blocks_end_changes_no_bit(
    bank: tuple[Rows, list[bool], list[bool], list[int]], search: Search
) -> None:
    rows, visible, eligible, cuts = bank
    whole = scores(bank_of(rows, []), visible, eligible, search)
    assert repr(scores(bank_of(rows, cuts), visible, eligible, search)) == repr(whole)


@pytest.mark.fault("M9")
@pytest.mark.fault("F4")
@given(banks(), SEARCHES)
def test_rows_that_are_not_visible_change_no_bit(
    bank: tuple[Rows, list[bool], list[bool], list[int]], search: Search
) -> None:
    rows, visible, eligible, cuts = bank
    kept = [row for row, seen in enumerate(visible) if seen]
    alone = scores(
        bank_of([rows[row] for row in kept], []), [True] * len(kept), [eligible[row] for row in kept], search
    )
    found = scores(bank_of(rows, cuts), visible, eligible, search)
    assert repr(found) == repr({kept[row]: score for row, score in alone.items()})


def same(one: SealedPostings, other: SealedPostings) -> bool:
    return list(one.vocabulary) == list(other.vocabulary) and all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in ("starts", "rows", "frequencies", "lengths")
    )


@given(banks(), st.data())
def test_a_merge_equals_rebuilding_from_the_kept_rows(
    bank: tuple[Rows, list[bool], list[bool], list[int]], data: st.DataObject
) -> None:
    rows, kept, _, cuts = bank
    again = data.draw(st.lists(st.integers(0, len(rows)), max_size=2).map(sorted))
    rebuilt: Rows = [row if keep else {} for row, keep in zip(rows, kept, strict=True)]
    mask = np.array(kept, np.bool_)
    for field in FIELDS:
        scratch = merge_postings([(0, tail_of(rebuilt, field))], np.ones(len(rows), np.bool_))
        parts = [(start, fields[field]) for start, fields in bank_of(rows, cuts).blocks]
        known = [(start, part) for start, part in parts if isinstance(part, SealedPostings | FrozenTail)]
        assert same(merge_postings(known, mask), scratch)
        # And in two steps: erased first, joined later.
        halves = [
            (start, merge_postings([(0, tail_of(rows[start:stop], field))], mask[start:stop]))
            for start, stop in zip([0, *again], [*again, len(rows)], strict=True)
        ]
        assert same(merge_postings(halves, np.ones(len(rows), np.bool_)), scratch)


WORDS = st.text("abcé请", max_size=6)


@given(st.lists(WORDS, max_size=3), st.lists(WORDS.filter(bool), max_size=12), st.integers(0, 12))
def test_terms_that_share_a_trigram_with_a_word_are_among_those_like_it(
    asked: list[str], held: list[str], cut: int
) -> None:
    rows: Rows = [{"text": {word: 1}} for word in held]
    bank = bank_of(rows, [min(cut, len(rows))])
    alike = bank.terms_like(asked, ["text"])
    wanted = {gram for word in asked for gram in trigrams(word)}
    assert {word for word in held if trigrams(word) & wanted} <= alike <= set(held)
    assert bank.terms_like(asked, ["context"]) == set()


@given(st.lists(TERM_COUNTS, max_size=12))
def test_postings_sealed_at_once_are_those_that_grew_row_by_row(rows: list[dict[str, int]]) -> None:
    tail, lengths = TailPostings(), np.array([sum(row.values()) for row in rows], np.int32)
    for number, row in enumerate(rows):
        tail.append(number, row)
    grown = merge_postings([(0, tail.frozen(lengths))], np.ones(len(rows), np.bool_))
    sealed = seal_terms(rows)

    assert list(sealed.vocabulary) == list(grown.vocabulary)
    for name in ("starts", "rows", "frequencies", "lengths"):
        one, other = getattr(sealed, name), getattr(grown, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other), name
