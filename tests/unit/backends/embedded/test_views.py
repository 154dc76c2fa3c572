"""The SQL views show to any SQLite what the bank says of its memories, and nothing of what it forgot."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simonides
from simonides.backends.embedded import migrations
from simonides.backends.embedded.migrations import MIGRATIONS, time_text
from simonides.records.interval import BEGINNING, FOREVER, from_micros
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store

VIEWS = ("current_memories", "history")
STARTED = datetime(2020, 1, 1, 12, 30, 5, 250, tzinfo=UTC)
JSON = ("tags", "acl", "metadata")
SWITCHES = ("pinned", "standing", "archived", "consolidated")
ADDED, LEFT_OUT = {"event_end"}, {"access_count"}
"""Beside the names of ``Memory.to_dict``; uses are kept elsewhere."""


@pytest.fixture
def clock() -> FrozenClock:
    """Before the machine's clock, by which SQLite goes."""
    return FrozenClock(STARTED)


@pytest.fixture
def filled(store: Store, bank: Bank, clock: FrozenClock) -> Bank:
    """A bank with a memory for every reason for which one is listed, or is not."""
    bank.retain(
        "Ilse keeps the north lock.",
        tags=["lock", "größe"],
        metadata={"shift": [1]},
        project="canal",
        path="notes/ilse",
        source="logbook",
        speaker="Ilse",
        context="told on the towpath",
        acl=["ilse", "owner"],
    )
    store.bank("diary", principal="ilse").retain("The south lock leaks.")
    bank.retain("The sluice was built then.", event_time="1883", valid_from="1883")
    bank.retain("A barge sank.", event_time="0001-01-01T00:00Z")
    bank.retain("The permit holds.", valid_from="2019-05", valid_to="9000")
    bank.retain("The permit has ended.", valid_from="2019-05", valid_to="2020-06")
    bank.retain("The bridge opens later.", valid_from="8000")
    bank.retain("The bridge is repaired.", event_time="2020-02-03T04:05:06.000070+02:00")
    (moved,) = bank.retain("The toll is 3 crowns.")
    clock.advance(days=1)
    bank.retain("The toll is 4 crowns.")
    bank.pin(bank.retain("Never open both gates.")[0])
    bank.pin(bank.retain("Answer in Dutch.")[0], always=True)
    bank.retain("The night ferry is late.", ttl=timedelta(days=700))
    bank.retain("The guest code is 8821.", ttl=timedelta(days=1_500), on_expiry="erase")
    bank.update_memory(moved, tags=["toll"])
    (gone,) = bank.retain("The ferry runs.")
    bank.invalidate(gone)
    bank.retain("The vault code is 1, says a pop-up.", kind="quarantine", role="tool")
    for place in ("note", "call", "letter"):
        bank.retain("The kettle stands on the stove.", source=place, kind="semantic")
    bank.retain("The crew had tea.", kind="episodic", role="user")
    clock.advance(days=900)
    bank.maintain()
    clock.now = datetime(2300, 1, 1, tzinfo=UTC)
    ahead = bank.retain(["Ben reads gauges.", "Cleo paints hulls.", "Dora mends ropes."])
    clock.now = datetime.now(UTC)
    bank.retain("The gauge is lent until the fair.", ttl=timedelta(days=9))
    bank.retain("The pass code is 4471.", ttl=timedelta(days=9), on_expiry="erase")
    bank.invalidate(ahead[1])
    bank.update_memory(ahead[2], tags=["rope"])
    bank.retain("The gauge is lent until the fair.", ttl=timedelta(days=36_500))
    bank.retain("The pass code is 4471.", ttl=timedelta(days=36_500), on_expiry="erase")
    return bank


def database(bank: Bank) -> Path:
    return bank._rows.folder / "memory.db"


