from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.protocols import Refined
from simonides.recall.refining.abstention import Abstention
from simonides.records.candidate import Candidate
from simonides.records.interval import Interval
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

STAGE = Abstention(
    head=2,
    rest=4,
    fields=("text",),
    embedder="stub",
    weights={"cosine": 0.5, "coverage": 0.25, "gap": 0.25},
    least=0.5,
    least_coverage=0.3,
    enough_coverage=0.9,
)
TEXTS = ["kiln red", "kiln blue", "tea", "tea green"]
VECTORS = [[0.6, 0.8], [0.8, 0.6], [0.0, 1.0], [0.28, 0.96]]
VIEW = FakeView.of([fake_memory(text) for text in TEXTS], vectors=VECTORS)
QUERY = np.array([1.0, 0.0], np.float32)


def idf(frequency: int, rows: int = 4) -> float:
    return math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5))


def judge(
    *words: str,
    stage: Abstention = STAGE,
    view: FakeView = VIEW,
    found: tuple[int, ...] = (0, 1, 2, 3),
    model: bool = True,
    **query: Any,
) -> Refined:
    terms = tuple((word, 1) for word in words)
    asked = fake_query(" ".join(words), **{"terms": terms, "vector": QUERY if model else None, **query})
    pool = tuple(Candidate(ordinal, -float(place), "any") for place, ordinal in enumerate(found))
    tools = fake_tools(embedder=StubEmbedder(2) if model else None)
    refined = stage.refine(view, asked, pool, tools)
    assert refined.pool == pool
    calibrated = not model or stage.embedder == "stub"
    assert refined.reason == (
        "" if calibrated else f"calibrated for {stage.embedder}, not for stub; judged by words"
    )
    return refined


@pytest.mark.spec("DF-04")
def test_the_evidence_by_hand() -> None:
    refined = judge("red", "kiln", "boat")
    # Row 0 holds red (1 of 4 rows) and kiln (2 of 4); boat is nowhere.
    covered = (idf(1) + idf(2)) / (idf(1) + idf(2) + idf(0))
    gap = 0.8 - (0.0 + 0.28) / 2
    assert refined.evidence["coverage"] == pytest.approx(covered, abs=1e-9)
    assert refined.evidence["cosine"] == pytest.approx(0.8, abs=1e-6)
    assert refined.evidence["gap"] == pytest.approx(gap, abs=1e-6)
    assert refined.evidence["score"] == pytest.approx(0.5 * 0.8 + 0.25 * covered + 0.25 * gap, abs=1e-6)
    assert refined.no_match == ()


@pytest.mark.spec("DF-04")
def test_below_the_least_the_reasons_name_every_number() -> None:
    # Only rows 2 and 3 are in the head; nothing holds "boat".
    refined = judge("boat", found=(2, 3, 0, 1))
    assert refined.evidence["score"] < 0.5
    assert refined.no_match == (
        f"the evidence weighs {refined.evidence['score']:.2f}, below the 0.5 of an answer",
        "the words of the best memory cover 0.00 of the question's weight",
        "the nearest memory has a cosine of 0.28, -0.42 above the rest",
    )


@pytest.mark.spec("DF-04")
def test_a_score_at_the_least_is_a_match() -> None:
    score = judge("boat").evidence["score"]
    assert judge("boat", stage=replace(STAGE, least=score)).no_match == ()
    assert judge("boat", stage=replace(STAGE, least=score + 1e-9)).no_match


def test_one_memory_with_nearly_all_words_is_enough_though_its_cosine_is_low() -> None:
    assert judge("tea", found=(2, 3, 0, 1)).no_match == ()
    # Words spread over two memories are not.
    assert judge("red", "blue", stage=replace(STAGE, least=2.0)).no_match


@pytest.mark.spec("DF-04")
@pytest.mark.spec("DF-12")
def test_without_vectors_words_decide_alone() -> None:
    refined = judge("boat", model=False)
    assert refined.evidence == {"coverage": 0.0}
    assert refined.no_match == (
        "the words of the best memory cover 0.00 of the question's weight, below the 0.3 that words alone need",
    )
    assert judge("kiln", model=False).no_match == ()
    wordy = FakeView.of([fake_memory(text) for text in TEXTS])
    assert judge("boat", view=wordy).evidence == {"coverage": 0.0}


def test_another_embedder_is_not_judged_by_numbers_that_were_made_for_this_one() -> None:
    other = replace(STAGE, embedder="another", least=2.0)
    assert judge("kiln", stage=other).no_match == ()
    assert judge("boat", stage=other).no_match
    assert "score" in judge("boat", stage=other).evidence


def test_a_memory_without_a_vector_is_judged_by_its_words() -> None:
    view = FakeView.of([fake_memory(text) for text in TEXTS], vectors=[None, *VECTORS[1:]])
    strict = replace(STAGE, least=2.0)
    assert judge("kiln", "tea", stage=strict, view=view).no_match == ()
    assert judge("kiln", "tea", stage=strict).no_match


@pytest.mark.spec("DF-04")
def test_what_others_hide_changes_nothing() -> None:
    texts = [*TEXTS, "boat boat", "red boat"]
    vectors = [*VECTORS, [1.0, 0.0], [1.0, 0.0]]
    seen = [True] * 4 + [False] * 2
    view = FakeView.of([fake_memory(text) for text in texts], vectors=vectors, visible=seen)
    for words in (("boat",), ("red", "kiln", "boat"), ("tea",)):
        assert judge(*words, view=view) == judge(*words)


def test_rows_that_a_filter_leaves_out_still_count_for_the_weights() -> None:
    eligible = [True, True, False, False]
    view = FakeView.of([fake_memory(text) for text in TEXTS], vectors=VECTORS, eligible=eligible)
    expected = judge("red", "boat", found=(0, 1)).evidence
    assert judge("red", "boat", view=view, found=(0, 1)).evidence == expected


def test_what_happened_in_the_time_that_is_asked_about_is_no_false_find() -> None:
    days = [Interval(10, 20), Interval(20, 30), None, None]
    memories = [fake_memory(text, occurred=day) for text, day in zip(TEXTS, days, strict=True)]
    view = FakeView.of(memories, vectors=VECTORS)
    assert judge("boat", view=view, model=False, time=Interval(15, 18)).no_match == ()
    assert judge("boat", view=view, model=False, time=Interval(40, 50)).no_match
    assert judge("boat", view=view, model=False, found=(2, 3), time=Interval(15, 18)).no_match


def test_an_empty_pool_and_a_query_without_terms() -> None:
    assert judge("kiln", found=()) == Refined(())
    refined = judge(found=(1,))
    assert refined.evidence["coverage"] == 0.0
    assert refined.evidence["gap"] == refined.evidence["cosine"]


def test_the_order_of_the_words_changes_nothing() -> None:
    words = ("red", "kiln", "boat", "blue", "green")
    assert judge(*words) == judge(*reversed(words))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"head": 0}, "head: 0"),
        ({"rest": 1}, "rest: 1"),
        ({"weights": {"cosine": -1.0}}, "weights.cosine: -1.0"),
        ({"weights": {"cosine": 0.0}}, "weights: none"),
        ({"least": math.nan}, "least: nan"),
        ({"least_coverage": 1.1}, "least_coverage: 1.1"),
        ({"enough_coverage": -0.1}, "enough_coverage: -0.1"),
    ],
)
def test_options_out_of_range_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(STAGE, **change)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize("change", [{"fields": ("title",)}, {"weights": {"cosines": 1.0}}])
def test_unknown_names_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError):
        replace(STAGE, **change)
