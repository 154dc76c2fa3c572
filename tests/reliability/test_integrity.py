"""Damage is reported and never served; what is derived can be made anew."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

import apsw
import pytest

import simonides
from simonides.errors import DamagedError
from simonides.index.files import FileLayer, read_arrays
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store

TEXTS = [f"Memory number {n} tells of lamp {n % 7} and fuse {n % 11}." for n in range(120)]


@pytest.fixture
def merged(bank: Bank) -> Bank:
    bank.retain(TEXTS)
    bank._rows.merge_if_due(force=True)
    return bank


def reopened(store: Store) -> contextlib.closing[Store]:
    """The store as another process opens it, under the same clock."""
    clock = store._parts.clock
    return contextlib.closing(
        simonides.open(store.folder, clock=clock, embedder=StubEmbedder(32), environ={})
    )


def test_a_flipped_bit_in_the_body_of_an_array_is_noticed_and_the_answers_stay(
    store: Store, merged: Bank
) -> None:
    expected = [(hit.id, hit.score) for hit in merged.recall("lamp 3 and fuse 5")]
    generator = random.Random(5)
    for _ in range(15):
        paths = sorted(merged._rows.folder.rglob("*.arr"))
        path = generator.choice(paths)
        body = bytearray(path.read_bytes())
        body[generator.randrange(len(body))] ^= 1 << generator.randrange(8)
        before = arrays(path)
        path.write_bytes(body)
        unchanged = arrays(path) == before
        found = merged.verify()
        with reopened(store) as second:
            bank = second.bank(merged.name)
            assert [(hit.id, hit.score) for hit in bank.recall("lamp 3 and fuse 5")] == expected
        # Only what lies between two arrays, and is read by no one, may differ unnoticed.
        assert found.ok == unchanged
        merged.repair()


def arrays(path: Path) -> object:
    """What is read from a file, without looking at checksums of the bodies."""
    try:
        found, about = read_arrays(FileLayer(), path)
    except (DamagedError, ValueError):
        return None
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in found.items()}, about


def test_a_damaged_row_is_never_handed_out(merged: Bank) -> None:
    victim = merged.recall("Memory number 17")[0].id
    connection = apsw.Connection(str(merged._rows.folder / "memory.db"))
    connection.execute("UPDATE memories SET text = replace(text, 'lamp', 'lump') WHERE id = ?", (victim,))
    connection.close()
    with pytest.raises(DamagedError, match=victim):
        merged.recall("Memory number 17")
    with pytest.raises(DamagedError, match=victim):
        merged.get_memory(victim)
    assert victim in merged.verify().problems[0]
    assert not merged.repair().ok
    merged.forget(victim)
    assert victim not in {hit.id for hit in merged.recall("Memory number 17")}
    assert merged.verify().ok


def test_repair_makes_what_is_derived_anew_and_changes_no_row(store: Store, merged: Bank) -> None:
    expected = [(hit.id, hit.score) for hit in merged.recall("lamp 3 and fuse 5")]
    for path in merged._rows.folder.rglob("*.arr"):
        path.unlink()  # it is mapped: a new file in its place, not another length
        path.write_bytes(b"nothing")
    assert not merged.verify().ok
    before = merged.stats()["sequence"]
    report = merged.repair()
    assert report.ok
    assert "the index was rebuilt" in report.notes
    assert merged.stats()["sequence"] == before
    with reopened(store) as second:
        bank = second.bank(merged.name)
        assert [(hit.id, hit.score) for hit in bank.recall("lamp 3 and fuse 5")] == expected
        assert bank.verify().ok
