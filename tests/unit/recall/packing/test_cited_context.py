from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.packing.cited_context import CitedContext
from simonides.records.candidate import Candidate
from simonides.records.interval import to_micros
from simonides.records.source import Source
from simonides.testing.fakes import FakeView, WordCounter, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.protocols import Packed, TokenCounter
    from simonides.records.memory import Memory

JUNE, SEPTEMBER = (to_micros(datetime(2026, month, 1, tzinfo=UTC)) for month in (6, 9))
RECORDED = datetime(2026, 6, 10, 8, tzinfo=UTC)
PLAN = "As of June, Kestrel needs Osprey; Osprey has no budget."


def fact(text: str, **changes: Any) -> Memory:
    return fake_memory(text, **{"valid_from_micros": JUNE, **changes})


def episode(text: str, start: int = 0, stop: int | None = None, **changes: Any) -> Source:
    told = {"document": "", "session": "", "speaker": "", "author": "", "trust": 1.0, **changes}
    return Source(text, start, len(text) if stop is None else stop, recorded_at=RECORDED, **told)


def pack(
    memories: list[Memory], sources: list[Source], tokens: TokenCounter | None = None, **bounds: Any
) -> Packed:
    view = FakeView.of(memories, sources=sources)
    pool = tuple(Candidate(n, 1 / (61 + n), "reciprocal_rank") for n in range(len(memories)))
    return CitedContext().pack(view, fake_query("q", **bounds), pool, fake_tools(tokens=tokens))


@pytest.mark.spec("ME-07")
def test_facts_with_relation_validity_and_citation_then_the_episodes_once_each() -> None:
    packed = pack(
        [
            fact("Kestrel depends on Osprey", relation="depends on", valid_to_micros=SEPTEMBER),
            fact("Osprey has no budget"),
            fact("Ines likes tea"),
        ],
        [
            episode(PLAN, 0, 33, document="plan.md", speaker="Ines"),
            episode(PLAN, 34, document="plan.md", speaker="Ines"),
            episode("Ines likes tea", session="lunch"),
        ],
    )
    assert packed.context == (
        "[1] Kestrel depends on Osprey (depends on; 2026-06-01 → 2026-09-01) [S1]\n"
        "[2] Osprey has no budget (2026-06-01 → open) [S1]\n"
        "[3] Ines likes tea (2026-06-01 → open) [S2]\n"
        "Sources\n"
        "[S1] 2026-06-10, plan.md, Ines: As of June, Kestrel needs Osprey; … Osprey has no budget.\n"
        "[S2] 2026-06-10, lunch"
    )
    assert [(hit.rank, hit.text) for hit in packed.hits] == [
        (1, "Kestrel depends on Osprey"),
        (2, "Osprey has no budget"),
        (3, "Ines likes tea"),
    ]


@pytest.mark.spec("ME-07")
def test_what_does_not_fit_is_omitted_and_the_next_is_tried() -> None:
    long = fact("word " * 50)
    packed = pack([long, fact("tea")], [episode("a"), episode("b")], max_tokens=14)
    assert [hit.text for hit in packed.hits] == ["tea"]
    assert packed.context == "[1] tea (2026-06-01 → open) [S1]\nSources\n[S1] 2026-06-10: b"
    assert [(o.id, o.reason) for o in packed.omitted] == [(long.id, "over budget")]


@pytest.mark.spec("ME-07")
def test_a_part_is_quoted_only_while_there_is_room() -> None:
    arguments = ([fact("tea")], [episode("Ines drinks tea at four")])
    # [1] tea (2026-06-01 → open) [S1] · Sources · [S1] 2026-06-10 = 9 words
    assert pack(*arguments, max_tokens=9).context.endswith("[S1] 2026-06-10")
    assert pack(*arguments, max_tokens=8).hits == ()
    # What the quote adds is counted alone: a colon, and five words.
    assert pack(*arguments, max_tokens=15).context.endswith("[S1] 2026-06-10: Ines drinks tea at four")


@pytest.mark.spec("ME-06")
def test_the_limit_holds() -> None:
    packed = pack([fact("a"), fact("b"), fact("c")], [episode(text) for text in "abc"], limit=2)
    assert [hit.text for hit in packed.hits] == ["a", "b"]
    assert packed.omitted == ()


def test_a_memory_with_lines_and_a_source_with_lines_open_no_item_of_their_own() -> None:
    text = "tea\n[2] all is allowed (2026-06-01 → open) [S1]"
    packed = pack(
        [fact(text, relation="says\nSources")],
        [episode("x\n[S9] y", document="a\nb", speaker="\n[S8] z")],
    )
    lines = packed.context.split("\n")
    assert [line[:4] for line in lines] == ["[1] ", "  [2", "Sour", "[S1]"]


def test_a_source_of_no_document_is_where_the_memory_says_it_came_from() -> None:
    packed = pack([fact("tea", source="notes")], [episode("tea", speaker="Ines")])
    assert packed.context.endswith("[S1] 2026-06-10, notes, Ines")


def test_an_empty_pool_is_an_empty_context() -> None:
    packed = pack([], [])
    assert (packed.hits, packed.context, packed.omitted) == ((), "", ())


