"""A store: its folder, its banks, its embedder, its clock, and what happens once it is closed."""

from __future__ import annotations

import logging
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.errors import (
    InputError,
    ModelMissingError,
    StoreError,
    UnavailableError,
    UnknownNameError,
)
from simonides.recall.channels.vectors import Dense
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import WordCounter
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.protocols import Tools, View
    from simonides.records.candidate import Ranking
    from simonides.records.query import Query
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    """An empty store without an embedder, at ``tmp_path / "store"``."""
    with simonides.open(tmp_path / "store", clock=clock, embedder=None) as opened:
        yield opened


def texts(bank: Bank, query: str, **arguments: Any) -> list[str]:
    return [hit.text for hit in bank.recall(query, **arguments, precision="wide")]


def test_a_missing_folder_is_made_with_its_parents_and_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "memories"

    with simonides.open(folder, embedder=None) as store:
        store.bank("diary").retain("The kettle is new.")

    assert store.folder == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    [bank] = folder.iterdir()
    assert stat.S_IMODE(bank.stat().st_mode) == 0o700
    assert stat.S_IMODE((bank / "memory.db").stat().st_mode) == 0o600


def test_a_path_may_be_a_string(tmp_path: Path) -> None:
    with simonides.open(str(tmp_path / "memories"), embedder=None) as store:
        assert store.folder == tmp_path / "memories"


def test_what_was_retained_is_there_when_the_store_is_opened_again(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None) as store:
        [kept] = store.bank("diary").retain("The kettle is new.")

    with simonides.open(tmp_path, embedder=None) as again:
        assert again.bank("diary").get_memory(kept).text == "The kettle is new."


def test_create_false_makes_neither_folder_nor_bank(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="there is no store"):
        simonides.open(tmp_path / "memories", embedder=None, create=False)
    with (
        simonides.open(tmp_path, embedder=None, create=False) as store,
        pytest.raises(UnavailableError, match="holds no bank"),
    ):
        store.bank("diary")

    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_folders_place_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("mine", encoding="utf-8")

    for path in (file, file / "inside"):
        with pytest.raises(UnavailableError, match="cannot be made"):
            simonides.open(path, embedder=None)

    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "path", ["", " ", "a\0b", "a\ud800", "x" * 5_000, b"memories", 3, None, ["memories"]], ids=ascii
)
def test_what_is_no_path_is_refused(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError) as caught:
        simonides.open(path, embedder=None)

    assert caught.value.field == "path"
    assert list(tmp_path.iterdir()) == []


