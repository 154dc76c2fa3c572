"""`simonides recall --count-returned` counts what it shows as used, once it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.testing import CliRunner

import simonides
from simonides.surfaces.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_what_is_shown_counts_as_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "none")
    with simonides.open(tmp_path, embedder=None) as store:
        (memory,) = store.bank().retain("the pump of the dinghy leaks")
    asked = ["recall", "pump", "--store", str(tmp_path)]

    for options, counted in (([], 0), (["--count-returned"], 1), (["--count-returned"], 2)):
        assert CliRunner().invoke(app, [*asked, *options]).exit_code == 0
        with simonides.open(tmp_path, embedder=None) as store:
            (hit,) = store.bank().recall("pump")
        assert (hit.id, hit.memory.access_count) == (memory, counted)
