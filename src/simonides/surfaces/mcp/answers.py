"""What a tool returns: structured content that a model can afford, and the same as text.

A recall gives its context once, as data (``packing.as_data``), and of each hit what is needed to cite, show,
change or forget it, without its text; the whole records would cost several times the budget. Records are
given without what is empty in them. All text of memories is made harmless as in a context (``harmless``), and
the text copy of records, a brief and a reflection stands between the same marks (``fenced``). Both keep
the budget; what does not fit is left out from the end (``within``). All else is the operation's own
answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.json_schema import optional
from simonides.recall.packing.as_data import fenced, first_of, harmless, trust_word, visible
from simonides.records.json_ready import finite
from simonides.records.recall import NOT_IN_MEMORY, not_in_memory
from simonides.surfaces.operations import results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.json_schema import Schema
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
_LOOKED_INTO = ("explanations", "trace")
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


_RECORD: Schema = {
    **results.RECORD,
    "description": "What is empty, false or none is left out.",
    "required": ["id", "text", "kind", "version"],
}
_ON_PAGE = (
    "id", "text", "kind", "version", "event_time", "valid_from", "valid_to", "project", "tags", "source",
    "metadata", "document", "session", "speaker", "superseded_by", "expires_at", "pinned", "standing",
    "archived",
)  # fmt: skip
"""Of a record in a list; get_memory gives the whole."""
_MOST_VALUES = 20
"""Of a facet; whoever shows more than a model needs asks another interface."""
BRIEF: Schema = {
    **results.BRIEF,
    "properties": {
        "text": _TEXT,
        "sections": results.BRIEF["properties"]["sections"],
        "omitted": {**_COUNT, "description": "How many memories max_tokens left no room for."},
    },
    "required": ["text", "sections", "omitted"],
}


@dataclass(frozen=True, slots=True)
class Shown:
    """How the answers of an operation are shown.

    Attributes:
        text: the same for reading.
        length: how many memories structured content holds.
        first: structured content with so many of them, from the first on.
        least: so many are given in any case, since their text keeps the budget by itself.
    """

    schema: Schema
    structured: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    text: Callable[[Mapping[str, Any]], str]
    length: Callable[[Mapping[str, Any]], int] = lambda _: 0
    first: Callable[[Mapping[str, Any], int], Mapping[str, Any]] = lambda content, _: content
    least: int = 0

    def fits(self, content: Mapping[str, Any], text: str, count: Callable[[str], int], budget: int) -> bool:
        """Whether each copy has at most *budget* tokens."""
        counted = _counted(content)
        if recall := content.get("recall"):
            counted = {**content, "recall": _counted(recall)}
        return count(json_of(counted)) <= budget and (not _marked(recall or content) or count(text) <= budget)


def shown(operation: Operation) -> Shown:
    """How the answers of *operation* are shown."""
    return _SHOWN.get(operation.name) or Shown(operation.result, dict, json_of)


def within(
    how: Shown, answer: Mapping[str, Any], count: Callable[[str], int], budget: int | None
) -> tuple[Mapping[str, Any], str]:
    """Both copies of *answer*, with as many of its memories, from the first on, as both have room for.

    *budget* is that of either copy. What is no memory, and ``Shown.least``, is sent in any case.
    """
    whole = finite(how.structured(answer))
    text = how.text(whole)
    if budget is None or how.fits(whole, text, count, budget):
        return whole, text
    low, high = 0, how.length(whole)
    while low < high:
        middle = (low + high) // 2
        less = how.first(whole, middle)
        low, high = (middle + 1, high) if how.fits(less, how.text(less), count, budget) else (low, middle)
    content = how.first(whole, max(low - 1, how.least))
    return content, how.text(content)


def json_of(answer: Mapping[str, Any]) -> str:
    """As JSON without white space."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def _clean(value: Any) -> Any:
    """The same with every text in it harmless."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {harmless(str(key)): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value


def _record(memory: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record without what is empty in it."""
    return {
        name: _clean(value)
        for name, value in memory.items()
        if value or (isinstance(value, float) and not isinstance(value, bool))
    }