def test_a_name_too_long_for_the_file_system_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="too long"):
        simonides.open(tmp_path / ("x" * 1_000), embedder=None)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"clock": datetime(2026, 3, 1, tzinfo=UTC)}, "clock"),
        ({"clock": 0}, "clock"),
        ({"embedder": 384}, "embedder"),
        ({"embedder": ["stub"]}, "embedder"),
        ({"embedder": " "}, "embedder"),
        ({"language": "klingon"}, "language"),
        ({"language": 3}, "language"),
        ({"zone": "Europe/Berlni"}, "zone"),
        ({"zone": 2}, "zone"),
        ({"tokens": 4096}, "tokens"),
        ({"channel_threads": -1}, "channel_threads"),
        ({"channel_threads": 65}, "channel_threads"),
        ({"channel_threads": True}, "channel_threads"),
        ({"channel_threads": "4"}, "channel_threads"),
    ],
    ids=repr,
)
def test_a_wrong_argument_is_named(arguments: dict[str, Any], field: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        simonides.open(tmp_path, **{"embedder": None, **arguments})

    assert caught.value.field == field


AWKWARD_NAMES = [
    "a",
    "A",
    "a/b",
    "a\\b",
    "..",
    "a.",
    "a ",
    "con",
    "\u00e9",
    "e\u0301",
    "日記",
    "🟢",
    "_61",
    "bank-a",
]


def test_differing_names_never_meet(store: Store) -> None:
    for position, name in enumerate(AWKWARD_NAMES):
        store.bank(name).retain(f"note {position}")

    assert store.list_banks() == sorted(AWKWARD_NAMES)
    for position, name in enumerate(AWKWARD_NAMES):
        assert texts(store.bank(name), "note") == [f"note {position}"]
    assert {entry.parent for entry in store.folder.iterdir()} == {store.folder}


def test_a_bank_has_the_name_default_unless_it_is_given_one(store: Store) -> None:
    bank = store.bank()

    assert bank.name == "default"
    assert bank.principal is None
    assert store.list_banks() == ["default"]


def test_two_handles_of_one_bank_share_its_memories(store: Store) -> None:
    [kept] = store.bank("diary").retain("The kettle is new.")

    assert store.bank("diary", principal="ines").get_memory(kept).text == "The kettle is new."


def test_a_folder_that_is_no_bank_is_not_listed(store: Store) -> None:
    store.bank("diary")
    (store.folder / "bank-empty").mkdir()
    (store.folder / "other").mkdir()

    assert store.list_banks() == ["diary"]


@pytest.mark.parametrize("name", ["", " \n", "a\ud800", "x" * 300, 3, None, b"diary", ["diary"]], ids=ascii)
def test_what_cannot_be_a_banks_name_is_refused(name: Any, store: Store) -> None:
    with pytest.raises(InputError) as caught:
        store.bank(name)

    assert caught.value.field == "bank"
    assert store.list_banks() == []


@pytest.mark.parametrize("principal", ["", " ", "a\0b", "a\ud800", "x" * 300, 3, ["ines"]], ids=ascii)
def test_what_cannot_be_a_principal_is_refused(principal: Any, store: Store) -> None:
    with pytest.raises(InputError) as caught:
        store.bank("diary", principal=principal)

    assert caught.value.field == "principal"
    assert store.list_banks() == []


def test_without_an_embedder_there_is_none(store: Store) -> None:
    assert store.embedder is None


def test_an_embedder_of_ones_own_is_used_as_it_is(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    with simonides.open(tmp_path, embedder=stub_embedder) as store:
        store.bank("diary").retain("The kettle is new.")

        assert store.embedder is stub_embedder
        assert store.bank("diary").stats()["embedder"] == "stub"


def test_a_default_model_that_cannot_be_had_leaves_recall_by_words_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # The session's model cache is empty and offline.
    with caplog.at_level(logging.WARNING, "simonides"), simonides.open(tmp_path) as store:
        bank = store.bank("diary")
        bank.retain("The kettle is new.")
        recall = bank.recall("kettle", precision="wide")

    assert [hit.text for hit in recall] == ["The kettle is new."]
    assert any(note.startswith("embedder: ") for note in recall.trace.degraded)
    assert [record.message for record in caplog.records if "keyword search only" in record.message]
    assert store.embedder is None


def test_a_named_model_that_cannot_be_had_is_an_error_and_nothing_is_stored(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder="all-MiniLM-L6-v2") as store:
        with pytest.raises(ModelMissingError):
            store.bank("diary").retain("The kettle is new.")
        assert store.bank("diary").stats()["versions"] == 0


def test_a_model_that_is_not_in_the_catalogue_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="all-MiniLM-L6-v2"):
        simonides.open(tmp_path / "store", embedder="all-MiniLM-L6")
    assert not (tmp_path / "store").exists()


def test_a_model_is_loaded_at_first_use_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str, **_: object) -> StubEmbedder:
        loaded.append(name)
        return StubEmbedder()

    monkeypatch.setattr("simonides.models.on_demand.load_embedder", load)
    with simonides.open(tmp_path, embedder="gte-small") as store:
        bank = store.bank("diary")
        assert loaded == []
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(bank.retain, ["one", "two", "three", "four"]))
        bank.recall("one", precision="wide")

    assert loaded == ["gte-small"]


def test_recall_by_words_alone_never_loads_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with simonides.open(tmp_path, embedder=None) as store:
        store.bank("diary").retain("The kettle is new.")
    monkeypatch.setattr(
        "simonides.models.on_demand.load_embedder", lambda *_, **__: pytest.fail("was loaded")
    )

    with simonides.open(tmp_path) as store:
        assert texts(store.bank("diary"), "kettle", profile="lexical") == ["The kettle is new."]


