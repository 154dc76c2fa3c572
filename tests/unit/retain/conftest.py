"""A bank whose extractor and embedder say what a test tells them, and a look at what it wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.embedded_rows import connection_of

from simonides.index.vectors import quantise
from simonides.records.draft import Prepared
from simonides.records.extraction import Extraction
from simonides.retain.duplicates import sign
from simonides.retain.items import read_items
from simonides.store import open_store
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

    Prepare = Callable[..., Prepared]


@dataclass(frozen=True, slots=True)
class Told:
    """Finds in a text what it was told stands there, else nothing. Satisfies ``protocols.Extractor``."""

    found: Mapping[str, Extraction] = field(default_factory=dict)

    def extract(self, text: str, *, anchor: int, zone: tzinfo, known: Collection[str]) -> Extraction:
        return self.found.get(text, Extraction())


@dataclass
class Desk:
    """Banks in one store, and SQL on what they wrote.

    Attributes:
        store: open.
        clock: of the store.
    """

    store: Store
    clock: FrozenClock
    bank: Bank

    def seen_by(self, principal: str) -> Bank:
        return self.store.bank(self.bank.name, principal=principal)

    def rows(self, statement: str, *bindings: Any) -> list[tuple[Any, ...]]:
        with self.bank._rows.reading() as reading:
            return connection_of(reading).execute(statement, bindings).fetchall()

    def links(self, kind: str, places: int = 3) -> set[tuple[str, str, float]]:
        """Links of one kind by the texts of their ends, the later first; weights to so many places."""
        return {
            (source, target, round(weight, places))
            for source, target, weight in self.rows(
                "SELECT s.text, t.text, l.weight FROM links l JOIN memories s ON s.ordinal = l.source"
                " JOIN memories t ON t.ordinal = l.target WHERE l.kind=?",
                kind,
            )
        }


@pytest.fixture
def desk(tmp_path: Path, clock: FrozenClock) -> Iterator[Callable[..., Desk]]:
    """Opens a store with what is told about texts: extractions, and vectors (all of one dimension)."""
    opened: list[Store] = []

    def make(
        found: Mapping[str, Extraction] | None = None,
        vectors: Mapping[str, Sequence[float]] | None = None,
        *,
        name: str = "diary",
    ) -> Desk:
        dimension = len(next(iter(vectors.values()))) if vectors else 32
        store = open_store(
            tmp_path / f"store{len(opened)}",
            clock=clock,
            embedder=StubEmbedder(dimension, vectors or {}),
            extractor=Told(found or {}),
        )
        opened.append(store)
        return Desk(store, clock, store.bank(name))

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def prepare() -> Prepare:
    """The last of some items as ``retain`` takes them, prepared: its vector, what was found in its text."""

    def make(
        item: Any,
        vector: Sequence[float] | None = None,
        found: Extraction | None = None,
        **shared: Any,
    ) -> Prepared:
        draft = read_items(item, shared)[-1]
        stored = None if vector is None else quantise(np.array(vector, np.float32))
        codes, scale = stored or (None, 0.0)
        words = draft.text.lower().split()
        terms = {"text": {word: words.count(word) for word in words}}
        return Prepared(draft, terms, codes, scale, found or Extraction(), sign(words))

    return make
