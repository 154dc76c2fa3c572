"""N30, N24: a newer value ends the older one at write; what coexists stays; spans come out right in any order."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import apsw
import pytest

import simonides
from simonides.backends.embedded.checksums import add_functions
from simonides.errors import NotFoundError
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simonides.bank import Bank

CHANGES = [
    # Who: named, the user, a first person, a thing.
    ("Wilma Osk lives in Lisbon.", "Wilma Osk moved from Lisbon to Oslo."),
    ("Wilma Osk works at Gullspire.", "Wilma Osk works at Marrowtide."),
    ("Wilma Osk leads the harbour project.", "Bram Tolk leads the harbour project."),
    ("The user lives in Turku.", "The user has moved to Vaasa."),
    ("User lives in Turku.", "I moved to Vaasa."),
    ("I work at Gullspire as a buyer.", "I now work at Marrowtide."),
    ("I am vegan.", "I'm not vegan any more."),
    ("I drink coffee with breakfast.", "I stopped drinking coffee."),
    ("We use Bazaar to build the site.", "We no longer use Bazaar."),
    ("Wilma Osk is engaged to Bram.", "Wilma Osk got married to Bram."),
    ("Wilma Osk is married to Bram.", "Wilma Osk and Bram got divorced."),
    ("The cellar code is 4471.", "The cellar code is 9920."),
    ("The passphrase of the vault is quiet-heron.", "The vault passphrase is now loud-crane."),
    ("Limpet is at version 3.1.", "Limpet is at version 3.2."),
    ("We build with Clang 15.", "We upgraded the compiler to Clang 18."),
    ("The exporter listens on port 7100.", "The exporter was moved to port 7200."),
    ("Entry costs 8 crowns.", "Entry costs 9 crowns."),
    ("My rent is 700 euros.", "My rent went up to 740 euros."),
    ("The spare key is in the drawer.", "The spare key is now in the shed."),
    ("The meeting is on 4 March.", "The meeting was postponed to 11 March."),
    ("The report is due on 1 June.", "The deadline of the report was extended to 9 June."),
    ("The regatta is planned for 4 May.", "The regatta is cancelled."),
    ("Our boat is called Petrel.", "Our boat was renamed to Fulmar."),
    ("My favourite colour is ochre.", "My favourite colour is teal now."),
    ("I prefer aisle seats.", "I prefer window seats."),
    ("My bus leaves at 8:10.", "Correction: my bus leaves not at 8:10 but at 8:25."),
    ("The hall is C4.", "The hall is not C4 but D4."),
    ("Debug host: crane.example:7001", "Debug host: crane.example:7002"),
    ("I love liver.", "I can't stand liver any more."),
]

COEXISTING = [
    ("Wilma Osk likes tea.", "Wilma Osk likes rye."),
    ("The build was tested on arm64.", "The build was tested on x86."),
    ("My flat is in Rome.", "My office is in Pisa."),
    ("Tessa Brook lives in Porto.", "Tessa Brook lives in Ghent during the week."),
    ("I work at Gullspire on weekdays.", "I work at the stable on Saturdays."),
    ("Wilma Osk manages the north team.", "Wilma Osk also manages the south team."),
    ("Staging runs on port 8101.", "Production runs on port 8200."),
    ("The front door code is 4120.", "The back door code is 9033."),
    ("My e-mail is wilma@example.org.", "My work e-mail is wilma@example.com."),
    ("The user lives in Turku.", "The user dreams of living in Oslo."),
    ("The user lives in Turku.", "The user may move to Oslo."),
    ("The user lives in Turku.", "Does the user live in Oslo?"),
    ("The user lives in Turku.", "The user lives in Finland."),
    ("I live in New York City.", "I live in NYC."),
    ("The meeting is at 15:00.", "The meeting is at 3 pm."),
    ("I have a dog called Comma.", "I have a cat called Dash."),
    ("I went to Lyon in May.", "I went to Turin in June."),
    ("A mug costs 8 crowns in the shop.", "A mug costs 9 crowns on the ferry."),
    ("I take the ferry to work.", "My brother takes the train to work."),
    ("Wilma Osk lives in Turku.", "Bram said that Wilma Osk lives in Oslo."),
]


def ended(bank: Bank, memory: str) -> str:
    """What ended a memory; empty = it stands."""
    return bank.get_memory(memory).superseded_by


@pytest.mark.fault("N30")
@pytest.mark.parametrize("embedder", [None, StubEmbedder(32)], ids=["words", "vectors"])
@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_newer_value_ends_the_older_one(
    tmp_path: Path, old: str, new: str, embedder: StubEmbedder | None
) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=embedder) as store:
        bank = store.bank()
        (first,) = bank.retain(old)
        clock.advance(days=30)
        (second,) = bank.retain(new)
        known = bank.get_memory(first)
        assert known.superseded_by == second
        assert known.valid_to_micros == bank.get_memory(second).valid_from_micros
        assert bank.get_memory(second).valid_to is None
        (move,) = bank.moves(first)
        assert (move.action, move.became, bool(move.reason)) == ("close", second, True)
        assert bank.verify().ok


@pytest.mark.fault("N30")
@pytest.mark.parametrize(("one", "other"), COEXISTING)
def test_what_coexists_stays(tmp_path: Path, one: str, other: str) -> None:
    for order, texts in enumerate(([one, other], [other, one])):
        clock = FrozenClock()
        with simonides.open(tmp_path / str(order), clock=clock, embedder=None) as store:
            bank = store.bank()
            ids = []
            for text in texts:
                clock.advance(days=30)
                ids += bank.retain(text)
            assert [ended(bank, memory) for memory in ids] == ["", ""]


@pytest.mark.fault("N30")
def test_i_is_the_speaker_that_is_given_or_named(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        (wilma,) = bank.retain("Wilma lives in Turku.")
        (user,) = bank.retain("I live in Porto.")
        clock.advance(days=1)
        (moved,) = bank.retain("I moved to Oslo.", speaker="Wilma")
        assert (ended(bank, wilma), ended(bank, user)) == (moved, "")
        clock.advance(days=1)
        (again,) = bank.retain("Wilma: I have moved to Bergen.")
        assert (ended(bank, moved), ended(bank, user)) == (again, "")
        bank.retain("I live in a data centre.", speaker="assistant")
        assert ended(bank, user) == ""


@pytest.mark.fault("N30")
def test_twenty_updates_leave_one_value(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        ids = []
        for number in range(20):
            clock.advance(days=1)
            ids += bank.retain(f"My phone number is 555-01{number:02}.")
        assert [ended(bank, memory) for memory in ids] == [*ids[1:], ""]


@pytest.mark.fault("N30")
def test_neither_readers_nor_trust_nor_project_are_crossed(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        (old,) = bank.retain("The cellar code is 4471.")
        for given in (
            {"acl": ["ines"]},
            {"project": "mill"},
            {"role": "tool"},
            {"kind": "quarantine"},
            {"deduplicate": False},
        ):
            clock.advance(days=1)
            bank.retain("The cellar code is 9920.", **given)
            assert ended(bank, old) == "", given
        clock.advance(days=1)
        (new,) = bank.retain("The cellar code is 1212.")
        assert ended(bank, old) == new


@pytest.mark.fault("N30")
def test_the_statements_of_one_document_stand_beside_each_other(tmp_path: Path) -> None:
    with simonides.open(tmp_path, clock=FrozenClock(), embedder=None) as store:
        bank = store.bank()
        text = "The cellar code was set.\n\nThe cellar code is 4471.\n\nThe cellar code is 9920."
        ids = bank.retain_document(text, document_id="history")
        assert {ended(bank, memory) for memory in ids} == {""}


@pytest.mark.fault("N30")
def test_a_memory_that_says_more_is_not_ended(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        (old,) = bank.retain("The cellar code is 4471, and the attic is locked with a padlock.")
        clock.advance(days=1)
        bank.retain("The cellar code is 9920.")
        assert ended(bank, old) == ""


@pytest.mark.fault("N30")
def test_an_end_is_taken_back_by_its_move(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        (old,) = bank.retain("The cellar code is 4471.")
        clock.advance(days=1)
        (new,) = bank.retain("The cellar code is 9920.")
        (move,) = bank.moves(old)
        bank.undo_move(move.number)
        for memory in (old, new):
            assert (bank.get_memory(memory).valid_to, ended(bank, memory)) == (None, "")
        assert [version.superseded_by for version in bank.history(old)] == ["", new, ""]
        with pytest.raises(NotFoundError):
            bank.undo_move(move.number)
        assert bank.verify().ok


# -- N24


def held(bank: Bank, day: str) -> set[str]:
    moment = f"{day}T12:00Z"
    answer = bank.recall("office", as_of=moment, known_at="2027-12-31", limit=50, profile="lexical")
    return {hit.text.rstrip(".").rpartition(" ")[2] for hit in answer.hits}


SPANS: list[tuple[str, dict[str, str]]] = [
    ("My office is in Avila.", {"valid_from": "2026-01-01"}),
    ("My office is in Bergen.", {"valid_from": "2026-03-01", "valid_to": "2026-04-01"}),
    ("My office is in Cadiz.", {"valid_from": "2026-05-01", "valid_to": "2026-06-01"}),
    ("My office is in Delft.", {"valid_from": "2026-07-01", "valid_to": "2026-08-01"}),
]
DAYS = {
    "2025-12-15": set(),
    "2026-01-15": {"Avila"},
    "2026-03-15": {"Bergen"},
    "2026-04-15": {"Avila"},
    "2026-05-15": {"Cadiz"},
    "2026-06-15": {"Avila"},
    "2026-07-15": {"Delft"},
    "2026-08-15": {"Avila"},
    "2026-12-15": {"Avila"},
    "2027-06-15": {"Avila"},
}


@pytest.mark.fault("N24")
@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_three_bounded_inside_one_open_in_any_order(tmp_path: Path, order: Sequence[int]) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        for place in order:
            clock.advance(days=1)
            text, given = SPANS[place]
            bank.retain(text, **given)  # type: ignore[arg-type]
        assert {day: held(bank, day) for day in DAYS} == DAYS
        assert bank.verify().ok


@pytest.mark.fault("N24")
@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_arrival_does_not_matter(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    names = ["Avila", "Bergen", "Cadiz", "Delft"]
    stated: list[tuple[str, int, int | None]] = []
    for month in chance.sample(range(1, 11), 5):
        stated.append((chance.choice(names), month, chance.choice([None, month + 1, month + 3])))

    def expected(month: int) -> set[str]:
        holding = [one for one in stated if one[1] <= month and (one[2] is None or month < one[2])]
        return {max(holding, key=lambda one: one[1])[0]} if holding else set()

    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        for name, start, end in chance.sample(stated, len(stated)):
            clock.advance(days=1)
            given = {"valid_from": f"2026-{start:02}-01"}
            if end is not None:
                given["valid_to"] = f"2026-{end:02}-01" if end <= 12 else f"2027-{end - 12:02}-01"
            bank.retain(f"My office is in {name}.", **given)  # type: ignore[arg-type]
        for month in range(1, 13):
            assert held(bank, f"2026-{month:02}-15") == expected(month), f"{month}: {stated}"
        assert bank.verify().ok


@pytest.mark.fault("N24")
def test_back_to_the_first_value_leaves_one_that_holds(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        ids = []
        for text in ("I live in Porto.", "I moved to Ghent.", "I live in Porto."):
            clock.advance(days=1)
            ids += bank.retain(text)
        assert len(set(ids)) == 3
        assert [ended(bank, memory) for memory in ids] == [ids[1], ids[2], ""]


@pytest.mark.fault("N24")
def test_back_to_a_value_names_the_attribute_that_had_it(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        ids = []
        for text in ("My bank is Tarn Mutual.", "I switched to Osprey Bank.", "I went back to Tarn Mutual."):
            clock.advance(days=1)
            ids += bank.retain(text)
        assert [ended(bank, memory) for memory in ids] == [ids[1], ids[2], ""]


@pytest.mark.fault("N24")
@pytest.mark.parametrize("embedder", [None, StubEmbedder(32)], ids=["words", "vectors"])
def test_saying_the_current_value_again_is_one_more_proof(
    tmp_path: Path, embedder: StubEmbedder | None
) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=embedder) as store:
        bank = store.bank()
        (first,) = bank.retain("The cellar code is 4471.")
        for proofs, text in enumerate(
            ("The cellar code is 4471.", "The cellar code is 4471!", "the cellar code is 4471"), 2
        ):
            clock.advance(days=1)
            assert bank.retain(text) == [first]
            assert bank.get_memory(first).proof_count == proofs


@pytest.mark.fault("N24")
def test_an_end_in_the_middle_is_taken_back_with_what_held_again(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        (first,) = bank.retain(SPANS[0][0], **SPANS[0][1])  # type: ignore[arg-type]
        clock.advance(days=1)
        bank.retain(SPANS[1][0], **SPANS[1][1])  # type: ignore[arg-type]
        (move,) = bank.moves(first)
        bank.undo_move(move.number)
        assert (bank.get_memory(first).valid_to, ended(bank, first)) == (None, "")
        assert held(bank, "2026-04-15") == {"Avila"}
        assert (
            len([memory for memory in bank.list_memories(as_of="2026-04-15") if "Avila" in memory.text]) == 1
        )


# -- stores and exports


@pytest.mark.fault("N30")
def test_a_store_of_the_schema_before_opens_with_the_same_answers(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank("old")
        bank.retain(["I live in Porto.", "The cellar code is 4471.", "Rain fell on the mill."])
        bank.pin(bank.retain("Never lend the key.")[0])
        before = [hit.to_dict() for hit in bank.recall("cellar code Porto", limit=10).hits]
    (file,) = tmp_path.rglob("memory.db")
    connection = apsw.Connection(str(file))
    add_functions(connection)
    connection.execute("DROP VIEW current_memories; DROP VIEW history")
    connection.execute("DROP TABLE statements; DROP INDEX jobs_by_moment")
    connection.pragma("user_version", 1)
    connection.close()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank("old")
        assert [hit.to_dict() for hit in bank.recall("cellar code Porto", limit=10).hits] == before
        assert bank.verify().ok
        clock.advance(days=1)
        (first,) = bank.retain("The attic code is 1.")
        clock.advance(days=1)
        (second,) = bank.retain("The attic code is 2.")
        assert ended(bank, first) == second


@pytest.mark.fault("N30")
def test_what_is_imported_is_ended_like_what_was_retained(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path / "one", clock=clock, embedder=None) as store:
        bank = store.bank()
        (old,) = bank.retain("The cellar code is 4471.")
        clock.advance(days=1)
        (new,) = bank.retain("The cellar code is 9920.")
        bank.export(tmp_path / "export.jsonl")
    with simonides.open(tmp_path / "two", clock=clock, embedder=None) as store:
        bank = store.bank()
        bank.import_bank(tmp_path / "export.jsonl")
        assert ended(bank, old) == new
        assert [move.action for move in bank.moves(old)] == ["close"]
        clock.advance(days=1)
        (newest,) = bank.retain("The cellar code is 1212.")
        assert (ended(bank, old), ended(bank, new)) == (new, newest)


def test_what_begins_on_a_later_day_ends_nothing_before_it(tmp_path: Path) -> None:
    clock = FrozenClock()
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        (old,) = bank.retain("The rent is 900 euros.")
        clock.advance(days=1)
        bank.retain("From 1 March 2090 the rent is 950 euros.")
        assert ended(bank, old) == ""
        assert bank.recall("How much is the rent?")[0].id == old
