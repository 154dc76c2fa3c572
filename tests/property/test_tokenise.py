from __future__ import annotations

import string
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simonides.text.analyser import TextAnalyser, stopwords, tokenise
from simonides.text.normalise import MAX_TERM

ANYTHING = st.text(st.characters())  # lone surrogates and NUL included
NAME_LIKE = st.text("aBcdXZ19_-./\\:@'+# é猫が한🟢", max_size=30)
LETTERS = [
    chr(code)
    for code in (*range(0x61, 0x7B), *range(0xDF, 0x180), *range(0x3AC, 0x3CF), *range(0x430, 0x460))
    if unicodedata.category(chr(code)) == "Ll"
    and chr(code) not in "ŉŀĳĸ"  # two letters in one, and one without an upper case
]
WORD = st.text(LETTERS, min_size=1, max_size=12)
ASCII_WORD = st.text(string.ascii_lowercase, min_size=2, max_size=8)
HAN = st.text("請求書火曜再送来週猫", min_size=1, max_size=12)


@pytest.mark.fault("L6")
@given(st.one_of(ANYTHING, NAME_LIKE))
@example("\ud83d")
@example("\x00")
@example(".a'_")
def test_any_text_gives_clean_terms(text: str) -> None:
    for term in tokenise(text):
        assert 0 < len(term) <= MAX_TERM
        assert not any(character.isspace() for character in term)
        term.encode()  # no lone surrogate: it can be stored


@given(st.one_of(ANYTHING, NAME_LIKE), st.one_of(ANYTHING, NAME_LIKE))
def test_lines_are_analysed_one_by_one(first: str, second: str) -> None:
    assert tokenise(f"{first}\n{second}") == tokenise(first) + tokenise(second)


@given(st.text(max_size=25))
def test_composed_and_decomposed_texts_are_one(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert tokenise(composed) == tokenise(decomposed) == tokenise(text)


@given(WORD)
@example("straße")
@example("ıi")
def test_a_plain_word_has_one_term_in_any_case(word: str) -> None:
    assert len(tokenise(word)) == 1
    assert tokenise(word) == tokenise(word.upper()) == tokenise(word.title())


@pytest.mark.fault("L1")
@given(ASCII_WORD, st.sampled_from(string.punctuation), st.sampled_from(string.punctuation))
def test_punctuation_never_hides_a_word(word: str, before: str, after: str) -> None:
    assert word in tokenise(before + word)
    assert word in tokenise(word + after)
    assert word in tokenise(before + word + after)


@pytest.mark.fault("L3")
@given(st.lists(ASCII_WORD, min_size=2, max_size=4), st.sampled_from("_-./\\:@+"))
def test_a_joined_name_is_a_term_whole_and_in_each_part(words: list[str], joiner: str) -> None:
    name = joiner.join(words)
    whole, *parts = tokenise(name)
    assert whole == name.replace("\\", "/")
    assert set(parts) == set(words)
    assert tokenise(name.upper()) == [whole, *parts]


@pytest.mark.fault("L3")
@given(st.lists(ASCII_WORD, min_size=2, max_size=4), st.sampled_from(["lower", "capitalize"]))
def test_camel_case_splits_and_its_whole_is_the_word_in_one_case(words: list[str], first: str) -> None:
    name = getattr(words[0], first)() + "".join(word.capitalize() for word in words[1:])
    terms = tokenise(name)
    assert terms[0] == "".join(words) == tokenise(name.upper())[0]
    assert set(words) <= set(terms)


@pytest.mark.fault("L5")
@given(HAN, st.data())
def test_every_part_of_a_han_run_is_found(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    stop = data.draw(st.integers(start + 1, len(run)))
    assert set(tokenise(run[start:stop])) <= set(tokenise(f"ab{run}12"))


@given(st.text("あがぱカ", min_size=2, max_size=9))
def test_kana_terms_are_the_pairs(run: str) -> None:
    assert tokenise(run) == [first + second for first, second in pairwise(run)]


@given(st.one_of(ANYTHING, NAME_LIKE))
def test_query_and_memory_are_analysed_alike(text: str) -> None:
    analyser = TextAnalyser()
    kept = " ".join(word for word in text.split() if not set(tokenise(word)) & stopwords("english"))
    assert analyser.query_terms(kept) == analyser.terms(kept)
    assert set(analyser.query_terms(text)) <= set(analyser.terms(text))


@given(ANYTHING)
def test_without_a_language_queries_and_memories_are_the_tokens(text: str) -> None:
    analyser = TextAnalyser("none")
    assert analyser.query_terms(text) == analyser.terms(text) == tokenise(text)


@given(WORD)
def test_analysed_words_do_not_depend_on_case(word: str) -> None:
    analyser = TextAnalyser()
    assert analyser.terms(word) == analyser.terms(word.upper()) == analyser.terms(word.title())
