from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.index.postings import (
    FIELDS,
    BlockPostings,
    FrozenTail,
    SealedPostings,
    TailPostings,
    merge_postings,
)
from simonides.index.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

K1, B = 1.2, 0.75


def tail_of(rows: Sequence[Mapping[str, int]]) -> FrozenTail:
    tail = TailPostings()
    for row, terms in enumerate(rows):
        tail.append(row, terms)
    return tail.frozen(np.array([sum(terms.values()) for terms in rows], np.int32))


def sealed_of(rows: Sequence[Mapping[str, int]]) -> SealedPostings:
    return merge_postings([(0, tail_of(rows))], np.ones(len(rows), np.bool_))


def bank_of(*texts: str) -> BlockPostings:
    """One block whose rows hold *texts* in the field "text"."""
    rows = [{word: text.split().count(word) for word in text.split()} for text in texts]
    nothing: list[dict[str, int]] = [{} for _ in texts]
    fields = {field: tail_of(rows if field == "text" else nothing) for field in FIELDS}
    return BlockPostings(((0, fields),), len(texts))


def search(
    bank: BlockPostings,
    terms: str,
    visible: Sequence[bool] | None = None,
    eligible: Sequence[bool] | None = None,
) -> dict[int, float]:
    seen: NDArray[np.bool_] = np.array(visible if visible is not None else [True] * bank.rows, np.bool_)
    wanted = np.array(eligible if eligible is not None else seen, np.bool_)
    ordinals, scores = bank.bm25(
        [(term, 1) for term in terms.split()], seen, wanted, field_weights={"text": 1.0}, k1=K1, b=B
    )
    assert [ordinals.dtype, scores.dtype] == ["i8", "f8"]
    assert ordinals.tolist() == sorted(ordinals.tolist())
    return dict(zip(ordinals.tolist(), scores.tolist(), strict=True))


def test_a_vocabulary_is_a_sorted_sequence_of_terms() -> None:
    terms = sorted(word.encode() for word in ("fuse", "fuses", "über", "", "z", "請求"))
    vocabulary = Vocabulary.of(terms)
    assert list(vocabulary) == terms
    assert vocabulary[1:3] == terms[1:3]
    assert [vocabulary.find(term) for term in terms] == list(range(len(terms)))
    for missing in (b"fus", b"fuse ", b"zz", b"\xff"):
        assert vocabulary.find(missing) is None
    for beyond in (-1, len(terms)):
        with pytest.raises(IndexError):
            vocabulary[beyond]


def test_an_empty_vocabulary_finds_nothing() -> None:
    vocabulary = Vocabulary.of([])
    assert (len(vocabulary), list(vocabulary), vocabulary.find(b"a")) == (0, [], None)


@pytest.mark.parametrize("of", [tail_of, sealed_of])
def test_postings_are_rows_and_frequencies(of: type) -> None:
    postings = of([{"fuse": 2}, {}, {"fuse": 1, "lamp": 3}])
    rows, frequencies = postings.postings("fuse")
    assert (rows.dtype, frequencies.dtype) == (np.int32, np.uint8)
    assert (rows.tolist(), frequencies.tolist()) == ([0, 2], [2, 1])
    assert [part.tolist() for part in postings.postings("wire")] == [[], []]
    assert postings.lengths.tolist() == [2, 0, 4]


def test_a_score_by_hand() -> None:
    # Three rows of 1, 2 and 3 words, so an average of 2; one of three holds "fuse", twice.
    found = search(bank_of("lamp", "fuse fuse", "lamp wire chair"), "fuse")
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    assert found == {1: pytest.approx(idf * 2 * 2.2 / (2 + 1.2), abs=1e-9)}


def test_terms_fields_and_their_weights_add_up() -> None:
    text, context = [{"fuse": 1}, {"lamp": 1}], [{"lamp": 1}, {}]
    nothing: list[dict[str, int]] = [{}, {}]
    fields = {field: sealed_of(nothing) for field in FIELDS}
    fields |= {"text": sealed_of(text), "context": sealed_of(context)}
    bank = BlockPostings(((0, fields),), 2)
    everything = np.ones(2, np.bool_)

    def score(terms: list[tuple[str, int]], weights: dict[str, float]) -> list[float]:
        _, scores = bank.bm25(terms, everything, everything, field_weights=weights, k1=K1, b=B)
        return [float(found) for found in scores]

    # Every length is its field's average, so a hit is its idf: ln 2 of two rows, ln(4/3) of the one with context.
    two, one = math.log(2), math.log(4 / 3)
    assert score([("fuse", 1)], {"text": 1.0}) == pytest.approx([two], abs=1e-9)
    assert score([("lamp", 1)], {"text": 1.0, "context": 2.0}) == pytest.approx([2 * one, two], abs=1e-9)
    assert score([("lamp", 3), ("fuse", 1)], {"text": 1.0, "context": 1.0}) == pytest.approx(
        [two + 3 * one, 3 * two], abs=1e-9
    )
    assert score([("lamp", 1)], {"text": 0.0, "context": 0.0, "relation": 1.0}) == []
    assert score([], {"text": 1.0}) == []


