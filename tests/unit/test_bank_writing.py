"""Documents, conversations, raw sources and questions, through the bank."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, NotFoundError
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.extraction import Extraction
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

GARDEN = "# Garden\n\nIlse planted figs.\n\n## Tools\n\nThe spade is blunt.\n\nBuy a rake."
TALK = [
    {"speaker": "Ilse", "text": "Is the ferry late?"},
    {"speaker": "Bram", "text": "Yes,\nby an hour of fog."},
    {"speaker": "Ilse", "text": "Then I take the bus."},
]


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder) -> Iterator[Store]:
    with open_store(tmp_path / "store", clock=clock, embedder=stub_embedder) as opened:
        yield opened


@pytest.fixture
def bank(store: Store) -> Bank:
    return store.bank("b")


def found(bank: Bank, query: str, **options: Any) -> set[str]:
    """Texts that hold a word of the query."""
    return {hit.text for hit in bank.recall(query, profile="lexical", limit=100, **options)}


def rows_on_disk(store: Store) -> bytes:
    """Every byte of the database once nobody has it open."""
    store.close()
    return b"".join(file.read_bytes() for file in sorted(store.folder.rglob("memory.db*")))


# -- documents


@pytest.mark.spec("HI-15")
@pytest.mark.spec("ME-10")
def test_a_document_is_kept_whole_once_and_its_memories_know_their_part(bank: Bank) -> None:
    ids = bank.retain_document(GARDEN, document_id="garden.md")
    assert len(ids) == 3
    assert bank.stats()["episodes"] == 1
    for memory in ids:
        source = bank.source(memory)
        assert source.text == GARDEN
        assert source.chunk == bank.get_memory(memory).text
        assert source.document == "garden.md"


def test_a_source_says_who_when_and_how_far_it_is_trusted(store: Store, clock: FrozenClock) -> None:
    (memory,) = store.bank("b", principal="mira").retain("figs", speaker="Ilse", session="s", role="tool")
    source = store.bank("b").source(memory)
    assert (source.text, source.start, source.stop) == ("figs", 0, 4)
    assert (source.speaker, source.session, source.author, source.trust) == ("Ilse", "s", "mira", 0.6)
    assert source.recorded_at == clock()
    assert source.to_dict()["recorded_at"] == clock().isoformat()


def test_a_paragraph_is_found_by_title_headings_and_date(bank: Bank) -> None:
    bank.retain_document(GARDEN, document_id="garden.md", title="Almanac", event_time="2023-05-08")
    assert bank.get_memory(bank.recall("rake", profile="lexical")[0].id).context == (
        "Almanac\n# Garden > ## Tools\n8 May 2023"
    )
    assert "Buy a rake." in found(bank, "almanac")
    assert "Buy a rake." in found(bank, "tools")
    assert "Buy a rake." in found(bank, "what did I write on 8 May?")


def test_a_document_comes_from_a_document_unless_the_caller_says_otherwise(bank: Bank) -> None:
    (one,) = bank.retain_document("figs", document_id="a")
    (two,) = bank.retain_document("plums", document_id="b", role="user")
    assert (bank.get_memory(one).trust, bank.get_memory(two).trust) == (0.6, 1.0)


def test_the_same_document_again_changes_nothing(bank: Bank, clock: FrozenClock) -> None:
    first = bank.retain_document(GARDEN, document_id="garden.md", title="Almanac")
    before = bank.stats()
    clock.advance(seconds=3_600)
    assert bank.retain_document(GARDEN, document_id="garden.md", title="Almanac") == first
    assert bank.stats() == before


@pytest.mark.fault("W1")
def test_a_changed_document_keeps_what_stayed_and_ends_what_went(bank: Bank, clock: FrozenClock) -> None:
    figs, spade, rake = bank.retain_document(GARDEN, document_id="garden.md")
    clock.advance(days=1)
    changed = GARDEN.replace("blunt", "sharp").replace("\n\nBuy a rake.", "\n\nSell the rake.")
    kept, new, also_new = bank.retain_document(changed, document_id="garden.md")
    assert kept == figs
    assert {new, also_new}.isdisjoint({spade, rake})
    assert found(bank, "spade rake") == {"## Tools\n\nThe spade is sharp.", "Sell the rake."}
    ended = bank.get_memory(spade).valid_to
    assert ended is not None
    assert ended - clock() < timedelta(seconds=1)
    # Each memory keeps the text that it was read in.
    assert (bank.source(kept).text, bank.source(new).text) == (GARDEN, changed)
    assert bank.source(spade).text == GARDEN


def test_documents_of_different_names_do_not_touch_each_other(bank: Bank) -> None:
    one = bank.retain_document(GARDEN, document_id="a")
    two = bank.retain_document(GARDEN, document_id="b")
    assert set(one).isdisjoint(two)
    bank.retain_document("Nothing grows.", document_id="a")
    assert all(bank.get_memory(memory).valid_to is None for memory in two)


def test_a_document_without_words_is_refused_and_changes_nothing(bank: Bank) -> None:
    ids = bank.retain_document(GARDEN, document_id="garden.md")
    with pytest.raises(InputError, match="blank"):
        bank.retain_document("\n\n", document_id="garden.md")
    with pytest.raises(InputError, match="event_time"):
        bank.retain_document(GARDEN, document_id="garden.md", event_time="once")
    assert all(bank.get_memory(memory).valid_to is None for memory in ids)


def test_a_source_is_read_by_who_may_read_the_memory(store: Store) -> None:
    (memory,) = store.bank("b").retain_document("figs", document_id="d", acl=["mira"])
    assert store.bank("b", principal="mira").source(memory).text == "figs"
    with pytest.raises(NotFoundError):
        store.bank("b", principal="tomas").source(memory)
    with pytest.raises(NotFoundError):
        store.bank("b").source("0" * 16)


@pytest.mark.fault("W4")
def test_a_forgotten_paragraph_leaves_the_raw_texts_of_its_document(
    store: Store, bank: Bank, clock: FrozenClock
) -> None:
    figs, _, rake = bank.retain_document(GARDEN, document_id="garden.md")
    clock.advance(days=1)
    _, spade, _ = bank.retain_document(GARDEN.replace("blunt", "sharp"), document_id="garden.md")
    bank.forget(figs)
    for memory in (spade, rake):
        source = bank.source(memory)
        assert "figs" not in source.text
        assert len(source.text) == len(GARDEN)
        assert source.chunk == bank.get_memory(memory).text
    assert bank.verify().ok
    assert b"planted" not in rows_on_disk(store)


def test_raw_text_goes_with_the_last_memory_of_it(bank: Bank) -> None:
    ids = bank.retain_document(GARDEN, document_id="garden.md")
    bank.forget(ids[:2])
    assert bank.stats()["episodes"] == 1
    bank.forget(ids[2:])
    assert bank.stats()["episodes"] == 0


# -- conversations


@pytest.mark.spec("ME-10")
def test_turns_are_memories_that_their_neighbours_help_to_find(bank: Bank) -> None:
    ids = bank.retain_conversation(TALK, session="monday", window=1)
    memories = [bank.get_memory(memory) for memory in ids]
    assert [memory.text for memory in memories][0::2] == [
        "Ilse: Is the ferry late?",
        "Ilse: Then I take the bus.",
    ]
    assert memories[2].context == "Bram: Yes,\nby an hour of fog."
    assert {memory.session for memory in memories} == {"monday"}
    assert [memory.speaker for memory in memories] == ["Ilse", "Bram", "Ilse"]
    assert bank.source(ids[1]).text == "Yes,\nby an hour of fog."
    assert found(bank, "fog") == {memory.text for memory in memories}


def test_without_a_window_a_turn_stands_alone(bank: Bank) -> None:
    bank.retain_conversation(TALK, session="monday", window=0)
    assert found(bank, "bus") == {"Ilse: Then I take the bus."}


def test_a_conversation_may_be_given_anew_as_it_goes_on(bank: Bank, clock: FrozenClock) -> None:
    first = bank.retain_conversation(TALK, session="monday")
    clock.advance(seconds=300)
    again = bank.retain_conversation([*TALK, {"speaker": "Bram", "text": "Safe trip."}], session="monday")
    assert again[:3] == first
    assert bank.stats()["versions"] == 4
    assert bank.get_memory(again[3]).context == "Bram: Yes,\nby an hour of fog.\nIlse: Then I take the bus."


def test_the_same_turn_in_another_conversation_is_another_memory(bank: Bank) -> None:
    assert set(bank.retain_conversation(TALK, session="monday")).isdisjoint(
        bank.retain_conversation(TALK, session="tuesday")
    )


@pytest.mark.fault("W4")
def test_a_forgotten_turn_leaves_the_context_of_its_neighbours(store: Store, bank: Bank) -> None:
    first, second, third = bank.retain_conversation(TALK, session="monday")
    bank.forget(second)
    assert [bank.get_memory(memory).context for memory in (first, third)] == [
        "Ilse: Then I take the bus.",
        "Ilse: Is the ferry late?",
    ]
    assert found(bank, "fog") == set()
    assert found(bank, "ferry") == {"Ilse: Is the ferry late?", "Ilse: Then I take the bus."}
    assert bank.verify().problems == ()
    assert b"fog" not in rows_on_disk(store)


@pytest.mark.fault("W4")
def test_a_forgotten_long_turn_leaves_the_context_of_its_neighbours(store: Store, bank: Bank) -> None:
    long = {"text": "\n\n".join(["fog over the harbour " * 10] * 20)}
    first, second = bank.retain_conversation([{"text": "A: weather?"}, long], session="monday")
    assert "fog" in bank.get_memory(first).context
    bank.forget(second)
    assert bank.get_memory(first).context == ""
    assert bank.verify().problems == ()
    assert b"fog" not in rows_on_disk(store)


def test_forgetting_one_of_two_conversations_leaves_the_other(bank: Bank) -> None:
    _, second, _ = bank.retain_conversation(TALK, session="monday")
    other = bank.retain_conversation(TALK, session="tuesday")
    bank.forget(second)
    assert "fog" in bank.get_memory(other[0]).context


def test_a_context_of_the_callers_own_loses_only_whole_turns(bank: Bank) -> None:
    (turn,) = bank.retain("Bram: ok", session="monday")
    (other,) = bank.retain("Ilse: fine", session="monday", context="Bram: ok then\nBram: ok")
    bank.forget(turn)
    assert bank.get_memory(other).context == "Bram: ok then"


# -- dates and questions


def test_a_memory_is_found_by_the_date_that_it_happened_or_states(bank: Bank) -> None:
    bank.retain("The lamp was lit.", event_time="2023-05-08T13:56Z")
    bank.retain("The quay was closed on 3 April 2021.")
    bank.retain("Nothing happened.")
    assert found(bank, "May 2023") == {"The lamp was lit."}
    assert found(bank, "April 2021") == {"The quay was closed on 3 April 2021."}
    assert bank.get_memory(bank.recall("lamp", profile="lexical")[0].id).context == ""


def test_date_words_outlive_another_analyser(tmp_path: Path, clock: FrozenClock) -> None:
    with open_store(tmp_path / "s", clock=clock, embedder=None) as store:
        store.bank("b").retain("The lamp was lit.", event_time="2023-05-08")
    with open_store(tmp_path / "s", clock=clock, embedder=None, language="none") as store:
        assert found(store.bank("b"), "May 2023") == {"The lamp was lit."}
        assert store.bank("b").verify().ok


@pytest.mark.spec("HX-16")
def test_a_memory_is_found_by_the_questions_that_it_answers(bank: Bank) -> None:
    (memory,) = bank.retain("Odalys Fennimark works at Gullspire.")
    assert "employer" in bank.get_memory(memory).expansion
    assert found(bank, "who is the employer of Odalys?") == {"Odalys Fennimark works at Gullspire."}


class Shouting:
    """An expander of the caller's own."""

    def expand(self, text: str, found: Extraction) -> str:
        return text.upper() + " ZEPPELIN"


