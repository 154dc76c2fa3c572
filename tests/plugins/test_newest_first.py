"""A channel of another package: one file and one entry point, nothing else."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from simonides.testing.conformance import check_channel

PACKAGE = Path(__file__).parent / "newest_first"

PROFILE = """
name = "newest"
description = "What began to hold last."
limit = 2
order = ["newest_first", "interleave", "token_budget"]

[stages.newest_first]
depth = 10

[stages.token_budget]
count = "rendered"
label = []
"""

PROGRAM = """
import json, sys
import simonides

with simonides.open(sys.argv[1], embedder=None) as store:
    bank = store.bank()
    for month in (3, 1, 2):
        bank.retain(f"month {month}", event_time=f"2026-{month:02}-01")
    found = bank.recall("anything", profile=sys.argv[2])
    print(json.dumps([[hit.text for hit in found], [dict(hit.ranks) for hit in found]]))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package as an installer lays it out: its module, and its metadata with the entry point."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))["project"]
    place = tmp_path / "site"
    about = place / f"newest_first-{project['version']}.dist-info"
    about.mkdir(parents=True)
    (place / "newest_first.py").write_bytes((PACKAGE / "newest_first.py").read_bytes())
    header = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (about / "METADATA").write_text(header, "utf-8")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return place


def test_the_package_is_one_module() -> None:
    assert sorted(path.name for path in PACKAGE.glob("*.*")) == ["newest_first.py", "pyproject.toml"]


@pytest.mark.parametrize("depth", [3, 100])
def test_it_is_a_channel(depth: int) -> None:
    check_channel(runpy.run_path(str(PACKAGE / "newest_first.py"))["NewestFirst"](depth=depth))


def test_a_profile_that_names_it_recalls_by_it(installed: Path, tmp_path: Path) -> None:
    profile = tmp_path / "newest.toml"
    profile.write_text(PROFILE, "utf-8")
    source = f"import sys; sys.path.insert(0, {str(installed)!r})\n{PROGRAM}"

    answer = subprocess.run(
        [sys.executable, "-c", source, str(tmp_path / "store"), str(profile)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout) == [
        ["month 3", "month 2"],
        [{"newest_first": 1}, {"newest_first": 2}],
    ]


def test_without_the_package_the_profile_names_what_is_missing(tmp_path: Path) -> None:
    profile = tmp_path / "newest.toml"
    profile.write_text(PROFILE, "utf-8")
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "store"), str(profile)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "newest_first" in answer.stderr.splitlines()[-1]
