from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import pytest
from tests.embedded_rows import connection_of

from simonides.errors import InputError
from simonides.index.vectors import quantise, quantise_rows
from simonides.retain import storing
from simonides.store import open_store
from simonides.testing.embedder import StubEmbedder, StubTokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store

TEXTS = [f"Ines Ortega planted {number} fig trees near Norrhav" for number in range(40)]


class _Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def embedder() -> StubTokenEmbedder:
    return StubTokenEmbedder()


@pytest.fixture
def store(tmp_path: Path, embedder: StubTokenEmbedder) -> Iterator[Store]:
    with open_store(tmp_path / "store", embedder=embedder, clock=_Clock()) as opened:
        yield opened


@pytest.fixture
def bank(store: Store) -> Bank:
    return store.bank()


def _vectors(embedder: StubEmbedder, texts: list[str] = TEXTS) -> np.ndarray[Any, Any]:
    return embedder.encode(texts)


def test_what_was_loaded_is_recalled_like_what_was_retained(
    store: Store, bank: Bank, embedder: StubTokenEmbedder
) -> None:
    ids = bank.load(TEXTS, _vectors(embedder), batch=16)
    other = store.bank("retained")
    other.retain(TEXTS)

    assert len(ids) == len(set(ids)) == 40
    asked = "how many fig trees? 17"
    best = [one.recall(asked, limit=1, profile="lexical").hits[0] for one in (bank, other)]
    assert best[0].text == best[1].text == TEXTS[17]
    assert best[0].score == best[1].score
    assert bank.verify().ok
    assert bank.stats()["with_vector"] == 40


