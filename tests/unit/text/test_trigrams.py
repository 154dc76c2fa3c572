from __future__ import annotations

import pytest

from simonides.text.similarity import jaccard, trigrams


@pytest.mark.spec("JB-07")
def test_a_word_is_padded_on_both_sides() -> None:
    assert trigrams("pump") == {"$pu", "pum", "ump", "mp$"}
    assert trigrams("tea") == {"$te", "tea", "ea$"}


@pytest.mark.spec("JB-07")
def test_shared_trigrams_over_all() -> None:
    assert jaccard(trigrams("pump"), trigrams("pumps")) == 3 / 6
    assert jaccard(trigrams("pump"), trigrams("pump")) == 1.0
    assert jaccard(trigrams("pump"), trigrams("lamp")) == 1 / 7


@pytest.mark.spec("JB-07")
def test_a_short_word_is_like_nothing() -> None:
    assert trigrams("ab") == trigrams("") == frozenset()
    assert jaccard(trigrams("ab"), trigrams("ab")) == 0.0
