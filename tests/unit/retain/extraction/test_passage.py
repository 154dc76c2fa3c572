from __future__ import annotations

import pytest

from simonides.retain.extraction.passage import Passage


def sentences(text: str) -> list[str]:
    passage = Passage.read(text)
    return [
        text[start : passage.sentence_end(number)].strip()
        for number, start in enumerate(passage.sentence_starts)
    ]


def test_words_keep_apostrophes_hyphens_and_accents_inside() -> None:
    text = "Well-known O'Brien's cafe\u0301, snake_case!"

    passage = Passage.read(text)

    assert [text[start:stop] for start, stop in passage.words] == [
        "Well-known", "O'Brien's", "cafe\u0301", "snake_case"
    ]  # fmt: skip


def test_typographic_marks_become_straight_and_the_length_stays() -> None:
    text = "“It’s ‘fine’”"

    passage = Passage.read(text)

    assert passage.text == "\"It's 'fine'\""
    assert len(passage.text) == len(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Vale met J. Marsh. They left.", ["Dr. Vale met J. Marsh.", "They left."]),
        ("Version 1.2 is out", ["Version 1.2 is out"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ('"Stop!" he said.', ['"Stop!"', "he said."]),
        ("", [""]),
    ],
)
def test_sentences_end_at_stops_and_line_breaks(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


def test_a_position_leads_to_its_sentence() -> None:
    passage = Passage.read("One. Two.")

    assert passage.sentence(0) == (0, 4)
    assert passage.sentence(6) == (4, 9)
    assert passage.sentence_number(6) == 1


def test_words_between_are_those_that_start_there() -> None:
    passage = Passage.read("a bb ccc")

    assert list(passage.words_between(0, 8)) == ["a", "bb", "ccc"]
    assert list(passage.words_between(1, 5)) == ["bb"]
    assert list(passage.words_between(3, 3)) == []


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("The gauge at the harbour was out of order.", True),
        ("Der Pegel am Hafen war nicht in Ordnung und wir haben ihn repariert.", False),
        ("De sensor in de haven was stuk en wij hebben hem vervangen.", False),
        ("El sensor del puerto no funciona y lo hemos cambiado.", False),
        ("Kestrel", True),
    ],
)
def test_the_majority_of_stop_words_tells_the_language(text: str, english: bool) -> None:
    assert Passage.read(text).english is english
