"""What a bank does with the items of an import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import InputError
from simonides.services.write_path import WritePath
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

STUB = StubEmbedder(dimension=16)


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with simonides.open(tmp_path / "store", embedder=STUB, clock=clock) as opened:
        yield opened


def believed(bank: Bank) -> list[str]:
    return sorted(memory.text for memory in bank.diff("1970").begun)


def note(*paragraphs: str) -> list[dict[str, Any]]:
    return [{"text": text, "document_id": "note"} for text in paragraphs]


def test_what_was_imported_is_passed_over(store: Store) -> None:
    bank = store.bank()
    first = bank.import_items([{"text": "The oars are short"}, *note("Figs", "Pears")])
    assert len(first.ids) == 3
    assert first.unchanged == 0
    sequence = bank.stats()["sequence"]
    again = bank.import_items([*note("Figs", "Pears"), {"text": "The oars are short"}])
    assert (again.ids, again.unchanged) == ((), 3)
    assert bank.stats()["sequence"] == sequence


def test_a_document_goes_to_and_fro(store: Store, clock: FrozenClock) -> None:
    """The first text is not taken for one that is there already when it comes back."""
    bank = store.bank()
    for text in ("Pears", "Plums", "Pears"):
        bank.import_items(note("Figs", text))
        clock.advance(days=1)
        assert believed(bank) == sorted(["Figs", text])
    assert len(bank.recall("Figs").hits[0:1]) == 1


def test_what_is_said_twice_is_stored_once(store: Store) -> None:
    bank = store.bank()
    done = bank.import_items([{"text": "The oars are short"}, {"text": "The oars are short"}])
    assert (len(done.ids), done.unchanged) == (1, 1)


@pytest.mark.parametrize("verb", ["forget", "invalidate"])
def test_what_ended_since_is_not_brought_back(store: Store, clock: FrozenClock, verb: str) -> None:
    bank = store.bank()
    (memory,) = bank.import_items([{"text": "The oars are short"}]).ids
    clock.advance(days=1)
    getattr(bank, verb)(memory)
    clock.advance(days=1)
    assert bank.import_items([{"text": "The oars are short"}]).unchanged == 1
    assert believed(bank) == []


def test_evidence_is_counted_once(store: Store) -> None:
    """An item that says what a memory says already is a proof, but not at every import."""
    bank = store.bank()
    (memory,) = bank.retain("The oars are short.")
    for _ in range(3):
        bank.import_items([{"text": "the oars are short"}])
    assert bank.get_memory(memory).proof_count == 2


def test_a_fact_that_was_superseded_is_not_told_again(store: Store) -> None:
    bank = store.bank()
    lives = {"relation": "lives in", "subject": "Odalys", "single_valued": True}
    items = [
        {"text": "Odalys lives in Norrhav", "object": "Norrhav", "event_time": "2024", **lives},
        {"text": "Odalys lives in Quillstad", "object": "Quillstad", "event_time": "2025", **lives},
    ]
    bank.import_items(items)
    versions = bank.stats()["versions"]
    assert believed(bank) == ["Odalys lives in Quillstad"]
    bank.import_items(items)
    bank.import_items(items[:1])
    assert bank.stats()["versions"] == versions


def test_two_at_once_store_it_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one commits while this one encodes."""
    bank, other = store.bank(), store.bank()
    real = WritePath.prepare

    def prepare(self: WritePath, drafts: Any, **options: Any) -> Any:
        ready = real(self, drafts, **options)
        monkeypatch.setattr(WritePath, "prepare", real)
        other.import_items(note("Figs", "Pears"))
        return ready

    monkeypatch.setattr(WritePath, "prepare", prepare)
    done = bank.import_items([*note("Figs", "Pears"), {"text": "The oars are short"}])
    assert (len(done.ids), done.unchanged) == (1, 2)
    assert believed(bank) == ["Figs", "Pears", "The oars are short"]


def test_one_principal_learns_nothing_of_what_another_imported(store: Store) -> None:
    mo, ilse = (store.bank(principal=name) for name in ("mo", "ilse"))
    item = {"text": "The oars are short", "acl": ["mo"]}
    mo.import_items([item])
    assert ilse.import_items([{**item, "acl": ["ilse"]}]).unchanged == 0
    assert mo.import_items([item]).unchanged == 1
    with pytest.raises(InputError, match="owner"):
        mo.import_items([{"text": "x", "recorded_at": "2020"}])


def test_a_wrong_item_is_named_by_its_place_and_nothing_is_stored(store: Store) -> None:
    bank = store.bank()
    bank.import_items([{"text": "known"}])
    for wrong in ({"text": " "}, {"text": "x", "valid_to": "1999"}, {"text": "x", "colour": 1}):
        with pytest.raises(InputError, match=r"items\[2\]"):
            bank.import_items([{"text": "known"}, {"text": "good"}, wrong])
    assert believed(bank) == ["known"]
