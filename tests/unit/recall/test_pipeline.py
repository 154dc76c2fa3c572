from __future__ import annotations

import itertools
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError, ModelError
from simonides.profiles.loader import load_profile
from simonides.protocols import Refined
from simonides.recall.fusion import ReciprocalRank
from simonides.recall.pipeline import run
from simonides.recall.plan import Plan, Step
from simonides.records.candidate import Ranking
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.protocols import Channel, Refiner, Tools, Understander, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query
    from simonides.records.recall import Recall

DENSE, LEXICAL = load_profile("memoria").channels[0], load_profile("lexical").channels[0]
DEFAULT = replace(
    load_profile("lexical"),
    name="two",
    understanders=load_profile("memoria").understanders[:2],
    channels=(DENSE, LEXICAL),
    fuser=Step("reciprocal_rank", "reciprocal_rank", ReciprocalRank(5, {"dense": 0.8})),
)
"""Terms, embedding; dense, lexical; reciprocal rank; no refiner."""
TEXTS = ["the fuse of the pump is blown", "the lamp is lit", "the pump needs a new fuse", "tea at four"]


def bank(texts: list[str] = TEXTS, **changes: Any) -> FakeView:
    vectors = StubEmbedder(16).encode(texts).tolist()
    return FakeView.of([fake_memory(text) for text in texts], vectors=vectors, **changes)


def ask(
    plan: Plan = DEFAULT, view: FakeView | None = None, text: str = "pump fuse", **options: Any
) -> Recall:
    query = fake_query(text, as_of=7, seed=3, **options.pop("query", {}))
    tools = options.pop("tools", None) or fake_tools(embedder=StubEmbedder(16))
    options.setdefault("timer", itertools.count().__next__)
    return run(plan, view or bank(), query, tools, known_at=8, **options)


def with_channels(**channels: Channel) -> Plan:
    return replace(DEFAULT, channels=tuple(Step(name, name, stage) for name, stage in channels.items()))


def without_times(recall: Recall) -> Recall:
    stages = tuple(replace(stage, milliseconds=0.0) for stage in recall.trace.stages)
    return replace(recall, trace=replace(recall.trace, milliseconds=0.0, stages=stages))


@dataclass(frozen=True, slots=True)
class Finds:
    """A channel that finds given rows."""

    ordinals: tuple[int, ...]

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        scores = np.arange(len(self.ordinals), 0, -1).astype(np.float64)
        return Ranking(np.array(self.ordinals, np.int64), scores)


@dataclass(frozen=True, slots=True)
class Fails:
    """A channel that raises."""

    error: Exception

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        raise self.error


@dataclass(frozen=True, slots=True)
class Meets:
    """A channel that waits until its neighbour runs too, then notes that it has ended."""

    barrier: threading.Barrier
    ended: list[str] = field(default_factory=list)

    def search(self, view: View, query: Query, tools: Tools) -> Ranking:
        self.barrier.wait(timeout=30)
        self.ended.append("meets")
        return Ranking.empty()


@dataclass(frozen=True, slots=True)
class Notes:
    """An understander that leaves a note."""

    note: str

    def understand(self, view: View, query: Query, tools: Tools) -> Query:
        return replace(query, notes=(*query.notes, self.note))


@dataclass(frozen=True, slots=True)
class Reverses:
    """A refiner that turns the pool around."""

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        return Refined(pool[::-1])


@dataclass(frozen=True, slots=True)
class Drops:
    """A refiner that drops the first candidate."""

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        return Refined(pool[1:])


def test_two_channels_are_fused_and_packed() -> None:
    recall = ask()
    assert [hit.text for hit in recall][:2] == [TEXTS[2], TEXTS[0]]
    assert recall[0].ranks == {"dense": 1, "lexical": 1}
    assert recall[0].score == round(1 / 6 + 0.8 / 6, 9)  # k = 5, ranks from 1
    assert recall.context.splitlines()[0] == "[1] the pump needs a new fuse"
    assert not recall.no_match


