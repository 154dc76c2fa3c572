"""The measurement of maintenance: what is lived through, what is asked, and what is counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from bench.lifecycle import PARTS, UNMAINTAINED, MaintainedRun

from simonides.errors import InputError
from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2025, 3, 1, tzinfo=UTC)
TEXTS = ("Ann feeds the cat.", "Bo mends the clock.", "Cleo sails home.", "Dan bakes the bread.")


def talk() -> Dataset:
    items = tuple(
        Item(f"D{n}", text, START + timedelta(days=30 * (n // 2)), f"s{n // 2}")
        for n, text in enumerate(TEXTS)
    )
    questions = tuple(Question(f"q{n}", text, (f"D{n}",), str(1 + n % 2)) for n, text in enumerate(TEXTS))
    return Dataset("talk", ((Corpus("one", items), questions),))


def test_every_group_begins_without_maintenance_and_names_what_was_done(tmp_path: Path) -> None:
    groups = MaintainedRun(talk(), tmp_path, 1, embedder=StubEmbedder()).run()

    assert [(group.told_again, group.moment) for group in groups] == [
        (again, moment) for again in (False, True) for moment in ("the day after", "a year later")
    ]
    assert {group.measured[0].system for group in groups} == {UNMAINTAINED}
    first, later, again, _ = groups
    assert set(first.steps) == set(PARTS)
    assert first.steps["promotion"] == {"promote": 4} == first.steps["all"]
    assert first.steps["decay"] == {} == first.steps["observations"]
    # Engram's numbers put everything away within the year: the measurement sees a loss where there is one.
    assert later.steps["all, by the numbers of engram"]["archive"] == 4
    rows = later.to_dict()["rows"]
    assert rows["all, by the numbers of engram"]["recall@10"] == 0
    assert rows["all"] == rows[UNMAINTAINED]
    # Two of four turns were told three times, each as one observation.
    assert again.steps["all"]["observe"] == 2


def test_only_the_best_telling_counts_and_an_observation_counts_as_its_turn(tmp_path: Path) -> None:
    # With vectors: by words alone all tellings score the same, and the ids that a bank gives decide.
    _, _, again, _ = MaintainedRun(talk(), tmp_path, 0, embedder=StubEmbedder()).run()

    plain, preferred = again.measured[0], again.measured[-1]

    assert preferred.system == "all, observations preferred"
    ranked = {result.qid: result.ranked for result in plain.results}
    assert ranked["q0"][0] == "D0"
    assert {key.partition("#")[0] for key in ranked["q0"][1:3]} == {"D0"}
    assert "D0" not in ranked["q0"][1:]
    assert all("#" not in key for result in preferred.results for key in result.ranked)


def test_what_is_asked_for_is_that_old(tmp_path: Path) -> None:
    run = MaintainedRun(talk(), tmp_path, 0, embedder=None)
    assert run.ages() == {"median": 380.0, "p95": 395.0, "oldest": 395.0}


def test_items_without_a_time_are_refused(tmp_path: Path) -> None:
    corpus = Corpus("one", (Item("D1", "Ann feeds the cat."),))
    with pytest.raises(InputError, match="has no time"):
        MaintainedRun(Dataset("talk", ((corpus, ()),)), tmp_path, 0)
