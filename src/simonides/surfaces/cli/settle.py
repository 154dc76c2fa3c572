"""`simonides settle`: work off the comparisons that large batches left for later."""

from typing import TYPE_CHECKING

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import print_json, print_text
from simonides.surfaces.cli.progress import Report, bars

if TYPE_CHECKING:
    from simonides.bank import Bank

_AT_ONCE = 200


def settle(*, store: StoreOption = None, bank: BankOption = "default", as_json: JsonOption = False) -> None:
    """Link memories that were stored in large batches to their neighbours; recall works meanwhile."""
    with bars() as progress, open_for_reading(store, bank) as opened:
        compared = settle_all(opened, progress)
    if as_json:
        print_json({"compared": compared})
    else:
        print_text(f"{compared:,} compared")


def settle_all(bank: "Bank", progress: Report | None) -> int:
    """Work off all that waits, step by step; an interruption loses one step at most."""
    compared = 0
    while step := bank.settle(_AT_ONCE):
        compared += step
        if progress:
            progress("memories compared", compared, None)
    return compared
