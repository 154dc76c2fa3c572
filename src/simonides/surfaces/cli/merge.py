"""`simonides merge` and `unmerge`: two entities are one, or two again."""

from typing import Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, EntityArgument, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text


def merge(
    entity: EntityArgument,
    into: Annotated[int, typer.Argument(metavar="INTO", help="Number of the entity that it is.")],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Merge one entity into another; exit code 1 when one of them is not there."""
    with open_for_reading(store, bank) as opened:
        try:
            number = opened.merge_entities(entity, into)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json({"merge": number, "entity": entity, "into": into})
    else:
        print_text(f"entity {entity} is merged into {into}; `simonides unmerge {number}` undoes it")


def unmerge(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Of the merge, as merge printed it.")],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Undo a merge of two entities; exit code 1 when there is none to undo."""
    with open_for_reading(store, bank) as opened:
        try:
            opened.undo_merge(number)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json({"undone": number})
    else:
        print_text(f"merge {number} is undone")
