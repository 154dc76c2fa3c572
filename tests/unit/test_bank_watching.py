"""What happens in a bank is told once, in order, to whoever may know, with the exact text that was given."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import InputError
from simonides.services import watching
from simonides.storage import recent_recalls
from simonides.storage.recent_recalls import RecentRecalls
from simonides.surfaces.operations.table import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank
    from simonides.records.activity import Event
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

FIGS = "Figs need water."


def whats(bank: Bank, **options: Any) -> list[str]:
    return [event.what for event in bank.activity(**options).events]


def told(bank: Bank, after: str, most: int = 50) -> list[Event]:
    """All events after a cursor, page by page."""
    found: list[Event] = []
    for _ in range(1_000):
        page = bank.activity(after=after, most=most)
        assert len(page.events) <= most
        if not page.events:
            return found
        found += page.events
        after = page.next
    raise AssertionError("the pages have no end")


@pytest.fixture
def elsewhere(store: Store, clock: FrozenClock, stub_embedder: StubEmbedder) -> Iterator[Bank]:
    """The bank as another process has it open: nothing in memory is shared."""
    with simonides.open(store.folder, clock=clock, embedder=stub_embedder, environ={}) as other:
        yield other.bank("diary")


def test_writes_are_told_in_order_with_their_times(bank: Bank, store: Store, clock: FrozenClock) -> None:
    start = bank.activity().next
    first = clock()
    lisbon, figs = bank.retain(["My office is in Lisbon.", FIGS])
    clock.advance(seconds=1)
    porto = store.bank("diary", principal="ivo").retain("My office is in Porto now.")[0]
    bank.update_memory(figs, tags=["garden"])
    clock.advance(seconds=1)
    bank.invalidate(figs)
    bank.forget(lisbon)
    events = bank.activity(after=start).events

    assert [(event.what, event.ids) for event in events] == [
        ("stored", (figs,)),
        ("stored", (porto,)),
        ("changed", (figs,)),
        ("ended", (figs,)),
        ("forgotten", ()),
    ]
    assert [event.by for event in events] == ["", "ivo", None, None, None]
    assert [event.memory and event.memory.version for event in events] == [1, 1, 2, 3, None]
    assert [event.memory and event.memory.text for event in events][:2] == [
        FIGS,
        "My office is in Porto now.",
    ]
    assert events[0].at is not None
    assert events[0].at - first < timedelta(milliseconds=1)
    assert events[-1].at == clock()


def test_a_newer_statement_tells_its_own_storing_and_the_end_of_the_older(bank: Bank) -> None:
    lisbon = bank.retain("My office is in Lisbon.")[0]
    start = bank.activity().next
    porto = bank.retain("My office is in Porto now.")[0]
    stored, ended = bank.activity(after=start).events
    assert (stored.what, stored.ids, ended.what, ended.ids) == ("stored", (porto,), "ended", (lisbon,))
    assert ended.memory is not None
    assert ended.memory.superseded_by == porto


def test_archiving_is_told_and_what_is_withdrawn_has_ended(bank: Bank, clock: FrozenClock) -> None:
    memory = bank.retain(FIGS, ttl=60)[0]
    future = bank.retain("The fair opens.", valid_from="2030-01-01", valid_to="2031-01-01")[0]
    start = bank.activity().next
    clock.advance(seconds=61)
    bank.maintain()
    bank.invalidate(future, at="2030-01-01")
    found = [(event.what, event.ids) for event in bank.activity(after=start).events]
    assert found == [("archived", (memory,)), ("ended", (future,))]


def test_a_recall_is_told_with_its_exact_context(bank: Bank, store: Store) -> None:
    memory = bank.retain(FIGS)[0]
    start = bank.activity().next
    answer = bank.recall("What do figs need?", profile="lexical")
    store.bank("diary", principal="ivo").recall("Ivo's figs?", profile="lexical")
    one, other = bank.activity(after=start).events

    assert (one.what, one.memory, one.ids) == ("recalled", None, (memory,))
    assert (one.query, one.context) == ("What do figs need?", answer.context)
    assert answer.context
    assert (one.band, one.confidence, one.profile) == (answer.band, answer.confidence, "lexical")
    assert (one.by, one.recall) == ("", answer.id)
    assert (other.by, other.query) == ("ivo", "Ivo's figs?")


def test_what_is_made_of_a_recall_is_told_as_it_was_given(bank: Bank) -> None:
    memory = bank.retain(FIGS)[0]
    start = bank.activity().next
    brief = bank.brief("Water the figs.", profile="lexical")
    reflection = bank.reflect("What do figs need?", profile="lexical")
    recall = OPERATIONS["recall"]
    fenced = recall.call(bank, recall.bind({"query": "figs?", "profile": "lexical", "form": "fenced"}))
    events = bank.activity(after=start).events

    assert [event.what for event in events] == ["briefed", "recalled", "recalled"]
    assert [event.context for event in events] == [brief.text, reflection.context, fenced["context"]]
    assert fenced["context"].startswith("<<memories ")
    assert [event.ids for event in events] == [(memory,)] * 3
    assert events[0].query == "Water the figs."


def test_every_event_is_told_once_whatever_the_pages(bank: Bank, clock: FrozenClock) -> None:
    start = bank.activity().next
    for number in range(4):
        bank.retain(f"Note {number}.")
        bank.recall(f"note {number}?", profile="lexical")
        clock.advance(seconds=number % 2)
    bank.forget(bank.list_memories()[0].id)
    whole = told(bank, start)

    assert len(whole) == 3 + 4 + 1
    for most in (1, 2, 3, 5):
        assert told(bank, start, most) == whole
    assert list(bank.activity().events) == whole
    assert list(bank.activity(most=3).events) == whole[-3:]
    assert told(bank, bank.activity(most=3).next) == []


def test_an_import_that_is_dated_back_is_told_once(bank: Bank) -> None:
    start = bank.activity().next
    bank.recall("anything?", profile="lexical")
    bank.retain("An old note.", recorded_at="2019-05-01")
    bank.retain("A new note.")
    for most in (1, 2, 50):
        assert [event.what for event in told(bank, start, most)] == ["stored", "stored", "recalled"]


def test_long_texts_end_a_page_early(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    start = bank.activity().next
    ids = bank.retain([f"Note {number} " + "about figs " * 20 for number in range(5)], deduplicate=False)
    monkeypatch.setattr(watching, "PAGE_BYTES", 300)
    page = bank.activity(after=start)
    assert [event.ids[0] for event in page.events] == ids[:2]
    assert [event.ids[0] for event in told(bank, start)] == ids
    assert [event.ids[0] for event in bank.activity().events] == ids[-2:]


def test_a_principal_is_told_of_what_it_may_read_and_of_its_own_recalls(bank: Bank, store: Store) -> None:
    ivo = store.bank("diary", principal="ivo")
    start = ivo.activity().next
    hidden, gone = bank.retain(["Eva's secret.", "Another secret."], acl=["eva"])
    shared = bank.retain(FIGS)[0]
    own = ivo.retain("Ivo's own.", acl=["ivo"])[0]
    bank.recall("The owner asks.", profile="lexical")
    store.bank("diary", principal="eva").recall("Eva asks.", profile="lexical")
    ivo.recall("Ivo asks.", profile="lexical")
    bank.forget(gone)
    for events in (told(ivo, start), told(ivo, start, 1), list(ivo.activity().events)):
        asked = [event.query for event in events if event.what == "recalled"]
        assert asked == ["Ivo asks."]
        assert {each for event in events for each in event.ids} <= {shared, own}
        assert "forgotten" not in [event.what for event in events]
        assert all("secret" not in str(event.to_dict()) for event in events)
        assert all(event.at and event.at.microsecond % 1_000 == 0 for event in events)
    assert sorted(whats(bank)) == ["forgotten", *["recalled"] * 3, *["stored"] * 3]
    assert hidden in [each for event in bank.activity().events for each in event.ids]


def test_rows_of_others_take_no_room_on_a_principals_page(bank: Bank, store: Store) -> None:
    ivo = store.bank("diary", principal="ivo")
    start = ivo.activity().next
    mine = ivo.retain("Ivo's own.")[0]
    bank.retain([f"Secret {number}." for number in range(20)], acl=["eva"])
    assert [event.ids for event in ivo.activity(most=1).events] == [(mine,)]
    assert [event.ids for event in ivo.activity(after=start, most=1).events] == [(mine,)]


def test_a_cursor_tells_no_principal_whether_others_wrote(
    bank: Bank, store: Store, clock: FrozenClock
) -> None:
    ivo = store.bank("diary", principal="ivo")
    cursors = []
    for _ in range(2):
        clock.advance(seconds=1)
        cursors.append(ivo.activity().next)
    bank.retain("Secret.", acl=["eva"])
    clock.advance(seconds=1)
    cursors.append(ivo.activity().next)
    # Each differs in most places from the one before, whether or not somebody wrote meanwhile.
    for one, other in itertools.pairwise(cursors):
        assert sum(a == b for a, b in zip(one, other, strict=True)) < len(one) / 4


@pytest.mark.parametrize("cursor", ["0" * 64, "nothing", "ä"])
def test_what_is_no_cursor_of_the_bank_is_refused(bank: Bank, cursor: str) -> None:
    with pytest.raises(InputError, match=r"after: .* is no cursor of this bank"):
        bank.activity(after=cursor)


def test_a_cursor_of_another_bank_is_refused(bank: Bank, store: Store) -> None:
    cursor = store.bank("second").activity().next
    with pytest.raises(InputError, match="is no cursor of this bank"):
        bank.activity(after=cursor)
    with pytest.raises(InputError, match="most"):
        bank.activity(most=0)


def test_of_a_recall_of_what_was_forgotten_no_word_is_left(bank: Bank, clock: FrozenClock) -> None:
    kept, gone = bank.retain(["Figs need water.", "Figs need sun."])
    due = bank.retain("Figs need salt.", ttl=60, on_expiry="erase")[0]
    bank.recall("figs?", profile="lexical", precision="wide")
    (event,) = [each for each in bank.activity().events if each.what == "recalled"]
    assert (set(event.ids), event.query) == ({kept, gone, due}, "figs?")

    clock.advance(seconds=61)
    (event,) = [each for each in bank.activity().events if each.what == "recalled"]
    assert (set(event.ids), event.query, event.context) == ({kept, gone}, "", "")
    assert due not in [each for event in bank.activity().events for each in event.ids]
    bank.forget(gone)
    (event,) = [each for each in bank.activity().events if each.what == "recalled"]
    assert (event.ids, event.query, event.context) == ((kept,), "", "")
    bank.purge()
    assert "recalled" not in whats(bank)


def test_writes_of_another_process_are_told_and_its_recalls_by_ids_alone(bank: Bank, elsewhere: Bank) -> None:
    start = bank.activity().next
    memory = elsewhere.retain(FIGS)[0]
    silent = elsewhere.recall("What do figs need?", profile="lexical")
    assert [event.what for event in told(bank, start)] == ["stored"]
    after = bank.activity(after=start).next

    elsewhere.used(memory, recall_id=silent.id)
    (event,) = bank.activity(after=after).events
    assert (event.what, event.ids, event.recall) == ("recalled", (memory,), silent.id)
    assert (event.query, event.context, event.by) == ("", "", "")
    # Where it was made it is told once, with its words.
    assert [each.query for each in told(elsewhere, start) if each.recall] == ["What do figs need?"]


def test_recalls_of_others_elsewhere_are_not_told_to_a_principal(
    bank: Bank, store: Store, elsewhere: Bank
) -> None:
    memory = bank.retain(FIGS)[0]
    ivo = store.bank("diary", principal="ivo")
    start = ivo.activity().next
    elsewhere.used(memory, recall_id=elsewhere.recall("figs?", profile="lexical").id)
    assert told(ivo, start) == []
    assert [event.what for event in told(bank, start)] == ["recalled"]


def test_after_a_restore_a_cursor_goes_on(bank: Bank, tmp_path: Any) -> None:
    bank.retain(FIGS)
    bank.backup(tmp_path / "saved.db")
    bank.retain(["One more.", "And another."])
    bank.recall("figs?", profile="lexical")
    after = bank.activity().next
    bank.restore(tmp_path / "saved.db")
    page = bank.activity(after=after)
    assert page.events == ()
    bank.retain("After the restore.")
    after = page.next
    assert [event.what for event in told(bank, after)] == ["stored"]


def test_reads_of_it_are_audited(bank: Bank) -> None:
    memory = bank.retain(FIGS)[0]
    bank.start_audit()
    bank.audit_recalls()
    bank.activity()
    (entry,) = bank.audit_entries(1, recalls=True)
    assert (entry.verb, entry.ids) == ("activity", (memory,))


@pytest.mark.parametrize("redact", ["mask"])
def test_a_secret_in_a_query_is_masked(bank: Bank) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    bank.recall(f"Who has the key {key}?", profile="lexical")
    (event,) = bank.activity().events
    assert event.query == "Who has the key [REDACTED:aws_key]?"


def keep(recalls: RecentRecalls, at: int, **fields: Any) -> None:
    recalls.add(at, **{"recall": str(at), "principal": "", "ids": (), **fields})


def test_the_newest_recalls_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_recalls, "MOST", 3)
    monkeypatch.setattr(recent_recalls, "MOST_BYTES", 4_000)
    recalls = RecentRecalls()
    for at in (5, 5, 4, 9):
        keep(recalls, at)
    assert [(each.at, each.number) for each in recalls.all()] == [(5, 6), (4, 7), (9, 9)]
    keep(recalls, 10, context="x" * 2_000)
    keep(recalls, 11, context="y" * 1_900)
    assert [each.at for each in recalls.all()] == [11]
    keep(recalls, 12, context="z" * 5_000, ids=("a",))
    assert [(each.context[:1], each.ids) for each in recalls.all()] == [("y", ()), ("", ("a",))]
    recalls.clear()
    assert recalls.all() == []


def test_an_answer_that_became_another_is_told_again() -> None:
    recalls = RecentRecalls()
    keep(recalls, 1, context="plain")
    keep(recalls, 2)
    recalls.amend("1", context="fenced")
    recalls.amend("none", context="nothing")
    assert [(each.recall, each.number, each.context) for each in recalls.all()] == [
        ("2", 2, ""),
        ("1", 3, "fenced"),
    ]
