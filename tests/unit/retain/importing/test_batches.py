"""Batches are small, in order, and no document is divided."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.errors import InputError
from simonides.retain.importing.formats import BATCH, batches
from simonides.retain.importing.sources import ImportedItem, NamedFile

FILE = NamedFile("x")


def items(*documents: str) -> list[ImportedItem]:
    return [
        ImportedItem({"text": str(n), **({"document_id": d} if d else {})}, n)
        for n, d in enumerate(documents, start=1)
    ]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 6)), max_size=12), st.integers(1, 8))
def test_any_items(runs: list[tuple[bool, int]], size: int) -> None:
    given_items = items(
        *(f"d{n}" if is_document else "" for n, (is_document, k) in enumerate(runs) for _ in range(k))
    )
    found = list(batches(given_items, FILE, size=size))
    assert [item for batch in found for item in batch] == given_items
    for batch in found:
        documents = [name for name, _ in groupby(batch, lambda item: item.item.get("document_id"))]
        assert len(batch) <= size or (len(documents) == 1 and documents[0])
    places = [
        (number, item.item["document_id"])
        for number, batch in enumerate(found)
        for item in batch
        if "document_id" in item.item
    ]
    assert len(set(places)) == len({name for _, name in places}), "every document in one batch"


def test_as_many_as_go_into_one_transaction() -> None:
    assert [len(batch) for batch in batches(items(*[""] * 600), FILE)] == [BATCH, BATCH, 600 - 2 * BATCH]
    assert [len(batch) for batch in batches(items("", *["d"] * 600, ""), FILE)] == [1, 600, 1]
    assert list(batches([], FILE)) == []


def test_a_document_that_is_not_together_is_refused() -> None:
    """Its second part would end its first."""
    with pytest.raises(InputError, match=r"^x:4: document_id: 'a' ended at line 2"):
        list(batches(items("a", "a", "b", "a"), FILE))
    with pytest.raises(InputError, match="x:3"):
        list(batches(items("a", "", "a"), FILE))
