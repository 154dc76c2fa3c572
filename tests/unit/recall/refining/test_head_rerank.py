from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import pytest

from simonides.errors import InputError
from simonides.recall.refining.pool import UNRERANKED
from simonides.recall.refining.rerankers import HeadRerank, agreements
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.protocols import Refined, Reranker

STAGE = HeadRerank(depth=20, channels=("lexical", "dense"), window=3, agree=2)


@dataclass(frozen=True, slots=True)
class Backwards:
    """Likes the last best."""

    name: str = "backwards"
    gives: Literal["logits", "probabilities", "unknown"] = "probabilities"
    read: list[int] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.read.append(len(texts))
        return [n / 100 for n, _ in enumerate(texts, start=1)]


def pool_of(lexical: str, dense: str) -> tuple[Candidate, ...]:
    """Candidates a, b, … with the ranks that they have in two lists of letters."""
    ranks = {
        letter: {
            channel: found.index(letter) + 1
            for channel, found in (("lexical", lexical), ("dense", dense))
            if letter in found
        }
        for letter in sorted({*lexical, *dense})
    }
    return tuple(
        Candidate(ord(letter) - ord("a"), 1 / (61 + n), "reciprocal_rank", ranks=found)
        for n, (letter, found) in enumerate(ranks.items())
    )


@pytest.mark.spec("JB-08")
@pytest.mark.parametrize(
    ("lexical", "dense", "count"),
    [
        ("abc", "abc", 3),
        ("abcd", "abdc", 2),
        ("abc", "bac", 1),
        ("abc", "cab", 0),  # the same three, no place the same
        ("abc", "ab", 0),  # the other list has no head of three
        ("ab", "ab", 0),
        ("", "abc", 0),
        ("xyzab", "pqrab", 0),  # they agree behind the window
    ],
)
def test_agreement_is_counted_place_by_place(lexical: str, dense: str, count: int) -> None:
    assert agreements(pool_of(lexical, dense), "lexical", "dense", 3) == count


def refine(
    pool: tuple[Candidate, ...], reranker: Reranker | None, stage: HeadRerank = STAGE, **query: Any
) -> Refined:
    view = FakeView.of([fake_memory(f"{n:02}") for n in range(30)])
    return stage.refine(view, fake_query("?", **query), pool, replace(fake_tools(), reranker=reranker))


@pytest.mark.spec("JB-08")
@pytest.mark.parametrize(
    ("lexical", "dense", "skip", "wired", "reason"),
    [
        ("", "", "mode_off", False, "empty_candidates"),
        ("abc", "abc", "mode_off", False, "mode_off"),
        ("abc", "abc", "", False, "no_reranker"),
        ("abc", "abx", "", True, "unanimity"),
        ("abc", "axy", "", True, ""),
    ],
)
def test_the_reason_that_the_reranker_was_left_out_is_recorded(
    lexical: str, dense: str, skip: str, wired: bool, reason: str
) -> None:
    reranker, pool = Backwards(), pool_of(lexical, dense)
    refined = refine(pool, reranker if wired else None, skip_rerank=skip)
    assert refined.reason == reason
    assert (refined.pool == pool) is bool(reason)
    assert bool(reranker.read) is not bool(reason)


@pytest.mark.spec("JB-09")
def test_only_the_head_is_reread_and_the_tail_follows_unchanged() -> None:
    pool = tuple(Candidate(n, 1 / (61 + n), "reciprocal_rank") for n in range(25))
    reranker = Backwards()
    refined = refine(pool, reranker)
    assert reranker.read == [20]
    assert [each.ordinal for each in refined.pool] == [*range(19, -1, -1), 20, 21, 22, 23, 24]
    assert [each.score for each in refined.pool[20:]] == [each.score for each in pool[20:]]
    assert all(UNRERANKED in each.signals for each in refined.pool[20:])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"depth": 0}, "depth: 0"),
        ({"channels": ("dense",)}, "channels: ['dense']"),
        ({"channels": ("dense", "dense")}, "channels: "),
        ({"window": 0}, "window: 0"),
        ({"agree": 4}, "agree: 4"),
        ({"agree": 0}, "agree: 0"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(STAGE, **changes)
    assert str(caught.value).startswith(says)
