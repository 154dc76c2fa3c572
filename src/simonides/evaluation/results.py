"""Measures of a ranked answer against the keys that should be in it, and files of measured runs.

=========  =========================================================================================
recall@n   fraction of the gold keys among the first n
ndcg@10    sum of 1/log2(rank + 1) over gold keys in the first 10, divided by the best possible sum
mrr        1 / rank of the first gold key, 0 when none was found
all@10     1 when every gold key is among the first 10, else 0 (so 0 with more than 10 gold keys)
=========  =========================================================================================

All but all@10 come from ``ir_measures``, the field's reference implementation. It orders a run by score
and breaks ties its own way; here the order of the hits *is* the ranking, so it is given scores made from
positions, which never tie. Needs the extra ``eval``.

Runs and judgements as the tools of the Text REtrieval Conference read them:

    run    ``qid Q0 key rank score tag``, rank from 1, scores made from positions
    qrels  ``qid 0 key 1``, one line per gold key

Only answerable questions are written. An answerable question that found nothing has no line in a run, so
the judgements say which questions were asked. A file that ends in ``.gz`` is read compressed. Nothing
written depends on when or where it was made. A run kept whole is ``{"dataset", "system", "questions": […]}``,
a question with the fields of ``QuestionResult``; ``save_runs`` writes it beside a TREC run and its
judgements.
"""

from __future__ import annotations

import gzip
import importlib
import json
import zlib
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.errors import InputError, MissingExtraError
from simonides.files import SHARED, disk_errors, write_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


MEASURES = ("recall@5", "recall@10", "recall@20", "ndcg@10", "mrr", "all@10")

_ALL_CUTOFF = 10


def load_ir_measures() -> Any:
    """The ``ir_measures`` module; ``MissingExtraError`` when it is not installed."""
    try:
        # Optional: only this file may need it, and only when something is measured.
        return importlib.import_module("ir_measures")
    except ImportError as error:
        raise MissingExtraError(
            "measuring quality needs the package ir-measures; install it with: pip install 'simonides[eval]'"
        ) from error