@pytest.mark.spec("HX-16")
@pytest.mark.parametrize(("expander", "hits"), [(None, 0), (Shouting(), 1)])
def test_the_questions_are_the_stores_choice(
    tmp_path: Path, clock: FrozenClock, expander: Any, hits: int
) -> None:
    with open_store(tmp_path / "s", clock=clock, embedder=None, expander=expander) as store:
        (memory,) = store.bank("b").retain("Odalys Fennimark works at Gullspire.")
        assert bool(store.bank("b").get_memory(memory).expansion) == bool(hits)
        assert len(found(store.bank("b"), "zeppelin")) == hits


def test_a_callers_own_expansion_stands(bank: Bank) -> None:
    (memory,) = bank.retain("Odalys Fennimark works at Gullspire.", expansion="Who sails?")
    assert bank.get_memory(memory).expansion == "Who sails?"


def test_turning_the_questions_on_stores_nothing_twice(tmp_path: Path, clock: FrozenClock) -> None:
    ids = []
    without: dict[str, Any] = {"expander": None}
    for options in (without, {}):
        with open_store(tmp_path / "s", clock=clock, embedder=None, **options) as store:
            ids += store.bank("b").retain("Odalys Fennimark works at Gullspire.")
    assert ids[0] == ids[1]


def test_what_is_no_expander_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expander"):
        open_store(tmp_path / "s", expander="guess")  # type: ignore[arg-type]
    assert not (tmp_path / "s").exists()


