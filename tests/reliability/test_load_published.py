"""What a load stores comes with its block: readers elsewhere index nothing, and a kill leaves no half of it."""

from __future__ import annotations

import contextlib
import errno
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import pytest
from tests.embedded_rows import embedded

import simonides
from simonides.backends.embedded import bank as embedded_bank
from simonides.backends.embedded import index_cache
from simonides.backends.embedded.reading import read_index_rows
from simonides.errors import DamagedError, UnavailableError
from simonides.index.block import block_arrays
from simonides.index.files import FileLayer
from simonides.index.generation import Generation, read_generation
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.reliability.conftest import AssertChannelsAgree

    from simonides.bank import Bank

BATCH = 1_024
FEEDING = "simonides.backends.embedded.bulk_index.SMALLEST_PUBLISHED"


def texts(first: int, count: int) -> list[str]:
    return [f"{number} fig trees near Norrhav" for number in range(first, first + count)]


def load(bank: Bank, first: int, count: int, *, batch: int = BATCH, **options: Any) -> list[str]:
    given = texts(first, count)
    return bank.load(given, StubEmbedder().encode(given), batch=batch, **options)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Bank, Bank]]:
    """One bank, opened as by two processes."""
    with (
        simonides.open(tmp_path, embedder=StubEmbedder()) as one,
        simonides.open(tmp_path, embedder=StubEmbedder()) as two,
    ):
        yield one.bank(), two.bank()


