from __future__ import annotations

from typing import Any

import pytest

from simonides.recall import word_search
from simonides.recall.word_search import WordSearch
from simonides.testing.fakes import FakeView, fake_memory
from simonides.text.analyser import TextAnalyser
from simonides.text.query_dsl import parse_query

ENGLISH = TextAnalyser("english")
FIELDS = {"text": 1.0, "context": 1.0, "relation": 1.0, "expansion": 1.0}
TEXTS = [
    "the fuse of the pump is blown",
    "a blown fuse",
    "the lamp is lit",
    "library policies changed",
    "a happy lamp and a library",
    "tx_queue.rs failed on host batch_77",
    "\u6771\u4eac\u90fd\u306e\u6599\u7406",
]


def view_of(texts: list[str] = TEXTS, **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(text) for text in texts], analyser=ENGLISH, **changes)


def searcher(view: FakeView | None = None, checks: int = 50) -> WordSearch:
    return WordSearch(view or view_of(), ENGLISH, FIELDS, 1.2, 0.75, checks)


def found(query: str, view: FakeView | None = None) -> list[int]:
    ordinals: list[int] = (
        searcher(view).search(parse_query(query, syntax="extended").tokens).ordinals.tolist()
    )
    return ordinals


@pytest.mark.spec("JB-01")
@pytest.mark.parametrize(
    ("query", "ordinals"),
    [
        ("fuse lamp", [0, 1, 2, 4]),
        ("blown AND pump", [0]),
        ("blown NOT pump", [1]),
        ("lamp OR blown AND pump", [0, 2, 4]),
        ("lamp AND library OR pump", [0, 4]),
        ("NOT lamp pump", [0, 2, 4]),
        ("(lamp OR fuse) NOT (lit OR pump)", [1, 4]),
        ('"blown fuse"', [1]),
        ('"fuse blown"', []),
        ('"the pump"', [0]),
        ('"blown fuse" OR "is lit"', [1, 2]),
        ('lamp NOT "is lit"', [4]),
        ('fuse AND "of the pump"', [0]),
        ("blow*", [0, 1]),
        ("policy*", []),
        ("polici*", [3]),
        ("happy*", [4]),
        ("library* AND lamp", [4]),
        ("tx_queue.rs", [5]),
        ("queue", [5]),
        ("lamp AND tx_queue", []),
        ("failed AND tx_queue", [5]),
        ("batch_7*", [5]),
        ("\u6771\u4eac", [6]),
        ('"\u6771\u4eac\u90fd"', [6]),
        ('"\u4eac\u90fd\u306e"', [6]),
        ('"\u90fd\u4eac"', []),
        ("tag:x", []),
        ("tag:x lamp", [2, 4]),
        ("unheard", []),
        ('"!!" lamp', [2, 4]),
    ],
)
def test_what_an_expression_is_true_of(query: str, ordinals: list[int]) -> None:
    assert found(query) == ordinals


def score(query: str) -> dict[int, float]:
    result = searcher().search(parse_query(query, syntax="extended").tokens)
    return dict(zip(result.ordinals.tolist(), result.scores.tolist(), strict=True))


@pytest.mark.spec("JB-03")
def test_a_score_is_the_sum_of_the_words_asked_for() -> None:
    view = view_of()
    terms = [(term, 1) for term in ENGLISH.terms("fuse lamp")]
    ordinals, scores = view.snapshot.postings.bm25(
        terms, view.visible, view.eligible, field_weights=FIELDS, k1=1.2, b=0.75
    )
    assert score("fuse lamp") == dict(zip(ordinals.tolist(), scores.tolist(), strict=True))


@pytest.mark.spec("JB-03")
def test_joined_words_score_like_plain_ones_and_an_excluded_word_adds_nothing() -> None:
    assert score("blown AND fuse")[1] == pytest.approx(score("blown fuse")[1], abs=1e-8)
    assert score("blown NOT pump")[1] == pytest.approx(score("blown")[1], abs=1e-8)
    assert score('"blown fuse"')[1] == pytest.approx(score("blown fuse")[1], abs=1e-8)


def test_hits_are_eligible_and_excluding_needs_no_eligible_row() -> None:
    view = view_of(eligible=[False, True, True, True, True, True, True])
    assert found("fuse", view) == [1]
    assert found("blown NOT pump", view) == [1]


def test_fields_of_no_weight_are_not_searched() -> None:
    view = FakeView.of([fake_memory("lamp", context="blown fuse")], analyser=ENGLISH)
    only_text = WordSearch(view, ENGLISH, {"text": 1.0, "context": 0.0}, 1.2, 0.75, 5)
    for query in ("fuse", '"blown fuse"', "fus*"):
        tokens = parse_query(query, syntax="extended").tokens
        assert searcher(view).search(tokens).ordinals.tolist() == [0]
        assert only_text.search(tokens).ordinals.tolist() == []


def test_a_phrase_is_looked_up_in_the_best_memories_up_to_the_bound() -> None:
    view = view_of(["fuse blown fuse blown"] * 3 + ["blown fuse"] * 2)
    result = searcher(view, checks=4).search(parse_query('"blown fuse"').tokens)
    assert len(result.ordinals) == 4
    assert result.notes == ("a phrase or prefix was looked up in 4 of 5 memories",)
    assert len(view.fetched) == 4


def test_long_texts_end_the_looking_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_search, "MOST_CHARACTERS", 20)
    result = searcher(view_of(["blown fuse"] * 9)).search(parse_query('"blown fuse"').tokens)
    assert len(result.ordinals) == 3
    assert result.notes == ("a phrase or prefix was looked up in 3 of 9 memories",)


def test_a_huge_expression_is_bounded_and_says_so() -> None:
    words = " ".join(f"word{n}" for n in range(5_000))
    result = searcher().search(parse_query(f"{words} lamp").tokens)
    assert any("1,024 of" in note for note in result.notes)
    joined = " AND ".join(["lamp"] * 200)
    result = searcher().search(parse_query(joined).tokens)
    assert result.notes == ("only 64 phrases, prefixes and joined words were searched",)


def test_commonness_counts_visible_memories() -> None:
    view = view_of(eligible=[False] * 7, visible=[True, False, True, True, True, True, True])
    assert searcher(view).commonness("fuse") == 1
    assert searcher(view).commonness("lamps") == 2
    assert searcher(view).commonness("!!") == 0
