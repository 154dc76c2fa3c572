"""models.onnx_runtime: cores, telemetry and the choice of a user; opening is tested with each sort of model."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from simonides.models.onnx_runtime import cores, import_runtime

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_cores_are_counted_where_the_system_cannot_tell_the_allowed_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)

    assert cores() == 1


def test_the_runtime_is_told_to_report_nothing(tmp_path: Path) -> None:
    # It would leave a device id in the user's cache folder, and later send it. CI variables would hide that.
    code = "from simonides.models.onnx_runtime import import_runtime; import_runtime()"
    hidden = {"CI", "ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED", "GITHUB_ACTIONS"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment | home, check=True, timeout=60
    )

    assert list(tmp_path.iterdir()) == []


def test_a_users_own_choice_about_reports_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")

    import_runtime()

    assert os.environ["ORT_DISABLE_TELEMETRY"] == "0"
