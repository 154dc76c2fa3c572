from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.refining.rerankers import best_passage
from simonides.text.analyser import tokenise

TEXTS = st.lists(st.sampled_from(["kettle", "stove", "rain", "lamp", "Norrhav"]), max_size=40).map(" ".join)


def test_a_short_text_is_read_whole() -> None:
    assert best_passage("kettle", ["stove"], 6) == "kettle"


def test_the_first_window_with_most_different_words_is_read() -> None:
    text = "rain rain rain rain. " * 5 + "the kettle is on the stove. " + "kettle kettle kettle kettle " * 3
    found = best_passage(text, tokenise("kettle stove"), 60)
    assert "kettle is on the stove" in found
    assert best_passage("a" * 50 + " end", ["none"], 20) == "a" * 20


@given(TEXTS, st.lists(st.sampled_from(["kettle", "stove"]), max_size=2), st.integers(2, 60))
def test_it_is_a_part_of_the_text_and_no_window_holds_more_words(
    text: str, words: list[str], longest: int
) -> None:
    found = best_passage(text, words, longest)
    assert found in text
    assert len(found) <= max(longest, 0) or found == text
    if len(text) > longest:
        half = longest // 2
        every = [text[start : start + longest] for start in range(0, len(text) - half, half)]
        counts = [len(set(words) & set(tokenise(each))) for each in every]
        assert len(set(words) & set(tokenise(found))) == max(counts)
        # Windows reach the end.
        assert every[-1].endswith(text[-1:])
