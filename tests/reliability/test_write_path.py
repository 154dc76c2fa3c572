"""Names, links and late comparisons under several processes and under kill -9."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.reliability.conftest import AssertChannelsAgree, Say, Start

    from simonides.bank import Bank

    Keep = Callable[..., tuple[Path, bool]]

PEOPLE = {"Odalys Fennimark", "Kofi Dunmarrow", "Wrenna Tolbridge", "Joss Underbeck", "Isaura Plimwater"}
DOCUMENT = 300
BULK = 600


def sql(bank: Bank, statement: str) -> list[tuple[Any, ...]]:
    with bank._rows.reading() as reading:
        return connection_of(reading).execute(statement).fetchall()


def counts(bank: Bank) -> dict[str, int]:
    tables = ("memories", "vectors", "chunks", "mentions", "relations", "links", "entities", "jobs")
    return {table: sql(bank, f"SELECT count(*) FROM {table}")[0][0] for table in tables}


def links(bank: Bank) -> set[tuple[Any, ...]]:
    """Links by the texts of their ends, but for weights, which are good to 5e-5 only."""
    return set(
        sql(
            bank,
            "SELECT s.text, t.text, l.kind FROM links l JOIN memories s ON s.ordinal = l.source"
            " JOIN memories t ON t.ordinal = l.target",
        )
    )


@pytest.mark.fault("W2")
def test_writers_that_name_the_same_people_make_each_one_once(
    tmp_path: Path, start: Start, assert_channels_agree: AssertChannelsAgree
) -> None:
    _name_the_same(tmp_path, start, assert_channels_agree, retains=25)


@pytest.mark.soak
@pytest.mark.fault("W2")
def test_writers_that_name_the_same_people_250_times_make_each_one_once(
    tmp_path: Path, start: Start, assert_channels_agree: AssertChannelsAgree
) -> None:
    _name_the_same(tmp_path, start, assert_channels_agree, retains=250)


def _name_the_same(
    tmp_path: Path, start: Start, assert_channels_agree: AssertChannelsAgree, *, retains: int
) -> None:
    store = tmp_path / "store"
    how = ("--retains", retains)
    writers = [
        start(
            "keeper.py",
            store,
            "names",
            "--name",
            f"w{n}",
            *how,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n in range(4)
    ]
    acknowledged: list[str] = []
    for writer in writers:
        output, errors = writer.communicate()
        assert (writer.returncode, errors) == (0, "")
        *ids, last = output.split()
        assert last == "done"
        acknowledged += ids
    with simonides.open(store, embedder=StubEmbedder(), create=False) as opened:
        bank = opened.bank()
        assert {i for (i,) in sql(bank, "SELECT id FROM memories")} == set(acknowledged)
        assert len(set(acknowledged)) == 4 * retains
        assert {e.name: e.mentions for e in bank.entities()} == dict.fromkeys(PEOPLE, 4 * retains)
        assert counts(bank)["entities"] == 5
        assert_channels_agree(bank)


@pytest.fixture
def keep(tmp_path: Path, start: Start) -> Keep:
    """Runs a keeper that may die; where its store is, and whether it lived."""

    def run(what: str, store: str, die_at: int = 0) -> tuple[Path, bool]:
        folder = tmp_path / store
        process = start("keeper.py", folder, what, "--die-at", die_at, stdout=subprocess.PIPE)
        output, _ = process.communicate()
        lived = process.returncode == 0
        assert lived or process.returncode == -signal.SIGKILL
        assert lived == (output == "done\n")
        return folder, lived

    return run


@pytest.mark.fault("W3")
def test_a_document_is_there_whole_or_not_at_all(
    keep: Keep, assert_channels_agree: AssertChannelsAgree, say: Say
) -> None:
    say(_kill_documents(keep, assert_channels_agree, [60, 6_000]))


@pytest.mark.soak
@pytest.mark.fault("W3")
def test_a_document_is_there_whole_or_not_at_all_wherever_it_was_killed(
    keep: Keep, assert_channels_agree: AssertChannelsAgree, say: Say
) -> None:
    say(_kill_documents(keep, assert_channels_agree, range(1, 12_000, 97)))


def _kill_documents(keep: Keep, assert_channels_agree: AssertChannelsAgree, deaths: Iterable[int]) -> str:
    folder, _ = keep("document", "whole")
    with simonides.open(folder, embedder=StubEmbedder(), create=False) as opened:
        bank = opened.bank()
        whole, expected = counts(bank), links(bank)
        paragraphs = [text for (text,) in sql(bank, "SELECT text FROM memories ORDER BY ordinal")]
    assert whole["memories"] == whole["chunks"] == whole["vectors"] == DOCUMENT <= whole["mentions"]
    assert {kind for _, _, kind in expected} == {"semantic", "temporal", "session", "causal"}
    died = 0
    for die_at in deaths:
        folder, lived = keep("document", f"killed{die_at}", die_at)
        died += not lived
        with simonides.open(folder, embedder=StubEmbedder()) as opened:
            bank = opened.bank()
            assert counts(bank) in (whole, dict.fromkeys(whole, 0)), die_at
            assert_channels_agree(bank)
            bank.retain(paragraphs, document_id="gauges", session="survey", event_time="2026-01-05")
            assert (counts(bank), links(bank)) == (whole, expected)
            assert_channels_agree(bank)
    assert died
    return f"{died} kills in the retain of {DOCUMENT} paragraphs; each document was there whole or not at all"


@pytest.mark.fault("W3")
def test_late_comparisons_go_on_where_they_were_killed(
    keep: Keep, tmp_path: Path, assert_channels_agree: AssertChannelsAgree, say: Say
) -> None:
    folder, _ = keep("bulk", "killed")
    waiting = [BULK]
    for die_at in (5_000, 11_000):
        _, lived = keep("settle", "killed", die_at)
        assert not lived
        with simonides.open(folder, embedder=StubEmbedder(), create=False) as opened:
            bank = opened.bank()
            waiting.append(bank.stats()["waiting"])
            assert len(bank.recall("gauge 17")) > 0
            assert_channels_agree(bank)
    assert BULK > waiting[1] > waiting[2] > 0
    with (
        simonides.open(folder, embedder=StubEmbedder(), create=False) as opened,
        simonides.open(tmp_path / "whole", embedder=StubEmbedder()) as other,
    ):
        bank, twin = opened.bank(), other.bank()
        assert bank.settle() == waiting[2]
        texts = [text for (text,) in sql(bank, "SELECT text FROM memories ORDER BY ordinal")]
        twin.retain(texts, event_time="2026-01-05")
        twin.settle()
        assert links(bank) == links(twin)
        assert counts(bank) == counts(twin)
        assert bank.stats()["waiting"] == 0
        assert_channels_agree(bank)
    say(f"late comparisons killed with {waiting[1:]} of {BULK} rows waiting; the links are those of one run")
