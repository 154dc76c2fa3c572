from __future__ import annotations

from itertools import combinations

import pytest
import Stemmer

from simonides.text.analyser import (
    IRREGULAR_LANGUAGES,
    STOPWORD_LANGUAGES,
    irregular_forms,
    stopwords,
    tokenise,
)


@pytest.mark.parametrize("language", STOPWORD_LANGUAGES)
def test_stop_words_are_plain_folded_words(language: str) -> None:
    words = stopwords(language)
    assert len(words) > 100
    assert all(tokenise(word) == [word] for word in words)


@pytest.mark.parametrize(
    ("language", "inside", "outside"),
    [
        ("english", {"the", "when", "did", "dont", "whose"}, {"go", "support", "one", "list"}),
        ("dutch", {"de", "het", "waarom"}, {"kat"}),
        ("german", {"die", "fur", "uber"}, {"katze"}),
        ("french", {"le", "ou", "a", "l"}, {"chat"}),
        ("spanish", {"el", "que", "donde"}, {"gato"}),
    ],
)
def test_stop_words_hold_closed_classes_only(language: str, inside: set[str], outside: set[str]) -> None:
    assert inside <= stopwords(language)
    assert not outside & stopwords(language)


def test_each_language_has_its_own_list() -> None:
    for one, other in combinations(STOPWORD_LANGUAGES, 2):
        assert stopwords(one) != stopwords(other)


@pytest.mark.parametrize("language", ["none", "turkish", "../secret"])
def test_a_language_without_lists_has_empty_ones(language: str) -> None:
    assert stopwords(language) == frozenset()
    assert irregular_forms(language) == {}


def test_every_listed_language_can_be_stemmed() -> None:
    assert {*STOPWORD_LANGUAGES, *IRREGULAR_LANGUAGES} <= set(Stemmer.algorithms())


@pytest.mark.parametrize("language", IRREGULAR_LANGUAGES)
def test_irregular_forms_lead_to_a_base_that_leads_nowhere(language: str) -> None:
    forms = irregular_forms(language)
    stemmer = Stemmer.Stemmer(language)
    assert not set(forms) & set(forms.values())
    for form, base in forms.items():
        assert tokenise(form) == [form]
        assert stemmer.stemWord(form) != stemmer.stemWord(base), f"{form} needs no entry"
    assert forms["went"] == "go"


def test_no_irregular_form_has_two_bases() -> None:
    from simonides.text.analyser import _lines  # noqa: PLC0415 - the map would hide a repeat

    listed = [form for _, *forms in _lines("irregular", "english") for form in forms]
    assert len(listed) == len(set(listed))
