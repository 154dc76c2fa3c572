"""Other words for a memory: what becomes of it, of its links, of others, and of its past."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import connection_of

import simonides
from simonides.errors import ConflictError, InputError, NotFoundError
from simonides.records.kind import Kind
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

pytestmark = pytest.mark.fault("N49")

OLD = "The dentist is on 3 June 2026, Ines said."
NEW = "The dentist is on 5 July 2026, Tove said."


@pytest.fixture
def edited(bank: Bank, clock: FrozenClock) -> str:
    """A memory that was told OLD, and is told NEW a day later."""
    (memory,) = bank.retain(OLD)
    clock.advance(days=1)
    bank.update_memory(memory, text=NEW)
    clock.advance(days=1)
    return memory


def links(bank: Bank) -> list[tuple[str, int, str, int, str]]:
    """Links by the ids and versions of their ends, and their kinds."""
    with bank._rows.reading() as reading:
        rows: list[tuple[Any, ...]] = (
            connection_of(reading)
            .execute(
                "SELECT s.id, s.version, t.id, t.version, l.kind FROM links l"
                " JOIN memories s ON s.ordinal = l.source JOIN memories t ON t.ordinal = l.target"
            )
            .fetchall()
        )
    return sorted((str(s), int(v), str(t), int(w), str(k)) for s, v, t, w, k in rows)


def test_it_is_the_same_memory_in_other_words(bank: Bank, edited: str) -> None:
    now = bank.get_memory(edited)
    assert (now.id, now.version, now.text) == (edited, 2, NEW)
    assert now.event_time is not None
    assert now.event_time.date().isoformat() == "2026-07-05"
    assert [hit.text for hit in bank.recall("When is the dentist?")] == [NEW]
    assert bank.source(edited).text == NEW
    assert {entity.name for entity in bank.entities()} == {"Tove"}
    assert [each.text for each in bank.history(edited)] == [OLD, NEW]
    assert bank.verify().ok


def test_a_recall_as_of_before_finds_the_old_words(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(OLD)
    bank.retain("The pump seal leaks.")
    asked = ("When is the dentist?", "Ines", "5 July 2026")
    before = [[(hit.text, hit.score) for hit in bank.recall(each)] for each in asked]
    moment = clock.advance(days=1)
    clock.advance(days=1)
    bank.update_memory(memory, text=NEW)
    clock.advance(days=1)
    then = [bank.recall(each, as_of=moment) for each in asked]
    assert [[hit.text for hit in found] for found in then] == [
        [text for text, _ in found] for found in before
    ]
    assert then[0].hits[0].text == OLD
    assert [each.after.text for each in bank.diff(moment, clock.now).changed] == [NEW]


def test_the_version_that_was_seen_is_the_one_that_is_changed(bank: Bank, edited: str) -> None:
    for changes in ({"text": "The dentist moved away."}, {"tags": ["teeth"]}):
        with pytest.raises(ConflictError, match="is at version 2, not 1"):
            bank.update_memory(edited, **changes, expected_version=1)
    assert bank.history(edited)[-1] == bank.get_memory(edited)
    assert bank.get_memory(edited).text == NEW
    assert bank.update_memory(edited, text="The dentist moved away.", expected_version=2).version == 3


@pytest.mark.parametrize("expected", [0, -1, 1.5, "two", True])
def test_a_version_is_a_number_from_1(bank: Bank, expected: Any) -> None:
    (memory,) = bank.retain(OLD)
    with pytest.raises(InputError, match="expected_version"):
        bank.update_memory(memory, text=NEW, expected_version=expected)
    assert bank.get_memory(memory).version == 1


class Interfering:
    """The stub embedder; calls back once while it encodes."""

    def __init__(self) -> None:
        self._stub = StubEmbedder(dimension=32)
        self.name, self.dimension = self._stub.name, self._stub.dimension
        self.fingerprint = self._stub.fingerprint
        self.meanwhile: Callable[[], object] | None = None

    def encode(self, texts: Any) -> Any:
        called, self.meanwhile = self.meanwhile, None
        if called is not None:
            called()
        return self._stub.encode(texts)

    def encode_query(self, text: str) -> Any:
        return self._stub.encode_query(text)


@pytest.mark.parametrize("expected", [None, 1])
def test_what_was_changed_while_it_was_encoded_is_kept_or_told(
    tmp_path: Path, clock: FrozenClock, expected: int | None
) -> None:
    embedder = Interfering()
    with simonides.open(tmp_path, clock=clock, embedder=embedder) as store:
        bank = store.bank()
        (memory,) = bank.retain(OLD)
        embedder.meanwhile = lambda: bank.update_memory(memory, tags=["teeth"])
        if expected is not None:
            with pytest.raises(ConflictError, match="changed meanwhile"):
                bank.update_memory(memory, text=NEW, expected_version=expected)
            assert (bank.get_memory(memory).text, bank.get_memory(memory).version) == (OLD, 2)
        else:
            now = bank.update_memory(memory, text=NEW)
            assert (now.text, now.tags, now.version) == (NEW, ("teeth",), 3)
        assert bank.verify().ok


def test_text_and_notes_change_together(bank: Bank) -> None:
    (memory,) = bank.retain(OLD, tags=["a"], metadata={"from": "call"})
    now = bank.update_memory(memory, text=NEW, tags=["b"], kind="decision")
    assert (now.version, now.text, now.tags, now.kind) == (2, NEW, ("b",), Kind.DECISION)
    assert now.metadata == {"from": "call"}


def test_the_same_words_are_no_new_version(bank: Bank) -> None:
    (memory,) = bank.retain(OLD)
    assert bank.update_memory(memory, text=OLD).version == 1
    assert bank.update_memory(memory, text=OLD, tags=["a"]).version == 2


@pytest.mark.parametrize("text", ["", "  \n", "a\0b", 7, "x" * (1024 * 1024 + 1)])
def test_words_are_checked_as_retain_checks_them(bank: Bank, text: Any) -> None:
    (memory,) = bank.retain(OLD)
    with pytest.raises(InputError, match="text"):
        bank.update_memory(memory, text=text)
    assert (bank.get_memory(memory).text, bank.get_memory(memory).version) == (OLD, 1)


@pytest.mark.parametrize("redact", ["mask"])
def test_secrets_are_masked(bank: Bank, redact: str) -> None:
    (memory,) = bank.retain(OLD)
    secret = "AKIA" + "Q3EGTBKLHR2ZWVYD"
    assert secret not in bank.update_memory(memory, text=f"The key is {secret}.").text
    assert secret not in bank.source(memory).text


@pytest.mark.parametrize("redact", ["refuse"])
def test_secrets_are_refused(bank: Bank, redact: str) -> None:
    (memory,) = bank.retain(OLD)
    with pytest.raises(InputError, match="holds a secret"):
        bank.update_memory(memory, text="The key is AKIA" + "Q3EGTBKLHR2ZWVYD.")
    assert bank.get_memory(memory).version == 1


def test_readers_and_trust_stay_and_the_author_is_who_edits(store: Store) -> None:
    owner, ines, tove = (store.bank("diary", principal=who) for who in (None, "ines", "tove"))
    (memory,) = owner.retain(OLD, acl=["ines"], role="assistant")
    with pytest.raises(NotFoundError):
        tove.update_memory(memory, text=NEW)
    now = ines.update_memory(memory, text=NEW)
    assert (now.acl, now.trust, now.author) == (("ines",), 0.7, "ines")
    assert not tove.recall("dentist")
    assert [each.author for each in owner.history(memory)] == ["", "ines"]


def test_what_followed_from_the_words_follows_again_and_what_was_stated_stays(bank: Bank) -> None:
    followed, stated = bank.retain(["I prefer green tea.", {"text": "I prefer dark bread.", "kind": "preference",
                                                           "confidence": 0.3, "event_time": "2026-01-02"}])  # fmt: skip
    assert bank.get_memory(followed).kind == Kind.PREFERENCE
    assert bank.update_memory(followed, text="We decided to use Postgres.").kind == Kind.DECISION
    now = bank.update_memory(stated, text="We decided to use SQLite.")
    assert (now.kind, now.confidence) == (Kind.PREFERENCE, 0.3)
    assert now.event_time == bank.history(stated)[0].event_time


def test_relative_words_count_from_when_it_was_said(bank: Bank, clock: FrozenClock) -> None:
    said = clock.now.date()
    (memory,) = bank.retain("The pump seal leaked yesterday.")
    (told,) = bank.retain("Moved house yesterday.", event_time="2026-01-10")
    clock.advance(days=40)
    now = bank.update_memory(memory, text="The pump seal leaked today.")
    assert now.event_time is not None
    assert now.event_time.date() == said
    assert str(bank.get_memory(told).event_time)[:10] == "2026-01-09"
    assert str(bank.update_memory(told, text="Moved house today.").event_time)[:10] == "2026-01-10"


def test_an_end_that_the_old_words_made_is_taken_back(bank: Bank, clock: FrozenClock) -> None:
    (lisbon,) = bank.retain("Ana lives in Lisbon.")
    clock.advance(days=1)
    (oslo,) = bank.retain("Ana moved to Oslo.")
    assert bank.get_memory(lisbon).valid_to is not None
    clock.advance(days=1)
    bank.update_memory(oslo, text="Tove moved to Oslo.")
    assert bank.get_memory(lisbon).valid_to is None
    bank.update_memory(oslo, text="Ana lives in Ghent.")
    assert bank.get_memory(lisbon).superseded_by == oslo
    assert bank.get_memory(lisbon).valid_to == bank.get_memory(oslo).valid_from
    assert bank.verify().ok


def test_a_memory_that_was_ended_by_mistake_holds_again(bank: Bank, clock: FrozenClock) -> None:
    (lisbon,) = bank.retain("Ana lives in Lisbon.")
    clock.advance(days=1)
    bank.retain("Ana lives in Oslo.")
    clock.advance(days=1)
    assert bank.get_memory(lisbon).valid_to is not None
    assert bank.update_memory(lisbon, text="Tove lives in Lisbon.").valid_to is None


def test_what_is_open_again_is_ended_by_what_else_ended_it(bank: Bank, clock: FrozenClock) -> None:
    texts = ("Ana lives in Lisbon.", "Ana lives in Oslo.", "Ana lives in Ghent.")
    ids = []
    for text in texts:
        ids += bank.retain(text)
        clock.advance(days=1)
    bank.update_memory(ids[1], text="Tove lives in Oslo.")
    assert bank.get_memory(ids[0]).superseded_by == ids[2]
    assert [bank.get_memory(each).valid_to is None for each in ids] == [False, True, True]
    assert bank.verify().ok


def test_new_words_meet_what_was_stored_before_them_as_it_was_then(bank: Bank, clock: FrozenClock) -> None:
    bank.retain("The port of Osprey is 4000.")
    (memory,) = bank.retain("The review is on 12 June 2026.", event_time="2026-01-02", acl=["ines"])
    clock.advance(days=1)
    (later,) = bank.retain("The port of Osprey is 2000.")
    bank.update_memory(memory, text="The port of Osprey is 9000.")
    bank.update_memory(later, text="We water the ferns.")
    # Nothing takes the place of the port that holds again, not even what began before it.
    assert [m.text for m in bank.list_memories() if "port" in m.text] == ["The port of Osprey is 4000."]


def test_another_event_time_is_as_if_it_had_been_told_with_it(bank: Bank, clock: FrozenClock) -> None:
    (old,) = bank.retain("The port of Osprey is 4000.", event_time="2026-02-02")
    (new,) = bank.retain("The port of Osprey is 2000.", event_time="2026-02-09")
    assert [m.id for m in bank.list_memories()] == [new]
    clock.advance(days=1)
    moved = bank.update_memory(old, event_time="2026-02-16", tags=["checked"])
    assert (moved.text, moved.tags) == ("The port of Osprey is 4000.", ("checked",))
    assert str(moved.event_time)[:10] == str(moved.valid_from)[:10] == "2026-02-16"
    assert [m.id for m in bank.list_memories()] == [old]
    assert bank.update_memory(old, event_time="told").event_time is None
    with pytest.raises(InputError, match=r"event_time.* is not"):
        bank.update_memory(old, event_time="soon")
    bank.put_records("diary", [{"path": ["a"], "value": 1, "text": "one"}])
    (kept,) = [m.id for m in bank.list_memories() if m.text == "one"]
    with pytest.raises(InputError, match="event_time: is of a value under a key"):
        bank.update_memory(kept, event_time="2026-02-16")


def test_what_was_invalidated_stays_ended(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(OLD)
    clock.advance(days=1)
    bank.invalidate(memory)
    ended = bank.get_memory(memory).valid_to
    clock.advance(days=1)
    assert bank.update_memory(memory, text=NEW).valid_to == ended
    assert not bank.recall("dentist")


def test_a_statement_that_was_declared_stays(bank: Bank, clock: FrozenClock) -> None:
    said: dict[str, Any] = {"subject": "rota", "relation": "on call", "single_valued": True}
    (memory,) = bank.retain("On call: A", object="A", **said)
    bank.update_memory(memory, text="On call, this week: A")
    clock.advance(days=1)
    (newer,) = bank.retain("On call: B", object="B", **said)
    assert bank.get_memory(memory).superseded_by == newer


def test_a_pin_stays_and_what_was_archived_comes_back(bank: Bank, clock: FrozenClock) -> None:
    pinned, faded = bank.retain([OLD, "The pump seal leaks."])
    bank.pin(pinned)
    clock.advance(days=4_000)
    bank.maintain()
    assert bank.get_memory(faded).archived
    assert not bank.update_memory(faded, text="The pump seal is new.").archived
    assert bank.update_memory(pinned, text=NEW).pinned
    assert bank.verify().ok


def test_an_observation_goes_with_the_words_it_rests_on(bank: Bank) -> None:
    ids = bank.retain(
        ["Osprey runs on port 7070", "Osprey runs on port 7070 behind the proxy"], deduplicate=False
    )
    ids += bank.retain("osprey runs on port 7070!", deduplicate=False)
    bank.maintain()
    seen = [each for each in bank.list_memories(limit=100, kinds=["observation"]) if each.consolidated]
    assert seen
    with pytest.raises(InputError, match="sums up other memories"):
        bank.update_memory(seen[0].id, text="Osprey runs elsewhere.")
    for memory in ids:
        bank.update_memory(memory, text=f"The regatta of {memory} is in May.")
    assert not [each for each in bank.list_memories(limit=100, kinds=["observation"]) if each.consolidated]
    assert bank.verify().ok


def test_a_value_under_a_key_is_changed_by_its_key(bank: Bank) -> None:
    (memory,) = bank.put_records("notes", [{"path": ["a"], "value": "one", "text": "one"}])
    with pytest.raises(InputError, match="'notes'"):
        bank.update_memory(memory, text="two")
    assert bank.list_records("notes")[0].value == "one"


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata": {"mine": 1}},
        {"metadata": {"notes": {"path": ["b"], "value": 2}}},
        {"tags": ["mine"]},
        {"text": "one", "tags": ["mine"]},
    ],
)
def test_a_value_stays_under_its_key(bank: Bank, changes: dict[str, Any]) -> None:
    (memory,) = bank.put_records("notes", [{"path": ["a"], "value": {"n": 1}, "text": "one"}])
    held = bank.get_memory(memory)
    before = bank.list_records("notes", ["a"])
    with pytest.raises(InputError, match="'notes'"):
        bank.update_memory(memory, **changes)
    assert bank.get_memory(memory) == held
    bank.update_memory(memory, tags=[*held.tags, "mine"], metadata={**held.metadata, "mine": 1}, salience=0.5)
    assert [record.value for record in bank.list_records("notes", ["a"])] == [before[0].value]
    assert "mine" in bank.get_memory(memory).tags


def test_the_new_words_are_known_and_the_old_ones_can_be_said_anew(bank: Bank, edited: str) -> None:
    assert bank.recall("dentist")
    assert bank.retain(NEW) == [edited]
    (again,) = bank.retain(OLD)
    assert again != edited
    assert bank.get_memory(again).text == OLD


def test_a_conversation_that_is_given_again_leaves_an_edited_turn(bank: Bank) -> None:
    turns = [
        {"speaker": "Ana", "text": each}
        for each in ("The gate code is 4417.", "Which gate?", "The north one.")
    ]
    ids = bank.retain_conversation(turns, session="s")
    now = bank.update_memory(ids[0], text="The gate code is 5528.")
    assert (now.text, now.speaker, now.session) == ("Ana: The gate code is 5528.", "Ana", "s")
    assert bank.source(ids[0]).text == "The gate code is 5528."
    assert (
        bank.update_memory(ids[0], text="Ana: The gate code is 5529.").text == "Ana: The gate code is 5529."
    )
    assert bank.retain_conversation(turns, session="s") == ids
    assert len(bank.list_memories()) == 3


def test_links_are_made_anew_and_the_old_ones_stay_with_the_old_words(bank: Bank, clock: FrozenClock) -> None:
    turns = [
        {"text": each, "event_time": f"2026-01-0{day}"} for day, each in enumerate((OLD, "Which one?"), 1)
    ]
    first, second = bank.retain_conversation(turns, session="s")
    (other,) = bank.retain("The regatta is on 5 July 2026, Tove said.")
    before = links(bank)
    clock.advance(days=1)
    bank.update_memory(first, text=NEW)
    assert (second, 1, first, 2, "session") in links(bank)
    assert set(before) < set(links(bank))
    third = bank.retain_conversation([{"text": "The old one."}], session="s")[0]
    assert (third, 1, second, 1, "session") in links(bank)
    assert other
    assert bank.verify().ok


def test_it_is_the_same_after_compaction_backup_and_export(
    bank: Bank, store: Store, edited: str, tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder
) -> None:
    bank.retain_conversation([{"text": "The dentist called."}, {"text": "What did Tove say?"}], session="s")
    bank.update_memory(bank.retain("The regatta is in May.")[0], text="The regatta is on 5 July 2026.")
    clock.advance(seconds=60)

    def answers(of: Bank) -> Any:
        then = bank.history(edited)[0].ingested_at
        return [
            [(hit.id, hit.text, hit.score) for hit in of.recall(query, as_of=at, precision="wide")]
            for query in ("dentist", "Tove", "5 July 2026")
            for at in (None, then)
        ]

    expected, joined = answers(bank), links(bank)
    bank._rows.merge_if_due(force=True)
    assert answers(bank) == expected
    bank.export(tmp_path / "export")
    bank.backup(tmp_path / "backup.db")
    put_back = store.bank("again")
    put_back.restore(tmp_path / "backup.db")
    assert (answers(put_back), links(put_back)) == (expected, joined)
    with simonides.open(tmp_path / "other", clock=clock, embedder=stub_embedder) as opened:
        copy = opened.bank("copy")
        copy.import_bank(tmp_path / "export")
        assert (answers(copy), links(copy)) == (expected, joined)
        assert copy.verify().ok
        copy.export(tmp_path / "again")
        assert lines(tmp_path / "again") == lines(tmp_path / "export")
        # What is there already is left as it is.
        copy.import_bank(tmp_path / "export")
        assert links(copy) == joined


def lines(path: Path) -> list[str]:
    """Of an export, without its header and the check of the whole."""
    return [
        line for line in path.read_text().splitlines() if json.loads(line)["record"] not in {"header", "end"}
    ]


def test_a_bank_that_goes_over_to_another_embedder_encodes_both_wordings(
    tmp_path: Path, clock: FrozenClock
) -> None:
    with simonides.open(tmp_path, clock=clock, embedder=StubEmbedder(dimension=32)) as store:
        bank = store.bank()
        (memory,) = bank.retain(OLD)
        bank.retain("The regatta is on 3 June 2026, Ines said.")
        clock.advance(days=1)
        bank.update_memory(memory, text=NEW)
        joined = links(bank)
        other = StubEmbedder(dimension=16, name="other")
        bank.reembed(other)
        with bank._rows.reading() as reading:
            codes = connection_of(reading).execute("SELECT DISTINCT codes FROM vectors").fetchall()
        assert len(codes) == 3
        assert {each for each in links(bank) if each[4] != "semantic"} == {
            each for each in joined if each[4] != "semantic"
        }
        assert bank.verify().ok


def test_a_load_that_waits_to_be_read_is_read_for_the_old_words_alone(
    tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder
) -> None:
    with simonides.open(tmp_path, clock=clock, embedder=stub_embedder) as store:
        bank = store.bank()
        texts = [OLD, "The pump seal leaks."]
        ids = bank.load(texts, stub_embedder.encode(texts))
        bank.update_memory(ids[0], text=NEW)
        bank.settle()
        assert {entity.name for entity in bank.entities()} == {"Tove"}
        assert bank.verify().ok


def test_without_an_embedder(tmp_path: Path, clock: FrozenClock) -> None:
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        bank = store.bank()
        (memory,) = bank.retain(OLD)
        bank.update_memory(memory, text=NEW)
        assert [hit.text for hit in bank.recall("Tove")] == [NEW]
        assert not [hit for hit in bank.recall("Ines") if hit.id == memory]


def test_forgetting_erases_every_wording(bank: Bank, edited: str) -> None:
    bank.forget(edited)
    with pytest.raises(NotFoundError):
        bank.history(edited)
    assert not bank.recall("dentist")
    assert bank.verify().ok