def test_vectors_are_kept_as_retain_keeps_them(embedder: StubEmbedder) -> None:
    vectors = _vectors(embedder)
    vectors[3] *= 1e-3
    codes, scales = quantise_rows(vectors)

    for place, vector in enumerate(vectors):
        alone = quantise(vector)
        assert alone is not None
        assert np.array_equal(codes[place], alone[0])
        assert scales[place] == alone[1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_bad_vector_is_refused_by_its_number_and_batches_before_it_stay(
    bank: Bank, embedder: StubEmbedder, bad: float
) -> None:
    vectors = _vectors(embedder)
    vectors[33] = bad
    told: list[int] = []

    # Parts of 1,024 items are checked whole, so everything here is in the part that is refused.
    with pytest.raises(InputError, match=r"vectors\[33\]"):
        bank.load(TEXTS, vectors, batch=10, progress=told.append)
    assert told == []
    assert bank.stats()["memories"] == 0

    many = [f"{text}, row {number}" for number in range(30) for text in TEXTS]
    rows = np.tile(_vectors(embedder), (30, 1))
    rows[1_100] = bad
    with pytest.raises(InputError, match=r"vectors\[1100\]"):
        bank.load(many, rows, batch=500, progress=told.append)
    assert told == [500, 1_000]
    assert bank.stats()["memories"] == 1_000


def test_a_wrong_item_is_named_by_its_number(bank: Bank, embedder: StubEmbedder) -> None:
    items: list[Any] = [*TEXTS]
    items[7] = {"text": "fig", "kind": "myth"}
    with pytest.raises(InputError, match=r"items\[7\]\.kind"):
        bank.load(items, _vectors(embedder))


@pytest.mark.parametrize(
    ("count", "width", "field"), [(39, None, "vectors"), (41, None, "vectors"), (40, 3, "vectors")]
)
def test_there_must_be_a_vector_of_the_right_length_for_each_item(
    bank: Bank, embedder: StubEmbedder, count: int, width: int | None, field: str
) -> None:
    vectors = np.ones((count, width or embedder.dimension), np.float32)
    with pytest.raises(InputError, match=field):
        bank.load(TEXTS, vectors)
    with pytest.raises(InputError, match=field):
        bank.load(iter(TEXTS), vectors)


def test_integers_are_no_vectors(bank: Bank, embedder: StubEmbedder) -> None:
    with pytest.raises(InputError, match="floats"):
        bank.load(TEXTS, np.ones((40, embedder.dimension), np.int8))


def test_a_load_made_again_stores_nothing_anew(bank: Bank, embedder: StubEmbedder) -> None:
    first = bank.load(TEXTS, _vectors(embedder), batch=16)
    assert bank.load(TEXTS, _vectors(embedder), batch=7) == first
    assert bank.stats()["versions"] == 40


def test_settling_reads_names_and_links_afterwards(bank: Bank, embedder: StubEmbedder) -> None:
    bank.load(TEXTS, _vectors(embedder))
    assert bank.entities() == []
    assert bank.stats()["waiting"] == 80

    assert bank.settle() == 80

    assert "Ines Ortega" in [found.name for found in bank.entities()]
    assert bank.stats()["links"] > 0
    assert bank.stats()["waiting"] == 0
    assert bank.verify().ok


def test_names_reach_versions_made_meanwhile(bank: Bank, embedder: StubEmbedder) -> None:
    memory = bank.load(TEXTS[:1], _vectors(embedder)[:1])[0]
    bank.update_memory(memory, salience=0.9)
    bank.settle()
    assert [found.mentions for found in bank.entities() if found.name == "Ines Ortega"] == [1]


def test_what_a_loaded_text_says_ends_nothing(bank: Bank, embedder: StubEmbedder) -> None:
    bank.retain("Odalys works at Quillstad.")
    said = ["Odalys works at Norrhav."]
    bank.load(said, embedder.encode(said))
    bank.settle()
    assert len(bank.list_memories()) == 2


def test_tokens_are_stored_as_retain_stores_them(
    store: Store, bank: Bank, embedder: StubTokenEmbedder
) -> None:
    vectors, tokens = embedder.encode_both(TEXTS)
    bank.load(TEXTS, vectors, tokens=tokens)
    store.bank("other").retain(TEXTS)
    for name in ("default", "other"):
        with store.bank(name)._rows.reading() as reading:
            rows = connection_of(reading).execute("SELECT codes FROM token_codes ORDER BY ordinal").fetchall()
        assert len(rows) == 40
        if name == "default":
            mine = rows
    assert rows == mine


def test_worker_processes_store_the_same(tmp_path: Path, embedder: StubEmbedder) -> None:
    found = []
    for workers in (1, 2):
        with open_store(tmp_path / str(workers), embedder=embedder, clock=_Clock()) as store:
            store.bank().load(TEXTS, _vectors(embedder), workers=workers)
            found.append(
                [(memory.text, memory.kind, memory.ordinal) for memory in store.bank().list_memories()]
            )
    assert sorted(found[0]) == sorted(found[1])


@pytest.mark.parametrize("field", ["batch", "workers"])
@pytest.mark.parametrize("value", [0, True, 1.5])
def test_numbers_out_of_range_are_refused(
    bank: Bank, embedder: StubEmbedder, field: str, value: object
) -> None:
    options: dict[str, Any] = {field: value}
    with pytest.raises(InputError, match=field):
        bank.load(TEXTS, _vectors(embedder), **options)


def test_without_an_embedder_nothing_says_what_made_the_vectors(tmp_path: Path) -> None:
    with (
        open_store(tmp_path / "none", embedder=None) as store,
        pytest.raises(InputError, match="the embedder that made them"),
    ):
        store.bank().load(["fig"], np.ones((1, 3), np.float32))


MIXED: list[str | dict[str, Any]] = [
    *TEXTS[:6],
    {"text": TEXTS[6], "tags": ["b", "a"], "acl": ["ines"], "project": "garden", "metadata": {"n": 1.5}},
    {"text": TEXTS[7], "session": "s", "speaker": "Ines"},
    {"text": TEXTS[8], "session": "s", "speaker": "Olu", "acl": ["ines"]},
    {"text": TEXTS[9], "relation": "planted", "subject": "Ines", "object": "trees"},
    {"text": TEXTS[10], "session": "s", "speaker": "Ines"},
    TEXTS[0],
    {"text": TEXTS[0], "deduplicate": False, "recorded_at": "2026-02-01T00:00:00Z"},
    {"text": TEXTS[0], "deduplicate": False, "recorded_at": "2026-02-01T00:00:00Z"},
    TEXTS[0],
    {"text": TEXTS[11], "document_id": "d", "salience": 0.25, "event_time": "2026-01-05"},
    {"text": TEXTS[12], "document_id": "d", "valid_to": "2027-01-01"},
    {"text": "Grüße aus Norrhav 東京", "confidence": 0.5, "path": "a/b", "source": "letter"},
]
"""What makes a row depend on the rows before it, and what does not, in turns."""


def _everything(path: Path) -> dict[str, list[Any]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table' ORDER BY 1")
    ]
    return {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables}


def test_rows_written_together_are_the_rows_written_one_by_one(
    tmp_path: Path, embedder: StubTokenEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte by byte, with every digest: the rows of a run, and those that each look at the bank."""
    texts = [item if isinstance(item, str) else item["text"] for item in MIXED]
    vectors, tokens = embedder.encode_both(texts)
    found = []
    for name in ("together", "apart"):
        numbers = iter(range(100))
        monkeypatch.setattr(uuid, "uuid4", lambda numbers=numbers: uuid.UUID(int=next(numbers)))
        if name == "apart":
            monkeypatch.setattr(storing, "_is_plain", lambda item: False)
        with open_store(tmp_path / name, embedder=embedder, clock=_Clock()) as store:
            bank = store.bank()
            # The second load meets the rows of the first.
            ids = [bank.load(MIXED, vectors, tokens=tokens, batch=11) for _ in range(2)]
            assert bank.verify().ok
        (path,) = (tmp_path / name).rglob("memory.db")
        found.append((ids, _everything(path)))

    assert found[0] == found[1]
    assert len(found[0][1]["memories"]) >= len(set(texts))
