from __future__ import annotations

import pytest

from simonides.records.extraction import EntityKind
from simonides.retain.extraction.capitalised import find_capitalised
from simonides.retain.extraction.passage import Passage

PERSON, PLACE, OTHER = EntityKind.PERSON, EntityKind.PLACE, EntityKind.OTHER
ORGANISATION = EntityKind.ORGANISATION


def found(text: str) -> list[tuple[str, EntityKind]]:
    return [(mention.name, mention.kind) for mention in find_capitalised(Passage.read(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks Caroline!", [("Caroline", PERSON)]),
        ("Hey Ann, meet Odalys Fennimark.", [("Ann", PERSON), ("Odalys Fennimark", PERSON)]),
        ("We met Caroline's sister.", [("Caroline", PERSON)]),
        ("Ask Dr. Vale or Dr. Nerys Halvorquill.", [("Dr. Vale", PERSON), ("Nerys Halvorquill", PERSON)]),
        ("a book by J.K. Marrow", [("J.K. Marrow", PERSON)]),
        ("We flew to Lisbon, Portugal.", [("Lisbon", PLACE), ("Portugal", PLACE)]),
        ("Rent from Quillmouth Harbour Board.", [("Quillmouth Harbour Board", ORGANISATION)]),
        ("at the University of Leiden", [("University of Leiden", ORGANISATION)]),
        ("We hiked at Gannet Point.", [("Gannet Point", OTHER)]),
        ("a boat at Nether Ousel", [("Nether Ousel", OTHER)]),
        ("the island of Little Orrin", [("Little Orrin", PLACE)]),
        ("They run Project Heron.", [("Heron", OTHER)]),
        ("Kestrel depends on Osprey.", [("Kestrel", OTHER), ("Osprey", OTHER)]),
        ("Kestrel's queue is full.", [("Kestrel", OTHER)]),
        ("Kestrel? We moved Kestrel.", [("Kestrel", OTHER), ("Kestrel", OTHER)]),
        ("the shoes are from Under Armour", [("Under Armour", OTHER)]),
        ("a Python-based tool", [("Python", OTHER)]),
        ("he is fond of Lord of the Rings", [("Lord of the Rings", OTHER)]),
        ('I read "The Name of the Tide" twice', [("The Name of the Tide", OTHER)]),
        ("I read “The Tide” twice", [("The Tide", OTHER)]),
        ("They sailed to St. Louis and Mt. Orrin.", [("St. Louis", PLACE), ("Mt. Orrin", PLACE)]),
        ("Ann van der Berg came", [("Ann van der Berg", PERSON)]),
        ("Is Will Marsh here?", [("Will Marsh", PERSON)]),
    ],
)
def test_names_are_told_by_their_capitals(text: str, expected: list[tuple[str, EntityKind]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Wow! Thanks. Hey, Yay!",
        "Congrats on the win",
        "Painting helps, Camping too, Books guide me",
        "I'm here and I've left; Don't worry, Let's go",
        "On Monday in March and in Spring",
        "She speaks Dutch and French",
        "My Mom and my Dad asked God",
        "THIS IS SO COOL, WOW OMG LOL",
        "the API and the URL of the PR on TV",
        "Yesss! Hahaha! Hmmm. Sooo good",
        "Startin' was hard",
        "Well-known and Much-needed things",
        "Setbacks are just tests",
        "Happy Birthday! Good Morning",
        "no names at all",
        "",
    ],
)
def test_what_only_has_a_capital_is_no_name(text: str) -> None:
    assert found(text) == []


def test_a_heading_in_title_case_gives_only_what_the_lists_know() -> None:
    assert found("# Getting Started with Kestrel in Lisbon") == [("Lisbon", PLACE)]
    assert found("How Teams Build Better Tools With Kestrel Today") == []


def test_a_word_that_also_stands_in_small_letters_is_no_name() -> None:
    assert found("We saw the Wader; a wader is a bird") == []


def test_a_run_that_is_too_long_is_no_name() -> None:
    assert found("the " + "Kestrel " * 9) == []
    assert found("the " + "Kestrel " * 50_000) == []


def test_other_languages_pass_through() -> None:
    assert found("Der Hund und die Katze sind nicht mit dem Auto gefahren.") == []


def test_what_stands_before_the_body_is_not_read() -> None:
    text = "Ann: hello Bo"

    assert [m.name for m in find_capitalised(Passage.read(text), 5)] == ["Bo"]
