from __future__ import annotations

import dataclasses
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from simonides.errors import MissingExtraError, ProfileError, UnknownNameError
from simonides.recall import registry
from simonides.recall.channels.lexical import Lexical
from simonides.recall.fusion import ReciprocalRank
from simonides.recall.registry import (
    BUILT_IN,
    GROUP,
    METHODS,
    Shape,
    build_stage,
    load_technique,
    shape_of,
    technique_names,
)

BUILT = {"field": "stages.s", "place": "mine.toml"}
LEXICAL = {"depth": 1, "k1": 1.2, "b": 0.75, "fields": {"text": 1.0}}


def install(patch: pytest.MonkeyPatch, *points: tuple[str, str]) -> None:
    """Let the process believe that packages with these entry points are installed."""
    installed = EntryPoints(EntryPoint(name, value, GROUP) for name, value in points)
    patch.setattr(registry, "entry_points", installed.select)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_registered_name_is_a_stage_of_its_shape(name: str) -> None:
    shape, cls = load_technique(name, **BUILT)
    assert shape_of(cls) is shape is BUILT_IN[name][0]
    assert "__slots__" in vars(cls)
    assert cls.__doc__
    assert not any(type(f.default) in {int, float} for f in dataclasses.fields(cls)), (
        "numbers belong in profiles"
    )


def test_every_shape_has_its_method() -> None:
    assert list(METHODS) == list(Shape)


def test_a_stage_is_built_by_name() -> None:
    assert build_stage("reciprocal_rank", {"k": 60}, **BUILT) == (Shape.FUSER, ReciprocalRank(60.0))


def test_an_unknown_technique_is_refused_with_the_nearest_and_the_file() -> None:
    with pytest.raises(UnknownNameError) as caught:
        build_stage("lexcal", {}, **BUILT)
    assert str(caught.value) == (
        "stages.s.technique: 'lexcal' is not known in mine.toml; did you mean 'lexical'?"
    )


def test_an_installed_package_adds_a_technique(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, ("words", "simonides.recall.channels.lexical:Lexical"))
    assert "words" in technique_names()
    shape, stage = build_stage("words", LEXICAL, **BUILT)
    assert shape is Shape.CHANNEL
    assert isinstance(stage, Lexical)


def test_a_built_in_name_cannot_be_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, ("lexical", "simonides.recall.channels.vectors:Dense"))
    assert load_technique("lexical", **BUILT) == (Shape.CHANNEL, Lexical)


def test_a_name_claimed_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        monkeypatch,
        ("words", "simonides.recall.channels.lexical:Lexical"),
        ("words", "simonides.recall.channels.vectors:Dense"),
    )
    with pytest.raises(ProfileError, match=r"'words' is claimed by .*Lexical, .*Dense"):
        load_technique("words", **BUILT)


@pytest.mark.parametrize("value", ["no_such_package:Stage", "simonides.recall.channels.lexical:NoSuch"])
def test_a_technique_that_cannot_be_loaded_is_named(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, ("words", value))
    with pytest.raises(ProfileError, match=r"'words' .* cannot be loaded"):
        load_technique("words", **BUILT)


def test_a_missing_extra_keeps_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    class NeedsExtra(EntryPoint):
        def load(self) -> object:
            raise MissingExtraError("pip install words[extra]")

    installed = EntryPoints([NeedsExtra("words", "words:Stage", GROUP)])
    monkeypatch.setattr(registry, "entry_points", installed.select)
    with pytest.raises(MissingExtraError, match="pip install"):
        load_technique("words", **BUILT)


@pytest.mark.parametrize("value", ["simonides.records.memory:Memory", "simonides.recall.registry:shape_of"])
def test_what_is_no_stage_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, ("words", value))
    with pytest.raises(ProfileError, match="is no stage"):
        load_technique("words", **BUILT)


def test_the_shape_is_read_from_the_one_method() -> None:
    class Plain:
        def search(self) -> None: ...

    @dataclasses.dataclass
    class Mutable:
        def search(self) -> None: ...

    @dataclasses.dataclass(frozen=True)
    class Two:
        def search(self) -> None: ...
        def fuse(self) -> None: ...

    @dataclasses.dataclass(frozen=True)
    class One:
        def refine(self) -> None: ...

    assert [shape_of(cls) for cls in (Plain, Mutable, Two, One)] == [None, None, None, Shape.REFINER]
