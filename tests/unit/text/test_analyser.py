from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from simonides.errors import UnknownNameError
from simonides.text import analyser as module
from simonides.text.analyser import LANGUAGES, TextAnalyser

if TYPE_CHECKING:
    from simonides.protocols import Analyser


@pytest.fixture
def english() -> Analyser:
    return TextAnalyser()


def test_words_are_stemmed_and_names_are_not(english: Analyser) -> None:
    assert english.terms("Running queues: tx_queues.rs") == [
        *("run", "queue"),
        *("tx_queues.rs", "tx_queues", "tx", "queue", "rs"),
    ]


def test_a_question_loses_its_stop_words(english: Analyser) -> None:
    question = "When did Caroline go to the LGBTQ support group?"
    assert english.query_terms(question) == ["carolin", "go", "lgbtq", "support", "group"]


def test_a_memory_keeps_every_word(english: Analyser) -> None:
    assert english.terms("I went to the group") == ["i", "go", "to", "the", "group"]


@pytest.mark.parametrize(
    ("query", "memory"),
    [
        ("Where does Caroline go", "Caroline went home"),
        ("children", "her child"),
        ("Caroline's camping trips", "Caroline: a camping trip"),
        ("cafes", "the café"),
    ],
)
def test_forms_of_a_word_meet(english: Analyser, query: str, memory: str) -> None:
    assert set(english.query_terms(query)) <= set(english.terms(memory))


@pytest.mark.parametrize("query", ["to be or not to be", "The", "don't", "who's", "I'll"])
def test_stop_words_stay_where_nothing_else_remains(english: Analyser, query: str) -> None:
    assert english.query_terms(query) == english.terms(query) != []


def test_a_name_written_in_one_case_is_found(english: Analyser) -> None:
    memory = english.terms("retryPolicies and RetryQueue")
    for query in ("RETRYPOLICIES", "retrypolicies", "retryPolicies", "retryqueue", "RETRYQUEUE"):
        assert english.terms(query)[0] in memory


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("none", "The running queues", ["the", "running", "queues"]),
        ("dutch", "waar zijn de katten", ["kat"]),
        ("german", "wo sind die Katzen", ["katz"]),
        ("french", "où sont les chats de l'école", ["chat", "lecol", "ecol"]),
        ("spanish", "dónde están los gatos", ["gat"]),
        ("russian", "где кошки", ["где", "кошк"]),
    ],
)
def test_languages(language: str, query: str, expected: list[str]) -> None:
    assert TextAnalyser(language).query_terms(query) == expected


def test_unknown_language_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"language: 'englisch'.*did you mean 'english'"):
        TextAnalyser("englisch")
    with pytest.raises(UnknownNameError) as caught:
        TextAnalyser("")
    assert caught.value.valid == tuple(sorted(LANGUAGES))


def test_fingerprint_tells_languages_recipes_and_lists_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprints = {TextAnalyser(language).fingerprint for language in LANGUAGES}
    assert len(fingerprints) == len(LANGUAGES)

    before = TextAnalyser().fingerprint
    assert TextAnalyser().fingerprint == before
    with monkeypatch.context() as patch:
        patch.setattr(module, "RECIPE", 0)
        assert TextAnalyser().fingerprint != before
    with monkeypatch.context() as patch:
        patch.setattr(module, "stopwords", lambda _: frozenset({"the"}))
        assert TextAnalyser().fingerprint != before
    with monkeypatch.context() as patch:
        patch.setattr(module, "irregular_forms", lambda _: {})
        assert TextAnalyser().fingerprint != before
    with monkeypatch.context() as patch:
        patch.setattr("Stemmer.version", lambda: "0")
        assert TextAnalyser().fingerprint != before


def test_threads_get_the_terms_that_one_thread_gets(english: Analyser) -> None:
    endings = ("ing", "ations", "ness", "fully", "ies")
    texts = [f"{chr(97 + i % 26)}{chr(97 + i // 26)}at{end}" for i in range(600) for end in endings]
    expected = [english.terms(text) for text in texts]
    module._stem.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        answers = [list(pool.map(english.terms, texts)) for _ in range(2)]
    assert answers == [expected, expected]
