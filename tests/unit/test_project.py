"""What the project says of itself holds: documented commands exist, links lead somewhere, examples run."""

from __future__ import annotations

import ast
import graphlib
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import grimp
import pytest

from simonides.models.catalogue import CATALOGUE

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
RUN_MARK = "<!-- run -->"


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    code: str
    marked: bool

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def fences(page: Path) -> list[Fence]:
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        Fence(
            page=page,
            line=text.count("\n", 0, match.start()) + 1,
            language=match[1],
            code=match[2],
            marked=text[: match.start()].rstrip().endswith(RUN_MARK),
        )
        for match in found
    ]


def make_targets() -> dict[str, str]:
    """Target → what the Makefile says of it."""
    rules = re.findall(r"^([a-z]+):.*?(?:## (.*))?$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    return dict(rules)


EXAMPLES = [f for page in PAGES for f in fences(page) if f.language == "python"]
MARKED = [f for f in EXAMPLES if f.marked]


def test_every_documented_make_target_exists() -> None:
    code = {
        page: " ; ".join(
            [*re.findall(r"`([^`\n]+)`", page.read_text("utf-8")), *(f.code for f in fences(page))]
        )
        for page in PAGES
    }

    named = {
        (page.name, target) for page, text in code.items() for target in re.findall(r"\bmake ([a-z]+)", text)
    }

    assert {target for _, target in named} >= {"demo", "test", "check"}
    # "the" is prose of a shown memory.
    assert not sorted(pair for pair in named if pair[1] not in {*make_targets(), "the"})


def test_every_make_target_says_what_it_does_and_is_in_the_contributing_guide() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

    assert set(make_targets()) == {
        "setup", "demo", "test", "conformance", "check", "fix", "audit", "lock", "sbom", "mutation",
        "bench", "train", "docs", "site", "package", "container", "start", "soak", "encryption", "fuzz", "clean", "help",
        "screenshots", "vendor",
    }  # fmt: skip
    for target, meaning in make_targets().items():
        assert meaning, f"`{target}` has no ## comment"
        assert f"`make {target}`" in contributing


def test_ci_runs_the_documented_test_command_and_then_the_checks() -> None:
    script = ROOT / ".ci" / "run"

    commands = [line for line in script.read_text("utf-8").splitlines() if line.startswith("make")]

    assert commands == ["make test", "make test-ui", "make check", "make package"]
    assert "set -euo pipefail" in script.read_text("utf-8")
    assert os.access(script, os.X_OK)


def test_the_readme_shows_both_commands_and_a_checked_example_by_line_30() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")

    assert "make demo" in readme
    assert "make test" in readme
    first = fences(ROOT / "README.md")
    assert any(f.language == "python" and f.marked and f.line <= 30 for f in first)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)", prose)

    broken = [
        link
        for link in links
        if not re.match(r"[a-z]+:|#", link) and not (page.parent / link.split("#")[0]).exists()
    ]

    assert not broken


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.place)
def test_every_python_example_is_valid_python(example: Fence) -> None:
    assert ast.parse(example.code, filename=example.place).body


RUN_EXAMPLES = """
import contextlib, io, json, os, sys, traceback
problems = []
for code, folder in json.load(sys.stdin):
    os.chdir(folder)
    problems.append("")
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(compile(code, "example", "exec"), {"__name__": "__main__"})
        except BaseException:
            problems[-1] = traceback.format_exc()
print(json.dumps(problems))
"""


