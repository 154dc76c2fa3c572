"""Times at the ends of the calendar, recorded times after the clock, and clocks that jump (ADR 0009)."""

from __future__ import annotations

import copy
import json
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import simonides
from simonides.backends.embedded.session import WriteSession
from simonides.errors import InputError
from simonides.records.interval import CLOCK_SKEW, FOREVER, LAST_INSTANT, to_micros
from simonides.storage.export_format import check_line, encode_line
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store

TRUE = datetime(2026, 3, 1, 9, tzinfo=UTC)
AHEAD = datetime(2031, 1, 1, tzinfo=UTC)
SKEW = timedelta(microseconds=CLOCK_SKEW)

pytestmark = pytest.mark.fault("N85")


def texts(bank: Bank, query: str, **options: Any) -> set[str]:
    return {hit.text for hit in bank.recall(query, **options)}


def number_of(bank: Bank, name: str) -> int:
    return next(entity.number for entity in bank.entities() if entity.name == name)


def stated_in_the_future(bank: Bank, when: Any) -> dict[str, Callable[[], object]]:
    """Every way in which a caller states a recorded time."""
    return {
        "retain": lambda: bank.retain("Ada works at Acme.", recorded_at=when),
        "retain many": lambda: bank.retain(["It rains.", {"text": "It snows.", "recorded_at": when}]),
        "conversation": lambda: bank.retain_conversation(
            [{"text": "Hello.", "recorded_at": when}], session="one"
        ),
        "document": lambda: bank.retain_document("Acme moved.", document_id="d", recorded_at=when),
        "import": lambda: bank.import_items([{"text": "It rains.", "recorded_at": when}]),
    }


@pytest.mark.parametrize("way", ["retain", "retain many", "conversation", "document", "import"])
@pytest.mark.parametrize(
    "when",
    [
        "9999-12-31T23:59:59.999999Z",
        "2031",
        TRUE + SKEW + timedelta(microseconds=1),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=14))),
    ],
)
def test_a_recorded_time_after_the_clock_is_refused(bank: Bank, way: str, when: Any) -> None:
    with pytest.raises(
        InputError, match=r"recorded_at.*later than the clock.*2026-03-01.*set the clock right"
    ):
        stated_in_the_future(bank, when)[way]()
    assert bank.list_memories() == []
    bank.retain("Ada works at Acme.")
    assert bank.list_memories()[0].ingested_at == TRUE


def test_a_recorded_time_within_the_skew_is_taken(bank: Bank) -> None:
    bank.retain("Ada works at Acme.", recorded_at=TRUE + SKEW)
    assert texts(bank, "Ada") == {"Ada works at Acme."}


def test_a_clock_that_jumps_ahead_and_back_stamps_what_follows_by_the_clock(
    bank: Bank, clock: FrozenClock
) -> None:
    before = bank.retain("Ada works at Acme.")[0]
    clock.now = AHEAD
    wrong = bank.retain("Ben lives in Oslo.")[0]
    clock.now = TRUE + timedelta(days=1)
    after = bank.retain("Cleo plays the harp.")[0]
    assert [bank.get_memory(memory).ingested_at for memory in (before, wrong, after)] == [
        TRUE,
        AHEAD,
        clock.now,
    ]
    assert texts(bank, "Ada Ben Cleo") == {
        "Ada works at Acme.", "Ben lives in Oslo.", "Cleo plays the harp."
    }  # fmt: skip
    trace = bank.recall("Ada").trace
    assert trace.as_of == trace.known_at == to_micros(clock.now)
    assert texts(bank, "Ada Ben Cleo", as_of=clock.now) == {"Ada works at Acme.", "Cleo plays the harp."}
    assert bank.last_write() == clock.now
    assert bank.verify().ok


