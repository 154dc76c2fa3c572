"""Result files of bench/results/, as every table reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MEASURES = ("recall@5", "recall@10", "ndcg@10", "all@10")
NAMES = {"locomo": "LoCoMo", "musique": "MuSiQue"}
"""Data sets."""


class NotMeasuredError(Exception):
    """No file holds what a table shows."""


def all_pages(results: Path, pattern: str) -> list[dict[str, Any]]:
    """The files whose names match *pattern*, by name; at least one.

    Raises:
        NotMeasuredError: there is none.
    """
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(results.glob(pattern))]
    if not found:
        raise NotMeasuredError(pattern)
    return found


def pages_by_data(results: Path, *names: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, data set and file of each ``NAME-DATA.json`` that is there; at least one.

    Raises:
        NotMeasuredError: there is none.
    """
    found = [
        (name, data, json.loads(file.read_text(encoding="utf-8")))
        for name in names
        for data in NAMES
        if (file := results / f"{name}-{data}.json").is_file()
    ]
    if not found:
        raise NotMeasuredError(", ".join(names))
    return found


def measured_on(pages: Iterable[dict[str, Any]], where: str = "") -> str:
    """When and at which commits the figures were taken, and where they lie."""
    runs = [page["run"] for page in pages]
    dates = sorted({run["date"] for run in runs})
    commits = sorted({run["commit"][:12] for run in runs})
    return f"Measured on {' and '.join(dates)} at {', '.join(commits)}: `bench/results/{where}`."
