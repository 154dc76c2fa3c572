"""The routes of the page: its files, signing in and out, and what the browser may do.

    GET  /ui                the page; its files below /ui/
    GET  /ui/enter?code=…   opened from a terminal: signs in, once
    POST /ui/enter          signs in with a token: {"token": "smn_…"}
    GET  /ui/session        who is signed in, what the token allows, and the operations with their options
    POST /ui/leave          signs out

Everything else the page does is an operation of the public HTTP interface.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.requests import Request  # noqa: TC002 FastAPI reads the annotation
from starlette.responses import JSONResponse, RedirectResponse, Response

import simonides
from simonides.surfaces.operations.table import OPERATIONS
from simonides.surfaces.page.sessions import COOKIE
from simonides.surfaces.rest.paths import place_of
from simonides.surfaces.rest.problems import RefusedError, problem_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastapi import FastAPI

    from simonides.surfaces.page.sessions import Sessions
    from simonides.surfaces.serving.grants import Grant

PAGE = "/ui"
ENTER = f"{PAGE}/enter"
SESSION = f"{PAGE}/session"
LEAVE = f"{PAGE}/leave"
_STATIC = files(__package__).joinpath("static")
_ENDING = frozenset({".html", ".css", ".js", ".svg"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_LONGEST_TOKEN = 4_096


def is_public(path: str) -> bool:
    """Whether a path of the page needs no one to be signed in: its files, which hold no memory."""
    return path == PAGE or (path.startswith(f"{PAGE}/") and path not in {SESSION, LEAVE})


def add_page(app: FastAPI, sessions: Sessions, grant_key: str, banks: Callable[[Grant], list[str]]) -> None:
    """Add the routes of the page; *banks* names those that a grant covers."""

    @app.get(ENTER, include_in_schema=False)
    async def enter(request: Request) -> Response:
        cookie = sessions.enter(request.query_params.get("code", ""))
        if cookie is None:
            return RedirectResponse(f"{PAGE}?link=used", 303, HEADERS)
        return _signed_in(RedirectResponse(PAGE, 303, HEADERS), request, cookie)

    @app.post(ENTER, include_in_schema=False)
    async def enter_with(request: Request) -> Response:
        body = await _short_json(request)
        token = body.get("token") if isinstance(body, dict) else None
        cookie = sessions.enter_with(token.strip()) if isinstance(token, str) else None
        if cookie is None:
            error = RefusedError(401, "this token does not count here; make one with: simonides token create")
            return problem_of(error)
        return _signed_in(JSONResponse({}, headers=HEADERS), request, cookie)

    @app.get(SESSION, include_in_schema=False)
    async def session(request: Request) -> Response:
        grant: Grant = request.scope["state"][grant_key]
        found = sessions.get(request.headers, port_of(request.scope))
        told = {
            "version": simonides.__version__,
            "name": grant.name,
            "principal": grant.principal,
            "verbs": sorted(grant.verbs),
            "banks": await asyncio.to_thread(banks, grant),
            "csrf": found[1].csrf if found else "",
            "operations": operations_of(),
        }
        return JSONResponse(told, headers={**HEADERS, "Cache-Control": "no-store"})

    @app.post(LEAVE, include_in_schema=False)
    async def leave(request: Request) -> Response:
        found = sessions.get(request.headers, port_of(request.scope))
        if found:
            sessions.leave(found[0])
        response = JSONResponse({}, headers=HEADERS)
        response.delete_cookie(f"{COOKIE}{port_of(request.scope)}", path="/")
        return response

    @app.get(PAGE, include_in_schema=False)
    @app.get(f"{PAGE}/", include_in_schema=False)
    async def page() -> Response:
        return _page("index.html")

    @app.get(f"{PAGE}/{{name:path}}", include_in_schema=False)
    async def part(name: str) -> Response:
        return _page(name)


@cache
def static_files() -> dict[str, bytes]:
    """Every file of the page, by its path below /ui/."""
    found: dict[str, bytes] = {}
    folders = [("", _STATIC)]
    while folders:
        place, folder = folders.pop()
        for each in folder.iterdir():
            if each.is_dir():
                folders.append((f"{place}{each.name}/", each))
            elif each.name[each.name.rfind(".") :] in _ENDING:
                found[f"{place}{each.name}"] = each.read_bytes()
    return dict(sorted(found.items()))


def _page(name: str) -> Response:
    body = static_files().get(name)
    if body is None:
        return problem_of(RefusedError(404, f"the page has no file {name!r}; it begins at {PAGE}"))
    media = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(body, headers=HEADERS, media_type=media)


@cache
def operations_of() -> dict[str, Any]:
    """What the page needs of each operation: where it is found, what it needs, and its options."""
    found = {}
    for name, operation in OPERATIONS.items():
        place = place_of(name)
        found[name] = {
            "method": place.method,
            "path": place.path,
            "verbs": list(operation.verbs),
            "owner_only": operation.owner_only,
            "help": operation.help,
            "schema": operation.schema,
        }
    return found


def _signed_in(response: Response, request: Request, cookie: str) -> Response:
    secure = request.url.scheme == "https"
    response.set_cookie(
        f"{COOKIE}{port_of(request.scope)}", cookie, path="/", httponly=True, samesite="strict", secure=secure
    )
    return response


def port_of(scope: Mapping[str, Any]) -> int:
    """The port that a request came to; 0 = not known."""
    server = scope.get("server") or ("", 0)
    return int(server[1] or 0)


async def _short_json(request: Request) -> Any:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST_TOKEN:
            return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