@pytest.fixture(scope="module")
def problems_of_examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The traceback of each marked example, run in a folder of its own; all in one process.

    The session's own empty model cache and SIMONIDES_OFFLINE are inherited: no model, no network.
    """
    examples = [(example.code, str(tmp_path_factory.mktemp("example"))) for example in MARKED]
    answer = subprocess.run(
        [sys.executable, "-c", RUN_EXAMPLES],
        input=json.dumps(examples),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert answer.returncode == 0, answer.stderr
    return dict(zip((example.place for example in MARKED), json.loads(answer.stdout), strict=True))


@pytest.mark.parametrize("place", [example.place for example in MARKED])
def test_every_marked_example_runs_without_a_model(place: str, problems_of_examples: dict[str, str]) -> None:
    assert problems_of_examples[place] == ""


def test_every_decision_is_dated_numbered_in_order_and_listed_in_the_index() -> None:
    decisions = sorted(ROOT.glob("docs/adr/[0-9]*.md"))
    index = (ROOT / "docs" / "adr" / "README.md").read_text("utf-8")

    assert [d.name[:4] for d in decisions] == [f"{number:04}" for number in range(1, len(decisions) + 1)]
    for decision in decisions:
        text = decision.read_text("utf-8")
        assert f"]({decision.name})" in index
        assert re.search(r"^- Date: \d{4}-\d{2}-\d{2}$", text, re.MULTILINE), decision.name
        assert re.search(r"^- Status: \w", text, re.MULTILINE), decision.name


def test_every_lint_rule_that_is_switched_off_has_a_reason_beside_it() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    section = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.pydocstyle]")]

    ignores = [
        line
        for line in section.splitlines()
        if re.search(r'"[A-Z]+\d*"', line) and not line.startswith("select")
    ]

    assert len(ignores) > 10
    assert not [line for line in ignores if not re.search(r"#.*\w{3,}", line)]


def test_the_changelog_has_an_entry_for_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]

    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)


def test_names_are_deprecated_in_one_list() -> None:
    """``test_old_names`` proves that the page about versions has every name of it."""
    found = [
        file.stem
        for file in sorted((ROOT / "src").rglob("*.py"))
        if "DeprecationWarning" in file.read_text("utf-8")
    ]

    assert found == ["deprecations"]


def test_every_test_marker_is_explained_in_the_contributing_guide() -> None:
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"][
        "markers"
    ]
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

    for marker in markers:
        name = re.split(r"[(:]", marker)[0]
        assert f"`{name}" in contributing or f"pytest.mark.{name}" in contributing, name


def test_every_profile_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "guide" / "profiles.md").read_text("utf-8")
    profiles = [file.stem for file in ROOT.glob("src/simonides/profiles/*.toml")]

    assert {"default", "lexical"} <= set(profiles)
    assert not [name for name in profiles if f"`{name}`" not in guide]


def test_every_command_is_in_the_guide() -> None:
    from simonides.surfaces.cli.commands import COMMANDS  # noqa: PLC0415 - the other tests need no commands

    guide = (ROOT / "docs" / "guide" / "cli.md").read_text("utf-8")
    names = set(COMMANDS)

    assert {"retain", "recall"} <= names
    assert not sorted(name for name in names if not re.search(rf"`(simonides )?{name}[` ]", guide))


def test_every_model_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "guide" / "models.md").read_text("utf-8")

    assert [
        record.name for record in CATALOGUE if f"| `{record.name}` | {record.dimension} |" not in guide
    ] == []


def test_nothing_is_excepted_from_the_contracts_about_backends() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    excepted = {
        entry
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract.get("id") in {"storage-wall", "apsw-wall"}
        for entry in contract.get("ignore_imports", ())
    }
    assert excepted == {"simonides.backends.** -> apsw"}, "go through `simonides.storage`"


def test_the_wheel_holds_the_data_that_the_engine_reads() -> None:
    """By the build tool's own selection of files; nothing is built."""
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="the build tool is not installed")
    root = Path(__file__).parents[2]
    packed = {file.distribution_path for file in wheel.WheelBuilder(str(root)).recurse_included_files()}
    data = [path for path in (root / "src").rglob("*") if path.suffix in {".f32", ".toml", ".typed"}]
    assert any(path.suffix == ".f32" for path in data)
    assert {path.relative_to(root / "src").as_posix() for path in data} <= packed


def test_every_path_on_the_page_of_the_architecture_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/.-]+/[\w.-]*|[\w-]+\.(?:py|md|toml))`", page))
    places = (ROOT / "src" / "simonides", ROOT, ROOT / "docs")
    assert len(named) > 40
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []
    packages = {path.name for path in places[0].iterdir() if (path / "__init__.py").exists()}
    untold = {package for package in packages - {"testing", "evaluation"} if f"{package}/" not in page}
    assert untold == set()


def test_no_module_imports_itself_through_others() -> None:
    """Imports for type checkers alone count, too; the error names the cycle."""
    graph = grimp.build_graph("simonides", cache_dir=None, exclude_type_checking_imports=False)

    graphlib.TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    ).prepare()
