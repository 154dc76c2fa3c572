"""The script that runs the Dockerfile's steps finds each of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_step_is_found_as_a_shell_command() -> None:
    spec = importlib.util.spec_from_file_location("check_container", ROOT / "scripts" / "check_container.py")
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    steps = script.read_steps((ROOT / "Dockerfile").read_text("utf-8"))
    assert list(steps) == ["build", "install", "model", "health", "serve"]
    assert steps["model"] == "simonides models pull"
    assert steps["serve"] == "simonides serve"
    assert steps["health"].startswith('python -c "import urllib.request; ')
    assert "/source[server,mcp]" in steps["build"]
    two = "# step: a\nRUN one \\\n    && two\n# step: b\nHEALTHCHECK --interval=3s CMD \\\n    three\n"
    assert script.read_steps(two) == {"a": "one  && two", "b": "three"}