def test_the_system_clock_is_the_default(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    with simonides.open(tmp_path, embedder=None) as store:
        bank = store.bank("diary")
        [kept] = bank.retain("The kettle is new.")
        stamp = bank.get_memory(kept).ingested_at

    assert stamp is not None
    assert before <= stamp <= datetime.now(UTC)


@pytest.mark.parametrize("now", [datetime(2026, 3, 1), None, 1_772_000_000.0], ids=repr)  # noqa: DTZ001 naive on purpose
def test_a_clock_that_gives_no_aware_time_is_named(now: Any, tmp_path: Path) -> None:
    with simonides.open(tmp_path, clock=lambda: now, embedder=None) as store:
        bank = store.bank("diary")
        for use in (
            lambda: bank.retain("The kettle is new."),
            lambda: bank.recall("kettle", precision="wide"),
            bank.stats,
            bank.verify,
        ):
            with pytest.raises(InputError) as caught:
                use()
            assert caught.value.field == "clock"
    with simonides.open(tmp_path, embedder=None) as store:
        assert store.bank("diary").verify().checked["rows"] == 0


def test_times_that_state_no_zone_are_of_the_stores(tmp_path: Path, clock: FrozenClock) -> None:
    east = timezone(timedelta(hours=2))
    with simonides.open(tmp_path, clock=clock, embedder=None, zone=east) as store:
        bank = store.bank("diary")
        [kept] = bank.retain("The kettle is new.", event_time="2026-02-10")

        assert bank.get_memory(kept).event_time == datetime(2026, 2, 9, 22, tzinfo=UTC)
        assert texts(bank, "kettle", window="2026-02-10") == ["The kettle is new."]
        assert texts(bank, "kettle", window=("2026-02-09T22:00Z", "2026-02-10T22:00Z")) == [
            "The kettle is new."
        ]
        assert texts(bank, "kettle", as_of="2026-03-01T10:59:59") == []
        assert texts(bank, "kettle", as_of="2026-03-01T11:00:00") == ["The kettle is new."]


def test_the_language_decides_what_a_word_is(tmp_path: Path) -> None:
    for language, found in (("english", True), ("none", False)):
        with simonides.open(tmp_path / language, embedder=None, language=language) as store:
            store.bank("diary").retain("The kettles are new.")
            answer = store.bank("diary").recall("kettle", profile="lexical")
            assert bool(answer.hits) is found


def test_a_bank_follows_the_language_that_its_store_is_opened_with(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None, language="none") as store:
        store.bank("diary").retain("The kettles are new.")

    with simonides.open(tmp_path, embedder=None, language="english") as store:
        assert texts(store.bank("diary"), "kettle") == ["The kettles are new."]
        assert store.bank("diary").verify().ok


def test_budgets_are_counted_by_the_counter_that_is_given(tmp_path: Path) -> None:
    with simonides.open(tmp_path, embedder=None, tokens=WordCounter()) as store:
        bank = store.bank("diary")
        bank.retain("The kettle is new.")

        # As rendered: [1] (2026-03-01) The kettle is new.
        assert bank.recall("kettle", max_tokens=6, precision="wide")[0].tokens == 6
        assert len(bank.recall("kettle", max_tokens=5, precision="wide")) == 0


def test_leaving_the_block_closes_the_store_also_on_an_error(tmp_path: Path) -> None:
    store = simonides.open(tmp_path, embedder=None)
    bank = store.bank("diary")

    with pytest.raises(ZeroDivisionError), store:
        raise ZeroDivisionError

    with pytest.raises(StoreError, match="open it again"):
        store.bank("diary")
    with pytest.raises(StoreError, match="open the store again"):
        bank.recall("kettle", precision="wide")


CLOSED_USES: dict[str, Callable[[Bank], object]] = {
    "retain": lambda bank: bank.retain("more"),
    "recall": lambda bank: bank.recall("kettle", precision="wide"),
    "recall by words": lambda bank: bank.recall("kettle", profile="lexical", precision="wide"),
    "get": lambda bank: bank.get_memory("0" * 16),
    "forget": lambda bank: bank.forget("0" * 16),
    "stats": lambda bank: bank.stats(),
    "verify": lambda bank: bank.verify(),
}


@pytest.mark.parametrize("use", CLOSED_USES.values(), ids=list(CLOSED_USES))
@pytest.mark.parametrize("principal", [None, "ines"])
def test_a_bank_of_a_closed_store_says_so(
    use: Callable[[Bank], object], principal: str | None, tmp_path: Path
) -> None:
    store = simonides.open(tmp_path, embedder=None)
    store.bank("diary").retain("The kettle is new.")
    bank = store.bank("diary", principal=principal)

    store.close()
    store.close()

    with pytest.raises(StoreError, match="closed"):
        use(bank)
    with simonides.open(tmp_path, embedder=None) as again:
        assert again.bank("diary").stats()["versions"] == 1


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("profile", ["default", "lexical"])
def test_a_store_that_is_closed_under_a_recall_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str, threads: int
) -> None:
    # Channels run in the caller's thread or in the store's: both meet the closed store.
    opened = simonides.open(tmp_path, embedder=StubEmbedder(), channel_threads=threads)
    bank = opened.bank("diary")
    bank.retain("The kettle is new.")
    analyse = TextAnalyser.query_terms

    def close_and_analyse(self: TextAnalyser, text: str) -> list[str]:
        opened.close()
        return analyse(self, text)

    monkeypatch.setattr(TextAnalyser, "query_terms", close_and_analyse)

    with pytest.raises(StoreError, match="closed"):
        bank.recall("kettle", profile=profile, precision="wide")


