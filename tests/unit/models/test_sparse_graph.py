"""The graph against a forward pass written out in numpy."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.unit.models.conftest import HIDDEN, WORDS, steady
from tests.unit.models.test_bert_graph import SENTENCES, forward

from simonides.errors import ModelError
from simonides.models.bert_graph import INPUT
from simonides.models.cache import RECIPE
from simonides.models.onnx_runtime import import_runtime, open_session
from simonides.models.onnx_sparse import OUTPUT, build_sparse_encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[np.float32]]
    Config = dict[str, Any]

HEAD = "cls.predictions"


def with_head(weights: Tensors) -> Tensors:
    """The tiny encoder with the head of a masked language model."""
    return weights | {
        f"{HEAD}.transform.dense.weight": 2 * steady(HIDDEN, HIDDEN, seed=900),
        f"{HEAD}.transform.dense.bias": steady(HIDDEN, seed=901),
        f"{HEAD}.transform.LayerNorm.weight": 1 + steady(HIDDEN, seed=902),
        f"{HEAD}.transform.LayerNorm.bias": steady(HIDDEN, seed=903),
        f"{HEAD}.bias": steady(len(WORDS), seed=904),
    }


@pytest.fixture
def masked(weights: Tensors) -> Tensors:
    return with_head(weights)


def run(model: bytes, ids: list[int]) -> NDArray[np.float32]:
    runtime, _ = import_runtime()
    (found,) = open_session(runtime, model, 1).run([OUTPUT], {INPUT: np.array(ids, dtype=np.int64)})
    return np.asarray(found, dtype=np.float32)


def term_weights(masked: Tensors, config: Config, ids: list[int]) -> NDArray[np.float64]:
    """log(1 + relu(logit)) of every token, then the largest."""
    x = forward(masked, config, ids) @ masked[f"{HEAD}.transform.dense.weight"].astype(np.float64).T
    x = np.vectorize(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2))))(
        x + masked[f"{HEAD}.transform.dense.bias"]
    )
    x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + config["layer_norm_eps"])
    x = x * masked[f"{HEAD}.transform.LayerNorm.weight"] + masked[f"{HEAD}.transform.LayerNorm.bias"]
    table = masked["embeddings.word_embeddings.weight"].astype(np.float64)
    logits = x @ table.T + masked[f"{HEAD}.bias"]
    return np.asarray(np.log1p(np.maximum(logits, 0)).max(axis=0))


@pytest.mark.spec("HX-18")
@pytest.mark.parametrize("ids", SENTENCES)
def test_float32_graph_equals_the_numpy_forward_pass(masked: Tensors, config: Config, ids: list[int]) -> None:
    found = run(build_sparse_encoder(masked, config, quantise=False), ids)

    assert found.shape == (len(WORDS),)
    np.testing.assert_allclose(found, term_weights(masked, config, ids), atol=1e-5)


def test_int8_graph_stays_close_to_the_numpy_forward_pass(masked: Tensors, config: Config) -> None:
    model = build_sparse_encoder(masked, config)
    for ids in SENTENCES:
        found, exact = run(model, ids).astype(np.float64), term_weights(masked, config, ids)
        assert found @ exact / (np.linalg.norm(found) * np.linalg.norm(exact)) > 0.99


def test_int8_graph_is_quantised_in_the_head_too(masked: Tensors, config: Config) -> None:
    model = build_sparse_encoder(masked, config)

    assert model.count(b"MatMulInteger") == 4 * config["num_hidden_layers"] + 2


def test_older_names_of_the_same_weights_give_the_same_file(masked: Tensors, config: Config) -> None:
    old = {
        ("" if name.startswith("cls.") else "bert.")
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): x
        for name, x in masked.items()
    }

    assert build_sparse_encoder(old, config) == build_sparse_encoder(masked, config)


def test_the_built_bytes_are_known(masked: Tensors, config: Config) -> None:
    # When this fails, models already built give other terms than new ones: raise RECIPE with the new sum.
    digest = hashlib.sha256(build_sparse_encoder(masked, config)).hexdigest()

    assert (RECIPE, digest[:16]) == (1, "8241b7f6faa5655b")


def test_an_encoder_without_the_head_is_refused(weights: Tensors, config: Config) -> None:
    with pytest.raises(ModelError, match=r"no tensor 'cls\.predictions\.transform\.dense\.weight'"):
        build_sparse_encoder(weights, config)
