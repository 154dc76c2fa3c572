from __future__ import annotations

import sys
from datetime import UTC
from types import SimpleNamespace

import pytest

from simonides.errors import MissingExtraError
from simonides.records.extraction import EntityKind
from simonides.retain.extraction.spacy_extractor import MODELS, spacy_extractor

Entity = SimpleNamespace


def entity(text: str, name: str, label: str) -> Entity:
    start = text.index(name)
    return Entity(start_char=start, end_char=start + len(name), label_=label)


def fake(
    monkeypatch: pytest.MonkeyPatch, entities: list[Entity], *, models: tuple[str, ...] = MODELS
) -> None:
    class Pipeline:
        max_length = 1_000

        def __call__(self, text: str) -> Entity:
            assert len(text) <= self.max_length
            return Entity(ents=entities)

    def load(model: str, *, exclude: list[str]) -> Pipeline:
        if model not in models:
            raise OSError(model)
        return Pipeline()

    monkeypatch.setitem(sys.modules, "spacy", Entity(load=load))


def test_named_entities_are_added_and_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Ann saw the Orrin Wall's opening, the Dutch and the old town in 2027"
    fake(
        monkeypatch,
        [
            entity(text, "Ann", "ORG"),
            entity(text, "the Orrin Wall's", "FAC"),
            entity(text, "Dutch", "NORP"),
            entity(text, "the old town", "LOC"),
            entity(text, "2027", "DATE"),
        ],
    )

    found = spacy_extractor().extract(text, anchor=0, zone=UTC)

    assert [(m.name, m.kind) for m in found.mentions] == [
        ("Ann", EntityKind.PERSON),
        ("Orrin Wall", EntityKind.PLACE),
    ]
    assert all(text[m.start : m.stop] == m.name for m in found.mentions)


@pytest.mark.parametrize("name", ["Glad", "Ann: Yep", "Happy Birthday", "a town\nhall"])
def test_what_a_model_only_takes_for_a_name_is_dropped(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text = f"so {name} it was"
    fake(monkeypatch, [entity(text, name, "PERSON")])

    found = spacy_extractor().more_names

    assert found is not None
    assert list(found(text)) == []


def test_common_words_in_front_of_a_name_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "so Glad Max Marsh came"
    fake(monkeypatch, [entity(text, "Glad Max Marsh", "PERSON")])

    found = spacy_extractor().more_names

    assert found is not None
    assert [(m.name, m.start) for m in found(text)] == [("Max Marsh", 8)]


def test_a_text_longer_than_the_model_reads_is_cut_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, [])

    assert spacy_extractor().extract("x " * 1_000, anchor=0, zone=UTC).mentions == ()


def test_the_second_model_is_used_where_the_first_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, [], models=MODELS[1:])

    assert spacy_extractor().more_names is not None


def test_a_missing_model_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, [], models=())

    with pytest.raises(MissingExtraError, match=r"en_core_web_sm.*python -m spacy download en_core_web_sm"):
        spacy_extractor()


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'simonides\[spacy\]'"):
        spacy_extractor()


def test_with_spacy_itself_the_names_of_a_sentence_are_found() -> None:
    pytest.importorskip("spacy")
    try:
        extractor = spacy_extractor()
    except MissingExtraError as error:
        pytest.skip(str(error))

    found = extractor.extract("Odalys Fennimark flew from Paris to Berlin.", anchor=0, zone=UTC)

    assert {"Paris", "Berlin"} <= {m.name for m in found.mentions}
