"""What a tool returns: structured content that a model can afford, and the same as text.

A recall gives its context once, as data (``packing.as_data``), and of each hit what is needed to cite, show,
change or forget it, without its text; the whole records would cost several times the budget. Everything else
is the operation's own answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.recall.packing.as_data import harmless, trust_word
from simonides.records.recall import not_in_memory
from simonides.surfaces.operations import results
from simonides.surfaces.operations.schemas import optional

if TYPE_CHECKING:
    from simonides.surfaces.operations.schemas import Schema
    from simonides.surfaces.operations.table import Operation

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_ENTRY: Schema = {
    "type": "object",
    "properties": {
        "n": {
            "type": ["integer", "null"],
            "description": "What the context cites it as; null: the context leaves it out, as too unlikely.",
        },
        "id": _TEXT,
        "kind": _TEXT,
        "relevance": results.RELEVANCE,
        "standing": {"const": True, "description": "It leads every context, whatever is asked."},
        "earlier": {"const": True, "description": "A newer one of these memories states another value."},
        "score": {"type": ["number", "null"]},
        "source": _TEXT,
        "trust": {"type": "string", "enum": ["high", "middle", "low"]},
    },
    "required": ["n", "id", "kind", "relevance", "score", "source", "trust"],
    "additionalProperties": False,
}
_SOMETIMES = ("chunks", "job", "explanations", "trace")
_KEPT = ("id", "no_match", "no_match_reasons", "confidence", "band", "context")
RECALLED: Schema = {
    "title": "Recalled",
    "type": "object",
    "properties": {
        **{name: results.RECALL["properties"][name] for name in _KEPT},
        "memories": {"type": "array", "items": _ENTRY},
        "omitted": {**_COUNT, "description": "How many found memories max_tokens left no room for."},
        **{name: results.RECALL["properties"][name] for name in _SOMETIMES},
    },
    "required": [*_KEPT, "memories", "omitted"],
    "additionalProperties": False,
}


JOB: Schema = {
    **results.JOB,
    "properties": {**results.JOB["properties"], "recall": optional(RECALLED)},
}


@dataclass(frozen=True, slots=True)
class Shown:
    """How the answers of an operation are shown: schema, structured content, text."""

    schema: Schema
    structured: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    text: Callable[[Mapping[str, Any]], str]


def shown(operation: Operation) -> Shown:
    """How the answers of *operation* are shown."""
    return _SHOWN.get(operation.name) or Shown(operation.result, dict, _json)


def finite(value: Any) -> Any:
    """The same for JSON, which holds no NaN and no infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value


def _json(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def _recalled(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    shown = {name: answer[name] for name in _KEPT}
    standing = answer.get("standing", ())
    shown["memories"] = [
        {
            "n": hit["rank"] or None if number <= len(standing) + answer["told"] else None,
            "id": hit["id"],
            "kind": hit["kind"],
            "relevance": hit["relevance"],
            **({"standing": True} if number <= len(standing) else {}),
            **({"earlier": True} if hit["earlier"] else {}),
            "score": hit["score"],
            "source": harmless(hit["memory"]["source"] or hit["memory"]["document"]),
            "trust": trust_word(hit["memory"]["trust"]),
        }
        for number, hit in enumerate((*standing, *answer["hits"]), 1)
    ]
    shown["omitted"] = len(answer["omitted"])
    if "chunks" in answer:
        shown["chunks"] = [{**chunk, "text": harmless(chunk["text"])} for chunk in answer["chunks"]]
    return shown | {name: answer[name] for name in ("job", "explanations", "trace") if name in answer}


def context_of(answer: Mapping[str, Any]) -> str:
    """What a model reads of a recall: the context, or that and why nothing answers."""
    missing = [not_in_memory(answer["no_match_reasons"])] if answer["band"] == "none" else []
    return "\n".join([*filter(None, [answer["context"]]), *missing])


def _recall_text(answer: Mapping[str, Any]) -> str:
    lines = [context] if (context := context_of(answer)) else []
    if answer["omitted"]:
        lines.append(f"Left out for want of tokens: {answer['omitted']}.")
    if "job" in answer:
        lines.append(f"A better answer comes later: get_job of {answer['job']}.")
    lines += [_json({name: answer[name]}) for name in ("chunks", "explanations", "trace") if name in answer]
    return "\n".join(lines)


def _job(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    recall = answer["recall"]
    if recall is None:
        return dict(answer)
    # The job is this one; to name it again would have a model ask for it again.
    return {**answer, "recall": {name: value for name, value in _recalled(recall).items() if name != "job"}}


def _job_text(answer: Mapping[str, Any]) -> str:
    if answer["recall"] is None:
        return "Still at work; ask again in some seconds."
    return _recall_text(answer["recall"])


def _reflection_text(answer: Mapping[str, Any]) -> str:
    cited = ", ".join(f"[{each['number']}] {each['id']}" for each in answer["citations"])
    note = f"Note: {answer['note']}." if answer["note"] else ""
    said = answer["answer"] or answer["context"]
    return "\n\n".join(part for part in (said, f"Cited: {cited}" if cited else "", note) if part)


def _explained(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without what each stage did: the explanations say it of each hit."""
    return {name: value for name, value in answer.items() if name != "trace"}


def _without(schema: Schema, name: str) -> Schema:
    properties = {key: value for key, value in schema["properties"].items() if key != name}
    return {
        **schema,
        "properties": properties,
        "required": [key for key in schema["required"] if key != name],
    }


_SHOWN: Mapping[str, Shown] = {
    "recall": Shown(RECALLED, _recalled, _recall_text),
    "get_job": Shown(JOB, _job, _job_text),
    "reflect": Shown(results.REFLECTION, dict, _reflection_text),
    "explain": Shown(_without(results.EXPLANATIONS, "trace"), _explained, _json),
}
