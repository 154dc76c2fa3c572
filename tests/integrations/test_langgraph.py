from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError

pytest.importorskip("langgraph.store.base")

from simonides.integrations.langgraph import BankStore

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.testing.clock import FrozenClock

HOME = {"text": "Odalys Brenn lives in Norrhav.", "rank": 3}
FIGS = {"text": "Figs need water.", "rank": 1}


@pytest.fixture
def kept(bank: Bank, clock: FrozenClock) -> Any:
    made = BankStore(bank)
    made.put(("users", "odalys"), "home", HOME)
    clock.advance(seconds=1)
    made.put(("users", "odalys", "garden"), "figs", FIGS)
    return made


def test_what_is_put_is_got_as_it_was(kept: Any) -> None:
    item = kept.get(("users", "odalys"), "home")
    assert (item.namespace, item.key, item.value) == (("users", "odalys"), "home", HOME)
    assert kept.get(("users",), "home") is None
    assert kept.get(("users", "odalys"), "other") is None


def test_putting_again_replaces_and_deleting_erases(kept: Any, bank: Bank) -> None:
    created = kept.get(("users", "odalys"), "home").created_at
    kept.put(("users", "odalys"), "home", FIGS)
    assert kept.get(("users", "odalys"), "home").value == FIGS
    assert kept.get(("users", "odalys"), "home").created_at == created
    assert bank.stats()["memories"] == 2
    kept.delete(("users", "odalys"), "home")
    assert kept.get(("users", "odalys"), "home") is None
    assert kept.get(("users", "odalys", "garden"), "figs").value == FIGS


def test_a_search_ranks_filters_and_stays_below_its_prefix(kept: Any) -> None:
    kept.put(("others",), "home", HOME)
    found = kept.search(("users",), query="Where does Odalys Brenn live?")
    assert found[0].value == HOME
    assert found[0].score is not None
    assert {item.namespace[0] for item in found} == {"users"}
    assert [item.key for item in kept.search(("users",))] == ["figs", "home"]
    assert [item.key for item in kept.search(("users",), limit=1, offset=1)] == ["home"]
    assert [item.key for item in kept.search(("users",), filter={"rank": {"$gt": 1}})] == ["home"]
    assert [item.key for item in kept.search((), filter={"rank": 1})] == ["figs"]
    with pytest.raises(InputError, match=r"\$in"):
        kept.search(("users",), filter={"rank": {"$in": [1]}})


def test_namespaces_are_listed(kept: Any) -> None:
    assert kept.list_namespaces() == [("users", "odalys"), ("users", "odalys", "garden")]
    assert kept.list_namespaces(max_depth=2) == [("users", "odalys")]
    assert kept.list_namespaces(suffix=("garden",)) == [("users", "odalys", "garden")]
    assert kept.list_namespaces(prefix=("users", "*", "garden")) == [("users", "odalys", "garden")]


def test_it_works_from_a_loop(kept: Any) -> None:
    async def work() -> Any:
        await kept.aput(("a",), "k", {"text": "Ivo Skarn sails."})
        return await kept.aget(("a",), "k"), await kept.asearch(("a",), query="Who sails?")

    item, found = asyncio.run(work())
    assert item.value == found[0].value == {"text": "Ivo Skarn sails."}


def test_a_graphs_memory_is_the_banks(kept: Any, bank: Bank) -> None:
    assert "Norrhav" in bank.recall("Where does Odalys Brenn live?").context


def test_a_value_ends_when_its_minutes_are_over(bank: Bank, clock: FrozenClock) -> None:
    kept: Any = BankStore(bank)
    assert kept.supports_ttl
    kept.put(("users",), "home", HOME, ttl=10)
    kept.put(("users",), "figs", FIGS)
    clock.advance(seconds=599)
    assert kept.get(("users",), "home", refresh_ttl=False).value == HOME
    clock.advance(seconds=2)
    assert kept.get(("users",), "home") is None
    assert [item.key for item in kept.search(("users",))] == ["figs"]
    assert [item.key for item in kept.search(("users",), query="Odalys Brenn home")] == ["figs"]
    kept.put(("users",), "home", FIGS)
    assert kept.get(("users",), "home").created_at > kept.get(("users",), "figs").created_at
    clock.advance(days=400)
    assert kept.get(("users",), "home").value == FIGS
    assert bank.stats()["memories"] == 2


@pytest.mark.parametrize("query", [None, "Where does Odalys Brenn live?"])
def test_reading_begins_its_time_anew(bank: Bank, clock: FrozenClock, query: str | None) -> None:
    kept: Any = BankStore(bank, ttl={"default_ttl": 10.0, "refresh_on_read": True})
    kept.put(("users",), "home", HOME)
    before = kept.get(("users",), "home")
    for searched in (False, True):
        clock.advance(seconds=400)
        item = kept.search(("users",), query=query)[0] if searched else kept.get(("users",), "home")
        assert (item.value, item.created_at, item.updated_at) == (HOME, before.created_at, before.updated_at)
    clock.advance(seconds=400)
    assert kept.search(("users",), refresh_ttl=False)
    clock.advance(seconds=400)
    assert kept.get(("users",), "home") is None


def test_a_store_may_leave_times_alone_when_it_reads(bank: Bank, clock: FrozenClock) -> None:
    kept: Any = BankStore(bank, ttl={"default_ttl": 10.0, "refresh_on_read": False})
    kept.put(("users",), "home", HOME)
    kept.put(("users",), "figs", FIGS, ttl=None)
    clock.advance(seconds=400)
    assert kept.get(("users",), "home").value == HOME
    clock.advance(seconds=400)
    assert kept.get(("users",), "home") is None
    assert kept.get(("users",), "figs").value == FIGS
    kept.put(("users",), "home", HOME)
    clock.advance(seconds=400)
    kept.put(("users",), "home", HOME)
    clock.advance(seconds=400)
    assert kept.get(("users",), "home").value == HOME
