from __future__ import annotations

import pytest

from simonides.records.extraction import Cause
from simonides.records.interval import DAY_MICROS
from simonides.retain.neighbours import SEMANTIC_FROM, Related, causal_links, temporal_weight

HOUR = DAY_MICROS // 24


@pytest.mark.spec("HI-03")
def test_semantic_links_begin_at_the_stated_cosine() -> None:
    assert SEMANTIC_FROM == 0.7


@pytest.mark.parametrize(
    ("apart", "weight"),
    [
        (0, 1.0),
        (HOUR, 23 / 24),
        (12 * HOUR, 0.5),
        (17 * HOUR, 0.3),
        (24 * HOUR, 0.3),
        (24 * HOUR + 1, 0.0),
    ],
)
def test_a_temporal_link_weighs_less_with_the_hours_and_ends_after_a_day(apart: int, weight: float) -> None:
    assert temporal_weight(apart) == pytest.approx(weight)


def link(wanted: str, *texts: str, weight: float = 0.75) -> list[tuple[int, float]]:
    cause = Cause((0, 10), (10, 20), weight)
    related = [Related(root, set(text.split())) for root, text in enumerate(texts)]
    return causal_links([cause], {(0, 10): wanted.split()}, related)


@pytest.mark.spec("HI-03")
def test_a_cause_meets_the_memory_with_most_of_its_words() -> None:
    assert link("pump seal fail", "lamp lit", "pump seal fail again", "pump seal") == [(1, 0.75)]


def test_half_of_the_words_are_enough_and_less_is_not() -> None:
    assert link("pump seal fail twice", "pump seal") == [(0, 0.75)]
    assert link("pump seal fail twice", "pump") == []


def test_among_equals_the_nearer_memory_is_met() -> None:
    assert link("pump seal", "pump seal old", "pump seal new") == [(0, 0.75)]


def test_one_word_says_too_little() -> None:
    assert link("rain", "rain fell") == []
    assert link("", "rain fell") == []


def test_without_memories_there_is_no_link() -> None:
    assert link("pump seal") == []


def test_several_causes_of_one_memory_keep_the_greatest_weight() -> None:
    causes = [Cause((0, 5), (5, 9), 0.5), Cause((10, 15), (15, 19), 0.9), Cause((20, 25), (25, 29), 0.7)]
    words = {(0, 5): ["pump", "seal"], (10, 15): ["pump", "seal"], (20, 25): ["lamp", "lit"]}
    related = [Related(4, ["lamp", "lit"]), Related(2, ["pump", "seal"])]
    assert causal_links(causes, words, related) == [(2, 0.9), (4, 0.7)]