def test_what_a_clock_ahead_recorded_can_be_changed_ended_and_forgotten(
    bank: Bank, clock: FrozenClock
) -> None:
    clock.now = AHEAD
    changed, ended, gone, document = (
        bank.retain("Ben lives in Oslo.")[0],
        bank.retain("Cleo plays the harp.")[0],
        bank.retain("Dora sells bread.")[0],
        bank.retain_document("Emil mends shoes.", document_id="d")[0],
    )
    clock.now = TRUE
    bank.update_memory(changed, tags=["town"])
    bank.invalidate(ended)
    bank.forget(gone)
    bank.retain_document("Emil makes boots.", document_id="d")
    assert texts(bank, "Ben Cleo Dora Emil") == {"Ben lives in Oslo.", "Emil makes boots."}
    for memory in (changed, ended, document):
        for version in bank.history(memory):
            assert version.ingested_at_micros <= version.expired_at_micros
    # What ended is no longer said: it is stored anew when it is said again.
    assert bank.retain("Cleo plays the harp.")[0] != ended
    assert "Cleo plays the harp." in texts(bank, "Cleo")
    assert bank.verify().ok


def test_what_a_clock_ahead_superseded_stays_so(bank: Bank, clock: FrozenClock) -> None:
    old = bank.retain(
        "Ada works at Acme.", relation="works at", subject="Ada", object="Acme", single_valued=True
    )
    clock.now = AHEAD
    bank.retain("Ada works at Bolt.", relation="works at", subject="Ada", object="Bolt", single_valued=True)
    clock.now = TRUE + timedelta(days=1)
    assert texts(bank, "Ada") == {"Ada works at Bolt."}
    bank.retain("Ada works at Cog.", relation="works at", subject="Ada", object="Cog", single_valued=True)
    assert "Ada works at Acme." not in texts(bank, "Ada")
    assert "Ada works at Cog." in texts(bank, "Ada")
    assert bank.why_not(old[0], "Ada").reason


def test_a_stated_validity_written_anew_under_a_clock_ahead_stays_as_stated(
    bank: Bank, clock: FrozenClock
) -> None:
    until = bank.retain("The permit is valid.", valid_to="2028")[0]
    later = bank.retain("The bridge is open.", valid_from="2029")[0]
    clock.now = AHEAD
    for memory in (until, later):
        bank.update_memory(memory, tags=["town"])
    clock.now = TRUE + timedelta(days=1)
    assert texts(bank, "permit bridge") == {"The permit is valid."}


def test_maintenance_under_a_clock_ahead_is_taken_back(bank: Bank, clock: FrozenClock) -> None:
    memory = bank.retain("Ada had tea.", kind="episodic")[0]
    clock.now = AHEAD + timedelta(days=3650)
    assert [step.action for step in bank.maintain().steps if step.action == "archive"] == ["archive"]
    clock.now = TRUE + timedelta(days=1)
    assert "the next maintenance run brings them back" in " ".join(bank.verify().notes)
    would = bank.maintain(dry_run=True).steps
    assert [(step.action, step.memory) for step in would] == [("return", memory)]
    assert "later than now" in would[0].reason
    bank.maintain()
    assert texts(bank, "Ada") == {"Ada had tea."}
    assert not bank.get_memory(memory).archived
    assert bank.maintain().steps == ()
    assert bank.verify().ok


def test_what_a_clock_ahead_used_is_no_younger_for_it(bank: Bank, clock: FrozenClock) -> None:
    memory = bank.retain("Ada had tea.", kind="episodic")[0]
    clock.now = AHEAD
    bank.used([memory])
    clock.now = TRUE + timedelta(days=1)
    assert texts(bank, "Ada") == {"Ada had tea."}
    assert any(note.startswith("1 accesses recorded later") for note in bank.verify().notes)


def test_entities_merged_under_a_clock_ahead_count_as_one(bank: Bank, clock: FrozenClock) -> None:
    bank.retain(["Ada Lovelace wrote programs.", "Countess Lovelace liked horses."])
    clock.now = AHEAD
    bank.add_alias(number_of(bank, "Ada Lovelace"), "Enchantress")
    clock.now = TRUE
    assert "Ada Lovelace wrote programs." in texts(bank, "Enchantress")


