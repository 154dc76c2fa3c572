"""Times to live: hidden at the due moment, archived or erased by a record of it, defaults by kind and bank."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.errors import InputError, NotFoundError
from simonides.records.kind import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

FACT = "The guest code of the gate is 4471."
OTHER = "The kettle is red."
HOUR = 3_600


def found(bank: Bank, **options: object) -> list[str]:
    asked = {"profile": "lexical", "precision": None, **options}
    return [hit.text for hit in bank.recall("guest code of the gate", **asked)]  # type: ignore[arg-type]


@pytest.mark.parametrize("maintained", [False, True])
def test_a_memory_is_hidden_at_its_due_moment_whether_maintenance_ran_or_not(
    bank: Bank, clock: FrozenClock, *, maintained: bool
) -> None:
    (memory,) = bank.retain(FACT, ttl="1h")
    assert bank.get_memory(memory).expires_at == clock() + timedelta(hours=1)
    assert bank.get_memory(memory).on_expiry == "archive"
    clock.advance(seconds=HOUR - 1)
    before = clock()
    assert found(bank) == [FACT]
    clock.advance(seconds=1)
    due = clock()
    assert found(bank) == []
    clock.advance(days=1)
    if maintained:
        (step,) = bank.maintain().steps
        assert (step.action, step.memory) == ("archive", memory)
        assert bank.get_memory(memory).archived
        (move,) = bank.moves(memory)
        assert (move.action, move.became, move.stands) == ("archive", "archived", True)
        assert "time to live ended at 2026-03-01T10:00:00" in move.reason
        assert bank.maintain().steps == ()

    assert found(bank) == []
    assert found(bank, include_archived=True) == [FACT]
    reason = bank.why_not(memory, "guest code", profile="lexical")
    assert reason.reason == ("maintenance has put it away" if maintained else "its time to live has ended")
    assert reason.remedy.startswith("include_archived")
    between = bank.why_not(memory, "guest code", profile="lexical", as_of=due)
    assert (between.stage, between.reason) == ("eligible", "its time to live has ended")
    assert found(bank, as_of=before) == [FACT]
    assert found(bank, as_of=due) == found(bank, known_at=before) == found(bank, known_at=due) == []
    assert found(bank, as_of=due + timedelta(hours=1)) == []
    assert [each.text for each in bank.list_memories()] == []
    assert [each.text for each in bank.list_memories(as_of=before)] == [FACT]
    assert bank.brief("gate", profile="lexical").text == ""
    assert bank.verify().ok


@pytest.mark.fault("N49")
@pytest.mark.parametrize("on_expiry", ["archive", "erase"])
def test_other_words_end_when_the_memory_does(bank: Bank, clock: FrozenClock, on_expiry: str) -> None:
    (memory,) = bank.retain("The guest code of the gate is 1111.", ttl="1h", on_expiry=on_expiry)
    clock.advance(seconds=60)
    bank.update_memory(memory, text=FACT)
    bank.pin(memory, always=True)
    clock.advance(seconds=60)
    edited = clock()
    assert found(bank) == [FACT]
    clock.advance(seconds=HOUR)
    assert found(bank) == found(bank, as_of=clock()) == []
    assert bank.recall("tea", profile="lexical", standing=True).standing == ()
    assert bank.brief("gate", profile="lexical").text == ""
    assert bank.list_memories() == []
    assert (
        found(bank, include_archived=True) == found(bank, as_of=edited) == [FACT] * (on_expiry == "archive")
    )


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("by", ["used", "pin", "update", "undo"])
def test_the_past_hides_what_was_brought_back_later(
    bank: Bank, clock: FrozenClock, by: str, *, recorded: bool
) -> None:
    (memory,) = bank.retain(FACT, ttl="1h")
    clock.advance(seconds=HOUR // 2)
    living = clock()
    clock.advance(seconds=HOUR)
    hidden = clock()
    clock.advance(seconds=HOUR)
    if recorded or by == "undo":
        bank.maintain()
    if by == "undo":
        bank.undo_move(bank.moves(memory)[0].number)
    elif by == "update":
        bank.update_memory(memory, text=f"{FACT} It is.")
    else:
        getattr(bank, by)(memory)
    clock.advance(seconds=HOUR)
    assert bank.get_memory(memory).expires_at is None
    assert len(found(bank)) == len(found(bank, as_of=clock())) == 1
    assert found(bank, as_of=living) == [FACT]
    assert found(bank, as_of=hidden) == []
    assert bank.list_memories(as_of=hidden) == []
    assert bank.maintain().steps == ()
    assert bank.verify().ok


@pytest.mark.fault("N49")
def test_a_label_brings_nothing_back(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(FACT, ttl="1h")
    clock.advance(seconds=2 * HOUR)
    seen = bank.get_memory(memory)
    assert bank.update_memory(memory, tags=["gate"], expected_version=seen.version).archived
    clock.advance(seconds=1)
    labelled = clock()
    clock.advance(seconds=1)
    bank.maintain()
    assert found(bank) == found(bank, as_of=labelled) == []
    bank.pin(memory)
    clock.advance(seconds=1)
    assert found(bank) == [FACT]
    assert found(bank, as_of=labelled) == []


@pytest.mark.fault("N49")
def test_other_words_bring_back_the_version_that_was_seen(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain("The guest code of the gate is 1111.", ttl="1h")
    (other,) = bank.retain(OTHER, ttl="1h")
    clock.advance(seconds=2 * HOUR)
    seen = bank.get_memory(memory)
    assert bank.update_memory(memory, text=FACT, expected_version=seen.version).expires_at is None
    assert found(bank) == [FACT]
    assert [move.action for move in bank.moves(memory)] == ["return"]
    assert bank.get_memory(other).archived


def test_a_write_records_what_is_due(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(FACT, ttl=HOUR)
    clock.advance(seconds=2 * HOUR)
    (again,) = bank.retain(FACT)
    assert again != memory
    assert bank.get_memory(memory).archived
    assert bank.moves(memory)[0].action == "archive"
    assert found(bank) == [FACT]
    assert bank.get_memory(again).expires_at is None


@pytest.mark.parametrize("by", ["write", "maintenance"])
def test_what_is_to_be_erased_is_gone_for_every_viewpoint(bank: Bank, clock: FrozenClock, by: str) -> None:
    (memory,) = bank.retain(FACT, ttl=timedelta(hours=1), on_expiry="erase")
    before = clock()
    assert found(bank, as_of=before) == [FACT]
    clock.advance(seconds=2 * HOUR)

    assert found(bank) == found(bank, include_archived=True) == found(bank, as_of=before) == []
    assert bank.list_memories(as_of=before) == []
    for look in (bank.get_memory, bank.history, bank.source):
        with pytest.raises(NotFoundError):
            look(memory)
    if by == "write":
        bank.retain(OTHER)
    else:
        assert [(step.action, step.memory) for step in bank.maintain().steps] == [("erase", memory)]
    assert bank.stats()["memories"] == (by == "write")
    assert FACT.encode() not in b"".join(_rows(bank))
    assert bank.verify().ok


def _rows(bank: Bank) -> list[bytes]:
    with bank._rows.reading() as reading:
        return [str(text).encode() for (text,) in connection_of(reading).execute("SELECT text FROM episodes")]


def test_a_dry_run_says_what_is_due_and_does_nothing(bank: Bank, clock: FrozenClock) -> None:
    one, other = bank.retain(
        [{"text": FACT, "ttl": "1h"}, {"text": OTHER, "ttl": "2h", "on_expiry": "erase"}]
    )
    clock.advance(days=1)
    steps = bank.maintain(dry_run=True).steps
    assert [(step.action, step.memory) for step in steps] == [("archive", one), ("erase", other)]
    assert not bank.get_memory(one).archived
    assert bank.stats()["memories"] == 2


def test_nothing_sums_up_what_is_to_be_erased(bank: Bank, clock: FrozenClock) -> None:
    for source in ("note", "call"):
        bank.retain("The kettle is red.", kind="decision", source=source, ttl="1h", on_expiry="erase")
    clock.advance(days=1)
    assert {step.action for step in bank.maintain().steps} == {"erase"}
    assert bank.stats()["memories"] == 0


def test_what_ended_is_told_of_by_no_other_memory(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("I live in Norrhav.", ttl="2d", on_expiry="erase")
    clock.advance(days=1)
    bank.retain("I moved to Vesper.")
    assert "Norrhav" in bank.brief("home", profile="lexical").text
    clock.advance(days=1)
    assert "Norrhav" not in bank.brief("home", profile="lexical").text


@pytest.mark.parametrize("recorded", [False, True])
def test_what_is_used_comes_back_without_an_end(bank: Bank, clock: FrozenClock, *, recorded: bool) -> None:
    (memory,) = bank.retain(FACT, ttl="1h")
    clock.advance(seconds=2 * HOUR)
    if recorded:
        bank.maintain()
    bank.used(memory)
    assert found(bank) == [FACT]
    assert bank.get_memory(memory).expires_at is None
    clock.advance(days=1)
    bank.maintain()
    assert found(bank) == [FACT]


def test_the_owner_takes_an_archiving_back(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(FACT, ttl="1h")
    clock.advance(seconds=2 * HOUR)
    bank.maintain()
    bank.undo_move(bank.moves(memory)[0].number)
    assert found(bank) == [FACT]
    assert [step.action for step in bank.maintain().steps] == []


def test_a_use_before_the_due_moment_changes_nothing(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(FACT, ttl="1h")
    bank.used(memory)
    bank.pin(memory)
    assert found(bank) == [FACT]
    clock.advance(seconds=HOUR)
    assert found(bank) == []
    assert [step.action for step in bank.maintain().steps] == ["archive"]


def test_what_a_clock_that_stood_ahead_archived_gets_its_end_again(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(FACT, ttl="30d")
    now = clock()
    clock.now = now + timedelta(days=400)
    assert found(bank) == []
    bank.maintain()
    clock.now = now + timedelta(hours=1)
    assert [step.action for step in bank.maintain().steps] == ["return"]
    assert found(bank) == [FACT]
    assert bank.get_memory(memory).expires_at == now + timedelta(days=30)


def test_said_again_it_lives_the_longer_of_the_two(bank: Bank, clock: FrozenClock) -> None:
    start = clock()
    (memory,) = bank.retain(FACT, ttl="1h")
    assert bank.retain(FACT, ttl="1m") == [memory]
    assert bank.get_memory(memory).expires_at == start + timedelta(hours=1)
    assert bank.retain(FACT, ttl="2h", on_expiry="erase") == [memory]
    assert (bank.get_memory(memory).expires_at, bank.get_memory(memory).on_expiry) == (
        start + timedelta(hours=2),
        "archive",
    )
    assert bank.retain(FACT) == [memory]
    assert bank.get_memory(memory).expires_at is None
    assert bank.retain(FACT, ttl="1h") == [memory]
    assert bank.get_memory(memory).expires_at is None


def test_a_conversation_that_is_given_again_changes_no_time(bank: Bank, clock: FrozenClock) -> None:
    turns = [{"speaker": "Ivo", "text": FACT}, {"speaker": "Tove", "text": OTHER}]
    ids = bank.retain_conversation(turns, session="gate", ttl="1h")
    due = bank.get_memory(ids[0]).expires_at
    clock.advance(seconds=60)
    assert bank.retain_conversation(turns, session="gate", ttl="1h") == ids
    assert bank.get_memory(ids[0]).expires_at == due


def test_defaults_by_kind_go_before_that_of_the_bank(store: Store, clock: FrozenClock) -> None:
    bank = store.bank("diary")
    bank.set_ttl("30d")
    bank.set_ttl("never", kind="decision")
    bank.set_ttl("1h", kind="episodic", on_expiry="erase")

    def end(**options: object) -> tuple[object, str]:
        (memory,) = bank.retain(f"Note {len(bank.list_memories())} of the lane.", **options)  # type: ignore[arg-type]
        held = bank.get_memory(memory)
        # Under a clock that stands each row is recorded a little after the one before.
        lives = held.expires_at and held.ingested_at and held.expires_at - held.ingested_at
        return lives, held.on_expiry

    assert end(kind="semantic") == (timedelta(days=30), "archive")
    assert end(kind="decision") == (None, "")
    assert end(kind="episodic") == (timedelta(hours=1), "erase")
    assert end(kind="episodic", ttl="2h") == (timedelta(hours=2), "archive")
    assert end(kind="episodic", on_expiry="archive") == (timedelta(hours=1), "archive")
    assert end(kind="semantic", ttl="never") == (None, "")
    assert store.bank("other").ttl_defaults.of(Kind.SEMANTIC) is None
    assert bank.stats()["ttl_defaults"]["kinds"]["decision"] == {"ttl": "never", "on_expiry": "archive"}
    assert bank.stats()["with_ttl"] == 4
    bank.set_ttl(None)
    bank.set_ttl(None, kind="episodic")
    assert end(kind="semantic") == end(kind="episodic") == (None, "")


def test_defaults_are_kept_with_the_bank(tmp_path: Path, clock: FrozenClock) -> None:
    for _ in range(2):
        with simonides.open(tmp_path, embedder=None, clock=clock) as store:
            lives = store.bank().set_ttl("30d", kind="code")
    with simonides.open(tmp_path, embedder=None, clock=clock) as store:
        assert store.bank().ttl_defaults == lives
        assert store.bank().verify().ok
        place = next(tmp_path.rglob("ttl.json"))
    place.write_text('{"bank": 3}', encoding="utf-8")
    with (
        simonides.open(tmp_path, embedder=None, clock=clock) as store,
        pytest.raises(InputError, match=r"ttl\.json: holds no times to live"),
    ):
        store.bank().stats()


def test_a_time_counts_from_the_recording(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(FACT, recorded_at=clock() - timedelta(hours=2), ttl="3h")
    assert bank.get_memory(memory).expires_at == clock() + timedelta(hours=1)


def test_a_load_gives_times_too(bank: Bank, clock: FrozenClock) -> None:
    import numpy as np  # noqa: PLC0415 the one use

    size = bank.stats()["dimension"] or 32
    ids = bank.load([{"text": FACT, "ttl": "1h"}, {"text": OTHER}], np.eye(2, size, dtype=np.float32))
    assert [bank.get_memory(each).expires_at for each in ids] == [clock() + timedelta(hours=1), None]
    bank.settle()
    assert bank.verify().ok


def test_the_end_goes_out_and_comes_in(store: Store, tmp_path: Path, clock: FrozenClock) -> None:
    bank = store.bank("from")
    one, other = bank.retain(
        [{"text": FACT, "ttl": "1h"}, {"text": OTHER, "ttl": "1h", "on_expiry": "erase"}]
    )
    bank.export(tmp_path / "out")
    bank.backup(tmp_path / "copy")
    into, restored = store.bank("to"), store.bank("restored")
    into.import_bank(tmp_path / "out")
    restored.restore(tmp_path / "copy")
    for each in (into, restored):
        assert each.get_memory(one).expires_at == bank.get_memory(one).expires_at
        assert each.get_memory(other).on_expiry == "erase"
        assert each.get_memory(one).to_dict()["expires_at"] == "2026-03-01T10:00:00+00:00"
    clock.advance(seconds=HOUR + 1)
    for each in (bank, into, restored):
        assert found(each) == []
        assert [step.action for step in each.maintain().steps] == ["archive", "erase"]
        assert each.verify().ok


def test_a_value_that_holds_again_ends_with_the_words_it_repeats(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("I live in Norrhav.", ttl="10d", on_expiry="erase")
    clock.advance(days=1)
    bank.retain("I lived in Vesper from 2026-03-02 until 2026-03-03.")
    clock.advance(days=20)
    bank.maintain()
    assert all("Norrhav" not in each.text for each in bank.list_memories(as_of="2026-03-05"))


def test_private_times_are_private(store: Store, clock: FrozenClock) -> None:
    ines, bo = store.bank("shared", principal="ines"), store.bank("shared", principal="bo")
    (memory,) = ines.retain(FACT, acl=["ines"], ttl="1h")
    with pytest.raises(InputError, match="only the owner"):
        bo.set_ttl("1h")
    clock.advance(seconds=HOUR)
    bo.retain(OTHER)
    assert ines.get_memory(memory).archived
    assert store.bank("shared").moves(memory)[0].action == "archive"
    with pytest.raises(NotFoundError):
        bo.get_memory(memory)


@pytest.mark.parametrize(
    "ttl",
    [
        0,
        -1,
        True,
        float("nan"),
        float("inf"),
        10**40,
        "3",
        "1 year",
        "",
        "-1h",
        "1hh",
        [],
        timedelta(0),
        "999999999999w",
    ],
)
def test_a_wrong_time_is_named_and_stores_nothing(bank: Bank, ttl: object) -> None:
    with pytest.raises(InputError, match="ttl"):
        bank.retain(FACT, ttl=ttl)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"items\[1\]\.ttl"):
        bank.retain([OTHER, {"text": FACT, "ttl": ttl}])
    with pytest.raises(InputError, match="ttl"):
        bank.set_ttl(ttl)  # type: ignore[arg-type]
    assert bank.stats()["memories"] == 0


def test_an_end_without_a_time_is_refused(bank: Bank) -> None:
    with pytest.raises(InputError, match="on_expiry: there is no ttl"):
        bank.retain(FACT, on_expiry="erase")
    with pytest.raises(InputError, match="on_expiry"):
        bank.retain(FACT, ttl="1h", on_expiry="burn")
    with pytest.raises(InputError, match="on_expiry"):
        bank.set_ttl("1h", on_expiry="burn")
    assert bank.stats()["memories"] == 0
    assert bank.retain(FACT, ttl="never", on_expiry="erase")


def test_a_standing_memory_may_have_an_end(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain("I am on call this week.", ttl="5d")
    bank.pin(memory, always=True)
    assert len(bank.recall("kettle", standing=True).standing) == 1
    clock.advance(days=5)
    assert bank.recall("kettle", standing=True).standing == ()


def test_records_are_erased_and_never_archived(bank: Bank, clock: FrozenClock) -> None:
    bank.set_ttl("1m")
    bank.put_records("notes", [{"path": ["a"], "value": 1, "ttl": 60}, {"path": ["b"], "value": 2}])
    assert [record.ttl for record in bank.list_records("notes")] == [60.0, None]
    clock.advance(seconds=40)
    bank.list_records("notes", ["a"])
    bank.list_records("notes", ["a"], refresh=True)
    clock.advance(seconds=40)
    assert [record.value for record in bank.list_records("notes")] == [1, 2]
    clock.advance(seconds=20)
    assert [record.value for record in bank.list_records("notes")] == [2]
    assert bank.pop_record("notes", ["a"]) is None
    (before,) = bank.list_records("notes", ["b"])
    bank.put_records("notes", [{"path": ["a"], "value": 3, "replaces": []}])
    held = bank.list_records("notes", ["a"])[0]
    assert (held.value, held.created_at > before.created_at) == (3, True)
    assert bank.stats()["memories"] == 2
    times: tuple[dict[str, int], ...] = ({}, {"ttl": 60})
    ends: tuple[object, ...] = ("archive", [], {}, 1)
    for time in times:
        for end in ends:
            with pytest.raises(InputError, match=r"records\[0\]\.on_expiry"):
                bank.put_records("notes", [{"path": ["a"], "value": 1, "on_expiry": end, **time}])
    with pytest.raises(InputError, match=r"records\[0\]\.ttl"):
        bank.put_records("notes", [{"path": ["a"], "value": 1, "ttl": 0}])


def test_two_that_are_to_be_erased_are_erased_when_the_later_one_is(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(FACT, ttl="1h", on_expiry="erase")
    bank.retain(FACT, ttl="2h", on_expiry="erase")
    clock.advance(seconds=HOUR + 1)
    assert found(bank) == [FACT]
    clock.advance(seconds=HOUR)
    assert [(step.action, step.memory) for step in bank.maintain().steps] == [("erase", memory)]


@pytest.mark.parametrize(
    "call",
    [
        lambda bank, memory: bank.get_memory(memory),
        lambda bank, memory: bank.history(memory),
        lambda bank, memory: bank.source(memory),
        lambda bank, memory: bank.moves(memory),
        lambda bank, memory: bank.why_not(memory, "guest code", profile="lexical"),
        lambda bank, memory: bank.quarantine(memory),
        lambda bank, memory: bank.release(memory),
        lambda bank, memory: bank.pin(memory),
        lambda bank, memory: bank.pin(memory, pinned=False),
        lambda bank, memory: bank.pin(memory, always=True),
        lambda bank, memory: bank.invalidate(memory),
        lambda bank, memory: bank.update_memory(memory, text=OTHER),
        lambda bank, memory: bank.update_memory(memory, tags=["gate"]),
        lambda bank, memory: bank.update_memory(memory, kind="quarantine"),
        lambda bank, memory: bank.used(memory),
        lambda bank, memory: bank.queue_enrichment(memory),
    ],
)
@pytest.mark.parametrize("quarantined", [False, True])
def test_what_is_due_to_be_erased_is_there_for_no_call(
    bank: Bank, clock: FrozenClock, call: Callable[[Bank, str], object], *, quarantined: bool
) -> None:
    memory, other = bank.retain([{"text": FACT, "ttl": HOUR, "on_expiry": "erase"}, {"text": OTHER}])
    if quarantined:
        bank.quarantine(memory)
    clock.advance(seconds=HOUR)
    writes = bank.last_write()
    with pytest.raises(NotFoundError):
        call(bank, memory)
    assert bank.last_write() == writes
    assert bank.forget([memory, other]) == 2
    assert bank.stats()["memories"] == 0


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda bank, memory: bank.quarantine(memory), 1),
        (lambda bank, memory: bank.invalidate(memory), None),
        (lambda bank, memory: bank.update_memory(memory, tags=["gate"]).tags, ("gate",)),
        (lambda bank, memory: bank.queue_enrichment(memory), 1),
    ],
)
@pytest.mark.parametrize("recorded", [False, True])
def test_what_is_due_to_be_archived_is_there_and_stays_hidden(
    bank: Bank, clock: FrozenClock, call: Callable[[Bank, str], object], answer: object, *, recorded: bool
) -> None:
    (memory,) = bank.retain(FACT, ttl=HOUR)
    clock.advance(seconds=HOUR)
    if recorded:
        bank.maintain()
    assert call(bank, memory) == answer
    clock.advance(seconds=1)
    assert found(bank) == []
    assert bank.maintain().steps == () or bank.get_memory(memory).archived
    assert bank.get_memory(memory).archived
    assert found(bank) == []


def test_a_principal_forgets_what_is_due_to_be_erased(store: Store, clock: FrozenClock) -> None:
    ines, bo = store.bank("shared", principal="ines"), store.bank("shared", principal="bo")
    (memory,) = ines.retain(FACT, acl=["ines"], ttl=HOUR, on_expiry="erase")
    clock.advance(seconds=HOUR)
    assert (bo.forget(memory), ines.forget(memory)) == (0, 1)
    assert store.bank("shared").stats()["memories"] == 0


@pytest.mark.durable
@pytest.mark.parametrize("by", ["purge", "forget_where", "maintenance"])
def test_of_what_was_erased_at_its_end_a_purge_leaves_no_byte(
    store: Store, clock: FrozenClock, by: str
) -> None:
    bank = store.bank("diary")
    bank.start_audit()
    secret, new = "Zimtstern", "Quarkwurf"
    (memory,) = bank.retain(
        f"The guest code of the gate is {secret}.", ttl="1h", on_expiry="erase", source=f"{secret}.md",
        tags=[secret.lower()], metadata={"of": secret},
    )  # fmt: skip
    bank.retain(OTHER)
    bank.update_memory(memory, text=f"The guest code of the gate is {new}.")
    bank.pin(memory)
    bank.invalidate(memory)
    bank.recall(f"{secret} {new}")
    bank.put_records("notes", [{"path": [secret], "value": {"is": new * 9_000}, "text": new, "ttl": 60}])
    assert len(bank.history(memory)) == 4
    told = bank.audit_entries(1)[0].number
    clock.advance(seconds=HOUR)
    if by == "forget_where":
        assert bank.forget_where(source="no such", purge=True).status == "complete"
    else:
        if by == "maintenance":
            assert [step.action for step in bank.maintain().steps] == ["erase", "erase"]
        assert bank.purge() == "complete"
    stats = bank.stats()
    assert (stats["memories"], stats["versions"], stats["with_vector"]) == (1, 1, 1)
    assert bank.verify().ok
    assert bank.audit_verify().ok
    assert any(entry.first <= entry.last for entry in bank.audit_entries() if entry.number > told)
    assert secret not in str(bank.audit_entries())
    store.close()
    for path in bank._rows.folder.parent.rglob("*"):
        if path.is_file():
            body = path.read_bytes().lower()
            for word in (secret, new):
                assert word.lower().encode() not in body, (word, path.name)


@pytest.mark.fault("N49")
@pytest.mark.parametrize("change", [{}, {"tags": ["home"]}, {"text": "The guest code of the gate is 8812."}])
@pytest.mark.parametrize("before", [None, "3h"])
def test_an_update_gives_a_time_from_then_on(
    bank: Bank, clock: FrozenClock, before: str | None, change: dict[str, Any]
) -> None:
    (memory,) = bank.retain(FACT, ttl=before)
    clock.advance(seconds=HOUR)
    changed = bank.update_memory(memory, ttl=timedelta(hours=4), **change)
    assert (changed.expires_at, changed.on_expiry) == (clock() + timedelta(hours=4), "archive")
    # It is of the memory: alone it makes no version.
    assert changed.version == (2 if change else 1)
    clock.advance(seconds=4 * HOUR - 1)
    assert found(bank) == [changed.text]
    clock.advance(seconds=1)
    assert found(bank) == []
    bank.maintain()
    assert [each.text for each in bank.list_memories()] == []


@pytest.mark.fault("N49")
@pytest.mark.parametrize("recorded", [False, True])
def test_an_update_with_a_time_brings_back_what_had_ended(
    bank: Bank, clock: FrozenClock, *, recorded: bool
) -> None:
    (memory,) = bank.retain(FACT, ttl="1h")
    clock.advance(seconds=2 * HOUR)
    if recorded:
        bank.maintain()
    bank.update_memory(memory, ttl="1h")
    assert found(bank) == [FACT]
    clock.advance(seconds=HOUR)
    assert found(bank) == []
    bank.update_memory(memory, ttl="never")
    assert bank.get_memory(memory).expires_at is None
    clock.advance(days=999)
    assert found(bank) == [FACT]


@pytest.mark.fault("N49")
def test_an_update_erases_nothing_sooner(bank: Bank, clock: FrozenClock) -> None:
    """Who may change a memory need not be one who may forget it."""
    (memory,) = bank.retain(FACT, ttl="2h", on_expiry="erase")
    with pytest.raises(InputError, match=r"ttl: .*sooner"):
        bank.update_memory(memory, ttl="1h", tags=["home"])
    assert bank.get_memory(memory).tags == ()
    longer = bank.update_memory(memory, ttl="3h")
    assert (longer.expires_at, longer.on_expiry) == (clock() + timedelta(hours=3), "erase")
    assert bank.update_memory(memory, ttl="never").on_expiry == ""


@pytest.mark.fault("N49")
def test_a_value_under_a_key_gets_its_time_there(bank: Bank) -> None:
    (memory,) = bank.put_records("notes", [{"path": ["a"], "value": 1}])
    with pytest.raises(InputError, match=r"ttl: .*under a key"):
        bank.update_memory(memory, ttl="1h")
    assert bank.get_memory(memory).expires_at is None


@pytest.mark.parametrize("ttl", [0, -1, "soon", "", True, []])
def test_an_update_with_a_wrong_time_changes_nothing(bank: Bank, ttl: Any) -> None:
    (memory,) = bank.retain(FACT)
    with pytest.raises(InputError, match="ttl"):
        bank.update_memory(memory, ttl=ttl, tags=["home"])
    assert bank.get_memory(memory).version == 1
