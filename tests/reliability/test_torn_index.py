"""An index that was broken off while it grew is seen by nobody, and what older versions wrote of one heals."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.embedded_rows import embedded
from tests.reliability.interrupting import Interrupter

import simonides
from simonides.backends.embedded import merge
from simonides.index.block import Block, join_blocks
from simonides.index.columns import COLUMNS, Growable

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.backends.embedded.catch_up import Position
    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

pytestmark = pytest.mark.fault("N81")


def _position(bank: Bank) -> Position:
    with bank._rows.reading():
        pass
    position = embedded(bank._rows).cache.position
    assert position is not None
    return position


def _texts(store: Store, principal: str) -> list[str]:
    bank = store.bank(principal=principal)
    return sorted({*(hit.text for hit in bank.recall("key")), *(each.text for each in bank.list_memories())})


def test_a_failed_allocation_anywhere_in_catching_up_shows_nothing_private(
    tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder
) -> None:
    """The columns of readers and the rows never stand apart, whichever of the arrays failed to grow."""
    interrupter, broken = Interrupter(), 0
    with (
        simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as store,
        simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as writer,
    ):
        wanted: dict[str, list[str]] = {"ann": [], "bob": []}
        for at in range(3, 900, 45):
            for reader in ("ann", "bob"):
                text = f"The key of {reader} number {at}"
                writer.bank().retain(text, acl=[reader], deduplicate=False)
                wanted[reader].append(text)
            broken += interrupter.run(lambda: _position(store.bank()), MemoryError, at) is not None
            for principal in ("ann", "bob"):
                assert _texts(store, principal) == sorted(wanted[principal]), at
        assert broken > 10
        assert store.bank().verify().ok


def test_a_snapshot_that_another_holds_stays_as_it_was(
    tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arrays behind it are shared with the tail that fails to grow."""
    with simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as store:
        bank = store.bank()
        bank.retain([f"Lamp {n} is lit" for n in range(5)], acl=["ann"])
        held = _position(bank).snapshot
        before = {name: held.column(name).copy() for name in COLUMNS}
        grow = Growable.extend
        for failing in range(1, 30, 4):
            calls = count(1)

            def fail(self: Growable, values: Any, calls: Any = calls, failing: int = failing) -> None:
                if next(calls) == failing:
                    raise MemoryError
                grow(self, values)

            monkeypatch.setattr(Growable, "extend", fail)
            try:
                bank.retain(f"Lamp {failing + 100} is out", acl=["bob"])
                _position(bank)
            except MemoryError:
                pass
            monkeypatch.setattr(Growable, "extend", grow)
            for name, column in before.items():
                assert np.array_equal(held.column(name), column)
            assert held.postings.blocks[-1][1]["text"].postings("out")[0].size == 0
        assert bank.verify().ok


def test_a_torn_index_that_an_older_version_wrote_is_made_anew(
    tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as store:
        bank = store.bank()
        for number in range(8):
            bank.retain(f"The key lies in drawer {number}", acl=["ann" if number % 2 else "bob"])

        def torn(*parts: Any) -> Block:
            block = join_blocks(*parts)
            columns = {**block.columns, "acl": np.append(block.columns["acl"][:1], block.columns["acl"])}
            return replace(block, columns=columns)

        with monkeypatch.context() as older:
            older.setattr(Block, "__post_init__", lambda _: None)
            older.setattr(merge, "join_blocks", torn)
            assert bank._rows.merge_if_due(force=True)
    with simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as store:
        with store.bank()._rows.reading():
            assert "column acl: 9" in store.bank()._rows.problems()[0]
        assert len(_texts(store, "ann")) == len(_texts(store, "bob")) == 4
        assert store.bank().verify().ok
    with simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as store:
        assert _position(store.bank()).problem == "", "the first put a whole one in its place"
