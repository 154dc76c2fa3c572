"""Options that several commands share, declared once."""

from typing import Annotated, Any

import typer


def option(name: str, about: str, default: str | bool = True, **more: Any) -> Any:  # noqa: FBT001, FBT002 as Typer
    """A Typer option: ``--name METAVAR``, its help, and what help shows as its default; False = nothing."""
    flag, _, metavar = name.partition(" ")
    return typer.Option(flag, metavar=metavar or None, help=about, show_default=default, **more)


StoreOption = Annotated[
    str | None,
    option(
        "--store PATH",
        "Folder that holds the banks.  [default: the user's data folder]",
        False,
        envvar="SIMONIDES_STORE",
    ),
]
BankOption = Annotated[str, option("--bank NAME", "Bank to use.", envvar="SIMONIDES_BANK")]
RedactOption = Annotated[
    str | None,
    option(
        "--redact HOW",
        "Secrets in stored texts: off (kept as they are), mask, or refuse.",
        "off",
        envvar="SIMONIDES_REDACT",
    ),
]
ToolsOption = Annotated[
    str | None,
    option(
        "--tools SET",
        "MCP tools to offer: core (what an agent needs, 1,600 tokens) or all.",
        "core; all with --compat",
    ),
]
ZoneOption = Annotated[
    str | None,
    option(
        "--zone ZONE",
        "Time zone of times without one, such as Europe/Berlin.  "
        "[default: the bank's, SIMONIDES_ZONE, the system's]",
        False,
    ),
]
JsonOption = Annotated[bool, option("--json", "Print one JSON object instead of text.")]
ProfileOption = Annotated[
    str, option("--profile NAME", "Profile that ranks; see `simonides profiles`.", envvar="SIMONIDES_PROFILE")
]
ContextTokensOption = Annotated[int | None, option("--max-tokens N", "Token budget of the context.", "4096")]
PrecisionOption = Annotated[
    str | None,
    option(
        "--precision LEVEL", "Which hits to return: high (the surest), balanced, or wide (all).", "balanced"
    ),
]


def given(**values: Any) -> dict[str, Any]:
    """The options that the caller gave, so that each default lives in the engine alone."""
    return {name: value for name, value in values.items() if value is not None and value != []}
