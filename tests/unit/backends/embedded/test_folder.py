from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.errors import InputError
from simonides.records.hygiene import shows_nothing
from simonides.storage.folder import bank_name, bank_names, folder_name

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda name: not shows_nothing(name)
)
WINDOWS_DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}


def test_folder_names_by_hand() -> None:
    assert folder_name("default") == "bank-default"
    assert folder_name("Team 7/é") == "bank-_54eam_207_2f_c3_a9"
    assert folder_name("a_b-c") == "bank-a_5fb-c"


@given(NAMES)
def test_a_name_comes_back_from_its_folder(name: str) -> None:
    assert bank_name(folder_name(name)) == name


@given(NAMES)
def test_a_folder_name_is_plain_on_every_platform(name: str) -> None:
    folder = folder_name(name)
    assert folder.isascii()
    assert set(folder) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    assert folder.split(".")[0] not in WINDOWS_DEVICES
    assert len(folder) <= 255


@given(NAMES, NAMES)
def test_differing_names_have_folders_that_no_file_system_folds_together(one: str, other: str) -> None:
    variants = [one, other, one.upper(), one.lower(), one.swapcase(), one + " ", one + "."]
    variants += [unicodedata.normalize(form, one) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    names = {name for name in variants if not shows_nothing(name)}
    folded = {unicodedata.normalize("NFKC", folder_name(name)).casefold().rstrip(" .") for name in names}
    assert len(folded) == len(names)


@pytest.mark.fault("X4")
@pytest.mark.parametrize(
    "name",
    ["con", "nul", "NUL.txt", ".", "..", "/", "\\", "../x", "/abs", "..\\x", "%2e%2e/x", "~", "a:b", "a\0"],
)
def test_special_names_stay_inside_the_store(tmp_path: Path, name: str) -> None:
    folder = tmp_path / folder_name(name)
    assert folder.parent == tmp_path
    assert folder.resolve().parent == tmp_path.resolve()
    folder.mkdir()
    assert bank_name(folder.name) == name


@pytest.mark.parametrize("name", ["", " ", "\n\t", "\0", None, 7, b"bank", ["a"]])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(InputError, match=r"bank: .*not a name") as caught:
        folder_name(name)
    assert caught.value.field == "bank"


@pytest.mark.fault("L6")
def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        folder_name("a\ud83d")


def test_a_name_that_is_too_long_is_refused_and_the_longest_fits(tmp_path: Path) -> None:
    (tmp_path / folder_name("a" * 200)).mkdir()
    (tmp_path / folder_name("é" * 33)).mkdir()
    for name in ("a" * 201, "é" * 34):
        with pytest.raises(InputError, match=r"needs 20\d characters as a folder name, the limit is 200"):
            folder_name(name)


@pytest.mark.parametrize(
    "folder",
    [
        "default",
        "bank-",
        "bank-A",
        "bank-a b",
        "bank-_61",  # a letter needs no escape, so no name is written so
        "bank-_C3_A9",
        "bank-_c3",
        "bank-_",
        "bank-_zz",
        "bank-é",
        "bank-_20",
        "BANK-a",
    ],
)
def test_a_folder_of_another_form_is_no_bank(folder: str) -> None:
    assert bank_name(folder) is None


def test_banks_are_listed_by_name(tmp_path: Path) -> None:
    for name in ("zoo", "Ada", "été"):
        folder = tmp_path / folder_name(name)
        folder.mkdir()
        (folder / "memory.db").touch()
    (tmp_path / "bank-empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "memory.db").touch()
    (tmp_path / "bank-file").touch()
    assert bank_names(tmp_path) == ["Ada", "zoo", "été"]
    assert bank_names(tmp_path / "missing") == []
