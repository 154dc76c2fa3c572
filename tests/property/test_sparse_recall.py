"""The sparse channel through the public API against brute force over what the asker may see."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simonides
from simonides.index.sparse_postings import pack_terms, unpack_terms
from simonides.testing.clock import FrozenClock
from simonides.testing.sparse import StubSparseEncoder

STUB = StubSparseEncoder(synonyms={"kettle": "pot", "stove": "oven"})
PROFILE = """
extends = "lexical"
order = ["sparse_terms", "sparse", "reciprocal_rank", "token_budget"]
[stages.sparse]
depth = 100
"""
START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = st.lists(st.sampled_from(["kettle", "pot", "stove", "oven", "rain"]), min_size=1, max_size=4)
ITEMS = st.tuples(WORDS.map(" ".join), st.sampled_from([(), ("ines",), ("tove",), ("ines", "tove")]))


def twin(text: str, query: str) -> float:
    """The inner product over what is stored of the text."""
    ids, codes, scale = unpack_terms(pack_terms(STUB.encode_query(text)))
    held = dict(zip(ids.tolist(), codes.tolist(), strict=True))
    asked = STUB.encode_query(query)
    unit = float(asked.weights.max()) / 32_767
    pairs = zip(asked.ids.tolist(), asked.weights.tolist(), strict=True)
    total = sum(int(round(weight / unit) * held.get(term, 0)) for term, weight in pairs)
    return total * (scale * unit)


@pytest.mark.spec("HX-18")
@given(
    st.lists(ITEMS, min_size=1, max_size=8),
    WORDS.map(" ".join),
    st.sampled_from([None, "ines", "tove"]),
    st.integers(0, 8),
    st.sets(st.integers(0, 7)),
    st.booleans(),
)
def test_scores_are_those_of_the_rows_that_the_asker_could_see_then(
    items: list[tuple[str, tuple[str, ...]]],
    query: str,
    principal: str | None,
    known: int,
    forgotten: set[int],
    merged: bool,
) -> None:
    clock = FrozenClock(START)
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "sparse.toml"
        profile.write_text(PROFILE, encoding="utf-8")
        with simonides.open(Path(folder) / "store", clock=clock, embedder=None, sparse=STUB) as store:
            bank = store.bank()
            ids = []
            for number, (text, acl) in enumerate(items):
                clock.now = START + timedelta(days=number)
                ids += bank.retain([{"text": text, "acl": list(acl)}], deduplicate=False)
                if merged and number == len(items) // 2:
                    bank._rows.merge_if_due(force=True)
            bank.forget([ids[number] for number in forgotten if number < len(ids)])
            clock.now = START + timedelta(days=30)
            # Midway between the days on which two items were retained.
            as_of = START + timedelta(days=known, hours=-12)
            hits = store.bank(principal=principal).recall(
                query, limit=20, max_tokens=None, as_of=as_of, profile=str(profile)
            )
            found = sorted((hit.id, hit.channel_scores["sparse"]) for hit in hits)
    expected = sorted(
        (ids[number], twin(text, query))
        for number, (text, acl) in enumerate(items)
        if number < known
        and number not in forgotten
        and (principal is None or not acl or principal in acl)
        and twin(text, query) > 0
    )
    assert [memory for memory, _ in found] == [memory for memory, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=2e-9)
