"""The store against a dictionary, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.reliability.model import Machine

if TYPE_CHECKING:
    from datetime import datetime

    from tests.reliability.conftest import Record, Share

STEPS_PER_BANK = 50


class OpenToAll(Machine):
    """A dictionary that is wrong: it does not know who may read."""

    def know(self, memory: str, text: str, now: datetime, **fields: Any) -> str:
        return super().know(memory, text, now, **{**fields, "acl": ()})


def _run(examples: int, *, seed_: int | None = None, machine: type[Machine] = Machine) -> int:
    """Run the rules on *examples* banks; how many steps were made."""
    machine.steps = 0
    asked = settings(
        max_examples=examples,
        stateful_step_count=STEPS_PER_BANK,
        deadline=None,
        database=None,
        phases=(Phase.generate,) if machine is not Machine else tuple(Phase),
        derandomize=seed_ is None,
        suppress_health_check=list(HealthCheck),
    )
    test = machine if seed_ is None else seed(seed_)(machine)
    run_state_machine_as_test(test, settings=asked)
    return machine.steps


@pytest.mark.fault("B1")
@pytest.mark.fault("F3")
def test_the_store_knows_what_a_dictionary_knows(record: Record) -> None:
    record("P7", {"steps": _run(12), "differences": 0})


def test_a_wrong_dictionary_is_found_out() -> None:
    with pytest.raises(AssertionError):
        _run(40, machine=OpenToAll)


@pytest.mark.soak
@pytest.mark.fault("B1")
@pytest.mark.fault("F3")
def test_200_000_steps_agree_with_a_dictionary(record: Record, share: Share) -> None:
    wanted, steps, round_ = share.part(200_000), 0, 0
    while steps < wanted:
        steps += _run(200, seed_=share.number * 1_000_003 + round_)
        round_ += 1
    record("P7", {"steps": steps, "differences": 0})
