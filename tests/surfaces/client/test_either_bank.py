"""The same tests over a bank of this process and over the same bank behind a server."""

from __future__ import annotations

import asyncio
import inspect
import io
import os
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

import simonides
from simonides.bank import Bank
from simonides.errors import (
    ConflictError,
    InputError,
    ModelUnavailableError,
    NotFoundError,
    SimonidesError,
    UnavailableError,
    UnknownNameError,
)
from simonides.models.llm import LanguageModel
from simonides.records.memory import Memory
from simonides.records.recall import Recall
from simonides.surfaces.client.asynchronous import AsyncBank
from simonides.surfaces.client.remote import RemoteBank
from simonides.surfaces.operations.local import LOCAL_METHODS
from simonides.testing.chat_server import ChatServer, failed, spoken

if TYPE_CHECKING:
    from simonides.store import Store
    from simonides.surfaces.client.remote import RemoteStore

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

FACT = "Odalys Brenn lives in Norrhav."
QUERY = "Where does Odalys Brenn live?"


@pytest.mark.fault("N82")
def test_cancelled_calls_are_done_whole_or_not_at_all(either: Any) -> None:
    async def work() -> None:
        async with AsyncBank(either, workers=2) as bank:
            for pause in (0.0, 0.0, 0.002, 0.005, 0.01, 0.02):
                texts = [[f"Note {pause} {call}, part {part}." for part in range(3)] for call in range(6)]
                calls = [asyncio.ensure_future(bank.retain(each)) for each in texts]
                asked = [asyncio.ensure_future(bank.recall("which note?")) for _ in range(4)]
                await asyncio.sleep(pause)
                for call in (*calls, *asked):
                    call.cancel()
                await asyncio.gather(*calls, *asked, return_exceptions=True)
            # A worker that is left with a lock or a transaction would refuse this, or wait for ever.
            await asyncio.wait_for(asyncio.gather(*(bank.retain(f"{FACT} {n}") for n in range(4))), 60)

    asyncio.run(work())
    held = {memory.text for memory in either.list_memories(limit=1_000)}
    assert {f"{FACT} {n}" for n in range(4)} <= held
    batches = Counter(text.partition(", part")[0] for text in held if text.startswith("Note"))
    assert set(batches.values()) <= {3}
    assert either.verify().ok


@pytest.mark.spec("ME-11")
def test_what_is_retained_is_recalled(either: Any, store: Store) -> None:
    ids = either.retain(
        [FACT, {"text": "Figs need water.", "tags": ["garden"]}], event_time=datetime(2026, 2, 3, tzinfo=UTC)
    )
    found = either.recall(QUERY, profile="lexical", explain=True, include_chunks=True)

    assert isinstance(found, Recall)
    assert [hit.id for hit in found] == ids[:1]
    assert isinstance(found[0].memory, Memory)
    assert found[0].memory.event_time == datetime(2026, 2, 3, tzinfo=UTC)
    assert found.explanations[0].id == ids[0]
    assert found.chunks[0].text == FACT
    assert found.trace.profile == "lexical"
    here = store.bank("diary").recall(QUERY, profile="lexical", explain=True, include_chunks=True)
    assert found.to_dict(trace=False) == here.to_dict(trace=False)
    assert [stage.name for stage in found.trace.stages] == [stage.name for stage in here.trace.stages]
    assert (
        either.recall(
            QUERY, max_tokens=None, tags=["garden"], tags_match="all_strict", profile="lexical"
        ).hits
        == ()
    )


@pytest.mark.fault("N7")
@pytest.mark.parametrize(
    "filters",
    [{"kinds": []}, {"types": []}, {"tags": [], "tags_match": "any_strict"}, {"tags_match": "all_strict"}],
    ids=str,
)
def test_a_filter_without_a_wanted_value_matches_nothing(either: Any, filters: dict[str, Any]) -> None:
    either.retain([FACT, {"text": "Odalys Brenn grows figs.", "tags": ["garden"]}])

    assert len(either.recall(QUERY, profile="lexical")) == 2
    assert either.recall(QUERY, profile="lexical", **filters).hits == ()
    assert either.list_memories(**filters) == []


