"""Names of techniques → where their classes are, loaded when used.

To add one: its file, and one line here. Another package names its own as entry points: group
``simonides.stages``, name = the technique, value = ``module:Class``; the shape is read from the method that
the class has. A built-in name cannot be taken over.
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from simonides.errors import MissingExtraError, ProfileError, UnknownNameError
from simonides.recall.options import make

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUP = "simonides.stages"


class Shape(StrEnum):
    """The five shapes of a stage, in the order in which a pipeline runs them."""

    UNDERSTANDER = "understander"
    CHANNEL = "channel"
    FUSER = "fuser"
    REFINER = "refiner"
    PACKER = "packer"


METHODS = {
    Shape.UNDERSTANDER: "understand",
    Shape.CHANNEL: "search",
    Shape.FUSER: "fuse",
    Shape.REFINER: "refine",
    Shape.PACKER: "pack",
}
"""The one method by which a class is of a shape."""

BUILT_IN: Mapping[str, tuple[Shape, str]] = {
    "terms": (Shape.UNDERSTANDER, "simonides.recall.understanding.question:AnalysedTerms"),
    "spelling": (Shape.UNDERSTANDER, "simonides.recall.understanding.spelling:Spelling"),
    "embedding": (Shape.UNDERSTANDER, "simonides.recall.understanding.question:QueryEmbedding"),
    "sparse_terms": (Shape.UNDERSTANDER, "simonides.recall.understanding.question:QuerySparseTerms"),
    "budget": (Shape.UNDERSTANDER, "simonides.recall.understanding.question:SearchBudget"),
    "entities": (Shape.UNDERSTANDER, "simonides.recall.understanding.question:QueryEntities"),
    "time_window": (Shape.UNDERSTANDER, "simonides.recall.understanding.times:TimeWindow"),
    "event_window": (Shape.UNDERSTANDER, "simonides.recall.understanding.times:EventWindow"),
    "router": (Shape.UNDERSTANDER, "simonides.recall.understanding.router:Router"),
    "intent": (Shape.UNDERSTANDER, "simonides.recall.understanding.question:Intent"),
    "temporal_expansion": (
        Shape.UNDERSTANDER,
        "simonides.recall.understanding.times:TemporalExpansion",
    ),
    "query_dsl": (Shape.UNDERSTANDER, "simonides.recall.understanding.query_dsl:QueryLanguage"),
    "aliases": (Shape.UNDERSTANDER, "simonides.recall.understanding.query_dsl:Aliases"),
    "retrieval_mode": (Shape.UNDERSTANDER, "simonides.recall.understanding.question:RetrievalMode"),
    "dense": (Shape.CHANNEL, "simonides.recall.channels.vectors:Dense"),
    "lexical": (Shape.CHANNEL, "simonides.recall.channels.lexical:Lexical"),
    "retrying_lexical": (
        Shape.CHANNEL,
        "simonides.recall.channels.lexical:RetryingLexical",
    ),
    "max_sim": (Shape.CHANNEL, "simonides.recall.channels.vectors:MaxSim"),
    "sparse": (Shape.CHANNEL, "simonides.recall.channels.lexical:Sparse"),
    "pagerank": (Shape.CHANNEL, "simonides.recall.channels.graph:PageRank"),
    "entity_hop": (Shape.CHANNEL, "simonides.recall.channels.graph:EntityHop"),
    "hopfield": (Shape.CHANNEL, "simonides.recall.channels.vectors:Hopfield"),
    "link_expansion": (Shape.CHANNEL, "simonides.recall.channels.graph:LinkExpansion"),
    "temporal": (Shape.CHANNEL, "simonides.recall.channels.temporal:Temporal"),
    "reciprocal_rank": (Shape.FUSER, "simonides.recall.fusion:ReciprocalRank"),
    "interleave": (Shape.FUSER, "simonides.recall.fusion:Interleave"),
    "score_sum": (Shape.FUSER, "simonides.recall.fusion:ScoreSum"),
    "intent_reciprocal_rank": (
        Shape.FUSER,
        "simonides.recall.fusion:IntentReciprocalRank",
    ),
    "date_match": (Shape.REFINER, "simonides.recall.refining.boosts:DateMatch"),
    "retention": (Shape.REFINER, "simonides.recall.refining.boosts:Retention"),
    "access_frequency": (Shape.REFINER, "simonides.recall.refining.boosts:AccessFrequency"),
    "repeat_boosts": (Shape.REFINER, "simonides.recall.refining.boosts:RepeatBoosts"),
    "learned_mlp": (Shape.REFINER, "simonides.recall.refining.mlp:LearnedMlp"),
    "noise_threshold": (Shape.REFINER, "simonides.recall.refining.cutting:NoiseThreshold"),
    "intent_reweight": (Shape.REFINER, "simonides.recall.refining.combining:IntentReweight"),
    "head_rerank": (Shape.REFINER, "simonides.recall.refining.rerankers:HeadRerank"),
    "graph_expansion": (Shape.REFINER, "simonides.recall.refining.graph:GraphExpansion"),
    "graph_rank": (Shape.REFINER, "simonides.recall.refining.graph:GraphRank"),
    "neighbours": (Shape.REFINER, "simonides.recall.refining.graph:Neighbours"),
    "blend": (Shape.REFINER, "simonides.recall.refining.combining:Blend"),
    "near_duplicates": (Shape.REFINER, "simonides.recall.refining.diversity:NearDuplicates"),
    "marginal_relevance": (Shape.REFINER, "simonides.recall.refining.diversity:MarginalRelevance"),
    "routed_boost": (Shape.REFINER, "simonides.recall.refining.boosts:RoutedBoost"),
    "late_interaction": (Shape.REFINER, "simonides.recall.refining.rerankers:LateInteraction"),
    "relevance": (Shape.REFINER, "simonides.recall.refining.relevance:Relevance"),
    "asked_speaker": (Shape.REFINER, "simonides.recall.refining.boosts:AskedSpeaker"),
    "bounded_priors": (Shape.REFINER, "simonides.recall.refining.boosts:BoundedPriors"),
    "learned_order": (Shape.REFINER, "simonides.recall.refining.learned_order:LearnedOrder"),
    "answers_first": (Shape.REFINER, "simonides.recall.refining.answers_first:AnswersFirst"),
    "newer_first": (Shape.REFINER, "simonides.recall.refining.newer_first:NewerFirst"),
    "outside_in": (Shape.PACKER, "simonides.recall.packing.outside_in:OutsideIn"),
    "rerank_prefilter": (Shape.REFINER, "simonides.recall.refining.rerankers:RerankPrefilter"),
    "cross_encoder": (Shape.REFINER, "simonides.recall.refining.rerankers:CrossEncoder"),
    "llm_judge": (Shape.REFINER, "simonides.recall.refining.rerankers:LlmJudge"),
    "synthetic_scores": (Shape.REFINER, "simonides.recall.refining.rerankers:SyntheticScores"),
    "combined_score": (Shape.REFINER, "simonides.recall.refining.combining:CombinedScore"),
    "considered": (Shape.REFINER, "simonides.recall.refining.cutting:Considered"),
    "cited_context": (Shape.PACKER, "simonides.recall.packing.cited_context:CitedContext"),
    "token_budget": (Shape.PACKER, "simonides.recall.packing.packers:TokenBudget"),
}

BECAME: Mapping[str, str] = {
    "abstention": "became 'relevance'; write \"relevance\" in the order, and in place of its table "
    "[stages.relevance] with weak, match, share, sure and unsure (`simonides profiles show default`)",
}
"""Names of earlier versions, and what to write now."""


def technique_names() -> tuple[str, ...]:
    """Every registered name, built in or installed, sorted."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))}))


