"""A query at an earlier moment knows the names, aliases and merges of that moment, and no others."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.recall import Recall

pytestmark = pytest.mark.spec("EN-12")

PROFILES = ("engram", "memoria", "hindsight", "helix")


def later_longer_name(bank: Bank) -> None:
    bank.retain("Odalys Verne sails on Sundays")


def later_alias(bank: Bank) -> None:
    number = next(e.number for e in bank.entities() if e.name == "Norrhav")
    bank.add_alias(number, "Skipper Odalys")


def later_merge(bank: Bank) -> None:
    numbers = {e.name: e.number for e in bank.entities()}
    bank.merge_entities(numbers["Ilse"], into=numbers["Norrhav"])


def later_undone_merge(bank: Bank) -> None:
    numbers = {e.name: e.number for e in bank.entities()}
    bank.undo_merge(bank.merge_entities(numbers["Ilse"], into=numbers["Norrhav"]))


def told(recall: Recall) -> list[object]:
    return [(hit.text, hit.score, dict(hit.channel_scores), dict(hit.signals)) for hit in recall]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("query", ["Odalys Verne", "Skipper Odalys", "what did Ilse order from Norrhav"])
@pytest.mark.parametrize(
    "later", [later_longer_name, later_alias, later_merge, later_undone_merge], ids=lambda f: f.__name__
)
def test_what_became_known_later_changes_no_answer_about_before(
    tmp_path: Path, profile: str, query: str, later: Callable[[Bank], None]
) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=StubEmbedder(dimension=16)) as store:
        bank = store.bank("b")
        for place, text in enumerate(
            ("Odalys bought a dinghy", "Norrhav repaired the pump", "Ilse ordered jasmine tea", "rain again")
        ):
            clock.advance(seconds=3600)
            bank.retain(text, path=f"p{place}")
        then = clock() + timedelta(minutes=1)
        clock.advance(seconds=60)
        before = told(bank.recall(query, profile=profile, as_of=then, seed=1))
        clock.advance(seconds=3600)
        later(bank)
        after = told(bank.recall(query, profile=profile, as_of=then, seed=1))
    assert after == before


def test_an_alias_counts_from_when_it_was_added_and_never_once_it_is_removed(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank("b")
        bank.retain("Norrhav repaired the pump")
        clock.advance(seconds=3600)
        then = clock()
        clock.advance(seconds=3600)
        number = next(e.number for e in bank.entities() if e.name == "Norrhav")
        bank.add_alias(number, "Skipper")
        added = clock()
        clock.advance(seconds=3600)
        now = bank.recall("what did Skipper do", profile="engram")
        earlier = bank.recall("what did Skipper do", profile="engram", as_of=then)
        bank.remove_alias(number, "Skipper")
        removed = [bank.recall("what did Skipper do", profile="engram", as_of=at) for at in (None, added)]
    assert "Norrhav repaired the pump" in [hit.text for hit in now]
    for found in (earlier, *removed):
        assert "Norrhav repaired the pump" not in [hit.text for hit in found]
