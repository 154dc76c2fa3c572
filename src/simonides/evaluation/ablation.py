"""What each stage of a profile is worth: the profile asked again with one of them left out.

Understanders, channels and refiners are left out in turn; fuser and packer always run. All variants ask
the same banks, so memories are retained
once. A variant that cannot run says why instead of numbers. Differences are
variant minus full: a useful stage has a loss.
Source: the ablation tables usual since Newell 1975, "A tutorial on speech understanding systems".
Weakness: stages that stand in for one another each look worthless alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import SimonidesError
from simonides.evaluation.comparing import compare_systems
from simonides.evaluation.measures import mean_measures
from simonides.evaluation.results_file import Measured
from simonides.evaluation.sanity import sanity_rows
from simonides.evaluation.variant import removable, write_variant
from simonides.profiles.loader import load_profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from simonides.evaluation.asking import Progress
    from simonides.evaluation.comparing import Compared
    from simonides.evaluation.dataset import Dataset
    from simonides.evaluation.kept_banks import KeptBanks


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