def measure_each(
    gold: Mapping[str, Collection[str]], run: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Every measure, in [0, 1], of every question of *gold*, in that order.

    Args:
        gold: per question id, the keys that should be found; at least one each, else ``InputError``.
        run: per question id, the keys found, best first, without repeats; a question that is missing here
            found nothing.
    """
    library = load_ir_measures()
    named = {
        "recall@5": library.R @ 5,
        "recall@10": library.R @ 10,
        "recall@20": library.R @ 20,
        "ndcg@10": library.nDCG @ 10,
        "mrr": library.RR,
    }
    names = {measure: name for name, measure in named.items()}
    _check(gold, run)
    values = {
        qid: {**dict.fromkeys(MEASURES, 0.0), "all@10": all_found(gold[qid], run.get(qid, ()), _ALL_CUTOFF)}
        for qid in gold
    }
    judgements = {qid: dict.fromkeys(keys, 1) for qid, keys in gold.items()}
    scores = {
        qid: {key: float(score) for key, score in position_scores(run[qid])} for qid in gold if run.get(qid)
    }
    for metric in library.iter_calc(list(named.values()), judgements, scores):
        values[metric.query_id][names[metric.measure]] = float(metric.value)
    return values


def all_found(gold: Collection[str], ranked: Sequence[str], cutoff: int) -> float:
    """1.0 when all *gold* keys are among the first *cutoff* of *ranked*, else 0.0."""
    return float(set(gold) <= set(ranked[:cutoff]))


def position_scores(ranked: Sequence[str]) -> list[tuple[str, int]]:
    """Each key with a score made from its position: n for the first of n, 1 for the last.

    Whole numbers up to 2^24 are exact even in the 32-bit scores of trec_eval.
    """
    return [(key, len(ranked) - position) for position, key in enumerate(ranked)]


def mean_measures(each: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of every measure over questions; ``InputError`` when there are no questions."""
    table = np.array([[values[name] for name in MEASURES] for values in each], dtype=np.float64)
    if not table.size:
        raise InputError("questions", "there is no mean over no questions; measure at least one")
    return dict(zip(MEASURES, table.mean(axis=0).tolist(), strict=True))


def _check(gold: Mapping[str, Collection[str]], run: Mapping[str, Sequence[str]]) -> None:
    for qid, keys in gold.items():
        if not keys:
            raise InputError("gold", f"question {qid} has no gold keys; leave it out of the measurement")
        ranked = run.get(qid, ())
        if len(set(ranked)) != len(ranked):
            raise InputError(
                "run", f"the ranking of question {qid} repeats a key; keep each key's best rank only"
            )


_RUN_COLUMNS = 6
_QRELS_COLUMNS = 4


def write_run(path: Path, results: Iterable[QuestionResult], tag: str = "simonides") -> None:
    """Write rankings, in the order of *results*; ``UnavailableError`` when the file cannot be written."""
    lines = [
        f"{result.qid} Q0 {key} {rank} {score} {tag}\n"
        for result in results
        if result.answerable
        for rank, (key, score) in enumerate(position_scores(result.ranked), start=1)
    ]
    write_text(path, "".join(lines))


def write_qrels(path: Path, results: Iterable[QuestionResult]) -> None:
    """Write the gold keys, in the order of *results*; ``UnavailableError`` as for ``write_run``."""
    lines = [f"{result.qid} 0 {key} 1\n" for result in results if result.answerable for key in result.gold]
    write_text(path, "".join(lines))


def read_run(path: Path) -> dict[str, tuple[str, ...]]:
    """Per question its keys, best score first.

    Equal scores by rank, then by key. ``InputError`` if no run.
    """
    found: dict[str, list[tuple[float, int, str]]] = defaultdict(list)
    for number, columns in _rows(path, _RUN_COLUMNS, "a TREC run: qid Q0 key rank score tag"):
        try:
            found[columns[0]].append((-float(columns[4]), int(columns[3]), columns[2]))
        except ValueError as error:
            raise InputError(
                "run", f"{path}, line {number}: {error}; rank and score must be numbers"
            ) from error
    return {qid: tuple(dict.fromkeys(key for _, _, key in sorted(hits))) for qid, hits in found.items()}


def read_qrels(path: Path) -> dict[str, tuple[str, ...]]:
    """Per question its gold keys, in file order; lines that judge 0 or below are no gold."""
    gold: dict[str, list[str]] = defaultdict(list)
    for number, columns in _rows(path, _QRELS_COLUMNS, "TREC judgements: qid 0 key grade"):
        try:
            if int(columns[3]) > 0:
                gold[columns[0]].append(columns[2])
        except ValueError as error:
            raise InputError(
                "qrels", f"{path}, line {number}: {error}; the grade must be a whole number"
            ) from error
    if not gold:
        raise InputError("qrels", f"{path} judges nothing as relevant; give the file that belongs to the run")
    return {qid: tuple(dict.fromkeys(keys)) for qid, keys in gold.items()}


def write_text(path: Path, text: str) -> None:
    """Write a file of results; ``UnavailableError`` when it cannot be written."""
    write_file(path, text, mode=SHARED)


def _rows(path: Path, width: int, form: str) -> Iterator[tuple[int, list[str]]]:
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        lines = content.decode().splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError("file", f"{path} cannot be read ({error}); give {form}") from error
    for number, line in enumerate(lines, start=1):
        columns = line.split()
        if not columns:
            continue
        if len(columns) != width:
            raise InputError("file", f"{path}, line {number}: {len(columns)} columns instead of {form}")
        yield number, columns


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question's answer.

    Attributes:
        ranked: keys found, best first, without repeats.
        top_score: the first hit's score on the profile's own scale, or ``None`` without hits.
        no_match: whether the engine said that nothing relevant was found.
        cpu_ms: milliseconds of CPU that the recall took, encoders and all threads; ``None`` = not measured.
    """

    qid: str
    category: str
    answerable: bool
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    top_score: float | None = None
    no_match: bool = False
    cpu_ms: float | None = None


@dataclass(frozen=True, slots=True)
class QualityReport:
    """A whole run.

    Attributes:
        window: how many turns on either side were a turn's context.
        embedder: the embedder's name, or ``None`` when there was none.
        results: every question asked, in order.
        scores: per answerable question id, each measure's value in [0, 1].
        ignored_evidence: gold references of the original dataset that match no item.
        unscored_questions: answerable questions of the original left out for want of gold.
        sparse: the sparse encoder's name, or ``None`` when there was none.
        seconds: time to retain and ask everything.
    """

    dataset: str
    profile: str
    window: int
    embedder: str | None
    version: str
    results: tuple[QuestionResult, ...]
    scores: Mapping[str, Mapping[str, float]] = field(repr=False)
    ignored_evidence: int
    unscored_questions: int
    seconds: float
    sparse: str | None = None

    def metrics(self, category: str | None = None) -> dict[str, float]:
        """Mean of each measure over the answerable questions, of one category or of all.

        ``InputError`` if none.
        """
        return mean_measures(
            self.scores[result.qid]
            for result in self.results
            if result.answerable and category in {None, result.category}
        )

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready summary; measures rounded to 6 places, seconds to 3."""
        answerable = [result for result in self.results if result.answerable]
        by_category = {
            category: {
                "questions": sum(result.category == category for result in answerable),
                **rounded(self.metrics(category)),
            }
            for category in sorted({result.category for result in answerable})
        }
        return {
            "dataset": self.dataset,
            "profile": self.profile,
            "window": self.window,
            "embedder": self.embedder,
            "sparse": self.sparse,
            "version": self.version,
            "questions": len(answerable),
            "metrics": rounded(self.metrics()),
            "by_category": by_category,
            "unanswerable": self._unanswerable(),
            "recall_cpu_ms": self._recall_cpu(),
            "ignored_evidence": self.ignored_evidence,
            "unscored_questions": self.unscored_questions,
            "seconds": round(self.seconds, 3),
        }

    def write_run(self, path: Path) -> None:
        """Write the rankings of the answerable questions as a TREC run."""
        write_run(path, self.results)

    def _recall_cpu(self) -> dict[str, float] | None:
        spent = [result.cpu_ms for result in self.results if result.cpu_ms is not None]
        if len(spent) < 2:
            return None
        shares = quantiles(spent, n=20, method="inclusive")
        return {"p50": round(shares[9], 3), "p95": round(shares[18], 3)}

    def _unanswerable(self) -> dict[str, Any]:
        asked = [result for result in self.results if not result.answerable]
        top_scores = [result.top_score for result in asked if result.top_score is not None]
        return {
            "questions": len(asked),
            "no_match": sum(result.no_match for result in asked),
            "mean_top_score": round(fmean(top_scores), 6) if top_scores else None,
        }


def rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    """Measures to 6 places."""
    return {name: round(value, 6) for name, value in metrics.items()}


@dataclass(frozen=True, slots=True)
class Measured:
    """One system's answers to a data set's questions, named for tables."""

    system: str
    results: tuple[QuestionResult, ...]

    def scores(self) -> dict[str, dict[str, float]]:
        """Each measure of every answerable question."""
        return measure_each(
            {result.qid: result.gold for result in self.results if result.answerable},
            {result.qid: result.ranked for result in self.results},
        )


def save_runs(folder: Path, dataset: str, measured: Measured) -> list[Path]:
    """Write ``DATASET-SYSTEM.json``, ``DATASET-SYSTEM.run`` and ``DATASET-SYSTEM.qrels``; the paths."""
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
    """Check that all answered the same questions with the same gold; ``InputError`` when they did not."""
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
