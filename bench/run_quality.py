"""Measure recall quality on each data set with each profile; one file per pair in bench/results/.

Then, on the same banks: each profile beside ``default`` (``compare-DATASET.json``), ``default`` with each
stage left out (``ablation-DATASET.json``); among 10,000 distractors, beside words alone
(``distractors-DATASET.json``); and with the learned sparse channel, where its weights are there
(``sparse-DATASET.json``).
A file holds ``run`` (what was measured where: command, version, commit, date, machine, libraries) and
``result`` (the JSON that the command printed). Run it by ``make bench``, which hands in the date.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.command import ROOT, describe_run

from simonides.models.catalogue import DEFAULT_SPARSE
from simonides.models.resolve import verify_model

DATASETS = ("locomo", "musique")
PROFILES = ("default", "lexical", "engram", "memoria", "jeffs_brain", "hindsight", "helix")
SPARSE_PROFILE = ROOT / "bench" / "profiles" / "default-sparse.toml"
PARTS = ("profiles", "variants")


def main() -> int:
    """Run all pairs; 1 as soon as one cannot be measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds locomo/ and musique/")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="where to write")
    parser.add_argument("--limit", type=int, help="only the first LIMIT questions")
    parser.add_argument("--dataset", choices=DATASETS, help="only this one")
    parser.add_argument("--part", choices=PARTS, help="only the profiles and stages, or only the variants")
    parser.add_argument("--distractors", type=int, default=10_000, help="memories that answer nothing")
    parser.add_argument(
        "--relevance", action="store_true", help="only measure how well probabilities hold on DATA"
    )
    given = parser.parse_args()

    if given.data is None or not given.data.is_dir():
        print(f"nothing to measure: there is no folder {given.data}; name one by DATA=…", file=sys.stderr)
        return 1
    given.results.mkdir(parents=True, exist_ok=True)
    if given.relevance:
        return measure_relevance(given.data, given.date, given.results)
    with tempfile.TemporaryDirectory(prefix="simonides-bench-") as folder:
        data, scratch = given.data.resolve(), Path(folder)
        bench = Bench(data, given.date, given.results, scratch, given.limit, given.distractors, given.part)
        chosen = (given.dataset,) if given.dataset else DATASETS
        return int(not all(bench.measure(dataset) for dataset in chosen))


@dataclass(frozen=True)
class Bench:
    """All that is measured of the quality of one data set after the other, on banks retained once.

    Attributes:
        data: folder of the data sets.
        date: today.
        results: where to write.
        scratch: for banks and answers.
        limit: only the first so many questions; ``None`` = all.
        distractors: memories that answer nothing, for the measurement among them.
        part: of ``PARTS``; ``None`` = both.
    """

    data: Path
    date: str
    results: Path
    scratch: Path
    limit: int | None
    distractors: int
    part: str | None = None

    def measure(self, dataset: str) -> bool:
        """Write all files of *dataset*; false as soon as something cannot be measured."""
        return (self.part == "variants" or self._profiles(dataset)) and (
            self.part == "profiles" or self._variants(dataset)
        )

    def _profiles(self, dataset: str) -> bool:
        answers = [str(self.scratch / "runs" / f"{dataset}-{profile}.json") for profile in PROFILES]
        return (
            all(self._quality(dataset, profile) for profile in PROFILES)
            and self._write("compare", dataset, ["simonides", "bench", "compare", *answers, "--json"])
            and self._write("ablation", dataset, ["bench.ablation", "--dataset", dataset, *self._options()])
        )

    def _variants(self, dataset: str) -> bool:
        more = ["bench.changed_datasets", "--dataset", dataset, "--distractors", f"{self.distractors}"]
        return self._beside(dataset, "distractors", ["lexical", "default"], more) and self._sparse(dataset)

    def _quality(self, dataset: str, profile: str) -> bool:
        command = ["simonides", "bench", "quality", "--dataset", dataset, "--profile", profile, "--json"]
        kept = ["--runs", str(self.scratch / "runs")]
        return self._write("quality", dataset, [*command, *self._options(), *kept], profile)

    def _beside(self, dataset: str, name: str, profiles: list[str], command: list[str]) -> bool:
        """Several profiles by the same *command*, in one file."""
        answers = {
            profile: _answer([*command, *self._options(), "--profile", profile], self.scratch)
            for profile in profiles
        }
        if None in answers.values():
            return False
        self._page(f"{name}-{dataset}", command, answers)
        return True

    def _sparse(self, dataset: str) -> bool:
        """With the learned sparse channel; passed over where its weights are not there (ADR 0007)."""
        if verify_model(DEFAULT_SPARSE).state != "ready":
            print(f"{DEFAULT_SPARSE} is not there: the sparse channel is not measured", file=sys.stderr)
            return True
        os.environ["SIMONIDES_SPARSE"] = DEFAULT_SPARSE
        try:
            command = ["simonides", "bench", "quality", "--dataset", dataset, "--json"]
            return self._beside(dataset, "sparse", [str(SPARSE_PROFILE)], command)
        finally:
            del os.environ["SIMONIDES_SPARSE"]

    def _options(self) -> list[str]:
        options = ["--data", str(self.data), "--keep-banks", str(self.scratch / "banks")]
        return [*options, "--limit", str(self.limit)] if self.limit else options

    def _write(self, name: str, dataset: str, command: list[str], profile: str = "") -> bool:
        result = _answer(command, self.scratch)
        if result is None:
            return False
        print("  ", json.dumps(result.get("metrics")), file=sys.stderr)
        shown = [
            part.replace(str(self.data), "DATA").replace(str(self.scratch), "FOLDER") for part in command
        ]
        self._page("-".join(filter(None, (name, dataset, profile))), shown, result)
        return True

    def _page(self, name: str, command: list[str], result: Any) -> None:
        text = json.dumps(
            {"run": describe_run(command, self.date), "result": result}, indent=2, ensure_ascii=False
        )
        # Of the scratch folder nothing may stay in what is kept.
        text = text.replace(f"{self.scratch}/runs/", "")
        (self.results / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def measure_relevance(data: Path, date: str, results: Path) -> int:
    """Write what ``bench relevance`` measures with vectors and by words; 1 when it cannot be measured."""
    for embedder, name in (("auto", "relevance"), ("none", "relevance-words")):
        command = ["simonides", "bench", "relevance", "--json", "--embedder", embedder]
        result = _answer([*command, "--data", str(data)])
        if result is None:
            return 1
        page = json.dumps(
            {"run": describe_run([*command, "--data", "DATA"], date), "result": result}, indent=2
        )
        (results / f"{name}.json").write_text(f"{page}\n", encoding="utf-8")
    return 0


def _answer(command: list[str], scratch: Path | None = None) -> dict[str, Any] | None:
    """The JSON that a module prints, named first; ``None`` when it fails (it has said why on stderr)."""
    print(*command, file=sys.stderr)
    answer = subprocess.run(
        [sys.executable, "-m", *command],
        stdout=subprocess.PIPE,
        cwd=scratch,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    if answer.returncode:
        return None
    result: dict[str, Any] = json.loads(answer.stdout)
    return result


if __name__ == "__main__":
    sys.exit(main())