def _lines(records: Sequence[Mapping[str, Any]], *more: str) -> str:
    """A record a line, between the marks of data, and what is said of them."""
    return "\n".join(filter(None, [fenced("\n".join(json_of(each) for each in records)), *more]))


def _omitted_line(omitted: int) -> str:
    return f"Left out for want of tokens: {omitted}." if omitted else ""


def _one(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    memory = answer["memory"]
    return {**answer, "memory": memory and _record(memory)}


def _one_text(content: Mapping[str, Any]) -> str:
    return _lines([content["memory"]] if content["memory"] else [], _omitted_line(content["omitted"]))


def _none(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    return content if kept or not content["memory"] else {**content, "memory": None, "omitted": 1}


def _page(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    records = [_record({name: each[name] for name in _ON_PAGE}) for each in answer["memories"]]
    return {**answer, "memories": records}


def _page_text(content: Mapping[str, Any]) -> str:
    following = f"Next page: cursor {content['next']}" if content["next"] else ""
    return _lines(content["memories"], _omitted_line(content["omitted"]), following) or "No memories."


def _first_on_page(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    listed = content["memories"]
    if kept >= len(listed):
        return content
    # As the operation does it: a budget too small for even one memory moves on over that one.
    passed = max(kept, 1)
    return {"memories": listed[:kept], "omitted": passed - kept, "next": listed[passed - 1]["id"]}


def _entity(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    about = {name: _clean(answer[name]) for name in ("entity", "neighbours", "merges")}
    return {**_page(answer), **about}


def _entity_text(content: Mapping[str, Any]) -> str:
    about = {name: content[name] for name in ("entity", "neighbours", "merges", "total")}
    return _lines([about, *content["memories"]], _omitted_line(content["omitted"]))


def _first_of_entity(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    left_out = len(content["memories"]) - kept
    return {**content, "memories": content["memories"][:kept], "omitted": content["omitted"] + left_out}


def _happened(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**answer, "events": [_with_records(each, "memory") for each in answer["events"]]}


def _with_records(entry: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """An entry, made harmless, with short records under *names*."""
    records = {name: entry[name] for name in names}
    short = {name: each and _record({key: each[key] for key in _ON_PAGE}) for name, each in records.items()}
    return {**{name: _clean(value) for name, value in entry.items() if name not in short}, **short}


def _happened_text(content: Mapping[str, Any]) -> str:
    return _lines(content["events"], _omitted_line(content["omitted"]), f"Go on: after {content['next']}")


def _last_happened(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    left_out = max(0, len(content["events"]) - kept)
    return {**content, "events": content["events"][left_out:], "omitted": content["omitted"] + left_out}


def _to_decide(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**answer, "items": [_with_records(each, "memory", "other") for each in answer["items"]]}


def _to_decide_text(content: Mapping[str, Any]) -> str:
    following = f"Next page: cursor {content['next']}" if content["next"] else ""
    return _lines(content["items"], _omitted_line(content["omitted"]), following)


def _first_to_decide(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    listed = content["items"]
    if kept >= len(listed):
        return content
    passed = max(kept, 1)
    return {"items": listed[:kept], "omitted": passed - kept, "next": listed[passed - 1]["key"]}


def _versions(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**answer, "versions": [_record(each) for each in answer["versions"]]}


def _versions_text(content: Mapping[str, Any]) -> str:
    return _lines(content["versions"], _omitted_line(content["omitted"]))


def _first_versions(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    left_out = len(content["versions"]) - kept
    return {**content, "versions": content["versions"][:kept], "omitted": content["omitted"] + left_out}


def _briefed(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    sections = {title: list(ids) for title, ids in answer["sections"].items()}
    text = fenced(harmless(answer["text"]))
    return {"text": text, "sections": sections, "omitted": len(answer["omitted"])}


def _in_brief(content: Mapping[str, Any]) -> int:
    return sum(len(ids) for ids in content["sections"].values())


def _first_in_brief(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    sections: dict[str, list[str]] = {}
    for title, ids in content["sections"].items():
        if some := ids[: kept - _in_brief({"sections": sections})]:
            sections[title] = some
    lines, left = list[str](), kept
    # The first two lines and the last one are the marks.
    for line in content["text"].split("\n")[2:-1]:
        if line.startswith("- "):
            left -= 1
            if left < 0:
                break
        lines.append(line)
    while lines and not lines[-1].startswith("- "):
        lines.pop()
    omitted = content["omitted"] + _in_brief(content) - kept
    return {**content, "text": fenced("\n".join(lines)), "sections": sections, "omitted": omitted}


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
    if not _marked(answer):
        # What is packed has been made harmless; in a plain context the numbers in brackets are its own.
        shown["context"] = visible(answer["context"])
    if "chunks" in answer:
        shown["chunks"] = [_clean(chunk) for chunk in answer["chunks"]]
    return shown | {name: answer[name] for name in ("job", "explanations", "trace") if name in answer}


def _marked(content: Mapping[str, Any]) -> bool:
    """Whether the context, if there is one, is marked as data; a plain one is kept whole."""
    context = content.get("context", "")
    return not context or context.startswith(("<<memories ", '{"notice": '))


def _counted(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """What counts against a budget."""
    apart = _LOOKED_INTO if _marked(content) else (*_LOOKED_INTO, "context")
    return {name: value for name, value in content.items() if name not in apart}


def _found(content: Mapping[str, Any]) -> int:
    return len(content["memories"]) + len(content.get("chunks", ()))


def _first_found(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    memories = content["memories"][:kept]
    less = {
        **content,
        "memories": memories,
        "omitted": content["omitted"] + len(content["memories"]) - len(memories),
    }
    if "chunks" in content:
        less["chunks"] = content["chunks"][: kept - len(memories)]
    if _marked(content):
        less["context"] = first_of(content["context"], max((each["n"] or 0 for each in memories), default=0))
    return less


def context_of(answer: Mapping[str, Any]) -> str:
    """What a model reads of a recall: the context, or that and why nothing answers."""
    missing = [not_in_memory(answer["no_match_reasons"])] if answer["band"] == "none" else []
    return "\n".join([*filter(None, [answer["context"]]), *missing])


def _recall_text(answer: Mapping[str, Any]) -> str:
    lines = list(filter(None, [context_of(answer), _omitted_line(answer["omitted"])]))
    if "job" in answer:
        lines.append(f"A better answer comes later: get_job of {answer['job']}.")
    lines += [json_of({name: answer[name]}) for name in ("chunks", "explanations", "trace") if name in answer]
    return "\n".join(lines)


def _job(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    recall = answer["recall"]
    told = {**answer, "helpers": _clean(answer["helpers"])}
    if recall is None:
        return told
    # The job is this one; to name it again would have a model ask for it again.
    return {**told, "recall": {name: value for name, value in _recalled(recall).items() if name != "job"}}


def _job_text(answer: Mapping[str, Any]) -> str:
    if answer["recall"] is None:
        return "Still at work; ask again in some seconds."
    return _recall_text(answer["recall"])


def _first_of_job(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    return (
        content if content["recall"] is None else {**content, "recall": _first_found(content["recall"], kept)}
    )


def _reflected(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without what cannot be seen, its citations kept; the context, which is packed, is data already."""
    return {**answer, "answer": visible(answer["answer"]), "note": harmless(answer["note"])}


def _reflection_text(answer: Mapping[str, Any]) -> str:
    cited = ", ".join(f"[{each['number']}] {each['id']}" for each in answer["citations"])
    note = f"Note: {answer['note']}." if answer["note"] else ""
    said = answer["answer"]
    # What a model made of memories is no more to be obeyed than they are.
    said = (said if said == NOT_IN_MEMORY else fenced(said)) or answer["context"]
    return "\n\n".join(part for part in (said, f"Cited: {cited}" if cited else "", note) if part)


def _in_context(content: Mapping[str, Any]) -> int:
    numbers = (line.partition("]")[0] for line in content["context"].split("\n") if line.startswith("["))
    return sum(number[1:].isdecimal() for number in numbers)


def _first_reflected(content: Mapping[str, Any], kept: int) -> Mapping[str, Any]:
    return {**content, "context": first_of(content["context"], kept)}


def _explained(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without what each stage did: the explanations say it of each hit."""
    return {name: _clean(value) for name, value in answer.items() if name != "trace"}


def _counted_values(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """With the first values of each facet alone, and without facets of none."""
    facets = {name: _clean(values[:_MOST_VALUES]) for name, values in answer["facets"].items() if values}
    return {**answer, "facets": facets}


def _without(schema: Schema, name: str) -> Schema:
    properties = {key: value for key, value in schema["properties"].items() if key != name}
    return {
        **schema,
        "properties": properties,
        "required": [key for key in schema["required"] if key != name],
    }


def _of_entries(schema: Schema, listed: str, *names: str) -> Schema:
    """A schema of listed entries whose records, under *names*, are short ones."""
    entry = schema["properties"][listed]["items"]
    short = {**entry, "properties": {**entry["properties"], **dict.fromkeys(names, optional(_RECORD))}}
    return {**schema, "properties": {**schema["properties"], listed: {"type": "array", "items": short}}}


_ONE = Shown(
    {**results.MEMORY, "properties": {**results.MEMORY["properties"], "memory": optional(_RECORD)}},
    _one,
    _one_text,
    lambda content: 1 if content["memory"] else 0,
    _none,
)
_LISTED: Schema = {"type": "array", "items": _RECORD}
_SHOWN: Mapping[str, Shown] = {
    "recall": Shown(RECALLED, _recalled, _recall_text, _found, _first_found, least=1),
    "get_job": Shown(
        JOB,
        _job,
        _job_text,
        lambda content: _found(content["recall"]) if content["recall"] else 0,
        _first_of_job,
        least=1,
    ),
    "get_memory": _ONE,
    "update_memory": _ONE,
    "invalidate": _ONE,
    "list_memories": Shown(
        {**results.PAGE, "properties": {**results.PAGE["properties"], "memories": _LISTED}},
        _page,
        _page_text,
        lambda content: len(content["memories"]),
        _first_on_page,
    ),
    "entities": Shown(
        results.ENTITIES, _clean, lambda content: _lines(content["entities"]) or "No entities."
    ),
    "get_entity": Shown(
        {
            **results.ENTITY_DETAILS,
            "properties": {**results.ENTITY_DETAILS["properties"], "memories": _LISTED},
        },
        _entity,
        _entity_text,
        lambda content: len(content["memories"]),
        _first_of_entity,
    ),
    "activity": Shown(
        _of_entries(results.ACTIVITY, "events", "memory"),
        _happened,
        _happened_text,
        lambda content: len(content["events"]),
        _last_happened,
    ),
    "review": Shown(
        _of_entries(results.REVIEW, "items", "memory", "other"),
        _to_decide,
        _to_decide_text,
        lambda content: len(content["items"]),
        _first_to_decide,
    ),
    "history": Shown(
        {**results.HISTORY, "properties": {**results.HISTORY["properties"], "versions": _LISTED}},
        _versions,
        _versions_text,
        lambda content: len(content["versions"]),
        _first_versions,
    ),
    "brief": Shown(
        BRIEF, _briefed, lambda content: content["text"] or "Nothing is known.", _in_brief, _first_in_brief
    ),
    "reflect": Shown(results.REFLECTION, _reflected, _reflection_text, _in_context, _first_reflected),
    "facets": Shown(results.FACETS, _counted_values, json_of),
    "explain": Shown(_without(results.EXPLANATIONS, "trace"), _explained, json_of),
}
