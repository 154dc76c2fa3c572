"""What the benches share: their arguments, their embedder, and how a result is printed and kept.

Each is run from the repository's root as ``python -m bench.NAME`` and prints one JSON object. With
``--date`` it also writes ``bench/results/FILE.json``: ``run`` (command, commit, date, machine, libraries)
and ``result``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from simonides.errors import ModelError, SimonidesError
from simonides.models.catalogue import DEFAULT_EMBEDDER
from simonides.models.resolve import load_embedder, pull_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simonides.protocols import Embedder

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
LIBRARIES = ("simonides", "numpy", "onnxruntime", "apsw", "ir-measures")


def bench_parser(about: str | None, *, profile: str | None = None) -> argparse.ArgumentParser:
    """A parser with the arguments that every bench takes; with *profile*, its default, also ``--profile``."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    if profile is not None:
        parser.add_argument("--profile", default=profile, help="name or path")
    parser.add_argument("--embedder", default="auto", help="auto, none, or a model's name")
    parser.add_argument("--date", help="today as YYYY-MM-DD; then the result is also written")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to write")
    return parser


def recall_embedder(name: str) -> Embedder | Literal["auto"] | None:
    """The embedder of a store; without the default model's files the store recalls by words."""
    if name == "none":
        return None
    if name != "auto":
        return load_embedder(name)
    with suppress(ModelError):
        pull_model()
    return "auto"


def encoder(name: str) -> Embedder:
    """The embedder where one must be there."""
    return load_embedder(DEFAULT_EMBEDDER if name == "auto" else name)


def finish(given: argparse.Namespace, file: str, result: Mapping[str, Any]) -> int:
    """Print *result* as JSON and, when there is a date, write it to *file*; 0."""
    print(json.dumps(result, indent=2, ensure_ascii=False))
    if given.date:
        write_result(given.results, file, sys.argv[1:], given.date, result)
    return 0


def write_result(
    results: Path, file: str, arguments: Sequence[str], date: str, result: Mapping[str, Any]
) -> None:
    """Write one page of results; a folder in *arguments* stands as its last part only."""
    shown = [Path(each).name if os.sep in each else each for each in arguments]
    program = ["python", "-m", f"bench.{Path(sys.argv[0]).stem}"]
    page = {"run": describe_run([*program, *shown], date), "result": result}
    results.mkdir(parents=True, exist_ok=True)
    text = json.dumps(page, indent=2, ensure_ascii=False)
    (results / f"{file}.json").write_text(f"{text}\n", encoding="utf-8")


def run(main: Callable[[], int]) -> None:
    """Exit as *main* says, or with 2 and the message when the input is wrong."""
    try:
        sys.exit(main())
    except SimonidesError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def say(phase: str, done: int, total: int | None) -> None:
    """Progress on stderr: a line at the end of each phase."""
    if done == total:
        print(phase, done, file=sys.stderr)


def describe_run(command: list[str], date: str, benches: str = "bench/*.py") -> dict[str, Any]:
    """What a reader needs to judge or repeat the numbers; *benches* are the files that measure."""
    return {
        "command": " ".join(command),
        "date": date,
        "commit": commit(benches),
        "machine": {"cpus": os.cpu_count(), "platform": platform.platform(), "arch": platform.machine()},
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
    }


def commit(benches: str) -> str:
    """The commit that is measured, with ``+changes`` when the working tree differs from it.

    In a copy without a repository it is what ``SIMONIDES_COMMIT`` says.

    Args:
        benches: the path of the files that measure.
    """

    def git(*arguments: str) -> str:
        answer = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        return answer.stdout.strip()

    head = git("rev-parse", "HEAD") or os.environ.get("SIMONIDES_COMMIT", "unknown")
    # Results of this very run are written beside the code and do not change what is measured.
    changed = git("status", "--porcelain", "--", "src", benches, "pyproject.toml")
    return f"{head}+changes" if changed else head


def rounded_mean(values: Sequence[float]) -> float:
    """To 4 places; 0 of none."""
    return round(sum(values) / len(values), 4) if values else 0.0
