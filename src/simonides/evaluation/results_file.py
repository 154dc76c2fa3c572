"""A measured run kept whole: each question's answer, so that runs can be compared later.

A file is ``{"dataset", "system", "questions": […]}``, a question with the fields of ``QuestionResult``.
``save_runs`` writes it beside a TREC run and the judgements of the same questions.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.evaluation.measures import measure_each
from simonides.evaluation.report import QuestionResult
from simonides.evaluation.trec import read_qrels, read_run, write_qrels, write_run, write_text
from simonides.files import disk_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Measured:
    """One system's answers to a data set's questions, named for tables."""

    system: str
    results: tuple[QuestionResult, ...]

    def scores(self) -> dict[str, dict[str, float]]:
        """Each measure of every answerable question.

        Raises:
            MissingExtraError: the extra ``eval`` is not installed.
        """
        return measure_each(
            {result.qid: result.gold for result in self.results if result.answerable},
            {result.qid: result.ranked for result in self.results},
        )


def save_runs(folder: Path, dataset: str, measured: Measured) -> list[Path]:
    """Write ``DATASET-SYSTEM.json``, ``DATASET-SYSTEM.run`` and ``DATASET-SYSTEM.qrels``; the paths.

    Raises:
        UnavailableError: a file cannot be written.
    """
    with disk_errors(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
    name = f"{dataset}-{''.join(c if c.isalnum() or c in '._-+' else '_' for c in measured.system)}"
    paths = [folder / f"{name}{suffix}" for suffix in (".json", ".run", ".qrels")]
    page = {
        "dataset": dataset,
        "system": measured.system,
        # What a recall cost differs from run to run; the answers do not.
        "questions": [
            {name: value for name, value in asdict(result).items() if name != "cpu_ms"}
            for result in measured.results
        ],
    }
    write_text(paths[0], f"{json.dumps(page, indent=1, ensure_ascii=False)}\n")
    write_run(paths[1], measured.results, "".join(measured.system.split()) or "simonides")
    write_qrels(paths[2], measured.results)
    return paths


def read_measured(path: Path, qrels: Path | None = None) -> Measured:
    """Read a file of ``save_runs``, or any TREC run with its judgements.

    Args:
        path: a ``.json`` file of ``save_runs``, or a TREC run.
        qrels: the judgements of a TREC run; ``None`` = the file beside it that ends in ``.qrels``.

    Raises:
        InputError: a file cannot be read or has another form.
    """
    if path.suffix == ".json":
        return _saved(path)
    gold = read_qrels(qrels or path.with_suffix(".qrels"))
    run = read_run(path)
    results = [QuestionResult(qid, "", True, keys, run.get(qid, ())) for qid, keys in gold.items()]
    return Measured(path.stem, tuple(results))


def _saved(path: Path) -> Measured:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        results = [_result(row) for row in content["questions"]]
        return Measured(content["system"], tuple(results))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "file", f"{path} is not a result file ({error!r}); write one with bench quality --runs DIR"
        ) from error


def _result(row: dict[str, object]) -> QuestionResult:
    def texts(name: str) -> tuple[str, ...]:
        value = row[name]
        if not isinstance(value, list):
            raise TypeError(f"{name} is not a list")
        return tuple(map(str, value))

    score = row["top_score"]
    return QuestionResult(
        qid=str(row["qid"]),
        category=str(row["category"]),
        answerable=bool(row["answerable"]),
        gold=texts("gold"),
        ranked=texts("ranked"),
        top_score=float(score) if isinstance(score, int | float) else None,
        no_match=bool(row["no_match"]),
    )


def one_set_of_questions(measured: Sequence[Measured]) -> None:
    """Check that all answered the same questions with the same gold.

    Raises:
        InputError: they did not.
    """
    first = {result.qid: set(result.gold) for result in measured[0].results if result.answerable}
    for other in measured[1:]:
        gold = {result.qid: set(result.gold) for result in other.results if result.answerable}
        if gold != first:
            differing = sorted(qid for qid in first.keys() | gold.keys() if first.get(qid) != gold.get(qid))
            raise InputError(
                "compare",
                f"{other.system} and {measured[0].system} were not judged alike: question {differing[0]!r} "
                f"and {len(differing) - 1} more differ; compare runs of the same data set, limit and gold",
            )
