"""Operations that rewrite a whole bank, and what a bank may hold when one of them was cut short.

Each is made on a copy of the same bank. Restoring, repairing, purging and backing up are done or not done;
importing and maintaining go on memory by memory, and what is half done is finished by doing it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.embedded_rows import connection_of

import simonides
from simonides.backends.embedded import importing
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simonides.bank import Bank

SECRET = "canarywort"
"""Stands in what is purged, and nowhere else."""

LINES_PER_BATCH = 4

Contents = frozenset[tuple[Any, ...]]

OPERATIONS: dict[str, Callable[[Bank, Path], object]] = {
    "restore": lambda bank, place: bank.restore(place / "earlier.backup"),
    "repair": lambda bank, place: bank.repair(),
    "purge": lambda bank, place: bank.forget_where(source="call", purge=True),
    "maintain": lambda bank, place: bank.maintain(),
    "import": lambda bank, place: bank.import_bank(place / "other.export"),
    "backup": lambda bank, place: bank.backup(place / "new.backup"),
}
"""What is tried, by name; *place* is the folder beside the store."""

STEP_BY_STEP = {"maintain", "import"}


@dataclass(frozen=True, slots=True)
class Scene:
    """The bank before and after an operation that met no fault."""

    before: Contents
    after: Contents


def open_scene(place: Path) -> simonides.Store:
    """The store of a scene, a year later."""
    importing.LARGEST_BATCH = LINES_PER_BATCH
    clock = FrozenClock()
    clock.advance(days=400)
    return simonides.open(place / "store", embedder=StubEmbedder(dimension=8), clock=clock, environ={})


def set_scene(place: Path) -> None:
    """Make the store, an earlier backup of its bank, and an export of another bank."""
    clock = FrozenClock()
    with simonides.open(
        place / "store", embedder=StubEmbedder(dimension=8), clock=clock, environ={}
    ) as store:
        bank = store.bank()
        bank.retain([f"Keeper {n} read gauge {n % 3}." for n in range(8)], deduplicate=False)
        bank.backup(place / "earlier.backup")
        clock.advance(days=1)
        bank.retain([f"Lock {n} opens at {n}." for n in range(5)], layer="working", deduplicate=False)
        ids = bank.retain([f"Rosa Brandt oiled lock {n}." for n in range(6)], deduplicate=False)
        bank.retain([f"The {SECRET} of lock {n} leaks." for n in range(2)], source="call", deduplicate=False)
        bank.forget(ids[0])
        bank.invalidate(ids[1])
        bank._rows.merge_if_due(force=True)
        other = store.bank("other")
        other.retain([f"Ilse planted fig {n}." for n in range(7)], deduplicate=False, session="s")
        other.export(place / "other.export")


def contents(bank: Bank) -> Contents:
    """What the bank holds, without what depends on when it was written."""
    with bank._rows.reading() as reading:
        rows: list[tuple[Any, ...]] = (
            connection_of(reading)
            .execute(
                "SELECT id, version, text, layer, state, expired_at > 9e18, valid_to > 9e18 FROM memories"
            )
            .fetchall()
        )
    return frozenset(rows)


def look_at(place: Path, operation: str) -> Scene:
    """Make the operation on a scene that meets no fault."""
    with open_scene(place) as store:
        bank = store.bank()
        before = contents(bank)
        OPERATIONS[operation](bank, place)
        return Scene(before, contents(bank))


def judge(place: Path, operation: str, scene: Scene, *, acknowledged: bool) -> list[str]:
    """What is wrong with a scene in which the operation was cut short, or was said to be done."""
    found = []
    with open_scene(place) as store:
        bank = store.bank()
        report = bank.verify()
        found += [f"verify: {problem}" for problem in report.problems]
        held = contents(bank)
        if acknowledged and held != scene.after:
            found.append("was acknowledged, and is not there")
        elif not _may_be(held, operation, scene):
            found.append("is there by halves")
        if operation == "backup":
            found += _judge_backup(bank, place, acknowledged=acknowledged)
        else:
            OPERATIONS[operation](bank, place)
        if contents(bank) != scene.after:
            found.append("doing it again does not finish it")
        found += [f"verify, once it is finished: {problem}" for problem in bank.verify().problems]
        if not bank.recall("gauge 1"):
            found.append("nothing is found any more")
    if operation == "purge":
        found += [
            f"{path.name} still holds what was purged"
            for path in sorted((place / "store").rglob("*"))
            if path.is_file() and SECRET.encode() in path.read_bytes()
        ]
    return found


def _may_be(held: Contents, operation: str, scene: Scene) -> bool:
    if operation not in STEP_BY_STEP:
        return held in {scene.before, scene.after}
    # Each memory is as it was, or as it will be.
    parts = [_by_memory(each) for each in (scene.before, scene.after, held)]
    return all(
        parts[2].get(memory, frozenset()) in {parts[0].get(memory, frozenset()), parts[1].get(memory)}
        for memory in {*parts[0], *parts[1], *parts[2]}
    )


def _by_memory(held: Contents) -> dict[str, frozenset[tuple[Any, ...]]]:
    return {memory: frozenset(row for row in held if row[0] == memory) for memory, *_ in held}


def _judge_backup(bank: Bank, place: Path, *, acknowledged: bool) -> list[str]:
    there = (place / "new.backup").exists()
    if acknowledged and not there:
        return ["was acknowledged, and there is no file"]
    if not there:
        bank.backup(place / "new.backup")
    bank.restore(place / "new.backup")
    return []
