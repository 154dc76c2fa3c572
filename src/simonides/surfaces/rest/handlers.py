"""One handler per operation, all of them made alike: check, read, do, answer."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import time
from functools import partial
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote

from starlette.requests import Request  # noqa: TC002 FastAPI reads the annotation

from simonides.deprecations import SINCE
from simonides.errors import InputError
from simonides.files import disk_errors
from simonides.json_schema import UnsaidBySchemaError
from simonides.retain.redacted_errors import redact_error
from simonides.surfaces.operations.calls import PAGE_BYTES
from simonides.surfaces.operations.table import LINES, Stream
from simonides.surfaces.rest.disk import Spool, check_room
from simonides.surfaces.rest.guard import GRANT, UNTIL_SENT
from simonides.surfaces.rest.problems import MalformedError, RefusedError, problem_of
from simonides.surfaces.rest.reading import read_body, read_json, read_query, spool_body
from simonides.surfaces.rest.uploads import upload_in
from simonides.surfaces.rest.writing import file_response, json_response, lines_response, to_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    from starlette.responses import Response

    from simonides.surfaces.operations.table import Operation
    from simonides.surfaces.rest.metrics import Metrics
    from simonides.surfaces.rest.paths import Place
    from simonides.surfaces.serving.bodies import Body
    from simonides.surfaces.serving.dispatching import Dispatcher
    from simonides.surfaces.serving.grants import Grant

    Bind = Callable[[], Mapping[str, Any]]

T = TypeVar("T")

KEY_HEADER = "idempotency-key"
COUNT_HEADER = "x-simonides-"
_NO_PATH = (
    "holds a slash, or is . or .., and no path of HTTP leads to such a bank; choose another name, or use it "
    "on the machine alone: `simonides create-bank NAME`"
)
_KEY = re.compile(r"[!-~]{1,256}", re.ASCII)
_IMPORTABLE = frozenset({LINES, "application/jsonl", "application/octet-stream"})


def handler_of(
    operation: Operation, place: Place, dispatcher: Dispatcher, metrics: Metrics
) -> Callable[[Request], Awaitable[Response]]:
    """What answers the requests of one operation."""
    one = _Handler(operation, place, dispatcher)

    async def handle(request: Request) -> Response:
        started = time.perf_counter()
        try:
            response = await one.answer(request)
        except Exception as error:  # noqa: BLE001 whatever it is, the caller gets a problem that tells of it
            if dispatcher.store.redact != "off":
                given = dict(request.path_params), dict(request.query_params)
                await asyncio.to_thread(redact_error, error, given)
            response = problem_of(error)
        metrics.count(operation.name, response.status_code, time.perf_counter() - started)
        return response

    return handle


def deprecated(
    handle: Callable[[Request], Awaitable[Response]], now: Place
) -> Callable[[Request], Awaitable[Response]]:
    """The same handler at an old place; its answers say so, and where it is *now*."""

    async def answer(request: Request) -> Response:
        response = await handle(request)
        response.headers["Deprecation"] = f"@{SINCE}"
        path = now.path.format(**{name: quote(value, safe="") for name, value in request.path_params.items()})
        response.headers["Link"] = f'<{path}>; rel="successor-version"'
        return response

    return answer


class _Handler:
    def __init__(self, operation: Operation, place: Place, dispatcher: Dispatcher) -> None:
        self._operation = operation
        self._place = place
        self._dispatcher = dispatcher
        self._limits = dispatcher.limits

    async def answer(self, request: Request) -> Response:
        grant: Grant = request.scope["state"][GRANT]
        bank: str | None = request.path_params.get("bank")
        # Before anything of the body is read.
        grant.check(self._operation, bank)
        held = request.scope["state"][UNTIL_SENT].enter_context(self._dispatcher.bodies.opened(grant))
        if self._operation.stream is Stream.IN:
            return await self._import(request, grant, bank)
        return await self._answer(request, grant, bank, held)

    async def _answer(self, request: Request, grant: Grant, bank: str | None, held: Body) -> Response:
        values = await self._values(request, held)
        for name in request.path_params.keys() - {"bank"}:
            if name in values:
                raise MalformedError(name, "stands in the path already; leave it out")
            values[name] = request.path_params[name]
        bind = partial(self._bind, values)
        if self._operation.stream is Stream.OUT:
            return await self._export(request, grant, bank, bind)
        if self._operation.name == "list_memories" and LINES in request.headers.get("accept", ""):
            held.hold(PAGE_BYTES)
            return await self._lines(request, grant, bank, values)
        if self._operation.name == "reflect" and LINES in request.headers.get("accept", ""):
            return await self._spoken(grant, bank, bind)
        written = await self._do(self._written, request, grant, bank, bind)
        held.hold(len(written))
        return json_response(written)

    def _written(self, answer: Mapping[str, Any]) -> bytes:
        """The answer as JSON; ``InputError`` when it is longer than an answer may be."""
        written = to_json(answer)
        if len(written) > self._limits.answer_bytes:
            raise InputError(
                self._bound_by,
                f"the answer has {len(written):,} bytes, {self._limits.answer_bytes:,} may be; ask for less",
            )
        return written

    @property
    def _bound_by(self) -> str:
        """The parameter that makes an answer shorter."""
        named = {each.name for each in self._operation.parameters}
        return next((name for name in ("max_tokens", "limit", "most") if name in named), "answer")

    async def _values(self, request: Request, held: Body) -> dict[str, Any]:
        """What the caller gave, by parameter."""
        body = await read_body(request, self._limits, held)
        if self._place.method == "GET":
            if body:
                raise MalformedError("body", "is not read here; give parameters in the query")
            return read_query(request, self._operation)
        if request.query_params:
            raise MalformedError("query", "is not read here; give parameters in the JSON body")
        _check_media_type(request, frozenset({"application/json"}), empty=not body)
        values = await read_json(body, held) if body else {}
        if not isinstance(values, dict):
            raise MalformedError("body", "must be a JSON object of parameters")
        key = request.headers.get(KEY_HEADER)
        if key is not None and any(each.name == "idempotency_key" for each in self._operation.parameters):
            if not _KEY.fullmatch(key):
                raise MalformedError(KEY_HEADER, "must be 1 to 256 visible ASCII characters without blanks")
            if values.get("idempotency_key", key) != key:
                # Each of them fits its description; only together they do not.
                raise InputError("idempotency_key", "differs from the Idempotency-Key header")
            values["idempotency_key"] = key
        return values

    def _bind(self, values: Mapping[str, Any]) -> Any:
        try:
            request = self._operation.bind(values)
        except InputError as error:
            if self._dispatcher.store.redact != "off":
                redact_error(error, values)
            if isinstance(error, UnsaidBySchemaError):
                raise
            raise MalformedError(error.field, error.problem, getattr(error, "valid", ())) from None
        if self._operation.name == "create_bank" and (
            "/" in request["name"] or request["name"] in {".", ".."}
        ):
            raise InputError("name", _NO_PATH)
        return request

    async def _do(
        self,
        finish: Callable[[Mapping[str, Any]], T],
        request: Request,
        grant: Grant,
        bank: str | None,
        bind: Bind,
        *extra: object,
    ) -> T:
        async def left() -> None:
            # The body has been read whole, so the next message can only say that the caller is gone.
            while (await request.receive())["type"] != "http.disconnect":
                pass

        return await self._dispatcher.do(finish, grant, self._operation, bank, bind, *extra, left=left)

    async def _export(self, request: Request, grant: Grant, bank: str | None, bind: Bind) -> Response:
        self._check_plain()
        # Through a file without a name: a slow caller holds no read transaction open, and a failure still
        # has a status of its own.
        with disk_errors(self._dispatcher.store.folder):
            file = tempfile.TemporaryFile(dir=self._dispatcher.store.folder)  # noqa: SIM115
        try:
            answer = await self._do(dict, request, grant, bank, bind, file)
        except BaseException:
            # A worker that still writes finds it closed, and nobody reads what becomes of it.
            file.close()
            raise
        # What an answer counts cannot stand in a body that is a file.
        counts = {
            f"{COUNT_HEADER}{name}": str(value) for name, value in answer.items() if isinstance(value, int)
        }
        return file_response(file, self._operation.media, counts)

    async def _import(self, request: Request, grant: Grant, bank: str | None) -> Response:
        if request.query_params:
            raise MalformedError("query", "is not read here; the body is the export")
        _check_media_type(request, _IMPORTABLE)
        self._check_plain()
        bind = partial(self._bind, {})
        folder, stated = self._dispatcher.store.folder, request.headers.get("content-length", "")
        size = int(stated) if stated.isdecimal() and len(stated) < 20 else 0
        if size <= self._limits.import_bytes:
            check_room(folder, size)
        upload = upload_in(folder)
        path = await asyncio.to_thread(upload.__enter__)
        try:
            with disk_errors(path), path.open("wb") as file:
                await spool_body(request, self._limits, cast("IO[bytes]", Spool(file, folder)))
            return json_response(await self._do(to_json, request, grant, bank, bind, path))
        except InputError as error:
            raise _of_body(error, path) from None
        finally:
            await asyncio.to_thread(upload.__exit__, None, None, None)

    def _check_plain(self) -> None:
        if self._dispatcher.store.encrypted:
            raise InputError(
                "bank",
                "is encrypted, and would lie on the server's disk in plain form meanwhile; "
                "export and import it there by the command line",
            )

    async def _spoken(self, grant: Grant, bank: str | None, bind: Bind) -> Response:
        """An answer as it comes: lines of text, then one with the whole; the status waits for the first."""
        loop, pieces = asyncio.get_running_loop(), asyncio.Queue[str | None]()

        def tell(piece: str) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        job = asyncio.ensure_future(self._dispatcher.do(dict, grant, self._operation, bank, bind, tell))
        job.add_done_callback(lambda _: pieces.put_nowait(None))
        first = await pieces.get()
        if first is None:
            # Nothing was said: a failure has a status of its own.
            job.result()

        async def lines() -> AsyncIterator[Mapping[str, Any]]:
            piece = first
            try:
                while piece is not None:
                    yield {"text": piece}
                    piece = await pieces.get()
                yield {"reflection": await job}
            except Exception as error:  # noqa: BLE001 the status has been sent; the last line tells
                yield {"problem": json.loads(bytes(problem_of(error).body))}
            finally:
                # A caller who left waits for nothing; what runs is finished, its outcome read by nobody.
                job.cancel()

        return lines_response(lines())

    async def _lines(
        self, request: Request, grant: Grant, bank: str | None, values: Mapping[str, Any]
    ) -> Response:
        """Every page, one memory a line; the first page is there before the answer begins."""
        page = await self._do(dict, request, grant, bank, partial(self._bind, values))

        async def lines() -> AsyncIterator[Mapping[str, Any]]:
            current = page
            while True:
                for memory in current["memories"]:
                    yield memory
                if current["next"] is None:
                    return
                bind = partial(self._bind, {**values, "cursor": current["next"]})
                try:
                    current = await self._dispatcher.do(dict, grant, self._operation, bank, bind)
                except Exception as error:  # noqa: BLE001 the status has been sent; the last line tells
                    yield {"problem": json.loads(bytes(problem_of(error).body))}
                    return

        return lines_response(lines())


def _of_body(error: InputError, path: Path) -> InputError:
    """The same of the body, in place of the file that held it, which is not the caller's to know."""
    field = "body" if error.field == "path" else error.field.replace(str(path), "body")
    return InputError(field, error.problem.replace(str(path), "the body"))


def _check_media_type(request: Request, allowed: frozenset[str], *, empty: bool = False) -> None:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise RefusedError(415, f"the body is sent as {encoding}; send it plain, without Content-Encoding")
    stated = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if stated not in allowed and not (empty and not stated):
        raise RefusedError(415, f"the body must be {' or '.join(sorted(allowed))}; state it as Content-Type")
