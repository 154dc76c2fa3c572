"""`simonides config`: what the settings are, and where each comes from."""

import typer

from simonides.surfaces.cli.options import JsonOption
from simonides.surfaces.cli.output import print_json, print_table, printable, table

config = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@config.callback()
def _config() -> None:
    """Show the settings: option > SIMONIDES_* > simonides.toml > default."""


@config.command()
def show(*, as_json: JsonOption = False) -> None:
    """Show every setting, its value, and where it comes from."""
    from simonides.surfaces.cli.configuration import every_value

    values = every_value()
    if as_json:
        print_json(
            {
                "settings": [
                    {"key": each.setting.key, "value": each.value, "origin": each.origin} for each in values
                ]
            }
        )
        return
    rows = table("setting", "value", "from")
    for each in values:
        written = " ".join(each.value) if isinstance(each.value, list) else each.value
        rows.add_row(each.setting.key, printable("-" if written in (None, "") else str(written)), each.origin)
    print_table(rows)
