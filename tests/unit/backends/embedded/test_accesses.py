"""Rows about use, written straight into a bank's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

import simonides
from simonides.backends.embedded.accesses import (
    FEATURES,
    drop_empty_impressions,
    extend_accesses,
    prune_impressions,
    read_samples,
    write_impressions,
    write_used,
)
from simonides.backends.embedded.checksums import add_functions
from simonides.errors import InputError
from simonides.index.accesses import Accesses
from simonides.records.impression import Impression

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = ("the pump leaks", "the gate opens", "tea at seven")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    with simonides.open(tmp_path, embedder=None) as store:
        store.bank().retain([*TEXTS, {"text": "a secret", "acl": ["ilse"]}])
    opened = apsw.Connection(str(next(tmp_path.rglob("memory.db"))))
    add_functions(opened)
    opened.execute("PRAGMA foreign_keys = ON")
    yield opened
    opened.close()


def roots(connection: apsw.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT ordinal FROM memories ORDER BY ordinal")]


def shown(rows: list[int], *, recall: str = "r", principal: str = "", counted: bool = False) -> Impression:
    features = np.arange(len(rows) * FEATURES, dtype=np.float32).reshape(-1, FEATURES)
    return Impression(recall, principal, 5, "", b"", 0.0, tuple(rows), features, counted)


def test_an_impression_counts_only_when_asked(connection: apsw.Connection) -> None:
    rows = roots(connection)
    assert write_impressions(connection, [shown(rows[:2])], 7) == 0
    assert write_impressions(connection, [shown(rows[:2], recall="s", counted=True)], 8) == 2
    found = extend_accesses(connection, Accesses.empty())
    assert found.counts(np.array(rows, np.int64)).tolist() == [1, 1, 0, 0]
    assert set(found.stamps.tolist()) == {8}
    assert extend_accesses(connection, found) is found


def test_the_same_impression_twice_is_one(connection: apsw.Connection) -> None:
    rows = roots(connection)
    once = shown(rows[:2], counted=True)
    assert write_impressions(connection, [once, once], 7) == 2
    assert connection.execute("SELECT count(*) FROM impressions").get == 1
    assert connection.execute("SELECT count(*) FROM shown").get == 2


def test_what_was_forgotten_meanwhile_is_left_out(connection: apsw.Connection) -> None:
    rows = roots(connection)
    assert write_impressions(connection, [shown([rows[0], 999], counted=True)], 7) == 1
    write_impressions(connection, [shown([998, 999], recall="empty")], 7)
    drop_empty_impressions(connection)
    assert connection.execute("SELECT recall FROM impressions").fetchall() == [("r",)]


def test_a_recall_counts_each_of_its_memories_once(connection: apsw.Connection) -> None:
    rows = roots(connection)
    write_impressions(connection, [shown(rows[:2])], 7)
    assert write_used(connection, rows[:1], ["a"], "r", "", 8) == 1
    assert write_used(connection, rows[:2], ["a", "b"], "r", "", 9) == 1
    assert write_used(connection, rows[:1], ["a"], None, "", 10) == 1  # of no recall: each time anew
    found = extend_accesses(connection, Accesses.empty())
    assert found.counts(np.array(rows, np.int64)).tolist() == [2, 1, 0, 0]


def test_a_recall_of_somebody_else_or_another_memory_is_refused(connection: apsw.Connection) -> None:
    rows = roots(connection)
    write_impressions(connection, [shown(rows[:1], principal="maren")], 7)
    for recall, principal in (("r", ""), ("r", "ilse"), ("no", "maren")):
        with pytest.raises(InputError, match="recall_id"):
            write_used(connection, rows[:1], ["a"], recall, principal, 8)
    with pytest.raises(InputError, match="'b' is not among"):
        write_used(connection, rows[1:2], ["b"], "r", "maren", 8)


def test_samples_are_of_recalls_with_a_use_and_of_what_all_may_read(connection: apsw.Connection) -> None:
    rows = roots(connection)
    assert read_samples(connection).features.shape == (0, FEATURES)
    write_impressions(connection, [shown(rows), shown(rows[:1], recall="unused")], 7)
    assert len(read_samples(connection).labels) == 0
    write_used(connection, rows[1:2], ["b"], "r", "", 8)
    samples = read_samples(connection)
    assert samples.labels.tolist() == [0.0, 1.0, 0.0]  # the secret is not among them
    assert samples.features.tolist() == shown(rows[:3]).features.astype(float).tolist()
    assert len(set(samples.memories)) == 3


def test_rows_go_with_their_memory(connection: apsw.Connection) -> None:
    rows = roots(connection)
    write_impressions(connection, [shown(rows[:2], counted=True)], 7)
    connection.execute("DELETE FROM memories WHERE ordinal = ?", (rows[0],))
    for table in ("accesses", "shown"):
        assert connection.execute(f"SELECT ordinal FROM {table}").fetchall() == [(rows[1],)]


def test_of_too_many_impressions_those_stored_first_go_and_their_accesses_stay(
    connection: apsw.Connection,
) -> None:
    rows = roots(connection)
    for number in range(5):
        write_impressions(connection, [shown(rows[:2], recall=f"r{number}", counted=True)], 7 + number)
    prune_impressions(connection, 5)
    assert connection.execute("SELECT count(*) FROM impressions").get == 5
    prune_impressions(connection, 2)
    kept = connection.execute("SELECT recall FROM impressions ORDER BY number").fetchall()
    assert kept == [("r3",), ("r4",)]
    assert connection.execute("SELECT count(*) FROM shown").get == 4
    assert connection.execute("SELECT count(*) FROM accesses").get == 10
    with pytest.raises(InputError, match="give a recent one"):
        write_used(connection, rows[:1], ["x"], "r0", "", 20)
