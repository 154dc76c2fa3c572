"""What others retain, and what comes later, changes nothing in the answers of any profile.

Each memory has a path of its own, so that ties are told apart alike in banks whose ids differ.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank
    from simonides.records.recall import Recall

PROFILES = ("default", "lexical", "engram", "memoria", "jeffs_brain", "hindsight", "helix")
TEXTS = [
    "the fuse of the pump is blown",
    "Odalys ordered a pump for Norrhav",
    "the library policy changed in March 2026",
    "Norrhav prefers jasmine tea",
    "a summary of tips for the staging database",
    "Odalys visited the library on 3 March 2026",
]
QUERIES = st.sampled_from(
    [
        "who ordered the pump for Norrhav",
        '"blown fuse" OR policy*',
        "stagging databse",
        "pump AND NOTHING",
        "how many tips did I order in March 2026",
        "what does Odalys prefer",
        "impeler",
    ]
)
WRITES = st.lists(st.tuples(st.sampled_from(TEXTS), st.booleans()), min_size=1, max_size=8)


@dataclass(frozen=True)
class World:
    """A bank seen by its owner and by two others."""

    bank: Bank
    tomas: Bank
    ines: Bank
    clock: FrozenClock

    def retain(self, place: int, text: str, *, secret: bool) -> None:
        self.clock.advance(seconds=3600)
        readers = ["ines"] if secret else []
        self.bank.retain(f"{text} n{place}", path=f"p{place:02}", acl=readers, deduplicate=False)


@contextmanager
def world() -> Iterator[World]:
    clock = FrozenClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        simonides.open(Path(folder), clock=clock, embedder=StubEmbedder(dimension=16)) as store,
    ):
        tomas, ines = (store.bank("b", principal=name) for name in ("tomas", "ines"))
        yield World(store.bank("b"), tomas, ines, clock)


def use_first(bank: Bank) -> None:
    """The first of what a question finds was of use."""
    bank.used([hit.id for hit in bank.recall("pump library tea", profile="lexical")][:1])


def told(recall: Recall) -> list[object]:
    """All of an answer but ids and times of the record."""
    found = [(h.text, h.score, dict(h.ranks), dict(h.channel_scores), dict(h.signals)) for h in recall]
    return [
        found,
        [attempt.to_dict() for attempt in recall.trace.ladder],
        recall.context,
        recall.trace.degraded,
    ]


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=settings().max_examples // 6)
@given(writes=WRITES, query=QUERIES)
def test_rows_that_the_asker_may_not_see_change_nothing(
    profile: str, writes: list[tuple[str, bool]], query: str
) -> None:
    with world() as whole, world() as open_part:
        for place, (text, secret) in enumerate(writes):
            whole.retain(place, text, secret=secret)
            if secret:
                open_part.clock.advance(seconds=3600)
            else:
                open_part.retain(place, text, secret=False)
        for each in (whole, open_part):
            each.clock.advance(seconds=30)
        # What somebody else uses is none of the asker's business either.
        use_first(whole.ines)
        answers = [told(each.tomas.recall(query, profile=profile, seed=1)) for each in (whole, open_part)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=settings().max_examples // 6)
@given(writes=WRITES, query=QUERIES, kept=st.integers(0, 8))
def test_the_past_is_answered_as_it_was(
    profile: str, writes: list[tuple[str, bool]], query: str, kept: int
) -> None:
    with world() as whole, world() as early:
        for place, (text, secret) in enumerate(writes[:kept]):
            for each in (whole, early):
                each.retain(place, text, secret=secret)
        for each in (whole, early):
            each.clock.advance(seconds=30)
            use_first(each.bank)
        then = early.clock() + timedelta(minutes=1)
        for place, (text, secret) in enumerate(writes[kept:], start=kept):
            whole.retain(place, text, secret=secret)
        whole.clock.advance(seconds=3600)
        use_first(whole.bank)
        early.clock.advance(seconds=60)
        answers = [
            told(whole.bank.recall(query, profile=profile, as_of=then, seed=1)),
            told(early.bank.recall(query, profile=profile, as_of=then, seed=1)),
        ]
    assert answers[0] == answers[1]