def read(path: Path, select: str) -> list[dict[str, Any]]:
    """Rows as Python's own SQLite reads them, without a function of ours."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(select)]


def as_dict(row: dict[str, Any]) -> dict[str, Any]:
    values = {name: value for name, value in row.items() if name not in ADDED}
    values |= {name: json.loads(row[name]) for name in JSON}
    return values | {name: bool(row[name]) for name in SWITCHES}


def told(bank: Bank, memory: str) -> list[dict[str, Any]]:
    versions = [version.to_dict() for version in bank.history(memory)]
    return [{name: value for name, value in each.items() if name not in LEFT_OUT} for each in versions]


def test_the_history_is_every_version_as_the_bank_tells_it(filled: Bank) -> None:
    rows = read(database(filled), "SELECT * FROM history ORDER BY id, version")
    ids = sorted({row["id"] for row in rows})
    assert len(rows) > len(ids) > 15
    assert [as_dict(row) for row in rows] == [version for memory in ids for version in told(filled, memory)]
    for name in (*JSON, *SWITCHES, "superseded_by", "speaker", "author", "expired_at", "event_time"):
        assert len({row[name] for row in rows}) > 1, name


def test_current_memories_are_those_that_the_bank_lists(filled: Bank) -> None:
    rows = read(database(filled), "SELECT * FROM current_memories ORDER BY id")
    listed = filled.list_memories(limit=1_000)
    assert {row["text"] for row in rows} == {memory.text for memory in listed}
    assert [row["id"] for row in rows] == [memory.id for memory in listed]
    assert [as_dict(row) for row in rows] == [told(filled, memory.id)[-1] for memory in listed]
    texts = {row["text"] for row in rows}
    assert "The toll is 4 crowns." in texts
    assert texts.isdisjoint(
        {
            "The toll is 3 crowns.",
            "The permit has ended.",
            "The bridge opens later.",
            "The ferry runs.",
            "The vault code is 1, says a pop-up.",
            "The crew had tea.",
            "Cleo paints hulls.",
            "The night ferry is late.",
            "The guest code is 8821.",
        }
    )


def test_what_outlived_its_time_is_gone_before_that_is_recorded(bank: Bank) -> None:
    bank.retain("The night ferry is late.", ttl=timedelta(days=1))
    bank.retain("The guest code is 8821.", ttl=timedelta(days=1), on_expiry="erase")
    assert read(database(bank), "SELECT * FROM current_memories") == []
    assert [row["text"] for row in read(database(bank), "SELECT * FROM history")] == [
        "The night ferry is late."
    ]


def test_what_is_not_current_is_marked_in_the_history(filled: Bank) -> None:
    path = database(filled)

    def texts(where: str) -> set[str]:
        return {row["text"] for row in read(path, f"SELECT text FROM history WHERE {where}")}

    now = "strftime('%Y-%m-%dT%H:%M:%S', 'now')"
    assert texts("archived") == {"The crew had tea.", "The night ferry is late."}
    assert texts("kind = 'quarantine'") == {"The vault code is 1, says a pop-up."}
    assert texts("expired_at IS NULL AND superseded_by <> ''") == {"The toll is 3 crowns."}
    assert "The ferry runs." in texts(f"expired_at IS NULL AND valid_to <= {now}")


def test_an_event_has_an_end(filled: Bank) -> None:
    rows = read(database(filled), "SELECT text, event_time, event_end, event_precision FROM history")
    events = {row.pop("text"): tuple(row.values()) for row in rows}
    assert events["The sluice was built then."] == (
        "1883-01-01T00:00:00+00:00", "1884-01-01T00:00:00+00:00", "year",
    )  # fmt: skip
    assert events["The bridge is repaired."] == ("2020-02-03T02:05:06.000070+00:00",) * 2 + ("instant",)


def test_what_is_forgotten_is_in_no_view(filled: Bank) -> None:
    words = "The ferry runs."
    (memory,) = {
        row["id"] for row in read(database(filled), f"SELECT id FROM history WHERE text = '{words}'")
    }
    filled.forget(memory)
    for view in VIEWS:
        assert words not in str(read(database(filled), f"SELECT * FROM {view}"))


@pytest.fixture(scope="module")
def plain() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


@given(st.one_of(st.integers(BEGINNING, FOREVER), st.sampled_from([BEGINNING, FOREVER, -1, 0, 999_999])))
def test_a_time_is_the_text_that_the_interfaces_give(plain: sqlite3.Connection, micros: int) -> None:
    (text,) = plain.execute(f"SELECT {time_text('value')} FROM (SELECT ? AS value)", (micros,)).fetchone()
    moment = from_micros(micros)
    assert text == (moment.isoformat() if moment else None)


@given(
    st.lists(st.integers(0, 10**7), min_size=2, max_size=20),
    st.sampled_from([0, -(10**7), 1_600_000_000_000_000]),
)
def test_texts_of_times_sort_as_the_times_do(plain: sqlite3.Connection, times: list[int], start: int) -> None:
    values = ", ".join(f"({start + time})" for time in times)
    rows = plain.execute(f"SELECT column1 FROM (VALUES {values}) ORDER BY {time_text('column1')}").fetchall()
    assert [micros for (micros,) in rows] == sorted(start + time for time in times)


@pytest.mark.parametrize("view", VIEWS)
def test_the_sqlite_shell_reads_a_bank_in_use_and_at_rest(tmp_path: Path, view: str) -> None:
    shell = shutil.which("sqlite3")
    if shell is None:
        pytest.skip("missing: the program sqlite3")
    command = [shell, "-readonly", "-json", str(tmp_path / "bank-default" / "memory.db")]

    def shown() -> Any:
        done = subprocess.run(
            [*command, f"SELECT text, tags FROM {view}"], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    wanted = [{"text": "Ilse keeps the lock.", "tags": '["lock"]'}]
    with simonides.open(tmp_path, embedder=None, environ={}) as store:
        store.bank().retain("Ilse keeps the lock.", tags=["lock"])
        assert shown() == wanted
    assert shown() == wanted
    with simonides.open(tmp_path, embedder=None, environ={}) as store:
        assert store.bank().verify().ok


def test_a_bank_of_the_schema_before_gets_the_views_and_answers_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FrozenClock(STARTED)

    def ask() -> tuple[list[dict[str, Any]], bool]:
        with simonides.open(tmp_path, clock=clock, embedder=None, environ={}) as store:
            bank = store.bank()
            return [hit.to_dict() for hit in bank.recall("Who keeps the lock?").hits], bank.verify().ok

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:2])
        with simonides.open(tmp_path, clock=clock, embedder=None, environ={}) as store:
            store.bank().retain(["Ilse keeps the lock.", "The toll is 3 crowns."])
        before = ask()
    (path,) = tmp_path.rglob("memory.db")
    assert read(path, "SELECT name FROM sqlite_schema WHERE type = 'view'") == []
    assert ask() == before
    assert before[1]
    assert len(read(path, "SELECT id FROM current_memories")) == 2


def test_a_lost_view_is_told_of(bank: Bank) -> None:
    connection = apsw.Connection(str(database(bank)))
    connection.execute("DROP VIEW history")
    connection.close()
    assert bank.verify().problems == ("memory.db: the view history is not the one of this schema",)


def test_a_view_takes_no_row_and_keeps_no_copy(filled: Bank) -> None:
    """The migration is as cheap for a large bank as for an empty one."""
    (step,) = [each for each in MIGRATIONS if each.name == "views"]
    connection = apsw.Connection(str(database(filled)))
    connection.execute("".join(f"DROP VIEW {view};" for view in VIEWS))
    changed = connection.total_changes()
    connection.execute(step.sql)
    assert connection.total_changes() == changed
    connection.close()
