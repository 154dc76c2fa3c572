"""Corrections, distractors and scrubbing: the same data set, changed in one way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from bench.changed_datasets import correct, read_corrections, with_distractors
from bench.leaks import renamed, scrub_ids, scrub_names

from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.datasets import Corpus, Dataset, Item, Question

if TYPE_CHECKING:
    from pathlib import Path

KILN = Corpus(
    "kiln",
    (
        Item("D1:1", "Odile: Tomas, the kiln is mended.", session="session_1"),
        Item("D1:2", "Tomas: Thanks, Odile! Odile's pots can be fired.", session="session_1"),
        Item("D2:1", "Odile: Good morning!", session="session_2"),
    ),
)
SHIP = Corpus(
    "ship",
    (Item("D1:1", "Rufus: The mast broke.", session="session_1"), Item("D1:2", "Odile: Good morning!")),
)
DATASET = Dataset(
    "invented",
    (
        (
            KILN,
            (
                Question("kiln-q1", "What did Odile mend?", ("D1:1",), "1"),
                Question("kiln-q2", "Who sang?", (), "5", answerable=False),
            ),
        ),
        (SHIP, (Question("ship-q1", "What broke?", ("D1:1",), "1"),)),
    ),
)


def test_corrections_replace_and_drop(tmp_path: Path) -> None:
    file = tmp_path / "gold.json"
    file.write_text(
        json.dumps({"kiln-q1": {"gold": ["D1:2", "D1:1"], "why": "both"}, "ship-q1": {"drop": True}})
    )
    corrected = correct(DATASET, read_corrections(file))
    assert [(question.qid, question.gold) for question in corrected.questions] == [
        ("kiln-q1", ("D1:2", "D1:1")),
        ("kiln-q2", ()),
    ]
    file.write_text(json.dumps({"kiln-q2": {"gold": ["D1:2"]}}))
    assert correct(DATASET, read_corrections(file)).questions[1].answerable


@pytest.mark.parametrize(
    "entry",
    [
        [],
        {"gold": []},
        {"gold": "D1:1"},
        {"gold": ["D1:1"], "drop": True},
        {"drop": False},
        {"golds": ["D1:1"]},
    ],
)
def test_corrections_of_another_form_are_refused(tmp_path: Path, entry: object) -> None:
    (tmp_path / "gold.json").write_text(json.dumps({"kiln-q1": entry}))
    with pytest.raises(InputError, match="'kiln-q1' is"):
        read_corrections(tmp_path / "gold.json")


@pytest.mark.parametrize("text", ["[]", "{"])
def test_corrections_that_are_no_object_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "gold.json").write_text(text)
    with pytest.raises(InputError, match="gold"):
        read_corrections(tmp_path / "gold.json")


def test_corrections_of_what_is_not_there_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="kiln-q9"):
        correct(DATASET, {"kiln-q9": ("D1:1",)})
    with pytest.raises(UnknownNameError, match="D9:9"):
        correct(DATASET, {"kiln-q1": ("D9:9",)})


def test_distractors_come_from_elsewhere_and_are_never_gold() -> None:
    more = with_distractors(DATASET, 5, seed=1)
    kiln, ship = (corpus for corpus, _ in more.corpora)
    assert kiln.items[:3] == KILN.items
    added = kiln.items[3:]
    assert [item.key for item in added] == [f"distractor-{n}" for n in range(5)]
    # "Good morning!" is said in both, so it is not taken; the rest is invented.
    assert [item.text for item in added if item.session] == ["Rufus: The mast broke."]
    assert not {item.text for item in added} & {item.text for item in KILN.items}
    assert added[0].session == "distractor-ship-session_1"
    assert {"Odile: Tomas, the kiln is mended."} <= {item.text for item in ship.items[2:]}
    assert [questions for _, questions in more.corpora] == [questions for _, questions in DATASET.corpora]


def test_the_seed_decides_the_distractors() -> None:
    assert with_distractors(DATASET, 6, seed=1) == with_distractors(DATASET, 6, seed=1)
    assert with_distractors(DATASET, 6, seed=1) != with_distractors(DATASET, 6, seed=2)
    assert with_distractors(DATASET, 0, seed=1) == DATASET
    with pytest.raises(InputError, match="distractors"):
        with_distractors(DATASET, -1, seed=1)


def test_scrubbed_ids_say_nothing_and_lead_back() -> None:
    scrubbed = scrub_ids(DATASET, "salt")
    shown = repr(scrubbed.dataset)
    for word in ("D1:1", "kiln-q1", "session_1", "'kiln'", "'ship'"):
        assert word not in shown
    question = scrubbed.dataset.questions[0]
    original = scrubbed.qids[question.qid]
    assert original == "kiln-q1"
    assert [scrubbed.keys[original][key] for key in question.gold] == ["D1:1"]
    assert [item.text for item in scrubbed.dataset.corpora[0][0].items] == [item.text for item in KILN.items]
    first, second, third = scrubbed.dataset.corpora[0][0].items
    assert first.session == second.session != third.session


def test_names_of_speakers_are_replaced_everywhere_alike() -> None:
    scrubbed, names = scrub_names(DATASET)
    odile, tomas = names["kiln"]["Odile"], names["kiln"]["Tomas"]
    items = scrubbed.corpora[0][0].items
    assert items[0].text == f"{odile}: {tomas}, the kiln is mended."
    assert items[1].text == f"{tomas}: Thanks, {odile}! {odile}'s pots can be fired."
    assert scrubbed.questions[0].text == f"What did {odile} mend?"
    assert scrubbed.questions[0].gold == DATASET.questions[0].gold
    # The item without a session is no turn, so whoever begins it is no speaker.
    assert set(names["ship"]) == {"Rufus"}


def test_names_are_whole_words_and_replaced_at_once() -> None:
    assert renamed("Ann met Anna and Bo", {"Ann": "Bo", "Bo": "Ann"}) == "Bo met Anna and Ann"
    assert renamed("Ann", {}) == "Ann"
