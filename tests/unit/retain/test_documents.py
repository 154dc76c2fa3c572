from __future__ import annotations

import pytest

from simonides.errors import InputError
from simonides.options import MAX_DOCUMENT_BYTES
from simonides.records.interval import parse_time
from simonides.records.source import Origin
from simonides.retain.documents import document_items
from simonides.retain.items import ORIGIN, read_items

GARDEN = """\
# Garden

Ilse planted figs.

## Tools

The spade is blunt.

Buy a rake.

### Sheds

#### North

The lock sticks.

## Paths

Gravel, mostly.
"""


def contexts(text: str, title: str = "", date: str | None = None) -> dict[str, str]:
    """The last line of each item → its context."""
    when = None if date is None else parse_time(date, "date")
    items = document_items(text, document_id="d", title=title, date=when)
    return {item["text"].splitlines()[-1]: item["context"] for item in items}


def test_a_paragraph_has_the_headings_above_it_as_context() -> None:
    assert contexts(GARDEN) == {
        "Ilse planted figs.": "",
        "The spade is blunt.": "# Garden",
        "Buy a rake.": "# Garden > ## Tools",
        "The lock sticks.": "# Garden > ## Tools",
        "Gravel, mostly.": "# Garden",
    }


def test_headings_that_stand_in_the_item_are_not_said_twice() -> None:
    texts = [item["text"] for item in document_items(GARDEN, document_id="d")]
    assert texts[0] == "# Garden\n\nIlse planted figs."
    assert texts[3] == "### Sheds\n\n#### North\n\nThe lock sticks."


def test_title_and_date_come_along() -> None:
    assert contexts("One.\n\nTwo.", "Notes", "2023-05-08") == {
        "One.": "Notes\n8 May 2023",
        "Two.": "Notes\n8 May 2023",
    }
    assert contexts("One.", date="2023-05")["One."] == "May 2023"


def test_a_title_that_the_first_heading_repeats_is_said_once() -> None:
    assert contexts("# Garden\n\nOne.\n\nTwo.", "garden") == {"One.": "garden", "Two.": "# Garden"}


def test_a_heading_without_words_is_passed_over() -> None:
    assert contexts("#\n\nOne.\n\nTwo.")["Two."] == ""


def test_a_heading_that_is_no_title_is_cut() -> None:
    (context,) = {
        context for context in contexts("# " + "a" * 5_000 + "\n\nOne.\n\nTwo.").values() if context
    }
    assert len(context) < 300


def test_items_are_the_document_and_keep_it_as_their_origin() -> None:
    items = document_items(GARDEN, document_id="garden.md")
    for item in items:
        origin = item[ORIGIN]
        assert isinstance(origin, Origin)
        assert origin.text == GARDEN
        assert GARDEN[origin.start : origin.stop] == item["text"]
        assert item["document_id"] == "garden.md"


def test_retain_takes_the_items_with_their_origin() -> None:
    drafts = read_items(document_items(GARDEN, document_id="garden.md"), {})
    assert {draft.source_text for draft in drafts} == {GARDEN}
    assert [GARDEN[slice(*(draft.span or (0, 0)))] for draft in drafts] == [draft.text for draft in drafts]


@pytest.mark.parametrize("origin", ["text", {"text": "x", "start": 0, "stop": 1}, None])
def test_no_caller_can_write_an_origin(origin: object) -> None:
    with pytest.raises(InputError, match="_origin") as caught:
        read_items([{"text": "x", ORIGIN: origin}], {})
    assert "valid keys" not in str(caught.value) or "_origin," not in str(caught.value)


def test_a_long_paragraph_is_divided_and_each_part_keeps_the_context() -> None:
    text = "# Log\n\nStart.\n\n" + "It rained all day long. " * 20
    items = document_items(text, document_id="d", max_chars=100)
    assert len(items) > 4
    assert {item["context"] for item in items[1:]} == {"# Log"}
    assert max(len(item["text"]) for item in items) <= 100


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_blank_document_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="blank"):
        document_items(text, document_id="d")


@pytest.mark.parametrize(
    ("text", "problem"), [("a\0b", "NUL"), ("a\ud800", "surrogate"), (b"a", "decode it")]
)
def test_what_cannot_be_stored_is_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        document_items(text, document_id="d")
    assert caught.value.field == "text"


def test_a_document_may_be_longer_than_a_memory() -> None:
    text = ("word " * 2_000 + "\n\n") * 120
    assert len(text) > 1024 * 1024
    assert len(document_items(text, document_id="d")) > 900
    assert len(text) < MAX_DOCUMENT_BYTES


def test_many_headings_take_linear_time() -> None:
    import time  # noqa: PLC0415 - only here

    text = "# A\n\n" + "".join(f"## Part {n}\n\nText {n}.\n\n" for n in range(20_000))
    start = time.process_time()
    assert len(document_items(text, document_id="d")) == 20_000
    assert time.process_time() - start < 5
