"""`simonides serve`: the HTTP interface of a store."""

import shlex
import sys
import time
from typing import TYPE_CHECKING, Annotated

from simonides.errors import InputError, MissingExtraError
from simonides.surfaces.cli.configuration import SETTINGS, option_of
from simonides.surfaces.cli.opening import (
    environment_embedder,
    environment_heavy_reranker,
    redaction,
    store_path,
    zone_choice,
)
from simonides.surfaces.cli.options import RedactOption, StoreOption, ToolsOption, ZoneOption, option
from simonides.surfaces.cli.output import print_text

if TYPE_CHECKING:
    from socket import socket

    from fastapi import FastAPI

    from simonides.surfaces.rest.settings import Settings

_BACKLOG = 2048
_DEFAULTS = {
    key.partition(".")[2]: each.default for key, each in SETTINGS.items() if key.startswith("serve.")
}


def serve(
    *,
    host: Annotated[str, option_of("serve.host", "ADDRESS")] = _DEFAULTS["host"],
    port: Annotated[int, option_of("serve.port", "N", min=0, max=65535)] = _DEFAULTS["port"],
    allow_host: Annotated[list[str] | None, option_of("serve.allow_host", "NAME")] = None,
    allow_origin: Annotated[list[str] | None, option_of("serve.allow_origin", "URL")] = None,
    workers: Annotated[int, option_of("serve.workers", "N", min=1)] = _DEFAULTS["workers"],
    queue: Annotated[int, option_of("serve.queue", "N", min=0)] = _DEFAULTS["queue"],
    open_banks: Annotated[int, option_of("serve.open_banks", "N", min=1)] = _DEFAULTS["open_banks"],
    maintain_every: Annotated[int, option_of("serve.maintain_every", "MINUTES", min=0)] = _DEFAULTS[
        "maintain_every"
    ],
    maintain_steps: Annotated[int, option_of("serve.maintain_steps", "N", min=1)] = _DEFAULTS[
        "maintain_steps"
    ],
    maintain_profile: Annotated[str, option_of("serve.maintain_profile", "NAME")] = _DEFAULTS[
        "maintain_profile"
    ],
    compat: Annotated[
        str | None,
        option(
            "--compat SYSTEM",
            "At /mcp also accept the tool names of hindsight, memoria, jeffs-brain or engram.",
            False,
        ),
    ] = None,
    tools: ToolsOption = None,
    redact: RedactOption = None,
    zone: ZoneOption = None,
    store: StoreOption = None,
    bank: Annotated[
        str, option("--bank NAME", "Bank that the first token is for.", envvar="SIMONIDES_BANK")
    ] = "default",
) -> None:
    """Serve a store over HTTP, and its page at /ui; every request but /health/live needs a token.

    The first start makes the bank and a token for it, printed once and kept in a file of mode 0600.
    """
    check_extra()
    from simonides.store import open_store
    from simonides.surfaces.cli.language_model import environment_model
    from simonides.surfaces.rest.app import make_app
    from simonides.surfaces.rest.settings import LOOPBACK, Settings
    from simonides.surfaces.serving.caretaking import Care
    from simonides.surfaces.serving.limits import Limits
    from simonides.surfaces.serving.tokens import first_token

    if host not in LOOPBACK and not allow_host:
        raise InputError("--host", f"{host!r} is open to others; say by which name with --allow-host NAME")
    settings = Settings(
        (*LOOPBACK, *(name.lower() for name in allow_host or ())),
        tuple(allow_origin or ()),
        Limits(workers=workers, queue=queue, open_banks=open_banks),
        compat,
        Care(maintain_every, maintain_steps, maintain_profile),
        tools,
    )
    with open_store(
        store_path(store),
        embedder=environment_embedder(),
        answerer=environment_model(),
        heavy_reranker=environment_heavy_reranker(),
        redact=redaction(redact),
        **zone_choice(zone),
        warm=True,
    ) as opened:
        # Opened now, so that the first request finds it warm; made where it is missing.
        opened.bank(bank)
        first = first_token(opened.folder, bank, time.time_ns() // 1_000)
        # Listening before the address is printed, so that whoever reads it can connect.
        with listen_at(host, port) as listening:
            print_text(f"{address_of(host, listening)} serves {opened.folder}")
            if first:
                print_text(f"token for bank {bank!r}: {first[0]}\nkept in {first[1]}; shown this once")
            else:
                print_text(
                    f"tokens exist already: simonides token list --store {shlex.quote(str(opened.folder))}"
                )
            run_server(make_app(opened, settings), settings, listening)


def check_extra() -> None:
    """Raise ``MissingExtraError`` where the packages of a server are not installed."""
    try:
        import simonides.surfaces.rest.app
        import simonides.surfaces.serving.connections  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"{error.name} is not installed; install it with: pip install 'simonides[server]'"
        ) from error


def run_server(app: "FastAPI", settings: "Settings", listening: "socket") -> None:
    """Serve until a signal ends it."""
    import signal

    from simonides.surfaces.serving.connections import server_of
    from simonides.surfaces.serving.listening import share_fairly
    from simonides.surfaces.serving.log_rate import limit_log_rate

    server = server_of(app, settings.limits)
    share_fairly()
    limit_log_rate()
    # uvicorn raises the signal again once its requests are done; the store is to be closed, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server.run(sockets=[listening])


def address_of(host: str, listening: "socket") -> str:
    """The URL of a server, without a slash at the end."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def listen_at(host: str, port: int) -> "socket":
    """The socket of the server."""
    import errno

    from simonides.surfaces.serving.listening import listen

    try:
        return listen(host, port, backlog=_BACKLOG)
    except OSError as error:
        problems = {errno.EADDRINUSE: "is in use", errno.EACCES: "is not allowed to this user"}
        if error.errno not in problems:
            raise
        raise InputError(
            "--port", f"{port} on {host} {problems[error.errno]}; give another, or 0 for any that is free"
        ) from error
