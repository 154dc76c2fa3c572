"""Notes become documents: paragraphs with their headings, title, date and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.retain.items import ORIGIN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.retain.importing.conftest import Read


def test_a_note(read: Read, samples: Path) -> None:
    path = samples / "north-bed.md"
    found = read("markdown", path)
    assert found.texts == [
        "# North bed\n\nThe figs came through the winter.",
        "## Watering\n\nThe pump gives four litres a minute.",
        "Ilse waters on Tuesdays.",
    ]
    assert found.all("event_time") == ["2026-04-02"] * 3
    assert found.all("tags") == [["garden", "fruit trees"]] * 3
    assert found.all("metadata") == [{"author": "Ilse Tamm"}] * 3
    assert found.all("source") == found.all("path") == ["north-bed.md"] * 3
    assert set(found.all("document_id")) == {f"file:{path.resolve().as_posix()}"}
    assert set(found.all("role")) == {"document"}
    context = found.items[2].item["context"]
    assert "North bed" in context
    assert "Watering" in context
    assert "2 April 2026" in context
    assert [item.line for item in found.items] == [7, 11, 15]


def test_the_source_is_the_note_verbatim_with_its_head(read: Read, samples: Path) -> None:
    text = (samples / "north-bed.md").read_text("utf-8")
    for item in read("markdown", samples / "north-bed.md").items:
        origin = item.item[ORIGIN]
        assert origin.text == text
        assert text[origin.start : origin.stop] == item.item["text"]


@pytest.mark.parametrize(
    ("head", "tags", "time"),
    [
        ("tags: garden, figs\ncreated: 2026", ["garden", "figs"], "2026"),
        ('tags: "#garden #figs"\ndate: 2026-04-02 14:00', ["garden", "figs"], "2026-04-02 14:00"),
        ("tags:\n  - '#a b'\ndate: 2026-04-02 14:00:00 +0200", ["a b"], "2026-04-02 14:00:00+0200"),
        ("title: x", None, None),
    ],
)
def test_tags_and_dates(read: Read, head: str, tags: list[str] | None, time: str | None) -> None:
    found = read("markdown", f"---\n{head}\n---\nA fig.")
    assert found.all("tags") == [tags]
    assert found.all("event_time") == [time]
    assert not found.errors


def test_a_paragraph_says_nothing_of_its_place_in_the_note(read: Read) -> None:
    one = read("markdown", "# Bed\n\nThe figs came.\n\nIlse waters.").items[1].item
    other = read("markdown", "# Bed\n\nThe figs came.\n\nA new line.\n\nIlse waters.").items[2].item
    assert {**one, ORIGIN: None} == {**other, ORIGIN: None}


@pytest.mark.fault("N47")
@pytest.mark.parametrize(
    ("date", "time"),
    [
        ("26/05/2026", "2026-05-26"),
        ("05/26/2026", "2026-05-26"),
        ("26.5.2026", "2026-05-26"),
        ("May 26, 2026", "2026-05-26"),
        ("Tuesday, 26 May 2026", "2026-05-26"),
        ("2026-05-26 2:33 PM", "2026-05-26T14:33:00"),
        ("26/05/2026 14:33", "2026-05-26T14:33:00"),
        ("'[[2026-05-26]]'", "2026-05-26"),
        ("[2026-05-26]", "2026-05-26"),
        ("May 2026", "2026-05"),
        ("05/04/2026", None),
        ("2:33 PM", None),
        ("someday", None),
        ("today", None),
        ("2026-13-45", None),
    ],
)
def test_a_date_is_read_where_it_means_one_day_and_costs_no_note(
    read: Read, date: str, time: str | None
) -> None:
    found = read("markdown", f"---\ntitle: Figs: a history\ndate: {date}\n---\nThe figs came.")
    assert found.texts == ["The figs came."]
    assert found.all("event_time") == [time]
    assert "Figs: a history" in found.items[0].item["context"]
    assert not found.errors
    assert len(found.cleanings) == (time is None)
    assert all(said.startswith("x:1: date: ") for said in found.cleanings)


@pytest.mark.fault("N47")
@pytest.mark.parametrize(
    "head",
    ["aliases: [Fig yard, 'Old, bed']", "aliases:\n  - Fig yard\n  - Old, bed", "alias: Fig yard, Old, bed"],
)
def test_aliases_find_every_paragraph(read: Read, head: str) -> None:
    found = read("markdown", f"---\n{head}\n---\n# Bed\n\nThe figs came.\n\nIlse waters.")
    assert all(context.startswith("Also known as Fig yard, Old, bed") for context in found.all("context"))
    assert "# Bed" in found.items[1].item["context"]


@pytest.mark.fault("N47")
def test_a_head_that_is_too_large_costs_no_note(read: Read) -> None:
    head = f"note: {'x' * 70_000}\ntags: [{'y' * 300}, fig]"
    found = read("markdown", f"---\n{head}\n---\nThe figs came.\0")
    assert (found.texts, found.all("tags"), found.all("metadata")) == (["The figs came."], [["fig"]], [None])
    assert [said.split(":")[2].strip() for said in found.cleanings] == [
        "characters that cannot be stored were taken out", "tags", "metadata",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", " \n\n", "---\ntitle: x\n---\n\n"])
def test_a_note_without_words_is_passed_over(read: Read, text: str) -> None:
    found = read("markdown", text)
    assert not found.items
    assert not found.errors


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"caf\xe9", "not UTF-8"),
    ],
)
def test_a_note_that_cannot_be_read_is_named(read: Read, text: bytes, problem: str) -> None:
    found = read("markdown", text)
    assert not found.items
    (said,) = found.problems
    assert said.startswith("x:1: ")
    assert problem in said
