"""Recall through the public API against brute force over the same items, whatever they and the filters are."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import simonides
from simonides.index.vectors import exact_dot, quantise, split_query
from simonides.profiles.loader import load_profile
from simonides.recall.channels.lexical import Lexical
from simonides.records.interval import parse_time
from simonides.records.kind import RECALLED
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakePostings
from simonides.text.analyser import TextAnalyser
from simonides.text.dates import spell_date

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.recall import Recall

STUB = StubEmbedder(dimension=32)
ANALYSER = TextAnalyser()
MICROSECOND = timedelta(microseconds=1)
# Each way to state an event, and the interval that it means; an instant has no length.
EVENTS = {
    "2026-01": (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)),
    "2026-01-10": (datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 1, 11, tzinfo=UTC)),
    "2026-01-11T00:00Z": (datetime(2026, 1, 11, tzinfo=UTC),) * 2,
    "2026-02-05T12:00+02:00": (datetime(2026, 2, 5, 10, tzinfo=UTC),) * 2,
    # Later than anything was recorded.
    "2026-04-01": (datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 2, tzinfo=UTC)),
}
RECORDED = tuple(datetime(2026, 1, day, 8, tzinfo=UTC) for day in (9, 10, 20))
STARTS = (None, datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))
ENDS = (None, datetime(2026, 2, 20, tzinfo=UTC), datetime(2026, 3, 10, tzinfo=UTC))
EDGES = sorted(
    {
        moment + step
        for moment in (
            *RECORDED,
            *filter(None, (*STARTS, *ENDS)),
            *(e for pair in EVENTS.values() for e in pair),
        )
        for step in (-MICROSECOND, timedelta(0))
    }
)
# All was recorded, all has begun, nothing has ended: filters alone decide.
USUAL = datetime(2026, 2, 10, tzinfo=UTC)
WORDS = ("kettle", "stove", "lamp", "rain", "train", "kettles")
TAGS = ("a", "b", "c")
PEOPLE = ("ines", "tove")


@dataclass(frozen=True)
class Item:
    """What is retained, as the caller states it."""

    text: str
    context: str
    kind: str
    tags: frozenset[str]
    project: str
    path: str
    acl: frozenset[str]
    event_time: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Ask:
    """What a recall is asked, and by whom."""

    principal: str | None
    kinds: frozenset[str] | None
    project: str | None
    tags: frozenset[str]
    tags_match: str
    window: tuple[datetime | None, datetime | None] | None
    as_of: datetime
    known_at: datetime | None

    def arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "principal"}


def texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


def items() -> st.SearchStrategy[Item]:
    return st.builds(
        Item,
        text=texts(),
        context=st.one_of(st.just(""), texts()),
        kind=st.sampled_from([kind.value for kind in RECALLED]),
        tags=st.frozensets(st.sampled_from(TAGS)),
        project=st.sampled_from(["", "atlas", "borea"]),
        path=st.sampled_from(["", "a.md", "b.md"]),
        acl=st.frozensets(st.sampled_from(PEOPLE)),
        event_time=st.one_of(st.none(), st.sampled_from(sorted(EVENTS))),
        valid_from=st.sampled_from(STARTS),
        valid_to=st.sampled_from(ENDS),
        recorded_at=st.sampled_from(RECORDED),
    )


WINDOWS = st.one_of(
    st.none(),
    st.tuples(
        st.one_of(st.none(), st.sampled_from(EDGES)), st.one_of(st.none(), st.sampled_from(EDGES))
    ).filter(lambda pair: pair[0] is None or pair[1] is None or pair[0] < pair[1]),
)
ASKS = st.builds(
    Ask,
    principal=st.sampled_from([None, None, "ines", "tove", "stranger"]),
    kinds=st.one_of(
        st.none(),
        st.none(),
        st.just(frozenset[str]()),
        st.frozensets(st.sampled_from([kind.value for kind in RECALLED]), min_size=3),
    ),
    project=st.sampled_from([None, None, "", "atlas"]),
    tags=st.one_of(st.just(frozenset[str]()), st.frozensets(st.sampled_from(TAGS))),
    tags_match=st.sampled_from(["any", "any_strict", "all", "all_strict", "exact"]),
    window=WINDOWS,
    as_of=st.one_of(st.just(USUAL), st.just(USUAL), st.sampled_from(EDGES)),
    known_at=st.one_of(st.none(), st.just(USUAL), st.sampled_from(EDGES)),
)
DEFAULT_ASK = Ask(None, None, None, frozenset(), "any", None, USUAL, None)
QUERIES = st.lists(st.sampled_from([*WORDS, "nothing"]), min_size=1, max_size=3).map(" ".join)


def is_visible(item: Item, ask: Ask) -> bool:
    event = EVENTS[item.event_time][0] if item.event_time else None
    start = item.valid_from or (event if event and event <= item.recorded_at else item.recorded_at)
    known_at = ask.known_at or ask.as_of
    return (
        (ask.principal is None or not item.acl or ask.principal in item.acl)
        and start <= ask.as_of
        and (item.valid_to is None or ask.as_of < item.valid_to)
        and item.recorded_at <= known_at
    )


def passes(item: Item, ask: Ask) -> bool:
    return (
        (ask.kinds is None or item.kind in ask.kinds)
        and (ask.project is None or item.project == ask.project)
        and tags_pass(item.tags, ask.tags, ask.tags_match)
        and (
            ask.window is None
            or (item.event_time is not None and in_window(EVENTS[item.event_time], ask.window))
        )
    )


def tags_pass(own: frozenset[str], wanted: frozenset[str], mode: str) -> bool:
    if mode == "exact":
        return own == wanted
    if not wanted or not own:
        return not mode.endswith("strict")
    return not wanted.isdisjoint(own) if mode.startswith("any") else wanted <= own


def in_window(event: tuple[datetime, datetime], window: tuple[datetime | None, datetime | None]) -> bool:
    first, last = window
    # An instant takes up the microsecond at which it lies.
    stop = event[1] if event[1] > event[0] else event[0] + MICROSECOND
    return (last is None or event[0] < last) and (first is None or first < stop)


def bm25(
    stored: Sequence[Item], query: str, visible: Sequence[bool], eligible: Sequence[bool]
) -> dict[int, float]:
    """Scores of the lexical channel, row by row; the words of an event's date count as context."""
    stage = load_profile("lexical").channels[0].stage
    assert isinstance(stage, Lexical)
    dates = [spell_date(parse_time(i.event_time, "event_time")) if i.event_time else "" for i in stored]
    postings = FakePostings(
        [
            {"text": ANALYSER.terms(i.text), "context": ANALYSER.terms(f"{i.context} {date}")}
            for i, date in zip(stored, dates, strict=True)
        ]
    )
    ordinals, scores = postings.bm25(
        tuple(Counter(ANALYSER.query_terms(query)).items()),
        np.array(visible, np.bool_),
        np.array(eligible, np.bool_),
        field_weights=stage.fields,
        k1=stage.k1,
        b=stage.b,
    )
    return dict(zip(ordinals.tolist(), scores.tolist(), strict=True))


