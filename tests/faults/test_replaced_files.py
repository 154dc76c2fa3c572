"""Files that are moved away or replaced while their bank is open: told at once, and no write is lost."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.surfaces.rest.conftest import app, client_for

import simonides
from simonides.errors import ReplacedError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.bank import Bank
    from simonides.store import Store

__all__ = ["app", "client_for"]

pytestmark = pytest.mark.fault("N93")

TEXT = "Plumzifrax keeps the vault key."


def everything(bank: Bank) -> dict[str, Callable[[], object]]:
    return {
        "retain": lambda: bank.retain("Another fact."),
        "recall": lambda: bank.recall("vault key"),
        "memories": bank.list_memories,
        "stats": bank.stats,
        "entities": bank.entities,
        "verify": bank.verify,
    }


def in_a_thread(call: Callable[[], object]) -> object:
    """What *call* gives or raises in a thread that has no connection yet."""
    caught: list[object] = []

    def run() -> None:
        try:
            caught.append(call())
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return caught[0]


@pytest.mark.parametrize("what", [".", "memory.db"])
@pytest.mark.parametrize("verb", ["retain", "recall", "memories", "stats", "entities", "verify"])
def test_what_was_moved_away_is_told_and_works_again_once_it_is_back(
    store: Store, tmp_path: Path, what: str, verb: str
) -> None:
    bank = store.bank()
    bank.retain(TEXT)
    place = store.folder / "bank-default" / what
    place = place.resolve()
    place.rename(tmp_path / "away")
    call = everything(bank)[verb]
    with pytest.raises(ReplacedError, match=r"memory\.db: was moved away or replaced .* put the file back"):
        call()
    assert isinstance(in_a_thread(call), ReplacedError)
    (tmp_path / "away").rename(place)
    call()
    assert not isinstance(in_a_thread(call), Exception)
    assert bank.verify().ok


@pytest.mark.parametrize("what", [".", "memory.db"])
def test_another_file_in_its_place_is_told_and_used_by_who_gets_the_bank_again(
    tmp_path: Path, what: str
) -> None:
    with simonides.open(tmp_path / "other", embedder=None) as other:
        other.bank().retain("The copy knows of figs.")
    with simonides.open(tmp_path / "store", embedder=None) as store:
        bank = store.bank()
        bank.retain(TEXT)
        place, other_place = (
            (tmp_path / each / "bank-default" / what).resolve() for each in ("store", "other")
        )
        if what == ".":
            place.rename(tmp_path / "away")
        other_place.rename(place)
        for call in everything(bank).values():
            with pytest.raises(ReplacedError):
                call()
        again = store.bank()
        assert [each.text for each in again.list_memories()] == ["The copy knows of figs."]
        again.retain("And of leeks.")
        assert again.verify().ok
        with pytest.raises(StoreError):
            bank.stats()
    with simonides.open(tmp_path / "store", embedder=None) as store:
        assert len(store.bank().list_memories()) == 2


@pytest.mark.parametrize("read_meanwhile", [False, True])
def test_the_log_of_the_old_file_is_never_read_as_the_new_ones(
    tmp_path: Path, *, read_meanwhile: bool
) -> None:
    with simonides.open(tmp_path / "other", embedder=None) as other:
        other.bank().retain("The copy knows of figs.")
    place, away = tmp_path / "store" / "bank-default" / "memory.db", tmp_path / "away.db"
    with simonides.open(tmp_path / "store", embedder=None) as store:
        store.bank().retain(TEXT)
        reader = apsw.Connection(str(place))
        if read_meanwhile:
            reader.execute("BEGIN; SELECT count(*) FROM meta").fetchall()
        store.bank().retain("Written while it was read.")
        place.rename(away)
        (tmp_path / "other" / "bank-default" / "memory.db").rename(place)
        if read_meanwhile:
            for _ in range(2):
                with pytest.raises(ReplacedError, match=r"memory\.db-wal belongs to the old one"):
                    store.bank()
            place.with_name("memory.db-wal").rename(f"{away}-wal")
        assert [each.text for each in store.bank().list_memories()] == ["The copy knows of figs."]
        reader.close()
    with contextlib.closing(apsw.Connection(str(away))) as old:
        assert old.execute("SELECT count(*) FROM memories").get == 2


def test_closing_what_was_replaced_leaves_the_log_of_the_new_file(tmp_path: Path) -> None:
    place = tmp_path / "store" / "bank-default"
    with simonides.open(tmp_path / "store", embedder=None) as old:
        old.bank().retain(TEXT)
        place.rename(tmp_path / "away")
        with simonides.open(tmp_path / "store", embedder=None) as new:
            new.bank().retain("The new one.")
            assert (place / "memory.db-wal").stat().st_size
            old.close()
            assert (place / "memory.db-wal").stat().st_size
    with simonides.open(tmp_path / "store", embedder=None) as new:
        assert [each.text for each in new.bank().list_memories()] == ["The new one."]
    shutil.rmtree(place)
    (tmp_path / "away").rename(place)
    with simonides.open(tmp_path / "store", embedder=None) as old:
        assert [each.text for each in old.bank().list_memories()] == [TEXT]


def test_a_folder_that_was_deleted_by_hand_counts_as_deleted(store: Store) -> None:
    bank = store.bank()
    bank.retain(TEXT)
    shutil.rmtree(store.folder / "bank-default")
    for call in everything(bank).values():
        with pytest.raises(StoreError, match="deleted meanwhile"):
            call()


def test_a_server_tells_of_what_was_moved_and_goes_on_once_it_is_back(
    store: Store, tmp_path: Path, client_for: ClientFor
) -> None:
    store.bank("mine").retain(TEXT)
    place = store.folder / "bank-mine"

    async def work() -> list[httpx.Response]:
        async with client_for("mine") as client:
            path, answers = "/v1/banks/mine", []
            for moved in (False, True, False):
                if moved:
                    place.rename(tmp_path / "away")
                elif not place.exists():
                    (tmp_path / "away").rename(place)
                answers += [
                    await client.post(f"{path}/memories", json={"items": ["A fact."]}),
                    await client.post(f"{path}/recall", json={"query": "vault"}),
                    await client.get("/health/ready"),
                ]
            return answers

    answers = asyncio.run(work())
    assert [answer.status_code for answer in answers] == [200, 200, 200, 503, 503, 200, 200, 200, 200]
    for refused in answers[3:5]:
        assert "moved away or replaced" in refused.json()["detail"]
        assert str(tmp_path) not in refused.text
        assert refused.headers["retry-after"]
    said = [answers[at].json() for at in (2, 5, 8)]
    assert "files of 1 were moved away" in said[1]["degraded"][-1]
    assert said[0] == said[2]


_CUT = """
import os, sys, simonides
from pathlib import Path
with simonides.open(sys.argv[1], embedder=None) as store:
    bank = store.bank()
    bank.retain([f"Fact {number} of the kettle" for number in range(2_000)])
    bank._rows.merge_if_due(force=True)
    assert bank.recall("kettle").hits
    mapped = [path for path in Path(sys.argv[1]).rglob("index/*/*") if path.stat().st_size > 8192]
    assert mapped
    for path in mapped:
        os.truncate(path, 4096)
    for _ in range(2):
        assert len(bank.recall("kettle", limit=5).hits) == 5
        bank.retain("One more.")
    print(bank.verify().ok)
"""


def test_an_index_file_that_is_cut_while_it_is_open_ends_no_process(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _CUT, str(tmp_path / "store")], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr
