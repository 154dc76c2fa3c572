"""Which models a profile asks for that are not on this machine; it runs without them, and does less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.models.catalogue import DEFAULT_EMBEDDER, DEFAULT_RERANKER, DEFAULT_SPARSE
from simonides.models.resolve import embedder_status

if TYPE_CHECKING:
    from simonides.recall.pipeline import Plan, Step

MODEL_OF = {
    "embedding": "embedder",
    "sparse_terms": "sparse encoder",
    "cross_encoder": "cross-encoder",
    "head_rerank": "cross-encoder",
}
"""Technique → sort of the model that it asks for."""


def missing_models(plan: Plan, embedder: str | None = "auto") -> tuple[str, ...]:
    """One line for each stage that would find no model here: the stage, the model, and the remedy.

    Args:
        plan: of a profile.
        embedder: the store's: ``"auto"``, a catalogued name, or ``None`` for none.
    """
    lines: list[str] = []
    steps: tuple[Step[Any], ...] = (*plan.understanders, *plan.refiners)
    for step in steps:
        kind = MODEL_OF.get(step.technique)
        if kind == "embedder" and embedder is None:
            lines.append(f"{step.name}: no embedder is configured, so recall uses keyword search only")
        elif kind == "embedder":
            lines += _missing(step.name, DEFAULT_EMBEDDER if embedder in {None, "auto"} else str(embedder))
        elif kind == "sparse encoder":
            lines += _missing(step.name, DEFAULT_SPARSE)
        elif kind == "cross-encoder":
            lines += _missing(step.name, DEFAULT_RERANKER)
    return tuple(lines)


def _missing(stage: str, model: str) -> list[str]:
    status = embedder_status(model)
    if status.state == "ready":
        return []
    return [f"{stage}: {status.problem}"]