def cosines(stored: Sequence[Item], query: str, eligible: Sequence[bool]) -> dict[int, float]:
    """Scores of the dense channel, from the vectors as they are stored."""
    vector = STUB.encode_query(query).astype(np.float64)
    scaled = vector / np.abs(vector).max()
    halves, scale = split_query((scaled / np.linalg.norm(scaled)).astype(np.float32))
    scores = {}
    for row, item in enumerate(stored):
        quantised = quantise(STUB.encode_query(item.text))
        if eligible[row] and quantised:
            codes, factor = quantised
            scores[row] = float((exact_dot(codes[np.newaxis], halves) * (float(factor) * scale)).round(9)[0])
    return scores


@contextlib.contextmanager
def banks() -> Iterator[dict[str | None, Bank]]:
    """An empty bank as the owner and each principal see it, with the stub embedder."""
    with (
        tempfile.TemporaryDirectory() as folder,
        simonides.open(folder, clock=FrozenClock(), embedder=STUB) as store,
    ):
        people = (None, *PEOPLE, "stranger")
        yield {person: store.bank("diary", principal=person) for person in people}


@pytest.fixture(scope="module")
def dense_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    profile = tmp_path_factory.mktemp("profiles") / "dense.toml"
    profile.write_text(
        'extends = "lexical"\norder = ["embedding", "dense", "reciprocal_rank", "token_budget"]\n'
        "[stages.dense]\ndepth = 100\nrescore = 8192\n",
        encoding="utf-8",
    )
    return profile


def everything(bank: Bank, query: str, profile: str | Path, **arguments: Any) -> Recall:
    return bank.recall(query, profile=profile, limit=10_000, max_tokens=None, **arguments, precision="wide")


