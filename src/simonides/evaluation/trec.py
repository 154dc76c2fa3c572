"""Runs and judgements as the tools of the Text REtrieval Conference read them.

run    ``qid Q0 key rank score tag``, rank from 1, scores made from positions
qrels  ``qid 0 key 1``, one line per gold key

Only answerable questions are written. An answerable question that found nothing has no line in a run, so
the judgements say which questions were asked. A file that ends in ``.gz`` is read compressed. Nothing
written depends on when or where it was made.
"""

from __future__ import annotations

import gzip
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.evaluation.measures import position_scores
from simonides.files import SHARED, write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from simonides.evaluation.report import QuestionResult

_RUN_COLUMNS = 6
_QRELS_COLUMNS = 4


def write_run(path: Path, results: Iterable[QuestionResult], tag: str = "simonides") -> None:
    """Write rankings, in the order of *results*.

    Raises:
        UnavailableError: the file cannot be written.
    """
    lines = [
        f"{result.qid} Q0 {key} {rank} {score} {tag}\n"
        for result in results
        if result.answerable
        for rank, (key, score) in enumerate(position_scores(result.ranked), start=1)
    ]
    write_text(path, "".join(lines))


def write_qrels(path: Path, results: Iterable[QuestionResult]) -> None:
    """Write the gold keys, in the order of *results*.

    Raises:
        UnavailableError: the file cannot be written.
    """
    lines = [f"{result.qid} 0 {key} 1\n" for result in results if result.answerable for key in result.gold]
    write_text(path, "".join(lines))


def read_run(path: Path) -> dict[str, tuple[str, ...]]:
    """Per question its keys, best score first; equal scores by rank, then by key.

    Raises:
        InputError: the file cannot be read or is no run.
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
    """Per question its gold keys, in file order; lines that judge 0 or below are no gold.

    Raises:
        InputError: the file cannot be read or holds no judgements.
    """
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
    """Write a file of results.

    Raises:
        UnavailableError: it cannot be written.
    """
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
