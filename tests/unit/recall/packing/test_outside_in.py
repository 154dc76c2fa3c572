from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

from simonides.errors import InputError
from simonides.protocols import Packed
from simonides.recall.packing.outside_in import OutsideIn, outside_in
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools


def pack(texts: list[str], *, most: int = 30, tools: Any = None, **query: Any) -> Packed:
    """Texts with falling scores, handed over in the opposite order."""
    view = FakeView.of([fake_memory(text) for text in texts])
    pool = tuple(Candidate(n, 1.0 - n / 100, "blend") for n in reversed(range(len(texts))))
    return OutsideIn(most, "rendered", ()).pack(view, fake_query("q", **query), pool, tools or fake_tools())


def laid(packed: Packed) -> list[int]:
    """The ranks in the order in which the context has them."""
    return [int(rank) for rank in re.findall(r"^\[(\d+)\]", packed.context, re.MULTILINE)]


@pytest.mark.spec("HX-13")
@pytest.mark.parametrize(
    ("count", "order"),
    [
        (6, [1, 3, 5, 6, 4, 2]),
        (5, [1, 3, 5, 4, 2]),
        (3, [1, 3, 2]),
        (2, [1, 2]),
        (1, [1]),
        (0, []),
    ],
)
def test_the_best_stand_at_both_ends(count: int, order: list[int]) -> None:
    assert outside_in(list(range(1, count + 1))) == order
    packed = pack([f"m{n}" for n in range(count)])
    assert laid(packed) == order
    assert [hit.rank for hit in packed.hits] == sorted(order)


@pytest.mark.spec("HX-13")
def test_hits_stay_in_rank_order_by_score() -> None:
    packed = pack(["a", "b", "c", "d"])
    assert [(hit.rank, hit.text) for hit in packed.hits] == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    assert packed.context == "[1] a\n[3] c\n[4] d\n[2] b"


@pytest.mark.spec("HX-13")
def test_the_count_is_capped_whatever_is_asked_for() -> None:
    texts = [f"m{n}" for n in range(40)]
    assert len(pack(texts).hits) == 30
    assert len(pack(texts, limit=100).hits) == 30
    assert len(pack(texts, limit=4).hits) == 4


@pytest.mark.spec("HX-13")
def test_what_does_not_fit_is_passed_over_before_the_rest_is_laid() -> None:
    packed = pack(["a", "far too long to fit in here", "c", "d"], max_tokens=6)
    assert [hit.text for hit in packed.hits] == ["a", "c", "d"]
    assert laid(packed) == [1, 3, 2]
    assert [(omitted.id, omitted.reason) for omitted in packed.omitted] == [
        ("far too long to fit in here", "over budget")
    ]


@dataclass(frozen=True)
class DearEnds:
    """A counter for which a text that holds "c" and ends in "b" has three tokens more."""

    name: str = "dear-ends"

    def count(self, text: str) -> int:
        return len(text.split()) + 3 * ("c" in text and text.endswith("b"))


@pytest.mark.spec("HX-13")
def test_the_context_as_laid_never_exceeds_the_budget() -> None:
    # In rank order the three have seven tokens; laid, with b at the end, they have ten.
    tools = fake_tools(tokens=DearEnds())
    roomy = pack(["a", "x b", "c"], max_tokens=10, tools=tools)
    assert (laid(roomy), DearEnds().count(roomy.context)) == ([1, 3, 2], 10)
    tight = pack(["a", "x b", "c"], max_tokens=7, tools=tools)
    assert (laid(tight), DearEnds().count(tight.context)) == ([1, 2], 5)
    assert [(omitted.id, omitted.reason) for omitted in tight.omitted] == [("c", "over budget")]


def test_an_empty_pool_has_an_empty_context() -> None:
    assert pack([]) == Packed((), "", ())


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="most: 0"):
        OutsideIn(0, "rendered", ())
    with pytest.raises(InputError, match="label: "):
        OutsideIn(1, "rendered", ("date", "date"))
