"""Public faults of filters, tags, tenants and readers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import simonides
from simonides.errors import InputError, NotFoundError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock
    from simonides.testing.embedder import StubEmbedder

HOSTILE = (
    "' OR '1'='1",
    "'); DROP TABLE memories; --",
    '") OR 1=1 --',
    "a' --",
    "$.tags[0]",
    "$[*]",
    "json_extract(tags, '$')",
    "%",
    "_",
    "*",
    "? :tags @tags $tags",
    "{'$ne': null}",
    "a\\'b",
    "../../memory.db",
    "a\nb",
    "a\u2028b",
    "𝒷",
)


def texts(recall: Recall) -> list[str]:
    return [hit.text for hit in recall]


def rows(bank: Bank) -> tuple[int, int, int]:
    stats = bank.stats()
    return stats["memories"], stats["versions"], stats["sequence"]


@pytest.mark.fault("F2")
@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_hostile_filter_values_are_plain_values(bank: Bank, value: str) -> None:
    bank.retain(["kettle one", {"text": "kettle two", "tags": ["a"], "project": "atlas"}])
    before = rows(bank)

    assert texts(bank.recall("kettle", tags=[value], tags_match="any_strict", precision="wide")) == []
    assert texts(bank.recall("kettle", tags=[value], tags_match="exact", precision="wide")) == []
    assert texts(bank.recall("kettle", project=value, precision="wide")) == []
    with pytest.raises(NotFoundError):
        bank.get_memory(value)
    assert bank.forget([value]) == 0
    assert rows(bank) == before
    assert len(bank.recall("kettle", precision="wide")) == 2


@pytest.mark.fault("F2")
@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_hostile_labels_are_stored_and_found_as_they_are(store: Store, value: str) -> None:
    bank = store.bank("diary")
    [kept] = bank.retain(
        {"text": "kettle", "tags": [value], "project": value, "acl": [value], "path": value, "source": value}
    )
    bank.retain("kettle of another")

    memory = bank.get_memory(kept)
    assert (memory.tags, memory.acl) == ((value,), (value,))
    assert (memory.project, memory.path, memory.source) == (value, value, value)
    assert [hit.id for hit in bank.recall("kettle", tags=[value], tags_match="exact", precision="wide")] == [
        kept
    ]
    assert [hit.id for hit in bank.recall("kettle", project=value, precision="wide")] == [kept]
    assert len(store.bank("diary", principal=value).recall("kettle", precision="wide")) == 2
    assert len(store.bank("diary", principal="tove").recall("kettle", precision="wide")) == 1


@pytest.mark.fault("F2")
@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_hostile_keys_and_operators_are_refused(bank: Bank, value: str) -> None:
    bank.retain("kettle")
    before = rows(bank)

    for wrong in ({"text": "kettle two", value: 1}, {"text": "kettle two", f"tags.{value}": ["a"]}):
        with pytest.raises(InputError):
            bank.retain(["kettle three", wrong])
    for arguments in ({"tags_match": value}, {"kinds": [value]}, {"as_of": value}, {"window": value}):
        with pytest.raises(InputError) as caught:
            bank.recall("kettle", **arguments, precision="wide")
        assert caught.value.field.split("[")[0] in arguments
    with pytest.raises(UnknownNameError) as unknown:
        bank.retain("kettle four", kind=value)
    assert unknown.value.field == "kind"
    assert rows(bank) == before


@pytest.mark.fault("F2")
def test_hostile_words_in_text_and_query_are_words(bank: Bank) -> None:
    bank.retain(list(HOSTILE))
    before = rows(bank)

    for value in HOSTILE:
        bank.recall(value, precision="wide")

    assert rows(bank) == before
    assert texts(bank.recall("DROP TABLE memories", limit=1, precision="wide")) == [
        "'); DROP TABLE memories; --"
    ]
    assert bank.verify().ok


TAGGED: dict[str, list[str]] = {"a": ["a"], "b": ["b"], "ab": ["a", "b"], "untagged": []}
TRUTH = {
    ("any", "a"): "a ab untagged",
    ("any", "a b"): "a ab b untagged",
    ("any_strict", "a"): "a ab",
    ("any_strict", "a b"): "a ab b",
    ("all", "a"): "a ab untagged",
    ("all", "a b"): "ab untagged",
    ("all_strict", "a"): "a ab",
    ("all_strict", "a b"): "ab",
}


@pytest.mark.fault("F3")
def test_tags_follow_the_printed_truth_table_by_every_channel_and_for_every_reader(
    store: Store, dense_only: Path
) -> None:
    owner, tove = store.bank("diary"), store.bank("diary", principal="tove")
    owner.retain([{"text": f"kettle {name}", "tags": tags} for name, tags in TAGGED.items()])
    # Out of Tove's sight, and tagged like what is in it.
    owner.retain([{"text": f"pan {name}", "tags": tags, "acl": ["ines"]} for name, tags in TAGGED.items()])

    for (mode, tags), expected in TRUTH.items():
        for profile in ("default", "lexical", dense_only):
            hits = texts(
                tove.recall("kettle", tags=tags.split(), tags_match=mode, profile=profile, precision="wide")
            )
            assert sorted(text.removeprefix("kettle ") for text in hits) == expected.split(), (
                mode,
                tags,
                profile,
            )


def without_times(recall: Recall) -> bytes:
    answer = recall.to_dict()
    for line in (answer["trace"], *answer["trace"]["stages"]):
        del line["milliseconds"]
    return json.dumps(answer, allow_nan=False, sort_keys=True).encode()


@pytest.mark.fault("F4")
def test_a_private_row_changes_no_byte_of_anothers_answers(
    store: Store, dense_only: Path, clock: FrozenClock
) -> None:
    owner, second = store.bank("diary"), store.bank("diary", principal="second")
    owner.retain(
        [
            "Perrin leads the kestrel project.",
            "The kestrel project has a budget of nine.",
            {"text": "Kestrel meets on Mondays.", "acl": ["first", "second"], "tags": ["meeting"]},
            *(f"Note {n} about other things." for n in range(5)),
        ]
    )
    clock.advance(seconds=60)
    arguments: list[dict[str, Any]] = [
        {},
        {"profile": "lexical"},
        {"profile": dense_only},
        {"tags": ["meeting"], "tags_match": "any_strict"},
        {"max_tokens": 30},
        {"limit": 1},
        {"as_of": "2026-03-01T09:00:30Z"},
    ]
    queries = ("Perrin", "kestrel project budget", "Perrin Quill", "Note", "secret merger")

    def answers() -> list[bytes]:
        return [
            without_times(second.recall(query, **extra, precision="wide"))
            for query in queries
            for extra in arguments
        ]

    before, stats = answers(), second.stats()
    private = store.bank("diary", principal="first").retain(
        [
            {
                "text": f"Perrin Quill and the kestrel project: secret merger {n}",
                "acl": ["first"],
                "tags": ["meeting", "hush"],
            }
            for n in range(30)
        ]
    )

    assert answers() == before
    assert second.stats() == stats
    for memory in private:
        with pytest.raises(NotFoundError):
            second.get_memory(memory)
    assert second.forget(private) == 0
    # The control: to the one who may read them, they are there.
    assert len(store.bank("diary", principal="first").recall("secret merger", precision="wide")) == 10


@pytest.mark.fault("F4")
def test_forgetting_a_private_row_changes_no_byte_either(store: Store) -> None:
    owner, second = store.bank("diary"), store.bank("diary", principal="second")
    owner.retain(["kettle one", "kettle two and a stove"])
    before = without_times(second.recall("kettle", precision="wide"))

    private = owner.retain([{"text": f"kettle {n}", "acl": ["first"]} for n in range(5)])
    assert without_times(second.recall("kettle", precision="wide")) == before
    owner.forget(private)

    assert without_times(second.recall("kettle", precision="wide")) == before


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.fault("F5")
def test_forgetting_in_one_bank_leaves_the_files_of_another_byte_equal(
    tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder
) -> None:
    def opened() -> Store:
        return simonides.open(tmp_path, clock=clock, embedder=stub_embedder)

    items = [f"kettle number {n}" for n in range(50)]
    with opened() as store:
        ids = store.bank("a").retain(items)
        other = store.bank("b").retain(items)
        folders = {name: store.bank(name)._rows.folder for name in ("a", "b")}
        while_open = files(folders["b"])
        store.bank("a").forget(ids[:25])
        assert files(folders["b"]) == while_open
    before = files(folders["b"])
    with opened() as store:
        assert store.bank("a").forget([*ids, *other]) == 25
        assert store.bank("a").stats()["versions"] == 0
    assert files(folders["b"]) == before

    with opened() as store:
        assert store.bank("b").stats()["versions"] == 50
        assert store.bank("b").verify().ok
        assert len(store.bank("b").recall("kettle", limit=100, precision="wide")) == 50


@pytest.mark.fault("F5")
def test_forgetting_needs_to_be_told_what(bank: Bank) -> None:
    bank.retain(["kettle one", "kettle two"])

    with pytest.raises(TypeError):
        bank.forget()  # type: ignore[call-arg]
    with pytest.raises(InputError):
        bank.forget(None)  # type: ignore[arg-type]
    assert bank.forget([]) == bank.forget("") == 0
    assert bank.stats()["versions"] == 2


@pytest.mark.fault("F4")
def test_nobody_writes_among_memories_that_it_cannot_read(store: Store) -> None:
    """Else it could end them, and learn what they say from whether a repeat is stored."""
    owner, eva, ivo = (store.bank("b", principal=name) for name in (None, "eva", "ivo"))
    text = "Eva has 4417 as the alarm code."
    [code] = eva.retain(text, acl=["eva"])
    owner.retain([{"text": "Eva leads the mill."}], document_id="hr/eva", acl=["eva"])
    [job] = eva.retain(
        "Odalys works at Norrhav.", acl=["eva"], subject="Odalys", relation="works at", object="Norrhav",
        single_valued=True,
    )  # fmt: skip
    before = [(memory.id, memory.valid_to_micros) for memory in eva.list_memories()]
    writes: list[Callable[[], object]] = [
        lambda: ivo.retain(text, acl=["eva"]),
        lambda: ivo.retain("Ivo overwrote it.", document_id="hr/eva", acl=["eva"]),
        lambda: ivo.retain_document("Ivo overwrote it.", document_id="hr/eva", acl=["eva"]),
        lambda: ivo.retain_conversation([{"text": "Ivo says so."}], session="one", acl=["eva"]),
        lambda: ivo.import_items([{"text": text, "acl": ["eva"]}]),
        lambda: ivo.load([{"text": text, "acl": ["eva"]}], np.eye(1, owner.stats()["dimension"])),
        lambda: ivo.retain(
            "Odalys works at Malvern.", acl=["eva"], subject="Odalys", relation="works at", object="Malvern",
            single_valued=True,
        ),
    ]  # fmt: skip
    for write in writes:
        with pytest.raises(InputError, match=r"acl: \['eva'\] lacks 'ivo'"):
            write()
    assert [(memory.id, memory.valid_to_micros) for memory in eva.list_memories()] == before
    assert {code, job} <= {memory for memory, _ in before}
    # With itself among the readers it writes beside them.
    ivo.retain(text, acl=["eva", "ivo"])
    owner.retain("The owner writes for anyone.", acl=["eva"])
    assert eva.get_memory(code).valid_to_micros == dict(before)[code]


NOTHING: tuple[dict[str, Any], ...] = (
    {"kinds": []},
    {"kinds": ()},
    {"types": []},
    {"types": set()},
    {"kinds": [], "types": ["world"]},
    {"kinds": ["semantic"], "types": []},
    {"tags": [], "tags_match": "any_strict"},
    {"tags": (), "tags_match": "all_strict"},
    {"tags_match": "any_strict"},
    {"tags": None, "tags_match": "all_strict"},
)
"""Filters that wanted nothing: what a caller computed came out empty."""


@pytest.fixture
def kettles(bank: Bank) -> Bank:
    bank.retain(["The kettle is red.", {"text": "The kettle is old.", "tags": ["a"], "kind": "decision"}])
    return bank


@pytest.mark.fault("N7")
@pytest.mark.parametrize("filters", NOTHING, ids=str)
def test_a_filter_without_a_wanted_value_matches_nothing(kettles: Bank, filters: dict[str, Any]) -> None:
    for profile in ("default", "lexical", "engram", "memoria", "jeffs_brain", "hindsight", "helix"):
        assert texts(kettles.recall("kettle", profile=profile, **filters, precision="wide")) == []
    assert texts(kettles.recall("kettle", include_archived=True, **filters, precision="wide")) == []
    assert texts(kettles.recall("kettle", prefer_observations=True, **filters, precision="wide")) == []
    assert kettles.list_memories(**filters) == []
    memory = kettles.list_memories()[0].id
    assert kettles.why_not(memory, "kettle", **filters).stage == "eligible"


@pytest.mark.fault("N7")
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"kinds": None, "types": None, "tags": None}, 2),
        ({"tags": []}, 2),
        ({"tags": [], "tags_match": "all"}, 2),
        ({"tags": [], "tags_match": "exact"}, 1),
        ({"tags_match": "exact"}, 1),
    ],
    ids=str,
)
def test_a_filter_that_is_not_given_keeps_all(kettles: Bank, filters: dict[str, Any], found: int) -> None:
    assert len(kettles.recall("kettle", **filters, precision="wide")) == found
    assert len(kettles.list_memories(**filters)) == found


@pytest.mark.fault("N7")
@pytest.mark.parametrize("query", ["tag:a kettle", "kind:decision kettle", "tag:a kind:decision kettle"])
@pytest.mark.parametrize("filters", NOTHING, ids=str)
def test_a_clause_of_the_query_does_not_open_an_empty_filter(
    kettles: Bank, query: str, filters: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"profile": "jeffs_brain", "syntax": "extended"}
    assert len(kettles.recall(query, **asked, precision="wide")) == 1
    assert texts(kettles.recall(query, **asked, **filters, precision="wide")) == []


@pytest.mark.fault("N7")
def test_only_untagged_memories_and_a_tag_in_the_query_exclude_each_other(kettles: Bank) -> None:
    with pytest.raises(InputError, match="tags"):
        kettles.recall(
            "tag:a kettle", profile="jeffs_brain", syntax="extended", tags_match="exact", precision="wide"
        )


@pytest.mark.fault("N7")
def test_an_empty_list_never_widens_what_is_erased_or_changed(kettles: Bank) -> None:
    before = rows(kettles)

    assert kettles.forget([]) == 0
    assert kettles.forget_where([]).memories == 0
    assert kettles.forget_where([], purge=True).memories == 0
    assert (
        kettles.used([]) == kettles.quarantine([]) == kettles.release([]) == kettles.queue_enrichment([]) == 0
    )
    assert rows(kettles) == before


@pytest.mark.fault("N7")
def test_a_job_keeps_an_empty_filter(kettles: Bank) -> None:
    plain = kettles.recall("kettle", kinds=[], tier="async", precision="wide")

    job = kettles.get_job(plain.job, wait_seconds=30)

    assert texts(plain) == []
    assert job.recall is not None
    assert texts(job.recall) == []
