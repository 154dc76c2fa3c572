"""A bit flips somewhere in a bank's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.reliability.flips import flip_bits

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reliability.conftest import Record, Share
    from tests.reliability.flips import Flips


@pytest.mark.fault("M4")
def test_a_flipped_bit_is_found_or_harmless_and_never_served(tmp_path: Path, record: Record) -> None:
    _judge(flip_bits(tmp_path, trials=24, seed=1), record)


@pytest.mark.soak
@pytest.mark.fault("M4")
def test_1_500_flipped_bits_are_found_or_harmless(tmp_path: Path, record: Record, share: Share) -> None:
    """A third of them, 500, in the texts of memories."""
    _judge(flip_bits(tmp_path, trials=share.part(1_500), seed=5_000 + share.number), record)


def _judge(flips: Flips, record: Record) -> None:
    record("P5", flips.counts())
    assert not flips.problems, flips.problems[:10]
    assert flips.served == flips.missed == flips.unhandled == 0
    assert flips.found >= flips.in_live_text
