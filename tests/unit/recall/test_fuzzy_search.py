from __future__ import annotations

from typing import Any

import pytest

from simonides.recall.word_search import fuzzy_search, memory_words
from simonides.testing.fakes import FakeView, fake_memory
from simonides.text.analyser import TextAnalyser
from simonides.text.similarity import jaccard, trigrams

ENGLISH = TextAnalyser("english")
FIELDS = {"text": 1.0}
TEXTS = ["the staging database", "a stage", "the lamp is lit", "databases of stages"]


def search(
    words: list[str], texts: list[str] = TEXTS, *, least: float = 0.3, checks: int = 50, **changes: Any
) -> tuple[dict[int, float], str]:
    view = FakeView.of([fake_memory(text) for text in texts], analyser=ENGLISH, **changes)
    ordinals, found, note = fuzzy_search(view, ENGLISH, words, least=least, fields=FIELDS, checks=checks)
    return dict(zip(ordinals.tolist(), found.tolist(), strict=True)), note


def brute_force(words: list[str], texts: list[str], least: float) -> dict[int, float]:
    found = {
        n: round(max(jaccard(trigrams(a), trigrams(b)) for a in words for b in text.split()), 9)
        for n, text in enumerate(texts)
    }
    return {n: similarity for n, similarity in found.items() if similarity >= least}


@pytest.mark.spec("JB-07")
@pytest.mark.parametrize("words", [["databse"], ["stagging", "databse"], ["lmap"], ["zzz"], ["ab"], []])
def test_the_best_pair_of_words_counts(words: list[str]) -> None:
    expected = brute_force(words, TEXTS, 0.3) if words else {}
    assert search(words) == (expected, "")


@pytest.mark.spec("JB-07")
def test_a_slip_finds_what_no_term_finds() -> None:
    found, _ = search(["databse"])
    # $da dat ata tab abs bse se$ beside $da dat ata tab aba bas ase se$: 5 of 10
    assert found[0] == 0.5
    assert 2 not in found


@pytest.mark.spec("JB-07")
def test_the_least_similarity_is_included() -> None:
    assert search(["databse"], least=0.5)[0] == {0: 0.5}
    assert search(["databse"], least=0.500000001)[0] == {}


@pytest.mark.spec("JB-07")
def test_words_are_raw_and_come_from_text_context_and_the_name_of_the_path() -> None:
    memory = fake_memory("Running shoes", context="Winter", path="notes/user-fact-tea.md")
    assert memory_words(memory) == {"running", "shoes", "winter", "user", "fact", "tea"}


@pytest.mark.spec("JB-07")
def test_among_many_memories_those_with_similar_terms_are_read() -> None:
    texts = [f"filler{n} quux" for n in range(40)] + TEXTS
    found, note = search(["databse"], texts, checks=4)
    assert found == {40: 0.5, 43: round(4 / 12, 9)}
    assert note == "similar words were looked for in 2 of 44 memories"


def test_hidden_rows_are_neither_read_nor_found() -> None:
    found, _ = search(["databse"], visible=[False, True, True, True])
    assert list(found) == [3]
    found, _ = search(["databse"], eligible=[False, True, True, False])
    assert found == {}
    texts = [f"filler{n}" for n in range(40)] + TEXTS
    found, _ = search(["databse"], texts, checks=2, visible=[True] * 40 + [False, True, True, True])
    assert list(found) == [43]