def is_registered(technique: str) -> bool:
    """Whether the name is built in or installed; built-in names cost no look at what is installed."""
    return technique in BUILT_IN or bool(entry_points(group=GROUP, name=technique))


def refuse_former(technique: str, field: str, place: str) -> None:
    """Refuse a name of an earlier version.

    Raises:
        ProfileError: it is one; the message says what to write now.
    """
    if technique in BECAME:
        raise ProfileError(field, f"{technique!r} {BECAME[technique]} (in {place})")


def build_stage(
    technique: str, options: Mapping[str, object], *, field: str, place: str
) -> tuple[Shape, Any]:
    """Make a stage by name.

    Args:
        technique: a registered name.
        options: values for the fields of its class.
        field: where they stand in the profile, such as ``stages.dense``.
        place: the profile's file, for messages.

    Returns:
        The shape, and the stage: an instance that satisfies the shape's protocol.

    Raises:
        UnknownNameError: no such technique; the message offers the nearest.
        ProfileError: an option is wrong, or the class of a plug-in cannot be loaded or is no stage.
    """
    shape, cls = load_technique(technique, field=field, place=place)
    return shape, make(cls, options, technique=technique, field=field, place=place)


def load_technique(technique: str, *, field: str, place: str) -> tuple[Shape, type[Any]]:
    """The shape and the class behind a name. Arguments and errors as for ``build_stage``."""
    refuse_former(technique, f"{field}.technique", place)
    if technique in BUILT_IN:
        shape, path = BUILT_IN[technique]
        module, _, name = path.partition(":")
        return shape, getattr(import_module(module), name)
    return _load_installed(technique, field, place)


def shape_of(cls: object) -> Shape | None:
    """The shape of a frozen dataclass with exactly one of the five methods; ``None`` for anything else."""
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        return None
    if not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]  # not in the stubs
        return None
    shapes = [shape for shape, method in METHODS.items() if callable(getattr(cls, method, None))]
    return shapes[0] if len(shapes) == 1 else None


def _load_installed(technique: str, field: str, place: str) -> tuple[Shape, type[Any]]:
    points = tuple(entry_points(group=GROUP, name=technique))
    if not points:
        raise UnknownNameError(f"{field}.technique", technique, technique_names(), place=place)
    if len({point.value for point in points}) > 1:
        owners = ", ".join(sorted(point.value for point in points))
        raise ProfileError(
            f"{field}.technique",
            f"{technique!r} is claimed by {owners}; uninstall all but one (used in {place})",
        )
    try:
        cls = points[0].load()
    except MissingExtraError:
        raise
    except (ImportError, AttributeError) as error:
        raise ProfileError(
            f"{field}.technique",
            f"{technique!r} ({points[0].value}) cannot be loaded: {error} (used in {place})",
        ) from error
    shape = shape_of(cls)
    if shape is None:
        raise ProfileError(
            f"{field}.technique",
            f"{technique!r} ({points[0].value}) is no stage: expected a frozen dataclass with exactly one of "
            f"the methods {', '.join(METHODS.values())} (used in {place})",
        )
    return shape, cls
