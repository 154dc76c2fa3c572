from __future__ import annotations

import pytest

from simonides.retain.extraction.passage import find_speaker


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Caroline: Hey!", "Caroline"),
        ("Caroline : hey", "Caroline"),
        ("**Odalys Fennimark:** We sail.", "Odalys Fennimark"),
        ("Dr. Vale: Good morning.", "Dr. Vale"),
        ("will: hi", None),
        ("Will: I'm here.", "Will"),
        ("Note: the datum moved.", None),
        ("Decision: we sail.", None),
        ("Project Heron: status", None),
        ("TG-246: the curve jumps.", None),
        ("Monday: We sail.", None),
        ("Marrowtide: a data service", None),
        ("https://example.org: x", None),
        ("Caroline", None),
        ("Caroline:", None),
        ("", None),
    ],
)
def test_a_label_with_a_name_is_a_speaker(text: str, name: str | None) -> None:
    speaker = find_speaker(text)

    assert (speaker.name if speaker else None) == name
    if speaker:
        assert text[speaker.start : speaker.stop] == name


@pytest.mark.parametrize(
    ("text", "may_be_i"), [("User: I sail.", True), ("human: hi", True), ("Assistant: I sail.", False)]
)
def test_a_role_is_a_speaker_without_a_name_of_its_own(text: str, may_be_i: bool) -> None:
    speaker = find_speaker(text)

    assert speaker is not None
    assert speaker.role
    assert speaker.may_be_i is may_be_i


def test_the_body_starts_behind_the_label() -> None:
    text = "  Ann:  Hello"
    speaker = find_speaker(text)

    assert speaker is not None
    assert text[speaker.body :] == "Hello"
