"""Options that several commands share, declared once."""

from typing import Annotated, Any

import typer

from simonides.records.kind import Kind

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
KindsOption = Annotated[
    list[Kind] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help=f"Only this kind (repeatable): {', '.join(Kind)}.",
        show_default=False,
    ),
]
TagsOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag (repeatable).", show_default=False)
]
ProjectOption = Annotated[
    str | None, typer.Option("--project", metavar="NAME", help="Name of the project.", show_default=False)
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--types",
        metavar="TYPE",
        help="Only this type (repeatable): world, experience, observation.",
        show_default=False,
    ),
]
TagsMatchOption = Annotated[
    str | None,
    typer.Option(
        "--tags-match",
        metavar="HOW",
        help="How tags must match: any, any_strict, all, all_strict, exact.",
        show_default="any",
    ),
]
FromOption = Annotated[
    str | None, typer.Option("--from", metavar="TIME", help="Only what happened from then on.")
]
ToOption = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only what happened before then.")]
ValidFromOption = Annotated[
    str | None, typer.Option("--valid-from", metavar="TIME", help="From when it is true.")
]
ValidToOption = Annotated[
    str | None, typer.Option("--valid-to", metavar="TIME", help="Until when it is true (not included).")
]
AclOption = Annotated[
    list[str] | None,
    typer.Option("--acl", metavar="PRINCIPAL", help="Who may read it (repeatable); everyone if not given."),
]
TtlOption = Annotated[
    str | None,
    typer.Option(
        "--ttl",
        metavar="TIME",
        help="How long it lives, such as 45m, 12h, 30d or 2w, or never.",
        show_default="the bank's",
    ),
]
OnExpiryOption = Annotated[
    str | None,
    typer.Option(
        "--on-expiry",
        metavar="WHAT",
        help="What becomes of it then: archive, or erase.",
        show_default="archive",
    ),
]
SourceOption = Annotated[str | None, typer.Option("--source", metavar="NAME", help="Where it comes from.")]
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
EntityArgument = Annotated[
    int, typer.Argument(metavar="ENTITY", help="Number of an entity, as entities prints it.")
]


def given(**values: Any) -> dict[str, Any]:
    """The options that the caller gave, so that each default lives in the engine alone."""
    return {name: value for name, value in values.items() if value is not None and value != []}
