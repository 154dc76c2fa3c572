"""`simonides train-reranker` refuses too little, and writes only when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson


def use(store_path: Path, recalls: int) -> None:
    clock = FrozenClock()
    with simonides.open(store_path, clock=clock, embedder=None) as store:
        bank = store.bank("default")
        bank.retain([f"Odalys repaired pump {n}" for n in range(6)])
        for n in range(recalls):
            clock.advance(seconds=1)
            answer = bank.recall(f"pump {n}", profile="lexical")
            bank.used(answer[0].id, recall_id=answer.id)


@pytest.mark.spec("EN-08")
def test_too_few_samples_are_refused(cli: Cli, store_path: Path) -> None:
    use(store_path, 1)
    result = cli("train-reranker")
    assert result.exit_code == 2
    assert "at least 20" in result.stderr
    assert not list(store_path.rglob("reranker*"))


@pytest.mark.spec("EN-08")
def test_it_trains_and_a_dry_run_writes_nothing(cli: Cli, cli_json: CliJson, store_path: Path) -> None:
    use(store_path, 30)
    dry = cli_json("train-reranker", "--dry-run")
    assert (dry["samples"], dry["used"], dry["path"]) == (180, 30, "")
    assert dry["held_out"] == 6
    assert dry["right"] > dry["right_before"]
    assert not list(store_path.rglob("reranker*"))
    assert "180 returned memories, 30 used; written to" in " ".join(cli("train-reranker").stdout.split())
    assert [path.name for path in store_path.rglob("*reranker*")] == ["reranker.npz"]


def test_what_cannot_be_compared_is_not_adopted(cli: Cli, store_path: Path) -> None:
    use(store_path, 8)
    result = cli("train-reranker")
    assert result.exit_code == 0
    assert "not adopted" in result.stdout
    assert not list(store_path.rglob("reranker*"))


def test_a_bank_that_is_not_there(cli: Cli) -> None:
    assert cli("train-reranker").exit_code == 2
