from __future__ import annotations

import pytest

from simonides.records.extraction import EntityKind
from simonides.retain.extraction.names import FORMS, find_structured


def found(text: str) -> dict[str, EntityKind]:
    return {mention.name: mention.kind for mention in find_structured(text)}


def test_every_form_has_examples_on_both_sides() -> None:
    assert all(form.examples and form.counterexamples for form in FORMS)


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("in `src/relay/queue.rs:118` now", "src/relay/queue.rs:118", EntityKind.FILE),
        ("call `toHarbourTime()`", "toHarbourTime", EntityKind.CODE),
        ("UTF-8 text", "UTF-8", EntityKind.OTHER),
        ("see www.example.org.", "www.example.org", EntityKind.URL),
        ("on @nerys_h!", "@nerys_h", EntityKind.HANDLE),
        ("v2.0.0-rc3 is tagged", "v2.0.0-rc3", EntityKind.VERSION),
    ],
)
def test_names_come_without_the_punctuation_around_them(text: str, name: str, kind: EntityKind) -> None:
    assert found(text)[name] is kind
    assert all(text[m.start : m.stop] == m.name for m in find_structured(text))


@pytest.mark.fault("G1")
def test_part_numbers_that_differ_in_one_digit_are_two() -> None:
    assert list(found("VX-1103 and VX-1105")) == ["VX-1103", "VX-1105"]


@pytest.mark.parametrize(
    "text",
    [
        "on 12.05.2023 we met",
        "at 10.0.0.1",
        "tea/rye",
        "he/she",
        "so good.And then",
        "forMax it is",
        "5.5 metres",
        "",
    ],
)
def test_what_only_looks_like_a_name_is_none(text: str) -> None:
    assert found(text) == {}
