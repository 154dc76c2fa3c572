"""Warming (HX-19): what is loaded when a session starts is not loaded by its first recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.embedded_rows import embedded

import simonides
from simonides.index.files import FileLayer
from simonides.index.snapshot import touch
from simonides.recall.understanding import router
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

TEXTS = [f"The harbour log of day {n} speaks of Odalys and a copper lamp." for n in range(40)]


class Loads:
    """What was opened or loaded, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[str] = []
        for name in ("map", "read"):
            kept = getattr(FileLayer, name)

            def look(layer: FileLayer, path: Path, kept: Any = kept, name: str = name) -> Any:
                self.seen.append(f"{name} {path.name}")
                return kept(layer, path)

            monkeypatch.setattr(FileLayer, name, look)

        def load(name: str, **_: Any) -> StubEmbedder:
            self.seen.append(f"load {name}")
            return Counted(self, dimension=384, name=name)

        monkeypatch.setattr("simonides.models.on_demand.load_embedder", load)

    def taken(self) -> list[str]:
        """What came since the last call."""
        seen, self.seen = self.seen, []
        return seen


class Counted(StubEmbedder):
    """Tells when it encodes texts of memories or of examples; a query is no load."""

    __slots__ = ("_loads",)
    _loads: Loads

    def __init__(self, loads: Loads, **options: Any) -> None:
        super().__init__(**options)
        object.__setattr__(self, "_loads", loads)

    def encode(self, texts: Any) -> Any:
        self._loads.seen.append(f"encode {len(texts)} texts")
        return super().encode(texts)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Loads:
    return Loads(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, clock: FrozenClock, loads: Loads) -> Path:
    """A bank with a sealed index, closed."""
    with simonides.open(tmp_path, clock=clock) as store:
        store.bank().retain(TEXTS, deduplicate=False)
        assert store.bank()._rows.merge_if_due(force=True)
    loads.taken()
    return tmp_path


def reopened(folder: Path, clock: FrozenClock, **options: Any) -> Store:
    return simonides.open(folder, clock=clock, **options)


@pytest.mark.spec("HX-19")
@pytest.mark.parametrize("profile", ["helix", "default"])
def test_the_first_recall_after_warming_loads_nothing(
    folder: Path, clock: FrozenClock, loads: Loads, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    monkeypatch.setattr(router, "_by_embedder", {})
    with reopened(folder, clock) as store:
        bank = store.bank()
        bank.warm(profile=profile)
        ahead = loads.taken()
        assert bank.recall("copper lamp", profile=profile).hits
        assert loads.taken() == []
    with reopened(folder, clock) as store:
        # The control: without warming, the first recall does exactly that work.
        bank = store.bank()
        assert loads.taken() == []
        monkeypatch.setattr(router, "_by_embedder", {})
        assert bank.recall("copper lamp", profile=profile).hits
        assert loads.taken() == ahead
    assert {"map graph.arr", "map block-0.arr", "load all-MiniLM-L6-v2"} <= set(ahead)
    assert ("encode" in " ".join(ahead)) == (profile == "helix")  # the router's examples


@pytest.mark.spec("HX-19")
def test_a_store_that_is_told_to_warms_each_bank_it_opens(
    folder: Path, clock: FrozenClock, loads: Loads
) -> None:
    with reopened(folder, clock, warm=True) as store:
        bank = store.bank()
        assert loads.taken()
        assert bank.recall("copper lamp").hits
        assert store.bank() is bank
        assert loads.taken() == []


@pytest.mark.spec("HX-19")
def test_every_mapped_array_is_read(folder: Path, clock: FrozenClock) -> None:
    with reopened(folder, clock) as store, store.bank()._rows.reading() as reading:
        (generation,) = (folder / "bank-default" / "index").iterdir()
        files = sum(path.stat().st_size for path in generation.glob("*.arr"))
        stamps = (generation / "expired.arr").stat().st_size
        touched = touch(reading.snapshot)
        assert 0.5 * (files - stamps) < touched <= files
        (block,) = reading.snapshot.blocks
        assert touched > block.vectors.codes.nbytes + block.vectors.bits.nbytes


def test_warming_changes_nothing(folder: Path, clock: FrozenClock) -> None:
    with reopened(folder, clock) as store, reopened(folder, clock) as other:
        bank, cold = store.bank(), other.bank()
        bank.warm()
        assert _told(bank) == _told(cold)
        assert not bank.used([], recall_id=None)
        assert len(embedded(bank._rows)._impressions) == len(embedded(cold._rows)._impressions) == 1


def _told(bank: Bank) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in bank.recall("copper lamp", profile="engram")]


def test_an_empty_bank_and_one_without_a_model_can_be_warmed(tmp_path: Path, clock: FrozenClock) -> None:
    with simonides.open(tmp_path, clock=clock, embedder=None, warm=True) as store:
        bank = store.bank()
        bank.warm(profile="helix")
        assert touch_size(bank) >= 0
        assert not bank.recall("lamp").hits


def touch_size(bank: Bank) -> int:
    with bank._rows.reading() as reading:
        assert np.isfinite(touch(reading.snapshot))
        return touch(reading.snapshot)
