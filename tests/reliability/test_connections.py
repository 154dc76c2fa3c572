"""The settings that durability and erasure rest on, on the connection of every thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import embedded

import simonides

if TYPE_CHECKING:
    from pathlib import Path

FULL = 2


@pytest.mark.fault("M2")
def test_every_threads_connection_is_durable_and_erases(tmp_path: Path) -> None:
    together = threading.Barrier(4)
    found: dict[int, dict[str, Any]] = {}

    with simonides.open(tmp_path, embedder=None) as store:
        bank = store.bank()

        def use(number: int) -> None:
            bank.retain(f"memory of thread {number}")
            bank.recall("memory")
            connection = embedded(bank._rows)._connections.get()
            # All at once, so that four threads mean four connections.
            together.wait()
            names = ("synchronous", "journal_mode", "secure_delete", "foreign_keys", "trusted_schema")
            found[id(connection)] = {name: connection.pragma(name) for name in names}

        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    expected = {
        "synchronous": FULL,
        "journal_mode": "wal",
        "secure_delete": 1,
        "foreign_keys": 1,
        "trusted_schema": 0,
    }
    assert list(found.values()) == [expected] * 4
