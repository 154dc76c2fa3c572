"""`simonides alias`: let another name stand for an entity."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, EntityArgument, JsonOption, RedactOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text


def alias(
    entity: EntityArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The other name.")],
    *,
    redact: RedactOption = None,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Add another name of an entity, used from now on; exit code 1 when there is no such entity."""
    with open_for_reading(store, bank, redact=redact) as opened:
        try:
            opened.add_alias(entity, name)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json({"entity": entity, "alias": name})
    else:
        print_text(f"{name} is now a name of entity {entity}")
