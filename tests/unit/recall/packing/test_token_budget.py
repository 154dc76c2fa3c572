from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pytest

from simonides.errors import InputError
from simonides.recall.packing.packers import TokenBudget
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.protocols import Packed

RENDERED = TokenBudget(count="rendered", label=())
TEXT = TokenBudget(count="text", label=())


def words(count: int, start: str) -> str:
    return " ".join([start] * count)


def pack(
    packer: TokenBudget, texts: list[str], *, max_tokens: int | None = None, limit: int | None = None
) -> Packed:
    view = FakeView.of([fake_memory(text, id=text[:1]) for text in texts])
    pool = tuple(Candidate(n, 1.0 - n / 100, "test") for n in range(len(texts)))
    return packer.pack(view, fake_query("q", max_tokens=max_tokens, limit=limit), pool, fake_tools())


def ids(packed: Packed) -> list[str]:
    return [hit.id for hit in packed.hits]


@pytest.mark.fault("R1")
def test_one_memory_too_long_does_not_empty_the_answer() -> None:
    packed = pack(RENDERED, [words(900, "a"), words(40, "b"), words(35, "c")], max_tokens=100)
    assert ids(packed) == ["b", "c"]
    assert [hit.rank for hit in packed.hits] == [1, 2]
    assert [(omitted.id, omitted.reason, omitted.tokens) for omitted in packed.omitted] == [
        ("a", "over budget", 901)
    ]
    assert len(packed.context.split()) == 41 + 36 == sum(hit.tokens for hit in packed.hits)


@pytest.mark.fault("R1")
@pytest.mark.parametrize("packer", [RENDERED, TEXT])
def test_a_budget_of_nothing_holds_nothing(packer: TokenBudget) -> None:
    packed = pack(packer, ["a", "b"], max_tokens=0)
    assert (packed.hits, packed.context) == ((), "")
    assert [omitted.id for omitted in packed.omitted] == ["a", "b"]


def test_a_budget_that_fits_exactly_is_used_whole() -> None:
    assert ids(pack(RENDERED, ["a a", "b b", "c"], max_tokens=6)) == ["a", "b"]
    assert ids(pack(RENDERED, ["a a", "b b", "c"], max_tokens=5)) == ["a", "c"]


@pytest.mark.spec("HI-11")
def test_by_text_labels_are_free() -> None:
    packed = pack(TEXT, ["a a", "b b", "c"], max_tokens=4)
    assert ids(packed) == ["a", "b"]
    assert [hit.tokens for hit in packed.hits] == [2, 2]
    assert packed.context == "[1] a a\n[2] b b"


@pytest.mark.spec("HI-11")
def test_by_text_the_best_come_first_until_the_budget_is_used() -> None:
    packed = pack(TEXT, ["a a a", "b b", "c"], max_tokens=4)
    assert ids(packed) == ["a", "c"]
    assert [omitted.id for omitted in packed.omitted] == ["b"]


def test_without_a_budget_everything_fits() -> None:
    packed = pack(RENDERED, [words(10_000, "a"), "b"])
    assert ids(packed) == ["a", "b"]
    assert packed.omitted == ()


def test_the_limit_ends_packing() -> None:
    packed = pack(RENDERED, ["a", "b", "c"], limit=2)
    assert ids(packed) == ["a", "b"]
    assert packed.omitted == ()
    assert pack(RENDERED, ["a"], limit=0).hits == ()


def test_records_are_fetched_in_runs_and_no_further_than_needed() -> None:
    view = FakeView.of([fake_memory(f"m{n}") for n in range(100)])
    pool = tuple(Candidate(n, 1.0, "test") for n in range(100))
    for limit, fetched in ((5, 5), (1, 1), (40, 64)):
        view.fetched.clear()
        RENDERED.pack(view, fake_query("q", limit=limit), pool, fake_tools())
        assert view.fetched == list(range(fetched))


def test_an_empty_pool_packs_nothing() -> None:
    packed = pack(RENDERED, [])
    assert (packed.hits, packed.context, packed.omitted) == ((), "", ())


def test_a_hit_carries_what_the_candidate_knew() -> None:
    candidate = Candidate(0, 0.5, "test", {"dense": 3}, {"dense": 0.9}, {"recency": 0.1})
    packed = RENDERED.pack(FakeView.of([fake_memory("a")]), fake_query("q"), (candidate,), fake_tools())
    hit = packed.hits[0]
    assert (hit.memory.text, hit.score, hit.scored_by, hit.rank) == ("a", 0.5, "test", 1)
    assert (hit.ranks, hit.channel_scores, hit.signals) == ({"dense": 3}, {"dense": 0.9}, {"recency": 0.1})


@dataclass
class EightCharacters:
    """A token is eight whole characters, so a whole can have more tokens than its parts."""

    name: str = "eight"

    def count(self, text: str) -> int:
        return len(text) // 8


def test_the_context_is_counted_as_a_whole() -> None:
    texts = ["a" * 9, "b" * 9, "c" * 2]
    view = FakeView.of([fake_memory(text, id=text[0]) for text in texts])
    pool = tuple(Candidate(n, 1.0, "test") for n in range(3))
    tools = fake_tools(tokens=EightCharacters())
    # Item by item 13 // 8 + 14 // 8 = 2 tokens, but together 27 // 8 = 3: the second has to go, the third fits.
    packed = RENDERED.pack(view, fake_query("q", max_tokens=2), pool, tools)
    assert ids(packed) == ["a", "c"]
    assert tools.tokens.count(packed.context) <= 2


@pytest.mark.fault("R1")
@pytest.mark.parametrize("count", ["rendered", "text"])
def test_a_text_that_has_no_tokens_is_not_free(count: Literal["rendered", "text"]) -> None:
    view = FakeView.of([fake_memory("🟢")])
    packer = TokenBudget(count=count, label=())
    tools = fake_tools(tokens=EightCharacters())
    assert packer.pack(view, fake_query("q", max_tokens=0), (Candidate(0, 1.0, "t"),), tools).hits == ()


def test_a_label_part_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"label: .* twice"):
        TokenBudget(count="rendered", label=("date", "date"))
