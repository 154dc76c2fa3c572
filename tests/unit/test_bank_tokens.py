"""Codes of tokens come with their memory, stay with its versions, travel with an export and go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder, StubTokenEmbedder

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = """
name = "late"
description = "Late interaction on what meaning and words find."
limit = 5
order = ["terms", "embedding", "dense", "lexical", "reciprocal_rank", "late_interaction", "token_budget"]

[stages.dense]
depth = 100
rescore = 100

[stages.lexical]
depth = 100
k1 = 1.2
b = 0.75
fields = { text = 1.0 }

[stages.reciprocal_rank]
k = 60

[stages.late_interaction]
depth = 100
kept = 1.0
weight = 100.0

[stages.token_budget]
count = "rendered"
label = []
"""
TEXTS = ["the pump of the dinghy leaks again", "jasmine tea for the harbour master", "pump and tea"]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "late.toml"
    path.write_text(PROFILE, "utf-8")
    return path


def opened(folder: Path, **options: object) -> simonides.Store:
    given = {"clock": FrozenClock(), "embedder": StubTokenEmbedder(dimension=64), **options}
    return simonides.open(folder, **given)  # type: ignore[arg-type]


def stored(folder: Path) -> list[tuple[int, int]]:
    """Row and bytes of its codes."""
    (path,) = folder.glob("*/memory.db")
    rows = apsw.Connection(str(path)).execute("SELECT ordinal, length(codes) FROM token_codes ORDER BY 1")
    return [(int(ordinal), int(length)) for ordinal, length in rows]


def test_every_query_token_finds_its_best(tmp_path: Path, profile: Path) -> None:
    with opened(tmp_path / "s") as store:
        bank = store.bank()
        bank.retain(TEXTS)
        found = bank.recall("tea pump", profile=profile)
    assert found[0].text == "pump and tea"
    # The nearest words of the memory are the query's own, in both.
    assert found[0].signals["maxsim"] == max(hit.signals["maxsim"] for hit in found)
    assert found.trace.counters["query_embedding"] == 1
    assert not found.trace.degraded


def test_one_code_a_word(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.bank().retain(TEXTS)
    assert stored(tmp_path) == [(0, 7 * 8), (1, 6 * 8), (2, 3 * 8)]


def test_a_new_version_keeps_them_and_forgetting_takes_all(tmp_path: Path, profile: Path) -> None:
    with opened(tmp_path / "s") as store:
        bank = store.bank()
        first, *_ = bank.retain(TEXTS)
        bank.invalidate(first, at="2030-01-01")
        assert stored(tmp_path / "s") == [(0, 56), (1, 48), (2, 24), (3, 56)]
        assert first in [hit.id for hit in bank.recall("pump", profile=profile)]
        bank.forget(first)
        assert stored(tmp_path / "s") == [(1, 48), (2, 24)]
        assert bank.verify().ok


def test_an_export_carries_them(tmp_path: Path, profile: Path) -> None:
    with opened(tmp_path / "s") as store, opened(tmp_path / "t") as other:
        bank, copy = store.bank(), other.bank()
        bank.retain(TEXTS)
        assert bank.export(tmp_path / "one").tokens == 3
        copy.import_bank(tmp_path / "one")
        copy.export(tmp_path / "two")
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
        asked = [each.recall("tea pump", profile=profile) for each in (bank, copy)]
    assert [hit.score for hit in asked[0]] == [hit.score for hit in asked[1]]


@pytest.mark.parametrize(
    "options", [{"token_codes": False}, {"embedder": StubEmbedder(dimension=64)}], ids=["off", "without"]
)
def test_without_them_recall_says_so(tmp_path: Path, profile: Path, options: dict[str, object]) -> None:
    with opened(tmp_path / "s", **options) as store:
        bank = store.bank()
        bank.retain(TEXTS)
        found = bank.recall("tea pump", profile=profile)
    assert stored(tmp_path / "s") == []
    assert len(found) == 3
    assert any(line.startswith("late_interaction: ") for line in found.trace.degraded)


def test_verify_finds_a_flipped_bit(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.bank().retain(TEXTS)
    (path,) = tmp_path.glob("*/memory.db")
    with apsw.Connection(str(path)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        connection.execute(
            "UPDATE token_codes SET codes = CAST(x'01' || substr(codes, 2) AS BLOB) WHERE ordinal = 1"
        )
    with opened(tmp_path) as store:
        problems = store.bank().verify().problems
    assert "token_codes: row 1, 1 is not what was written" in problems