def test_a_clock_that_jumps_back_and_returns_hides_nothing(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("Ada works at Acme.")
    clock.now = datetime(1970, 1, 1, tzinfo=UTC)
    bank.retain("Ben lives in Oslo.")
    assert texts(bank, "Ada Ben") == {"Ada works at Acme.", "Ben lives in Oslo."}
    clock.now = TRUE + timedelta(days=1)
    bank.retain("Cleo plays the harp.")
    assert len(texts(bank, "Ada Ben Cleo")) == 3
    assert bank.verify().ok


@pytest.mark.parametrize("now", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_a_clock_at_an_end_of_the_calendar_stamps_within_it(
    bank: Bank, clock: FrozenClock, now: datetime
) -> None:
    clock.now = now
    memory = bank.retain(["Ada works at Acme.", "Ben lives in Oslo."])[0]
    bank.update_memory(memory, tags=["work"])
    bank.maintain()
    assert texts(bank, "Ada Ben") == {"Ada works at Acme.", "Ben lives in Oslo."}
    clock.now = TRUE
    bank.retain("Cleo plays the harp.")
    assert len(texts(bank, "Ada Ben Cleo")) == 3
    bank.invalidate(memory)
    assert texts(bank, "Ada Ben Cleo") == {"Ben lives in Oslo.", "Cleo plays the harp."}
    assert all(stamp <= LAST_INSTANT for m in bank.history(memory) for stamp in (m.ingested_at_micros,))


@pytest.mark.parametrize("hours", [-14, 14])
@pytest.mark.parametrize("now", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_a_clock_outside_the_years_that_utc_can_state_is_named(
    bank: Bank, clock: FrozenClock, now: datetime, hours: int
) -> None:
    clock.now = now.replace(tzinfo=timezone(timedelta(hours=hours)))
    inside = (now.year == 1) == (hours < 0)
    if inside:
        bank.retain("Ada works at Acme.")
    else:
        with pytest.raises(InputError, match="clock"):
            bank.retain("Ada works at Acme.")
        with pytest.raises(InputError, match="clock"):
            bank.recall("Ada")


def exported(bank: Bank, path: Path) -> list[dict[str, Any]]:
    bank.export(path)
    return [json.loads(check_line(raw)) for raw in path.read_bytes().splitlines(keepends=True)]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(map(encode_line, records)))
    return path


def put(record: dict[str, Any], place: tuple[Any, ...], value: int) -> None:
    at: Any = record
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value


PLACES: list[tuple[str, tuple[Any, ...]]] = [
    ("episode", ("recorded_at",)),
    ("memory", ("ingested_at",)),
    ("memory", ("expired_at",)),
    ("memory", ("last_access",)),
    ("memory", ("accesses", 0, "at")),
    ("memory", ("moves", 0, "made_at")),
    ("memory", ("moves", 0, "undone_at")),
    ("alias", ("added_at",)),
    ("merge", ("merged_at",)),
    ("merge", ("undone_at",)),
    ("evidence", ("known_from",)),
    ("evidence", ("known_to",)),
]


@pytest.fixture(scope="module")
def exported_records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The records of an export with every recorded time, made ten years after ``TRUE``."""
    folder, clock = tmp_path_factory.mktemp("everything"), FrozenClock(TRUE)
    with simonides.open(folder / "store", clock=clock, embedder=StubEmbedder()) as store:
        return records_of(store.bank("b"), clock, folder)


@pytest.fixture
def everything(exported_records: list[dict[str, Any]], clock: FrozenClock) -> list[dict[str, Any]]:
    """A copy of them; the clock stands where they were made."""
    clock.now = TRUE + timedelta(days=3650)
    return copy.deepcopy(exported_records)


def records_of(bank: Bank, clock: FrozenClock, folder: Path) -> list[dict[str, Any]]:
    first, *_ = bank.retain(
        [
            {"text": "Ada Lovelace works at Acme Corp.", "role": "user", "deduplicate": False},
            {"text": "Ada Lovelace works for Acme Corp.", "role": "user", "deduplicate": False},
            {"text": "Ben Miller had tea.", "kind": "episodic"},
        ]
    )
    bank.add_alias(number_of(bank, "Ada Lovelace"), "Enchantress")
    bank.merge_entities(number_of(bank, "Ben Miller"), number_of(bank, "Ada Lovelace"))
    bank.used([first])
    clock.advance(days=3650)
    bank.maintain()
    records = exported(bank, folder / "all.jsonl")
    moved = next(r for r in records if r["record"] == "memory" and r["moves"])
    kinds = {record["record"] for record in records}
    assert {"episode", "memory", "alias", "merge"} <= kinds
    if "evidence" not in kinds:
        memories = [r["id"] for r in records if r["record"] == "memory"]
        evidence = {
            "record": "evidence", "observation": memories[0], "source": memories[1], "stance": "for",
            "known_from": to_micros(TRUE), "known_to": FOREVER,
        }  # fmt: skip
        records.insert(-1, evidence)
        records[-1]["lines"] += 1
    assert moved
    return records


@pytest.mark.parametrize("value", ["ahead", LAST_INSTANT, 2**63 - 1, 2**63 - 2, -(2**63)])
@pytest.mark.parametrize(
    ("kind", "place"), PLACES, ids=[f"{kind}.{'.'.join(map(str, at))}" for kind, at in PLACES]
)
def test_an_export_with_a_recorded_time_after_the_clock_is_refused(
    store: Store, clock: FrozenClock, everything: list[dict[str, Any]], tmp_path: Path,
    kind: str, place: tuple[Any, ...], value: int | str,
) -> None:  # fmt: skip
    number, record = next(
        (number, record)
        for number, record in enumerate(everything, start=1)
        if record["record"] == kind and (len(place) == 1 or record[place[0]])
    )
    stamp = to_micros(clock.now + SKEW) + 1 if value == "ahead" else int(value)
    put(record, place, stamp)
    path = write(tmp_path / "poisoned.jsonl", everything)
    other = store.bank("other")
    if stamp == FOREVER and place[-1] in {"expired_at", "undone_at", "known_to"}:
        return
    with pytest.raises(InputError, match=rf":{number}: .*{place[-1]}") as refused:
        other.import_bank(path)
    problem = "later than the clock" if stamp <= LAST_INSTANT else "no time in microseconds"
    if stamp > 0:
        assert problem in str(refused.value)
        assert (other.list_memories(), other.entities()) == ([], [])


def test_metadata_and_texts_that_look_like_recorded_times_are_imported(
    bank: Bank, store: Store, tmp_path: Path
) -> None:
    bank.retain('He said "recorded_at":9999999999999999999.', metadata={"recorded_at": 9 * 10**18})
    bank.export(tmp_path / "fine.jsonl")
    assert store.bank("other").import_bank(tmp_path / "fine.jsonl").added.memories == 1


def test_a_store_that_was_poisoned_opens_recalls_and_goes_by_the_clock(
    tmp_path: Path, clock: FrozenClock, stub_embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As an earlier version stored them: the stated time, and then one microsecond more for each row.
    with simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as store:
        bank = store.bank("b")
        bank.retain("Ada works at Acme.")
        with monkeypatch.context() as patch:
            patch.setattr("simonides.services.write_path.check_recorded", lambda *_: None)
            patch.setattr(
                WriteSession, "next_instant", lambda each: max(each.now, each.meta.last_ingested + 1)
            )
            patch.setattr(WriteSession, "newest_of", lambda each, *new: max(each.meta.last_ingested, *new))
            poisoned = bank.retain("Ben lives in Oslo.", recorded_at="9999-12-31T23:59:59.999999Z")[0]
            beyond = bank.retain(["Cleo plays the harp.", "Dora sells bread."])
    with simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as store:
        bank = store.bank("b")
        assert len(texts(bank, "Ada Ben Cleo Dora")) == 4
        assert bank.recall("Ada").trace.as_of == to_micros(TRUE)
        for memory in (poisoned, *beyond):
            assert bank.get_memory(memory).ingested_at == datetime.max.replace(tzinfo=UTC)
            assert bank.source(memory).recorded_at == datetime.max.replace(tzinfo=UTC)
            json.dumps(bank.get_memory(memory).to_dict())
        clock.advance(days=1)
        fresh = bank.retain("Emil mends shoes.")[0]
        assert bank.get_memory(fresh).ingested_at == clock.now
        report = bank.verify()
        assert report.ok
        (note,) = (note for note in report.notes if note.startswith("3 memories recorded later"))
        assert all(memory in note for memory in (poisoned, *beyond))
        assert "forget them" in note
        bank.update_memory(beyond[0], tags=["music"])
        bank.invalidate(beyond[1])
        bank.forget(poisoned)
        assert texts(bank, "Ada Ben Cleo Dora Emil") == {
            "Ada works at Acme.", "Cleo plays the harp.", "Emil mends shoes."
        }  # fmt: skip
        bank.maintain()
        assert bank.verify().ok
        assert bank.export(tmp_path / "e.jsonl") is not None


EXTREMES: tuple[Any, ...] = (
    "0001",
    "9999",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999-14:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    date.min,
    date.max,
    datetime.min,  # noqa: DTZ901 - what states no zone is what is tested
    datetime.max,  # noqa: DTZ901
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
    2**63 - 1,
    -(2**63),
)


WHEN = "What did Ada do last week, in 100000 years, 9999 years ago, tomorrow at 3pm and in the next decade?"


def every_verb(bank: Bank, memory: str, when: Any) -> Iterator[Callable[[], object]]:
    """Each public verb that takes a time, at *when*."""
    for field in ("event_time", "valid_from", "valid_to", "recorded_at"):
        item = {"text": f"Ada met Ben in {field}.", field: when}
        yield partial(bank.retain, item)
        yield partial(bank.retain_conversation, [item], session="s")
        yield partial(bank.import_items, [item])
        yield partial(bank.load, [item], np.ones((1, 32)))
    yield lambda: bank.retain_document("Ada met Ben.", document_id="d", event_time=when)
    yield lambda: bank.recall("Ada", as_of=when)
    yield lambda: bank.recall("Ada", known_at=when)
    yield lambda: bank.recall("Ada", window=(when, None))
    yield lambda: bank.recall("Ada", window=(None, when))
    for profile in ("engram", "helix", "hindsight", "jeffs_brain", "memoria"):
        yield partial(bank.recall, WHEN, question_date=when, profile=profile)
    yield lambda: bank.recall(f"Ada date:{when}", syntax="extended")
    yield lambda: bank.list_memories(as_of=when, known_at=when)
    yield lambda: bank.diff(when)
    yield lambda: bank.diff("2026-03-01", when)
    yield lambda: bank.why_not(memory, "Ada", as_of=when)
    yield lambda: bank.invalidate(memory, at=when)
    yield lambda: bank.forget_where(before=when, dry_run=True)
    yield lambda: bank.forget_where(after=when, dry_run=True)


@pytest.mark.parametrize(
    "zone", ["Pacific/Kiritimati", "Etc/GMT+12", pytest.param("UTC", marks=pytest.mark.soak)]
)
def test_every_verb_answers_or_refuses_a_time_at_the_ends_of_the_calendar(
    tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder, zone: str
) -> None:
    with simonides.open(tmp_path / "s", clock=clock, embedder=stub_embedder, zone=ZoneInfo(zone)) as store:
        bank = store.bank("b")
        memory = bank.retain(WHEN)[0]
        for when in EXTREMES:
            tried = refused = 0
            for verb in every_verb(bank, memory, when):
                tried += 1
                try:
                    verb()
                except InputError:
                    refused += 1
            # What states a moment that UTC can state is not refused by all.
            assert refused < tried or not str(when).endswith("Z")
        bank.settle()
        for now in (datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC), TRUE):
            clock.now = now
            bank.maintain()
            bank.brief("Ada")
            json.dumps([each.to_dict() for each in bank.list_memories()])
            for profile in ("default", "engram", "hindsight", "jeffs_brain"):
                bank.recall(WHEN, profile=profile)
        assert bank.verify().ok