@pytest.mark.fault("L4")
def test_banks_of_no_one_and_two_rows_answer() -> None:
    assert search(BlockPostings((), 0), "fuse") == {}
    assert search(bank_of(), "fuse") == {}
    assert search(bank_of(""), "fuse") == {}
    one = search(bank_of("🟢"), "🟢")
    assert set(one) == {0}
    assert 0 < one[0] < math.inf
    two = search(bank_of("fuse", "lamp"), "fuse")
    assert set(two) == {0}
    assert two[0] > 0


@pytest.mark.fault("M9")
@pytest.mark.fault("L4")
def test_a_term_in_every_row_still_ranks_by_frequency_and_length() -> None:
    found = search(bank_of("fuse fuse fuse", "fuse lamp lamp", "fuse", "fuse lamp wire chair table"), "fuse")
    assert sorted(found, key=lambda row: -found[row]) == [0, 2, 1, 3]
    assert all(0 < score < math.inf for score in found.values())
    assert all(score > 0.01 for score in found.values()), "not floored to nothing"


@pytest.mark.fault("M9")
@pytest.mark.fault("F4")
def test_what_is_not_visible_changes_no_score() -> None:
    mine = ["fuse lamp", "lamp lamp", "wire"]
    alone = search(bank_of(*mine), "fuse lamp")
    noise = ["fuse " * 40, "lamp", "fuse lamp wire"] * 10
    beside = search(bank_of(*mine, *noise), "fuse lamp", visible=[True] * 3 + [False] * 30)
    assert repr(beside) == repr(alone)
    before = search(bank_of(*noise, *mine), "fuse lamp", visible=[False] * 30 + [True] * 3)
    assert repr(list(before.values())) == repr(list(alone.values()))


def test_statistics_are_the_visible_rows_and_hits_the_eligible_ones() -> None:
    bank = bank_of("fuse", "fuse lamp", "wire")
    whole = search(bank, "fuse")
    filtered = search(bank, "fuse", eligible=[False, True, False])
    assert filtered == {1: whole[1]}
    assert search(bank, "fuse", visible=[True] * 3, eligible=[False] * 3) == {}
    assert search(bank, "fuse", visible=[False] * 3) == {}


@pytest.mark.parametrize("of", [tail_of, sealed_of])
def test_a_frequency_above_255_counts_as_255_and_the_length_in_full(of: type) -> None:
    postings = of([{"fuse": 255}, {"fuse": 256}, {"fuse": 70_000}])
    assert postings.postings("fuse")[1].tolist() == [255, 255, 255]
    assert postings.lengths.tolist() == [255, 256, 70_000]


def test_a_frozen_tail_does_not_see_what_is_appended_later() -> None:
    tail = TailPostings()
    tail.append(0, {"fuse": 1})
    frozen = tail.frozen(np.array([1], np.int32))
    tail.append(1, {"fuse": 9, "lamp": 1})
    assert [part.tolist() for part in frozen.postings("fuse")] == [[0], [1]]
    assert [part.tolist() for part in frozen.postings("lamp")] == [[], []]
    vocabulary, _, rows, frequencies = frozen.triples()
    assert (vocabulary, rows.tolist(), frequencies.tolist()) == ([b"fuse"], [0], [1])
    assert merge_postings([(0, frozen)], np.ones(1, np.bool_)).lengths.tolist() == [1]


def test_a_merge_drops_erased_rows_with_every_term_only_they_held() -> None:
    merged = merge_postings(
        [(0, sealed_of([{"fuse": 1}, {"secret": 2, "lamp": 1}])), (2, tail_of([{"lamp": 1}, {"hidden": 1}]))],
        np.array([True, False, True, False]),
    )
    assert list(merged.vocabulary) == [b"fuse", b"lamp"]
    assert b"secret" not in merged.vocabulary.joined.tobytes()
    assert merged.lengths.tolist() == [1, 0, 1, 0]
    assert [part.tolist() for part in merged.postings("lamp")] == [[2], [1]]


def test_a_merge_of_nothing_but_erased_rows_is_empty() -> None:
    merged = merge_postings([(0, sealed_of([{"fuse": 1}, {}]))], np.zeros(2, np.bool_))
    assert (len(merged.vocabulary), merged.starts.tolist(), merged.lengths.tolist()) == (0, [0], [0, 0])
    assert [part.tolist() for part in merged.postings("fuse")] == [[], []]
