"""When two texts say the same, the opposite, or neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.lifecycle.grouping import opposite, read_words, same

if TYPE_CHECKING:
    from simonides.protocols import Embedder


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The kettle is red.", "the kettle is red"),
        ("The old kettle stands on the stove.", "The old kettle stands there on the stove."),
        ("Ines isn’t here.", "Ines isn't here!"),
    ],
)
def test_these_say_the_same(one: str, other: str) -> None:
    assert same(read_words(one), read_words(other), 0.8)
    assert same(read_words(other), read_words(one), 0.8)
    assert not opposite(read_words(one), read_words(other), 0.8)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ines likes the old kettle.", "Ines does not like the old kettle."),
        ("The kettle is in use.", "The kettle isn't in use."),
        ("Der Kessel ist nicht rot.", "Der Kessel ist rot."),
    ],
)
def test_these_say_the_opposite(one: str, other: str) -> None:
    assert opposite(read_words(one), read_words(other), 0.8)
    assert not same(read_words(one), read_words(other), 0.8)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ines gave it to Oda.", "Oda gave it to Ines."),
        ("We meet at 5 in the blue room.", "We meet in the blue room."),
        ("We always meet in the big blue room.", "We always meet in the big blue room with Oda."),
        ("The kettle is red.", "The kettle is blue."),
        ("Is the kettle red?", "Is the kettle red?"),
        ("The kettle in the hall is almost full now.", "The kettle in the hall is full now."),
        ("!!!", "..."),
        ("", ""),
    ],
)
def test_these_are_neither(one: str, other: str) -> None:
    assert not same(read_words(one), read_words(other), 0.8)
    assert not opposite(read_words(one), read_words(other), 0.8)


@pytest.mark.model
def test_vectors_cannot_tell_a_paraphrase_from_another_fact(default_embedder: Embedder) -> None:
    """Why words decide: whatever cosine would let these paraphrases through lets these contradictions through."""

    def cosine(one: str, other: str) -> float:
        first, second = default_embedder.encode([one, other])
        return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))

    paraphrases = [
        ("The kettle stands on the stove.", "On the stove there is a kettle."),
        ("Ines is allergic to nuts.", "Ines has a nut allergy."),
    ]
    contradictions = [
        ("Ines moved to Vesper in spring.", "Ines moved from Vesper in spring."),
        ("Ines gave the kettle to Oda.", "Oda gave the kettle to Ines."),
        ("Oda lives in the north of the town.", "Oda lives in the south of the town."),
    ]
    assert max(cosine(*pair) for pair in paraphrases) < min(cosine(*pair) for pair in contradictions)
    for one, other in contradictions:
        assert not same(read_words(one), read_words(other), 0.8)
