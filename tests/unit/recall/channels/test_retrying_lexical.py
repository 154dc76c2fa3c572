from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.recall.channels.lexical import RUNGS, RetryingLexical
from simonides.recall.understanding.query_dsl import Aliases, QueryLanguage
from simonides.testing.fakes import FakePostings, FakeView, fake_memory, fake_query, fake_tools
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from simonides.records.candidate import Ranking

ENGLISH = TextAnalyser("english")
STAGE = RetryingLexical(
    depth=60, k1=1.2, b=0.75, fields={"text": 1.0}, similarity=0.3, phrase_checks=50, fuzzy_checks=50
)
TEXTS = ["the fuse of the pump is blown", "an impeller", "the lamp is lit", "the staging database"]


def view_of(texts: list[str] = TEXTS, **changes: Any) -> FakeView:
    return FakeView.of([fake_memory(text) for text in texts], analyser=ENGLISH, **changes)


def search(
    text: str, view: FakeView | None = None, stage: RetryingLexical = STAGE, **changes: Any
) -> Ranking:
    view, tools = view or view_of(), fake_tools(analyser=ENGLISH)
    query = QueryLanguage().understand(view, fake_query(text, **changes), tools)
    return stage.search(view, Aliases().understand(view, query, tools), tools)


def rows(ranking: Ranking) -> dict[str, tuple[str, int, str]]:
    return {each.strategy: (each.query, each.hits, each.status) for each in ranking.attempts}


SKIPPED, NO_OP = ("", 0, "skipped"), ("", 0, "no_op")


@pytest.mark.spec("JB-03")
@pytest.mark.spec("JB-06")
@pytest.mark.spec("JB-11")
def test_a_first_search_with_hits_climbs_no_further() -> None:
    ranking = search("pump lamp")
    assert ranking.ordinals.tolist() == [2, 0]
    assert list(rows(ranking)) == list(RUNGS)
    assert rows(ranking) == {
        "initial": ("pump OR lamp", 2, "hit"),
        "strongest_term": SKIPPED,
        "force-refresh": NO_OP,
        "refreshed_sanitised": SKIPPED,
        "refreshed_strongest": SKIPPED,
        "trigram_fuzzy": SKIPPED,
    }


@pytest.mark.spec("JB-06")
@pytest.mark.spec("JB-11")
def test_the_strongest_term_alone_is_tried_next() -> None:
    ranking = search("impeller AND lamp")
    assert ranking.ordinals.tolist() == [1]
    assert rows(ranking)["initial"] == ("impeller AND lamp", 0, "zero")
    assert rows(ranking)["strongest_term"] == ("impeller", 1, "hit")
    assert rows(ranking)["refreshed_sanitised"] == SKIPPED


@pytest.mark.spec("JB-06")
def test_the_strongest_term_is_skipped_when_it_is_the_query() -> None:
    ranking = search(" Pumpe ", view_of(["x"]))
    assert rows(ranking)["strongest_term"] == SKIPPED
    assert rows(ranking)["refreshed_strongest"] == ("pumpe", 0, "zero")


@pytest.mark.spec("JB-06")
def test_then_all_words_without_operators() -> None:
    ranking = search("lamp AND nonsense!")
    assert rows(ranking)["strongest_term"] == ("nonsense", 0, "zero")
    assert rows(ranking)["force-refresh"] == NO_OP
    assert rows(ranking)["refreshed_sanitised"] == ("lamp nonsense", 1, "hit")
    assert rows(ranking)["refreshed_strongest"] == SKIPPED


@pytest.mark.spec("JB-06")
@pytest.mark.spec("JB-02")
def test_aliases_count_in_the_first_and_in_the_sanitised_search() -> None:
    aliases = {"torch": ("lamp",)}
    assert rows(search("torch", aliases=aliases))["initial"] == ("lamp", 1, "hit")
    ranking = search('"torch x"', aliases=aliases)
    assert rows(ranking)["refreshed_sanitised"] == ("torch x", 1, "hit")