def test_the_trace_tells_what_each_stage_did() -> None:
    trace = ask(view=bank(visible=[True, True, True, False], eligible=[True, False, True, False])).trace
    assert [(line.name, line.shape, line.technique, line.count) for line in trace.stages] == [
        ("terms", "understander", "terms", 2),
        ("embedding", "understander", "embedding", 0),
        ("dense", "channel", "dense", 2),
        ("lexical", "channel", "lexical", 2),
        ("reciprocal_rank", "fuser", "reciprocal_rank", 2),
        ("token_budget", "packer", "token_budget", 2),
    ]
    assert (trace.query, trace.profile, trace.seed) == ("pump fuse", "two", 3)
    assert (trace.as_of, trace.known_at, trace.sequence) == (7, 8, 1)
    assert (trace.rows, trace.visible, trace.eligible) == (4, 3, 2)
    assert trace.degraded == ()


def test_times_are_in_milliseconds_by_the_timer_handed_in() -> None:
    # The timer moves by one second at each look: two looks per stage, two for the whole.
    trace = ask().trace
    assert [line.milliseconds for line in trace.stages] == [1000.0] * 6
    assert trace.milliseconds == 13_000.0


def test_a_plan_limits_only_a_query_without_a_limit() -> None:
    two = replace(DEFAULT, limit=2)
    assert len(ask(two)) == 2
    assert len(ask(two, query={"limit": 3})) == 3
    assert len(ask(replace(DEFAULT, limit=None))) == len(TEXTS)


@pytest.mark.spec("DF-12")
def test_without_an_embedder_words_still_rank_and_the_trace_says_so() -> None:
    recall = ask(tools=fake_tools())
    assert [hit.text for hit in recall] == [TEXTS[2], TEXTS[0]]
    assert recall.trace.degraded == ("embedding: no embedder", "dense: the query has no vector")
    by_name = {line.name: line.reason for line in recall.trace.stages}
    assert by_name["embedding"] == "no embedder"
    assert by_name["dense"] == "the query has no vector"
    assert by_name["lexical"] == ""


def test_a_query_without_terms_still_finds_by_meaning() -> None:
    recall = ask(text="?!")
    assert len(recall) > 0
    assert recall.trace.degraded == ("lexical: the query has no terms",)


def test_each_understander_is_charged_with_its_own_notes() -> None:
    one: Step[Understander] = Step("one", "notes", Notes("first"))
    two: Step[Understander] = Step("two", "notes", Notes("second"))
    trace = ask(replace(DEFAULT, understanders=(one, two))).trace
    assert [(line.name, line.reason) for line in trace.stages[:2]] == [("one", "first"), ("two", "second")]


def test_refiners_run_in_order_between_fusion_and_packing() -> None:
    reverses: Step[Refiner] = Step("reverses", "reverses", Reverses())
    drops: Step[Refiner] = Step("drops", "drops", Drops())
    plan = with_channels(finds=Finds((0, 1, 2)))
    recall = ask(replace(plan, refiners=(reverses, drops)))
    assert [hit.memory.ordinal for hit in recall] == [1, 0]
    assert [(line.name, line.count) for line in recall.trace.stages if line.shape == "refiner"] == [
        ("reverses", 3),
        ("drops", 2),
    ]


@pytest.mark.parametrize("texts", [[], ["🟢"], ["the lamp is lit"]])
def test_an_empty_bank_and_a_bank_of_one(texts: list[str]) -> None:
    recall = ask(replace(DEFAULT, channels=DEFAULT.channels[1:]), bank(texts))
    assert recall.hits == ()
    assert recall.context == ""
    assert recall.no_match
    assert recall.no_match_reasons == ("nothing was found",)
    assert len(ask(view=bank(texts))) == len(texts)


@dataclass(frozen=True, slots=True)
class Doubts:
    """A refiner that says why nothing matches."""

    reasons: tuple[str, ...]

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        return Refined(pool, no_match=self.reasons, evidence={"doubt": 0.75})


