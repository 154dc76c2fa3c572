from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.protocols import Refined
from simonides.recall.refining import relevance
from simonides.recall.refining.chance import ChanceModel, chance_models
from simonides.recall.refining.relevance import HEAD, WORDS, Relevance
from simonides.records.candidate import Candidate
from simonides.records.interval import Interval
from simonides.testing.embedder import StubEmbedder
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from simonides.records.recall import Judgement

STAGE = Relevance(
    weak=0.2, match=0.7, share={"high": 0.5, "balanced": 0.1}, sure=0.8, unsure=3, unsure_share=0.0
)
TEXTS = ["kiln red", "kiln blue", "tea", "tea green", *(f"filler {n}" for n in range(10))]
VECTORS = [[0.6, 0.8], [0.8, 0.6], [0.0, 1.0], [0.28, 0.96], *[[0.0, 1.0]] * 10]
VIEW = FakeView.of([fake_memory(text) for text in TEXTS], vectors=VECTORS)
QUERY = np.array([1.0, 0.0], np.float32)
ALL = tuple(range(len(TEXTS)))


def model(intercept: float, **weights: float) -> ChanceModel:
    """A model over signals as they are; without any, of what counts nothing."""
    weights = weights or {"rows": 0.0}
    count = len(weights)
    slopes = np.array(list(weights.values()))
    return ChanceModel(
        tuple(weights), np.zeros(count), np.ones(count), slopes, np.zeros((count, count)), intercept
    )


def install(patch: pytest.MonkeyPatch, **pairs: tuple[ChanceModel, ChanceModel]) -> None:
    """Models by embedder in place of those that are shipped."""
    patch.setattr(relevance, "chance_models", pairs.get)


def judge(
    *words: str,
    stage: Relevance = STAGE,
    view: FakeView = VIEW,
    found: tuple[int, ...] = ALL,
    model: bool = True,
    **query: Any,
) -> Refined:
    terms = tuple((word, 1) for word in words)
    asked = fake_query(" ".join(words), **{"terms": terms, "vector": QUERY if model else None, **query})
    pool = tuple(Candidate(ordinal, 1.0 / (1 + place), "any") for place, ordinal in enumerate(found))
    return stage.refine(view, asked, pool, fake_tools(embedder=StubEmbedder(2) if model else None))


def judgement(refined: Refined) -> Judgement:
    assert refined.judgement is not None
    return refined.judgement


def ordinals(refined: Refined) -> list[int]:
    return [each.ordinal for each in refined.pool]


@pytest.mark.spec("DF-04")
@pytest.mark.parametrize("with_model", [False, True])
@pytest.mark.parametrize("words", [("kiln",), ("red", "kiln", "boat"), ("boat",), ()])
def test_numbers_are_probabilities_and_no_hit_is_likelier_than_anything_at_all(
    words: tuple[str, ...], *, with_model: bool
) -> None:
    found = judgement(judge(*words, model=with_model, precision="wide"))
    assert 0.0 <= found.confidence <= 1.0
    assert set(found.relevance) == set(ALL)
    assert all(0.0 <= each <= found.confidence for each in found.relevance.values())


@pytest.mark.spec("DF-04")
def test_relevance_is_confidence_times_the_chance_of_the_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, words=(model(0.0), model(0.0, rank=-math.log(2))))
    found = judgement(judge("kiln", model=False, precision="wide"))
    assert found.confidence == 0.5
    # The signal "rank" is the logarithm of the place, from 1.
    expected = [0.5 / (1 + math.exp(math.log(2) * math.log(place))) for place in range(1, len(TEXTS) + 1)]
    assert [found.relevance[o] for o in ALL] == pytest.approx(expected, abs=1e-6)


@pytest.mark.spec("DF-04")
@pytest.mark.parametrize(
    ("weak", "match", "band"),
    [
        (0.2, 0.5, "match"),
        (0.2, 0.500001, "weak"),
        (0.5, 0.7, "weak"),
        (0.5, 0.5, "match"),
        (0.500001, 0.7, "none"),
        (0.0, 1.0, "weak"),
    ],
)
def test_a_band_begins_at_its_bound(
    monkeypatch: pytest.MonkeyPatch, weak: float, match: float, band: str
) -> None:
    install(monkeypatch, words=(model(0.0), model(0.0)))
    refined = judge("kiln", stage=replace(STAGE, weak=weak, match=match), model=False)
    assert judgement(refined).confidence == 0.5
    assert judgement(refined).band == band
    assert bool(refined.no_match) is (band == "none")