@pytest.fixture
def indexed_by_reader(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ordinals of the rows that some reading indexed itself."""
    found: list[int] = []

    def counting(*arguments: Any) -> Any:
        for row in read_index_rows(*arguments):
            found.append(row.ordinal)
            yield row

    monkeypatch.setattr("simonides.backends.embedded.catch_up.read_index_rows", counting)
    return found


def current(bank: Bank) -> Generation:
    return read_generation(
        FileLayer(), embedded(bank._rows).cache.folder, bank.stats()["generation"], check=True
    )


def folders(bank: Bank) -> list[str]:
    return FileLayer().names(embedded(bank._rows).cache.folder)


@pytest.mark.parametrize("published", [True, False], ids=["published", "control: not published"])
def test_a_reader_beside_a_load_indexes_no_loaded_row(
    stores: tuple[Bank, Bank],
    indexed_by_reader: list[int],
    monkeypatch: pytest.MonkeyPatch,
    published: bool,
) -> None:
    if not published:
        monkeypatch.setattr(FEEDING, 10_000)
    loading, reading = stores
    assert reading.stats()["tail_rows"] == 0
    seen: list[int] = []

    def recall(done: int) -> None:
        (hit,) = reading.recall(texts(done - 1, 1)[0], profile="lexical", limit=1).hits
        seen.append(done)
        assert hit.text == texts(done - 1, 1)[0]
        assert reading.stats()["tail_rows"] == (0 if published else done % (2 * BATCH))

    load(loading, 0, 3 * BATCH, progress=recall)
    assert seen == [BATCH, 2 * BATCH, 3 * BATCH]
    assert (indexed_by_reader == []) is published


def test_a_batch_below_the_size_is_left_to_the_tail(stores: tuple[Bank, Bank]) -> None:
    loading, _ = stores
    load(loading, 0, 255)
    assert folders(loading) == []
    load(loading, 255, 256)
    assert len(folders(loading)) == 1
    assert current(loading).rows == 511, "with what waited"


def test_a_bank_with_a_key_publishes_nothing(
    stores: tuple[Bank, Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, _ = stores
    monkeypatch.setattr(embedded(loading._rows).cache, "_in_memory", True)
    load(loading, 0, BATCH)
    assert folders(loading) == []
    assert loading.stats()["memories"] == BATCH


def test_a_reader_keeps_the_answer_of_its_own_moment(stores: tuple[Bank, Bank]) -> None:
    loading, reading = stores
    load(loading, 0, BATCH)
    with reading._rows.reading() as held:
        before = [(name, array.copy()) for name, array in block_arrays(held.snapshot.blocks[0]).items()]
        load(loading, BATCH, BATCH)
        old = embedded(loading._rows).cache.folder / str(held.meta.generation)
        assert FileLayer().names(old) == ["graph.arr"], "the load has deleted what it replaced"
        assert (held.snapshot.rows, len(held.memories([0, BATCH - 1]))) == (BATCH, 2)
        with pytest.raises(DamagedError, match=f"row {BATCH} "):
            held.memories([BATCH])
        arrays = block_arrays(held.snapshot.blocks[0])
        assert all(np.array_equal(arrays[name], array) for name, array in before)
    assert reading.stats()["memories"] == 2 * BATCH
    assert reading.verify().ok


KILLED = """
import os
import signal
import sys
import simonides
from simonides.backends.embedded import bulk_index, index_cache
from simonides.testing.embedder import StubEmbedder

publish = bulk_index.publish


def killing(*arguments):
    number = publish(*arguments)
    if number == 2 and sys.argv[2] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def killed(self, number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)


bulk_index.publish = killing
index_cache.IndexCache.remove_unused = killed
texts = [f"{number} fig trees near Norrhav" for number in range(3 * 1_024)]
with simonides.open(sys.argv[1], embedder=StubEmbedder()) as store:
    store.bank().load(texts, StubEmbedder().encode(texts), batch=1_024)
"""


@pytest.mark.fault("W3")
@pytest.mark.parametrize(("moment", "batches"), [("before", 1), ("after", 2)])
def test_killed_around_the_commit_rows_and_block_are_there_together_or_not_at_all(
    tmp_path: Path,
    moment: str,
    batches: int,
    indexed_by_reader: list[int],
    assert_channels_agree: AssertChannelsAgree,
) -> None:
    script, folder = tmp_path / "loader.py", tmp_path / "store"
    script.write_text(KILLED)
    killed = subprocess.run([sys.executable, str(script), str(folder), moment], check=False)
    assert killed.returncode == -signal.SIGKILL

    with simonides.open(folder, embedder=StubEmbedder()) as store:
        bank = store.bank()
        figures = bank.stats()
        assert (figures["memories"], figures["generation"]) == (batches * BATCH, batches)
        assert (figures["tail_rows"], figures["problems"], indexed_by_reader) == (0, [], [])
        assert folders(bank) == ["1", "2"], "one of them belongs to nobody"
        assert bank.verify().ok
        assert_channels_agree(bank)
        load(bank, 0, 3 * BATCH)
        assert bank.stats()["versions"] == 3 * BATCH
        assert [int(name) for name in folders(bank)] == sorted(
            {current(bank).number, current(bank).graph_at, *(file.generation for file in current(bank).files)}
        ), "what belonged to nobody is swept"
        assert bank.verify().ok


def test_a_commit_that_fails_leaves_neither_rows_nor_files(stores: tuple[Bank, Bank]) -> None:
    loading, reading = stores
    load(loading, 0, BATCH)
    before = folders(loading)
    connection = embedded(loading._rows)._connections.get()
    connection.set_commit_hook(lambda: True)
    with pytest.raises(apsw.ConstraintError):
        load(loading, BATCH, BATCH)
    connection.set_commit_hook(None)
    assert folders(loading) == before
    for bank in (loading, reading):
        assert bank.stats()["memories"] == BATCH
        assert bank.verify().ok
    load(loading, BATCH, BATCH)
    assert reading.stats()["memories"] == 2 * BATCH


def test_a_commit_that_came_through_keeps_its_generation(stores: tuple[Bank, Bank]) -> None:
    loading, _ = stores
    load(loading, 0, BATCH)
    number = loading.stats()["generation"]
    embedded(loading._rows).cache.take_back(number)
    assert folders(loading) == [str(number)]


class Full(FileLayer):
    """Takes no file."""

    def write(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        raise OSError(28, "No space left on device", str(path))


def test_an_index_that_cannot_be_written_loses_no_row(
    stores: tuple[Bank, Bank], assert_channels_agree: AssertChannelsAgree
) -> None:
    loading, reading = stores
    load(loading, 0, BATCH)
    usual, embedded(loading._rows).cache.files = embedded(loading._rows).cache.files, Full()
    load(loading, BATCH, 2 * BATCH, batch=2 * BATCH)
    assert "No space left on device" in loading.stats()["problems"][0]
    assert len(folders(loading)) == 1, "nothing of it is left"
    assert loading.stats()["memories"] == reading.stats()["memories"] == 3 * BATCH
    assert_channels_agree(reading)
    embedded(loading._rows).cache.files = usual
    load(loading, 3 * BATCH, BATCH)
    assert_channels_agree(loading)
    assert (loading.stats()["problems"], loading.stats()["tail_rows"]) == ([], 0)
    assert reading.verify().ok


def test_a_number_that_a_merge_takes_meanwhile_is_left_to_it(stores: tuple[Bank, Bank]) -> None:
    loading, reading = stores

    class Slower(FileLayer):
        def make_folder(self, folder: Path) -> None:
            folder.mkdir(parents=True)
            super().make_folder(folder)

    embedded(loading._rows).cache.files = Slower()
    load(loading, 0, BATCH)
    assert (folders(loading), loading.stats()["problems"]) == (["1"], []), "the folder is theirs"
    assert (loading.stats()["generation"], reading.stats()["memories"]) == (0, BATCH)
    shutil.rmtree(embedded(loading._rows).cache.folder)


def test_mentions_and_links_stay_where_they_are(stores: tuple[Bank, Bank]) -> None:
    loading, reading = stores
    said = ["Ines Ortega met Paul Karlsen in Norrhav.", "Paul Karlsen lives in Norrhav."]
    loading.retain(said)
    assert loading._rows.merge_if_due(force=True)
    assert len(reading.entities()) == len(loading.entities()) > 0
    written = loading.stats()["generation"]
    loading.retain("Ines Ortega went to Saltby.")
    for first in (0, BATCH):
        load(loading, first, BATCH)
        generation = current(loading)
        assert (generation.graph_at, generation.rows) == (written, 3 + first + BATCH)
        assert "graph.arr" not in FileLayer().names(
            embedded(loading._rows).cache.folder / str(generation.number)
        )
        assert [each.name for each in reading.entities()] == [each.name for each in loading.entities()]
        assert reading.verify().ok
    with reading._rows.reading() as held:
        assert len(held.snapshot.graph.newer_mentions) > 0, "they were read once"
    assert loading._rows.merge_if_due(force=True)
    generation = current(loading)
    assert generation.graph_at == generation.number
    for bank in (loading, reading):
        assert bank.verify().ok


def test_nothing_that_was_erased_gets_into_a_generation_again(
    stores: tuple[Bank, Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, other = stores
    loading.retain("the secret word is quetzalcoatl", tags=["t"])
    load(loading, 0, BATCH)
    (secret,) = loading.recall("quetzalcoatl", profile="lexical", limit=1).hits
    with monkeypatch.context() as patched:
        patched.setattr(
            "simonides.backends.embedded.index_cache.IndexCache.merge_if_due", lambda *_, **__: False
        )
        other.forget(secret.memory.id)
        before = loading.stats()["generation"]
        load(loading, BATCH, BATCH)
        assert loading.stats()["generation"] == before, "that is left to the merge"
    load(loading, 2 * BATCH, BATCH)
    for path in embedded(loading._rows).cache.folder.rglob("*"):
        assert not path.is_file() or b"quetzalcoatl" not in path.read_bytes(), path
    assert loading.verify().ok


def test_a_purge_waits_for_a_load_to_end(stores: tuple[Bank, Bank]) -> None:
    loading, other = stores
    load(loading, 0, BATCH)
    embedded(other._rows)._connections.get().set_busy_timeout(10)
    with loading._rows.writing(0), pytest.raises(UnavailableError, match="another process held the bank"):
        embedded(other._rows).cache.purge()
    assert embedded(other._rows).cache.purge()


def test_a_restore_keeps_what_a_load_published_meanwhile(
    stores: tuple[Bank, Bank], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, restoring = stores
    load(loading, 0, BATCH)
    restoring.backup(tmp_path / "copy.db")
    load(loading, BATCH, BATCH)
    before = set(folders(loading))
    restore_backup = vars(embedded_bank)["restore_backup"]

    def and_then_load(*arguments: Any) -> Any:
        saved = restore_backup(*arguments)
        load(loading, 2 * BATCH, BATCH)
        return saved

    monkeypatch.setattr(embedded_bank, "restore_backup", and_then_load)
    restoring.restore(tmp_path / "copy.db")
    assert current(loading).rows == 2 * BATCH, "its generation is there"
    assert set(folders(loading)).isdisjoint(before), "and none of the bank that was"
    for bank in stores:
        assert (bank.stats()["memories"], bank.verify().problems) == (2 * BATCH, ())


def test_a_repair_keeps_what_a_load_published_meanwhile(
    stores: tuple[Bank, Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, repairing = stores
    load(loading, 0, BATCH)
    before = set(folders(loading))
    write_transaction = vars(embedded_bank)["write_transaction"]
    seen: list[int] = []

    @contextlib.contextmanager
    def and_then_load(connections: Any) -> Iterator[apsw.Connection]:
        with write_transaction(connections) as connection:
            yield connection
        monkeypatch.setattr(embedded_bank, "write_transaction", write_transaction)
        load(loading, BATCH, BATCH)

    def look(*, force: bool) -> bool:
        # Between the deleting and the merge, which would write anew what is missing.
        seen.append(current(loading).rows)
        return False

    monkeypatch.setattr(embedded_bank, "write_transaction", and_then_load)
    monkeypatch.setattr(repairing._rows, "merge_if_due", look)
    assert repairing.repair().problems == ()
    assert seen == [2 * BATCH], "its generation is there"
    assert set(folders(loading)).isdisjoint(before), "and none of those that were"


@pytest.mark.parametrize("deleting", ["restore", "repair"])
def test_who_deletes_an_index_waits_for_a_load_to_end(
    stores: tuple[Bank, Bank], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deleting: str
) -> None:
    loading, other = stores
    load(loading, 0, BATCH)
    other.backup(tmp_path / "copy.db")
    removed: list[bool] = []
    remove_folder = FileLayer.remove_folder

    def remove(files: FileLayer, folder: Path) -> None:
        connection = apsw.Connection(str(loading._rows.folder / "memory.db"))
        try:
            connection.execute("BEGIN IMMEDIATE; ROLLBACK")
        except apsw.BusyError:
            removed.append(True)
        else:
            removed.append(False)
        finally:
            connection.close()
        remove_folder(files, folder)

    monkeypatch.setattr(FileLayer, "remove_folder", remove)
    monkeypatch.setattr(other._rows, "merge_if_due", lambda **_: False)
    if deleting == "restore":
        other.restore(tmp_path / "copy.db")
    else:
        other.repair()
    assert removed == [True], "the bank was held, so no load could write"


def test_a_disk_that_fails_after_the_commit_fails_no_load(
    stores: tuple[Bank, Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, other = stores
    load(bank, 0, BATCH)

    def failing(*_: Any) -> Generation:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(index_cache, "read_generation", failing)
        assert len(load(bank, BATCH, BATCH)) == BATCH
    assert other.stats()["memories"] == 2 * BATCH
    load(bank, 2 * BATCH, BATCH)
    bank._rows.merge_if_due(force=True)
    assert bank.verify().ok
    assert not bank._rows.problems()
