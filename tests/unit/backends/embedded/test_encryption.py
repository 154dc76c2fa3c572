"""Reading a key, and what a SQLite that cannot encrypt says of encrypted banks."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.backends.embedded import encryption
from simonides.backends.embedded.encryption import Key, encrypts, engine, read_key
from simonides.errors import DamagedError, InputError, MissingExtraError, UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

SECRET = bytes(range(32))
DIGITS = SECRET.hex()


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the SQLite that is loaded encrypts."""
    monkeypatch.setattr(encryption, "encrypts", lambda: True)
    monkeypatch.setattr(encryption, "_is_installed", lambda package: package == "apsw-sqlite3mc")


def key_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "bank.key"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


@pytest.mark.usefixtures("able")
def test_a_key_comes_from_the_argument_a_file_or_the_environment(tmp_path: Path) -> None:
    path = key_file(tmp_path, f"{DIGITS}\n")
    assert read_key(None, {}) is None
    assert read_key(None, {"SIMONIDES_KEY": "", "SIMONIDES_KEY_FILE": " "}) is None
    for given, environ in (
        (SECRET, {}),
        (SECRET, {"SIMONIDES_KEY": "ff" * 32}),
        (path, {"SIMONIDES_KEY": "ff" * 32}),
        (None, {"SIMONIDES_KEY": DIGITS.upper()}),
        (None, {"SIMONIDES_KEY_FILE": str(path)}),
    ):
        assert read_key(given, environ) == Key(SECRET)


@pytest.mark.usefixtures("able")
def test_what_is_no_key_is_refused_and_not_repeated(tmp_path: Path) -> None:
    for given in (b"short", SECRET + b"x", DIGITS, 7, b""):
        with pytest.raises(InputError, match="key: expected 32 bytes") as caught:
            read_key(given, {})
        assert "short" not in str(caught.value)
        assert DIGITS not in str(caught.value)
    for text in (DIGITS[:-1], DIGITS[:-1] + "g", "correct horse battery staple", DIGITS * 2):
        for environ in ({"SIMONIDES_KEY": text}, {"SIMONIDES_KEY_FILE": str(key_file(tmp_path, text))}):
            with pytest.raises(InputError, match="expected 64 hexadecimal digits; make one with") as caught:
                read_key(None, environ)
            assert text not in str(caught.value)
    with pytest.raises(InputError, match="unset one of them"):
        read_key(None, {"SIMONIDES_KEY": DIGITS, "SIMONIDES_KEY_FILE": "x"})
    with pytest.raises(UnavailableError, match="the key cannot be read"):
        read_key(tmp_path / "none.key", {})
    with pytest.raises(UnavailableError, match="chmod 600"):
        read_key(key_file(tmp_path, DIGITS, 0o604), {})
    with pytest.raises(InputError, match="no hexadecimal digits"):
        read_key(key_file(tmp_path, "\u706b"), {})


def test_no_text_of_a_key_shows_it() -> None:
    assert "secret" not in repr(Key(SECRET))
    assert repr(SECRET) not in f"{Key(SECRET)}{Key(SECRET)!r}"
    assert pickle.loads(pickle.dumps(Key(SECRET))) == Key(SECRET)


def test_both_packages_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "encrypts", lambda: True)
    monkeypatch.setattr(encryption, "_is_installed", lambda package: True)
    with pytest.raises(MissingExtraError, match=r"both installed.*pip uninstall -y apsw apsw-sqlite3mc"):
        read_key(SECRET, {})


def test_the_statistics_say_which_sqlite_is_loaded(bank: simonides.Bank) -> None:
    assert bank.stats()["sqlite"] == engine()
    assert bank.stats()["encrypted"] is False
    assert engine().endswith("(apsw-sqlite3mc)" if encrypts() else "(apsw)")


@pytest.mark.skipif(encrypts(), reason="the SQLite that is loaded encrypts")
def test_a_plain_sqlite_refuses_a_key_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match="pip install apsw-sqlite3mc"):
        simonides.open(tmp_path / "store", key=SECRET, embedder=None, environ={})
    assert not (tmp_path / "store").exists()


def test_a_file_of_an_encrypted_bank_says_what_it_needs(tmp_path: Path) -> None:
    folder = tmp_path / "store" / "bank-default"
    folder.mkdir(parents=True)
    # As an encrypted database looks: random but for the size of its pages.
    (folder / "memory.db").write_bytes(b"\x9a#\xa01\xe2\x1d\x06m\x03yx!+[\xee\t\x10\x00\x02\x02 @  " * 512)
    needed = "" if encrypts() else r".*pip install apsw-sqlite3mc"
    with (
        simonides.open(tmp_path / "store", embedder=None, environ={}) as store,
        pytest.raises(DamagedError, match=rf"encrypted: open it with its key, by SIMONIDES_KEY_FILE{needed}"),
    ):
        store.bank()
