"""The learned reranker (EN-08): its network, its inputs, its stage, and the impressions it learns from."""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError, ModelDamagedError
from simonides.files import disk_errors, new_file
from simonides.index.vectors import quantise
from simonides.protocols import Refined
from simonides.recall.refining.pool import age_days, by_score, ordinals_of, split
from simonides.records.impression import MOST_SHOWN, Impression
from simonides.records.kind import Layer

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query
    from simonides.records.recall import Recall


FEATURES = (
    "cosine",
    "importance",
    "accesses",
    "age",
    *(f"layer_{layer.value}" for layer in Layer),
    "retention",
)
RETENTION_HALF_LIFE_DAYS = 30.0  # EN-13
_SQUEEZE = 5.0  # keeps the logarithms of counts and days near [0, 1]
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Network:
    """The small network of ``learned_mlp``: its ten inputs, its arithmetic, its file (EN-08).

    inputs   cosine of query and memory · importance · ln(1 + accesses) / 5 · ln(1 + age in days) / 5 ·
             one of five layers · retention 2^(−age / 30 d)
    output   sigmoid(w₂ · relu(W₁ x + b₁) + b₂), in [0, 1]

    The file is an ``.npz`` of plain arrays, read without pickle: a file can hold numbers and nothing that
    runs.

    Attributes:
        hidden: float64, shape (10, units).
        hidden_bias: float64, shape (units,).
        output: float64, shape (units,).
        output_bias: float64.
        samples: how many it was trained on.
        embedder: fingerprint of what made the vectors behind the cosines; empty = there were none.
        evidence: how it did on recalls that it was not trained on, in words; empty = not measured.
    """

    hidden: NDArray[np.float64]
    hidden_bias: NDArray[np.float64]
    output: NDArray[np.float64]
    output_bias: float
    samples: int
    embedder: str = ""
    evidence: str = ""

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely each row's memory is used, in [0, 1], rounded to 1e-9.

        Args:
            features: float64, shape (rows, 10), as ``features_of`` gives them.
        """
        active = np.maximum(0.0, features @ self.hidden + self.hidden_bias)
        raw = active @ self.output + self.output_bias
        small = np.exp(-np.abs(raw))
        scores: NDArray[np.float64] = np.where(raw >= 0, 1 / (1 + small), small / (1 + small)).round(9)
        return scores

    def save(self, path: Path) -> None:
        """Write the weights to a file, whole or not at all.

        Raises:
            UnavailableError: it cannot be written; what was there before is still there.
        """
        with new_file(path) as file:
            np.savez(
                file,
                version=np.array(_VERSION),
                hidden=self.hidden,
                hidden_bias=self.hidden_bias,
                output=self.output,
                output_bias=np.array(self.output_bias),
                samples=np.array(self.samples),
                embedder=np.array(self.embedder),
                evidence=np.array(self.evidence),
            )


def load_network(path: Path) -> Network:
    """Read what ``Network.save`` wrote.

    Raises:
        ModelDamagedError: the file is not one of these, or holds numbers that cannot be weights.
        UnavailableError: it cannot be read.
    """
    try:
        with disk_errors(path, "read"), path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            version = int(arrays["version"])
            network = Network(
                arrays["hidden"],
                arrays["hidden_bias"],
                arrays["output"],
                float(arrays["output_bias"]),
                int(arrays["samples"]),
                str(arrays["embedder"]) if "embedder" in arrays else "",
                str(arrays["evidence"]) if "evidence" in arrays else "",
            )
    except (AttributeError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ModelDamagedError(
            f"{path} is no file of a learned reranker ({error}); train it anew"
        ) from error
    units = network.output.size
    fits = network.hidden.shape == (
        len(FEATURES),
        units,
    ) and network.hidden_bias.shape == network.output.shape == (units,)
    numbers = [network.hidden, network.hidden_bias, network.output, np.array(network.output_bias)]
    if version != _VERSION or not fits or not all(np.isfinite(each).all() for each in numbers):
        raise ModelDamagedError(
            f"{path} holds no network of {len(FEATURES)} features and version {_VERSION}; train it anew"
        )
    return network


def network_at(path: Path) -> Network:
    """As ``load_network``, which is asked only when the file is another than before."""
    found = path.stat()
    return _network(path, (found.st_mtime_ns, found.st_size, found.st_ino))


@lru_cache(maxsize=32)
def _network(path: Path, _stamp: tuple[int, int, int]) -> Network:
    return load_network(path)


def features_of(view: View, query: Query, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    """The inputs, float64, shape (len(ordinals), 10), in the order of ``FEATURES``.

    Without a query vector every cosine is 0.
    """
    cosines = np.zeros(len(ordinals)) if query.vector is None else view.cosines(query.vector, ordinals)
    ages = age_days(view, ordinals)
    layers = view.column("layer", ordinals)
    columns = [
        cosines,
        view.column("salience", ordinals).astype(np.float64).round(6),
        np.log1p(view.column("access_count", ordinals).astype(np.float64)) / _SQUEEZE,
        np.log1p(ages) / _SQUEEZE,
        *((layers == code).astype(np.float64) for code in range(len(Layer))),
        np.exp(-math.log(2.0) * ages / RETENTION_HALF_LIFE_DAYS),
    ]
    return np.stack(columns, axis=1)


SCORED_BY = SIGNAL = "learned_mlp"


@dataclass(frozen=True, slots=True)
class LearnedMlp:
    """Rescores the head of the pool by a network trained on what was used after it was found (EN-08).

    score(m) = the network's probability that m is used (``mlp``), in [0, 1]

    Without a trained network nothing changes, and the trace says so: an untrained one would shuffle. The rest
    follows unchanged, marked as unreranked.
    Cost: a few thousand multiplications; the exact cosines dominate.
    Weakness: it learns what earlier answers made people use, so it favours what was already found.

    Attributes:
        depth: candidates that are rescored, best first, from 1.
    """

    depth: int

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1; give how many candidates are rescored")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The head by the network's scores, then the tail as it was."""
        if not pool:
            return Refined(pool)
        if tools.learned is None:
            return Refined(pool, "not trained yet; the order stands")
        head, tail = split(pool, self.depth)
        scores = np.asarray(tools.learned.predict(features_of(view, query, ordinals_of(head))), np.float64)
        if scores.shape != (len(head),) or not np.isfinite(scores).all():
            return Refined(pool, "the learned model gave no usable scores; the order stands")
        scored = [
            candidate.rescored(round(score, 9), SCORED_BY, **{SIGNAL: round(score, 9)})
            for candidate, score in zip(head, scores.tolist(), strict=True)
        ]
        return Refined(by_score(view, scored) + tail)


def impression_of(
    view: View, query: Query, answer: Recall, principal: str, now: int, embedder: str, *, counted: bool
) -> Impression:
    """The impression of one answer; no words of the query are kept."""
    hits = answer.hits[:MOST_SHOWN]
    ordinals = np.array([hit.memory.ordinal for hit in hits], np.int64)
    codes = None if query.vector is None else quantise(query.vector)
    return Impression(
        recall=answer.id,
        principal=principal,
        made_at=now,
        embedder="" if codes is None else embedder,
        codes=b"" if codes is None else codes[0].tobytes(),
        scale=0.0 if codes is None else codes[1],
        roots=tuple(view.column("root", ordinals).tolist()),
        features=features_of(view, query, ordinals).astype(np.float32),
        counted=counted,
    )
