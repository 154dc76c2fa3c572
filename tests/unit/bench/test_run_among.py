"""What banks among many others tell, from answers made by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from bench.run_among import outcome

from simonides.evaluation.datasets import Question


def test_what_is_told_is_counted_by_question() -> None:
    def answer(band: str) -> SimpleNamespace:
        return SimpleNamespace(band=band, no_match=band == "none")

    def asked(kind: str, *gold: str, acceptable: tuple[str, ...] = ()) -> Question:
        return Question("q", "?", gold, kind, bool(gold), acceptable)

    found = outcome(
        [
            (asked("full", "a", "b", acceptable=("c",)), ["a", "c", "d"], answer("match")),
            (asked("full", "a"), [], answer("none")),
            (asked("near-miss"), ["a"], answer("match")),
            (asked("near-miss"), ["a"], answer("weak")),
            (asked("off-topic"), [], answer("none")),
        ]
    )

    assert found == pytest.approx(
        {
            "answerable": 2,
            "unanswerable": 3,
            "refused": 0.5,
            "precision": 0.25,
            "recall": 0.25,
            "hits": 1.5,
            "near-miss as a match": 0.5,
            "near-miss refused": 0.0,
            "off-topic as a match": 0.0,
            "off-topic refused": 1.0,
        }
    )
