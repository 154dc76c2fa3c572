"""Promotion, decay, archive, return, and undoing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, NotFoundError, ProfileError, UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock


def found(bank: Bank, **more: Any) -> list[str]:
    return [hit.id for hit in bank.recall("kettle", profile="lexical", **more)]


@pytest.mark.spec("EN-13")
def test_working_memories_become_episodic_after_half_an_hour(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain("The kettle boils.", layer="working", kind="episodic")
    clock.advance(seconds=29 * 60)
    assert bank.maintain().steps == ()
    clock.advance(seconds=60)

    report = bank.maintain()

    assert [(s.memory, s.was, s.became) for s in report.steps] == [(memory, "working", "episodic")]
    assert [version.layer for version in bank.history(memory)] == ["working", "episodic"]
    (move,) = bank.moves(memory)
    assert (move.action, move.was, move.became) == ("promote", "working", "episodic")
    assert "30 minutes" in move.reason


@pytest.mark.spec("EN-13")
def test_two_uses_are_enough_for_episodic_and_five_with_salience_for_semantic(bank: Bank) -> None:
    twice, often, dull = bank.retain(
        [
            {"text": "The kettle boils.", "layer": "working", "salience": 0.9},
            {"text": "The kettle is loud.", "layer": "working", "salience": 0.7},
            {"text": "The kettle is red.", "layer": "working", "salience": 0.69},
        ],
        kind="episodic",
    )
    for memory, times in ((twice, 2), (often, 5), (dull, 5)):
        for _ in range(times):
            bank.used(memory)

    bank.maintain()

    assert [bank.get_memory(memory).layer for memory in (twice, often, dull)] == [
        "episodic",
        "semantic",
        "episodic",
    ]
    assert bank.maintain().steps == ()


def test_an_undone_promotion_is_not_made_again(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain("The kettle boils.", layer="working", kind="episodic")
    clock.advance(days=1)
    bank.maintain()
    (move,) = bank.moves(memory)

    bank.undo_move(move.number)

    assert bank.get_memory(memory).layer == "working"
    assert [version.layer for version in bank.history(memory)] == ["working", "episodic", "working"]
    assert bank.maintain().steps == ()
    with pytest.raises(NotFoundError, match="no move"):
        bank.undo_move(move.number)
    with pytest.raises(NotFoundError, match="no move"):
        bank.undo_move(99)


@pytest.mark.spec("HX-09")
def test_what_is_not_used_is_put_away_after_the_grace_period_and_found_on_request(
    bank: Bank, clock: FrozenClock
) -> None:
    (memory,) = bank.retain("The kettle boiled on Monday.", kind="episodic", role="user")
    # 180 days · log2(1 / 0.05) + 90 days, as the owner's words are trusted in full.
    clock.advance(days=867)
    assert bank.maintain().steps == ()
    clock.advance(days=1.5)

    report = bank.maintain()

    assert [(step.action, step.memory) for step in report.steps] == [("archive", memory)]
    assert found(bank) == []
    assert found(bank, include_archived=True) == [memory]
    assert [version.archived for version in bank.history(memory)] == [False, True]
    assert bank.recall("kettle", profile="lexical", as_of="2026-06-01")[0].id == memory


def test_use_brings_an_archived_memory_back_and_slows_its_decay(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain("The kettle boiled on Monday.", kind="episodic", role="user")
    clock.advance(days=900)
    bank.maintain()

    bank.used(memory)

    assert found(bank) == [memory]
    assert [move.action for move in bank.moves(memory)] == ["archive", "return"]
    clock.advance(days=900)
    assert bank.maintain().steps == ()
    clock.advance(days=600)
    assert [step.action for step in bank.maintain().steps] == ["archive"]


def test_less_trusted_memories_fade_sooner(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("The kettle boiled on Monday.", kind="episodic", role="user")
    (heard,) = bank.retain("The kettle boiled on Tuesday.", kind="episodic", role="tool")
    assert bank.get_memory(heard).trust < 1
    clock.advance(days=800)

    assert [step.memory for step in bank.maintain().steps] == [heard]


def test_pinned_memories_and_decisions_are_never_put_away(bank: Bank, clock: FrozenClock) -> None:
    (pinned,) = bank.retain("The kettle boiled on Monday.", kind="episodic", role="user")
    bank.retain("We keep the kettle.", kind="decision", role="user")
    bank.pin(pinned)
    clock.advance(days=20_000)
    assert bank.maintain().steps == ()

    bank.pin(pinned, pinned=False)

    assert [step.memory for step in bank.maintain().steps] == [pinned]


def test_pinning_brings_back_and_an_undone_archiving_is_not_made_again(
    bank: Bank, clock: FrozenClock
) -> None:
    one, two = bank.retain(["The kettle boiled.", "The kettle fell."], kind="episodic", role="user")
    clock.advance(days=900)
    bank.maintain()
    bank.pin(one)
    bank.undo_move(bank.moves(two)[0].number)

    assert sorted(found(bank)) == sorted([one, two])
    assert bank.get_memory(one).pinned
    clock.advance(days=9_000)
    assert bank.maintain().steps == ()


def test_what_is_said_anew_is_not_swallowed_by_an_archived_memory(bank: Bank, clock: FrozenClock) -> None:
    (old,) = bank.retain("The kettle boils.", kind="episodic", role="user")
    clock.advance(days=900)
    bank.maintain()

    (new,) = bank.retain("The kettle boils.", kind="episodic", role="user")

    assert new != old
    assert found(bank) == [new]


def test_a_clock_set_back_makes_nothing_older(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("The kettle boils.", layer="working", kind="episodic")
    clock.advance(days=-4_000)

    assert bank.maintain().steps == ()
    assert bank.verify().ok


def test_a_dry_run_says_what_a_run_then_does(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("The kettle boils.", layer="working", kind="episodic")
    bank.retain("The kettle is red.", source="note")
    bank.retain("The kettle is red.", source="call")
    clock.advance(days=1)
    before = bank.stats()["sequence"]

    would = bank.maintain(dry_run=True)

    assert would.dry_run
    assert bank.stats()["sequence"] == before
    did = bank.maintain()
    assert [(s.action, s.was, s.became) for s in did.steps] == [
        (s.action, s.was, s.became) for s in would.steps
    ]
    assert len(did.steps) == 2


def test_a_run_makes_no_more_steps_than_it_may_and_the_next_goes_on(bank: Bank, clock: FrozenClock) -> None:
    bank.retain([f"Step {n} of the kettle." for n in range(5)], layer="working", kind="episodic")
    clock.advance(days=1)

    counts = [(len(r.steps), r.left) for r in (bank.maintain(most=2) for _ in range(4))]

    assert counts == [(2, 3), (2, 1), (1, 0), (0, 0)]


def test_only_one_run_at_a_time(bank: Bank) -> None:
    with bank._rows.maintaining(), pytest.raises(UnavailableError, match="another process maintains"):
        bank.maintain()
    bank.maintain()


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "3", None])
def test_a_wrong_number_of_steps_is_refused(bank: Bank, most: object) -> None:
    with pytest.raises(InputError, match="most"):
        bank.maintain(most=most)  # type: ignore[arg-type]


def test_maintenance_is_for_the_owner(store: Store) -> None:
    with pytest.raises(InputError, match="only the owner"):
        store.bank("diary", principal="oda").maintain()


def test_a_profile_without_numbers_maintains_nothing(bank: Bank) -> None:
    with pytest.raises(ProfileError, match="lifecycle"):
        bank.maintain(profile="memoria")


def test_a_profile_of_ones_own_decides(bank: Bank, clock: FrozenClock, tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text(
        'extends = "default"\n[lifecycle.promote.episodic]\nafter_minutes = 60\naccesses = 9\n'
    )
    bank.retain("The kettle boils.", layer="working", kind="episodic")
    clock.advance(seconds=59 * 60)
    assert bank.maintain(profile=profile).steps == ()
    clock.advance(seconds=60)
    assert len(bank.maintain(profile=profile).steps) == 1


@pytest.mark.parametrize("profile", ["default", "helix", "hindsight", "engram", "lexical"])
def test_a_move_makes_no_memory_newer(bank: Bank, clock: FrozenClock, profile: str) -> None:
    """A new version says that the layer changed, not that anything was said again."""
    bank.retain("The kettle boils on the stove.", layer="working", kind="episodic")
    clock.advance(days=200)
    bank.retain("The kettle sings beside the stove.", layer="episodic", kind="episodic")
    clock.advance(days=200)
    before = bank.recall("kettle stove", profile=profile, as_of="2028-01-01")
    assert len(before) == 2

    assert [step.action for step in bank.maintain().steps] == ["promote"]

    after = bank.recall("kettle stove", profile=profile, as_of="2028-01-01")
    if profile != "engram":  # it ranks by the layer itself
        assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
    assert {hit.id for hit in after} == {hit.id for hit in before}


@pytest.mark.parametrize("recalled", [False, True])
def test_what_was_put_away_swallows_nothing_that_is_said_anew(
    bank: Bank, clock: FrozenClock, *, recalled: bool
) -> None:
    text = "The kettle is red."
    (old,) = bank.retain(text, kind="episodic", role="import")
    clock.advance(days=4_000)
    assert [step.memory for step in bank.maintain().steps] == [old]
    if recalled:
        bank.recall("kettle", profile="lexical", include_archived=True)

    (new,) = bank.retain(text, kind="episodic")

    assert new != old
    assert [hit.id for hit in bank.recall("kettle", profile="lexical")] == [new]
