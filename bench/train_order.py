"""Train the forest of the refiner ``learned_order`` and write it, with what it was trained on.

    python -m bench.train_order --data ../shared/data [--check]

Data: the invented conversations of ``bench/chats`` and MuSiQue (CC BY 4.0). Nothing is trained on LoCoMo (its
licence does not allow it) or the everyday banks: they are measured with the result. One number was chosen
by LoCoMo (``START``). Conversations of one register share a bank, which is then as large as a year of chats.
With ``--check`` nothing is written: each conversation, and each fifth of MuSiQue's questions, is ordered by a
forest that did not see it. Same data, same file: clock, identities and draws are fixed, one thread is used.
Needs LightGBM: ``pip install --group train``.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from bench.fit_relevance import Identities, fifth
from bench.own_chats import REGISTERS, read_register

import simonides
from simonides.evaluation.asking import NOW, SteadyClock, retain_corpus
from simonides.evaluation.datasets import load_musique
from simonides.evaluation.results import mean_measures, measure_each
from simonides.models.catalogue import DEFAULT_EMBEDDER
from simonides.protocols import Refined
from simonides.recall.refining import learned_order
from simonides.recall.refining.learned_order import (
    FILE,
    FLOOR,
    LEAVES,
    Forest,
    LearnedOrder,
    collect_features,
    matrix,
    turns_beside,
)
from simonides.recall.refining.pool import ordinals_of
from simonides.retain.conversations import WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.evaluation.datasets import Corpus, Question

TARGET = Path(learned_order.__file__).parent / FILE
START = 12.0
"""What ln(score) is multiplied by: the larger, the less the forest moves.

