"""A home without any agent in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PLACES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "XDG_CONFIG_HOME",
    "APPDATA",
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
)
"""Variables that tell agents, and us, where files and projects are."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that every agent takes for the user's home."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    return folder
