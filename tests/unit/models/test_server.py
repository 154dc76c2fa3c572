"""What clients of models behind HTTP share: addresses, bodies with limits, memory of a server's health."""

from __future__ import annotations

import math

import pytest

from simonides.errors import InputError, ModelRefusedError, ModelUnavailableError
from simonides.models.server import LARGEST_BODY, Health, is_address, place, read_body


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("https://models.example", True),
        ("http://[::1]:8080", True),
        ("ftp://models.example", False),
        ("models.example", False),
        ("http://", False),
        ("http://x:0", False),
        ("http://x:99999", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_an_address_is_told_from_what_is_none(text: str, good: bool) -> None:
    assert is_address(text) is good


def test_a_place_has_no_path_and_no_password() -> None:
    assert place("https://me:secret@models.example:81/v1?key=1") == "https://models.example:81"
    assert place("http://[::1]:8080/v1") == "http://[::1]:8080"


def read(pieces: list[bytes], now: list[float]) -> bytes:
    times = iter(now)
    return read_body(
        pieces, end=10.0, seconds=5.0, timer=lambda: next(times), unavailable=ModelUnavailableError
    )


def test_a_body_is_read_to_its_end() -> None:
    assert read([b"ab", b"", b"c"], [1.0, 2.0, 10.0]) == b"abc"
    assert read([], []) == b""


def test_a_body_has_limits_of_size_and_time() -> None:
    half = b"x" * (LARGEST_BODY // 2)
    assert len(read([half, half], [1.0, 1.0])) == LARGEST_BODY
    with pytest.raises(ModelUnavailableError, match="sent more than 4,194,304 bytes"):
        read([half, half, b"x"], [1.0, 1.0, 1.0])
    with pytest.raises(ModelUnavailableError, match="did not end its answer within 5 s"):
        read([b"a", b"b"], [1.0, 10.5])


def test_a_failure_is_remembered_for_a_while_and_then_forgotten() -> None:
    now = [0.0]
    health = Health("http://models.example", 1, 30.0, lambda: now[0])
    with pytest.raises(ModelRefusedError), health.watched():
        raise ModelRefusedError("no such model")
    now[0] = 29.5
    with (
        pytest.raises(ModelUnavailableError, match=r"asked again in 0 s \(no such model\)"),
        health.watched(),
    ):
        pytest.fail("a server that failed was asked again")
    now[0] = 30.0
    with health.watched():
        pass


def test_what_is_no_model_s_fault_is_not_held_against_it() -> None:
    health = Health("http://models.example", 1, 30.0, lambda: 0.0)
    with pytest.raises(ZeroDivisionError), health.watched():
        raise ZeroDivisionError
    with health.watched():
        pass


def test_slots_come_back() -> None:
    health = Health("http://models.example", 1, 0.0, lambda: 0.0)
    with pytest.raises(ZeroDivisionError), health.slot(1.0):
        raise ZeroDivisionError
    with health.slot(1.0), pytest.raises(ModelUnavailableError, match="busy: 1 requests"), health.slot(0.0):
        pytest.fail("two had the one slot")


@pytest.mark.parametrize(("concurrency", "pause"), [(0, 1.0), (1, -1.0), (1, math.nan)])
def test_numbers_out_of_range_are_refused(concurrency: int, pause: float) -> None:
    with pytest.raises(InputError):
        Health("http://models.example", concurrency, pause)
