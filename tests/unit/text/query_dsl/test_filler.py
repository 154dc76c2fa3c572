from __future__ import annotations

from simonides.text.query_dsl import filler_words, read_filler


def test_filler_is_spelled_as_the_parser_cleans_words() -> None:
    assert {"im", "dont", "the", "and", "een", "tips"} <= filler_words()
    assert not [word for word in filler_words() if not word or "'" in word]
    assert not {"pump", "one", "choose", "life", "doctors", "store"} & filler_words()


def test_both_languages_have_stop_words_and_filler_of_questions() -> None:
    found = read_filler()
    assert {"the", "recommend", "het", "graag"} <= found
    assert found == filler_words()


def test_what_a_list_says_of_itself_is_no_filler() -> None:
    # "# Words by which people put a question rather than ask for something, in groups."
    assert not {"", "people", "groups", "courtesy", "hedges"} & read_filler()