def test_a_memory_is_shown_changed_ended_and_erased(either: Any, clock: Any) -> None:
    [memory] = either.retain(FACT, metadata={"page": 3}, acl=[])
    shown = either.get_memory(memory)
    assert (shown.text, shown.version, dict(shown.metadata)) == (FACT, 1, {"page": 3})
    assert shown.to_dict() == either.list_memories()[0].to_dict()
    assert either.list_memories(after=memory) == []
    assert either.update_memory(memory, tags=["home"], salience=0.9).tags == ("home",)
    assert [each.version for each in either.history(memory)] == [1, 2]
    assert either.source(memory).chunk == FACT
    assert [each.id for each in either.diff("2020").begun] == [memory]
    clock.advance(days=1)
    either.invalidate(memory)
    assert either.recall(QUERY, profile="lexical").hits == ()
    assert either.forget(memory) == 1
    assert either.forget([]) == 0
    with pytest.raises(NotFoundError, match="no memory"):
        either.get_memory(memory)


def test_a_bank_is_looked_through_and_archived_by_hand(either: Any, store: Store) -> None:
    ids = either.retain([FACT, {"text": "Figs need water.", "tags": ["garden"], "speaker": "Ivo"}])
    assert [each.id for each in either.list_memories(order="newest", limit=1)] == ids[1:]
    assert [each.id for each in either.list_memories(order="newest", after=ids[1])] == ids[:1]
    assert [each.id for each in either.list_memories(speaker="ivo")] == ids[1:]
    found = either.facets(include_archived=True)
    assert found["facets"]["tag"] == [{"value": "garden", "count": 1}]
    assert found == store.bank("diary").facets(include_archived=True)
    assert either.archive(ids[1]) == 1
    assert either.facets()["total"] == either.facets(state="archived")["total"] == 1
    either.undo_move(either.moves(ids[1])[0].number)
    assert either.facets()["total"] == 2
    assert either.forget(ids, dry_run=True) == 2
    assert len(either.list_memories()) == 2


@pytest.mark.fault("N49")
def test_the_text_of_a_memory_is_edited(either: Any, clock: Any) -> None:
    [memory] = either.retain("The dentist is on 3 June 2026, Ines said.")
    moment = clock.advance(days=1)
    clock.advance(days=1)
    now = either.update_memory(memory, text="The dentist is on 5 July 2026, Tove said.", expected_version=1)
    assert (now.id, now.version) == (memory, 2)
    assert either.recall("dentist", profile="lexical").hits[0].text == now.text
    assert "Ines" in either.recall("dentist", profile="lexical", as_of=moment).hits[0].text
    with pytest.raises(ConflictError, match="version 2, not 1"):
        either.update_memory(memory, text="The dentist is off.", expected_version=1)
    with pytest.raises(InputError, match="text"):
        either.update_memory(memory, text=" ")
    assert either.get_memory(memory).text == now.text


def test_documents_conversations_and_entities(either: Any, store: Store) -> None:
    assert (
        len(either.retain_document("# Figs\n\nWater them.\n\nFeed them.", document_id="figs", title="Figs"))
        == 2
    )
    turns = [{"text": f"Ivo Skarn met {FACT}", "speaker": "Ivo"}, {"text": "Bye."}]
    assert len(either.retain_conversation(turns, session="s", window=1)) == 2
    people = [each for each in either.entities() if each.kind == "person"]
    assert len(people) >= 2
    either.add_alias(people[0].number, "Wren")
    assert [each.number for each in either.entities(named="WREN")] == [people[0].number]
    merge = either.merge_entities(people[1].number, people[0].number)
    found = either.get_entity(people[0].number, most=1)
    here = store.bank("diary").get_entity(people[0].number, most=1)
    assert (found.to_dict(), str(found.memories[0])) == (here.to_dict(), here.memories[0].text)
    assert (found.entity.aliases, [each.merge for each in found.merges]) == (("Wren",), [merge])
    with pytest.raises(NotFoundError, match="no entity 9999"):
        either.get_entity(9_999)
    either.undo_merge(merge)
    either.remove_alias(people[0].number, "Wren")
    with pytest.raises(NotFoundError, match="no other name 'Wren'"):
        either.remove_alias(people[0].number, "Wren")
    assert either.settle() >= 0
    assert either.stats()["memories"] == 4
    assert either.verify().ok


def test_use_is_recorded_and_a_loss_explained(either: Any) -> None:
    one, other = either.retain([FACT, "Figs need water."])
    found = either.recall(QUERY, profile="lexical")
    assert either.used([one], recall_id=found.id) == 1
    assert either.why_not(other, QUERY, profile="lexical").returned is False


def test_reflection_without_a_model_gives_what_was_recalled(either: Any) -> None:
    either.retain(FACT)
    answer = either.reflect(QUERY, profile="lexical")
    assert FACT in answer.context
    assert "no language model" in answer.note