@pytest.mark.spec("DF-04")
def test_no_match_keeps_the_hits_and_empties_the_context() -> None:
    doubts: Step[Refiner] = Step("doubts", "doubts", Doubts(("too far", "too few words")))
    trusts: Step[Refiner] = Step("trusts", "trusts", Doubts(()))
    plan = with_channels(finds=Finds((0, 1, 2)))
    sure, unsure = ask(replace(plan, refiners=(trusts,))), ask(replace(plan, refiners=(doubts,)))
    assert (sure.no_match, sure.no_match_reasons) == (False, ())
    assert sure.context
    assert unsure.no_match
    assert unsure.no_match_reasons == ("too far", "too few words")
    assert unsure.to_dict()["no_match_reasons"] == ["too far", "too few words"]
    assert unsure.hits == sure.hits
    assert unsure.context == ""
    assert unsure.chunks == ()
    assert not any("doubts" in line for line in unsure.trace.degraded)
    line = next(line for line in unsure.trace.stages if line.name == "doubts")
    assert (line.no_match, line.evidence) == (("too far", "too few words"), {"doubt": 0.75})
    shown = next(s for s in unsure.trace.to_dict()["stages"] if s["name"] == "doubts")
    assert shown["no_match"] == ["too far", "too few words"]
    assert shown["evidence"] == {"doubt": 0.75}


@pytest.mark.spec("DF-06")
def test_channels_side_by_side_give_the_same_answer() -> None:
    alone = ask()
    with ThreadPoolExecutor(2) as executor:
        beside = ask(executor=executor)
    assert without_times(beside) == without_times(alone)


def test_an_executor_runs_the_channels_at_the_same_time() -> None:
    barrier = threading.Barrier(2)
    plan = with_channels(one=Meets(barrier), two=Meets(barrier))
    with ThreadPoolExecutor(2) as executor:
        assert ask(plan, executor=executor).no_match


@pytest.mark.parametrize("error", [ModelError("the index is gone"), ZeroDivisionError("bug")])
def test_what_a_channel_raises_ends_the_recall(error: Exception) -> None:
    plan = with_channels(fails=Fails(error), finds=Finds((0,)))
    with pytest.raises(type(error), match=str(error)):
        ask(plan)
    with ThreadPoolExecutor(2) as executor, pytest.raises(type(error), match=str(error)):
        ask(plan, executor=executor)


def test_an_error_is_raised_only_when_no_channel_runs_any_more() -> None:
    barrier = threading.Barrier(2)
    slow = Meets(barrier)
    plan = with_channels(fails=Fails(ModelError("gone")), slow=slow)
    with ThreadPoolExecutor(3) as executor:
        # The slow channel is let go only now, by a third task.
        executor.submit(barrier.wait, 30)
        with pytest.raises(ModelError, match="gone"):
            ask(plan, executor=executor)
        assert slow.ended == ["meets"]


@pytest.mark.fault("N82")
def test_an_interrupt_leaves_only_when_no_channel_runs_any_more() -> None:
    barrier = threading.Barrier(2)
    slow = Meets(barrier)
    plan = with_channels(slow=slow, finds=Finds((0,)))

    def interrupt() -> None:
        signal.raise_signal(signal.SIGINT)
        barrier.wait(30)

    with ThreadPoolExecutor(3) as executor:
        began = threading.Timer(0.2, interrupt)
        began.start()
        with pytest.raises(KeyboardInterrupt):
            ask(plan, executor=executor)
        assert slow.ended == ["meets"]
        began.join()


def test_two_channels_of_one_name_are_refused() -> None:
    step: Step[Channel] = Step("dense", "finds", Finds((0,)))
    with pytest.raises(InputError, match="share a name"):
        replace(DEFAULT, channels=(step, step))


def test_the_answer_is_iterable_and_json_ready() -> None:
    recall = ask()
    described = recall.to_dict()
    assert [hit.id for hit in recall] == [hit["id"] for hit in described["hits"]]
    assert next(iter(ids(recall))) == recall[0].id
    assert described["trace"]["profile"] == "two"


def ids(recall: Recall) -> Iterator[str]:
    return (hit.id for hit in recall)
