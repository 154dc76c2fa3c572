from __future__ import annotations

import math

import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.recall.channels.lexical import Lexical
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

LEXICAL = Lexical(depth=10, k1=1.2, b=0.75, fields={"text": 1.0})


def test_a_score_by_hand() -> None:
    bank = FakeView.of([fake_memory("fuse fuse"), fake_memory("lamp"), fake_memory("lamp wire chair")])
    ranking = LEXICAL.search(bank, fake_query("fuse", terms=(("fuse", 1),)), fake_tools())
    # Three rows, one holds the term twice; its length 2 is the average length.
    expected = math.log(1 + 2.5 / 1.5) * 2 * 2.2 / (2 + 1.2)
    assert ranking.ordinals.tolist() == [0]
    assert ranking.scores.tolist() == pytest.approx([expected], abs=1e-9)


def test_a_term_asked_twice_counts_twice() -> None:
    bank = FakeView.of([fake_memory("fuse"), fake_memory("lamp")])
    query = fake_query("fuse lamp lamp", terms=(("fuse", 1), ("lamp", 2)))
    ranking = LEXICAL.search(bank, query, fake_tools())
    assert ranking.ordinals.tolist() == [1, 0]
    assert ranking.scores[0] == pytest.approx(2 * ranking.scores[1])


def test_only_weighted_fields_are_searched() -> None:
    bank = FakeView.of([fake_memory("fuse"), fake_memory("lamp", context="fuse")])
    query = fake_query("fuse", terms=(("fuse", 1),))
    both = Lexical(depth=10, k1=1.2, b=0.75, fields={"text": 1.0, "context": 9.0})
    assert LEXICAL.search(bank, query, fake_tools()).ordinals.tolist() == [0]
    assert both.search(bank, query, fake_tools()).ordinals.tolist() == [1, 0]


def test_statistics_come_from_visible_rows_and_hits_from_eligible_ones() -> None:
    memories = [fake_memory("fuse"), fake_memory("fuse lamp"), fake_memory("fuse wire")]
    query = fake_query("fuse", terms=(("fuse", 1),))
    filtered = LEXICAL.search(FakeView.of(memories, eligible=[True, False, False]), query, fake_tools())
    alone = LEXICAL.search(FakeView.of(memories, visible=[True, False, False]), query, fake_tools())
    whole = LEXICAL.search(FakeView.of(memories), query, fake_tools())
    assert filtered.ordinals.tolist() == alone.ordinals.tolist() == [0]
    assert filtered.scores[0] == whole.scores[0] != alone.scores[0]


def test_the_ranking_is_cut_to_its_depth() -> None:
    bank = FakeView.of([fake_memory(f"fuse {n}") for n in range(5)])
    short = Lexical(depth=2, k1=1.2, b=0.75, fields={"text": 1.0})
    ranking = short.search(bank, fake_query("fuse", terms=(("fuse", 1),)), fake_tools())
    assert ranking.ordinals.tolist() == [0, 1]


def test_a_query_without_terms_is_a_reason() -> None:
    ranking = LEXICAL.search(FakeView.of([fake_memory("fuse")]), fake_query("?"), fake_tools())
    assert len(ranking) == 0
    assert ranking.reason == "the query has no terms"


def test_no_match_is_no_reason() -> None:
    bank = FakeView.of([fake_memory("lamp")])
    ranking = LEXICAL.search(bank, fake_query("fuse", terms=(("fuse", 1),)), fake_tools())
    assert (len(ranking), ranking.reason) == (0, "")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"depth": 0}, "depth: 0"),
        ({"k1": -0.1}, "k1: -0.1"),
        ({"k1": math.nan}, "k1: nan"),
        ({"b": 1.1}, "b: 1.1"),
        ({"fields": {}}, "fields: none"),
        ({"fields": {"text": 0.0}}, "fields: none"),
        ({"fields": {"text": -1.0}}, "fields.text: -1.0"),
        ({"fields": {"text": math.inf}}, "fields.text: inf"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, object], says: str) -> None:
    options: dict[str, object] = {"depth": 1, "k1": 1.2, "b": 0.75, "fields": {"text": 1.0}}
    with pytest.raises(InputError) as caught:
        Lexical(**(options | changes))  # type: ignore[arg-type]
    assert str(caught.value).startswith(says)


def test_an_unknown_field_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'context'"):
        Lexical(depth=1, k1=1.2, b=0.75, fields={"contxt": 1.0})


@pytest.mark.spec("HI-12")
@pytest.mark.parametrize(("budgeted", "depth", "found"), [(True, 2, 2), (True, None, 3), (False, 2, 3)])
def test_the_query_s_depth_takes_the_place_of_the_option(
    budgeted: bool, depth: int | None, found: int
) -> None:
    bank = FakeView.of([fake_memory(f"fuse {n}") for n in range(5)])
    stage = Lexical(depth=3, k1=1.2, b=0.75, fields={"text": 1.0}, budgeted=budgeted)
    query = fake_query("fuse", terms=(("fuse", 1),), depth=depth)
    assert len(stage.search(bank, query, fake_tools())) == found
