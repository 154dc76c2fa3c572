"""Values under keys, in a bank of this process and behind a server."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import ConflictError, InputError, UnknownNameError
from simonides.integrations.keyed import search_records
from simonides.records.keyed_record import tag_of
from simonides.surfaces.client import remote
from simonides.surfaces.operations import calls
from simonides.surfaces.operations.table import OPERATIONS, Verb
from simonides.surfaces.serving.grants import ForbiddenError, Grant

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.store import Store

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SPACE = "notes"


def put(bank: Any, *path: str, value: Any = 1, **more: Any) -> str:
    [memory] = bank.put_records(SPACE, [{"path": list(path), "value": value, **more}])
    return str(memory)


def values(bank: Any, *path: str, **more: Any) -> list[Any]:
    return [record.value for record in bank.list_records(SPACE, path, **more)]


@pytest.mark.fault("N63")
def test_a_key_has_one_value_which_is_found_by_its_words(either: Any, clock: Any) -> None:
    first = put(either, "plants", "figs", value={"litres": 2}, text="Figs need two litres.", source="figs.md")
    clock.advance(seconds=3_600)
    second = put(either, "plants", "figs", value={"litres": 3}, text="Figs need three litres.")
    assert first != second
    [record] = either.list_records(SPACE, ["plants"])
    assert (record.id, record.path, record.value) == (second, ("plants", "figs"), {"litres": 3})
    assert record.updated_at - record.created_at == timedelta(hours=1)
    assert either.stats()["memories"] == 1
    assert "three" in either.recall("figs", profile="lexical").context
    assert either.list_records("other space") == []
    assert either.forget_records(SPACE, ["plants"]) == 1
    assert either.forget_records(SPACE, ["plants"]) == 0
    assert either.stats()["memories"] == 0


def test_records_below_a_path_and_at_it(either: Any) -> None:
    for at, path in enumerate([["a"], ["a", "b"], ["a", "b", "c"], ["ab"]]):
        put(either, *path, value=at)
    assert values(either) == [0, 1, 2, 3]
    assert values(either, "a") == [0, 1, 2]
    assert values(either, "a", exact=True) == [0]
    assert values(either, "a", "b", newest=1) == [2]
    assert values(either, "c") == []
    assert either.forget_records(SPACE, ["a"], exact=True) == 1
    assert values(either, "a") == [1, 2]


@pytest.mark.fault("N62")
def test_appended_records_are_numbered_and_popped_from_the_end(either: Any) -> None:
    records = [{"path": ["talk"], "value": {"n": n}} for n in range(3)]
    assert len(either.put_records(SPACE, records, append=True)) == 3
    put(either, "other", value="stays")
    assert [record.path[-1] for record in either.list_records(SPACE, ["talk"])] == [
        f"{n:012}" for n in (1, 2, 3)
    ]
    assert values(either, "talk", newest=2) == [{"n": 1}, {"n": 2}]
    assert either.pop_record(SPACE, ["talk"]).value == {"n": 2}
    either.put_records(SPACE, records[:1], append=True)
    assert [either.pop_record(SPACE, ["talk"]).value["n"] for _ in range(3)] == [0, 1, 0]
    assert either.pop_record(SPACE, ["talk"]) is None
    assert values(either) == ["stays"]


@pytest.mark.fault("N63")
def test_a_value_is_replaced_only_where_it_is_what_the_caller_read(either: Any) -> None:
    first = put(either, "k", value="one", replaces=[])
    with pytest.raises(ConflictError, match="read it again"):
        put(either, "k", value="two", replaces=[])
    second = put(either, "k", value="two", replaces=[first])
    with pytest.raises(ConflictError):
        put(either, "k", value="three", replaces=[first])
    assert values(either) == ["two"]
    below = put(either, "k", "below")
    with pytest.raises(ConflictError):
        put(either, "k", value="three", replaces=[second])
    put(either, "k", value="three", replaces=[second, below])
    assert sorted(map(str, values(either))) == ["1", "three"]


@pytest.mark.fault("N63")
def test_keys_are_moved_together_to_a_name_that_is_free(either: Any) -> None:
    first = put(either, "old", "a", value="one", source="/notes/old/a")
    put(either, "old", "b", value={"two": 2})
    put(either, "taken", "c")
    with pytest.raises(ConflictError, match="already"):
        either.move_records(SPACE, ["old"], ["taken"])
    for to in (["old"], ["old", "deeper"], []):
        with pytest.raises(InputError, match="below the other"):
            either.move_records(SPACE, ["old"], to)
    assert either.move_records(SPACE, ["nowhere"], ["new"]) == 0
    assert either.move_records(SPACE, ["old"], ["new", "place"]) == 2
    assert values(either, "old") == []
    assert [(each.path[2:], each.value) for each in either.list_records(SPACE, ["new"])] == [
        (("a",), "one"),
        (("b",), {"two": 2}),
    ]
    assert either.get_memory(first).source == "/notes/new/place/a"


@pytest.mark.fault("N62")
@pytest.mark.fault("N46")
def test_of_a_batch_with_a_wrong_record_nothing_is_stored(either: Any) -> None:
    good = {"path": ["talk"], "value": "short"}
    with pytest.raises(InputError, match="session"):
        either.put_records(SPACE, [good, {**good, "session": "x" * 300}], append=True)
    with pytest.raises(InputError, match="same path"):
        either.put_records(SPACE, [good, good])
    assert values(either) == []


@pytest.mark.fault("N46")
def test_a_long_value_is_kept_whole(either: Any, store: Store) -> None:
    long = "A line about figs.\n" * 10_000
    put(either, "file", value=long, text=long)
    output = {"type": "function_call_output", "output": long, "n": [1, None, True]}
    first = put(either, "talk", value=output, text="Figs")
    assert values(either) == [long, output]
    assert put(either, "talk", value=output, text="Figs") != first
    assert either.move_records(SPACE, ["talk"], ["moved"]) == 1
    assert values(either, "moved") == [output]
    [found] = search_records(either, SPACE, ["moved"], "Figs", 5)
    assert found.value == output
    assert store.bank("diary").verify().ok


@pytest.mark.fault("N46")
@pytest.mark.parametrize("size", [1, 30_000, 32_767, 32_768, 65_535, 65_536, 70_000, 200_000])
def test_a_value_has_the_same_room_whatever_its_length_and_that_of_its_key(store: Store, size: int) -> None:
    bank = store.bank("diary")
    given: tuple[Any, ...] = (
        "x" * size,
        {"é": "é" * (size // 2)},
        ["\\" * (size // 2)],
        "\u2028" * (size // 3),
        {"n": 7, "text": "x" * size},
    )
    for number, value in enumerate(given):
        for key in ("k", "k" * 40_000, "é" * 30_000):
            put(bank, key, str(number), value=value, text="Figs")
            assert values(bank, key, str(number)) == [value]
    assert len(values(bank)) == 15
    assert bank.verify().ok


@pytest.mark.fault("N45")
def test_a_record_is_never_archived_and_stays_under_its_key_when_it_is_no_longer_true(
    either: Any, clock: Any
) -> None:
    either.retain("The pump seal leaks.", kind="episodic", metadata={"notes": {"path": ["home"]}})
    either.put_records(
        SPACE, [{"path": ["talk"], "value": n, "kind": "episodic"} for n in range(4)], append=True
    )
    [memory] = either.put_records(
        SPACE, [{"path": ["home"], "value": {"town": "Norrhav"}, "text": "Odalys Brenn lives in Norrhav."}]
    )
    either.invalidate(memory)
    clock.advance(days=1_300)
    archived = [step for step in either.maintain().steps if step.action == "archive"]
    assert [either.get_memory(step.memory).text for step in archived] == ["The pump seal leaks."]
    assert {memory.text for memory in either.list_memories()} == {"0", "1", "2", "3"}
    assert values(either, "talk") == [0, 1, 2, 3]
    assert values(either, "home") == [{"town": "Norrhav"}]


def test_wrong_arguments_are_refused_by_name(either: Any) -> None:
    record = {"path": ["k"], "value": 1}
    for wrong, field in (
        ({"value": 1}, "path"),
        ({"path": ["k"]}, "value"),
        ({**record, "path": "k"}, "path"),
        ({**record, "path": [1]}, "path"),
        ({**record, "replaces": "id"}, "replaces"),
        ({**record, "path": ["\0"]}, "path"),
        ({**record, "path": ["x" * 40_000, "y" * 30_000]}, r"records\[0\]\.path"),
    ):
        with pytest.raises(InputError, match=field):
            either.put_records(SPACE, [wrong])
    with pytest.raises(UnknownNameError, match="tags"):
        either.put_records(SPACE, [{**record, "tags": ["x"]}])
    with pytest.raises(InputError, match="space"):
        either.list_records("")
    with pytest.raises(InputError, match="space"):
        either.list_records("x" * 65)
    with pytest.raises(InputError, match="newest"):
        either.list_records(SPACE, newest=0)
    assert either.put_records(SPACE, []) == []


def test_many_records_come_in_pages(either: Any, monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    """Also where each page ends early, and where the end of a page goes away before the next is read."""
    monkeypatch.setattr(calls, "PAGE_BYTES", 400)
    either.put_records(SPACE, [{"path": ["talk"], "value": n} for n in range(20)], append=True)
    assert values(either) == list(range(20))
    if not isinstance(either, remote.RemoteBank):
        return
    asked = either._call
    lost: list[str] = []

    def call(operation: str, **given: Any) -> Any:
        if given.get("cursor") and not lost:
            lost.append(given["cursor"])
            store.bank("diary").forget(lost)
        return asked(operation, **given)

    monkeypatch.setattr(either, "_call", call)
    left = values(either)
    assert len(left) == 19
    assert lost


@pytest.mark.fault("N63")
def test_only_a_token_that_may_forget_replaces_a_value() -> None:
    operation = OPERATIONS["put_records"]
    writes = Grant("writer", None, ("*",), frozenset({Verb.READ, Verb.WRITE}))
    record = {"path": ["k"], "value": 1}

    def check(grant: Grant, **asked: Any) -> None:
        grant.check(operation, "diary")
        grant.check_request(operation, operation.bind({"space": SPACE, **asked}))

    check(writes, records=[record], append=True)
    check(writes, records=[{**record, "replaces": []}])
    for replaced in (record, {**record, "replaces": ["id"]}):
        with pytest.raises(ForbiddenError, match="forget"):
            check(writes, records=[replaced])
    check(Grant("all", None, ("*",), frozenset(Verb)), records=[record])


def test_a_principal_sees_and_replaces_only_what_it_may_read(store: Store) -> None:
    owner, ann, bob = (
        store.bank("diary"),
        store.bank("diary", principal="ann"),
        store.bank("diary", principal="bob"),
    )
    put(ann, "k", value="ann's", acl=["ann"])
    put(bob, "k", value="bob's", acl=["bob"])
    assert values(ann) == ["ann's"]
    assert values(bob) == ["bob's"]
    assert ann.forget_records(SPACE) == 1
    assert values(owner) == ["bob's"]
    owner.quarantine([record.id for record in owner.list_records(SPACE)])
    assert values(owner) == []
    assert owner.pop_record(SPACE) is None


@pytest.mark.fault("N62")
def test_sessions_at_a_server_lose_no_item(either: Any) -> None:
    openai = pytest.importorskip("simonides.integrations.openai_agents")
    sessions = [openai.BankSession("one", either) for _ in range(4)]
    taken: list[Any] = []

    def work(number: int) -> None:
        async def both() -> None:
            for turn in range(3):
                await sessions[number].add_items([{"role": "user", "content": f"{number} {turn}"}])
            taken.append((await sessions[number].pop_item())["content"])

        asyncio.run(both())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = [item["content"] for item in asyncio.run(sessions[0].get_items())]
    assert sorted(taken + left) == sorted(f"{number} {turn}" for number in range(4) for turn in range(3))


@pytest.mark.fault("N46")
def test_secrets_in_a_long_value_are_masked_and_it_stays_json(tmp_path: Path) -> None:
    value = {"key": "AKIAIOSFODNN7EXAMPLE", "rest": "figs " * 10_000}
    with simonides.open(tmp_path / "masked", embedder=None, redact="mask") as store:
        bank = store.bank("diary")
        put(bank, "long", value=value, text="Figs")
        [kept] = values(bank)
        assert kept["rest"] == value["rest"]
        assert "AKIA" not in str(kept)
        put(bank, "AKIAIOSFODNN7EXAMPLE", value=1)
        put(bank, "AKIAIOSFODNN7EXAMPLE", value=2)
        assert values(bank, "AKIAIOSFODNN7EXAMPLE", exact=True) == [2]
    with (
        simonides.open(tmp_path / "refused", embedder=None, redact="refuse") as store,
        pytest.raises(InputError),
    ):
        put(store.bank("diary"), "long", value=value, text="Figs")


@pytest.mark.fault("N63")
@pytest.mark.parametrize(
    ("forged", "held"),
    [
        ({"path": ["b"], "value": 2, "ttl": "soon"}, [2]),
        ({"path": ["b"], "value": 2, "ttl": -1}, [2]),
        ({"path": ["b"], "value": 2, "created": "yesterday"}, []),
        ({"path": ["b"], "value": 2, "created": "2026-01-01"}, []),
        ({"path": ["b"], "value": 2, "created": 5}, []),
        ({"path": [1, {}], "value": 2}, []),
        ({"path": ["b"], "in_source": True}, []),
    ],
)
def test_metadata_that_only_look_like_a_record_hide_no_other(either: Any, forged: Any, held: Any) -> None:
    put(either, "a", ttl=60)
    tags = [tag_of(SPACE, ()), tag_of(SPACE, ("b",))]
    either.retain("These are no JSON.", tags=tags, metadata={SPACE: forged})
    assert values(either, refresh=True) == [1, *held]
    put(either, "b", value=3)
    assert values(either, "b")[-1] == 3
    assert either.pop_record(SPACE).value == 3
    assert either.move_records(SPACE, ["a"], ["c"]) == 1


@pytest.mark.fault("N63")
@pytest.mark.parametrize("by", ["release", "update"])
def test_nothing_comes_out_of_quarantine_to_a_key_that_another_value_holds(either: Any, by: str) -> None:
    def release(memory: str) -> None:
        either.release(memory) if by == "release" else either.update_memory(memory, kind="semantic")

    first = put(either, "k", value="one")
    either.quarantine(first)
    second = put(either, "k", value="two", replaces=[])
    with pytest.raises(ConflictError, match="another value stands under"):
        release(first)
    assert values(either) == ["two"]
    either.forget(second)
    release(first)
    assert values(either) == ["one"]


@pytest.mark.fault("N63")
def test_of_two_in_quarantine_under_one_key_one_is_released(either: Any) -> None:
    other = put(either, "other")
    quarantined = []
    for value in ("one", "two"):
        quarantined.append(put(either, "k", value=value))
        either.quarantine(quarantined[-1])
    either.quarantine(other)
    with pytest.raises(ConflictError, match="another value stands under"):
        either.release([other, *quarantined])
    assert values(either) == []
    assert either.release([other, quarantined[0], quarantined[0]]) == 2
    assert values(either) == [1, "one"]


@pytest.mark.fault("N63")
def test_values_that_nobody_reads_together_stand_under_one_key(store: Store) -> None:
    owner = store.bank("diary")
    ids = [put(store.bank("diary", principal=name), "k", value=name, acl=[name]) for name in ("ann", "bob")]
    owner.quarantine(ids)
    assert owner.release(ids) == 2
    public = put(owner, "k", value="all")
    owner.quarantine(public)
    put(store.bank("diary", principal="ann"), "k", value="ann's", acl=["ann"])
    with pytest.raises(ConflictError):
        owner.release(public)


@pytest.mark.fault("N62")
def test_an_appended_record_gets_no_number_of_one_in_quarantine(either: Any) -> None:
    records = [{"path": ["talk"], "value": n} for n in range(2)]
    last = either.put_records(SPACE, records, append=True)[-1]
    either.quarantine(last)
    either.put_records(SPACE, [{"path": ["talk"], "value": 2}], append=True)
    assert values(either, "talk") == [0, 2]
    either.release(last)
    numbers = [record.path[-1] for record in either.list_records(SPACE, ["talk"])]
    assert numbers == [f"{number:012}" for number in (1, 2, 3)]
    assert values(either, "talk") == [0, 1, 2]


@pytest.mark.fault("N68")
@pytest.mark.parametrize("by", ["used", "pin", "standing", "label", "quarantine"])
def test_what_is_found_by_its_key_alone_stays_so(either: Any, by: str) -> None:
    memory = put(either, "k", value={"seal": "leaks"}, text=" ")
    if by == "quarantine":
        either.quarantine(memory)
        either.release(memory)
    elif by == "label":
        either.update_memory(memory, salience=0.9)
    elif by == "standing":
        either.pin(memory, always=True)
    else:
        getattr(either, by)(memory)
    answer = either.recall("seal leaks", precision="wide", standing=True)
    assert (list(answer), list(answer.standing), answer.context) == ([], [], "")
    assert either.brief("seal leaks", profile="lexical").text == ""
    assert "leaks" in either.recall("seal", precision="wide", include_archived=True).context
    assert values(either, "k") == [{"seal": "leaks"}]


@pytest.mark.fault("N63")
@pytest.mark.parametrize(
    ("times", "ended"),
    [
        ({"valid_from": "2026-02-01", "valid_to": "2026-02-10"}, False),
        ({"valid_from": "2026-01-01"}, False),
        ({"valid_from": "2026-02-01"}, True),
        ({"valid_from": "2026-01-01", "valid_to": "2026-02-01"}, False),
    ],
)
def test_what_is_retained_neither_parts_nor_takes_away_a_value(
    either: Any, clock: Any, times: dict[str, str], ended: bool
) -> None:
    town = {"text": "I live in Norrhav.", "valid_from": "2026-01-01"}
    memory = put(either, "home", value={"town": "Norrhav"}, **town)
    clock.advance(days=1)
    either.retain("I live in Vesper.", **times)
    [record] = either.list_records(SPACE)
    assert (record.id, record.value) == (memory, {"town": "Norrhav"})
    assert (either.get_memory(memory).valid_to is not None) == ended
    assert either.forget_records(SPACE) == 1
    assert not any("Norrhav" in change.text for change in either.diff("1970").begun)
