"""Every model that can be pulled by name (embedders, rerankers, sparse encoders): ``catalogue.json``.

Add a model by adding a record there. ``max_tokens`` is what a model was published for where its packaged
tokenizer cuts sooner, as that of all-MiniLM-L6-v2 and splade-tiny does, and less where pairs of the full
length take seconds each on a CPU, as with bge-reranker-v2-m3. The licence of splade-tiny is stated for the
package that carries it; nothing there says who trained the weights, or on what terms.

A file whose ``sha256`` is stated is refused when it differs. Where none is stated (a hub model whose sum
could not be verified when the record was written) the first pull is trusted, its sums are recorded in the
cache, and every later load and pull is checked against them.

A graph is built here for models of the architecture ``bert``. Those of another are run from a ready ONNX file
that the user supplies (``simonides models add``), or on a server; those of ``SERVED`` on a server only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, TypeVar

from simonides.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WEIGHTS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
READY = "model.onnx"
"""The graph of a model that is not built here."""

Pooling = Literal["mean", "cls"]
Gives = Literal["logits", "probabilities", "unknown"]
Architecture = Literal["bert", "nomic_bert", "xlm-roberta", "qwen2", "colbert", "hosted"]
"""As ``model_type`` in a model's ``config.json`` has it; only ``bert`` can be built here.

``colbert`` is a BERT with a projection of each token's vector; of a ``hosted`` one nothing is published.
"""
SERVED: Mapping[Architecture, str] = {
    "qwen2": "this one generates its answer",
    "colbert": "this one scores the vectors of single tokens",
    "hosted": "its weights are not published",
}
"""Why a model of that architecture runs on a server only."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a model is built from; without a ``sha256`` the first pull is trusted."""

    name: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A wheel on the package index that pip is configured for; only the data files in *folder* are used.

    *size* (bytes of the wheel) is for the progress bar.
    """

    package: str
    version: str
    sha256: str
    size: int
    folder: str

    def __str__(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository on the model hub (``owner/name``), and a branch or commit of it."""

    repository: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"hub {self.repository}@{self.revision}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PulledRecord:
    """What is known about a model of any sort; fetching and caching need no more.

    Attributes:
        name: what users call it; also the folder in the cache.
        max_tokens: texts, or pairs, are cut to this many tokens, special tokens included.
        sources: where the files can be had, in the order of trying.
    """

    name: str
    description: str
    max_tokens: int
    licence: str
    files: tuple[SourceFile, ...]
    sources: tuple[WheelSource | HubSource, ...]
    architecture: Architecture = "bert"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord(PulledRecord):
    """All that is known about one embedder.

    Attributes:
        pooling: ``mean`` of the token vectors, or ``cls``, the first one.
        query_prefix, text_prefix: put before a query, before a memory.
        matryoshka: shorter dimensions that the model was trained for: the first so many numbers of a vector,
            scaled to length 1 again, are a vector, too; empty = none.
        centred_cut: whether the mean of a vector's numbers is taken off before it is cut.
    """

    dimension: int
    pooling: Pooling
    query_prefix: str = ""
    text_prefix: str = ""
    matryoshka: tuple[int, ...] = ()
    centred_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerRecord(PulledRecord):
    """All that is known about one reranker with one score for a pair.

    Attributes:
        gives: the scale of its scores.
        dimension: of a token's vector, where a score is a sum over tokens; else 0.
    """

    gives: Gives
    dimension: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseRecord(PulledRecord):
    """All that is known about one sparse encoder: a BERT masked language model."""


DEFAULT_EMBEDDER = "all-MiniLM-L6-v2"
DEFAULT_RERANKER = "ms-marco-MiniLM-L-6-v2"
DEFAULT_SPARSE = "splade-tiny"
"""What a profile with the channel ``sparse`` is meant for; never fetched unless asked for (ADR 0007)."""

Record = TypeVar("Record", bound=PulledRecord)


def _read(sort: str, make: Callable[..., Record]) -> tuple[Record, ...]:
    """The records of one sort in ``catalogue.json``."""
    records = json.loads(files(__package__).joinpath("catalogue.json").read_text(encoding="utf-8"))[sort]
    for record in records:
        record["files"] = tuple(SourceFile(name, digest) for name, digest in record["files"].items())
        record["sources"] = tuple(
            HubSource(**source) if "repository" in source else WheelSource(**source)
            for source in record["sources"]
        )
        if "matryoshka" in record:
            record["matryoshka"] = tuple(record["matryoshka"])
    return tuple(make(**record) for record in records)


CATALOGUE = _read("embedders", ModelRecord)
RERANKERS = _read("rerankers", RerankerRecord)
SPARSE = _read("sparse_encoders", SparseRecord)


def _find(sort: str, records: tuple[Record, ...], name: str) -> Record:
    found = {record.name: record for record in records}
    if name not in found:
        raise UnknownNameError(sort, name, found)
    return found[name]


def find_sparse(name: str) -> SparseRecord:
    """The record of that name, else ``UnknownNameError``."""
    return _find("sparse encoder", SPARSE, name)


def find_reranker(name: str) -> RerankerRecord:
    """The record of that name, else ``UnknownNameError``."""
    return _find("reranker", RERANKERS, name)


def find_record(name: str) -> ModelRecord:
    """The record of that name, else ``UnknownNameError``."""
    return _find("embedder", CATALOGUE, name)
