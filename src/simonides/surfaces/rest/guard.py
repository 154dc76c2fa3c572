"""What stands before every route: Host, Origin, token. Only liveness and the files of the page need no token.

Host not in the list              421   (a foreign name server cannot lead a browser here)
an Origin that is not in the list 403
a header stated twice             400   (those that decide something: two readers may take another)
no token, or none that counts     401

A request keeps its place in the limits until its answer is sent, and an answer is sent in parts, so that only
one part of it waits in the connection of a caller who does not read.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from simonides.surfaces.page.routes import is_public
from simonides.surfaces.rest.problems import RefusedError, problem_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from simonides.surfaces.page.sessions import Sessions
    from simonides.surfaces.rest.settings import Settings
    from simonides.surfaces.serving.grants import Grant

LIVE = "/health/live"
GRANT = "simonides.grant"
"""Key of the caller's grant in the ASGI scope's state."""
UNTIL_SENT = "simonides.until_sent"
"""Key of an ``ExitStack`` in the ASGI scope's state; what is entered there ends when the answer is sent."""
ONCE = frozenset(
    {
        *("authorization", "content-length", "content-type", "host", "idempotency-key", "origin"),
        "transfer-encoding",
    }
)
"""Headers that a request states once at most."""
_PART = 64 * 1024


class Guard:
    """ASGI middleware; sets ``scope["state"][GRANT]`` for the app behind it, mounted ones included.

    *find* gives the grant of a token, or ``None``; *sessions* those of browsers, which have a cookie instead;
    *refused* gets the status of each refusal.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        find: Callable[[str], Grant | None],
        sessions: Sessions,
        refused: Callable[[int], None],
    ) -> None:
        self._app = app
        self._settings = settings
        self._find = find
        self._sessions = sessions
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # No interface takes websockets; refused before the handshake.
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            grant = self._check(scope, Headers(scope=scope))
        except RefusedError as error:
            self._refused(error.status)
            await problem_of(error)(scope, receive, send)
            return
        with ExitStack() as until_sent:
            scope.setdefault("state", {}).update({GRANT: grant, UNTIL_SENT: until_sent})
            await self._app(scope, receive, _in_parts(send))

    def _check(self, scope: Scope, headers: Headers) -> Grant | None:
        hosts = headers.getlist("host")
        name = _host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None or name not in self._settings.hosts:
            raise RefusedError(421, "the Host header names another server; see the server's allowed hosts")
        own = f"{scope['scheme']}://{hosts[0]}"
        if not all(self._may_come_from(origin, own) for origin in headers.getlist("origin")):
            raise RefusedError(403, "pages of this origin may not ask here; see the server's allowed origins")
        for repeated in sorted(ONCE):
            if len(headers.getlist(repeated)) > 1:
                raise RefusedError(400, f"the header {repeated} is stated more than once; state it once")
        if scope["path"] == LIVE or is_public(scope["path"]):
            return None
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            grant = self._find(token.strip())
        else:
            grant = self._sessions.grant_of(
                scope["method"], headers, (scope.get("server") or ("", 0))[1] or 0
            )
        if grant is None:
            raise RefusedError(
                401,
                "missing or invalid token; send the header Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )
        return grant

    def _may_come_from(self, origin: str, own: str) -> bool:
        return origin == own or origin in self._settings.origins


def _in_parts(send: Send) -> Send:
    """Sends a body part by part: a server waits between two parts until the caller has read."""

    async def sent(message: Message) -> None:
        body = message.get("body", b"")
        if message["type"] != "http.response.body" or len(body) <= _PART:
            await send(message)
            return
        more = message.get("more_body", False)
        for at in range(0, len(body), _PART):
            last = at + _PART >= len(body)
            await send({**message, "body": body[at : at + _PART], "more_body": more or not last})

    return sent


def _host_name(host: str) -> str | None:
    """The name in a Host header, lower case, without port; ``None`` where it is none."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    bare = parts.netloc == host and not parts.path and "@" not in host
    return parts.hostname if bare else None
