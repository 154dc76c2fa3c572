"""What another principal keeps to itself changes nothing of mine: no answer, and nothing that writing decides.

The same steps are taken twice from one empty bank: once as they are, once without those of the other principal.
The clock moves alike, so that equal rows get equal ids. What the first reads must then be equal byte for byte.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simonides
from simonides.errors import SimonidesError
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubTokenEmbedder
from simonides.testing.sparse import StubSparseEncoder

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.store import Store

ME, OTHER = "ines", "tove"
PROFILES = ("default", "lexical", "engram", "memoria", "jeffs_brain", "hindsight", "helix")
QUERIES = (
    "kettle on the stove",
    "Odalys Brandt",
    "where does Odalys work",
    "rain in March",
    "secret",
    "kettel stov",
    "Odlays met Mo in Norhav",
    "OB Mar.",
)
PLACES = ("Norrhav", "Quillstad", "Malvern")

TEXTS = st.one_of(
    st.builds("The {} is on the {}.".format, st.sampled_from(("kettle", "lamp")), st.sampled_from(("stove", "shelf"))),
    st.builds("Odalys Brandt met Mo Sand in {}.".format, st.sampled_from(PLACES)),
    st.builds("The lamp is {} {}.".format, st.sampled_from(("now on the", "no longer on the")), st.sampled_from(("stove", "shelf"))),
    st.builds("I {} {}.".format, st.sampled_from(("live in", "moved to", "moved back to", "switched to")), st.sampled_from(PLACES)),
    st.builds("Odalys Brandt works at {}.".format, st.sampled_from(PLACES)),
    st.builds("Rain fell on {} March because the kettle leaked.".format, st.integers(1, 3)),
)  # fmt: skip
ITEMS = st.fixed_dictionaries(
    {"text": TEXTS, "deduplicate": st.booleans()},
    optional={
        "tags": st.just(["a"]),
        "session": st.sampled_from(["s", "t"]),
        "speaker": st.just("Odalys Brandt"),
        "event_time": st.just("2026-02-01"),
        "source": st.sampled_from(["note", "call"]),
        "kind": st.sampled_from(["semantic", "decision"]),
    },
)
STATEMENTS = st.builds(
    lambda place: {
        "text": f"Odalys Brandt works at {place}.",
        "subject": "Odalys Brandt",
        "relation": "works at",
        "object": place,
        "single_valued": True,
    },
    st.sampled_from(PLACES),
)
WRITES = st.one_of(
    st.tuples(st.just("retain"), ITEMS | STATEMENTS),
    st.tuples(st.just("document"), st.lists(TEXTS, min_size=1, max_size=2)),
    st.tuples(st.just("conversation"), st.lists(TEXTS, min_size=1, max_size=2)),
    st.tuples(st.just("forget"), st.integers(0, 5)),
    st.tuples(st.just("keyed"), st.integers(0, 1)),
)
UPKEEP = st.tuples(st.sampled_from(["settle", "maintain"]), st.none())
STEPS = st.lists(
    st.tuples(st.sampled_from([ME, OTHER]), WRITES) | st.tuples(st.just("owner"), UPKEEP),
    min_size=2,
    max_size=14,
)


def private(item: dict[str, Any], who: str) -> dict[str, Any]:
    """The other keeps everything to itself; mine is for all."""
    return {**item, "acl": [OTHER]} if who == OTHER else item


def take(
    store: Store, clock: FrozenClock, steps: list[tuple[str, tuple[str, Any]]], *, others: bool
) -> list[Any]:
    """What my own writes answered."""
    answers: list[Any] = []
    ids: dict[str, list[str]] = {ME: [], OTHER: [], "owner": []}
    for who, (verb, value) in steps:
        clock.advance(seconds=10)
        if who == OTHER and not others:
            continue
        bank = store.bank("diary", principal=None if who == "owner" else who)
        try:
            answer = do(bank, who, verb, value, ids[who])
        except SimonidesError as error:
            answer = str(error)
        if who == ME:
            answers.append(answer)
    return answers


def do(bank: Bank, who: str, verb: str, value: Any, ids: list[str]) -> Any:
    found: list[str]
    match verb:
        case "retain":
            found = bank.retain([private(value, who)])
        case "document":
            found = bank.retain([private({"text": text}, who) for text in value], document_id="log")
        case "conversation":
            turns = [private({"text": text, "speaker": "Mo"}, who) for text in value]
            found = bank.retain_conversation(turns, session="talk")
        case "keyed":
            found = bank.retain([private({"text": f"kept {value}"}, who)], idempotency_key=f"key {value}")
        case "forget":
            return bank.forget(ids[value % len(ids)]) if ids else 0
        case "settle":
            return bank.settle()
        case _:
            bank.maintain()
            return None
    ids += found
    return found


def read(bank: Bank) -> dict[str, Any]:
    """Everything that a principal can read, but for the numbers of names, which count those of all."""
    memories = [memory.to_dict() for memory in bank.memories(limit=500)]
    return {
        "memories": memories,
        "histories": [[v.to_dict() for v in bank.history(memory["id"])] for memory in memories],
        "entities": [replace(entity, number=0).to_dict() for entity in bank.entities(None)],
        "stats": bank.stats(),
        "answers": [
            (profile, query, without_times(bank.recall(query, profile=profile, limit=20)))
            for profile in PROFILES
            for query in QUERIES
        ],
    }


def without_times(recall: Recall) -> str:
    answer = recall.to_dict()
    for line in (answer["trace"], *answer["trace"]["stages"]):
        del line["milliseconds"]
    return json.dumps(answer, allow_nan=False, sort_keys=True)


def opened(folder: Path, clock: FrozenClock) -> Store:
    return simonides.open(
        folder, clock=clock, embedder=StubTokenEmbedder(32), sparse=StubSparseEncoder(), environ={}
    )


@pytest.mark.fault("F4")
@settings(max_examples=15)
@given(STEPS)
def test_anothers_rows_change_nothing_that_is_mine(steps: list[tuple[str, tuple[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        empty = Path(place) / "empty"
        with opened(empty, FrozenClock()) as store:
            store.bank("diary")
        found = []
        for others in (True, False):
            shutil.copytree(empty, Path(place) / str(others))
            clock = FrozenClock()
            with opened(Path(place) / str(others), clock) as store:
                written = take(store, clock, steps, others=others)
                found.append((written, read(store.bank("diary", principal=ME))))
        with_others, alone = found
        assert with_others[0] == alone[0]
        for part, value in alone[1].items():
            assert with_others[1][part] == value, part


@pytest.mark.fault("F4")
def test_the_comparison_sees_a_row_that_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: were the other's rows not private, the property would fail."""
    monkeypatch.setitem(globals(), "private", lambda item, who: item)
    steps = [(ME, ("retain", {"text": "kettle"})), (OTHER, ("retain", {"text": "kettle on the stove"}))]
    found = []
    for others in (True, False):
        clock = FrozenClock()
        with opened(tmp_path / str(others), clock) as store:
            take(store, clock, steps, others=others)
            found.append(len(read(store.bank("diary", principal=ME))["memories"]))
    assert found == [2, 1]


@pytest.mark.fault("N90")
@pytest.mark.parametrize("same_words", [False, True])
def test_ids_of_observations_do_not_count_what_others_keep_to_themselves(
    tmp_path: Path, *, same_words: bool
) -> None:
    found = []
    with opened(tmp_path / "empty", FrozenClock()) as store:
        store.bank("diary")
    for private_groups in range(4):
        clock = FrozenClock()
        shutil.copytree(tmp_path / "empty", tmp_path / str(private_groups))
        with opened(tmp_path / str(private_groups), clock) as store:
            bank = store.bank("diary")
            for number in range(private_groups):
                text = "The lamp is red." if same_words else f"Shelf {number} holds figs."
                for source in ("note", "call"):
                    bank.retain(text, source=f"{source} {number}", kind="semantic", acl=[f"tove {number}"])
            clock.advance(seconds=10)
            for source in ("note", "call"):
                bank.retain("The lamp is red.", source=source, kind="semantic", acl=[ME])
                clock.advance(seconds=10)
            bank.maintain()
            mine = store.bank("diary", principal=ME)
            found.append([each.id for each in mine.memories(kinds=["observation"])])
    assert len(found[0]) == 1
    assert found[1:] == found[:1] * 3