@pytest.mark.spec("JB-12")
def test_an_answer_is_heard_as_it_comes(
    store: Store, remote_store: RemoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = store.bank("diary")
    [memory] = bank.retain(FACT)
    heard: list[str] = []
    with ChatServer(spoken("In ", "Norrhav [1]", " [8].")) as server:
        model = LanguageModel("a-model", server.url, max_retries=0)
        monkeypatch.setattr(bank, "_context", bank._context.with_parts(answerer=model))
        answer = remote_store.bank("diary").reflect(QUERY, on_text=heard.append, profile="lexical")
        same = remote_store.bank("diary").reflect(QUERY, profile="lexical")
    assert "".join(heard) == answer.answer == "In Norrhav [1]."
    assert len(heard) > 1
    assert [each.id for each in answer.citations] == [memory]
    assert same.answer == answer.answer

    with ChatServer(failed(500)) as server:
        model = LanguageModel("a-model", server.url, max_retries=0)
        monkeypatch.setattr(bank, "_context", bank._context.with_parts(answerer=model))
        with pytest.raises(ModelUnavailableError):
            remote_store.bank("diary").reflect(QUERY, on_text=heard.append, profile="lexical")


def test_a_bank_goes_out_and_comes_in(either: Any, store: Store, tmp_path: Path) -> None:
    either.retain(FACT)
    file = io.BytesIO()
    counts = either.export(file)
    assert counts.memories == 1
    assert either.export(tmp_path / "out") == counts
    either.forget(either.list_memories()[0].id)
    assert either.import_bank(tmp_path / "out").added.memories == 1
    assert either.recall(QUERY, profile="lexical").hits[0].text == FACT


def test_memories_end_when_their_time_is_over(either: Any, clock: Any) -> None:
    due = clock() + timedelta(hours=1)
    one, other = either.retain(
        [FACT, {"text": "Figs need water.", "on_expiry": "erase"}], ttl=timedelta(hours=1)
    )
    assert (either.get_memory(one).expires_at, either.get_memory(one).on_expiry) == (due, "archive")
    assert [either.get_memory(each).on_expiry for each in (one, other)] == ["archive", "erase"]
    defaults = either.set_ttl("30d", kind="code", on_expiry="erase")
    assert defaults.to_dict()["kinds"] == {"code": {"ttl": 2_592_000.0, "on_expiry": "erase"}}
    assert either.set_ttl(None, kind="code").to_dict() == {"bank": None, "kinds": {}}
    with pytest.raises(InputError, match="ttl"):
        either.set_ttl("a year")
    with pytest.raises(InputError, match="ttl"):
        either.retain(FACT, ttl=-1)
    either.put_records("notes", [{"path": ["code"], "value": 1, "ttl": 60}])
    assert either.list_records("notes", refresh=True)[0].ttl == 60
    clock.advance(seconds=3_601)
    assert [hit.id for hit in either.recall(QUERY, profile="lexical")] == []
    assert [hit.id for hit in either.recall(QUERY, profile="lexical", include_archived=True)] == [one]
    assert either.list_records("notes") == []
    with pytest.raises(NotFoundError):
        either.get_memory(other)
    actions = {(step.action, step.memory) for step in either.maintain().steps}
    assert {("archive", one), ("erase", other)} <= actions


def test_a_bank_is_kept_up_from_anywhere(either: Any, clock: Any) -> None:
    one, other = either.retain([FACT, {"text": "Figs need water.", "layer": "working"}])
    assert either.pin(one) is None
    assert either.get_memory(one).pinned
    either.pin(one, pinned=False)
    assert not either.get_memory(one).pinned
    either.pin(one, always=True)
    assert either.get_memory(one).standing
    assert either.history(one)[-1].standing
    led = either.recall("figs", profile="lexical", standing=True)
    assert ([hit.id for hit in led.standing], [hit.id for hit in led]) == ([one], [other])
    assert led.standing[0].memory.standing
    assert led.context.startswith(f"(standing) {FACT}")
    assert FACT in either.brief("figs", profile="lexical", project="garden").text
    assert FACT not in either.brief("figs", profile="lexical", project="garden", standing=False).text
    assert FACT in either.reflect("figs", profile="lexical").context
    assert FACT not in either.reflect("figs", profile="lexical", standing=False).context
    with pytest.raises(InputError, match="always"):
        either.pin(one, pinned=False, always=True)
    either.pin(one, pinned=False)
    assert one in either.brief("Where does Odalys Brenn live?", profile="lexical").text
    clock.advance(days=2)
    planned = either.maintain(dry_run=True)
    assert planned.dry_run
    assert [step.memory for step in planned.steps] == [other]
    assert either.moves() == []
    assert either.maintain(most=5).steps == planned.steps
    [move] = either.moves(other)
    assert (move.memory, move.action, move.stands) == (other, "promote", True)
    either.undo_move(move.number)
    assert not either.moves(other)[0].stands
    with pytest.raises(NotFoundError, match="no move"):
        either.undo_move(move.number)


def test_what_happens_is_told_and_what_is_to_be_decided_listed(either: Any, store: Store) -> None:
    start = either.activity().next
    (lisbon,) = either.retain("My office is in Lisbon.")
    (porto,) = either.retain("My office is in Porto now.")
    found = either.recall("Where is my office?", profile="lexical")
    activity = either.activity(after=start, most=10)
    assert sorted(event.what for event in activity.events) == ["ended", "recalled", "stored", "stored"]
    here = store.bank("diary").activity(after=start, most=10)
    assert activity.to_dict()["events"] == here.to_dict()["events"]
    (recalled,) = [event for event in activity.events if event.what == "recalled"]
    assert (recalled.query, recalled.context) == ("Where is my office?", found.context)
    assert either.activity(after=activity.next).events == ()
    with pytest.raises(InputError, match="after"):
        either.activity(after="nothing")

    review = either.review(most=1)
    assert review.to_dict() == store.bank("diary").review(most=1).to_dict()
    (item,) = review.items
    assert (item.what, item.memory.id, item.other.id) == ("superseded", lisbon, porto)
    either.put_records("review", [{"path": [item.key], "value": "keep", "text": ""}])
    assert either.review().items == ()
    assert [each.decided for each in either.review(include_decided=True).items] == [True]
    either.undo_move(item.move)
    assert either.review(include_decided=True).items == ()


def test_memories_are_set_aside_and_taken_back(either: Any) -> None:
    [memory] = either.retain(FACT)
    assert either.quarantine([memory]) == 1
    assert either.quarantine([]) == 0
    assert either.recall(QUERY, profile="lexical").hits == ()
    assert [each.id for each in either.list_memories(kinds="quarantine")] == [memory]
    assert either.release(memory, kind="episodic") == 1
    assert either.get_memory(memory).kind == "episodic"


def test_the_audit_log_is_read_and_checked(either: Any, store: Store) -> None:
    with pytest.raises(NotFoundError, match="no audit key"):
        either.audit_verify()
    store.bank("diary").start_audit()
    either.retain(FACT)
    entries = either.audit_entries(1)
    assert [entry.verb for entry in entries] == ["write"]
    report = either.audit_verify(anchor=f"{entries[0].number}:{entries[0].seal}")
    assert (report.ok, report.entries, report.problems) == (True, entries[0].number, ())
    assert len(either.audit_entries()) == report.entries


@pytest.mark.fault("N82")
def test_an_export_or_backup_that_is_broken_off_leaves_no_half_file(
    either: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, saved = tmp_path / "out.jsonl", tmp_path / "saved.db"
    before.write_bytes(b"what was there")
    link = os.link

    def interrupted(source: Path, target: Path) -> None:
        # The server links a file of its own on the way.
        if target in {before, saved}:
            raise KeyboardInterrupt
        link(source, target)

    monkeypatch.setattr("os.link", interrupted)
    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        either.export(before)
    with pytest.raises(KeyboardInterrupt):
        either.backup(saved)
    assert before.read_bytes() == b"what was there"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["out.jsonl"]


def test_a_backup_comes_as_a_file(either: Any, store: Store, tmp_path: Path) -> None:
    either.retain(FACT)
    saved = either.backup(tmp_path / "saved.db")
    assert (saved.path, saved.memories) == (str(tmp_path / "saved.db"), 1)
    file = io.BytesIO()
    assert replace(saved, path="") == either.backup(file)
    assert file.getvalue()[:15] == b"SQLite format 3"
    with pytest.raises(InputError, match="is there already"):
        either.backup(tmp_path / "saved.db")
    either.forget(either.list_memories()[0].id)
    assert store.bank("diary").restore(tmp_path / "saved.db").memories == 1
    assert [each.text for each in either.list_memories()] == [FACT]
    assert not list(store.folder.rglob(".backup-*"))


@pytest.mark.spec("HX-17")
def test_a_better_answer_comes_later(either: Any, store: Store) -> None:
    [memory] = either.retain(FACT)
    plain = either.recall(QUERY, profile="lexical", tier="async", helpers=["hyde"])
    assert [hit.id for hit in plain] == [memory]
    job = either.get_job(plain.job, wait_seconds=30)
    assert job.done
    assert [hit.id for hit in job.recall] == [memory]
    assert job.recall.trace.degraded == ("helpers: hyde: no language model is set up",)
    with pytest.raises(NotFoundError, match="no job"):
        either.get_job("0" * 32)
    with pytest.raises(InputError, match="helpers"):
        either.recall(QUERY, helpers=["hyde"])
    with pytest.raises(InputError, match="wait_seconds"):
        either.get_job(plain.job, wait_seconds=-1)


@pytest.mark.fault("F2")
def test_errors_are_the_same(either: Any) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'semantic'"):
        either.retain(FACT, kind="semantik")
    with pytest.raises(InputError, match="limit") as wrong:
        either.recall(QUERY, limit=0)
    assert wrong.value.field == "limit"
    either.retain(FACT, idempotency_key="one")
    with pytest.raises(ConflictError):
        either.retain("Figs need water.", idempotency_key="one")
    with pytest.raises(InputError):
        either.recall(" ")


def test_an_async_bank_awaits_the_same(either: Any) -> None:
    async def work() -> Any:
        async with AsyncBank(either, workers=2) as bank:
            assert bank.name == "diary"
            await asyncio.gather(*(bank.retain(f"Note {number}.") for number in range(8)))
            await bank.retain(FACT)
            with pytest.raises(InputError):
                await bank.recall(" ")
            found = await bank.recall(QUERY, profile="lexical")
            stats = await bank.stats()
        with pytest.raises(SimonidesError, match="closed"):
            await bank.stats()
        return found, stats

    found, stats = asyncio.run(work())
    assert found.hits[0].text == FACT
    assert stats["memories"] == 9


@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("kind", [RemoteBank, AsyncBank])
def test_nothing_is_missing_and_nothing_written_twice(kind: type) -> None:
    def methods(of: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(of, inspect.isfunction) if not name.startswith("_")}

    assert methods(kind) - {"close"} == methods(Bank) - set(LOCAL_METHODS)
    if kind is AsyncBank:
        assert inspect.signature(AsyncBank.recall) == inspect.signature(Bank.recall)


def test_banks_are_listed_and_made(remote_store: RemoteStore) -> None:
    remote_store.create_bank("second").retain(FACT)
    assert remote_store.list_banks() == ["second"]
    with pytest.raises(NotFoundError, match="there is no bank 'third'"):
        remote_store.bank("third").stats()


@pytest.mark.parametrize(
    "arguments", [{"url": "127.0.0.1"}, {"url": "ftp://x"}, {"token": " "}, {"token": "a\nb"}]
)
def test_an_address_or_token_that_cannot_be_one_is_refused(arguments: dict[str, str]) -> None:
    given: dict[str, Any] = {"url": "http://127.0.0.1:1", "token": "t", **arguments}
    with pytest.raises(InputError, match=next(iter(arguments))):
        simonides.connect(**given)


def test_a_wrong_token_and_a_server_that_is_gone_are_told(
    remote_store: RemoteStore, plain_http: None
) -> None:
    address = str(remote_store._wire.http.base_url)
    with (
        simonides.connect(address, token="wrong") as store,
        pytest.raises(SimonidesError, match="missing or invalid token"),
    ):
        store.list_banks()
    with (
        simonides.connect("http://127.0.0.1:9", token="t", timeout=5) as store,
        pytest.raises(UnavailableError, match="no answer"),
    ):
        store.list_banks()


def test_workers_are_bounded(bank: Bank) -> None:
    with pytest.raises(InputError, match="workers"):
        AsyncBank(bank, workers=0)


def test_a_bank_is_deleted(remote_store: RemoteStore) -> None:
    remote_store.create_bank("second").retain(FACT)
    remote_store.delete_bank("second")
    assert remote_store.list_banks() == []


@pytest.mark.fault("N23")
def test_a_call_and_a_bank_have_a_zone_of_their_own(either: Any, store: Store) -> None:
    east = ZoneInfo("Pacific/Kiritimati")
    (memory,) = either.retain("The lamp broke.", event_time="2026-02-03", zone=east.key)
    assert either.get_memory(memory).event_time == datetime(2026, 2, 3, tzinfo=east)
    asked = {"window": ("2026-02-03", "2026-02-04"), "profile": "lexical"}
    assert [hit.id for hit in either.recall("lamp", zone=east.key, **asked)] == [memory]
    with pytest.raises(InputError, match="'Mars' is no time zone"):
        either.recall("lamp", zone="Mars")

    either.set_zone(east.key)
    assert store.bank("diary").zone == east
    (other,) = either.retain("The kettle broke.", event_time="2026-02-03")
    assert either.get_memory(other).event_time == datetime(2026, 2, 3, tzinfo=east)
    either.set_zone(None)
    assert str(store.bank("diary").zone) == "UTC"
