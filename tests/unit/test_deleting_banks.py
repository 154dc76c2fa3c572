"""`Store.delete_bank`: gone whole, and whoever had it open is told."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.errors import InputError, NotFoundError, StoreError

if TYPE_CHECKING:
    from pathlib import Path

_READER = """
import sys, simonides
from simonides.errors import StoreError
with simonides.open(sys.argv[1], embedder=None) as store:
    bank = store.bank("garden")
    print(len(bank.recall("figs")), flush=True)
    input()
    for ask in (lambda: bank.recall("figs"), lambda: bank.retain("Leeks need room."), bank.stats):
        try:
            ask()
            print("answered")
        except StoreError as error:
            print(error)
"""


@pytest.mark.fault("O3")
def test_a_deleted_bank_leaves_no_file_and_no_answer(tmp_path: Path) -> None:
    with (
        simonides.open(tmp_path, embedder=None) as store,
        simonides.open(tmp_path, embedder=None) as other,
    ):
        here, there = store.bank("garden"), other.bank("garden")
        here.retain("Figs need water.")
        store.bank("office").retain("Figs are on the desk.")
        assert len(there.recall("figs")) == 1
        command = [sys.executable, "-c", _READER, str(tmp_path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout
            assert reader.stdin
            assert reader.stdout.readline() == "1\n"

            store.delete_bank("garden")

            assert [each.name for each in tmp_path.iterdir()] == ["bank-office"]
            reader.stdin.write("\n")
            reader.stdin.flush()
            told = reader.stdout.read().splitlines()
        assert len(told) == 3
        assert all("deleted" in line for line in told)
        for bank in (here, there):
            for ask in (
                lambda bank=bank: bank.recall("figs"),
                bank.stats,
                lambda bank=bank: bank.retain("x"),
            ):
                with pytest.raises(StoreError, match=r"deleted|closed"):
                    ask()
        assert len(store.bank("office").recall("figs")) == 1

        # A new bank of the same name is another bank, also for who had the old one open.
        assert store.bank("garden").stats()["memories"] == 0
        with pytest.raises(StoreError, match="deleted"):
            there.recall("figs")


def test_what_an_interrupted_deletion_left_is_swept(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None) as store:
        store.bank("garden").retain("Figs need water.")
        left = tmp_path / ".deleted-0123"
        left.mkdir()
        (left / "memory.db").write_bytes(b"x")
        assert store.list_banks() == ["garden"]
        store.delete_bank("garden")
    assert list(tmp_path.iterdir()) == []


def test_only_a_bank_that_is_there_is_deleted(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None) as store:
        with pytest.raises(NotFoundError, match="garden"):
            store.delete_bank("garden")
        with pytest.raises(InputError):
            store.delete_bank(" ")


def test_a_damaged_bank_is_deleted_too(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None) as store:
        store.bank("garden").retain("Figs need water.")
    (tmp_path / "bank-garden" / "memory.db").write_bytes(b"no database" * 500)
    with simonides.open(tmp_path, embedder=None) as store:
        store.delete_bank("garden")
        assert store.list_banks() == []


def test_principals_have_idempotency_keys_of_their_own(tmp_path: Path) -> None:
    with simonides.open(tmp_path / "store", embedder=None) as store:
        doors = [store.bank("garden", principal=who) for who in (None, "ines", "tove")]
        texts = ["Figs need water.", "Leeks need room.", "Peas need poles."]
        ids = [door.retain(text, idempotency_key="k") for door, text in zip(doors, texts, strict=True)]
        assert len({memory for each in ids for memory in each}) == 3
        again = [door.retain(text, idempotency_key="k") for door, text in zip(doors, texts, strict=True)]
        assert again == ids
        with pytest.raises(simonides.errors.ConflictError, match="'k'"):
            doors[1].retain(texts[2], idempotency_key="k")
        # Not even a key that looks like another's.
        forged = doors[0].retain("Beans.", idempotency_key="\x1f4\x1finesk")
        assert forged not in ids
        # An export keeps them.
        doors[0].export(tmp_path / "out")
        store.bank("copy").import_bank(tmp_path / "out")
        assert store.bank("copy", principal="ines").retain(texts[1], idempotency_key="k") == ids[1]
        assert store.bank("copy").verify().ok
