from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from simonides.recall.packing.outside_in import OutsideIn
from simonides.recall.packing.packers import TokenBudget
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_source, fake_tools

if TYPE_CHECKING:
    from simonides.protocols import Packed
    from simonides.records.source import Source

MEMORIES = [fake_memory(text, document="report") for text in ("one two", "three four", "five six seven")]
REPORT = "one two three four"


def part(number: int, document: str) -> Source:
    memory = MEMORIES[number]
    start = document.index(memory.text)
    source = fake_source(memory)
    return replace(source, text=document, start=start, stop=start + len(memory.text))


SOURCES = [part(0, REPORT), part(1, REPORT), part(2, "before it five six seven after it")]


def pack(max_chunk_tokens: int, *, include: bool = True, sources: list[Source] = SOURCES) -> Packed:
    view = FakeView.of(MEMORIES, sources=sources)
    pool = tuple(Candidate(n, 1.0, "test") for n in range(len(MEMORIES)))
    query = fake_query("q", include_chunks=include, max_chunk_tokens=max_chunk_tokens)
    return TokenBudget(count="text", label=()).pack(view, query, pool, fake_tools())


def chunks(packed: Packed) -> list[tuple[str, tuple[str, ...], bool, int]]:
    return [(chunk.text, chunk.memories, chunk.whole, chunk.tokens) for chunk in packed.chunks]


@pytest.mark.spec("HI-15")
def test_a_source_is_packed_once_for_all_its_memories() -> None:
    packed = pack(100)
    assert chunks(packed) == [
        (REPORT, ("one two", "three four"), True, 4),
        ("before it five six seven after it", ("five six seven",), True, 7),
    ]
    assert packed.chunks[0].document == "report"
    assert packed.omitted == ()


@pytest.mark.spec("HI-15")
def test_where_the_whole_does_not_fit_its_part_is_packed_and_else_nothing() -> None:
    assert chunks(pack(7)) == [
        (REPORT, ("one two", "three four"), True, 4),
        ("five six seven", ("five six seven",), False, 3),
    ]
    assert chunks(pack(3)) == [("one two", ("one two",), False, 2)]
    assert [(o.id, o.reason, o.tokens) for o in pack(3).omitted] == [
        ("three four", "source over chunk budget", 2),
        ("five six seven", "source over chunk budget", 3),
    ]


@pytest.mark.parametrize("budget", range(12))
def test_the_budget_holds_and_every_hit_is_accounted_for(budget: int) -> None:
    packed = pack(budget)
    assert sum(chunk.tokens for chunk in packed.chunks) <= budget
    told = [memory for chunk in packed.chunks for memory in chunk.memories]
    assert sorted(told + [o.id for o in packed.omitted]) == sorted(memory.id for memory in MEMORIES)


def test_sources_change_neither_hits_nor_context() -> None:
    with_sources, without = pack(100), pack(100, include=False)
    assert without.chunks == ()
    assert replace(with_sources, chunks=()) == without


def test_two_parts_of_one_source_stay_apart_and_equal_ones_are_shared() -> None:
    same = [part(0, REPORT), part(0, REPORT), part(2, "before it five six seven after it")]
    assert chunks(pack(3, sources=same)) == [("one two", ("one two", "three four"), False, 2)]


@pytest.mark.spec("HI-15", "HX-13")
def test_a_context_laid_from_the_outside_in_has_its_sources_too() -> None:
    view = FakeView.of(MEMORIES, sources=SOURCES)
    pool = tuple(Candidate(n, 1.0 - n / 10, "test") for n in range(len(MEMORIES)))
    query = fake_query("q", include_chunks=True, max_chunk_tokens=100)

    packed = OutsideIn(most=2, count="text", label=()).pack(view, query, pool, fake_tools())

    assert chunks(packed) == [(REPORT, ("one two", "three four"), True, 4)]
