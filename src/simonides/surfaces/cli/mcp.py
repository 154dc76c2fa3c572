"""`simonides mcp`: the MCP interface of a store, over standard input and output."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from simonides.errors import InputError, MissingExtraError
from simonides.surfaces.cli.configuration import found_value
from simonides.surfaces.cli.opening import (
    environment_embedder,
    environment_heavy_reranker,
    home_folder,
    program_path,
    redaction,
    store_path,
    zone_choice,
)
from simonides.surfaces.cli.options import RedactOption, StoreOption, ToolsOption, ZoneOption, option
from simonides.surfaces.cli.output import print_text, say


def mcp(
    *,
    store: StoreOption = None,
    bank: Annotated[
        str | None,
        option(
            "--bank NAME",
            "The one bank that the client may use; it is made when it is missing.",
            "every bank; default where a call names none",
        ),
    ] = None,
    project: Annotated[
        bool, option("--project", "The client may use one bank: that of the repository that it works on.")
    ] = False,
    read_only: Annotated[bool, option("--read-only", "The client may only read.")] = False,
    compat: Annotated[
        str | None,
        option(
            "--compat SYSTEM",
            "Also accept the tool names of hindsight, memoria, jeffs-brain or engram.",
            False,
        ),
    ] = None,
    tools: ToolsOption = None,
    print_config: Annotated[
        str | None,
        option(
            "--print-config CLIENT", "Print the configuration for claude, cursor or vscode, and exit.", False
        ),
    ] = None,
    redact: RedactOption = None,
    zone: ZoneOption = None,
) -> None:
    """Serve a store to an MCP client over standard input and output; a client starts this itself.

    `simonides serve` offers the same tools over HTTP, at /mcp.
    """
    if print_config is not None:
        options = ["--project"] if project else []
        options += ["--read-only"] if read_only else []
        _print_config(print_config, store, bank, compat, tools, redact, zone, options)
        return
    if project and bank is not None:
        raise InputError("--project", "finds the bank by itself; give it or --bank")
    try:
        from simonides.surfaces.mcp.core import chosen_tools
        from simonides.surfaces.mcp.roots import ProjectBank
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

    chosen_tools(tools, compat)
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
        if project:
            found = ProjectBank(opened, Path.cwd(), home_folder())
            settings = Settings(compat=compat, tools=tools, project=found)
        else:
            settings = Settings(bank or "default", compat, tools=tools)
            opened.bank(bank or "default")
        dispatcher = Dispatcher(opened, Limits())
        try:
            asyncio.run(serve_stdio(dispatcher, grant, settings))
        finally:
            dispatcher.close()


def _print_config(
    client: str,
    store: str | None,
    bank: str | None,
    compat: str | None,
    tools: str | None,
    redact: str | None,
    zone: str | None,
    options: list[str],
) -> None:
    from simonides.surfaces.mcp.client_config import client_config

    arguments = ["mcp", "--store", str(store_path(store).absolute())]
    arguments += ["--bank", bank] if bank else []
    arguments += ["--compat", compat] if compat else []
    arguments += ["--tools", tools] if tools else []
    # The client may start it with other variables; off is the default there, too.
    policy = redaction(redact)
    arguments += ["--redact", policy] if policy != "off" else []
    set_zone = found_value("zone").value if zone is None else zone
    zone_choice(set_zone)
    arguments += ["--zone", set_zone] if set_zone else []
    arguments += options
    where, text = client_config(client, program_path(), arguments)
    print_text(text)
    say(f"goes into {where}")
