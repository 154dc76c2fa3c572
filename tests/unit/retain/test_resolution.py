from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.records.extraction import EntityKind, Mention, Relation
from simonides.records.interval import to_micros
from simonides.retain.resolution import fold_name, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.unit.retain.conftest import Desk

LI_NA = "Li Na"


class People:
    """Resolves names in transactions of one bank."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.now = to_micros(desk.clock())

    def speak(
        self,
        *names: str,
        at: str = "",
        text: str = "",
        readers: Sequence[str] = (),
        kind: EntityKind = EntityKind.PERSON,
        of_one_object: str = "",
    ) -> list[int]:
        """Numbers of *names* in a text; the first one works *at* somewhere."""
        mentions = [Mention(name, kind, 0, len(name)) for name in names]
        works = [Relation("works at", names[0], at, single_valued=True)] if at else []
        with self.desk.bank._rows.writing(self.now) as transaction:
            found = resolve(transaction, text, mentions, works, readers, of_one_object=of_one_object)
        return [found[fold_name(name)] for name in names]

    def qualifier(self, number: int) -> str:
        ((found,),) = self.desk.rows("SELECT qualifier FROM entities WHERE number=?", number)
        return str(found)

    def merge(self, entity: int, into: int) -> int:
        return self.desk.bank.merge_entities(entity, into)


@pytest.fixture
def people(desk: Callable[..., Desk]) -> People:
    return People(desk())


@pytest.mark.fault("G1")
def test_folds_meet_and_likeness_does_not(people: People) -> None:
    numbers = people.speak("Ann", "Joann", "Alex", "Alexa", "VX-1103", "VX-1105")
    assert len(set(numbers)) == 6
    assert people.speak("ann", "JOANN", "vx 1103", "VX_1105") == [numbers[0], numbers[1], *numbers[4:]]


def test_spellings_of_one_text_are_one_entity(people: People) -> None:
    with people.desk.bank._rows.writing(people.now) as transaction:
        mentions = [Mention(name, EntityKind.PERSON, 0, 3) for name in ("Ann", "ANN", "ann")]
        assert len(resolve(transaction, "", mentions, [], ())) == 1
    assert people.desk.rows("SELECT count(*) FROM entities") == [(1,)]


def test_the_subject_of_a_relation_is_an_entity_though_no_one_named_it(people: People) -> None:
    with people.desk.bank._rows.writing(people.now) as transaction:
        found = resolve(transaction, "", [], [Relation("likes", "Mo", "rye", single_valued=False)], ())
    assert list(found) == ["mo"]


def test_a_name_without_letters_is_no_entity(people: People) -> None:
    with people.desk.bank._rows.writing(people.now) as transaction:
        assert resolve(transaction, "", [Mention("...", EntityKind.OTHER, 0, 3)], [], ()) == {}


@pytest.mark.fault("G1")
def test_two_bearers_of_a_name_are_told_apart_by_their_employers(people: People) -> None:
    (norrhav,) = people.speak(LI_NA, at="Norrhav")
    (quillstad,) = people.speak(LI_NA, at="Quillstad")
    assert norrhav != quillstad
    assert people.speak(LI_NA, at="norrhav.") == [norrhav]
    assert people.speak(LI_NA, at="QUILLSTAD") == [quillstad]
    assert people.speak(LI_NA, at="Osprey", text="Li Na now works at Osprey") not in ([norrhav], [quillstad])


def test_an_employer_qualifies_who_had_none(people: People) -> None:
    (number,) = people.speak(LI_NA)
    assert people.speak(LI_NA, at="Norrhav") == [number]
    assert people.qualifier(number) == "norrhav"


@pytest.mark.parametrize("text", ["Li Na now works at Quillstad", "she moved", "a NEW JOB for her"])
def test_words_of_change_let_the_one_bearer_change_employers(people: People, text: str) -> None:
    (number,) = people.speak(LI_NA, at="Norrhav")
    assert people.speak(LI_NA, at="Quillstad", text=text) == [number]
    assert people.qualifier(number) == "quillstad"


def test_a_subject_of_one_object_at_a_time_changes_employers(people: People) -> None:
    (before,) = people.speak(LI_NA, at="Norrhav")
    (after,) = people.speak(LI_NA, at="Quillstad", of_one_object="li na")
    assert after == before
    assert people.qualifier(before) == "quillstad"
    (other,) = people.speak(LI_NA, at="Norrhav", of_one_object="Tove Lund")
    assert other != before


def test_a_word_that_only_contains_one_of_change_changes_nothing(people: People) -> None:
    (number,) = people.speak(LI_NA, at="Norrhav")
    assert people.speak(LI_NA, at="Quillstad", text="she knows leftovers") != [number]


def test_an_alias_is_the_entity(people: People) -> None:
    (number,) = people.speak("William")
    people.desk.bank.add_alias(number, "Bill")
    assert people.speak("bill", "WILLIAM") == [number, number]


@pytest.mark.spec("ME-10")
def test_an_alias_may_not_take_the_qualifier_of_another(people: People) -> None:
    (one,) = people.speak("William", at="Norrhav")
    (other,) = people.speak("William", at="Quillstad")
    people.desk.bank.add_alias(one, "Bill")
    assert people.speak("Bill", at="Quillstad", text="Bill now works at Quillstad") == [one]
    assert [people.qualifier(one), people.qualifier(other)] == ["norrhav", "quillstad"]


@pytest.mark.fault("G1")
def test_merged_bearers_of_a_name_count_as_one_and_keep_their_own_numbers(people: People) -> None:
    (one,) = people.speak(LI_NA, at="Norrhav")
    (other,) = people.speak(LI_NA, at="Quillstad")
    merge = people.merge(one, other)
    assert people.speak(LI_NA, at="Norrhav") == [one]
    assert people.speak(LI_NA, at="Quillstad") == [other]
    (moved,) = people.speak(LI_NA, at="Osprey", text="she moved to Osprey")
    assert moved in {one, other}
    people.desk.bank.undo_merge(merge)
    assert people.speak(LI_NA, at="Osprey") == [moved]


@pytest.mark.fault("G1")
def test_merging_what_was_merged_joins_all_of_them(people: People) -> None:
    one, two, three, four = people.speak("Ann", "Anne", "Anna", "Annika")
    people.merge(one, two)
    last = people.merge(one, three)
    with people.desk.bank._rows.writing(people.now) as transaction:
        assert {transaction.entities.canonical(number) for number in (one, two, three)} == {three}
    people.desk.bank.undo_merge(last)
    people.merge(four, one)
    with people.desk.bank._rows.writing(people.now) as transaction:
        wholes = [transaction.entities.canonical(number) for number in (one, two, three, four)]
    assert wholes == [two, two, three, two]


def test_private_entities_of_one_name_never_meet(people: People) -> None:
    (everyones,) = people.speak("Zorblax", readers=[])
    assert people.speak("Zorblax", readers=["ann"]) == [everyones]
    (anns,) = people.speak("Kestrel", readers=["ann"])
    (bens,) = people.speak("Kestrel", readers=["ben"])
    (both,) = people.speak("Kestrel", readers=["ann", "ben"])
    (all_,) = people.speak("Kestrel", readers=[])
    assert len({anns, bens, both, all_}) == 4
    assert people.speak("Kestrel", readers=["ann"]) == [anns]
    assert people.speak("Kestrel", readers=[]) == [all_]


def test_what_only_some_may_read_tells_the_others_nothing_of_a_name(people: People) -> None:
    (number,) = people.speak("Odalys")
    assert people.speak("Odalys", at="Norrhav", readers=["ann"]) == [number]
    assert people.qualifier(number) == ""
    assert people.speak("Odalys", at="Quillstad") == [number]
    assert people.qualifier(number) == "quillstad"
    assert people.speak("Odalys", at="Osprey", text="now", readers=["ann"]) == [number]
    assert people.qualifier(number) == "quillstad"
    (anns,) = people.speak("Odalys", at="Osprey", readers=["ann"])
    assert anns != number
    assert people.qualifier(anns) == "osprey"
