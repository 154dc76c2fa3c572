"""Export, import and export again: the same bytes, whatever the bank went through."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embedded_rows import connection_of

import simonides
from simonides.backends.embedded import importing
from simonides.errors import SimonidesError
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from simonides.bank import Bank

STUB = StubEmbedder(dimension=16)
PEOPLE = ("Odalys Brandt", "Ilse Tamm", "Mo")
PLACES = ("Norrhav", "Quillstad")

TEXTS = st.one_of(
    st.builds("{} works at {}".format, st.sampled_from(PEOPLE), st.sampled_from(PLACES)),
    st.builds("{} owns kayak {}".format, st.sampled_from(PEOPLE), st.integers(1, 3)),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
    ).filter(str.strip),
)
ITEMS = st.fixed_dictionaries(
    {"text": TEXTS},
    optional={
        "tags": st.lists(st.sampled_from(["kayak", "böte", "a,b"]), max_size=2),
        "acl": st.lists(st.sampled_from(["mo", "ilse"]), max_size=2),
        "event_time": st.sampled_from(["2025", "2025-06", "2026-01-10T08:00Z"]),
        "metadata": st.dictionaries(
            st.text('ab\u2028"', max_size=2), st.integers(-5, 5) | st.floats(-1, 1), max_size=2
        ),
        "session": st.sampled_from(["morning", "evening"]),
        "speaker": st.sampled_from(PEOPLE),
        "path": st.just("notes/day.md"),
        "project": st.just("boats"),
        "expansion": st.just("Who owns it?"),
        "salience": st.sampled_from([0.0, 0.25, 1.0, 1 / 3]),
        "recorded_at": st.sampled_from(["2020-02-29", "2026-02-01"]),
        "deduplicate": st.booleans(),
    },
)
STATEMENTS = st.builds(
    lambda who, where: {
        "text": f"{who} lives in {where}",
        "relation": "lives in",
        "subject": who,
        "object": where,
        "single_valued": True,
    },
    st.sampled_from(PEOPLE),
    st.sampled_from(PLACES),
)
STEPS = st.one_of(
    st.tuples(st.just("retain"), st.lists(ITEMS | STATEMENTS, min_size=1, max_size=4)),
    st.tuples(st.just("document"), st.lists(TEXTS, max_size=3)),
    st.tuples(st.just("keyed"), st.integers(0, 2)),
    st.tuples(st.just("forget"), st.integers(0, 30)),
    st.tuples(st.just("invalidate"), st.integers(0, 30)),
    st.tuples(st.just("alias"), st.integers(0, 30)),
    st.tuples(st.just("merge"), st.tuples(st.integers(0, 30), st.integers(0, 30))),
    st.tuples(st.just("undo"), st.integers(1, 3)),
    st.tuples(st.just("settle"), st.none()),
    st.tuples(st.just("queue"), st.none()),
)


def take(bank: Bank, clock: FrozenClock, steps: list[tuple[str, Any]]) -> None:  # noqa: C901 one line per verb
    """Whatever the bank refuses is a step that changes nothing."""
    ids: list[str] = []
    for verb, value in steps:
        clock.advance(days=1)
        entities = [entity.number for entity in bank.entities(None)]
        try:
            match verb:
                case "retain":
                    ids += bank.retain(value)
                case "document":
                    ids += bank.retain([{"text": text} for text in value], document_id="log")
                case "keyed":
                    ids += bank.retain(f"kept {value}", idempotency_key=f"key {value}")
                case "forget" if ids:
                    bank.forget(ids[value % len(ids)])
                case "invalidate" if ids:
                    bank.invalidate(ids[value % len(ids)])
                case "alias" if entities:
                    bank.add_alias(entities[value % len(entities)], "The Skipper")
                case "merge" if entities:
                    bank.merge_entities(
                        entities[value[0] % len(entities)], entities[value[1] % len(entities)]
                    )
                case "undo":
                    bank.undo_merge(value)
                case "settle":
                    bank.settle()
                case "queue":
                    bank.queue_enrichment()
        except SimonidesError:
            continue


def exported(bank: Bank, path: Path) -> bytes:
    counts = bank.export(path)
    assert counts.versions == path.read_bytes().count(b'"record":"memory"')
    return path.read_bytes()


class StoppedError(Exception):
    pass


@pytest.mark.fault("W5")
@given(st.lists(STEPS, max_size=12), st.integers(1, 5), st.integers(0, 9))
def test_an_export_is_a_fix_point(steps: list[tuple[str, Any]], size: int, stop: int) -> None:
    """Also with small batches, with an interruption after some of them, and when it is made again."""
    clock = FrozenClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        simonides.open(Path(folder, "store"), embedder=STUB, clock=clock) as store,
        patch.object(importing, "LARGEST_BATCH", size),
    ):
        bank, copy = store.bank("first"), store.bank("copy")
        take(bank, clock, steps)
        clock.advance(days=1)
        first = exported(bank, Path(folder, "first"))

        done = 0

        def interrupt(_done: int, _lines: int) -> None:
            nonlocal done
            done += 1
            if done > stop:
                raise StoppedError

        try:
            copy.import_bank(Path(folder, "first"), progress=interrupt)
        except StoppedError:
            assert copy.verify().problems == ()
        copy.import_bank(Path(folder, "first"))
        assert exported(copy, Path(folder, "second")) == first
        assert copy.verify().problems == ()

        sequence = copy.stats()["sequence"]
        again = copy.import_bank(Path(folder, "first"))
        assert not any(again.added.to_dict().values())
        assert copy.stats()["sequence"] == sequence

        for query in ("who owns a kayak", "lives in Norrhav"):
            asked = [b.recall(query, as_of="2026-06-01").to_dict()["hits"] for b in (bank, copy)]
            assert asked[0] == asked[1]
        for hit in bank.recall("works owns lives", limit=20):
            assert [m.to_dict() for m in bank.history(hit.id)] == [m.to_dict() for m in copy.history(hit.id)]


@given(st.lists(STEPS, max_size=8), st.lists(STEPS, max_size=8))
def test_an_import_adds_what_is_missing_and_changes_nothing_that_is_there(
    mine: list[tuple[str, Any]], theirs: list[tuple[str, Any]]
) -> None:
    clock = FrozenClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        simonides.open(Path(folder, "store"), embedder=STUB, clock=clock) as store,
    ):
        bank, other = store.bank("mine"), store.bank("other")
        take(bank, clock, mine)
        take(other, clock, theirs)
        before = {m.id: m for m in all_memories(bank)}
        wanted = {m.id: m for m in all_memories(other)}
        other.export(Path(folder, "other"))

        added = bank.import_bank(Path(folder, "other"))

        after = {m.id: m.to_dict() for m in all_memories(bank)}
        assert after == {i: m.to_dict() for i, m in (wanted | before).items()}
        assert added.added.memories == len(wanted.keys() - before.keys())
        assert bank.verify().problems == ()
        sequence = bank.stats()["sequence"]
        bank.import_bank(Path(folder, "other"))
        assert bank.stats()["sequence"] == sequence


def all_memories(bank: Bank) -> list[Any]:
    with bank._rows.reading() as reading:
        rows = connection_of(reading).execute("SELECT ordinal FROM memories ORDER BY ordinal").fetchall()
        return reading.memories([int(str(ordinal)) for (ordinal,) in rows])
