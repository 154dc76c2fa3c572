"""Options that several commands share, declared once."""

from typing import Annotated, Any

import typer

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        envvar="SIMONIDES_STORE",
        help="Folder that holds the banks.  [default: the user's data folder]",
        show_default=False,
    ),
]
BankOption = Annotated[
    str, typer.Option("--bank", metavar="NAME", envvar="SIMONIDES_BANK", help="Bank to use.")
]
RedactOption = Annotated[
    str | None,
    typer.Option(
        "--redact",
        metavar="HOW",
        envvar="SIMONIDES_REDACT",
        help="Secrets in stored texts: off (kept as they are), mask, or refuse.",
        show_default="off",
    ),
]
ToolsOption = Annotated[
    str | None,
    typer.Option(
        "--tools",
        metavar="SET",
        help="MCP tools to offer: core (what an agent needs, 1,600 tokens) or all.",
        show_default="core; all with --compat",
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone",
        metavar="ZONE",
        help="Time zone of times without one, such as Europe/Berlin.  "
        "[default: the bank's, SIMONIDES_ZONE, the system's]",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME",
        envvar="SIMONIDES_PROFILE",
        help="Profile that ranks; see `simonides profiles`.",
    ),
]
ContextTokensOption = Annotated[
    int | None,
    typer.Option("--max-tokens", metavar="N", help="Token budget of the context.", show_default="4096"),
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="LEVEL",
        help="Which hits to return: high (the surest), balanced, or wide (all).",
        show_default="balanced",
    ),
]


def given(**values: Any) -> dict[str, Any]:
    """The options that the caller gave, so that each default lives in the engine alone."""
    return {name: value for name, value in values.items() if value is not None and value != []}
