"""The collector rests inside the block, and goes on afterwards where it went before."""

from __future__ import annotations

import gc

import pytest

from simonides.gc_pause import gc_paused


def _fail() -> None:
    assert not gc.isenabled()
    raise KeyError


def test_the_collector_rests_inside_the_block_and_goes_on_after_it() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError), gc_paused():
        _fail()
    assert gc.isenabled()


def test_a_collector_that_rested_before_goes_on_resting() -> None:
    with gc_paused():
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
