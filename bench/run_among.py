"""Everyday's banks of 40 facts, alone and among many other memories: what is refused, what is told.

    PYTHONPATH=. python -m bench.run_among --data ../shared/data --date 2026-11-29 [--json]

The others are invented texts with vectors grown from real ones (``bench scale``): none answers anything, all
are as near to a question as memories of other things are. Facts are stored after them. What is told is what
stands in the context; precision and recall are means over the answerable questions, where nothing told
counts 0. Writes bench/results/among.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.command import ROOT, describe_run
from bench.scale_bank import GrownTokens
from bench.scale_data import TextMaker, VectorMaker, real_vectors

import simonides
from simonides.evaluation.asking import SteadyClock, retain_as_lived
from simonides.evaluation.datasets import load_facts
from simonides.models.cache import models_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.scale_data import RealVectors

    from simonides.bank import Bank
    from simonides.evaluation.datasets import Question

FACTS = 40
SIZES = (0, 1_000, 100_000)
SEED = 7


def main() -> int:
    """Measure at each size; print a table, or with ``--json`` the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="where to write")
    parser.add_argument(
        "--n", type=int, action="append", help="how many others; by default 0, 1,000, 100,000"
    )
    parser.add_argument(
        "--keep", type=Path, default=models_folder().parent / "scale", help="for real vectors"
    )
    parser.add_argument("--show", type=int, default=0, help="so many questions that fail, of each size")
    parser.add_argument("--json", action="store_true", help="print the file that is written")
    given = parser.parse_args()
    sizes = tuple(given.n or SIZES)
    found = [measure(given.data, given.keep, count, given.show) for count in sizes]
    command = ["python", "-m", "bench.run_among", "--data", "DATA", *(f"--n {count}" for count in sizes)]
    page = {"run": describe_run(command, given.date), "result": found}
    text = json.dumps(page, indent=2)
    given.results.mkdir(parents=True, exist_ok=True)
    (given.results / "among.json").write_text(f"{text}\n", encoding="utf-8")
    if given.json:
        print(text)
        return 0
    for row in found:
        print("  ".join(f"{name} {value:g}" for name, value in row.items()))
    return 0


def measure(data: Path, keep: Path, count: int, show: int = 0) -> dict[str, float]:
    """What is told in the banks of ``FACTS`` facts with *count* others in each; *show* failures on stderr."""
    asked: list[tuple[Question, list[str], Any]] = []
    clock = SteadyClock()
    with (
        tempfile.TemporaryDirectory(prefix="simonides-among-") as folder,
        simonides.open(folder, clock=clock) as store,
    ):
        for corpus, questions in load_facts(data / "everyday").corpora:
            if len(corpus.items) != FACTS:
                continue
            bank = store.bank(corpus.name)
            if count:
                assert store.embedder is not None
                _load_others(bank, real_vectors(keep, data, store.embedder, seed=SEED), count)
            keys = {id_: key for part in retain_as_lived(bank, corpus, clock) for id_, key in part.items()}
            for question in questions:
                answer = bank.recall(question.text)
                asked.append((question, [keys.get(hit.id, hit.id) for hit in answer.told], answer))
    for question, told, answer in asked:
        if show and question.answerable and set(told) != set(question.gold):
            show -= 1
            texts = [hit.text[:60] for hit in answer.hits[:3]]
            print(
                f"{answer.confidence:.2f} {question.text!r} told {told} gold {question.gold} {texts}",
                file=sys.stderr,
            )
    return {"others": count, **outcome(asked)}


def outcome(asked: Sequence[tuple[Question, list[str], Any]]) -> dict[str, float]:
    """Means over questions, each with the keys of what was told, and the answer."""
    answerable = [each for each in asked if each[0].answerable]
    precision, recall = [], []
    for question, told, _ in answerable:
        counted = {key for key in told if key in question.gold or key not in question.acceptable}
        right = len(counted & set(question.gold))
        precision.append(right / len(counted) if counted else 0.0)
        recall.append(right / len(question.gold))
    means: dict[str, Any] = {
        "refused": np.mean([answer.no_match for *_, answer in answerable]),
        "precision": np.mean(precision),
        "recall": np.mean(recall),
        "hits": np.mean([len(told) for _, told, _ in answerable]),
    }
    for kind in ("near-miss", "off-topic"):
        mine = [answer for question, _, answer in asked if question.category == kind]
        means[f"{kind} as a match"] = np.mean([answer.band == "match" for answer in mine])
        means[f"{kind} refused"] = np.mean([answer.no_match for answer in mine])
    return {
        "answerable": len(answerable),
        "unanswerable": len(asked) - len(answerable),
        **{name: round(float(value), 4) for name, value in means.items()},
    }


def _load_others(bank: Bank, real: RealVectors, count: int) -> None:
    maker, grower = TextMaker(count, SEED), VectorMaker(real.vectors, SEED)
    blocks = [maker.block(number) for number in range(maker.blocks)]
    grown = [grower.block(number, len(block.items)) for number, block in enumerate(blocks)]

    def items() -> Iterator[dict[str, Any]]:
        for block in blocks:
            yield from block.items

    bases = np.concatenate([each for _, each in grown])
    bank.load(items(), np.concatenate([each for each, _ in grown]), tokens=GrownTokens(real, bases))


if __name__ == "__main__":
    sys.exit(main())
