"""Build the ONNX graph of a learned sparse encoder (SPLADE): one weight per entry of the vocabulary.

On the encoder of ``bert_graph`` (hidden vectors hᵢ of one text's tokens, no batch, no padding) the head of a
masked language model, whose decoder is the table of word vectors, and then a maximum over the tokens:

    tᵢ = norm(gelu(hᵢ·Wt + bt))        zᵢ = tᵢ·Eᵀ + b        w = log(1 + relu(max over i of zᵢ))

log(1 + relu(·)) never falls, so it is taken after the maximum; in int8 the maximum is taken over the int32
sums, before they are scaled: one text has one activation scale, which is positive, so the largest sum is the
largest logit. That leaves 30,522 numbers to scale per text and not per token.
Source: Formal, Piwowarski and Clinchant, SPLADE: Sparse Lexical and Expansion Model (2021), with the
max pooling of SPLADE v2 (Formal et al. 2021, arXiv 2109.10086).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.models.bert_graph import INPUT, BertBuilder, BertShape, strip_prefix, symmetric_int8
from simonides.models.onnx_file import Graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.models.bert_graph import Tensors

OUTPUT = "term_weights"
"""Name of the graph's output: float32, shape (vocabulary,), none below 0."""

_FLOAT = 1
_HEAD = "cls.predictions"


def build_sparse_encoder(tensors: Tensors, config: Mapping[str, object], *, quantise: bool = True) -> bytes:
    """The ONNX file of a sparse encoder.

    Args:
        tensors: weights of a BERT masked language model by their usual names.
        config: the model's ``config.json``.
        quantise: False keeps float32 throughout (the exact twin that tests compare with).

    Returns:
        an ONNX model with the input ``bert_graph.INPUT`` and output :data:`OUTPUT`; the same bytes on every
        machine.

    Raises:
        ModelError: the weights or the configuration are not those of a BERT masked language model.
    """
    return _SparseBuilder(strip_prefix(tensors), BertShape.of(config), quantise, Graph()).build()


@dataclass(frozen=True, slots=True)
class _SparseBuilder(BertBuilder):
    def build(self) -> bytes:
        hidden = self.embed()
        for layer in range(self.shape.layers):
            hidden = self.layer(f"encoder.layer.{layer}", hidden)
        weights = self._head(hidden)
        entries = self.tensor("embeddings.word_embeddings.weight").shape[0]
        return self.graph.model({INPUT: ("tokens",)}, {OUTPUT: (weights, (entries,))})

    def _head(self, hidden: str) -> str:
        """The weight of each entry."""
        add, constant = self.graph.add, self.graph.constant
        turned = add("Gelu", self.linear(f"{_HEAD}.transform.dense", hidden))
        turned = self.norm(f"{_HEAD}.transform.LayerNorm", turned)
        table, bias = self.tensor("embeddings.word_embeddings.weight"), self.tensor(f"{_HEAD}.bias")
        tokens = constant(np.array([0], dtype=np.int64))
        if self.quantise:
            codes, scales = symmetric_int8(table)
            levels, scale, zero = self.graph.add_many("DynamicQuantizeLinear", (turned,), 3)
            no_shift = constant(np.zeros(len(scales), dtype=np.int8))
            sums = add("MatMulInteger", levels, constant(codes.T), zero, no_shift)
            largest = add("Cast", add("ReduceMax", sums, tokens, keepdims=0), to=_FLOAT)
            largest = add("Mul", largest, add("Mul", scale, constant(scales)))
        else:
            largest = add("ReduceMax", add("MatMul", turned, constant(table.T)), tokens, keepdims=0)
        one = constant(np.array(1, dtype=np.float32))
        return add("Log", add("Add", add("Relu", add("Add", largest, constant(bias))), one))
