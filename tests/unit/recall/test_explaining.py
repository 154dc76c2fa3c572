from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.profiles.loader import load_profile
from simonides.recall.explaining import Recording, explain
from simonides.recall.pipeline import run
from simonides.recall.plan import Plan, Step
from simonides.recall.refining.diversity import MarginalRelevance, NearDuplicates
from simonides.recall.why_not import Recalled, why_not
from simonides.records.interval import Interval
from simonides.records.kind import Kind
from simonides.records.query import Filters
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.explanation import WhyNot
    from simonides.records.query import Query

DAY = 86_400_000_000
TEXTS = ["pump pump pump fuse", "pump fuse", "pump of the old mill", "a lamp"]


def lexical_plan(**changes: Any) -> Plan:
    return replace(load_profile("lexical"), **changes)


def ask(
    view: FakeView,
    plan: Plan | None = None,
    *,
    filters: Filters | None = None,
    text: str = "pump",
    known_at: int = 0,
    **query: Any,
) -> Recalled:
    recording = Recording()
    chosen, tools = plan or lexical_plan(), fake_tools()
    recall = run(
        chosen,
        view,
        fake_query(text, as_of=view.as_of, **query),
        tools,
        known_at=known_at,
        timer=itertools.count().__next__,
        recording=recording,
    )
    return Recalled(chosen, view, tools, filters or Filters(), recall, recording)


def view_of(*texts: str, **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(text, id=f"m{n}") for n, text in enumerate(texts)], **changes)


def asked(recalled: Recalled, ordinal: int) -> WhyNot:
    view = recalled.view
    assert isinstance(view, FakeView)
    return why_not([view.stored[ordinal]], recalled)


def with_depth(plan: Plan, depth: int) -> Plan:
    (channel,) = plan.channels
    return replace(plan, channels=(replace(channel, stage=replace(channel.stage, depth=depth)),))  # type: ignore[type-var]


@pytest.mark.spec("DF-02")
def test_a_hit_tells_all_that_led_to_its_place() -> None:
    recalled = ask(view_of(*TEXTS))
    first, second, third = explain(recalled.recall, recalled.recording)
    assert [first.id, second.id, third.id] == ["m0", "m1", "m2"]
    hit = recalled.recall[1]
    assert second.rank == 2
    assert second.ranks == {"lexical": 2}
    assert second.channel_scores == {"lexical": hit.channel_scores["lexical"]}
    assert second.fused_score == hit.score == round(1 / 7, 9)  # k = 5 in this profile
    assert second.tokens == hit.tokens
    assert [(v.stage, v.verdict, v.rank) for v in second.verdicts] == [
        ("lexical", "found", 2),
        ("reciprocal_rank", "kept", 2),
        ("token_budget", "packed", 2),
    ]
    json.dumps(second.to_dict(), allow_nan=False)


@pytest.mark.spec("DF-02")
def test_signals_and_verdicts_of_refiners_are_told() -> None:
    refiners = (Step("variety", "marginal_relevance", MarginalRelevance(1.0, 2)),)
    recalled = ask(view_of(*TEXTS, vectors=[[1, 0]] * 4), lexical_plan(refiners=refiners))
    first, second = explain(recalled.recall, recalled.recording)
    assert first.signals == {"marginal_relevance": first.score}
    assert [(v.stage, v.verdict) for v in second.verdicts][2] == ("variety", "kept")


@pytest.mark.spec("DF-02")
def test_what_was_returned_was_not_lost() -> None:
    answer = asked(ask(view_of(*TEXTS)), 1)
    assert (answer.returned, answer.reason) == (True, "it was returned, at rank 2")
    assert answer.verdicts[-1].verdict == "packed"


@pytest.mark.spec("DF-02")
def test_a_channel_that_looked_not_deep_enough_is_named_with_the_depth_it_takes() -> None:
    recalled = ask(view_of(*TEXTS), with_depth(lexical_plan(), 2))
    answer = asked(recalled, 2)
    deep = ask(view_of(*TEXTS)).recall
    assert (answer.stage, answer.unit) == ("lexical", "score")
    assert answer.short_by == pytest.approx(
        deep[1].channel_scores["lexical"] - deep[2].channel_scores["lexical"], abs=1e-8
    )
    assert answer.remedy == "a depth of 3 in [stages.lexical]"
    assert [hit.id for hit in ask(view_of(*TEXTS), with_depth(lexical_plan(), 3)).recall] == [
        "m0",
        "m1",
        "m2",
    ]
    assert [verdict.verdict for verdict in answer.verdicts] == ["not found", "absent", "not packed"]


@pytest.mark.spec("DF-02")
def test_what_no_channel_can_find_has_no_depth() -> None:
    answer = asked(ask(view_of(*TEXTS)), 3)
    assert answer.stage == "channels"
    assert answer.short_by is None
    assert "lexical: nothing in it meets the query" in answer.reason


@pytest.mark.spec("DF-02")
def test_a_refiner_that_cut_is_named_with_the_number_it_takes() -> None:
    def cut(most: int) -> Plan:
        return lexical_plan(refiners=(Step("variety", "marginal_relevance", MarginalRelevance(1.0, most)),))

    view = view_of(*TEXTS, vectors=[[1, 0]] * 4)
    answer = asked(ask(view, cut(1)), 2)
    assert answer.stage == "variety"
    assert answer.short_by == pytest.approx(1 / 6 - 1 / 8, abs=1e-8)
    assert answer.remedy == "most = 3 in [stages.variety]"
    assert "m2" in [hit.id for hit in ask(view, cut(3)).recall]
    assert "m2" not in [hit.id for hit in ask(view, cut(2)).recall]
    assert [v.verdict for v in answer.verdicts] == ["found", "kept", "dropped", "not packed"]


