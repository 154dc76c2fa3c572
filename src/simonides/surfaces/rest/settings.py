"""What a server is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field

from simonides.surfaces.serving.caretaking import Care
from simonides.surfaces.serving.limits import Limits

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the HTTP interface.

    Attributes:
        hosts: names that a request's ``Host`` may have, without port; what a browser was led to believe by a
            foreign name server is none of them.
        origins: that a browser's request may come from, such as ``https://notes.example``; these get CORS
            headers, too. The server's own origin is always allowed.
        compat: system whose tool names and spellings the MCP interface takes, too.
        care: how the banks are maintained; by default not at all.
        tools: that the MCP interface offers: core or all; ``None`` = core, or all with ``compat``.
    """

    hosts: tuple[str, ...] = LOOPBACK
    origins: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    compat: str | None = None
    care: Care = field(default_factory=Care)
    tools: str | None = None
