from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.backends.embedded.bulk_rows import memory_id
from simonides.backends.embedded.checksums import IMMUTABLE, row_checksum
from simonides.backends.embedded.migrations import MIGRATIONS
from simonides.records.draft import content_key
from simonides.records.interval import Interval, Precision
from simonides.records.kind import Kind, Layer
from simonides.retain.items import read_items

if TYPE_CHECKING:
    from tests.unit.backends.embedded.conftest import Desk

ROW: dict[str, Any] = {name: n for n, name in enumerate(IMMUTABLE)} | {
    "text": "fuse",
    "terms": b"{}",
    "content_key": b"\x01",
    "occurred_from": None,
    "salience": 0.5,
}
(DRAFT,) = read_items({"text": "fuse", "event_time": "2026", "tags": ["a"]}, {})


def test_a_digest_is_16_bytes_and_the_same_again() -> None:
    assert len(row_checksum(ROW, embedded=True)) == 16
    assert row_checksum(ROW, embedded=True) == row_checksum(dict(ROW), embedded=True)


@pytest.mark.parametrize("name", IMMUTABLE)
def test_every_column_counts(name: str) -> None:
    other = b"\x02" if isinstance(ROW[name], bytes) else "other"
    assert row_checksum({**ROW, name: other}, embedded=False) != row_checksum(ROW, embedded=False)


def test_that_there_is_a_vector_counts() -> None:
    assert row_checksum(ROW, embedded=True) != row_checksum(ROW, embedded=False)


def test_everything_that_never_changes_is_in_the_digest(desk: Desk) -> None:
    desk.open()
    columns = {name for _, name, *_ in desk.sql("SELECT * FROM pragma_table_info('memories')")}
    assert columns == set(IMMUTABLE) | {"expired_at", "end_digest", "digest"}
    assert len(MIGRATIONS) == 4, "a new column of memories must be immutable or known to change"


@pytest.mark.parametrize(
    "change",
    [
        {"text": "lamp"},
        {"kind": Kind.CODE},
        {"layer": Layer.WORKING},
        {"context": "x"},
        {"relation": "x"},
        {"path": "x"},
        {"project": "x"},
        {"tags": ("a", "b")},
        {"tags": ()},
        {"acl": ("ada",)},
        {"source": "x"},
        {"metadata_json": '{"a":1}'},
        {"occurred": None},
        {"occurred": Interval(0, 0)},
        {"valid_from": Interval(1, 1)},
        {"valid_from": Interval(1, 9, Precision.DAY)},
        {"valid_to": Interval(1, 1)},
        {"salience": 0.25},
        {"confidence": 0.25},
    ],
)
def test_items_that_differ_in_anything_have_other_keys(change: dict[str, Any]) -> None:
    assert content_key(replace(DRAFT, **change)) != content_key(DRAFT)


def test_how_an_item_is_written_is_no_part_of_what_it_says() -> None:
    assert content_key(replace(DRAFT, recorded_at=5, deduplicate=False)) == content_key(DRAFT)


def test_words_cannot_move_from_one_field_to_the_next() -> None:
    one, other = replace(DRAFT, text="a", context="b"), replace(DRAFT, text="ab", context="")
    assert content_key(one) != content_key(other)
    one, other = replace(DRAFT, tags=("a", "b")), replace(DRAFT, tags=("a,b",))
    assert content_key(one) != content_key(other)


def test_an_id_is_16_hex_digits_of_bank_time_text_and_attempt() -> None:
    memory = memory_id("b1", 5, "fuse", 0)
    assert len(memory) == 16
    assert int(memory, 16) >= 0
    assert memory == memory_id("b1", 5, "fuse", 0)
    others = {
        memory_id("b2", 5, "fuse", 0),
        memory_id("b1", 6, "fuse", 0),
        memory_id("b1", 5, "lamp", 0),
        memory_id("b1", 5, "fuse", 1),
    }
    assert len(others | {memory}) == 5
