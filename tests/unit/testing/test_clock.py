from __future__ import annotations

from datetime import UTC, datetime

import pytest

from simonides.errors import InputError
from simonides.testing.clock import FrozenClock


def test_the_clock_stands_still_at_its_start(clock: FrozenClock) -> None:
    assert clock() == clock() == datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_advancing_and_setting_move_the_clock(clock: FrozenClock) -> None:
    assert clock.advance(seconds=1.5) == datetime(2026, 3, 1, 9, 0, 1, 500_000, tzinfo=UTC)
    assert clock.advance(days=-1, seconds=-1.5) == datetime(2026, 2, 28, 9, tzinfo=UTC)

    clock.now = datetime(2024, 2, 29, tzinfo=UTC)

    assert clock() == datetime(2024, 2, 29, tzinfo=UTC)


def test_each_test_gets_a_clock_of_its_own() -> None:
    FrozenClock().advance(days=1)

    assert FrozenClock()() == datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_a_naive_moment_is_refused() -> None:
    with pytest.raises(InputError, match="aware"):
        FrozenClock(datetime(2026, 3, 1))  # noqa: DTZ001 - a naive moment is what is tested
