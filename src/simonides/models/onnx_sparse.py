"""A learned sparse encoder (SPLADE): its ONNX graph, and how it runs on the CPU.

The graph: on the encoder of ``bert_graph`` (hidden vectors hᵢ of one text's tokens, no batch, no padding) the
head of a masked language model, whose decoder is the table of word vectors, and then a maximum over the
tokens:

    tᵢ = norm(gelu(hᵢ·Wt + bt))        zᵢ = tᵢ·Eᵀ + b        w = log(1 + relu(max over i of zᵢ))

log(1 + relu(·)) never falls, so it is taken after the maximum; in int8 the maximum is taken over the int32
sums, before they are scaled: one text has one positive activation scale, so the largest sum is the largest
logit. That leaves 30,522 numbers to scale per text and not per token.
Source: Formal, Piwowarski and Clinchant, SPLADE: Sparse Lexical and Expansion Model (2021), with the
max pooling of SPLADE v2 (Formal et al. 2021, arXiv 2109.10086).

One text per run, never padded, for the reasons that ``onnx_encoder`` gives. Of the weights above 0 the
largest ``terms`` are kept (ties by smaller id): a chat turn alone has about 95, with the turns around it
about 200, of which the lightest 70 add next to nothing. The tokenizer's own marks ([CLS], [SEP] …) are never
kept. Cost: about 4 ms for a chat turn with 2 layers of 128 and 30,522 entries, most of it in the head.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, ModelError
from simonides.models.bert_graph import INPUT, BertBuilder, BertShape, strip_prefix, symmetric_int8
from simonides.models.cache import sparse_fingerprint
from simonides.models.onnx_file import Graph
from simonides.models.onnx_runtime import TextTokens, cores, in_threads, open_model
from simonides.records.sparse import SparseTerms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.models.bert_graph import Tensors
    from simonides.models.cache import BuiltModel
    from simonides.models.catalogue import SparseRecord


_log = logging.getLogger(__name__)

_CHARACTERS_PER_TOKEN = 64
"""Only this many characters per allowed token are read; a token of prose has about 4."""

TERMS = 128
"""Entries kept of a text unless told otherwise."""

MOST_TERMS = 500
"""Entries kept of a text at most; up to here sums of products stay far below any limit."""


class OnnxSparseEncoder:
    """A sparse encoder of the catalogue (``protocols.SparseEncoder``). Thread-safe.

    A blank text, one of which the tokenizer keeps nothing, and one on which the model fails have no entries.
    """

    def __init__(
        self, record: SparseRecord, built: BuiltModel, *, terms: int = TERMS, workers: int | None = None
    ) -> None:
        """Load the model; errors as ``open_model``.

        *terms*: entries kept of a text, to ``MOST_TERMS``. *workers*: texts that run at once, by default one
        per core.
        """
        for field, value in (("terms", terms), ("workers", workers)):
            if value is not None and value < 1:
                raise InputError(field, f"{value} is below 1")
        self._record = record
        self._terms = terms
        self._fingerprint = sparse_fingerprint(record, built.manifest, terms)
        self._workers = workers or cores()
        self._session, self._tokenizer = open_model(record, built)
        self._tokens = TextTokens(self._tokenizer)
        self._marks = np.array(sorted(self._tokenizer.encode("").ids), np.int64)

    @property
    def name(self) -> str:
        """As in the catalogue, with the number of entries kept where it is not the usual one."""
        return self._record.name if self._terms == TERMS else f"{self._record.name}:{self._terms}"

    @property
    def fingerprint(self) -> str:
        """Name and digest of weights, tokenizer, recipe, token limit and number of entries kept."""
        return self._fingerprint

    def encode(self, texts: Sequence[str]) -> list[SparseTerms]:
        """Entries of memories, one record per text; a text's entries never depend on the others."""
        if isinstance(texts, str):
            raise InputError("texts", "is one string; give a list of texts")
        distinct = list(dict.fromkeys(texts))
        outcomes = in_threads(self._attempt, distinct, self._workers, "simonides-sparse")
        rows = dict(zip(distinct, outcomes, strict=True))
        return [rows[text] for text in texts]

    def encode_query(self, text: str) -> SparseTerms:
        """Entries of a query."""
        return self._attempt(text)

    def _attempt(self, text: str) -> SparseTerms:
        try:
            return self._entries(text)
        except Exception as error:  # noqa: BLE001 - whatever one text causes must not cost the others theirs
            _log.warning("%s: no entries for a text: %s", self.name, error)
            return _NOTHING

    def _entries(self, text: str) -> SparseTerms:
        kept = text[: self._record.max_tokens * _CHARACTERS_PER_TOKEN]
        ids = self._tokens.ids(kept) if kept.strip() else []
        if len(ids) <= len(self._marks) or self._tokens.says_nothing(ids[1:-1]):
            return _NOTHING
        (weights,) = self._session.run(None, {INPUT: np.array(ids, dtype=np.int64)})
        if not np.isfinite(weights).all():
            raise ModelError("the model's output is not finite")
        weights[self._marks] = 0.0
        return heaviest(weights, self._terms)


_NOTHING = SparseTerms(np.empty(0, np.int32), np.empty(0, np.float32))


def heaviest(weights: NDArray[np.float32], terms: int) -> SparseTerms:
    """The *terms* largest *weights* (by id, float32, shape (vocabulary,)) above 0, ties by smaller id."""
    ids = np.flatnonzero(weights > 0)
    order = np.lexsort((ids, -weights[ids]))[:terms]
    chosen = np.sort(ids[order])
    return SparseTerms(chosen.astype(np.int32), weights[chosen].astype(np.float32))


OUTPUT = "term_weights"
"""Name of the graph's output: float32, shape (vocabulary,), none below 0."""

_FLOAT = 1
_HEAD = "cls.predictions"


def build_sparse_encoder(tensors: Tensors, config: Mapping[str, object], *, quantise: bool = True) -> bytes:
    """The ONNX file of a sparse encoder, with input ``bert_graph.INPUT`` and output :data:`OUTPUT`.

    As :func:`~simonides.models.bert_graph.build_bert`; ``ModelError`` when the weights or the configuration
    are not those of a BERT masked language model.
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
