"""One measured run: a fresh store, a dataset retained and asked, a report."""

from __future__ import annotations

from datetime import UTC
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from simonides.errors import InputError
from simonides.evaluation.asking import ask_all, keep_banks
from simonides.evaluation.results import Measured, QualityReport, load_ir_measures
from simonides.retain.conversations import WINDOW
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simonides.evaluation.asking import Progress
    from simonides.evaluation.datasets import Dataset
    from simonides.evaluation.results import QuestionResult
    from simonides.protocols import Embedder, SparseEncoder


def run_quality(
    dataset: Dataset,
    *,
    store_path: Path,
    timer: Callable[[], float],
    cpu: Callable[[], float] | None = None,
    profile: str = "default",
    limit: int | None = None,
    window: int = WINDOW,
    embedder: Embedder | Literal["auto"] | None = "auto",
    sparse: str | SparseEncoder | None = None,
    progress: Progress | None = None,
) -> QualityReport:
    """Measure how well a profile recalls a dataset's gold items.

    One bank per corpus, retained without deduplication, each question asked to depth 20 without a token
    budget and judged by hit order.

    Args:
        store_path: an empty or missing folder; what is retained stays there.
        timer: seconds from a monotone clock, such as ``time.perf_counter``.
        cpu: seconds of CPU of this process, such as ``time.process_time``; ``None`` = not measured.
        profile: name or path of the profile to recall with.
        window: how many turns before and after a turn of a conversation are its context, from 0.
        limit: how many answerable questions to ask, from the first; ``None`` = all.
        progress: called with the phase ("retain" or "recall"), how many are done, how many there are.

    Raises:
        InputError: the limit is below 1, the window below 0, the folder is not empty, or no question can be
            scored.
        MissingExtraError: the extra ``eval`` is not installed.
    """
    chosen = checked(dataset, limit, window)
    if store_path.exists() and (not store_path.is_dir() or any(store_path.iterdir())):
        raise InputError(
            "store_path",
            f"{store_path} is not an empty folder; give a new one, so that nothing else is found",
        )
    started = timer()
    with open_store(store_path, embedder=embedder, sparse=sparse, zone=UTC) as store:
        results = ask_all(chosen, store, profile=profile, window=window, cpu=cpu, progress=progress)
        sparse_name = store.sparse.name if store.sparse else None
        embedder_name = store.embedder.name if store.embedder else None
    return _report(dataset, profile, window, embedder_name, sparse_name, results, timer() - started)


def run_kept(
    dataset: Dataset,
    folder: Path,
    *,
    timer: Callable[[], float],
    cpu: Callable[[], float] | None = None,
    profile: str = "default",
    limit: int | None = None,
    window: int = WINDOW,
    embedder: Embedder | Literal["auto"] | None = "auto",
    sparse: str | SparseEncoder | None = None,
    progress: Progress | None = None,
) -> QualityReport:
    """Measure as ``run_quality`` does, on banks kept in *folder*, made there when missing.

    Seconds count what was done this time. Arguments and errors as for ``run_quality`` and ``keep_banks``.
    """
    chosen = checked(dataset, limit, window)
    started = timer()
    banks = keep_banks(chosen, folder, window=window, embedder=embedder, sparse=sparse, progress=progress)
    results = banks.ask(profile, cpu=cpu, progress=progress)
    return _report(
        dataset, profile, window, banks.embedder_name, banks.sparse_name, results, timer() - started
    )


def checked(dataset: Dataset, limit: int | None, window: int) -> Dataset:
    """The first *limit* questions of *dataset*, known to be measurable; errors as for ``run_quality``."""
    if window < 0:
        raise InputError("window", f"{window} is negative; give a number of turns from 0")
    load_ir_measures()  # A missing extra is told before the work, not after it.
    chosen = dataset.first(limit)
    if not any(question.answerable for question in chosen.questions):
        raise InputError("dataset", f"{dataset.name} holds no question with a known answer to measure")
    return chosen


def _report(
    dataset: Dataset,
    profile: str,
    window: int,
    embedder: str | None,
    sparse: str | None,
    results: tuple[QuestionResult, ...],
    seconds: float,
) -> QualityReport:
    return QualityReport(
        dataset=dataset.name,
        profile=profile,
        window=window,
        embedder=embedder,
        version=version("simonides"),
        results=results,
        scores=Measured(profile, results).scores(),
        ignored_evidence=dataset.ignored_evidence,
        unscored_questions=dataset.unscored_questions,
        seconds=seconds,
        sparse=sparse,
    )
