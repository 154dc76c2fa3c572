"""An entity with its memories, neighbours and merges; its other names; and the search for it by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from datetime import datetime

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

TEXTS = (
    "Joss Underbeck works at Gullspire.",
    "Joss Underbeck met Ilse Brandt in Lisbon.",
    "Ilse Brandt lives in Lisbon.",
)


@pytest.fixture
def begun(bank: Bank, clock: FrozenClock) -> datetime:
    """The moment of the first of TEXTS; each is retained a day after the one before."""
    first = clock()
    for text in TEXTS:
        bank.retain(text)
        clock.advance(days=1)
    return first


def number_of(bank: Bank, name: str) -> int:
    return next(each.number for each in bank.entities(None) if each.name == name)


def texts(bank: Bank, name: str) -> list[str]:
    return [memory.text for memory in bank.get_entity(number_of(bank, name)).memories]


@pytest.mark.usefixtures("begun")
def test_an_entity_is_shown_with_what_mentions_it_and_what_is_beside_it(bank: Bank) -> None:
    found = bank.get_entity(number_of(bank, "Joss Underbeck"))
    assert found.entity in bank.entities(None)
    assert [memory.text for memory in found.memories] == [TEXTS[1], TEXTS[0]]
    assert found.total == found.entity.mentions == 2
    assert [(each.entity.name, each.together, each.relations) for each in found.neighbours] == [
        ("Gullspire", 1, ("works at",)),
        ("Ilse Brandt", 1, ()),
        ("Lisbon", 1, ()),
    ]
    assert found.merges == ()
    # Relations count from their object, too; who is mentioned with it more often comes first.
    assert [
        (each.entity.name, each.together, each.relations)
        for each in bank.get_entity(number_of(bank, "Lisbon")).neighbours
    ] == [("Ilse Brandt", 2, ("lives in",)), ("Joss Underbeck", 1, ())]


@pytest.mark.usefixtures("begun")
def test_the_newest_memories_are_shown_and_all_are_counted(bank: Bank) -> None:
    found = bank.get_entity(number_of(bank, "Lisbon"), most=1)
    assert ([memory.text for memory in found.memories], found.total) == ([TEXTS[2]], 2)
    for most in (0, 1_001, True):
        with pytest.raises(InputError, match="most"):
            bank.get_entity(1, most=most)


def test_archived_memories_count_and_are_not_listed(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("Joss Underbeck moved the piano.", ttl=60)
    bank.retain("Joss Underbeck mended the gate.")
    clock.advance(seconds=61)
    found = bank.get_entity(number_of(bank, "Joss Underbeck"))
    assert [memory.text for memory in found.memories] == ["Joss Underbeck mended the gate."]
    assert (found.total, found.entity.mentions) == (1, 2)


def test_an_entity_is_shown_as_of_a_moment(bank: Bank, begun: datetime, clock: FrozenClock) -> None:
    joss, ilse = number_of(bank, "Joss Underbeck"), number_of(bank, "Ilse Brandt")
    bank.add_alias(joss, "Jo")
    bank.merge_entities(ilse, joss)
    clock.advance(days=1)
    for as_of, known_at in ((begun, None), (None, begun)):
        then = bank.get_entity(joss, as_of=as_of, known_at=known_at)
        assert [memory.text for memory in then.memories] == [TEXTS[0]]
        assert [each.entity.name for each in then.neighbours] == ["Gullspire"]
        assert (then.entity.aliases, then.entity.mentions, then.merges) == ((), 1, ())
        with pytest.raises(NotFoundError, match=f"no entity {ilse} at this viewpoint"):
            bank.get_entity(ilse, as_of=as_of, known_at=known_at)
    assert bank.get_entity(joss).entity.aliases == ("Jo",)
    with pytest.raises(InputError, match="as_of"):
        bank.get_entity(joss, as_of="once")


@pytest.mark.usefixtures("begun")
def test_a_merged_entity_is_shown_as_what_it_counts_as(bank: Bank, clock: FrozenClock) -> None:
    joss, ilse = number_of(bank, "Joss Underbeck"), number_of(bank, "Ilse Brandt")
    at = clock()
    merge = bank.merge_entities(ilse, joss)
    found = bank.get_entity(ilse)
    assert (found.entity.number, found.total) == (joss, 3)
    assert [(each.merge, each.entity, each.name, each.at) for each in found.merges] == [
        (merge, ilse, "Ilse Brandt", at)
    ]
    assert [(each.entity.name, each.together, each.relations) for each in found.neighbours] == [
        ("Lisbon", 2, ("lives in",)),
        ("Gullspire", 1, ("works at",)),
    ]
    bank.undo_merge(merge)
    assert bank.get_entity(joss).merges == ()
    assert bank.get_entity(ilse).entity.name == "Ilse Brandt"


def test_a_relation_is_of_the_namesake_that_its_memory_mentions(bank: Bank) -> None:
    bank.retain("Joss Underbeck works at Gullspire.")
    bank.retain("Joss Underbeck met Ilse Brandt.")
    bank.add_alias(number_of(bank, "Ilse Brandt"), "Gullspire")
    found = bank.get_entity(number_of(bank, "Joss Underbeck"))
    assert {each.entity.name: each.relations for each in found.neighbours} == {
        "Gullspire": ("works at",),
        "Ilse Brandt": (),
    }


def test_an_object_is_known_by_another_name(bank: Bank) -> None:
    bank.retain("Gullspire is a mill.")
    bank.add_alias(number_of(bank, "Gullspire"), "Tarn Mill")
    bank.retain("Joss Underbeck works at Tarn Mill.")
    [mill] = bank.get_entity(number_of(bank, "Joss Underbeck")).neighbours
    assert (mill.entity.name, mill.relations) == ("Gullspire", ("works at",))


@pytest.mark.parametrize("entity", [0, -1, "Joss", None, True, 2**63])
def test_what_is_no_number_is_refused(bank: Bank, entity: object) -> None:
    with pytest.raises(InputError, match="entity"):
        bank.get_entity(entity)  # type: ignore[arg-type]


# -- principals


@pytest.fixture
def ivo(store: Store) -> Bank:
    """As Ivo sees a bank in which Ada keeps things to herself."""
    ada, ivo = (store.bank("diary", principal=who) for who in ("ada", "ivo"))
    ivo.retain("Joss Underbeck lives in Lisbon.")
    ada.retain(
        ["Joss Underbeck works at Gullspire.", "Joss Underbeck lives in Lisbon with Ilse Brandt."],
        acl=["ada"],
    )
    return ivo


def test_what_others_keep_to_themselves_is_in_nothing_that_is_shown(ivo: Bank, bank: Bank) -> None:
    found = ivo.get_entity(number_of(ivo, "Joss Underbeck"))
    assert [memory.text for memory in found.memories] == ["Joss Underbeck lives in Lisbon."]
    assert (found.total, found.entity.mentions) == (1, 1)
    assert [(each.entity.name, each.together, each.relations) for each in found.neighbours] == [
        ("Lisbon", 1, ("lives in",))
    ]
    assert bank.get_entity(found.entity.number).total == 3
    hidden, absent = number_of(bank, "Ilse Brandt"), 9_999
    for entity in (hidden, absent):
        with pytest.raises(NotFoundError, match=f"no entity {entity} at this viewpoint"):
            ivo.get_entity(entity)
        with pytest.raises(NotFoundError, match=f"no entity {entity};"):
            ivo.remove_alias(entity, "Ilse")


def test_a_hidden_entity_stays_hidden_when_it_is_merged_into_a_known_one(ivo: Bank, bank: Bank) -> None:
    joss, hidden = number_of(ivo, "Joss Underbeck"), number_of(bank, "Ilse Brandt")
    bank.merge_entities(hidden, joss)
    assert [each.name for each in bank.get_entity(joss).merges] == ["Ilse Brandt"]
    assert ivo.get_entity(joss).merges == ()
    assert ivo.entities(named="Brandt") == []
    assert [each.number for each in bank.entities(named="Brandt")] == [joss]
    with pytest.raises(NotFoundError):
        ivo.get_entity(hidden)


def test_reading_an_entity_is_audited(ivo: Bank, bank: Bank) -> None:
    bank.start_audit()
    bank.audit_recalls()
    found = ivo.get_entity(number_of(ivo, "Joss Underbeck"))
    [entry] = bank.audit_entries(1, recalls=True)
    assert (entry.verb, entry.ids) == ("list", tuple(memory.id for memory in found.memories))


# -- names


@pytest.mark.usefixtures("begun")
@pytest.mark.parametrize(
    ("named", "names"),
    [
        ("underbeck", ["Joss Underbeck"]),
        ("BR", ["Ilse Brandt"]),
        ("LIS", ["Ilse Brandt", "Lisbon"]),
        ("s", ["Ilse Brandt", "Joss Underbeck", "Lisbon", "Gullspire"]),
        ("nobody", []),
        ("?", []),
    ],
)
def test_entities_are_searched_by_a_part_of_a_name(bank: Bank, named: str, names: list[str]) -> None:
    bank.add_alias(number_of(bank, "Ilse Brandt"), "Lisa")
    assert [each.name for each in bank.entities(named=named)] == names
    assert bank.entities(1, named=named) == bank.entities(None, named=named)[:1]


@pytest.mark.usefixtures("begun")
def test_a_merged_name_finds_what_it_counts_as(bank: Bank) -> None:
    bank.merge_entities(number_of(bank, "Ilse Brandt"), number_of(bank, "Joss Underbeck"))
    assert [each.name for each in bank.entities(named="brandt")] == ["Joss Underbeck"]


@pytest.mark.parametrize("named", ["", " ", 3])
def test_what_is_no_part_of_a_name_is_refused(bank: Bank, named: object) -> None:
    with pytest.raises(InputError, match="named"):
        bank.entities(named=named)  # type: ignore[arg-type]


@pytest.mark.usefixtures("begun")
def test_a_removed_name_stands_for_the_entity_no_more(bank: Bank) -> None:
    joss = number_of(bank, "Joss Underbeck")
    bank.add_alias(joss, "Skipper")
    bank.retain("Skipper mended the gate.")
    bank.remove_alias(joss, "skipper.")
    assert bank.get_entity(joss).entity.aliases == ()
    # What was stored meanwhile keeps what it mentions.
    assert "Skipper mended the gate." in texts(bank, "Joss Underbeck")
    bank.retain("Skipper painted the boat.")
    assert "Skipper painted the boat." not in texts(bank, "Joss Underbeck")
    assert bank.verify().ok


@pytest.mark.usefixtures("begun")
def test_only_a_name_that_was_added_is_removed(bank: Bank) -> None:
    joss = number_of(bank, "Joss Underbeck")
    with pytest.raises(InputError, match=f"alias: 'joss underbeck' is the own name of entity {joss}"):
        bank.remove_alias(joss, "joss underbeck")
    for alias in ("Skipper", "Ilse Brandt"):
        with pytest.raises(NotFoundError, match=f"entity {joss} has no other name '{alias}'"):
            bank.remove_alias(joss, alias)
    with pytest.raises(InputError, match="alias"):
        bank.remove_alias(joss, " ")
    assert bank.get_entity(joss).entity.name == "Joss Underbeck"