@pytest.mark.spec("JB-06")
@pytest.mark.spec("JB-07")
@pytest.mark.spec("JB-11")
def test_the_last_rung_finds_words_that_look_alike() -> None:
    ranking = search("Stagging, databse")
    assert [each.strategy for each in ranking.attempts if each.status == "zero"] == [
        "initial", "strongest_term", "refreshed_sanitised", "refreshed_strongest",
    ]  # fmt: skip
    assert rows(ranking)["trigram_fuzzy"] == ("stagging databse", 1, "hit")
    assert ranking.ordinals.tolist() == [3]
    # $st sta tag agg ggi gin ing ng$ beside $st sta tag agi gin ing ng$: 6 of 9
    assert ranking.scores.tolist() == [round(6 / 9, 9)]


@pytest.mark.spec("JB-07")
def test_similar_memories_are_ordered_by_similarity_then_path_and_cut() -> None:
    memories = [fake_memory("pumps", path="z"), fake_memory("pumps ", path="a"), fake_memory("pumpe")]
    view = FakeView.of(memories, analyser=ENGLISH)
    both = search("pumpt", view, replace(STAGE, similarity=0.3))
    assert both.ordinals.tolist() == [2, 1, 0]  # equally alike: no path before "a" before "z"
    assert search("pumpt", view, replace(STAGE, depth=2)).ordinals.tolist() == [2, 1]


@pytest.mark.spec("JB-06")
@pytest.mark.spec("JB-11")
def test_when_nothing_is_found_every_rung_says_so() -> None:
    ranking = search("qqq zzzz")
    assert len(ranking) == 0
    assert rows(ranking) == {
        "initial": ("qqq OR zzzz", 0, "zero"),
        "strongest_term": ("zzzz", 0, "zero"),
        "force-refresh": NO_OP,
        "refreshed_sanitised": ("qqq zzzz", 0, "zero"),
        "refreshed_strongest": ("zzzz", 0, "zero"),
        "trigram_fuzzy": ("qqq zzzz", 0, "zero"),
    }


@pytest.mark.spec("JB-06")
def test_an_error_is_never_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fails(*_: object, **__: object) -> None:
        calls.append(1)
        raise OSError("the disk is gone")

    monkeypatch.setattr(FakePostings, "bm25", fails)
    with pytest.raises(OSError, match="the disk is gone"):
        search("pump")
    assert calls == [1]


@pytest.mark.spec("JB-01")
def test_a_query_without_words_has_no_lexical_channel() -> None:
    ranking = search("to do list")
    assert (len(ranking), ranking.reason, ranking.attempts) == (0, "the query has no words to search by", ())


def test_a_profile_without_the_query_language_is_told_so() -> None:
    ranking = STAGE.search(view_of(), fake_query("pump"), fake_tools())
    assert "add query_dsl" in ranking.reason


@pytest.mark.spec("JB-05")
def test_meaning_alone_leaves_words_alone() -> None:
    assert (len(search("pump", mode="semantic")), search("pump", mode="semantic").reason) == (0, "")


def test_clauses_are_left_out_of_the_looser_searches() -> None:
    ranking = search("tag:lamp impeller AND nonsense", syntax="extended")
    assert rows(ranking)["initial"] == ("impeller AND nonsense", 0, "zero")
    assert rows(ranking)["refreshed_sanitised"] == ("impeller nonsense", 1, "hit")


@pytest.mark.spec("JB-06")
def test_equally_long_words_are_tried_rarest_first() -> None:
    view = view_of(["lamp", "lamp", "fuse x", "y"])
    ranking = search("lamp AND fuse", view)
    assert rows(ranking)["strongest_term"] == ("fuse", 1, "hit")


@pytest.mark.spec("JB-11")
@pytest.mark.parametrize("text", ["pump " * 20_000, "zq" * 50_000, " AND ".join(["zzz"] * 5_000)])
def test_a_huge_query_ends(text: str) -> None:
    start = time.process_time()
    search(text)
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"depth": 0}, "depth: 0"),
        ({"phrase_checks": 0}, "phrase_checks: 0"),
        ({"fuzzy_checks": 0}, "fuzzy_checks: 0"),
        ({"k1": -1.0}, "k1: -1.0"),
        ({"b": 2.0}, "b: 2.0"),
        ({"similarity": 0.0}, "similarity: 0.0"),
        ({"fields": {}}, "fields: none"),
        ({"fields": {"text": -1.0}}, "fields.text: -1.0"),
        ({"fields": {"txt": 1.0}}, "fields.txt: 'txt' is not known"),
    ],
)
def test_options_out_of_range_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(STAGE, **changes)
    assert str(caught.value).startswith(says)