@pytest.mark.spec("DF-02")
def test_a_near_duplicate_is_told_of_what() -> None:
    refiners = (Step("near_duplicates", "near_duplicates", NearDuplicates(0.8, 32, 4, spare_numbers=False)),)
    answer = asked(ask(view_of("pump fuse", "pump fuse!"), lexical_plan(refiners=refiners)), 1)
    assert answer.stage == "near_duplicates"
    assert "says again what memory m0 says" in answer.reason
    assert "threshold = 0.8" in answer.remedy


@pytest.mark.spec("DF-02")
def test_a_budget_that_ran_out_is_told_in_tokens() -> None:
    view = view_of(*TEXTS)
    # Each item has the words of its text and "[n]": 5, then 3.
    answer = asked(ask(view, max_tokens=7), 1)
    assert (answer.stage, answer.short_by, answer.unit) == ("token_budget", 1.0, "tokens")
    assert answer.reason == "over budget: it takes 3 tokens, and 2 of 7 were left"
    assert answer.remedy == "max_tokens of 8"
    assert [hit.id for hit in ask(view, max_tokens=8).recall] == ["m0", "m1"]


@pytest.mark.spec("DF-02")
def test_a_limit_is_told_in_places() -> None:
    answer = asked(ask(view_of(*TEXTS), limit=1), 2)
    assert (answer.stage, answer.short_by, answer.unit) == ("token_budget", 2.0, "places")
    assert answer.remedy == "a limit of 3"


@pytest.mark.spec("DF-02")
@pytest.mark.parametrize(
    ("memory", "as_of", "known_at", "reason", "seconds"),
    [
        ({"valid_from_micros": 3 * DAY}, DAY, DAY, "it holds from 1970-01-04", 2 * 86_400),
        ({"valid_to_micros": DAY}, 3 * DAY, 3 * DAY, "it held until 1970-01-02", 2 * 86_400),
        ({"ingested_at_micros": 3 * DAY}, DAY, DAY, "it was recorded at 1970-01-04", 2 * 86_400),
        ({"expired_at_micros": DAY}, DAY, 3 * DAY, "it was no longer recorded from 1970-01-02", 2 * 86_400),
    ],
)
def test_a_viewpoint_that_hides_is_told_in_time(
    memory: dict[str, Any], as_of: int, known_at: int, reason: str, seconds: float
) -> None:
    view = FakeView.of([fake_memory("pump", **memory)], visible=[False], as_of=as_of)
    answer = asked(ask(view, known_at=known_at, filters=Filters(known_at=known_at)), 0)
    assert (answer.stage, answer.short_by, answer.unit) == ("visible", seconds, "seconds")
    assert answer.reason.startswith(reason)


@pytest.mark.spec("DF-02")
@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        (Filters(kinds=(Kind.CODE,)), "it is semantic, and kinds asks for code"),
        (Filters(project="mill"), "its project is '', and project asks for 'mill'"),
        (
            Filters(tags=("x",), tags_match="all_strict"),
            "its tags are [], and tags asks for all_strict of ['x']",
        ),
        (Filters(window=(0, DAY)), "it is from 1970-01-03T00:00:00+00:00, and window asks for 1970-01-01"),
    ],
)
def test_a_filter_that_excludes_is_named(filters: Filters, reason: str) -> None:
    memory = fake_memory("pump", occurred=Interval(2 * DAY, 3 * DAY))
    answer = asked(ask(FakeView.of([memory], eligible=[False]), filters=filters), 0)
    assert (answer.stage, answer.returned) == ("eligible", False)
    assert answer.reason.startswith(reason)


@dataclass(frozen=True)
class Routes:
    """An understander that leaves out all but one kind, or everything."""

    skip: str = ""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:
        return replace(query, narrow=True, routed_kinds=(Kind.CODE,), skip=self.skip)


@pytest.mark.spec("DF-02")
@pytest.mark.spec("HX-03")
def test_a_router_that_narrowed_is_named() -> None:
    plan = lexical_plan(understanders=(*lexical_plan().understanders, Step("router", "router", Routes())))
    view = FakeView.of([fake_memory("pump", id="m0"), fake_memory("pump()", id="m1", kind=Kind.CODE)])
    recalled = ask(view, plan)
    assert [hit.id for hit in recalled.recall] == ["m1"]
    assert recalled.recall.trace.eligible == 1
    answer = asked(recalled, 0)
    assert (answer.stage, answer.reason) == (
        "router",
        "the query was taken to ask for code; this is semantic",
    )


@pytest.mark.spec("HX-03")
def test_nothing_is_looked_for_when_the_router_says_so() -> None:
    routes = Step("router", "router", Routes("skipped_by_router"))
    recalled = ask(view_of(*TEXTS), lexical_plan(understanders=(routes,)))
    assert (recalled.recall.hits, recalled.recall.context) == ((), "")
    assert [line.shape for line in recalled.recall.trace.stages] == ["understander", "packer"]
    assert asked(recalled, 0).stage == "skipped_by_router"


def test_the_recall_is_the_same_with_and_without_a_recording() -> None:
    view = view_of(*TEXTS)
    recalled = ask(view)
    plain = run(
        lexical_plan(),
        view,
        fake_query("pump", as_of=view.as_of),
        fake_tools(),
        known_at=0,
        timer=itertools.count().__next__,
    )
    assert plain == recalled.recall


def test_ordinals_without_a_place_are_not_found() -> None:
    recalled = ask(view_of(*TEXTS))
    assert 3 not in recalled.recording.rankings["lexical"].ordinals
    assert np.array_equal(recalled.recording.rankings["lexical"].ordinals, [0, 1, 2])
