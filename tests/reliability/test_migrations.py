"""A bank whose process was killed while its schema was brought up to date is at one step or at the next."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import threading
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.reliability.interrupting import Interrupter
from tests.reliability.migrator import OLDEST, STEPS

import simonides
from simonides.backends.embedded import migrations
from simonides.backends.embedded.checksums import add_functions
from simonides.backends.embedded.connection import Connections
from simonides.backends.embedded.migrations import MIGRATIONS
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reliability.conftest import Record, Say, Start

    from simonides.store import Store

ROWS = 600
NEWEST = STEPS[-1].number
QUESTIONS = ("which keeper read gauge 3", "lock 17", "Rosa Brandt")
KILLS = 200
"""As many as the soak makes at least."""

FROM_OUTSIDE, LONGEST_SECONDS = 50, 0.05
"""Kills by another process, and at most how long after the migration begins; it takes about as long."""

Answers = list[list[tuple[str, float]]]
Contents = tuple[Any, ...]


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the schema before the steps, with an index and a tail, closed."""
    folder = tmp_path_factory.mktemp("old") / "store"
    with _opened(folder) as store:
        bank = store.bank()
        bank.retain([f"Keeper {n} read gauge {n % 7}." for n in range(ROWS // 2)], deduplicate=False)
        bank._rows.merge_if_due(force=True)
        bank.retain([f"Rosa Brandt oiled lock {n}." for n in range(ROWS // 2)], deduplicate=False)
    return folder


@pytest.fixture(scope="module")
def answers(old: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    copy = tmp_path_factory.mktemp("asked") / "store"
    shutil.copytree(old, copy)
    with _opened(copy) as store:
        found = _ask(store)
    assert all(found)
    return found


@pytest.fixture(scope="module")
def steps(old: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Contents]:
    """What the database holds after each step, by the step's number."""
    copy = tmp_path_factory.mktemp("steps") / "memory.db"
    shutil.copyfile(_database(old), copy)
    found = {OLDEST: _contents(copy)}
    for step in STEPS:
        connection = apsw.Connection(str(copy))
        add_functions(connection)
        connection.execute(f"BEGIN; {step.sql}; PRAGMA user_version={step.number}; COMMIT")
        connection.close()
        found[step.number] = _contents(copy)
    return found


@pytest.fixture
def kill(
    old: Path, answers: Answers, steps: dict[int, Contents], tmp_path: Path, start: Start
) -> Callable[..., int]:
    """Kills one migration of a copy and judges what is left; returns the schema, 0 = it was not killed."""

    def run(*how: object, after: float | None = None) -> int:
        folder = tmp_path / "store"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(old, folder)
        process = start("migrator.py", _database(folder), *how, stdout=subprocess.PIPE)
        if after is not None:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            killer = threading.Timer(after, process.kill)
            killer.start()
            killer.join()
        said, _ = process.communicate()
        assert process.returncode in {0, -signal.SIGKILL}
        held = _contents(_database(folder))
        schema = int(held[0])
        assert held == steps[schema], f"{how} {after}: neither the schema before a step nor the one after it"
        assert schema == NEWEST or "done" not in said
        if schema == OLDEST:
            with _opened(_copy(folder), create=False) as store:
                assert store.bank().verify().problems == ()
                assert _ask(store) == answers
        _finish(folder, steps[NEWEST], answers)
        return schema if process.returncode else 0

    return run


@pytest.mark.fault("W5")
def test_a_migration_that_is_killed_leaves_the_old_or_the_new_schema(
    kill: Callable[..., int], say: Say
) -> None:
    found = _sweep(kill, "--die-at-statement", first=3, step=13)
    found += _sweep(kill, "--die-at-call", first=5, step=61)
    say(_told(found))
    assert set(found) == {OLDEST, OLDEST + 1, NEWEST}


@pytest.mark.fault("N82")
@pytest.mark.parametrize("every", [50, pytest.param(8, marks=pytest.mark.soak)])
def test_a_migration_that_is_interrupted_leaves_nothing_open(
    old: Path, answers: Answers, steps: dict[int, Contents], tmp_path: Path, every: int
) -> None:
    """The same process goes on afterwards: no transaction, no lock, and the next opening migrates."""
    interrupter, found, at = Interrupter(), Counter[int](), 1
    while True:
        folder = tmp_path / "store"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(old, folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, *STEPS))
            raised = interrupter.run(partial(_migrated, folder), KeyboardInterrupt, at)
        held = _contents(_database(folder))
        assert held == steps[int(held[0])], at
        other = apsw.Connection(str(_database(folder)))
        other.execute("BEGIN EXCLUSIVE; ROLLBACK")
        other.close()
        _finish(folder, steps[NEWEST], answers)
        if raised is None:
            break
        found[int(held[0])] += 1
        at += every
    # How many places there are in each step is not fixed; those before and between them are hit.
    assert {OLDEST, OLDEST + 1} <= set(found)


def _migrated(folder: Path) -> None:
    connections = Connections(_database(folder))
    try:
        migrations.migrate(connections)
    finally:
        connections.close()


@pytest.mark.soak
@pytest.mark.fault("W5")
def test_200_killed_migrations_leave_the_old_or_the_new_schema(
    kill: Callable[..., int], record: Record
) -> None:
    found = _sweep(kill, "--die-at-statement", first=1, step=1)
    found += _sweep(kill, "--die-at-call", first=1, step=1)
    swept = found.total()
    chance = random.Random(5)
    for _ in range(FROM_OUTSIDE):
        schema = kill("--begin", after=chance.uniform(0, LONGEST_SECONDS))
        # One that was done before it could be killed does not count.
        found[schema] += schema > 0
    del found[0]
    assert set(found) == {OLDEST, OLDEST + 1, NEWEST}
    assert found.total() > swept
    assert found.total() >= KILLS
    record("W5", {"kills": found.total(), "from_outside": found.total() - swept, "between": 0, "unsound": 0})


def _sweep(kill: Callable[..., int], how: str, *, first: int, step: int) -> Counter[int]:
    """Kills at one point after the other, until the migration is done before the next; by the schema left."""
    found: Counter[int] = Counter()
    number = first
    while schema := kill(how, number):
        found[schema] += 1
        number += step
    return found


def _told(found: Counter[int]) -> str:
    return f"{found.total()} kills in a migration, by the schema left: {dict(found)}; none between"


def _opened(folder: Path, *, create: bool = True) -> Store:
    return simonides.open(
        folder, embedder=StubEmbedder(dimension=8), clock=FrozenClock(), environ={}, create=create
    )


def _database(folder: Path) -> Path:
    return folder / "bank-default" / "memory.db"


def _copy(folder: Path) -> Path:
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    return copy


def _ask(store: Store) -> Answers:
    bank = store.bank()
    return [[(hit.id, hit.score) for hit in bank.recall(question)] for question in QUESTIONS]


def _contents(database: Path) -> Contents:
    """Version, schema, what the steps made, and that the file is sound."""
    connection = apsw.Connection(str(database))
    try:
        objects = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
        names = {name for _, name, _ in objects}
        made = [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("notes", "remarks", "memories", "meta")
            if table in names
        ]
        assert connection.pragma("integrity_check") == "ok"
        return connection.pragma("user_version"), objects, made
    finally:
        connection.close()


def _finish(folder: Path, wanted: Contents, answers: Answers) -> None:
    """Who opens the bank next has it at the newest schema, sound, with the same answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, *STEPS))
        with _opened(folder, create=False) as store:
            assert _ask(store) == answers
            assert store.bank().verify().problems == ()
    assert _contents(_database(folder)) == wanted
