from __future__ import annotations

import pytest

from simonides.records.extraction import EntityKind
from simonides.retain.extraction.name_kinds import is_place, kind_of


def kind(name: str, text: str = "") -> EntityKind:
    text = text or f"we met {name}"
    start = text.index(name)
    return kind_of(name.lower().split(), text, start, start + len(name))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Lisbon", EntityKind.PLACE),
        ("Caroline", EntityKind.PERSON),
        ("Odalys Fennimark", EntityKind.PERSON),
        ("Harry Potter", EntityKind.PERSON),
        ("Aunt Fenna", EntityKind.PERSON),
        ("Lord of Tides", EntityKind.OTHER),
        ("Gullspire Labs", EntityKind.ORGANISATION),
        ("Bank of Orrin", EntityKind.ORGANISATION),
        ("Lake Orrin", EntityKind.PLACE),
        ("Whispering Falls", EntityKind.PLACE),
        ("Warrior II", EntityKind.OTHER),
        ("Limpet 4", EntityKind.OTHER),
        ("Storm Petronel", EntityKind.OTHER),
        ("Kestrel", EntityKind.OTHER),
    ],
)
def test_words_tell_the_kind(name: str, expected: EntityKind) -> None:
    assert kind(name) is expected


def test_a_given_name_after_a_place_cue_is_still_a_person() -> None:
    assert kind("Caroline", "a trip to Caroline") is EntityKind.PERSON


def test_two_unknown_words_behind_at_are_no_person() -> None:
    assert kind("Nether Ousel", "moored at Nether Ousel") is EntityKind.OTHER


def test_places_are_told_as_they_are_written() -> None:
    assert is_place("New York")
    assert not is_place("new york")
