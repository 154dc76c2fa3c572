"""Build the ONNX graph of a BERT cross-encoder: one score for each pair of a query and a text.

The encoder is that of ``bert_graph`` with a batch axis; on top of it

    score = Wc · tanh(Wp · h₀ + bp) + bc        h₀ = the vector of the first token

Padding is masked out of attention, and activations are scaled per token (uint8 around 128, one scale per
token: max |x| / 127), not per tensor: a pair's score so depends on no other pair of its batch.
Source: Nogueira and Cho, Passage Re-ranking with BERT (2019); the form is that of a sequence classifier with
one label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import ModelError
from simonides.models.bert_graph import BertBuilder, BertShape, strip_prefix, symmetric_int8
from simonides.models.onnx_file import Graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from simonides.models.bert_graph import Tensors

IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"
"""Names of the graph's inputs, each int64, shape (batch, tokens)."""
OUTPUT = "logits"
"""Name of the graph's output: float32, shape (batch, 1)."""

_FLOAT, _UINT8 = 1, 2
_CENTRE, _LEVELS = 128, 127
_FAR_BELOW = 1e9


def build_pair_encoder(tensors: Tensors, config: Mapping[str, object], *, quantise: bool = True) -> bytes:
    """The ONNX file of a BERT cross-encoder.

    Args:
        tensors: weights by their usual names, with or without the prefix ``bert.``.
        config: the model's ``config.json``.
        quantise: False keeps float32 throughout (the exact twin that tests compare with).

    Returns:
        an ONNX model with the inputs :data:`IDS`, :data:`MASK` and :data:`TYPES`, and :data:`OUTPUT`.

    Raises:
        ModelError: the weights or the configuration are not those of a BERT cross-encoder with one label.
    """
    return _PairBuilder(strip_prefix(tensors), BertShape.of(config), quantise, Graph()).build()


@dataclass(frozen=True, slots=True)
class _PairBuilder(BertBuilder):
    def build(self) -> bytes:
        labels = self.tensor("classifier.weight").shape[0]
        if labels != 1:
            raise ModelError(f"the weights have {labels} labels; only a cross-encoder with one can be built")
        hidden = self.embed()
        for layer in range(self.shape.layers):
            hidden = self.layer(f"encoder.layer.{layer}", hidden)
        score = self._head(hidden)
        sizes = ("batch", "tokens")
        return self.graph.model(dict.fromkeys((IDS, MASK, TYPES), sizes), {OUTPUT: (score, ("batch", 1))})

    def embed(self) -> str:
        """Word, position and segment vectors, added."""
        add, constant = self.graph.add, self.graph.constant
        words = self.tensor("embeddings.word_embeddings.weight")
        if self.quantise:
            codes, scales = symmetric_int8(words)
            rows = add("Cast", add("Gather", constant(codes), IDS), to=_FLOAT)
            rows = add("Mul", rows, add("Gather", constant(scales[:, None]), IDS))
        else:
            rows = add("Gather", constant(words), IDS)
        zero = constant(np.zeros(1, dtype=np.int64))
        length = add("Shape", IDS, start=1, end=2)
        places = add(
            "Slice", constant(self.tensor("embeddings.position_embeddings.weight")), zero, length, zero
        )
        segments = add("Gather", constant(self.tensor("embeddings.token_type_embeddings.weight")), TYPES)
        return self.norm("embeddings.LayerNorm", add("Add", add("Add", rows, places), segments))

    def attend(self, name: str, hidden: str) -> str:
        """As in the encoder, with padding out of sight."""
        add, constant = self.graph.add, self.graph.constant
        joint, dimension = self.queries_keys_values(name, hidden)
        heads, size = self.shape.heads, dimension // self.shape.heads
        split = constant(np.array([0, 0, 3, heads, size], dtype=np.int64))
        parts = add("Transpose", add("Reshape", joint, split), perm=(2, 0, 3, 1, 4))
        query, key, value = (
            add("Gather", parts, constant(np.array(i, dtype=np.int64)), axis=0) for i in range(3)
        )
        near = add("MatMul", query, add("Transpose", key, perm=(0, 1, 3, 2)))
        weight = add("Softmax", add("Add", near, self._padding()), axis=-1)
        heads_last = add("Transpose", add("MatMul", weight, value), perm=(0, 2, 1, 3))
        return add("Reshape", heads_last, constant(np.array([0, 0, dimension], dtype=np.int64)))

    def multiply(self, hidden: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        """hidden·weightᵀ + bias, with one scale per token."""
        add, constant = self.graph.add, self.graph.constant
        if not self.quantise:
            return add("Add", add("MatMul", hidden, constant(weight.T)), constant(bias))
        codes, scales = symmetric_int8(weight)
        last = constant(np.array([-1], dtype=np.int64))
        largest = add("ReduceMax", add("Abs", hidden), last, keepdims=1)
        # A token of zeros would be divided by zero.
        scale = add("Max", add("Div", largest, _number(self.graph, _LEVELS)), _number(self.graph, 1e-12))
        levels = add("Add", add("Round", add("Div", hidden, scale)), _number(self.graph, _CENTRE))
        centre = constant(np.array(_CENTRE, dtype=np.uint8))
        no_shift = constant(np.zeros(len(scales), dtype=np.int8))
        total = add("MatMulInteger", add("Cast", levels, to=_UINT8), constant(codes.T), centre, no_shift)
        real = add("Mul", add("Mul", add("Cast", total, to=_FLOAT), scale), constant(scales))
        return add("Add", real, constant(bias))

    def _padding(self) -> str:
        """0 where a token is, far below where padding is; shape (batch, 1, 1, tokens)."""
        add = self.graph.add
        there = add("Cast", MASK, to=_FLOAT)
        far = add("Mul", add("Sub", there, _number(self.graph, 1)), _number(self.graph, _FAR_BELOW))
        return add("Reshape", far, self.graph.constant(np.array([0, 1, 1, -1], dtype=np.int64)))

    def _head(self, hidden: str) -> str:
        """The score. In float32: two products of one vector cost nothing."""
        add, constant = self.graph.add, self.graph.constant
        score = add("Gather", hidden, constant(np.array(0, dtype=np.int64)), axis=1)
        for name, curve in (("pooler.dense", "Tanh"), ("classifier", "")):
            weight, bias = self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias")
            score = add("Add", add("MatMul", score, constant(weight.T)), constant(bias))
            score = add(curve, score) if curve else score
        return score


def _number(graph: Graph, value: float) -> str:
    return graph.constant(np.array(value, dtype=np.float32))
