"""A real cross-encoder, small enough to compute by hand, through the loader that users' models go through."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import InputError, ModelDamagedError, ModelError, ModelMissingError, UnknownNameError
from simonides.models import catalogue, resolve
from simonides.models.cache import RECIPE, BuiltModel, Manifest
from simonides.models.catalogue import (
    CATALOGUE,
    CONFIG,
    RERANKERS,
    TOKENIZER,
    WEIGHTS,
    RerankerRecord,
    SourceFile,
    find_reranker,
)
from simonides.models.fetch import Fetched
from simonides.models.onnx_reranker import BATCH, OnnxReranker, _batches, build_pair_encoder
from simonides.recall.refining.rerankers import CrossEncoder, best_passage
from simonides.records.candidate import Candidate
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools
from simonides.text.analyser import tokenise

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[np.float32]]

HEADS, HIDDEN, MOST = 2, 8, 16
FILES = (SourceFile(WEIGHTS), SourceFile(TOKENIZER), SourceFile(CONFIG))
QUERY = "ada rows"
TEXTS = ["the boat", "ada rows home", "home", "the query rows the boat home", "", "boat " * 40]


@pytest.fixture
def pair_weights(weights: Tensors) -> Tensors:
    places = np.arange(HIDDEN * HIDDEN, dtype=np.float32).reshape(HIDDEN, HIDDEN)
    return weights | {
        "pooler.dense.weight": np.cos(places).astype(np.float32),
        "pooler.dense.bias": np.linspace(-0.2, 0.2, HIDDEN, dtype=np.float32),
        "classifier.weight": np.linspace(-2, 3, HIDDEN, dtype=np.float32)[None, :],
        "classifier.bias": np.array([0.25], np.float32),
    }


@pytest.fixture
def reranker_record() -> RerankerRecord:
    return RerankerRecord(
        name="tiny-pair",
        description="for tests",
        gives="logits",
        max_tokens=MOST,
        licence="Apache-2.0",
        files=FILES,
        sources=(),
    )


def build(weights: Tensors, config: dict[str, object], tokenizer: bytes, *, quantise: bool) -> BuiltModel:
    manifest = Manifest("tiny-pair", RECIPE, "a test", "Apache-2.0", {}, {}, {})
    return BuiltModel(build_pair_encoder(weights, config, quantise=quantise), tokenizer, manifest)


@pytest.fixture
def exact(
    pair_weights: Tensors, config: dict[str, object], tokenizer: bytes, reranker_record: RerankerRecord
) -> OnnxReranker:
    return OnnxReranker(reranker_record, build(pair_weights, config, tokenizer, quantise=False), workers=1)


@pytest.fixture
def quantised(
    pair_weights: Tensors, config: dict[str, object], tokenizer: bytes, reranker_record: RerankerRecord
) -> OnnxReranker:
    return OnnxReranker(reranker_record, build(pair_weights, config, tokenizer, quantise=True))


def by_hand(weights: Tensors, ids: list[int], segments: list[int]) -> float:
    """The score of one pair without padding, in float64."""
    tensors = {name: array.astype(np.float64) for name, array in weights.items()}

    def linear(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        out: NDArray[np.float64] = x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
        return out

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = x - x.mean(-1, keepdims=True)
        scaled: NDArray[np.float64] = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    x = norm(
        "embeddings.LayerNorm",
        tensors["embeddings.word_embeddings.weight"][ids]
        + tensors["embeddings.position_embeddings.weight"][: len(ids)]
        + tensors["embeddings.token_type_embeddings.weight"][segments],
    )
    for layer in range(2):
        name = f"encoder.layer.{layer}"
        q, k, v = (linear(f"{name}.attention.self.{part}", x) for part in ("query", "key", "value"))
        heads = []
        for head in range(HEADS):
            part = slice(head * HIDDEN // HEADS, (head + 1) * HIDDEN // HEADS)
            weight = np.exp(q[:, part] @ k[:, part].T / math.sqrt(HIDDEN // HEADS))
            heads.append(weight / weight.sum(-1, keepdims=True) @ v[:, part])
        mixed = linear(f"{name}.attention.output.dense", np.concatenate(heads, axis=-1))
        x = norm(f"{name}.attention.output.LayerNorm", mixed + x)
        wide = linear(f"{name}.intermediate.dense", x)
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(f"{name}.output.LayerNorm", linear(f"{name}.output.dense", wide) + x)
    return float(linear("classifier", np.tanh(linear("pooler.dense", x[0])))[0])


@pytest.mark.spec("HI-05")
def test_the_score_is_that_of_the_definition(exact: OnnxReranker, pair_weights: Tensors) -> None:
    # [CLS] ada rows [SEP] the boat [SEP]: words by their places in the vocabulary.
    expected = by_hand(pair_weights, [2, 4, 5, 3, 6, 7, 3], [0, 0, 0, 0, 1, 1, 1])
    assert exact.score(QUERY, ["the boat"]) == [pytest.approx(expected, abs=1e-5)]


def test_int8_stays_near_to_float(exact: OnnxReranker, quantised: OnnxReranker) -> None:
    assert quantised.score(QUERY, TEXTS) == pytest.approx(exact.score(QUERY, TEXTS), abs=0.15)


@pytest.mark.spec("HI-05")
@pytest.mark.parametrize("repeats", [1, 6, 40])
def test_a_pairs_score_does_not_depend_on_the_others(quantised: OnnxReranker, repeats: int) -> None:
    alone = [quantised.score(QUERY, [text])[0] for text in TEXTS]
    assert quantised.score(QUERY, TEXTS * repeats) == alone * repeats
    assert quantised.score(QUERY, TEXTS[::-1]) == alone[::-1]


@pytest.mark.spec("HI-05")
def test_pairs_of_one_length_run_in_batches_of_32() -> None:
    batches = list(_batches([5, 40, 16, 17] * 25))
    assert [(width, len(places)) for width, places in batches] == [
        (16, BATCH),
        (16, 18),
        (32, 25),
        (48, 25),
    ]
    assert sorted(place for _, places in batches for place in places) == list(range(100))


def test_a_long_pair_is_cut_and_the_query_keeps_its_share(exact: OnnxReranker) -> None:
    long = "boat " * 500
    assert exact.score(QUERY, [long]) == exact.score(QUERY, ["boat " * 40])
    # Both are far too long: each keeps half of what there is.
    assert exact.score("ada " * 500, [long]) == exact.score("ada " * 60, ["boat " * 50])
    assert exact.score("ada " * 500, [long]) != exact.score("ada", [long])


def test_no_text_and_odd_text_are_scored_like_any(exact: OnnxReranker) -> None:
    assert exact.score(QUERY, []) == []
    assert all(math.isfinite(score) for score in exact.score("", ["", "\ud800", "\0", "🚣" * 10_000]))
    with pytest.raises(InputError, match="texts: is one string"):
        exact.score(QUERY, "the boat")


def test_a_number_that_is_not_finite_is_nan(
    pair_weights: Tensors, config: dict[str, object], tokenizer: bytes, reranker_record: RerankerRecord
) -> None:
    pair_weights["classifier.bias"] = np.array([np.inf], np.float32)
    broken = OnnxReranker(reranker_record, build(pair_weights, config, tokenizer, quantise=True))
    assert all(math.isnan(score) for score in broken.score(QUERY, TEXTS))


@pytest.mark.spec("HI-05")
@pytest.mark.spec("EN-07")
def test_the_refiner_makes_logits_into_relevances(quantised: OnnxReranker) -> None:
    view = FakeView.of([fake_memory(text or "(blank)", id=f"m{n}") for n, text in enumerate(TEXTS)])
    pool = tuple(Candidate(n, 1.0 - n / 10, "reciprocal_rank") for n in range(len(TEXTS)))
    tools = fake_tools()
    tools = type(tools)(tools.analyser, None, tools.tokens, tools.random, reranker=quantised)
    refined = CrossEncoder(depth=20).refine(view, fake_query(QUERY), pool, tools)
    assert refined.reason == "1 of 6 texts were truncated to their best passage"
    words, most = tokenise(QUERY), quantised.longest_text
    logits = quantised.score(QUERY, [best_passage(memory.text, words, most) for memory in view.stored])
    expected = {n: 1 / (1 + math.exp(-logit)) for n, logit in enumerate(logits)}
    assert {c.ordinal: c.score for c in refined.pool} == pytest.approx(expected, abs=1e-6)


def test_workers_and_files_are_checked(
    pair_weights: Tensors, config: dict[str, object], tokenizer: bytes, reranker_record: RerankerRecord
) -> None:
    built = build(pair_weights, config, tokenizer, quantise=False)
    with pytest.raises(InputError, match="workers: 0"):
        OnnxReranker(reranker_record, built, workers=0)
    with pytest.raises(ModelDamagedError, match="tiny-pair cannot be loaded"):
        OnnxReranker(reranker_record, BuiltModel(b"no model", tokenizer, built.manifest))


def test_only_a_cross_encoder_with_one_label_is_built(
    pair_weights: Tensors, config: dict[str, object]
) -> None:
    two = pair_weights | {"classifier.weight": np.zeros((2, HIDDEN), np.float32)}
    with pytest.raises(ModelError, match="2 labels"):
        build_pair_encoder(two, config)
    without = {name: array for name, array in pair_weights.items() if "pooler" not in name}
    with pytest.raises(ModelError, match=r"no tensor 'pooler\.dense\.weight'"):
        build_pair_encoder(without, config)


def test_a_reranker_is_pulled_built_and_loaded_by_name(
    pair_weights: Tensors,
    config: dict[str, object],
    tokenizer: bytes,
    reranker_record: RerankerRecord,
    exact: OnnxReranker,
    make_safetensors: Callable[..., bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {
        WEIGHTS: make_safetensors(
            {
                name: ("F32", array.shape, array.astype("<f4").tobytes())
                for name, array in pair_weights.items()
            }
        ),
        TOKENIZER: tokenizer,
        CONFIG: json.dumps(config).encode(),
    }
    monkeypatch.setattr(resolve, "RERANKERS", (reranker_record,))
    monkeypatch.setattr(catalogue, "RERANKERS", (reranker_record,))
    monkeypatch.setattr(resolve, "find_reranker", lambda _: reranker_record)
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path))
    assert resolve.embedder_status("tiny-pair").state == "missing"
    with pytest.raises(ModelMissingError, match="models pull tiny-pair"):
        resolve.load_reranker("tiny-pair")  # tests are offline

    def fetch(_: object, folder: Path, *__: object) -> object:
        for name, data in files.items():
            (folder / name).write_bytes(data)
        return Fetched("a test", folder, dict.fromkeys(files, "0"))

    monkeypatch.setattr(resolve, "fetch_sources", fetch)
    monkeypatch.delenv("SIMONIDES_OFFLINE")
    loaded = resolve.load_reranker("tiny-pair")
    assert (loaded.name, loaded.gives) == ("tiny-pair", "logits")
    assert loaded.score(QUERY, TEXTS) == pytest.approx(exact.score(QUERY, TEXTS), abs=0.15)
    assert resolve.embedder_status("tiny-pair").state == "ready"


def test_the_catalogue_says_what_each_reranker_gives() -> None:
    # The scale of those that run on a server only is whatever it says.
    assert all((record.gives == "logits") is bool(record.files) for record in RERANKERS)
    names = [record.name for record in RERANKERS] + [record.name for record in CATALOGUE]
    assert len(set(names)) == len(names)
    with pytest.raises(UnknownNameError, match="did you mean 'ms-marco-MiniLM-L-6-v2'"):
        find_reranker("ms-marco-MiniLM-L6-v2")
