"""The graph against a forward pass written out in numpy."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import ModelError
from simonides.models.bert_graph import INPUT, OUTPUT, build_bert
from simonides.models.cache import RECIPE
from simonides.models.onnx_runtime import import_runtime, open_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[np.float32]]
    Config = dict[str, Any]

SENTENCES = [
    [2, 3],
    [2, 4, 3],
    [2, 4, 5, 6, 3],
    [2, 7, 7, 7, 3],
    list(range(11)),
    [2, 10, 9, 8, 7, 6, 5, 4, 3],
]


def run(model: bytes, ids: list[int]) -> NDArray[np.float32]:
    runtime, _ = import_runtime()
    (vectors,) = open_session(runtime, model, 1).run([OUTPUT], {INPUT: np.array(ids, dtype=np.int64)})
    return np.asarray(vectors, dtype=np.float32)


def forward(weights: Tensors, config: Config, ids: list[int]) -> NDArray[np.float64]:
    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        scaled = (x - mean) / np.sqrt(variance + config["layer_norm_eps"])
        return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    def linear(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(x @ weights[f"{name}.weight"].astype(np.float64).T + weights[f"{name}.bias"])

    x = np.array([weights["embeddings.word_embeddings.weight"][i] for i in ids], dtype=np.float64)
    x += weights["embeddings.position_embeddings.weight"][: len(ids)]
    x += weights["embeddings.token_type_embeddings.weight"][0]
    x = norm("embeddings.LayerNorm", x)
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query, key, value = (linear(f"{name}.attention.self.{part}", x) for part in ("query", "key", "value"))
        size = x.shape[1] // config["num_attention_heads"]
        heads = []
        for start in range(0, x.shape[1], size):
            part = slice(start, start + size)
            weight = np.exp(query[:, part] @ key[:, part].T / math.sqrt(size))
            heads.append(weight / weight.sum(axis=1, keepdims=True) @ value[:, part])
        mixed = linear(f"{name}.attention.output.dense", np.concatenate(heads, axis=1))
        x = norm(f"{name}.attention.output.LayerNorm", x + mixed)
        wide = linear(f"{name}.intermediate.dense", x)
        wide = np.vectorize(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2))))(wide)
        x = norm(f"{name}.output.LayerNorm", x + linear(f"{name}.output.dense", wide))
    return x


@pytest.mark.parametrize("ids", SENTENCES)
def test_float32_graph_equals_the_numpy_forward_pass(
    weights: Tensors, config: Config, ids: list[int]
) -> None:
    vectors = run(build_bert(weights, config, quantise=False), ids)

    assert vectors.shape == (len(ids), 8)
    np.testing.assert_allclose(vectors, forward(weights, config, ids), atol=1e-5)


def test_int8_graph_stays_close_to_the_numpy_forward_pass(weights: Tensors, config: Config) -> None:
    model = build_bert(weights, config)
    cosines = []
    for ids in SENTENCES:
        vectors, exact = run(model, ids).astype(np.float64), forward(weights, config, ids)
        cosines += (
            (vectors * exact).sum(axis=1) / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(exact, axis=1))
        ).tolist()

    assert np.mean(cosines) > 0.999
    assert min(cosines) > 0.99


def test_int8_graph_is_smaller_and_quantised(weights: Tensors, config: Config) -> None:
    weights["encoder.layer.0.intermediate.dense.weight"][3] = 0  # a dead channel must not divide by zero
    model = build_bert(weights, config)

    assert model.count(b"MatMulInteger") == 4 * config["num_hidden_layers"]
    assert np.isfinite(run(model, [2, 4, 3])).all()


def test_older_names_of_the_same_weights_give_the_same_file(weights: Tensors, config: Config) -> None:
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): x
        for name, x in weights.items()
    }

    assert build_bert(old, config) == build_bert(weights, config)


def test_the_built_bytes_are_known(weights: Tensors, config: Config) -> None:
    # When this fails, models already built give other vectors than new ones: raise RECIPE with the new sum.
    digest = hashlib.sha256(build_bert(weights, config)).hexdigest()

    assert (RECIPE, digest[:16]) == (1, "e7b9b05efbe3bc08")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("model_type", "roberta", "model_type is 'roberta'; only 'bert'"),
        ("hidden_act", "relu", "hidden_act is 'relu'; only 'gelu'"),
        ("position_embedding_type", "relative_key", "only 'absolute'"),
        ("num_attention_heads", "many", "not a number"),
    ],
)
def test_another_architecture_is_refused(
    weights: Tensors, config: Config, key: str, value: str, said: str
) -> None:
    with pytest.raises(ModelError, match=said):
        build_bert(weights, config | {key: value})


def test_missing_parts_are_named(weights: Tensors, config: Config) -> None:
    with pytest.raises(ModelError, match="missing or not a number: 'layer_norm_eps'"):
        build_bert(weights, {k: v for k, v in config.items() if k != "layer_norm_eps"})
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(ModelError, match=r"no tensor 'encoder\.layer\.1\.output\.dense\.bias'"):
        build_bert(weights, config)
