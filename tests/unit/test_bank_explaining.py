"""What a bank says of its own answers: explanations, why not, and the options of a search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.errors import InputError, NotFoundError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.testing.clock import FrozenClock

TEXTS = [
    "The kettle is in the galley.",
    "The stove was repaired by Nerys Halvorquill.",
    "The kettle whistles when the stove is lit.",
]


@pytest.fixture
def bank(tmp_path: Path, clock: FrozenClock) -> Iterator[Bank]:
    with simonides.open(tmp_path, clock=clock, embedder=None) as store:
        one = store.bank("one")
        one.retain([{"text": text, "tags": [f"t{n}"]} for n, text in enumerate(TEXTS)])
        yield one


@pytest.mark.spec("DF-02")
def test_every_hit_is_explained_when_asked(bank: Bank) -> None:
    answer = bank.recall("kettle", explain=True)

    assert [one.id for one in answer.explanations] == [hit.id for hit in answer]
    first = answer.explanations[0]
    assert first.ranks == {"lexical": 1}
    stages = [line.name for line in answer.trace.stages if line.shape != "understander"]
    assert [verdict.stage for verdict in first.verdicts] == stages
    assert answer.to_dict()["explanations"][0]["id"] == first.id
    assert bank.recall("kettle").explanations == ()


@pytest.mark.spec("DF-02")
def test_why_not_names_what_lost_a_memory(bank: Bank) -> None:
    kettle, stove = [hit.id for hit in bank.recall("kettle stove").hits[:2]]
    repaired = next(hit.id for hit in bank.recall("repaired"))

    lost = bank.why_not(repaired, "kettle", profile="lexical")
    assert (lost.returned, lost.stage) == (False, "channels")
    assert bank.why_not(kettle, "kettle stove").returned
    filtered = bank.why_not(stove, "kettle stove", tags=["t9"], tags_match="all_strict")
    assert filtered.stage == "eligible"
    cut = bank.why_not(repaired, "kettle stove repaired whistles galley", limit=1, profile="lexical")
    assert not cut.returned
    assert cut.remedy


@pytest.mark.spec("DF-02")
@pytest.mark.parametrize("profile", ["lexical", "memoria", "hindsight", "helix"])
@pytest.mark.parametrize("limit", [1, 2, 10])
@pytest.mark.parametrize("max_tokens", [0, 12, 25, 40, 100])
def test_what_would_keep_a_memory_in_the_budget_keeps_it(
    bank: Bank, profile: str, limit: int, max_tokens: int
) -> None:
    query, lost = "kettle stove repaired", 0
    for memory in [hit.id for hit in bank.recall(query, profile=profile)]:
        why = bank.why_not(memory, query, profile=profile, limit=limit, max_tokens=max_tokens)
        if why.returned:
            continue
        lost += 1
        options = {"limit": limit, "max_tokens": max_tokens}
        options |= {n: int(v) for n, v in re.findall(r"(max_tokens|limit) of (\d+)", why.remedy)}
        assert options != {"limit": limit, "max_tokens": max_tokens}
        again = bank.why_not(memory, query, profile=profile, **options)
        assert again.returned, why
    assert lost or (limit == 10 and max_tokens >= 40)


def test_why_not_refuses_what_is_not_there(bank: Bank) -> None:
    with pytest.raises(NotFoundError, match="no memory"):
        bank.why_not("0123456789abcdef", "kettle")
    with pytest.raises(UnknownNameError, match="did you mean 'limit'"):
        bank.why_not(bank.recall("kettle")[0].id, "kettle", limits=3)


@pytest.mark.spec("JB-01")
def test_an_extended_query_filters_by_its_clauses(bank: Bank) -> None:
    answer = bank.recall("tag:t2 kettle", profile="jeffs_brain", syntax="extended")

    assert [hit.text for hit in answer] == [TEXTS[2]]
    with pytest.raises(InputError, match="all_strict"):
        bank.recall("tag:t2 kettle", profile="jeffs_brain", syntax="extended", tags=["t1"])
    with pytest.raises(InputError, match="kinds"):
        bank.recall("kind:code kettle", profile="jeffs_brain", syntax="extended", kinds=["decision"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("budget", "huge"),
        ("budget_function", "random"),
        ("mode", "fuzzy"),
        ("syntax", "sql"),
        ("entity_hints", "Ann"),
        ("include_chunks", 1),
        ("max_chunk_tokens", -1),
        ("aliases", ["kettle"]),
        ("deadline_ms", 0),
        ("deadline_ms", float("nan")),
        ("question_date", "soon"),
        ("types", "planet"),
    ],
)
def test_a_bad_option_is_named(bank: Bank, name: str, value: object) -> None:
    options: dict[str, object] = {name: value}

    with pytest.raises(InputError) as caught:
        bank.recall("kettle", **options)  # type: ignore[arg-type]

    assert caught.value.field.startswith(name)


@pytest.mark.spec("HI-15")
def test_the_raw_sources_come_along_when_asked(bank: Bank) -> None:
    answer = bank.recall("kettle", profile="hindsight", include_chunks=True)

    assert {chunk.text for chunk in answer.chunks} >= {TEXTS[0]}
    assert answer.to_dict()["chunks"]
