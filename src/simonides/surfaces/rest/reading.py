"""From a request to named values: path, query or JSON body, within limits; nothing is guessed."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import ClientDisconnect

from simonides.errors import InputError
from simonides.json_schema import may_be_empty, types_of
from simonides.surfaces.rest.problems import MalformedError, RefusedError
from simonides.surfaces.serving.dispatching import GoneError
from simonides.surfaces.serving.json_reader import BYTES_OF_VALUE, count_values, no_constant, parse_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import IO

    from starlette.requests import Request

    from simonides.surfaces.operations.table import Operation
    from simonides.surfaces.serving.bodies import Body
    from simonides.surfaces.serving.limits import Limits

T = TypeVar("T")

_HUGE = 1024 * 1024
_MANY = 1_000
"""Values of a body from which the memory that they take is counted, too."""
LARGE = 64 * 1024
"""Bytes of a body from which it is read and checked beside the event loop."""


async def read_body(request: Request, limits: Limits, held: Body) -> bytearray:
    """The whole body, as it was gathered: a copy would hold it twice.

    Raises:
        RefusedError: it is too large or too slow.
        BusyError: there is no room for it.
        GoneError: the caller has left.
    """
    body = bytearray()
    async for part in _parts(request, limits.body_bytes, limits.seconds, None):
        held.hold(len(part))
        body += part
    return body


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


async def read_json(body: bytes | bytearray, held: Body) -> Any:
    """The value of a JSON body. A large one is read beside the event loop.

    Raises:
        MalformedError: it is no JSON, states a key twice, or holds too much.
        BusyError: there is no room for it.
    """
    large = len(body) >= LARGE
    try:
        # Of the largest one at a time: each takes several times its bytes meanwhile.
        async with held.turn if len(body) >= _HUGE else nullcontext():
            count = await asyncio.to_thread(count_values, body) if large else count_values(body)
            if count > _MANY:
                held.hold(count * BYTES_OF_VALUE)
            return await asyncio.to_thread(parse_json, body) if large else parse_json(body)
    except InputError as error:
        raise MalformedError(error.field, error.problem) from None


def read_query(request: Request, operation: Operation) -> dict[str, Any]:
    """Values from a query string: numbers and switches as the schema asks, repeated ones as a list.

    A list is empty where its parameter has no value (``kinds=``): a query string has no other way to say so.
    A parameter that is no list and is given twice is a ``MalformedError``.
    """
    schemas = {each.name: each.schema for each in operation.parameters}
    values: dict[str, Any] = {}
    for name in request.query_params:
        given = request.query_params.getlist(name)
        types = types_of(schemas.get(name, {}))
        if given == [""] and may_be_empty(schemas.get(name, {})):
            values[name] = []
        elif "array" in types and (len(given) > 1 or "string" not in types):
            values[name] = given
        elif len(given) > 1:
            raise MalformedError(name, "is given more than once")
        else:
            values[name] = _typed(given[0], types)
    return values


def _typed(value: str, types: set[str]) -> object:
    """What a text in a query stands for; itself where it fits no type, for the check to name it."""
    if "boolean" in types and value in {"true", "false"}:
        return value == "true"
    if types & {"integer", "number"}:
        try:
            number = json.loads(value, parse_constant=no_constant)
        except (ValueError, RecursionError):
            return value
        # JSON has other words than numbers, such as ``null``; in a query they are texts.
        return number if type(number) in {int, float} else value
    return value
