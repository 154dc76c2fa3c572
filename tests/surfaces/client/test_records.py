from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.records.kind import ARCHIVED, PINNED
from simonides.records.memory import Evidence
from simonides.surfaces.client.records import UNKNOWN_ORDINAL, memory_of, recall_of
from simonides.testing.fakes import fake_memory

if TYPE_CHECKING:
    from simonides.bank import Bank

MEMORY = replace(
    fake_memory("Odalys keeps bees.", ordinal=UNKNOWN_ORDINAL), state=PINNED | ARCHIVED, tags=("bees",)
)


def test_a_memory_comes_back_as_it_was_told() -> None:
    assert memory_of(MEMORY.to_dict()) == MEMORY


def test_the_memories_behind_an_observation_come_back(bank: Bank) -> None:
    bank.retain("Odalys keeps bees.")
    evidence = {"abc": (Evidence(MEMORY, "for"), Evidence(MEMORY, "against"))}
    told = replace(bank.recall("bees"), evidence=evidence)
    assert recall_of({**told.to_dict(), "trace": told.trace.to_dict()}).evidence == evidence
