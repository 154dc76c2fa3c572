"""Banks with a plain analyser, what is written to them, and what is found in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from simonides.backends.embedded.bank import EmbeddedBank
from simonides.backends.embedded.change_log import next_change, write_changes
from simonides.backends.embedded.checksums import add_functions
from simonides.index.view import build_view
from simonides.records.interval import to_micros
from simonides.records.query import Filters
from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.items import read_items
from simonides.retain.pipeline import prepare
from simonides.retain.storing import Storing
from simonides.services.viewing import ViewRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from simonides.index.files import FileLayer
    from simonides.protocols import Embedder
    from simonides.records.draft import Prepared
    from simonides.records.memory import Memory
    from simonides.storage.reader import Meta
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder


def log_change(connection: apsw.Connection, meta: Meta, operation: str, ordinal: int, stamp: int) -> Meta:
    """Append one change; the counters after it, which are not stored yet."""
    change = next_change(meta, operation, ordinal, stamp)
    write_changes(connection, [change])
    return replace(meta, sequence=change[0], log_hash=change[-1])


@dataclass(frozen=True)
class Words:
    """Lower-cased words between blanks."""

    fingerprint: str = "words"

    def terms(self, text: str) -> list[str]:
        return text.lower().split()

    def query_terms(self, text: str) -> list[str]:
        return self.terms(text)

    def is_filler(self, text: str) -> bool:
        return False


@dataclass(frozen=True)
class Found:
    """What a bank answers: per channel (id, score) best first, and the viewpoint."""

    lexical: list[tuple[str, float]]
    dense: list[tuple[str, float]]
    as_of: int

    @property
    def ids(self) -> set[str]:
        return {memory for memory, _ in self.lexical + self.dense}


@dataclass
class Desk:
    """Opens banks in one folder, writes to them and searches them.

    Attributes:
        place: where the banks' folders are.
        now: the clock, microseconds UTC.
        embedder: makes vectors; ``None`` = none.
    """

    place: Path
    now: int
    embedder: Embedder | None
    opened: list[EmbeddedBank] = field(default_factory=list)

    def open(
        self,
        name: str = "bank",
        *,
        analyser: Words | None = None,
        files: FileLayer | None = None,
        create: bool = True,
        identity: str = "b1",
    ) -> EmbeddedBank:
        """A bank of its own position, as another process would have it."""
        bank = EmbeddedBank(
            self.place / name, analyser or Words(), create=create, new_id=lambda: identity, files=files
        )
        self.opened.append(bank)
        return bank

    def prepare(self, *items: Any, **shared: Any) -> tuple[Prepared, ...]:
        return prepare(read_items(list(items), shared), Words(), self.embedder).items

    def retain(self, bank: EmbeddedBank, *items: Any, **shared: Any) -> list[str]:
        return self.store(bank, self.prepare(*items, **shared))

    def store(self, bank: EmbeddedBank, items: Sequence[Prepared]) -> list[str]:
        with bank.writing(self.now) as transaction:
            if self.embedder is not None and any(item.codes is not None for item in items):
                transaction.models.use_embedder(self.embedder)
            return Storing(transaction, items, Words(), "", lambda _: None).store()

    def forget(self, bank: EmbeddedBank, ids: Sequence[str]) -> int:
        with bank.writing(self.now) as transaction:
            return transaction.versions.erase(ids)

    def search(self, bank: EmbeddedBank, text: str, **filters: Any) -> Found:
        with bank.reading() as reading:
            view = build_view(reading.snapshot, Filters(**filters), self.now, ViewRows(reading, KnownNames()))
            snapshot = reading.snapshot
            lexical = snapshot.postings.bm25(
                list(Counter(Words().terms(text)).items()),
                view.visible,
                view.eligible,
                field_weights={"text": 1.0, "context": 0.5, "relation": 0.25},
                k1=1.2,
                b=0.75,
            )
            channels = [view.ranking(*lexical, 50)]
            if self.embedder is not None and snapshot.dimension == self.embedder.dimension:
                query = self.embedder.encode_query(text)
                near = snapshot.vectors.nearest(query, view.eligible, depth=50, rescore=200)
                channels.append(view.ranking(*near, 50))
            pairs = [
                [
                    (memory.id, score)
                    for memory, score in zip(
                        view.memories(ranking.ordinals.tolist()), ranking.scores.tolist(), strict=True
                    )
                ]
                for ranking in channels
            ]
            return Found(pairs[0], pairs[1] if len(pairs) > 1 else [], view.as_of)

    def all(self, bank: EmbeddedBank) -> list[Memory]:
        """Every row there is, by ordinal."""
        with bank.reading() as reading:
            rows: list[tuple[Any, ...]] = reading.connection.execute(
                "SELECT ordinal FROM memories ORDER BY ordinal"
            ).fetchall()
            return reading.memories([ordinal for (ordinal,) in rows])

    def sql(self, statement: str, *bindings: Any, name: str = "bank") -> list[tuple[Any, ...]]:
        """Run SQL on the file itself, past the library."""
        connection = apsw.Connection(str(self.place / name / "memory.db"))
        add_functions(connection)
        try:
            return connection.execute(statement, bindings).fetchall()
        finally:
            connection.close()

    def damage(self, statement: str, *bindings: Any, name: str = "bank") -> None:
        """Change the file as a fault of the disk would: no trigger seals what was changed."""
        connection = apsw.Connection(str(self.place / name / "memory.db"))
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        try:
            connection.execute(statement, bindings)
        finally:
            connection.close()

    def dump(self, name: str = "bank") -> Mapping[str, list[tuple[Any, ...]]]:
        """Every row of every table."""
        tables = self.sql("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", name=name)
        return {table: self.sql(f"SELECT * FROM {table}", name=name) for (table,) in tables}

    def index_files(self, name: str = "bank") -> list[str]:
        """What lies in the index folder, as sorted relative paths."""
        index = self.place / name / "index"
        return sorted(str(path.relative_to(index)) for path in index.rglob("*") if path.is_file())


@pytest.fixture
def desk(tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder) -> Iterator[Desk]:
    desk = Desk(tmp_path, to_micros(clock()), stub_embedder)
    yield desk
    for bank in desk.opened:
        bank.close()


@pytest.fixture
def small_merges(monkeypatch: pytest.MonkeyPatch) -> int:
    """Merge a tail of more than 3 rows, so that small banks have an index."""
    monkeypatch.setattr("simonides.backends.embedded.merge.SMALLEST_MERGE", 3)
    return 3
