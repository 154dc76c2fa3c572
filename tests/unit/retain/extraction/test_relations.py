from __future__ import annotations

import pytest

from simonides.retain.extraction.names import find_names
from simonides.retain.extraction.passage import Passage, find_speaker
from simonides.retain.extraction.relations import find_relations


def found(text: str, *known: str) -> list[tuple[str, str, str, bool]]:
    passage, speaker = Passage.read(text), find_speaker(text)
    relations = find_relations(passage, find_names(passage, known=known, speaker=speaker), speaker)
    return [(r.name, r.subject, r.object, r.single_valued) for r in relations]


@pytest.mark.fault("B3")
@pytest.mark.parametrize(
    "text",
    [
        "Ravi tested build 9 on arm64.",
        "Ravi tested build 9 on x86.",
        "Mo likes tea.",
        "Mo likes rye.",
        "Kestrel uses PostgreSQL.",
        "Kestrel depends on Osprey.",
        "Isaura Plimwater owns ingest.",
        "Isaura Plimwater is allergic to hazelnuts.",
    ],
)
def test_what_one_subject_has_several_of_is_never_single_valued(text: str) -> None:
    assert [relation for relation in found(text) if relation[3]] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Caroline: I live in Lisbon.", [("lives in", "Caroline", "Lisbon", True)]),
        ("User: I live in Lisbon and I work at Gullspire.", [
            ("lives in", "User", "Lisbon", True), ("works at", "User", "Gullspire", True),
        ]),
        ("Caroline: My husband is Tom Marsh.", [("married to", "Caroline", "Tom Marsh", True)]),
        ("Caroline: I'm allergic to nuts and shellfish.", [
            ("allergic to", "Caroline", "nuts", False), ("allergic to", "Caroline", "shellfish", False),
        ]),
    ],
)  # fmt: skip
def test_the_first_person_is_the_speaker(text: str, expected: list[tuple[str, str, str, bool]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I live in Lisbon.",
        "My husband is Tom Marsh.",
        "Assistant: I work at Gullspire.",
        'Melanie: Bo told me "I live in Lisbon and love it".',
        "Melanie: she said “I live in Lisbon”.",
        "Caroline: the people I love live in Lisbon.",
    ],
)
def test_a_first_person_that_nobody_is_states_nothing(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Does Ann live in Lisbon?",
        "Ann lives in Lisbon?",
        "Maybe Ann lives in Lisbon.",
        "I think Ann lives in Lisbon.",
        "If Ann lives in Lisbon, we visit her.",
        "Rumour has it that Ann lives in Lisbon.",
        "Ann does not live in Lisbon.",
        "Ann no longer works at Gullspire.",
        "Ann used to live in Lisbon.",
        "Ann may lead Kestrel.",
        "A friend of Ann lives in Lisbon.",
        "Ann or Bo lives in Lisbon.",
        "Ann works at Gullspire or Acme.",
        "She lives in Lisbon.",
        "Ann likes the way it turned out.",
        "Ann likes it.",
        "Ann lives in a small flat.",
        "Ann prefers to.",
    ],
)
def test_what_is_not_stated_surely_is_no_relation(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Project Heron, which turns readings into forecasts, is led by Odalys Fennimark.",
            [("led by", "Heron", "Odalys Fennimark", True)],
        ),
        (
            "Nerys Halvorquill designs and leads Project Sandpiper.",
            [("led by", "Sandpiper", "Nerys Halvorquill", True)],
        ),
        (
            "Since 4 May 2026 Linnet leads Project Sandpiper.",
            [("led by", "Sandpiper", "Linnet", True)],
        ),
        ("In May Nerys leads Project Sandpiper.", [("led by", "Sandpiper", "Nerys", True)]),
        ("`relay` depends on `osprey`.", [("depends on", "relay", "osprey", False)]),
        ("Ann also works at the Gullspire.", [("works at", "Ann", "Gullspire", True)]),
        ("TG-207 is blocked by TG-188.", [("blocked by", "TG-207", "TG-188", False)]),
        ("Ann’s e-mail is ann@example.org.", [("e-mail is", "Ann", "ann@example.org", True)]),
    ],
)
def test_the_subject_stands_right_before_the_cue(
    text: str, expected: list[tuple[str, str, str, bool]]
) -> None:
    assert found(text) == expected


def test_several_objects_are_several_relations_and_none_is_single_valued() -> None:
    assert found("Ann works at Gullspire and Acme.") == [
        ("works at", "Ann", "Gullspire", False),
        ("works at", "Ann", "Acme", False),
    ]
    assert found("Priya is on call on Tuesday and Thursday.") == [("on call on", "Priya", "Tuesday", False)]


def test_a_name_behind_and_that_starts_a_new_clause_is_no_object() -> None:
    assert found("Ann works at Gullspire and Bo lives in Lisbon.") == [
        ("works at", "Ann", "Gullspire", True),
        ("lives in", "Bo", "Lisbon", True),
    ]


def test_a_place_and_its_country_are_one_object() -> None:
    assert found("Ann lives in Lisbon, Portugal.") == [("lives in", "Ann", "Lisbon", True)]


def test_a_country_is_never_the_only_place_someone_lives_in() -> None:
    assert found("Ann lives in Portugal.") == [("lives in", "Ann", "Portugal", False)]


def test_a_weekday_on_call_is_a_turn_and_a_date_is_one_duty_of_many() -> None:
    assert found("Priya is on call on Tuesday.") == [("on call on", "Priya", "Tuesday", True)]
    assert found("Priya is on call on 3 March.") == [("on call on", "Priya", "3 March", False)]


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("Mo likes strong tea at night.", "strong tea"),
        ("Mo likes tea, and Bo does not.", "tea"),
        ("Mo likes tea because it is warm.", "tea"),
        ("Mo really likes tea/rye.", "tea/rye"),
        ("Mo hates tea and noise.", "tea"),
    ],
)
def test_a_phrase_ends_with_its_clause(text: str, thing: str) -> None:
    assert [relation[2] for relation in found(text)] == [thing]


def test_a_known_name_can_be_subject_and_object() -> None:
    assert found("the billing service depends on ingest.", "billing service", "ingest") == [
        ("depends on", "billing service", "ingest", False)
    ]


def test_a_relation_is_told_once() -> None:
    assert found("Ann lives in Lisbon. Yes, Ann lives in Lisbon.") == [("lives in", "Ann", "Lisbon", True)]


def test_nothing_is_related_to_itself() -> None:
    assert found("Kestrel depends on Kestrel.") == []


def test_other_languages_pass_through() -> None:
    assert found("Ann lives in Lisbon und wir haben sie nicht mit dem Hund gesehen, aber es ist so.") == []
