"""Single flipped bits in a bank's files: found, or in bytes that nothing reads, and never served.

A flip is *harmless* only by proof: every row of every table, read in full without an index, is as before, SQLite's
own check of the file is clean, and every array of the index and its description are as before. So it lies in
free pages, in slack, in padding, or in a counter that states nothing about a memory. *Found* means that
``verify`` names a problem or that opening the bank is refused. Anything else is *missed*.
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import apsw
from tests.embedded_rows import connection_of

import simonides
from simonides.errors import SimonidesError
from simonides.index.files import FileLayer, read_arrays
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [f"Keeper {n} read gauge {n % 9} of lock {n % 11}." for n in range(60)]
QUERIES = ("gauge 3 of lock 5", "keeper 17", "lock 10")


@dataclass
class Flips:
    """What the trials found, by where the bit was."""

    trials: int = 0
    in_live_text: int = 0
    in_database: int = 0
    in_index: int = 0
    found: int = 0
    harmless: int = 0
    missed: int = 0
    served: int = 0
    unhandled: int = 0
    problems: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {name: value for name, value in asdict(self).items() if name != "problems"}


def flip_bits(place: Path, *, trials: int, seed: int) -> Flips:
    """Flip one bit per trial, a third each in texts, anywhere in the database, anywhere in the index."""
    chance, flips = random.Random(seed), Flips()
    template = place / "template"
    clock = FrozenClock()
    with simonides.open(template, embedder=StubEmbedder(dimension=8), clock=clock, environ={}) as store:
        bank = store.bank()
        ids = bank.retain(TEXTS, tags=["a"], project="locks", idempotency_key="first")
        _fill(bank, ids)
        clock.advance(days=1)
        bank.forget(ids[:5])
        bank.invalidate(ids[6])
        bank._rows.merge_if_due(force=True)
        answers = _answers(bank)
        expected = {one.id: one.text for query in QUERIES for one in bank.recall(query)}
    expected |= dict(zip(ids, TEXTS, strict=True))
    before = _content(template / "bank-default")
    for trial in range(trials):
        folder = place / "flipped"
        shutil.copytree(template, folder)
        what = _flip(folder / "bank-default", chance, flips, trial % 3)
        after = _content(folder / "bank-default")
        what += f" ({_difference(before, after)})"
        _judge(folder, flips, what, expected, answers, harmless=after == before)
        flips.trials += 1
        shutil.rmtree(folder)
    return flips


def _fill(bank: simonides.Bank, ids: list[str]) -> None:
    """A row or more in the other tables."""
    bank.retain("Rosa Brandt works at Osprey Mill. She repaired lock 3 because it leaked.", session="s")
    bank.retain("Rosa Brandt oiled lock 4.", session="s", speaker="Rosa", acl=["rosa"])
    bank.used(ids[40:43])
    bank.pin(ids[44])
    with bank._rows.writing(0) as transaction:
        transaction.queue.add("enrich", 3)
        transaction.models.set_enriched(4, 1, "some model")
        mention = connection_of(transaction).execute("SELECT entity FROM mentions LIMIT 1").get
        transaction.entities.add_alias(int(mention), "The keeper", "the keeper")
        transaction.entities.merge(int(mention), int(mention) + 1)


def _open(folder: Path) -> simonides.Store:
    clock = FrozenClock(datetime(2026, 3, 2, tzinfo=UTC))
    return simonides.open(folder, embedder=StubEmbedder(dimension=8), clock=clock, environ={})


def _answers(bank: simonides.Bank) -> list[list[tuple[str, str]]]:
    return [[(hit.id, hit.text) for hit in bank.recall(query)] for query in QUERIES]


def _flip(folder: Path, chance: random.Random, flips: Flips, where: int) -> str:
    database = folder / "memory.db"
    path = database if where < 2 else chance.choice(sorted((folder / "index").rglob("*.*")))
    body = bytearray(path.read_bytes())
    if where == 0:
        text = chance.choice(TEXTS[7:]).encode()
        places = [found.start() for found in re.finditer(re.escape(text), body)]
        at = chance.choice(places) + chance.randrange(len(text))
        flips.in_live_text += 1
    else:
        at = chance.randrange(len(body))
        flips.in_database += where == 1
        flips.in_index += where == 2
    bit = chance.randrange(8)
    body[at] ^= 1 << bit
    path.write_bytes(body)
    return f"bit {bit} of byte {at} of {path.relative_to(folder)}"


def _content(folder: Path) -> object:
    """Everything that any reader could be told by the files; the error's name where one cannot be read."""
    try:
        arrays = {
            str(path.relative_to(folder)): _array_file(path)
            for path in sorted((folder / "index").rglob("*.arr"))
        }
        manifests = [path.read_bytes() for path in sorted(folder.rglob("manifest.json"))]
        return _tables(folder / "memory.db"), arrays, manifests
    except (SimonidesError, apsw.Error, ValueError, OSError) as error:
        return type(error).__name__


def _difference(before: object, after: object) -> str:
    """Which tables differ, for people."""
    if not (isinstance(before, tuple) and isinstance(after, tuple)):
        return f"cannot be read: {after}"
    tables = sorted(name for name in before[0] if after[0].get(name) != before[0][name])
    return ", ".join(tables) or "no table"


def _array_file(path: Path) -> object:
    arrays, about = read_arrays(FileLayer(), path)
    return {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}, about


def _tables(path: Path) -> dict[str, Any]:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"{path.as_uri()}?immutable=1", flags=flags)
    try:
        schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
        found: dict[str, Any] = {"schema": schema}
        for pragma in ("user_version", "application_id", "encoding", "integrity_check"):
            found[pragma] = connection.execute(f"PRAGMA {pragma}").fetchall()
        for kind, name, *_ in schema:
            assert isinstance(name, str)
            if kind == "table":
                found[name] = connection.execute(f'SELECT * FROM "{name}" NOT INDEXED').fetchall()
        return found
    finally:
        connection.close()


def _judge(
    folder: Path,
    flips: Flips,
    what: str,
    expected: dict[str, str],
    answers: list[list[tuple[str, str]]],
    *,
    harmless: bool,
) -> None:
    # Recall may make a damaged index anew, so what it says is asked of a copy.
    asked = folder.with_name("asked")
    shutil.copytree(folder, asked)
    found = False
    try:
        try:
            with _open(folder) as store:
                found = not store.bank().verify().ok
        except SimonidesError:
            found = True
        served = answers
        with contextlib.suppress(SimonidesError), _open(asked) as store:
            served = _answers(store.bank())
        wrong = [hit for answer in served for hit in answer if expected.get(hit[0]) != hit[1]]
        if wrong or served != answers:
            flips.served += 1
            flips.problems.append(f"{what}: served {wrong[:1] or 'other answers'}, found {found}")
    except Exception as error:  # noqa: BLE001 - whatever else comes out is a finding
        flips.unhandled += 1
        flips.problems.append(f"{what}: {type(error).__name__}: {error}")
        return
    finally:
        shutil.rmtree(asked)
    if found:
        flips.found += 1
    elif harmless:
        flips.harmless += 1
    else:
        flips.missed += 1
        flips.problems.append(f"{what}: missed")
