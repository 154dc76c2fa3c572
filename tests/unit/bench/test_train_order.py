"""Training the forest: its form, its data, and that the same data give the same bytes."""

from __future__ import annotations

import json
import random
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.own_chats import CHATS, REGISTERS, read_chat
from bench.train_order import Ordered, _packed, figures, to_dict, train

from simonides.recall.refining import learned_order
from simonides.recall.refining.learned_order import FILE, Forest

NAMES = ("one", "two", "three")
SHIPPED = json.loads(files(learned_order.__package__).joinpath(FILE).read_text(encoding="utf-8"))


def grown(chance: random.Random, leaves: int) -> dict[str, Any]:
    """A tree as LightGBM writes it."""
    if leaves == 1:
        return {"leaf_value": round(chance.uniform(-1, 1), 3)}
    left = chance.randint(1, leaves - 1)
    return {
        "split_feature": chance.randrange(len(NAMES)),
        "threshold": round(chance.uniform(-1, 1), 2) + 5e-7,
        "left_child": grown(chance, left),
        "right_child": grown(chance, leaves - left),
    }


def walked(tree: dict[str, Any], row: np.ndarray) -> float:
    while "leaf_value" not in tree:
        tree = tree["left_child" if row[tree["split_feature"]] <= tree["threshold"] else "right_child"]
    return float(tree["leaf_value"])


@pytest.mark.parametrize("seed", range(20))
def test_a_forest_gives_what_walking_its_trees_gives(seed: int) -> None:
    chance = random.Random(seed)
    trees = [grown(chance, chance.randint(1, 8)) for _ in range(chance.randint(1, 30))]
    forest = Forest.read({"features": NAMES, "start": 2.0, "trees": [_packed(tree) for tree in trees]})
    rows = np.random.default_rng(seed).uniform(-1, 1, (50, len(NAMES))).round(2)
    expected = [sum(walked(tree, row) for tree in trees) for row in rows]
    assert forest.scores(rows) == pytest.approx(expected)
    stored = json.loads(json.dumps(to_dict(forest)))
    assert Forest.read(stored).scores(rows).tolist() == forest.scores(rows).tolist()


@pytest.mark.parametrize("name", [name for names in REGISTERS.values() for name in names])
def test_every_question_has_turns_that_are_there(name: str) -> None:
    corpus, questions = read_chat(name)
    keys = {item.key for item in corpus.items}
    assert len(corpus.items) >= 150
    assert len(questions) >= 60
    assert {key for each in questions for key in each.gold} <= keys
    assert {each.category for each in questions} == set("12345")
    assert all(each.answerable is (each.category != "5") for each in questions)


def test_nothing_that_may_not_ship_was_trained_on() -> None:
    chats = {path.stem for path in CHATS.glob("*.chat")}
    assert set(SHIPPED["trained_on"]) == {*chats, "musique"}
    assert "conv-" not in json.dumps(SHIPPED)
    source = Path(CHATS.parent / "train_order.py").read_text(encoding="utf-8")
    assert "load_locomo" not in source


def pools(seed: int, count: int) -> list[Ordered]:
    """Questions whose answer is what has the highest first feature."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(count):
        values = draw.uniform(0, 1, (3, 20)).round(6)
        keys = tuple(f"k{place}" for place in range(20))
        gold = frozenset({keys[int(values[0].argmax())]})
        scores = np.linspace(1, 0.5, 20)
        found.append(Ordered(f"f{number % 5}", keys, gold, scores, dict(zip(NAMES, values, strict=True))))
    return found


def test_training_finds_what_tells_and_gives_the_same_twice() -> None:
    pytest.importorskip("lightgbm", reason="`make train` installs it")
    seen, unseen = pools(1, 200), pools(2, 100)
    forest = train(seen)
    assert json.dumps(to_dict(train(seen))) == json.dumps(to_dict(forest))
    rows = [np.stack([each.features[name] for name in forest.features], axis=1) for each in unseen]
    after = figures(
        unseen, [each.start() + forest.scores(row) for each, row in zip(unseen, rows, strict=True)]
    )
    assert after["recall@5"] > figures(unseen, [each.scores for each in unseen])["recall@5"] + 0.3
