"""`reembed`: what it prints and how it ends; the model is a stand-in under a catalogued name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.models.catalogue import find_record
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the models that were loaded, in order."""
    names: list[str] = []

    def load(name: str, *, dimension: int | None = None, **_: Any) -> StubEmbedder:
        names.append(name)
        return StubEmbedder(dimension=dimension or find_record(name).dimension, name=name)

    monkeypatch.setattr("simonides.models.on_demand.load_embedder", load)
    return names


@pytest.fixture(autouse=True)
def filled(store_path: Path, loaded: list[str]) -> None:
    with simonides.open(store_path) as store:
        store.bank().retain([f"The kettle number {n} is red." for n in range(70)], deduplicate=False)
    loaded.clear()


def test_a_bank_goes_over(cli: Cli, cli_json: CliJson) -> None:
    would = cli("reembed", "--model", "bge-small-en-v1.5", "--dry-run")
    assert would.exit_code == 0
    assert "70 of 70 versions would be encoded by bge-small-en-v1.5" in would.stdout
    did = cli_json("reembed", "--model", "bge-small-en-v1.5")
    assert (did["was"], did["encoded"], did["switched"]) == ("all-MiniLM-L6-v2", 70, True)
    assert cli_json("stats")["embedder"] == "bge-small-en-v1.5"
    assert "already" in cli("reembed", "--model", "bge-small-en-v1.5").stdout


def test_it_tells_what_it_did(cli: Cli) -> None:
    told = cli("reembed", "--model", "nomic-embed-text-v1.5", "--dimension", "256").stdout
    assert "70 versions encoded" in told
    assert "went over from all-MiniLM-L6-v2 to nomic-embed-text-v1.5" in told


@pytest.mark.spec("DF-11")
def test_a_store_that_leaves_it_to_the_bank_uses_its_model(store_path: Path, loaded: list[str]) -> None:
    """Also one that was open all the time, and without the default model where it is not needed."""
    with simonides.open(store_path) as store, simonides.open(store_path) as elsewhere:
        assert elsewhere.bank().recall("kettle").trace.counters["query_embedding"] == 1
        store.bank().reembed("nomic-embed-text-v1.5", dimension=256)
        for bank in (store.bank(), elsewhere.bank()):
            trace = bank.recall("kettle").trace
            assert trace.counters["query_embedding"] == 1
            assert not any("embedder" in why for why in trace.degraded)
            bank.retain("The lantern is lit.")
    loaded.clear()
    with simonides.open(store_path) as store:
        assert store.bank().embedder is not None
        store.bank().recall("kettle")
        assert loaded == ["nomic-embed-text-v1.5"]
        assert store.bank("another").embedder is not None
        assert loaded[1:] == ["all-MiniLM-L6-v2"]
    with simonides.open(store_path, embedder="all-MiniLM-L6-v2") as store:
        assert any("reembed" in why for why in store.bank().recall("kettle").trace.degraded)


def test_another_process_that_can_load_the_model_writes_both(store_path: Path) -> None:
    with simonides.open(store_path) as store, simonides.open(store_path) as elsewhere:
        found: list[int] = []

        def write(stage: str, done: int, total: int | None) -> None:
            if stage == "memories encoded" and not found:
                (memory,) = elsewhere.bank().retain("The lantern is lit.")
                with store.bank()._rows.reading() as reading:
                    found.append(
                        connection_of(reading)
                        .execute(
                            "SELECT count(*) FROM vectors JOIN memories USING (ordinal) WHERE id=?", (memory,)
                        )
                        .get
                    )

        store.bank().reembed("bge-small-en-v1.5", progress=write)
        assert found == [2]


def test_abandoning(cli: Cli, cli_json: CliJson) -> None:
    assert cli_json("reembed", "--abandon", code=1) == {"abandoned": False}
    assert "no migration" in cli("reembed", "--abandon").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--model", "no-such-model"),
        ("--model", "bge-small-en-v1.5", "--dimension", "0"),
        ("--model", "bge-small-en-v1.5", "--dimension", "7"),
        ("--abandon", "--dry-run"),
        ("--abandon", "--model", "bge-small-en-v1.5"),
        ("--model", "bge-small-en-v1.5", "--bank", "nowhere"),
    ],
)
def test_wrong_use(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("reembed", *arguments).exit_code == 2