# -- a clock that stands still, or was set back


@pytest.fixture(params=[0, -3600], ids=["stands", "set back"])
def late(bank: Bank, clock: FrozenClock, request: pytest.FixtureRequest) -> list[str]:
    """Three memories, recorded one microsecond after another under a clock that does not move on."""
    ids = bank.retain(["The kiln is hot.", "The wheel is wet.", "The glaze is blue."])
    clock.advance(seconds=request.param)
    return ids


def test_what_was_just_retained_can_be_ended(bank: Bank, late: list[str]) -> None:
    for memory in reversed(late):
        bank.invalidate(memory)
        bank.invalidate(memory)
    assert found(bank, "kiln wheel glaze hot wet blue") == set()
    for memory in late:
        first, last = bank.history(memory)
        assert first.expired_at_micros == last.ingested_at_micros
        assert first.valid_from_micros < last.valid_to_micros <= last.ingested_at_micros
    assert bank.verify().ok


def test_what_was_just_ended_can_be_said_again(bank: Bank, late: list[str]) -> None:
    bank.invalidate(late[1])
    (again,) = bank.retain("The wheel is wet.")
    assert again not in late
    assert found(bank, "wheel") == {"The wheel is wet."}
    (near,) = bank.retain("The wheel is wet!")
    assert near == again, "a repeat is told from what holds, not from what was ended"