@example(stored=[], asks=[DEFAULT_ASK], query="kettle")
@given(
    stored=st.lists(items(), min_size=3, max_size=12),
    asks=st.lists(ASKS, min_size=1, max_size=4),
    query=QUERIES,
)
def test_filtered_recall_is_brute_force_in_every_channel(
    dense_only: Path, stored: list[Item], asks: list[Ask], query: str
) -> None:
    with banks() as views:
        ids = views[None].retain([item.to_dict() for item in stored], deduplicate=False)
        for ask in asks:
            visible = [is_visible(item, ask) for item in stored]
            eligible = [seen and passes(item, ask) for seen, item in zip(visible, stored, strict=True)]
            expected = {
                "lexical": bm25(stored, query, visible, eligible),
                "dense": cosines(stored, query, eligible),
            }
            ranked: dict[str, list[str]] = {}
            for channel, profile in (("lexical", "lexical"), ("dense", dense_only)):
                recall = everything(views[ask.principal], query, profile, **ask.arguments())
                scores = {hit.id: hit.channel_scores[channel] for hit in recall}
                assert scores == pytest.approx(
                    {ids[row]: s for row, s in expected[channel].items()}, abs=2e-9
                )
                order = sorted(recall, key=lambda hit: (-scores[hit.id], hit.memory.path, hit.id))
                assert [hit.id for hit in recall] == [hit.id for hit in order]
                assert (recall.trace.visible, recall.trace.eligible) == (sum(visible), sum(eligible))
                ranked[channel] = [hit.id for hit in recall]

            both = everything(views[ask.principal], query, "default", **ask.arguments())
            assert {hit.id for hit in both} == {memory for found in ranked.values() for memory in found}
            for hit in both:
                ranks = {name: found.index(hit.id) + 1 for name, found in ranked.items() if hit.id in found}
                assert dict(hit.ranks) == ranks


@given(
    stored=st.lists(items(), max_size=12),
    query=QUERIES,
    limits=st.tuples(st.integers(1, 12), st.integers(1, 13)).map(sorted),
)
def test_a_smaller_limit_gives_a_prefix(stored: list[Item], query: str, limits: list[int]) -> None:
    with banks() as views:
        bank = views[None]
        bank.retain([item.to_dict() for item in stored])
        for profile in ("default", "lexical"):
            fewer, more = (
                bank.recall(query, profile=profile, limit=n, max_tokens=None, precision="wide")
                for n in limits
            )
            assert fewer.hits == more.hits[: limits[0]]
            assert len(more) == min(limits[1], len(everything(bank, query, profile)))


@given(
    stored=st.lists(items(), min_size=1, max_size=8),
    query=QUERIES,
)
def test_retaining_again_changes_nothing(stored: list[Item], query: str) -> None:
    batch = [item.to_dict() for item in stored]
    with banks() as views:
        bank = views[None]
        ids = bank.retain(batch)
        stats, answer = bank.stats(), in_bytes(bank.recall(query, precision="wide"))

        assert bank.retain(batch) == ids
        assert [bank.retain(item)[0] for item in reversed(batch)] == ids[::-1]

        assert {**bank.stats(), "disk_bytes": 0} == {**stats, "disk_bytes": 0}
        assert in_bytes(bank.recall(query, precision="wide")) == answer
        said = [{name: value for name, value in item.items() if name != "recorded_at"} for item in batch]
        assert len(set(ids)) == sum(item not in said[:place] for place, item in enumerate(said))


@given(
    stored=st.lists(items(), min_size=1, max_size=10),
    query=QUERIES,
    forgotten=st.sets(st.integers(0, 9)),
)
def test_forgetting_leaves_what_would_be_there_without(
    stored: list[Item], query: str, forgotten: set[int]
) -> None:
    # Each with a text of its own, to be told apart in two banks whose ids differ.
    batch = [{**item.to_dict(), "text": f"{item.text} n{place}"} for place, item in enumerate(stored)]
    kept = [item for place, item in enumerate(batch) if place not in forgotten]
    with banks() as views, banks() as others:
        ids = views[None].retain(batch)
        gone = [memory for place, memory in enumerate(ids) if place in forgotten]
        assert views[None].forget(gone) == len(gone)
        others[None].retain(kept)

        for person in (None, "ines"):
            for profile in ("default", "lexical"):
                left, rebuilt = (everything(each[person], query, profile) for each in (views, others))
                assert channel_scores(left) == channel_scores(rebuilt)
        assert views[None].verify().ok


def channel_scores(recall: Recall) -> dict[str, dict[str, float]]:
    return {hit.text: dict(hit.channel_scores) for hit in recall}


def in_bytes(recall: Recall) -> bytes:
    answer = recall.to_dict()
    for line in (answer["trace"], *answer["trace"]["stages"]):
        del line["milliseconds"]
    return json.dumps(answer, allow_nan=False).encode()
