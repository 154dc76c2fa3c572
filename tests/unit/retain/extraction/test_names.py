from __future__ import annotations

import pytest

from simonides.records.extraction import EntityKind, Mention
from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.extraction.names import find_names, resolve_overlaps
from simonides.retain.extraction.passage import Passage, find_speaker


def names(text: str, **options: object) -> list[str]:
    return [m.name for m in find_names(Passage.read(text), speaker=find_speaker(text), **options)]  # type: ignore[arg-type]


@pytest.mark.fault("G1")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Ann and Joann today.", ["Ann", "Joann"]),
        ("We met Alex and Alexa today.", ["Alex", "Alexa"]),
        ("We returned VX-1103 and VX-1105.", ["VX-1103", "VX-1105"]),
    ],
)
@pytest.mark.parametrize("known", [(), ("Ann", "Alex", "VX-1103")])
def test_names_that_resemble_each_other_are_different_mentions(
    text: str, expected: list[str], known: tuple[str, ...]
) -> None:
    assert names(text, known=known) == expected


def test_known_names_come_in_the_banks_spelling_and_before_all_others() -> None:
    assert names("we ask ann lee about new york", known=KnownNames(["Ann Lee", "New York"])) == [
        "Ann Lee", "New York"
    ]  # fmt: skip


def test_a_longer_name_wins_over_a_known_one_inside_it() -> None:
    assert names("write to ann@example.org", known=["Ann"]) == ["ann@example.org"]
    assert names("see src/kestrel/main.py", known=["kestrel"]) == ["src/kestrel/main.py"]
    assert names("we met Ann Solberg", known=["Ann"]) == ["Ann Solberg"]


def test_the_speaker_is_a_person_and_a_role_is_no_mention() -> None:
    text = "Quillon: hello"
    passage = Passage.read("Quillon: Hello there")

    assert [(m.name, m.kind) for m in find_names(passage, speaker=find_speaker("Quillon: Hello there"))] == [
        ("Quillon", EntityKind.PERSON)
    ]
    assert names(text.replace("Quillon", "User"), known=["User"]) == []


def test_a_known_name_takes_the_kind_of_its_form() -> None:
    text = "TG-207 and Kestrel"

    assert [m.kind for m in find_names(Passage.read(text), known=["TG-207", "Kestrel"])] == [
        EntityKind.TICKET, EntityKind.OTHER
    ]  # fmt: skip


def test_time_expressions_hold_no_names() -> None:
    text = "We met on Shrove Tuesday 2027 with Ann"

    assert names(text, not_in=[(10, 29)]) == ["Ann"]
    assert "Shrove" in names(text)


def test_more_names_yield_to_the_rules_of_the_same_span() -> None:
    text = "with Ann at the quay"
    more = [
        Mention("Ann", EntityKind.ORGANISATION, 5, 8),
        Mention("quay", EntityKind.PLACE, 16, 20),
    ]

    assert [(m.name, m.kind) for m in find_names(Passage.read(text), more=more)] == [
        ("Ann", EntityKind.PERSON),
        ("quay", EntityKind.PLACE),
    ]


def test_the_longest_then_the_earliest_then_the_first_list_wins() -> None:
    def mention(start: int, stop: int, kind: EntityKind = EntityKind.OTHER) -> Mention:
        return Mention("x", kind, start, stop)

    assert resolve_overlaps([[mention(0, 3)], [mention(2, 6)]]) == (mention(2, 6),)
    assert resolve_overlaps([[mention(2, 5)], [mention(0, 3)]]) == (mention(0, 3),)
    assert resolve_overlaps([[mention(0, 3)], [mention(0, 3, EntityKind.PERSON)]]) == (mention(0, 3),)
    assert resolve_overlaps([[mention(3, 6)], [mention(0, 3)]]) == (mention(0, 3), mention(3, 6))
    assert resolve_overlaps([]) == ()
