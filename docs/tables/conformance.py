"""What stands behind each requirement: tests, the model it speaks of, what ran in its place, measurements.

The tests are those of ``tests/`` that are marked with ``spec``. One "with real weights" is marked ``model``,
or asks for a fixture that reads the default embedder from the cache.
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.profiles.describing import MODEL_OF, stages
from simonides.profiles.loader import describe_profile
from tables.results import all_pages, measured_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REQUIREMENTS = Path(__file__).with_name("requirements.toml")
TESTS = Path(__file__).parents[2] / "tests"
PROFILES = ("engram", "memoria", "jeffs_brain", "hindsight", "helix", "default", "lexical")
SYSTEMS = {
    "EN": "engram",
    "ME": "Memoria",
    "JB": "jeffs-brain",
    "HI": "Hindsight",
    "HX": "Helix",
    "DF": "our own",
}
_REAL = {"embedder": "all-MiniLM-L6-v2", "sparse encoder": "splade-tiny"}
"""The sorts of model of which weights could be had."""
_STAND_INS = {
    "cross-encoder": "**no real weights**: a graph of the same shape with invented weights, local servers",
    "language model": "**no real model**: a local server answers in its place",
}
_FIXTURES = frozenset({"default_embedder", "user_cache"})


@dataclass(frozen=True, slots=True)
class Marked:
    """A test, the requirements that it is marked with, and whether it runs with real weights."""

    ids: tuple[str, ...]
    real: bool


def requirements(results: Path) -> str:
    """A row for each requirement: its tests, the model, and where it was measured."""
    known: dict[str, dict[str, str]] = tomllib.loads(REQUIREMENTS.read_text(encoding="utf-8"))
    tests: dict[str, list[Marked]] = defaultdict(list)
    for test in marked_tests():
        for one in test.ids:
            tests[one].append(test)
    lines: list[str] = []
    for prefix, system in SYSTEMS.items():
        lines += [
            f"### {system}\n",
            "| | asks for | tests | with real weights | needs a model | what ran here | measured |",
            "|---|---|---:|---:|---|---|---|",
        ]
        for one, row in known.items():
            if one.startswith(prefix):
                real = sum(test.real for test in tests[one])
                kind = row.get("model", "")
                cells = (
                    one,
                    row["text"],
                    str(len(tests[one])),
                    str(real or ""),
                    kind or "–",
                    _ran(kind, real),
                    _measured(results, row.get("measured", "")),
                )
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines).rstrip()


def profiles(results: Path) -> str:
    """Of each profile the stages that ask for a model, and what they had when quality was measured."""
    pages = all_pages(results, "quality-*.json")
    lines = [
        "| profile | stages | ask for a model | had in the measurements | did nothing there |",
        "|---|---:|---|---|---|",
    ]
    for name in PROFILES:
        steps = stages(describe_profile(name))
        asking = [(step.name, kind) for step in steps if (kind := MODEL_OF.get(step.technique))]
        had = {
            _given(page["result"], kind)
            for page in pages
            if page["result"]["profile"] == name
            for _, kind in asking
        }
        idle = [
            stage
            for stage, kind in asking
            if not any(_given(page["result"], kind) for page in pages if page["result"]["profile"] == name)
        ]
        cells = (
            f"`{name}`",
            str(len(steps)),
            ", ".join(f"`{stage}`: {kind}" for stage, kind in asking) or "none",
            ", ".join(sorted(filter(None, had))) or "no model",
            ", ".join(f"`{stage}`" for stage in idle) or "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", measured_on(pages)])


def _given(result: Mapping[str, Any], kind: str) -> str:
    """The model of a sort that a measurement was run with; empty = none."""
    return str({"embedder": result.get("embedder"), "sparse encoder": result.get("sparse")}.get(kind) or "")


def _ran(kind: str, real: int) -> str:
    if not kind:
        return "no model needed"
    if kind in _STAND_INS:
        return _STAND_INS[kind]
    return f"{_REAL[kind]}" if real else "invented vectors only"


def _measured(results: Path, name: str) -> str:
    """A result file, its day, and whether its weights were real; empty where none is named."""
    file = results / name
    if not name or not file.is_file():
        return name and f"`{name}` is missing"
    page = json.loads(file.read_text(encoding="utf-8"))
    result = page.get("result")
    weights = result.get("weights", "") if isinstance(result, dict) else ""
    date = page.get("run", page).get("date", "")
    return f"`{name}`, {date}{'; weights ' + weights.partition(',')[0] if weights else ''}"


@cache
def marked_tests() -> tuple[Marked, ...]:
    """Every test of ``tests/`` that is marked with a requirement."""
    return tuple(test for file in sorted(TESTS.rglob("*.py")) for test in read_tests(file.read_text("utf-8")))


def read_tests(source: str) -> Iterator[Marked]:
    """The marked tests of a module, without running it."""
    tree = ast.parse(source)
    whole = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and _named(node) == "pytestmark"
    ]
    ids, real = _marks(whole)
    # A fixture that asks for a real model hands it on.
    fixtures = set(_FIXTURES)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in functions:
        if not node.name.startswith("test_") and _asks(node) & fixtures:
            fixtures.add(node.name)
    for node in functions:
        own, marked_real = _marks(node.decorator_list)
        found = tuple(dict.fromkeys((*ids, *own)))
        if node.name.startswith("test_") and found:
            yield Marked(found, real or marked_real or bool(_asks(node) & fixtures))


def _marks(nodes: list[ast.expr]) -> tuple[tuple[str, ...], bool]:
    """The requirements that decorators or ``pytestmark`` name, and whether one is the mark ``model``."""
    ids: list[str] = []
    real = False
    for node in (each for outer in nodes for each in ast.walk(outer)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "spec":
            ids += [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
        real = real or (isinstance(node, ast.Attribute) and node.attr == "model")
        real = real or (isinstance(node, ast.Constant) and node.value in _FIXTURES)
    return tuple(ids), real


def _asks(node: ast.FunctionDef) -> set[str]:
    """The fixtures of a test or fixture, by parameter or by ``getfixturevalue``."""
    texts = {
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }
    return {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)} | texts


def _named(node: ast.Assign) -> str:
    target = node.targets[0]
    return target.id if isinstance(target, ast.Name) else ""
