from __future__ import annotations

import pytest

from simonides.retain.extraction.known_names import MAX_TOKENS, KnownNames


def found(text: str, *names: str) -> list[tuple[str, str]]:
    return [(name, text[start:stop]) for name, start, stop in KnownNames(names).find(text)]


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        (["New York"], "off to new   york or new york", [("New York", "new york")]),
        (["New York", "New York City"], "in New York City now", [("New York City", "New York City")]),
        (["New York"], "It is new. York is old.", []),
        (["Storm Petronel"], "after storm-petronel came", [("Storm Petronel", "storm-petronel")]),
        (["Dr Vale"], "ask Dr. Vale", [("Dr Vale", "Dr. Vale")]),
        (["ingest"], "Ingest failed, ingest again", [("ingest", "Ingest"), ("ingest", "ingest")]),
        (["C++", "C#"], "from C++ to C#", [("C++", "C++"), ("C#", "C#")]),
        (["Maya"], "@maya wrote maya", [("Maya", "maya")]),
        (["Kestrel"], "Kestrel's load, kestrel-based", [("Kestrel", "Kestrel"), ("Kestrel", "kestrel")]),
        (["Ann"], "ann@example.org, Ann-Marie and ann_lee", []),
        (["José"], "Jose and José and JOSÉ", [("José", "José"), ("José", "JOSÉ")]),
        (["李娜"], "李娜 wrote", [("李娜", "李娜")]),
    ],
)
def test_names_are_found_whatever_their_case_and_spacing(
    names: list[str], text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(text, *names) == expected


@pytest.mark.fault("G1")
@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("Ann", "Joann called Anna and Annika."),
        ("Alex", "Alexa and Alexander left."),
        ("VX-1103", "VX-1105 and VX-1103-2 and VX-110 failed."),
        ("Wrenfield", "Wrenfeld sent an invoice."),
    ],
)
def test_a_name_is_never_found_in_one_that_only_resembles_it(known: str, text: str) -> None:
    assert found(text, known) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I will ask Will today", ["Will"]),
        ("Will you come?", []),
        ("Will has left", ["Will"]),
        ("Will's bike", ["Will"]),
        ("the will of the people", []),
    ],
)
def test_a_name_that_is_a_common_word_is_found_only_as_a_name(text: str, expected: list[str]) -> None:
    assert [name for name, _ in found(text, "Will")] == expected


def test_the_spelling_in_the_text_wins_where_two_names_fold_alike() -> None:
    assert found("the US office tells us", "US", "Us") == [("US", "US")]


def test_what_cannot_be_found_is_kept_all_the_same() -> None:
    long = " ".join(f"w{number}" for number in range(MAX_TOKENS + 1))
    names = KnownNames(["2023", "", long, "Ann"])

    assert len(names) == 4
    assert long in names
    assert names.find(f"2023 {long} Ann") == [("Ann", 6 + len(long), 9 + len(long))]


def test_an_index_is_used_as_it_is_and_can_grow_and_shrink() -> None:
    names = KnownNames.of(["Ann Lee"])

    names.add("Ann")
    names.add("Ann")
    assert [name for name, _, _ in names.find("Ann and Ann Lee")] == ["Ann", "Ann Lee"]
    names.discard("Ann Lee")
    names.discard("Ann Lee")

    assert KnownNames.of(names) is names
    assert list(names) == ["Ann"]
    assert [name for name, _, _ in names.find("Ann and Ann Lee")] == ["Ann", "Ann"]


def test_discarding_one_of_two_names_that_fold_alike_leaves_the_other() -> None:
    names = KnownNames(["new york", "New York"])

    names.discard("new york")

    assert names.find("NEW YORK") == [("New York", 0, 8)]


def test_an_empty_index_finds_nothing() -> None:
    assert KnownNames().find("Ann") == []
