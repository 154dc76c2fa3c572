"""What a load gives the index is what a look at the stored rows would have made."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.embedded_rows import connection_of

from simonides.backends.embedded.bulk_index import feed, publish
from simonides.index.block import block_arrays, join_blocks
from simonides.store import open_store
from simonides.testing.embedder import StubTokenEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from simonides.bank import Bank
    from simonides.index.snapshot import IndexSnapshot

WORDS = ("fig", "Norrhav", "été", "harbour", "lantern", "ferry", "日本", "quince", "x" * 40)


def _items(count: int, *, seed: int = 3) -> list[dict[str, Any]]:
    source = np.random.default_rng(seed)
    return [
        {
            "text": f"{number}: {' '.join(source.choice(WORDS, 900 if number == 5 else 1 + number % 30))}",
            "context": "a walk" if number % 3 else "",
            "tags": [f"tag {number % 4}"],
            "project": f"project {number % 5}",
            "kind": ("semantic", "episodic")[number % 2],
            "speaker": ("", "Ines Ortega")[number % 2],
            "session": ("", "monday")[number % 3 % 2],
            "event_time": "2026-02" if number % 7 == 0 else None,
            "confidence": 0.25 if number % 9 == 0 else None,
        }
        for number in range(count)
    ]


def _load(bank: Bank, items: list[Any], **options: Any) -> list[str]:
    embedder = StubTokenEmbedder()
    vectors, tokens = embedder.encode_both([item["text"] for item in items])
    return bank.load(items, vectors, tokens=tokens, **options)


def _whole(snapshot: IndexSnapshot) -> dict[str, Any]:
    return block_arrays(join_blocks(snapshot.blocks, snapshot.expired, snapshot.dimension))


def _arrays(folder: Path) -> dict[str, Any]:
    with open_store(folder, embedder=StubTokenEmbedder()) as store, store.bank()._rows.reading() as reading:
        return _whole(reading.snapshot)


def _read(folder: Path) -> dict[str, Any]:
    """What a look at the stored rows makes, without any file of the index."""
    shutil.rmtree(folder / "bank-default" / "index", ignore_errors=True)
    return _arrays(folder)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where each block of a load went, and its rows."""
    given: list[tuple[str, int]] = []

    def publishing(connection: Any, position: Any, snapshot: Any, after: Any, block: Any, *rest: Any) -> int:
        number = publish(connection, position, snapshot, after, block, *rest)
        given.extend([("disk", block.rows)] if number else [])
        return number

    def feeding(position: Any, after: Any, block: Any) -> Any:
        found = feed(position, after, block)
        given.extend([("memory", block.rows)] if found else [])
        return found

    monkeypatch.setattr("simonides.backends.embedded.bulk_index.publish", publishing)
    monkeypatch.setattr("simonides.backends.embedded.bulk_index.feed", feeding)
    return given


@pytest.mark.parametrize("smallest", [64, 1_024, 10_000])
@pytest.mark.parametrize("before", [0, 3])
def test_a_load_gives_the_index_what_the_rows_say(
    tmp_path: Path,
    given: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
    before: int,
    smallest: int,
) -> None:
    monkeypatch.setattr("simonides.backends.embedded.bulk_index.SMALLEST_PUBLISHED", smallest)
    with open_store(tmp_path / "s", embedder=StubTokenEmbedder(), clock=_clock) as store:
        bank = store.bank()
        if before:
            bank.retain([f"earlier {number}" for number in range(before)])
        _load(bank, _items(1_124), batch=1_024)
        with bank._rows.reading() as reading:
            held = _whole(reading.snapshot)
        assert bank.verify().ok

    assert given == [("disk" if rows >= smallest else "memory", rows) for rows in (1_024, 100)]
    read = _read(tmp_path / "s")
    assert held.keys() == read.keys()
    for name, array in held.items():
        assert array.dtype == read[name].dtype, name
        assert np.array_equal(array, read[name]), name


@pytest.mark.parametrize(
    "options",
    [{"batch": 1_000}, {"batch": 700}],
    ids=["batches end inside parts", "the last batch is as long as the last parts"],
)
def test_batches_that_end_inside_parts_are_read(
    tmp_path: Path, given: list[tuple[str, int]], options: dict[str, int]
) -> None:
    with open_store(tmp_path / "s", embedder=StubTokenEmbedder(), clock=_clock) as store:
        _load(store.bank(), _items(1_100), **options)
        with store.bank()._rows.reading() as reading:
            assert reading.snapshot.rows == 1_100
    assert given == []


def test_repeats_pieces_of_documents_and_statements_are_read(
    tmp_path: Path, given: list[tuple[str, int]]
) -> None:
    with open_store(tmp_path / "s", embedder=StubTokenEmbedder(), clock=_clock) as store:
        bank = store.bank()
        items = _items(300)
        _load(bank, [*items, items[3]])
        _load(bank, [{"text": f"paragraph {number}", "document_id": "d"} for number in range(300)])
        stated = {
            "text": "Ines lives in Norrhav",
            "subject": "Ines",
            "relation": "lives in",
            "object": "Norrhav",
        }
        _load(bank, [stated, *_items(300, seed=4)])
        with bank._rows.reading() as reading:
            held = _whole(reading.snapshot)
        assert bank.verify().ok
    read = _read(tmp_path / "s")
    assert all(np.array_equal(held[name], read[name]) for name in held)


def test_the_rows_are_the_same_whether_a_block_is_published_or_not(
    tmp_path: Path, given: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(tmp_path / "published", embedder=StubTokenEmbedder(), clock=_clock) as store:
        store.bank().retain("earlier")
    shutil.copytree(tmp_path / "published", tmp_path / "waiting")
    dumps = []
    for name, smallest in (("published", 256), ("waiting", 10_000)):
        monkeypatch.setattr("simonides.backends.embedded.bulk_index.SMALLEST_PUBLISHED", smallest)
        with open_store(tmp_path / name, embedder=StubTokenEmbedder(), clock=_clock) as store:
            _load(store.bank(), _items(600))
            with store.bank()._rows.reading() as reading:
                dumps.append(_dump(connection_of(reading)))
                assert reading.meta.generation == (name == "published")
    assert given == [("disk", 600), ("memory", 600)]
    assert dumps[0] == dumps[1]
    assert len(dumps[0]["memories"]) == 601


def _dump(connection: apsw.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, but for the generation of the index and the seal over it."""
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ).fetchall()
    found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in tables}
    columns = [str(column[1]) for column in connection.execute("PRAGMA table_info(meta)").fetchall()]
    shown = ", ".join(name for name in columns if name not in {"generation", "digest"})
    return found | {"meta": connection.execute(f"SELECT {shown} FROM meta").fetchall()}


def _clock() -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC)
