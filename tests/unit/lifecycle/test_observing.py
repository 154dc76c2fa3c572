"""Observations: what is summed up, what is kept apart, and what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.lifecycle.observing import MOST_SOURCES
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.memory import Memory
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock


def told(bank: Bank, text: str, source: str, **more: Any) -> str:
    """Retain a text that another source than before tells, so that it is no repeat."""
    (memory,) = bank.retain(text, **{"source": source, "kind": "semantic", **more})
    return memory


def observations(bank: Bank, query: str = "kettle") -> list[Memory]:
    answer = bank.recall(query, profile="lexical", kinds=["observation"], max_tokens=None)
    return sorted((hit.memory for hit in answer.hits), key=lambda memory: memory.id)


@pytest.mark.spec("HI-17")
def test_memories_that_say_the_same_become_one_observation_in_the_words_of_one_of_them(bank: Bank) -> None:
    ids = [told(bank, "The kettle stands on the stove.", place) for place in ("note", "call", "letter")]
    assert len(set(ids)) == 3

    report = bank.maintain()

    (found,) = observations(bank)
    assert [step.action for step in report.steps] == ["observe"]
    assert report.steps[0].memory == found.id
    assert found.text == "The kettle stands on the stove."
    assert found.proof_count == 3
    assert found.consolidated
    assert found.kind == "observation"
    answer = bank.recall(
        "kettle", profile="lexical", prefer_observations=True, include_sources=True, max_tokens=None
    )
    assert [hit.id for hit in answer.hits] == [found.id]
    assert [each.memory.id for each in answer.evidence[found.id]] == ids
    assert {each.stance for each in answer.evidence[found.id]} == {"for"}


@pytest.mark.spec("HI-17")
def test_who_does_not_ask_for_observations_gets_the_answers_of_a_bank_without(bank: Bank) -> None:
    for place in ("note", "call"):
        told(bank, "The kettle stands on the stove.", place)
    told(bank, "The stove is cold.", "note")
    before = bank.recall("kettle stove", profile="lexical")

    bank.maintain()

    after = bank.recall("kettle stove", profile="lexical")
    assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
    assert after.context == before.context


def test_what_differs_is_not_summed_up(bank: Bank) -> None:
    for number, text in enumerate(
        (
            "The kettle was bought for 30 crowns.",
            "The kettle was bought for 40 crowns.",
            "The red kettle stands on the stove in the kitchen.",
            "The blue kettle stands on the stove in the kitchen.",
            "Ines gave the kettle to Oda.",
            "Oda gave the kettle to Ines.",
            "Where does the kettle stand?",
            "Where does the kettle stand?",
            "The kettle almost boiled over on the old stove today.",
            "The kettle boiled over on the old stove today.",
        )
    ):
        told(bank, text, f"source {number}")

    assert bank.maintain().steps == ()


def test_new_evidence_raises_the_count(bank: Bank, clock: FrozenClock) -> None:
    for place in ("note", "call"):
        told(bank, "The kettle stands on the stove.", place)
    bank.maintain()
    clock.advance(days=1)
    told(bank, "The kettle stands on the stove.", "letter")

    report = bank.maintain()

    (found,) = observations(bank)
    assert [step.action for step in report.steps] == ["update"]
    assert found.proof_count == 3
    assert found.version == 2


def test_contrary_evidence_is_kept_beside_and_lowers_confidence(bank: Bank, clock: FrozenClock) -> None:
    for place in ("note", "call"):
        told(bank, "Ines likes the old kettle.", place, confidence=0.8)
    bank.maintain()
    (sure,) = observations(bank)
    clock.advance(days=1)
    contrary = told(bank, "Ines does not like the old kettle.", "letter", confidence=0.8)

    bank.maintain()

    (found,) = observations(bank)
    assert found.id == sure.id
    assert sure.confidence == 0.8
    assert found.confidence == pytest.approx(0.8 * 2 / 3)
    answer = bank.recall("kettle", profile="lexical", kinds=["observation"], include_sources=True)
    assert [(e.memory.id, e.stance) for e in answer.evidence[found.id]][-1] == (contrary, "against")


def test_validity_is_the_union_of_the_sources(bank: Bank) -> None:
    told(bank, "The kettle is lent out.", "note", valid_from="2025-03-01", valid_to="2025-05-01")
    told(bank, "The kettle is lent out.", "call", valid_from="2025-04-01", valid_to="2026-06-01")

    bank.maintain()

    (found,) = observations(bank)
    assert str(found.valid_from)[:10] == "2025-03-01"
    assert str(found.valid_to)[:10] == "2026-06-01"


def test_a_gap_that_the_contrary_fills_parts_an_observation(bank: Bank) -> None:
    for start, end, place in (
        ("2024-01-01", "2024-06-01", "a"),
        ("2024-02-01", "2024-07-01", "b"),
        ("2025-01-01", "2027-01-01", "c"),
        ("2025-02-01", "2027-02-01", "d"),
    ):
        told(bank, "The kettle is in use.", place, valid_from=start, valid_to=end)
    told(bank, "The kettle is not in use.", "e", valid_from="2024-08-01", valid_to="2024-12-01")

    bank.maintain()

    now = observations(bank)
    then = bank.recall(
        "kettle", profile="lexical", kinds=["observation"], as_of="2024-03-01", known_at="2026-12-31"
    )
    assert [str(memory.valid_from)[:10] for memory in now] == ["2025-01-01"]
    assert [str(hit.memory.valid_to)[:10] for hit in then] == ["2024-07-01"]


def test_forgetting_a_source_takes_the_observation_along_and_what_is_left_makes_another(bank: Bank) -> None:
    ids = [told(bank, "The kettle stands on the stove.", place) for place in ("note", "call", "letter")]
    bank.maintain()
    (before,) = observations(bank)

    assert bank.forget(ids[0]) == 1

    assert observations(bank) == []
    assert bank.verify().ok
    bank.maintain()
    (after,) = observations(bank)
    assert after.proof_count == 2
    assert after.id != before.id


def test_when_all_sources_are_forgotten_nothing_is_left_of_the_text(bank: Bank, tmp_path: Path) -> None:
    ids = [told(bank, "The quagmirous kettle stands here.", place) for place in ("note", "call")]
    bank.maintain()

    assert bank.forget(ids) == 2

    target = tmp_path / "export"
    bank.export(target)
    assert b"quagmirous" not in target.read_bytes()
    assert bank.maintain().steps == ()
    assert bank.verify().ok


def test_an_observation_whose_sources_part_is_withdrawn(bank: Bank) -> None:
    first = told(bank, "The kettle stands on the stove.", "note", valid_from="2026-02-01")
    told(bank, "The kettle stands on the stove.", "call")
    bank.maintain()
    bank.invalidate(first, at="2026-02-01")

    report = bank.maintain()

    assert [step.action for step in report.steps] == ["withdraw"]
    assert observations(bank) == []


def test_observations_of_observations_are_not_made(bank: Bank) -> None:
    for place in ("note", "call"):
        told(bank, "The kettle stands on the stove.", place)
    for place in ("diary", "log"):
        told(bank, "The kettle stands on the stove.", place, kind="observation")

    bank.maintain()

    assert sum(memory.consolidated for memory in observations(bank)) == 1
    assert bank.maintain().steps == ()


def test_only_memories_of_the_same_readers_are_summed_up(store: Store) -> None:
    bank = store.bank("diary")
    told(bank, "The kettle stands on the stove.", "note")
    told(bank, "The kettle stands on the stove.", "call", acl=["oda"])
    assert bank.maintain().steps == ()
    told(bank, "The kettle stands on the stove.", "letter", acl=["oda"])

    bank.maintain()

    assert len(observations(bank)) == 1
    assert len(observations(store.bank("diary", principal="oda"))) == 1
    assert observations(store.bank("diary", principal="ines")) == []


def test_statements_with_one_subject_and_relation_are_one_belief_whatever_their_words(bank: Bank) -> None:
    for place, text in (
        ("note", "Odalys works at Norrhav."),
        ("call", "Norrhav is where Odalys is employed."),
    ):
        bank.retain(
            text, source=place, relation="works at", subject="Odalys", object="Norrhav", kind="semantic"
        )

    bank.maintain()

    (found,) = observations(bank, "Odalys Norrhav")
    assert found.text == "Odalys works at Norrhav."
    assert found.relation == "works at"
    assert found.proof_count == 2


def test_an_observation_is_hidden_when_none_of_its_sources_is_seen(bank: Bank, clock: FrozenClock) -> None:
    ids = [told(bank, "The kettle stands on the stove.", place) for place in ("note", "call")]
    bank.maintain()
    clock.advance(days=1)
    for memory in ids:
        bank.invalidate(memory)

    assert not bank.recall("kettle", profile="lexical", prefer_observations=True).hits


def test_an_export_carries_observations_and_moves(bank: Bank, store: Store, tmp_path: Path) -> None:
    for place in ("note", "call"):
        told(bank, "The kettle stands on the stove.", place)
    bank.retain("Boil water.", layer="working", kind="episodic")
    bank.maintain()
    bank.export(tmp_path / "one")
    other = store.bank("other")

    other.import_bank(tmp_path / "one")

    other.export(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert other.maintain().steps == ()
    assert other.verify().ok
    assert observations(other)[0].valid_to_micros == FOREVER


@pytest.mark.parametrize("name", ["include_archived", "prefer_observations", "include_sources"])
def test_a_switch_is_true_or_false(bank: Bank, name: str) -> None:
    with pytest.raises(InputError, match=name):
        bank.recall("kettle", **{name: "yes"})  # type: ignore[arg-type]


def test_why_not_says_that_an_observation_stands_in_or_was_not_asked_for(
    bank: Bank, clock: FrozenClock
) -> None:
    first = told(bank, "The kettle stands on the stove.", "note")
    told(bank, "The kettle stands on the stove.", "call")
    (old,) = bank.retain("The kettle boiled on Monday.", kind="episodic", role="user")
    clock.advance(days=900)
    bank.maintain()
    (found,) = observations(bank)

    unasked = bank.why_not(found.id, "kettle", profile="lexical")
    covered = bank.why_not(first, "kettle", profile="lexical", prefer_observations=True)
    away = bank.why_not(old, "kettle", profile="lexical")

    assert "those were not asked for" in unasked.reason
    assert covered.reason == "an observation stands for it"
    assert away.reason == "maintenance has put it away"
    assert bank.why_not(old, "kettle", profile="lexical", include_archived=True).returned


def test_an_observation_stands_in_the_place_of_its_best_source(bank: Bank) -> None:
    told(bank, "The stove heats the kettle and the pot on the old shelf.", "note")
    for place in ("note", "call"):
        told(bank, "The kettle stands on the stove.", place, context="Said in the kitchen at breakfast.")
    told(bank, "The stove is cold.", "call")
    before = bank.recall("breakfast kettle stove", profile="lexical", max_tokens=None)
    bank.maintain()
    (found,) = observations(bank)

    after = bank.recall(
        "breakfast kettle stove", profile="lexical", prefer_observations=True, max_tokens=None
    )

    texts = [hit.text for hit in before]
    assert texts.count("The kettle stands on the stove.") == 2
    assert [hit.text for hit in after] == list(dict.fromkeys(texts))
    first = texts.index("The kettle stands on the stove.")
    assert (after[first].id, after[first].score) == (found.id, before[first].score)
    asked = bank.why_not(found.id, "breakfast kettle stove", profile="lexical", prefer_observations=True)
    assert asked.returned


def test_an_observation_whose_sources_were_put_away_is_found_by_itself(
    bank: Bank, clock: FrozenClock
) -> None:
    for place in ("note", "call"):
        told(bank, "The kettle was mended.", place, kind="episodic", role="user", event_time="2026-01-05")
    bank.maintain()
    clock.advance(days=900)
    assert [step.action for step in bank.maintain().steps] == ["archive", "archive"]

    assert not bank.recall("kettle", profile="lexical").hits
    (hit,) = bank.recall("kettle", profile="lexical", prefer_observations=True).hits

    assert hit.memory.consolidated
    assert str(hit.memory.event_time)[:10] == "2026-01-05"


def test_the_words_of_an_observation_are_those_of_a_named_source(bank: Bank) -> None:
    """What is not named as a source could be forgotten without it."""
    long, short = "The kettle stands there on the old stove.", "The kettle stands on the old stove."
    for number in range(MOST_SOURCES):
        told(bank, long, f"note {number}")
    last = told(bank, short, "call")
    bank.maintain()
    (found,) = observations(bank)
    assert found.proof_count == MOST_SOURCES + 1

    bank.forget(last)

    assert found.text == long
    assert short not in {memory.text for memory in observations(bank)}
