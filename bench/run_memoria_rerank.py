"""Measure a recall of the profile ``memoria`` whose thirty best are read by a cross-encoder (ME-09).

    python bench/run_memoria_rerank.py --date 2026-11-28

Writes bench/results/memoria-rerank.json: wall and processor milliseconds per recall, of which the reranker's,
with the machine and its load beside them. The reranker is ms-marco-MiniLM-L-6-v2 where the cache has it.
Where it has not, invented weights of the same shape stand in for it (6 layers, 384 wide, the same vocabulary,
fixed by a seed): they cost the same and rank nothing, and the result says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import simonides
from simonides.models.cache import RECIPE, BuiltModel, Manifest, models_folder, read_model
from simonides.models.catalogue import (
    DEFAULT_EMBEDDER,
    DEFAULT_RERANKER,
    Gives,
    find_record,
    find_reranker,
)
from simonides.models.onnx_reranker import OnnxReranker, build_pair_encoder
from simonides.models.resolve import embedder_status, load_reranker
from simonides.surfaces.demo.demo import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESULT = Path(__file__).parent / "results" / "memoria-rerank.json"
PAIRS, ROUNDS = 30, 2
LAYERS, HIDDEN, WIDE, HEADS, POSITIONS, VOCABULARY = 6, 384, 1536, 12, 512, 30522
INVENTED = "invented, fixed by a seed, in the shape of ms-marco-MiniLM-L-6-v2: same cost, no ranking"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="of the run, kept beside the figures")
    date = parser.parse_args().date
    reranker, weights = the_reranker()
    counting = Counting(reranker)
    load = [round(each, 2) for each in os.getloadavg()]
    with (
        tempfile.TemporaryDirectory() as folder,
        simonides.open(folder, reranker=counting, embedder=DEFAULT_EMBEDDER, environ={}) as store,
    ):
        bank = store.bank()
        bank.retain([json.loads(line) for line in journal().splitlines()])
        bank.warm(profile="memoria")
        rounds = [measured(bank, question.text, counting) for _ in range(ROUNDS) for question in QUESTIONS]
    assert all(each["pairs"] == PAIRS for each in rounds)
    page = {
        "run": {
            "date": date,
            "command": "python bench/run_memoria_rerank.py",
            "version": simonides.__version__,
            "python": platform.python_version(),
            "onnxruntime": version("onnxruntime"),
            "processor": processor(),
            "cores": os.cpu_count(),
            "load_average_before": load,
        },
        "result": {
            "profile": "memoria",
            "memories": len(journal().splitlines()),
            "recalls": len(rounds),
            "pairs_per_recall": PAIRS,
            "reranker": reranker.name,
            "weights": weights,
            **{
                name: percentiles([each[name] for each in rounds])
                for name in ("wall_ms", "cpu_ms", "rerank_ms")
            },
        },
    }
    print(json.dumps(page, indent=2))
    RESULT.write_text(json.dumps(page, indent=2) + "\n", encoding="utf-8")
    return 0


@dataclass
class Counting:
    """Counts the pairs that a reranker reads."""

    reranker: OnnxReranker
    pairs: int = 0

    @property
    def name(self) -> str:
        return self.reranker.name

    @property
    def gives(self) -> Gives:
        return self.reranker.gives

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.pairs += len(texts)
        return self.reranker.score(query, texts)


def measured(bank: simonides.Bank, question: str, counting: Counting) -> dict[str, float]:
    """What one recall took; *rerank_ms* is wall time inside the reranking stage."""
    counting.pairs = 0
    wall, cpu = time.perf_counter(), time.process_time()
    found = bank.recall(question, profile="memoria")
    took = {"wall_ms": (time.perf_counter() - wall) * 1000, "cpu_ms": (time.process_time() - cpu) * 1000}
    stage = next(line for line in found.trace.stages if line.technique == "cross_encoder")
    assert found.trace.counters["rerank"] == 1
    return {**took, "rerank_ms": stage.milliseconds, "pairs": counting.pairs}


def percentiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    last = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return {"p50": round(statistics.median(ordered), 1), "p95": round(last, 1), "max": round(ordered[-1], 1)}


def the_reranker() -> tuple[OnnxReranker, str]:
    """The real one where it is in the cache, else its double."""
    if embedder_status(DEFAULT_RERANKER).state == "ready":
        return load_reranker(DEFAULT_RERANKER), "as published"
    config: dict[str, Any] = {
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": WIDE,
        "max_position_embeddings": POSITIONS,
        "vocab_size": VOCABULARY,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
        "model_type": "bert",
    }
    # The two models share their vocabulary.
    tokenizer = read_model(find_record(DEFAULT_EMBEDDER), models_folder() / DEFAULT_EMBEDDER).tokenizer
    record = find_reranker(DEFAULT_RERANKER)
    manifest = Manifest(record.name, RECIPE, "a seed", record.licence, {}, {}, {})
    built = BuiltModel(build_pair_encoder(invented(), config), tokenizer, manifest)
    return OnnxReranker(record, built), INVENTED


def invented() -> dict[str, NDArray[np.float32]]:
    """Weights by their usual names, small numbers from a fixed seed."""
    chance = np.random.default_rng(7)

    def some(*shape: int) -> NDArray[np.float32]:
        return (chance.standard_normal(shape) * 0.02).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": some(VOCABULARY, HIDDEN),
        "embeddings.position_embeddings.weight": some(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": some(2, HIDDEN),
        "pooler.dense.weight": some(HIDDEN, HIDDEN),
        "pooler.dense.bias": some(HIDDEN),
        "classifier.weight": some(1, HIDDEN),
        "classifier.bias": some(1),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
        for part, out, into in (
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", WIDE, HIDDEN),
            ("output.dense", HIDDEN, WIDE),
        ):
            tensors |= {f"{name}.{part}.weight": some(out, into), f"{name}.{part}.bias": some(out)}
    for norm in norms:
        tensors |= {f"{norm}.weight": 1 + some(HIDDEN), f"{norm}.bias": some(HIDDEN)}
    return tensors


def journal() -> str:
    return files("simonides.surfaces.demo").joinpath("journal.jsonl").read_text(encoding="utf-8")


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


if __name__ == "__main__":
    sys.exit(main())
