"""`simonides why-not`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from simonides.surfaces.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "none")


def test_it_says_where_a_memory_was_lost(tmp_path: Path) -> None:
    run = CliRunner()
    store = ["--store", str(tmp_path / "store")]
    kept = run.invoke(app, ["retain", "The kettle is in the galley.", *store]).stdout.strip()
    other = run.invoke(app, ["retain", "The stove was repaired.", *store]).stdout.strip()

    told = run.invoke(app, ["why-not", other, "kettle", "--profile", "lexical", *store])
    assert told.exit_code == 0
    assert f"{other} was lost at channels" in told.stdout

    answer = json.loads(run.invoke(app, ["why-not", kept, "kettle", "--json", *store]).stdout)
    assert answer["returned"] is True

    missing = run.invoke(app, ["why-not", "0123456789abcdef", "kettle", *store])
    assert missing.exit_code == 1
    assert missing.stdout == ""
