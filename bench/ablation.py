"""What each stage of a profile is worth: the profile asked again with one of them left out.

Three rows stand beside the variants, so that the numbers can be believed:

    random      the corpus in an order drawn by a seed: what no system may fall below
    bm25        the profile ``lexical``: words alone
    oracle@100  the profile's own first 100 with the gold first: what a perfect reordering would reach

Understanders, channels and refiners are left out in turn; fuser and packer always run. All variants ask
the same banks, so memories are retained once. A variant that cannot run says why instead of numbers.
Differences are variant minus full: a useful stage has a loss.
Source: the ablation tables usual since Newell 1975, "A tutorial on speech understanding systems".
Weakness: stages that stand in for one another each look worthless alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.changed_datasets import add_arguments, changed_dataset
from bench.command import bench_parser, finish, recall_embedder, run, say

from simonides.errors import SimonidesError
from simonides.evaluation.asking import DEPTH, keep_banks
from simonides.evaluation.comparing import compare_systems
from simonides.evaluation.quality import checked
from simonides.evaluation.results import Measured, QuestionResult, mean_measures
from simonides.evaluation.variant import removable, write_variant
from simonides.profiles.loader import load_profile
from simonides.retain.conversations import WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simonides.evaluation.asking import KeptBanks, Progress
    from simonides.evaluation.comparing import Compared
    from simonides.evaluation.datasets import Dataset


POOL = 100


def sanity_rows(
    banks: KeptBanks, dataset: Dataset, profile: str, seed: int, progress: Progress | None = None
) -> tuple[Measured, ...]:
    """The three rows, in the order of the table above."""
    return (
        Measured("random", random_order(dataset, seed)),
        Measured("bm25", banks.ask("lexical", dataset=dataset, progress=progress)),
        Measured(
            f"oracle@{POOL}", oracle(banks.ask(profile, dataset=dataset, depth=POOL, progress=progress))
        ),
    )


def random_order(dataset: Dataset, seed: int) -> tuple[QuestionResult, ...]:
    """Each question answered by keys of its corpus drawn without repeats, to the usual depth."""
    results = []
    for corpus, questions in dataset.corpora:
        keys = list(dict.fromkeys(item.key for item in corpus.items))
        for question in questions:
            source = random.Random(f"{seed} {question.qid}")
            drawn = tuple(source.sample(keys, min(DEPTH, len(keys))))
            results.append(
                QuestionResult(question.qid, question.category, question.answerable, question.gold, drawn)
            )
    return tuple(results)


def oracle(results: Iterable[QuestionResult]) -> tuple[QuestionResult, ...]:
    """The same hits, gold ones first, either part in its order."""
    return tuple(
        replace(result, ranked=tuple(sorted(result.ranked, key=lambda key: key not in result.gold)))
        for result in results
    )


@dataclass(frozen=True, slots=True)
class Ablation:
    """The table.

    Attributes:
        profile: what was taken apart.
        sanity: random, BM25 alone, oracle.
        full: the profile itself.
        variants: one for each stage left out, named ``without STAGE``.
        refused: why a variant could not run, by name.
        compared: the variants beside the profile; ``None`` = no variant ran.
    """

    profile: str
    sanity: tuple[Measured, ...]
    full: Measured
    variants: tuple[Measured, ...]
    refused: Mapping[str, str]
    compared: Compared | None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready table, measures rounded to 6 places."""
        return {
            "profile": self.profile,
            "rows": {
                each.system: {
                    name: round(value, 6) for name, value in mean_measures(each.scores().values()).items()
                }
                for each in (*self.sanity, self.full, *self.variants)
            },
            "refused": dict(self.refused),
            **(self.compared.to_dict() if self.compared else {}),
        }


def run_ablation(
    banks: KeptBanks,
    dataset: Dataset,
    profile: str,
    folder: Path,
    *,
    stages: Sequence[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Ablation:
    """Ask the profile and its variants.

    Args:
        banks: that hold *dataset*.
        dataset: questions and gold.
        profile: name or path.
        folder: where the variants' files go.
        stages: to leave out, one at a time; empty = all that can be.
        seed: of the random row and of the comparison.
        progress: told after each question.

    Raises:
        UnknownNameError: a stage is not there or cannot be left out.
    """
    refused: dict[str, str] = {}
    variants: list[Measured] = []
    files: dict[str, str] = {}
    for stage in stages or removable(load_profile(profile)):
        files[f"without {stage}"] = write_variant(folder, profile, without=(stage,))
    full = Measured(profile, banks.ask(profile, dataset=dataset, progress=progress))
    for name, file in files.items():
        try:
            variants.append(Measured(name, banks.ask(file, dataset=dataset, progress=progress)))
        except SimonidesError as error:
            refused[name] = str(error)
    return Ablation(
        profile,
        sanity_rows(banks, dataset, profile, seed, progress),
        full,
        tuple(variants),
        refused,
        compare_systems([full, *variants], seed=seed) if variants else None,
    )


def main() -> int:
    parser = bench_parser(__doc__, profile="default")
    add_arguments(parser)
    parser.add_argument("--stage", action="append", help="only leave this one out; may be repeated")
    given = parser.parse_args()
    asked = checked(changed_dataset(given), given.limit, WINDOW)
    with TemporaryDirectory(prefix="simonides-bench-") as folder:
        banks = keep_banks(
            asked,
            given.keep_banks or Path(folder, "banks"),
            window=WINDOW,
            embedder=recall_embedder(given.embedder),
            progress=say,
        )
        found = run_ablation(
            banks,
            asked,
            given.profile,
            Path(folder, "variants"),
            stages=given.stage or (),
            seed=given.seed,
            progress=say,
        )
    answer = {"dataset": given.dataset, "embedder": banks.embedder_name, **found.to_dict()}
    return finish(given, f"ablation-{given.dataset}", answer)


if __name__ == "__main__":
    run(main)
