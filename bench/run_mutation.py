"""Break the code on purpose, one small change at a time, and count how many changes no test notices.

    python bench/run_mutation.py --date 2026-01-31 [--only view.py parser.py] [--jobs N] [--resume]

Each module is mutated by mutmut in a copy of the checkout and judged by its own tests alone (see MODULES).
score = (killed + timed out) / mutants; mutants that no test reaches count as survivors. Functions with a
decorator (properties, cached ones) are left alone by mutmut, so what they do counts neither way. The names of
survivors are in the result: `mutmut show NAME` prints one in the folder that --keep names. The result is
written after each module, beside those that the file holds; with --resume, modules that are as they were when
they were measured are left out. Exit status 1 when a module is below the least score.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LEAST = 0.75
CARRIED = ("src", "tests", "bench", "pyproject.toml")

_UNIT, _PROPERTY = "tests/unit", "tests/property"
_DSL = (f"{_UNIT}/text/query_dsl", f"{_PROPERTY}/test_query_dsl.py")
_PACKING = f"{_UNIT}/recall/packing"
_QUESTION = ("budget", "embedding", "entities", "intent", "retrieval_mode", "sparse_terms", "terms")

MODULES: dict[str, tuple[str, ...]] = {
    "index/view.py": (
        f"{_UNIT}/index/test_view.py",
        f"{_UNIT}/index/test_view_graph.py",
        f"{_PROPERTY}/index/test_view.py",
        f"{_PROPERTY}/index/test_view_graph.py",
    ),
    "index/columns.py": tuple(f"{_UNIT}/index/test_{name}.py" for name in ("columns", "occurred", "view")),
    "index/conditions.py": tuple(f"{_UNIT}/index/test_{name}.py" for name in ("conditions", "view")),
    "index/accesses.py": (f"{_UNIT}/index/test_accesses.py",),
    "index/snapshot.py": (f"{_UNIT}/index/test_snapshot.py", f"{_UNIT}/index/test_view.py"),
    "text/query_dsl.py": _DSL,
    "text/dates.py": (
        f"{_UNIT}/text/test_dates.py",
        f"{_UNIT}/text/query_dsl",
        f"{_UNIT}/text/test_field_terms.py",
    ),
    "recall/understanding/question.py": (
        *(f"{_UNIT}/recall/understanding/test_{name}.py" for name in _QUESTION),
    ),
    "recall/packing/packers.py": (
        *(f"{_PACKING}/test_{name}.py" for name in ("token_budget", "chunks", "render")),
        f"{_PROPERTY}/test_packing.py",
    ),
    "recall/packing/outside_in.py": (f"{_PACKING}/test_outside_in.py",),
    "recall/packing/cited_context.py": (f"{_PACKING}/test_cited_context.py", f"{_PROPERTY}/test_packing.py"),
    "recall/fusion.py": (
        f"{_UNIT}/recall/fusion",
        f"{_PROPERTY}/test_fusion.py",
        f"{_PROPERTY}/test_score_fusion.py",
    ),
}
"""Modules of ``simonides`` and the tests that must notice each change."""

_KILLED, _SURVIVED, _UNREACHED = {1, 3}, {0}, {5, 33}
_TIMED_OUT = {-24, 24, 36, 152, 255}


def main() -> int:
    asked = _arguments()
    out = asked.out or ROOT / "bench" / "results" / "reliability-mutation.json"
    for module, tests in MODULES.items():
        if asked.only and not any(module.endswith(name) for name in asked.only):
            continue
        text = _text_hash(module, tests)
        if asked.resume and _read(out)["modules"].get(module, {}).get("of") == text:
            continue
        found = {"of": text, **_mutate(module, tests, asked.jobs, asked.keep)}
        print(f"{module}: {found['score']} ({found['killed'] + found['timed_out']} of {found['mutants']})")
        result = _read(out)
        modules = {**result["modules"], module: found}
        result["modules"] = {name: modules[name] for name in MODULES if name in modules}
        result |= {"date": asked.date, "python": platform.python_version(), "least": LEAST}
        result["score"] = _whole(result["modules"])
        out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(any(found["score"] < LEAST for found in _read(out)["modules"].values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--date", required=True, help="YYYY-MM-DD")
    parser.add_argument("--only", nargs="+", metavar="MODULE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder for the copies; by default they are deleted")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def _read(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"modules": {}}
    return json.loads(out.read_text(encoding="utf-8")) if out.exists() else found


def _whole(modules: dict[str, Any]) -> float:
    mutants = sum(found["mutants"] for found in modules.values())
    noticed = sum(found["killed"] + found["timed_out"] for found in modules.values())
    return round(noticed / mutants, 3) if mutants else 0.0


def _text_hash(module: str, tests: tuple[str, ...]) -> str:
    """Of the module and its tests, so that a result is known to be of what is there."""
    digest = hashlib.sha256()
    paths = [ROOT / "src" / "simonides" / module]
    for test in tests:
        place = ROOT / test
        paths += sorted(place.glob("*.py")) if place.is_dir() else [place]
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _mutate(module: str, tests: tuple[str, ...], jobs: int, keep: Path | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        place = (keep or Path(scratch)) / module.replace("/", "-")
        place.mkdir(parents=True, exist_ok=True)
        for name in CARRIED:
            source, target = ROOT / name, place / name
            if source.is_dir():
                shutil.copytree(
                    source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copyfile(source, target)
        _configure(place, module, tests)
        environ = os.environ | {"PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
        environ["HYPOTHESIS_PROFILE"] = "mutation"
        done = subprocess.run(
            [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs)],
            cwd=place,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        meta = place / "mutants" / "src" / "simonides" / f"{module}.meta"
        # It gives up where no test reaches any mutant; then all of them are left.
        unreached = "could not find any test case" in done.stdout + done.stderr
        if not meta.exists() or (done.returncode and not unreached):
            raise SystemExit(f"{module}: mutmut failed:\n{(done.stdout + done.stderr)[-3_000:]}")
        return _counted(json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"])


def _configure(place: Path, module: str, tests: tuple[str, ...]) -> None:
    path = place / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    assert "mutmut" not in tomllib.loads(text)["tool"]
    settings = {
        "source_paths": ["src"],
        "only_mutate": [f"src/simonides/{module}"],
        "pytest_add_cli_args_test_selection": list(tests),
        "pytest_add_cli_args": [
            "-p",
            "no:randomly",
            "-p",
            "no:cacheprovider",
            "-m",
            "not soak and not model",
        ],
        "also_copy": ["src", "tests", "bench"],
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    path.write_text("\n".join([text, "[tool.mutmut]", *lines, ""]), encoding="utf-8")


def _counted(codes: dict[str, int | None]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    left = []
    for name, code in codes.items():
        if code in _KILLED:
            counts["killed"] += 1
        elif code in _TIMED_OUT:
            counts["timed_out"] += 1
        else:
            counts["survived" if code in _SURVIVED else "unreached" if code in _UNREACHED else "unknown"] += 1
            left.append(name.removeprefix("simonides."))
    total = sum(counts.values())
    if not total:
        raise SystemExit(
            "nothing of the module could be changed; it shows nothing, so leave it out of MODULES"
        )
    noticed = counts["killed"] + counts["timed_out"]
    names = ("killed", "timed_out", "survived", "unreached", "unknown")
    return {
        "mutants": total,
        **{name: counts[name] for name in names},
        "score": round(noticed / total, 3),
        "left": left,
    }


if __name__ == "__main__":
    sys.exit(main())
