"""A BERT cross-encoder: its ONNX graph, and how it runs on the CPU (``protocols.Reranker``).

The graph is the encoder of ``bert_graph`` with a batch axis; on top of it

    score = Wc · tanh(Wp · h₀ + bp) + bc        h₀ = the vector of the first token

Padding is masked out of attention, and activations are scaled per token (uint8 around 128, one scale per
token: max |x| / 127), not per tensor: a pair's score so depends on no other pair of its batch.
Source: Nogueira and Cho, Passage Re-ranking with BERT (2019); a sequence classifier with one label.

Pairs are cut to the model's length, the longer of the two first. They are sorted by length into buckets of a
multiple of 16 tokens, and each bucket runs in batches of 32 (HI-05), so little is spent on padding, and a
pair is padded alike whatever stands beside it.
Cost: about 3 ms per pair of 100 tokens with 6 layers of 384 on one core; all cores are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, ModelError
from simonides.models.bert_graph import BertBuilder, BertShape, strip_prefix, symmetric_int8
from simonides.models.onnx_file import Graph
from simonides.models.onnx_runtime import cores, in_threads, open_model, without_lone_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.models.bert_graph import Tensors
    from simonides.models.cache import BuiltModel
    from simonides.models.catalogue import Gives, RerankerRecord


IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"
"""Names of the graph's inputs, each int64, shape (batch, tokens)."""
OUTPUT = "logits"
"""Name of the graph's output: float32, shape (batch, 1)."""

_FLOAT, _UINT8 = 1, 2
_CENTRE, _LEVELS = 128, 127
_FAR_BELOW = 1e9


def build_pair_encoder(tensors: Tensors, config: Mapping[str, object], *, quantise: bool = True) -> bytes:
    """The ONNX file of a BERT cross-encoder.

    Inputs :data:`IDS`, :data:`MASK`, :data:`TYPES`, and :data:`OUTPUT`.

    As :func:`~simonides.models.bert_graph.build_bert`; ``ModelError`` when the weights or the configuration
    are not those of a BERT cross-encoder with one label.
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


BATCH = 32
"""Pairs of one run."""

_BUCKET = 16
_CHARACTERS_PER_TOKEN = 64
"""Only this many characters per allowed token are read; a token of prose has about 4."""


class OnnxReranker:
    """A cross-encoder of the catalogue. Thread-safe; a pair's score does not depend on the others."""

    def __init__(self, record: RerankerRecord, built: BuiltModel, *, workers: int | None = None) -> None:
        """Load the model; *workers* batches run at once, by default one per core.

        Errors as ``open_model``.
        """
        if workers is not None and workers < 1:
            raise InputError("workers", f"{workers} is below 1")
        self._record = record
        self._workers = workers or cores()
        self._session, self._tokenizer = open_model(record, built)

    @property
    def name(self) -> str:
        """As in the catalogue."""
        return self._record.name

    @property
    def gives(self) -> Gives:
        """As in the catalogue."""
        return self._record.gives

    @property
    def longest_text(self) -> int:
        """Characters of a text that fit beside a query, at three a token."""
        return 3 * self._record.max_tokens

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order; NaN where the model gave no finite number."""
        if isinstance(texts, str):
            raise InputError("texts", "is one string; give a list of texts")
        most = self._record.max_tokens * _CHARACTERS_PER_TOKEN
        asked = without_lone_surrogates(query[:most])
        pairs = self._tokenizer.encode_batch(
            [(asked, without_lone_surrogates(text[:most])) for text in texts]
        )
        lengths = [len(pair.ids) for pair in pairs]
        batches = list(_batches(lengths))

        def run(batch: tuple[int, list[int]]) -> NDArray[np.float32]:
            width, places = batch
            return self._run([pairs[place] for place in places], width)

        results = in_threads(run, batches, self._workers, "simonides-rerank")
        scores = [float("nan")] * len(texts)
        for (_, places), values in zip(batches, results, strict=True):
            for place, value in zip(places, values.tolist(), strict=True):
                scores[place] = value if np.isfinite(value) else float("nan")
        return scores

    def _run(self, pairs: Sequence[object], width: int) -> NDArray[np.float32]:
        """Scores of one batch, float32, shape (len(pairs),)."""
        inputs = {name: np.zeros((len(pairs), width), np.int64) for name in (IDS, MASK, TYPES)}
        for row, pair in enumerate(pairs):
            length = len(pair.ids)  # type: ignore[attr-defined]  # tokenizers ships no types for it
            inputs[IDS][row, :length] = pair.ids  # type: ignore[attr-defined]
            inputs[TYPES][row, :length] = pair.type_ids  # type: ignore[attr-defined]
            inputs[MASK][row, :length] = 1
        # A ready file may want no segments, and give more than scores.
        wanted = {value.name: inputs[value.name] for value in self._session.get_inputs()}
        scores = self._session.run([self._session.get_outputs()[0].name], wanted)[0]
        first: NDArray[np.float32] = scores.reshape(len(pairs), -1)[:, 0]
        return first


def _batches(lengths: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Padded length and places of each batch; only pairs of one padded length stand together."""
    buckets: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        buckets.setdefault(-(-length // _BUCKET) * _BUCKET, []).append(place)
    for width in sorted(buckets):
        places = buckets[width]
        for start in range(0, len(places), BATCH):
            yield width, places[start : start + BATCH]
