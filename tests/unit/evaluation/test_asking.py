from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from simonides.evaluation import asking
from simonides.evaluation.asking import ask_all
from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
from simonides.evaluation.results import QuestionResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass(frozen=True)
class FakeHit:
    id: str
    score: float


@dataclass(frozen=True)
class FakeAnswer:
    hits: tuple[FakeHit, ...]
    no_match: bool = False

    def __iter__(self) -> Iterator[FakeHit]:
        return iter(self.hits)


@dataclass
class FakeBank:
    """Answers a question with the ids of the items that it names by place, such as ``"0 2"``."""

    name: str
    batches: list[list[dict[str, Any]]] = field(default_factory=list)
    asked: list[dict[str, object]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def retain(self, items: list[dict[str, Any]], /, *, deduplicate: bool) -> list[str]:
        assert deduplicate is False
        self.batches.append(items)
        new = [f"{self.name}/{len(self.ids) + place}" for place in range(len(items))]
        self.ids += new
        return new

    def recall(
        self, query: str, /, *, limit: int, max_tokens: None, profile: str, precision: str
    ) -> FakeAnswer:
        self.asked.append({"query": query, "limit": limit, "max_tokens": max_tokens, "profile": profile})
        ids = [self.ids[int(word)] if word.isdigit() else word for word in query.split()]
        # Scores that tie: only the order of hits may count.
        return FakeAnswer(tuple(FakeHit(key, 0.25) for key in ids), no_match=not ids)


@dataclass
class FakeStore:
    banks: dict[str, FakeBank] = field(default_factory=dict)

    def bank(self, name: str, /) -> FakeBank:
        return self.banks.setdefault(name, FakeBank(name))


DATASET = Dataset(
    "invented",
    (
        (
            Corpus("harbour", (Item("h1", "ferry", MARCH), Item("h2", "crane"), Item("h1", "boat"))),
            (Question("q1", "1 0", ("h1",), "1"), Question("q2", " ", (), "5", answerable=False)),
        ),
        (Corpus("orchard", (Item("o1", "pear"),)), (Question("q3", "0", ("o1",), "2"),)),
    ),
)


def test_results_name_keys_in_the_order_of_hits() -> None:
    assert ask_all(DATASET, FakeStore(), profile="lexical") == (
        QuestionResult("q1", "1", True, ("h1",), ("h2", "h1"), 0.25, no_match=False),
        QuestionResult("q2", "5", False, (), (), None, no_match=True),
        QuestionResult("q3", "2", True, ("o1",), ("o1",), 0.25, no_match=False),
    )


def test_each_corpus_gets_its_own_bank_and_every_item_its_date() -> None:
    store = FakeStore()
    ask_all(DATASET, store, profile="lexical")
    assert store.banks["harbour"].batches == [
        [{"text": "ferry", "event_time": MARCH}, {"text": "crane"}, {"text": "boat"}]
    ]
    assert store.banks["orchard"].batches == [[{"text": "pear"}]]


def test_turns_get_those_around_them_in_their_conversation_as_context() -> None:
    items = (
        Item("a1", "one", session="a"),
        Item("a2", "two", session="a"),
        Item("a3", "t" * 5_000, session="a"),
        Item("b1", "four", session="b"),
        Item("c1", "five"),
        Item("c2", "six"),
    )
    dataset = Dataset("invented", ((Corpus("talk", items), ()),))
    store = FakeStore()
    ask_all(dataset, store, profile="lexical", window=1)
    assert [item.get("context") for item in store.banks["talk"].batches[0]] == [
        "two",
        "one\n" + "t" * 1_000,
        "two",
        None,
        None,
        None,
    ]


def test_a_window_reaches_over_the_edge_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "BATCH_ITEMS", 1)
    items = (Item("a1", "one", session="a"), Item("a2", "two", session="a"))
    store = FakeStore()
    ask_all(Dataset("invented", ((Corpus("talk", items), ()),)), store, profile="lexical", window=2)
    assert [batch[0]["context"] for batch in store.banks["talk"].batches] == ["two", "one"]


def test_questions_are_asked_to_depth_twenty_without_a_token_budget() -> None:
    store = FakeStore()
    ask_all(DATASET, store, profile="lexical")
    assert store.banks["orchard"].asked == [
        {"query": "0", "limit": 20, "max_tokens": None, "profile": "lexical"}
    ]


def test_items_that_share_a_key_count_once_at_their_best_rank() -> None:
    corpus, _ = DATASET.corpora[0]
    question = Question("q", "2 1 0", ("h1",), "1")
    (result,) = ask_all(Dataset("invented", ((corpus, (question,)),)), FakeStore(), profile="default")
    assert result.ranked == ("h1", "h2")


def test_a_hit_that_no_item_stands_for_keeps_its_place() -> None:
    corpus, _ = DATASET.corpora[0]
    question = Question("q", "summary 1", ("h2",), "1")
    (result,) = ask_all(Dataset("invented", ((corpus, (question,)),)), FakeStore(), profile="default")
    assert result.ranked == ("summary", "h2")


def test_items_are_retained_in_batches_and_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "BATCH_ITEMS", 2)
    store = FakeStore()
    told: list[tuple[str, int, int]] = []
    results = ask_all(DATASET, store, profile="default", progress=lambda *step: told.append(step))
    assert [len(batch) for batch in store.banks["harbour"].batches] == [2, 1]
    assert results[0].ranked == ("h2", "h1")
    assert told == [
        ("retain", 2, 4),
        ("retain", 3, 4),
        ("recall", 1, 3),
        ("recall", 2, 3),
        ("retain", 4, 4),
        ("recall", 3, 3),
    ]


def test_what_a_recall_costs_is_measured_when_a_clock_of_the_cpu_is_given() -> None:
    ticks = iter([1.0, 1.25, 5.0, 5.5])
    (first, second, *_) = ask_all(DATASET, FakeStore(), profile="lexical", cpu=lambda: next(ticks, 6.0))
    assert (first.cpu_ms, second.cpu_ms) == (250.0, 500.0)
    assert all(result.cpu_ms is None for result in ask_all(DATASET, FakeStore(), profile="lexical"))