The one number that was chosen by LoCoMo: its nDCG@10 was .642 without the stage, and .631 .647 .654 .660 .658
.656 by 1, 4, 8, 12, 16, 24. By conversations left out it would be lower: in them, words that few turns hold
nearly decide alone."""

TREES = 100
SETTINGS = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 15,
    "learning_rate": 0.05,
    "num_leaves": LEAVES,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.5,
    "lambda_l2": 10.0,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "seed": 1,
    "verbose": -1,
}


@dataclass(frozen=True)
class Ordered:
    """The head of the pool for one question.

    Attributes:
        fold: the conversation, or the part of MuSiQue's questions, that is left out together.
        keys: of the items, best first.
        gold: keys of those that answer.
        scores: float64, shape (len(keys),), as the forest finds them.
        features: by name, float64, shape (len(keys),).
    """

    fold: str
    keys: tuple[str, ...]
    gold: frozenset[str]
    scores: NDArray[np.float64]
    features: Mapping[str, NDArray[np.float64]]

    def start(self) -> NDArray[np.float64]:
        """Where training begins."""
        logs: NDArray[np.float64] = START * np.log(np.maximum(self.scores, 0.0) + FLOOR)
        return logs


def collect(data: Path) -> list[Ordered]:
    """Every answerable question with the pool that the stage is given."""
    seen: list[tuple[list[str], NDArray[np.float64], dict[str, NDArray[np.float64]]]] = []

    def watched(stage: LearnedOrder, view: Any, query: Any, pool: Any, tools: Any) -> Refined:  # noqa: ARG001
        head = pool[: stage.depth]
        if not head:
            return Refined(pool)
        beside = turns_beside(view, ordinals_of(head))
        ids = [memory.id for memory in view.memories([each.ordinal for each in head])]
        seen.append(
            (ids, np.array([each.score for each in head]), collect_features(view, query, head, beside))
        )
        return Refined(pool)

    found: list[Ordered] = []
    identities, clock = Identities(), SteadyClock()
    with (
        patch.object(LearnedOrder, "refine", watched),
        patch.object(uuid, "uuid4", identities),
        tempfile.TemporaryDirectory() as folder,
        simonides.open(folder, embedder=DEFAULT_EMBEDDER, clock=clock) as store,
    ):
        for name, corpus, asked in _banks(data):
            clock.now = NOW
            bank = identities.bank(store, name)
            keys = {id_: key for part in retain_corpus(bank, corpus, WINDOW) for id_, key in part.items()}
            for fold, question in asked:
                seen.clear()
                bank.recall(question.text, limit=10, max_tokens=None, precision="wide")
                for ids, scores, features in seen:
                    held = tuple(keys.get(each, each) for each in ids)
                    found.append(Ordered(fold, held, frozenset(question.gold), scores, features))
    return found


def _banks(data: Path) -> Iterable[tuple[str, Corpus, list[tuple[str, Question]]]]:
    """Name, items, and each answerable question with its fold."""
    for register in REGISTERS:
        corpus, questions = read_register(register)
        asked = [(each.qid.partition("-")[0], each) for each in questions if each.answerable]
        yield register, corpus, asked
    [(corpus, questions)] = load_musique(data / "musique").corpora
    yield "musique", corpus, [(fifth(each.text), each) for each in questions]


def train(pools: Sequence[Ordered]) -> Forest:
    """A forest; the same for the same pools."""
    import lightgbm  # noqa: PLC0415 - of a group of its own

    some = [each for each in pools if not each.gold.isdisjoint(each.keys)]
    names = tuple(some[0].features)
    labels = np.array([key in each.gold for each in some for key in each.keys], np.float64)
    data = lightgbm.Dataset(
        np.concatenate([matrix(each.features, names) for each in some]),
        labels,
        group=[len(each.keys) for each in some],
        init_score=np.concatenate([each.start() for each in some]),
        params={"verbose": -1},
    )
    model = lightgbm.train(SETTINGS, data, TREES).dump_model()
    trees = [_packed(tree["tree_structure"]) for tree in model["tree_info"]]
    return Forest.read({"features": names, "start": START, "trees": trees})


def _packed(root: Mapping[str, Any]) -> dict[str, list[float]]:
    """A tree as ``Forest.read`` takes it."""
    tree: dict[str, list[float]] = {"column": [], "threshold": [], "mask": [], "value": []}

    def walk(node: Mapping[str, Any]) -> int:
        """The bits of the leaves below."""
        if "leaf_value" in node:
            tree["value"].append(float(f"{node['leaf_value']:.6g}"))
            return 1 << (len(tree["value"]) - 1)
        place = len(tree["column"])
        tree["column"].append(node["split_feature"])
        # Features are rounded to 1e-6, and LightGBM cuts half way between two values.
        tree["threshold"].append(math.floor(node["threshold"] * 1e7) / 1e7)
        tree["mask"].append(0)
        left = walk(node["left_child"])
        tree["mask"][place] = 255 & ~left
        return left | walk(node["right_child"])

    walk(root)
    return tree


def to_dict(forest: Forest) -> dict[str, Any]:
    """JSON-ready; what ``Forest.read`` takes."""
    nodes = np.isfinite(forest.threshold)
    return {
        "features": list(forest.features),
        "start": forest.start,
        "trees": [
            {
                "column": forest.column[place][nodes[place]].tolist(),
                "threshold": forest.threshold[place][nodes[place]].tolist(),
                "mask": forest.mask[place][nodes[place]].tolist(),
                "value": forest.value[place].tolist(),
            }
            for place in range(len(forest.value))
        ],
    }


def figures(pools: Sequence[Ordered], orders: Sequence[NDArray[np.float64]]) -> dict[str, float]:
    """The mean of every measure of ``bench quality``."""
    gold = {str(number): pool.gold for number, pool in enumerate(pools)}
    # Items that share a key count once, at their best place.
    run = {
        str(number): tuple(dict.fromkeys(pool.keys[place] for place in np.argsort(-scores, kind="stable")))
        for number, (pool, scores) in enumerate(zip(pools, orders, strict=True))
    }
    return mean_measures(measure_each(gold, run).values())


def check(pools: Sequence[Ordered]) -> Iterable[str]:
    """Lines of a report: as found, and by forests that did not see the fold."""
    orders: dict[int, NDArray[np.float64]] = {}
    for fold in sorted({each.fold for each in pools}):
        forest = train([each for each in pools if each.fold != fold])
        for place, each in enumerate(pools):
            if each.fold == fold:
                orders[place] = each.start() + forest.scores(matrix(each.features, forest.features))
    for part in ("chats", "musique"):
        of_musique = part == "musique"
        mine = [n for n, each in enumerate(pools) if each.fold.startswith("musique") is of_musique]
        some = [pools[place] for place in mine]
        before = figures(some, [each.scores for each in some])
        after = figures(some, [orders[place] for place in mine])
        told = "  ".join(f"{name} {value:.4f} → {after[name]:.4f}" for name, value in before.items())
        yield f"{part:8} {len(some):4} questions  {told}"


def main() -> None:
    """Train and write, or with ``--check`` print how well it holds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--check", action="store_true", help="print figures out of fold; write nothing")
    options = parser.parse_args()
    pools = collect(options.data)
    if options.check:
        print(*check(pools), sep="\n")
        return
    names = [*(name for names in REGISTERS.values() for name in names), "musique"]
    trained_on = {name: sum(each.fold.partition("-")[0] == name for each in pools) for name in names}
    stored = {"trained_on": trained_on, "forests": {DEFAULT_EMBEDDER: to_dict(train(pools))}}
    TARGET.write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
