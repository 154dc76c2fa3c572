from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture
def data() -> Path:
    """The folder of downloaded datasets; tests that need one skip without it."""
    return Path(os.environ.get("SIMONIDES_DATA", REPOSITORY.parent / "shared" / "data"))
