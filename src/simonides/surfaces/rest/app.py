"""The HTTP app: one route per operation, health, version, metrics, and the OpenAPI document.

    with simonides.open("memories") as store:
        app = make_app(store, Settings())      # any ASGI server runs it

The app refuses new work and finishes what has begun when it is shut down; the store is its caller's to close.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request  # noqa: TC002 FastAPI reads the annotation
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route

import simonides
from simonides.deprecations import OPERATIONS as OLD_OPERATIONS
from simonides.retain.redacted_errors import hidden
from simonides.storage.folder import sweep_store
from simonides.surfaces.operations.table import OPERATIONS, Verb
from simonides.surfaces.page.routes import add_page
from simonides.surfaces.page.sessions import Sessions
from simonides.surfaces.rest.disk import disk_problems
from simonides.surfaces.rest.document import completed, described, problems
from simonides.surfaces.rest.guard import GRANT, LIVE, Guard
from simonides.surfaces.rest.handlers import deprecated, handler_of
from simonides.surfaces.rest.metrics import MEDIA_TYPE, Metrics
from simonides.surfaces.rest.paths import old_place_of, place_of
from simonides.surfaces.rest.problems import problem, problem_of
from simonides.surfaces.rest.settings import Settings
from simonides.surfaces.serving.caretaking import Caretaker
from simonides.surfaces.serving.dispatching import Dispatcher
from simonides.surfaces.serving.grants import ForbiddenError
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simonides.store import Store
    from simonides.surfaces.mcp.http import McpApp
    from simonides.surfaces.serving.grants import Grant

MCP_PATH = "/mcp"
_PLAIN: dict[str, Any] = {"responses": problems(), "security": [{"token": []}]}


def make_app(store: Store, settings: Settings | None = None) -> FastAPI:
    """The app of one store; *settings* are hosts, origins and limits, by default for loopback.

    ``app.state.dispatcher`` does operations for whatever is mounted beside the routes, ``app.state.sessions``
    are the browsers that are signed in to the page, and
    ``scope["state"][guard.GRANT]`` is the grant of each request.
    """
    settings = settings or Settings()
    dispatcher = Dispatcher(store, settings.limits)
    metrics = Metrics(dispatcher)
    tokens = TokenStore(store.folder)
    mcp = _mcp_door(dispatcher, settings)
    caretaker = Caretaker(store, dispatcher.banks, settings.care, metrics.maintained)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # The embedder is loaded meanwhile: until it is there, work that needs it waits for it.
        loading = asyncio.get_running_loop().run_in_executor(None, lambda: store.embedder)
        await asyncio.to_thread(sweep_store, store.folder)
        caretaker.start()
        try:
            async with mcp.running() if mcp else nullcontext():
                yield
        finally:
            await asyncio.to_thread(caretaker.close)
            await asyncio.to_thread(dispatcher.close)
            await asyncio.wait([loading])
            tokens.close()

    app = FastAPI(
        title="simonides",
        version=simonides.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.state.dispatcher = dispatcher
    for name, operation in OPERATIONS.items():
        place = place_of(name)
        app.add_api_route(
            place.path,
            handler_of(operation, place, dispatcher, metrics),
            methods=[place.method],
            name=name,
            summary=operation.help,
            response_class=Response,
            response_model=None,
            openapi_extra=described(operation, place),
        )
    for old, name in OLD_OPERATIONS.items():
        place = old_place_of(old)
        handle = deprecated(handler_of(OPERATIONS[name], place, dispatcher, metrics), place_of(name))
        app.add_api_route(place.path, handle, methods=[place.method], name=old, include_in_schema=False)
    _add_own_routes(app, dispatcher, metrics)
    if mcp:
        app.router.routes.append(Route(MCP_PATH, mcp, include_in_schema=False))
    app.add_exception_handler(HTTPException, _as_problem)
    app.add_exception_handler(ForbiddenError, lambda _, error: problem_of(error))
    app.add_exception_handler(Exception, lambda _, error: problem_of(error))

    def find(token: str) -> Grant | None:
        return tokens.find(token, time.time_ns() // 1_000)

    sessions = Sessions(find, lambda: time.time_ns() // 1_000)
    app.state.sessions = sessions
    add_page(app, sessions, GRANT, lambda grant: [name for name in store.list_banks() if grant.covers(name)])
    app.add_middleware(
        Guard,
        settings=settings,
        find=find,
        sessions=sessions,
        refused=lambda status: metrics.count("-", status),
    )
    if settings.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(settings.origins), allow_methods=["*"], allow_headers=["*"]
        )
    return app


def _mcp_door(dispatcher: Dispatcher, settings: Settings) -> McpApp | None:
    """The MCP interface, where its package is installed."""
    if find_spec("mcp") is None:
        return None
    from simonides.surfaces.mcp.http import McpApp  # noqa: PLC0415 an extra of its own
    from simonides.surfaces.mcp.server import Settings as McpSettings  # noqa: PLC0415 see above

    return McpApp(dispatcher, McpSettings(compat=settings.compat, tools=settings.tools))


def _add_own_routes(app: FastAPI, dispatcher: Dispatcher, metrics: Metrics) -> None:
    """Routes that are about the server and no bank."""

    @app.get(LIVE, summary="Whether the process answers; needs no token.")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    @app.get("/health/ready", summary="Whether it can work, and what works less well.", openapi_extra=_PLAIN)
    async def ready(request: Request) -> Response:
        grant: Grant = request.scope["state"][GRANT]
        return await asyncio.to_thread(_readiness, dispatcher, grant)

    @app.get("/version", summary="The version.", openapi_extra=_PLAIN)
    async def version() -> dict[str, str]:
        return {"version": simonides.__version__}

    @app.get("/metrics", summary="For Prometheus.", response_class=Response, openapi_extra=_PLAIN)
    async def numbers(request: Request) -> Response:
        grant: Grant = request.scope["state"][GRANT]
        grant.check_metrics()
        return Response(metrics.page(), media_type=MEDIA_TYPE)

    @app.get("/openapi.json", summary="This document.", openapi_extra=_PLAIN)
    async def document() -> dict[str, Any]:
        return openapi_document(app)


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an app."""
    return completed(app.openapi())


def _readiness(dispatcher: Dispatcher, grant: Grant) -> Response:
    degraded = []
    if why := dispatcher.store.embedder_problem:
        # It may name a folder of the machine, or the address of a model's server.
        told = why if Verb.ADMIN in grant.verbs else "it cannot be used; tokens that allow admin are told why"
        degraded.append(f"embedder: {told}")
    if dispatcher.closing:
        return problem(503, "the server is stopping", headers={"Retry-After": "10"})
    if not dispatcher.store.folder.is_dir():
        return problem(503, "the store's folder is gone", headers={"Retry-After": "5"})
    degraded += disk_problems(dispatcher.store.folder)
    if replaced := len(dispatcher.store.replaced_banks()):
        degraded.append(f"banks: the files of {replaced} were moved away or replaced; put them back")
    return JSONResponse({"status": "degraded" if degraded else "ready", "degraded": degraded})


async def _as_problem(request: Request, error: Exception) -> Response:
    """What the router refuses: no such path, or no such method there."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    if request.app.state.dispatcher.store.redact != "off":
        path = hidden(path)
    detail = f"{request.method} {path}: {error.detail}; see /openapi.json"
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # The router knows of one route only; another may have the same path.
        found = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
        headers["Allow"] = ", ".join(sorted({method for route in found for method in route.methods}))
    return problem(error.status_code, detail, headers=headers)
