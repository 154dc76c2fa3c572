"""The numbers of maintenance: what a profile may say, and what is refused."""

from __future__ import annotations

import pytest

from simonides.errors import InputError, ProfileError, UnknownNameError
from simonides.lifecycle.thresholds import read_thresholds
from simonides.profiles.loader import load_lifecycle


@pytest.mark.spec("EN-13")
def test_the_numbers_of_the_built_in_profiles() -> None:
    engram = read_thresholds(*load_lifecycle("engram"))
    default = read_thresholds(*load_lifecycle("default"))

    assert engram.half_life_days == {"episodic": 30}
    for found in (engram, default):
        assert found.episodic is not None
        assert (found.episodic.after_minutes, found.episodic.accesses) == (30, 2)
        assert found.semantic is not None
        assert (found.semantic.salience, found.semantic.accesses) == (0.7, 5)
    assert default.observations is not None
    assert engram.observations is None


@pytest.mark.parametrize(
    ("tables", "error", "message"),
    [
        ({}, ProfileError, "is not in mine.toml"),
        ({"promot": {}}, UnknownNameError, "did you mean 'promote'"),
        ({"promote": {"semantics": {}}}, UnknownNameError, "semantic"),
        ({"promote": {"episodic": {"accesses": 2}}}, ProfileError, "after_minutes: is missing"),
        ({"promote": {"episodic": 3}}, ProfileError, "expected a table"),
        ({"promote": 3}, ProfileError, "expected a table"),
        ({"half_life_days": {"episodic": 0}}, ProfileError, "above 0"),
        ({"half_life_days": {"episodic": "30"}}, ProfileError, "a number from 0"),
        ({"half_life_days": {"fact": 3}}, UnknownNameError, "fact"),
        ({"observations": {"similar": 2, "sources": 2}}, ProfileError, "above 0 to 1"),
        ({"observations": {"similar": 1, "sources": 1}}, ProfileError, "from 2"),
        (
            {"archive": {"floor": 1, "grace_days": 1, "slowed_by_use": 1, "distrust": 1}},
            ProfileError,
            "below 1",
        ),
        (
            {"archive": {"floor": 0.1, "grace_days": True, "slowed_by_use": 1, "distrust": 1}},
            ProfileError,
            "grace_days",
        ),
    ],
)
def test_wrong_numbers_are_refused_with_their_place(
    tables: dict[str, object], error: type[InputError], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_thresholds(tables, "mine.toml")
