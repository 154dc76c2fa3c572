"""Looking through a bank: each count is that of a list, the newest come first, and nobody sees more than before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import ConflictError, InputError
from simonides.testing.clock import FrozenClock
from simonides.text.speech import label_of

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.memory import Memory
    from simonides.store import Store

ITEMS: list[dict[str, Any]] = [
    {"text": "The kettle leaks.", "tags": ["kitchen", "repair"], "project": "house"},
    {"text": "The lamp is dim.", "tags": ["repair"], "kind": "decision"},
    {"text": "Ines: The stove is new.", "project": "house", "event_time": "2025-07"},
    {"text": "It rains.", "speaker": "ines", "session": "monday", "event_time": "2026-03-31T23:30Z"},
    {"text": "It pours.", "speaker": "Tove", "session": "monday", "layer": "working"},
    {"text": "It snows.", "speaker": "Tove", "session": "tuesday", "event_time": "2026-03-31T21:30Z"},
]
FILTERS: dict[str, Any] = {
    "kind": lambda value: {"kinds": [value]},
    "layer": lambda value: {"layer": value},
    "tag": lambda value: {"tags": [value], "tags_match": "any_strict"},
    "project": lambda value: {"project": value},
    "speaker": lambda value: {"speaker": value},
    "session": lambda value: {"session": value},
    "month": lambda value: {"period": value},
    "state": lambda value: {"state": value},
}


def ids(memories: list[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def values(bank: Bank, name: str, **among: Any) -> dict[str, int]:
    return {each["value"]: each["count"] for each in bank.facets(**among)["facets"][name]}


@pytest.fixture
def stored(bank: Bank, clock: FrozenClock) -> list[str]:
    """One after the other, in Berlin, one of them pinned, one standing, one archived, one whose time ended."""
    bank.set_zone("Europe/Berlin")
    found = []
    for item in ITEMS:
        clock.advance(days=1)
        found += bank.retain([item])
    found += bank.retain("The code is 4471.", ttl="1h")
    bank.pin(found[0])
    bank.pin(found[1], always=True)
    bank.archive(found[2])
    clock.advance(days=1)
    return found


@pytest.mark.parametrize("include_archived", [False, True])
def test_each_count_is_that_of_a_list(bank: Bank, stored: list[str], *, include_archived: bool) -> None:
    among: dict[str, Any] = {"include_archived": include_archived}
    found = bank.facets(**among)
    assert set(found["facets"]) == set(FILTERS)
    assert found["total"] == len(bank.list_memories(**among)) == len(stored) - (0 if include_archived else 2)
    for name, filters in FILTERS.items():
        counts = [(each["value"], each["count"]) for each in found["facets"][name]]
        assert counts == sorted(counts, key=lambda pair: (-pair[1], pair[0]))
        for value, count in counts:
            assert len(bank.list_memories(**among, **filters(value))) == count, (name, value)
            assert bank.facets(**among, **filters(value))["total"] == count, (name, value)


def test_the_counts_are_those_of_the_records(bank: Bank, stored: list[str]) -> None:
    memories = bank.list_memories(include_archived=True)
    assert sorted(ids(memories)) == sorted(stored)
    everything: dict[str, Any] = {"include_archived": True}
    assert values(bank, "kind", **everything) == Counter(memory.kind for memory in memories)
    assert values(bank, "layer", **everything) == Counter(memory.layer for memory in memories)
    assert values(bank, "tag", **everything) == {"repair": 2, "kitchen": 1}
    assert values(bank, "project", **everything) == {"house": 2}
    # One person, whose name is told as one of its memories has it.
    assert values(bank, "speaker", **everything) == {"ines": 2, "Tove": 2}
    assert {memory.speaker or label_of(memory.text) for memory in memories} == {"", "Ines", "ines", "Tove"}
    assert values(bank, "session", **everything) == {"monday": 2, "tuesday": 1}
    assert values(bank, "state", **everything) == {"pinned": 2, "archived": 2, "standing": 1}
    months = Counter(
        "2025-07"
        if memory.id == stored[2]
        # Half past eleven in London is April in Berlin.
        else "2026-04"
        if memory.id == stored[3]
        else "2026-03"
        for memory in memories
    )
    assert values(bank, "month", **everything) == months


def test_the_month_of_what_is_undated_is_that_of_its_first_storing(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain("The kettle leaks.")
    month = f"{clock.now:%Y-%m}"
    clock.advance(days=40)
    bank.update_memory(memory, tags=["kitchen"])
    assert values(bank, "month") == {month: 1}
    assert ids(bank.list_memories(period=month)) == [memory]
    assert bank.list_memories(period=f"{clock.now:%Y-%m}") == []


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_the_first_and_the_last_month_of_the_calendar(bank: Bank, year: str) -> None:
    bank.set_zone("Pacific/Kiritimati" if year == "0001" else "Pacific/Pago_Pago")
    month = f"{year}-{'02' if year == '0001' else '12'}"
    (memory,) = bank.retain("The kettle leaks.", event_time=month)
    assert values(bank, "month") == {month: 1}
    assert ids(bank.list_memories(period=year)) == [memory]


def test_of_many_values_the_most_frequent_are_told(bank: Bank) -> None:
    items = [{"text": f"Note {n}.", "tags": [f"t{n:02}", "all"], "session": f"s{n:02}"} for n in range(60)]
    bank.retain([*items, {"text": "One more.", "tags": ["t59"], "session": "s59"}], deduplicate=False)
    tags = list(values(bank, "tag").items())
    assert tags[:3] == [("all", 60), ("t59", 2), ("t00", 1)]
    assert (len(tags), tags[-1]) == (50, ("t47", 1))
    sessions = list(values(bank, "session").items())
    assert (len(sessions), sessions[0]) == (50, ("s59", 2))
    assert [name for name, _ in sessions[1:]] == sorted(name for name, _ in sessions[1:])


def test_an_empty_bank_has_nothing_to_count(bank: Bank) -> None:
    found = bank.facets()
    assert found["total"] == 0
    assert found["facets"] == {name: [] for name in FILTERS}
    assert bank.list_memories(order="newest") == []


def test_the_keys_of_an_index_on_disk_and_of_a_load_are_the_same(tmp_path: Path, stub_embedder: Any) -> None:
    def opened() -> Any:
        return simonides.open(tmp_path / "s", clock=FrozenClock(), embedder=stub_embedder, environ={})

    with opened() as store:
        bank = store.bank()
        vectors = stub_embedder.encode([item["text"] for item in ITEMS])
        bank.load(ITEMS, vectors)
        before = bank.facets()
        assert values(bank, "session") == {"monday": 2, "tuesday": 1}
        assert values(bank, "speaker") == {"Ines": 2, "Tove": 2}
        bank._rows.merge_if_due(force=True)
        assert bank.facets() == before
    with opened() as store:
        assert store.bank().facets() == before
        assert store.bank().verify().ok


def test_what_an_entity_is_mentioned_in(bank: Bank) -> None:
    one, two, three = bank.retain(
        ["Odalys Brenn lives in Norrhav.", "Oda Brenn met Ivo Skarn.", "The kettle leaks."]
    )
    numbers = {entity.name: entity.number for entity in bank.entities()}
    assert ids(bank.list_memories(entity=numbers["Odalys Brenn"])) == [one]
    bank.merge_entities(numbers["Oda Brenn"], numbers["Odalys Brenn"])
    for name in ("Oda Brenn", "Odalys Brenn"):
        assert sorted(ids(bank.list_memories(entity=numbers[name]))) == sorted([one, two])
        assert bank.facets(entity=numbers[name])["total"] == 2
    assert bank.list_memories(entity=2**63 - 1) == bank.list_memories(entity=999) == []
    assert three in ids(bank.list_memories())


def test_a_name_of_which_nothing_is_left_is_nobodys(bank: Bank) -> None:
    bank.retain("The kettle leaks.")
    assert bank.list_memories(speaker="?!") == []
    assert bank.list_memories(session="?!") == []


@pytest.mark.parametrize(
    ("among", "message"),
    [
        ({"period": "2026-03-01T10:00"}, "period: one instant has no length"),
        ({"period": "March"}, "period: "),
        ({"state": "lost"}, "state: "),
        ({"layer": "cake"}, "layer: "),
        ({"entity": 0}, "entity: "),
        ({"order": "oldest"}, "order: "),
        ({"speaker": " "}, "speaker: "),
    ],
    ids=str,
)
def test_a_wrong_filter_is_refused_by_name(bank: Bank, among: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        bank.list_memories(**among)
    if "order" not in among:
        with pytest.raises(InputError, match=f"^{message}"):
            bank.facets(**among)


# -- the newest first


def test_the_newest_come_first_page_by_page(bank: Bank, clock: FrozenClock) -> None:
    found = bank.retain([f"Note {n}." for n in range(5)], deduplicate=False)
    clock.advance(days=1)
    found += bank.retain([f"Later note {n}." for n in range(5)], deduplicate=False)
    # A change makes no memory newer.
    bank.update_memory(found[0], tags=["changed"])
    seen: list[str] = []
    while page := bank.list_memories(order="newest", limit=3, after=seen[-1] if seen else None):
        assert len(page) <= 3
        seen += ids(page)
    assert seen == found[::-1]
    assert ids(bank.list_memories(order="newest", limit=2, tags=["changed"], tags_match="any_strict")) == [
        found[0]
    ]
    # As before, by id.
    assert ids(bank.list_memories(after=sorted(found)[4])) == sorted(found)[5:]


def test_what_was_recorded_before_comes_after_what_was_recorded_later(bank: Bank) -> None:
    (now,) = bank.retain("The kettle leaks.")
    older = bank.retain(["Old note.", "Another one."], recorded_at="2025-01-01", deduplicate=False)
    assert ids(bank.list_memories(order="newest")) == [now, *older[::-1]]
    assert ids(bank.list_memories(order="newest", limit=1, after=older[1])) == [older[0]]


def test_a_page_after_what_is_gone_is_refused(bank: Bank, store: Store) -> None:
    first, second = bank.retain(["The kettle leaks.", "The lamp is dim."])
    (hidden,) = bank.retain("The vault is open.", acl=["tove"])
    ines = store.bank("diary", principal="ines")
    assert ids(ines.list_memories(order="newest")) == [second, first]
    told = []
    for who, after in ((ines, hidden), (ines, "0" * 16), (bank, "no id")):
        with pytest.raises(ConflictError, match="read from the first page") as caught:
            who.list_memories(order="newest", after=after)
        told.append(str(caught.value))
    assert len(set(told)) == 1
    bank.forget(second)
    with pytest.raises(ConflictError):
        bank.list_memories(order="newest", after=second)


# -- who may see what


def test_a_principal_counts_and_lists_its_own_alone(bank: Bank, store: Store, stored: list[str]) -> None:
    ines = store.bank("diary", principal="ines")
    before = ines.facets(include_archived=True)
    assert before["total"] == len(stored)
    secret: dict[str, Any] = {
        "text": "Odalys Brenn hides the key.",
        "speaker": "Zed",
        "session": "vault",
        "tags": ["vault"],
        "project": "vault",
        "kind": "code",
        "layer": "codebase",
        "event_time": "1999-01",
        "acl": ["tove"],
    }
    bank.retain(secret)
    assert ines.facets(include_archived=True) == before
    (number,) = [entity.number for entity in bank.entities() if entity.name == "Odalys Brenn"]
    among: list[dict[str, Any]] = [
        {"speaker": "Zed"},
        {"session": "vault"},
        {"entity": number},
        {"period": "1999"},
        {"layer": "codebase"},
    ]
    for filters in among:
        assert ines.list_memories(**filters) == ines.list_memories(order="newest", **filters) == []
        assert ines.facets(**filters)["total"] == 0
        assert len(bank.list_memories(**filters)) == 1
