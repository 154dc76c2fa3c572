"""From a request to named values: path, query or JSON body, within limits; nothing is guessed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from simonides.surfaces.rest.problems import MalformedError, RefusedError
from simonides.surfaces.serving.dispatching import GoneError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import IO

    from starlette.requests import Request

    from simonides.surfaces.operations.schemas import Schema
    from simonides.surfaces.operations.table import Operation
    from simonides.surfaces.serving.bodies import Body
    from simonides.surfaces.serving.limits import Limits


async def read_body(request: Request, limits: Limits, held: Body) -> bytes:
    """The whole body.

    Args:
        request: whose it is.
        limits: of its bytes, and of the seconds for all of it.
        held: told of what is in memory.

    Raises:
        RefusedError: it is too large or too slow.
        BusyError: there is no room for it.
        GoneError: the caller has left.
    """
    body = bytearray()
    async for part in _parts(request, limits.body_bytes, limits.seconds, None):
        held.hold(len(part))
        body += part
    return bytes(body)


async def spool_body(request: Request, limits: Limits, file: IO[bytes]) -> None:
    """Write the body of an import to a file, part by part; the more has come, the longer it may take.

    Raises:
        RefusedError: it is too large or too slow.
        GoneError: the caller has left.
    """
    async for part in _parts(request, limits.import_bytes, limits.seconds, limits.import_bytes_per_second):
        await asyncio.to_thread(file.write, part)


async def _parts(request: Request, most: int, seconds: float, pace: int | None) -> AsyncIterator[bytes]:
    """Its parts, while they come within *seconds*, and one more for each *pace* bytes of them."""
    problem = RefusedError(413, f"the body is longer than {most:,} bytes; split it")
    stated = request.headers.get("content-length", "0")
    if stated.isdigit() and int(stated) > most:
        raise problem
    size, stream = 0, request.stream()
    begun = asyncio.get_running_loop().time()
    while True:
        allowed = seconds + (size / pace if pace else 0.0)
        try:
            async with asyncio.timeout_at(begun + allowed):
                part = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise RefusedError(
                408, f"{size:,} bytes of the body came within {allowed:g} s and not its end; send it faster"
            ) from None
        except ClientDisconnect:
            raise GoneError("the caller has left") from None
        size += len(part)
        if size > most:
            raise problem
        yield part


def read_json(body: bytes) -> dict[str, Any]:
    """The object of a JSON body; an empty body is an empty object.

    Raises:
        MalformedError: it is no JSON object, or states a key twice.
    """
    if not body:
        return {}
    try:
        values = json.loads(body, parse_constant=_no_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise MalformedError("body", f"is no JSON ({type(error).__name__}: {error})") from None
    if not isinstance(values, dict):
        raise MalformedError("body", "must be a JSON object of parameters")
    return values


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("an object states a key twice")
    return values


def read_query(request: Request, operation: Operation) -> dict[str, Any]:
    """Values from a query string: numbers and switches as the schema asks, repeated ones as a list.

    A list is empty where its parameter has no value (``kinds=``): a query string has no other way to say so.

    Raises:
        MalformedError: a parameter that is no list is given twice.
    """
    schemas = {each.name: each.schema for each in operation.parameters}
    values: dict[str, Any] = {}
    for name in request.query_params:
        given = request.query_params.getlist(name)
        types = types_of(schemas.get(name, {}))
        if "array" in types and given == [""]:
            values[name] = []
        elif "array" in types and (len(given) > 1 or "string" not in types):
            values[name] = given
        elif len(given) > 1:
            raise MalformedError(name, "is given more than once")
        else:
            values[name] = _typed(given[0], types)
    return values


def types_of(schema: Schema) -> set[str]:
    """The JSON types that a schema of a parameter allows."""
    named = {schema["type"]} if "type" in schema else {"string"} if "enum" in schema else set()
    return named.union(*(types_of(inner) for inner in schema.get("anyOf", ())))


def _typed(value: str, types: set[str]) -> object:
    """What a text in a query stands for; itself where it fits no type, for the check to name it."""
    if "boolean" in types and value in {"true", "false"}:
        return value == "true"
    if types & {"integer", "number"}:
        try:
            number = json.loads(value, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return value
        # JSON has other words than numbers, such as ``null``; in a query they are texts.
        return number if type(number) in {int, float} else value
    return value
