from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.recall.channels.graph import EntityHop
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.records.query import Query

CHANNEL = EntityHop(depth=100, named=1.0, hop=0.5, hub_cap=1_000)


def bank(*rows: tuple[set[str], float], **changes: Any) -> FakeView:
    memories = [fake_memory(f"m{n}", confidence=confidence) for n, (_, confidence) in enumerate(rows)]
    return FakeView.of(memories, entities=[named for named, _ in rows], **changes)


def asked(view: FakeView, text: str) -> Query:
    return fake_query(text, entities=view.find_entities(text))


def scores(view: FakeView, text: str, channel: EntityHop = CHANNEL) -> dict[int, float]:
    ranking = channel.search(view, asked(view, text), fake_tools())
    return dict(zip(ranking.ordinals.tolist(), ranking.scores.tolist(), strict=True))


@pytest.mark.spec("EN-12")
def test_named_memories_score_one_and_a_hop_half_the_strength() -> None:
    view = bank(
        ({"ines"}, 1.0),
        ({"ines", "osprey"}, 0.4),  # the only tie between the two
        ({"osprey"}, 1.0),
        ({"osprey", "budget"}, 1.0),
        ({"budget"}, 1.0),  # two hops away
        (set(), 1.0),
    )
    assert scores(view, "what does Ines do") == pytest.approx({0: 1.0, 1: 1.0, 2: 0.2, 3: 0.2})


@pytest.mark.spec("EN-12")
def test_strength_adds_up_over_memories_and_counts_one_at_most() -> None:
    view = bank(({"ines", "osprey"}, 0.3), ({"ines", "osprey"}, 0.4), ({"osprey"}, 1.0))
    assert scores(view, "ines")[2] == pytest.approx(0.35)
    view = bank(*[({"ines", "osprey"}, 1.0)] * 3, ({"osprey"}, 1.0))
    assert scores(view, "ines")[3] == 0.5


@pytest.mark.spec("EN-12")
def test_the_strongest_way_counts_and_ways_are_not_added() -> None:
    view = bank(
        ({"ines", "osprey"}, 0.3),
        ({"tove", "osprey"}, 0.5),
        ({"ines", "budget"}, 0.4),
        ({"osprey", "budget"}, 1.0),
    )
    assert scores(view, "ines and tove") == pytest.approx({0: 1.0, 1: 1.0, 2: 1.0, 3: 0.25})


def test_a_query_that_names_nothing_is_skipped_with_a_reason() -> None:
    ranking = CHANNEL.search(bank(({"ines"}, 1.0)), fake_query("tea"), fake_tools())
    assert (len(ranking), ranking.reason) == (0, "no entity")


def test_what_is_not_visible_ties_nothing_and_what_is_not_eligible_is_not_found() -> None:
    rows = (({"ines"}, 1.0), ({"ines", "osprey"}, 1.0), ({"osprey"}, 1.0))
    assert set(scores(bank(*rows, visible=[True, False, True]), "ines")) == {0}
    assert scores(bank(*rows, eligible=[True, False, True]), "ines") == {0: 1.0, 2: 0.5}


@pytest.mark.fault("G2")
def test_a_hub_is_not_hopped_to_and_the_trace_says_so() -> None:
    view = bank(({"ines", "user"}, 1.0), *[({"user"}, 1.0)] * 10)
    channel = replace(CHANNEL, hub_cap=10)
    ranking = channel.search(view, asked(view, "ines"), fake_tools())
    assert ranking.ordinals.tolist() == [0]
    assert ranking.reason == "1 entities that more than 10 memories mention were not followed"
    assert len(replace(CHANNEL, hub_cap=11).search(view, asked(view, "ines"), fake_tools())) == 11
    # Asked for by name it is found, and leads no further.
    view = bank(({"ines", "user"}, 1.0), *[({"user"}, 1.0)] * 10, ({"ines"}, 1.0))
    ranking = channel.search(view, asked(view, "user"), fake_tools())
    assert (sorted(ranking.ordinals.tolist()), ranking.reason[:1]) == ([*range(11)], "1")
    assert len(replace(CHANNEL, hub_cap=11).search(view, asked(view, "user"), fake_tools())) == 12


def test_the_ranking_is_cut_to_its_depth_with_ties_by_id() -> None:
    view = bank(*[({"ines"}, 1.0)] * 4)
    ranking = replace(CHANNEL, depth=2).search(view, asked(view, "ines"), fake_tools())
    assert ranking.ordinals.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": 0}, "depth: 0 is below 1"),
        ({"hub_cap": 0}, "hub_cap: 0 is below 1"),
        ({"named": 0.0}, "named: 0.0 is not a number above 0"),
        ({"hop": 1.5}, "hop: 1.5 is not above 0 and at most 1.0"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(CHANNEL, **changes)
