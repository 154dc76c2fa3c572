"""The guide's page on viewpoints: two days give two answers. `make check` runs the commands that it shows."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]

SCRIPT = Path(__file__).parents[2] / "docs" / "console.py"
QUERY = ("Cormorant release", "--bank", "demo", "--profile", "helix", "--limit", "3")
BEFORE, AFTER = ("--as-of", "2025-11-30"), ("--as-of", "2025-12-02")
MOVED = "The Cormorant release moves from 2 March to 13 April 2026"
TOKENS = "Ambrose threw away the first token design for Cormorant"


@pytest.fixture
def console() -> ModuleType:
    spec = importlib.util.spec_from_file_location("console", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_page_goes_stale_by_a_word_and_not_by_ids_or_times(console: ModuleType) -> None:
    page = "```console\n$ retain x\n0123456789abcdef took  12.5 ms\n```\n"
    assert console.steady(page) == console.steady(page.replace("0123456789abcdef", "fedcba9876543210"))
    assert console.steady(page) == console.steady(page.replace(" 12.5", "9.1"))
    assert console.steady(page) != console.steady(page.replace("took", "takes"))
    old = "```console\n$ maintain\narchive: 442 days without use\n```\n"
    assert console.steady(old) == console.steady(old.replace("442", "443"))


def test_two_days_give_two_sets_and_each_difference_is_explained(
    cli: Cli, cli_json: CliJson, store_path: Path
) -> None:
    assert cli("demo", "--store", str(store_path)).exit_code == 0

    def recalled(*viewpoint: str) -> dict[str, str]:
        answer = cli_json("recall", *QUERY, *viewpoint, "--trace")
        return {hit["id"]: hit["text"] for hit in answer["hits"]}

    before, after = recalled(*BEFORE), recalled(*AFTER)
    assert len(before) == len(after) == 3
    (left,) = before.keys() - after.keys()
    (came,) = after.keys() - before.keys()
    assert before[left].startswith(TOKENS)
    assert after[came].startswith(MOVED)
    assert recalled(*BEFORE) == before

    unknown = cli_json("why-not", came, *QUERY, *BEFORE)
    assert (unknown["returned"], unknown["stage"]) == (False, "visible")
    assert "recorded at 2025-12-01" in unknown["reason"]
    crowded = cli_json("why-not", left, *QUERY, *AFTER)
    assert (crowded["returned"], crowded["stage"]) == (False, "outside_in")
    assert cli_json("why-not", left, *QUERY, *BEFORE)["returned"] is True
    text = cli("recall", *QUERY, *BEFORE, "--trace")
    assert "as of 2025-11-30 00:00+00:00" in text.stderr
