"""What people do to memories by hand: archive, end, and look before they forget; each is told and undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, NotFoundError
from simonides.surfaces.operations.table import OPERATIONS

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

TEXT = "Odalys Brenn lives in Norrhav."
LATER = "Odalys Brenn moved to Quillstad."


def found(bank: Bank, **options: Any) -> list[str]:
    return [hit.id for hit in bank.recall("Odalys Brenn", profile="lexical", **options)]


def told(bank: Bank, memory: str | None = None) -> list[tuple[str, str, str]]:
    return [(move.action, move.became, move.reason) for move in bank.moves(memory) if move.stands]


# -- archive


def test_what_is_archived_is_found_on_request_and_comes_back_undone(bank: Bank, clock: FrozenClock) -> None:
    one, two = bank.retain([TEXT, "The kettle leaks."])
    before = clock.now
    clock.advance(days=1)
    assert bank.archive([one, one]) == 1
    assert bank.archive(one) == 0
    assert told(bank) == [("archive", "archived", "by hand")]
    assert bank.get_memory(one).archived
    assert found(bank) == []
    assert found(bank, include_archived=True) == found(bank, as_of=before) == [one]
    assert [memory.id for memory in bank.list_memories(state="archived")] == [one]
    bank.undo_move(bank.moves(one)[0].number)
    assert found(bank) == [one]
    assert told(bank) == []
    with pytest.raises(NotFoundError, match="no move"):
        bank.undo_move(bank.moves(one)[0].number)
    assert bank.archive([one, two]) == 2
    bank.used(two)
    assert [memory.id for memory in bank.list_memories()] == [two]
    assert bank.verify().ok


def test_nothing_is_archived_where_one_memory_cannot_be(bank: Bank, store: Store) -> None:
    one, two = bank.retain([TEXT, "The kettle leaks."])
    bank.pin(two)
    with pytest.raises(
        InputError, match=rf"^ids: memory {two} is pinned, nothing was changed; unpin it first"
    ):
        bank.archive([one, two])
    with pytest.raises(NotFoundError, match="nothing was changed"):
        bank.archive([one, "0" * 16])
    with pytest.raises(InputError, match=r"^principal: only the owner may archive"):
        store.bank("diary", principal="ines").archive(one)
    assert bank.moves() == []
    assert len(bank.list_memories()) == 2
    assert bank.get_memory(one).version == 1
    assert bank.archive([]) == 0


# -- invalidate


def test_an_end_by_hand_is_told_and_undone(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(TEXT)
    clock.advance(days=1)
    bank.invalidate(memory)
    bank.invalidate(memory)
    assert told(bank, memory) == [("close", "", "by hand")]
    assert found(bank) == []
    clock.advance(days=1)
    bank.update_memory(memory, tags=["home"])
    (move,) = bank.moves(memory)
    bank.undo_move(move.number)
    now = bank.get_memory(memory)
    assert (now.valid_to, now.tags, found(bank)) == (None, ("home",), [memory])
    with pytest.raises(NotFoundError, match="no move"):
        bank.undo_move(move.number)
    assert bank.verify().ok


def test_the_last_of_several_ends_is_undone_first(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(TEXT)
    clock.advance(days=10)
    bank.invalidate(memory)
    first_end = bank.get_memory(memory).valid_to
    bank.invalidate(memory, at="2026-03-05")
    first, second = bank.moves(memory)
    with pytest.raises(NotFoundError):
        bank.undo_move(first.number)
    bank.undo_move(second.number)
    assert bank.get_memory(memory).valid_to == first_end
    bank.undo_move(first.number)
    assert bank.get_memory(memory).valid_to is None


def test_undoing_an_end_by_hand_gives_the_end_by_a_newer_memory_back(bank: Bank, clock: FrozenClock) -> None:
    (old,) = bank.retain(TEXT)
    clock.advance(days=2)
    (new,) = bank.retain(LATER)
    ended = bank.get_memory(old)
    assert ended.superseded_by == new
    bank.invalidate(old, at="2026-03-02")
    newer, by_hand = bank.moves(old)
    with pytest.raises(NotFoundError):
        bank.undo_move(newer.number)
    bank.undo_move(by_hand.number)
    again = bank.get_memory(old)
    assert (again.valid_to, again.superseded_by) == (ended.valid_to, new)
    bank.undo_move(newer.number)
    assert bank.get_memory(old).valid_to is None


def test_a_principals_end_is_told_to_the_owner(bank: Bank, store: Store, clock: FrozenClock) -> None:
    (memory,) = bank.retain(TEXT)
    clock.advance(days=1)
    store.bank("diary", principal="ines").invalidate(memory)
    assert told(bank) == [("close", "", "by hand")]


def test_other_words_leave_an_end_by_hand_as_it_is(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(TEXT)
    clock.advance(days=1)
    bank.invalidate(memory)
    ended = bank.get_memory(memory).valid_to
    clock.advance(days=1)
    assert bank.update_memory(memory, text="Odalys Brenn lives in Malvern.").valid_to == ended
    assert told(bank) == [("close", "", "by hand")]
    bank.undo_move(bank.moves(memory)[0].number)
    assert bank.get_memory(memory).valid_to is None


# -- forget, dry


def _asked(bank: Bank, **values: Any) -> Any:
    operation = OPERATIONS["forget"]
    return operation.call(bank, operation.bind(values))


def test_a_dry_run_tells_what_would_go_and_forgets_nothing(bank: Bank, clock: FrozenClock) -> None:
    one, two = bank.retain([TEXT, "The kettle leaks."], session="monday")
    clock.advance(days=1)
    bank.update_memory(one, tags=["home"])
    before = bank.stats()
    told = _asked(bank, ids=[one, one, "0" * 16], dry_run=True)
    rows = told.pop("rows")
    assert told == {"asked": 2, "forgotten": 1, "dry_run": True}
    assert {name: rows[name] for name in ("versions", "episodes", "links")} == {
        "versions": 2,
        "episodes": 1,
        "links": 1,
    }
    assert bank.forget([one, two], dry_run=True) == 2
    assert bank.stats() == before
    assert _asked(bank, ids=[one]) == {"asked": 1, "forgotten": 1}
    assert bank.forget(one, dry_run=True) == 0
    assert [memory.id for memory in bank.list_memories()] == [two]


def test_a_principal_is_told_of_its_own_alone(bank: Bank, store: Store) -> None:
    (shared,) = bank.retain(TEXT)
    (hidden,) = bank.retain("The vault is open.", acl=["tove"])
    ines = store.bank("diary", principal="ines")
    assert ines.forget([shared, hidden], dry_run=True) == 1
    assert _asked(ines, ids=[shared, hidden], dry_run=True) == {"asked": 2, "forgotten": 1, "dry_run": True}
    assert len(bank.list_memories()) == 2
