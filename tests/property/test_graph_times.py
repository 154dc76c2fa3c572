"""Graph recall at T is graph recall on a store rebuilt to T, and others' memories change no byte of it.

Both hold for every channel of a profile that has all of them: dense, lexical, pagerank, entity_hop, hopfield,
with the graph expansion behind.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import uuid
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.bank import Bank
    from simonides.records.recall import Recall

STUB = StubEmbedder(dimension=32)
NAMES = ("Kestrel", "Osprey", "Borealis", "Ines")
VERBS = ("depends on", "is paid by", "knows")
PEOPLE = ("ines", "tove")
QUERIES = ("What does Kestrel depend on?", "Who knows Ines and Osprey", "what is paid", "Borealis")

EVERYTHING = """
extends = "memoria"
order = ["terms", "embedding", "entities", "dense", "lexical", "pagerank", "entity_hop", "hopfield",
  "reciprocal_rank", "graph_expansion", "cited_context"]
optional = []

[stages.entity_hop]
depth = 100
named = 1.0
hop = 0.5
hub_cap = 3

[stages.hopfield]
depth = 100
rescore = 100
steps = 2
beta = 8.0
neighbours = 3

[stages.graph_expansion]
mode = "{mode}"
seeds = 2
fewest = 3
most = 5
hops = 2
least_mass = 0.0001
per_seed = 2
hub_cap = 5
damping = 0.5
residual = 0.001
edges = 60
hub_damping = 0.5
links = {{ semantic = 1.0, causal = 1.0, temporal = 0.5, session = 0.5 }}
"""


@dataclass(frozen=True)
class Step:
    """One write: a text of a reader, a statement that may close another, or the end of an earlier memory.

    With *edits*, the text is the new one of an earlier memory.
    """

    text: str
    reader: str | None
    statement: bool
    ends: int | None
    edits: int | None = None

    def write(self, bank: Bank, ids: list[str], place: int) -> None:
        if self.ends is not None and ids:
            bank.invalidate(ids[self.ends % len(ids)])
            return
        if self.edits is not None and ids:
            bank.update_memory(ids[self.edits % len(ids)], text=f"{self.text} n{place}")
            return
        item: dict[str, Any] = {"text": f"{self.text} n{place}", "acl": [self.reader] if self.reader else []}
        if self.statement:
            subject, _, rest = self.text.partition(" ")
            item |= {
                "subject": subject,
                "relation": "state",
                "object": f"{rest} {place}",
                "single_valued": True,
            }
        ids.extend(bank.retain([item]))


TEXTS = st.tuples(st.sampled_from(NAMES), st.sampled_from(VERBS), st.sampled_from(NAMES)).map(" ".join)
STEPS = st.builds(
    Step,
    text=TEXTS,
    reader=st.sampled_from([None, None, *PEOPLE]),
    statement=st.sampled_from([False, False, True]),
    ends=st.sampled_from([None, None, None, 0, 1, 2]),
    edits=st.sampled_from([None, None, None, 0, 1, 2]),
)


@contextlib.contextmanager
def banks() -> Iterator[tuple[FrozenClock, dict[str | None, Bank]]]:
    """An empty bank, its identity always the same, so that equal writes get equal ids."""
    clock = FrozenClock()
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("simonides.backends.embedded.bank.uuid.uuid4", return_value=uuid.UUID(int=1)),
        simonides.open(folder, clock=clock, embedder=STUB) as store,
    ):
        yield clock, {who: store.bank("diary", principal=who) for who in (None, *PEOPLE)}


def write(clock: FrozenClock, bank: Bank, steps: Sequence[Step | None]) -> None:
    """A step a day; ``None`` = a day without."""
    ids: list[str] = []
    for place, step in enumerate(steps):
        clock.advance(days=1)
        if step is not None:
            step.write(bank, ids, place)


@pytest.fixture(scope="module", params=["pagerank", "bfs"])
def everything(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    profile = tmp_path_factory.mktemp("profiles") / "everything.toml"
    profile.write_text(EVERYTHING.format(mode=request.param), encoding="utf-8")
    return Path(profile)


def told(recall: Recall) -> Any:
    """All but what a later write stamps on the records, and how long it took."""
    return (
        [
            (hit.id, hit.memory.version, hit.score, hit.ranks, hit.channel_scores, hit.signals)
            for hit in recall
        ],
        recall.context,
        recall.omitted,
        (recall.trace.visible, recall.trace.eligible, recall.trace.degraded, recall.trace.counters),
    )


def in_bytes(recall: Recall) -> bytes:
    answer = recall.to_dict()
    for line in (answer["trace"], *answer["trace"]["stages"]):
        del line["milliseconds"]
    return json.dumps(answer, allow_nan=False).encode()


@pytest.mark.spec("ME-08")
@settings(max_examples=settings().max_examples // 5)
@given(
    steps=st.lists(STEPS, min_size=2, max_size=8),
    upto=st.integers(1, 7),
    query=st.sampled_from(QUERIES),
    who=st.sampled_from([None, "ines"]),
)
def test_recall_at_t_is_recall_on_a_store_rebuilt_to_t(
    everything: Path, steps: list[Step], upto: int, query: str, who: str | None
) -> None:
    upto = min(upto, len(steps))
    with banks() as (clock, full):
        moment = clock.now + timedelta(days=upto, hours=1)
        write(clock, full[None], steps)
        with banks() as (then, rebuilt):
            write(then, rebuilt[None], steps[:upto])
            then.now = moment
            for profile in ("memoria", everything):
                looking_back = full[who].recall(query, profile=profile, as_of=moment)
                assert told(looking_back) == told(rebuilt[who].recall(query, profile=profile))


@pytest.mark.spec("ME-08")
@settings(max_examples=settings().max_examples // 5)
@given(steps=st.lists(STEPS, min_size=2, max_size=8), query=st.sampled_from(QUERIES))
def test_what_another_may_read_changes_no_byte(everything: Path, steps: list[Step], query: str) -> None:
    # Ends of memories are told by place, which a missing memory would shift; and a statement, whoever may read
    # it, ends the older one that it contradicts.
    open_ended = [Step(step.text, step.reader, step.statement and not step.reader, None) for step in steps]
    with banks() as (clock, full), banks() as (other, without):
        write(clock, full[None], open_ended)
        write(other, without[None], [step if step.reader != "ines" else None for step in open_ended])
        for profile in ("memoria", everything):
            one, two = (each["tove"].recall(query, profile=profile) for each in (full, without))
            assert in_bytes(one) == in_bytes(two)
