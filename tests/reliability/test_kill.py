"""A writer killed at any moment: what it was promised is there, and no batch is there by halves."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import pytest
from tests.embedded_rows import embedded

import simonides
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reliability.conftest import AssertChannelsAgree, ReadAcks, Record, Say, Share, Start, Stored

    from simonides.bank import Bank

TRIALS_PER_BANK = 6
STEPS = range(3, 40, 4)
"""Calls of the file layer; a merge makes about a dozen."""

LONGEST_LIFE_SECONDS = 0.3
"""A writer is killed at most this long after its first acknowledgement; a retain takes 2 to 100 ms."""

STATEMENTS_AT_BIRTH = 150
"""SQL statements until a bank is made and holds its first memory."""

_BATCH = re.compile(r"(\w+) batch (\d+) of (\d+) ")


@dataclass
class Figures:
    """What the trials hit, to be read beside "all passed"."""

    trials: int = 0
    acknowledged: int = 0
    unacknowledged: int = 0
    in_merge: int = 0
    slowest_reopening: float = 0.0
    promised: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"{self.trials} kills: {self.acknowledged} memories acknowledged, 0 lost, 0 batches by halves; "
            f"{self.unacknowledged} kills between commit and acknowledgement, {self.in_merge} inside a merge; "
            f"reopening and first recall at most {self.slowest_reopening:.2f} s"
        )


@pytest.mark.fault("W3")
def test_a_killed_writer_loses_nothing(kill: Callable[..., Figures], say: Say) -> None:
    say(str(kill(trials=6, seed=2)))


@pytest.mark.soak
@pytest.mark.fault("W3")
def test_1_000_killed_writers_lose_nothing(
    kill: Callable[..., Figures], record: Record, share: Share
) -> None:
    figures = kill(trials=share.part(1_000), seed=200 + share.number)
    # The trials end at the first loss, so whoever gets here lost nothing.
    counts = {name: value for name, value in asdict(figures).items() if name != "promised"}
    record("P1", {**counts, "lost": 0, "by_halves": 0})


@pytest.fixture
def kill(
    tmp_path: Path,
    start: Start,
    read_acks: ReadAcks,
    stored: Stored,
    assert_channels_agree: AssertChannelsAgree,
) -> Callable[..., Figures]:
    """Runs the trials; several share one bank, so that a kill also meets an older, larger bank."""

    def run(*, trials: int, seed: int) -> Figures:
        chance = random.Random(seed)
        figures = Figures()
        for trial in range(trials):
            number, round_ = divmod(trial, TRIALS_PER_BANK)
            store = tmp_path / f"store{number}"
            vectors = number % 2 == 0
            if round_ == 0:
                figures.promised.clear()
            acks = read_acks(_killed_writer(start, store, f"t{trial}", vectors=vectors, chance=chance))
            for ack in acks:
                figures.promised |= zip(ack.ids, ack.texts, strict=True)
            began = time.monotonic()
            with simonides.open(store, embedder=StubEmbedder() if vectors else None, create=False) as opened:
                bank = opened.bank()
                assert acks[-1].ids[-1] in [hit.id for hit in bank.recall(acks[-1].texts[-1])], (
                    f"trial {trial}"
                )
                figures.slowest_reopening = max(figures.slowest_reopening, time.monotonic() - began)
                texts = stored(bank)
                assert figures.promised.items() <= texts.items(), f"trial {trial}"
                _assert_whole_batches(texts)
                assert_channels_agree(bank)
                figures.in_merge += bool(_unpublished(bank))
                if round_ == TRIALS_PER_BANK - 1:
                    _assert_leftovers_go(bank)
            figures.trials += 1
            figures.acknowledged += sum(len(ack.ids) for ack in acks)
            figures.unacknowledged += _batches(texts, f"t{trial}") - len(acks)
        return figures

    return run


@pytest.mark.fault("W3")
def test_a_writer_killed_while_it_makes_the_bank(born: Callable[[range], str], say: Say) -> None:
    say(born(range(3, STATEMENTS_AT_BIRTH, 23)))


@pytest.mark.soak
@pytest.mark.fault("W3")
def test_a_writer_killed_at_each_statement_that_makes_the_bank(
    born: Callable[[range], str], say: Say
) -> None:
    say(born(range(1, STATEMENTS_AT_BIRTH)))


@pytest.fixture
def born(
    tmp_path: Path, start: Start, stored: Stored, assert_channels_agree: AssertChannelsAgree
) -> Callable[[range], str]:
    """Kills writers before, in and after the making of a bank; who comes next has a bank that works."""

    def run(statements: range) -> str:
        found: Counter[str] = Counter()
        for statement in statements:
            store = tmp_path / f"store{statement}"
            how = ("--largest", 1, "--die-at-statement", statement)
            writer = start("writer.py", store, "w", *how, stdout=subprocess.PIPE)
            acknowledged, _ = writer.communicate()
            assert writer.returncode == -signal.SIGKILL
            file = store / "bank-default" / "memory.db"
            size = file.stat().st_size
            found["retained" if acknowledged else "made" if size else "empty"] += 1
            with simonides.open(store, embedder=None) as opened:
                bank = opened.bank()
                _assert_whole_batches(stored(bank))
                assert len(stored(bank)) >= acknowledged.count("\n")
                (memory,) = bank.retain("retained by the next one")
                assert memory in [hit.id for hit in bank.recall("next one")]
                assert_channels_agree(bank)
        assert {"empty", "made"} <= set(found)
        return f"{len(statements)} kills while a bank was made: {dict(found)}; each bank works"

    return run


@pytest.mark.fault("W3")
def test_a_writer_killed_at_each_step_of_a_merge(
    tmp_path: Path,
    start: Start,
    read_acks: ReadAcks,
    stored: Stored,
    assert_channels_agree: AssertChannelsAgree,
    say: Say,
) -> None:
    """Each writer merges after every retain, and dies right before one of the things it does with files."""
    unpublished, uncommitted = 0, 0
    for call in STEPS:
        store = tmp_path / f"store{call}"
        how = ("--merge", 0, "--largest", 9, "--vectors", "--die-at", call)
        writer = start("writer.py", store, "w", *how, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        acks = read_acks(list(writer.stdout))
        assert writer.wait() == -signal.SIGKILL
        with simonides.open(store, embedder=StubEmbedder(), create=False) as opened:
            bank = opened.bank()
            texts = stored(bank)
            for ack in acks:
                assert dict(zip(ack.ids, ack.texts, strict=True)).items() <= texts.items()
            # It died in the merge after a retain, which is committed and not yet acknowledged, or inside the
            # transaction of the next one, while that read the index.
            committed = _batches(texts, "w") - len(acks)
            assert committed in {0, 1}
            _assert_whole_batches(texts)
            assert_channels_agree(bank)
            assert committed or not _unpublished(bank), "a merge begins after the commit"
            unpublished += bool(_unpublished(bank))
            uncommitted += not committed
            _assert_leftovers_go(bank)
    assert 0 < unpublished < len(STEPS)
    assert 0 < uncommitted < len(STEPS) - unpublished
    say(
        f"{len(STEPS)} kills, {uncommitted} inside a transaction, {unpublished} in a merge before it counted; "
        "nothing lost"
    )


def _killed_writer(
    start: Start, store: Path, name: str, *, vectors: bool, chance: random.Random
) -> list[str]:
    options = ["--seed", chance.randrange(2**31), "--merge", chance.choice([1, 100, 500, 2_000])]
    writer = start("writer.py", store, name, *options, *["--vectors"] * vectors, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    lines = [writer.stdout.readline()]
    killer = threading.Timer(chance.uniform(0, LONGEST_LIFE_SECONDS), writer.kill)
    killer.start()
    lines += writer.stdout
    killer.join()
    assert writer.wait() == -signal.SIGKILL, "the writer ended by itself; its error stands above"
    return lines


def _assert_whole_batches(texts: dict[str, str]) -> None:
    """Each text says how many its batch has; exactly so many must be there."""
    counts = Counter(found.groups() for found in map(_BATCH.match, texts.values()) if found)
    halves = {batch: count for batch, count in counts.items() if count != int(batch[2])}
    assert not halves
    assert sum(counts.values()) == len(texts)


def _batches(texts: dict[str, str], writer: str) -> int:
    return len({found[0] for found in map(_BATCH.match, texts.values()) if found and found[1] == writer})


def _unpublished(bank: Bank) -> list[str]:
    """Folders of generations that no one published: their writer was killed between the two."""
    rows = bank._rows
    published = bank.stats()["generation"]
    return [
        name
        for name in embedded(rows).cache.files.names(embedded(rows).cache.folder)
        if int(name) > published
    ]


def _assert_leftovers_go(bank: Bank) -> None:
    rows = embedded(bank._rows)
    assert rows.merge_if_due(force=True)
    with rows.reading():
        pass
    assert rows.cache.position is not None
    generation = rows.cache.position.generation
    assert generation is not None
    used = {generation.number} | {file.generation for file in generation.files}
    assert {int(name) for name in rows.cache.files.names(rows.cache.folder)} == used
