"""Do ids or names of people lead to the answer? The data set asked again with each scrubbed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from simonides.evaluation.comparing import compare_systems
from simonides.evaluation.kept_banks import keep_banks
from simonides.evaluation.results_file import Measured
from simonides.evaluation.scrubbing import scrub_ids, scrub_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from simonides.evaluation.asking import Progress
    from simonides.evaluation.comparing import Compared
    from simonides.evaluation.dataset import Dataset
    from simonides.evaluation.kept_banks import KeptBanks
    from simonides.protocols import Embedder


@dataclass(frozen=True, slots=True)
class Leaks:
    """What scrubbing changed.

    Attributes:
        profile: what was asked.
        questions: how many were asked.
        ids_changed: questions whose ranking is another with ids scrubbed; none may be.
        names: per corpus, what became of each speaker's name.
        names_compared: names scrubbed beside the original.
    """

    profile: str
    questions: int
    ids_changed: tuple[str, ...]
    names: Mapping[str, Mapping[str, str]]
    names_compared: Compared

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "profile": self.profile,
            "questions": self.questions,
            "ids_changed": list(self.ids_changed),
            "names": {corpus: dict(names) for corpus, names in self.names.items()},
            "names_compared": self.names_compared.to_dict(),
        }


def run_leaks(
    dataset: Dataset,
    profile: str,
    folder: Path,
    *,
    window: int,
    embedder: Embedder | Literal["auto"] | None = "auto",
    seed: int = 0,
    progress: Progress | None = None,
) -> Leaks:
    """Retain and ask the data set three times.

    Args:
        dataset: with at least one answerable question.
        profile: name or path.
        folder: where the banks are kept.
        window: as for ``keep_banks``.
        embedder: as for opening a store.
        seed: of the new ids and of the comparison.
        progress: told after each batch and each question.
    """

    def banks(of: Dataset) -> KeptBanks:
        return keep_banks(of, folder, window=window, embedder=embedder, progress=progress)

    original = banks(dataset).ask(profile, progress=progress)
    scrubbed = scrub_ids(dataset, f"leak-check {seed}")
    answers = banks(scrubbed.dataset).ask(profile, progress=progress)
    back = {}
    for answer in answers:
        qid = scrubbed.qids[answer.qid]
        back[qid] = tuple(scrubbed.keys[qid].get(key, key) for key in answer.ranked)
    changed = tuple(result.qid for result in original if back[result.qid] != result.ranked)

    renamed, names = scrub_names(dataset)
    by_names = banks(replace(renamed, name=f"{dataset.name}-renamed")).ask(profile, progress=progress)
    compared = compare_systems([Measured(profile, original), Measured("names scrubbed", by_names)], seed=seed)
    return Leaks(profile, len(original), changed, names, compared)
