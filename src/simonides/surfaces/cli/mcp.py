"""`simonides mcp`: the MCP door of a store, over standard input and output."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from simonides.errors import MissingExtraError
from simonides.surfaces.cli.configuration import found_value
from simonides.surfaces.cli.opening import (
    environment_embedder,
    environment_heavy_reranker,
    redaction,
    store_path,
    zone_choice,
)
from simonides.surfaces.cli.options import RedactOption, StoreOption, ZoneOption
from simonides.surfaces.cli.output import print_text, say


def mcp(
    *,
    store: StoreOption = None,
    bank: Annotated[
        str | None,
        typer.Option(
            "--bank",
            metavar="NAME",
            help="The one bank that the client may use; it is made when it is missing.",
            show_default="every bank; default where a call names none",
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Let the client read, and neither write nor forget.")
    ] = False,
    compat: Annotated[
        str | None,
        typer.Option(
            "--compat",
            metavar="SYSTEM",
            help="Also take tool names and spellings of hindsight, memoria, jeffs-brain or engram.",
            show_default=False,
        ),
    ] = None,
    print_config: Annotated[
        str | None,
        typer.Option(
            "--print-config",
            metavar="CLIENT",
            help="Print what to put into the configuration of claude, cursor or vscode, and end.",
            show_default=False,
        ),
    ] = None,
    redact: RedactOption = None,
    zone: ZoneOption = None,
) -> None:
    """Serve a store to an MCP client over standard input and output; a client starts this itself.

    `simonides serve` has the same door at /mcp, for clients elsewhere.
    """
    if print_config is not None:
        _print_config(print_config, store, bank, compat, redact, zone, read_only=read_only)
        return
    try:
        from simonides.surfaces.mcp.compat import tools_for
        from simonides.surfaces.mcp.server import Settings
        from simonides.surfaces.mcp.stdio import serve_stdio
    except ImportError as error:
        raise MissingExtraError(
            f"{error.name} is not installed; install it with: pip install 'simonides[mcp]'"
        ) from error
    import asyncio

    from simonides.store import open_store
    from simonides.surfaces.cli.language_model import environment_model
    from simonides.surfaces.operations.table import Verb
    from simonides.surfaces.serving.dispatching import Dispatcher
    from simonides.surfaces.serving.grants import LOCAL
    from simonides.surfaces.serving.limits import Limits

    tools_for(compat)
    grant = LOCAL if bank is None else replace(LOCAL, banks=(bank,))
    if read_only:
        grant = replace(grant, verbs=frozenset({Verb.READ}))
    with open_store(
        store_path(store),
        embedder=environment_embedder(),
        answerer=environment_model(),
        heavy_reranker=environment_heavy_reranker(),
        redact=redaction(redact),
        **zone_choice(zone),
        warm=True,
    ) as opened:
        opened.bank(bank or "default")
        dispatcher = Dispatcher(opened, Limits())
        try:
            asyncio.run(serve_stdio(dispatcher, grant, Settings(bank or "default", compat)))
        finally:
            dispatcher.close()


def _print_config(
    client: str,
    store: str | None,
    bank: str | None,
    compat: str | None,
    redact: str | None,
    zone: str | None,
    *,
    read_only: bool,
) -> None:
    from simonides.surfaces.mcp.client_config import client_config

    # The whole path, since a client starts programs with a search path of its own.
    program = shutil.which("simonides") or str(Path(sys.executable).with_name("simonides"))
    arguments = ["mcp", "--store", str(store_path(store).absolute())]
    arguments += ["--bank", bank] if bank else []
    arguments += ["--compat", compat] if compat else []
    # The client may start it with other variables; off is the default there, too.
    policy = redaction(redact)
    arguments += ["--redact", policy] if policy != "off" else []
    set_zone = found_value("zone").value if zone is None else zone
    zone_choice(set_zone)
    arguments += ["--zone", set_zone] if set_zone else []
    arguments += ["--read-only"] if read_only else []
    where, text = client_config(client, program, arguments)
    print_text(text)
    say(f"goes into {where}")
