from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError, MissingExtraError
from simonides.evaluation import quality
from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
from simonides.evaluation.quality import run_quality

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class FakeHit:
    id: str
    score: float


@dataclass(frozen=True)
class FakeAnswer:
    hits: tuple[FakeHit, ...]
    no_match: bool

    def __iter__(self) -> Iterator[FakeHit]:
        return iter(self.hits)


@dataclass
class FakeBank:
    """Finds the texts that hold the query, in the order they came."""

    texts: dict[str, str] = field(default_factory=dict)

    def retain(self, items: list[dict[str, Any]], /, *, deduplicate: bool) -> list[str]:
        ids = [f"id{len(self.texts) + place}" for place in range(len(items))]
        self.texts |= {name: item["text"] for name, item in zip(ids, items, strict=True)}
        return ids

    def recall(
        self, query: str, /, *, limit: int, max_tokens: None, profile: str, precision: str
    ) -> FakeAnswer:
        found = tuple(FakeHit(name, 0.5) for name, text in self.texts.items() if query in text)[:limit]
        return FakeAnswer(found, no_match=not found)


@dataclass(frozen=True)
class FakeEmbedder:
    name: str = "invented-embedder"


@dataclass
class FakeStore:
    embedder: FakeEmbedder | None
    sparse: FakeEmbedder | None = None
    banks: dict[str, FakeBank] = field(default_factory=dict)

    def bank(self, name: str, /) -> FakeBank:
        return self.banks.setdefault(name, FakeBank())


@dataclass
class Opened:
    """What the fake store was opened with, and the stores."""

    paths: list[Path] = field(default_factory=list)
    stores: list[FakeStore] = field(default_factory=list)
    closed: int = 0


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    seen = Opened()

    @contextmanager
    def open_store(
        path: Path, *, embedder: object = "auto", sparse: str | None = None, zone: object = None
    ) -> Iterator[FakeStore]:
        assert zone is UTC, "a measurement depends on no zone of its machine"
        store = FakeStore(
            FakeEmbedder() if embedder == "auto" else None, FakeEmbedder(sparse) if sparse else None
        )
        seen.paths.append(path)
        seen.stores.append(store)
        yield store
        seen.closed += 1

    monkeypatch.setattr(quality, "open_store", open_store)
    return seen


DATASET = Dataset(
    "invented",
    (
        (
            Corpus(
                "harbour", (Item("h1", "a red ferry"), Item("h2", "a red crane"), Item("h3", "a green boat"))
            ),
            (
                Question("q1", "red", ("h2",), "1"),
                Question("q2", "green", ("h3",), "2"),
                Question("q3", "violet", (), "5", answerable=False),
            ),
        ),
        (Corpus("orchard", (Item("o1", "a ripe pear"),)), (Question("q4", "plum", ("o1",), "1"),)),
    ),
    ignored_evidence=1,
    unscored_questions=4,
)


def ticking() -> Iterator[float]:
    yield from (100.0, 102.5)


def test_a_run_measures_every_question(opened: Opened, tmp_path: Path) -> None:
    report = run_quality(DATASET, store_path=tmp_path / "store", timer=ticking().__next__)
    summary = report.to_dict()
    # q1 finds its gold at rank 2 (ndcg 1/log2(3)), q2 at rank 1, q4 not at all.
    assert summary["questions"] == 3
    assert summary["metrics"]["recall@5"] == 0.666667
    assert summary["metrics"]["mrr"] == 0.5
    assert summary["metrics"]["ndcg@10"] == 0.543643
    assert summary["by_category"]["1"]["questions"] == 2
    assert summary["by_category"]["1"]["recall@10"] == 0.5
    assert summary["unanswerable"] == {"questions": 1, "no_match": 1, "mean_top_score": None}
    assert (summary["ignored_evidence"], summary["unscored_questions"]) == (1, 4)
    assert (summary["dataset"], summary["profile"]) == ("invented", "default")
    assert summary["embedder"] == "invented-embedder"
    assert summary["seconds"] == 2.5
    assert [result.ranked for result in report.results] == [("h1", "h2"), ("h3",), (), ()]
    assert opened.paths == [tmp_path / "store"]
    assert opened.closed == 1


def test_a_limit_asks_the_first_questions_and_retains_only_what_they_need(
    opened: Opened, tmp_path: Path
) -> None:
    report = run_quality(DATASET, store_path=tmp_path, timer=ticking().__next__, limit=1)
    assert [result.qid for result in report.results] == ["q1"]
    assert list(opened.stores[0].banks) == ["harbour"]


def test_the_sparse_encoder_is_reported(opened: Opened, tmp_path: Path) -> None:
    report = run_quality(DATASET, store_path=tmp_path, timer=ticking().__next__, sparse="invented-sparse")
    assert report.to_dict()["sparse"] == "invented-sparse"
    assert len(opened.stores) == 1


def test_without_an_embedder_the_report_names_none(opened: Opened, tmp_path: Path) -> None:
    report = run_quality(
        DATASET, store_path=tmp_path, timer=ticking().__next__, embedder=None, profile="lexical"
    )
    assert report.embedder is None
    assert report.sparse is None
    assert report.profile == "lexical"


def test_the_window_is_reported_and_one_below_zero_refused(opened: Opened, tmp_path: Path) -> None:
    report = run_quality(DATASET, store_path=tmp_path, timer=ticking().__next__, window=1)
    assert report.to_dict()["window"] == 1
    with pytest.raises(InputError, match="window"):
        run_quality(DATASET, store_path=tmp_path, timer=ticking().__next__, window=-1)
    assert len(opened.stores) == 1


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused_before_the_store_opens(
    opened: Opened, tmp_path: Path, limit: int
) -> None:
    with pytest.raises(InputError, match="limit"):
        run_quality(DATASET, store_path=tmp_path, timer=ticking().__next__, limit=limit)
    assert opened.stores == []


def test_a_folder_that_holds_something_is_refused(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    for path in (tmp_path, tmp_path / "old"):
        with pytest.raises(InputError, match="is not an empty folder"):
            run_quality(DATASET, store_path=path, timer=ticking().__next__)
    assert opened.stores == []


def test_a_dataset_without_known_answers_is_refused(opened: Opened, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no question with a known answer"):
        run_quality(Dataset("bare", ()), store_path=tmp_path, timer=ticking().__next__)


def test_a_missing_extra_is_told_before_the_work(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtraError):
        run_quality(DATASET, store_path=tmp_path, timer=ticking().__next__)
    assert opened.stores == []