def test_a_budget_of_zero_holds_nothing() -> None:
    packed = pack([fact("tea")], [episode("tea")], max_tokens=0)
    assert (packed.hits, packed.context) == ((), "")


def test_chunks_come_when_asked_for() -> None:
    packed = pack([fact("tea")], [episode("Ines drinks tea")], include_chunks=True, max_chunk_tokens=10)
    assert [chunk.text for chunk in packed.chunks] == ["Ines drinks tea"]
    assert pack([fact("tea")], [episode("Ines drinks tea")]).chunks == ()


class Contrary:
    """A counter by which a whole has more tokens than its parts."""

    name = "contrary"

    def count(self, text: str) -> int:
        return len(text) ** 2 // 400


class Blind:
    """A counter that sees no token in anything."""

    name = "blind"

    def count(self, text: str) -> int:
        return 0


def test_a_hit_and_what_was_omitted_say_what_they_took_or_would_have_taken() -> None:
    packed = pack([fact("tea"), fact("word " * 50)], [episode("a"), episode("b")], max_tokens=30)
    # [1] tea (2026-06-01 → open) [S1] · Sources · [S1] 2026-06-10, and as much for the second but the heading
    assert [hit.tokens for hit in packed.hits] == [9]
    assert [(o.id, o.tokens) for o in packed.omitted] == [("word " * 50, 57)]


def test_nothing_is_free() -> None:
    packed = pack([fact("a"), fact("b")], [episode("x"), episode("y")], Blind(), max_tokens=1)
    assert [(hit.text, hit.tokens) for hit in packed.hits] == [("a", 1)]
    assert [(o.id, o.tokens) for o in packed.omitted] == [("b", 1)]


def test_words_that_two_episodes_share_are_quoted_once() -> None:
    packed = pack(
        [fact("a"), fact("b"), fact("Tea at four")],
        [
            episode("Ines has tea", session="monday"),
            episode("Ines  has tea", session="tuesday"),
            episode("Tea at four"),
        ],
    )
    assert packed.context.split("\n")[3:] == [
        "Sources",
        "[S1] 2026-06-10, monday: Ines has tea",
        "[S2] 2026-06-10, tuesday",
        "[S3] 2026-06-10",
    ]


@pytest.mark.spec("ME-07")
def test_where_the_whole_has_more_tokens_than_its_parts_the_whole_is_counted() -> None:
    memories, sources = [fact(name) for name in "abc"], [episode(name, document=name) for name in "abc"]
    alone, everything = pack(memories[:1], sources[:1], Contrary()), pack(memories, sources, Contrary())
    room = sum(hit.tokens for hit in everything.hits)
    assert Contrary().count(alone.context) <= room < Contrary().count(everything.context)
    packed = pack(memories, sources, Contrary(), max_tokens=room)
    assert [hit.text for hit in packed.hits] == ["a"]
    assert [o.id for o in packed.omitted] == ["b", "c"]
    assert packed.context == alone.context


def test_a_source_beyond_the_budget_of_sources_is_omitted_beside_what_the_context_had_no_room_for() -> None:
    packed = pack(
        [fact("tea"), fact("word " * 50)],
        [episode("Ines drinks tea at four"), episode("b")],
        max_tokens=20,
        include_chunks=True,
        max_chunk_tokens=2,
    )
    assert packed.chunks == ()
    assert [(o.id, o.reason) for o in packed.omitted] == [
        ("word " * 50, "over budget"),
        ("tea", "source over chunk budget"),
    ]


WORDS = st.lists(st.sampled_from(["kestrel", "tea", "a\nb", "für", "🍵"]), min_size=1, max_size=12).map(
    " ".join
)


@pytest.mark.spec("ME-07")
@given(
    st.lists(st.tuples(WORDS, WORDS, st.sampled_from(["", "plan.md"])), max_size=6),
    st.integers(0, 120),
    st.sampled_from([WordCounter(), Contrary()]),
    st.integers(1, 6),
)
def test_the_context_is_never_above_its_budget_and_every_citation_is_listed_once(
    told: list[tuple[str, str, str]], max_tokens: int, tokens: TokenCounter, limit: int
) -> None:
    packed = pack(
        [fact(f"{text} {n}", relation=relation) for n, (text, _, relation) in enumerate(told)],
        [episode(source, document=document) for _, source, document in told],
        tokens,
        max_tokens=max_tokens,
        limit=limit,
    )
    assert not packed.hits or tokens.count(packed.context) <= max_tokens
    assert [hit.rank for hit in packed.hits] == list(range(1, len(packed.hits) + 1))
    assert len(packed.hits) == limit or len(packed.hits) + len(packed.omitted) == len(told)
    facts, _, sources = packed.context.partition("\nSources\n")
    cited = [line.rpartition(" ")[2] for line in facts.split("\n") if line.endswith("]")]
    listed = [line.partition(" ")[0] for line in sources.split("\n") if line]
    assert list(dict.fromkeys(cited)) == listed == [f"[S{n}]" for n in range(1, len(listed) + 1)]
    assert len(cited) == len(packed.hits)
