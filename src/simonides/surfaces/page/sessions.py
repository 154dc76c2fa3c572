"""Who is signed in to the page: sessions in memory, each with the grant of a token or of the owner.

A browser has a cookie instead of a token. The cookie cannot be read by scripts (HttpOnly) and is not sent
with requests from other sites (SameSite=Strict). Pages from other ports of the same host are the same site to
a browser, so a request with a cookie must come from the page itself, by what the browser says of it
(Sec-Fetch-Site), and one that may change something must carry the session's second secret in a header, which
only the page can read.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simonides.surfaces.rest.problems import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.datastructures import Headers

    from simonides.surfaces.serving.grants import Grant

COOKIE = "simonides_ui_"
"""With the port, since cookies of one host are sent to all its ports."""
CSRF_HEADER = "x-csrf-token"
SAFE = frozenset({"GET", "HEAD"})
_IDLE = 12 * 3_600 * 1_000_000
"""Microseconds after which a session that nobody uses ends."""
_LINK = 10 * 60 * 1_000_000
"""Microseconds in which a link must be opened."""
_MOST = 1_000
_FROM_THE_PAGE = frozenset({"same-origin", "none"})


@dataclass(slots=True)
class Session:
    """One browser.

    Attributes:
        find: its grant now; ``None`` = its token was revoked or has expired.
        csrf: what requests that may change something carry in a header.
        seen: when it was used last, microseconds UTC.
    """

    find: Callable[[], Grant | None]
    csrf: str
    seen: int


@dataclass(slots=True)
class Sessions:
    """The sessions of one server. For its event loop alone; *clock* gives microseconds UTC.

    Attributes:
        find: the grant of a token, or ``None``.
    """

    find: Callable[[str], Grant | None]
    clock: Callable[[], int]
    _open: dict[str, Session] = field(default_factory=dict)
    _links: dict[str, tuple[int, Grant]] = field(default_factory=dict)

    def link(self, grant: Grant) -> str:
        """A code that signs one browser in, once, within ten minutes."""
        code = secrets.token_urlsafe(32)
        self._links[code] = (self.clock() + _LINK, grant)
        return code

    def enter(self, code: str) -> str | None:
        """The cookie of a new session for a code; ``None`` where the code was used or is too old."""
        ends, grant = self._links.pop(code, (0, None))
        return None if grant is None or ends < self.clock() else self._begin(lambda: grant)

    def enter_with(self, token: str) -> str | None:
        """The cookie of a new session for a token; ``None`` where no such token counts."""
        return None if self.find(token) is None else self._begin(lambda: self.find(token))

    def leave(self, cookie: str) -> None:
        """End a session."""
        self._open.pop(cookie, None)

    def get(self, headers: Headers, port: int) -> tuple[str, Session] | None:
        """The cookie of a request and its session, if there is one."""
        name, now = f"{COOKIE}{port}=", self.clock()
        for part in headers.get("cookie", "").split(";"):
            cookie = part.strip().removeprefix(name)
            session = self._open.get(cookie) if part.strip().startswith(name) else None
            if session and session.seen + _IDLE > now:
                session.seen = now
                return cookie, session
        return None

    def grant_of(self, method: str, headers: Headers, port: int) -> Grant | None:
        """The grant of a request that has a cookie in place of a token; ``None`` where it has none.

        Raises:
            RefusedError: another page sends it, or one that may change something lacks the header.
        """
        found = self.get(headers, port)
        if found is None:
            return None
        if headers.get("sec-fetch-site", "same-origin") not in _FROM_THE_PAGE:
            raise RefusedError(403, "another page sends this with the cookie of /ui; send a token instead")
        sent = headers.get(CSRF_HEADER, "").encode()
        if method not in SAFE and not secrets.compare_digest(sent, found[1].csrf.encode()):
            raise RefusedError(
                403, f"the header {CSRF_HEADER} is missing or wrong; load the page again, or send a token"
            )
        return found[1].find()

    def _begin(self, find: Callable[[], Grant | None]) -> str:
        while len(self._open) >= _MOST:
            self._open.pop(min(self._open, key=lambda each: (self._open[each].seen, each)))
        cookie = secrets.token_urlsafe(32)
        self._open[cookie] = Session(find, secrets.token_urlsafe(32), self.clock())
        return cookie