def test_every_change_can_follow_at_once(bank: Bank, late: list[str]) -> None:
    for salience in (0.25, 0.5, 0.75):
        assert bank.update_memory(late[2], salience=salience).salience == salience
    bank.pin(late[2])
    bank.update_memory(late[2], tags=["a"])
    assert [version.version for version in bank.history(late[2])] == [1, 2, 3, 4, 5, 6]
    assert found(bank, "glaze", tags=["a"]) == {"The glaze is blue."}
    assert bank.used(late) == 3
    assert bank.forget(late[2]) == 1
    assert found(bank, "glaze") == set()
    assert bank.verify().ok


def test_a_fact_can_be_followed_by_another_at_once(bank: Bank, clock: FrozenClock) -> None:
    texts = [f"Rosa Brandt lives in {town}." for town in ("Lyon", "York", "Lyon", "Hull")]
    ids = [bank.retain(text)[0] for text in texts]
    assert len(set(ids)) == 4
    assert found(bank, "Rosa Brandt lives") == {"Rosa Brandt lives in Hull."}
    bank.invalidate(ids[-1])
    assert found(bank, "Rosa Brandt lives") == set()


def test_an_end_before_the_beginning_is_refused_all_the_same(bank: Bank, late: list[str]) -> None:
    with pytest.raises(InputError, match="began to hold"):
        bank.invalidate(late[0], at="2001-01-01")
    (later,) = bank.retain("The fair opens.", valid_from="2040-01-01")
    with pytest.raises(InputError, match="began to hold"):
        bank.invalidate(later)