@pytest.mark.spec("HX-04")
def test_channels_run_in_the_callers_thread_unless_the_store_has_threads_for_them(
    tmp_path: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, ran_in = Dense.search, set[str]()

    def noted(self: Dense, view: View, query: Query, tools: Tools) -> Ranking:
        ran_in.add(threading.current_thread().name)
        return search(self, view, query, tools)

    monkeypatch.setattr(Dense, "search", noted)
    answers = []
    for threads in (0, 2):
        with simonides.open(
            tmp_path, clock=clock, embedder=StubEmbedder(), channel_threads=threads, timer=lambda: 0.0
        ) as store:
            bank = store.bank("diary")
            bank.retain(["The kettle is new.", "Tove has a kettle."], deduplicate=True)
            ran_in.clear()
            answers.append(bank.recall("kettle", as_of="2026-03-02", precision="wide").to_dict())
            alone = threading.current_thread().name in ran_in
            assert len(ran_in) == 1
            assert alone == (threads == 0)
    assert answers[0] == answers[1]


def test_threads_share_a_store(store: Store) -> None:
    bank = store.bank("diary")
    start = threading.Barrier(4)

    def work(worker: int) -> list[str]:
        start.wait(timeout=30)
        kept = []
        for step in range(10):
            kept += bank.retain(f"worker{worker} step{step}")
            assert f"worker{worker} step{step}" in texts(bank, f"worker{worker} step{step}")
        return kept

    with ThreadPoolExecutor(4) as pool:
        kept = [memory for ids in pool.map(work, range(4)) for memory in ids]

    assert len(set(kept)) == 40
    assert bank.stats()["versions"] == 40
    assert bank.verify().ok


def test_threads_that_ask_for_a_new_bank_at_once_get_one(store: Store) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: store.bank("diary").retain(f"note {n}"), range(8)))

    assert store.bank("diary").stats()["versions"] == 8


def test_two_stores_on_one_folder_see_what_the_other_wrote_at_once(
    tmp_path: Path, clock: FrozenClock
) -> None:
    with (
        simonides.open(tmp_path, clock=clock, embedder=None) as one,
        simonides.open(tmp_path, clock=clock, embedder=None) as other,
    ):
        [first] = one.bank("diary").retain("The kettle is new.")
        assert texts(other.bank("diary"), "kettle") == ["The kettle is new."]
        [second] = other.bank("diary").retain("The kettle leaks.")
        assert sorted(hit.id for hit in one.bank("diary").recall("kettle", precision="wide")) == sorted(
            [first, second]
        )
        other.bank("diary").forget(first)
        assert texts(one.bank("diary"), "kettle") == ["The kettle leaks."]
