"""What a router skips has its own place in the trace: it is a decision, not a stage that did less than asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.profiles.loader import load_profile
from simonides.recall import pipeline
from simonides.recall.plan import Step
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.protocols import Tools, View
    from simonides.records.query import Query
    from simonides.records.recall import Recall


@dataclass(frozen=True)
class Skips:
    """Understander that finds nothing worth looking for."""

    def understand(self, view: View, query: Query, tools: Tools) -> Query:
        return replace(query, skip="skipped_by_test", notes=(*query.notes, "skipped_by_test: small talk"))


def asked(*, skips: bool) -> Recall:
    plan = load_profile("lexical")
    if skips:
        plan = replace(plan, understanders=(*plan.understanders, Step("gate", "gate", Skips())))
    return pipeline.run(
        plan,
        FakeView.of([fake_memory("the kettle is in the galley")]),
        fake_query("kettle", limit=None),
        fake_tools(),
        known_at=0,
        timer=lambda: 0.0,
    )


def test_a_skip_is_told_apart_from_what_did_less() -> None:
    skipped = asked(skips=True)
    assert (skipped.hits, skipped.no_match) == ((), True)
    assert skipped.trace.skipped == "skipped_by_test: small talk"
    assert skipped.trace.to_dict()["skipped"] == "skipped_by_test: small talk"
    assert skipped.trace.degraded == ()
    assert [stage.reason for stage in skipped.trace.stages if stage.name == "gate"] == [skipped.trace.skipped]


def test_nothing_is_skipped_otherwise() -> None:
    found = asked(skips=False)
    assert len(found.hits) == 1
    assert found.trace.skipped == ""
