"""A store hands its reranker to the profiles that have a place for one, and to no other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

import simonides
from simonides.errors import InputError, UnknownNameError
from simonides.models.cache import RECIPE, BuiltModel, Manifest
from simonides.models.catalogue import CONFIG, TOKENIZER, WEIGHTS, RerankerRecord, SourceFile
from simonides.models.onnx_reranker import OnnxReranker, build_pair_encoder
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[np.float32]]

WITH_A_PLACE = ("engram", "memoria", "jeffs_brain", "hindsight")
TEXTS = ["the boat rows home", "ada rows the boat", "home is the harbour", "ada is home", "rows of boats"]
QUERY = "ada rows home"


@dataclass
class CountingReranker:
    """Likes long texts; remembers what it was asked."""

    name: str = "counting"
    gives: Literal["logits", "probabilities", "unknown"] = "probabilities"
    asked: list[list[str]] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        assert query == QUERY
        self.asked.append(list(texts))
        return [len(text) / 100 for text in texts]


@dataclass
class FaultyReranker(CountingReranker):
    """Does what it is told to."""

    answer: Callable[[Sequence[str]], Sequence[float]] = list  # type: ignore[assignment]

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return self.answer(texts)


def ask(folder: Path, profile: str, reranker: object) -> simonides.Recall:
    with simonides.open(folder, embedder=StubEmbedder(dimension=16), reranker=reranker) as store:  # type: ignore[arg-type]
        bank = store.bank()
        if not bank.stats()["current"]:
            bank.retain([{"text": text, "path": text} for text in TEXTS])
        return bank.recall(QUERY, profile=profile, mode="hybrid-rerank", seed=3)


@pytest.mark.spec("ME-09", "ME-06")
@pytest.mark.parametrize("profile", ["memoria", "hindsight"])
def test_one_batch_decides_the_order(tmp_path: Path, profile: str) -> None:
    reranker = CountingReranker()

    found = ask(tmp_path, profile, reranker)

    assert len(reranker.asked) == 1
    assert found.trace.counters["rerank"] == 1
    assert {hit.signals["cross_encoder"] for hit in found} == {len(hit.text) / 100 for hit in found}


@pytest.mark.parametrize("profile", ["default", "lexical", "helix"])
def test_a_profile_without_a_place_never_asks_it(tmp_path: Path, profile: str) -> None:
    reranker = CountingReranker()
    ask(tmp_path, profile, reranker)
    assert reranker.asked == []


@pytest.mark.spec("EN-07")
@pytest.mark.parametrize("profile", WITH_A_PLACE)
def test_a_real_cross_encoder_runs_through_the_store(
    tmp_path: Path, pair: OnnxReranker, profile: str
) -> None:
    found = ask(tmp_path, profile, pair)
    said = " ".join(found.trace.degraded)
    assert found.trace.counters.get("rerank", 0) == ("unanimity" not in said)
    assert "no reranker" not in said


@pytest.fixture
def pair(weights: Tensors, config: dict[str, object], tokenizer: bytes) -> OnnxReranker:
    size = weights["embeddings.LayerNorm.weight"].shape[0]
    places = np.arange(size * size, dtype=np.float32).reshape(size, size)
    head = {
        "pooler.dense.weight": np.cos(places).astype(np.float32),
        "pooler.dense.bias": np.zeros(size, np.float32),
        "classifier.weight": np.linspace(-2, 3, size, dtype=np.float32)[None, :],
        "classifier.bias": np.array([0.25], np.float32),
    }
    record = RerankerRecord(
        name="tiny-pair",
        description="for tests",
        gives="logits",
        max_tokens=16,
        licence="Apache-2.0",
        files=(SourceFile(WEIGHTS), SourceFile(TOKENIZER), SourceFile(CONFIG)),
        sources=(),
    )
    manifest = Manifest("tiny-pair", RECIPE, "a test", "Apache-2.0", {}, {}, {})
    built = BuiltModel(build_pair_encoder(weights | head, config, quantise=True), tokenizer, manifest)
    return OnnxReranker(record, built, workers=1)


def raises(texts: Sequence[str]) -> Sequence[float]:
    raise TimeoutError(f"{len(texts)} texts took too long")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (raises, "TimeoutError"),
        (lambda texts: [0.5] * (len(texts) - 1), "scores of shape"),
        (lambda texts: [float("nan")] * len(texts), "gave no number"),
    ],
    ids=["down", "lies", "nan"],
)
@pytest.mark.parametrize("profile", ["memoria", "hindsight"])
def test_a_faulty_one_leaves_the_fused_order(
    tmp_path: Path, profile: str, answer: Callable[[Sequence[str]], Sequence[float]], reason: str
) -> None:
    usual = ask(tmp_path, profile, None)
    found = ask(tmp_path, profile, FaultyReranker(answer=answer))
    assert [hit.id for hit in found] == [hit.id for hit in usual]
    assert any(reason in line for line in found.trace.degraded)


@pytest.mark.parametrize("profile", WITH_A_PLACE)
def test_one_that_cannot_be_had_is_named_in_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    monkeypatch.setenv("SIMONIDES_OFFLINE", "1")
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path / "cache"))
    usual = ask(tmp_path / "store", profile, None)
    found = ask(tmp_path / "store", profile, "ms-marco-MiniLM-L-6-v2")
    assert [hit.id for hit in found] == [hit.id for hit in usual]
    named = [line for line in found.trace.degraded if line.startswith("reranker:")]
    assert named[0].startswith("reranker: model ms-marco-MiniLM-L-6-v2 is not in")


def test_a_wrong_reranker_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="ms-marco"):
        simonides.open(tmp_path / "store", reranker="ms-marco-MiniLM")
    with pytest.raises(InputError, match="no method score"):
        simonides.open(tmp_path / "store", reranker=object())  # type: ignore[arg-type]
    assert not (tmp_path / "store").exists()
