from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.postings import TailPostings
from simonides.index.vocabulary import Vocabulary
from simonides.records.letters import Letters, letter_set

WORDS = st.text("abcdé请", min_size=1, max_size=8)
WANTED = st.builds(
    lambda word, first, missing, extra, shortest, longest: Letters(
        word[:first].encode(), letter_set(word.encode()), missing, extra, shortest, longest
    ),
    WORDS,
    st.integers(0, 2),
    st.integers(0, 4),
    st.integers(0, 4),
    st.integers(0, 4),
    st.integers(0, 20),
)


@given(st.sets(WORDS, max_size=20), WANTED)
def test_the_filter_over_arrays_admits_what_each_term_admits(words: set[str], wanted: Letters) -> None:
    terms = sorted(word.encode() for word in words)
    admitted = [term for term in terms if wanted.admits(term)]
    assert Vocabulary.of(terms).with_letters(wanted) == admitted
    tail = TailPostings()
    for row, word in enumerate(sorted(words)):
        tail.append(row, {word: 1})
    frozen = tail.frozen(np.ones(len(words), np.int32))
    assert sorted(frozen.with_letters(wanted)) == admitted


@given(WORDS, WORDS)
def test_one_error_changes_two_letters_at_most(one: str, two: str) -> None:
    changed = two[:1] + one[1:]  # another first letter
    extra = letter_set(changed.encode()) & ~letter_set(one.encode())
    assert extra.bit_count() <= len(two[:1].encode())
