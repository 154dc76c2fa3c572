"""The small part of YAML that the head of a note is read with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.retain.importing.markdown import split_front_matter


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("title: Fruit trees", {"title": "Fruit trees"}),
        ("Title:   Fruit trees   # a comment", {"title": "Fruit trees"}),
        ("title: C# and F#", {"title": "C# and F#"}),
        ('title: "Say \\"fig\\" # now"  # c', {"title": 'Say "fig" # now'}),
        ("title: 'It''s ripe'", {"title": "It's ripe"}),
        ("url: https://norrhav.example/a", {"url": "https://norrhav.example/a"}),
        ("at: 14:30", {"at": "14:30"}),
        ("last updated: 2026-04-02", {"last updated": "2026-04-02"}),
        ("title: Figs: a history", {"title": "Figs: a history"}),
        ("title: What now:", {"title": "What now:"}),
        ("n: 1.0\nyes: no\nempty:\nnothing: ''", {"n": "1.0", "yes": "no"}),
        ("tags: [garden, 'north, bed', \"x\"]", {"tags": ["garden", "north, bed", "x"]}),
        ("tags: [ garden , ]  # c", {"tags": ["garden"]}),
        ("tags: []", {}),
        ("tags:\n  - garden\n  - north bed # c\n- 'x'", {"tags": ["garden", "north bed", "x"]}),
        ("# only\n\n# comments\na: b", {"a": "b"}),
        ("a: b\na: c", {"a": "c"}),
        # What this part of YAML has no words for takes its key with it, and no other.
        ("a: |\n  long\n  text\nb: c", {"b": "c"}),
        ("a: one\n  two\nb: c", {"b": "c"}),
        ("a:\n  b: c\nd: e", {"d": "e"}),
        ("a:\n  - b: c\nd: e", {"d": "e"}),
        ("a: {b: c}\nd: e", {"d": "e"}),
        ("a: [b, [c]]\nd: e", {"d": "e"}),
        ("a: [b,\n c]\nd: e", {"d": "e"}),
        ("a: [b] c\nd: e", {"d": "e"}),
        ("a: &x b\nc: *x\nd: e", {"d": "e"}),
        ("a: 'b' c\nd: e", {"d": "e"}),
        ("? a\n: b\nd: e", {"d": "e"}),
        ("- a\nd: e", {"d": "e"}),
    ],
)
def test_heads(head: str, expected: dict[str, object]) -> None:
    text = f"---\n{head}\n---\nThe note."
    values, start = split_front_matter(text)
    assert values == expected
    assert text[start:] == "The note."
    assert split_front_matter(text.replace("\n", "\r\n"))[0] == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The note.",
        "--- \nno end",
        "----\na: b\n----\n",
        "\n---\na: b\n---\n",
        "a: b\n---\n",
        "---\na: b\n--- x",
    ],
)
def test_a_note_without_a_head(text: str) -> None:
    assert split_front_matter(text) == ({}, 0)


@pytest.mark.fault("N43")
@pytest.mark.parametrize(
    "block",
    [
        "The greenhouse alarm code is 8821.",
        "# Greenhouse",
        "- figs\n- pears",
        "8821",
        "title: Greenhouse\nThe alarm code is 8821.",
        "The alarm code is 8821.\n\nUse: twice a day",
        "\nThe alarm code\nis 8821.\n",
    ],
)
def test_a_block_that_holds_sentences_is_text(block: str) -> None:
    for text in (f"---\n{block}\n---\nThe rest", f"---\n{block}\n---"):
        assert split_front_matter(text) == ({}, 0)
        assert split_front_matter("\ufeff" + text.replace("\n", "\r\n")) == ({}, 1)


def test_a_head_may_end_with_dots_or_the_file() -> None:
    assert split_front_matter("---\na: b\n...\nx") == ({"a": "b"}, 13)
    assert split_front_matter("---\na: b\n---") == ({"a": "b"}, 12)
    assert split_front_matter("---\n---\nx") == ({}, 8)


@given(st.text(alphabet="-:[]{}'\"#, ab\n\t\\|&*", max_size=80))
def test_any_head_is_read(head: str) -> None:
    text = f"---\n{head}\n---\nThe note."
    values, start = split_front_matter(text)
    assert 0 <= start <= len(text)
    assert all(values.values())
    assert start or not values
