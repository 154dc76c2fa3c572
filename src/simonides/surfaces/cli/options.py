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
    str | None, typer.Option("--project", metavar="NAME", help="Project.", show_default=False)
]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME",
        envvar="SIMONIDES_PROFILE",
        help="Profile that ranks; see `simonides profiles`.",
    ),
]
EntityArgument = Annotated[
    int, typer.Argument(metavar="ENTITY", help="Number of an entity, as entities prints it.")
]


def given(**values: Any) -> dict[str, Any]:
    """The options that the caller gave, so that each default lives in the engine alone."""
    return {name: value for name, value in values.items() if value is not None and value != []}
