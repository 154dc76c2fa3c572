from __future__ import annotations

import hmac
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, NotFoundError, UnavailableError
from simonides.surfaces.operations.table import OPERATIONS, Verb
from simonides.surfaces.serving.grants import ForbiddenError
from simonides.surfaces.serving.tokens import FILE, TokenStore, first_token

if TYPE_CHECKING:
    from pathlib import Path


def test_a_token_gives_what_it_was_made_for(tmp_path: Path) -> None:
    with TokenStore(tmp_path) as tokens:
        token = tokens.create(banks=["b", "a"], verbs=["read"], principal="ivo", now=5)
        grant = tokens.find(token, now=6)

    assert grant is not None
    assert (grant.principal, grant.banks, grant.verbs) == ("ivo", ("a", "b"), frozenset({Verb.READ}))


@pytest.mark.fault("X1")
def test_only_a_hash_is_kept_and_only_for_the_owner(tmp_path: Path) -> None:
    with TokenStore(tmp_path) as tokens:
        token = tokens.create(banks=["a"], now=0)
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert token.encode() not in held
    # The random part; it may hold underscores itself.
    assert token.split("_", 2)[2].encode() not in held
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_what_is_revoked_expired_or_altered_is_worth_nothing(tmp_path: Path) -> None:
    with TokenStore(tmp_path) as tokens:
        token = tokens.create(banks=["a"], now=0, expires_at=10)
        assert tokens.find(token, now=9)
        assert tokens.find(token, now=10) is None
        last = "A" if token[-1] != "A" else "B"
        for wrong in ("", "smn_", token[:-1], token[:-1] + last, token + "\n", f"{token}é", "\ud800"):
            assert tokens.find(wrong, now=0) is None
        tokens.revoke(tokens.list()[0].grant.name)
        assert tokens.find(token, now=0) is None
        with pytest.raises(NotFoundError, match="token list"):
            tokens.revoke("nobody")


def test_wrong_arguments_make_no_token(tmp_path: Path) -> None:
    with TokenStore(tmp_path) as tokens:
        with pytest.raises(InputError, match="banks: are missing"):
            tokens.create(banks=[], now=0)
        with pytest.raises(InputError, match="did you mean 'read'"):
            tokens.create(banks=["a"], verbs=["raed"], now=0)
        with pytest.raises(InputError, match="expires_at: has passed"):
            tokens.create(banks=["a"], now=5, expires_at=5)
        with pytest.raises(InputError, match="principal"):
            tokens.create(banks=["a"], principal=" ", now=5)
        assert tokens.list() == ()


def test_the_first_token_is_kept_in_a_private_file_and_made_once(tmp_path: Path) -> None:
    made = first_token(tmp_path, "diary", 0)
    assert made is not None
    token, path = made

    assert path.read_text() == token + "\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert first_token(tmp_path, "diary", 0) is None
    with TokenStore(tmp_path) as tokens:
        grant = tokens.find(token, now=1)
        assert grant is not None
        assert grant.banks == ("diary",)


@pytest.mark.fault("N62")
def test_of_servers_that_start_at_once_one_makes_the_first_token(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def make(store: Path) -> Any:
        start.wait()
        return first_token(store, "diary", 0)

    with ThreadPoolExecutor(8) as pool:
        for attempt in range(5):
            store = tmp_path / str(attempt)
            store.mkdir()
            made = [each for each in pool.map(make, [store] * 8) if each is not None]
            assert len(made) == 1
            assert made[0][1].read_text() == made[0][0] + "\n"
            with TokenStore(store) as tokens:
                assert len(tokens.list()) == 1


@pytest.mark.fault("N62")
def test_a_first_token_whose_file_cannot_be_written_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(UnavailableError, match="it is a folder"):
        first_token(tmp_path, "diary", 0)
    with TokenStore(tmp_path) as tokens:
        assert tokens.list() == ()


def test_a_grant_refuses_other_banks_verbs_and_what_is_the_owners(tmp_path: Path) -> None:
    with TokenStore(tmp_path) as tokens:
        reader = tokens.find(tokens.create(banks=["a"], verbs=["read"], now=0), now=0)
        guest = tokens.find(tokens.create(banks=["*"], principal="ivo", now=0), now=0)
    assert reader is not None
    assert guest is not None

    reader.check(OPERATIONS["recall"], "a")
    guest.check(OPERATIONS["recall"], "anything")
    for grant, name, bank in (
        (reader, "recall", "b"),
        (reader, "recall", None),
        (reader, "retain", "a"),
        (guest, "export", "a"),
    ):
        with pytest.raises(ForbiddenError):
            grant.check(OPERATIONS[name], bank)


@pytest.mark.fault("X1")
def test_a_known_and_an_unknown_token_are_compared_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look-up compares two hashes of equal length in constant time, whatever is wrong with the token."""
    compared: list[tuple[int, int]] = []
    constant = hmac.compare_digest

    def noted(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return constant(one, other)

    monkeypatch.setattr("simonides.surfaces.serving.tokens.hmac.compare_digest", noted)
    with TokenStore(tmp_path) as tokens:
        token = tokens.create(banks=["a"], now=0, expires_at=10)
        unknown = token.replace(token.split("_")[1], "0" * 16)
        tried = (token, token[:-1] + "_", unknown, "", "x" * 5_000)
        for each in tried:
            tokens.find(each, now=20)
    assert compared == [(32, 32)] * len(tried)
