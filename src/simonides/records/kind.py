"""The two closed vocabularies of a memory (SPEC, general settlement 5)."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What sort of thing a memory states. The order is the code stored in index columns: append only."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    DECISION = "decision"
    CODE = "code"
    PREFERENCE = "preference"
    OBSERVATION = "observation"
    QUARANTINE = "quarantine"
    """Set aside: in no recall that does not ask for this kind, and it closes or repeats nothing."""


class Layer(StrEnum):
    """How far a memory has been promoted (EN-13). The order is the code stored in index columns."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    CODEBASE = "codebase"


RECALLED = tuple(kind for kind in Kind if kind is not Kind.QUARANTINE)
"""Kinds that a recall looks at unless it is told otherwise."""

KIND_CODES = {kind: code for code, kind in enumerate(Kind)}
LAYER_CODES = {layer: code for code, layer in enumerate(Layer)}
