from __future__ import annotations

from importlib.resources import files

import pytest

from simonides.retain.extraction.passage import given_names, has_common_shape, is_common, lines, section


@pytest.mark.parametrize(
    "word",
    [
        "the", "went", "storms", "stories", "painted", "painting", "planning", "happily", "sunny", "unhappy", "t-shirt",
        "long-term", "hmmm", "hahaha", "yesss", "rewriting", "thankful",
    ],
)  # fmt: skip
def test_words_and_their_plain_forms_are_common(word: str) -> None:
    assert is_common(word)


@pytest.mark.parametrize(
    "word", ["kestrel", "marrowtide", "tilly", "lola", "fennimark", "quillmouth", "jean-luc", "bailey", "ed"]
)
def test_names_are_not_common(word: str) -> None:
    assert not is_common(word)


@pytest.mark.parametrize(
    ("word", "shaped"), [("upcycling", True), ("gentrification", True), ("sing", False), ("kestrel", False)]
)
def test_endings_of_common_words_are_told(word: str, shaped: bool) -> None:
    assert has_common_shape(word) is shaped


def test_places_of_several_words_are_lines() -> None:
    assert "New York City" in lines("places", "cities")
    assert "Portugal" in lines("places", "countries")


@pytest.mark.parametrize("file", ["common_words", "given_names", "grammar", "name_words"])
def test_lists_are_lower_case_and_sections_name_no_word_twice(file: str) -> None:
    path = files("simonides.retain.extraction").joinpath("lists", f"{file}.txt")
    text = path.read_text(encoding="utf-8")
    entries = [line for line in text.splitlines() if line and not line.startswith(("#", "["))]

    assert entries
    assert [line for line in entries if line != line.lower()] == []


def test_days_are_no_given_names_that_count() -> None:
    assert "april" in section("name_words", "time")
    assert "ann" in given_names()
    assert "said" not in given_names()
