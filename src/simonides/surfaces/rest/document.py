"""The OpenAPI description of each route, made from the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.json_schema import IN_PATH, may_be_empty
from simonides.options import BANK_NAME
from simonides.surfaces.operations.table import DATABASE, LINES, Scope, Stream
from simonides.surfaces.rest.handlers import KEY_HEADER
from simonides.surfaces.rest.writing import JSON

if TYPE_CHECKING:
    from simonides.json_schema import Schema
    from simonides.options import Option
    from simonides.surfaces.operations.table import Operation
    from simonides.surfaces.rest.paths import Place

PROBLEM: Schema = {
    "title": "Problem",
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, and what to do."},
        "field": {"type": "string", "description": "The parameter that is wrong."},
        "valid": {"type": "array", "items": {"type": "string"}, "description": "Names that would do."},
    },
    "required": ["type", "title", "status", "detail"],
}
_BEARER = {"type": "http", "scheme": "bearer", "description": "Made by `simonides token create`."}
_PROBLEMS = {
    "400": "The request does not fit this description.",
    "401": "The token is missing or invalid.",
    "403": "The token does not allow it, or the Origin is not allowed.",
    "404": "There is no such bank, memory, entity or merge.",
    "408": "The body was sent too slowly.",
    "409": "It conflicts with what is stored, such as an idempotency key with another body.",
    "413": "The body is too long.",
    "415": "The body is of another media type.",
    "421": "The Host is not this server's.",
    "422": "The values fit this description, but not each other or the engine's limits.",
    "429": "Too many requests of this token are running.",
    "503": "Too many requests, a timeout, or the bank cannot be used now.",
}
_RETRIED = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}

_FILES: dict[str, tuple[str, Schema]] = {
    LINES: ("Lines of JSON.", {"type": "string"}),
    DATABASE: ("A SQLite database.", {"type": "string", "format": "binary"}),
}
_FIRST = "$response.body#/ids/0"
# What an answer leads on to: (operation, parameter, where its value stands).
_LINKS = {
    "retain": (
        *((name, "memory", _FIRST) for name in ("get_memory", "history", "source", "invalidate")),
        ("update_memory", "memory", _FIRST),
    ),
    "list_memories": (("list_memories", "cursor", "$response.body#/next"),),
}


def described(operation: Operation, place: Place) -> dict[str, Any]:
    """What ``openapi_extra`` of a route takes."""
    in_path = [each for each in operation.parameters if f"{{{each.name}}}" in place.path]
    others = [each for each in operation.parameters if each not in in_path]
    parameters = [_parameter(each, "path") for each in in_path]
    if operation.scope is Scope.BANK:
        schema = {**BANK_NAME, "pattern": IN_PATH}
        parameters.insert(0, {"name": "bank", "in": "path", "required": True, "schema": schema})
    extra: dict[str, Any] = {
        "operationId": operation.name,
        "responses": {"200": _answered(operation), **problems()},
        "security": [{"token": []}],
        "x-verb": operation.verb.value,
        "x-destructive": operation.destructive,
    }
    if place.method == "GET":
        parameters += [_parameter(each, "query") for each in others]
    elif operation.stream is Stream.IN:
        extra["requestBody"] = {"required": True, "content": {LINES: {"schema": {"type": "string"}}}}
    else:
        extra["requestBody"] = _body(operation, others)
    if any(each.name == "idempotency_key" for each in others):
        parameters.append(
            {
                "name": KEY_HEADER.title(),
                "in": "header",
                "description": "The same as idempotency_key.",
                "schema": {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": 256},
            }
        )
    return {**extra, "parameters": parameters}


def problems() -> dict[str, Any]:
    """The responses that every route but liveness may give."""
    return {
        status: {
            "description": text,
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
            **({"headers": _RETRIED} if status in {"429", "503"} else {}),
        }
        for status, text in _PROBLEMS.items()
    }


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """The whole document with what no single route says."""
    components = document.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    components["securitySchemes"] = {"token": _BEARER}
    return document


def _body(operation: Operation, others: list[Option]) -> dict[str, Any]:
    whole = operation.schema
    names = {each.name for each in others}
    required = [name for name in whole["required"] if name in names]
    schema = {
        **whole,
        "properties": {name: inner for name, inner in whole["properties"].items() if name in names},
        "required": required,
    }
    return {"required": bool(required), "content": {JSON: {"schema": schema}}}


def _parameter(each: Option, where: str) -> dict[str, Any]:
    schema = _without_null(each.schema)
    if where == "path":
        schema = {**schema, "pattern": IN_PATH}
    if each.default is not None and not each.required:
        schema = {**schema, "default": each.default}
    return {
        "name": each.name,
        "in": where,
        "required": each.required,
        "description": each.help,
        "schema": schema,
        # No value (`kinds=`) is an empty list, which a query string cannot say otherwise.
        **({"allowEmptyValue": True} if where == "query" and may_be_empty(schema) else {}),
    }


def _without_null(schema: Schema) -> Schema:
    """A query cannot say ``null``: what is not given is left out."""
    if "items" in schema:
        return {**schema, "items": _without_null(schema["items"])}
    if "anyOf" not in schema:
        return schema
    kept = [_without_null(inner) for inner in schema["anyOf"] if inner.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**kept[0], **rest} if len(kept) == 1 else {**rest, "anyOf": kept}


def _answered(operation: Operation) -> dict[str, Any]:
    if operation.stream is Stream.OUT:
        told, schema = _FILES[operation.media]
        return {"description": told, "content": {operation.media: {"schema": schema}}}
    content: dict[str, Any] = {JSON: {"schema": operation.result}}
    if operation.name == "list_memories":
        # Asked for by Accept: every page, one memory a line.
        content[LINES] = {"schema": {"type": "string"}}
    links = {
        f"{name}_by_{parameter}": {
            "operationId": name,
            "parameters": {"bank": "$request.path.bank", parameter: value},
        }
        for name, parameter, value in _LINKS.get(operation.name, ())
    }
    return {
        "description": operation.result["title"],
        "content": content,
        **({"links": links} if links else {}),
    }
