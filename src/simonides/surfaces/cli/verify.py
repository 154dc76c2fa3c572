"""`simonides verify`: check a bank's rows and derived files against each other."""

from typing import Annotated

import typer

from simonides.errors import DamagedError
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text


def verify(
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="First rebuild everything derived from the rows.")
    ] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Check a bank for damage; exit code 1 when there is any."""
    try:
        with open_for_reading(store, bank) as opened:
            report = opened.repair() if repair else opened.verify()
            ok, answer, problems = report.ok, report.to_dict(), list(map(str, report.problems))
    except DamagedError as error:
        # A bank too damaged to open has failed the check as well.
        ok, problems = False, [str(error)]
        answer = {"ok": ok, "problems": problems}
    if as_json:
        print_json(answer)
    else:
        print_text("\n".join(["ok" if ok else "not ok", *(f"- {problem}" for problem in problems)]))
    if not ok:
        raise typer.Exit(NEGATIVE)
