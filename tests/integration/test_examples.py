"""The examples run as they stand, without a model, a network or leftovers, and print what they should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED = {
    "quickstart.py": [
        "best: Odalys moved the weekly review to Thursday.",
        "context: [1] (2026-02-24) Odalys moved the weekly review to Thursday.",
        "tagged: ['Bram deploys from the release branch only.']",
        "that day: ['The staging database was restored on 2026-02-20.']",
        "earlier: 0",
        "forgotten: 1",
        "left: 2",
    ],
    "two_banks_and_principals.py": [
        "garden: ['The greenhouse heater runs on oil.']",
        "office: ['The heater in room 4 is broken.']",
        "ines: 2",
        "tove: 1",
        "refused: NotFoundError",
        "tove forgets: 0",
        "owner still has: Ines plans a surprise for the fair.",
    ],
}


def test_every_example_is_run() -> None:
    assert sorted(PRINTED) == sorted(file.name for file in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example_runs_alone_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))

    answer = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    assert answer.stdout.splitlines() == PRINTED[name]
    assert list(tmp_path.rglob("*")) == [temporary]