@pytest.mark.spec("DF-04")
def test_in_the_band_none_everything_stays_and_the_reasons_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = (model(-3.0), model(0.0, rank=-2.0))
    install(monkeypatch, words=pair, stub=pair)
    refined = judge("boat", precision="high")
    assert ordinals(refined) == list(ALL)
    assert refined.dropped == {}
    assert refined.no_match == (
        "the chance that anything answers is 0.05, below 0.2",
        "the words of the best memory cover 0.00 of the query's weight",
        "the nearest memory has a cosine of 0.80",
    )
    assert len(judge("boat", model=False).no_match) == 2


@pytest.mark.parametrize(
    ("precision", "kept"),
    # Chances 1/(1 + e^-(2 − ln place)): .88 .79 .71 .65 .60 .55 .51 .48 .45 .42, then .40 …
    [("high", 9), ("balanced", HEAD), ("wide", len(TEXTS))],
)
def test_where_a_hit_stands_out_those_are_kept_that_have_a_share_of_its_chance(
    monkeypatch: pytest.MonkeyPatch, precision: str, kept: int
) -> None:
    install(monkeypatch, words=(model(3.0), model(2.0, rank=-1.0)))
    refined = judge("kiln", model=False, precision=precision)
    chances = [1 / (1 + math.exp(-2 + math.log(place))) for place in range(1, len(TEXTS) + 1)]
    share = STAGE.share.get(precision, 0.0)
    assert sum(chance >= share * chances[0] for chance in chances[:HEAD]) == min(kept, HEAD)
    assert ordinals(refined) == list(ALL[:kept])
    assert set(refined.dropped) == set(ALL[kept:])
    assert refined.no_match == ()
    if kept < len(TEXTS):
        assert set(refined.dropped.values()) == {
            f"is less than {share:g} times as likely to answer as the best hit"
        }


def test_where_no_hit_stands_out_the_first_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, words=(model(3.0), model(1.0)))
    refined = judge("kiln", model=False)
    assert ordinals(refined) == [0, 1, 2]
    assert set(refined.dropped.values()) == {"stands behind the first 3, and no hit stands out"}
    certain = judge("kiln", model=False, stage=replace(STAGE, sure=0.7))
    assert ordinals(certain) == list(ALL[:HEAD])
    assert ordinals(judge("kiln", model=False, precision="high")) == [0, 1, 2]


def test_where_no_hit_stands_out_hardly_likely_ones_are_dropped_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, words=(model(3.0), model(1.0, rank=-4.0)))
    assert ordinals(judge("kiln", model=False, stage=replace(STAGE, unsure_share=0.1))) == [0, 1]


def test_the_first_hit_stays_though_a_later_one_is_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only row 2, asked for and at place 3, is likely.
    install(monkeypatch, words=(model(3.0), model(-6.0, coverage=9.0)))
    assert ordinals(judge("tea", model=False, precision="high", found=(0, 1, 2, 4))) == [0, 2]


def test_a_precision_without_a_share_keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, words=(model(3.0), model(1.0)))
    assert ordinals(judge("kiln", model=False, stage=replace(STAGE, share={}))) == list(ALL)


@pytest.mark.spec("DF-04")
def test_min_relevance_takes_out_what_is_below_it_and_keeps_what_is_at_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, words=(model(3.0), model(2.0, rank=-1.0)))
    wide = judge("kiln", model=False, precision="wide")
    fifth = judgement(wide).relevance[4]
    at = judge("kiln", model=False, precision="wide", min_relevance=fifth)
    assert ordinals(at) == list(ALL[:5])
    assert set(at.dropped.values()) == {f"has a relevance below {fifth:g}"}
    both = judge("kiln", model=False, precision="high", min_relevance=fifth)
    assert ordinals(both) == list(ALL[:5])
    assert all(why.endswith(f", or has a relevance below {fifth:g}") for why in both.dropped.values())
    assert ordinals(judge("kiln", model=False, precision="wide", min_relevance=0.0)) == list(ALL)


@pytest.mark.spec("DF-04")
def test_where_nothing_reaches_min_relevance_nothing_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, words=(model(3.0), model(0.0)))
    refined = judge("kiln", model=False, min_relevance=0.9)
    assert refined.pool == ()
    assert refined.no_match == ("no memory reaches min_relevance 0.9",)
    assert set(refined.dropped) == set(ALL)


@pytest.mark.spec("DF-04")
def test_with_another_embedder_words_judge_and_the_trace_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, words=(model(0.0, coverage=1.0), model(0.0)))
    other = judge("kiln")
    assert other.reason == "relevance was not calibrated for stub; judged by keywords only"
    assert judgement(other).confidence == judgement(judge("kiln", model=False)).confidence
    install(monkeypatch, words=(model(-9.0), model(0.0)), stub=(model(0.0, cosine=1.0), model(0.0)))
    own = judge("kiln")
    assert own.reason == ""
    assert judgement(own).confidence == pytest.approx(1 / (1 + math.exp(-0.8)), abs=1e-6)


@pytest.mark.spec("DF-12")
def test_without_vectors_words_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, words=(model(0.0, coverage=1.0), model(0.0)), stub=(model(9.0), model(0.0)))
    without_query = judge("kiln", model=False)
    bare = FakeView.of([fake_memory(text) for text in TEXTS])
    without_bank = judge("kiln", view=bare)
    for refined in (without_query, without_bank):
        assert refined.reason == ""
        assert "cosine" not in refined.evidence
        # One memory holds the only word.
        assert judgement(refined).confidence == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-6)


def test_an_empty_pool_is_not_judged() -> None:
    assert judge("kiln", found=()) == Refined(())


def test_a_query_without_terms_covers_nothing() -> None:
    refined = judge(precision="wide")
    assert refined.evidence["coverage"] == refined.evidence["unseen"] == 0.0
    assert judgement(refined).band in {"none", "weak", "match"}


@pytest.mark.spec("DF-04")
def test_what_happened_in_the_time_that_is_asked_about_is_a_match(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, words=(model(-9.0), model(0.0)))
    days = [Interval(10, 20), Interval(20, 30), *[None] * 12]
    memories = [fake_memory(text, occurred=day) for text, day in zip(TEXTS, days, strict=True)]
    view = FakeView.of(memories)
    then = judge("boat", view=view, model=False, time=Interval(15, 18))
    assert (judgement(then).confidence, judgement(then).band) == (STAGE.match, "match")
    assert judge("boat", view=view, model=False, time=Interval(40, 50)).no_match
    # Only the head may waive.
    late = (*range(2, 12), 0)
    assert judge("boat", view=view, model=False, found=late, time=Interval(15, 18)).no_match


@pytest.mark.spec("DF-04")
def test_what_others_hide_changes_nothing() -> None:
    texts = [*TEXTS, "boat boat", "red boat"]
    view = FakeView.of(
        [fake_memory(text) for text in texts],
        vectors=[*VECTORS, [1.0, 0.0], [1.0, 0.0]],
        visible=[True] * len(TEXTS) + [False] * 2,
    )
    for words in (("boat",), ("red", "kiln", "boat"), ("tea",)):
        assert judge(*words, view=view) == judge(*words)


def test_the_order_of_the_words_changes_nothing() -> None:
    words = ("red", "kiln", "boat", "blue", "green")
    assert judge(*words).evidence == judge(*reversed(words)).evidence
    assert judgement(judge(*words)) == judgement(judge(*reversed(words)))


def test_the_shipped_models_are_of_words_and_of_the_default_embedder() -> None:
    assert chance_models(WORDS) is not None
    assert chance_models("all-MiniLM-L6-v2") is not None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"weak": -0.1}, "weak: -0.1"),
        ({"weak": 0.8}, "weak: 0.8 and match 0.7"),
        ({"match": 1.1}, "weak: 0.2 and match 1.1"),
        ({"share": {"high": 1.5}}, "share.high: 1.5"),
        ({"sure": 2.0}, "sure: 2.0"),
        ({"sure": math.nan}, "sure: nan"),
        ({"unsure": 0}, "unsure: 0"),
    ],
)
def test_options_out_of_range_are_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(STAGE, **change)
    assert str(caught.value).startswith(says)


def test_an_unknown_precision_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'high'"):
        replace(STAGE, share={"hig": 0.5})
